# Compares the byte and thread ids of all warp_mma of an assigned kernel with
# those of the mma.sync of its PTX.
#
# usage: check_selectors.py FILE.assigned FILE.ptx
#
# Part of the blockscale project, under the Apache License v2.0 with LLVM
# Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

import re
import sys
from collections import Counter

with open(sys.argv[1]) as file:
    assigned = file.read()
with open(sys.argv[2]) as file:
    ptx = file.read()

IDS = r"<byte = (\d), thread = (\d)>"
wanted = Counter(
    tuple(map(int, ids))
    for ids in re.findall(rf"warp_mma .* ids {IDS}, {IDS}", assigned))
constants = {name: int(value) for name, value in
             re.findall(r"mov\.b16 \t(%rs\d+), (\d+);", ptx)}
found = Counter(
    tuple(constants[register] for register in ids)
    for ids in re.findall(
        r"mma\.(?:sync|sp)[^;]*\{(%rs\d+), (%rs\d+)\},"
        r"\s*%r\d+, \{(%rs\d+), (%rs\d+)\};", ptx))
if wanted != found:
    for ids in sorted(set(wanted) | set(found)):
        if wanted[ids] != found[ids]:
            print(f"ids {ids}: {wanted[ids]} assigned, {found[ids]} in the PTX")
    sys.exit(1)
print(f"{wanted.total()} instructions with {len(wanted)} selections agree")
