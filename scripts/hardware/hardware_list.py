"""Which kernels the check on a card runs.

Part of the blockscale project, under the Apache License v2.0 with LLVM
Exceptions.
SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""

import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))

import variant_functions as make
from hardware_cases import Case
from variant_kinds import (
    BYTE_FACTORS, DECODED_FACTORS, LONG_ELEMENTS, Operands, REAL_ZEROS, SHORTEST_TILES,
    SHORT_TILES, SPARSE_PROMOTED, SPARSE_ZEROS, UNSCALED, ZEROS, ZEROS_BESIDE_SPARSE)
from variant_results import MOVED, SPARSE_ROWS, Quantization, Sparsity, Sums

# Rows of the matrices; M ends inside of tiles of all kinds.
ROWS = 133
K = 544
# Of whole tiles of 128.
LONG_K = 640

RULES = ("round_up", "floor_plus_one", "ceil", "mid_max", "rounded_max", "top_binade",
         "min_error")
FLOATS = ("float32_t128@plain", "float32_t128_t128@plain", "float32_t0@plain",
          "float32@plain", "bfloat16_t0@plain", "float16_t0@plain", "e8m0_t0@plain")


def shape_of(k, turned=False):
    return (k, ROWS) if turned else (ROWS, k)


def quantizations():
    """What is quantised, and how the package's numpy says the same."""
    for element in ("f8E4M3FN", "f8E5M2"):
        for kind in ("bf16", "f16", "f32"):
            yield Quantization(element, "e8m0_t32", kind), {}
        for spec in ("e8m0_t32_t32", "e8m0_t16_t32", "e8m0_t64_t32", "e8m0_t128",
                     "e8m0_t128_t128", "e8m0_t64", *FLOATS):
            yield Quantization(element, spec, "bf16"), {}
        for rule in RULES:
            yield Quantization(element, "e8m0_t32", "bf16", f"rule({rule})"), {"rule": rule}
        for rounding in ("away", "zero"):
            yield (Quantization(element, "e8m0_t32", "f32", f"rounding({rounding})"),
                   {"rounding": rounding})
        for rounding in ("stochastic", "stochastic_rs"):
            yield (Quantization(element, "e8m0_t32", "bf16",
                                f"rounding({rounding}, seed = 12345)"),
                   {"rounding": rounding, "seed": 12345})
    yield Quantization("f8E4M3FN", "float32_t0@plain", "f32"), {}
    yield Quantization("f8E4M3FN", "float32_t128@plain", "f32", "rule(min_error)"), {
        "rule": "min_error"}
    yield Quantization("f8E4M3FN", "float32@plain", "bf16", gives=True), {}
    for kind in ("bf16", "f32"):
        for spec in ("float32_t0@plain", "float32@plain"):
            yield Quantization("i8", spec, kind), {}
    yield Quantization("i8", "float32_t0@plain", "f16", "rounding(away)"), {
        "rounding": "away"}
    yield Quantization("i8", "float32_t0@plain", "bf16",
                       "rounding(stochastic, seed = 7)"), {
        "rounding": "stochastic", "seed": 7}
    yield from short_quantizations()


def short_quantizations():
    """To 6 and 4 bits, whose conversions retarget.py spells as integer arithmetic."""
    for element in ("f6E2M3FN", "f6E3M2FN", "f4E2M1FN"):
        for kind in ("bf16", "f32"):
            yield Quantization(element, "e8m0_t32", kind), {}
        yield Quantization(element, "e8m0_t32_t32", "f16"), {}
        for rounding in ("stochastic", "stochastic_rs"):
            yield Quantization(element, "e8m0_t32", "bf16",
                               f"rounding({rounding}, seed = 12345)"), {
                "rounding": rounding, "seed": 12345}
        for rule in ("ceil", "min_error"):
            yield Quantization(element, "e8m0_t32", "bf16", f"rule({rule})"), {"rule": rule}
    for spec in ("e4m3fn_t16", "multi_float32_e4m3fn_t16", "multi_float32_e4m3fn_t16_t16"):
        for kind in ("bf16", "f16", "f32"):
            yield Quantization("f4E2M1FN", spec, kind), {}
            yield Quantization("f4E2M1FN", spec, kind, "rule(min_error)"), {
                "rule": "min_error"}
    for words in ("", "rule(min_error)"):
        yield Quantization("f4E2M1FN", "multi_float32_e4m3fn_t16", "bf16", words,
                           finds=True), {"rule": "min_error"} if words else {}


