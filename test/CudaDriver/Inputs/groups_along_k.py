"""Operands of a product of bf16 whose K is in groups, and its result in f32, which is
exact. Part of the blockscale project, under the Apache License v2.0 with LLVM
Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

usage: groups_along_k.py write FOLDER | groups_along_k.py check FOLDER ENDS RESULT
"""

import sys

import numpy

M, N, K = 40, 72, 320
# Of two tiles and more, none, one instruction, and all but what nobody has; and such
# that contradict each other and K.
ENDS = {"ends.bin": (144, 144, 160, 304), "wrong.bin": (144, -7, 160, 1000000)}
random = numpy.random.default_rng(21)
# Numbers of six bits are exact in bf16, and their sums in f32.
sides = {"a": random.integers(-31, 32, (M, K)), "b": random.integers(-31, 32, (N, K))}
folder = sys.argv[2]
if sys.argv[1] == "write":
    for name, values in sides.items():
        (values.astype("f4").view("u4") >> 16).astype("u2").tofile(
            f"{folder}/{name}.bin")
    for name, ends in ENDS.items():
        numpy.array(ends, "i4").tofile(f"{folder}/{name}")
else:
    name, result = sys.argv[3:]
    found = numpy.fromfile(f"{folder}/{result}", "f4")
    wanted, start = [], 0
    for end in ENDS[name]:
        end = max(start, min(end, K))
        wanted.append(sides["a"][:, start:end] @ sides["b"][:, start:end].T)
        start = end
    wanted = numpy.stack(wanted).astype("f4").reshape(-1)
    equal = numpy.array_equal(found[:wanted.size], wanted)
    untouched = (found[wanted.size:].view("u4") == 0xffffffff).all()
    print(f"equal: {equal}, untouched behind: {untouched}")
