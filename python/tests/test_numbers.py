# Part of the blockscale project, under the Apache License v2.0 with LLVM
# Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

"""Quantised tensors, and products on the emulator against numpy."""

import csv
import dataclasses
import itertools
from pathlib import Path

import ml_dtypes
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

import blockscale as bs
from blockscale import _core

ORACLE = Path(__file__).resolve().parents[2] / "test" / "oracle" / "numerics"


def floats(words):
    """f32 values of hexadecimal words."""
    return np.array([int(word, 16) for word in words.split()],
                    np.uint32).view(np.float32)


def codes(words):
    return np.array([int(word, 16) for word in words.split()], np.uint8)


def rows_of(name):
    with open(ORACLE / name, newline="") as file:
        return list(csv.DictReader(file))


def test_rules_of_scales_of_other_peoples_software():
    formats = {"e4m3fn": "mxfp8", "e5m2": "mxfp8_e5m2", "e2m1fnuz": "mxfp4",
               "e2m3fnuz": "mxfp6_e2m3", "e3m2fnuz": "mxfp6_e3m2"}
    rules = {"floor": "floor", "midmax": "mid_max", "option3": "rounded_max",
             "topbinade": "top_binade"}
    tried = set()
    for row in rows_of("tensorcast_cast.csv"):
        if row["sspec"] != "e8m0_t32" or row["roundmode"] != "even":
            continue
        rule = rules[row["scalemode"]]
        result = bs.quantize([floats(row["inputs_f32_hex"])],
                             formats[row["nspec"]], rule=rule)
        assert result.scales.view(np.uint8).tolist() == \
            [[int(row["scale"], 16)]]
        assert (result.dequantize() == floats(row["dequant_f32_hex"])).all()
        tried.add((row["nspec"], rule))
    assert len(tried) == len(formats) * len(rules)


# What TensorCast calls elements and scales.
TENSORCAST_ELEMENTS = {"int8": "int8", "int4": "int4", "uint8": "uint8", "uint4": "uint4",
                       "e4m3fn": "e4m3", "e2m1fnuz": "e2m1"}
TENSORCAST_SCALES = {"float32": "f32", "float16": "f16", "bfloat16": "bf16",
                     "e8m0": "ue8m0", "e4m3": "ue4m3", "e4m3fn": "ue4m3"}


def tensorcast_format(row):
    """The Format of a row; of uint8 with zero points that reach 255, which int8 has
    not and TensorCast does not check."""
    scale, *zero, tile = row["sspec"].split("_")
    zero = {"float32": "f32", "bfloat16": "bf16"}.get(zero[0], "int16") if zero else None
    return bs.Format(TENSORCAST_ELEMENTS[row["nspec"]], TENSORCAST_SCALES[scale],
                     int(tile[1:]), zero=zero)


def test_integers_and_zero_points_of_other_peoples_software():
    """All but one to the bit: TensorCast 0.2.3 divides by 2^-23 at the least, although
    it multiplies by the scale itself, so that smaller data shrink. We divide by the
    scale."""
    smaller = []
    assert len(rows_of("tensorcast_cast_int.csv")) == 55
    for row in rows_of("tensorcast_cast_int.csv"):
        result = bs.quantize([floats(row["inputs_f32_hex"])], tensorcast_format(row))
        if row["sspec"].startswith("e8m0"):
            assert result.scales.view(np.uint8).tolist() == [[int(row["scale"], 16)]]
        else:
            assert result.scales.astype(np.float32) == floats(row["scale"])
        if row["zero"]:
            assert result.zeros.astype(np.float32) == floats(row["zero"])
        expected = floats(row["dequant_f32_hex"])
        if (result.dequantize() == expected).all():
            continue
        (scale,), (zero,) = floats(row["scale"]), floats(row["zero"])
        steps = np.rint(floats(row["inputs_f32_hex"]) / np.float32(2.0 ** -23))
        assert (np.clip(steps + zero, 0, 255) - zero == np.rint(expected / scale)).all()
        smaller.append(scale)
    assert len(smaller) == 1 and smaller[0] < 2.0 ** -23