def name_of(*words):
    text = "-".join(one for one in words if one)
    return "".join(c if c.isalnum() else "_" for c in text).strip("_")


# Of as many blocks as two warps have lanes and some more, as a CTA has threads, and more.
ROW_LENGTHS = (1056, 2080, 8192, 9216)


def long_row_cases():
    for k in ROW_LENGTHS:
        for element, spec, kind in (("f8E4M3FN", "float32_t0@plain", "bf16"),
                                    ("f8E5M2", "e8m0_t0@plain", "f32"),
                                    ("i8", "float32_t0@plain", "f16")):
            one = Quantization(element, spec, kind)
            yield Case(name_of("quantize_row", element, spec, str(k)), "quantize",
                       make.function_that_quantizes("k", one, 1, k), (37, k), kind, {})
    one = Quantization("f8E4M3FN", "float32_t0@plain", "bf16")
    yield Case("quantize_both_ways_rows", "quantize",
               make.function_that_quantizes_both_ways("k", (one, one), 1, 2080), (160, 2080),
               "bf16", {})


def quantize_cases():
    yield from long_row_cases()
    for what, words in quantizations():
        k = LONG_K if "128" in what.spec or "t64" in what.spec else K
        is_given = what.gives or what.spec.startswith("multi") and not what.finds
        more = {"tensor_scale": 0.37} if is_given else {}
        for way, function in (("", make.function_that_quantizes),
                              ("turned", make.function_that_quantizes_columns)):
            name = name_of("quantize", way, *what[:4], "given" if what.gives else "",
                           "found" if what.finds else "")
            yield Case(name, "quantize", function("k", what, 1, k),
                       shape_of(k, bool(way)), what.x, words, more=more)
        if what.words == "" and not is_given and not what.finds:
            name = name_of("quantize_special", *what[:3])
            yield Case(name, "quantize", make.function_that_quantizes("k", what, 1, k),
                       shape_of(k), what.x, words, special=True)
    for spec, kind, k, rows in (("e8m0_t32", "bf16", K, 160), ("e8m0_t32_t32", "f32", K, 160),
                                ("e8m0_t128_t128", "bf16", LONG_K, 256),
                                ("float32_t128@plain", "bf16", LONG_K, 256),
                                ("float32_t0@plain", "bf16", K, 160),
                                ("e4m3fn_t16", "bf16", K, 160), ("e4m3fn_t16_t16", "f32", K, 160)):
        one = Quantization("f4E2M1FN" if spec.startswith("e4m3") else "f8E4M3FN", spec, kind)
        yield Case(name_of("quantize_both_ways", spec, kind), "quantize",
                   make.function_that_quantizes_both_ways("k", (one, one), 1, k),
                   (rows, k), kind, {})


def dequantize_cases():
    for element in ("f8E4M3FN", "f8E5M2", "i8", "ui8", "ui4"):
        if element.startswith("f"):
            specs = ("e8m0_t32", "e8m0_t32@plain", "e8m0_t32_t32", "e8m0_t128", *FLOATS)
        else:
            specs = {"i8": ("float32_t0@plain", "float32@plain"),
                     "ui8": ("float16_float16_t128@plain", "float32_float32_t0@plain"),
                     "ui4": ("float16_int8_t128@plain", "float32_int16_t0@plain")}[element]
        for spec in specs:
            for kind in ("bf16", "f32", "f16"):
                k = LONG_K if "128" in spec else K
                what = Quantization(element, spec, kind)
                yield Case(name_of("dequantize", element, spec, kind), "dequantize",
                           make.function_that_dequantizes("k", what, 1, k), (ROWS, k), kind)
    for element, spec in (("f6E2M3FN", "e8m0_t32"), ("f6E3M2FN", "e8m0_t32@plain"),
                          ("f4E2M1FN", "e4m3fn_t16"), ("f4E2M1FN", "e8m0_t32_t32")):
        for kind in ("bf16", "f32"):
            what = Quantization(element, spec, kind)
            yield Case(name_of("dequantize", element, spec, kind), "dequantize",
                       make.function_that_dequantizes("k", what, 1, K), (ROWS, K), kind)
    for what, k in ((Sums("f8E4M3FN", "float32_t128@plain", 128), LONG_K),
                    (Sums("f8E5M2", "float32_t0@plain"), K), (Sums("bf16", "", 128), LONG_K)):
        yield Case(name_of("tile_sums", what.element, what.spec), "tile_sums",
                   make.function_that_adds_up("k", what, 1, k), (ROWS, k))


