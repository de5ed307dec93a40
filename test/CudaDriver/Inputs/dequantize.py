# Part of the blockscale project, under the Apache License v2.0 with LLVM
# Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

"""Codes and scales for dequantize.cpp, and MXFP8 in numpy.

  dequantize.py write|check FOLDER
"""

import pathlib
import sys

import ml_dtypes
import numpy as np

SHAPE, BLOCK = (3, 133, 96), 32
# Bytes behind the numbers that nobody may write.
BEHIND = 64


def operand():
    """Codes of all numbers, and a scale of its own for each block."""
    generator = np.random.default_rng(5)
    codes = generator.integers(0, 256, SHAPE, np.uint8)
    scales = generator.integers(90, 160, (*SHAPE[:2], SHAPE[2] // BLOCK), np.uint8)
    return codes, scales


def main():
    folder = pathlib.Path(sys.argv[2])
    codes, scales = operand()
    if sys.argv[1] == "write":
        codes.tofile(folder / "codes.bin")
        scales.tofile(folder / "scales.bin")
        return
    values = codes.view(ml_dtypes.float8_e4m3fn).astype(np.float32)
    values *= scales.view(ml_dtypes.float8_e8m0fnu).astype(np.float32).repeat(BLOCK, 2)
    memory = np.fromfile(folder / "numbers.bin", np.uint8)
    found = memory[:-BEHIND].view(ml_dtypes.bfloat16).reshape(SHAPE)
    expected = values.astype(ml_dtypes.bfloat16)
    same = (found == expected) | (np.isnan(found) & np.isnan(expected))
    print(f"numbers: {same.all()}, behind: {(memory[-BEHIND:] == 0xee).all()}")


main()
