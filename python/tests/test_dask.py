# Part of the blockscale project, under the Apache License v2.0 with LLVM
# Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

"""Files and shards over dask, with two processes of its local cluster."""

import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

import blockscale as bs

from test_checkpoint import FIXTURES, odd_model, same, traps, write  # noqa: F401


def test_without_dask(tmp_path):
    script = """
import sys
sys.modules["dask"] = None
import blockscale as bs
try:
    bs.dask.check("none")
except ImportError as error:
    print(error)
"""
    done = subprocess.run([sys.executable, "-c", script], capture_output=True,
                          text=True)
    assert done.stdout == (
        "blockscale.dask needs 'dask', which is not installed; pip install "
        "'blockscale[dask]' installs it\n"), done


@pytest.fixture(scope="module")
def client():
    distributed = pytest.importorskip("distributed")
    with distributed.LocalCluster(
            n_workers=2, threads_per_worker=1, processes=True,
            dashboard_address=None) as cluster:
        with distributed.Client(cluster) as client:
            yield client


@pytest.fixture
def model(tmp_path):
    rng = np.random.default_rng(7)
    tensors = {f"layers.{i}.{part}.weight":
               rng.normal(0, 0.05, (64 + 32 * i, 160)).astype(np.float32)
               for i in range(6) for part in ("up_proj", "down_proj")}
    tensors["norm"] = rng.normal(0, 1, 160).astype(np.float32)
    return write(tmp_path / "model.safetensors", tensors)


def files(folder):
    return {one.name: one.read_bytes() for one in Path(folder).iterdir()}


@pytest.mark.parametrize("options", [
    {"to": "nvfp4", "checksums": True}, {"to": "mxfp8", "scales": "tiled"},
    {"to": "mxfp4", "names": "torchao"}])
def test_shards_as_one_process_writes_them(client, model, tmp_path, options):
    for name in ("alone", "over"):
        (tmp_path / name).mkdir()
    bs.pack(model, tmp_path / "alone" / "m.safetensors", shard_size="40KB",
            **options)
    written = bs.dask.pack(model, tmp_path / "over" / "m.safetensors",
                           client=client, shard_size="40KB", **options)
    assert files(tmp_path / "alone") == files(tmp_path / "over")
    assert len(written) == len(files(tmp_path / "over")) - 1 > 2
    assert {Path(path).name for path in written} < set(
        files(tmp_path / "over"))


def test_both_processes_work(client, tmp_path):
    import os
    pids = bs.dask.compute([os.getpid] * 40, client)
    assert len(set(pids)) == 2 and os.getpid() not in pids


def test_one_shard_is_the_file_itself(model, tmp_path):
    (tmp_path / "out").mkdir()
    bs.dask.pack(model, tmp_path / "out" / "m.safetensors", to="mxfp8")
    assert set(files(tmp_path / "out")) == {"m.safetensors"}


def test_files_keep_their_names(client, model, tmp_path):
    other = tmp_path / "w.npy"
    np.save(other, np.ones((32, 64), np.float32))
    bs.dask.pack([model, other], tmp_path / "out", client=client, to="mxfp8")
    assert set(files(tmp_path / "out")) == {"model.safetensors",
                                            "w.safetensors"}
    bs.pack(model, tmp_path / "one.safetensors", to="mxfp8")
    assert files(tmp_path / "out")["model.safetensors"] == (
        tmp_path / "one.safetensors").read_bytes()
    with pytest.raises(bs.Refused, match="two files would be written"):
        bs.dask.pack([model, model], tmp_path / "out", to="mxfp8")
    with pytest.raises(bs.Refused, match="is read and written"):
        bs.dask.pack([model], tmp_path, to="mxfp8")


def test_a_failure_leaves_nothing(client, model, tmp_path):
    (tmp_path / "out").mkdir()
    bad = tmp_path / "bad.npy"
    np.save(bad, np.ones((32, 63), np.float32))
    with pytest.raises(bs.Refused, match="rows of 63 elements"):
        bs.dask.pack([model, bad], tmp_path / "out", client=client, to="mxfp4")
    assert not files(tmp_path / "out")
    with pytest.raises(bs.Refused, match="unknown format"):
        bs.dask.pack(model, tmp_path / "out" / "m.safetensors", client=client,
                     to="fp3")
    assert not files(tmp_path / "out")


def test_check_says_the_same(client, traps, monkeypatch):  # noqa: F811
    # A task for each parameter.
    monkeypatch.setattr(bs.dask, "CHECK_BYTES", 1)
    paths = [*sorted(FIXTURES.glob("*.safetensors")),
             *(path for path in sorted(traps.iterdir())
               if path.name != "lone-shard")]
    reports = bs.dask.check(paths, client=client)
    assert len(reports) == len(paths) > 50
    for path in paths:
        alone, over = bs.check(path), reports[str(path)]
        assert set(alone.findings) == set(over.findings), path
        assert over.ok == alone.ok
        assert alone.text.splitlines()[-1] == over.text.splitlines()[-1]


@pytest.mark.parametrize("name", ["nvfp4", "mxfp8", "mxfp4"])
def test_quantize_says_the_same(client, name):
    array = pytest.importorskip("dask.array")
    values = np.random.default_rng(8).normal(0, 1, (200, 96)).astype("f4")
    over = bs.dask.quantize(array.from_array(values, chunks=(64, 50)), name)
    found, alone = over.compute(client), bs.quantize(values, name)
    assert found.data.dtype == alone.data.dtype
    assert same(found.data.view(np.uint8), alone.data.view(np.uint8))
    assert same(found.scales.view(np.uint8), alone.scales.view(np.uint8))
    if name == "nvfp4":
        assert same(found.tensor_scale, alone.tensor_scale)
    with pytest.raises(bs.Refused, match="expected rows x K"):
        bs.dask.quantize(array.zeros((2, 3, 32)), name)


def test_scales_in_other_files(client, tmp_path):
    odd_model(tmp_path / "odd")
    assert bs.dask.check(tmp_path / "odd", client=client).findings == \
        bs.check(tmp_path / "odd").findings
    (tmp_path / "out").mkdir()
    bs.dask.pack(tmp_path / "odd", tmp_path / "out" / "m.safetensors",
                 client=client, shard_size="2KB", to="f32",
                 tensors=["blocks*", "fp8.weight"])
    model, source = bs.read(tmp_path / "out"), bs.read(tmp_path / "odd")
    for name in ("blocks/0/größe", "fp8"):
        assert same(model[name].dequantize(), source[name].dequantize())
