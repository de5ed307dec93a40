# Part of the blockscale project, under the Apache License v2.0 with LLVM
# Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

"""Kernels that quantise, on the emulator and through the CUDA driver, against the
package's numpy."""

import numpy as np
import pytest
from quantize_sources import TYPES, same, source, values

import blockscale as bs
from blockscale._rounding import random_fractions

SEED = -12345
CASES = [
    ("f8E4M3FN", "e8m0_t32", "bf16", dict(rule="round_up")),
    ("f8E5M2", "e8m0_t32", "f16", dict(rule="ceil", rounding="away")),
    ("f6E2M3FN", "e8m0_t32", "f32", dict(rounding="stochastic", seed=SEED)),
    ("f4E2M1FN", "e8m0_t32", "f32", dict(rule="mid_max", rounding="zero")),
    ("f4E2M1FN", "e8m0_t16", "bf16", dict(rounding="stochastic", seed=SEED)),
    ("f4E2M1FN", "multi_float32_e4m3fn_t16", "bf16", {}),
    ("f8E4M3FN", "e8m0_t32", "bf16", dict(rounding="stochastic", seed=SEED)),
    ("f8E4M3FN", "e8m0_t32_t32", "bf16", {}),
    ("f6E3M2FN", "e8m0_t8_t32", "f32", dict(rule="ceil", rounding="away")),
    ("f4E2M1FN", "multi_float32_e4m3fn_t16_t16", "bf16", {}),
    ("f8E4M3FN", "e8m0_t128", "bf16", dict(rule="round_up")),
    ("f8E5M2", "e8m0_t128_t128", "f32", {}),
    ("f6E3M2FN", "e8m0_t64", "f16", dict(rounding="stochastic", seed=SEED)),
    ("f4E2M1FN", "multi_float32_e4m3fn_t8_t32", "bf16", dict(rounding="away")),
    ("f8E4M3FN", "float32_t128", "bf16", {}),
    ("f8E5M2", "float32_t32_t64", "f32", dict(rounding="stochastic", seed=SEED)),
    ("f6E3M2FN", "e8m0_t32", "bf16", dict(rounding="stochastic_rs", seed=SEED)),
    ("f4E2M1FN", "multi_float32_e4m3fn_t16", "f32",
     dict(rounding="stochastic_rs", seed=-SEED))]
ROWS = [("f8E4M3FN", "float32_t0", "bf16", {}),
        ("f6E2M3FN", "float32_t0", "f32", dict(rounding="stochastic", seed=SEED)),
        ("i8", "float32_t0", "bf16", {}),
        ("i8", "float32_t0", "f32", dict(rounding="stochastic", seed=SEED)),
        ("f8E4M3FN", "float16_t0", "bf16", {}),
        ("f6E2M3FN", "e8m0_t0", "f32", dict(rule="ceil"))]
MATRICES = [("f8E4M3FN", "float32", "bf16", {}),
            ("f8E5M2", "float32", "f16", dict(rounding="stochastic", seed=SEED)),
            ("i8", "float32", "f16", dict(rounding="away")),
            ("i8", "bfloat16", "bf16", {}),
            ("f8E5M2", "e8m0", "f16", dict(rule="mid_max"))]


def words_of(options):
    rounding = options.get("rounding", "even")
    seed = f", seed = {options['seed']}" if "seed" in options else ""
    rule = f"rule({options['rule']}) " if "rule" in options else ""
    return f"{rule}rounding({rounding}{seed})"


@pytest.mark.parametrize("element, spec, x, options", CASES + ROWS + MATRICES)
def test_bits_of_numpy(device, element, spec, x, options):
    """Dynamic sizes and batches; twice, with other numbers."""
    kernel = bs.compile(source("q", "???", element, spec, words_of(options), x))
    rng = np.random.default_rng(21)
    format_ = kernel.arg("d").format
    for shape in ((2, 37, 96), (3, 130, 160)):
        numbers = values(rng, shape, x)
        factors = None
        if format_.tensor_scale:
            factors = (0.01 + rng.random(shape[0])).astype(np.float32)
        found = kernel.quantize(numbers, tensor_scale=factors)
        expected = bs.quantize(numbers, format_, tensor_scale=factors, **options)
        assert same(found, expected)
        assert same(kernel.emulate_quantize(numbers, tensor_scale=factors), expected)
        assert np.count_nonzero(found.data.view(np.uint8)) > found.data.size // 16


