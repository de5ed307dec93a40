#!/usr/bin/env python3
"""Predicted times of kernels that quantise over those of their bytes.

usage: quantize_kernels.py BLOCKSCALE [--rows=4096] [--columns=4096]
                           [--transposed | --both-ways] [--find-tensor-scale]

Compiles a kernel for each format and type of input and runs 128 rows of it on the
emulator. By the formula of elementwise.py; nothing is measured.
With --transposed kernels read the transpose of what they quantise, with --both-ways
they quantise a matrix and its transpose alike. With --find-tensor-scale only those
with tensor scales are there, which find them: they read everything twice, as those do
that have one scale for all of a matrix.

Part of the blockscale project, under the Apache License v2.0 with LLVM
Exceptions.
SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""

import elementwise
from elementwise import INPUTS, ROWS

# What the op says that is given its scales.
GIVEN = "tensor_scale(%t : tensor<f32>)"
# Element, scales, bits of an element, elements of a byte of scales, what the op says.
FORMATS = {
    "MXFP8": ("f8E4M3FN", "e8m0_t32", 8, 32, ""),
    "MXFP8, round_up": ("f8E4M3FN", "e8m0_t32", 8, 32, "rule(round_up)"),
    "MXFP8, min_error": ("f8E4M3FN", "e8m0_t32", 8, 32, "rule(min_error)"),
    "NVFP4, min_error": ("f4E2M1FN", "multi_float32_e4m3fn_t16", 4, 16,
                         "rule(min_error)"),
    "MXFP8 e5m2": ("f8E5M2", "e8m0_t32", 8, 32, ""),
    "MXFP6 e2m3": ("f6E2M3FN", "e8m0_t32", 6, 32, ""),
    "MXFP6 e3m2": ("f6E3M2FN", "e8m0_t32", 6, 32, ""),
    "MXFP4": ("f4E2M1FN", "e8m0_t32", 4, 32, ""),
    "NVFP4": ("f4E2M1FN", "multi_float32_e4m3fn_t16", 4, 16, ""),
    "MXFP8, 32 x 32": ("f8E4M3FN", "e8m0_t32_t32", 8, 32, ""),
    "MXFP8, 1 x 128": ("f8E4M3FN", "e8m0_t128", 8, 32, ""),
    "MXFP8, 128 x 128": ("f8E4M3FN", "e8m0_t128_t128", 8, 32, ""),
    "e4m3, f32 for 1 x 128": ("f8E4M3FN", "float32_t128", 8, 32, ""),
    "e4m3, f32 for 128 x 128": ("f8E4M3FN", "float32_t128_t128", 8, 4096, ""),
    "e4m3, f32 for a row": ("f8E4M3FN", "float32_t0", 8, 4096, ""),
    "e4m3, f32 for a matrix": ("f8E4M3FN", "float32", 8, 1 << 24, ""),
    "e4m3, a given f32 for a matrix": ("f8E4M3FN", "float32", 8, 1 << 24, GIVEN),
    "e4m3, bf16 for a row": ("f8E4M3FN", "bfloat16_t0", 8, 2048, ""),
    "e4m3, e8m0 for a row": ("f8E4M3FN", "e8m0_t0", 8, 4096, ""),
    "int8, f32 for a row": ("i8", "float32_t0", 8, 4096, ""),
    "int8, f32 for a matrix": ("i8", "float32", 8, 1 << 24, ""),
    "int8, f32 for a row, ties away": ("i8", "float32_t0", 8, 4096, "rounding(away)"),
    "int8, f32 for a row, stochastic": ("i8", "float32_t0", 8, 4096,
                                        "rounding(stochastic, seed = 1)"),
    "MXFP8, sparse": ("f8E4M3FN", "e8m0_t64", 8, 64, "{blockscale.for_sparse}"),
    "NVFP4, sparse": ("f4E2M1FN", "multi_float32_e4m3fn_t32", 4, 32,
                      "{blockscale.for_sparse}"),
    "NVFP4, 16 x 16": ("f4E2M1FN", "multi_float32_e4m3fn_t16_t16", 4, 16, ""),
    "MXFP8, ties away": ("f8E4M3FN", "e8m0_t32", 8, 32, "rounding(away)"),
    "MXFP8, stochastic": ("f8E4M3FN", "e8m0_t32", 8, 32,
                          "rounding(stochastic, seed = 1)"),
    "NVFP4, stochastic": ("f4E2M1FN", "multi_float32_e4m3fn_t16", 4, 16,
                          "rounding(stochastic, seed = 1)"),
    "MXFP8, stochastic_rs": ("f8E4M3FN", "e8m0_t32", 8, 32,
                             "rounding(stochastic_rs, seed = 1)"),
    "MXFP6 e2m3, stochastic_rs": ("f6E2M3FN", "e8m0_t32", 6, 32,
                                  "rounding(stochastic_rs, seed = 1)"),
    "MXFP4, stochastic_rs": ("f4E2M1FN", "e8m0_t32", 4, 32,
                             "rounding(stochastic_rs, seed = 1)"),
    "NVFP4, stochastic_rs": ("f4E2M1FN", "multi_float32_e4m3fn_t16", 4, 16,
                             "rounding(stochastic_rs, seed = 1)"),
}


def is_plain(spec):
    """Whether there is one scale for each tile in memory."""
    return spec.startswith(("float", "bfloat")) or spec == "e8m0_t0"


def module(columns, source, element, spec, words, ways, finds):
    x, y = f"tensor<?x{columns}x{source}>", f"tensor<{columns}x?x{source}>"
    layout = "plain" if is_plain(spec) else "tiled_128x4"
    form = f'x{element}, "{spec}", layout = {layout}>'
    factor = ""
    if words == GIVEN:
        factor = ", %t: tensor<f32>"
    elif spec.startswith("multi") and not finds:
        factor = ", %t: tensor<f32>"
        words = f"{GIVEN} {words}"
    results, transpose, text = [], "", ""
    if "transposed" in ways:
        # Of a matrix that is read both ways columns are the static size.
        read, made = (x, y) if "rows" in ways else (y, x)
        transpose = (f"  %c = arith.constant {int('rows' not in ways)} : index\n"
                     f"  %n = tensor.dim %x, %c : {read}\n"
                     f"  %e = tensor.empty(%n) : {made}\n"
                     f"  %y = linalg.transpose ins(%x : {read}) outs(%e : {made}) "
                     f"permutation = [1, 0]\n")
    for i, way in enumerate(ways):
        value = "%y" if way == "transposed" else "%x"
        turned = way == "transposed" and "rows" in ways
        results.append(f"!blockscale.tensor<{columns}x?" + form if turned else
                       f"!blockscale.tensor<?x{columns}" + form)
        text += (f"  %{i} = blockscale.quantize {value} {words} : "
                 f"{y if turned else x} to {results[-1]}\n")
    read = y if ways == ["transposed"] else x
    types, values = ", ".join(results), ", ".join(f"%{i}" for i in range(len(ways)))
    return (f"func.func @q(%x: {read}{factor}) -> ({types}) {{\n{transpose}{text}"
            f"  return {values} : {types}\n}}\n")


def rows(columns, ways, finds):
    for name, (element, spec, bits, block, words) in FORMATS.items():
        # No kernel does that both ways.
        turns = len(ways) == 2 and ("for_sparse" in words or spec.endswith("_t0"))
        if turns or (finds and not spec.startswith("multi")):
            continue
        for source, size in INPUTS.items():
            read = {"x": (ROWS * columns, source)}
            if words == GIVEN or (spec.startswith("multi") and not finds):
                read["tensor_scale"] = (1, "f32")
            reads = 2 if finds or (spec == "float32" and words != GIVEN) else 1
            yield ((name, source), reads * size + len(ways) * (bits / 8 + 1 / block),
                   module(columns, source, element, spec, words, ways, finds),
                   lambda plan, read=read: read)


def main():
    parser = elementwise.parser(__doc__)
    which = parser.add_mutually_exclusive_group()
    which.add_argument("--transposed", action="store_true")
    which.add_argument("--both-ways", action="store_true")
    parser.add_argument("--find-tensor-scale", action="store_true")
    arguments = parser.parse_args()
    ways = (["transposed"] if arguments.transposed else
            ["rows", "transposed"] if arguments.both_ways else ["rows"])
    elementwise.table(arguments, ("result", "input"),
                      rows(arguments.columns, ways, arguments.find_tensor_scale))


if __name__ == "__main__":
    main()
