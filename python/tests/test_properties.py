# Part of the blockscale project, under the Apache License v2.0 with LLVM
# Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

"""Packing and reading of whatever numbers, names and bytes come."""

import json
import tempfile
from pathlib import Path

import ml_dtypes
import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

import blockscale as bs

from test_checkpoint import reader, same, write

relaxed = settings(max_examples=60, deadline=None,
                   suppress_health_check=list(HealthCheck))
FORMATS = ("nvfp4", "mxfp8", "mxfp8-e5m2", "mxfp6-e2m3", "mxfp6-e3m2", "mxfp4")
# Others for the same bytes: the first keeps any global scale to the bit.
NAMES = {"nvfp4": ("torchao", "comfyui"), "mxfp8": ("compressed-tensors",
                                                    "torchao"),
         "mxfp8-e5m2": ("compressed-tensors", "torchao"),
         "mxfp6-e2m3": ("compressed-tensors",), "mxfp6-e3m2": ("modelopt",),
         "mxfp4": ("compressed-tensors", "torchao", "deepseek-v4", "gpt-oss",
                   "gpt-oss-original")}
shapes = st.tuples(st.integers(1, 140), st.integers(1, 6)).map(
    lambda both: (both[0], 32 * both[1])) | st.tuples(
    st.integers(1, 3), st.integers(1, 40), st.just(64))
floats = st.floats(-1e4, 1e4, width=32) | st.sampled_from(
    [0.0, -0.0, 1e-30, -1e-40, 448.0, 6.0, 2688.0])
values = shapes.flatmap(lambda shape: arrays(np.float32, shape,
                                             elements=floats, fill=floats))
names = st.text(st.characters(codec="utf-8", exclude_characters="\0"),
                min_size=1, max_size=20)


def folder():
    return tempfile.TemporaryDirectory()


@relaxed
@given(values, st.sampled_from(FORMATS), st.booleans())
def test_names_and_layouts_there_and_back(array, kind, tiled):
    with folder() as name:
        root = Path(name)
        source = write(root / "w.safetensors", {"layer.weight": array})
        first = root / "first.safetensors"
        bs.pack(source, first, to=kind)
        expected = bs.read(first, trust=True)["layer"].dequantize()
        for names_ in NAMES[kind]:
            there, back = root / "there.safetensors", root / "back.safetensors"
            layout = "tiled" if tiled or names_ == "comfyui" else "rows"
            if kind == "mxfp6-e2m3" and tiled:
                with pytest.raises(bs.Refused, match="legal is --scales=rows"):
                    bs.pack(first, there, names=names_, scales=layout)
                continue
            bs.pack(first, there, names=names_, scales=layout)
            model = bs.read(there, trust=True)
            (found,) = (one for one in model.values() if one.is_quantized)
            assert same(found.dequantize(), expected), names_
            bs.pack(there, back)
            assert back.read_bytes() == first.read_bytes(), names_


@relaxed
@given(values, st.sampled_from(FORMATS))
def test_values_are_near_and_zeros_stay(array, kind):
    with folder() as name:
        source = write(Path(name) / "w.safetensors", {"layer.weight": array})
        out = Path(name) / "q.safetensors"
        bs.pack(source, out, to=kind)
        weight = bs.read(out, trust=True)["layer"]
        found = weight.dequantize()
        assert found.shape == array.shape
        assert not found[array == 0].any()
        # No element is off by more than half the largest step of its block,
        # plus what the scale itself was rounded by.
        block = weight.block[1]
        largest = np.abs(array.reshape(-1, block)).max(-1).astype(np.float64)
        error = np.abs(array.astype(np.float64) - found).reshape(
            -1, block).max(-1)
        step = {"nvfp4": 0.25, "mxfp4": 0.34, "mxfp8": 0.08,
                "mxfp8-e5m2": 0.15, "mxfp6-e2m3": 0.07, "mxfp6-e3m2": 0.15}
        # Scales end at 2^-127, and those of e4m3 at 2^-9 of the tensor's, which
        # ends where 2688 / amax is no f32.
        floor = np.abs(array).max() / 2688 * 2**-9 * 6 + 2688 / np.finfo(
            np.float32).max if kind == "nvfp4" else 2.0**-126
        assert (error <= step[kind] * largest + floor).all()


@relaxed
@given(st.integers(0, 5), st.integers(0, 300), st.integers(0, 70), st.data())
def test_scales_into_atoms_and_back(batch, rows, blocks, data):
    plain = np.frombuffer(data.draw(st.binary(
        min_size=batch * rows * blocks, max_size=batch * rows * blocks)),
        np.uint8) if batch * rows * blocks < 4000 else np.resize(
        np.arange(251, dtype=np.uint8), batch * rows * blocks)
    if 0 in (batch, rows, blocks):
        return
    core = bs._checkpoint._core
    stored = core.pack_scales(plain, 1, batch, rows, blocks, 0)
    assert len(stored) == batch * -(-rows // 128) * 128 * -(-blocks // 4) * 4
    back = core.unpack_scales(stored, 1, batch, rows, blocks, plain.size)
    assert back == plain.tobytes()
    matrices = np.frombuffer(stored, np.uint8).reshape(batch, -1)
    for one, expected in zip(matrices, plain.reshape(batch, rows, blocks)):
        assert same(reader.untile(one, rows, blocks), expected)


@relaxed
@given(st.dictionaries(names, st.integers(0, 40), min_size=1, max_size=6))
def test_any_name_is_a_name(sizes):
    with folder() as name:
        tensors = {key: np.arange(size, dtype=np.float32)
                   for key, size in sizes.items()}
        path = write(Path(name) / "w.safetensors", tensors)
        model = bs.read(path)
        assert set(model.tensors) == set(tensors)
        for key, array in tensors.items():
            assert same(model.tensors[key].map(), array)
        bs.check(path)


@relaxed
@given(st.data())
def test_any_bytes_are_an_answer(data):
    """A right file with some bytes changed, or whatever."""
    with folder() as name:
        path = Path(name) / "w.safetensors"
        write(path, {"a.weight": np.zeros((4, 16), np.uint8),
                     "a.weight_scale": np.ones(
                         (4, 2), ml_dtypes.float8_e4m3fn),
                     "a.weight_scale_2": np.array(0.1, np.float32)})
        content = bytearray(path.read_bytes())
        for _ in range(data.draw(st.integers(0, 4))):
            at = data.draw(st.integers(0, len(content) - 1))
            content[at] = data.draw(st.integers(0, 255))
        cut = data.draw(st.integers(0, len(content)) | st.just(len(content)))
        path.write_bytes(bytes(content[:cut]))
        try:
            model = bs.read(path)
            model.check()
            for parameter in model.values():
                parameter.dequantize()
                parameter.data, parameter.scales
        except (bs.Refused, UnicodeDecodeError):
            pass


@relaxed
@given(st.recursive(st.none() | st.booleans() | st.integers() | st.text(),
                    lambda inner: st.lists(inner, max_size=3) |
                    st.dictionaries(st.sampled_from(
                        ["dtype", "shape", "data_offsets", "a", "weight_map",
                         "__metadata__"]), inner, max_size=4), max_leaves=12))
def test_any_json_is_an_answer(value):
    with folder() as name:
        text = json.dumps(value).encode()
        path = Path(name) / "w.safetensors"
        path.write_bytes(len(text).to_bytes(8, "little") + text)
        index = Path(name) / "w.safetensors.index.json"
        index.write_bytes(text)
        for each in (path, index, Path(name)):
            try:
                bs.check(each)
            except bs.Refused as error:
                assert str(error)
