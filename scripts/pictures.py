#!/usr/bin/env python3
"""Draws the pictures of docs/scale-bytes.md, or checks that they are up to date.

    scripts/pictures.py [--check] [BLOCKSCALE]

The commands of the page name the pictures; BLOCKSCALE is the program to draw with
(default: build/bin/blockscale). --check draws elsewhere and compares: every picture
is as the page's command draws it and is shown on the page, and there are no others.

Part of the blockscale project, under the Apache License v2.0 with LLVM Exceptions.
SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""

import pathlib
import re
import shlex
import subprocess
import sys

ROOT = pathlib.Path(__file__).resolve().parent.parent
PAGE = ROOT / "docs/scale-bytes.md"
FOLDER = ROOT / "docs/pictures"


def commands(page):
    """(file name, options without --svg) of each command that draws."""
    for line in re.findall(r"^\$ blockscale (explain layout .*--svg=.*)$", page,
                           re.M):
        words = shlex.split(line)
        name = [w for w in words if w.startswith("--svg=")][0][len("--svg="):]
        yield name, [w for w in words if not w.startswith("--svg=")]


def main(arguments):
    check = "--check" in arguments
    names = [a for a in arguments if a != "--check"]
    program = names[0] if names else str(ROOT / "build/bin/blockscale")
    page = PAGE.read_text(encoding="utf-8")
    drawn, wrong = set(), 0
    FOLDER.mkdir(exist_ok=True)
    for name, options in commands(page):
        drawn.add(name)
        svg = subprocess.run([program, *options, "--svg"], check=True,
                             capture_output=True, text=True).stdout
        if not check:
            (FOLDER / name).write_text(svg, encoding="utf-8")
        elif not (FOLDER / name).exists() or (FOLDER / name).read_text(
                encoding="utf-8") != svg:
            wrong += 1
            print(f"docs/pictures/{name} is not what the page's command draws; "
                  "run scripts/pictures.py")
    shown = set(re.findall(r"!\[[^\]]+\]\(pictures/([\w.-]+)\)", page))
    there = {path.name for path in FOLDER.glob("*.svg")}
    for name in sorted(drawn ^ shown):
        wrong += 1
        print(f"'{name}' is drawn and not shown, or shown and not drawn")
    for name in sorted(there - drawn):
        wrong += 1
        print(f"docs/pictures/{name} is on no page")
    print(f"{len(drawn)} pictures, {wrong} wrong")
    return bool(wrong) or not drawn


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