def test_float_scales_of_other_peoples_software():
    """TensorCast 0.3.0 stores the largest element over the largest magnitude, by which
    it multiplies; we store the quotient the other way around, as checkpoints do, and
    divide. In f32 codes are the same and values close; in f16 each rounds its own
    number, and a code at a tie may differ."""
    tried = different = 0
    for row in rows_of("tensorcast_cast.csv"):
        if row["scalemode"]:
            continue
        tried += 1
        result = bs.quantize([floats(row["inputs_f32_hex"])], tensorcast_format(row))
        (multiplier,) = floats(row["scale"])
        theirs = floats(row["dequant_f32_hex"]).astype(np.float64) * multiplier
        codes_of_theirs = theirs.astype(np.float32).astype(result.data.dtype)
        rounding = 2.0 ** (-10 if row["sspec"].startswith("float16") else -22)
        assert abs(result.scales.astype(np.float64)[0, 0] * multiplier - 1) < rounding
        wrong = (codes_of_theirs != result.data[0]).sum()
        assert wrong == 0 or row["sspec"] == "float16_t32"
        different += wrong
    assert tried == 12 and different == 1


def test_scales_of_e4m3_end_where_instructions_read_them():
    """TensorCast ends them at 240, its largest e4m3, as the grammar has it; we write
    what a tensor core reads, which ends at 448 (docs of `blockscale.quantize`)."""
    values = np.repeat(np.float32([6 * 240, 6 * 288, 6 * 448, 6 * 1000]), 16)[None]
    result = bs.quantize(values, "nvf4")
    assert result.scales.astype(np.float32).tolist() == [[240, 288, 448, 448]]
    assert (result.dequantize()[0, ::16] == [6 * 240, 6 * 288, 6 * 448, 6 * 448]).all()


def test_where_rules_of_scales_turn():
    """In units of the binade of e2m1, whose largest magnitude is 1.5 of it."""
    above = np.float32(2.0) ** -23
    turns = {"ceil": 1, "top_binade": 1.5, "round_up": 1.5, "mid_max": 1.75}
    for rule, turn in turns.items():
        scales = [bs.quantize([[np.float32(turn) + step] + [0] * 31], "mxfp4",
                              rule=rule).scales.view(np.uint8)[0, 0]
                  for step in (0, above)]
        assert scales == [125, 126], rule
    scales = [bs.quantize([[np.float32(1.75) - step] + [0] * 31], "mxfp4",
                          rule="rounded_max").scales.view(np.uint8)[0, 0]
              for step in (above, 0)]
    assert scales == [125, 126]
    assert bs.quantize([[1] + [0] * 31], "mxfp4", rule="floor_plus_one"
                       ).scales.view(np.uint8).tolist() == [[126]]


def test_the_scale_that_errs_less():
    """4.5 is 3 times 1.5, and 6 is 4 times that, or 6 times 1."""
    def scale(values):
        block = np.array([values + [0] * (16 - len(values))], np.float32)
        return bs.quantize(block, "nvfp4", rule="min_error",
                           tensor_scale=[1]).scales.astype(np.float32)[0, 0]

    assert [scale([6, 4.5]), scale([6, 1]), scale([6])] == [1.5, 1, 1]
    with pytest.raises(bs.Refused, match="is for scales, which 'bf16' has not"):
        bs.quantize([[1.0]], "bf16", rule="min_error")


@pytest.mark.parametrize("rounding, expected", [
    ("even", [2, -2, 4, 1, 0, 6]), ("away", [3, -3, 4, 1.5, 0.5, 6]),
    ("zero", [2, -2, 3, 1, 0, 6])])
