# Part of the blockscale project, under the Apache License v2.0 with LLVM
# Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

"""Two products of groups, the quantised result of the first as A of the second: experts
with a gate-and-up matrix and a bias each, and their down projections.

  quantized_groups_chain.py FOLDER BROKEN

The memory that the first kernel wrote is passed on as it is. Numbers are held against
numpy: codes, and scales in their groups, of the first, and the second's sums. Groups
are empty, of one row, and end before, at and behind whole tiles. Prints "agree"; with
BROKEN = 1 the scales of two groups are exchanged on the way, which has to show.
"""

import pathlib
import subprocess
import sys

import numpy as np

from quantized_chain import VALUES, emulate, quantize, values
from quantized_linalg import tiled

K, N, L = 128, 160, 96
ENDS = np.array([129, 129, 130, 257, 385, 388], np.int32)
M, GROUPS = ENDS[-1] + 3, len(ENDS)
TYPE = '!blockscale.tensor<{}xf8E4M3FN, "e8m0_t32", layout = {}>'
GROUPED, TILED = "grouped_128x4", "tiled_128x4"
# As `gated` does it.
GATED = """epilogue(%g, %up, %gb, %ub) {
    %one = arith.constant 1.0 : f32
    %high = arith.constant 7.0 : f32
    %low = arith.constant -7.0 : f32
    %1 = arith.addf %g, %gb : f32
    %gate = arith.minimumf %1, %high : f32
    %2 = arith.addf %up, %ub : f32
    %3 = arith.minimumf %2, %high : f32
    %4 = arith.maximumf %3, %low : f32
    %5 = arith.addf %4, %one : f32
    %6 = arith.mulf %5, %gate : f32
    blockscale.yield %6
  }"""
SOURCE = f"""
!a = {TYPE.format(f"{M}x{K}", GROUPED)}
!b = {TYPE.format(f"{GROUPS}x{2 * N}x{K}", TILED)}
!d = {TYPE.format(f"{M}x{N}", GROUPED)}
!c = {TYPE.format(f"{GROUPS}x{L}x{N}", TILED)}
func.func @first(%a: !a, %b: !b, %v: tensor<{GROUPS}x{2 * N}xf32>, %ends: tensor<{GROUPS}xi32>) -> !d {{
  %0 = blockscale.matmul %a, %b groups(%ends : tensor<{GROUPS}xi32>) bias(%v) pairs {GATED} : !a, !b, tensor<{GROUPS}x{2 * N}xf32> -> tensor<{M}x{N}xf32>
  %1 = blockscale.quantize %0 groups(%ends : tensor<{GROUPS}xi32>) : tensor<{M}x{N}xf32> to !d
  return %1 : !d
}}
func.func @second(%d: !d, %c: !c, %ends: tensor<{GROUPS}xi32>) -> tensor<{M}x{L}xf32> {{
  %0 = blockscale.matmul %d, %c groups(%ends : tensor<{GROUPS}xi32>) : !d, !c -> tensor<{M}x{L}xf32>
  return %0 : tensor<{M}x{L}xf32>
}}
"""


def slices():
    return [slice(first, end) for first, end in zip([0, *ENDS], ENDS)]


def by_groups(scales):
    """Scales as products of groups read them, with room for any ends."""
    parts = [tiled(scales[one]).ravel() for one in slices()]
    room = (M + 127 * GROUPS) // 128 * len(tiled(scales[:1]).ravel())
    there = np.concatenate(parts)
    return np.concatenate([there, np.zeros(room - len(there), np.uint8)])


def of_matrices(scales):
    return np.stack([tiled(one) for one in scales])


def operand(random, *shape):
    """Few bits, so that sums are exact; each row and block has a scale of its own."""
    small = np.flatnonzero((np.abs(VALUES) <= 4) & (VALUES * 2 % 1 == 0))
    blocks = (*shape[:-1], shape[-1] // 32)
    return (random.choice(small, shape).astype(np.uint8),
            (121 + random.integers(0, 7, blocks)).astype(np.uint8))


def gated(sums, bias):
    """What the first product makes of its sums, each step rounded to f32."""
    one, seven = np.float32(1), np.float32(7)
    sums = sums.astype(np.float32) + bias
    gate = np.minimum(sums[:, ::2], seven)
    up = np.clip(sums[:, 1::2], -seven, seven)
    return (up + one) * gate


def main():
    folder, broken = pathlib.Path(sys.argv[1]), sys.argv[2] == "1"
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "chain.mlir").write_text(SOURCE)
    subprocess.run(["blockscale", "compile", folder / "chain.mlir", "--no-cubin",
                    "-o", folder], check=True)
    random = np.random.default_rng(1)
    a = operand(random, M, K)
    b, c = operand(random, GROUPS, 2 * N, K), operand(random, GROUPS, L, N)
    bias = random.integers(-8, 8, (GROUPS, 2 * N)).astype(np.float32) / 4
    d, dscales = emulate(
        folder, "first",
        {"a_data": a[0], "a_scales": by_groups(a[1]), "b_data": b[0],
         "b_scales": of_matrices(b[1]), "bias": bias, "offsets": ENDS},
        ["d_data", "d_scales"])
    d = d.view(np.uint8).reshape(M, N)
    dscales = dscales.view(np.uint8).ravel()
    product = np.zeros((M, N))
    for group, rows in enumerate(slices()):
        sums = values(a[0][rows], a[1][rows]) @ values(b[0][group], b[1][group]).T
        product[rows] = gated(sums, bias[group])
    codes, scales = quantize(product)
    used = slice(0, ENDS[-1])
    assert len(np.unique(scales[used])) > 5
    assert (d[used] == codes[used]).all(), np.argwhere(d[used] != codes[used])[:5]
    assert (dscales == by_groups(scales)).all()
    if broken:
        atom = len(tiled(scales[:1]).ravel())
        # The third group has one row, the fourth some more.
        groups = dscales.reshape(-1, atom)
        groups[[2, 3]] = groups[[3, 2]]
    found, = emulate(folder, "second",
                     {"a_data": d, "a_scales": dscales, "b_data": c[0],
                      "b_scales": of_matrices(c[1]), "offsets": ENDS}, ["d"])
    found = found.view(np.float32).reshape(M, L)
    agree = True
    for group, rows in enumerate(slices()):
        one, other = values(codes[rows], scales[rows]), values(c[0][group], c[1][group])
        bound = 1e-5 * (np.abs(one) @ np.abs(other).T)
        agree &= bool((np.abs(found[rows] - one @ other.T) <= bound).all())
    print("agree" if agree else "differ")


if __name__ == "__main__":
    main()
