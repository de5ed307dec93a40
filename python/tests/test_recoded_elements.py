# Elements that kernels hold as others: integers, with zero points too, floats beside 16
# bits, floats without a negative zero or with infinities, indices into tables.
#
# Part of the blockscale project, under the Apache License v2.0 with LLVM
# Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

import ml_dtypes
import numpy as np
import pytest
from conftest import integers, is_rounded

import blockscale as bs
from blockscale._codebooks import CODEBOOKS, join


def test_integers_under_float_scales(device):
    """int4 that no instruction multiplies: stored as e4m3, which has the integers."""
    rng = np.random.default_rng(30)
    kernel = bs.compile(bs.matmul(M="M", N=72, K=256, a="fp8_1x128",
                                  b="int4_1x128"))
    x = bs.quantize(rng.standard_normal((37, 256)), like=kernel.arg("a"))
    w = bs.quantize(rng.standard_normal((72, 256)) * np.arange(1, 73)[:, None],
                    like=kernel.arg("b"))
    assert set(np.unique(w.data.astype(np.int8))) >= set(range(-7, 8))
    d = kernel.launch(x, w)
    assert is_rounded(d, x, w) and (d == kernel.emulate(x, w)).all()


@pytest.mark.parametrize("a, b", [
    ("fp8_1x128", "uint4_1x128"), ("fp8_row", "uint4_row"),
    ("fp8_1x128", bs.Format("uint4", "bf16", 256, rows=16, zero="int16")),
    ("fp8_1x128", bs.Format("uint3", "bf16", 32, zero="int8")),
    ("fp8_1x128", bs.Format("uint2", "f32", 32, zero="int8")),
    ("fp8", bs.Format("uint4", "f16", rows=0, zero="int32"))])
