"""Looks at what a verification said of its progress.

    check_progress.py terminal|log < OUTPUT

Part of the blockscale project, under the Apache License v2.0 with LLVM Exceptions.
SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""

import re
import sys

text = sys.stdin.buffer.read().decode()
# Which of the steps a line is about depends on how fast the machine is.
STEPS = {"l70_qkv, inputs": ("rows", 256 + 10240),
         "l70_qkv": ("clusters", 10),
         # Of a sample, 8 rows of a tile each.
         "l70_qkv, reference": ("tiles", 10 * 256 // 8)}
PLACE = re.compile(r"(l70_qkv[a-z, ]*): (\d+) of (\d+) (\w+)")
places = [(list(STEPS).index(step), int(done))
          for step, done, _, _ in PLACE.findall(text)]
if not places or places != sorted(places):
    sys.exit(f"places {places} in {text!r}")
for step, done, whole, unit in PLACE.findall(text):
    if (unit, int(whole)) != STEPS[step] or int(done) > int(whole):
        sys.exit(f"{step}: {done} of {whole} {unit}")
if sys.argv[1] == "log":
    if "\r" in text or "\x1b" in text:
        sys.exit(f"a log has no line to take back: {text!r}")
    print("lines of a log")
else:
    # Each update takes its line back, and nothing of them stays.
    lines = text.split("\r\x1b[K")
    if len(lines) < len(places) + 1 or PLACE.search(lines[-1]):
        sys.exit(f"a line stays: {text!r}")
    verdict = re.search(r"l70_qkv .*pass", lines[-1])
    print("progress erased, then:", verdict[0] if verdict else lines[-1])
