# Part of the blockscale project, under the Apache License v2.0 with LLVM
# Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

"""Zero points in real units, of which kernels get terms."""

import dataclasses

import ml_dtypes
import numpy as np
import pytest

import blockscale as bs

ROWS = bs.Format("uint4", "f32", zero="f32")


def spread(tiles, one):
    """What tiles have, for each element of an operand."""
    rows, k = one.data.shape[-2:]
    format_ = one.format
    tiles = np.repeat(np.asarray(tiles, np.float64), format_.rows or rows, -2)
    return np.repeat(tiles[..., :rows, :], format_.block or k, -1)[..., :k]


def scaled(one):
    """Elements under their scales, in f64, and what is subtracted from them."""
    values = one.data.astype(np.float64)
    if one.scales is not None:
        values = values * spread(one.scales, one)
    has_zeros = one.zeros is not None
    return values, spread(one.zeros, one) if has_zeros else 0 * values


def check(d, x, w, alpha=1):
    """Against the product of the differences, by what f32 rounds off."""
    (x, x_zero), (w, w_zero) = scaled(x), scaled(w)
    expected = alpha * (x - x_zero) @ np.swapaxes(w - w_zero, -1, -2)
    bound = alpha * (np.abs(x) + np.abs(x_zero)) @ np.swapaxes(
        np.abs(w) + np.abs(w_zero), -1, -2) * 2.0 ** -20
    # Without the zero points it would be something else.
    assert (np.abs(alpha * x @ np.swapaxes(w, -1, -2) - expected) > bound).mean() > 0.9
    assert d.shape == expected.shape and (np.abs(d - expected) <= bound).all()


