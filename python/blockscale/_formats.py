# Part of the blockscale project, under the Apache License v2.0 with LLVM
# Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

"""Names of operand formats, without MLIR."""

from dataclasses import dataclass, replace

import ml_dtypes
import numpy as np

from . import _codebooks as codebooks
from . import _core
from ._checks import choice, flag, whole
from ._errors import Refused

# Element types: how MLIR spells them, their bits in a kernel's memory, their
# dtype. Narrow ones have one byte an element in numpy.
ELEMENTS = {
    "e2m1": ("f4E2M1FN", 4, ml_dtypes.float4_e2m1fn),
    "e2m3": ("f6E2M3FN", 6, ml_dtypes.float6_e2m3fn),
    "e3m2": ("f6E3M2FN", 6, ml_dtypes.float6_e3m2fn),
    "e4m3": ("f8E4M3FN", 8, ml_dtypes.float8_e4m3fn),
    "e5m2": ("f8E5M2", 8, ml_dtypes.float8_e5m2),
    "f16": ("f16", 16, np.float16),
    "bf16": ("bf16", 16, ml_dtypes.bfloat16),
    "tf32": ("tf32", 32, np.float32),
    "int8": ("i8", 8, np.int8),
    "uint8": ("ui8", 8, np.uint8),
    "int4": ("i4", 4, ml_dtypes.int4),
    "uint4": ("ui4", 4, ml_dtypes.uint4),
    # A byte each, of which the low bits count.
    "uint3": ("ui3", 3, np.uint8),
    "uint2": ("ui2", 2, np.uint8),
    "e4m3b8fnuz": ("f8E4M3FNUZ", 8, ml_dtypes.float8_e4m3fnuz),
    "e5m2b16fnuz": ("f8E5M2FNUZ", 8, ml_dtypes.float8_e5m2fnuz),
    # With infinities: "e4m3" is OCP's.
    "e4m3ieee": ("f8E4M3", 8, ml_dtypes.float8_e4m3),
    **codebooks.elements(),
}
# Of which one code more has no number in what kernels hold them as.
FNUZ = ("e4m3b8fnuz", "e5m2b16fnuz")
INTEGERS = ("int8", "uint8", "int4", "uint4", "uint3", "uint2")
# Of which each has a zero point.
WITH_ZEROS = ("uint4", "uint3", "uint2")
# Types of zero points, as scale specs spell them, and their dtypes.
ZEROS = {"int8": np.int8, "int16": np.int16, "int32": np.int32}
# Those in real units, as the library spells them.
REAL_ZEROS = ("f32", "f16", "bf16")
# Scale types: how scale specs and the library spell them, their dtype.
SCALES = {
    "ue8m0": ("e8m0", ml_dtypes.float8_e8m0fnu),
    "ue4m3": ("e4m3fn", ml_dtypes.float8_e4m3fn),
    # No numpy type has it: its codes are plain bytes.
    "ue5m3": ("e5m3fn", np.uint8),
}


# Types of scales that the epilogue of a kernel multiplies by, likewise.
FACTORS = {
    "f32": ("float32", np.float32),
    "f16": ("float16", np.float16),
    "bf16": ("bfloat16", ml_dtypes.bfloat16),
    "e5m2": ("e5m2", ml_dtypes.float8_e5m2),
    **SCALES,
    # Which no instruction converts: kernels decode them.
    "e4m3b8fnuz": ("e4m3b8fnuz", ml_dtypes.float8_e4m3fnuz),
    "e5m2b16fnuz": ("e5m2b16fnuz", ml_dtypes.float8_e5m2fnuz),
    "e4m3b11fnuz": ("e4m3b11fnuz", ml_dtypes.float8_e4m3b11fnuz),
    "e3m4": ("e3m4", ml_dtypes.float8_e3m4),
}
# Those, as values are cast to them.
DECODED_SCALES = ("e4m3b8fnuz", "e5m2b16fnuz", "e4m3b11fnuz", "e3m4")


