"""Operands of the products that the tests of the import compute.

Numbers are small integers, scales powers of two, so that every sum is exact in f32;
each row and each block has numbers and scales of its own, so that a swapped index
shows.

Part of the blockscale project, under the Apache License v2.0 with LLVM Exceptions.
SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""

import ml_dtypes
import numpy as np


def mixed(shape, seed):
    """Numbers without a pattern, the same everywhere."""
    index = np.arange(np.prod(shape), dtype=np.uint64).reshape(shape)
    index = (index + np.uint64(1000 * seed + 1)) * np.uint64(0x9E3779B97F4A7C15)
    return (index >> np.uint64(40)).astype(np.int64)


def elements(shape, dtype, seed):
    """Integers from -4 to 4 without 0, which every narrow format has."""
    values = np.array([1, -2, 3, 4, -1, 2, -3, -4])[mixed(shape, seed) % 8]
    return values.astype(np.float32).astype(dtype)


def scales(shape, dtype, seed):
    """Powers of two from 1/4 to 4."""
    return np.exp2(mixed(shape, seed + 7) % 5 - 2.0).astype(dtype)


def tiled(scales):
    """Scales [rows, blocks] as the tensor core reads them: in tiles of 128 rows by 4
    blocks, in which row r and block b are at (r % 32) * 16 + r // 32 * 4 + b (PTX
    ISA, scale factor layout); padded with zero bytes."""
    rows, blocks = scales.shape
    padded = np.zeros((-(-rows // 128) * 128, -(-blocks // 4) * 4), np.uint8)
    padded[:rows, :blocks] = scales.view(np.uint8)
    tiles = padded.reshape(-1, 4, 32, padded.shape[1] // 4, 4)
    return tiles.transpose(0, 3, 2, 1, 4).reshape(-1).view(scales.dtype)


def pairs(elements_of_4_bits):
    """Two elements in a byte, the first in the low half."""
    codes = elements_of_4_bits.view(np.uint8)
    return codes[..., ::2] | codes[..., 1::2] << 4


def scaled(data, scale, axis, block):
    """The values meant, in f64."""
    wide = np.repeat(scale.astype(np.float64), block, axis=axis)
    return data.astype(np.float64) * wide


E4M3, E5M2, E8M0, E2M1 = (ml_dtypes.float8_e4m3fn, ml_dtypes.float8_e5m2,
                          ml_dtypes.float8_e8m0fnu, ml_dtypes.float4_e2m1fn)
