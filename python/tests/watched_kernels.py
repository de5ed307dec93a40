# Part of the blockscale project, under the Apache License v2.0 with LLVM
# Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

"""Kernels for test_triton.py: Triton reads their source from a file."""

import triton
import triton.language as tl


@triton.jit
def scale(x, y, columns, factor, BLOCK: tl.constexpr):
    at = tl.arange(0, BLOCK)
    row = tl.program_id(0) * columns
    values = tl.load(x + row + at, mask=at < columns)
    tl.store(y + row + at, values * factor, mask=at < columns)


@triton.jit
def double(x, BLOCK: tl.constexpr):
    at = tl.arange(0, BLOCK)
    tl.store(x + at, tl.load(x + at) * 2)


@triton.jit
def race(y, BLOCK: tl.constexpr):
    """Programs write different numbers to the same places."""
    at = tl.arange(0, BLOCK)
    tl.store(y + at, at + tl.program_id(0))