@pytest.mark.parametrize("element, spec, x, options", CASES + ROWS + MATRICES)
def test_transposes(device, element, spec, x, options):
    """What is read has rows of K along M."""
    kernel = bs.compile(source("q", "???", element, spec, words_of(options), x,
                               transposed=True))
    rng = np.random.default_rng(26)
    format_ = kernel.arg("d").format
    for shape in ((2, 37, 96), (1, 130, 160)):
        numbers = values(rng, shape, x)
        factors = None
        if format_.tensor_scale:
            factors = (0.01 + rng.random(shape[0])).astype(np.float32)
        read = np.ascontiguousarray(numbers.swapaxes(1, 2))
        expected = bs.quantize(numbers, format_, tensor_scale=factors, **options)
        assert same(kernel.quantize(read, tensor_scale=factors), expected)
        assert same(kernel.emulate_quantize(read, tensor_scale=factors), expected)


@pytest.mark.parametrize("element, spec, x, transposed, options", [
    ("f8E4M3FN", "float32", "bf16", False, {}),
    ("f8E5M2", "float16", "f32", True, dict(rounding="stochastic", seed=SEED)),
    ("i8", "bfloat16", "f16", False, dict(rounding="away")),
    ("f8E4M3FN", "e8m0", "bf16", False, {})])
def test_scales_that_are_given(device, element, spec, x, transposed, options):
    """Static ones, of which a sign does not count; the numbers saturate, or are below
    them."""
    kernel = bs.compile(source("q", "???", element, spec, words_of(options), x,
                               transposed, gives=True))
    rng = np.random.default_rng(34)
    given = np.array([0.37, -2.0 ** -9, 1e-3], np.float32)
    for shape in ((3, 37, 96), (3, 130, 160)):
        numbers = values(rng, shape, x)
        expected = bs.quantize(numbers, kernel.arg("d").format, tensor_scale=given,
                               **options)
        read = np.ascontiguousarray(numbers.swapaxes(1, 2)) if transposed else numbers
        assert same(kernel.quantize(read, tensor_scale=given), expected)
        assert same(kernel.emulate_quantize(read, tensor_scale=given), expected)
        largest = expected.data.astype(np.float32)[1].max()
        assert largest == kernel.arg("d").format.largest
    for call, words in ((lambda: kernel.quantize(read), "needs 'tensor_scale'"),
                        (lambda: bs.quantize(numbers, "fp8_tensor", tensor_scale=[1]),
                         "expected 3 scales of matrices"),
                        (lambda: bs.quantize(numbers, "fp8_tensor", tensor_scale=given,
                                             rule="ceil"), "'ceil'")):
        with pytest.raises(bs.Refused, match=words):
            call()


@pytest.mark.parametrize("element, spec, x, transposed", [
    ("f4E2M1FN", "multi_float32_e4m3fn_t16", "bf16", False),
    ("f4E2M1FN", "multi_float32_e4m3fn_t16_t16", "f32", True),
    ("f8E4M3FN", "multi_float32_e8m0_t32", "f16", False)])
