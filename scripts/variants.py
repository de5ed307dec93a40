"""Assembles and emulates every kind of kernel; prints a table.

    scripts/variants.py [--only REGEX] [--every N] [--jobs N] [--blockscale PATH]

One row for each way to build a kernel (CTA pairs, clusters, K = 96, sparse,
warp-level, ...). Its kernels are compiled for each chip that has the
instructions, assembled by ptxas, then run on the emulator with exact data and
compared bit for bit: for several sizes with tails, and with asynchronous
operations that finish at once and as late as they may. Exits with 1 if a kernel
is not assembled, spills, or disagrees. With --every it takes each N-th kernel of a
row, others in each row, and prints what the whole would count; CI does that.

Part of the blockscale project, under the Apache License v2.0 with LLVM
Exceptions.
SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""

import argparse
import concurrent.futures
import json
import os
import re
import subprocess
import sys
import tempfile
from collections import namedtuple

import legality

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


def along_k(name, operands, schedule, needs=DATACENTER):
    return Variant(name, needs, operands, schedule, ALONG_K, groups=5,
                   is_along_k=True)


def pair(extra=""):
    return f"cta_group = 2, swap_operands = false{extra}"


def cluster(m, n, group=1, extra=""):
    return (f"cta_group = {group}, cluster_m = {m}, cluster_n = {n}, "
            f"swap_operands = false{extra}")


VARIANTS = [
    Variant("one CTA", DATACENTER, DENSE,
            "cta_group = 1, swap_operands = false", SMALL),
    Variant("one CTA, operands swapped", DATACENTER, DENSE,
            "cta_group = 1, swap_operands = true", SMALL),
    Variant("the default choice", DATACENTER, DENSE, "", SMALL),
    Variant("CTA pair", DATACENTER, DENSE, pair(), SMALL),
    Variant("CTA pair, operands swapped", DATACENTER, DENSE,
            "cta_group = 2, swap_operands = true", SMALL),
] + [
    Variant(f"cluster {m} x {n}" + (" of pairs" if group == 2 else ""),
            DATACENTER, [MXFP8, NVFP4], cluster(m, n, group), SMALL)
    for m, n, group in [(2, 1, 1), (1, 2, 1), (2, 2, 1), (4, 2, 1), (2, 2, 2),
                        (4, 1, 2), (4, 2, 2), (2, 4, 2), (4, 4, 2)]
] + [
    Variant("dynamic scheduler", DATACENTER, [MXFP8, NVFP4],
            'cta_group = 1, scheduler = dynamic', SMALL),
    Variant("dynamic scheduler, CTA pair in 2 x 2", DATACENTER,
            [MXFP8, NVFP4], cluster(2, 2, 2, ", scheduler = dynamic"), SMALL),
    Variant("dependent launch", DATACENTER, [NVFP4],
            pair(", dependent_launch = true"), SMALL),
    Variant("split K", DATACENTER, [MXFP8, NVFP4],
            "cta_group = 1, swap_operands = false, split_k = 2, cluster_k = 1",
            SMALL),
    Variant("split K, CTA pair in 2 x 2", DATACENTER, [NVFP4],
            cluster(2, 2, 2, ", split_k = 3"), SMALL),
    Variant("split K in one cluster", DATACENTER, [MXFP8, NVFP4],
            "cta_group = 1, swap_operands = false, split_k = 2, cluster_k = 2",
            SMALL),
    Variant("split K in one cluster, operands swapped", DATACENTER, [MXFP8],
            "cta_group = 1, swap_operands = true, split_k = 3, cluster_k = 3",
            SMALL),
    Variant("split K in one cluster of pairs", DATACENTER, [NVFP4],
            pair(", split_k = 3, cluster_k = 3"), SMALL),
    Variant("split K in one cluster of tiles that share A", DATACENTER,
            [MXFP8, NVFP4],
            cluster(1, 2, 1, ", tile_n = 128, split_k = 2, cluster_k = 2"),
            SMALL),
    Variant("split K in one cluster of pairs that share B", DATACENTER, [NVFP4],
            cluster(4, 1, 2, ", split_k = 2, cluster_k = 2"), SMALL),
    Variant("K = 96", K96_CHIPS, FP4, "cta_group = 1, mma_k = 96", LONG),
    Variant("K = 96, CTA pair", K96_CHIPS, FP4, pair(", mma_k = 96"), LONG),
    Variant("K = 96, split K", K96_CHIPS, [NVFP4],
            "cta_group = 1, mma_k = 96, split_k = 3, cluster_k = 1",
            LONG_SPLIT),
    Variant("K = 96, split K in one cluster", K96_CHIPS, [NVFP4],
            "cta_group = 1, mma_k = 96, split_k = 3, cluster_k = 3",
            LONG_SPLIT),
    Variant("sparse", DATACENTER, SPARSE, "cta_group = 1", HALVED),
    Variant("sparse, CTA pair", DATACENTER, SPARSE, "cta_group = 2", HALVED),
    Variant("without scales", DATACENTER, UNSCALED_DENSE,
            "cta_group = 1, swap_operands = false", SMALL),
    Variant("without scales, CTA pair", DATACENTER, UNSCALED_DENSE, pair(),
            SMALL),
    Variant("without scales, the default choice", DATACENTER, UNSCALED_DENSE,
            "", SMALL),
    Variant("scales applied in registers", DATACENTER, PROMOTED,
            "cta_group = 1, swap_operands = false", BLOCKS),
    Variant("scales applied in registers, operands swapped", DATACENTER,
            PROMOTED, "cta_group = 1, swap_operands = true", BLOCKS),
    Variant("scales applied in registers, CTA pair", DATACENTER, PROMOTED,
            pair(), BLOCKS),
    Variant("scales applied in registers, the default choice", DATACENTER,
            PROMOTED, "", BLOCKS),
    Variant("scales applied in registers, of short tiles", DATACENTER,
            SHORT_TILES, "", BLOCKS),
    Variant("scales applied in registers, of short tiles, CTA pair", DATACENTER,
            SHORT_TILES, pair(), BLOCKS),
    Variant("scales applied in registers, of shortest tiles", DATACENTER,
            SHORTEST_TILES, "", BLOCKS),
    Variant("zero points", DATACENTER, ZEROS, "", BLOCKS),
    Variant("zero points in real units", DATACENTER, REAL_ZEROS, "", BLOCKS),
    Variant("short elements in 16 bits", DATACENTER, LONG_ELEMENTS, "", BLOCKS),
    Variant("indices into tables", DATACENTER, CODEBOOKS, "", BLOCKS),
    Variant("integers", INTEGER_CHIPS, INTEGERS_DENSE, "cta_group = 1", SMALL),
    Variant("integers, CTA pair", INTEGER_CHIPS, INTEGERS_DENSE,
            "cta_group = 2", SMALL),
    Variant("sparse without scales", DATACENTER, UNSCALED, "cta_group = 1",
            HALVED),
    Variant("sparse without scales, CTA pair", DATACENTER, UNSCALED,
            "cta_group = 2", HALVED),
    Variant("sparse without scales, pairs in 2 x 2", DATACENTER, UNSCALED,
            "cta_group = 2, cluster_m = 2, cluster_n = 2", HALVED),
    Variant("sparse integers", INTEGER_CHIPS, INTEGERS, "cta_group = 1",
            HALVED),
    Variant("sparse integers, CTA pair", INTEGER_CHIPS, INTEGERS,
            "cta_group = 2", HALVED),
    Variant("warp level", WARP, [MXFP8, MXFP6, MIXED, MXFP4, NVFP4], "", SMALL),
    Variant("warp level, sparse", WARP, SPARSE, "", HALVED),
    Variant("warp level, without scales", WARP, UNSCALED_DENSE, "", SMALL),
    Variant("warp level, without scales, operands swapped", WARP,
            UNSCALED_DENSE[:3], "tile_n = 32, swap_operands = true", SMALL),
    Variant("warp level, integers", WARP, INTEGERS_DENSE, "", SMALL),
    Variant("warp level, scales applied in registers", WARP,
            PROMOTED + SHORT_TILES, "", BLOCKS),
    Variant("warp level, short elements in 16 bits", WARP, LONG_ELEMENTS, "",
            BLOCKS),
    Variant("warp level, scales applied in registers, of shortest tiles", WARP,
            SHORTEST_TILES, "", BLOCKS),
    Variant("warp level, indices into tables", WARP, CODEBOOKS[1:], "", BLOCKS),
]

VARIANTS += [
    wide("wide K, one CTA", WIDE, "cta_group = 1, swap_operands = false",
         WIDE_SIZES),
    wide("wide K, one CTA, operands swapped", WIDE,
         "cta_group = 1, swap_operands = true"),
    wide("wide K, the default choice", WIDE, "", WIDE_SIZES),
    wide("wide K, CTA pair", WIDE, pair(), WIDE_SIZES),
    wide("wide K, CTA pair, operands swapped", WIDE,
         "cta_group = 2, swap_operands = true"),
    wide("wide K, CTA pair, 512 rows that share B", WIDE,
         pair(", tile_m = 512"), WIDE_SIZES),
    wide("wide K, 512 rows that share B, operands swapped", WIDE,
         "cta_group = 2, swap_operands = true, tile_m = 512"),
    wide("wide K, 512 rows that share B, split K", [NVFP4],
         pair(", tile_m = 512, split_k = 2, cluster_k = 1")),
    wide("wide K, 512 rows that share B, split K in one cluster", [NVFP4],
         pair(", tile_m = 512, split_k = 2, cluster_k = 2")),
    wide("wide K, CTA pair, two accumulators of 256 columns", WIDE,
         pair(", tile_n = 256, accumulators = 2")),
    wide("wide K, CTA pair, 8 stages in 327 KiB", WIDE,
         pair(", tile_n = 192, stages = 8")),
] + [
    wide(f"wide K, cluster {m} x {n}{of}", [MXFP8, MIXED, NVFP4],
         cluster(m, n, group, extra))
    for m, n, group, of, extra in [
        (2, 1, 1, "", ""), (1, 2, 1, "", ""), (2, 2, 1, "", ""),
        (4, 2, 1, "", ""), (2, 2, 2, " of pairs", ""),
        (4, 1, 2, " of pairs", ""), (4, 2, 2, " of pairs", ""),
        (2, 4, 2, " of pairs", ""), (4, 4, 2, " of pairs", ""),
        (2, 2, 2, " of pairs with 512 rows", ", tile_m = 512"),
        (4, 1, 2, " of pairs with 512 rows", ", tile_m = 512")]
] + [
    wide("wide K, dynamic scheduler, CTA pair in 2 x 2", [MXFP8, NVFP4],
         cluster(2, 2, 2, ", scheduler = dynamic")),
    wide("wide K, dependent launch, 512 rows that share B", [NVFP4],
         pair(", dependent_launch = true, tile_m = 512")),
    wide("K = 32 beside wide K, CTA pair", [MXFP8, MIXED],
         pair(", mma_k = 32")),
    wide("K = 64 of 4 bits beside wide K, CTA pair",
         [MXFP4, NVFP4, FP4_UE5M3_16, FP4_UE4M3_32], pair(", mma_k = 64")),
    wide("wide K, scales of A one row to a lane", ROWS,
         "cta_group = 1", WIDE_SIZES),
    wide("wide K, scales of A one row to a lane, CTA pair", ROWS,
         "cta_group = 2"),
    wide("wide K, scales of A one row to a lane, 512 rows that share B", ROWS,
         "cta_group = 2, tile_m = 512"),
    wide("K = 96 beside wide K", [MXFP4, NVFP4], "cta_group = 1, mma_k = 96",
         WIDE_SIZES, K96_CHIPS),
    wide("K = 96 beside wide K, CTA pair", [MXFP4, NVFP4],
         pair(", mma_k = 96"),
         WIDE_SHORT, K96_CHIPS),
    wide("sparse 8 bits beside wide K", SPARSE[:2], "cta_group = 1"),
    wide("sparse 8 bits beside wide K, CTA pair", SPARSE[:2],
         "cta_group = 2"),
    wide("wide K without scales", UNSCALED_DENSE,
         "cta_group = 1, swap_operands = false", WIDE_SIZES),
    wide("wide K without scales, CTA pair", UNSCALED_DENSE, pair()),
    wide("wide K without scales, 512 rows that share B", UNSCALED_DENSE,
         pair(", tile_m = 512")),
    wide("wide K, scales applied in registers", PROMOTED[:1], "", BLOCKS),
    wide("wide K, scales applied in registers, CTA pair", PROMOTED[:1],
         pair(), BLOCKS),
    wide("sparse without scales beside wide K", UNSCALED, "cta_group = 2"),
]


VARIANTS += [
    grouped("groups of rows, one CTA", DENSE,
            "cta_group = 1, swap_operands = false"),
    grouped("groups of rows, one CTA, operands swapped", DENSE,
            "cta_group = 1, swap_operands = true, tile_n = 64"),
    grouped("groups of rows, the default choice", [MXFP8, NVFP4], ""),
    grouped("groups of rows, CTA pair", [MXFP8, MIXED, NVFP4], pair()),
    grouped("groups of rows, CTA pair, operands swapped", [MXFP8, NVFP4],
            "cta_group = 2, swap_operands = true"),
    grouped("groups of rows, CTA pair in 2 x 2", [MXFP8, NVFP4],
            cluster(2, 2, 2)),
    grouped("groups of rows, dynamic scheduler", [MXFP8, NVFP4],
            "cta_group = 1, scheduler = dynamic"),
    grouped("groups of rows, dynamic scheduler, CTA pair in 2 x 2", [MXFP8],
            cluster(2, 2, 2, ", scheduler = dynamic")),
    grouped("groups of rows, warp level",
            [MXFP8, MXFP6, MIXED, MXFP4, NVFP4], "swap_operands = false",
            needs=WARP),
    grouped("groups of rows, warp level, operands swapped", [MXFP8, NVFP4],
            "swap_operands = true", needs=WARP),
    grouped("groups of rows, warp level, without scales", UNSCALED_DENSE[3:],
            "", needs=WARP),
    grouped("groups of rows, scales applied in registers, one CTA", PROMOTED,
            "cta_group = 1, swap_operands = false", GROUPED_BLOCKS),
    grouped("groups of rows, scales applied in registers, operands swapped",
            PROMOTED, "cta_group = 1, swap_operands = true", GROUPED_BLOCKS),
    grouped("groups of rows, scales applied in registers, CTA pair", PROMOTED,
            pair(), GROUPED_BLOCKS),
    grouped("groups of rows, scales applied in registers, the default choice",
            [*PROMOTED, ZEROS[0]], "", GROUPED_BLOCKS),
    grouped("wide K, groups of rows, scales applied in registers", PROMOTED[:1],
            "", GROUPED_BLOCKS, is_wide=True),
    grouped("groups of rows without scales", UNSCALED_DENSE, "cta_group = 1"),
    grouped("groups of rows, integers", INTEGERS_DENSE[:1], "cta_group = 1",
            needs=INTEGER_CHIPS),
    grouped("groups of rows, K = 96, CTA pair", [NVFP4], pair(", mma_k = 96"),
            GROUPED_LONG, K96_CHIPS),
    grouped("wide K, groups of rows, one CTA, operands swapped", WIDE[:3],
            "cta_group = 1, swap_operands = true", is_wide=True),
    grouped("wide K, groups of rows, 512 rows that share B", WIDE,
            pair(", tile_m = 512"), is_wide=True),
]

# Those that a group along K may begin with anywhere; all rows of one k together.
BYTES = UNSCALED_DENSE[:4]
COLUMNS = [Operands("f8E5M2@mn_major", "f8E4M3FN@mn_major", "", ""),
           Operands("f8E4M3FN@mn_major", "f8E5M2", "", "")]
VARIANTS += [
    along_k("groups along K, one CTA", BYTES,
            "cta_group = 1, swap_operands = false"),
    along_k("groups along K, one CTA, operands swapped", BYTES,
            "cta_group = 1, swap_operands = true, tile_n = 64"),
    along_k("groups along K, the default choice", BYTES[1:2], ""),
    along_k("groups along K, CTA pair, columns together in memory", COLUMNS,
            pair()),
    along_k("groups along K, CTA pair in 2 x 2", BYTES[1:2], cluster(2, 2, 2)),
    along_k("groups along K with scales, one CTA", [MXFP8, MXFP4, NVFP4],
            "cta_group = 1, swap_operands = false"),
    along_k("groups along K with scales, one CTA, operands swapped",
            [MXFP8, NVFP4], "cta_group = 1, swap_operands = true, tile_n = 64"),
    along_k("groups along K with scales, CTA pair", [MXFP8, NVFP4], pair()),
    along_k("groups along K with scales, CTA pair in 2 x 2", [MXFP8, NVFP4],
            cluster(2, 2, 2)),
    along_k("groups along K, integers", INTEGERS_DENSE[:1], "cta_group = 1",
            needs=INTEGER_CHIPS),
]


VARIANTS += [
    by_tma("one CTA", DENSE, "cta_group = 1, swap_operands = false"),
    by_tma("CTA pair", DENSE, pair()),
    by_tma("CTA pair in 2 x 2", [MXFP8, NVFP4], cluster(2, 2, 2)),
    by_tma("dynamic scheduler, dependent launch", [MXFP8, NVFP4],
           "cta_group = 1, swap_operands = false, scheduler = dynamic, "
           "dependent_launch = true"),
    by_tma("tiles of one chunk", [MXFP8, NVFP4],
           "cta_group = 1, swap_operands = false, tile_n = 32",
           Sizes([1, 130, 300], [(32, 576), (24, 576)])),
    by_tma("K = 96, CTA pair", [MXFP4, NVFP4], pair(", mma_k = 96"),
           LONG_SPLIT, K96_CHIPS),
    by_tma("sparse, CTA pair", SPARSE[:2], "cta_group = 2", HALVED),
    by_tma("without scales", UNSCALED_DENSE[:3],
           "cta_group = 1, swap_operands = false"),
    by_tma("integers, CTA pair", INTEGERS_DENSE[:1], pair(),
           needs=INTEGER_CHIPS),
    by_tma("wide K, 512 rows that share B", [MXFP8, NVFP4],
           pair(", tile_m = 512"), WIDE_SHORT, is_wide=True),
]


# What a kernel quantises: numbers of type `x`, to elements under scales, with a rule or
# a rounding; whether it finds tensor scales.
Quantization = namedtuple("Quantization", "element spec x words finds",
                          defaults=["", False])
QUANTIZATIONS = [
    Quantization("f8E4M3FN", "e8m0_t32", "bf16"),
    Quantization("f8E5M2", "e8m0_t32", "f32", "rule(round_up)"),
    Quantization("f6E2M3FN", "e8m0_t32", "f16", "rounding(away)"),
    Quantization("f6E3M2FN", "e8m0_t32", "bf16", "rounding(zero)"),
    Quantization("f4E2M1FN", "e8m0_t32", "f32",
                 "rounding(stochastic, seed = 12345)"),
    Quantization("f4E2M1FN", "e4m3fn_t16", "bf16"),
    Quantization("f4E2M1FN", "multi_float32_e4m3fn_t16", "f16"),
]
SQUARES = [
    Quantization("f8E4M3FN", "e8m0_t32_t32", "bf16"),
    Quantization("f6E2M3FN", "e8m0_t8_t32", "f32", "rule(ceil)"),
    Quantization("f4E2M1FN", "multi_float32_e4m3fn_t16_t16", "f16"),
]
# Several warps find their scales together.
TALL = [Quantization("f8E4M3FN", "e8m0_t64_t32", "bf16"),
        Quantization("f4E2M1FN", "multi_float32_e4m3fn_t128_t16", "f32",
                     "rule(min_error)")]
# Longer than the blocks of dense instructions, or under floats.
LONG = [Quantization("f8E4M3FN", "e8m0_t128", "bf16"),
        Quantization("f8E5M2", "e8m0_t128_t128", "f32"),
        Quantization("f8E4M3FN", "float32_t128@plain", "bf16"),
        Quantization("f8E4M3FN", "float32_t128_t128@plain", "f16"),
        Quantization("f4E2M1FN", "e4m3fn_t32", "bf16", "{blockscale.for_sparse}")]
# One for each row.
WHOLE_ROWS = [Quantization("f8E4M3FN", "float32_t0@plain", "bf16"),
              Quantization("f8E5M2", "float32_t0@plain", "f32")]
FOUND = [Quantization("f4E2M1FN", "multi_float32_e4m3fn_t16", "bf16", finds=True),
         Quantization("f4E2M1FN", "multi_float32_e4m3fn_t16_t16", "f32",
                      "rule(min_error)", finds=True)]
# What a kernel dequantises, to numbers of type `x`.
DEQUANTIZATIONS = QUANTIZATIONS + [
    Quantization("f8E4M3FN", "e8m0_t32@plain", "f32"), SQUARES[0]]
# Layouts of scales before and behind.
LAYOUTS = [("plain", "tiled_128x4"), ("tiled_128x4", "tiled_128x16"),
           ("tiled_128x16", "plain")]
LINES = Sizes([1, 130, 300], [(1, 96), (1, 544)])
# Of whole tiles along K.
LONG_LINES = Sizes([1, 130, 300], [(1, 128), (1, 640)])
# What kernels prune, and how elements are stored before and behind.
Sparsity = namedtuple("Sparsity", "op element dense sparse", defaults=[""])
SPARSITIES = [
    Sparsity("prune", "bf16", "2 of 4"), Sparsity("prune", "f32", "4 of 8 pairs")] + [
    Sparsity(op, *stored) for op in ("compress", "densify") for stored in [
        ("f8E4M3FN", "e8m0_t64", "e8m0_t32n2m4"), ("f6E2M3FN", "e8m0_t64", "e8m0_t32n2m4"),
        ("f4E2M1FN", "multi_float32_e4m3fn_t32", "multi_float32_e4m3fn_t16n4m8"),
        ("bf16", "", "n2m4"), ("tf32", "", "n1m2"), ("i8", "", "n2m4")]]
WHOLE_WORDS = Sizes([1, 130, 300], [(1, 128), (1, 576)])
# Whole blocks of columns, which end inside a tile.
BLOCKS_OF_D = Sizes([1, 130, 300], [(288, 576), (512, 1056)])
# A product, and what its kernel makes of its sums.
Quantized = namedtuple("Quantized", "operands quantization")
RESULTS = [Quantized(operands, QUANTIZATIONS[i]) for operands, i in
           [(MXFP8, 0), (MIXED, 2), (MXFP4, 4), (NVFP4, 5), (NVFP4, 6)]]


# Each two columns make one of D: SwiGLU has no exact results, a difference has.
PAIRS = """pairs epilogue(%x, %up) {
    %1 = arith.subf %up, %x : f32
    blockscale.yield %1
  }"""
PAIRED = [Quantized(operands, None) for operands in DENSE] + RESULTS[:1] + \
    RESULTS[3:]


def quantized_groups(name, schedule, needs=DATACENTER, is_wide=False, is_paired=False):
    """Results of groups of rows, of single columns or of pairs. A warp has 16 pairs."""
    make = function_with_pairs if is_paired else function_with_quantized_result
    kind = "gate and up, " if is_paired else ""
    results = RESULTS[3:] if is_paired and needs is WARP else RESULTS
    return Variant(f"quantised results of groups, {kind}{name}", needs, results,
                   schedule, Sizes([1, 400], [(320, 576)]), is_wide, groups=5,
                   make=make)


def paired(name, schedule, needs=DATACENTER, is_wide=False, results=True):
    return Variant(f"gate and up, {name}", needs,
                   PAIRED if results else PAIRED[:len(DENSE)], schedule,
                   Sizes([1, 130, 300], [(320, 576), (512, 1056)]), is_wide,
                   make=function_with_pairs)


def quantized(name, schedule, needs=DATACENTER, is_wide=False):
    return Variant(f"quantised results, {name}", needs, RESULTS, schedule,
                   BLOCKS_OF_D, is_wide, make=function_with_quantized_result)


def gathered(name, operands, schedule, sizes=GROUPED, needs=DATACENTER,
             is_wide=False):
    """Rows of groups by number."""
    return Variant(f"groups of gathered rows, {name}", needs, operands, schedule,
                   sizes, is_wide, groups=5, make=function_that_gathers)


def tensor(rows, k, element, spec):
    """A spec with "@" names its layout behind it, an element the order of data."""
    spec, _, layout = spec.partition("@")
    element, _, order = element.partition("@")
    text = f', "{spec}", layout = {layout or "tiled_128x4"}' if spec else ""
    text += f", order = {order}" if order else ""
    return f"!blockscale.tensor<{rows}x{k}x{element}{text}>"


def sum_type(operands, result_type):
    """Sums of integers stay exact, but for those that float scales multiply."""
    is_exact = "i8" in operands.a and not operands.b_spec
    return "i32" if is_exact else result_type


def function_along_k(name, operands, m, n, schedule, groups, result_type):
    apart = "@grouped_128x4" if operands.a_spec else ""
    a = tensor(m, "?", operands.a, operands.a_spec + apart)
    b = tensor(n, "?", operands.b, operands.b_spec + apart)
    result = f"tensor<{groups}x{m}x{n}x{sum_type(operands, result_type)}>"
    wish = f"schedule(#blockscale.schedule<{schedule}>) " if schedule else ""
    ends = f"tensor<{groups}xi32>"
    return (f"func.func @{name}(%a: {a}, %b: {b}, %ends: {ends}) -> {result} {{\n"
            f"  %d = blockscale.matmul %a, %b groups(%ends : {ends}) {wish}: "
            f"{a}, {b} -> {result}\n"
            f"  return %d : {result}\n}}\n")


def function_of_late_k(name, operands, m, n, schedule, *_):
    a = tensor(m, "?", operands.a, operands.a_spec)
    b = tensor(n, "?", operands.b, operands.b_spec)
    result = f"tensor<{m}x{n}xf32>"
    return (f"func.func @{name}(%a: {a}, %b: {b}) -> {result} {{\n"
            f"  %d = blockscale.matmul %a, %b schedule(#blockscale.schedule<"
            f"{schedule}>) : {a}, {b} -> {result}\n"
            f"  return %d : {result}\n}}\n")


def function_that_gathers(name, *what):
    return function(name, *what, of_numbers=True)


def function(name, operands, n, k, schedule, groups, result_type,
             of_numbers=False):
    is_apart = groups and operands.a_spec and "@" not in operands.a_spec
    layout = "@grouped_128x4" if is_apart else ""
    a = tensor("?", k, operands.a, operands.a_spec + layout)
    b = tensor(f"{groups}x{n}" if groups else n, k, operands.b,
               operands.b_spec)
    ends, clause = "", ""
    if groups:
        ends = f", %ends: tensor<{groups}xi32>"
        clause = f"groups(%ends : tensor<{groups}xi32>) "
    if of_numbers:
        ends += ", %rows: tensor<?xi32>"
        clause += "rows(%rows : tensor<?xi32>) "
    result = f"tensor<?x{n}x{sum_type(operands, result_type)}>"
    wish = f"schedule(#blockscale.schedule<{schedule}>) " if schedule else ""
    return (f"func.func @{name}(%a: {a}, %b: {b}{ends}) -> {result} {{\n"
            f"  %d = blockscale.matmul %a, %b {clause}{wish}: {a}, {b} -> {result}\n"
            f"  return %d : {result}\n}}\n")


def function_that_adds(name, operands, n, k, schedule, _, result_type):
    a, b = (tensor(rows, k, *what) for rows, what in (
        ("?", (operands.a, operands.a_spec)), (n, (operands.b, operands.b_spec))))
    # C is of another type than D.
    addend = {"f32": "bf16", "bf16": "f16", "f16": "f32"}[result_type]
    c, d = (f"tensor<?x{n}x{element}>" for element in (addend, result_type))
    return (f"func.func @{name}(%a: {a}, %b: {b}, %c: {c}) -> {d} {{\n"
            f"  %d = blockscale.matmul %a, %b c(%c) "
            f"schedule(#blockscale.schedule<{schedule}>) : {a}, {b}, {c} -> {d}\n"
            f"  return %d : {d}\n}}\n")


def groups_of(groups):
    """An argument with the ends of groups, the clause of ops that read it, and the
    layout of scales by groups."""
    if not groups:
        return "", "", ""
    ends = f"tensor<{groups}xi32>"
    return f", %ends: {ends}", f"groups(%ends : {ends}) ", "@grouped_128x4"


def quantize(value, what, shape, groups=0):
    """The op and the end of its function, what it needs as an argument, and the type
    of its result."""
    scale = ""
    _, clause, layout = groups_of(groups)
    words = what.words
    if what.spec.startswith("multi") and not what.finds:
        scale, words = ", %t: tensor<f32>", f"tensor_scale(%t : tensor<f32>) {words}"
    result = tensor(*shape, what.element, what.spec + layout)
    text = (f"  %q = blockscale.quantize {value} {clause}{words} : "
            f"tensor<{shape[0]}x{shape[1]}x{what.x}> to {result}\n"
            f"  return %q : {result}\n}}\n")
    return text, scale, result


def function_that_quantizes(name, what, _, k, *__):
    text, scale, result = quantize("%x", what, ("?", k))
    return (f"func.func @{name}(%x: tensor<?x{k}x{what.x}>{scale}) -> {result} {{\n"
            + text)


def function_that_quantizes_columns(name, what, _, k, *__):
    text, scale, result = quantize("%y", what, ("?", k))
    x, y = f"tensor<{k}x?x{what.x}>", f"tensor<?x{k}x{what.x}>"
    return (f"func.func @{name}(%x: {x}{scale}) -> {result} {{\n"
            f"  %c = arith.constant 1 : index\n"
            f"  %n = tensor.dim %x, %c : {x}\n"
            f"  %e = tensor.empty(%n) : {y}\n"
            f"  %y = linalg.transpose ins(%x : {x}) outs(%e : {y}) "
            f"permutation = [1, 0]\n" + text)


def function_that_quantizes_both_ways(name, what, _, k, *__):
    rows, columns = what
    one, scale, result = quantize("%x", rows, ("?", k))
    two, scale_too, transposed = quantize("%y", columns, (k, "?"))
    one, two = (text.splitlines()[0] for text in (one, two))
    x, y = f"tensor<?x{k}x{rows.x}>", f"tensor<{k}x?x{rows.x}>"
    return (f"func.func @{name}(%x: {x}{scale or scale_too}) -> "
            f"({result}, {transposed}) {{\n"
            f"  %c = arith.constant 0 : index\n"
            f"  %n = tensor.dim %x, %c : {x}\n"
            f"  %e = tensor.empty(%n) : {y}\n"
            f"  %y = linalg.transpose ins(%x : {x}) outs(%e : {y}) "
            f"permutation = [1, 0]\n{one}\n{two.replace('%q', '%r')}\n"
            f"  return %q, %r : {result}, {transposed}\n}}\n")
def function_that_dequantizes(name, what, _, k, *__):
    a, d = tensor("?", k, what.element, what.spec), f"tensor<?x{k}x{what.x}>"
    return (f"func.func @{name}(%a: {a}) -> {d} {{\n"
            f"  %d = blockscale.dequantize %a : {a} to {d}\n  return %d : {d}\n}}\n")


def function_that_moves_scales(name, layouts, _, k, *__):
    a, d = (tensor("?", k, "f8E4M3FN", f"e8m0_t32@{one}") for one in layouts)
    return (f"func.func @{name}(%a: {a}) -> {d} {{\n"
            f"  %d = blockscale.relayout %a : {a} to {d}\n  return %d : {d}\n}}\n")


def function_that_changes_sparsity(name, what, _, k, *__):
    if what.op == "prune":
        x = f"tensor<?x{k}x{what.element}>"
        return (f"func.func @{name}(%x: {x}) -> {x} {{\n"
                f"  %d = blockscale.prune %x keep {what.dense} : {x}\n"
                f"  return %d : {x}\n}}\n")
    a, d = (f"!blockscale.tensor<?x{k}x{what.element}" +
            (f', "{spec}", layout = tiled_128x4>' if spec else ">")
            for spec in (what.dense, what.sparse))
    if what.op == "densify":
        a, d = d, a
    return (f"func.func @{name}(%a: {a}) -> {d} {{\n"
            f"  %d = blockscale.{what.op} %a : {a} to {d}\n  return %d : {d}\n}}\n")


def function_with_quantized_result(name, one, n, k, schedule, groups, _):
    operands, what = one
    ends, clause, layout = groups_of(groups)
    a = tensor("?", k, operands.a, operands.a_spec + layout)
    b = tensor(f"{groups}x{n}" if groups else n, k, operands.b, operands.b_spec)
    text, scale, result = quantize("%d", what, ("?", n), groups)
    return (f"func.func @{name}(%a: {a}, %b: {b}{ends}{scale}) -> {result} {{\n"
            f"  %d = blockscale.matmul %a, %b {clause}schedule(#blockscale.schedule<"
            f"{schedule}>) : {a}, {b} -> tensor<?x{n}x{what.x}>\n" + text)


def function_with_pairs(name, one, n, k, schedule, groups, _):
    operands, what = one
    ends, clause, layout = groups_of(groups)
    a = tensor("?", k, operands.a, operands.a_spec + layout)
    b = tensor(f"{groups}x{n}" if groups else n, k, operands.b, operands.b_spec)
    scale, result = "", f"tensor<?x{n // 2}xf32>"
    text = f"  return %d : {result}\n}}"
    sums = result
    if what:
        text, scale, result = quantize("%d", what, ("?", n // 2), groups)
        sums = f"tensor<?x{n // 2}x{what.x}>"
    wish = f" schedule(#blockscale.schedule<{schedule}>)" if schedule else ""
    return (f"func.func @{name}(%a: {a}, %b: {b}{ends}{scale}) -> {result} {{\n"
            f"  %d = blockscale.matmul %a, %b {clause}{PAIRS}{wish} : {a}, {b} -> "
            f"{sums}\n" + text)


# Lengths of K that fill no stage, some stages, and parts of K that end in one.
LATE_K = Sizes([32, 640, 1440], [(264, 130)])

VARIANTS += [
    Variant("split K of a K known late", DATACENTER, [MXFP8, NVFP4],
            "cta_group = 1, swap_operands = false, split_k = 3, cluster_k = 1",
            LATE_K, is_along_k=True, make=function_of_late_k),
    Variant("split K of a K known late in one cluster of pairs", DATACENTER,
            [MXFP8, NVFP4], pair(", tile_n = 128, split_k = 3, cluster_k = 3"),
            LATE_K, is_along_k=True, make=function_of_late_k),
]

# Of a matrix and of its transpose, of one type of input; K a multiple of both blocks.
BOTH_WAYS = [(QUANTIZATIONS[0], QUANTIZATIONS[0]), (QUANTIZATIONS[1], QUANTIZATIONS[4]),
             (QUANTIZATIONS[6], QUANTIZATIONS[6]), (QUANTIZATIONS[5], QUANTIZATIONS[3]),
             (QUANTIZATIONS[2], QUANTIZATIONS[2]), (SQUARES[0], SQUARES[0])]
SQUARE_LINES = Sizes([32, 160, 288], [(1, 96), (1, 544)])

VARIANTS += [
    Variant("quantisations", DATACENTER, QUANTIZATIONS, "", LINES,
            make=function_that_quantizes),
    Variant("quantisations, warp level", WARP, QUANTIZATIONS, "", LINES,
            make=function_that_quantizes),
    Variant("quantisations beside wide K", DATACENTER, QUANTIZATIONS[:2], "",
            LINES, True, make=function_that_quantizes),
    Variant("quantisations in tiles of several rows", DATACENTER, SQUARES, "",
            LINES, make=function_that_quantizes),
    Variant("quantisations in tiles of several rows, warp level", WARP, SQUARES,
            "", LINES, make=function_that_quantizes),
    Variant("quantisations in tall tiles", DATACENTER, TALL, "", LINES,
            make=function_that_quantizes),
    Variant("quantisations in tall tiles, warp level", WARP, TALL, "", LINES,
            make=function_that_quantizes),
    Variant("quantisations in long tiles", DATACENTER, LONG, "", LONG_LINES,
            make=function_that_quantizes),
    Variant("quantisations in long tiles, warp level", WARP, LONG, "", LONG_LINES,
            make=function_that_quantizes),
    Variant("quantisations of transposes in long tiles", DATACENTER, LONG, "",
            LONG_LINES, make=function_that_quantizes_columns),
    Variant("quantisations of rows under one scale each", DATACENTER, WHOLE_ROWS, "",
            LINES, make=function_that_quantizes),
    Variant("quantisations of rows under one scale each, warp level", WARP, WHOLE_ROWS,
            "", LINES, make=function_that_quantizes),
    Variant("quantisations that find tensor scales", DATACENTER, FOUND, "", LINES,
            make=function_that_quantizes),
    Variant("quantisations that find tensor scales, warp level", WARP, FOUND, "",
            LINES, make=function_that_quantizes),
    Variant("quantisations of transposes", DATACENTER,
            [*QUANTIZATIONS, *SQUARES[1:]], "", LINES,
            make=function_that_quantizes_columns),
    Variant("quantisations of transposes, warp level", WARP,
            [*QUANTIZATIONS, *SQUARES[1:]], "", LINES,
            make=function_that_quantizes_columns),
    Variant("quantisations of transposes beside wide K", DATACENTER,
            QUANTIZATIONS[:2], "", LINES, True,
            make=function_that_quantizes_columns),
    Variant("quantisations both ways", DATACENTER, BOTH_WAYS, "", SQUARE_LINES,
            make=function_that_quantizes_both_ways),
    Variant("quantisations both ways, warp level", WARP, BOTH_WAYS, "",
            SQUARE_LINES, make=function_that_quantizes_both_ways),
    Variant("quantisations both ways beside wide K", DATACENTER, BOTH_WAYS[:2], "",
            SQUARE_LINES, True, make=function_that_quantizes_both_ways),
    Variant("dequantisations", DATACENTER, DEQUANTIZATIONS, "", LINES,
            make=function_that_dequantizes),
    Variant("dequantisations, warp level", WARP, DEQUANTIZATIONS, "", LINES,
            make=function_that_dequantizes),
    Variant("dequantisations beside wide K", DATACENTER, DEQUANTIZATIONS[:2], "",
            LINES, True, make=function_that_dequantizes),
    Variant("layouts of scales", DATACENTER, LAYOUTS, "", LINES,
            make=function_that_moves_scales),
    Variant("pruning and sparse storage", DATACENTER, SPARSITIES, "", WHOLE_WORDS,
            make=function_that_changes_sparsity),
    Variant("pruning and sparse storage, warp level", WARP, SPARSITIES, "",
            WHOLE_WORDS, make=function_that_changes_sparsity),
    Variant("pruning and sparse storage beside wide K", DATACENTER, SPARSITIES, "",
            WHOLE_WORDS, True, make=function_that_changes_sparsity),
    quantized("one CTA", "cta_group = 1"),
    quantized("CTA pair", "cta_group = 2"),
    quantized("CTA pair in 2 x 2, dynamic scheduler",
              "cta_group = 2, cluster_m = 2, cluster_n = 2, scheduler = dynamic"),
    quantized("wide K, CTA pair", "cta_group = 2", is_wide=True),
    paired("one CTA", "cta_group = 1"),
    paired("CTA pair", "cta_group = 2"),
    paired("split K", "split_k = 2", results=False),
    paired("wide K, CTA pair", "cta_group = 2", is_wide=True),
    paired("warp level", "", needs=WARP, results=False),
]

VARIANTS += [
    gathered("one CTA", [MXFP8, MIXED, NVFP4],
             "cta_group = 1, swap_operands = false"),
    gathered("one CTA, operands swapped", [MXFP8, NVFP4],
             "cta_group = 1, swap_operands = true, tile_n = 64"),
    gathered("CTA pair", [MXFP8, NVFP4], pair()),
    gathered("CTA pair in 2 x 2", [MXFP8, NVFP4], cluster(2, 2, 2)),
    gathered("without scales", UNSCALED_DENSE, "cta_group = 1"),
    gathered("scales applied in registers", PROMOTED, "", GROUPED_BLOCKS),
    gathered("K = 96, CTA pair", [NVFP4], pair(", mma_k = 96"), GROUPED_LONG,
             K96_CHIPS),
    gathered("CTA pair, dynamic scheduler", [MXFP8],
             pair(", scheduler = dynamic")),
    gathered("warp level", [MXFP8, MXFP4, NVFP4], "", needs=WARP),
    gathered("wide K, 512 rows that share B", WIDE[:3], pair(", tile_m = 512"),
             is_wide=True),
]


VARIANTS += [
    quantized_groups("one CTA", "cta_group = 1"),
    quantized_groups("CTA pair in 2 x 2, dynamic scheduler",
                     "cta_group = 2, cluster_m = 2, cluster_n = 2, scheduler = dynamic"),
    quantized_groups("CTA pair", "cta_group = 2", is_paired=True),
    quantized_groups("wide K, CTA pair", "cta_group = 2", is_wide=True),
    quantized("warp level", "tile_m = 128", needs=WARP),
    quantized_groups("warp level", "tile_n = 64", needs=WARP),
    quantized_groups("warp level", "tile_n = 128", needs=WARP, is_paired=True),
]


VARIANTS += [
    adding_by_tma("one CTA", DENSE, "cta_group = 1, swap_operands = false"),
    adding_by_tma("CTA pair, D stored by TMA", DENSE, pair(", stores = tma")),
    adding_by_tma("CTA pair in 2 x 2", [MXFP8, NVFP4], cluster(2, 2, 2)),
    adding_by_tma("dynamic scheduler, dependent launch", [MXFP8, NVFP4],
                  "cta_group = 1, swap_operands = false, scheduler = dynamic, "
                  "dependent_launch = true"),
    adding_by_tma("tiles of one chunk, D stored by TMA", [MXFP8, NVFP4],
                  "cta_group = 1, swap_operands = false, tile_n = 32, "
                  "stores = tma", Sizes([1, 130, 300], [(32, 576), (24, 576)])),
    adding_by_tma("rounds of three boxes", [MXFP8, NVFP4],
                  "cta_group = 1, swap_operands = false, tile_n = 192"),
    adding_by_tma("K = 96, CTA pair", [MXFP4, NVFP4], pair(", mma_k = 96"),
                  LONG_SPLIT, K96_CHIPS),
    adding_by_tma("sparse, CTA pair", SPARSE[:2], "cta_group = 2", HALVED),
    adding_by_tma("without scales", UNSCALED_DENSE[:3],
                  "cta_group = 1, swap_operands = false"),
    adding_by_tma("wide K, 512 rows that share B", [MXFP8, NVFP4],
                  pair(", tile_m = 512"), WIDE_SHORT, is_wide=True),
]


def functions(variant):
    make = variant.make or (function_along_k if variant.is_along_k else function)
    return [make(f"k{i}_{n}_{k}", operands, n, k, variant.schedule,
                 variant.groups, variant.results[i % len(variant.results)])
            for i, operands in enumerate(variant.operands)
            for n, k in variant.sizes.products]


class Result:
    def __init__(self, variant, taken):
        self.variant, self.taken = variant, taken
        self.assembled = self.runs = self.agree = 0
        self.kernels = len(variant.operands) * len(variant.sizes.products)
        self.errors = []

    def of_whole(self, count):
        """What all kernels would count, where those taken count so."""
        return count * self.kernels // len(self.taken)


def run(result, command):
    done = subprocess.run(command, capture_output=True, text=True)
    if done.returncode:
        result.errors.append(f"{result.variant.name}: {' '.join(command)}\n"
                             f"{done.stderr}{done.stdout}")
    return done.stdout


def assemble(result, blockscale, chip, path, folder):
    out = os.path.join(folder, chip)
    os.mkdir(out)
    run(result, [blockscale, "compile", f"--target={chip}", "-o", out, path])
    report = os.path.join(out, "variant.report.json")
    if not os.path.exists(report):
        return
    with open(report) as file:
        kernels = json.load(file)["kernels"]
    result.assembled += len(kernels)
    for kernel in kernels:
        if (kernel["spill_store_bytes"] or kernel["spill_load_bytes"]
                or kernel["stack_bytes"]):
            result.errors.append(f"{result.variant.name}: {kernel['name']} "
                                 f"spills on {chip}")


def emulate(result, blockscale, path):
    variant = result.variant
    for completion in ("immediate", "latest"):
        table = run(result, [
            blockscale, "verify", f"--target={variant.chips[0]}",
            "--data=exact", f"--completion={completion}", "--num-sms=16",
            "--threads=1", "-k" if variant.is_along_k else "-m",
            ",".join(map(str, variant.sizes.rows)), path])
        # Behind the kernels come functions that do more than one kernel's work.
        table = table.partition("\nfunction ")[0]
        result.runs += len(re.findall(r"\b(?:pass|FAIL)\b", table))
        result.agree += len(re.findall(r"\bpass\b", table))


def taken_of(variant, every):
    """Each N-th kernel, one at least, from a place that the row's name says."""
    whole = functions(variant)
    first = sum(variant.name.encode()) % min(every, len(whole))
    return whole[first::every]


