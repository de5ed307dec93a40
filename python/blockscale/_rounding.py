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


def rounds_up(rest, rounding, seed, bits=8):
    """Whether what lies `rest` above a number, in [0, 1) of the distance to the
    next, becomes that. `bits` of an element, which random numbers depend on."""
    if rounding == "away":
        return rest >= 0.5
    if rounding == "zero":
        return rest > 0.5
    random = (shared_fractions(seed, rest.size, bits)
              if rounding == "stochastic_rs" else random_fractions(seed, rest.size))
    return rest >= 1 - random.reshape(rest.shape)


def random_fractions(seed, count):
    """Those of the first elements: SplitMix64, 16 bits of each output for each of
    four neighbours."""
    words = split_mix(seed, -(-count // 4))
    shifts = np.arange(0, 64, 16, dtype=np.uint64)
    quarters = (words[:, np.newaxis] >> shifts) & np.uint64(0xffff)
    return quarters.reshape(-1)[:count] / 2.0 ** 16


def split_mix(seed, count):
    """The first outputs of SplitMix64, u64."""
    with np.errstate(over="ignore"):
        state = np.uint64(seed % 2 ** 64) + np.arange(
            1, count + 1, dtype=np.uint64) * np.uint64(0x9e3779b97f4a7c15)
        state = (state ^ (state >> np.uint64(30))) * np.uint64(0xbf58476d1ce4e5b9)
        state = (state ^ (state >> np.uint64(27))) * np.uint64(0x94d049bb133111eb)
    return state ^ (state >> np.uint64(31))


def shared_fractions(seed, count, bits):
    """Those of "stochastic_rs": of a word of wyrand for sixteen neighbours 32 bits
    for each four, which `cvt.rs` shares among them."""
    with np.errstate(over="ignore"):
        state = split_mix(seed, 1) + np.arange(
            1, -(-count // 16) + 1, dtype=np.uint64) * np.uint64(0xa0761d6478bd642f)
        other = state ^ np.uint64(0xe7037ed1a0b428db)
        words = high_product(state, other) ^ (state * other)
        upper = (words >> np.uint64(32)).astype(np.uint32)[:, np.newaxis]
        lower = words.astype(np.uint32)[:, np.newaxis]
        # j * 0x9e3779b1^j modulo 2^32.
        factors = np.array([j * pow(0x9e3779b1, j, 2 ** 32) % 2 ** 32
                            for j in range(4)], np.uint32)
        groups = (upper + lower * factors).reshape(-1, 1)
    # Of PTX's four the first is the last in memory.
    shifts, taken = ([0, 16, 8, 24], 8) if bits == 4 else ([0, 0, 16, 16], 16)
    parts = (groups >> np.array(shifts, np.uint32)) & np.uint32(2 ** taken - 1)
    return parts.reshape(-1)[:count] / 2.0 ** taken


def high_product(x, y):
    """The upper halves of products of u64."""
    half, mask = np.uint64(32), np.uint64(2 ** 32 - 1)
    middle = (x >> half) * (y & mask) + ((x & mask) * (y & mask) >> half)
    other = (x & mask) * (y >> half) + (middle & mask)
    return (x >> half) * (y >> half) + (middle >> half) + (other >> half)
