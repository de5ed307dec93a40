"""Operands of a product of groups whose rows are gathered by number, in bf16, and its
result in f32, which is exact. Part of the blockscale project, under the Apache License
v2.0 with LLVM Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

usage: gathered.py write|check FOLDER
"""

import sys

import numpy

TOKENS, M, N, K = 70, 150, 40, 96
ENDS = (131, 131, 149)
random = numpy.random.default_rng(21)
a = random.integers(-8, 9, (TOKENS, K)).astype("f4")
b = random.integers(-8, 9, (len(ENDS), N, K)).astype("f4")
rows = random.integers(0, TOKENS, M)
rows[[2, 64, 130, 148]] = -1, TOKENS, 2**31 - 1, -2**31

what, folder = sys.argv[1:]
if what == "write":
    for name, values in (("a", a), ("b", b)):
        (values.view("u4") >> 16).astype("u2").tofile(f"{folder}/{name}.bin")
    numpy.array(ENDS, "i4").tofile(f"{folder}/ends.bin")
    rows.astype("i4").tofile(f"{folder}/rows.bin")
else:
    found = numpy.fromfile(f"{folder}/d.bin", "f4").reshape(M, N)
    wanted, start = numpy.zeros((M, N), "f4"), 0
    for end, matrix in zip(ENDS, b):
        for row in range(start, end):
            if 0 <= rows[row] < TOKENS:
                wanted[row] = matrix @ a[rows[row]]
        start = end
    equal = numpy.array_equal(found[:start], wanted[:start])
    untouched = (found[start:].view("u4") == 0xffffffff).all()
    print(f"equal: {equal}, untouched behind the last row: {untouched}")
