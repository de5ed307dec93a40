#!/usr/bin/env python3
"""Compiles a kernel in Triton without a device and writes its PTX to scale.ptx.

The data of the emulator's run go to x.npy. Each program of the kernel scales 256
words; `n` is the number of words in all.
"""
# Part of the blockscale project, under the Apache License v2.0 with LLVM
# Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

import numpy as np
import triton
import triton.language as tl
from triton.backends.compiler import GPUTarget
from triton.compiler import ASTSource


@triton.jit
def scale(x, y, n, BLOCK: tl.constexpr):
    at = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    tl.store(y + at, tl.load(x + at, mask=at < n) * 3, mask=at < n)


kernel = triton.compile(
    ASTSource(fn=scale, signature={"x": "*fp32", "y": "*fp32", "n": "i32",
                                   "BLOCK": "constexpr"},
              constexprs={"BLOCK": 256}),
    target=GPUTarget("cuda", 100, 32), options={"num_warps": 4})
with open("scale.ptx", "w") as file:
    file.write(kernel.asm["ptx"])
np.save("x.npy", np.arange(1000, dtype=np.float32))
print("kernel", kernel.metadata.name)
print("threads", kernel.metadata.num_warps * 32)
print("shared memory", kernel.metadata.shared)
print("scratch memory of a program", kernel.metadata.global_scratch_size)
