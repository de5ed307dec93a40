# Part of the blockscale project, under the Apache License v2.0 with LLVM
# Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

"""Models in files, against a reader of numpy and ml_dtypes alone."""

import importlib.util
import json
import subprocess
import sys
from pathlib import Path

import ml_dtypes
import numpy as np
import pytest

import blockscale as bs

ROOT = Path(__file__).resolve().parents[2]
FIXTURES = ROOT / "test" / "Driver" / "Inputs" / "checkpoints"
# Not by the search path: the folder has sources of the package, too.
_spec = importlib.util.spec_from_file_location(
    "checkpoint_reader", ROOT / "python" / "checkpoint_reader.py")
reader = importlib.util.module_from_spec(_spec)
_spec.loader.exec_module(reader)

PRODUCERS = ("compressed-tensors", "modelopt", "torchao")
BF16 = ml_dtypes.bfloat16


@pytest.fixture(scope="session")
def traps(tmp_path_factory):
    folder = tmp_path_factory.mktemp("traps")
    subprocess.run([sys.executable, FIXTURES / "make_traps.py", folder],
                   check=True)
    return folder


def write(path, tensors, metadata=None):
    """A .safetensors file of arrays; (dtype, shape, bytes) is a tensor too."""
    names = {np.dtype(dtype): name for name, dtype in reader.DTYPES.items()}
    header, data = {}, b""
    if metadata:
        header["__metadata__"] = metadata
    for key, array in tensors.items():
        if isinstance(array, tuple):
            dtype, shape, raw = array
        else:
            dtype, shape = names[array.dtype], list(array.shape)
            raw = np.ascontiguousarray(array).tobytes()
        header[key] = {"dtype": dtype, "shape": shape,
                       "data_offsets": [len(data), len(data) + len(raw)]}
        data += raw
    text = json.dumps(header).encode()
    path.write_bytes(len(text).to_bytes(8, "little") + text + data)
    return path


def same(found, expected):
    found, expected = np.asarray(found), np.asarray(expected)
    return found.shape == expected.shape and \
        np.ascontiguousarray(found).tobytes() == \
        np.ascontiguousarray(expected).tobytes()


@pytest.mark.parametrize("producer", PRODUCERS)
def test_files_of_the_libraries_that_write_them(producer):
    path = FIXTURES / f"{producer}.safetensors"
    model = bs.read(path)
    tensors, metadata = reader.load(path)
    assert set(model.tensors) == set(tensors)
    for name, array in tensors.items():
        assert same(model.tensors[name].map(), array), name
    quantized = [one for one in model.values() if one.is_quantized]
    assert len(quantized) == sum(name.startswith("expected.")
                                 for name in tensors)
    for parameter in quantized:
        expected = tensors[f"expected.{parameter.name}"]
        values = parameter.dequantize()
        assert values.shape == parameter.shape
        # A global scale is multiplied with either factor first.
        np.testing.assert_allclose(values, expected, rtol=2.4e-7, atol=0)
        if parameter.global_scale is None:
            assert same(values, expected), parameter
        if parameter.format:
            assert same(values, product(parameter)), parameter
    assert bool(model.check()) and model.check().ok


def product(parameter):
    """Values from `data` and `scales`, in the order of dequantize()."""
    scales = parameter.scales.astype(np.float32)
    if parameter.layout != "plain":
        scales = parameter.to("plain").scales.astype(np.float32)
    rows, columns = parameter.block
    if scales.ndim:
        scales = reader.spread(scales, parameter.shape, (rows, columns))
    # The offset of integers of compressed-tensors.
    offset = 8 if parameter.kind == "INT4" else 0
    values = (parameter.data.astype(np.float32) - offset) * scales
    if parameter.global_scale is None:
        return values
    return values / parameter.global_scale \
        if parameter.global_use == "divisor" else \
        values * parameter.global_scale


