# Part of the blockscale project, under the Apache License v2.0 with LLVM
# Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

"""Kernels that multiply groups of rows by a matrix each, emulated and launched."""

import ml_dtypes
import numpy as np
import pytest

import blockscale as bs
from conftest import integers

# Of two tiles, none, one row, the rest but three rows that nobody has.
ENDS = np.array([130, 130, 131, 297])
ROWS, GROUPS, N, K = 300, len(ENDS), 72, 256


def compiled(a, b, more="", types="", out="f32", target="sm_100a"):
    return bs.compile(f"""
!a = !blockscale.tensor<?x{K}x{a}>
!b = !blockscale.tensor<{GROUPS}x{N}x{K}x{b}>
func.func @k(%a: !a, %b: !b, %ends: tensor<{GROUPS}xi32>{types}) -> tensor<?x{N}x{out}> {{
  %d = blockscale.matmul %a, %b groups(%ends : tensor<{GROUPS}xi32>) {more} -> tensor<?x{N}x{out}>
  return %d : tensor<?x{N}x{out}>
}}""", target)


KINDS = {
    "mxfp8": ('f8E4M3FN, "e8m0_t32", layout = grouped_128x4',
              'f8E4M3FN, "e8m0_t32", layout = tiled_128x4'),
    "rows": ('f8E4M3FN, "float32_t0"', 'f8E4M3FN, "float32_t0"'),
    "tiles": ('f8E4M3FN, "float32_t128"', 'f8E4M3FN, "float32_t4_t128"'),
    "zeros": ('ui4, "float32_int8_t128"', 'ui4, "bfloat16_int16_t256"'),
    "plain": ("bf16", "bf16")}


def product(x, w, bias=None):
    """Of the values of both, group by group, in double precision."""
    wanted, start = np.zeros((ROWS, N)), 0
    for at, end in enumerate(ENDS):
        wanted[start:end] = x[start:end].astype(np.float64) @ \
            w[at].astype(np.float64).T + (0 if bias is None else bias[at])
        start = end
    return wanted


def operands(kernel, seed):
    rng = np.random.default_rng(seed)
    return [bs.quantize(integers(rng, shape), like=kernel.arg(name))
            for name, shape in (("a", (ROWS, K)), ("b", (GROUPS, N, K)))]


@pytest.fixture(scope="module", params=KINDS)
def kernel(request):
    return compiled(*KINDS[request.param], ": !a, !b")


@pytest.fixture(scope="module")
def mxfp8():
    return compiled(*KINDS["mxfp8"], f"bias(%v) : !a, !b, tensor<{GROUPS}x{N}xf32>",
                    f", %v: tensor<{GROUPS}x{N}xf32>", "bf16")


def test_numbers(device, kernel):
    x, w = operands(kernel, 1)
    wanted = product(x.dequantize(), w.dequantize())
    assert len(np.unique(wanted)) > 1000
    # Sums are exact, but for float scales, which are no powers of two.
    near = dict(rtol=1e-5, atol=1e-3) if kernel.arg("a").format.by_epilogue else \
        dict(rtol=0, atol=0)
    for num_sms in (None, 3):
        d = kernel.emulate(x, w, ends=ENDS, num_sms=num_sms)
        assert d.shape == (ROWS, N) and not d[297:].any()
        np.testing.assert_allclose(d[:297], wanted[:297], **near)
    launched = kernel.launch(x, w, ends=ENDS)
    assert np.array_equal(launched[:297], d[:297])


@pytest.mark.parametrize("kind", ["mxfp8", "rows"])
def test_on_warps(kind):
    """sm_120a has no tensor memory, and kernels for groups all the same."""
    kernel = compiled(*KINDS[kind], ": !a, !b", target="sm_120a")
    x, w = operands(kernel, 6)
    wanted = product(x.dequantize(), w.dequantize())
    for num_sms in (None, 3):
        d = kernel.emulate(x, w, ends=ENDS, num_sms=num_sms)
        np.testing.assert_allclose(d[:297], wanted[:297], rtol=1e-5, atol=1e-3)
        assert not d[297:].any()


