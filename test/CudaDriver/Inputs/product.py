"""Operands of a product of MXFP8 and its result in f32, which is exact. Scales of a
block of 32 are powers of two that differ from block to block. Part of the
blockscale project, under the Apache License v2.0 with LLVM Exceptions.
SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""

import sys

import numpy

M, N, K = 40, 576, 7168
random = numpy.random.default_rng(11)
# Multiples of 1/8 from 1 to 2, of either sign.
codes = {"a": random.integers(0x38, 0x40, (M, K)), "b": random.integers(0x38, 0x40, (N, K))}
for values in codes.values():
    values |= random.integers(0, 2, values.shape) << 7
scales = {"a": random.integers(126, 129, (M, K // 32)),
          "b": random.integers(126, 129, (N, K // 32))}


def tiled(values):
    """Rows in groups of 128, four blocks together: the layout of tiled_128x4."""
    rows = (values.shape[0] + 127) // 128 * 128
    padded = numpy.full((rows, values.shape[1]), 127)
    padded[:values.shape[0]] = values
    parts = padded.reshape(rows // 128, 4, 32, values.shape[1] // 4, 4)
    return parts.transpose(0, 3, 2, 1, 4)


def decode(name):
    code = codes[name]
    value = (code % 8 / 8 + 1) * numpy.where(code & 0x80, -1.0, 1.0)
    return value * numpy.repeat(numpy.exp2(scales[name] - 127.0), 32, axis=1)


folder = sys.argv[2]
if sys.argv[1] == "write":
    for name in ("a", "b"):
        codes[name].astype("u1").tofile(f"{folder}/{name}.bin")
        tiled(scales[name]).astype("u1").tofile(f"{folder}/{name}_scales.bin")
else:
    result = numpy.fromfile(f"{folder}/d.bin", "f4").reshape(M, N)
    print("equal:", numpy.array_equal(result, decode("a") @ decode("b").T))
