# Part of the blockscale project, under the Apache License v2.0 with LLVM
# Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

"""Modules that print what codes mean and which code a number gets, as bits.

  codecs.py arith TYPE...    by upstream's arith.extf and arith.truncf
  codecs.py ours TYPE...     by blockscale.dequantize and blockscale.quantize

All codes of each type, then numbers within its range, beyond which upstream
does not saturate: ties, their neighbours, and what lies anywhere.
"""

import random
import struct
import sys

import ml_dtypes
import numpy as np

TYPES = {
    "f4E2M1FN": (4, ml_dtypes.float4_e2m1fn),
    "f6E2M3FN": (6, ml_dtypes.float6_e2m3fn),
    "f6E3M2FN": (6, ml_dtypes.float6_e3m2fn),
    "f8E3M4": (8, ml_dtypes.float8_e3m4),
    "f8E4M3": (8, ml_dtypes.float8_e4m3),
    "f8E4M3FN": (8, ml_dtypes.float8_e4m3fn),
    "f8E4M3FNUZ": (8, ml_dtypes.float8_e4m3fnuz),
    "f8E4M3B11FNUZ": (8, ml_dtypes.float8_e4m3b11fnuz),
    "f8E5M2": (8, ml_dtypes.float8_e5m2),
    "f8E5M2FNUZ": (8, ml_dtypes.float8_e5m2fnuz),
    "bf16": (16, ml_dtypes.bfloat16),
    "f16": (16, np.float16),
}


def code_of(value):
    return struct.unpack("<I", struct.pack("<f", value))[0]


def codes(kind):
    """All of them, without NaN, of whose bits each side has its own."""
    width, dtype = TYPES[kind]
    words = np.arange(1 << width, dtype=np.uint16 if width > 8 else np.uint8)
    if width > 8:
        words = words[::251]
    values = words.view(dtype).astype(np.float32)
    return [int(word) for word in words[~np.isnan(values)]]


def floats(kind):
    width, dtype = TYPES[kind]
    words = np.arange(1 << (width - 1), dtype=np.uint16 if width > 8 else np.uint8)
    values = words.view(dtype).astype(np.float32)
    values = values[np.isfinite(values)]
    generator = random.Random(kind)
    result = [0.0, -0.0]
    pairs = list(zip(values, values[1:]))
    for low, high in generator.sample(pairs, min(len(pairs), 120)):
        middle = np.float32((float(low) + float(high)) / 2)
        for value in (low, middle, np.nextafter(middle, low),
                      np.nextafter(middle, high),
                      np.float32(generator.uniform(low, high))):
            result.append(float(value) * generator.choice((1, -1)))
    return result


def dense(words, width):
    size = {4: 1, 6: 1, 8: 1, 16: 2, 32: 4}[width]
    return "0x" + b"".join(w.to_bytes(size, "little") for w in words).hex().upper()


def mapped(name, source, target, count, body):
    """An op on each element of %name, as %name1."""
    return f"""  %e{name} = bufferization.alloc_tensor() : tensor<1x{count}x{target}>
  %{name}1 = linalg.map ins(%{name} : tensor<1x{count}x{source}>) outs(%e{name} : tensor<1x{count}x{target}>) (%in: {source}, %out: {target}) {{
    {body}
    linalg.yield %r : {target}
  }}
"""


def printed(name, count):
    return f"""  %any = tensor.cast %{name} : tensor<1x{count}xi32> to tensor<*xi32>
  call @printMemrefI32(%any) : (tensor<*xi32>) -> ()
  return
}}
"""


def decoding(kind, ours):
    width, _ = TYPES[kind]
    words = codes(kind)
    count = len(words)
    text = f"""func.func @decode_{kind}() {{
  %c = arith.constant dense<"{dense(words, width)}"> : tensor<1x{count}xi{width}>
"""
    text += mapped("c", f"i{width}", kind, count,
                   f"%r = arith.bitcast %in : i{width} to {kind}")
    if ours:
        type_ = f"!blockscale.tensor<1x{count}x{kind}>"
        text += f"""  %q = blockscale.assemble %c1 : tensor<1x{count}x{kind}> to {type_}
  %v = blockscale.dequantize %q : {type_} to tensor<1x{count}xf32>
"""
    else:
        text += mapped("c1", kind, "f32", count,
                       f"%r = arith.extf %in : {kind} to f32")
    return text + mapped("v" if ours else "c11", "f32", "i32", count,
                         "%r = arith.bitcast %in : f32 to i32") + printed(
        "v1" if ours else "c111", count)


def encoding(kind, ours):
    width, _ = TYPES[kind]
    words = [code_of(value) for value in floats(kind)]
    count = len(words)
    text = f"""func.func @encode_{kind}() {{
  %x = arith.constant dense<"{dense(words, 32)}"> : tensor<1x{count}xf32>
"""
    if ours:
        type_ = f"!blockscale.tensor<1x{count}x{kind}>"
        text += f"""  %q = blockscale.quantize %x : tensor<1x{count}xf32> to {type_}
  %x1 = blockscale.disassemble %q : {type_}
"""
    else:
        text += mapped("x", "f32", kind, count,
                       f"%r = arith.truncf %in : f32 to {kind}")
    return text + mapped("x1", kind, "i32", count,
                         f"%w = arith.bitcast %in : {kind} to i{width}\n"
                         f"    %r = arith.extui %w : i{width} to i32") + printed(
        "x11", count)


def main(mode, kinds):
    ours = mode == "ours"
    print("func.func private @printMemrefI32(tensor<*xi32>)")
    for kind in kinds:
        print(decoding(kind, ours) + encoding(kind, ours))
    print("func.func @main() {")
    for kind in kinds:
        print(f"  call @decode_{kind}() : () -> ()")
        print(f"  call @encode_{kind}() : () -> ()")
    print("  return\n}")


main(sys.argv[1], sys.argv[2:] or list(TYPES))
