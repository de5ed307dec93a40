# Part of the blockscale project, under the Apache License v2.0 with LLVM
# Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

"""Runs the Python of a page of the documentation in a folder of its own.

usage: run_page.py PAGE.md

Blocks share their names, one after another. A block of text that follows is what it
prints, where `...` stands for anything within a line.
"""

import contextlib
import io
import os
import re
import sys
import tempfile
from pathlib import Path


def main():
    page = Path(sys.argv[1])
    blocks = re.findall(
        r"^```python\n(.*?)^```$\n(?:\n```text\n(.*?)^```$)?",
        page.read_text(), re.S | re.M)
    if not blocks:
        sys.exit(f"{page} has no Python")
    names = {}
    with tempfile.TemporaryDirectory() as folder:
        os.chdir(folder)
        for block, expected in blocks:
            printed = io.StringIO()
            with contextlib.redirect_stdout(printed):
                exec(compile(block, page.name, "exec"), names)
            printed = printed.getvalue()
            print(printed, end="")
            pattern = ".*".join(map(re.escape, expected.split("...")))
            if expected and not re.fullmatch(pattern, printed):
                sys.exit(f"{page} says otherwise:\n{expected}")
    print(f"ran {len(blocks)} blocks")


if __name__ == "__main__":
    main()