SPARSE = [("f8E4M3FN", "e4m3", "e8m0_t64", "e8m0_t32n2m4", "2:4"),
          ("f6E2M3FN", "e2m3", "e8m0_t64", "e8m0_t32n2m4", "2:4"),
          ("f4E2M1FN", "e2m1", "e8m0_t64", "e8m0_t32n4m8", "4:8 in pairs"),
          ("bf16", "bf16", "", "n2m4", "2:4"), ("tf32", "tf32", "", "n1m2", "1:2"),
          ("i8", "int8", "", "n2m4", "2:4")]
KEPT = {"2 of 4": "2:4", "4 of 8 pairs": "4:8 in pairs", "1 of 2": "1:2"}


# The format of MOVED's operands before, and how their scales lie.
MOVED_FORMATS = (
    (("e4m3", "ue8m0", 32), "tiled_128x4", None), (("uint8", None, 0), "plain", None),
    (("e5m2", "ue8m0", 32), "plain", None), (("bf16", None, 0), "plain", "2:4"),
    (("tf32", None, 0), "tiled_128x4", "1:2"), (("e2m1", "ue8m0", 64), "tiled_128x4", "4:8 in pairs"),
    (("e4m3", "ue8m0", 64), "plain", "2:4"),
    (("e4m3", "ue8m0", 32, False, None, 32), "plain", None))


def moved_cases():
    """Elements to the other order, metadata to the other layout."""
    for at, (both, (format_, layout, pattern)) in enumerate(zip(MOVED, MOVED_FORMATS)):
        for rows in (1, ROWS, 300):
            yield Case(name_of("relayout_parts", str(at), *both[0], "to", *both[1], str(rows)),
                       "convert", make.function_that_moves_parts("k", both, 1, 576),
                       (rows, 576), pattern=pattern,
                       more={"format": format_, "layout": layout})


def convert_cases():
    for words, pattern in KEPT.items():
        for kind in ("bf16", "f16", "f32"):
            what = Sparsity("prune", kind, words)
            yield Case(name_of("prune", words, kind), "convert",
                       make.function_that_changes_sparsity("k", what, 1, 576),
                       (ROWS, 576), kind, pattern="prune", more={"pattern": pattern})
    for type_, element, dense, sparse, pattern in SPARSE:
        for op in ("compress", "densify"):
            what = Sparsity(op, type_, dense, sparse)
            format_ = (element, "ue8m0", 64) if dense else (element, None, 0)
            yield Case(name_of(op, type_, pattern), "convert",
                       make.function_that_changes_sparsity("k", what, 1, 576),
                       (ROWS, 576), pattern=pattern,
                       more={"format": format_, "layout": "tiled_128x4"})
    for what, pattern in zip(SPARSE_ROWS, ("2:4", "4:8 in pairs", "1:2") * 2):
        element = {"f8E4M3FN": "e4m3", "f4E2M1FN": "e2m1"}.get(what.element, what.element)
        format_ = (element, "ue8m0", 64) if what.dense else (element, None, 0)
        yield Case(name_of(what.op, what.element, pattern, "plain"), "convert",
                   make.function_that_changes_sparsity("k", what, 1, 576), (ROWS, 576),
                   pattern=pattern, more={"format": format_, "layout": "plain"})
    yield from moved_cases()
    layouts = ("plain", "tiled_128x4", "tiled_128x16")
    for before in layouts:
        for behind in layouts:
            if before != behind:
                yield Case(name_of("relayout", before, behind), "convert",
                           make.function_that_moves_scales("k", (before, behind), 1, K),
                           (ROWS, K), more={"format": ("e4m3", "ue8m0", 32),
                                            "layout": before})


# Products ----------------------------------------------------------------------------------