def test_tensor_scales_that_a_kernel_finds(device, element, spec, x, transposed):
    """Of smaller numbers in a later launch: none leaves anything behind. One of the
    matrices is all zeros."""
    kernel = bs.compile(source("q", "???", element, spec, "", x, transposed, finds=True))
    rng = np.random.default_rng(28)
    sizes = dict(M=130, K=160, batch=3)
    prepared = kernel.prepare_quantize(**sizes)
    out = prepared.empty_out()
    for scale in (32, 1, 2.0 ** -12):
        numbers = values(rng, (3, 130, 160), x) * TYPES[x](scale)
        numbers[1] = 0
        numbers[2, 129, 159] = 600 * scale
        read = np.ascontiguousarray(numbers.swapaxes(1, 2)) if transposed else numbers
        expected = bs.quantize(numbers, kernel.arg("d").format)
        assert same(kernel.quantize(read), expected)
        assert same(kernel.emulate_quantize(read), expected)
        assert prepared(bs.to_device(read), out=out) is out
        found = out.tensor_scale.numpy().view(np.float32)
        assert (found == expected.tensor_scale).all()
    with pytest.raises(bs.Refused, match="takes no 'tensor_scale'"):
        kernel.quantize(read, tensor_scale=[1, 1, 1])


def test_a_transpose_is_multiplied(device):
    """A gradient of a weight, dy^T x: both lie along the rows that are summed over."""
    spec = bs.matmul(M=72, N=40, K="K", a="mxfp8", b="mxfp8")
    kernel = bs.compile(spec.mlir + "".join(
        source(name, (rows, "?"), "f8E4M3FN", "e8m0_t32", transposed=True)
        for name, rows in (("left", 72), ("right", 40))))
    rng = np.random.default_rng(27)
    dy, x = values(rng, (96, 72)[::-1]).T, values(rng, (96, 40)[::-1]).T
    dy, x = np.ascontiguousarray(dy), np.ascontiguousarray(x)
    a = kernel.quantize(bs.to_device(dy), kernel="left")
    b = kernel.quantize(bs.to_device(x), kernel="right")
    assert a.shape == (72, 96) and b.shape == (40, 96)
    d = kernel.launch(a, b, kernel="matmul").numpy()
    on_host = (bs.quantize(one.T, like=kernel.arg(name, kernel="matmul"))
               for one, name in ((dy, "a"), (x, "b")))
    assert (d == kernel.emulate(*on_host, kernel="matmul")).all()
    with pytest.raises(bs.Refused, match="expected K x rows"):
        kernel.quantize(dy[0], kernel="left")


BOTH = [
    ("f8E4M3FN", "e8m0_t32", "f8E4M3FN", "e8m0_t32", "bf16", {}, {}),
    ("f8E5M2", "e8m0_t32", "f4E2M1FN", "multi_float32_e4m3fn_t16", "f32",
     dict(rule="ceil"), dict(rounding="stochastic", seed=SEED)),
    ("f4E2M1FN", "multi_float32_e4m3fn_t16_t16", "f6E2M3FN", "e8m0_t32", "f16",
     {}, dict(rounding="away"))]