RIGHT = {
    "right-modelopt": ("ModelOpt", "NVFP4", "multi_float32_e4m3fn_t16"),
    "right-compressed-tensors": ("compressed-tensors", "NVFP4",
                                 "multi_float32_e4m3fn_t16"),
    "right-mxfp8": ("ModelOpt or compressed-tensors", "MXFP8", "e8m0_t32"),
    "exponent-bytes.mxfp4": ("compressed-tensors", "MXFP4", "e8m0_t32"),
    "inverse-name": ("DeepSeek", "FP8 in blocks", "float32_t128_t128"),
    "right-qwen": ("DeepSeek", "FP8 in blocks", "bfloat16_t128_t128"),
    "right-ue8m0": ("DeepSeek", "FP8 in blocks", "float32_t128_t128"),
    "right-fp8-block": ("compressed-tensors", "FP8 in blocks",
                        "float32_t128_t128"),
    "high-nibble-first": ("ComfyUI", "NVFP4", "multi_float32_e4m3fn_t16"),
}


@pytest.mark.parametrize("name", RIGHT)
def test_conventions_to_the_bit(traps, name):
    path = traps / name / "model.safetensors"
    (parameter,) = bs.read(traps / name).values()
    family, kind, spec = RIGHT[name]
    assert (parameter.kind, parameter.spec) == (kind, spec)
    assert parameter.family == family or name == "right-fp8-block"
    tensors, metadata = reader.load(path)
    prefix = parameter.name.removesuffix(".weight")
    expected = reader.read_weight(tensors, metadata, prefix)
    values = parameter.dequantize()
    np.testing.assert_allclose(values, expected, rtol=2.4e-7, atol=0)
    assert same(values, product(parameter))
    assert same(np.asarray(parameter), values)
    assert same(parameter.dequantize(3, 40), values[3:43])
    assert parameter.format.spec == spec
    scaled = parameter.scaled()
    np.testing.assert_allclose(scaled.dequantize(), values, rtol=2.4e-7)
    assert same(parameter.to("tiled_128x4").to("plain").scales,
                scaled.to("plain").scales)


def test_gpt_oss(traps):
    path = traps / "interleaved-rows"
    model = bs.read(path)
    tensors, _ = reader.load(path / "model.safetensors")
    for name, interleaved in (("gate_up_proj", True), ("down_proj", False)):
        parameter = model[f"model.layers.0.mlp.experts.{name}"]
        assert parameter.family == "gpt-oss" and parameter.kind == "MXFP4"
        assert parameter.interleaved_rows == interleaved
        assert parameter.shape == (2, 64, 96)
        expected = reader.read_blocks(tensors, parameter.name)
        assert same(parameter.dequantize(), expected)
        assert same(parameter.scaled().dequantize(), expected)
        assert same(product(parameter), expected)
    original = bs.read(traps / "interleaved-rows.original")
    parameter = original["block.0.mlp.mlp1_weight"]
    assert same(parameter.dequantize(), expected)


def test_deepseek_v4(traps):
    path = traps / "right-deepseek-v4"
    tensors, metadata = reader.load(path / "model.safetensors")
    model = bs.read(path)
    specs = {"layers.3.ffn.experts.7.w1": "e8m0_t32",
             "layers.3.attn.wq_a": "e8m0_t128_t128"}
    for name, spec in specs.items():
        # The layer's name stands for its weight.
        assert model[name] is model[f"{name}.weight"]
        assert model[name].spec == spec
        assert same(model[name].dequantize(),
                    reader.read_weight(tensors, metadata, name))


def test_every_mistake_is_an_error_with_its_rule(traps):
    rules = {rule: grade for rule, grade in
             (line.split("|")[1:3] for line in
              (ROOT / "docs" / "checkpoints.md").read_text().splitlines()
              if line.startswith("| `") and line.count("|") == 4)}
    errors = {rule.strip(" `") for rule, grade in rules.items()
              if grade.strip() == "error"}
    tried = set()
    for folder in sorted(traps.iterdir()):
        rule = folder.name.split(".")[0]
        if rule not in errors:
            continue
        report = bs.check(folder)
        assert not report and rule in {one.rule for one in report.errors}
        raised = set()
        for parameter in bs.read(folder).values():
            try:
                parameter.dequantize()
            except bs.CheckpointError as error:
                assert f"[{error.rule}]" in str(error)
                found = {one.rule for one in error.findings}
                assert error.rule in found
                raised |= found
        # What two parameters contradict together is no parameter's.
        if folder.name != "mixed-families":
            assert rule in raised, folder.name
        tried.add(rule)
    assert tried == errors - {"unreadable"}