BF16 = Operands("bf16", "bf16", "", "")
F16 = Operands("f16", "f16", "", "")
TF32 = Operands("tf32", "tf32", "", "")
INT8 = Operands("i8", "i8", "", "")
UINT8 = Operands("ui8", "i8", "", "")
FP8 = Operands("f8E4M3FN", "f8E5M2", "", "")
ROWS_FP8 = Operands("f8E4M3FN", "f8E4M3FN", "float32_t0@plain", "float32_t0@plain")
INT8_ROWS = Operands("i8", "i8", "float32_t0@plain", "float32_t0@plain")
DEEPSEEK = Operands("f8E4M3FN", "f8E4M3FN", "float32_t128@plain", "float32_t128_t128@plain")
BOTH_ROWS = Operands("f8E5M2", "f8E4M3FN", "float32_t128@plain", "float32_t128@plain")
INT4 = Operands("bf16", "i4", "", "bfloat16_t32@plain")
INT8_TILES = Operands("i8", "i8", "float32_t128@plain", "float32_t128_t128@plain")
FP8_BY_F16 = Operands("f8E5M2", "f16", "float32_t0@plain", "")
KINDS = {"bf16": BF16, "f16": F16, "tf32": TF32, "int8": INT8, "uint8": UINT8, "fp8": FP8,
         "fp8_rows": ROWS_FP8, "int8_rows": INT8_ROWS, "deepseek": DEEPSEEK,
         "fp8_1x128": BOTH_ROWS, "int4_by_bf16": INT4, "int8_tiles": INT8_TILES,
         "fp8_by_f16": FP8_BY_F16}

SCHEDULES = {"swapped": "tile_n = 32, swap_operands = true",
             "not_swapped": "swap_operands = false",
             "split": "swap_operands = false, split_k = 3",
             "dependent": "dependent_launch = true"}
EPILOGUES = {
    "bias_gelu": ("bias(%v) activation(gelu) ", ", %v: tensor<{n}xf32>", ", tensor<{n}xf32>"),
    "bias_silu": ("bias(%v) activation(silu) ", ", %v: tensor<{n}xf32>", ", tensor<{n}xf32>"),
    "relu": ("activation(relu) ", "", ""),
    "factors": ("alpha(%p) beta(%q) c(%c) ", ", %p: f32, %q: f32, %c: tensor<?x{n}xf32>",
                ", tensor<?x{n}xf32>")}


def product(name, operands, n, k, schedule="", result="f32", clause="", more="", tail="",
            batch=""):
    a = make.tensor(f"{batch}?", k, operands.a, operands.a_spec)
    b = make.tensor(f"{batch}{n}", k, operands.b, operands.b_spec)
    d = f"tensor<{batch}?x{n}x{make.sum_type(operands, result)}>"
    text = make.product("k", a, b, d, schedule, clause, more)
    return text.replace(f": {a}, {b} ->", f": {a}, {b}{tail} ->")


def product_cases():
    for kind, operands in KINDS.items():
        k = LONG_K if "128" in operands.a_spec + operands.b_spec else 608
        for m, n in ((1, 264), (133, 264), (256, 256)):
            yield Case(name_of("product", kind, str(m)), "launch",
                       product("k", operands, n, k), (m,))
        yield Case(name_of("product", kind, "random"), "launch",
                   product("k", operands, 256, k, result="f32"), (130,),
                   is_exact="int8" in kind and "rows" not in kind)
    for kind in ("bf16", "int8", "fp8_rows", "deepseek"):
        operands = KINDS[kind]
        for name, schedule in SCHEDULES.items():
            yield Case(name_of("product", kind, name), "launch",
                       product("k", operands, 264, LONG_K, schedule), (133,))
        yield Case(name_of("product", kind, "batch"), "launch",
                   product("k", operands, 136, LONG_K, batch="3x"), (133, 3))
        for result in ("bf16", "f16"):
            if kind != "int8":
                yield Case(name_of("product", kind, result), "launch",
                           product("k", operands, 264, LONG_K, result=result), (133,))
        for name, (clause, more, tail) in EPILOGUES.items():
            if kind != "int8":
                yield Case(name_of("product", kind, name), "launch",
                           product("k", operands, 264, LONG_K, "", "bf16", clause,
                                   more.format(n=264), tail.format(n=264)), (133,))
        ends = (130, 130, 131, 297)
        yield Case(name_of("product", kind, "groups"), "launch",
                   make.function("k", operands, 136, LONG_K, "", 4, "f32"), (300,),
                   ends=ends)
        yield Case(name_of("product", kind, "gathered"), "launch",
                   make.function_that_gathers("k", operands, 136, LONG_K, "", 4, "f32"),
                   (300,), ends=ends, rows=150)
    yield from result_cases()
    yield from zero_cases()
    yield from along_k_cases()


