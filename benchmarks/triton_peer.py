"""Launches the kernel of Triton's tutorial on block-scaled products once.

usage: triton_peer.py TUTORIAL.py nvfp4|mxfp8 M N K [clc]

TUTORIAL.py is python/tutorials/10-block-scaled-matmul.py of a checkout of Triton. It
is taken as it is, with the tiles and stages that it takes; only what it imports for
its own host part, torch above all, is replaced by nothing. All elements are 1, all
scales 1 but for the first block of each row, which differs by row. `clc` has CTAs take
one tile after the other by cluster launch control, as the tutorial's --clc does. Runs on
a device or in `blockscale emulate --cuda`; benchmarks/peers.py does.
"""
# Part of the blockscale project, under the Apache License v2.0 with LLVM
# Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

import importlib.util
import math
import sys
import types
from pathlib import Path
from unittest import mock

import numpy
from triton.runtime import driver
from triton.tools.tensor_descriptor import TensorDescriptor

sys.path.insert(0, str(Path(__file__).resolve().parent.parent / "examples/triton"))
from device_array import DeviceArray, use_device  # noqa: E402

TILE_M, TILE_N = 128, 256
#           elements a byte, elements a scale, tile K, byte of 1, of a scale of 1
FORMATS = {"nvfp4": (2, 16, 256, 0x22, 0x38), "mxfp8": (1, 32, 128, 0x38, 127)}


def load(path):
    """The tutorial as a module, its host part without what it needs."""
    # Triton asks torch, if that is there, whose card this is: it asks before.
    driver.active.get_current_target()
    absent = {name: mock.MagicMock() for name in
              ("torch", "triton.profiler", "triton.tools.mxfp")}
    spec = importlib.util.spec_from_file_location("tutorial", path)
    module = importlib.util.module_from_spec(spec)
    with mock.patch.dict(sys.modules, absent):
        spec.loader.exec_module(module)
    # Triton looks at what a kernel's names are bound to.
    for name, value in vars(module).items():
        if isinstance(value, mock.MagicMock):
            setattr(module, name, types.ModuleType(name))
    return module


def operand(rows, k, form):
    """The elements and scales of `rows` rows, and what each row multiplies."""
    packed, block, _, one, unit = FORMATS[form]
    kind = "u8" if packed == 2 else "fp8e4nv"
    elements = numpy.full((rows, k // packed), one, "u1")
    scales = numpy.full((rows // 128, k // block // 4, 32, 4, 4), unit, "u1")
    # 1 or 2 by the row: row = 32 * fourth dimension + third one of a group.
    group, lane, part = numpy.ogrid[:rows // 128, :32, :4]
    double = (group * 128 + part * 32 + lane) % 3 == 0
    scales[:, 0, :, :, 0] += (8 if form == "nvfp4" else 1) * double.astype("u1")
    sums = k + block * (numpy.arange(rows) % 3 == 0)
    kind_of_scales = "fp8e4nv" if form == "nvfp4" else "u8"
    return (DeviceArray(elements, kind), DeviceArray(scales, kind_of_scales), sums)


def descriptor(array, shape, box):
    strides = [math.prod(shape[i + 1:]) for i in range(len(shape))]
    return TensorDescriptor(array, list(shape), strides, box)


def scale_arguments(kernel, scales, repeat_k):
    """Scales as the kernel takes them, what it takes of them before and after its
    tile, and by name: since 2025 as descriptors of boxes with two rows of 256 bytes
    for 128 rows, before that as pointers with strides."""
    if "a_scale_desc" not in kernel.arg_names:
        return scales, scales[0].strides[:4], (), {"USE_2D_SCALE_LOAD": True}
    repeats = TILE_M // 128, TILE_N // 128
    boxes = [descriptor(array, (1, *array.shape[:2], 2, 256),
                        [1, repeat, repeat_k, 2, 256])
             for array, repeat in zip(scales, repeats)]
    return boxes, (), (*repeats, repeat_k), {}


def main():
    path, form, m, n, k = *sys.argv[1:3], *map(int, sys.argv[3:6])
    has_control = sys.argv[6:] == ["clc"]
    packed, block, tile_k, _, _ = FORMATS[form]
    use_device()
    tutorial = load(path)
    a, a_scales, doubled_a = operand(m, k, form)
    b, b_scales, doubled_b = operand(n, k, form)
    c = DeviceArray(numpy.zeros((m, n), "f2"), "fp16")

    kernel = tutorial.block_scaled_matmul_kernel
    matrices = [descriptor(a, a.shape, [TILE_M, tile_k // packed]),
                descriptor(b, b.shape, [TILE_N, tile_k // packed]),
                descriptor(c, c.shape, [TILE_M, TILE_N])]
    scales, before, after, options = scale_arguments(
        kernel, (a_scales, b_scales), tile_k // block // 4)
    # Since 2026; what the tutorial takes on chips other than Rubin.
    if "disallow_acc_multi_buffer" in kernel.arg_names:
        options["disallow_acc_multi_buffer"] = True
    if has_control:
        options["clc"] = True
    kernel[(-(-m // TILE_M) * -(-n // TILE_N), 1)](
        matrices[0], scales[0], matrices[1], scales[1], matrices[2], m, n, k, *before,
        1, packed, packed, block, TILE_M, TILE_N, tile_k, *after,
        3 if has_control else 4, **options)
    # The first block of a row of A and one of B have both factors.
    rows, columns = doubled_a - k, doubled_b - k
    expected = (k + rows[:, None] + columns[None, :]
                + rows[:, None] * columns[None, :] // block)
    assert numpy.array_equal(c.numpy(), expected.astype("f2"))
    print("equal to the reference")


if __name__ == "__main__":
    main()
