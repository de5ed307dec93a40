# Part of the blockscale project, under the Apache License v2.0 with LLVM
# Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

"""A module that prints, as bits, all parts of constants that it quantizes.

Each row of scales sees magnitudes of its own, and every tensor has a zero
block, NaN, infinities, -0, subnormals, ties and the ends of f32.
"""

import random
import struct

# (element, spec or "", what follows it in the type, words of quantize, input)
CASES = [(element, "e8m0_t32", "", f"rule({rule})", kind)
         for element in ("f8E4M3FN", "f8E5M2", "f6E2M3FN", "f6E3M2FN",
                         "f4E2M1FN", "f8E3M4", "f8E4M3", "f8E4M3FNUZ",
                         "f8E5M2FNUZ", "f8E4M3B11FNUZ")
         for rule, kind in (("floor", "f32"), ("round_up", "bf16"),
                            ("mid_max", "f16"))]
CASES += [
    ("i8", "e8m0_t32", "", "rule(floor_plus_one)", "f32"),
    ("i4", "e8m0_t32", "", "", "f32"),
    ("i4", "bfloat16_t32", "", "rounding(away)", "bf16"),
    ("i8", "float32_t0", "", "rounding(stochastic, seed = 5)", "f32"),
    ("f4E2M1FN", "e4m3fn_t16", ", layout = tiled_128x4", "", "f32"),
    ("f4E2M1FN", "e8m0_t16", ", layout = tiled_128x4", "", "f32"),
    ("f4E2M1FN", "multi_float32_e4m3fn_t16", "", "", "f32"),
    ("f4E2M1FN", "multi_float32_e4m3fn_t16", ", layout = tiled_128x4",
     "tensor_scale", "bf16"),
    ("f4E2M1FN", "multi_float32_e4m3fn_t16_t16", "", "", "f16"),
    ("f4E2M1FN", "multi_bfloat16_e4m3fn_t16", "", "", "f32"),
    ("f8E4M3FN", "multi_float32_e8m0_t32", "", "tensor_scale", "f32"),
    ("f8E4M3FN", "float32_t128", "", "", "bf16"),
    ("f8E4M3FN", "float16_t32_t32", "", "rounding(zero)", "f32"),
    ("f8E5M2", "float32_t0", "", "", "f32"),
    ("f8E4M3FN", "float32", "", "", "f16"),
    ("f8E4M3FN", "float32", "", "tensor_scale", "f32"),
    ("i8", "bfloat16", "", "tensor_scale", "f32"),
    ("f6E2M3FN", "e8m0", "", "tensor_scale", "bf16"),
    ("f8E4M3FN", "bfloat16_t64", ", order = mn_major", "", "f32"),
    ("f8E5M2", "e8m0_t32", ", layout = tiled_128x4, order = mn_major", "",
     "f32"),
    ("f8E4M3FN", "e8m0_t32n2m4", "", "", "f32"),
    ("f4E2M1FN", "e8m0_t32n4m8", "", "", "f32"),
    ("ui4", "float16_int8_t16", "", "", "f32"),
    ("ui4", "bfloat16_float32_t0", "", "rounding(away)", "bf16"),
    ("ui8", "float32_int16_t32", ", order = mn_major", "", "f32"),
    ("ui8", "float32_bfloat16_t16_t16", "", "rounding(stochastic, seed = 3)",
     "f16"),
    ("bf16", "", "", "", "f32"),
    ("f16", "", "", "", "f32"),
    ("tf32", "", "", "", "f32"),
    ("i8", "", "", "", "f32"),
    ("ui8", "", "", "rounding(away)", "f32"),
    ("f8E4M3FN", "", "", "rounding(stochastic, seed = 9)", "bf16"),
]
CASES += [(element, spec, "", "rounding(stochastic_rs, seed = -11)", kind)
          for element, spec, kind in (
              ("f8E4M3FN", "e8m0_t32", "f32"), ("f8E5M2", "", "f16"),
              ("f6E2M3FN", "float32_t0", "bf16"), ("f6E3M2FN", "e8m0_t32", "f32"),
              ("f4E2M1FN", "multi_float32_e4m3fn_t16", "bf16"))]
# Zero points of more bits than a sum of steps has, with numbers beyond the scale.
CASES.append(("ui8", "float16_int32_t16", "", "", "f32"))
SHAPES = [(1, 33, 256), (3, 16, 128)]
STORED = {"tf32": "f32", "ui8": "i8", "ui4": "i4"}
SPECIALS = [0.0, -0.0, 1e-45, -1e-40, 2.0 ** -127, 3.4028234663852886e38,
            -3.4e38, 5.0, -2.5, 0.75]


