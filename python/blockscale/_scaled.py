# Part of the blockscale project, under the Apache License v2.0 with LLVM
# Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

"""Quantised tensors, which know their format and the layout of their scales."""

import ml_dtypes
import numpy as np

from . import _codebooks as codebooks
from . import _core
from ._arrays import host_array, numbers
from ._checks import whole
from ._errors import Refused
from ._formats import (
    DECODED_SCALES, FNUZ, INTEGERS, PATTERNS, Format, format_named, largest)

LAYOUTS = ("plain", "tiled_128x4", "tiled_128x16")
# Of scales that start anew with each group of rows.
GROUPED = "grouped_128x4"
# Of scales that cover all of K, a matrix of them for each group along K.
BY_GROUP = "grouped"
ORDERS = ("k_major", "mn_major")


def encode(name, values, dtype):
    """Codes of f32 values, to the nearest, ties to even, saturating. Integers
    are numbers here, and those of tf32 are f32 whose low 13 bits are 0."""
    if name in INTEGERS:
        legal = ml_dtypes.iinfo(dtype)
        return np.clip(np.rint(values), legal.min, legal.max).astype(dtype)
    if name == "tf32":
        return rounded_to_tf32(values)
    if name in FNUZ or name in DECODED_SCALES:
        return np.clip(values, -largest(dtype), largest(dtype)).astype(dtype)
    if name == "e4m3ieee":
        # Up to there its codes are those without infinities.
        values, name = np.clip(values, -largest(dtype), largest(dtype)), "e4m3"
    codes = _core.encode(name, np.ascontiguousarray(values, np.float32),
                         values.size * dtype.itemsize)
    return np.frombuffer(codes, dtype).reshape(values.shape).copy()


def rounded_to_tf32(values):
    """To the nearest number of 10 bits of fraction, ties to even; what would
    overflow stays the largest."""
    words = np.ascontiguousarray(values, np.float32).view(np.uint32)
    rounded = (words + 0xfff + ((words >> 13) & 1)) & ~np.uint32(0x1fff)
    overflows = (rounded & 0x7f800000) == 0x7f800000
    return np.where(overflows, (words & 0x80000000) | 0x7f7fe000,
                    rounded).astype(np.uint32).view(np.float32)