def test_zero_points_are_subtracted(device, a, b):
    rng = np.random.default_rng(32)
    kernel = bs.compile(bs.matmul(M="M", N=72, K=512, a=a, b=b))
    assert kernel.arg("b").format == bs.FORMATS.get(b, b)
    x = bs.quantize(rng.standard_normal((37, 512)), like=kernel.arg("a"))
    values = rng.standard_normal((72, 512)) * np.arange(1, 73)[:, None] + \
        10 * np.cos(np.arange(512) // 128 + np.arange(72)[:, None])
    w = bs.quantize(values, like=kernel.arg("b"))
    assert b == bs.Format("uint4", "f16", rows=0, zero="int32") or \
        len(np.unique(w.zeros)) >= 3
    assert np.abs(w.dequantize() - values).max() <= \
        w.scales.astype(np.float32).max()
    d = kernel.launch(x, w)
    assert is_rounded(d, x, w) and (d == kernel.emulate(x, w)).all()


@pytest.mark.parametrize("a, b", [
    ("bf16", bs.Format("int4", "bf16", 32)), ("f16", "uint4_1x128"),
    ("bf16", bs.Format("uint8", "f32", 64, zero="int16")),
    ("bf16", "fp8_128x128"), ("f16", "int8_row"), ("mxint8", "mxint8"),
    (bs.Format("e4m3", "ue8m0", 16), bs.Format("e2m3", "ue8m0", 16)),
    ("fp8_1x128", bs.Format("uint8", "f32", zero="int32"))])
def test_weights_beside_sixteen_bits(device, a, b):
    rng = np.random.default_rng(34)
    kernel = bs.compile(bs.matmul(M="M", N=72, K=256, a=a, b=b))
    x = bs.quantize(rng.standard_normal((37, 256)), like=kernel.arg("a"))
    w = bs.quantize(rng.standard_normal((72, 256)) * np.arange(1, 73)[:, None],
                    like=kernel.arg("b"))
    d = kernel.launch(x, w)
    assert is_rounded(d, x, w) and (d == kernel.emulate(x, w)).all()


def test_differences_without_an_exact_code_are_refused(device):
    kernel = bs.compile(bs.matmul(M="M", N=40, K=128, a="fp8_row", b="uint4_row"))
    x = bs.quantize(np.ones((5, 128)), like=kernel.arg("a"))
    codes = np.full((40, 128), 9, ml_dtypes.uint4)
    zeros = np.full((40, 1), 4, np.int8)
    scales = np.ones((40, 1), np.float32)
    w = bs.Scaled(codes, scales, zeros=zeros, format="uint4_row")
    assert (w.dequantize() == 5).all()
    assert (kernel.launch(x, w) == x.dequantize().sum(axis=1)[:, None] * 5).all()
    for zero in (26, -7):
        zeros[7] = zero
        w = bs.Scaled(codes, scales, zeros=zeros, format="uint4_row")
        with pytest.raises(bs.Refused, match=fr"code 9 at \[7, 0\] of format "
                           f"'uint4_row' less its zero point, {zero}, has no exact"):
            kernel.launch(x, w)


def test_codes_without_an_exact_one_are_refused(device):
    """Floats without a negative zero: the same codes mean half, but for some."""
    rng = np.random.default_rng(31)
    format_ = bs.Format("e4m3b8fnuz", "ue8m0", 32)
    kernel = bs.compile(bs.matmul(M="M", N=40, K=64, a=format_, b="mxint4"))
    codes = rng.integers(0, 256, (5, 64)).astype(np.uint8)
    codes[(codes & 0x7f == 0x7f) | (codes == 0x80)] = 0x7e
    scales = rng.integers(124, 130, (5, 2)).astype(np.uint8)
    scales = scales.view(ml_dtypes.float8_e8m0fnu)
    fnuz = ml_dtypes.float8_e4m3fnuz
    x = bs.Scaled(codes.view(fnuz), scales, format=format_)
    w = bs.quantize(integers(rng, (40, 64)), like=kernel.arg("b"))
    x = x.to(kernel.arg("a").layout)
    d = kernel.launch(x, w)
    assert is_rounded(d, x, w) and (d == kernel.emulate(x, w)).all()
    for code in (0x80, 0x7f, 0xff):
        codes[3, 17] = code
        x = bs.Scaled(codes.view(fnuz), scales, format=format_)
        with pytest.raises(bs.Refused, match=r"code 0x.. at \[3, 17\] of format.*; "
                           "kernels of kind 'f16' hold it"):
            kernel.launch(x.to(kernel.arg("a").layout), w)


@pytest.mark.parametrize("rounding", ["even", "away", "zero", "stochastic"])
@pytest.mark.parametrize("element, rows", [("e4m3b8fnuz", 1), ("e4m3b8fnuz", 128),
                                           ("e5m2b16fnuz", 1)])
def test_largest_without_a_negative_zero(device, element, rows, rounding):
    """What is quantised under float scales has it in each tile."""
    rng = np.random.default_rng(45)
    format_ = bs.Format(element, "f32", 128, rows=rows)
    kernel = bs.compile(bs.matmul(M="M", N=40, K=256, a=format_, b="fp8_1x128"))
    values = rng.standard_normal((37, 256)).astype(np.float32)
    values[:, ::7] *= -0.0
    seed = 3 if rounding == "stochastic" else None
    x = bs.quantize(values, format_, rounding=rounding, seed=seed)
    codes = x.data.view(np.uint8)
    assert (codes & 0x7f == 0x7f).any() and not (codes == 0x80).any()
    step = np.abs(values) / (8 if element[1] == "4" else 4) + \
        x.scales.max() * float(np.abs(ml_dtypes.finfo(format_.dtype).smallest_subnormal))
    assert (np.abs(x.dequantize() - values) <= step).all()
    w = bs.quantize(integers(rng, (40, 256)), like=kernel.arg("b"))
    d = kernel.launch(x, w)
    assert is_rounded(d, x, w) and (d == kernel.emulate(x, w)).all()


@pytest.mark.parametrize("element, scale, block, other", [
    ("e4m3b8fnuz", "f32", 16, "fp8_row"), ("e5m2b16fnuz", "ue8m0", 16, "bf16"),
    ("e4m3b8fnuz", "f32", 0, "fp8_row"), ("e5m2b16fnuz", "f32", 32, "fp8_row"),
    ("e4m3b8fnuz", None, 0, "bf16"), ("int8", "ue8m0", 0, "fp8_row"),
    ("int4", "ue8m0", 0, "int8"), ("int8", "ue4m3", 32, "fp8"),
    ("int4", "ue4m3", 16, "fp8_row")])
def test_all_codes_where_there_are_bits_enough(device, element, scale, block, other):
    """Those that 8 bits of a kernel have not among them, but for NaN."""
    rng = np.random.default_rng(41)
    format_ = bs.Format(element, scale, block)
    kernel = bs.compile(bs.matmul(M="M", N=40, K=64, a=format_, b=other))
    codes = rng.permutation(5 * 64).reshape(5, 64).astype(np.uint8)
    codes[codes == 0x80] = 0x7f
    data = (codes.astype(int) % 15 - 7).astype(ml_dtypes.int4) if element == "int4" \
        else codes.view(format_.dtype)
    powers = np.exp2(rng.integers(-3, 4, (5, 64 // block if block else 1)))
    scales = powers.astype(format_.scale_dtype) if scale else None
    x = bs.Scaled(data, scales, format=format_)
    unit = {"int8": 1 / 64, "int4": 1 / 4}.get(element, 1) if scale == "ue8m0" else 1
    expected = data.astype(np.float64) * unit
    if scale:
        expected *= np.repeat(powers, block or 64, axis=1)
    assert (x.dequantize() == expected).all()
    w = bs.quantize(integers(rng, (40, 64)), like=kernel.arg("b"))
    d = kernel.launch(x, w)
    assert is_rounded(d, x, w) and (d == kernel.emulate(x, w)).all()


@pytest.mark.parametrize("element, zero, scale, block, other", [
    ("uint4", "int8", "f32", 128, "fp8_1x128"), ("uint8", "int16", "f32", 0, "bf16"),
    ("uint8", "int16", "bf16", 64, "fp8_row"), ("uint3", "int8", "f16", 0, "mxfp8"),
    ("uint2", "int32", "f32", 128, "int4_row")])
def test_zero_points_of_what_is_kept(device, element, zero, scale, block, other):
    """What is 0 has the code of its zero point, another one in each tile, and 0 is a
    code like others."""
    rng = np.random.default_rng(31)
    format_ = bs.Format(element, scale, block, sparsity="2:4", zero=zero)
    assert format_.spec.endswith(f"_{zero}_t{block // 2}n2m4")
    beside = bs.format_named(other)
    beside = beside.beside_sparse() if beside.scale == "ue8m0" else beside
    kernel = bs.compile(bs.matmul(M="M", N=40, K=256, a=format_, b=beside))
    assert kernel.arg("a").format == format_
    x = bs.quantize(bs.prune(integers(rng, (21, 256)), "2:4"), like=kernel.arg("a"))
    tiles = 256 // (block or 256)
    most = int(format_.largest)
    zeros = rng.permutation(21 * tiles).reshape(21, tiles) % (most + 1)
    keeps = rng.random((21, 64, 4)).argsort(-1).reshape(21, 256) < 2
    codes = rng.integers(0, most + 1, (21, 256))
    of_each = np.repeat(zeros, block or 256, axis=1)
    x = bs.Scaled(np.where(keeps, codes, of_each).astype(format_.dtype), x.scales,
                  zeros=zeros.astype(format_.zero_dtype), format=format_)
    expected = (x.data.astype(np.float64) - of_each) * np.repeat(
        x.scales.astype(np.float64), block or 256, axis=1)
    assert (x.dequantize() == expected.astype(np.float32)).all()
    w = bs.quantize(integers(rng, (40, 256)), like=kernel.arg("b"))
    d = kernel.launch(x, w)
    assert is_rounded(d, x, w) and (d == kernel.emulate(x, w)).all()
    full = np.array(x.data)
    full[3, 8:12] = of_each[3, 8] ^ 1
    with pytest.raises(bs.Refused, match="row 3: the elements 8 to 11 along K break"):
        bs.Scaled(full, x.scales, zeros=x.zeros, format=format_)
    with pytest.raises(bs.Refused, match="zero points in real units of a sparse"):
        bs.Format(element, scale, block, sparsity="2:4", zero="f32")


@pytest.mark.parametrize("a, b", [
    (bs.Format("e4m3", "e4m3b8fnuz", 32), bs.Format("e5m2", "e5m2b16fnuz", 64, rows=16)),
    (bs.Format("e2m1", "e4m3b11fnuz"), bs.Format("e4m3", "e3m4", rows=0)),
    ("bf16", bs.Format("uint4", "e3m4", 128, zero="int8"))])
def test_scales_that_no_instruction_converts(device, a, b):
    rng = np.random.default_rng(37)
    kernel = bs.compile(bs.matmul(M="M", N=40, K=256, a=a, b=b))
    assert kernel.arg("b").format == b
    values = integers(rng, (21, 256)) * np.arange(1, 22)[:, None] / 16
    x = bs.quantize(values, like=kernel.arg("a"))
    w = bs.quantize(integers(rng, (40, 256)) * np.arange(1, 41)[:, None] / 64,
                    like=kernel.arg("b"))
    d = kernel.launch(x, w)
    assert is_rounded(d, x, w) and (d == kernel.emulate(x, w)).all()
    # Of all codes of scales: NaN and infinities, those below the normal ones, signs.
    shape = w.scales.shape
    codes = np.arange(np.prod(shape)) * 37 % 256
    scales = codes.astype(np.uint8).reshape(shape).view(w.scales.dtype)
    ones = bs.Scaled(w.data, scales, zeros=w.zeros, format=w.format)
    unit = bs.quantize(np.eye(21, 256), like=kernel.arg("a"))
    expected = unit.dequantize().astype(np.float64) @ np.nan_to_num(
        ones.dequantize().astype(np.float64).T, nan=0, posinf=0, neginf=0)
    finite = np.isfinite(np.repeat(scales.astype(np.float32), b.rows or 40, axis=0)[:40])
    d = kernel.emulate(unit, ones)
    is_finite = finite.all(axis=1)
    assert np.allclose(d[:, is_finite], expected[:, is_finite], rtol=1e-6, atol=0)
    assert not np.isfinite(d[:, ~is_finite]).any(axis=1).all()


@pytest.mark.parametrize("a, b, layouts", [
    ("nvfp4", "fp8_row", ("plain", "plain")), ("fp4_ue5m3", "fp8", ("plain", "plain")),
    ("mxfp8", bs.Format("e2m1", "ue4m3", 32), ("tiled_128x4", "plain")),
    ("nvfp4", "mxfp8", ("plain", "plain")), ("mxfp4_16", "mxfp8", ("plain", "plain")),
    ("bf16", "mxfp4", ("plain", "plain")), ("mxfp8", "mxfp4", ("tiled_128x4",) * 2),
    ("mxint8", "mxfp8", ("plain", "plain"))])
def test_scales_lie_as_kernels_read_them(device, a, b, layouts):
    rng = np.random.default_rng(3)
    kernel = bs.compile(bs.matmul(M="M", N=40, K=128, a=a, b=b))
    assert (kernel.arg("a").layout, kernel.arg("b").layout) == layouts
    x = bs.quantize(integers(rng, (21, 128)), like=kernel.arg("a"))
    w = bs.quantize(integers(rng, (40, 128)), like=kernel.arg("b"))
    assert is_rounded(kernel.launch(x, w), x, w)


@pytest.mark.parametrize("element, block, subtile, other", [
    ("cb31ie_int5", 16, 2, "mxfp4_16"), ("cb51ie_int7", 16, 2, "bf16"),
    ("cb81ie_int9", 16, 2, "mxint8"), ("cb42f1346_e2m3fnuz", 32, 8, "mxfp8"),
    ("cb42fe0123_e3m2fnuz", 32, 8, "mxfp4"), ("cb41f01_e2m2fnuz", 32, 4, "mxfp6_e3m2"),
    ("cb41fi_e2m2fnuz", 32, 4, "mxint4")])
def test_indices_into_tables(device, element, block, subtile, other):
    rng = np.random.default_rng(15)
    format_ = bs.Format(element, "ue8m0", block, subtile=subtile)
    assert format_.spec == f"e8m0_t{block}s{subtile}"
    kernel = bs.compile(bs.matmul(M="M", N=40, K=96, a=format_, b=other))
    bits, tables = CODEBOOKS[element]
    numbers = rng.integers(0, len(tables), (5, 96 // subtile))
    indices = rng.integers(0, 1 << bits, (5, 96))
    scales = rng.integers(124, 130, (5, 96 // block)).astype(np.uint8)
    scales = scales.view(ml_dtypes.float8_e8m0fnu)
    x = bs.Scaled(join(element, indices, numbers, subtile), scales, format=format_)
    half = 1 << bits - 1
    expected = np.where(indices >= half, -1, 1) * np.array(
        [[tables[numbers[row, k // subtile]][indices[row, k] % half] for k in range(96)]
         for row in range(5)]) * np.repeat(scales.astype(np.float32), block, axis=1)
    assert (x.dequantize() == expected).all()
    w = bs.quantize(integers(rng, (40, 96)), like=kernel.arg("b"))
    x = x.to(kernel.arg("a").layout)
    d = kernel.launch(x, w)
    assert is_rounded(d, x, w) and (d == kernel.emulate(x, w)).all()
    with pytest.raises(bs.Refused, match="no rule that chooses their tables"):
        bs.quantize(np.ones((5, 96)), format_)
    mixed = np.array(x.data)
    mixed[2, subtile - 1] ^= 1 << bits
    with pytest.raises(bs.Refused, match=f"row 2, element {subtile - 1} along K: its "
                                         "code is of table"):
        bs.Scaled(mixed, scales, format=format_)


def test_subtiles_of_rows():
    codes = join("cb41fi_e2m2fnuz", np.zeros((8, 32)), np.arange(8).reshape(2, 4)
                 .repeat(4, axis=0) % 2, 8)
    scales = np.ones((1, 1), ml_dtypes.float8_e8m0fnu)
    format_ = bs.Format("cb41fi_e2m2fnuz", "ue8m0", 32, rows=32, subtile=8,
                        row_subtile=4)
    assert format_.spec == "e8m0_t32s4_t32s8"
    bs.Scaled(codes, scales, format=format_)
    codes[5, 0] ^= 16
    with pytest.raises(bs.Refused, match="row 5, element 0 along K"):
        bs.Scaled(codes, scales, format=format_)
    for given, why in (({"subtile": 3}, "subtile = 3: expected a power of two from 2"),
                       ({"subtile": 64}, "subtile = 64: expected a power of two"),
                       ({"subtile": 8, "rows": 32}, "row_subtile = 0: expected both")):
        with pytest.raises(bs.Refused, match=why):
            bs.Format("cb41fi_e2m2fnuz", "ue8m0", 32, **given)
    with pytest.raises(bs.Refused, match="subtiles are of codebooks"):
        bs.Format("e4m3", "ue8m0", 32, subtile=8)


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