@pytest.mark.parametrize("one, spec, two, spec_t, x, words, words_t", BOTH)
def test_both_ways(device, one, spec, two, spec_t, x, words, words_t):
    """A matrix and its transpose, of the host and of the device."""
    has_factor = "multi" in spec + spec_t
    given = ", %t: tensor<?xf32>" if has_factor else ""
    factor = "tensor_scale(%t : tensor<?xf32>) "
    kernel = bs.compile(f"""
    !q = !blockscale.tensor<?x?x?x{one}, "{spec}", layout = tiled_128x4>
    !qt = !blockscale.tensor<?x?x?x{two}, "{spec_t}", layout = tiled_128x4>
    func.func @both(%x: tensor<?x?x?x{x}>{given}) -> (!q, !qt) {{
      %c0 = arith.constant 0 : index
      %c1 = arith.constant 1 : index
      %c2 = arith.constant 2 : index
      %d0 = tensor.dim %x, %c0 : tensor<?x?x?x{x}>
      %d1 = tensor.dim %x, %c1 : tensor<?x?x?x{x}>
      %d2 = tensor.dim %x, %c2 : tensor<?x?x?x{x}>
      %e = tensor.empty(%d0, %d2, %d1) : tensor<?x?x?x{x}>
      %y = linalg.transpose ins(%x : tensor<?x?x?x{x}>)
        outs(%e : tensor<?x?x?x{x}>) permutation = [0, 2, 1]
      %0 = blockscale.quantize %x {factor if "multi" in spec else ""}
        {words_of(words)} : tensor<?x?x?x{x}> to !q
      %1 = blockscale.quantize %y {factor if "multi" in spec_t else ""}
        {words_of(words_t)} : tensor<?x?x?x{x}> to !qt
      return %0, %1 : !q, !qt
    }}""")
    formats = [kernel.arg(name).format for name in ("d", "transposed")]
    rng = np.random.default_rng(28)
    for shape in ((2, 32, 160), (1, 160, 96)):
        numbers = values(rng, shape, x) * np.exp2(
            rng.integers(-4, 4, (*shape[:-1], 1))).astype(TYPES[x])
        factors = None
        if has_factor:
            factors = (0.01 + rng.random(shape[0])).astype(np.float32)
        expected = [bs.quantize(array, format_, tensor_scale=factors
                                if format_.tensor_scale else None, **options)
                    for array, format_, options in (
                        (numbers, formats[0], words),
                        (numbers.swapaxes(1, 2), formats[1], words_t))]
        for found in (kernel.quantize(numbers, tensor_scale=factors),
                      kernel.emulate_quantize(numbers, tensor_scale=factors)):
            assert isinstance(found, tuple) and len(found) == 2
            assert all(map(same, found, expected))
        there = bs.to_device(numbers)
        prepared = kernel.prepare_quantize(batch=shape[0], M=shape[1], K=shape[2])
        out = prepared.empty_out()
        assert kernel.quantize(there, tensor_scale=factors, out=out) is out
        assert out[1].shape[-2:] == (shape[2], shape[1])
        fresh = kernel.quantize(there, tensor_scale=factors)
        for one_out, other in zip(out, fresh):
            assert (one_out.data.numpy() == other.data.numpy()).all()
    with pytest.raises(bs.Refused, match="expected a tuple of 2"):
        kernel.quantize(there, tensor_scale=factors, out=out[0])


@pytest.mark.parametrize("scale, layout", [("e8m0", "tiled_128x4"),
                                           ("float32", "plain")])
def test_long_tiles_are_multiplied(device, scale, layout):
    """Activations with a scale for 128 elements and weights with one for 128 x 128, both
    quantised on the device as the product reads them, against numpy."""
    kind = "ue8m0" if scale == "e8m0" else "f32"
    a, b = bs.Format("e4m3", kind, 128), bs.Format("e4m3", kind, 128, rows=128)
    spec = bs.matmul(M="M", N=200, K=512, a=a, b=b)
    kernel = bs.compile(
        spec.mlir + source("left", ("?", 512), "f8E4M3FN", scale + "_t128") +
        source("right", (200, 512), "f8E4M3FN", scale + "_t128_t128"))
    rng = np.random.default_rng(29)
    x, w = values(rng, (70, 512)), values(rng, (200, 512))
    left = kernel.quantize(bs.to_device(x), kernel="left")
    right = kernel.quantize(bs.to_device(w), kernel="right")
    d = kernel.launch(left, right, kernel="matmul").numpy()
    on_host = bs.quantize(x, a), bs.quantize(w, b)
    one, other = (scaled.dequantize().astype(np.float64) for scaled in on_host)
    bound = 1e-5 * np.abs(one) @ np.abs(other).T
    assert (np.abs(d - one @ other.T) <= bound).all()
    assert (d == kernel.emulate(*(one.to(layout) for one in on_host),
                                kernel="matmul")).all()


@pytest.mark.parametrize("element, spec, sparse, format_", [
    ("f8E4M3FN", "e8m0_t64", "e8m0_t32n2m4", bs.FORMATS["mxfp8"]),
    ("f4E2M1FN", "e4m3fn_t32", "e4m3fn_t16n4m8", bs.FORMATS["nvfp4_one_level"])])