def test_trust_takes_names_at_their_word(traps):
    folder = traps / "reciprocal-global-scale.modelopt"
    with pytest.raises(bs.CheckpointError, match="as a divisor"):
        bs.read(folder)["model.layers.0.mlp.down_proj"].scaled()
    (parameter,) = bs.read(folder, trust=True).values()
    assert same(parameter.dequantize(), product(parameter))
    # What is not there cannot be trusted.
    (parameter,) = bs.read(traps / "missing-scales.fp8", trust=True).values()
    with pytest.raises(bs.CheckpointError) as error:
        parameter.dequantize()
    assert error.value.rule == "missing-scales"


def odd_model(folder):
    """What nobody writes on purpose, in two shards; scales are in the other."""
    rng = np.random.default_rng(4)
    packed = rng.integers(0, 256, (40, 48), np.uint8)
    scales = rng.integers(1, 0x7e, (40, 6), np.uint8).view(
        ml_dtypes.float8_e4m3fn)
    first = {
        "blocks/0/größe.weight": packed,
        "a.weight": rng.normal(0, 1, (6, 96)).astype(BF16),
        "fp8.weight": rng.integers(0, 0x7e, (33, 64), np.uint8).view(
            ml_dtypes.float8_e4m3fn),
        "empty.weight": np.zeros((0, 64), np.float32),
        "empty8.weight": np.zeros((0, 64), ml_dtypes.float8_e4m3fn),
        "bias": rng.normal(0, 1, 7).astype(np.float32),
        "step": np.array(3, np.int64),
        "six": ("F6_E2M3", [2, 4], bytes(range(6))),
        "four": ("F4", [2, 4], bytes(range(4))),
    }
    second = {
        "blocks/0/größe.weight_scale": scales,
        "blocks/0/größe.weight_scale_2": np.float32(0.001),
        "fp8.weight_scale": rng.integers(110, 130, (33, 2), np.uint8),
        "empty8.weight_scale": np.zeros((0, 2), np.uint8),
    }
    folder.mkdir()
    names = [f"m-0000{i}-of-00002.safetensors" for i in (1, 2)]
    for name, tensors in zip(names, (first, second)):
        write(folder / name, {key: np.asarray(x) if not isinstance(x, tuple)
                              else x for key, x in tensors.items()})
    places = {key: name for name, tensors in zip(names, (first, second))
              for key in tensors}
    (folder / "m.safetensors.index.json").write_text(
        json.dumps({"weight_map": places}))
    return first | second


def test_odd_models(tmp_path):
    tensors = odd_model(tmp_path / "odd")
    model = bs.read(tmp_path / "odd")
    assert len(model.files) == 2
    assert [(one.parameter, one.rule) for one in model.check().errors] == [
        ("four", "missing-scales")]
    wide = model["blocks/0/größe"]
    assert wide.kind == "NVFP4"
    assert {one.file for one in wide.tensors.values()} == set(model.files)
    expected = reader.E2M1[reader.nibbles(tensors["blocks/0/größe.weight"])] \
        * reader.spread(tensors["blocks/0/größe.weight_scale"].astype("f4"),
                        (40, 96), (1, 16)) * np.float32(0.001)
    assert same(wide.dequantize(), expected)
    assert model["a"].kind == "BF16" and not model["a"].is_quantized
    assert same(model["a"].data, tensors["a.weight"])
    assert same(model["a"].dequantize(), tensors["a.weight"].astype("f4"))
    assert same(model["fp8"].data, tensors["fp8.weight"])
    assert model["empty"].dequantize().shape == (0, 64)
    assert model["empty8"].dequantize().shape == (0, 64)
    assert model["empty8"].data.shape == (0, 64)
    assert same(model["bias"].dequantize(), tensors["bias"])
    assert model["step"].data == 3 and model["step"].shape == ()
    with pytest.raises(bs.CheckpointError, match="no numbers to quantise"):
        model["step"].dequantize()
    assert model["four"].kind == "MXFP4"
    assert model["four"].shape == model["six"].shape == (2, 4)
    with pytest.raises(KeyError, match="near it are 'fp8.weight'"):
        model["fp9.weight"]
    # Each shard alone lacks what the other has, and says so.
    alone = bs.check(tmp_path / "odd" / "m-00001-of-00002.safetensors")
    assert {"lone-shard", "missing-scales"} <= {
        one.rule for one in alone.findings}


