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


# By name in MLIR.
NARROW = {"f8E4M3FN": ml_dtypes.float8_e4m3fn, "f8E5M2": ml_dtypes.float8_e5m2,
          "f6E2M3FN": ml_dtypes.float6_e2m3fn, "f6E3M2FN": ml_dtypes.float6_e3m2fn,
          "f4E2M1FN": ml_dtypes.float4_e2m1fn,
          "f8E4M3FNUZ": ml_dtypes.float8_e4m3fnuz,
          "f8E4M3B11FNUZ": ml_dtypes.float8_e4m3b11fnuz,
          "f8E5M2FNUZ": ml_dtypes.float8_e5m2fnuz, "f8E4M3": ml_dtypes.float8_e4m3,
          "f8E3M4": ml_dtypes.float8_e3m4}


def finite_values(dtype):
    """Those of codes from 0 up, in order."""
    count = 2 ** (ml_dtypes.finfo(dtype).bits - 1)
    values = np.arange(count, dtype=np.uint8).view(dtype).astype(np.float64)
    return values[np.isfinite(values)]


def rounded(x, dtype):
    """Each to nearest, ties to even codes, at once; beyond the largest number as
    the format has it."""
    info, values = ml_dtypes.finfo(dtype), finite_values(dtype)
    step = values[-1] - values[-2]
    # The number behind the largest one, if there were one.
    grid = np.append(values, values[-1] + step)
    middles = (grid[1:] + grid[:-1]) / 2
    x = x.astype(np.float64)
    code = np.searchsorted(middles, np.abs(x))
    code = np.where(np.isin(np.abs(x), middles) & (code % 2 == 1), code + 1, code)
    beyond = (np.inf if dtype in (ml_dtypes.float8_e5m2, ml_dtypes.float8_e4m3,
                                  ml_dtypes.float8_e3m4)
              else np.nan if info.bits == 8 else values[-1])
    result = np.append(values, beyond)[np.minimum(code, len(values))]
    result = np.copysign(result, x).astype(np.float32)
    if "fnuz" in dtype.__name__:
        result += np.float32(0)
    # Formats without a NaN have the largest number in its place, as cvt has.
    result[np.isnan(x)] = np.nan if info.bits == 8 else values[-1]
    return result


def numbers_around(dtype, wide):
    """Finite codes, what lies halfway, what is next to that, far and special
    numbers, of both signs."""
    values = finite_values(dtype)
    values = np.append(values, 2 * values[-1] - values[-2])
    middles = (values[1:] + values[:-1]) / 2
    some = np.concatenate([values, middles, [4 * values[-1], 1e-30, 1e-45]])
    some = some[some <= np.finfo(wide).max].astype(wide)
    if wide == np.float64:
        # What f32 cannot tell from a tie, and what is no f32.
        some = np.concatenate([some, middles * (1 + 1e-12), middles * (1 - 1e-12),
                               [1e300, 1e-300]])
    else:
        some = np.concatenate([some, np.nextafter(some, wide(np.inf)),
                               np.nextafter(some, wide(-np.inf)),
                               [np.finfo(wide).max]]).astype(wide)
    return np.concatenate([some, -some, [np.inf, -np.inf, np.nan]]).astype(wide)


@pytest.mark.parametrize("wide, of", [(np.float32, "f32"), (np.float16, "f16"),
                                      (np.float64, "f64")])
@pytest.mark.parametrize("element, dtype", NARROW.items())
def test_the_host_rounds_to_narrow_floats(element, dtype, wide, of):
    x = numbers_around(dtype, wide)
    program = bs.Program(f"""
func.func @narrow(%x: tensor<{len(x)}x{of}>) -> tensor<{len(x)}x{element}> {{
  %0 = arith.truncf %x : tensor<{len(x)}x{of}> to tensor<{len(x)}x{element}>
  return %0 : tensor<{len(x)}x{element}>
}}""")
    found, expected = program(x).astype(np.float32), rounded(x, dtype)
    is_nan = np.isnan(expected)
    assert np.array_equal(np.isnan(found), is_nan)
    assert found[~is_nan].tobytes() == expected[~is_nan].tobytes()


