"""Products with long epilogues, drawn at random, for spills.py.

Part of the blockscale project, under the Apache License v2.0 with LLVM Exceptions.
SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""

import random
import re
from collections import namedtuple
from dataclasses import dataclass, field

import legality
from variant_functions import tensor
from variant_kinds import (
    BYTE_FACTORS, CODEBOOKS, FP4_UE5M3_16, INTEGERS_DENSE, LONG_ELEMENTS, MIXED, MXFP4,
    MXFP6, MXFP8, NVFP4, ONES, Operands, PROMOTED, PROMOTED_BESIDE, PROMOTED_OF_SPARSE,
    PROMOTED_ONES, REAL_ZEROS, SHORTEST_TILES, SHORT_TILES, SPARSE, SPARSE_PROMOTED,
    UNSCALED, UNSCALED_DENSE, ZEROS)

# Families of operands, each as likely as any other.
FAMILIES = [
    PROMOTED[:1], PROMOTED[:1], PROMOTED, [MXFP8, MXFP6], [MIXED], [MXFP4, NVFP4],
    [FP4_UE5M3_16], INTEGERS_DENSE, LONG_ELEMENTS, BYTE_FACTORS, CODEBOOKS, ONES,
    PROMOTED_BESIDE, PROMOTED_OF_SPARSE, PROMOTED_ONES, REAL_ZEROS, SHORTEST_TILES,
    SHORT_TILES, SPARSE, SPARSE_PROMOTED, UNSCALED, UNSCALED_DENSE, ZEROS,
    [Operands("f8E4M3FN", "f8E4M3FN", "float32_t0@plain", "float32_t0@plain"),
     Operands("i8", "i8", "float32_t0@plain", "float32_t0@plain")]]

# What a result is quantised to.
Result = namedtuple("Result", "element spec words")
FLOATS = [Result(element, f"float32_t{block}@plain", "")
          for element in ("f8E4M3FN", "f8E5M2", "i8")
          for block in (32, 64, 128, 128, 128, 256)]
BLOCKS = [Result("f8E4M3FN", "e8m0_t32", ""), Result("f6E2M3FN", "e8m0_t32", ""),
          Result("f4E2M1FN", "e8m0_t32", ""), Result("f4E2M1FN", "e4m3fn_t16", ""),
          Result("f4E2M1FN", "multi_float32_e4m3fn_t16", "")]
WORDS = ["", "", "", "rounding(away)", "rounding(zero)", "rule(min_error)",
         "rounding(stochastic, seed = 5)", "rounding(stochastic_rs, seed = -1)"]

SWIGLU = """    %one = arith.constant 1.0 : f32
    %s1 = arith.negf {g} : f32
    %s2 = math.exp %s1 : f32
    %s3 = arith.addf %s2, %one : f32
    %s4 = arith.divf {g}, %s3 : f32
    %r = arith.mulf %s4, {up} : f32
"""
# gpt-oss's.
CLAMPED = """    %one = arith.constant 1.0 : f32
    %high = arith.constant 7.0 : f32
    %low = arith.constant -7.0 : f32
    %alpha = arith.constant 1.702 : f32
    %s1 = arith.minimumf {g}, %high : f32
    %s2 = arith.minimumf {up}, %high : f32
    %s3 = arith.maximumf %s2, %low : f32
    %s4 = arith.mulf %s1, %alpha : f32
    %s5 = arith.negf %s4 : f32
    %s6 = math.exp %s5 : f32
    %s7 = arith.addf %s6, %one : f32
    %s8 = arith.divf %s1, %s7 : f32
    %s9 = arith.addf %s3, %one : f32
    %r = arith.mulf %s9, %s8 : f32