def test_weights_of_int4_beside_bf16():
    """A layer as compressed-tensors wrote it, by activations that nobody quantised."""
    model = bs.read(FIXTURES / "compressed-tensors.safetensors")
    weight, = (one for one in model.values() if one.kind == "INT4")
    kernel = bs.compile(bs.matmul(M="M", N=24, K=64, a="bf16", b=weight.format))
    w = weight.scaled()
    assert same(w.dequantize(), weight.dequantize())
    x = bs.quantize(np.random.default_rng(8).integers(-8, 9, (5, 64)), "bf16")
    exact = x.dequantize().astype(np.float64) @ w.dequantize().T.astype(np.float64)
    assert np.abs(kernel.emulate(x, w) - exact).max() <= 2.0 ** -18 * np.abs(exact).max()


def test_bytes_of_integers(tmp_path):
    """W8A8 beside bf16, with a scale for each row and with one."""
    rng = np.random.default_rng(9)
    integers = rng.integers(-128, 128, (24, 40)).astype(np.int8)
    rows = rng.random((24, 1)).astype(np.float32)
    model = bs.read(write(tmp_path / "w.safetensors", {
        "a.weight": integers, "a.weight_scale": rows.astype(BF16),
        "b.weight": integers, "b.weight_scale": rows[0],
        "c.weight": rows.astype(BF16)}))
    assert [one.kind for one in model.values()] == [
        "INT8 with a scale for a row", "INT8 with one scale", "BF16"]
    assert same(model["a"].dequantize(),
                integers.astype("f4") * rows.astype(BF16).astype("f4"))
    assert same(model["b"].dequantize(), integers * rows[0])
    assert same(model["a"].data, integers)
    assert model["a"].spec == "bfloat16_t0"
    for name in "ab":
        scaled = model[name].scaled()
        assert scaled.format.spec == model[name].spec
        assert same(scaled.dequantize(), model[name].dequantize())
    bs.pack(tmp_path / "w.safetensors", tmp_path / "q.safetensors", to="mxfp8",
            tensors="a.*")
    assert bs.read(tmp_path / "q.safetensors")["a"].kind == "MXFP8"


def test_shards_must_all_be_there(tmp_path):
    odd_model(tmp_path / "odd")
    (tmp_path / "odd" / "m.safetensors.index.json").unlink()
    assert len(bs.read(tmp_path / "odd").files) == 2
    (tmp_path / "odd" / "m-00002-of-00002.safetensors").unlink()
    with pytest.raises(bs.Refused, match="there are 1 of the 2 files 'm-"):
        bs.read(tmp_path / "odd")


def test_pack_and_read(tmp_path):
    rng = np.random.default_rng(5)
    values = rng.normal(0, 0.05, (300, 512)).astype(np.float32)
    source = write(tmp_path / "w.safetensors", {"x.weight": values,
                                                "y.weight": values[:64] * 2})
    seen = []
    written = bs.pack(source, tmp_path / "q.safetensors", to="nvfp4",
                      scales="tiled", checksums=True,
                      progress=lambda done, total: seen.append((done, total)))
    assert {one["name"] for one in written} >= {"x.weight", "x.weight_scale"}
    assert all("crc32" in one for one in written)
    assert seen[-1][0] == seen[-1][1] > 0
    weight = bs.read(tmp_path / "q.safetensors", trust=True)["x"]
    assert weight.layout == "tiled_128x4"
    direct = bs.quantize(values, "nvfp4", tensor_scale=weight.tensor_scale)
    found = weight.to("plain")
    # Of scales, the order of operations may differ by a step.
    assert (np.abs(found.scales.view(np.int8) - direct.scales.view(np.int8))
            <= 1).all()
    assert abs(weight.dequantize() - values).max() < 0.05
    shards = bs.pack(source, tmp_path / "s" / "m.safetensors", to="mxfp8",
                     shard_size="100KB") if (tmp_path / "s").mkdir() is None \
        else None
    assert len(shards) == 4
    assert len(bs.read(tmp_path / "s").files) == 2


