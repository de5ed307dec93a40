# Part of the blockscale project, under the Apache License v2.0 with LLVM
# Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

"""Arrays to unsigned elements less zero points, as `blockscale.quantize` makes them."""

import numpy as np

from ._formats import ue5m3_above
from ._rounding import FLOAT_MAX, bound_of, rounds_up
from ._scaled import Scaled, encode


# Zero points end where sums with codes are exact whatever the scale is.
MOST_STEPS = np.float32(2 ** 22 - 1)


def with_zeros(values, format_, rounding, seed):
    """A Scaled with zero points, in steps of their scales or in real units. A tile has
    the numbers from its least to its largest, 0 among them."""
    rows, k = values.shape[-2:]
    block = format_.block or k
    padding = [(0, 0)] * values.ndim
    padding[-1] = (0, -k % block)
    group = format_.rows or rows
    padding[-2] = (0, -rows % group)
    padded = np.pad(values, padding)
    tiles = padded.reshape(*values.shape[:-2], -1, group,
                           padded.shape[-1] // block, block)
    lows = np.minimum(tiles.min(axis=(-3, -1)), 0)
    highs = np.maximum(tiles.max(axis=(-3, -1)), 0)
    top = format_.largest
    with np.errstate(over="ignore", divide="ignore"):
        scales = np.minimum((highs - lows) / top, largest_scale(format_))
        if format_.scale == "ue5m3":
            scales = ue5m3_above(scales)
        elif format_.scale != "f32":
            scales = encode(format_.scale, scales, format_.scale_dtype)
        steps = format_.scale_values(scales)
        inverses = np.where(steps == 0, np.float32(0),
                            np.minimum(np.float32(1) / steps, FLOAT_MAX))
    spread = inverses[..., :, None, :, None]

    def of_elements(values):
        return np.broadcast_to(values, tiles.shape).reshape(
            padded.shape)[..., :rows, :k]

    if format_.has_real_zeros:
        zeros = 0 - lows
        if format_.zero != "f32":
            zeros = encode(format_.zero, zeros, format_.zero_dtype)
        with np.errstate(over="ignore"):
            tiles = tiles + zeros.astype(np.float32)[..., :, None, :, None]
        codes = rounded_to_whole(of_elements(tiles * spread), rounding, seed)
    else:
        with np.errstate(over="ignore"):
            steps = np.minimum((0 - lows) * inverses, MOST_STEPS)
        zeros = encode("int8", steps, format_.zero_dtype)
        codes = rounded_to_whole(of_elements(tiles * spread), rounding, seed) + \
            of_elements(zeros[..., :, None, :, None])
    return Scaled(np.clip(codes, 0, int(top)).astype(format_.dtype), scales,
                  zeros=zeros, format=format_)


def largest_scale(format_):
    """The largest under which the largest element is finite, as f32."""
    bound = np.minimum(bound_of(format_.largest), format_.largest_scale)
    if format_.scale == "ue5m3":
        return bound
    rounded = bound.astype(format_.scale_dtype)
    if rounded > bound:
        word = f"u{rounded.dtype.itemsize}"
        rounded = (rounded.view(word) - np.array(1, word)).view(rounded.dtype)
    return np.float32(rounded)


def rounded_to_whole(values, rounding, seed):
    """To whole numbers, as int64, that `blockscale.quantize` bounds."""
    end = 2.0 ** 22 - 1
    values = np.clip(values.astype(np.float64), -end, end)
    if rounding == "even":
        return np.rint(values).astype(np.int64)
    magnitudes = np.floor(np.abs(values))
    up = rounds_up(np.abs(values) - magnitudes, rounding, seed)
    return (np.copysign(magnitudes + up, values)).astype(np.int64)
