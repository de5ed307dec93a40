"""Operands of a product of groups of rows in MXFP8, and its result in f32, which is
exact: scales are powers of two that differ from block to block. Part of the blockscale
project, under the Apache License v2.0 with LLVM Exceptions. SPDX-License-Identifier:
Apache-2.0 WITH LLVM-exception

usage: groups.py write FOLDER | groups.py check FOLDER ENDS RESULT
"""

import sys

import numpy

M, N, K, GROUPS = 300, 72, 160, 4
# Of two tiles, none, one row, the rest but three rows that nobody has; and such that
# contradict each other and M, whose groups begin at the same rows.
ENDS = {"ends.bin": (130, 130, 131, 297), "wrong.bin": (130, -7, 131, 1000000)}
random = numpy.random.default_rng(12)
# Multiples of 1/8 from 1 to 2, of either sign.
codes = {"a": random.integers(0x38, 0x40, (M, K)),
         "b": random.integers(0x38, 0x40, (GROUPS, N, K))}
for values in codes.values():
    values |= random.integers(0, 2, values.shape) << 7
scales = {"a": random.integers(126, 129, (M, K // 32)),
          "b": random.integers(126, 129, (GROUPS, N, K // 32))}
bias = random.integers(-99, 100, (GROUPS, N)).astype("f4")


def tiled(values):
    """Rows in groups of 128, four blocks together: the layout of tiled_128x4."""
    rows, blocks = (-(-size // step) for size, step in zip(values.shape, (128, 4)))
    padded = numpy.full((rows * 128, blocks * 4), 127)
    padded[:values.shape[0], :values.shape[1]] = values
    parts = padded.reshape(rows, 4, 32, blocks, 4)
    return parts.transpose(0, 3, 2, 1, 4).astype("u1").reshape(-1)


def decode(name):
    code = codes[name]
    value = (code % 8 / 8 + 1) * numpy.where(code & 0x80, -1.0, 1.0)
    return value * numpy.repeat(numpy.exp2(scales[name] - 127.0), 32, axis=-1)


def spans(ends):
    """An end counts as where its group begins at least, and as the last row at most."""
    start = 0
    for end in ends:
        end = max(start, min(end, M))
        yield start, end
        start = end


folder = sys.argv[2]
if sys.argv[1] == "write":
    for name in ("a", "b"):
        codes[name].astype("u1").tofile(f"{folder}/{name}.bin")
    parts = [tiled(scales["a"][start:end]) for start, end in spans(ENDS["wrong.bin"])]
    # Room for any ends (docs/launch-plan.md, Groups).
    room = numpy.zeros((M + 127 * GROUPS) // 128 * 1024, "u1")
    room[:sum(map(len, parts))] = numpy.concatenate(parts)
    room.tofile(f"{folder}/a_scales.bin")
    numpy.concatenate([tiled(one) for one in scales["b"]]).tofile(
        f"{folder}/b_scales.bin")
    bias.tofile(f"{folder}/bias.bin")
    for name, ends in ENDS.items():
        numpy.array(ends, "i4").tofile(f"{folder}/{name}")
else:
    name, result = sys.argv[3:]
    found = numpy.fromfile(f"{folder}/{result}", "f4").reshape(-1, N)
    a, b, last = decode("a"), decode("b"), 0
    equal = []
    for (start, end), matrix, row in zip(spans(ENDS[name]), b, bias):
        equal.append(numpy.array_equal(found[start:end], a[start:end] @ matrix.T + row))
        last = end
    untouched = (found[last:].view("u4") == 0xffffffff).all()
    print(f"equal: {all(equal)}, last row {last}, untouched behind it: {untouched}")
