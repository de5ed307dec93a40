"""Checks that what comments cite is on the page docs/sources.md.

    check_sources.py ROOT

Every section of the PTX ISA that a file names by number is a row of the page, and
so is every key in brackets after the page's name; files of our own that the page
names exist; nothing cites a paper that is not on it. Prints what does not hold
and the number of citations.

Part of the blockscale project, under the Apache License v2.0 with LLVM
Exceptions.
SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""

import pathlib
import re
import sys

FOLDERS = ["benchmarks", "cmake", "docs", "examples", "fuzz", "include", "lib",
           "python", "scripts", "test", "tools", "unittests"]
SUFFIXES = {".c", ".cmake", ".cpp", ".cu", ".csv", ".def", ".h", ".md", ".mlir",
            ".ptx", ".py", ".sh", ".td", ".test", ".txt"}
# Papers that only their readers had.
UNPUBLISHED = re.compile(r"fact[ -]?sheet|benchmarks/calibration", re.I)
SECTION = re.compile(r"\b9\.7\.\d+(?:\.\d+)+")
KEY = re.compile(r"sources\.md,\s+(?://+ |# )?\[([\w-]+)\]")


def texts(root):
    for folder in FOLDERS:
        for path in sorted((root / folder).rglob("*")):
            if path.suffix in SUFFIXES and path.is_file():
                yield path, path.read_text(encoding="utf-8")


def main(arguments):
    root = pathlib.Path(arguments[1])
    page = (root / "docs/sources.md").read_text(encoding="utf-8")
    sections = set(re.findall(r"^\| ([\d.]+) \|", page, re.M))
    keys = set(re.findall(r"^\| \[([\w-]+)\] \|", page, re.M))
    cited = wrong = 0
    for path, text in texts(root):
        name = path.relative_to(root)
        if path.name in ("sources.md", "check_sources.py"):
            continue
        found = [(match, UNPUBLISHED.pattern, False)
                 for match in UNPUBLISHED.findall(text)]
        found += [(match, "sections", match in sections)
                  for match in SECTION.findall(text)]
        found += [(match, "keys", match in keys) for match in KEY.findall(text)]
        for match, _, known in found:
            cited += 1
            if not known:
                wrong += 1
                print(f"{name}: '{match}' is not in docs/sources.md")
    for path in re.findall(r"`((?:test|scripts|docs)/[\w./-]+)`", page):
        if not (root / path).exists():
            wrong += 1
            print(f"docs/sources.md: there is no '{path}'")
    print(f"{cited} citations, {wrong} wrong")
    return bool(wrong) or not cited


if __name__ == "__main__":
    sys.exit(main(sys.argv))
