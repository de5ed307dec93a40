# Part of the blockscale project, under the Apache License v2.0 with LLVM
# Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

"""Operands of every format, order and sparsity, emulated and verified."""

import numpy as np
import pytest
from conftest import exact_product, holding, integers
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

import blockscale as bs

F = bs.FORMATS
SPARSE = {name: (F[name].sparse(), F[other].beside_sparse())
          for name, other in (("mxfp8", "mxfp8_e5m2"), ("mxfp6_e2m3", "mxfp4"),
                              ("mxfp4", "mxfp4"), ("nvfp4", "nvfp4"),
                              ("fp8", "fp6_e3m2"), ("fp4", "fp4"),
                              ("f16", "f16"), ("bf16", "bf16"),
                              ("tf32", "tf32"), ("int8", "uint8"))}
DENSE = [("mxfp4_16", "mxfp4_16"), ("fp4", "fp6_e2m3"), ("fp6_e3m2", "fp8"),
         ("tf32", "tf32"), ("int8", "int8"), ("uint8", "int8"),
         ("f16", "f16")]


def operands(kernel, rng, m, n, k, lead=()):
    """Operands of the same step everywhere, where an exact product needs it."""
    a, b = kernel.arg("a"), kernel.arg("b")
    x, w = integers(rng, (*lead, m, k)), integers(rng, (*lead, n, k))
    if a.format.scale is None:
        x, w = np.rint(x), np.rint(w)
    x = np.abs(x) if a.format.element == "uint8" else x
    w = np.abs(w) if b.format.element == "uint8" else w
    return (bs.quantize(holding(x, a), like=a), bs.quantize(holding(w, b), like=b))


def check_sums(d, x, w):
    """Whether D is the product but for the order of sums."""
    a, b = x.dequantize().astype(np.float64), w.dequantize().T
    assert (np.abs(d - a @ b) <= 2.0 ** -20 * (np.abs(a) @ np.abs(b))).all()


def check_product(kernel, x, w, d):
    expected = exact_product(x, w)
    assert np.count_nonzero(expected) > expected.size // 2
    bound = 0
    if x.tensor_scale is not None:
        bound = 2.0 ** -20 * np.einsum(
            "mk,nk->mn", np.abs(x.dequantize()), np.abs(w.dequantize()))
    assert (np.abs(d - expected) <= bound).all()


@pytest.mark.parametrize("name, side", [(name, "a") for name in SPARSE] +
                         [(name, "b") for name in ("mxfp8", "nvfp4", "int8")
                          if name in SPARSE])
def test_sparse_products(name, side):
    a, b = SPARSE[name] if side == "a" else SPARSE[name][::-1]
    out = "i32" if name == "int8" else "f32"
    kernel = bs.compile(bs.matmul(M="M", N=72, K=320, a=a, b=b, out=out))
    assert kernel.arg("a").format == a and kernel.arg("b").format == b
    x, w = operands(kernel, np.random.default_rng(1), 37, 72, 320)
    check_product(kernel, x, w, kernel.emulate(x, w))
    assert kernel.verify(M=5, data="exact")


@pytest.mark.parametrize("a, b", DENSE)
def test_dense_products(a, b):
    out = "i32" if a in ("int8", "uint8") else "f32"
    kernel = bs.compile(bs.matmul(M="M", N=72, K=320, a=a, b=b, out=out))
    x, w = operands(kernel, np.random.default_rng(2), 37, 72, 320)
    check_product(kernel, x, w, kernel.emulate(x, w))


@pytest.mark.parametrize("a, b", [
    ("fp8_tensor", "fp8_tensor"), ("fp8_row", "fp8_row"),
    ("fp8_tensor", "fp8_row"), ("int8_row", "int8_row"),
    (bs.Format("e5m2", "ue8m0", rows=32), "fp8"),
    (bs.Format("e2m3", "bf16"), bs.Format("e4m3", "f16", rows=16)),
    (bs.Format("e4m3", "ue4m3"), bs.Format("e5m2", "ue5m3", rows=0)),
    (bs.Format("int8", "e5m2"), bs.Format("e4m3", "ue5m3"))])
