"""Draws products with groups: rows that lie together, rows by number, counted rows
and columns along K, with scales of all kinds.

Part of the blockscale project, under the Apache License v2.0 with LLVM
Exceptions.
SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""

import re

import variant_kinds as kinds
from random_parts import (MAX_WORK, Product, draw_extent, draw_mix, draw_options,
                          draw_region, draw_scaled_addend, draw_schedule)
from spill_products import pairs_region
from sweep import NARROW
from variant_functions import tensor

FORMS = ("rows", "gathered", "counts", "along_k")

# Operands that no row of the legality table names: scales that kernels apply.
APPLIED = (kinds.PROMOTED + kinds.SPARSE_PROMOTED + kinds.PROMOTED_OF_SPARSE +
           kinds.SPARSE_WEIGHTS + kinds.ONES + kinds.PROMOTED_ONES +
           kinds.PROMOTED_BESIDE + kinds.BYTE_FACTORS + kinds.DECODED_FACTORS +
           kinds.SHORT_TILES + kinds.SHORTEST_TILES + kinds.LONG_ELEMENTS +
           kinds.ZEROS + kinds.REAL_ZEROS + kinds.SPARSE_ZEROS +
           kinds.ZEROS_BESIDE_SPARSE + kinds.CODEBOOKS)
# What either side may have of its own.
SPECS = ["", "e8m0_t32", "e8m0_t64", "e8m0_t32_t32", "float32@plain",
         "float32_t0@plain", "bfloat16_t0@plain", "e8m0_t0@plain",
         "float32_t128@plain", "float32_t128_t128@plain", "float32_t64@plain",
         "float32_t0_t128@plain", "float16_t32@plain", "bfloat16_t16_t64@plain",
         "e5m3fn_t64@plain"]
HALF = ["bf16", "f16"]
# Those that whoever packs them makes others of.
RECODED = ["f8E4M3FNUZ", "f8E5M2FNUZ", "f8E4M3", "i4", "i8", "f8E4M3FN"]


def mixed_operands(rng, chip):
    """Of the legality table, as plain products have them."""
    mix = draw_mix(rng, chip)
    return kinds.Operands(mix.a, mix.b, mix.spec,
                          mix.spec if mix.b_spec is None else mix.b_spec)


def is_sparse(spec):
    return bool(re.search(r"n\d+m\d+", spec))


def draw_side(rng, elements):
    """An element and a spec; those of 16 bits have no scales."""
    element = rng.choice(elements)
    return element, "" if element in HALF else rng.choice(SPECS)


def draw_any_operands(rng, chip, form):
    roll = rng.random()
    if roll < 0.5:
        return mixed_operands(rng, chip)
    if roll < 0.8:
        return rng.choice(APPLIED)
    elements = rng.choice([NARROW, NARROW, NARROW + HALF, HALF + ["i4"], ["i8"],
                           ["f8E4M3FN", "i4"], RECODED, RECODED + HALF])
    (a, a_spec), (b, b_spec) = draw_side(rng, elements), draw_side(rng, elements)
    return kinds.Operands(a, b, a_spec, b_spec)


def draw_operands(rng, chip, form):
    """Of groups of rows only B may be sparse, along K neither."""
    one = draw_any_operands(rng, chip, form)
    while form == "along_k" and is_sparse(one.a_spec + one.b_spec):
        one = draw_any_operands(rng, chip, form)
    if form in ("rows", "gathered") and is_sparse(one.a_spec):
        return kinds.Operands(one.b, one.a, one.b_spec, one.a_spec)
    return one


def apart(spec):
    """Scales that instructions read lie by groups."""
    return spec + "@grouped_128x4" if spec and "@" not in spec else spec


def along(spec):
    """So do, where groups are along K, those that cover all of it."""
    return apart(re.sub("_t0@plain$", "_t0@grouped", spec))


def draw_sizes(rng, form, tile):
    """The columns of D are whole tiles of what quantises them, if anything does."""
    while True:
        groups = rng.choice([1, 2, 3, 5, 9])
        m, n = draw_extent(rng, 500), draw_extent(rng, 400)
        if rng.random() < 0.8:
            n = -(-n // 8) * 8
        n = -(-n // tile) * tile
        k = 128 * rng.randint(1, 9)
        # Whole functions, such as those that quantise a result, have whole tiles.
        if rng.random() < 0.4 and form != "along_k" and tile == 1:
            k += rng.choice([16, 32, 64])
        matrices = groups if form in ("counts", "along_k") else 1
        if m * n * k * matrices <= MAX_WORK // 2:
            return {"m": m, "n": n, "k": k, "batch": groups}


def draw_dynamic(rng, form, sizes):
    """Names of sizes that only the launch knows: where the rows of groups are
    together mostly theirs, along K that of all of them."""
    late = {"rows": "m", "gathered": "m", "counts": "m", "along_k": "k"}[form]
    names = {name for name in sizes if rng.random() < 0.2} - {late}
    return names | {late} if rng.random() < 0.9 else names


def result_columns(text, is_paired):
    """Half of those of the product, or as many."""
    return text if not is_paired or text == "?" else str(int(text) // 2)


def draw_epilogue(rng, form, text, is_paired):
    """Extra operands, clauses and the type of D; `text` has the sizes."""
    groups, m, n = text["batch"], text["m"], text["n"]
    columns = result_columns(n, is_paired)
    d = rng.choice(["f32", "bf16", "f16"])
    outer = f"{groups}x" if form in ("counts", "along_k") else ""
    operands, clauses = draw_scaled_addend(
        rng, 0.25, 0.5, f"{outer}{m}x{columns}", ["f32", "bf16", "f16"])
    if rng.random() < 0.4:
        is_row = not is_paired and not outer and rng.random() < 0.3
        shape = m if is_row else f"{groups}x{n}"
        operands.append(("v", f"tensor<{shape}x{rng.choice(['f32', 'bf16'])}>"))
        clauses.append("bias(%v)" + (" row" if is_row else ""))
    if is_paired:
        names = {name for name, _ in operands}
        clauses.append(pairs_region(rng, "c" in names, "v" in names))
    elif rng.random() < 0.3:
        clauses.append("activation(" + rng.choice(["relu", "gelu", "silu"]) + ")")
    elif rng.random() < 0.2:
        clauses.append(draw_region(rng, operands))
    return operands, " ".join(clauses), d


def shapes_of(form, text):
    """Rows and K of A and of B, and the shape of D but for its columns."""
    groups, m, n, k = (text[name] for name in ("batch", "m", "n", "k"))
    of_a, of_d = {
        "rows": (m, m),
        # Rows of A are as many as `verify` likes, more or fewer than of D.
        "gathered": ("?", m),
        "counts": (f"{groups}x{m}", f"{groups}x{m}"),
        "along_k": (m, f"{groups}x{m}")}[form]
    return (of_a, k), (n if form == "along_k" else f"{groups}x{n}", k), of_d


def draw_order(rng, element):
    """Gradients and inputs lie with all rows of one k together."""
    is_free = element in ("bf16", "f16", "f8E4M3FN", "f8E5M2")
    return element + "@mn_major" if is_free and rng.random() < 0.3 else element


def draw_types(rng, form, operands, text):
    """Types of A and of B."""
    (a_rows, a_k), (b_rows, b_k), _ = shapes_of(form, text)
    a_spec, b_spec = operands.a_spec, operands.b_spec
    elements = (operands.a, operands.b)
    if form == "along_k":
        a_spec, b_spec = along(a_spec), along(b_spec)
    elif form != "counts":
        a_spec = apart(a_spec)
    if form == "along_k" and "@grouped" not in a_spec + b_spec:
        elements = tuple(draw_order(rng, element) for element in elements)
    return (tensor(a_rows, a_k, elements[0], a_spec),
            tensor(b_rows, b_k, elements[1], b_spec))


def groups_of(form, text):
    """The arguments that say where groups are, and the clauses that read them."""
    ends = f"tensor<{text['batch']}xi32>"
    more, clauses = f", %ends: {ends}", f"groups(%ends : {ends}) "
    if form == "gathered":
        ids = f"tensor<{text['m']}xi32>"
        more, clauses = more + f", %ids: {ids}", clauses + f"rows(%ids : {ids}) "
    return more, clauses


def is_exact(operands):
    """Whether sums of integers may be what is asked for."""
    return operands.a in ("i8", "ui8") and not operands.a_spec and not operands.b_spec


def draw_groups(rng, chip, form=None, tile=1):
    """A product whose result, or each pair of whose columns, is whole tiles."""
    form = form or rng.choice(FORMS)
    operands = draw_operands(rng, chip, form)
    is_paired = form != "along_k" and rng.random() < 0.2
    sizes = draw_sizes(rng, form, 2 * tile if is_paired else tile)
    dynamic = draw_dynamic(rng, form, sizes)
    if is_sparse(operands.a_spec + operands.b_spec):
        sizes["k"] -= sizes["k"] % 128
    text = {name: "?" if name in dynamic else str(value)
            for name, value in sizes.items()}
    extra, clauses, d = draw_epilogue(rng, form, text, is_paired)
    if is_exact(operands) and not extra and not clauses and tile == 1:
        d = rng.choice(["i32", d])
    a, b = draw_types(rng, form, operands, text)
    columns = result_columns(text["n"], is_paired)
    result = f"tensor<{shapes_of(form, text)[2]}x{columns}x{d}>"
    places, of_groups = groups_of(form, text)
    arguments = places + "".join(f", %{name}: {type}" for name, type in extra)
    types = "".join(f", {type}" for _, type in extra if type != "f32")
    product = Product(chip, draw_schedule(rng, chip),
                      draw_options(rng, chip, sizes, dynamic))
    product.text = (
        f"!a = {a}\n!b = {b}\n"
        f"func.func @f(%a: !a, %b: !b{arguments}) -> {result} {{\n"
        f"  %0 = blockscale.matmul %a, %b {of_groups}{clauses} SCHEDULE : "
        f"!a, !b{types} -> {result}\n"
        f"  return %0 : {result}\n}}\n")
    return product
