# Part of the blockscale project, under the Apache License v2.0 with LLVM
# Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

"""Programs of other compilers, read and called as whole functions."""

import pathlib

import ml_dtypes
import numpy as np
import pytest

import blockscale as bs

INPUTS = (pathlib.Path(__file__).parents[2] / "test/Conversion/ImportToBlockscale"
          / "Inputs")
E4M3, E8M0 = ml_dtypes.float8_e4m3fn, ml_dtypes.float8_e8m0fnu
A, B = "tensor<?x64xf8E4M3FN>", "tensor<24x64xf8E4M3FN>"
S, T = "tensor<?x2xf8E8M0FNU>", "tensor<24x2xf8E8M0FNU>"
DOT = f"""
  %0 = "stablehlo.composite"(%a, %b, %s, %t) <{{composite_attributes = {{
    dimension_numbers = [[[1], [1]], [[], []]]}}, name = "xla.scaled_dot"}}>
    : ({A}, {B}, {S}, {T}) -> tensor<?x24xf32>"""
HEAD = f"func.func @layer(%a: {A}, %b: {B}, %s: {S}, %t: {T}"
SUM = HEAD + f""", %c: tensor<?x24xf32>) -> tensor<?x24xf32> {{{DOT}
  %1 = arith.addf %0, %c : tensor<?x24xf32>
  %2 = math.absf %1 : tensor<?x24xf32>
  return %2 : tensor<?x24xf32>
}}"""


def operands(rows, seed=0):
    rng = np.random.default_rng(seed)
    a = rng.integers(-4, 5, (rows, 64)).astype(E4M3)
    b = rng.integers(-4, 5, (24, 64)).astype(E4M3)
    s = np.exp2(rng.integers(-2, 3, (rows, 2))).astype(E8M0)
    t = np.exp2(rng.integers(-2, 3, (24, 2))).astype(E8M0)
    return a, b, s, t, rng.integers(-9, 10, (rows, 24)).astype(np.float32)


def wide(data, scale):
    return data.astype(np.float64) * np.repeat(scale.astype(np.float64), 32, -1)


def meant(a, b, s, t, c):
    return np.abs(wide(a, s) @ wide(b, t).T + c).astype(np.float32)


@pytest.mark.parametrize("element, dtype", [
    ("f8E4M3FN", ml_dtypes.float8_e4m3fn), ("f8E5M2", ml_dtypes.float8_e5m2),
    ("f6E2M3FN", ml_dtypes.float6_e2m3fn), ("f6E3M2FN", ml_dtypes.float6_e3m2fn),
    ("f8E4M3FNUZ", ml_dtypes.float8_e4m3fnuz),
    ("f8E5M2FNUZ", ml_dtypes.float8_e5m2fnuz), ("f8E4M3", ml_dtypes.float8_e4m3),
    ("f8E3M4", ml_dtypes.float8_e3m4)])
def test_the_host_widens_narrow_floats(element, dtype):
    count = 64 if "f6" in element else 256
    program = bs.Program(f"""
func.func @wide(%x: tensor<{count}x{element}>) -> (tensor<{count}xf32>, tensor<{count}xbf16>) {{
  %0 = arith.extf %x : tensor<{count}x{element}> to tensor<{count}xf32>
  %1 = arith.extf %x : tensor<{count}x{element}> to tensor<{count}xbf16>
  return %0, %1 : tensor<{count}xf32>, tensor<{count}xbf16>
}}""")
    codes = np.arange(count, dtype=np.uint8).view(dtype)
    for y in program(codes):
        expected = codes.astype(np.float32)
        is_nan = np.isnan(expected)
        assert np.array_equal(np.isnan(y.astype(np.float32)), is_nan)
        assert y[~is_nan].tobytes() == expected[~is_nan].astype(y.dtype).tobytes()


