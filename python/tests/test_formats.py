# Part of the blockscale project, under the Apache License v2.0 with LLVM
# Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

"""Formats: what their scales cover, where these lie, and what zero points mean."""

import dataclasses

import ml_dtypes
import numpy as np
import pytest

import blockscale as bs
from blockscale import _core


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
