"""Writes one function for each way in which the sizes and parts of a product can
fall, in one file for nki_check.py.

Part of the blockscale project, under the Apache License v2.0 with LLVM Exceptions.
SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""

E4, E5, F4 = "f8E4M3FN", "f8E5M2", "f4E2M1FN"


def product(name, m, n, k, a, b, out="f32", batch="", a_spec="e8m0_t32", b_spec="e8m0_t32",
            epilogue="", operands=(), config="", body="", quantised=(), target="trn3"):
    """`operands` are pairs of an argument and its type; `quantised` are pairs of "a" or "b"
    and the 16-bit type from which the kernel quantises it."""
    kinds = [f'!blockscale.tensor<{batch}{m}x{k}x{a}, "{a_spec}">',
             f'!blockscale.tensor<{batch}{n}x{k}x{b}, "{b_spec}">']
    arguments = [f"%a: {kinds[0]}", f"%b: {kinds[1]}"]
    for operand, source in quantised:
        i = "ab".index(operand)
        rows = (m, n)[i]
        arguments[i] = f"%{operand}_values: tensor<{batch}{rows}x{k}x{source}>"
        body += (f"  %{operand} = blockscale.quantize %{operand}_values rule(floor_plus_one) : "
                 f"tensor<{batch}{rows}x{k}x{source}> to {kinds[i]}\n")
    arguments += [f"{value}: {kind}" for value, kind in operands]
    kinds += [kind for _, kind in operands if kind != "f32"]
    attribute = (f' {{blockscale_nki.config = #blockscale_nki.config<target = "{target}", '
                 f"{config}>}}" if config else "")
    result = f"tensor<{batch}{m}x{n}x{out}>"
    print(f"func.func @{name}({', '.join(arguments)}) -> {result} {{\n{body}"
          f"  %y = blockscale.matmul %a, %b{epilogue}{attribute} : {', '.join(kinds)}"
          f" -> {result}\n  return %y : {result}\n}}")


def main():
    types = (E4, E5, F4)
    for i in range(9):
        product(f"types{i}", 34, 70, 160, types[i // 3], types[i % 3])
    for k in (32, 64, 128, 160, 256, 288, 512, 544, 640, 768, 800, 1024, 1056, 1632):
        product(f"k{k}", 18, 40, k, E4, F4)
    for m in (1, 2, 3, 127, 128, 129, 130, 255, 511, 512, 513, 640):
        product(f"m{m}", m, 24, 64, E4, E4)
    for n in (1, 2, 3, 5, 127, 511, 512, 513, 1025):
        product(f"n{n}", 6, n, 544, E4, E4)
    # Instructions side by side on 32 and 64 rows.
    for n in (1, 2, 3, 5, 130, 513, 1030, 2050):
        product(f"rows32n{n}", 6, n, 96, E4, E4)
        product(f"rows64n{n}", 6, n, 224, E4, E4)
    product("batch3", 5, 7, 96, E4, E5, batch="3x")
    full = [("%c", "tensor<2x130x70xbf16>"), ("%v", "tensor<70xf32>"), ("%s", "f32"),
            ("%t", "f32")]
    steps = " alpha(%s) beta(%t) c(%c) bias(%v) activation(relu)"
    product("batch2", 130, 70, 576, E4, E5, "bf16", "2x", epilogue=steps, operands=full)
    product("row_bias", 131, 40, 96, E4, F4, "f16", epilogue=" bias(%v) row activation(silu)",
            operands=[("%v", "tensor<131xbf16>")])
    product("constant_alpha", 20, 40, 96, E4, F4, "bf16", epilogue=" alpha(%s) activation(gelu)",
            body="  %s = arith.constant 0.5 : f32\n")
    product("only_c", 20, 40, 96, E4, F4, "bf16", epilogue=" c(%c)",
            operands=[("%c", "tensor<20x40xf32>")])
    product("long_tiles", 20, 40, 640, E4, F4, a_spec="e8m0_t64", b_spec="e8m0_t128")
    product("square_tiles", 64, 96, 640, E4, F4, a_spec="e8m0_t32_t32", b_spec="e8m0_t0_t32")
    product("tensor_scales", 20, 40, 96, E4, F4, "bf16", a_spec="multi_float32_e8m0_t32",
            b_spec="multi_float32_e8m0_t32")
    # The kernel quantises both operands, or the moving one.
    for which, kinds in (("both", ("a", "b")), ("moving", ("b",))):
        for m, n, k in ((70, 41, 288), (1, 1, 32), (131, 515, 1120), (3, 130, 96)):
            product(f"quantised_{which}_{m}", m, n, k, E4, E5, "bf16",
                    quantised=[(q, "bf16" if q == "a" else "f16") for q in kinds])
    product("quantised_batch", 5, 7, 96, E5, E4, batch="3x",
            quantised=[("a", "f16"), ("b", "bf16")])
    product("quantised_steps", 130, 70, 576, E4, E4, "bf16", "2x", epilogue=steps,
            operands=full, quantised=[("a", "bf16"), ("b", "bf16")])
    product("smallest", 1, 1, 32, F4, F4)
    product("smallest_steps", 1, 1, 32, E4, F4, "bf16", epilogue=" alpha(%s) c(%c) bias(%v)",
            operands=[("%c", "tensor<1x1xf16>"), ("%v", "tensor<1xbf16>"), ("%s", "f32")])


if __name__ == "__main__":
    main()