def test_both_sides_of_a_sparse_product(device, element, spec, sparse, format_):
    """Numbers are pruned, quantised and compressed, those of B quantised, and multiplied,
    all where they lie."""
    pairs = "pairs " if "n4m8" in sparse else ""
    of, pattern = ("4 of 8", "4:8 in pairs") if pairs else ("2 of 4", "2:4")
    a = format_.sparse()
    plan = bs.matmul(M="M", N=72, K=256, a=a, b=format_.beside_sparse())
    tensor = f'!blockscale.tensor<?x256x{element}, "{{}}", layout = tiled_128x4>'
    dense, stored = tensor.format(spec), tensor.format(sparse)
    words = "{blockscale.for_sparse}"
    kernel = bs.compile(plan.mlir + f"""
func.func @prune(%x: tensor<?x256xbf16>) -> tensor<?x256xbf16> {{
  %0 = blockscale.prune %x keep {of} {pairs}: tensor<?x256xbf16>
  return %0 : tensor<?x256xbf16>
}}
func.func @compress(%a: {dense}) -> {stored} {{
  %0 = blockscale.compress %a : {dense} to {stored}
  return %0 : {stored}
}}
""" + source("left", ("?", 256), element, spec, words) +
        source("right", (72, 256), element, spec, words))
    rng = np.random.default_rng(31)
    x, w = values(rng, (37, 256)), values(rng, (72, 256))
    pruned = kernel.convert(bs.to_device(x[None]), kernel="prune").numpy()[0]
    left = kernel.convert(kernel.quantize(bs.to_device(pruned), kernel="left"),
                          kernel="compress")
    right = kernel.quantize(bs.to_device(w), kernel="right")
    d = kernel.launch(left, right, kernel="matmul").numpy()
    on_host = [bs.quantize(one, like=kernel.arg(name, kernel="matmul"))
               for one, name in ((bs.prune(x, pattern), "a"), (w, "b"))]
    one, other = (scaled.dequantize().astype(np.float64) for scaled in on_host)
    assert one.size // 4 < np.count_nonzero(one) <= one.size // 2
    assert (np.abs(d - one @ other.T) <= 1e-5 * np.abs(one) @ np.abs(other).T).all()
    assert (d == kernel.emulate(*on_host, kernel="matmul")).all()


@pytest.mark.parametrize("format_, element, scales", [
    ("fp8_row", "f8E4M3FN", "float32_t0"), ("fp8_tensor", "f8E4M3FN", "float32"),
    ("int8_row", "i8", "float32_t0")])
def test_tokens_are_multiplied(device, format_, element, scales):
    """Activations with a scale for each token, weights with one for each channel; and
    one for all of either."""
    spec = bs.matmul(M="M", N=72, K=512, a=format_, b=format_)
    kernel = bs.compile(spec.mlir + source("left", ("?", 512), element, scales) +
                        source("right", (72, 512), element, scales))
    rng = np.random.default_rng(32)
    x, w = values(rng, (37, 512)), values(rng, (72, 512))
    d = kernel.launch(kernel.quantize(bs.to_device(x), kernel="left"),
                      kernel.quantize(bs.to_device(w), kernel="right"),
                      kernel="matmul").numpy()
    on_host = [bs.quantize(one, format_) for one in (x, w)]
    one, other = (scaled.dequantize().astype(np.float64) for scaled in on_host)
    assert (np.abs(d - one @ other.T) <= 1e-5 * np.abs(one) @ np.abs(other).T).all()
    assert (d == kernel.emulate(*on_host, kernel="matmul")).all()