"""
GEGLU = """    %half = arith.constant 0.5 : f32
    %one = arith.constant 1.0 : f32
    %root = arith.constant 0.70710678 : f32
    %s1 = arith.mulf {g}, %root : f32
    %s2 = math.erf %s1 : f32
    %s3 = arith.addf %s2, %one : f32
    %s4 = arith.mulf {g}, %half : f32
    %s5 = arith.mulf %s4, %s3 : f32
    %r = arith.mulf %s5, {up} : f32
"""
DIFFERENCE = "    %r = arith.subf {up}, {g} : f32\n"


@dataclass
class Product:
    """A source file and its chip."""
    chip: str
    schedule: list
    text: str = field(repr=False)

    def source(self, with_schedule=True):
        clause = ""
        if with_schedule and self.schedule:
            clause = f"schedule(#blockscale.schedule<{', '.join(self.schedule)}>) "
        return self.text.replace("SCHEDULE ", clause)


def pairs_region(rng, has_c, bias):
    """Gate and up, each with its bias first, and what is added behind them."""
    names = ["%g", "%up"] + ["%c"] * has_c + ["%gb", "%ub"] * bool(bias)
    body, gate, up = "", "%g", "%up"
    if bias:
        body = ("    %b1 = arith.addf %g, %gb : f32\n"
                "    %b2 = arith.addf %up, %ub : f32\n")
        gate, up = "%b1", "%b2"
    body += rng.choice([SWIGLU, CLAMPED, CLAMPED, GEGLU, DIFFERENCE]).format(
        g=gate, up=up)
    end = "%r"
    if has_c:
        end = "%sum"
        body += "    %sum = arith.addf %r, %c : f32\n"
    return f"pairs epilogue({', '.join(names)}) {{\n{body}    blockscale.yield {end}\n  }} "


def draw_schedule(rng, chip, is_plain):
    fields = []
    if rng.random() < 0.4:
        fields.append(f"tile_n = {rng.choice([32, 64, 128, 192, 256, 256])}")
    if not legality.has_tensor_memory(chip):
        if rng.random() < 0.4:
            fields.append("scheduler = dynamic")
        if rng.random() < 0.2:
            fields.append("tile_m = 128")
        if is_plain and rng.random() < 0.2:
            fields.append("split_k = 2")
        elif rng.random() < 0.2:
            fields.append("consumer_groups = 2")
        return fields
    if rng.random() < 0.6:
        fields.append(f"cta_group = {rng.choice([1, 2])}")
    if rng.random() < 0.3:
        fields += [f"cluster_m = {rng.choice([1, 2])}",
                   f"cluster_n = {rng.choice([1, 2])}"]
    if rng.random() < 0.4:
        fields.append("scheduler = dynamic")
    if rng.random() < 0.2:
        fields.append("dependent_launch = true")
    if rng.random() < 0.25:
        fields.append("epilogue_warps = 8")
    if rng.random() < 0.1:
        fields += ["accumulators = 3", "tile_n = 256", "cta_group = 2"]
        fields = list({one.split()[0]: one for one in fields}.values())
    if legality.has(chip, k=96) and rng.random() < 0.15:
        fields.append("mma_k = 96")
    if is_plain:
        if rng.random() < 0.2:
            fields.append(f"swap_operands = {rng.choice(['true', 'false'])}")
        if rng.random() < 0.15:
            fields += ["split_k = 2"] + rng.choice([[], ["cluster_k = 2"]])
        if rng.random() < 0.2:
            fields.append("stores = tma")
    return fields


def quantize_text(rng, result, rows, columns, x, groups, counted):
    layout = "@grouped_128x4" if groups and "@" not in result.spec and not counted else ""
    clause = f"groups(%ends : tensor<{groups}xi32>) " if layout else ""
    scale = ""
    if result.spec.startswith("multi"):
        scale = f", %t: tensor<{groups}xf32>" if counted else ", %t: tensor<f32>"
        clause += f"tensor_scale({scale[2:].replace(':', ' :', 1)}) "
    d = tensor(rows, columns, result.element, result.spec + layout)
    text = (f"  %q = blockscale.quantize %d {clause}{result.words} : "
            f"tensor<{rows}x{columns}x{x}> to {d}\n  return %q : {d}\n}}\n")
    return text, scale, d


def draw(seed, number, chips):
    rng = random.Random(f"{seed}:{number}")
    chip = rng.choice(chips)
    operands = rng.choice(rng.choice(FAMILIES))
    has_pairs = rng.random() < 0.5
    result = rng.choice(FLOATS if rng.random() < 0.5 else BLOCKS)
    result = result._replace(words=rng.choice(WORDS))
    quantizes = rng.random() < 0.65
    # Matrices, groups of rows, counted rows, or gathered ones.
    outer = rng.choice(["", "", "", "batch", "groups", "counted", "gathered"])
    if outer in ("groups", "gathered") and re.search(r"n\dm\d", operands.a_spec):
        outer = ""
    n, k, count = rng.choice([512, 1024, 2048]), 1024, 3
    groups = count if outer in ("groups", "counted", "gathered") else 0
    apart = ("@grouped_128x4" if outer in ("groups", "gathered") and operands.a_spec
             and "@" not in operands.a_spec else "")
    batch = f"{count}x" if outer in ("batch", "counted") else ""
    rows = batch + rng.choice(["?", "?", "300"]) if outer in ("", "batch") else batch + "?"
    a = tensor(rows, k, operands.a, operands.a_spec + apart)
    b = tensor(f"{count}x{n}" if outer else n, k, operands.b, operands.b_spec)
    is_exact = "i8" in operands.a and not operands.b_spec and not quantizes
    x = "i32" if is_exact else rng.choice(["bf16", "bf16", "f16", "f32"])
    columns = n // 2 if has_pairs and not is_exact else n
    d = f"tensor<{rows}x{columns}x{x}>"
    arguments, clauses, types = "", "", ""
    if groups:
        arguments += f", %ends: tensor<{count}xi32>"
        clauses += f"groups(%ends : tensor<{count}xi32>) "
    if outer == "gathered":
        arguments += ", %rows: tensor<?xi32>"
        clauses += "rows(%rows : tensor<?xi32>) "
    if not is_exact:
        if rng.random() < 0.2:
            arguments += ", %alpha: f32"
            clauses += "alpha(%alpha) "
        if rng.random() < 0.2:
            c = f"tensor<{rows}x{columns}x{rng.choice(['f32', 'bf16'])}>"
            arguments += f", %beta: f32, %c: {c}"
            clauses += "beta(%beta) c(%c) "
            types += f", {c}"
        bias = rng.choice([None, "column", "column", "row"])
        if bias == "row" and (has_pairs or rows.endswith("?") or outer):
            bias = "column"
        if bias:
            length = f"{count}x{n}" if groups else rows if bias == "row" else n
            v = f"tensor<{length}x{rng.choice(['f32', 'bf16'])}>"
            arguments += f", %v: {v}"
            clauses += "bias(%v) " + ("row " if bias == "row" else "")
            types += f", {v}"
        if has_pairs:
            clauses += pairs_region(rng, " c(" in clauses, bias)
        elif rng.random() < 0.6:
            clauses += f"activation({rng.choice(['relu', 'gelu', 'silu'])}) "
    end, scale, returned = f"  return %d : {d}\n}}\n", "", d
    if quantizes:
        end, scale, returned = quantize_text(
            rng, result, rows, columns, x, groups, outer == "counted")
    schedule = draw_schedule(rng, chip, not quantizes)
    if rng.random() < 0.2:
        schedule = []
    text = (f"// spills.py --seed {seed} --first {number} --count 1\n"
            f"func.func @f(%a: {a}, %b: {b}{arguments}{scale}) -> {returned} {{\n"
            f"  %d = blockscale.matmul %a, %b {clauses}SCHEDULE : "
            f"{a}, {b}{types} -> {d}\n" + end)
    return Product(chip, schedule, text)
