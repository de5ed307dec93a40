#!/usr/bin/env python3
"""A kernel that NVRTC compiles to machine code at run time and cuda.core launches.

Without a device: blockscale emulate --cuda python3 scale.py
"""
# Part of the blockscale project, under the Apache License v2.0 with LLVM
# Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

import numpy as np
from cuda.core import (Device, LaunchConfig, LegacyPinnedMemoryResource, Program,
                       ProgramOptions, launch)

CODE = """
extern "C" __global__ void scale(float *x, float factor, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n)
    x[i] *= factor;
}
"""

device = Device()
device.set_current()
stream = device.create_stream()
options = ProgramOptions(std="c++17", arch=f"sm_{device.arch}")
kernel = Program(CODE, code_type="c++", options=options).compile("cubin").get_kernel("scale")
memory = LegacyPinnedMemoryResource().allocate(4000)
values = np.from_dlpack(memory).view("f4")
values[:] = np.arange(1000)
launch(stream, LaunchConfig(grid=4, block=256), kernel, memory, np.float32(3), np.int32(1000))
stream.sync()
print(device.name, np.array_equal(values, 3 * np.arange(1000)))