@pytest.mark.parametrize("format_, element, layout", [
    (bs.Format("uint8", "f32", 32, zero="int16"), "ui8", "plain"),
    (bs.Format("uint8", "f32", 32, zero="int32"), "ui8", "plain"),
    (bs.Format("uint4", "f16", 16, zero="int8"), "ui4", "plain"),
    (bs.Format("uint3", "f32", 0, zero="f32"), "ui3", "plain"),
    (bs.Format("e4m3b8fnuz", "f32", 32), "f8E4M3FNUZ", "plain"),
    (bs.Format("e5m2b16fnuz", "f32", 32), "f8E5M2FNUZ", "plain"),
    (bs.Format("e4m3ieee", "f32", 32), "f8E4M3", "plain"),
    (bs.FORMATS["mxfp8"], "f8E4M3FN", "tiled_128x4"),
    (bs.FORMATS["mxfp8"], "f8E4M3FN", "tiled_128x16"),
    (bs.FORMATS["int4_row"], "i4", "plain")])
def test_scaled_tensors_of_all_elements_go_in_and_out(format_, element, layout):
    form = "" if layout == "plain" else f", layout = {layout}"
    q = f'!blockscale.tensor<5x64x{element}, "{format_.spec}"{form}>'
    x = -np.abs(np.random.default_rng(7).standard_normal((5, 64))).astype(np.float32)
    program = bs.Program(f"""
func.func @narrow(%x: tensor<5x64xf32>) -> {q} {{
  %0 = blockscale.quantize %x : tensor<5x64xf32> to {q}
  return %0 : {q}
}}
func.func @wide(%q: {q}) -> tensor<5x64xf32> {{
  %0 = blockscale.dequantize %q : {q} to tensor<5x64xf32>
  return %0 : tensor<5x64xf32>
}}""")
    expected = bs.quantize(x, format_)
    if layout != "plain":
        expected = expected.to(layout)
    data, scales, *zeros = program(x, function="narrow")
    low = np.uint8((1 << format_.bits) - 1)
    assert np.array_equal(data.view(np.uint8) & low,
                          expected.data.view(np.uint8) & low)
    assert scales.tobytes() == expected.scales.tobytes()
    if zeros:
        assert np.array_equal(zeros[0], expected.zeros)
    y = program(expected, function="wide")
    assert np.array_equal(y, expected.dequantize())
    assert np.array_equal(program((data, scales, *zeros), function="wide"), y)


@pytest.fixture(scope="module")
def imported():
    return bs.from_mlir(SUM)


@pytest.fixture(scope="module")
def program(imported):
    return bs.Program(imported)


def test_the_import_is_of_our_dialect(imported):
    assert "blockscale.matmul" in imported.mlir and "stablehlo" not in imported.mlir
    assert imported.name == "layer" and imported.parameters == {}
    assert imported.inputs == ("arg0", "arg1", "arg2", "arg3", "arg4")
    kernel = bs.compile(imported, host_duties=True)
    assert kernel.names and kernel.verify(M=5, data="exact").ok


@pytest.mark.parametrize("rows", [1, 5, 130])
def test_calls_give_what_the_function_means(program, rows):
    values = operands(rows, rows)
    found = program(*values)
    assert found.dtype == np.float32 and found.shape == (rows, 24)
    assert np.array_equal(found, meant(*values))
    assert len(np.unique(found)) > 8
    found[0, 0] = 1  # It is the caller's own.


def test_an_outcome_tells_of_launches(program):
    seen = []

    class Watch:
        def begin(self, step, unit):
            seen.append((step, unit))

        def __call__(self, done, total):
            assert done <= total

    values = operands(300)
    outcome = program.run(*values, strict=True, completion="latest",
                          progress=Watch())
    launch, = outcome.launches
    assert launch["kernel"].startswith("layer")
    assert launch["counters"]["macs"] >= 300 * 24 * 64
    assert launch["seconds"] > 0 and outcome.report["clean"]
    assert np.array_equal(outcome.results[0], meant(*values))


def test_whole_functions_are_verified(program):
    verdict = program.verify(M=5, data="exact")
    assert verdict.ok
    assert [run.get("kernel") for run in verdict.runs][:1] == ["layer"]
    assert verdict.runs[-1]["function"] == "layer"
    assert verdict.runs[-1]["compared"] == 5 * 24
    assert "function" in verdict.text and "pass" in verdict.text