def test_integers_are_multiplied_as_by_numpy(device):
    """Sums of int8 are exact, times a factor of the row and one of the column, behind
    which an epilogue multiplies and adds."""
    kernel = bs.compile(source("x", ("?", 512), "i8", "float32_t0") +
                        source("w", (72, 512), "i8", "float32_t0", x="f32") + """
func.func @product(%a: !x, %b: !w, %c: tensor<72xf32>) -> tensor<?x72xf32> {
  %d = blockscale.matmul %a, %b bias(%c) epilogue(%sum, %bias) {
    %two = arith.constant 2.0 : f32
    %0 = arith.mulf %sum, %two : f32
    %1 = arith.addf %0, %bias : f32
    blockscale.yield %1
  } : !x, !w, tensor<72xf32> -> tensor<?x72xf32>
  return %d : tensor<?x72xf32>
}
""")
    rng = np.random.default_rng(33)
    x, w = values(rng, (37, 512)), values(rng, (72, 512), "f32")
    bias = rng.standard_normal(72).astype(np.float32)
    d = kernel.launch(kernel.quantize(bs.to_device(x), kernel="x"),
                      kernel.quantize(bs.to_device(w), kernel="w"),
                      bias=bs.to_device(bias), kernel="product").numpy()
    a, b = (bs.quantize(one, "int8_row") for one in (x, w))
    assert np.abs(a.data).max() == 127
    sums = (a.data.astype(np.int64) @ b.data.astype(np.int64).T).astype(np.float32)
    assert (d == sums * a.scales * b.scales[:, 0] * 2 + bias).all()


def test_memory_with_scales_of_other_blocks(device):
    """e2m1 under e8m0 for 64 elements is read in blocks of 32, or of 16 beside such."""
    a = bs.Format("e2m1", "ue8m0", 64)
    spec = bs.matmul(M="M", N=64, K=256, a=a, b="mxfp4_16")
    kernel = bs.compile(spec.mlir + source("q", ("?", 256), "f4E2M1FN", "e8m0_t64"))
    rng = np.random.default_rng(30)
    there = kernel.quantize(bs.to_device(values(rng, (32, 256))), kernel="q")
    assert there.scale_block == 32 and kernel.arg("a", "matmul").scale_block == 16
    b = bs.quantize(rng.standard_normal((64, 256)), like=kernel.arg("b", "matmul"))
    with pytest.raises(bs.Refused, match="has a scale for each 32 elements along K: the "
                       "kernel reads one for each 16"):
        kernel.launch(there, b, kernel="matmul")


# Elements with the largest one, which makes the scale 1 where it is among the numbers, and
# where some of their steps begin and end.
STEPS = [("f8E4M3FN", "e8m0_t32", "mxfp8", 448, 1, 1.125),
         *[("f4E2M1FN", "e8m0_t32", "mxfp4", 6, low, high)
           for low, high in ((0, 0.5), (0.5, 1), (1, 1.5), (1.5, 2), (2, 3), (3, 4), (4, 6))],
         *[("i8", "float32_t0", "int8_row", 127, low, low + 1)
           for low in (0, 1, 6, 64, 126)]]


@pytest.mark.parametrize("x", ["f32", "bf16"])
@pytest.mark.parametrize("element, spec, name, largest, low, high", STEPS)
def test_fractions_that_reach_1_with_their_random_numbers(device, element, spec, name,
                                                          largest, low, high, x):
    """Such a number is rounded up; those next to it are above or below. Of the bf16
    next to them that is so of those that are above or below. Both signs."""
    options = dict(rounding="stochastic", seed=SEED)
    kernel = bs.compile(source("q", (64, 1024), element, spec, words_of(options), x))
    reached = (low + (1 - random_fractions(SEED, 64 * 1024)) * (high - low)).astype("f4")
    below, above = (np.nextafter(reached, np.float32(to)) for to in (0, largest))
    numbers = np.choose(np.arange(reached.size) % 3, [reached, above, below])
    numbers = np.minimum(numbers, high) * np.where(np.arange(numbers.size) % 5 < 2, -1, 1)
    numbers[::32] = largest
    numbers = numbers.reshape(64, 1024).astype(TYPES[x])
    found = kernel.quantize(numbers)
    assert same(found, bs.quantize(numbers, name, **options))
    magnitudes = np.abs(numbers.astype("f4")).reshape(-1)
    expected = np.where(magnitudes >= np.minimum(reached, high), high, low)
    expected[::32] = largest
    expected = np.copysign(expected, numbers.reshape(-1).astype("f4"))
    assert (found.dequantize().reshape(-1) == expected).all()