def test_ties_of_elements(rounding, expected):
    """Half-way between numbers of e2m1, under the scale 1; but for the last,
    the largest, and integers, which use all of their range."""
    values = [[2.5, -2.5, 3.5, 1.25, 0.25, 6] + [0] * 26]
    result = bs.quantize(values, "mxfp4", rounding=rounding)
    assert result.dequantize()[0, :6].tolist() == expected
    whole = {"even": [2, -2, -128, 127], "away": [3, -3, -128, 127],
             "zero": [2, -2, -128, 127]}[rounding]
    assert bs.quantize([[2.5, -2.5, -128.5, 127.5]], "int8",
                       rounding=rounding).data.tolist() == [whole]


def test_stochastic_rounding():
    """The first two outputs of SplitMix64 from 0, which its authors publish, are
    0xe220a8397b1dcdaf and 0x6e789e6aa1b965f4: elements 0, 3 and 4 have the numbers
    0xcdaf, 0xe220 and 0x65f4, and go up from fractions of 0.19655, 0.11670 and
    0.60175 on."""
    for fractions, expected in (([0.1966, 0.1168, 0.6018], [3, 3, 3]),
                                ([0.1965, 0.1166, 0.6017], [2, 2, 2])):
        values = np.zeros((1, 32), np.float32)
        values[0, [0, 3, 4]] = 2 + np.array(fractions)
        values[0, 31] = 6
        result = bs.quantize(values, "mxfp4", rounding="stochastic", seed=0)
        assert result.dequantize()[0, [0, 3, 4]].tolist() == expected


