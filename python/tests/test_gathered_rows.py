# Part of the blockscale project, under the Apache License v2.0 with LLVM
# Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

"""Groups of rows that a kernel gathers by number, emulated and launched."""

import numpy as np
import pytest

import blockscale as bs
from conftest import integers

# Tokens go to two experts each; of one row less and more than a tile, none, and all but
# what nobody has.
TOKENS, ROWS, N, K = 90, 180, 72, 256
ENDS = np.array([129, 129, 130, 177])
GROUPS = len(ENDS)
KINDS = {
    "mxfp8": ('f8E4M3FN, "e8m0_t32", layout = grouped_128x4',
              'f8E4M3FN, "e8m0_t32", layout = tiled_128x4'),
    "nvfp4": ('f4E2M1FN, "multi_float32_e4m3fn_t16", layout = grouped_128x4',
              'f4E2M1FN, "multi_float32_e4m3fn_t16", layout = tiled_128x4'),
    "rows": ('f8E4M3FN, "float32_t0"', 'f8E4M3FN, "float32_t0"'),
    "tiles": ('f8E4M3FN, "float32_t128"', 'f8E4M3FN, "float32_t4_t128"'),
    "plain": ("bf16", "bf16")}


def compiled(kind, target="sm_100a", tokens="?"):
    a, b = KINDS[kind]
    ends, rows = f"tensor<{GROUPS}xi32>", "tensor<?xi32>"
    return bs.compile(f"""
!a = !blockscale.tensor<{tokens}x{K}x{a}>
!b = !blockscale.tensor<{GROUPS}x{N}x{K}x{b}>
func.func @k(%a: !a, %b: !b, %ends: {ends}, %rows: {rows}) -> tensor<?x{N}xf32> {{
  %d = blockscale.matmul %a, %b groups(%ends : {ends}) rows(%rows : {rows}) : !a, !b -> tensor<?x{N}xf32>
  return %d : tensor<?x{N}xf32>
}}""", target)


def numbers():
    """Every token twice, in no order, and numbers of none."""
    rows = np.random.default_rng(11).permutation(np.tile(np.arange(TOKENS), 2))
    rows[[3, 70, 128, 131]] = -1, TOKENS, -2**31, 2**31 - 1
    return rows


def operands(kernel, seed):
    rng = np.random.default_rng(seed)
    return [bs.quantize(integers(rng, shape), like=kernel.arg(name))
            for name, shape in (("a", (TOKENS, K)), ("b", (GROUPS, N, K)))]


def product(x, w, rows):
    """Row by row, in double precision."""
    wanted, group = np.zeros((ROWS, N)), np.searchsorted(ENDS, np.arange(ROWS), "right")
    for at in range(ENDS[-1]):
        if 0 <= rows[at] < TOKENS:
            wanted[at] = w[group[at]].astype(np.float64) @ x[rows[at]].astype(np.float64)
    return wanted


@pytest.fixture(scope="module", params=KINDS)
def kernel(request):
    return compiled(request.param)


def test_numbers(device, kernel):
    x, w = operands(kernel, 1)
    rows = numbers()
    wanted = product(x.dequantize(), w.dequantize(), rows)
    assert len(np.unique(wanted)) > 1000
    near = dict(rtol=1e-5, atol=1e-3) if kernel.arg("a").format.by_epilogue or \
        x.tensor_scale is not None else dict(rtol=0, atol=0)
    for num_sms in (None, 3):
        d = kernel.emulate(x, w, ends=ENDS, rows=rows, num_sms=num_sms)
        assert d.shape == (ROWS, N)
        np.testing.assert_allclose(d[:177], wanted[:177], **near)
        assert not d[[3, 70, 128, 131]].any() and not d[177:].any()
    launched = kernel.launch(x, w, ends=ENDS, rows=rows)
    assert np.array_equal(launched[:177], d[:177])


def test_static_tokens():
    kernel = compiled("plain", tokens=TOKENS)
    x, w = operands(kernel, 2)
    wanted = product(x.dequantize(), w.dequantize(), numbers())
    assert np.array_equal(kernel.emulate(x, w, ends=ENDS, rows=numbers()), wanted)
    few = bs.quantize(np.ones((TOKENS - 1, K)), like=kernel.arg("a"))
    with pytest.raises(bs.Refused, match="tokens is 89: the kernel is for 90"):
        kernel.emulate(few, w, ends=ENDS, rows=numbers())


@pytest.mark.parametrize("kind", ["mxfp8", "rows"])
def test_on_warps(kind):
    kernel = compiled(kind, "sm_120a")
    x, w = operands(kernel, 3)
    wanted = product(x.dequantize(), w.dequantize(), numbers())
    d = kernel.emulate(x, w, ends=ENDS, rows=numbers(), num_sms=3)
    np.testing.assert_allclose(d[:177], wanted[:177], rtol=1e-5, atol=1e-3)


def test_what_lies_on_the_device(device):
    """Tokens are uploaded once, numbers may have been written there."""
    kernel = compiled("rows")
    x, w = operands(kernel, 4)
    tokens, weights = kernel.upload("a", x), kernel.upload("b", w)
    prepared = kernel.prepare(M=ROWS, tokens=TOKENS)
    out = prepared.empty_out()
    for rows in (numbers(), numbers()[::-1].copy()):
        wanted = product(x.dequantize(), w.dequantize(), rows)
        prepared(tokens, weights, out=out, ends=bs.to_device(ENDS.astype(np.int32)),
                 rows=bs.to_device(rows.astype(np.int32)))
        np.testing.assert_allclose(out.numpy()[:177], wanted[:177], rtol=1e-5,
                                   atol=1e-3)
    d = kernel.launch(tokens, weights, ends=ENDS, rows=rows)
    assert np.array_equal(d.numpy()[:177], out.numpy()[:177])


def test_contradictions(device):
    kernel, plain = compiled("mxfp8"), compiled("plain")
    x, w = operands(kernel, 5)
    rows = numbers()
    for run, words in (
            (lambda: kernel.emulate(x, w, ends=ENDS),
             "gathers rows and needs 'rows', the row of 'a' that each row of D is of"),
            (lambda: kernel.launch(x, w, ends=ENDS), "needs 'rows'"),
            (lambda: kernel.emulate(x, w, ends=ENDS, rows=rows / 2),
             "'rows' are float64 of shape (180,): expected a whole number for each"),
            (lambda: kernel.emulate(x, w, ends=ENDS + 4, rows=rows),
             "expected none below the one before it, nor above the 180 rows"),
            (lambda: kernel.upload("a", x, ends=ENDS),
             "gathers rows and needs 'rows'"),
            (lambda: plain.prepare(M=ROWS), "tokens is dynamic")):
        with pytest.raises(bs.Refused) as caught:
            run()
        assert words in str(caught.value)
    other = bs.compile(bs.matmul(M=16, N=16, K=64, a="mxfp8", b="mxfp8"))
    one = bs.quantize(np.ones((16, 64)), like=other.arg("a"))
    with pytest.raises(bs.Refused, match="the kernel takes no 'rows'"):
        other.emulate(one, one, rows=rows)