def test_what_lies_on_the_device(device, mxfp8):
    """Weights stay there, the ends may have been written there."""
    assert mxfp8.arg("a").layout == "grouped_128x4"
    x, w = operands(mxfp8, 2)
    bias = np.random.default_rng(3).integers(-8, 9, (GROUPS, N)).astype(np.float32)
    wanted = product(x.dequantize(), w.dequantize(), bias).astype(ml_dtypes.bfloat16)
    prepared = mxfp8.prepare(M=ROWS)
    out, weights = prepared.empty_out(), mxfp8.upload("b", w)
    assert out.shape == (ROWS, N)
    for tokens in (prepared.upload("a", x, ENDS), mxfp8.upload("a", x, ends=ENDS)):
        assert tokens.layout == "grouped_128x4"
        prepared(tokens, weights, out=out, ends=bs.to_device(ENDS.astype(np.int32)),
                 bias=bs.to_device(bias))
        assert np.array_equal(out.numpy()[:297], wanted[:297])
    d = mxfp8.launch(tokens, weights, ends=ENDS, bias=bias)
    assert np.array_equal(d.numpy()[:297], wanted[:297])
    assert np.array_equal(mxfp8.emulate(x, w, ends=ENDS, bias=bias)[:297], wanted[:297])


@pytest.mark.parametrize("ends, words", [
    (None, "multiplies groups of rows and needs 'ends', the row behind each group"),
    ([1, 2, 3], "'ends' are int64 of shape (3,): expected 4 whole numbers"),
    (np.zeros(4), "'ends' are float64 of shape (4,): expected 4 whole numbers"),
    ([5, 4, 6, 7], "'ends' are 5, 4, 6, 7: expected none below the one before it, nor "
     "above the 300 rows of 'a'"),
    ([-1, 4, 6, 7], "'ends' are -1, 4, 6, 7: expected none below"),
    ([5, 5, 6, 301], "'ends' are 5, 5, 6, 301: expected none below")])
def test_wrong_ends(device, mxfp8, ends, words):
    x, w = operands(mxfp8, 4)
    ends = ends if ends is None else np.asarray(ends)
    for run in (mxfp8.emulate, mxfp8.launch):
        with pytest.raises(bs.Refused) as caught:
            run(x, w, ends=ends, bias=np.zeros((GROUPS, N)))
        assert words in str(caught.value)


def test_contradictions(device, mxfp8):
    x, w = operands(mxfp8, 5)
    zeros = np.zeros((GROUPS, N), np.float32)
    tokens = mxfp8.upload("a", x, ends=ENDS)
    prepared = mxfp8.prepare(M=ROWS)
    for run, words in (
            (lambda: mxfp8.emulate(w.to("plain"), w, ends=ENDS, bias=zeros),
             "'a' is 4x72x256 and 'b' 4x72x256: expected the rows of all groups"),
            (lambda: mxfp8.emulate(x, w, ends=ENDS, bias=zeros[0]),
             "'bias' of shape (72,): expected (4, 72)"),
            (lambda: mxfp8.emulate(x.to("tiled_128x4"), w, ends=ENDS, bias=zeros),
             "in layout 'tiled_128x4': the kernel reads 'plain'"),
            (lambda: mxfp8.upload("a", x),
             "the scales of 'a' lie by groups: 'ends' are needed on the host"),
            (lambda: mxfp8.launch(x, w, ends=bs.to_device(ENDS.astype(np.int32)),
                                  bias=zeros),
             "the scales of 'a' lie by groups: 'ends' are needed on the host"),
            (lambda: prepared(tokens, mxfp8.upload("b", w), out=prepared.empty_out(),
                              bias=bs.to_device(zeros)), "needs 'ends'")):
        with pytest.raises(bs.Refused) as caught:
            run()
        assert words in str(caught.value)
    other = bs.compile(bs.matmul(M=16, N=16, K=64, a="mxfp8", b="mxfp8"))
    one = bs.quantize(np.ones((16, 64)), like=other.arg("a"))
    with pytest.raises(bs.Refused, match="the kernel takes no 'ends'"):
        other.emulate(one, one, ends=ENDS)


# Groups along K ------------------------------------------------------------

# Of two tiles and more, none, one instruction, and all but what nobody has.
K_ENDS = np.array([288, 288, 320, 608])
K_KINDS = {"plain": "bf16", "mxfp8": 'f8E4M3FN, "e8m0_t32", layout = grouped_128x4'}
ALL_K, M = 640, 200


@pytest.fixture(scope="module", params=K_KINDS)
def along_k(request):
    kind, ends = K_KINDS[request.param], f"tensor<{GROUPS}xi32>"
    bias, out = f"tensor<{GROUPS}x{N}xf32>", f"tensor<{GROUPS}x{M}x{N}xf32>"
    return bs.compile(f"""
!a = !blockscale.tensor<{M}x?x{kind}>
!b = !blockscale.tensor<{N}x?x{kind}>
func.func @k(%a: !a, %b: !b, %ends: {ends}, %v: {bias}) -> {out} {{
  %d = blockscale.matmul %a, %b groups(%ends : {ends}) bias(%v) : !a, !b, {bias} -> {out}
  return %d : {out}
}}""")


