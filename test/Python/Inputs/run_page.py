# Part of the blockscale project, under the Apache License v2.0 with LLVM
# Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

"""Runs the Python of a page of the documentation.

usage: run_page.py PAGE.md
"""

import re
import sys
from pathlib import Path

blocks = re.findall(r"^```python\n(.*?)^```$", Path(sys.argv[1]).read_text(),
                    re.S | re.M)
if not blocks:
    sys.exit(f"{sys.argv[1]} has no Python")
for block in blocks:
    exec(compile(block, sys.argv[1], "exec"), {})
print(f"ran {len(blocks)} blocks")