def test_the_host_computes_with_narrow_floats():
    program = bs.Program("""
func.func @sum(%x: tensor<9xf6E3M2FN>, %y: tensor<9xf8E4M3FNUZ>, %z: tensor<9xf8E5M2>)
    -> (tensor<9xf6E3M2FN>, tensor<9xf8E4M3FNUZ>, tensor<9xf8E5M2>) {
  %0 = arith.addf %x, %x : tensor<9xf6E3M2FN>
  %1 = arith.mulf %y, %y : tensor<9xf8E4M3FNUZ>
  %2 = math.sqrt %z : tensor<9xf8E5M2>
  return %0, %1, %2 : tensor<9xf6E3M2FN>, tensor<9xf8E4M3FNUZ>, tensor<9xf8E5M2>
}""")
    small = np.array([-28, -3, -0.0625, 0, 0.125, 1, 5, 12, 28], np.float32)
    x, y, z = (small.astype(NARROW[name])
               for name in ("f6E3M2FN", "f8E4M3FNUZ", "f8E5M2"))
    found = program(x, y, z)
    wide = [one.astype(np.float32) for one in (x, y, z)]
    with np.errstate(invalid="ignore"):
        meant = wide[0] + wide[0], wide[1] * wide[1], np.sqrt(wide[2])
    for one, value in zip(found, meant):
        assert one.tobytes() == value.astype(one.dtype).tobytes() or (
            np.array_equal(one.astype(np.float32),
                           value.astype(one.dtype).astype(np.float32), True))


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


def test_a_program_without_a_chip_is_read_for_the_one_it_is_compiled_for():
    # K before the rows, which chips without tensor memory do not read.
    floats = bs.from_mlir("""
func.func @mm(%a: tensor<64x32xf8E4M3FN>, %b: tensor<64x24xf8E4M3FN>) -> tensor<32x24xf32> {
  %z = arith.constant dense<0.0> : tensor<32x24xf32>
  %0 = linalg.generic {indexing_maps = [
      affine_map<(m, n, k) -> (k, m)>, affine_map<(m, n, k) -> (k, n)>,
      affine_map<(m, n, k) -> (m, n)>],
      iterator_types = ["parallel", "parallel", "reduction"]}
      ins(%a, %b : tensor<64x32xf8E4M3FN>, tensor<64x24xf8E4M3FN>)
      outs(%z : tensor<32x24xf32>) {
  ^bb0(%x: f8E4M3FN, %y: f8E4M3FN, %s: f32):
    %1 = arith.extf %x : f8E4M3FN to f32
    %2 = arith.extf %y : f8E4M3FN to f32
    %3 = arith.mulf %1, %2 : f32
    %4 = arith.addf %s, %3 : f32
    linalg.yield %4 : f32
  } -> tensor<32x24xf32>
  return %0 : tensor<32x24xf32>
}""")
    rng = np.random.default_rng(0)
    a, b = rng.integers(-4, 5, (64, 32)), rng.integers(-4, 5, (64, 24))
    for chip in ("", "sm_100a", "sm_120a"):
        outcome = bs.Program(floats, chip).run(a.astype(E4M3), b.astype(E4M3))
        assert np.array_equal(outcome.results[0], a.T @ b)
        assert len(outcome.launches) == 1
    assert "mn_major" in floats.mlir_for("sm_103a")
    assert "mn_major" not in floats.mlir_for("sm_120a")
    # Integers, which not all chips multiply.
    integers = bs.from_mlir("""
func.func @mm(%a: tensor<64x32xi8>, %b: tensor<32x24xi8>) -> tensor<64x24xi32> {
  %z = arith.constant dense<0> : tensor<64x24xi32>
  %0 = linalg.matmul ins(%a, %b : tensor<64x32xi8>, tensor<32x24xi8>)
      outs(%z : tensor<64x24xi32>) -> tensor<64x24xi32>
  return %0 : tensor<64x24xi32>
}""")
    a, b = rng.integers(-128, 128, (64, 32)), rng.integers(-128, 128, (32, 24))
    for chip, launches in (("", 1), ("sm_120a", 1), ("sm_103a", 0)):
        outcome = bs.Program(integers, chip).run(a.astype(np.int8), b.astype(np.int8))
        assert np.array_equal(outcome.results[0], a @ b)
        assert len(outcome.launches) == launches
    assert bs.from_mlir(SUM, target="sm_120a").mlir_for("sm_100a").count("sm_120a")


