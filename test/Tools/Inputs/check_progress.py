"""Looks at what a run of 40 clusters said of its progress.

    check_progress.py terminal|log < OUTPUT

Part of the blockscale project, under the Apache License v2.0 with LLVM Exceptions.
SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""

import re
import sys

text = sys.stdin.buffer.read().decode()
counts = [int(n) for n in re.findall(r"l70_qkv: (\d+) of 40 clusters", text)]
if not counts or counts != sorted(counts) or counts[-1] > 40:
    sys.exit(f"counts {counts} in {text!r}")
if sys.argv[1] == "log":
    if "\r" in text or "\x1b" in text:
        sys.exit(f"a log has no line to take back: {text!r}")
    print("lines of a log")
else:
    # Each update takes its line back, and nothing of them stays.
    lines = text.split("\r\x1b[K")
    if len(lines) < len(counts) + 1 or "of 40 clusters" in lines[-1]:
        sys.exit(f"a line stays: {text!r}")
    verdict = re.search(r"l70_qkv .*pass", lines[-1])
    print("progress erased, then:", verdict[0] if verdict else lines[-1])