def _ue5m3_values():
    """All 256 numbers of ue5m3, of which the last is NaN: 5 bits of exponent
    with bias 15, 3 of fraction, no sign."""
    code = np.arange(256)
    exponent, fraction = code >> 3, code & 7
    values = np.where(exponent == 0, np.ldexp(fraction, -17),
                      np.ldexp(8 + fraction, exponent - 18))
    values[255] = np.nan
    return values.astype(np.float32)


UE5M3 = _ue5m3_values()


def ue5m3_above(values):
    """Codes of the least numbers of ue5m3 that are not below the values, or of the
    largest: so rounded, scales leave no element beyond its format."""
    return np.minimum(np.searchsorted(UE5M3[:255], values), 254).astype(np.uint8)


# Elements of the tiles of specs, other than all of a dimension.
TILES = (4, 8, 16, 32, 64, 128, 256)

# Patterns of sparsity: how specs spell them, elements of a group, how many of
# them stay, elements that stay or go together.
PATTERNS = {
    "2:4": ("n2m4", 4, 2, 1),
    "4:8 in pairs": ("n4m8", 8, 4, 2),
    "1:2": ("n1m2", 2, 1, 1),
}


def largest(dtype):
    """The largest finite number of a dtype, as f32."""
    dtype = np.dtype(dtype)
    is_integer = dtype.kind in "iu" or dtype in (ml_dtypes.int4, ml_dtypes.uint4)
    known = ml_dtypes.iinfo if is_integer else ml_dtypes.finfo
    return np.float32(known(dtype).max)


