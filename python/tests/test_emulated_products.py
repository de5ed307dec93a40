# Part of the blockscale project, under the Apache License v2.0 with LLVM
# Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

"""Products, and kernels of others, on the emulator against numpy."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import blockscale as bs


def integers(rng, shape):
    """Small integers: what they are scaled by is a power of two, and sums of
    their products are exact. Rows and blocks differ."""
    values = rng.integers(-3, 4, shape).astype(np.float32)
    exponents = rng.integers(-2, 3, (*shape[:-1], -(-shape[-1] // 32)))
    return values * np.repeat(2.0 ** exponents, 32, -1)[..., :shape[-1]]


@pytest.mark.parametrize("target, a, b", [
    ("sm_100a", "mxfp8", "mxfp8_e5m2"), ("sm_100a", "mxfp6_e2m3", "mxfp8"),
    ("sm_100a", "mxfp4", "mxfp4"), ("sm_100a", "nvfp4_one_level",
                                    "nvfp4_one_level"),
    ("sm_100a", "bf16", "bf16"), ("sm_100a", "fp8", "fp8_e5m2"),
    ("sm_103a", "mxfp4", "mxfp8"), ("sm_120a", "mxfp8", "mxfp6_e3m2")])
def test_products(target, a, b):
    rng = np.random.default_rng(5)
    kernel = bs.compile(bs.matmul(M="M", N=72, K=288, a=a, b=b), target)
    x = bs.quantize(integers(rng, (37, 288)), like=kernel.arg("a"))
    w = bs.quantize(integers(rng, (72, 288)), like=kernel.arg("b"))
    d = kernel.emulate(x, w)
    expected = x.dequantize().astype(np.float64) @ w.dequantize().T
    assert d.dtype == np.float32 and d.shape == (37, 72)
    assert np.count_nonzero(expected) > expected.size // 2
    assert (d == expected.astype(np.float32)).all()


def test_epilogue_and_batch():
    rng = np.random.default_rng(6)
    kernel = bs.compile(bs.matmul(
        M=33, N=40, K=64, batch="batch", a="mxfp8", b="mxfp8", alpha=True,
        beta=True, bias="column", activation="relu"))
    x, w = (bs.quantize(integers(rng, (3, rows, 64)), like=kernel.arg("a"))
            for rows in (33, 40))
    c = rng.integers(-9, 10, (3, 33, 40)).astype(np.float32)
    bias = np.arange(40, dtype=np.float32)
    d = kernel.emulate(x, w, c=c, bias=bias, alpha=0.5, beta=2.0)
    sums = np.einsum("bmk,bnk->bmn", x.dequantize(), w.dequantize())
    expected = np.maximum(0.5 * sums + 2 * c + bias, 0)
    assert (d == expected).all() and np.count_nonzero(d) > d.size // 4


def test_two_levels():
    rng = np.random.default_rng(7)
    kernel = bs.compile(bs.matmul(M="M", N=64, K=256, a="nvfp4", b="nvfp4"))
    x = bs.quantize(rng.standard_normal((50, 256)), like=kernel.arg("a"))
    w = bs.quantize(rng.standard_normal((64, 256)) * 3, like=kernel.arg("b"))
    d = kernel.emulate(x, w)
    a, b = x.dequantize().astype(np.float64), w.dequantize().astype(np.float64)
    bound = (np.abs(a) @ np.abs(b).T) * 2.0 ** -20
    assert (np.abs(d - a @ b.T) <= bound).all()


@pytest.fixture(scope="module")
def small():
    return bs.compile(bs.matmul(M="M", N=16, K=64, a="mxfp8", b="mxfp8"))


def test_wrong_operands(small):
    x = bs.quantize(np.ones((4, 64)), like=small.arg("a"))
    w = bs.quantize(np.ones((16, 64)), like=small.arg("b"))
    wrong = [
        ((x.to("plain"), w), {}, "are in layout 'plain': the kernel reads "
         "'tiled_128x4'; convert them with .to('tiled_128x4')"),
        ((bs.quantize(np.ones((4, 64)), "mxfp4", layout="tiled_128x4"), w), {},
         "'a' is in format 'mxfp4': the kernel reads 'mxfp8'"),
        ((np.ones((4, 64)), w), {}, "expected a blockscale.Scaled"),
        ((x, x), {}, "N is 4: the kernel is for 16"),
        ((x, w), {"bias": np.ones(16)}, "the kernel takes no 'bias'"),
        ((x, bs.quantize(np.ones((16, 32)), like=small.arg("b"))), {},
         "expected the same K"),
        ((x, w), {"completion": "late"}, "completion = 'late'"),
    ]
    for operands, options, words in wrong:
        with pytest.raises(bs.Refused) as caught:
            small.emulate(*operands, **options)
        assert words in str(caught.value)
    with pytest.raises(bs.Refused, match="no kernel 'other'"):
        small.emulate(x, w, kernel="other")


def test_a_hazard_has_its_line(small):
    edited = small.ptx.replace("tcgen05.wait::ld", "// ", 1)
    assert edited != small.ptx
    kernel = bs.Kernel("sm_100a", edited, b"", small.plan_text,
                       small._report_text, "", "")
    x = bs.quantize(np.ones((4, 64)), like=small.arg("a"))
    w = bs.quantize(np.ones((16, 64)), like=small.arg("b"))
    with pytest.raises(bs.Hazard) as caught:
        kernel.emulate(x, w)
    assert caught.value.findings[0]["line"] > 0


AFFINE = """
.version 8.8
.target sm_100a
.address_size 64
.visible .entry affine(.param .u64 in, .param .u64 out, .param .u32 add)
{
  .reg .b32 %thread, %value, %add;
  .reg .b64 %in, %out, %from, %to;
  ld.param.u64 %in, [in];
  ld.param.u64 %out, [out];
  ld.param.u32 %add, [add];
  mov.u32 %thread, %tid.x;
  mad.wide.u32 %from, %thread, 4, %in;
  mad.wide.u32 %to, %thread, 4, %out;
  ld.global.b32 %value, [%from];
  mad.lo.u32 %value, %value, 3, %add;
  st.global.b32 [%to], %value;
  ret;
}
"""


def test_anybodys_kernel():
    values, out = np.array([0, 1, 10, 100], np.uint32), np.zeros(4, np.uint32)
    report = bs.emulate(AFFINE, [values, out, np.uint32(7)], block=4)
    assert out.tolist() == [7, 10, 37, 307] and report["clean"]
    with pytest.raises(bs.Hazard) as caught:
        bs.emulate(AFFINE, [values, out, np.uint32(7)], block=5)
    assert caught.value.findings[0]["kind"] == "out-of-bounds"
    assert caught.value.findings[0]["lane"] == 4
    with pytest.raises(bs.Refused, match="argument 2 is a int"):
        bs.emulate(AFFINE, [values, out, 7], block=4)
    with pytest.raises(bs.Refused, match="argument 0 is not contiguous"):
        bs.emulate(AFFINE, [np.zeros(8, np.uint32)[::2], out, np.uint32(7)])
    out.flags.writeable = False
    with pytest.raises(bs.Hazard):
        bs.emulate(AFFINE, [values, out, np.uint32(7)], block=4)
    with pytest.raises(bs.Refused, match="has 0 kernels"):
        bs.emulate("no PTX", [])


@settings(max_examples=40, deadline=None)
@given(st.dictionaries(
    st.sampled_from(["M", "N", "K", "a", "b", "out", "batch", "bias", "name"]),
    st.one_of(st.none(), st.integers(-3, 300), st.text(max_size=8),
              st.sampled_from(["mxfp8", "nvfp4", "fp8", "f32", "M", "row"]))))
def test_any_spec_compiles_or_is_refused(fields):
    good = dict(M=64, N=64, K=64, a="mxfp8", b="mxfp8")
    try:
        assert bs.compile(bs.matmul(**{**good, **fields})).ptx
    except (bs.Refused, ValueError, TypeError):
        pass
