# Part of the blockscale project, under the Apache License v2.0 with LLVM
# Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

"""Products of groups of rows or along K: their ends, and scales that start anew with
each group of rows."""

import numpy as np

from ._arrays import host_array
from ._errors import Refused
from ._scaled import Scaled


def checked(ends, groups, rows):
    """Ends of groups as the kernel reads them."""
    values = host_array(ends)
    if values.dtype.kind not in "iu" or values.shape != (groups,):
        raise Refused(f"'ends' are {values.dtype} of shape {values.shape}: expected "
                      f"{groups} whole numbers, the row behind each group")
    steps = np.diff(values.astype(np.int64), prepend=0)
    if (steps < 0).any() or values[-1] > rows:
        raise Refused(f"'ends' are {', '.join(map(str, values))}: expected none below "
                      f"the one before it, nor above the {rows} rows of 'a'")
    return values.astype(np.int32)


def checked_counts(counts, matrices, rows):
    """Counts of rows that are there as the kernel reads them."""
    values = host_array(counts)
    if values.dtype.kind not in "iu" or values.shape != (matrices,):
        raise Refused(f"'ends' are {values.dtype} of shape {values.shape}: expected "
                      f"{matrices} whole numbers, the rows of each matrix of 'a'")
    if (values < 0).any() or (values > rows).any():
        raise Refused(f"'ends' are {', '.join(map(str, values))}: expected 0 to {rows}, "
                      "the rows of each matrix of 'a'")
    return values.astype(np.int32)


def checked_rows(rows):
    """Numbers of gathered rows as the kernel reads them; those of no row mean zeros."""
    values = host_array(rows)
    if values.dtype.kind not in "iu" or values.ndim != 1 or not values.size:
        raise Refused(f"'rows' are {values.dtype} of shape {values.shape}: expected "
                      "a whole number for each row of D, the row of 'a' that it is of")
    limits = np.iinfo(np.int32)
    return np.clip(values, limits.min, limits.max).astype(np.int32)


def scales_along_k(operand, ends, block, size):
    """Of an operand whose K is in groups: tiles of each group apart, and padding up to
    `size` bytes."""
    plain, own, made, start = operand.to("plain"), operand.format.block, [], 0
    for end in map(int, ends):
        if end > start:
            group = Scaled(plain.data[:, start:end],
                           plain.scales[:, start // own:-(-end // own)],
                           plain.tensor_scale, format=plain.format)
            made.append(group.to("tiled_128x4").repeated(block))
        start = end
    there = np.concatenate([*made, np.zeros(0, np.uint8)])
    return np.concatenate([there, np.zeros(size - there.nbytes, np.uint8)])


def checked_along_k(ends, groups, k, step):
    """Ends of groups along K as the kernel reads them."""
    values = host_array(ends)
    if values.dtype.kind not in "iu" or values.shape != (groups,):
        raise Refused(f"'ends' are {values.dtype} of shape {values.shape}: expected "
                      f"{groups} whole numbers, the element of K behind each group")
    steps = np.diff(values.astype(np.int64), prepend=0)
    if (steps < 0).any() or values[-1] > k or (values % step).any():
        raise Refused(f"'ends' are {', '.join(map(str, values))}: expected multiples of "
                      f"{step}, none below the one before it, nor above K = {k}")
    return values.astype(np.int32)


def scales(operand, ends, block, size, rows=None):
    """The scales of 'a' as the kernel reads them: those of each group in tiles of their
    own, one group after the other, and padding up to `size` bytes. rows: numbers of
    rows of 'a', where they are gathered; one of no row has any scales."""
    plain, made, start = operand.to("plain"), [], 0
    for end in map(int, ends):
        if end > start:
            of = slice(start, end) if rows is None else \
                np.clip(rows[start:end], 0, operand.rows - 1)
            group = Scaled(plain.data[of], plain.scales[of],
                           plain.tensor_scale, format=plain.format)
            made.append(group.to("tiled_128x4").repeated(block))
        start = end
    there = np.concatenate([*made, np.zeros(0, np.uint8)])
    return np.concatenate([there, np.zeros(size - there.nbytes, np.uint8)])


def plain_scales(data, scales, tensor_scale, format_, ends):
    """Scales of rows in groups, as a kernel wrote them, row by row; 0 behind the last
    group. data: the codes."""
    blocks = -(-data.shape[-1] // format_.block)
    plain = np.zeros((data.shape[-2], blocks), format_.scale_dtype)
    start = at = 0
    for end in map(int, ends):
        size = -(-(end - start) // 128) * 128 * -(-blocks // 4) * 4
        if size:
            group = Scaled(data[start:end], scales[at:at + size], tensor_scale,
                           format=format_, layout="tiled_128x4")
            plain[start:end] = group.to("plain").scales
        start, at = end, at + size
    return plain
