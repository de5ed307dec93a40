"""Checks that pages name files that there are, and the map every library.

    check_paths.py ROOT PAGE...

A path in backquotes that begins with a folder of the repository must exist. The
first page is the map: it names each folder under lib.

Part of the blockscale project, under the Apache License v2.0 with LLVM
Exceptions.
SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""

import pathlib
import re
import sys

PATH = re.compile(r"`((?:include|lib|tools|test|unittests|scripts|docs|python|"
                  r"fuzz|examples|benchmarks|cmake)/[\w./+-]+)`")


def main(arguments):
    root = pathlib.Path(arguments[1])
    named = wrong = 0
    for page in arguments[2:]:
        for path in PATH.findall((root / page).read_text(encoding="utf-8")):
            named += 1
            if not (root / path).exists():
                wrong += 1
                print(f"{page}: there is no '{path}'")
    text = (root / arguments[2]).read_text(encoding="utf-8")
    for folder in sorted((root / "lib").iterdir()):
        if folder.is_dir() and f"lib/{folder.name}" not in text:
            wrong += 1
            print(f"{arguments[2]}: does not name lib/{folder.name}")
    print(f"{named} paths, {wrong} wrong")
    return bool(wrong) or not named


if __name__ == "__main__":
    sys.exit(main(sys.argv))