def test_parameters_are_given_to_calls(imported):
    a, b, s, t, c = operands(5)
    bound = bs.Imported(imported.name, imported.mlir, imported.inputs,
                        {"arg1": b, "arg3": t})
    assert np.array_equal(bs.Program(bound)(a, s, c), meant(a, b, s, t, c))
    with pytest.raises(bs.Refused, match="takes 3 arguments besides its parameters"):
        bs.Program(bound)(a, b, s, t, c)


def test_scaled_tensors_are_arguments():
    spec = bs.matmul(M="M", N=32, K=64, a="mxfp8", b="mxfp8", alpha=True)
    program = bs.Program(spec)
    rng = np.random.default_rng(3)
    kernel = bs.compile(spec)
    x = bs.quantize(rng.standard_normal((70, 64)), like=kernel.arg("a"))
    w = bs.quantize(rng.standard_normal((32, 64)), like=kernel.arg("b"))
    found = program(x, w, 0.5)
    assert np.array_equal(found, kernel.emulate(x, w, alpha=0.5))
    with pytest.raises(bs.Refused, match="in layout 'plain', expected"):
        program(x.to("plain"), w, 0.5)
    with pytest.raises(bs.Refused, match="of format .* expected !blockscale.tensor"):
        program(bs.quantize(np.ones((70, 64)), "nvfp4", layout="tiled_128x4"), w, 1)
    with pytest.raises(bs.Refused, match="expected a Scaled or the arrays"):
        program(np.ones((70, 64), np.float32), w, 0.5)


@pytest.mark.parametrize("change, words", [
    (lambda v: v[:4], "takes 5 arguments, found 4"),
    (lambda v: (*v[:4], v[4].astype(np.float64)), "array of float64, expected float32"),
    (lambda v: (*v[:4], v[4][:3]), "size 0 of argument 4 is 3, but size 0 of "
                                   "argument 0 is 5"),
    (lambda v: (v[0], v[1][:8], *v[2:]), "argument 1 is 8x64, expected 24x64"),
    (lambda v: (v[0].reshape(5, 8, 8), *v[1:]), "argument 0 is 5x8x8, expected"),
])
def test_wrong_arguments_are_refused(program, change, words):
    with pytest.raises(bs.Refused) as caught:
        program(*change(operands(5)))
    assert words in str(caught.value)


@pytest.mark.parametrize("text, words", [
    (HEAD + f""") -> tensor<?x24xf32> {{{DOT}
  %1 = "acme.twist"(%0) : (tensor<?x24xf32>) -> tensor<?x24xf32>
  return %1 : tensor<?x24xf32> }}""", "'acme.twist' is of no dialect that is known"),
    (SUM.replace("[[1], [1]]", "[[7], [1]]"), "name no dimensions of its operands"),
    ("func.func", "expected"),
])
def test_what_cannot_be_imported_is_named(text, words):
    with pytest.raises(bs.CompileError) as caught:
        bs.from_mlir(text, "them.mlir")
    assert words in str(caught.value)
    assert caught.value.diagnostics[0].file == "them.mlir"


def test_odd_sources_are_refused():
    for source in (None, 3, [SUM]):
        with pytest.raises(bs.Error):
            bs.Program(source)
        with pytest.raises(bs.Error):
            bs.from_mlir(source)
    with pytest.raises(bs.Refused, match="no function 'other'; there are layer"):
        bs.Program(bs.from_mlir(SUM)).run(function="other")
    with pytest.raises(bs.Refused, match="jax.jit.*found a int"):
        bs.from_jax(3)


def test_what_jax_wrote_is_imported():
    text = (INPUTS / "jax/composite.mlir").read_text()
    imported = bs.from_mlir(text, target="sm_103a")
    assert imported.name == "main" and len(imported.inputs) == 4
    assert 'blockscale.target = #blockscale.target<sm_103a>' in imported.mlir
