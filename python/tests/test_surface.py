# Part of the blockscale project, under the Apache License v2.0 with LLVM
# Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

"""Whatever one gives to whatever there is: an answer or one of our exceptions."""

import inspect

import ml_dtypes
import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp

import blockscale as bs

# Ours, and those of Python for arguments that a function does not have.
EXPECTED = (bs.Error, TypeError, BufferError)
many = settings(max_examples=150, deadline=None,
                suppress_health_check=[HealthCheck.too_slow,
                                       HealthCheck.function_scoped_fixture])

DTYPES = st.sampled_from([np.dtype(one) for one in (
    np.float32, np.float64, np.float16, np.int8, np.uint8, np.int64, np.bool_,
    np.complex64, ">f4", "S3", "O", ml_dtypes.bfloat16,
    ml_dtypes.float8_e4m3fn, ml_dtypes.float8_e8m0fnu,
    ml_dtypes.float4_e2m1fn)])
SHAPES = hnp.array_shapes(min_dims=0, max_dims=4, min_side=0, max_side=70)


@st.composite
def any_array(draw):
    """Of any type and shape, sliced, transposed, read-only."""
    dtype, shape = draw(DTYPES), draw(SHAPES)
    seed = draw(st.integers(0, 2**32 - 1))
    values = np.random.default_rng(seed).integers(-4, 5, shape)
    array = values.astype(dtype)
    if array.ndim and draw(st.booleans()):
        array = array[::draw(st.sampled_from([2, -1]))]
    if draw(st.booleans()):
        array = array.T
    if draw(st.booleans()):
        array.flags.writeable = False
    return array


anything = st.one_of(
    st.none(), st.booleans(), st.integers(-2**70, 2**70), st.floats(),
    st.text(max_size=6), st.binary(max_size=6), any_array(),
    st.lists(st.floats(width=32), max_size=4), st.just(object()),
    st.sampled_from([*bs.FORMATS, *bs.FORMATS.values(), "plain", "tiled_128x4",
                     "M", "a", "b", "2:4", "f32", "row", "immediate"]))


def survives(function, *arguments, **options):
    """The answer of a call, None where it was refused in good order."""
    try:
        return function(*arguments, **options)
    except EXPECTED as error:
        assert str(error) or isinstance(error, (TypeError, BufferError))
        return None


@many
@given(any_array(), st.sampled_from(sorted(bs.FORMATS)),
       st.sampled_from(["floor", "round_up", "mid_max", "rounded_max", "min_error",
                        None]),
       st.sampled_from(["plain", "tiled_128x4", None]))
def test_quantize(values, name, rule, layout):
    result = survives(bs.quantize, values, name, rule=rule, layout=layout)
    if result is not None:
        assert result.shape == values.shape
        assert np.isfinite(result.dequantize()).all()
        assert result.packed().dtype == np.uint8


@many
@given(anything, anything, anything, anything, anything)
def test_scaled(data, scales, tensor_scale, format_, layout):
    result = survives(bs.Scaled, data, scales, tensor_scale, format=format_,
                      layout=layout)
    if result is not None:
        result.dequantize()
        result.to("tiled_128x4").to("plain")


@many
@given(st.dictionaries(st.sampled_from(
    sorted(inspect.signature(bs.matmul).parameters)), anything))
def test_specs(fields):
    good = dict(M=64, N=64, K=64, a="mxfp8", b="mxfp8")
    spec = survives(bs.matmul, **{**good, **fields})
    if spec is not None:
        kernel = survives(bs.compile, spec)
        assert kernel is None or kernel.ptx


@many
@given(fields=st.dictionaries(st.sampled_from(
    ["a", "b", "c", "bias", "alpha", "beta", "kernel", "num_sms", "strict",
     "completion", "progress"]), anything, max_size=3))
def test_emulate(kernel, good, fields):
    d = survives(kernel.emulate, **{**good, **fields})
    assert d is None or d.shape == (4, 16)
    # Whatever went before: it goes on.
    assert (kernel.emulate(**good) == 65).all()


@settings(many, max_examples=60)
@given(fields=st.dictionaries(st.sampled_from(
    ["a", "b", "out", "c", "bias", "alpha", "beta", "kernel", "device",
     "stream"]), st.one_of(anything.filter(
         # Any number may be a stream, and the driver cannot tell.
         lambda value: not isinstance(value, int) or value is True)),
    max_size=3))
def test_launch(device, kernel, good, fields):
    fields.pop("stream", None) if not isinstance(
        fields.get("stream"), (str, bytes, list)) else None
    d = survives(kernel.launch, **{**good, **fields})
    assert d is None or d.shape[-2:] == (4, 16)
    assert (kernel.launch(**good) == 65).all()


@settings(many, max_examples=60)
@given(fields=st.dictionaries(st.sampled_from(
    ["M", "N", "K", "batch", "data", "conditions", "clusters", "seed",
     "completion", "progress"]),
    st.one_of(anything, st.integers(-2, 40), st.lists(st.integers(-2, 40),
                                                      max_size=2)).filter(
         # Such sizes are right, but take minutes and most of the memory.
         lambda value: not isinstance(value, int) or
         not 2**16 < value < 2**31), max_size=3))
def test_verify(kernel, fields):
    verdict = survives(kernel.verify, **{"M": 4, "conditions": "plain",
                                         "data": "exact", **fields})
    assert verdict is None or verdict.ok or not verdict.runs


def test_what_no_machine_has_memory_for(kernel):
    with pytest.raises(bs.Refused, match="kernel 'matmul' would take about "
                       "[0-9]+ MiB of memory, of which this process can have"):
        kernel.verify(M=2**31 - 2**16, data="exact")


@many
@given(ptx=st.one_of(st.text(max_size=40), st.just(
    ".version 8.8\n.target sm_100a\n.address_size 64\n"
    ".visible .entry k(.param .u64 p) { ret; }")),
    arguments=st.lists(anything, max_size=2), grid=anything, block=anything)
def test_anybodys_ptx(ptx, arguments, grid, block):
    if isinstance(grid, int) and not isinstance(grid, bool):
        grid %= 5
    survives(bs.emulate, ptx, arguments, grid=grid, block=block)


@many
@given(st.dictionaries(st.sampled_from(
    ["target", "kind", "m", "n", "k", "a", "b", "block", "sparse", "sfa_id"]),
    anything))
def test_questions(fields):
    answer = survives(bs.explain.legality, **fields)
    assert answer is None or str(answer)


@many
@given(anything, anything)
def test_pruning_and_files(values, pattern):
    survives(bs.prune, values, pattern)
    survives(bs.parse, values)
    survives(bs.compile, values)


@many
@given(st.binary(max_size=200))
def test_files(tmp_path_factory, content):
    path = tmp_path_factory.getbasetemp() / "k.bsk"
    path.write_bytes(content)
    with pytest.raises(bs.Refused):
        bs.load_kernel(path)
