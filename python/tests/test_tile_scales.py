# Scales of e4m3, e5m3 and e5m2 for tiles of elements beside which no instruction reads
# them: launched by the emulated driver and held to numpy.
#
# Part of the blockscale project, under the Apache License v2.0 with LLVM
# Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

import numpy as np
import pytest

import blockscale as bs


def operand(rng, rows, k, format_):
    """Small whole numbers under scales from 2^-4 to 15, neighbours of other
    numbers, so that sums are exact in f32."""
    values = rng.integers(-3, 4, (rows, k)).astype(np.float32)
    groups = -(-rows // format_.rows) if format_.rows else 1
    tiles = k // format_.block
    codes = (np.arange(groups * tiles) * 5 % 0x28 + 0x18).astype(np.uint8)
    # The same numbers, by another bias; of e5m2 from 2^-9 on.
    if format_.scale == "ue5m3":
        codes += 0x40
    scales = codes.reshape(groups, tiles).view(format_.scale_dtype)
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
    (bs.Format("e3m2", "ue4m3", 128), bs.Format("e4m3", "ue4m3", 128, rows=128)),
    (bs.Format("e4m3", "ue5m3", 32), bs.Format("e2m3", "ue5m3", 16)),
    (bs.Format("e4m3", "e5m2", 128), bs.Format("e4m3", "ue5m3", 128, rows=128))])
def test_scales_of_bytes(device, a, b, target):
    rng = np.random.default_rng(7)
    kernel = bs.compile(bs.matmul(M="M", N=136, K=256, a=a, b=b), target=target)
    assert kernel.arg("a").layout == kernel.arg("b").layout == "plain"
    assert (kernel.arg("a").format, kernel.arg("b").format) == (a, b)
    x, y = operand(rng, 37, 256, a), operand(rng, 136, 256, b)
    d = kernel.emulate(x, y)
    assert np.allclose(d, product(x, y), rtol=2e-6, atol=1e-6)
    # A scale more counts, wherever it is.
    scales = np.array(y.scales)
    scales.view(np.uint8).flat[-1] ^= 8
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