def test_scales_of_all_of_k(a, b):
    """Factors of rows and tensors, which differ from row to row."""
    kernel = bs.compile(bs.matmul(M="M", N=72, K=320, a=a, b=b))
    rng = np.random.default_rng(4)
    operands_ = []
    for name, rows in (("a", 37), ("b", 72)):
        argument = kernel.arg(name)
        assert argument.format == bs.format_named(a if name == "a" else b)
        values = rng.standard_normal((rows, 320))
        if argument.format.scale is None:
            operands_.append(bs.quantize(values, like=argument))
            continue
        values *= np.exp2(np.arange(rows) % 7)[:, None]
        operands_.append(bs.quantize(values, like=argument))
        assert operands_[-1].scales.shape == (operands_[-1].scale_rows, 1)
        # The largest value of a row alone decides about its scale.
        error = np.abs(operands_[-1].dequantize() - values).max(axis=1)
        if argument.format.rows == 1:
            assert (error <= np.abs(values).max(axis=1) / 8).all()
    x, w = operands_
    d = kernel.emulate(x, w)
    check_sums(d, x, w)
    assert kernel.verify(M=5)
    # Another row's scale is another product.
    if kernel.arg("b").format.rows == 1 and w.scales is not None:
        moved = bs.Scaled(w.data, np.roll(w.scales, 1, axis=0),
                          format=w.format)
        assert (kernel.emulate(x, moved) != d).any(axis=0).all()


@pytest.mark.parametrize("target", ["sm_100a", "sm_120a"])
@pytest.mark.parametrize("a, b", [
    (bs.Format("e4m3", "ue8m0", 128), bs.Format("e4m3", "ue8m0", 128, rows=128)),
    (bs.Format("e5m2", "ue8m0", 64, rows=0), "mxfp6_e2m3"),
    ("nvfp4", bs.Format("e2m1", "ue4m3", 16, True, rows=16)),
    (bs.Format("e2m1", "ue8m0", 32, rows=4), bs.Format("e2m1", "ue8m0", 256))])
