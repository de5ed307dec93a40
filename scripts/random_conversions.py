"""Draws what quantises, dequantises, prunes, compresses, densifies, adds up tiles and
changes layouts, each as a function of its own.

Part of the blockscale project, under the Apache License v2.0 with LLVM
Exceptions.
SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""

import re
from dataclasses import dataclass

from random_parts import Product, draw_extent, draw_options
from random_results import POWER_RULES, draw_rounding
from sweep import NARROW
from variant_functions import tensor

ROW_TILES = ["", "", "", "_t0", "_t4", "_t16", "_t32", "_t64", "_t128"]
INPUTS = ["bf16", "f16", "f32"]
# Element, spec of what is pruned and of what is dense.
SPARSE = [("f8E4M3FN", "e8m0_t32n2m4", "e8m0_t64"),
          ("f6E2M3FN", "e8m0_t32n2m4", "e8m0_t64"),
          ("f4E2M1FN", "e8m0_t32n4m8", "e8m0_t64"),
          ("f4E2M1FN", "e8m0_t32n2m4", "e8m0_t64"),
          ("f4E2M1FN", "e4m3fn_t16n4m8", "e4m3fn_t32"),
          ("f4E2M1FN", "multi_float32_e4m3fn_t16n4m8", "multi_float32_e4m3fn_t32"),
          ("f8E5M2", "n2m4", ""), ("bf16", "n2m4", ""), ("tf32", "n1m2", ""),
          ("i8", "n2m4", "")]
ZEROS = ["float16_int8_t128", "float32_float32_t0", "bfloat16_float16_t64",
         "float32_int16_t32", "float32_int8_t0"]


@dataclass
class Sizes:
    """Those of a run, and the same as a type has them."""
    values: dict
    dynamic: set

    def text(self, name):
        return "?" if name in self.dynamic else str(self.values[name])

    def shape(self, first="m", last="k"):
        batch = [self.text("batch")] if "batch" in self.values else []
        return "x".join(batch + [self.text(first), self.text(last)])

    def rows(self):
        return self.shape().rpartition("x")[0]


def draw_spec(rng, element):
    """A spec with its layout, and the rules that it knows."""
    roll = rng.random()
    if roll < 0.45:
        tile = rng.choice([32, 32, 32, 64, 128, 256, 16, 0])
        spec = f"e8m0{rng.choice(ROW_TILES) if tile else ''}_t{tile}"
        layouts, rules = ["tiled_128x4", "tiled_128x4", "plain", "tiled_128x16"], POWER_RULES
    elif roll < 0.65 and element == "f4E2M1FN":
        rows = rng.choice(["", "", "", "_t4", "_t16"])
        spec = (rng.choice(["", "multi_float32_"]) + rng.choice(["e4m3fn", "e4m3"])
                + f"{rows}_t{rng.choice([16, 16, 32])}")
        layouts, rules = ["tiled_128x4", "tiled_128x4", "plain"], ["floor", "min_error"]
    else:
        tile = rng.choice([128, 128, 64, 32, 0, 0, None])
        rows = rng.choice(ROW_TILES) if tile else ""
        spec = (rng.choice(["float32", "float16", "bfloat16"])
                + ("" if tile is None else f"{rows}_t{tile}"))
        layouts, rules = ["plain"], ["floor", "min_error"]
    is_plain = spec.endswith("_t0") or "_t0_" in spec
    return spec, "plain" if is_plain else rng.choice(layouts), rules


def draw_sizes(rng, spec):
    tiles = re.findall(r"_t(\d+)", spec)
    step = max(int(tiles[-1]) if tiles else 0, 16)
    values = {"m": draw_extent(rng, 500), "k": step * rng.randint(1, max(1, 1200 // step))}
    # Blocks of what is padded along K, too.
    if rng.random() < 0.5:
        values["k"] = -(-values["k"] // 128) * 128
    if rng.random() < 0.2:
        values["batch"] = rng.choice([1, 2, 3])
    return Sizes(values, {name for name in values
                          if rng.random() < (0.6 if name == "m" else 0.2)})


def transpose(sizes, plain, source):
    """Lines that make `%y` of the matrix `%x`."""
    names = [name for name in ("batch", "m", "k") if name in sizes.values]
    places = {name: at for at, name in enumerate(
        [one for one in ("batch", "k", "m") if one in sizes.values])}
    text, late = "", []
    for name in names:
        if name in sizes.dynamic:
            text += (f"  %c{name} = arith.constant {places[name]} : index\n"
                     f"  %n{name} = tensor.dim %x, %c{name} : {source}\n")
            late.append(f"%n{name}")
    order = "[0, 2, 1]" if "batch" in sizes.values else "[1, 0]"
    return text + (f"  %e = tensor.empty({', '.join(late)}) : {plain}\n"
                   f"  %y = linalg.transpose ins(%x : {source}) outs(%e : {plain}) "
                   f"permutation = {order}\n")


def draw_quantization(rng, chip):
    """Of a matrix, or of its transpose."""
    element = rng.choice(NARROW + ["i8", "f4E2M1FN"])
    spec, layout, rules = draw_spec(rng, element)
    # What kernels write in another layout is refused; seldom is enough.
    if layout != "plain" or "e8m0_t" in spec and not spec.endswith("_t0"):
        layout = rng.choice(["tiled_128x4"] * 9 + [layout])
    sizes = draw_sizes(rng, spec)
    x = rng.choice(INPUTS)
    words = "" if rng.random() < 0.4 else f"rule({rng.choice(rules)}) "
    words += draw_rounding(rng)
    more = ""
    if (spec.startswith("multi") or "_t" not in spec) and rng.random() < 0.6:
        batch = f"{sizes.text('batch')}x" if "batch" in sizes.values else ""
        more = f", %t: tensor<{batch}f32>"
        words = f"tensor_scale(%t : tensor<{batch}f32>) {words}"
    plain = f"tensor<{sizes.shape()}x{x}>"
    source, value, lines = plain, "%x", ""
    if rng.random() < 0.3:
        source, value = f"tensor<{sizes.shape('k', 'm')}x{x}>", "%y"
        lines = transpose(sizes, plain, source)
    product = Product(chip, [], draw_options(rng, chip, sizes.values, sizes.dynamic))
    product.text = (
        f"!q = {tensor(sizes.rows(), sizes.text('k'), element, f'{spec}@{layout}')}\n"
        f"func.func @f(%x: {source}{more}) -> !q {{\n{lines}"
        f"  %q = blockscale.quantize {value} {words} : {plain} to !q\n"
        f"  return %q : !q\n}}\n")
    return product


def of_one_op(rng, chip, sizes, op, operand, result):
    """A function of one op, whose words follow its operand."""
    product = Product(chip, [], draw_options(rng, chip, sizes.values, sizes.dynamic))
    product.text = (f"!a = {operand}\n!d = {result}\nfunc.func @f(%a: !a) -> !d {{\n"
                    f"  %0 = blockscale.{op} : {'!a' if 'keep' in op else '!a to !d'}\n"
                    f"  return %0 : !d\n}}\n")
    return product


def draw_prune(rng, chip):
    sizes = draw_sizes(rng, "_t16")
    matrix = f"tensor<{sizes.shape()}x{rng.choice(INPUTS)}>"
    keep = rng.choice(["2 of 4", "4 of 8 pairs", "1 of 2", "4 of 8", "1 of 4"])
    return of_one_op(rng, chip, sizes, f"prune %a keep {keep}", matrix, matrix)


def draw_sparsity(rng, chip):
    element, sparse, dense = rng.choice(SPARSE)
    layout = rng.choice(["", "@plain"])
    sizes = draw_sizes(rng, "_t128")
    both = [tensor(sizes.rows(), sizes.text("k"), element, spec + (layout if spec else ""))
            for spec in (dense, sparse)]
    op = rng.choice(["compress", "densify"])
    return of_one_op(rng, chip, sizes, f"{op} %a",
                     *(both if op == "compress" else reversed(both)))


def draw_dequantization(rng, chip):
    element = rng.choice(NARROW + ["i8", "f4E2M1FN"])
    spec, layout, _ = draw_spec(rng, element)
    if rng.random() < 0.15:
        element, spec, layout = rng.choice(["ui4", "ui8"]), rng.choice(ZEROS), "plain"
    sizes = draw_sizes(rng, spec)
    return of_one_op(rng, chip, sizes, "dequantize %a",
                     tensor(sizes.rows(), sizes.text("k"), element, f"{spec}@{layout}"),
                     f"tensor<{sizes.shape()}x{rng.choice(INPUTS)}>")


def draw_relayout(rng, chip):
    element = rng.choice(NARROW + ["i8", "f8E4M3FN"])
    spec, layout, _ = draw_spec(rng, element)
    sizes = draw_sizes(rng, spec)
    orders = ["", "@mn_major"] if "f8" in element or element == "i8" else [""]
    layouts = [layout] if layout == "plain" else ["plain", "tiled_128x4", "tiled_128x16"]
    both = (tensor(sizes.rows(), sizes.text("k"), element + rng.choice(orders),
                   f"{spec}@{one}") for one in (layout, rng.choice(layouts)))
    return of_one_op(rng, chip, sizes, "relayout %a", *both)


def draw_sums(rng, chip):
    element = rng.choice(NARROW + ["bf16", "f16"])
    spec, layout = "", "plain"
    if element in NARROW and rng.random() < 0.8:
        spec, layout, _ = draw_spec(rng, element)
    sizes = draw_sizes(rng, spec)
    tile = rng.choice([0, 0, 64, 128, 256])
    tiles = -(-sizes.values["k"] // tile) if tile else 1
    count = "?" if tile and "k" in sizes.dynamic else str(tiles)
    batch = f"{sizes.text('batch')}x" if "batch" in sizes.values else ""
    return of_one_op(rng, chip, sizes, f"tile_sums %a{f' tile = {tile}' if tile else ''}",
                     tensor(sizes.rows(), sizes.text("k"), element,
                            f"{spec}@{layout}" if spec else ""),
                     f"tensor<{batch}{count}x{sizes.text('m')}xf32>")


def draw_conversion(rng, chip):
    return rng.choice([draw_quantization] * 4 + [draw_dequantization] * 2 + [
        draw_relayout, draw_sparsity, draw_prune, draw_sums])(rng, chip)