def ups(format_, rest, seed=0, count=1 << 16):
    """Which of numbers that lie `rest` of a step above 2 go up, which is a step of 1/4
    in e4m3 and 1 in e2m1. The last of each 32 is the largest and not looked at."""
    step, top = {"mxfp8": (0.25, 448), "mxfp4": (1, 6)}[format_]
    values = np.full((count // 1024, 1024), 2 + rest * step, np.float32)
    values[:, 31::32] = top
    result = bs.quantize(values, format_, rounding="stochastic_rs", seed=seed)
    return (result.dequantize() > 2).reshape(-1)


def are_independent(x, y):
    """Whether pairs of equal chances are as often alike as by chance, within five
    standard deviations."""
    return abs(np.mean(x == y) - 0.5) < 5 * 0.5 / np.sqrt(x.size)


@pytest.mark.parametrize("format_, bits", [("mxfp8", 16), ("mxfp4", 8)])
def test_random_bits_of_the_instruction_have_no_bias(format_, bits):
    inside = np.arange(1 << 16) % 32 < 28
    for seed, rest in enumerate((0.5, 0.25, 0.9375, 0.125, 1 / 3, 0.01)):
        found = ups(format_, rest, seed)[inside]
        # To the last of the bits that are added.
        chance = np.floor(rest * 2 ** bits) / 2 ** bits
        # Two of 8 bits go up together, which are one throw then.
        throws = found.size // (2 if bits == 16 else 1)
        limit = 5 * np.sqrt(chance * (1 - chance) / throws)
        assert abs(found.mean() - chance) < limit, rest
    assert not ups(format_, 0.999 * 2.0 ** -bits)[inside].any()


def test_who_shares_the_random_bits_of_the_instruction():
    """Two neighbours of 8 bits; others are independent: the rest of a group and of a
    word, the next words, the next row, other seeds."""
    eight = ups("mxfp8", 0.5).reshape(-1, 4)
    assert (eight[:, 0] == eight[:, 1]).all()
    assert (eight[:-1:8, 2] == eight[:-1:8, 3]).all()
    for found in (eight.reshape(-1, 32)[:, [0, 2, 4, 6, 8, 10, 12, 14, 16]],
                  ups("mxfp4", 0.5).reshape(-1, 32)[:, [*range(18), 30]]):
        for i, j in itertools.combinations(range(found.shape[1]), 2):
            assert are_independent(found[:, i], found[:, j]), (i, j)
        for distance in (1, 2, 32, 64):
            assert are_independent(found[:-distance, 0], found[distance:, 0])
    for other in (1, 2, -1, 2 ** 32, 0x9e3779b97f4a7c15 - 2 ** 64):
        assert are_independent(eight[:, 0], ups("mxfp8", 0.5, other)[::4]), other


@pytest.mark.parametrize("recipe, rule", [("mx_floor", "floor"),
                                          ("mx_rp", "round_up")])
def test_blocks_of_other_peoples_software(recipe, rule):
    formats = {("e4m3", "32"): "mxfp8", ("e5m2", "32"): "mxfp8_e5m2",
               ("e2m1", "32"): "mxfp4", ("e2m3", "32"): "mxfp6_e2m3",
               ("e3m2", "32"): "mxfp6_e3m2"}
    tried = 0
    for row in rows_of("blocks.csv"):
        format_ = formats.get((row["element"], row["block"]))
        values = floats(row["inputs_f32_hex"])
        if row["recipe"] != recipe or not format_ or \
                not np.isfinite(values).all():
            continue
        # Of finite data near the top of f32 NVIDIA's conversion makes 2^128,
        # which we do not: finite data have finite scales.
        if int(row["scale_hex"], 16) > 254:
            continue
        result = bs.quantize(values[None], format_, rule=rule)
        assert result.scales.view(np.uint8)[0, 0] == int(row["scale_hex"], 16)
        assert (result.data.view(np.uint8)[0] ==
                codes(row["codes_hex"])).all(), row["case"]
        tried += 1
    assert tried > 20


def test_scales_of_nvfp4():
    """Against values that are 6 * 448 * 2^j: tensor scale and tile scales are
    then powers of two, and every code is exact."""
    values = np.zeros((3, 64), np.float32)
    for row in range(3):
        for block in range(4):
            values[row, 16 * block] = 6 * 448 * 2.0 ** -(row + block)
            values[row, 16 * block + 1 + row] = 448 * 2.0 ** -(row + block)
    result = bs.quantize(values, "nvfp4")
    assert result.tensor_scale[0] == 1
    assert (result.scales.astype(np.float32) == [
        [448 * 2.0 ** -(row + block) for block in range(4)]
        for row in range(3)]).all()
    assert (result.dequantize() == values).all()


def test_layouts_hold_every_scale():
    rng = np.random.default_rng(3)
    plain = np.arange(2 * 130 * 5).reshape(2, 130, 5) % 251
    data = rng.integers(0, 100, (2, 130, 150)).astype(np.uint8).view(
        ml_dtypes.float8_e4m3fn)
    x = bs.Scaled(data, plain.astype(np.uint8).view(ml_dtypes.float8_e8m0fnu),
                  format="mxfp8")
    tiled = x.to("tiled_128x4")
    assert tiled.scales.size == 2 * 2 * 2 * 512
    # Row 33, block 2 of matrix 1: lane 1 of the tile, second group of rows.
    assert tiled.scales[4 * 512 + 16 + 4 + 2] == plain[1, 33, 2]
    back = tiled.to("plain")
    assert (back.scales.view(np.uint8) == plain).all()
    assert (tiled.dequantize() == x.dequantize()).all()
    rows = tiled.to("tiled_128x16")
    # Two tiles of 128 x 16 for each matrix, row after row.
    assert rows.scales.size == 2 * 2 * 2048
    assert rows.scales[2 * 2048 + 33 * 16 + 2] == plain[1, 33, 2]
    assert rows.scales[3 * 2048 + 1 * 16 + 4] == plain[1, 129, 4]
    assert (rows.dequantize() == x.dequantize()).all()


@pytest.mark.parametrize("arguments, words", [
    (dict(data=np.zeros((4, 32), np.float32)), "data of float32: format "),
    (dict(scales=None), "format 'mxfp8' needs scales"),
    (dict(scales=np.zeros((4, 2), ml_dtypes.float8_e8m0fnu)),
     "scales of shape (4, 2): expected (4, 1)"),
    (dict(scales=np.zeros((4, 1), np.uint8)), "scales of uint8: format "),
    (dict(tensor_scale=1.0), "format 'mxfp8' has no tensor scale"),
    (dict(layout="swizzled"), "no layout 'swizzled'; there are plain, "),
    (dict(data=np.zeros(4, ml_dtypes.float8_e4m3fn)), "expected rows x K"),
    (dict(layout="tiled_128x4"), "4 bytes of scales in layout 'tiled_128x4': "
     "expected 512"),
])
def test_wrong_tensors(arguments, words):
    good = dict(data=np.zeros((4, 32), ml_dtypes.float8_e4m3fn),
                scales=np.zeros((4, 1), ml_dtypes.float8_e8m0fnu))
    with pytest.raises(bs.Refused) as caught:
        bs.Scaled(**{**good, **arguments}, format="mxfp8")
    assert words in str(caught.value)


def test_wrong_quantisations():
    x = np.ones((2, 32), np.float32)
    for arguments, words in [
            ((x,), "either a format or 'like'"),
            ((x[0], "mxfp8"), "expected rows x K"),
            ((x * np.inf, "mxfp8"), "not finite"),
            ((np.array([["a"]]), "mxfp8"), "expected an array of numbers")]:
        with pytest.raises(bs.Refused, match=words):
            bs.quantize(*arguments)
    with pytest.raises(bs.Refused, match="none with others"):
        bs.quantize(x, "nvfp4", rule="floor")
    with pytest.raises(bs.Refused, match="has no tensor scale"):
        bs.quantize(x, "mxfp8", tensor_scale=2.0)
    for arguments, words in [
            (dict(rounding="up"), "expected one of .'even', "),
            (dict(rounding="stochastic"), "seed is for 'stochastic'"),
            (dict(rounding="stochastic_rs"), "'stochastic_rs', which need one"),
            (dict(seed=1), "seed is for 'stochastic'"),
            (dict(rounding="stochastic", seed=2 ** 63), "of 64 bits")]:
        with pytest.raises(bs.Refused, match=words):
            bs.quantize(x, "mxfp8", **arguments)
    with pytest.raises(bs.Refused, match="elements of bf16 are rounded to even"):
        bs.quantize(x, "bf16", rounding="zero")
    with pytest.raises(bs.Refused, match="of an instruction for elements of e4m3, .*"
                       "but they are int8"):
        bs.quantize(x, "int8", rounding="stochastic_rs", seed=1)


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


@settings(max_examples=60, deadline=None)
@given(arrays(np.float32, st.tuples(st.integers(1, 9), st.integers(1, 70)),
              elements=st.floats(-2.0**127, 2.0**127, width=32)),
       st.sampled_from(sorted(bs.FORMATS)))
def test_quantised_is_near_or_saturated(values, name):
    result = bs.quantize(values, name)
    back = result.dequantize()
    assert back.shape == values.shape and np.isfinite(back).all()
    for layout in ("tiled_128x4", "tiled_128x16", "plain"):
        result = result.to(layout)
    assert (result.dequantize() == back).all()
    # Signs survive, and a larger magnitude never becomes a smaller one.
    assert (np.sign(back) * np.sign(values) >= 0).all()


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


def test_scales_of_all_of_k():
    values = np.array([[254, -20, 1.2], [1.5, 0.125, -63.5]], np.float32)
    result = bs.quantize(values, "int8_row")
    assert result.scales.tolist() == [[2.0], [0.5]]
    assert result.data.tolist() == [[127, -10, 1], [3, 0, -127]]
    assert result.dequantize().tolist() == [[254, -20, 2], [1.5, 0, -63.5]]
    assert result.to("tiled_128x4").scales.shape == (2, 1)
    result = bs.quantize(values, "int8_tensor")
    assert result.scales.tolist() == [[2.0]]
    assert result.data.tolist() == [[127, -10, 1], [1, 0, -32]]
    # 448 is the largest element, and 3 * 448 one of bf16 times that.
    result = bs.quantize(np.array([[1344.0, 3], [0, 0]], np.float32),
                         bs.Format("e4m3", "bf16"))
    assert result.scales.astype(np.float32).tolist() == [[3.0], [0.0]]
    assert result.dequantize().tolist() == [[1344, 3], [0, 0]]
    # Groups of four rows, of which the last has two.
    values = np.exp2(np.arange(6, dtype=np.float32))[:, None]
    result = bs.quantize(values, bs.Format("e2m1", "ue8m0", rows=4))
    assert result.scales.astype(np.float32).tolist() == [[2.0], [8.0]]
    assert result.dequantize().tolist() == [[1], [2], [4], [8], [16], [32]]
    assert bs.Format("e2m1", "ue8m0", rows=4).spec == "e8m0_t4_t0"
    assert bs.Format("e4m3", "f16", tensor_scale=True).spec == \
        "multi_float32_float16_t0"
    assert bs.Format("e4m3", "e5m2", sparsity="2:4").spec == "e5m2_t0n2m4"
    assert bs.Format("e4m3", "ue5m3", sparsity="1:2", rows=0).spec == "e5m3fn_n1m2"
    for fields, why in (
            (("e4m3", "f32", 0, False, None, 2), "rows = 2: expected 0, 1, 4"),
            (("e4m3", None, 0, False, None, 4), "rows = 4: expected 1 without"),
            (("e4m3", "ue8m0", 32, False, None, 2), "rows = 2: expected 0, 1, 4"),
            (("e4m3", "f32", 0, True, None, 0), "one scale for all rows"),
            (("e4m3", "ue8m0", 3), "block = 3: a spec has tiles of a power of two from "
                                   "4 to 256 elements, or of all of K"),
            (("e4m3", "f32", 512), "block = 512: a spec has tiles"),
            (("e4m3", "f32", 4, False, "2:4"), "'2:4' keeps 2 of these"),
            (("uint8", "f32"), "zero point"),
            (("f16", "f32"), "have no scales")):
        with pytest.raises(bs.Refused, match=why):
            bs.Format(*fields)
    with pytest.raises(bs.Refused, match=r"expected \(2, 1\), one per all of K"):
        bs.Scaled(np.zeros((2, 3), np.int8), np.ones((2, 3), np.float32),
                  format="int8_row")


def test_scales_of_blocks_that_are_numbers():
    assert bs.FORMATS["fp8_1x128"].spec == "float32_t128"
    assert bs.FORMATS["fp8_128x128"].spec == "float32_t128_t128"
    assert bs.Format("e2m1", "bf16", 256, rows=0).spec == "bfloat16_t0_t256"
    # 448 is the largest element: rows of two blocks, of which the last is short.
    values = np.zeros((2, 130), np.float32)
    values[:, [0, 127, 128]] = [[1344, -9, 224], [44.8, 1, 0]]
    result = bs.quantize(values, "fp8_1x128")
    assert result.scales.dtype == np.float32
    assert np.array_equal(result.scales,
                          np.float32([[3, 0.5], [np.float32(44.8) / 448, 0]]))
    assert result.data[0, [0, 127, 128]].tolist() == [448, -3, 448]
    assert result.dequantize()[0, [0, 127, 128]].tolist() == [1344, -9, 224]
    assert result.to("tiled_128x4").scales.shape == (2, 2)
    result = bs.quantize(values, "fp8_128x128")
    assert result.scales.tolist() == [[3, 0.5]]
    assert result.data[1, 0] == 15 and result.dequantize()[1, 0] == 45
    with pytest.raises(bs.Refused, match=r"expected \(1, 2\), one per 128 elements"):
        bs.Scaled(result.data, np.ones((2, 2), np.float32), format="fp8_128x128")
    with pytest.raises(bs.Refused, match="scales of float64: format 'fp8_128x128' has "
                                         "float32"):
        bs.Scaled(result.data, np.ones((1, 2)), format="fp8_128x128")


def test_scales_of_ue5m3_round_up():
    values = np.ones((1, 48), np.float32)
    values[0, 0], values[0, 16:32], values[0, 40] = -13, 0, 1e9
    result = bs.quantize(values, "fp4_ue5m3")
    # 13 / 6 lies between 2 (0x80) and 2.25; 114688 is the largest.
    assert result.scales.tolist() == [[0x81, 0, 0xfe]]
    assert result.dequantize()[0, [0, 1, 20, 40]].tolist() == \
        [-13.5, 1.125, 0, 6 * 114688]
    # One for a matrix that is given, and one for a row with zero points.
    result = bs.quantize(values, bs.Format("e4m3", "ue5m3", rows=0), tensor_scale=2.1)
    assert result.scales.tolist() == [[0x81]]
    assert result.dequantize()[0, [0, 40]].tolist() == [-13.5, 448 * 2.25]
    result = bs.quantize(np.float32([[-9, 0, 24]]),
                         bs.Format("uint4", "ue5m3", zero="int8"))
    # 33 / 15 is 2.2, and 9 / 2.25 steps below are 4.
    assert (result.scales.tolist(), result.zeros.tolist()) == ([[0x81]], [[4]])
    assert result.dequantize().tolist() == [[-9, 0, 11 * 2.25]]


def test_data_types_by_the_names_that_mlir_knows():
    """All that a type of MLIR takes in place of a spec, from the same table."""
    for name, format_ in (
            ("nvf4", bs.Format("e2m1", "ue4m3", 16)),
            ("nvf6s", bs.Format("e2m3", "ue4m3", 16, rows=16)),
            ("mxfp8e4", bs.FORMATS["mxfp8"]), ("mxfp4e2", bs.FORMATS["mxfp4"]),
            ("mx6", bs.Format("cb51ie_int7", "ue8m0", 16, subtile=2)),
            ("mxfp4e", bs.Format("cb42fe0123_e3m2fnuz", "ue8m0", 32, subtile=8)),
            ("bfp16", bs.Format("int8", "ue8m0", 8)),
            ("fp8nF32s", bs.Format("e4m3b8fnuz", "f32", 32, rows=32)),
            ("fp8_n", bs.Format("e4m3", "ue4m3", rows=0)),
            ("uint4_bbc", bs.Format("uint4", "bf16", zero="bf16")),
            ("uint8_fi", bs.Format("uint8", "f16", rows=0, zero="int8")),
            ("bf8", bs.FORMATS["fp8_e5m2"])):
        assert bs.format_named(name) == format_, name
    # Names that both have are of one type.
    for name in ("mxfp4", "mxfp8", "mxint4", "mxint8", "fp8"):
        element, scale, block, rows, zero, subtile = _core.find_data_type(name)
        assert bs.FORMATS[name] == bs.Format(element, scale or None, block,
                                             rows=rows, zero=zero or None,
                                             subtile=subtile)
    values = np.arange(32, dtype=np.float32)[None]
    assert bs.quantize(values, "nvf4").scales.tolist() == [[2.5, 5]]
    for name in ("NVF4", "nvf5", 4):
        with pytest.raises(bs.Refused, match="no format .* such as nvf4"):
            bs.format_named(name)


def test_scales_of_tiles_of_rows():
    """One scale for four rows and 64 elements: what it is, and its place for
    each row and 32 elements, by hand."""
    tiles = bs.Format("e4m3", "ue8m0", 64, rows=4)
    assert tiles.spec == "e8m0_t4_t64"
    assert bs.Format("e2m1", "ue4m3", 16, True, rows=0).spec == \
        "multi_float32_e4m3fn_t0_t16"
    assert bs.Format("e4m3", "ue8m0", 64, sparsity="2:4", rows=8).spec == \
        "e8m0_t8_t32n2m4"
    values = np.zeros((6, 96), np.float32)
    values[1, 3], values[3, 64], values[4, 63] = 448, 448 * 4, 448 * 16
    values[0, 0] = 1.0
    x = bs.quantize(values, tiles)
    # Two rows of two scales; of a block of zeros the smallest.
    assert x.scales.view(np.uint8).tolist() == [[127, 129], [131, 0]]
    assert (x.dequantize() == values).all()
    tiled = x.to("tiled_128x4")
    assert tiled.scales.size == 512
    assert tiled.scales[[0, 1, 16, 17]].tolist() == [127, 129, 131, 0]
    assert (tiled.to("plain").scales == x.scales).all()
    # Row r of the operand is at 16 * r, its third block at 2.
    repeated = tiled.repeated(32).reshape(32, 4, 4)
    assert repeated[:6, 0, :3].tolist() == \
        [[127, 127, 129]] * 4 + [[131, 131, 0]] * 2
    assert not repeated[6:].any() and not repeated[:, 1:].any()
    assert x.repeated(64).tolist() == [127, 129] * 4 + [131, 0] * 2
    plain = bs.quantize(values, "mxfp8").to("tiled_128x4")
    assert (plain.repeated(32) == plain.scales).all()
    for block in (24, 128):
        with pytest.raises(bs.Refused, match=f"block = {block}: it does not"):
            x.repeated(block)
    with pytest.raises(bs.Refused, match=r"expected \(2, 2\), one per 64"):
        bs.Scaled(x.data, np.repeat(x.scales, 3, axis=0), format=tiles)


def test_zero_points_of_a_format():
    assert bs.FORMATS["uint4_row"].spec == "float32_int8_t0"
    assert bs.FORMATS["uint4_1x128"].spec == "float32_int8_t128"
    assert bs.Format("uint4", "bf16", rows=0, zero="int16").spec == "bfloat16_int16"
    values = np.float32([[-2, 0, 5.5, 1], [3, 4.5, 0.5, 3]])
    result = bs.quantize(values, "uint4_row")
    # 7.5 and 4.5 in 15 steps.
    assert np.array_equal(result.scales, np.float32([[0.5], [4.5 / 15]]))
    assert result.zeros.dtype == np.int8 and result.zeros.tolist() == [[4], [0]]
    assert result.data.astype(int).tolist() == [[0, 4, 15, 6], [10, 15, 2, 10]]
    assert result.dequantize()[0].tolist() == [-2, 0, 5.5, 1]
    assert result.to("tiled_128x4").zeros is result.zeros
    for change, why in (({"zero": None}, "those of uint2 to uint4, and of uint8 with scales, have"),
                        ({"element": "int4"}, "no others"),
                        ({"scale": "ue8m0", "block": 32}, "expected f32, f16, bf16"),
                        ({"scale": None}, "beside scales of None"),
                        ({"tensor_scale": True}, "have no tensor scale"),
                        ({"zero": "int4"}, "zero")):
        with pytest.raises(bs.Refused, match=why):
            dataclasses.replace(bs.FORMATS["uint4_row"], **change)
    with pytest.raises(bs.Refused, match="'uint4_row' needs zero points"):
        bs.Scaled(result.data, result.scales, format="uint4_row")
    with pytest.raises(bs.Refused, match=r"shape \(1, 1\) of int8: expected \(2, 1\)"):
        bs.Scaled(result.data, result.scales, format="uint4_row",
                  zeros=result.zeros[:1])
    with pytest.raises(bs.Refused, match="'int4_row' has no zero points"):
        bs.Scaled(np.zeros((2, 4), ml_dtypes.int4), result.scales,
                  format="int4_row", zeros=result.zeros)
    with pytest.raises(bs.Refused, match="without zero points"):
        bs.quantize(values, "uint4_row", rule="min_error")