def test_repeated_scales(target, a, b):
    """Scales of several rows and of long tiles, no two neighbours alike."""
    kernel = bs.compile(bs.matmul(M="M", N=200, K=512, a=a, b=b), target)
    rng = np.random.default_rng(5)
    operands_ = []
    for name, rows in (("a", 37), ("b", 200)):
        argument = kernel.arg(name)
        assert argument.format == bs.format_named(a if name == "a" else b)
        values = rng.standard_normal((rows, 512))
        values *= np.exp2(np.arange(rows) // 16 % 7)[:, None]
        values *= np.exp2(np.arange(512) // 16 % 5)
        operands_.append(bs.quantize(values, like=argument))
    x, w = operands_
    d = kernel.emulate(x, w)
    check_sums(d, x, w)
    assert kernel.verify(M=5)
    # One scale more is that of its rows, and of no others.
    scales = w.to("plain").scales.copy()
    codes, rows = scales.view(np.uint8), w.format.rows
    codes[-1, 1] += 1
    other = bs.Scaled(w.data, scales, w.tensor_scale, format=w.format)
    changed = (kernel.emulate(x, other.to("tiled_128x4")) != d).any(axis=0)
    assert changed.tolist() == [n // rows == 199 // rows for n in range(200)]


@pytest.mark.parametrize("target", ["sm_100a", "sm_120a"])
def test_every_scale_of_ue8m0(target):
    """Codes 0 (2^-127), 254 and 255 (NaN) as factors of rows and columns."""
    one = bs.Format("e4m3", "ue8m0")
    kernel = bs.compile(bs.matmul(M=256, N=16, K=32, a=one, b=one), target)
    codes = np.arange(256, dtype=np.uint8)[:, None]
    x = bs.Scaled(np.ones((256, 32), kernel.arg("a").format.dtype),
                  codes.view(one.scale_dtype), format=one)
    w = bs.Scaled(np.full((16, 32), 0.5, x.data.dtype),
                  np.full((16, 1), 127, np.uint8).view(one.scale_dtype),
                  format=one)
    w.scales.view(np.uint8)[3] = 255
    d = kernel.emulate(x, w)
    expected = np.repeat(np.exp2(codes.astype(np.float64) - 123), 16, axis=1)
    expected[expected >= 2.0**128] = np.inf
    expected[255], expected[:, 3] = np.nan, np.nan
    np.testing.assert_array_equal(d, expected.astype(np.float32))


def test_warp_level_sparse():
    a, b = SPARSE["mxfp8"]
    kernel = bs.compile(bs.matmul(M="M", N=72, K=320, a=a, b=b), "sm_120a")
    x, w = operands(kernel, np.random.default_rng(3), 37, 72, 320)
    check_product(kernel, x, w, kernel.emulate(x, w))


@pytest.mark.parametrize("a_order", ["k_major", "mn_major"])
@pytest.mark.parametrize("b_order", ["k_major", "mn_major"])
@pytest.mark.parametrize("a, b", [("mxfp8", "mxfp8_e5m2"), ("bf16", "bf16")])
def test_orders(a, b, a_order, b_order):
    kernel = bs.compile(bs.matmul(
        M=48, N=80, K="K", a=a, b=b, batch="batch",
        a_order=a_order, b_order=b_order))
    assert kernel.arg("a").order == a_order
    assert kernel.arg("b").order == b_order
    x, w = operands(kernel, np.random.default_rng(4), 48, 80, 160, (2,))
    d = kernel.emulate(x, w)
    assert d.shape == (2, 48, 80) and (d == exact_product(x, w)).all()
    assert kernel.verify(K=160, batch=3, data="exact")


def test_dynamic_sizes():
    kernel = bs.compile(bs.matmul(M="M", N="N", K="K", batch="batch",
                                  a="mxfp8", b="mxfp4", out="bf16"))
    rng = np.random.default_rng(5)
    for batch, m, n, k in ((1, 1, 8, 32), (2, 129, 40, 96), (3, 7, 136, 512)):
        x, w = operands(kernel, rng, m, n, k, (batch,))
        d = kernel.emulate(x, w)
        expected = bs.quantize(exact_product(x, w).reshape(1, -1), "bf16").data
        assert (d.reshape(1, -1) == expected).all()


def test_where_the_metadata_lie():
    """By docs/launch-plan.md: byte of element k of row r, two bits a place."""
    format_ = F["fp8"].sparse()
    values = np.zeros((130, 256), np.float32)
    values[37, 9:11] = 1, 2  # places 1 and 2 of the third group
    values[129, 255] = 3     # place 3 of the last group, with place 0
    stored, metadata = bs.quantize(values, format_).compressed()
    assert metadata.size == 2 * 2 * 128 * 16
    assert metadata[37 * 16 + 1] == 0x49 and metadata[129 * 16 + 1] == 0x44
    assert metadata[2 * 2048 + 2048 + 1 * 16 + 15] == 0xc4
    assert stored.reshape(130, 128)[37, 4:6].tolist() == [0x38, 0x40]
    packed = bs.quantize(values, format_).packed()
    assert (packed == stored).all()


def test_sparsity_is_checked():
    format_ = F["mxfp8"].sparse()
    assert format_ == bs.Format("e4m3", "ue8m0", 64, sparsity="2:4")
    assert format_.spec == "e8m0_t32n2m4"
    assert F["nvfp4"].sparse().spec == "multi_float32_e4m3fn_t16n4m8"
    assert F["tf32"].sparse().spec == "n1m2"
    values = np.ones((3, 64), np.float32)
    with pytest.raises(bs.Refused) as caught:
        bs.quantize(values, format_)
    assert "row 0: the elements 0 to 3 along K break the sparsity '2:4'; " \
        "blockscale.prune" in str(caught.value)
    with pytest.raises(bs.Refused, match="K is 6: sparsity '2:4' has groups of"):
        bs.quantize(np.zeros((1, 6)), F["fp8"].sparse())
    for wrong, words in ((lambda: bs.prune(values, "3:4"), "no sparsity '3:4'"),
                         (lambda: bs.prune(values[:, :6], "2:4"), "multiple of"),
                         (lambda: bs.prune(values[0], "2:4"), "rows x K"),
                         (lambda: format_.sparse(), "is sparse already"),
                         (lambda: F["fp8"].sparse("5:8"), "no sparsity '5:8'"),
                         (lambda: bs.quantize(values, "fp8").compressed(),
                          "is not sparse"),
                         (lambda: bs.quantize(values, "fp8").packed(
                             order="rows"), "no order 'rows'")):
        with pytest.raises(bs.Refused, match=words):
            wrong()


def test_pruning():
    values = np.array([[1, -3, 2, 0, 5, 5, 5, 5]], np.float32)
    assert bs.prune(values, "2:4").tolist() == [[0, -3, 2, 0, 5, 5, 0, 0]]
    assert bs.prune(values, "1:2").tolist() == [[0, -3, 2, 0, 5, 0, 5, 0]]
    # Pairs by the sum of their squares: 10, 4, 50, 50.
    assert bs.prune(values, "4:8 in pairs").tolist() == [
        [0, 0, 0, 0, 5, 5, 5, 5]]


def test_integers_and_tf32():
    values = np.array([[-200, -128.5, 0.5, 1.5, 126.6, 300, 255, 256]])
    assert bs.quantize(values, "int8").data.tolist() == [
        [-128, -128, 0, 2, 127, 127, 127, 127]]
    assert bs.quantize(values, "uint8").data.tolist() == [
        [0, 0, 0, 2, 127, 255, 255, 255]]
    # 1 + 2^-11 lies between two numbers of tf32 and goes to the even one.
    x = bs.quantize([[1 + 2.0 ** -11, 1 + 3 * 2.0 ** -11, -3e38, 3.4028e38]],
                    "tf32")
    assert x.data[0, :2].tolist() == [1, 1 + 2.0 ** -9]
    assert np.isfinite(x.data).all()
    # What a kernel does not read is not part of the value.
    raw = bs.Scaled(np.array([[0x3f801fff]], np.uint32).view(np.float32),
                    format="tf32")
    assert raw.dequantize().tolist() == [[1]]


@settings(max_examples=40, deadline=None)
@given(arrays(np.float32, st.tuples(st.integers(1, 5), st.just(64)),
              elements=st.floats(-2.0**20, 2.0**20, width=32)),
       st.sampled_from(sorted(SPARSE)))
def test_pruned_data_hold_their_pattern(values, name):
    format_ = SPARSE[name][0]
    if name == "int8":
        values = np.clip(values, -100, 100)
    x = bs.quantize(bs.prune(values, format_), format_)
    stored, metadata = x.compressed()
    width = x.data.dtype.itemsize
    assert stored.nbytes == x.data.nbytes // 2 and metadata.size % 2048 == 0
    kept = stored.view(f"u{width}")
    present = x.data.view(f"u{width}").ravel()
    zero = np.zeros(1, x.data.dtype).view(f"u{width}")[0]
    minus = (-np.zeros(1, x.data.dtype)).view(f"u{width}")[0]
    # All that is not zero is stored, in its order.
    def nonzero(codes):
        return codes[(codes != zero) & ((codes != minus) | (name == "int8"))]
    assert (nonzero(kept) == nonzero(present)).all()
