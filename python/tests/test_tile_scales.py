# Scales of e4m3 for tiles of elements beside which no instruction reads them, and e4m3
# with infinities: launched by the emulated driver and held to numpy.
#
# Part of the blockscale project, under the Apache License v2.0 with LLVM
# Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

import ml_dtypes
import numpy as np
import pytest

import blockscale as bs

E4M3 = ml_dtypes.float8_e4m3fn
SIZES = {"e4m3": 8, "e5m2": 8, "e2m3": 6, "e3m2": 6}


def operand(rng, rows, k, format_):
    """Small whole numbers under scales of all signs' magnitudes from 2^-9 on, each
    of another number, so that sums are exact in f32."""
    values = rng.integers(-3, 4, (rows, k)).astype(np.float32)
    groups = -(-rows // format_.rows) if format_.rows else 1
    tiles = k // format_.block
    codes = (np.arange(groups * tiles) * 5 % 0x28 + 0x18).astype(np.uint8)
    scales = codes.reshape(groups, tiles).view(E4M3)
    factor = np.array([3.5], np.float32) if format_.tensor_scale else None
    elements = values.astype(format_.dtype)
    return bs.Scaled(elements, scales, tensor_scale=factor, format=format_)


def product(a, b):
    """In f64, which has all of the sums."""
    x, y = (part.dequantize().astype(np.float64) for part in (a, b))
    return x @ y.T


@pytest.mark.parametrize("target", ["sm_100a", "sm_120a"])
@pytest.mark.parametrize("a, b", [
    (bs.Format("e4m3", "ue4m3", 16, tensor_scale=True), bs.Format("e2m3", "ue4m3", 16)),
    (bs.Format("e4m3", "ue4m3", 32), bs.Format("e5m2", "ue4m3", 64)),
    (bs.Format("e3m2", "ue4m3", 128), bs.Format("e4m3", "ue4m3", 128, rows=128))])
def test_scales_of_e4m3(device, a, b, target):
    rng = np.random.default_rng(7)
    kernel = bs.compile(bs.matmul(M="M", N=136, K=256, a=a, b=b), target=target)
    assert kernel.arg("a").layout == kernel.arg("b").layout == "plain"
    assert (kernel.arg("a").format, kernel.arg("b").format) == (a, b)
    x, y = operand(rng, 37, 256, a), operand(rng, 136, 256, b)
    d = kernel.emulate(x, y)
    assert np.allclose(d, product(x, y), rtol=2e-6, atol=1e-6)
    # A scale more counts, wherever it is.
    scales = np.array(y.scales)
    scales.flat[-1] = E4M3(0.25 if float(scales.flat[-1]) != 0.25 else 0.5)
    other = bs.Scaled(y.data, scales, tensor_scale=y.tensor_scale, format=b)
    changed = kernel.emulate(x, other)
    assert (changed != d).any()
    assert np.allclose(changed, product(x, other), rtol=2e-6, atol=1e-6)
    if target == "sm_100a":
        assert (kernel.launch(x, y) == d).all()


def test_a_nan_scale_makes_its_rows_nan():
    format_ = bs.Format("e4m3", "ue4m3", 32)
    kernel = bs.compile(bs.matmul(M=5, N=16, K=64, a=format_, b=format_))
    rng = np.random.default_rng(8)
    x, y = operand(rng, 5, 64, format_), operand(rng, 16, 64, format_)
    scales = np.array(x.scales)
    scales[2, 1] = np.nan
    d = kernel.emulate(bs.Scaled(x.data, scales, format=format_), y)
    assert np.isnan(d[2]).all() and np.isfinite(np.delete(d, 2, 0)).all()


def test_e4m3_with_infinities(device):
    rng = np.random.default_rng(9)
    format_ = bs.Format("e4m3ieee", "ue8m0", 32)
    kernel = bs.compile(bs.matmul(M="M", N=40, K=64, a=format_, b="mxfp8"))
    codes = rng.permutation(5 * 64).reshape(5, 64).astype(np.uint8)
    codes[codes & 0x78 == 0x78] = 0x77
    ieee = ml_dtypes.float8_e4m3
    scales = rng.integers(124, 130, (5, 2)).astype(np.uint8)
    x = bs.Scaled(codes.view(ieee), scales.view(ml_dtypes.float8_e8m0fnu),
                  format=format_)
    w = bs.quantize(rng.integers(-2, 3, (40, 64)).astype(np.float32), "mxfp8")
    w = w.to(kernel.arg("b").layout)
    d = kernel.launch(x.to(kernel.arg("a").layout), w)
    expected = (codes.view(ieee).astype(np.float64) *
                np.repeat(np.ldexp(1.0, scales.astype(int) - 127), 32, axis=1))
    assert np.allclose(d, expected @ w.dequantize().astype(np.float64).T, rtol=1e-5)
    values = np.ldexp(rng.normal(size=(5, 64)), 12).astype(np.float32)
    for rounding in ("even", "away", "zero"):
        q = bs.quantize(values, format_, rounding=rounding, rule="floor")
        assert np.abs(q.data.astype(np.float32)).max() == 240
        close = np.abs(q.dequantize() - values) <= np.maximum(abs(values) / 8, 32)
        assert (close | (np.abs(q.data.astype(np.float32)) == 240)).all()
    codes[3, 17] = 0x78
    x = bs.Scaled(codes.view(ieee), x.scales, format=format_)
    with pytest.raises(bs.Refused, match=r"code 0x78 at \[3, 17\] of format"):
        kernel.launch(x.to(kernel.arg("a").layout), w)
