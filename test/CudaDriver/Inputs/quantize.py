# Part of the blockscale project, under the Apache License v2.0 with LLVM
# Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

"""Numbers for quantize.cpp, and MXFP8 with stochastic rounding in numpy.

  quantize.py write|check FOLDER
"""

import pathlib
import sys

import ml_dtypes
import numpy as np

SHAPE, BLOCK, SEED = (3, 133, 96), 32, -12345
MASK = 2 ** 64 - 1


def numbers():
    """Each block of each row has a magnitude of its own."""
    generator = np.random.default_rng(5)
    x = generator.standard_normal(SHAPE)
    x *= np.exp2(generator.integers(-40, 40, (*SHAPE[:2], 3))).repeat(BLOCK, 2)
    return x.astype(ml_dtypes.bfloat16)


def random(number):
    """A quarter of SplitMix64's output for four neighbours, as a fraction."""
    state = (SEED + (number // 4 + 1) * 0x9e3779b97f4a7c15) & MASK
    state = ((state ^ state >> 30) * 0xbf58476d1ce4e5b9) & MASK
    state = ((state ^ state >> 27) * 0x94d049bb133111eb) & MASK
    return ((state ^ state >> 31) >> number % 4 * 16 & 0xffff) / 2 ** 16


def quantize(x):
    """Codes and the exponents of scales, of which the largest element of e4m3 has
    8 less than the block's largest."""
    blocks = x.astype(np.float64).reshape(*SHAPE[:2], -1, BLOCK)
    exponents = np.floor(np.log2(np.abs(blocks).max(-1))).astype(int) - 8
    scaled = (blocks / np.exp2(exponents)[..., None]).reshape(-1)
    table = np.arange(127, dtype=np.uint8).view(ml_dtypes.float8_e4m3fn)
    table = table.astype(np.float64)
    codes = np.zeros(scaled.size, np.uint8)
    for i, value in enumerate(scaled):
        magnitude = min(abs(value), table[-1])
        below = int(np.searchsorted(table, magnitude, side="right")) - 1
        rest = 0.0
        if below < 126:
            rest = (magnitude - table[below]) / (table[below + 1] - table[below])
        codes[i] = below + (rest >= 1 - random(i)) + (128 if value < 0 else 0)
    return codes, (exponents + 127).astype(np.uint8)


def main():
    command, folder = sys.argv[1], pathlib.Path(sys.argv[2])
    x = numbers()
    if command == "write":
        x.tofile(folder / "x.bin")
        return
    codes, scales = quantize(x)
    data = np.fromfile(folder / "data.bin", np.uint8)
    stored = np.fromfile(folder / "scales.bin", np.uint8)
    tiles = stored[:-64].reshape(3, 2, 32, 4, 4).transpose(0, 1, 3, 2, 4)
    tiles = tiles.reshape(3, 256, 4)
    untouched = (data[-64:] == 0xee).all() and (stored[-64:] == 0xee).all()
    padding = not tiles[:, 133:].any() and not tiles[:, :, 3:].any() and untouched
    print(f"codes: {bool((data[:-64] == codes).all())}, scales: "
          f"{bool((tiles[:, :133, :3] == scales).all())}, padding: {bool(padding)}")


main()
