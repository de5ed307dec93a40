# Part of the blockscale project, under the Apache License v2.0 with LLVM
# Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

"""Numbers for found_scales.cpp, and NVFP4 of them in numpy.

  found_scales.py write|check FOLDER
"""

import pathlib
import sys

import ml_dtypes
import numpy as np

SHAPE, BLOCK = (3, 133, 96), 16
BEHIND = 64


def numbers(name):
    """Blocks of magnitudes of their own. The second matrix is all zeros; of the next
    launch all others are smaller."""
    generator = np.random.default_rng(len(name))
    x = generator.standard_normal(SHAPE)
    x *= np.exp2(generator.integers(-6, 6, (*SHAPE[:2], 6))).repeat(BLOCK, 2)
    x[1] = 0
    return (x / (1 if name == "first" else 4096)).astype(ml_dtypes.bfloat16)


def quantize(x):
    """Codes, scales and a factor for each matrix, every step in f32."""
    x = x.astype(np.float32)
    one, six = np.float32(1), np.float32(6)
    largest = np.abs(x).max((1, 2))
    with np.errstate(divide="ignore"):
        encode = np.where(largest > 0, np.float32(6 * 448) / largest, one)
    decode = one / encode
    blocks = x.reshape(*SHAPE[:2], -1, BLOCK)
    scales = np.abs(blocks).max(-1) * (encode * (one / six))[:, None, None]
    scales = np.minimum(scales, np.float32(448)).astype(ml_dtypes.float8_e4m3fn)
    steps = scales.astype(np.float32) * decode[:, None, None]
    with np.errstate(divide="ignore"):
        inverse = np.where(steps == 0, np.float32(0), one / steps)
    codes = (blocks * inverse[..., None]).clip(-6, 6).astype(ml_dtypes.float4_e2m1fn)
    return codes.view(np.uint8).reshape(SHAPE), scales.view(np.uint8), decode


def main():
    command, folder = sys.argv[1], pathlib.Path(sys.argv[2])
    for name in ("first", "next"):
        x = numbers(name)
        if command == "write":
            x.tofile(folder / f"{name}.bin")
            continue
        codes, scales, factors = quantize(x)
        data, stored, found = (
            np.fromfile(folder / f"{name}-{part}.bin", np.uint8)[:-BEHIND]
            for part in ("data", "scales", "factors"))
        tiles = stored.reshape(3, 2, 2, 32, 4, 4).transpose(0, 1, 4, 3, 2, 5)
        tiles = tiles.reshape(3, 256, 8)
        nibbles = np.stack([data & 15, data >> 4], -1).reshape(SHAPE)
        print(f"{name}: codes: {bool((nibbles == codes).all())}, scales: "
              f"{bool((tiles[:, :133, :6] == scales).all())}, factors: "
              f"{bool((found.view(np.float32) == factors).all())}")


main()
