"""Checks the generated reference.

    check_reference.py ROOT REFERENCE

Every op and pass that a .td file defines is on a page with a summary, links lead to
headings that are there, and nothing is left of the markup of other generators.

Part of the blockscale project, under the Apache License v2.0 with LLVM Exceptions.
SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""

import pathlib
import re
import sys


def anchors(text):
    """As GitHub makes them of headings."""
    return {re.sub(r"[^\w\- ]", "", h.lower()).replace(" ", "-")
            for h in re.findall(r"^#+ (.*)$", text, re.M)}


def defined(root):
    """Names of passes, and mnemonics of ops, in the definitions."""
    for path in sorted((root / "include/blockscale").rglob("*.td")):
        text = path.read_text(encoding="utf-8")
        yield from re.findall(r'^def \w+ : Pass<\s*"([\w-]+)"', text, re.M)
        dialect = "blockscale_nki" if "BlockscaleNKI" in str(path) else "blockscale"
        for name in re.findall(r'^def \w+\s*:\s*Blockscale(?:NKI)?_\w*Op<\s*"(\w+)"', text,
                               re.M):
            yield f"{dialect}.{name}"


def main(arguments):
    root, folder = map(pathlib.Path, arguments[1:])
    pages = {p.name: p.read_text(encoding="utf-8") for p in folder.glob("*.md")}
    index = pages["README.md"]
    names, wrong = list(defined(root)), []
    rows = dict(re.findall(r"^\| \[`-?-?([\w.-]+)`\]\(\S+\) \| (.*) \|$", index, re.M))
    for name in names:
        if not rows.get(name):
            wrong.append(f"'{name}' is not on README.md, or has no summary")
    for page, text in pages.items():
        if re.search(r"\[TOC\]|\{\{", text):
            wrong.append(f"{page}: markup of another generator")
        for target in re.findall(r"\]\(([\w.]*#[\w-]+)\)", text):
            file, _, anchor = target.partition("#")
            if anchor not in anchors(pages.get(file or page, "")):
                wrong.append(f"{page}: nothing is at '{target}'")
    print("\n".join(wrong))
    print(f"{len(names)} ops and passes, {len(wrong)} wrong")
    return bool(wrong) or len(names) < 50


if __name__ == "__main__":
    sys.exit(main(sys.argv))