def sides(kernel, numbers):
    return (bs.quantize(numbers((rows, ALL_K)), like=kernel.arg(name))
            for name, rows in (("a", M), ("b", N)))


def test_groups_along_k(device, along_k):
    rng = np.random.default_rng(7)
    x, w = sides(along_k, lambda shape: integers(rng, shape))
    bias = rng.integers(-8, 9, (GROUPS, N)).astype(np.float32)
    wanted = np.stack([
        x.dequantize()[:, start:end] @ w.dequantize()[:, start:end].T + row
        for start, end, row in zip([0, *K_ENDS[:-1]], K_ENDS, bias)])
    assert len(np.unique(wanted)) > 500
    for num_sms in (None, 3):
        found = along_k.emulate(x, w, ends=K_ENDS, bias=bias, num_sms=num_sms)
        assert np.array_equal(found, wanted)
    assert np.array_equal(along_k.launch(x, w, ends=K_ENDS, bias=bias), wanted)
    prepared = along_k.prepare(K=ALL_K)
    out = prepared.empty_out()
    assert out.shape == wanted.shape
    prepared(prepared.upload("a", x, K_ENDS), along_k.upload("b", w, ends=K_ENDS),
             out=out, ends=bs.to_device(K_ENDS.astype(np.int32)),
             bias=bs.to_device(bias))
    assert np.array_equal(out.numpy(), wanted)


@pytest.mark.parametrize("ends, words", [
    (None, "multiplies groups along K and needs 'ends', the element of K behind each"),
    ([32, 64, 96], "'ends' are int64 of shape (3,): expected 4 whole numbers"),
    ([32, 40, 64, 96], "'ends' are 32, 40, 64, 96: expected multiples of "),
    ([64, 32, 64, 96], "none below the one before it, nor above K = 640"),
    ([32, 32, 32, 672], "none below the one before it, nor above K = 640")])
def test_wrong_ends_along_k(device, along_k, ends, words):
    x, w = sides(along_k, np.ones)
    ends = ends if ends is None else np.asarray(ends)
    for run in (along_k.emulate, along_k.launch):
        with pytest.raises(bs.Refused) as caught:
            run(x, w, ends=ends, bias=np.zeros((GROUPS, N)))
        assert words in str(caught.value)
    with pytest.raises(bs.Refused, match="expected two matrices with the K of all groups"):
        along_k.emulate(x, bs.quantize(np.ones((2, N, ALL_K)), like=along_k.arg("b")),
                        ends=K_ENDS)


# Groups of whole tiles of 128: of elements that TMA reaches so, of scales by which sums
# are multiplied, and of such as the host repeats. Types of both sides, and the dtypes of
# elements and scales.
BLOCK_ENDS = np.array([256, 256, 384, 640])
FP8, FP6, POWERS = ml_dtypes.float8_e4m3fn, ml_dtypes.float6_e2m3fn, \
    ml_dtypes.float8_e8m0fnu
BLOCK_KINDS = {
    "mixes": [('f8E4M3FN, "e8m0_t32", layout = grouped_128x4', FP8, 32, 1, POWERS),
              ('f6E2M3FN, "e8m0_t32", layout = grouped_128x4', FP6, 32, 1, POWERS)],
    "promoted": [('f8E4M3FN, "float32_t128"', FP8, 128, 1, np.float32),
                 ('f8E4M3FN, "float32_t128_t128"', FP8, 128, 128, np.float32)],
    "repeated": [('f8E4M3FN, "e8m0_t64", layout = grouped_128x4', FP8, 64, 1, POWERS),
                 ('f6E2M3FN, "e8m0_t32_t128", layout = grouped_128x4', FP6, 128, 32,
                  POWERS)]}


