"""Draws products whose result is quantised for the next product.

Part of the blockscale project, under the Apache License v2.0 with LLVM
Exceptions.
SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""

import re

from random_groups import draw_groups
from sweep import NARROW

BLOCKS = ["e8m0_t32", "e8m0_t32", "e8m0_t32", "e8m0_t64", "e8m0_t64", "e8m0_t128",
          "e8m0_t256", "e8m0_t16", "e8m0_t32@plain"]
OF_FOUR_BITS = ["e4m3fn_t16", "e4m3_t16", "multi_float32_e4m3fn_t16",
                "multi_float32_e4m3_t16", "e4m3fn_t32", "e5m3fn_t16", "e5m3fn_t32"]
FLOATS = ["float32_t128@plain", "float32_t128@plain", "float32_t64@plain",
          "float32_t32@plain", "float32_t256@plain", "float32_t16@plain",
          "float32_t0@plain", "float16_t64@plain", "bfloat16_t128@plain"]
# Of several rows, in squares and others: not in groups, where each row has its own.
ROWS = ["", "", "", "_t4", "_t8", "_t16", "_t32", "_t64", "_t128", "_t256"]
# Of what may stand beside a sparse operand.
FOR_SPARSE = ["e8m0_t64", "e4m3fn_t32"]
POWER_RULES = ["floor", "round_up", "floor_plus_one", "ceil", "mid_max", "rounded_max",
               "top_binade", "min_error"]


def draw_rounding(rng):
    seed = rng.randint(-9, 1 << 40)
    return rng.choice(["", "", "rounding(away)", "rounding(zero)",
                       f"rounding(stochastic, seed = {seed})",
                       f"rounding(stochastic_rs, seed = {seed})"])


def draw_target(rng):
    """Element, spec and words of what quantises."""
    roll = rng.random()
    if roll < 0.45:
        element, spec = rng.choice(NARROW), rng.choice(BLOCKS)
        rules = POWER_RULES
    elif roll < 0.8:
        element, spec = "f4E2M1FN", rng.choice(OF_FOUR_BITS)
        rules = ["floor", "min_error"]
    else:
        element = rng.choice(["f8E4M3FN", "f8E4M3FN", "f8E5M2", "i8", "f6E2M3FN",
                              "f4E2M1FN"])
        spec = rng.choice(FLOATS)
        rules = ["floor", "min_error"]
    words = "" if rng.random() < 0.4 else f"rule({rng.choice(rules)}) "
    words += draw_rounding(rng)
    if spec in FOR_SPARSE and rng.random() < 0.5:
        words += " {blockscale.for_sparse}"
    return element, spec, words.strip()


def with_rows(rng, spec):
    """The same for several rows, if scales are those of tiles."""
    if "t0" in spec:
        return spec
    return re.sub(r"_t(?=\d+(@|$))", rng.choice(ROWS) + "_t", spec)


def draw_quantized(rng, chip):
    form = rng.choice(["rows", "counts", "along_k", "batch", "plain", "plain", "plain",
                       "gathered"])
    element, spec, words = draw_target(rng)
    if form not in ("rows", "gathered"):
        spec = with_rows(rng, spec)
    spec, _, layout = spec.partition("@")
    tile = int(re.search(r"(\d+)$", spec)[0]) or 8
    of_groups = {"plain": "rows", "batch": "counts"}.get(form, form)
    product = draw_groups(rng, chip, of_groups, tile)
    text = product.text
    if form == "plain":
        text = of_one_matrix(without_groups(text))
    elif form == "batch":
        text = without_groups(text)
    sums = re.findall(r"-> (tensor<[^>]*>)", text)[-1]
    shape, _, x = sums[len("tensor<"):-1].rpartition("x")
    is_of_rows = form in ("rows", "gathered") and not layout
    result = (f'!blockscale.tensor<{shape}x{element}, "{spec}", layout = '
              f'{layout or ("grouped_128x4" if is_of_rows else "tiled_128x4")}>')
    clause, scale = "", ""
    if is_of_rows:
        clause = re.search(r"groups\([^)]*\) ", text)[0]
    # What no kernel quantises, the host does; its kernel is judged all the same.
    product.options.append("--host-duties")
    if spec.startswith("multi"):
        is_of_matrices = form in ("counts", "along_k", "batch")
        batch = shape.split("x")[0] if is_of_matrices else ""
        factor = f"tensor<{batch + 'x' if batch else ''}f32>"
        scale, clause = f", %t: {factor}", clause + f"tensor_scale(%t : {factor}) "
    # Which of two scales errs less can hang on the last bit of a sum.
    if "min_error" in words:
        product.options.append("--data=exact")
    # Whole functions are compared within a bound, which steps are not.
    text = text.replace("math.floor", "math.absf")
    text = text.replace(f") -> {sums} {{", f"{scale}) -> !q {{")
    text = text.replace("func.func", f"!q = {result}\nfunc.func", 1)
    end = text.index("  return %0")
    product.text = text[:end] + (
        f"  %1 = blockscale.quantize %0 {clause}{words} : {sums} to !q\n"
        "  return %1 : !q\n}\n")
    return product


def without_groups(text):
    """The product of the same matrices, whose bias is one."""
    text = re.sub(r", %ends: tensor<[^>]*>", "", text)
    text = re.sub(r"groups\(%ends : tensor<[^>]*>\) ", "", text)
    text = text.replace("grouped_128x4", "tiled_128x4")
    if "bias(%v) row" in text or "bias" not in text:
        return text
    # The types of operands end with that of the bias.
    text = re.sub(r"(, tensor<)[?0-9]+x([?0-9]+x\w+> ->)", r"\1\2", text)
    return re.sub(r"(%v: tensor<)[?0-9]+x([?0-9]+x)", r"\1\2", text)


def of_one_matrix(text):
    """With one matrix of B."""
    return re.sub(r"(!b = !blockscale.tensor<)[?0-9]+x", r"\1", text)