def check(blockscale, variant, every):
    result = Result(variant, taken_of(variant, every))
    with tempfile.TemporaryDirectory() as folder:
        path = os.path.join(folder, "variant.mlir")
        with open(path, "w") as file:
            file.write("\n".join(result.taken))
        for chip in variant.chips:
            assemble(result, blockscale, chip, path, folder)
        emulate(result, blockscale, path)
    expected = len(result.taken) * len(variant.sizes.rows) * 2
    if result.agree != expected:
        result.errors.append(f"{variant.name}: {result.agree} of {expected} "
                             "runs agree")
    return result


def print_table(results):
    print("| kernels | chips | assembled | runs on the emulator | agree |")
    print("|---|---|---|---|---|")
    for r in results:
        total = r.kernels * len(r.variant.chips)
        print(f"| {r.variant.name} | {', '.join(r.variant.chips)} "
              f"| {r.of_whole(r.assembled)} of {total} | {r.of_whole(r.runs)} "
              f"| {r.of_whole(r.agree)} |")


def main():
    root = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
    parser = argparse.ArgumentParser()
    parser.add_argument("--only", default="")
    parser.add_argument("--every", type=int, default=1)
    parser.add_argument("--jobs", type=int, default=os.cpu_count())
    parser.add_argument("--blockscale",
                        default=os.path.join(root, "build/bin/blockscale"))
    options = parser.parse_args()
    legality.use(options.blockscale)
    variants = [v for v in VARIANTS if re.search(options.only, v.name)]
    with concurrent.futures.ThreadPoolExecutor(options.jobs) as pool:
        results = list(pool.map(
            lambda v: check(options.blockscale, v, options.every), variants))
    print_table(results)
    errors = [error for r in results for error in r.errors]
    print("\n".join(errors), file=sys.stderr)
    sys.exit(bool(errors))


if __name__ == "__main__":
    main()
