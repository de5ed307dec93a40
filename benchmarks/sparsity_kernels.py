#!/usr/bin/env python3
"""Predicted times of kernels that prune, compress and densify over those of their bytes.

usage: sparsity_kernels.py BLOCKSCALE [--rows=4096] [--columns=4096]

By the formula of elementwise.py, of elements of bits that alternate. Nothing is measured.

Part of the blockscale project, under the Apache License v2.0 with LLVM
Exceptions.
SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""

import elementwise
from elementwise import INPUTS, ROWS

PRUNED = ("2 of 4", "4 of 8 pairs", "1 of 2")
# Element, bits, spec of the dense tensor and of the sparse one, elements that a byte of
# metadata describes.
STORED = {
    "FP8, 2:4": ("f8E4M3FN", 8, "e8m0_t64", "e8m0_t32n2m4", 8),
    "FP6, 2:4": ("f6E2M3FN", 6, "e8m0_t64", "e8m0_t32n2m4", 8),
    "FP4, 2:4": ("f4E2M1FN", 4, "e8m0_t64", "e8m0_t32n2m4", 8),
    "FP4, 4:8 in pairs": ("f4E2M1FN", 4, "e8m0_t64", "e8m0_t32n4m8", 16),
    "bf16, 2:4": ("bf16", 16, "", "n2m4", 8),
    "tf32, 1:2": ("tf32", 32, "", "n1m2", 4),
    "int8, 2:4": ("i8", 8, "", "n2m4", 8),
}


def tensor(columns, element, spec):
    tail = f', "{spec}", layout = tiled_128x4' if spec else ""
    return f"!blockscale.tensor<?x{columns}x{element}{tail}>"


def function(op, words, a, d):
    types = a if a == d else f"{a} to {d}"
    return (f"func.func @k(%a: {a}) -> {d} {{\n  %0 = blockscale.{op} %a {words}: "
            f"{types}\n  return %0 : {d}\n}}\n")


def rows(columns):
    for what in PRUNED:
        for kind, size in INPUTS.items():
            x = f"tensor<?x{columns}x{kind}>"
            yield (("prune", f"{kind}, {what}"), 2 * size,
                   function("prune", f"keep {what} ", x, x),
                   lambda plan, kind=kind: {"x": (ROWS * columns, kind)})
    for name, (element, bits, dense, sparse, per_byte) in STORED.items():
        a, d = tensor(columns, element, dense), tensor(columns, element, sparse)
        size = bits / 8 * 1.5 + 1 / per_byte
        metadata = ROWS * -(-columns // (16 * per_byte)) * 16 // 2

        def memory(plan, metadata=metadata):
            read = {"a_data": (ROWS * int(plan["data"][0]["linePitch"]) // 2, "f16")}
            if plan["conversion"]["op"] == "densify":
                read["a_metadata"] = (metadata, "f16")
            return read

        yield ("compress", name), size, function("compress", "", a, d), memory
        yield ("densify", name), size, function("densify", "", d, a), memory


def main():
    arguments = elementwise.parser(__doc__).parse_args()
    elementwise.table(arguments, ("kernel", "elements"), rows(arguments.columns))


if __name__ == "__main__":
    main()
