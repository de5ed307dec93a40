# Part of the blockscale project, under the Apache License v2.0 with LLVM
# Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

"""Functions that quantise, numbers for them, and whether their results are alike."""

import ml_dtypes
import numpy as np

TYPES = {"bf16": ml_dtypes.bfloat16, "f16": np.float16, "f32": np.float32}


# Specs whose scales lie in layout 'plain'.
PLAIN = ("float", "bfloat")


def source(name, shape, element, spec, words="", x="bf16", transposed=False,
           finds=False, gives=False):
    """A function that quantises; of two levels with a tensor scale given, or one that
    the kernel finds. gives: whether the one scale of a matrix is given."""
    sizes, result = "x".join(map(str, shape)), f"!{name}"
    given = ""
    is_plain = spec.startswith(PLAIN) or spec in ("e8m0", "e8m0_t0")
    layout = "" if is_plain else ", layout = tiled_128x4"
    if spec.startswith("multi") and not finds or gives:
        batch = f"{shape[0]}x" if len(shape) == 3 else ""
        given = f", %t: tensor<{batch}f32>"
        words = f"tensor_scale(%t : tensor<{batch}f32>) {words}"
    read, value, transpose = f"tensor<{sizes}x{x}>", "%x", ""
    if transposed:
        *batch, m, k = range(len(shape))
        value, order = "%y", [*batch, k, m]
        read = f"tensor<{'x'.join(str(shape[i]) for i in order)}x{x}>"
        numbers = "".join(f"  %c{i} = arith.constant {i} : index\n"
                          f"  %d{i} = tensor.dim %x, %c{i} : {read}\n"
                          for i in order)
        dynamic = ", ".join(f"%d{i}" for i, one in zip(order, shape) if one == "?")
        transpose = f"""{numbers}
  %e = tensor.empty({dynamic}) : tensor<{sizes}x{x}>
  %y = linalg.transpose ins(%x : {read}) outs(%e : tensor<{sizes}x{x}>) permutation = {order}
"""
    return f"""{result} = !blockscale.tensor<{sizes}x{element}, "{spec}"{layout}>
func.func @{name}(%x: {read}{given}) -> {result} {{
{transpose}  %0 = blockscale.quantize {value} {words} : tensor<{sizes}x{x}> to {result}
  return %0 : {result}
}}
"""


def values(rng, shape, x="bf16"):
    """Rows and blocks of magnitudes of their own, numbers of the kernel's type."""
    exponents = rng.integers(-9, 9, (*shape[:-1], shape[-1] // 16))
    numbers = rng.standard_normal(shape) * np.exp2(exponents).repeat(16, -1)
    return numbers.astype(TYPES[x])


def same(found, expected):
    """Whether two Scaled have the same bits, scales in the tiles of the kernel."""
    expected = expected.to(found.layout)
    assert found.format == expected.format and found.shape == expected.shape
    assert (found.data.view(np.uint8) == expected.data.view(np.uint8)).all()
    assert (found.scales.view(np.uint8) == expected.scales.view(np.uint8)).all()
    if expected.tensor_scale is None:
        return found.tensor_scale is None
    return (found.tensor_scale == expected.tensor_scale).all()