def values(batch, rows, k, wild):
    """Of one tensor; `wild` gives some rows NaN and infinities."""
    generator = random.Random(rows)
    result = []
    for row in range(batch * rows):
        for column in range(k):
            exponent = generator.uniform(-9, 3) + row % 7 - 3
            value = generator.choice((1, -1)) * 2.0 ** exponent
            if row % 5 == 1 and column < len(SPECIALS):
                value = SPECIALS[column]
            if row % 5 == 2:
                value = round(value * 4) / 8
            if row % 5 == 3 and 32 <= column < 64:
                value = 0.0
            if wild and row % 11 == 4 and column % 32 == 7:
                value = float(("nan", "inf", "-inf")[column // 32 % 3])
            result.append(value)
    return result


def encoded(values, kind):
    """As hexadecimal text of an attribute."""
    def code(value):
        if kind == "f16":
            bounded = max(-65504.0, min(65504.0, value)) if abs(
                value) != float("inf") else value
            return struct.pack("<e", bounded)
        raw = struct.pack("<f", value)
        return raw[2:] if kind == "bf16" else raw
    return "0x" + b"".join(map(code, values)).hex().upper()


def print_bits(name, shape, element, lines):
    """Prints a tensor of that element type as i32."""
    width = int("".join(c for c in element[1:3] if c.isdigit()) or 32)
    if element in ("bf16", "f16"):
        width = 16
    kind = f"tensor<{shape}x{element}>"
    wide = f"tensor<{shape}xi32>"
    body = []
    source = "%code"
    if not element.startswith("i"):
        body.append(f"%raw = arith.bitcast %code : {element} to i{width}")
        source = "%raw"
    if width < 32:
        body.append(f"%wide = arith.extui {source} : i{width} to i32")
        source = "%wide"
    lines.append(f"""  %e{name} = bufferization.alloc_tensor() : {wide}
  %b{name} = linalg.map ins(%{name} : {kind}) outs(%e{name} : {wide}) (%code: {element}, %o: i32) {{
    {chr(10).join(body)}
    linalg.yield {source} : i32
  }}
  %a{name} = tensor.cast %b{name} : {wide} to tensor<*xi32>
  call @printMemrefI32(%a{name}) : (tensor<*xi32>) -> ()""")


def parts_of(element, spec, extra, batch, rows, k):
    """Names, shapes and element types of what disassemble yields."""
    lead = [batch] if batch > 1 else []
    stored = STORED.get(element, element)
    sparse = "n2m4" in spec or "n4m8" in spec
    kept = k // 2 if sparse else k
    data = lead + ([kept, rows] if "mn_major" in extra else [rows, kept])
    parts = [("d", data, stored)]
    words = spec.split("n2m4")[0].split("n4m8")[0].split("_") if spec else []
    two = words[:1] == ["multi"]
    if words:
        number = words[2] if two else words[0]
        tiles = [int(word[1:]) for word in words if word[0] == "t"]
        if not tiles:
            tiles = [0, 0]
        elif len(tiles) == 1:
            tiles = [1, tiles[0]]
        counts = [-(-size // tile) if tile else 1
                  for size, tile in zip((rows, kept), tiles)]
        if "tiled" in extra:
            counts = [-(-counts[0] // 128), -(-counts[1] // 4), 32, 16]
        kinds = {"int8": "i8", "int16": "i16", "int32": "i32",
                 "e8m0": "f8E8M0FNU", "e4m3fn": "f8E4M3FN", "float32": "f32",
                 "float16": "f16", "bfloat16": "bf16"}
        parts.append(("s", lead + counts, kinds[number]))
        if len(words) > 1 and not two and words[1][0] != "t":
            parts.append(("z", lead + counts, kinds[words[1]]))
        if two:
            parts.append(("t", lead, kinds[words[1]]))
    if sparse:
        parts.append(("m", lead + [rows, k // (8 if "n2m4" in spec else 16)],
                      "i8"))
    return parts


def case(number, element, spec, extra, words, kind, batch, rows, k):
    shape = "x".join(map(str, ([batch] if batch > 1 else []) + [rows, k]))
    # Sparse specs choose by magnitude, which NaN have none of. Under a scale that is
    # given a NaN is one of the elements, whose value has other bits of a NaN.
    is_given = words == "tensor_scale" and "multi" not in spec
    wild = number % 2 == 0 and "n2m4" not in spec and "n4m8" not in spec and not is_given
    suffix = f', "{spec}"{extra}' if spec else ""
    scaled = f"!blockscale.tensor<{shape}x{element}{suffix}>"
    plain = f"tensor<{shape}x{kind}>"
    lines = [f"func.func @case{number}() {{",
             f'  %x = arith.constant dense<"{encoded(values(batch, rows, k, wild), kind)}"> : {plain}']
    if words == "tensor_scale":
        factor = f"tensor<{batch}xf32>" if batch > 1 else "tensor<f32>"
        numbers = [0.037 * (i + 1) * (-1) ** i for i in range(batch)]
        lines.append(f"  %f = arith.constant dense<{numbers if batch > 1 else numbers[0]}> : {factor}")
        words = f"tensor_scale(%f : {factor})"
    lines.append(f"  %q = blockscale.quantize %x {words} : {plain} to {scaled}")
    parts = parts_of(element, spec, extra, batch, rows, k)
    lines.append("  " + ", ".join(f"%{name}" for name, _, _ in parts) +
                 f" = blockscale.disassemble %q : {scaled}")
    for name, sizes, stored in parts:
        print_bits(name, "x".join(map(str, sizes)) or "1", stored, lines) \
            if sizes else scalar(name, stored, lines)
    if "n2m4" not in spec and "n4m8" not in spec:
        result = f"tensor<{shape}x{('f32', 'bf16', 'f16')[number % 3]}>"
        lines.append(f"  %v = blockscale.dequantize %q : {scaled} to {result}")
        print_bits("v", shape, result[:-1].rsplit("x", 1)[1], lines)
    return "\n".join(lines + ["  return", "}"])


def scalar(name, stored, lines):
    lines.append(f"  %{name}1 = tensor.expand_shape %{name} [] output_shape [1] : "
                 f"tensor<{stored}> into tensor<1x{stored}>")
    print_bits(f"{name}1", "1", stored, lines)


print("func.func private @printMemrefI32(tensor<*xi32>)")
everything = [(*one, *shape) for one in CASES for shape in SHAPES]
for i, one in enumerate(everything):
    print(case(i, *one))
print("func.func @main() {")
for i in range(len(everything)):
    print(f"  call @case{i}() : () -> ()")
print("  return\n}")
