"""Names of the driver's functions that programs use and the emulator lacks.

usage: check_names.py Entries.def names.txt
"""
# Part of the blockscale project, under the Apache License v2.0 with LLVM
# Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

import importlib.util
import pathlib
import re
import sys

entries = set(re.findall(r"^ENTRY\((\w+),", pathlib.Path(sys.argv[1]).read_text(), re.M))
assert len(entries) > 200


def report(where, names):
    missing = sorted(set(names) - entries)
    print(f"missing in {where}: {' '.join(missing) or 'none'}")


report("names.txt", pathlib.Path(sys.argv[2]).read_text().split())
triton = importlib.util.find_spec("triton")
if triton:
    # Calls, and names that are looked up.
    source = pathlib.Path(triton.origin).parent / "backends/nvidia/driver.c"
    text = source.read_text()
    calls = re.findall(r"\b(cu[A-Z]\w+)\(", text)
    calls += re.findall(r'"(cu[A-Z]\w+)"', text)
    # Its own names of types and variables.
    report("Triton's driver.c", [name for name in calls if not name.endswith(("_t", "Handle"))])
else:
    print("missing in Triton's driver.c: (not installed)")
