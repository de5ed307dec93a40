#!/usr/bin/env python3
"""Kernels in Triton, compiled ahead of time and run on the emulator.

usage: kernels.py BLOCKSCALE FOLDER SM KERNEL...

Compiles each KERNEL for compute capability SM (100, 120), writes the PTX to
FOLDER, runs it with `BLOCKSCALE emulate` and compares with numpy. Block-scaled
products use values whose sums are exact, so they are compared bit for bit.
Prints one line for each kernel; exits with 1 if one is wrong or has findings.
"""
# Part of the blockscale project, under the Apache License v2.0 with LLVM
# Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

import pathlib
import subprocess
import sys

import ml_dtypes
import numpy as np
import triton
import triton.language as tl
from triton.backends.compiler import GPUTarget
from triton.compiler import ASTSource


@triton.jit
def scaled_matmul(a, a_scales, b, b_scales, d, M, N, K: tl.constexpr,
                  TILE: tl.constexpr, TILE_K: tl.constexpr,
                  PACKED: tl.constexpr, BLOCK: tl.constexpr,
                  FORMAT: tl.constexpr):
    """D = (A * scales) @ (B * scales)^T, one tile per program."""
    rows = tl.program_id(0) * TILE + tl.arange(0, TILE)
    columns = tl.program_id(1) * TILE + tl.arange(0, TILE)
    k = tl.arange(0, TILE_K // PACKED)
    k_scale = tl.arange(0, TILE_K // BLOCK)
    sum = tl.zeros((TILE, TILE), tl.float32)
    for i in tl.range(0, K // TILE_K):
        at = i * (TILE_K // PACKED) + k
        at_scale = i * (TILE_K // BLOCK) + k_scale
        x = tl.load(a + rows[:, None] * (K // PACKED) + at[None, :])
        y = tl.load(b + columns[None, :] * (K // PACKED) + at[:, None])
        x_scale = tl.load(a_scales + rows[:, None] * (K // BLOCK) +
                          at_scale[None, :])
        y_scale = tl.load(b_scales + columns[:, None] * (K // BLOCK) +
                          at_scale[None, :])
        sum = tl.dot_scaled(x, x_scale, FORMAT, y, y_scale, FORMAT, sum)
    tl.store(d + rows[:, None] * N + columns[None, :], sum)


@triton.jit
def persistent_matmul(a, b, d, M, N, K: tl.constexpr, TILE: tl.constexpr,
                      TILE_K: tl.constexpr, SPECIALIZE: tl.constexpr):
    """D = A @ B^T in bf16 by TMA; each program walks several tiles."""
    a_map = tl.make_tensor_descriptor(a, [M, K], [K, 1], [TILE, TILE_K])
    b_map = tl.make_tensor_descriptor(b, [N, K], [K, 1], [TILE, TILE_K])
    d_map = tl.make_tensor_descriptor(d, [M, N], [N, 1], [TILE, TILE])
    across = tl.cdiv(N, TILE)
    tiles = tl.cdiv(M, TILE) * across
    for tile in tl.range(tl.program_id(0), tiles, tl.num_programs(0),
                         warp_specialize=SPECIALIZE):
        row = tile // across * TILE
        column = tile % across * TILE
        sum = tl.zeros((TILE, TILE), tl.float32)
        for k in range(0, K, TILE_K):
            sum = tl.dot(a_map.load([row, k]), b_map.load([column, k]).T, sum)
        d_map.store([row, column], sum.to(tl.bfloat16))


@triton.jit
def softmax(x, y, stride, n, BLOCK: tl.constexpr):
    """Each row of y is the softmax of that row of x."""
    at = tl.program_id(0) * stride + tl.arange(0, BLOCK)
    inside = tl.arange(0, BLOCK) < n
    value = tl.load(x + at, mask=inside, other=-float("inf"))
    value = tl.exp(value - tl.max(value, 0))
    tl.store(y + at, value / tl.sum(value, 0), mask=inside)


class Wrong(Exception):
    """What is wrong with a kernel's result."""


class Runner:
    def __init__(self, blockscale, folder, sm):
        self.blockscale = blockscale
        self.folder = pathlib.Path(folder)
        self.sm = int(sm)
        self.random = np.random.default_rng(20)

    def compile(self, function, signature, constants):
        types = dict(signature, **{name: "constexpr" for name in constants})
        return triton.compile(
            ASTSource(fn=function, signature=types, constexprs=constants),
            target=GPUTarget("cuda", self.sm, 32),
            options={"num_warps": 4, "num_stages": 3})

    def run(self, name, kernel, inputs, output, numbers, grid):
        """Runs `kernel`(inputs..., output, numbers...) and returns the output.

        `output` is (type letter and size, shape). Two pointers follow: to
        global scratch memory, which this allocates, and for profiling."""
        ptx = self.folder / f"{name}.ptx"
        ptx.write_text(kernel.asm["ptx"])
        arguments = []
        for i, array in enumerate(inputs):
            file = self.folder / f"{name}.{i}.npy"
            np.save(file, array)
            arguments.append(f"in:{file}")
        result = self.folder / f"{name}.out.npy"
        arguments.append(f"out:{output[0]}:{'x'.join(map(str, output[1]))}")
        arguments += [f"i32:{number}" for number in numbers]
        programs = int(np.prod(grid))
        scratch = max(1, kernel.metadata.global_scratch_size) * programs
        arguments += [f"out:u1:{scratch}", "u64:0"]
        command = [
            self.blockscale, "emulate", str(ptx),
            f"--kernel={kernel.metadata.name}",
            f"--grid={','.join(map(str, grid))}",
            f"--block={launch_threads(kernel)},1,1",
            f"--shared={kernel.metadata.shared}",
            f"--out={len(inputs)}={result}",
        ] + [f"--arg={argument}" for argument in arguments]
        done = subprocess.run(command, capture_output=True, text=True)
        if done.returncode:
            raise Wrong(done.stderr + done.stdout)
        return np.load(result)


def launch_threads(kernel):
    """Warp-specialised kernels start more warps than `num_warps`."""
    for line in kernel.asm["ptx"].splitlines():
        if line.startswith(".reqntid"):
            return int(line.split()[1].rstrip(","))
    return kernel.metadata.num_warps * 32


E2M1 = np.array([0, 0.5, 1, 1.5, 2, 3, 4, 6], np.float32)


def operand(random, rows, k, block, packed):
    """Random elements and scales with their packed bytes: (values, elements,
    scales). Neighbouring blocks differ in scale, so that a swapped one shows."""
    if packed == 2:
        codes = random.integers(0, 16, (rows, k)).astype(np.uint8)
        values = np.where(codes & 8, -1, 1) * E2M1[codes & 7]
        elements = codes[:, ::2] | codes[:, 1::2] << 4
    else:
        values = random.integers(-8, 9, (rows, k)).astype(np.float32)
        elements = values.astype(ml_dtypes.float8_e4m3fn).view(np.uint8)
    exponents = random.integers(-3, 4, (rows, k // block)).astype(np.float32)
    if block == 32:
        scales = (exponents + 127).astype(np.uint8)
    else:
        scales = np.exp2(exponents).astype(ml_dtypes.float8_e4m3fn)
    values = values * np.repeat(np.exp2(exponents), block, 1)
    return values.astype(np.float64), elements, scales.view(np.uint8)


def check_scaled(runner, name, m=256, n=384, k=512):
    block = 16 if name == "nvfp4" else 32
    packed = 1 if name == "mxfp8" else 2
    element = "*fp8e4nv" if packed == 1 else "*u8"
    scale = "*u8" if block == 32 else "*fp8e4nv"
    tile = 128
    kernel = runner.compile(
        scaled_matmul,
        {"a": element, "a_scales": scale, "b": element, "b_scales": scale,
         "d": "*fp32", "M": "i32", "N": "i32"},
        {"K": k, "TILE": tile, "TILE_K": 128 * packed, "PACKED": packed,
         "BLOCK": block, "FORMAT": "e4m3" if packed == 1 else "e2m1"})
    x, a, a_scales = operand(runner.random, m, k, block, packed)
    y, b, b_scales = operand(runner.random, n, k, block, packed)
    d = runner.run(name, kernel, [a, a_scales, b, b_scales], ("f4", (m, n)),
                   [m, n], (m // tile, n // tile, 1))
    if not np.array_equal(d, (x @ y.T).astype(np.float32)):
        raise Wrong(f"{np.sum(d != x @ y.T)} of {d.size} elements differ")


def check_persistent(runner, name, m=384, n=256, k=256):
    kernel = runner.compile(
        persistent_matmul,
        {"a": "*bf16", "b": "*bf16", "d": "*bf16", "M": "i32", "N": "i32"},
        {"K": k, "TILE": 128, "TILE_K": 64,
         "SPECIALIZE": name == "specialized"})
    a = runner.random.integers(-3, 4, (m, k)).astype(ml_dtypes.bfloat16)
    b = runner.random.integers(-3, 4, (n, k)).astype(ml_dtypes.bfloat16)
    d = runner.run(name, kernel, [a.view(np.uint16), b.view(np.uint16)],
                   ("u2", (m, n)), [m, n], (2, 1, 1))
    expected = a.astype(np.float32) @ b.astype(np.float32).T
    if not np.array_equal(d.view(ml_dtypes.bfloat16),
                          expected.astype(ml_dtypes.bfloat16)):
        raise Wrong("the product differs")


def check_softmax(runner, name, rows=7, n=1000):
    kernel = runner.compile(
        softmax, {"x": "*fp32", "y": "*fp32", "stride": "i32", "n": "i32"},
        {"BLOCK": 1024})
    x = runner.random.standard_normal((rows, n)).astype(np.float32)
    y = runner.run(name, kernel, [x], ("f4", (rows, n)), [n, n], (rows, 1, 1))
    exact = np.exp(x.astype(np.float64) - x.max(1, keepdims=True))
    exact /= exact.sum(1, keepdims=True)
    # Approximate exp2 and divide: a few units in the last place.
    error = np.max(np.abs(y - exact) / exact)
    if not error < 16 * 2**-24:
        raise Wrong(f"relative error {error}")


CHECKS = {
    "mxfp8": check_scaled, "mxfp4": check_scaled, "nvfp4": check_scaled,
    "persistent": check_persistent, "specialized": check_persistent,
    "softmax": check_softmax,
}


def main(arguments):
    if len(arguments) < 5:
        sys.exit("usage: kernels.py BLOCKSCALE FOLDER SM KERNEL...")
    runner = Runner(*arguments[1:4])
    failed = 0
    for name in arguments[4:]:
        try:
            CHECKS[name](runner, name)
            print(f"{name} sm_{runner.sm}: equal")
        except Wrong as wrong:
            failed += 1
            print(f"{name} sm_{runner.sm}: WRONG: {wrong}")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv))
