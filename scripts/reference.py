#!/usr/bin/env python3
"""Makes readable pages of what mlir-tblgen says of dialects and passes.

    scripts/reference.py DOCS FOLDER

DOCS is where the target mlir-doc writes. FOLDER gets a page for each dialect and one
of all passes, each with its contents at the top, and README.md, which lists every op,
type, attribute and pass with the first line of its description. The target
blockscale-reference does it: build/docs/reference.

Part of the blockscale project, under the Apache License v2.0 with LLVM Exceptions.
SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""

import pathlib
import re
import sys

# Page, its title, and the files that it is made of.
PAGES = [
    ("blockscale.md", "The dialect blockscale",
     ["Dialects/BlockscaleDialect.md", "Dialects/BlockscaleHostOps.md",
      "Dialects/BlockscaleSumsOps.md", "Dialects/BlockscaleErrorOps.md"]),
    ("nki.md", "The dialect of NKI's kernels", ["Dialects/BlockscaleNKIDialect.md"]),
    ("passes.md", "The passes",
     ["BlockscalePasses.md", "BlockscaleNKIPasses.md",
      "BlockscaleToLinalgPasses.md", "BlockscaleToNVVMPasses.md",
      "BlockscaleToRuntimePasses.md", "ImportToBlockscalePasses.md",
      "BlockscaleTargetPTXPasses.md"]),
]


def anchor(heading):
    """What a heading is linked by on GitHub."""
    kept = re.sub(r"[^\w\- ]", "", heading.lower().replace("`", ""))
    return kept.replace(" ", "-")


def entries(text):
    """(heading, summary) of each op, type, attribute and pass."""
    lines = text.splitlines()
    for i, line in enumerate(lines):
        found = re.match(r"### (`.*)", line) or re.match(r"### (\w+Attr|\w+Type)$",
                                                         line)
        if not found:
            continue
        summary = next((l for l in lines[i + 1:i + 6] if l.startswith("_")), "")
        yield found[1], summary.strip("_ ")


def name_of(heading):
    return heading.split(" (")[0]


def main(arguments):
    docs, folder = map(pathlib.Path, arguments[1:])
    folder.mkdir(parents=True, exist_ok=True)
    index = ["# Reference", "",
             "Made of the definitions by `mlir-tblgen`; what they are for is in the",
             "rest of the documentation.", ""]
    for page, title, files in PAGES:
        text = ""
        for file in files:
            part = (docs / file).read_text(encoding="utf-8")
            part = re.sub(r"^<!--.*-->\n|^\[TOC\]\n", "", part, flags=re.M)
            # What mlir-tblgen writes for a generator of pages that we do not use.
            part = re.sub(r"\{\{% /?markdown %\}\}", "", part)
            text += re.sub(r"^# .*\n", "", part, flags=re.M).strip() + "\n\n"
        found = list(entries(text))
        if not found:
            sys.exit(f"{page}: the files hold no op, type, attribute or pass")
        table = ["| name | what |", "| --- | --- |"]
        index += [f"## [{title}]({page})", "", *table]
        contents = [*table]
        for heading, summary in found:
            contents.append(f"| [{name_of(heading)}](#{anchor(heading)}) | {summary} |")
            index.append(f"| [{name_of(heading)}]({page}#{anchor(heading)}) | "
                         f"{summary} |")
        index.append("")
        (folder / page).write_text(
            f"# {title}\n\n" + "\n".join(contents) + "\n\n" + text.rstrip() + "\n",
            encoding="utf-8")
    (folder / "README.md").write_text("\n".join(index), encoding="utf-8")


if __name__ == "__main__":
    main(sys.argv)