class Scaled:
    """Elements with their scales: x = data * scale of the block * tensor_scale, or
    with zero points x = (data - zero of the block) * scale of the block, or, with such
    in real units, x = data * scale of the block - zero of the block.

    data: (rows, K) or (batch, rows, K) of the format's dtype, one element each,
        the zeros of a sparse operand included.
    scales: (..., scale_rows, ceil(K / block)) of the format's scale dtype where
        the layout is "plain"; a flat array of bytes where it is another; None
        without scales. Scales that each cover all of K are (..., scale_rows, 1);
        these, and others of f32, f16 and bf16, have their shape in every layout, but
        for "grouped": those of each group along K of a matrix,
        (groups, scale_rows, 1).
        There are as many rows of scales as of elements, but
        where several rows share theirs.
    tensor_scale: float32 array with one element per matrix, or None.
    zeros: zero points in the shape of the scales, of the format's type, or None.
    spec, layout: as MLIR spells them.

    Arrays may be of numpy, ml_dtypes, torch, jax or anything with DLPack; those
    that are contiguous are not copied. Raises Refused for other shapes, types
    or sizes, and where a group breaks the format's sparsity.
    """

    def __init__(self, data, scales=None, tensor_scale=None, *, format,
                 layout="plain", zeros=None):
        self.format = format_named(format)
        if not isinstance(layout, str) or layout not in (*LAYOUTS, BY_GROUP):
            raise Refused(f"no layout '{layout}'; there are "
                          f"{', '.join((*LAYOUTS, BY_GROUP))}")
        if layout == BY_GROUP and not self.format.covers_k:
            raise Refused(f"layout '{layout}' is of scales that each cover all of K, "
                          f"format '{self.format}' has none")
        self.layout = layout
        self.data = self._checked_data(data)
        self.scales = self._checked_scales(scales)
        self.tensor_scale = self._checked_tensor_scale(tensor_scale)
        self.zeros = self._checked_zeros(zeros)
        if self.format.sparsity is not None:
            check_sparsity(self._used(), self.format.sparsity)
        if self.format.subtile:
            self._check_tables()

    @property
    def spec(self):
        return self.format.spec

    @property
    def shape(self):
        return self.data.shape

    @property
    def batch(self):
        return self.data.shape[0] if self.data.ndim == 3 else 1

    @property
    def rows(self):
        return self.data.shape[-2]

    @property
    def k(self):
        return self.data.shape[-1]

    @property
    def blocks(self):
        """Scales of a row."""
        if self.format.covers_k:
            return 1
        return -(-self.k // self.format.block) if self.format.block else 0

    @property
    def scale_rows(self):
        """Rows of scales of a matrix."""
        group = self.format.rows or self.rows
        return -(-self.rows // group) if self.format.scale else 0

    def _checked_data(self, data):
        data = host_array(data)
        if data.ndim not in (2, 3) or 0 in data.shape:
            raise Refused(f"data of shape {data.shape}: expected rows x K or "
                          "batch x rows x K, none of them 0")
        if data.dtype != self.format.dtype:
            raise Refused(f"data of {data.dtype}: format '{self.format}' has "
                          f"{self.format.dtype}")
        data = np.ascontiguousarray(data)
        is_part = self.format.is_codebook or self.format.element in ("uint3", "uint2")
        if is_part and data.max() >> self.format.bits:
            raise Refused(f"code {data.max()} of format '{self.format}': it has "
                          f"{1 << self.format.bits}")
        return data

    def _checked_scales(self, scales):
        if self.format.scale is None:
            if scales is not None:
                raise Refused(f"format '{self.format}' has no scales")
            return None
        if scales is None:
            raise Refused(f"format '{self.format}' needs scales")
        scales = np.ascontiguousarray(host_array(scales))
        if self.layout != "plain" and not self.format.by_epilogue:
            expected = len(_core.pack_scales(
                bytes(self.batch * self.scale_rows * self.blocks),
                LAYOUTS.index(self.layout), self.batch, self.scale_rows,
                self.blocks, 0))
            if scales.nbytes != expected:
                raise Refused(f"{scales.nbytes} bytes of scales in layout "
                              f"'{self.layout}': expected {expected}")
            return scales.reshape(-1).view(np.uint8)
        shape = (*self.data.shape[:-2], self.scale_rows, self.blocks)
        if self.layout == BY_GROUP:
            if self.data.ndim != 2 or scales.ndim != 3 or scales.shape[1:] != shape:
                raise Refused(f"scales of shape {scales.shape} in layout 'grouped' of data "
                              f"of shape {self.data.shape}: expected groups x "
                              f"{self.scale_rows} x 1 of rows x K")
        elif scales.shape != shape:
            per = ("all of K" if self.format.covers_k else
                   f"{self.format.block} elements along K")
            raise Refused(f"scales of shape {scales.shape}: expected {shape}, "
                          f"one per {per}")
        if scales.dtype != self.format.scale_dtype:
            raise Refused(f"scales of {scales.dtype}: format '{self.format}' "
                          f"has {self.format.scale_dtype}")
        return scales

    def _checked_tensor_scale(self, tensor_scale):
        if not self.format.tensor_scale:
            if tensor_scale is not None:
                raise Refused(f"format '{self.format}' has no tensor scale")
            return None
        if tensor_scale is None:
            raise Refused(f"format '{self.format}' needs a tensor scale")
        result = numbers(tensor_scale).reshape(-1)
        if result.size != self.batch:
            raise Refused(f"{result.size} tensor scales: expected {self.batch},"
                          " one per matrix")
        return result

    def _checked_zeros(self, zeros):
        dtype = self.format.zero_dtype
        if dtype is None:
            if zeros is not None:
                raise Refused(f"format '{self.format}' has no zero points")
            return None
        if zeros is None:
            raise Refused(f"format '{self.format}' needs zero points")
        zeros = np.ascontiguousarray(host_array(zeros))
        if zeros.shape != self.scales.shape or zeros.dtype != dtype:
            raise Refused(f"zero points of shape {zeros.shape} of {zeros.dtype}: "
                          f"expected {self.scales.shape} of {dtype}, one per scale")
        return zeros

    def to(self, layout):
        """The same tensor with its scales in another layout."""
        if layout not in LAYOUTS:
            raise Refused(f"no layout '{layout}'; there are "
                          f"{', '.join(LAYOUTS)}")
        self._check_without_groups()
        if layout == self.layout or self.scales is None or \
                self.format.by_epilogue:
            return Scaled(self.data, self.scales, self.tensor_scale,
                          format=self.format, layout=layout, zeros=self.zeros)
        size = (self.batch, self.scale_rows, self.blocks)
        if layout == "plain":
            plain = _core.unpack_scales(
                self.scales, LAYOUTS.index(self.layout), *size,
                self.batch * self.scale_rows * self.blocks)
            scales = np.frombuffer(plain, self.format.scale_dtype).reshape(
                *self.data.shape[:-2], self.scale_rows, self.blocks)
        else:
            plain = self.to("plain").scales.view(np.uint8)
            scales = np.frombuffer(
                _core.pack_scales(plain, LAYOUTS.index(layout), *size, 0),
                np.uint8)
        return Scaled(self.data, scales, self.tensor_scale, format=self.format,
                      layout=layout)

    def _check_without_groups(self):
        if self.layout == BY_GROUP:
            raise Refused("scales in layout 'grouped' are those of groups along K, whose "
                          "ends a product knows: without them there are no values")

    def repeated(self, block):
        """Scales as a kernel reads them that takes one for each row and `block`
        elements along K, which divides the format's block: a flat array of
        bytes in this layout. The values are the same."""
        if self.format.scale is None or self.format.by_epilogue or \
                self.format.block % whole("block", block, 1):
            raise Refused(f"block = {block}: it does not divide the blocks of "
                          f"format '{self.format}'")
        if block == self.format.block and self.format.rows == 1:
            return self.scales.reshape(-1).view(np.uint8)
        scales = np.repeat(self.to("plain").scales.view(np.uint8),
                           self.format.rows or self.rows, axis=-2)
        blocks = -(-self.k // block)
        scales = np.repeat(scales[..., :self.rows, :],
                           self.format.block // block, axis=-1)[..., :blocks]
        return np.frombuffer(_core.pack_scales(
            np.ascontiguousarray(scales), LAYOUTS.index(self.layout), self.batch,
            self.rows, blocks, 0), np.uint8)

    def dequantize(self):
        """The values as f32: element, less its zero point, times scale, times the
        tensor scale, each rounded to f32 and, where it is finite, saturating."""
        self._check_without_groups()
        values = codebooks.values_of(self.format.element)[self.data] \
            if self.format.is_codebook else self.data.astype(np.float32)
        if self.zeros is not None and not self.format.has_real_zeros:
            values -= self._of_elements(self.zeros).astype(np.float32)
        if self.format.unit != 1:
            values *= self.format.unit
        if self.format.element == "tf32":
            values = (values.view(np.uint32) & 0xffffe000).view(np.float32)
        if self.format.covers_k:
            scales = self.format.scale_values(self.scales)
            values = product(values, np.repeat(
                scales, self.format.rows or self.rows, axis=-2)[
                    ..., :self.rows, :])
        elif self.format.scale is not None:
            scales = np.repeat(
                self.format.scale_values(self.to("plain").scales),
                self.format.rows or self.rows, axis=-2)[..., :self.rows, :]
            values = product(values, np.repeat(scales, self.format.block,
                                               axis=-1)[..., :self.k])
        if self.format.has_real_zeros:
            values = difference(values,
                                self._of_elements(self.zeros).astype(np.float32))
        if self.tensor_scale is not None:
            factors = self.tensor_scale.reshape(-1, 1, 1)
            values = product(values,
                             factors if self.data.ndim == 3 else factors[0])
        return values

    def _exact(self, less_zeros=True):
        """The values as f64, none of them rounded; without zero points in real units
        unless `less_zeros`."""
        values = codebooks.values_of(self.format.element)[self.data] \
            if self.format.is_codebook else self.data
        values = values.astype(np.float64) * self.format.unit
        if self.zeros is not None and not self.format.has_real_zeros:
            values -= self._of_elements(self.zeros).astype(np.float64)
        if self.scales is not None:
            scales = self.format.scale_values(self.to("plain").scales)
            values *= self._of_elements(scales)
        if self.format.has_real_zeros and less_zeros:
            values -= self._of_elements(self.zeros).astype(np.float64)
        if self.tensor_scale is not None:
            factors = self.tensor_scale.reshape(-1, 1, 1)
            values *= factors if self.data.ndim == 3 else factors[0]
        return values

    def _of_elements(self, tiles):
        """What tiles have, for each of their elements."""
        rows = np.repeat(tiles, self.format.rows or self.rows,
                         axis=-2)[..., :self.rows, :]
        return np.repeat(rows, self.format.block or self.k, axis=-1)[..., :self.k]

    def packed(self, row_pitch=0, order="k_major", translated=None):
        """Elements as a kernel reads them: bits in a row one after another,
        each row padded with zeros to `row_pitch` bytes; of a sparse operand
        those that are stored.

        order: "k_major", or "mn_major" for rows along M or N.
        translated: bits of an element in the kernel's memory and the code that is
            stored there for each one of ours, where the plan has a "source"; with
            zero points for each difference, of n from -n / 2 on.
        """
        if order not in ORDERS:
            raise Refused(f"no order '{order}'; there are {', '.join(ORDERS)}")
        codes, k, bits = self._codes(), self.k, self.format.bits
        is_sparse = self.format.sparsity is not None
        if is_sparse and self.zeros is None:
            codes, k = self.compressed()[0], k // 2
        if translated is not None:
            bits, table = translated
            codes = self._translated(codes, table)
        if is_sparse and self.zeros is not None:
            # What is 0 is known of the differences that are stored.
            codes, k = self._compressed(codes, bits, False, 0)[0], k // 2
        memory = _core.pack_elements(codes, bits,
                                     order == "mn_major", self.batch, self.rows,
                                     k, row_pitch)
        return np.frombuffer(memory, np.uint8)

    def compressed(self, padding=0x44):
        """Codes that are stored, and metadata in tiles of 128 rows by 16 bytes:
        two flat arrays of bytes."""
        if self.format.sparsity is None:
            raise Refused(f"format '{self.format}' is not sparse")
        if self.zeros is None:
            return self._compressed(self._codes(), self.format.bits,
                                    self.format.element in INTEGERS, padding)
        # Codes are translated before: of them the metadata alone are right.
        return self._compressed(self._used().astype(np.uint8), 8, True, padding)

    def _compressed(self, codes, bits, is_integer, padding):
        stored, metadata = _core.compress(
            list(PATTERNS).index(self.format.sparsity), codes, bits, is_integer,
            self.batch, self.rows, self.k, padding)
        return (np.frombuffer(stored, np.uint8),
                np.frombuffer(metadata, np.uint8))

    def _check_tables(self):
        """Refuses elements of a subtile that are of several tables."""
        tables = codebooks.tables_of(self.format.element, self.data)
        across = self.format.subtile
        down = self.format.row_subtile or (self.format.rows or self.rows)
        first = tables[..., ::down, ::across]
        of_each = np.repeat(np.repeat(first, down, axis=-2)[..., :self.rows, :],
                            across, axis=-1)[..., :self.k]
        if (tables != of_each).any():
            *row, at = np.argwhere(tables != of_each)[0].tolist()
            raise Refused(f"row {row[-1]}, element {at} along K: its code is of table "
                          f"{tables[(*row, at)]}, but its subtile of {across} elements "
                          f"has begun with table {of_each[(*row, at)]}")

    def _used(self):
        """Which elements are not 0: with zero points that count in steps of the scale
        those whose code is another."""
        if self.zeros is None or self.format.has_real_zeros:
            return self.data != 0
        return self.data.astype(np.int64) != self._of_elements(self.zeros)

    def _codes(self):
        codes = self.data.view(f"u{self.format.dtype.itemsize}")
        # A byte of numpy's int4 repeats the sign.
        return codes & np.uint8(15) if self.format.element == "int4" else codes

    def _translated(self, codes, table):
        """Codes of a kernel's format for ours."""
        if self.zeros is not None and not self.format.has_real_zeros:
            return self._less_zeros(codes, table)
        stored = np.array(table, np.int32)[codes]
        if (stored < 0).any():
            place = np.argwhere(stored < 0)[0].tolist()
            hint = "; kernels of kind 'f16' hold it, as those under float scales " \
                "and without scales do where no 'mma' asks for 8 bits" \
                if self.format.element in FNUZ else ""
            raise Refused(f"code {codes[tuple(place)]:#04x} at {place} of format "
                          f"'{self.format}' has no exact code in the kernel's "
                          f"format{hint}")
        return stored.astype(stored_type(table))

    def _less_zeros(self, codes, table):
        """Codes of a kernel's format for ours less their zero points."""
        table, middle = np.array(table, np.int32), len(table) // 2
        zeros = self._of_elements(self.zeros).astype(np.int64)
        places = codes.astype(np.int64) - zeros + middle
        is_there = (places >= 0) & (places < len(table))
        stored = np.where(is_there, table[np.where(is_there, places, 0)], -1)
        if (stored < 0).any():
            place = tuple(np.argwhere(stored < 0)[0].tolist())
            raise Refused(
                f"code {codes[place]} at {list(place)} of format '{self.format}' "
                f"less its zero point, {zeros[place]}, has no exact code in the "
                f"kernel's format; expected a difference from {-middle} to "
                f"{middle - 1}")
        return stored.astype(stored_type(table))

    def __repr__(self):
        return (f"Scaled({'x'.join(map(str, self.shape))} {self.format}, "
                f"layout '{self.layout}')")


def stored_type(table):
    """The type of the codes that a plan stores for those of a source."""
    return np.uint16 if max(table) > np.iinfo(np.uint8).max else np.uint8


def check_sparsity(used, pattern):
    """Refuses elements of a group of which more than stay are in use, not 0."""
    _, group, kept, unit = PATTERNS[pattern]
    if used.shape[-1] % group:
        raise Refused(f"K is {used.shape[-1]}: sparsity '{pattern}' has groups "
                      f"of {group}")
    units = used.reshape(*used.shape[:-1], -1, group // unit, unit)
    full = units.any(axis=-1).sum(axis=-1) > kept // unit
    if full.any():
        *row, at = np.argwhere(full)[0].tolist()
        raise Refused(f"row {row[-1]}: the elements {at * group} to "
                      f"{at * group + group - 1} along K break the sparsity "
                      f"'{pattern}'; blockscale.prune makes data that hold it")


def prune(values, pattern):
    """Sets to 0 what a pattern does not keep: of each group along K the units
    of smallest magnitude, the later ones where they are equal.

    values: rows x K, or batch x rows x K numbers; K a multiple of the group.
    pattern: "2:4", "4:8 in pairs" or "1:2", or a Format that is sparse.
    Returns an array of f32.
    """
    pattern = pattern.sparsity if isinstance(pattern, Format) else pattern
    if pattern not in PATTERNS:
        raise Refused(f"no sparsity '{pattern}'; there are "
                      f"{', '.join(PATTERNS)}")
    values = numbers(values)
    _, group, kept, unit = PATTERNS[pattern]
    if values.ndim not in (2, 3) or 0 in values.shape or \
            values.shape[-1] % group:
        raise Refused(f"values of shape {values.shape}: expected rows x K or "
                      f"batch x rows x K with K a multiple of {group}")
    units = values.reshape(*values.shape[:-1], -1, group // unit, unit)
    with np.errstate(over="ignore"):
        weight = (units.astype(np.float64) ** 2).sum(axis=-1)
    order = np.argsort(-weight, axis=-1, kind="stable")
    keeps = np.zeros(weight.shape, bool)
    np.put_along_axis(keeps, order[..., :kept // unit], True, axis=-1)
    return np.where(keeps[..., None], units, 0).reshape(
        values.shape).astype(np.float32)


def product(x, y):
    """x * y in f32; what overflows is the largest f32. The product of two f32
    is exact in double precision, so that it is rounded once."""
    top = np.finfo(np.float32).max
    exact = x.astype(np.float64) * y
    return np.where(np.isfinite(exact), np.clip(exact, -top, top),
                    exact).astype(np.float32)


def difference(x, y):
    """x - y in f32; of finite numbers what overflows is the largest f32."""
    with np.errstate(over="ignore", invalid="ignore"):
        result = x - y
    overflows = np.isinf(result) & np.isfinite(x) & np.isfinite(y)
    return np.where(overflows, np.copysign(np.finfo(np.float32).max, result), result)


def host_layout(layout):
    """In which layout a host has scales that a kernel reads in `layout`: where groups
    end is known at a launch only, which packs them."""
    return "plain" if layout == GROUPED else layout
