"""Operands, sizes and makers of rows that variants have in common.

Part of the blockscale project, under the Apache License v2.0 with LLVM
Exceptions.
SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""

from collections import namedtuple

import legality
from variant_functions import function_that_adds, function_with_counts

# What the chips of a variant have, as the legality table names it.
DATACENTER = {"family": "tcgen05.mma"}
K96_CHIPS = {"family": "tcgen05.mma", "k": 96}
WARP = {"family": "mma.sync"}

# Element types of A and B, and their scale specs.
Operands = namedtuple("Operands", "a b a_spec b_spec")


def same(element, spec):
    return Operands(element, element, spec, spec)


MXFP8 = same("f8E4M3FN", "e8m0_t32")
MXFP6 = Operands("f6E3M2FN", "f6E2M3FN", "e8m0_t32", "e8m0_t32")
MIXED = Operands("f8E5M2", "f4E2M1FN", "e8m0_t32", "e8m0_t32")
MXFP4 = same("f4E2M1FN", "e8m0_t32")
NVFP4 = same("f4E2M1FN", "multi_float32_e4m3fn_t16")
FP4_E8M0_16 = same("f4E2M1FN", "e8m0_t16")
# Of sm_107 alone.
FP4_UE5M3_16 = same("f4E2M1FN", "e5m3fn_t16")
FP4_UE5M3_32 = same("f4E2M1FN", "e5m3fn_t32")
FP4_UE4M3_32 = same("f4E2M1FN", "e4m3fn_t32")
# Scales of A one row to a lane.
ROWS = [one._replace(a_spec=one.a_spec + "@tiled_128x16")
        for one in (NVFP4, FP4_E8M0_16, FP4_UE5M3_16)]
DENSE = [MXFP8, MXFP6, MIXED, MXFP4, NVFP4, FP4_E8M0_16]
FP4 = [MXFP4, NVFP4, FP4_E8M0_16]
WIDE = DENSE + [FP4_UE5M3_16, FP4_UE5M3_32, FP4_UE4M3_32]
SPARSE = [
    Operands("f8E4M3FN", "f8E5M2", "e8m0_t32n2m4", "e8m0_t64"),
    Operands("f4E2M1FN", "f6E3M2FN", "e8m0_t32n2m4", "e8m0_t64"),
    Operands("f4E2M1FN", "f4E2M1FN", "e8m0_t32n4m8", "e8m0_t64"),
    Operands("f4E2M1FN", "f4E2M1FN", "e4m3fn_t16n4m8", "e4m3fn_t32"),
]
# Of what keeps less than is stored.
PADDED = [Operands("f8E4M3FN", "f8E5M2", "e8m0_t16n1m4", "e8m0_t64"),
          Operands("f4E2M1FN", "f4E2M1FN", "e4m3fn_t32", "e4m3fn_t16n2m8")]

# Without scales.
UNSCALED = [
    Operands("f16", "f16", "n2m4", ""),
    Operands("bf16", "bf16", "n2m4", ""),
    Operands("tf32", "tf32", "n1m2", ""),
    Operands("f8E4M3FN", "f8E5M2", "n2m4", ""),
    Operands("f4E2M1FN", "f6E3M2FN", "n2m4", ""),
]
INTEGERS = [
    Operands("i8", "i8", "n2m4", ""),
    Operands("ui8", "i8", "n2m4", ""),
]
# Scales of f32 that are applied in registers: of one row by 128 of them, and of
# one row by one.
PROMOTED = [Operands("f8E4M3FN", "f8E4M3FN", "float32_t128@plain",
                     "float32_t128_t128@plain"),
            Operands("f8E5M2", "f4E2M1FN", "float32_t128@plain",
                     "float32_t128@plain")]
# Beside a sparse A without scales, whose stages have two blocks, or four.
SPARSE_PROMOTED = [Operands("f8E4M3FN", "f8E4M3FN", "n2m4", "float32_t128_t128@plain"),
                   Operands("f4E2M1FN", "f8E5M2", "n2m4", "float32_t64@plain")]
# Of the sparse A itself, beside tiles of as many elements of B, and of none.
PROMOTED_OF_SPARSE = [Operands("f8E4M3FN", "f8E4M3FN", "float32_t64n2m4",
                               "float32_t128_t128@plain"),
                      Operands("f6E2M3FN", "f4E2M1FN", "float32_t128_t64n2m4", "")]
# Of B, as experts have it.
SPARSE_WEIGHTS = [Operands("f8E5M2", "f8E4M3FN", "e8m0_t64", "e8m0_t32n2m4"),
                  Operands("bf16", "bf16", "", "n2m4")]
# Scales of 1 beside those that instructions read; with the first in all of K, and in
# tiles whose sums are multiplied in registers.
ONES = [Operands("f8E4M3FN", "f4E2M1FN", "float32_t0@plain", "e8m0_t32"),
        Operands("f4E2M1FN", "f4E2M1FN", "multi_float32_e4m3fn_t16", "float32@plain")]
PROMOTED_ONES = [Operands("f8E4M3FN", "f4E2M1FN", "float32_t128@plain", "e8m0_t32"),
                 Operands("f8E4M3FN", "f6E2M3FN", "e8m0_t32",
                          "float32_t128_t128@plain")]
# Scales that instructions read, but not beside the other operand's elements.
PROMOTED_BESIDE = [Operands("bf16", "f4E2M1FN", "", "e8m0_t32@plain"),
                   Operands("f8E4M3FN", "f4E2M1FN", "float32_t0@plain",
                            "multi_float32_e4m3fn_t16@plain")]
# Bytes, of tiles and of all of K, also of a sparse A.
BYTE_FACTORS = [Operands("f8E4M3FN", "f6E2M3FN", "e5m3fn_t32@plain", "e5m2_t64@plain"),
                Operands("f8E4M3FN", "f8E5M2", "e4m3fn_t0n2m4", "e5m3fn@plain")]
# Of rows of each group along K, of some rows, and of all groups beside them.
FACTORS_ALONG_K = [same("f8E4M3FN", "float32_t0@grouped"),
                   Operands("f8E5M2", "f8E4M3FN", "e8m0_t0@grouped",
                            "float16_t16_t0@grouped"),
                   Operands("f8E4M3FN", "f8E4M3FN", "float32@plain",
                            "float32@grouped")]
# Beside scales of bytes, without scales and with those of all of K.
MIXES_ALONG_K = [Operands("f8E4M3FN", "f6E3M2FN", "e8m0_t32", ""),
                 Operands("f6E2M3FN", "f4E2M1FN", "", ""),
                 Operands("f4E2M1FN", "f8E5M2", "float32_t0@grouped",
                          "bfloat16_t0@grouped")]
# Of longer tiles and of several rows, which the host repeats.
REPEATED_ALONG_K = [same("f8E4M3FN", "e8m0_t64"),
                    Operands("f8E5M2", "f4E2M1FN", "e8m0_t32_t32", "e8m0_t128_t128"),
                    Operands("f4E2M1FN", "f4E2M1FN", "multi_float32_e4m3fn_t16_t16",
                             "multi_float32_e4m3fn_t16")]
# As DeepGEMM's gradients have them, in squares, of which one has two of the other's, in
# several to a stage, of integers less zero points, and of what instructions scale too.
PROMOTED_ALONG_K = [same("f8E4M3FN", "float32_t128@plain"),
                    Operands("f8E5M2", "f6E2M3FN", "float32_t128_t128@plain",
                             "float32_t256@plain"),
                    same("f8E4M3FN", "float32_t64@plain"),
                    Operands("bf16", "ui4", "", "float32_int8_t128@plain"),
                    Operands("f8E4M3FN", "f8E4M3FN", "float32_t128@plain",
                             "e8m0_t32")]
# Of formats that no instruction converts.
DECODED_FACTORS = [Operands("f8E4M3FN", "f8E5M2", "e4m3b8fnuz_t32@plain",
                            "e3m4_t64_t128@plain"),
                   Operands("f6E2M3FN", "f8E4M3FN", "e5m2b16fnuz_t0@plain",
                            "e4m3b11fnuz@plain")]
# Of single instructions of K and of two.
SHORT_TILES = [Operands("f8E4M3FN", "i4", "float32_t0@plain",
                        "bfloat16_t32@plain"),
               Operands("f8E4M3FN", "ui4", "float32_t64@plain",
                        "float32_int8_t64@plain")]
# Of as few elements as an instruction of kind f16 has of K, which all rows share.
SHORTEST_TILES = [Operands("f8E4M3FN", "f6E3M2FN", "float32_t16@plain",
                           "float16_t16_t16@plain"),
                  Operands("bf16", "i4", "", "float32_t0_t16@plain")]
# Stored in 16 bits.
LONG_ELEMENTS = [Operands("bf16", "i4", "", "bfloat16_t32@plain"),
                 Operands("f16", "ui4", "", "float16_int8_t128@plain"),
                 Operands("bf16", "ui8", "", "float32_int16_t64@plain"),
                 Operands("f8E5M2", "f16", "float32_t0@plain", ""),
                 Operands("i8", "i8", "float32_t128@plain",
                          "float32_t128_t128@plain"),
                 Operands("i8", "i8", "e8m0_t32@plain", "e8m0_t32_t32@plain")]
# Codes less zero points, which the host subtracts.
ZEROS = [Operands("f8E4M3FN", "ui4", "float32_t128@plain",
                  "float32_int8_t128@plain"),
         Operands("ui4", "f6E2M3FN", "bfloat16_int16_t0@plain",
                  "float32_t0@plain")]
# The same in real units, which the epilogue subtracts.
REAL_ZEROS = [Operands("f8E4M3FN", "ui4", "float32_t0@plain",
                       "float32_float16_t0@plain"),
              Operands("ui4", "ui8", "float32_float32_t128@plain",
                       "bfloat16_bfloat16_t0@plain")]
# Of what a sparse operand keeps, A or B, and in real units of the dense one beside it.
SPARSE_ZEROS = [Operands("ui4", "f8E4M3FN", "float32_int8_t64n2m4",
                         "float32_t128@plain"),
                Operands("bf16", "ui8", "", "float32_int16_t0n2m4")]
ZEROS_BESIDE_SPARSE = [Operands("f8E4M3FN", "ui4", "float32_t64n2m4",
                                "float32_float32_t128@plain"),
                       Operands("bf16", "ui8", "n2m4", "float32_float16_t0@plain")]
# Indices into tables, stored as elements of 4 to 16 bits.
CODEBOOKS = [Operands('!blockscale.codebook<"cb31ie_int5">', "f4E2M1FN", "e8m0_t16s2",
                      "e8m0_t16"),
             Operands("f8E4M3FN", '!blockscale.codebook<"cb42f1346_e2m3fnuz">',
                      "e8m0_t32", "e8m0_t32s8"),
             Operands('!blockscale.codebook<"cb51ie_int7">',
                      '!blockscale.codebook<"cb81ie_int9">', "e8m0_t16s2@plain",
                      "e8m0_t16s2@plain")]
INTEGER_CHIPS = {"family": "tcgen05.mma", "kind": "i8"}
UNSCALED_DENSE = [operands._replace(a_spec="") for operands in UNSCALED]
INTEGERS_DENSE = [operands._replace(a_spec="") for operands in INTEGERS]

# M is dynamic and takes each of `rows`; N and K are static, one product each.
Sizes = namedtuple("Sizes", "rows products")
SMALL = Sizes([1, 130, 300], [(264, 576), (512, 1056)])
# Of tiles of more columns than an instruction has: one that ends in its first
# instruction, and others.
BESIDE = Sizes([1, 300], [(264, 576), (712, 1056)])
HALVED = Sizes([1, 130, 300], [(264, 576), (512, 1088)])
LONG = Sizes([130, 300], [(208, 96 * steps) for steps in range(1, 18, 2)] +
             [(512, 768), (512, 1600)])
# Groups of rows: empty ones, one row, and one more or less than tiles have.
GROUPED = Sizes([1, 400], [(264, 576)])
GROUPED_BLOCKS = Sizes([1, 400], [(264, 640)])
GROUPED_LONG = Sizes([400], [(264, 1632)])
# Groups along K: empty ones, and tiles along K that they fill in part or not. K is
# dynamic and takes each of `rows`; M and N are static.
ALONG_K = Sizes([64, 768, 1280], [(264, 136)])
# The same in tiles along K of 128 and more.
BLOCKS_ALONG_K = Sizes([256, 1152, 1664], [(264, 136)])
# Whole tiles of 128 along K.
BLOCKS = Sizes([1, 300], [(264, 640)])
LONG_SPLIT = Sizes([130], [(208, 1632), (512, 2304)])


# On sm_107 most kernels have instructions of twice the K: its rows are its own.
WIDE_SIZES = Sizes([130, 300], [(264, 576), (512, 1056)])
WIDE_SHORT = Sizes([130, 300], [(264, 576)])


class Variant(namedtuple("Variant",
                         "name needs operands schedule sizes is_wide groups "
                         "results is_along_k make",
                         defaults=[False, 0, ("f32",), False, None])):
    @property
    def chips(self):
        return [chip for chip in legality.chips(**self.needs)
                if self.is_wide == legality.has(chip, k=128, kind="mxf4",
                                                 sparse=False)]


def wide(name, operands, schedule, sizes=WIDE_SHORT, needs=DATACENTER):
    return Variant(name, needs, operands, schedule, sizes, True)


def grouped(name, operands, schedule, sizes=GROUPED, needs=DATACENTER,
            is_wide=False):
    return Variant(name, needs, operands, schedule, sizes, is_wide, groups=5)


def masked(name, operands, schedule, sizes=GROUPED, needs=DATACENTER):
    """Counts of the rows of each matrix of A that are there."""
    return Variant(f"counts of rows, {name}", needs, operands, schedule, sizes,
                   groups=5, make=function_with_counts)


def by_tma(name, operands, schedule, sizes=SMALL, needs=DATACENTER,
           is_wide=False):
    """D of each type, one after the other."""
    return Variant(f"stores by TMA, {name}", needs, operands,
                   f"{schedule}, stores = tma", sizes, is_wide,
                   results=("f32", "bf16", "f16"))


def adding_by_tma(name, operands, schedule, sizes=SMALL, needs=DATACENTER,
                  is_wide=False):
    """C and D of each type, one after the other."""
    return Variant(f"C by TMA, {name}", needs, operands,
                   f"{schedule}, c_loads = tma", sizes, is_wide,
                   results=("f32", "bf16", "f16"), make=function_that_adds)


def along_k(name, operands, schedule, sizes=ALONG_K, needs=DATACENTER,
            is_wide=False):
    return Variant(name, needs, operands, schedule, sizes, is_wide, groups=5,
                   is_along_k=True)


def pair(extra=""):
    return f"cta_group = 2, swap_operands = false{extra}"


def cluster(m, n, group=1, extra=""):
    return (f"cta_group = {group}, cluster_m = {m}, cluster_n = {n}, "
            f"swap_operands = false{extra}")
