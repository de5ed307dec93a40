#!/usr/bin/env python3
"""Two wrong results of Triton 3.8.0, looked for with the Triton that is installed.

usage: known.py BLOCKSCALE FOLDER SM

Compiles for compute capability SM (100, 120), runs the PTX with `BLOCKSCALE emulate` and
compares with numpy:
  mn-packed    fp4 elements of which two along M or N share a byte
               (github.com/triton-lang/triton, issue 11734)
  least-scale  the scale 2^-127, byte 0 of e8m0 (issue 11737)
and, to compare with, what is not wrong there:
  k-packed     the same elements, of which two along K share a byte
  next-scale   the scale 2^-126
Prints one line for each, and exits with 1 if one is wrong. What is wrong is wrong in
the PTX.
"""
# Part of the blockscale project, under the Apache License v2.0 with LLVM
# Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

import sys

import ml_dtypes
import numpy as np
import triton
import triton.language as tl

import kernels


@triton.jit
def packed_along_rows(a, a_scales, b, b_scales, d, N: tl.constexpr,
                      K: tl.constexpr, TILE: tl.constexpr, PACK: tl.constexpr):
    """D = (A * scales) @ (B * scales)^T of one tile; with PACK = 2 two neighbours
    along M, or N, share a byte of A and B, which lie K first."""
    rows = tl.arange(0, TILE)
    packed = tl.arange(0, TILE // PACK)
    k = tl.arange(0, K // (3 - PACK))
    k_scale = tl.arange(0, K // 32)
    if PACK == 2:
        x = tl.load(a + k[None, :] * (TILE // 2) + packed[:, None])
        y = tl.load(b + k[:, None] * (TILE // 2) + packed[None, :])
    else:
        x = tl.load(a + packed[:, None] * (K // 2) + k[None, :])
        y = tl.load(b + packed[None, :] * (K // 2) + k[:, None])
    x_scale = tl.load(a_scales + rows[:, None] * (K // 32) + k_scale[None, :])
    y_scale = tl.load(b_scales + rows[:, None] * (K // 32) + k_scale[None, :])
    sum = tl.zeros((TILE, TILE), tl.float32)
    sum = tl.dot_scaled(x, x_scale, "e2m1", y, y_scale, "e2m1", sum,
                        lhs_k_pack=PACK == 1, rhs_k_pack=PACK == 1)
    tl.store(d + rows[:, None] * N + rows[None, :], sum)


@triton.jit
def scaled_by_plain(a, a_scales, b, d, N: tl.constexpr, K: tl.constexpr,
                    TILE: tl.constexpr):
    """D = (A * scales) @ B^T of one tile, B in bf16 without scales."""
    rows = tl.arange(0, TILE)
    k = tl.arange(0, K)
    x = tl.load(a + rows[:, None] * K + k[None, :])
    y = tl.load(b + rows[None, :] * K + k[:, None])
    scale = tl.load(a_scales + rows[:, None] * (K // 32)
                    + tl.arange(0, K // 32)[None, :])
    sum = tl.zeros((TILE, TILE), tl.float32)
    sum = tl.dot_scaled(x, scale, "e4m3", y, None, "bf16", sum)
    tl.store(d + rows[:, None] * N + rows[None, :], sum)


def check_packed(runner, name, tile=128, k=128):
    pack = 2 if name == "mn-packed" else 1
    kernel = runner.compile(
        packed_along_rows, {"a": "*u8", "a_scales": "*u8", "b": "*u8",
                            "b_scales": "*u8", "d": "*fp32"},
        {"N": tile, "K": k, "TILE": tile, "PACK": pack})
    sides = [kernels.operand(runner.random, tile, k, 32, 2) for _ in range(2)]
    inputs = []
    for _, elements, scales in sides:
        if pack == 2:
            codes = np.stack([elements & 15, elements >> 4], -1).reshape(tile, k)
            elements = np.ascontiguousarray((codes[::2] | codes[1::2] << 4).T)
        inputs += [elements, scales]
    d = runner.run(name, kernel, inputs, ("f4", (tile, tile)), [], (1, 1, 1))
    return d, (sides[0][0] @ sides[1][0].T).astype(np.float32)


def check_scale(runner, name, tile=128, k=128):
    byte = 0 if name == "least-scale" else 1
    kernel = runner.compile(
        scaled_by_plain, {"a": "*fp8e4nv", "a_scales": "*u8", "b": "*bf16",
                          "d": "*fp32"}, {"N": tile, "K": k, "TILE": tile})
    values = runner.random.integers(1, 9, (tile, k)).astype(np.float32)
    scales = np.full((tile, k // 32), byte, np.uint8)
    b = np.ldexp(runner.random.integers(1, 4, (tile, k)).astype(np.float32), 118)
    inputs = [values.astype(ml_dtypes.float8_e4m3fn).view(np.uint8), scales,
              b.astype(ml_dtypes.bfloat16).view(np.uint16)]
    d = runner.run(name, kernel, inputs, ("f4", (tile, tile)), [], (1, 1, 1))
    exact = (values.astype(np.float64) * 2.0 ** (byte - 127)) @ b.astype(np.float64).T
    return d, exact.astype(np.float32)


def main(arguments):
    if len(arguments) != 4:
        sys.exit("usage: known.py BLOCKSCALE FOLDER SM")
    runner = kernels.Runner(*arguments[1:])
    failed = 0
    for name, check in (("mn-packed", check_packed), ("k-packed", check_packed),
                        ("least-scale", check_scale), ("next-scale", check_scale)):
        try:
            found, expected = check(runner, name)
            wrong = int((found != expected).sum())
            zeros = int(((found == 0) & (expected != 0)).sum())
            words = "equal" if not wrong else \
                f"WRONG: {wrong} of {found.size} elements differ, {zeros} are 0"
        except kernels.Wrong as error:
            words = f"refused: {str(error).strip().splitlines()[0]}"
        failed += words != "equal"
        print(f"{name} sm_{runner.sm}, triton {triton.__version__}: {words}")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv))