def test_pack_is_refused_and_stopped(tmp_path):
    source = write(tmp_path / "w.safetensors",
                   {"x.weight": np.zeros((4096, 2048), np.float32)})
    out = tmp_path / "out"
    out.mkdir()
    with pytest.raises(bs.Refused, match="unknown format 'fp5', legal are"):
        bs.pack(source, out / "q.safetensors", to="fp5")
    with pytest.raises(bs.Refused, match="legal are 'modelopt'"):
        bs.pack(source, out / "q.safetensors", names="mine")
    with pytest.raises(bs.Refused, match="no number of bytes"):
        bs.pack(source, out / "q.safetensors", to="mxfp8", shard_size="5XB")

    class Enough(Exception):
        pass

    def stop(done, total):
        raise Enough

    with pytest.raises(Enough):
        bs.pack(source, out / "q.safetensors", to="mxfp8", progress=stop)
    assert not list(out.iterdir())


def test_an_interrupt_ends_packing(tmp_path):
    script = f"""
import os, signal
import blockscale as bs
# lit's workers ignore it, and so would what they start.
signal.signal(signal.SIGINT, signal.default_int_handler)
def interrupt(done, total):
    os.kill(os.getpid(), signal.SIGINT)
try:
    bs.pack("{tmp_path}/w.safetensors", "{tmp_path}/q.safetensors",
            to="mxfp8", progress=interrupt)
except KeyboardInterrupt:
    print("interrupted")
"""
    write(tmp_path / "w.safetensors",
          {"x.weight": np.zeros((16384, 2048), np.float32)})
    done = subprocess.run([sys.executable, "-c", script], capture_output=True,
                          text=True)
    assert done.stdout == "interrupted\n", done
    assert [one.name for one in tmp_path.iterdir()] == ["w.safetensors"]


def test_only_what_is_asked_for_is_read(tmp_path):
    """32 GB that are a hole."""
    rows, columns = 1 << 17, 1 << 18
    header = {"x.weight": {"dtype": "F8_E4M3", "shape": [rows, columns],
                           "data_offsets": [0, rows * columns]},
              "x.weight_scale": {
                  "dtype": "U8", "shape": [rows, columns // 32],
                  "data_offsets": [rows * columns,
                                   rows * columns * 33 // 32]}}
    text = json.dumps(header).encode()
    path = tmp_path / "hole.safetensors"
    with open(path, "wb") as file:
        file.write(len(text).to_bytes(8, "little") + text)
        file.truncate(8 + len(text) + rows * columns * 33 // 32)
    weight = bs.read(path, trust=True)["x"]
    weight._findings = ()  # Those of the scales, a GB of them.
    assert not weight.dequantize(1000, 3).any()
    assert weight.data.shape == (rows, columns)
    assert weight.scales[-1, -1] == np.float32(2.0**-127)


def test_a_kernel_reads_it(tmp_path):
    rng = np.random.default_rng(6)
    source = write(tmp_path / "w.safetensors", {
        "x.weight": rng.normal(0, 1, (128, 256)).astype(np.float32)})
    bs.pack(source, tmp_path / "q.safetensors", to="nvfp4")
    weight = bs.read(tmp_path / "q.safetensors")["x"]
    kernel = bs.compile(bs.matmul(M=64, N=128, K=256, a="nvfp4", b="nvfp4"))
    x = bs.quantize(rng.standard_normal((64, 256)), like=kernel.arg("a"))
    y = kernel.emulate(x, weight.to("tiled_128x4"))
    np.testing.assert_allclose(
        y, x.dequantize() @ weight.dequantize().T, rtol=1e-4, atol=1e-3)
