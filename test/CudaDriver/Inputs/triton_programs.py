"""Triton programs that compile at run time and launch through Triton's own
launcher. Part of the blockscale project, under the Apache License v2.0 with LLVM
Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""

import sys
import time

import numpy
import triton
import triton.language as tl
from triton.tools.tensor_descriptor import TensorDescriptor

from device_array import DeviceArray, use_device


@triton.jit
def softmax(x, y, columns, BLOCK: tl.constexpr):
    row = tl.program_id(0)
    at = tl.arange(0, BLOCK)
    values = tl.load(x + row * columns + at, mask=at < columns,
                     other=-float("inf"))
    powers = tl.exp(values - tl.max(values, axis=0))
    tl.store(y + row * columns + at, powers / tl.sum(powers, axis=0),
             mask=at < columns)


@triton.jit
def matmul(a, b, c, M, N, K, BM: tl.constexpr, BN: tl.constexpr,
           BK: tl.constexpr):
    row, column = tl.program_id(0) * BM, tl.program_id(1) * BN
    total = tl.zeros((BM, BN), dtype=tl.float32)
    for k in range(0, K, BK):
        total = tl.dot(a.load([row, k]), b.load([k, column]), total)
    c.store([row, column], total.to(tl.float16))


@triton.jit
def outside(x, N: tl.constexpr):
    tl.store(x + 1 + tl.arange(0, N), 1.0)


def run_softmax():
    x = numpy.random.default_rng(1).normal(size=(37, 781)).astype("f4")
    dx, dy = DeviceArray(x, "fp32"), DeviceArray(numpy.zeros_like(x), "fp32")
    softmax[(37,)](dx, dy, 781, BLOCK=1024)
    powers = numpy.exp(x - x.max(axis=1, keepdims=True))
    expected = powers / powers.sum(axis=1, keepdims=True)
    assert numpy.allclose(dy.numpy(), expected, rtol=1e-5, atol=1e-7)


def run_matmul():
    M, N, K = 256, 192, 320
    random = numpy.random.default_rng(2)
    a = random.integers(-4, 5, (M, K)).astype("f2")
    b = random.integers(-4, 5, (K, N)).astype("f2")
    c = DeviceArray(numpy.zeros((M, N), "f2"), "fp16")
    descriptors = [
        TensorDescriptor(array, list(array.shape), list(array.strides), block)
        for array, block in ((DeviceArray(a, "fp16"), [128, 64]),
                             (DeviceArray(b, "fp16"), [64, 64]),
                             (c, [128, 64]))
    ]
    matmul[(M // 128, N // 64)](*descriptors, M, N, K, BM=128, BN=64, BK=64)
    expected = (a.astype("f4") @ b.astype("f4")).astype("f2")
    assert numpy.array_equal(c.numpy(), expected)


def run_outside():
    x = DeviceArray(numpy.zeros(256, "f4"), "fp32")
    outside[(1,)](x, N=256)
    try:
        x.numpy()
    except RuntimeError as error:
        print(error)


def run_time():
    """What the first softmax takes beyond what Triton says that it compiles.
    Triton builds its own launcher with the host's compiler before that."""
    triton.runtime.driver.active.utils
    compiling = []
    triton.knobs.compilation.listener = (
        lambda **event: compiling.append(event["times"].total))
    start = time.perf_counter()
    run_softmax()
    total = time.perf_counter() - start
    print(f"beyond compiling {total - sum(compiling) / 1e6:.3f} s "
          f"of {total:.3f} s")


use_device()
for name in sys.argv[1:]:
    globals()["run_" + name]()
    print(name, "done")
