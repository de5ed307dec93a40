# Part of the blockscale project, under the Apache License v2.0 with LLVM
# Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

"""Products that quantise their results, and those whose operands kernels have quantised,
against the package's numpy."""

import ml_dtypes
import numpy as np
import pytest
from quantize_sources import same, source, values

import blockscale as bs


def test_products_that_quantise_their_result(device):
    """The result of one launch goes into the next one without a copy."""
    text = """
    !a = !blockscale.tensor<?x64xf4E2M1FN, "multi_float32_e4m3fn_t16", layout = tiled_128x4>
    !w = !blockscale.tensor<96x64xf4E2M1FN, "multi_float32_e4m3fn_t16", layout = tiled_128x4>
    !q = !blockscale.tensor<?x96xf4E2M1FN, "multi_float32_e4m3fn_t16", layout = tiled_128x4>
    !v = !blockscale.tensor<24x96xf4E2M1FN, "multi_float32_e4m3fn_t16", layout = tiled_128x4>
    func.func @up(%a: !a, %w: !w, %bias: tensor<96xf32>, %t: tensor<f32>) -> !q {
      %0 = blockscale.matmul %a, %w bias(%bias) activation(relu)
        : !a, !w, tensor<96xf32> -> tensor<?x96xbf16>
      %1 = blockscale.quantize %0 tensor_scale(%t : tensor<f32>)
        : tensor<?x96xbf16> to !q
      return %1 : !q
    }
    func.func @down(%a: !q, %w: !v) -> tensor<?x24xf32> {
      %0 = blockscale.matmul %a, %w : !q, !v -> tensor<?x24xf32>
      return %0 : tensor<?x24xf32>
    }"""
    kernel = bs.compile(text)
    rng = np.random.default_rng(24)
    a, w, v = (bs.quantize(values(rng, shape), like=kernel.arg(name, kernel=which))
               for shape, name, which in (((130, 64), "a", "up"),
                                          ((96, 64), "b", "up"),
                                          ((24, 96), "b", "down")))
    bias = rng.normal(size=96).astype(np.float32)
    scale = np.float32(0.0625)
    result = kernel.launch(a, w, bias=bias, tensor_scale=scale, kernel="up")
    assert isinstance(result, bs.Scaled) and result.shape == (130, 96)
    again = kernel.emulate(a, w, bias=bias, tensor_scale=scale, kernel="up")
    for one, other in ((result.data, again.data), (result.scales, again.scales),
                       (result.tensor_scale, again.tensor_scale)):
        assert (np.asarray(one).view(np.uint8) ==
                np.asarray(other).view(np.uint8)).all()
    # What quantising the sums on the host comes to, but for sums that another
    # order of additions rounds to the other side.
    sums = np.maximum(a.dequantize() @ w.dequantize().T + bias, 0)
    sums = sums.astype(ml_dtypes.bfloat16).astype(np.float32)
    expected = bs.quantize(sums, like=kernel.arg("d", kernel="up"),
                           tensor_scale=scale)
    same = expected.data.view(np.uint8) == result.data.view(np.uint8)
    assert same.mean() > 0.99
    assert (expected.scales.view(np.uint8) ==
            result.scales.view(np.uint8)).mean() > 0.99
    there = kernel.upload("a", a, kernel="up")
    # A and B of the device: the result stays there.
    first = kernel.launch(there, kernel.upload("b", w, kernel="up"), bias=bias,
                          tensor_scale=scale, kernel="up")
    assert isinstance(first, bs.DeviceScaled) and first.shape == (130, 96)
    second = kernel.launch(first, kernel.upload("b", v, kernel="down"),
                           kernel="down")
    assert (second.numpy() == kernel.emulate(result, v, kernel="down")).all()
    assert np.abs(second.numpy()).max() > 0
    prepared = kernel.prepare(M=130, kernel="up")
    out = prepared.empty_out()
    assert kernel.launch(there, w, bias=bias, tensor_scale=scale, out=out,
                         kernel="up") is out
    assert (out.data.numpy() == first.data.numpy()).all()
    for call, words in (
            (lambda: kernel.launch(a, w, bias=bias, kernel="up"),
             "needs 'tensor_scale'"),
            (lambda: kernel.emulate(a, w, bias=bias, kernel="up"),
             "needs 'tensor_scale'"),
            (lambda: kernel.launch(a, w, bias=bias, tensor_scale=[1, 2],
                                   kernel="up"), "2 tensor scales: expected 1"),
            (lambda: kernel.emulate(result, v, tensor_scale=1, kernel="down"),
             "takes no 'tensor_scale'"),
            (lambda: kernel.launch(a, w, bias=bias, tensor_scale=1, kernel="up",
                                   out=np.zeros((130, 96))), "DeviceScaled"),
            (lambda: kernel.launch(a, w, bias=bias, tensor_scale=1, kernel="up",
                                   out=kernel.prepare(
                                       M=5, kernel="up").empty_out()),
             "prepared for"),
            (lambda: kernel.quantize(sums, kernel="up"),
             "'up' quantises its product: 'launch' runs it")):
        with pytest.raises(bs.Refused, match=words):
            call()