def result_cases():
    """Results that are quantised, in every order of operands, of all rows and of groups."""
    shuffled = (Quantization("f8E4M3FN", "e8m0_t32", "bf16"),
                Quantization("f8E5M2", "float32_t128@plain", "f32", "rounding(away)"),
                Quantization("f4E2M1FN", "e4m3fn_t16", "bf16"),
                Quantization("f6E2M3FN", "e8m0_t32", "f16"),
                Quantization("f4E2M1FN", "e8m0_t32", "f32",
                             "rounding(stochastic, seed = 12345)"))
    for kind in ("bf16", "fp8_rows", "deepseek"):
        for what in shuffled:
            one = (KINDS[kind], what)
            for name, schedule in (("", ""), ("swapped", "swap_operands = true"),
                                   ("split", "split_k = 2")):
                yield Case(name_of("product_quantised", kind, *what[:3], name), "launch",
                           make.function_with_quantized_result(
                               "k", one, 512, LONG_K, schedule, 0, ""), (133,))
        yield Case(name_of("product_quantised", kind, "groups"), "launch",
                   make.function_with_quantized_result("k", (KINDS[kind], shuffled[0]), 384,
                                                       LONG_K, "", 4, ""), (300,),
                   ends=(130, 130, 131, 297))
        yield Case(name_of("product_pairs", kind), "launch",
                   make.function_with_pairs("k", (KINDS[kind], None), 512, LONG_K, "", 0, ""),
                   (133,))


def zero_cases():
    """Zero points, of dense and of sparse elements and beside these, and other scales that
    warps multiply by."""
    for what, many in (("zeros", ZEROS), ("real_zeros", REAL_ZEROS),
                       ("sparse_zeros", SPARSE_ZEROS), ("beside_sparse", ZEROS_BESIDE_SPARSE),
                       ("sparse", UNSCALED), ("long", LONG_ELEMENTS), ("short", SHORT_TILES),
                       ("shortest", SHORTEST_TILES), ("bytes", BYTE_FACTORS),
                       ("decoded", DECODED_FACTORS), ("sparse_promoted", SPARSE_PROMOTED)):
        for at, operands in enumerate(many):
            for m in (133, 300):
                yield Case(name_of("product", what, str(at), str(m)), "launch",
                           product("k", operands, 264, LONG_K), (m,))


def along_k_cases():
    ends = (64, 64, 320, 768)
    for kind, operands in (("bf16", BF16), ("f16", F16)):
        both = Operands(f"{operands.a}@mn_major", f"{operands.b}@mn_major", "", "")
        for name, one in (("", operands), ("mn_major", both)):
            yield Case(name_of("product", kind, "along_k", name), "launch",
                       make.function_along_k("k", one, 264, 136, "", 4, "f32"), (768,),
                       ends=ends)
        yield Case(name_of("product", kind, "mn_major"), "launch",
                   product("k", both, 264, LONG_K), (136,))
        yield Case(name_of("product", kind, "gathered_swapped"), "launch",
                   make.function_that_gathers("k", operands, 136, LONG_K,
                                              "swap_operands = true, tile_n = 32", 4, "f32"),
                   (300,), ends=(130, 130, 131, 297), rows=150)


# What compute-sanitizer looks at too.
SANITIZED = (
    "product_bf16_133", "product_deepseek_133", "product_int8_split", "product_bf16_groups",
    "product_deepseek_bias_gelu", "product_bf16_swapped", "product_fp8_rows_batch",
    "quantize_turned_f8E4M3FN_e8m0_t32_bf16", "quantize_f8E4M3FN_e8m0_t128_t128_bf16",
    "quantize_f8E4M3FN_float32_plain_bf16", "quantize_both_ways_e8m0_t32_bf16",
    "dequantize_f8E4M3FN_e8m0_t32_bf16", "prune_2_of_4_bf16", "compress_bf16_2_4",
    "densify_f8E4M3FN_2_4", "relayout_plain_tiled_128x4",
    "tile_sums_f8E4M3FN_float32_t128_plain", "product_bf16_along_k", "product_zeros_0_133",
    "product_quantised_bf16_f8E4M3FN_e8m0_t32_bf16_swapped",
    "quantize_f8E4M3FN_e8m0_t32_t32_bf16", "relayout_parts_1_ui8_mn_major_to_ui8_133",
    "quantize_f4E2M1FN_e4m3fn_t16_bf16_rule_min_error")


def all_cases():
    for many in (quantize_cases, dequantize_cases, convert_cases, product_cases):
        yield from many()