def operand(rng, format_, shape):
    """Codes, scales and zero points at random, no two of the latter alike."""
    rows, k = shape[-2:]
    if not format_.scale:
        return bs.quantize(rng.standard_normal(shape), format_)
    tiles = (*shape[:-2], -(-rows // (format_.rows or rows)),
             -(-k // (format_.block or k)))
    scales = (1 + rng.random(tiles)).astype(format_.scale_dtype)
    if format_.zero is None:
        data = (4 * rng.standard_normal(shape)).astype(format_.dtype)
        return bs.Scaled(data, scales, format=format_)
    data = rng.integers(0, int(format_.largest) + 1, shape).astype(format_.dtype)
    count = int(np.prod(tiles))
    zeros = (3 + 4 * rng.permutation(count) / count).reshape(tiles)
    return bs.Scaled(data, scales, zeros=zeros.astype(format_.zero_dtype),
                     format=format_)


@pytest.mark.parametrize("a, b, shape", [
    ("fp8_row", ROWS, (37, 72, 256)),
    (ROWS, "int4_row", (37, 72, 256)),
    (bs.Format("uint3", "f16", rows=0, zero="f16"), ROWS, (24, 200, 320)),
    ("bf16", bs.Format("uint8", "f32", rows=8, zero="bf16"), (37, 72, 256)),
    ("fp8_1x128", bs.Format("uint4", "bf16", 128, zero="f16"), (37, 72, 384)),
    (bs.Format("e4m3b8fnuz", "f32"), bs.Format("uint4", "ue4m3", 32, zero="f32"),
     (37, 72, 256)),
    (bs.Format("uint8", "f32", 64, zero="f32"),
     bs.Format("uint2", "f32", 128, rows=4, zero="f32"), (37, 72, 384))])
def test_products(device, a, b, shape):
    m, n, k = shape
    a, b = bs.FORMATS.get(a, a), bs.FORMATS.get(b, b)
    rng = np.random.default_rng(51)
    kernel = bs.compile(bs.matmul(M="M", N=n, K=k, a=a, b=b, alpha=True))
    assert (kernel.arg("a").format, kernel.arg("b").format) == (a, b)
    x, w = operand(rng, a, (m, k)), operand(rng, b, (n, k))
    d = kernel.launch(x, w, alpha=0.75)
    check(d, x, w, 0.75)
    assert (d == kernel.emulate(x, w, alpha=0.75)).all()
    prepared = kernel.prepare(M=m)
    out = prepared.empty_out()
    prepared(prepared.upload("a", x), kernel.upload("b", w), out=out, alpha=0.75)
    assert (out.numpy() == d).all()


def test_batches(device):
    rng = np.random.default_rng(52)
    tiles = bs.Format("uint4", "f32", 64, zero="f32")
    kernel = bs.compile(bs.matmul(M=24, N=40, K=192, batch=3, a=tiles, b="f16"))
    x, w = operand(rng, tiles, (3, 24, 192)), operand(rng, bs.FORMATS["f16"],
                                                      (3, 40, 192))
    d = kernel.launch(x, w)
    check(d, x, w)
    assert (d == kernel.emulate(x, w)).all()


def test_what_a_kernel_made_has_no_terms(device):
    rng = np.random.default_rng(53)
    kernel = bs.compile(bs.matmul(M=24, N=40, K=128, a="fp8_row", b=ROWS))
    x, w = operand(rng, bs.FORMATS["fp8_row"], (24, 128)), operand(rng, ROWS, (40, 128))
    prepared = kernel.prepare()
    given, out = prepared.upload("a", x), prepared.empty_out()
    bare = bs.DeviceScaled(given.data, given.scales, shape=given.shape,
                           format=given.format)
    with pytest.raises(bs.Refused, match="'a' has no terms of zero points: the kernel "
                       "needs them"):
        prepared(bare, prepared.upload("b", w), out=out)
    other = bs.compile(bs.matmul(M=24, N=40, K=128, a="fp8_row", b="fp8_row")).prepare()
    with pytest.raises(bs.Refused, match="'a' has terms of zero points: the kernel takes "
                       "none"):
        other(given, other.upload("b", operand(rng, bs.FORMATS["fp8_row"], (40, 128))),
              out=out)


def test_formats():
    assert ROWS.spec == "float32_float32_t0" and ROWS.has_real_zeros
    assert bs.Format("uint4", "bf16", 128, zero="f16").spec == "bfloat16_float16_t128"
    values = np.float32([[-2, 0, 5.5, 1], [3, 4.5, 0.5, 3]])
    result = bs.quantize(values, ROWS)
    # 7.5 and 4.5 in 15 steps.
    assert np.array_equal(result.scales, np.float32([[0.5], [4.5 / 15]]))
    assert result.zeros.dtype == np.float32 and result.zeros.tolist() == [[2], [0]]
    assert result.data.astype(int).tolist() == [[0, 4, 15, 6], [10, 15, 2, 10]]
    assert result.dequantize()[0].tolist() == [-2, 0, 5.5, 1]
    for change in ({"element": "int4"}, {"zero": "f64"}, {"tensor_scale": True},
                   {"scale": "ue8m0", "block": 32}):
        with pytest.raises(bs.Refused):
            dataclasses.replace(ROWS, **change)
    with pytest.raises(bs.Refused, match=r"of int8: expected \(2, 1\) of float32"):
        bs.Scaled(result.data, result.scales, format=ROWS,
                  zeros=np.zeros((2, 1), np.int8))
    assert bs.quantize(values, bs.Format("uint8", "f32", zero="bf16")).zeros.dtype == \
        ml_dtypes.bfloat16


SUMS = """
!a = {type}
func.func @sums(%a: !a) -> tensor<{tiles}x{m}xf32> {{
  %0 = blockscale.tile_sums %a{tile} : !a to tensor<{tiles}x{m}xf32>
  return %0 : tensor<{tiles}x{m}xf32>
}}
"""


def sums_source(type_, shape, tile):
    m, k = shape
    return SUMS.format(type=type_, m=m, tiles=-(-k // tile) if tile else 1,
                       tile=f" tile = {tile}" if tile else "")


def exact_sums(a, tile):
    """Sums in f64 and sums of the magnitudes, a row for each tile."""
    values = spread(a.scales, a) * a.data.astype(np.float64) if a.scales is not None \
        else a.data.astype(np.float64)
    starts = np.arange(0, a.k, tile or a.k)
    return (np.add.reduceat(values, starts, -1).swapaxes(-1, -2),
            np.add.reduceat(np.abs(values), starts, -1).swapaxes(-1, -2))


@pytest.mark.parametrize("format_, spec, shape, tile", [
    ("fp8_1x128", 'f8E4M3FN, "float32_t128"', (37, 384), 128),
    ("fp8_row", 'f8E4M3FN, "float32_t0"', (37, 4000), 0),
    (bs.Format("e2m1", "bf16", 32, rows=4), 'f4E2M1FN, "bfloat16_t4_t32"', (22, 320), 256),
    ("bf16", "bf16", (37, 200), 64)])
def test_sums_by_a_kernel(device, format_, spec, shape, tile):
    """As numpy in f64 but for what each of the steps of f32 rounds off; the kernel, on a
    device and on the emulator, and linalg on the host have the same bits."""
    format_ = bs.FORMATS.get(format_, format_)
    m, k = shape
    a = operand(np.random.default_rng(54), format_, shape)
    source = sums_source(f"!blockscale.tensor<{m}x{k}x{spec}>", shape, tile)
    kernel = bs.compile(source)
    found = kernel.emulate_tile_sums(a)
    expected, magnitudes = exact_sums(a, tile)
    pieces = -(-min(tile or k, k) // 16)
    steps = 15 + 2 + -(-pieces // 32) + 5 if tile == 0 else 15 + 2 + 2 + 5
    assert found.shape == expected.shape and found.dtype == np.float32
    assert (np.abs(found - expected) <= steps * 2.0 ** -24 * magnitudes).all()
    # No two of them are alike, so that none may stand in the place of another.
    assert len(np.unique(found)) > 0.95 * found.size
    assert (kernel.tile_sums(a) == found).all()
    prepared = kernel.prepare_tile_sums()
    assert (prepared(prepared.upload(a), out=prepared.empty_out()).numpy() == found).all()
    assert (bs.Program(source)(a) == found).all()


CHAIN = """
!a = !blockscale.tensor<37x384xf8E4M3FN, "float32_t128">
func.func @quantized(%x: tensor<37x384xf32>) -> !a {
  %0 = blockscale.quantize %x : tensor<37x384xf32> to !a
  return %0 : !a
}
func.func @sums(%a: !a) -> tensor<3x37xf32> {
  %0 = blockscale.tile_sums %a tile = 128 : !a to tensor<3x37xf32>
  return %0 : tensor<3x37xf32>
}
!b = !blockscale.tensor<72x384xui4, "bfloat16_float16_t128">
func.func @product(%a: !a, %b: !b) -> tensor<37x72xf32> {
  %0 = blockscale.matmul %a, %b : !a, !b -> tensor<37x72xf32>
  return %0 : tensor<37x72xf32>
}
"""


def test_chain_on_the_device(device):
    """Quantised, added up and multiplied without coming to the host."""
    rng = np.random.default_rng(55)
    kernel = bs.compile(CHAIN)
    x = rng.standard_normal((37, 384)).astype(np.float32) + 0.5
    w = operand(rng, bs.Format("uint4", "bf16", 128, zero="f16"), (72, 384))
    on_device = bs.to_device(x)
    a = kernel.quantize(on_device, kernel="quantized")
    assert isinstance(a, bs.DeviceScaled) and a.terms is None
    with pytest.raises(bs.Refused, match="'a' has no terms of zero points"):
        kernel.launch(a, kernel.upload("b", w, kernel="product"), kernel="product")
    a = kernel.tile_sums(a, kernel="sums")
    d = kernel.launch(a, kernel.upload("b", w, kernel="product"), kernel="product")
    given = kernel.emulate_quantize(x, kernel="quantized")
    check(d.numpy(), given, w)
    # The host's sums are rounded once.
    by_host = kernel.emulate(given, w, kernel="product")
    assert (d.numpy() != by_host).any()
    with pytest.raises(bs.Refused, match="'tile_sums' runs it, and 'emulate_tile_sums'"):
        kernel.launch(a, w, kernel="sums")