@pytest.mark.parametrize("seed, number", [(59587, 0), (16165, 0xffff)])
@pytest.mark.parametrize("element, spec, name, largest, step", [
    ("f8E4M3FN", "e8m0_t32", "mxfp8", 448, 2.0 ** -9),
    ("f4E2M1FN", "e8m0_t32", "mxfp4", 6, 0.5), ("i8", "float32_t0", "int8_row", 127, 1)])
def test_random_numbers_at_the_ends(device, element, spec, name, largest, step, seed,
                                    number):
    """0 rounds down what is no code, the largest what is less than 2^-16 above
    one."""
    options = dict(rounding="stochastic", seed=seed)
    assert random_fractions(seed, 1)[0] == number / 2 ** 16
    kernel = bs.compile(source("q", (1, 32), element, spec, words_of(options), "f32"))
    above, below = step / 2 ** 16, step * (1 - 2.0 ** -20)
    for first, up in ((0, 0), (-0.0, 0), (1e-40, 0), (above * 0.99, 0), (above, 1),
                      (-above, 1), (below, 1), (-1e-30, 0)):
        x = np.full((1, 32), largest, np.float32)
        x[0, 0] = first
        found = kernel.quantize(x)
        assert found.dequantize()[0, 0] == np.copysign(step * up * (number > 0), first)
        assert same(found, bs.quantize(x, name, **options))


def test_the_result_is_multiplied(device):
    """x on the device is quantised there, and the product reads what was written."""
    spec = bs.matmul(M="M", N=72, K=256, a="mxfp8", b="mxfp8")
    kernel = bs.compile(spec.mlir + source("q", ("?", 256), "f8E4M3FN", "e8m0_t32"))
    assert len(kernel.names) == 2
    rng = np.random.default_rng(22)
    w = bs.quantize(rng.standard_normal((72, 256)), like=kernel.arg("b"))
    prepared = kernel.prepare_quantize(M=37)
    out = prepared.empty_out()
    for _ in range(2):
        x = values(rng, (37, 256))
        there = bs.to_device(x)
        assert prepared(there, out=out) is out
        d = kernel.launch(out, kernel.upload("b", w)).numpy()
        expected = bs.quantize(x, like=kernel.arg("a"))
        assert (d == kernel.emulate(expected, w)).all()
    again = kernel.quantize(there)
    assert isinstance(again, bs.DeviceScaled) and again.shape == (37, 256)
    assert (kernel.launch(again, w).numpy() == d).all()
    assert kernel.quantize(there, out=again) is again


def test_what_does_not_fit(device):
    kernel = bs.compile(source("q", ("?", 96), "f4E2M1FN",
                               "multi_float32_e4m3fn_t16"))
    product = bs.compile(bs.matmul(M="M", N=16, K=96, a="nvfp4", b="nvfp4"))
    x = np.ones((5, 96))
    for call, words in (
            (lambda: kernel.quantize(x), "the kernel needs 'tensor_scale'"),
            (lambda: kernel.quantize(x, tensor_scale=[1, 2]), "2 tensor scales"),
            (lambda: kernel.quantize(x[:, :48], tensor_scale=1), "K is 48"),
            (lambda: kernel.quantize(x[0], tensor_scale=1), "rows x K"),
            (lambda: product.quantize(x), "no kernel that quantises"),
            (lambda: product.quantize(x, kernel="matmul"), "'launch' runs it"),
            (lambda: kernel.emulate(x, x), "no kernel that multiplies"),
            (lambda: kernel.emulate(x, x, kernel="q"), "'quantize' runs it"),
            (lambda: kernel.prepare_quantize(), "M is dynamic"),
            (lambda: kernel.prepare_quantize(M=5)(
                bs.to_device(x.astype(np.float16)), tensor_scale=bs.to_device(
                    np.ones(1, np.float32)), out=kernel.prepare_quantize(
                        M=5).empty_out()), "'x' is of f16"),
            (lambda: kernel.quantize(
                x, tensor_scale=1, out=kernel.prepare_quantize(M=6).empty_out()),
             "prepared for")):
        with pytest.raises(bs.Refused, match=words):
            call()
