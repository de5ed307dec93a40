# Part of the blockscale project, under the Apache License v2.0 with LLVM
# Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

"""Kernels that Triton launches, watched. Only where triton is there, on a card or
under `blockscale emulate --strict=false --cuda`, whose driver would otherwise end a
launch that has a hazard before it is watched to its end."""

import importlib.util
import os
import pathlib
import sys

import numpy as np
import pytest

import blockscale as bs

if importlib.util.find_spec("triton") is None:
    pytest.skip("triton is not installed", allow_module_level=True)


@pytest.fixture(scope="module")
def arrays(device, tmp_path_factory):
    """Arrays on the emulated device, by the class of the examples."""
    # The emulated driver takes what its own assembler for Triton makes.
    if device.emulated and "TRITON_PTXAS_BLACKWELL_PATH" not in os.environ:
        pytest.skip("not run by 'blockscale emulate --cuda'")
    os.environ["TRITON_CACHE_DIR"] = str(tmp_path_factory.mktemp("triton"))
    sys.path.insert(0, str(pathlib.Path(__file__).parents[2] / "examples/triton"))
    import device_array
    device_array.use_device()
    return device_array.DeviceArray


@pytest.fixture(scope="module")
def kernels():
    import watched_kernels
    return watched_kernels


def test_launches_are_emulated_with_their_arguments(arrays, kernels):
    x = np.random.default_rng(1).normal(size=(5, 200)).astype("f4")
    result = arrays(np.zeros_like(x), "fp32")
    said = []
    with bs.triton.watch(on_launch=said.append) as watch:
        kernels.scale[(5,)](arrays(x, "fp32"), result, 200, 2.5, BLOCK=256)
    assert np.array_equal(result.numpy(), x * np.float32(2.5))
    launch, = watch.launches
    assert said == [launch] and watch.ok and launch.ok, str(watch)
    assert launch.kernel == "scale" and launch.grid == (5, 1, 1)
    assert launch.block == 128 and launch.target.startswith("sm_100")
    assert launch.differences == {"x": 0, "y": 0}
    assert launch.counters["instructions"] > 5 * 4


def test_after_the_watch_nothing_is_seen(arrays, kernels):
    with bs.triton.watch() as watch:
        pass
    x = arrays(np.ones((1, 16), "f4"), "fp32")
    kernels.scale[(1,)](x, x, 16, 2.0, BLOCK=16)
    assert watch.launches == []
    assert kernels.scale.launch_metadata is None
    watch.stop()


def test_a_hazard_is_found(arrays, kernels, capsys):
    with bs.triton.watch() as watch:
        y = arrays(np.zeros(64, "i4"), "i32")
        kernels.race[(2,)](y, BLOCK=64)
    launch, = watch.launches
    assert not watch.ok and launch.findings
    assert "race" in capsys.readouterr().err


def test_what_cannot_be_run_is_said(arrays, kernels, capsys):
    x = arrays(np.ones((1, 64), "f4"), "fp32")
    kernels.double[(1,)](x, BLOCK=64)
    with bs.triton.watch(most_bytes=100) as watch:
        kernels.double[(1,)](x, BLOCK=64)
        kernels.double[(1,)](x, BLOCK=32)
    early, large = watch.launches
    assert early.why == "it was compiled before watch() was called"
    assert large.why == "its arrays have more than 100 bytes (most_bytes)"
    assert "double: not run: it was compiled before" in capsys.readouterr().err


def test_a_result_that_differs_is_told(arrays, kernels, monkeypatch):
    import blockscale.triton as module
    read = module.Memory.read
    seen = []

    def wrong(self):
        """What the device has, with another number once the kernel has run."""
        host = read(self)
        seen.append(self)
        if seen.count(self) == 2:
            host.view("f4")[7] += 1
        return host

    monkeypatch.setattr(module.Memory, "read", wrong)
    x = arrays(np.ones((1, 16), "f4"), "fp32")
    with bs.triton.watch(on_launch=lambda launch: None) as watch:
        kernels.scale[(1,)](x, arrays(np.zeros((1, 16), "f4"), "fp32"), 16, 3.0,
                            BLOCK=32)
    assert watch.launches[0].differences == {"x": 1, "y": 1}
    assert "'y' differs from the device's in 1 elements" in str(watch)


def test_options_are_checked():
    with pytest.raises(bs.Refused, match="strict is a int"):
        bs.triton.watch(strict=1)
    with pytest.raises(bs.Refused, match="most_bytes"):
        bs.triton.watch(most_bytes=-1)