@pytest.mark.parametrize("kind", BLOCK_KINDS)
def test_groups_of_blocks_along_k(device, kind):
    rng = np.random.default_rng(11)
    (a, *_), (b, *_) = BLOCK_KINDS[kind]
    ends, out = f"tensor<{GROUPS}xi32>", f"tensor<{GROUPS}x{M}x{N}xf32>"
    kernel = bs.compile(f"""
!a = !blockscale.tensor<{M}x?x{a}>
!b = !blockscale.tensor<{N}x?x{b}>
func.func @k(%a: !a, %b: !b, %ends: {ends}) -> {out} {{
  %d = blockscale.matmul %a, %b groups(%ends : {ends}) : !a, !b -> {out}
  return %d : {out}
}}""")
    sides, values = [], []
    for name, (_, element, block, shared, scale), rows in zip(
            "ab", BLOCK_KINDS[kind], (M, N)):
        data = rng.integers(-3, 4, (rows, ALL_K)).astype(element)
        scales = np.exp2(rng.integers(-2, 3, (-(-rows // shared), ALL_K // block)))
        sides.append(bs.Scaled(data, scales.astype(scale),
                               format=kernel.arg(name).format))
        spread = np.repeat(np.repeat(scales, shared, axis=0)[:rows], block, axis=1)
        values.append(data.astype(np.float32) * spread.astype(np.float32))
    wanted = np.stack([values[0][:, start:end] @ values[1][:, start:end].T
                       for start, end in zip([0, *BLOCK_ENDS[:-1]], BLOCK_ENDS)])
    assert len(np.unique(wanted)) > 500
    for num_sms in (None, 3):
        found = kernel.emulate(*sides, ends=BLOCK_ENDS, num_sms=num_sms)
        assert np.array_equal(found, wanted)
    assert np.array_equal(kernel.launch(*sides, ends=BLOCK_ENDS), wanted)
    with pytest.raises(bs.Refused, match="expected multiples of 128, none below"):
        kernel.emulate(*sides, ends=BLOCK_ENDS - 32)


@pytest.fixture(scope="module")
def with_factors():
    kinds = [f'f8E4M3FN, "{spec}", layout = grouped' for spec in ("float32_t0", "float32")]
    ends, out = f"tensor<{GROUPS}xi32>", f"tensor<{GROUPS}x{M}x{N}xf32>"
    return bs.compile(f"""
!a = !blockscale.tensor<{M}x?x{kinds[0]}>
!b = !blockscale.tensor<{N}x?x{kinds[1]}>
func.func @k(%a: !a, %b: !b, %ends: {ends}) -> {out} {{
  %d = blockscale.matmul %a, %b groups(%ends : {ends}) : !a, !b -> {out}
  return %d : {out}
}}""")


def operands_with_factors(groups=GROUPS):
    """Each row of each group of `a` has a scale of its own, each group of `b` one."""
    rng = np.random.default_rng(9)
    x, w = (integers(rng, (rows, ALL_K)).astype(ml_dtypes.float8_e4m3fn)
            for rows in (M, N))
    s = np.exp2(np.arange(groups * M) % 7 - 3.0 * (np.arange(groups * M) % 2))
    t = np.exp2(np.arange(groups) - 1.0)
    return [bs.Scaled(data, scales.reshape(groups, -1, 1).astype(np.float32),
                      format=bs.Format("e4m3", "f32", rows=shared), layout="grouped")
            for data, scales, shared in ((x, s, 1), (w, t, 0))]


def of_factors(x, w):
    """Of what these are, group by group."""
    return np.stack([
        x.data[:, start:end].astype(np.float32) @ w.data[:, start:end].astype(
            np.float32).T * x.scales[at] * w.scales[at]
        for at, (start, end) in enumerate(zip([0, *K_ENDS[:-1]], K_ENDS))])


def test_factors_of_groups_along_k(device, with_factors):
    x, w = operands_with_factors()
    wanted = of_factors(x, w)
    assert len(np.unique(wanted)) > 500
    assert with_factors.arg("a").layout == with_factors.arg("b").layout == "grouped"
    for num_sms in (None, 3):
        found = with_factors.emulate(x, w, ends=K_ENDS, num_sms=num_sms)
        assert np.array_equal(found, wanted)
    assert np.array_equal(with_factors.launch(x, w, ends=K_ENDS), wanted)
    uploaded = with_factors.upload("a", x), with_factors.upload("b", w, ends=K_ENDS)
    ends = bs.to_device(K_ENDS.astype(np.int32))
    assert np.array_equal(with_factors.launch(*uploaded, ends=ends).numpy(), wanted)


def test_factors_of_groups_in_programs():
    """A function does not know how many groups there are; its launch asks the ends."""
    a, b = (f'!blockscale.tensor<{rows}x{ALL_K}xf8E4M3FN, "{spec}", layout = grouped>'
            for rows, spec in ((M, "float32_t0"), (N, "float32")))
    out = f"tensor<?x{M}x{N}xf32>"
    program = bs.Program(f"""
func.func @f(%a: {a}, %b: {b}, %ends: tensor<?xi32>) -> {out} {{
  %0 = blockscale.matmul %a, %b groups(%ends : tensor<?xi32>) : {a}, {b} -> {out}
  %1 = arith.addf %0, %0 : {out}
  return %1 : {out}
}}""")
    x, w = operands_with_factors()
    ends = K_ENDS.astype(np.int32)
    assert np.array_equal(program(x, w, ends), 2 * of_factors(x, w))
    for groups in (GROUPS - 1, GROUPS + 1):
        with pytest.raises(bs.Refused, match="operand 'a_scales' has the shape"):
            program(*operands_with_factors(groups), ends)
    with pytest.raises(bs.Refused, match="in layout 'plain', expected 'grouped'"):
        program(bs.Scaled(x.data, x.scales[0], format=x.format), w, ends)


def test_wrong_factors_of_groups_along_k(with_factors):
    x, w = operands_with_factors()
    few, _ = operands_with_factors(GROUPS - 1)
    of_all = bs.Scaled(x.data, x.scales[0], format=x.format)
    for run, words in (
            (lambda: with_factors.emulate(few, w, ends=K_ENDS),
             "'a' has scales of 3 groups along K: the launch has 4"),
            (lambda: with_factors.emulate(of_all, w, ends=K_ENDS),
             "the scales of 'a' are in layout 'plain': the kernel reads 'grouped'"),
            (lambda: bs.quantize(np.ones((M, ALL_K)), like=with_factors.arg("a")),
             "quantise the columns of each group"),
            (x.dequantize, "without them there are no values"),
            (lambda: x.to("plain"), "without them there are no values"),
            (lambda: bs.Scaled(x.data, x.scales[0], format=x.format, layout="grouped"),
             f"expected groups x {M} x 1 of rows x K"),
            (lambda: bs.Scaled(x.data, format="mxfp8", layout="grouped"),
             "layout 'grouped' is of scales that each cover all of K")):
        with pytest.raises(bs.Refused) as caught:
            run()
        assert words in str(caught.value)


COUNTS = np.array([130, 0, 1, 150])


@pytest.fixture(scope="module")
def counted():
    a, b = (f"!blockscale.tensor<{GROUPS}x{rows}x{K}xf8E4M3FN, "
            f'"e8m0_t32", layout = tiled_128x4>' for rows in ("?", N))
    d, counts = f"tensor<{GROUPS}x?x{N}xf32>", f"tensor<{GROUPS}xi32>"
    bias = f"tensor<{GROUPS}x{N}xf32>"
    return bs.compile(f"""
func.func @k(%a: {a}, %b: {b}, %counts: {counts}, %v: {bias}) -> {d} {{
  %d = blockscale.matmul %a, %b groups(%counts : {counts}) bias(%v) : {a}, {b}, {bias} -> {d}
  return %d : {d}
}}""")


def test_counts_of_rows(device, counted):
    """A matrix of `a` for each group, of which some rows are there."""
    rng = np.random.default_rng(17)
    a, b = (bs.quantize(integers(rng, (GROUPS, rows, K)), like=counted.arg(name))
            for name, rows in (("a", 150), ("b", N)))
    bias = integers(rng, (GROUPS, N)).astype(np.float32)
    x, w = a.dequantize().astype(np.float64), b.dequantize().astype(np.float64)
    wanted = x @ w.transpose(0, 2, 1) + bias[:, None, :]
    emulated = counted.emulate(a, b, ends=COUNTS, bias=bias, strict=True)
    there = counted.launch(counted.upload("a", a), b, ends=bs.to_device(COUNTS.astype(
        np.int32)), bias=bias).numpy()
    for at, count in enumerate(COUNTS):
        assert (emulated[at, :count] == wanted[at, :count]).all()
        assert (there[at, :count] == wanted[at, :count]).all()
        assert (emulated[at, count:] == 0).all()


@pytest.mark.parametrize("counts, words", [
    (None, "multiplies the rows that are there and needs 'ends', how many of each"),
    ([1, 2, 3], r"expected 4 whole numbers, the rows of each matrix of 'a'"),
    ([1, 2, 3, 151], r"'ends' are 1, 2, 3, 151: expected 0 to 150"),
    ([-1, 2, 3, 4], r"expected 0 to 150, the rows of each matrix of 'a'")])
def test_wrong_counts(counted, counts, words):
    rng = np.random.default_rng(18)
    a, b = (bs.quantize(integers(rng, (GROUPS, rows, K)), like=counted.arg(name))
            for name, rows in (("a", 150), ("b", N)))
    with pytest.raises(bs.Refused, match=words):
        counted.emulate(a, b, ends=counts, bias=np.zeros((GROUPS, N), np.float32))
