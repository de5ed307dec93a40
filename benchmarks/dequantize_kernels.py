#!/usr/bin/env python3
"""Predicted times of kernels that dequantise over those of their bytes.

usage: dequantize_kernels.py BLOCKSCALE [--rows=4096] [--columns=4096]

By the formula of elementwise.py, of codes and scales of bits that alternate. Nothing is
measured.

Part of the blockscale project, under the Apache License v2.0 with LLVM
Exceptions.
SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""

import elementwise
from elementwise import INPUTS, ROWS
from quantize_kernels import FORMATS, is_plain

NAMES = ("MXFP8", "MXFP8 e5m2", "MXFP6 e2m3", "MXFP6 e3m2", "MXFP4", "NVFP4",
         "MXFP8, 1 x 128", "e4m3, f32 for 1 x 128", "e4m3, f32 for a row",
         "e4m3, f32 for a matrix", "int8, f32 for a row", "int8, f32 for a matrix")
# Those with zero points, which are not quantised: of a byte for each scale of two.
WITH_ZEROS = {"uint4, f16 and int8 for 1 x 128": ("ui4", "float16_int8_t128", 4, 128 / 3, ""),
              "uint8, f16 and f16 for 1 x 128": ("ui8", "float16_float16_t128", 8, 32, "")}


def module(columns, result, element, spec):
    layout = "plain" if is_plain(spec) else "tiled_128x4"
    a = f'!blockscale.tensor<?x{columns}x{element}, "{spec}", layout = {layout}>'
    d = f"tensor<?x{columns}x{result}>"
    return (f"func.func @d(%a: {a}) -> {d} {{\n  %0 = blockscale.dequantize %a : {a} "
            f"to {d}\n  return %0 : {d}\n}}\n")


def rows(columns):
    known = {name: FORMATS[name] for name in NAMES} | WITH_ZEROS
    for name, (element, spec, bits, block, _) in known.items():

        def memory(plan, spec=spec, block=block):
            read = {"a_data": (ROWS * int(plan["data"][0]["linePitch"]) // 2, "f16")}
            if len(plan["operands"]) > 1:
                tiles, bytes_ = ROWS * columns // 128, 1 if "int8" in spec else 2
                return read | {"a_scales": (tiles, "f16"),
                               "a_zeros": (tiles * bytes_ // 2, "f16")}
            read["a_scales"] = (ROWS * -(-columns // block // 4) * 4 // 2, "f16")
            floats = {"float32_t128": ROWS * -(-columns // 128), "float32_t0": ROWS,
                      "float32": 1}
            if spec in floats:
                read["a_scales"] = (floats[spec], "f32")
            if spec.startswith("multi"):
                read["a_tensor_scale"] = (1, "f32")
            return read

        for result, size in INPUTS.items():
            yield ((name, result), size + bits / 8 + 1 / block,
                   module(columns, result, element, spec), memory)


def main():
    arguments = elementwise.parser(__doc__).parse_args()
    elementwise.table(arguments, ("operand", "result"), rows(arguments.columns))


if __name__ == "__main__":
    main()
