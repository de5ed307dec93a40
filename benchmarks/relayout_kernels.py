#!/usr/bin/env python3
"""Predicted times of kernels that change layouts and orders over those of their bytes.

usage: relayout_kernels.py BLOCKSCALE [--rows=4096] [--columns=4096]

By the formula of elementwise.py, of bits that alternate. Nothing is measured.

Part of the blockscale project, under the Apache License v2.0 with LLVM
Exceptions.
SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""

import elementwise
from elementwise import ROWS

K, MN = "k_major", "mn_major"
PLAIN, TILED, LONG = "plain", "tiled_128x4", "tiled_128x16"
# Element, spec, layout and order before and behind, bytes that are read and written for
# an element: of data, of metadata, of scales.
MOVED = {
    "elements of a byte, along K": ("ui8", "", (PLAIN, MN), (PLAIN, K), (2, 0, 0)),
    "elements of a byte, along M": ("ui8", "", (PLAIN, K), (PLAIN, MN), (2, 0, 0)),
    "MXFP8, along M, scales in tiles": (
        "f8E4M3FN", "e8m0_t32", (PLAIN, K), (TILED, MN), (2, 0, 2 / 32)),
    "metadata 2:4 in tiles": ("bf16", "n2m4", (PLAIN, K), (TILED, K), (0, 2 / 8, 0)),
    "metadata 2:4 in rows": ("bf16", "n2m4", (TILED, K), (PLAIN, K), (0, 2 / 8, 0)),
    "metadata 1:2 in tiles": ("tf32", "n1m2", (PLAIN, K), (TILED, K), (0, 2 / 4, 0)),
    "MXFP8 2:4, all of it": (
        "f8E4M3FN", "e8m0_t32n2m4", (PLAIN, K), (TILED, MN), (1, 2 / 8, 2 / 64)),
    "scales of 32 elements in tiles": (
        "f8E4M3FN", "e8m0_t32", (PLAIN, K), (TILED, K), (0, 0, 2 / 32)),
    "scales of 32 elements in rows": (
        "f8E4M3FN", "e8m0_t32", (TILED, K), (PLAIN, K), (0, 0, 2 / 32)),
    "scales of 32 elements in longer tiles": (
        "f8E4M3FN", "e8m0_t32", (PLAIN, K), (LONG, K), (0, 0, 2 / 32))}


def tensor(columns, element, spec, layout, order):
    tail = f', "{spec}"' if spec else ""
    return (f"!blockscale.tensor<?x{columns}x{element}{tail}, layout = {layout}, "
            f"order = {order}>")


def rows(columns):
    for name, (element, spec, before, behind, sizes) in MOVED.items():
        a, d = (tensor(columns, element, spec, *one) for one in (before, behind))
        count = ROWS * columns

        def memory(plan, sizes=sizes, count=count):
            return {role: (int(count * size / 2) // 2, "f16")
                    for role, size in zip(("a_data", "a_metadata", "a_scales"), sizes)
                    if size}

        text = (f"func.func @k(%a: {a}) -> {d} {{\n  %0 = blockscale.relayout %a : {a} to "
                f"{d}\n  return %0 : {d}\n}}\n")
        yield (name,), sum(sizes), text, memory


def main():
    arguments = elementwise.parser(__doc__).parse_args()
    elementwise.table(arguments, ("what moves",), rows(arguments.columns))


if __name__ == "__main__":
    main()
