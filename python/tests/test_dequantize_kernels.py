# Part of the blockscale project, under the Apache License v2.0 with LLVM
# Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

"""Kernels that dequantise, on the emulator and through the CUDA driver, against the
package's numpy."""

import ml_dtypes
import numpy as np
import pytest

import blockscale as bs

TYPES = {"bf16": ml_dtypes.bfloat16, "f16": np.float16, "f32": np.float32}


def source(shape, element, spec, result, layout="tiled_128x4"):
    sizes = "x".join(map(str, shape))
    return f"""!a = !blockscale.tensor<{sizes}x{element}, "{spec}", layout = {layout}>
func.func @d(%a: !a) -> tensor<{sizes}x{result}> {{
  %0 = blockscale.dequantize %a : !a to tensor<{sizes}x{result}>
  return %0 : tensor<{sizes}x{result}>
}}
"""


def operand(kernel, shape, seed=5):
    """Blocks of magnitudes of their own."""
    rng = np.random.default_rng(seed)
    exponents = rng.integers(-9, 9, (*shape[:-1], shape[-1] // 16))
    x = rng.standard_normal(shape) * np.exp2(exponents).repeat(16, -1)
    argument = kernel.arg("a")
    factors = None
    if argument.format.tensor_scale:
        factors = (0.01 + rng.random(shape[0])).astype(np.float32)
    return bs.quantize(x, argument.format, tensor_scale=factors).to(argument.layout)


CASES = [("f8E4M3FN", "e8m0_t32", "bf16", "tiled_128x4"),
         ("f8E5M2", "e8m0_t32", "f32", "plain"),
         ("f6E2M3FN", "e8m0_t32", "f16", "tiled_128x4"),
         ("f6E3M2FN", "e8m0_t32", "f32", "tiled_128x4"),
         ("f4E2M1FN", "e8m0_t16", "bf16", "plain"),
         ("f4E2M1FN", "multi_float32_e4m3fn_t16", "bf16", "tiled_128x4"),
         ("f8E4M3FN", "e8m0_t32_t32", "bf16", "tiled_128x4"),
         ("f8E4M3FN", "e8m0_t128_t128", "f32", "tiled_128x4"),
         ("f6E2M3FN", "e8m0_t64", "bf16", "tiled_128x4"),
         ("f8E4M3FN", "float32_t32_t64", "bf16", "plain"),
         ("f8E5M2", "float32_t0", "f32", "plain"),
         ("f8E4M3FN", "float32", "f16", "plain"),
         ("i8", "float32_t0", "bf16", "plain"),
         ("i8", "float32", "f32", "plain"),
         ("f8E4M3FN", "float16_t0", "f16", "plain"),
         ("f8E5M2", "e8m0", "bf16", "plain"),
         ("ui4", "float16_int8_t32", "bf16", "plain"),
         ("ui8", "float32_int16_t0", "f32", "plain"),
         ("ui4", "bfloat16_float32_t4_t16", "f16", "plain"),
         ("ui8", "float32_bfloat16", "f32", "plain")]


@pytest.mark.parametrize("element, spec, result, layout", CASES)
def test_bits_of_numpy(device, element, spec, result, layout):
    """Dynamic sizes and batches; twice, with other numbers."""
    kernel = bs.compile(source("???", element, spec, result, layout))
    for shape in ((2, 37, 96), (3, 130, 160)):
        a = operand(kernel, shape)
        expected = a.dequantize().astype(TYPES[result])
        for found in (kernel.dequantize(a), kernel.emulate_dequantize(a)):
            assert found.dtype == expected.dtype and found.shape == shape
            assert (found.view(np.uint8) == expected.view(np.uint8)).all()
        assert np.count_nonzero(expected) > expected.size // 16


@pytest.mark.parametrize("element, spec, layout", [
    ("f8E4M3FN", "e8m0_t32", "tiled_128x4"), ("f8E4M3FN", "e8m0_t128", "tiled_128x4"),
    ("f8E4M3FN", "float32", "plain"), ("i8", "float32_t0", "plain")])
def test_memory_of_the_device(device, element, spec, layout):
    """What a kernel quantised is dequantised where it lies."""
    kernel = bs.compile(f"""!q = !blockscale.tensor<?x128x{element}, "{spec}", layout = {layout}>
func.func @q(%x: tensor<?x128xbf16>) -> !q {{
  %0 = blockscale.quantize %x : tensor<?x128xbf16> to !q
  return %0 : !q
}}
""" + source(("?", 128), element, spec, "bf16", layout))
    x = np.random.default_rng(3).standard_normal((37, 128)).astype(ml_dtypes.bfloat16)
    there = kernel.quantize(bs.to_device(x))
    expected = bs.quantize(x, kernel.arg("a").format).dequantize()
    expected = expected.astype(ml_dtypes.bfloat16)
    found = kernel.dequantize(there)
    assert isinstance(found, bs.DeviceArray) and (found.numpy() == expected).all()
    prepared = kernel.prepare_dequantize(M=37)
    out = prepared.empty_out()
    assert prepared(there, out=out) is out and (out.numpy() == expected).all()
    host = np.zeros((37, 128), ml_dtypes.bfloat16)
    assert kernel.dequantize(there, out=host) is host and (host == expected).all()


def test_zero_points_of_the_device(device):
    """They lie beside the elements, of which a product has only differences."""
    kernel = bs.compile(source(("?", 128), "ui4", "float32_int8_t32", "bf16", "plain"))
    a = operand(kernel, (37, 128))
    prepared = kernel.prepare_dequantize(M=37)
    there = prepared.upload(a)
    assert set(there.parts()) == {"_data", "_scales", "_zeros"}
    expected = a.dequantize().astype(ml_dtypes.bfloat16)
    assert (kernel.dequantize(there).numpy() == expected).all()
    product = bs.compile(bs.matmul(M="M", N=16, K=128, a=a.format, b="bf16"))
    less = product.upload("a", a)
    w = product.upload("b", bs.Scaled(np.ones((16, 128), ml_dtypes.bfloat16),
                                      format="bf16"))
    for call, words in ((lambda: kernel.dequantize(less), "has no zero points beside"),
                        (lambda: product.launch(there, w), "has zero points beside")):
        with pytest.raises(bs.Refused, match=words):
            call()


def test_what_does_not_fit(device):
    kernel = bs.compile(source(("?", 96), "f8E4M3FN", "e8m0_t32", "bf16"))
    a = operand(kernel, (5, 96))
    other = bs.quantize(np.ones((5, 96)), "mxfp4")
    for call, words in (
            (lambda: kernel.dequantize(other), "the kernel reads"),
            (lambda: kernel.dequantize(a.to("plain")), "in layout 'plain'"),
            (lambda: kernel.dequantize(np.ones((5, 96))), "expected a"),
            (lambda: kernel.emulate_dequantize(bs.quantize(
                np.ones((5, 64)), like=kernel.arg("a"))), "the kernel is for 96"),
            (lambda: kernel.emulate(a, a), "'dequantize' runs it"),
            (lambda: kernel.quantize(np.ones((5, 96))), "'dequantize' runs it")):
        with pytest.raises(bs.Refused, match=words):
            call()
