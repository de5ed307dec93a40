# Part of the blockscale project, under the Apache License v2.0 with LLVM
# Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

"""Which of two neighbours a number between them becomes, and the ends of f32."""

import numpy as np

FLOAT_MAX = np.finfo(np.float32).max


def bound_of(factor):
    """The largest f32 whose product with `factor` is one."""
    exact = float(FLOAT_MAX) / float(factor)
    bound = np.float32(exact)
    return np.nextafter(bound, np.float32(0)) if float(bound) > exact else bound


def rounds_up(rest, rounding, seed):
    """Whether what lies `rest` above a number, in [0, 1) of the distance to the
    next, becomes that."""
    if rounding == "away":
        return rest >= 0.5
    if rounding == "zero":
        return rest > 0.5
    return rest >= 1 - random_fractions(seed, rest.size).reshape(rest.shape)


def random_fractions(seed, count):
    """Those of the first elements: SplitMix64, 16 bits of each output for each of
    four neighbours."""
    with np.errstate(over="ignore"):
        state = np.uint64(seed % 2 ** 64) + np.arange(
            1, -(-count // 4) + 1, dtype=np.uint64) * np.uint64(0x9e3779b97f4a7c15)
        state = (state ^ (state >> np.uint64(30))) * np.uint64(0xbf58476d1ce4e5b9)
        state = (state ^ (state >> np.uint64(27))) * np.uint64(0x94d049bb133111eb)
    words = state ^ (state >> np.uint64(31))
    shifts = np.arange(0, 64, 16, dtype=np.uint64)
    quarters = (words[:, np.newaxis] >> shifts) & np.uint64(0xffff)
    return quarters.reshape(-1)[:count] / 2.0 ** 16
