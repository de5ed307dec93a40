"""Kernels that quantise, convert or make other results than plain ones, a row each.

Part of the blockscale project, under the Apache License v2.0 with LLVM
Exceptions.
SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""

from collections import namedtuple

from variant_functions import (
    function_along_k_with_quantized_result, function_that_adds_up, function_that_changes_sparsity, function_that_dequantizes,
    function_that_gathers, function_that_moves_parts, function_that_moves_scales,
    function_that_quantizes, function_that_quantizes_both_ways,
    function_that_quantizes_columns,
    function_with_counted_result, function_with_pairs, function_with_quantized_result)
from variant_kinds import (
    DATACENTER, DENSE, GROUPED, GROUPED_BLOCKS, GROUPED_LONG, HALVED, INTEGER_CHIPS,
    K96_CHIPS, LONG_SPLIT, MIXED, MXFP4, MXFP8, NVFP4, Operands, PROMOTED, SMALL,
    SPARSE, SPARSE_PROMOTED, SPARSE_WEIGHTS, Sizes, UNSCALED_DENSE, Variant, WARP, WIDE, WIDE_SHORT, adding_by_tma, cluster, pair)

# What a kernel quantises: numbers of type `x`, to elements under scales, with a rule or
# a rounding; whether it finds tensor scales.
Quantization = namedtuple("Quantization", "element spec x words finds gives",
                          defaults=["", False, False])
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
# By an instruction of some chips.
BY_INSTRUCTION = [
    Quantization("f8E4M3FN", "e8m0_t32", "bf16", "rounding(stochastic_rs, seed = -1)"),
    Quantization("f6E3M2FN", "e8m0_t32", "f32", "rounding(stochastic_rs, seed = 7)"),
    Quantization("f4E2M1FN", "multi_float32_e4m3fn_t16", "f16",
                 "rounding(stochastic_rs, seed = 12345)"),
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
LONG_TILES = [
    Quantization("f8E4M3FN", "e8m0_t128", "bf16"),
    Quantization("f8E5M2", "e8m0_t128_t128", "f32"),
    Quantization("f8E4M3FN", "float32_t128@plain", "bf16"),
    Quantization("f8E4M3FN", "float32_t128_t128@plain", "f16"),
    Quantization("f4E2M1FN", "e4m3fn_t32", "bf16", "{blockscale.for_sparse}")]
# One for each row.
WHOLE_ROWS = [Quantization("f8E4M3FN", "float32_t0@plain", "bf16"),
              Quantization("f8E5M2", "float32_t0@plain", "f32")]
# One for each matrix, which the kernel finds.
WHOLE_MATRICES = [Quantization("f8E4M3FN", "float32@plain", "bf16"),
                  Quantization("f8E5M2", "float32@plain", "f32", "rounding(away)")]
WHOLE_INTEGERS = [Quantization("i8", "float32_t0@plain", "bf16"),
                  Quantization("i8", "float32@plain", "f32")]
# Of 16 bits, and powers of two for all of K.
PLAIN_SCALES = [Quantization("f8E4M3FN", "float16_t0@plain", "bf16"),
                Quantization("f8E5M2", "e8m0_t0@plain", "f32", "rule(ceil)"),
                Quantization("f8E4M3FN", "bfloat16@plain", "f16")]
GIVEN = [Quantization("f8E4M3FN", "float32@plain", "bf16", gives=True),
         Quantization("f8E5M2", "float16@plain", "f32", "rounding(away)", gives=True)]
FOUND = [Quantization("f4E2M1FN", "multi_float32_e4m3fn_t16", "bf16", finds=True),
         Quantization("f4E2M1FN", "multi_float32_e4m3fn_t16_t16", "f32",
                      "rule(min_error)", finds=True)]
# What a kernel dequantises, to numbers of type `x`.
DEQUANTIZATIONS = QUANTIZATIONS + [
    Quantization("f8E4M3FN", "e8m0_t32@plain", "f32"), SQUARES[0]]
DEQUANTIZED_TILES = LONG_TILES[:4] + WHOLE_ROWS[1:] + WHOLE_MATRICES[:1]
LESS_ZEROS = [Quantization("ui4", "float16_int8_t128@plain", "bf16"),
              Quantization("ui8", "float32_float32_t0@plain", "f32")]
# What a kernel adds up over tiles along K, or all of it.
Sums = namedtuple("Sums", "element spec tile", defaults=[0])
SUMS = [Sums("f8E4M3FN", "float32_t128@plain", 128), Sums("f8E5M2", "float32_t0@plain"),
        Sums("f6E2M3FN", "e8m0_t0@plain", 64), Sums("f4E2M1FN", "bfloat16_t32@plain", 256),
        Sums("bf16", "", 128)]
# Layouts of scales before and behind.
LAYOUTS = [("plain", "tiled_128x4"), ("tiled_128x4", "tiled_128x16"),
           ("tiled_128x16", "plain")]
LINES = Sizes([1, 130, 300], [(1, 96), (1, 544)])
# Elements in the other order, metadata in the other layout, and what goes with them.
MOVED = [
    (("f8E4M3FN", "e8m0_t32"), ("f8E4M3FN@mn_major", "e8m0_t32")),
    (("ui8@mn_major", ""), ("ui8", "")),
    (("f8E5M2@mn_major", "e8m0_t32@plain"), ("f8E5M2", "e8m0_t32@tiled_128x16")),
    (("bf16", "n2m4@plain"), ("bf16", "n2m4")),
    (("tf32", "n1m2"), ("tf32", "n1m2@plain")),
    (("f4E2M1FN", "e8m0_t32n4m8"), ("f4E2M1FN", "e8m0_t32n4m8@plain")),
    (("f8E4M3FN", "e8m0_t32n2m4@plain"), ("f8E4M3FN@mn_major", "e8m0_t32n2m4")),
    (("f8E4M3FN", "e8m0_t32_t32@plain"), ("f8E4M3FN", "e8m0_t32_t32"))]
# Zero points with their scales.
MOVED_ZEROS = [
    (("ui8", "e4m3fn_int8_t32@plain"), ("ui8", "e4m3fn_int8_t32")),
    (("ui4", "e4m3fn_float32_t16"), ("ui4", "e4m3fn_float32_t16@plain"))]
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
# Metadata in rows.
SPARSE_ROWS = [Sparsity(op, *stored) for op in ("compress", "densify") for stored in [
    ("f8E4M3FN", "e8m0_t64@plain", "e8m0_t32n2m4@plain"),
    ("f4E2M1FN", "e8m0_t64@plain", "e8m0_t32n4m8@plain"), ("tf32", "", "n1m2@plain")]]
# Whole blocks of columns, which end inside a tile.
BLOCKS_OF_D = Sizes([1, 130, 300], [(288, 576), (512, 1056)])
# A product, and what its kernel makes of its sums.
Quantized = namedtuple("Quantized", "operands quantization")
RESULTS = [Quantized(operands, QUANTIZATIONS[i]) for operands, i in
           [(MXFP8, 0), (MIXED, 2), (MXFP4, 4), (NVFP4, 5), (NVFP4, 6)]]

# Squares, and eight rows.
SQUARE_RESULTS = [Quantized(operands, one)
                  for operands, one in zip((MXFP8, MIXED, NVFP4), SQUARES)]

# Of a sparse B, whose products swap operands.
SPARSE_B = [Operands(one.b, one.a, one.b_spec, one.a_spec) for one in SPARSE]
SPARSE_B_RESULTS = [Quantized(SPARSE_B[operands], QUANTIZATIONS[i]) for operands, i in
                    [(0, 0), (1, 2), (2, 4), (3, 5), (3, 6)]]
# Scales that the next sparse instructions read, and floats of part of a thread's
# columns, of all of them and of two threads'.
SPARSE_LAYERS = [
    Quantized(SPARSE_WEIGHTS[0], Quantization("f8E4M3FN", "e8m0_t64", "bf16",
                                              "{blockscale.for_sparse}"))] + [
    Quantized(SPARSE_WEIGHTS[0], Quantization("f8E5M2", f"float32_t{tile}@plain", x))
    for tile, x in [(32, "bf16"), (64, "f32"), (128, "f16")]]
PROMOTED_B_RESULTS = [
    Quantized(Operands(one.b, one.a, one.b_spec, one.a_spec), QUANTIZATIONS[i])
    for one, i in zip(SPARSE_PROMOTED, (0, 5))]
BLOCKS_OF_SPARSE_D = Sizes([1, 130, 300], [(288, 576), (512, 1088)])
WHOLE_TILES_OF_D = Sizes([1, 130, 300], [(384, 576), (512, 1088)])


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


def paired(name, schedule, needs=DATACENTER, is_wide=False, results=None, k=1056):
    return Variant(f"gate and up, {name}", needs, results or PAIRED, schedule,
                   Sizes([1, 130, 300], [(320, 576), (512, k)]), is_wide,
                   make=function_with_pairs)


def quantized(name, schedule, needs=DATACENTER, is_wide=False, results=None,
              sizes=BLOCKS_OF_D):
    return Variant(f"quantised results, {name}", needs, results or RESULTS, schedule,
                   sizes, is_wide, make=function_with_quantized_result)


def gathered(name, operands, schedule, sizes=GROUPED, needs=DATACENTER,
             is_wide=False):
    """Rows of groups by number."""
    return Variant(f"groups of gathered rows, {name}", needs, operands, schedule,
                   sizes, is_wide, groups=5, make=function_that_gathers)


# Of a matrix and of its transpose, of one type of input; K a multiple of both blocks.
BOTH_WAYS = [(QUANTIZATIONS[0], QUANTIZATIONS[0]), (QUANTIZATIONS[1], QUANTIZATIONS[4]),
             (QUANTIZATIONS[6], QUANTIZATIONS[6]), (QUANTIZATIONS[5], QUANTIZATIONS[3]),
             (QUANTIZATIONS[2], QUANTIZATIONS[2]), (SQUARES[0], SQUARES[0])]
SQUARE_LINES = Sizes([32, 160, 288], [(1, 96), (1, 544)])

RESULT_VARIANTS = [
    Variant("quantisations", DATACENTER, QUANTIZATIONS, "", LINES,
            make=function_that_quantizes),
    Variant("quantisations, warp level", WARP, QUANTIZATIONS, "", LINES,
            make=function_that_quantizes),
    Variant("quantisations beside wide K", DATACENTER, QUANTIZATIONS[:2], "",
            LINES, True, make=function_that_quantizes),
    Variant("quantisations by random bits of cvt.rs", DATACENTER, BY_INSTRUCTION, "",
            LINES, make=function_that_quantizes),
    Variant("quantisations by random bits of cvt.rs, warp level", WARP,
            BY_INSTRUCTION, "", LINES, make=function_that_quantizes),
    Variant("quantisations by random bits of cvt.rs beside wide K", DATACENTER,
            BY_INSTRUCTION, "", LINES, True, make=function_that_quantizes),
    Variant("quantisations in tiles of several rows", DATACENTER, SQUARES, "",
            LINES, make=function_that_quantizes),
    Variant("quantisations in tiles of several rows, warp level", WARP, SQUARES,
            "", LINES, make=function_that_quantizes),
    Variant("quantisations in tall tiles", DATACENTER, TALL, "", LINES,
            make=function_that_quantizes),
    Variant("quantisations in tall tiles, warp level", WARP, TALL, "", LINES,
            make=function_that_quantizes),
    Variant("quantisations in long tiles", DATACENTER, LONG_TILES, "", LONG_LINES,
            make=function_that_quantizes),
    Variant("quantisations in long tiles, warp level", WARP, LONG_TILES, "", LONG_LINES,
            make=function_that_quantizes),
    Variant("quantisations of transposes in long tiles", DATACENTER, LONG_TILES, "",
            LONG_LINES, make=function_that_quantizes_columns),
    Variant("quantisations of rows under one scale each", DATACENTER, WHOLE_ROWS, "",
            LINES, make=function_that_quantizes),
    Variant("quantisations of rows under one scale each, warp level", WARP, WHOLE_ROWS,
            "", LINES, make=function_that_quantizes),
    Variant("quantisations of matrices under one scale each", DATACENTER,
            WHOLE_MATRICES, "", LINES, make=function_that_quantizes),
    Variant("quantisations of matrices under one scale each, warp level", WARP,
            WHOLE_MATRICES, "", LINES, make=function_that_quantizes),
    Variant("quantisations of transposes under one scale each", DATACENTER,
            WHOLE_ROWS + WHOLE_MATRICES, "", LINES, make=function_that_quantizes_columns),
    Variant("quantisations to int8", INTEGER_CHIPS, WHOLE_INTEGERS, "", LINES,
            make=function_that_quantizes),
    Variant("quantisations to int8, warp level", WARP, WHOLE_INTEGERS, "", LINES,
            make=function_that_quantizes),
    Variant("quantisations under scales of 16 bits, and of powers of two for all of K",
            DATACENTER, PLAIN_SCALES, "", LINES, make=function_that_quantizes),
    Variant("quantisations of matrices under scales that are given", DATACENTER, GIVEN,
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
    Variant("quantisations of transposes by random bits of cvt.rs", DATACENTER,
            BY_INSTRUCTION, "", LINES, make=function_that_quantizes_columns),
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
    Variant("dequantisations of long tiles and under floats", DATACENTER,
            DEQUANTIZED_TILES, "", LONG_LINES, make=function_that_dequantizes),
    Variant("dequantisations of long tiles and under floats, warp level", WARP,
            DEQUANTIZED_TILES + WHOLE_INTEGERS, "", LONG_LINES,
            make=function_that_dequantizes),
    Variant("dequantisations less zero points", DATACENTER, LESS_ZEROS, "", LONG_LINES,
            make=function_that_dequantizes),
    Variant("dequantisations beside wide K", DATACENTER, DEQUANTIZATIONS[:2], "",
            LINES, True, make=function_that_dequantizes),
    Variant("sums over tiles", DATACENTER, SUMS, "", LONG_LINES,
            make=function_that_adds_up),
    Variant("sums over tiles, warp level", WARP, SUMS, "", LONG_LINES,
            make=function_that_adds_up),
    Variant("layouts of scales", DATACENTER, LAYOUTS, "", LINES,
            make=function_that_moves_scales),
    Variant("layouts of scales and zero points", DATACENTER, MOVED_ZEROS, "", LINES,
            make=function_that_moves_parts),
    Variant("layouts of scales and zero points, warp level", WARP, MOVED_ZEROS, "",
            LINES, make=function_that_moves_parts),
    Variant("orders of elements and layouts of metadata", DATACENTER, MOVED, "",
            WHOLE_WORDS, make=function_that_moves_parts),
    Variant("orders of elements and layouts of metadata, warp level", WARP, MOVED, "",
            WHOLE_WORDS, make=function_that_moves_parts),
    Variant("orders of elements and layouts of metadata beside wide K", DATACENTER,
            MOVED, "", WHOLE_WORDS, True, make=function_that_moves_parts),
    Variant("pruning and sparse storage", DATACENTER, SPARSITIES, "", WHOLE_WORDS,
            make=function_that_changes_sparsity),
    Variant("pruning and sparse storage, warp level", WARP, SPARSITIES, "",
            WHOLE_WORDS, make=function_that_changes_sparsity),
    Variant("pruning and sparse storage beside wide K", DATACENTER, SPARSITIES, "",
            WHOLE_WORDS, True, make=function_that_changes_sparsity),
    Variant("sparse storage with metadata in rows", DATACENTER, SPARSE_ROWS, "",
            WHOLE_WORDS, make=function_that_changes_sparsity),
    quantized("one CTA", "cta_group = 1"),
    quantized("CTA pair", "cta_group = 2"),
    quantized("CTA pair in 2 x 2, dynamic scheduler",
              "cta_group = 2, cluster_m = 2, cluster_n = 2, scheduler = dynamic"),
    quantized("wide K, CTA pair", "cta_group = 2", is_wide=True),
    quantized("split K", "cta_group = 1, split_k = 2, cluster_k = 1"),
    quantized("split K, CTA pair, operands swapped", "cta_group = 2, split_k = 2, "
              "cluster_k = 1, swap_operands = true, tile_n = 64"),
    quantized("split K in one cluster",
              "cta_group = 1, split_k = 2, cluster_k = 2, swap_operands = false"),
    quantized("split K in one cluster of pairs, operands swapped", "cta_group = 2, "
              "split_k = 3, cluster_k = 3, swap_operands = true, tile_n = 64"),
    quantized("split K, warp level", "split_k = 2", needs=WARP),
    quantized("split K, sparse B", "split_k = 2, cluster_k = 1",
              results=SPARSE_B_RESULTS, sizes=BLOCKS_OF_SPARSE_D),
    quantized("tiles of several rows, one CTA", "cta_group = 1",
              results=SQUARE_RESULTS),
    quantized("tiles of several rows, CTA pair, split K in one cluster",
              "cta_group = 2, split_k = 2, cluster_k = 2", results=SQUARE_RESULTS),
    quantized("one CTA, operands swapped", "cta_group = 1, swap_operands = true"),
    quantized("CTA pair, operands swapped",
              "cta_group = 2, swap_operands = true, tile_n = 64"),
    quantized("operands swapped, warp level", "swap_operands = true", needs=WARP),
    quantized("wide K, CTA pair, operands swapped",
              "cta_group = 2, swap_operands = true", is_wide=True),
    quantized("sparse B, one CTA", "cta_group = 1", results=SPARSE_B_RESULTS,
              sizes=BLOCKS_OF_SPARSE_D),
    quantized("sparse B, CTA pair of eight warps",
              "cta_group = 2, tile_n = 128, epilogue_warps = 8",
              results=SPARSE_B_RESULTS,
              sizes=BLOCKS_OF_SPARSE_D),
    quantized("sparse B, warp level", "", needs=WARP, results=SPARSE_B_RESULTS,
              sizes=BLOCKS_OF_SPARSE_D),
    quantized("sparse B, for sparse instructions and under floats", "",
              results=SPARSE_LAYERS, sizes=WHOLE_TILES_OF_D),
    quantized("scales applied in registers beside a sparse B", "",
              results=PROMOTED_B_RESULTS, sizes=Sizes([1, 300], [(288, 640)])),
    paired("one CTA", "cta_group = 1"),
    paired("CTA pair", "cta_group = 2"),
    paired("one CTA, operands swapped", "cta_group = 1, swap_operands = true"),
    paired("operands swapped, warp level", "swap_operands = true", needs=WARP,
           results=PAIRED[:len(DENSE)]),
    paired("sparse B", "", results=[Quantized(one, None) for one in SPARSE_B] +
           SPARSE_B_RESULTS[:1] + SPARSE_B_RESULTS[3:], k=1088),
    paired("split K", "split_k = 2", results=PAIRED[:len(DENSE)]),
    paired("split K in one cluster, operands swapped",
           "cta_group = 1, split_k = 2, cluster_k = 2, swap_operands = true"),
    paired("wide K, CTA pair", "cta_group = 2", is_wide=True),
    paired("warp level", "", needs=WARP, results=PAIRED[:len(DENSE)]),
]

RESULT_VARIANTS += [
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


RESULT_VARIANTS += [
    quantized_groups("one CTA", "cta_group = 1"),
    quantized_groups("CTA pair in 2 x 2, dynamic scheduler",
                     "cta_group = 2, cluster_m = 2, cluster_n = 2, scheduler = dynamic"),
    quantized_groups("one CTA, operands swapped",
                     "cta_group = 1, swap_operands = true, tile_n = 64"),
    quantized_groups("CTA pair", "cta_group = 2", is_paired=True),
    quantized_groups("CTA pair, operands swapped",
                     "cta_group = 2, swap_operands = true", is_paired=True),
    quantized_groups("wide K, CTA pair", "cta_group = 2", is_wide=True),
    quantized("warp level", "tile_m = 128", needs=WARP),
    quantized("warp level, tiles in turns", "tile_n = 64, consumer_groups = 2",
              needs=WARP),
    quantized_groups("warp level", "tile_n = 64", needs=WARP),
    quantized_groups("warp level", "tile_n = 128", needs=WARP, is_paired=True),
]


RESULT_VARIANTS += [
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


RESULT_VARIANTS += [
    Variant("eight warps store, one CTA", DATACENTER, [MXFP8, NVFP4],
            "cta_group = 1, swap_operands = false, tile_n = 256, "
            "epilogue_warps = 8", SMALL, results=("f32", "bf16")),
    adding_by_tma("CTA pair, eight warps store by TMA", [MXFP8, NVFP4],
                  pair(", tile_n = 128, stores = tma, epilogue_warps = 8")),
]


# Results for products that apply floats of tiles in registers, of sums that are promoted
# or not.
FLOAT_RESULTS = [Quantized(MXFP8, LONG_TILES[2]),
                 Quantized(NVFP4, Quantization("f8E5M2", "float32_t64@plain", "f32",
                                               "rounding(away)"))]
PROMOTED_RESULTS = [Quantized(PROMOTED[0], one) for one in
                    (LONG_TILES[2], FLOAT_RESULTS[1].quantization, QUANTIZATIONS[0])]
BLOCKS_OF_FLOATS = Sizes([1, 130, 300], [(256, 640), (640, 1152)])

RESULT_VARIANTS += [
    Variant("quantised results under floats, one CTA", DATACENTER, FLOAT_RESULTS,
            "cta_group = 1", BLOCKS_OF_FLOATS, make=function_with_quantized_result),
    Variant("quantised results under floats, CTA pair, eight warps", DATACENTER,
            FLOAT_RESULTS, "cta_group = 2, tile_n = 256, epilogue_warps = 8",
            BLOCKS_OF_FLOATS, make=function_with_quantized_result),
    Variant("quantised results of promoted sums", DATACENTER, PROMOTED_RESULTS, "",
            BLOCKS_OF_FLOATS, make=function_with_quantized_result),
    Variant("quantised results of promoted sums, dynamic scheduler", DATACENTER,
            PROMOTED_RESULTS, "cta_group = 2, scheduler = dynamic", BLOCKS_OF_FLOATS,
            make=function_with_quantized_result),
]


# Under one scale for all of D, of which nobody has to find anything.
GIVEN_RESULTS = [Quantized(MXFP8, GIVEN[0]), Quantized(NVFP4, GIVEN[1]),
                 Quantized(PROMOTED[0], GIVEN[0])]


def given(name, schedule, needs=DATACENTER, make=function_with_quantized_result, groups=0):
    return Variant(f"quantised results under given scales, {name}", needs, GIVEN_RESULTS,
                   schedule, Sizes([1, 130, 300], [(320, 640), (512, 1152)]),
                   groups=groups, make=make)


RESULT_VARIANTS += [
    given("operands as they are", "swap_operands = false"),
    given("operands swapped", "swap_operands = true, tile_n = 64"),
    given("gate and up", "", make=function_with_pairs),
    given("warp level", "", needs=WARP),
]


# What experts make of counted rows of a matrix each.
def counted(name, schedule, needs=DATACENTER):
    return Variant(f"quantised results of counted rows, {name}", needs, RESULTS, schedule,
                   Sizes([1, 400], [(320, 576)]), groups=5,
                   make=function_with_counted_result)


RESULT_VARIANTS += [
    counted("one CTA", "cta_group = 1"),
    counted("warp level", "tile_n = 64", needs=WARP),
]


# What groups along K make of a matrix each.
ALONG_K_RESULTS = [RESULTS[0], Quantized(MXFP8, QUANTIZATIONS[2]), *RESULTS[2:]]


def quantized_along_k(name, schedule, needs=DATACENTER):
    return Variant(f"quantised results of groups along K, {name}", needs,
                   ALONG_K_RESULTS, schedule, Sizes([64, 1088], [(136, 288)]), groups=5, is_along_k=True,
                   make=function_along_k_with_quantized_result)


RESULT_VARIANTS += [
    quantized_along_k("one CTA", "cta_group = 1, swap_operands = false, tile_n = 64"),
    quantized_along_k("CTA pair, operands swapped",
                      "cta_group = 2, swap_operands = true, tile_n = 128"),
    quantized_along_k("warp level", "swap_operands = false, tile_n = 64", needs=WARP),
]


RESULT_VARIANTS += [
    Variant("gate and up of promoted sums, quantised under floats", DATACENTER,
            PROMOTED_RESULTS[:1], "", Sizes([1, 130], [(512, 640)]),
            make=function_with_pairs),
    Variant("quantisations both ways under one scale for each row", DATACENTER,
            [(WHOLE_ROWS[0], WHOLE_ROWS[0])], "", Sizes([32, 160], [(1, 96), (1, 544)]),
            make=function_that_quantizes_both_ways),
    Variant("groups of rows, sparse B", DATACENTER, SPARSE_WEIGHTS, "", GROUPED,
            groups=5),
]


# Tiles of D of which no thread has all: lanes, warps and CTAs choose their scales.
TILES_OF_D = [
    Quantized(MXFP8, Quantization("f8E4M3FN", "e8m0_t128", "bf16", "rule(round_up)")),
    Quantized(MXFP8, Quantization("f8E5M2", "e8m0_t64_t64", "f32",
                                  "rounding(stochastic, seed = 7)")),
    Quantized(MXFP8, LONG_TILES[3]),
    Quantized(NVFP4, Quantization("f4E2M1FN", "multi_float32_e4m3fn_t16_t16", "bf16",
                                  "rule(min_error)")),
    Quantized(NVFP4, Quantization("f8E4M3FN", "float32_t128@plain", "f32",
                                  "rule(min_error)"))]
LONG_BLOCKS = [Quantized(MXFP8, Quantization("f8E4M3FN", "float32_t256@plain", "bf16")),
               Quantized(NVFP4, Quantization("f8E5M2", "float32_t256@plain", "f32",
                                             "rule(min_error)"))]
PROMOTED_TILES = [
    Quantized(PROMOTED[0], Quantization("f8E4M3FN", "float32_t64_t64@plain", "bf16")),
    Quantized(PROMOTED[0], Quantization("f8E5M2", "e8m0_t32_t32", "f32",
                                        "rule(min_error)"))]
WHOLE_SQUARES_OF_D = Sizes([1, 130, 300], [(256, 640), (640, 1152)])
LONG_BLOCKS_OF_D = Sizes([1, 130, 300], [(256, 640), (768, 1152)])


def in_tiles(name, schedule, needs=DATACENTER, results=None, sizes=WHOLE_SQUARES_OF_D,
             is_wide=False, is_paired=False):
    """A warp level kernel has 128 columns, of which pairs make 64."""
    results = results or (TILES_OF_D[1:4:2] if is_paired and needs is WARP
                          else TILES_OF_D)
    make = function_with_pairs if is_paired else function_with_quantized_result
    kind = "gate and up, " if is_paired else ""
    return Variant(f"quantised results in shared tiles, {kind}{name}", needs, results,
                   schedule, sizes, is_wide, make=make)


RESULT_VARIANTS += [
    in_tiles("one CTA", "cta_group = 1, swap_operands = false"),
    in_tiles("CTA pair, eight warps",
             "cta_group = 2, swap_operands = false, tile_n = 256, epilogue_warps = 8"),
    in_tiles("one CTA, operands swapped",
             "cta_group = 1, swap_operands = true, tile_n = 128"),
    in_tiles("CTA pair in 2 x 2, operands swapped", "cta_group = 2, cluster_m = 2, "
             "cluster_n = 2, swap_operands = true, tile_n = 128"),
    in_tiles("split K, operands swapped", "cta_group = 1, split_k = 2, cluster_k = 1, "
             "swap_operands = true, tile_n = 128"),
    in_tiles("blocks of a cluster", "cta_group = 1, cluster_m = 2, "
             "swap_operands = true, tile_n = 64", results=LONG_BLOCKS,
             sizes=LONG_BLOCKS_OF_D),
    in_tiles("blocks of a cluster of pairs", "cta_group = 2, cluster_m = 4, "
             "swap_operands = true, tile_n = 64", results=LONG_BLOCKS,
             sizes=Sizes([1, 130, 300], [(512, 640), (1536, 1152)]), is_paired=True),
    in_tiles("blocks of a cluster, dynamic scheduler, parts of K in it",
             "cta_group = 1, cluster_m = 2, split_k = 2, cluster_k = 2, "
             "scheduler = dynamic, swap_operands = true, tile_n = 128",
             results=LONG_BLOCKS, sizes=LONG_BLOCKS_OF_D),
    in_tiles("one CTA", "cta_group = 1, swap_operands = false", is_paired=True,
             sizes=LONG_BLOCKS_OF_D),
    in_tiles("wide K, CTA pair, operands swapped",
             "cta_group = 2, swap_operands = true, tile_n = 128", is_wide=True),
    in_tiles("promoted sums", "swap_operands = false", results=PROMOTED_TILES),
    in_tiles("promoted sums, operands swapped", "swap_operands = true, tile_n = 64",
             results=PROMOTED_TILES),
    in_tiles("warp level", "swap_operands = false", needs=WARP),
    in_tiles("operands swapped, warp level", "swap_operands = true, tile_n = 128",
             needs=WARP),
    in_tiles("warp level", "swap_operands = false", needs=WARP, is_paired=True),
    in_tiles("warp level, tiles in turns",
             "swap_operands = true, tile_n = 64, consumer_groups = 2", needs=WARP,
             results=TILES_OF_D[:2] + TILES_OF_D[3:]),
]