@dataclass(frozen=True)
class Format:
    """Elements, and what scales them.

    element: "e2m1", "e2m3", "e3m2", "e4m3", "e5m2", "f16", "bf16", "tf32",
        "int8", "uint8"; "int4", "uint4", "uint3", "uint2", "e4m3b8fnuz",
        "e5m2b16fnuz", "e4m3ieee" (with infinities) and the codebooks of mx9, mx6, mx4 and their kin
        ("cb51ie_int7"), which launches translate to what kernels hold them as, as
        they do with all that stand beside f16 or bf16.
    scale: "ue8m0", "ue4m3", "ue5m3", or None for no scales; "f32", "f16", "bf16",
        "e5m2", "e4m3b8fnuz", "e5m2b16fnuz", "e4m3b11fnuz" or "e3m4" of scales that
        kernels multiply sums by. All may cover all of K or blocks of it.
    block: elements along K that share a scale, zeros of a sparse operand
        included; 0 if all of them do, and without scales. Else a power of two from
        4 to 256, of what is not zero.
    tensor_scale: whether one float32 scales the whole tensor, too.
    sparsity: None, or which elements are zero: "2:4", "4:8 in pairs" (of eight
        two aligned pairs stay) or "1:2". With zero points those are whose code is
        the zero point.
    rows: rows that share a scale: 0 if all rows of a matrix do, else a power of
        two, not 2 and at most 256. A kernel reads a scale for each row and, of
        blocks longer than the hardware's, for each of these: launches repeat it.
    zero: "int8", "int16" or "int32" of the zero points of uint2 to uint4, and of
        uint8 under scales, which count in steps of these and are shared as they are;
        "f32", "f16" or "bf16" of zero points in real units, q * scale - zero; None
        without. Launches subtract the former from the elements, and give kernels the
        latter with sums that they multiply them by.
    subtile: of a codebook, elements along K that share a table: a power of two from 2
        to the block, or 0 for those of the block.
    row_subtile: the same of rows, where several share a scale; 0 if all of these do.
    """

    element: str
    scale: str | None = None
    block: int = 0
    tensor_scale: bool = False
    sparsity: str | None = None
    rows: int = 1
    zero: str | None = None
    subtile: int = 0
    row_subtile: int = 0

    def __post_init__(self):
        choice("element", self.element, ELEMENTS)
        choice("sparsity", self.sparsity, (None, *PATTERNS))
        choice("scale", self.scale, (None, *FACTORS))
        flag("tensor_scale", self.tensor_scale)
        whole("block", self.block)
        whole("rows", self.rows)
        if self.scale is None and self.block != 0:
            raise Refused(f"block = {self.block}: expected 1 or more with "
                          "scales, and 0 without")
        if self.rows not in (0, 1, 4, 8, 16, 32, 64, 128, 256):
            raise Refused(f"rows = {self.rows}: expected 0, 1, 4, 8, 16, 32, 64, "
                          "128 or 256")
        if self.scale is None and self.rows != 1:
            raise Refused(f"rows = {self.rows}: expected 1 without scales")
        self._check_block()
        self._check_subtiles()
        if self.covers_k:
            self._check_factor()
        self._check_zero()
        if self.is_codebook:
            self._check_codebook()
        elif self.scale is not None and self.bits > 8:
            raise Refused(f"elements of {self.element} have no scales, those of "
                          "8 bits and fewer have")

    @property
    def _tile(self):
        """The elements of a block that are stored, as specs count them; a fraction
        where a block is no whole number of groups."""
        _, group, kept, _ = PATTERNS.get(self.sparsity, ("", 1, 1, 1))
        return self.block * kept / group

    def _check_block(self):
        if self.block == 0 or self._tile in TILES:
            return
        raise Refused(f"block = {self.block}: a spec has tiles of a power of two from "
                      f"{TILES[0]} to {TILES[-1]} elements, or of all of K (0)" +
                      (f", and sparsity '{self.sparsity}' keeps {self._tile:g} of "
                       "these" if self.sparsity else ""))

    def _check_subtiles(self):
        for name, tile in (("subtile", self.block), ("row_subtile", self.rows)):
            size = whole(name, getattr(self, name))
            if size == 0:
                continue
            if not self.is_codebook:
                raise Refused(f"{name} = {size}: subtiles are of codebooks, which take "
                              f"a table for each, and {self.element} is none")
            if size < 2 or size > tile or size & (size - 1):
                raise Refused(f"{name} = {size}: expected a power of two from 2 to "
                              f"{tile}, or 0")
        if self.rows not in (0, 1) and (self.subtile == 0) != (self.row_subtile == 0):
            raise Refused(f"subtile = {self.subtile}, row_subtile = {self.row_subtile}: "
                          "expected both or none where several rows share a scale")

    def _check_factor(self):
        if self.tensor_scale and self.rows == 0:
            raise Refused("rows = 0: expected 1 or more with a tensor scale, as "
                          "there is one scale for all rows already")

    def _check_codebook(self):
        if self.scale != "ue8m0" or self.covers_k:
            raise Refused(f"elements of {self.element} have scales of ue8m0 of "
                          "blocks along K")
        if self.sparsity is not None:
            raise Refused(f"elements of {self.element} are dense")

    def _check_zero(self):
        choice("zero", self.zero, (None, *ZEROS, *REAL_ZEROS))
        has_zeros = self.element in WITH_ZEROS or \
            self.element == "uint8" and self.scale is not None
        if has_zeros != (self.zero is not None):
            raise Refused(f"elements of {self.element} with zero = {self.zero!r}: "
                          "those of uint2 to uint4, and of uint8 with scales, have "
                          "zero points, no others")
        if self.zero is None:
            return
        if self.scale in (None, "ue8m0"):
            raise Refused(f"zero points beside scales of {self.scale}: expected f32, "
                          "f16, bf16, ue4m3, ue5m3 or e5m2")
        if self.tensor_scale:
            raise Refused("elements with zero points have no tensor scale")
        if self.sparsity is not None and self.has_real_zeros:
            raise Refused("zero points in real units of a sparse operand: no code of it "
                          "is 0 then, so that none is left out; expected int8, int16 or "
                          "int32, which count in steps of the scale")
        if self.sparsity == "4:8 in pairs":
            raise Refused("elements with zero points are no pairs: those are of e2m1; "
                          "expected sparsity '2:4'")

    @property
    def is_codebook(self):
        """Whether elements are codes of tables."""
        return self.element in codebooks.CODEBOOKS

    @property
    def covers_k(self):
        """Whether there are scales and each is for all of K."""
        return self.scale is not None and self.block == 0

    @property
    def has_one_scale(self):
        """Whether there is one scale for all of a matrix, and nothing else."""
        return self.covers_k and self.rows == 0 and self.zero is None

    @property
    def by_epilogue(self):
        """Whether there are scales and the epilogue of a kernel reads them, in
        their plain order."""
        if self.covers_k or self.scale is None:
            return self.covers_k
        # Of int8 no instruction reads any, nor of a table of as many bits; of longer
        # elements than e2m1 none of 16.
        is_short = self.block == 16 and (
            not self.is_codebook and self.element not in ("e2m1", "int8") or
            self.is_codebook and self.element != "cb31ie_int5")
        has_powers = self.scale == "ue8m0" and (
            self.element == "int8" or self.sparsity is None and
            (self.element == "cb81ie_int9" or is_short))
        # Beside e2m1 alone they read scales with fractions.
        has_fractions = self.scale in ("ue4m3", "ue5m3") and self.element != "e2m1"
        return self.scale not in SCALES or has_powers or has_fractions

    @property
    def spec(self):
        """The scale spec as MLIR spells it; empty without scales."""
        sparsity, group, kept, _ = PATTERNS.get(self.sparsity, ("", 1, 1, 1))
        if self.scale is None:
            return sparsity
        numbers = "multi_float32_" if self.tensor_scale else ""
        numbers += FACTORS[self.scale][0]
        if self.zero is not None:
            numbers += f"_{FACTORS[self.zero][0] if self.has_real_zeros else self.zero}"
        if self.covers_k and self.rows == 0:
            return numbers + (sparsity and f"_{sparsity}")
        if self.covers_k:
            rows = "" if self.rows == 1 else f"_t{self.rows}"
            return f"{numbers}{rows}_t0{sparsity}"
        subtiles = [f"s{size}" if size else "" for size in
                    (self.row_subtile, self.subtile)]
        rows = "" if self.rows == 1 else f"_t{self.rows}{subtiles[0]}"
        return f"{numbers}{rows}_t{self.block * kept // group}{subtiles[1]}{sparsity}"

    def without_subtiles(self):
        """The format as kernels know it, which have the table of every element."""
        return replace(self, subtile=0, row_subtile=0)

    @property
    def bits(self):
        """Bits of an element in a kernel's memory; of int4 and uint4 those before
        they are translated."""
        return ELEMENTS[self.element][1]

    @property
    def unit(self):
        """What 1 means: under powers of two integers are fixed-point numbers."""
        is_fixed_point = self.element in INTEGERS and self.scale == "ue8m0"
        return np.float32(2.0 ** (2 - self.bits) if is_fixed_point else 1)

    @property
    def largest(self):
        """The largest element, as f32."""
        if self.is_codebook:
            return codebooks.values_of(self.element).max()
        if self.element in WITH_ZEROS:
            return np.float32((1 << self.bits) - 1)
        return largest(self.dtype) * self.unit

    @property
    def dtype(self):
        """The numpy dtype of elements."""
        return np.dtype(ELEMENTS[self.element][2])

    @property
    def scale_dtype(self):
        """The numpy dtype of scales, None without."""
        return np.dtype(FACTORS[self.scale][1]) if self.scale else None

    @property
    def zero_dtype(self):
        """The numpy dtype of zero points, None without."""
        if self.has_real_zeros:
            return np.dtype(FACTORS[self.zero][1])
        return np.dtype(ZEROS[self.zero]) if self.zero else None

    @property
    def has_real_zeros(self):
        """Whether there are zero points that do not count in steps of scales."""
        return self.zero in REAL_ZEROS

    @property
    def largest_scale(self):
        """The largest scale, as f32."""
        return UE5M3[254] if self.scale == "ue5m3" else largest(self.scale_dtype)

    def scale_values(self, scales):
        """The numbers that scales of this format are, as f32."""
        return UE5M3[scales] if self.scale == "ue5m3" else \
            scales.astype(np.float32)

    def sparse(self, pattern=None):
        """The format of a sparse A whose stored elements have this one: blocks
        grow by what is pruned. By default pairs of FP4 with scales, one of two
        of tf32, two of four of the rest."""
        if pattern is None:
            pattern = ("1:2" if self.element == "tf32" else
                       "4:8 in pairs" if self.element == "e2m1" and self.block else
                       "2:4")
        if pattern not in PATTERNS:
            raise Refused(f"no sparsity '{pattern}'; there are "
                          f"{', '.join(PATTERNS)}")
        if self.sparsity is not None:
            raise Refused(f"format '{self}' is sparse already")
        return replace(self, sparsity=pattern, block=2 * self.block)

    def beside_sparse(self):
        """The format of the dense B of a product whose A is sparse: its blocks
        are as long."""
        return replace(self, block=2 * self.block)

    def __str__(self):
        names = [name for name, one in FORMATS.items() if one == self]
        return names[0] if names else f"{self.element} '{self.spec}'"