def test_results_as_wide_as_the_launch_says(device):
    """One kernel for every N that is whole blocks; the sums are exact."""
    kernel = bs.compile("""
    !a = !blockscale.tensor<?x64xf8E4M3FN, "e8m0_t32", layout = tiled_128x4>
    !q = !blockscale.tensor<?x?xf4E2M1FN, "e8m0_t32", layout = tiled_128x4>
    func.func @f(%a: !a, %w: !a) -> !q {
      %0 = blockscale.matmul %a, %w : !a, !a -> tensor<?x?xbf16>
      %1 = blockscale.quantize %0 : tensor<?x?xbf16> to !q
      return %1 : !q
    }""")
    rng = np.random.default_rng(29)
    x = rng.integers(-2, 3, (130, 64)) * np.exp2(np.arange(130) % 7)[:, None]
    a = bs.quantize(x, like=kernel.arg("a"))
    for n in (32, 96, 352):
        weights = rng.integers(-1, 2, (n, 64)) * np.exp2(np.arange(n) // 32 % 5)[:, None]
        w = bs.quantize(weights, like=kernel.arg("b"))
        sums = (x @ weights.T).astype(ml_dtypes.bfloat16).astype(np.float32)
        expected = bs.quantize(sums, kernel.arg("d").format)
        assert same(kernel.launch(a, w), expected)
        assert same(kernel.emulate(a, w), expected)
    w = bs.quantize(np.ones((48, 64)), like=kernel.arg("b"))
    with pytest.raises(bs.Refused, match="N % 32 == 0"):
        kernel.launch(a, w)


def test_batches_of_products_that_quantise_their_result(device):
    text = """
    !a = !blockscale.tensor<?x40x64xf8E4M3FN, "e8m0_t32", layout = tiled_128x4>
    !w = !blockscale.tensor<?x32x64xf8E4M3FN, "e8m0_t32", layout = tiled_128x4>
    !q = !blockscale.tensor<?x40x32xf6E2M3FN, "e8m0_t32", layout = tiled_128x4>
    func.func @fused(%a: !a, %w: !w) -> !q {
      %0 = blockscale.matmul %a, %w : !a, !w -> tensor<?x40x32xf32>
      %1 = blockscale.quantize %0 : tensor<?x40x32xf32> to !q
      return %1 : !q
    }"""
    kernel = bs.compile(text)
    rng = np.random.default_rng(25)
    for batch in (1, 3):
        a, w = (bs.quantize(values(rng, (batch, rows, 64)), like=kernel.arg(name))
                for rows, name in ((40, "a"), (32, "b")))
        result = kernel.launch(a, w)
        assert result.shape == (batch, 40, 32)
        expected = bs.quantize(np.einsum("bmk,bnk->bmn", a.dequantize(),
                                         w.dequantize()).astype(np.float32),
                               like=kernel.arg("d"))
        assert (expected.data.view(np.uint8) ==
                result.data.view(np.uint8)).mean() > 0.99
        again = kernel.emulate(a, w)
        assert (again.data.view(np.uint8) == result.data.view(np.uint8)).all()


def test_squares_are_multiplied(device):
    """A weight with a scale for 32 rows and columns, which the product's operand of
    that format reads as it was written."""
    squares = bs.Format("e4m3", "ue8m0", 32, rows=32)
    spec = bs.matmul(M=5, N=72, K=256, a="mxfp8", b=squares)
    kernel = bs.compile(spec.mlir + source("q", (72, 256), "f8E4M3FN", "e8m0_t32_t32"))
    rng = np.random.default_rng(23)
    w, x = values(rng, (72, 256)), rng.standard_normal((5, 256))
    x = bs.quantize(x, like=kernel.arg("a"))
    prepared = kernel.prepare_quantize()
    there = prepared(bs.to_device(w), out=prepared.empty_out())
    d = kernel.launch(kernel.upload("a", x), there).numpy()
    w = bs.quantize(w, like=kernel.arg("b"))
    assert w.format == squares and (d == kernel.emulate(x, w)).all()


def test_gate_and_up(device):
    """One product whose columns are pairs: plain, quantised, and with groups of rows
    that have a matrix each."""
    text = """
    !a = !blockscale.tensor<?x64xf8E4M3FN, "e8m0_t32", layout = tiled_128x4>
    !w = !blockscale.tensor<128x64xf4E2M1FN, "e8m0_t32", layout = tiled_128x4>
    !q = !blockscale.tensor<?x64xf8E4M3FN, "e8m0_t32", layout = tiled_128x4>
    !t = !blockscale.tensor<?x64xbf16>
    !e = !blockscale.tensor<2x48x64xbf16>
    func.func @plain(%a: !a, %w: !w, %c: tensor<?x64xf32>, %bias: tensor<128xf32>)
        -> tensor<?x64xf32> {
      %0 = blockscale.matmul %a, %w c(%c) bias(%bias)
        pairs epilogue(%x, %up, %add, %xb, %ub) {
        %1 = arith.addf %x, %xb : f32
        %2 = arith.addf %up, %ub : f32
        %3 = arith.mulf %1, %2 : f32
        %4 = arith.addf %3, %add : f32
        blockscale.yield %4
      } : !a, !w, tensor<?x64xf32>, tensor<128xf32> -> tensor<?x64xf32>
      return %0 : tensor<?x64xf32>
    }
    func.func @quantised(%a: !a, %w: !w) -> !q {
      %0 = blockscale.matmul %a, %w pairs epilogue(%x, %up) {
        %1 = arith.subf %up, %x : f32
        blockscale.yield %1
      } : !a, !w -> tensor<?x64xf32>
      %1 = blockscale.quantize %0 : tensor<?x64xf32> to !q
      return %1 : !q
    }
    func.func @experts(%a: !t, %w: !e, %ends: tensor<2xi32>) -> tensor<?x24xf32> {
      %0 = blockscale.matmul %a, %w groups(%ends : tensor<2xi32>)
        pairs epilogue(%x, %up) {
        %1 = arith.subf %up, %x : f32
        blockscale.yield %1
      } : !t, !e -> tensor<?x24xf32>
      return %0 : tensor<?x24xf32>
    }"""
    kernel = bs.compile(text)
    rng = np.random.default_rng(26)
    a, w = (bs.quantize(values(rng, (rows, 64)), like=kernel.arg(name, kernel="plain"))
            for rows, name in ((130, "a"), (128, "b")))
    bias = rng.normal(size=128).astype(np.float32)
    c = rng.normal(size=(130, 64)).astype(np.float32)
    sums = a.dequantize().astype(np.float64) @ w.dequantize().astype(np.float64).T
    with_bias = sums + bias
    wanted = with_bias[:, ::2] * with_bias[:, 1::2] + c
    d = kernel.launch(a, w, c=c, bias=bias, kernel="plain")
    assert d.shape == (130, 64)
    np.testing.assert_allclose(d, wanted, rtol=1e-4,
                               atol=1e-5 * np.abs(with_bias).max() ** 2)
    assert (d == kernel.emulate(a, w, c=c, bias=bias, kernel="plain")).all()
    with pytest.raises(bs.Refused, match="expected .1, 130, 64."):
        kernel.emulate(a, w, c=np.zeros((130, 128), np.float32), bias=bias,
                       kernel="plain")
    result = kernel.launch(a, w, kernel="quantised")
    assert result.shape == (130, 64)
    expected = bs.quantize((sums[:, 1::2] - sums[:, ::2]).astype(np.float32),
                           like=kernel.arg("d", kernel="quantised"))
    assert (expected.data.view(np.uint8) ==
            result.data.view(np.uint8)).mean() > 0.99
    there = kernel.launch(kernel.upload("a", a, kernel="quantised"),
                          kernel.upload("b", w, kernel="quantised"),
                          kernel="quantised")
    assert isinstance(there, bs.DeviceScaled) and there.shape == (130, 64)
    x, e = (bs.quantize(rng.integers(-4, 5, shape).astype(np.float32),
                        like=kernel.arg(name, kernel="experts"))
            for shape, name in (((90, 64), "a"), ((2, 48, 64), "b")))
    ends = np.array([50, 90])
    found = kernel.launch(x, e, ends=ends, kernel="experts")
    assert found.shape == (90, 24)
    for rows, matrix in ((slice(0, 50), 0), (slice(50, 90), 1)):
        sums = x.dequantize()[rows] @ e.dequantize()[matrix].T
        assert (found[rows] == sums[:, 1::2] - sums[:, ::2]).all()
