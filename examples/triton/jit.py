#!/usr/bin/env python3
"""A softmax that Triton compiles when it is called, on whatever device it finds.

Without a device: blockscale emulate --cuda python3 jit.py
"""
# Part of the blockscale project, under the Apache License v2.0 with LLVM
# Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

import sys

import numpy as np
import triton
import triton.language as tl

from device_array import DeviceArray, use_device


@triton.jit
def softmax(x, y, columns, BLOCK: tl.constexpr):
    row = tl.program_id(0)
    at = tl.arange(0, BLOCK)
    values = tl.load(x + row * columns + at, mask=at < columns, other=-float("inf"))
    powers = tl.exp(values - tl.max(values, axis=0))
    tl.store(y + row * columns + at, powers / tl.sum(powers, axis=0), mask=at < columns)


rows, columns = 37, 781
block = int(sys.argv[1]) if len(sys.argv) > 1 else 1024
use_device()
x = np.random.default_rng(1).normal(size=(rows, columns)).astype("f4")
result = DeviceArray(np.zeros_like(x), "fp32")
softmax[(rows,)](DeviceArray(x, "fp32"), result, columns, BLOCK=block)
powers = np.exp(x - x.max(axis=1, keepdims=True))
expected = powers / powers.sum(axis=1, keepdims=True)
print("right:", np.allclose(result.numpy(), expected, rtol=1e-5, atol=1e-7))