FORMATS = {
    "nvfp4": Format("e2m1", "ue4m3", 16, True),
    "nvfp4_one_level": Format("e2m1", "ue4m3", 16),
    "fp4_ue5m3": Format("e2m1", "ue5m3", 16),
    "fp4_ue5m3_32": Format("e2m1", "ue5m3", 32),
    "mxfp4": Format("e2m1", "ue8m0", 32),
    "mxfp4_16": Format("e2m1", "ue8m0", 16),
    "mxfp6_e2m3": Format("e2m3", "ue8m0", 32),
    "mxfp6_e3m2": Format("e3m2", "ue8m0", 32),
    "mxfp8": Format("e4m3", "ue8m0", 32),
    "mxfp8_e5m2": Format("e5m2", "ue8m0", 32),
    "mxint4": Format("int4", "ue8m0", 32),
    "mxint8": Format("int8", "ue8m0", 32),
    "fp8_tensor": Format("e4m3", "f32", rows=0),
    "fp8_row": Format("e4m3", "f32"),
    "fp8_1x128": Format("e4m3", "f32", 128),
    "fp8_128x128": Format("e4m3", "f32", 128, rows=128),
    "int4_row": Format("int4", "f32"),
    "int4_1x128": Format("int4", "f32", 128),
    "uint4_row": Format("uint4", "f32", zero="int8"),
    "uint4_1x128": Format("uint4", "f32", 128, zero="int8"),
    "uint8_row": Format("uint8", "f32", zero="int16"),
    "uint8_1x128": Format("uint8", "f32", 128, zero="int16"),
    "int8_tensor": Format("int8", "f32", rows=0),
    "int8_row": Format("int8", "f32"),
    "fp4": Format("e2m1"),
    "fp6_e2m3": Format("e2m3"),
    "fp6_e3m2": Format("e3m2"),
    "fp8": Format("e4m3"),
    "fp8_e5m2": Format("e5m2"),
    "f16": Format("f16"),
    "bf16": Format("bf16"),
    "tf32": Format("tf32"),
    "int8": Format("int8"),
    "uint8": Format("uint8"),
}


def format_named(name):
    """The format of a name such as "nvfp4", or of one that MLIR knows, too ("nvf4",
    "mx6", "bfp16"); a Format is its own name."""
    if isinstance(name, Format):
        return name
    if isinstance(name, str) and name in FORMATS:
        return FORMATS[name]
    shown = f"'{name}'" if isinstance(name, str) else f"that is a {type(name).__name__}"
    try:
        element, scale, block, rows, zero, subtile = _core.find_data_type(name)
    except (Refused, TypeError):
        raise Refused(f"no format {shown}; there are {', '.join(FORMATS)}, and the "
                      "data types that MLIR knows by name, such as nvf4") from None
    return Format(element, scale or None, block, rows=rows, zero=zero or None,
                  subtile=subtile)