@pytest.mark.parametrize("spec", ["e8m0_t32", "e8m0_t64", "e8m0_t16_t32", "e8m0_t0_t128"])
@pytest.mark.parametrize("chip", ["sm_100a", "sm_120a"])
def test_real_zero_points_beside_scales_that_instructions_read(spec, chip):
    rows, k = 48, 256
    tiles = [int(one[1:]) for one in spec.split("_")[1:]]
    of_rows, of_k = (tiles[0] or rows, tiles[1]) if len(tiles) == 2 else (1, tiles[0])
    program = bs.Program(f"""
!x = !blockscale.tensor<?x{k}xui4, "float32_float32_t128">
!plain = !blockscale.tensor<{rows}x{k}xf8E4M3FN, "{spec}">
!w = !blockscale.tensor<{rows}x{k}xf8E4M3FN, "{spec}", layout = tiled_128x4>
func.func @f(%x: !x, %plain: !plain) -> tensor<?x{rows}xf32> {{
  %w = blockscale.relayout %plain : !plain to !w
  %0 = blockscale.matmul %x, %w : !x, !w -> tensor<?x{rows}xf32>
  return %0 : tensor<?x{rows}xf32>
}}""", chip)
    rng = np.random.default_rng(0)
    codes = rng.integers(0, 16, (5, k))
    scales, zeros = np.exp2(rng.integers(-1, 2, (5, 2))), rng.integers(-4, 5, (5, 2)) / 2
    w = rng.integers(-3, 4, (rows, k))
    of_w = np.exp2(rng.integers(-2, 3, (-(-rows // of_rows), k // of_k)))
    x = codes * np.repeat(scales, 128, 1) - np.repeat(zeros, 128, 1)
    expected = x @ (w * np.repeat(np.repeat(of_w, of_rows, 0)[:rows], of_k, 1)).T
    outcome = program.run((((codes ^ 8) - 8).astype(ml_dtypes.int4),
                           scales.astype(np.float32), zeros.astype(np.float32)),
                          (w.astype(E4M3), of_w.astype(E8M0)))
    assert len(outcome.launches) == 1
    assert np.array_equal(outcome.results[0], expected)


def test_real_zero_points_beside_scales_that_lie_by_groups():
    k = 128
    program = bs.Program(f"""
!x = !blockscale.tensor<?x{k}xf8E4M3FN, "e8m0_t32", layout = grouped_128x4>
!w = !blockscale.tensor<3x32x{k}xui4, "float32_float32_t128">
func.func @f(%x: !x, %w: !w, %ends: tensor<3xi32>) -> tensor<?x32xf32> {{
  %0 = blockscale.matmul %x, %w groups(%ends : tensor<3xi32>) : !x, !w -> tensor<?x32xf32>
  return %0 : tensor<?x32xf32>
}}""")
    rng = np.random.default_rng(0)
    ends = np.array([3, 3, 135], np.int32)
    x, of_x = rng.integers(-3, 4, (135, k)), rng.integers(-2, 3, (135, 4))
    codes = rng.integers(0, 16, (3, 32, k))
    scales = np.exp2(rng.integers(-1, 2, (3, 32, 1)))
    zeros = rng.integers(-4, 5, (3, 32, 1)) / 2
    # Each group begins a tile of 128 rows by 4 blocks: row r and block j are byte
    # r % 32 * 16 + r % 128 / 32 * 4 + j.
    tiles = np.zeros((4, 1, 32, 16), np.uint8)
    for row in range(135):
        place = row if row < 3 else 128 + row - 3
        tiles[place // 128, 0, place % 32, place % 128 // 32 * 4:][:4] = of_x[row] + 127
    group = np.where(np.arange(135) < 3, 0, 2)
    w = codes * scales - zeros
    expected = np.einsum("mk,mnk->mn", x * np.repeat(np.exp2(of_x), 32, 1), w[group])
    outcome = program.run((x.astype(E4M3), tiles.view(E8M0)),
                          (((codes ^ 8) - 8).astype(ml_dtypes.int4),
                           scales.astype(np.float32), zeros.astype(np.float32)), ends)
    assert len(outcome.launches) == 1
    assert np.array_equal(outcome.results[0], expected)


def test_sizes_of_elements_that_lie_otherwise():
    """Compressed ones, and rows along M."""
    program = bs.Program("""
!x = !blockscale.tensor<?x?xf8E4M3FN, order = mn_major>
!s = !blockscale.tensor<?x?xf8E4M3FN, "n2m4">
!d = !blockscale.tensor<?x?xf8E4M3FN>
func.func @f(%x: !x, %s: !s) -> (tensor<?x?xf32>, tensor<?x?xf32>) {
  %0 = blockscale.densify %s : !s to !d
  %1 = blockscale.matmul %0, %x : !d, !x -> tensor<?x?xf32>
  %2 = blockscale.dequantize %s : !s to tensor<?x?xf32>
  return %1, %2 : tensor<?x?xf32>, tensor<?x?xf32>
}""")
    rng = np.random.default_rng(0)
    x, kept = rng.integers(-3, 4, (48, 64)), rng.integers(-3, 4, (24, 32))
    dense = np.zeros((24, 16, 4), int)
    # Of each group the first and the last, nibble 0b1100.
    dense[..., [0, 3]] = kept.reshape(24, 16, 2)
    dense = dense.reshape(24, 64)
    metadata = np.full((24, 8), 0xcc, np.uint8).view(np.int8)
    stored = x.T.astype(E4M3).copy()
    product, values = program((stored,), (kept.astype(E4M3), metadata))
    assert np.array_equal(product, dense @ x.T)
    assert np.array_equal(values, dense)
    with pytest.raises(bs.Refused, match="size 1 of argument 1 is 128, but size 1 of "
                       "argument 0 is 64, and the function needs them equal"):
        program((stored,), (np.tile(kept, 2).astype(E4M3), np.tile(metadata, 2)))
    with pytest.raises(bs.Refused, match="metadata of argument 1 is 24x7, expected 24x8"):
        program((stored,), (kept.astype(E4M3), metadata[:, :7]))
    narrow = bs.Program("""
func.func @f(%x: !blockscale.tensor<?x64xf8E4M3FN, "e8m0_t32">) -> tensor<?x64xf32> {
  %0 = blockscale.dequantize %x : !blockscale.tensor<?x64xf8E4M3FN, "e8m0_t32"> to tensor<?x64xf32>
  return %0 : tensor<?x64xf32>
}""")
    with pytest.raises(bs.Refused, match="data of argument 0 is 4x32"):
        narrow((np.zeros((4, 32), E4M3), np.zeros((4, 1), E8M0)))


def test_a_program_with_a_loop_is_verified():
    program = bs.Program("""
!x = !blockscale.tensor<?x64xf8E4M3FN, "e8m0_t32", layout = tiled_128x4>
!w = !blockscale.tensor<64x64xf8E4M3FN, "e8m0_t32", layout = tiled_128x4>
func.func @f(%a: tensor<?x64xf32>, %w: !w, %n: index) -> tensor<?x64xf32> {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %r = scf.for %i = %c0 to %n step %c1 iter_args(%y = %a) -> tensor<?x64xf32> {
    %z = blockscale.quantize %y : tensor<?x64xf32> to !x
    %d = blockscale.matmul %z, %w activation(relu) : !x, !w -> tensor<?x64xf32>
    scf.yield %d : tensor<?x64xf32>
  }
  return %r : tensor<?x64xf32>
}""")
    verdict = program.verify(M=40)
    assert verdict
    assert [run["launches"] for run in verdict.runs if "function" in run] == [2, 3]
