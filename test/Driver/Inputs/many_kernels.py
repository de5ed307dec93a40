"""Prints a module with many different products.

    many_kernels.py COUNT [--mixed]

Sizes, and with --mixed also element types, epilogues, chips and layouts, differ
from one to the next.

Part of the blockscale project, under the Apache License v2.0 with LLVM
Exceptions.
SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""

import sys

FORMATS = [
    ("f4E2M1FN", "multi_float32_e4m3fn_t16"),
    ("f8E4M3FN", "e8m0_t32"),
    ("f4E2M1FN", "e8m0_t32"),
    ("f8E5M2", "e8m0_t32"),
    ("f6E2M3FN", "e8m0_t32"),
]
RESULTS = ["bf16", "f32", "f16"]
CHIPS = ["sm_100a", "sm_100a", "sm_103a"]


def product(index, mixed):
    element, spec = FORMATS[index % len(FORMATS)] if mixed else FORMATS[0]
    result = RESULTS[index % len(RESULTS)] if mixed else "bf16"
    columns, k = 128 * (1 + index), 512 * (1 + index % 3)
    target = ""
    if mixed:
        chip = CHIPS[index % len(CHIPS)]
        target = f" attributes {{blockscale.target = #blockscale.target<{chip}>}}"

    def operand(rows):
        return (f'!blockscale.tensor<{rows}x{k}x{element}, "{spec}", '
                "layout = tiled_128x4>")

    a, b, d = operand("?"), operand(columns), f"tensor<?x{columns}x{result}>"
    return f"""func.func @product{index}(%a: {a}, %b: {b}) -> {d}{target} {{
  %d = blockscale.matmul %a, %b : {a}, {b} -> {d}
  return %d : {d}
}}
"""


def main(arguments):
    mixed = "--mixed" in arguments
    for index in range(int(arguments[1])):
        print(product(index, mixed))


if __name__ == "__main__":
    main(sys.argv)
