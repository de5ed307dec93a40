# Part of the blockscale project, under the Apache License v2.0 with LLVM
# Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

"""Kernels for several targets, and what only sm_107 has. Each card is emulated in a
process of its own."""

import subprocess
import sys

import pytest

import blockscale as bs

TARGETS = ["sm_107a", "sm_103f", "sm_100a"]

PROGRAM = """
import sys
import numpy as np
import blockscale as bs
bs.emulate_without_card(sys.argv[1])
loaded = bs.load_kernel(sys.argv[2])
try:
    kernel = loaded.on() if isinstance(loaded, bs.KernelChoice) else loaded
    rng = np.random.default_rng(31)
    x, w = (bs.quantize(rng.integers(-3, 4, (rows, kernel.plan["kernels"][0]
                                             ["sizes"][2]["value"])
                                     ).astype(np.float32), like=kernel.arg(name))
            for name, rows in (("a", 33), ("b", 192)))
    d = loaded.launch(x, w)
    exact = x.dequantize().astype(np.float64) @ w.dequantize().T
    print(kernel.target, bool((d == exact).all()), bool(d.any()))
except bs.DeviceError as error:
    print(error)
"""


def launch_on(card, path):
    done = subprocess.run([sys.executable, "-c", PROGRAM, card, path],
                          capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    return done.stdout.strip()


@pytest.fixture(scope="module")
def emulated(device):
    if not device.emulated:
        pytest.skip("a card is what it is")


@pytest.fixture(scope="module")
def kernels():
    return bs.compile(bs.matmul(M="M", N=192, K=256, a="mxfp4", b="mxfp4"),
                      TARGETS)


def test_kernels_for_several_targets(kernels):
    assert kernels.targets == ["sm_107a", "sm_100a", "sm_103f"]
    assert len(kernels) == 3 and kernels.plan["target"] == "sm_107a"
    assert [one["devices"] for one in kernels.plan["alternatives"]] == \
        [["10.0"], ["10.3", "10.7"]]
    for kernel in kernels:
        assert kernels[kernel.target] is kernel
        assert f".target {kernel.target}" in kernel.ptx
        assert kernel.verify(M=33, data="exact", clusters=1)
    # Elements of 4 bits take twice the K on sm_107a.
    assert [kernel.report["kernels"][0]["mma_k"] for kernel in kernels] == \
        [128, 64, 64]
    assert "pickTarget" in kernels.launcher
    with pytest.raises(bs.Refused, match="no kernels for 'sm_110a'; there are "
                       "sm_107a, sm_100a, sm_103f"):
        kernels["sm_110a"]


@pytest.mark.parametrize("card, target", [("B200", "sm_100a"),
                                          ("B300", "sm_103f"),
                                          ("VR200", "sm_107a")])
def test_a_device_takes_its_own(emulated, kernels, tmp_path, card, target):
    kernels.save(tmp_path / "kernels.bsk")
    assert launch_on(card, str(tmp_path / "kernels.bsk")) == \
        f"{target} True True"


def test_a_device_that_none_fits(emulated, kernels, tmp_path):
    kernels.save(tmp_path / "kernels.bsk")
    said = launch_on("RTX5090", str(tmp_path / "kernels.bsk"))
    assert "has compute capability 12.0; there are kernels for sm_107a (compute" \
        " capability 10.7), sm_100a (compute capability 10.0), sm_103f" in said


def test_wrong_targets(tmp_path):
    spec = bs.matmul(M="M", N=64, K=64, a="mxfp8", b="mxfp8")
    for targets, words in ((["sm_100a", "sm_100a"], "is named twice"),
                           ("sm_100a,sm_99a", "unknown target 'sm_99a'"),
                           (["sm_100a", "trn3"], "unknown target 'trn3'"),
                           (["sm_100a", 3], "expected")):
        with pytest.raises(bs.Refused, match=words):
            bs.compile(spec, targets)


OVERSIZED = """
!x = !blockscale.tensor<?x2048xf8E4M3FN, "e8m0_t32", layout = tiled_128x4>
!w = !blockscale.tensor<192x2048xf8E4M3FN, "e8m0_t32", layout = tiled_128x4>
func.func @wide(%x: !x, %w: !w) -> tensor<?x192xf32> {
  %0 = blockscale.matmul %x, %w schedule(#blockscale.schedule<tile_n = 192, stages = 7, cta_group = 1, swap_operands = false>) : !x, !w -> tensor<?x192xf32>
  return %0 : tensor<?x192xf32>
}
"""


def test_oversized_shared_memory(emulated, tmp_path):
    """Seven stages take more than the 227 KiB of the standard mode."""
    kernel = bs.compile(OVERSIZED, "sm_107a")
    planned, = kernel.plan["kernels"]
    assert planned["oversizedSharedMemory"] is True
    assert 232448 < planned["sharedMemoryBytes"] <= 334848
    path = str(tmp_path / "wide.bsk")
    kernel.save(path)
    assert launch_on("VR200", path) == "sm_107a True True"
    # Whoever asks for the size in place of the mode is refused.
    standard = bs.Kernel(kernel.target, kernel.ptx, b"", kernel.plan_text.replace(
        '"oversizedSharedMemory": true', '"oversizedSharedMemory": false'),
        "{}", "", "", kernel.source)
    standard.save(path)
    assert "cuKernelSetAttribute returned CUDA_ERROR_INVALID_VALUE" in \
        launch_on("VR200", path)
    assert "kernel is for sm_107a (compute capability 10.7)" in \
        launch_on("B200", path)


def test_scales_of_a_one_row_to_a_lane(emulated, tmp_path):
    spec = bs.matmul(M="M", N=192, K=288, a=bs.Format("e2m1", "ue8m0", 16),
                     b=bs.Format("e2m1", "ue8m0", 16), layout="tiled_128x16")
    kernel = bs.compile(spec, "sm_107a")
    assert [kernel.layout(name) for name in "ab"] == ["tiled_128x16",
                                                      "tiled_128x4"]
    assert "tcgen05.cp.cta_group::" in kernel.ptx and "128x128b" in kernel.ptx
    assert kernel.verify(M=[33, 129], clusters=1)
    kernel.save(tmp_path / "rows.bsk")
    assert launch_on("VR200", str(tmp_path / "rows.bsk")) == "sm_107a True True"
    with pytest.raises(bs.CompileError, match="does not exist on 'sm_100a'"):
        bs.compile(spec, "sm_100a")
