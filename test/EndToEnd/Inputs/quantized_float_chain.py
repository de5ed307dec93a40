# Part of the blockscale project, under the Apache License v2.0 with LLVM
# Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

"""Two products under DeepSeek's float scales, the quantised result of the first as A of
the second.

  quantized_float_chain.py FOLDER BROKEN

As quantized_chain.py, whose emulator and values this uses: activations have a float for
each row and 128 elements, weights one for 128 x 128, and the sums of both products are
promoted.
"""

import pathlib
import subprocess
import sys

import numpy as np

from quantized_chain import VALUES, emulate

M, K, N, L, TILE = 133, 384, 256, 96, 128
ROWS = '!blockscale.tensor<{}x{}xf8E4M3FN, "float32_t128">'
SQUARES = '!blockscale.tensor<{}x{}xf8E4M3FN, "float32_t128_t128">'
SOURCE = f"""
!a = {ROWS.format(M, K)}
!b = {SQUARES.format(N, K)}
!d = {ROWS.format(M, N)}
!c = {SQUARES.format(L, N)}
func.func @first(%a: !a, %b: !b) -> !d {{
  %0 = blockscale.matmul %a, %b activation(relu) : !a, !b -> tensor<{M}x{N}xf32>
  %1 = blockscale.quantize %0 : tensor<{M}x{N}xf32> to !d
  return %1 : !d
}}
func.func @second(%d: !d, %c: !c) -> tensor<{M}x{L}xf32> {{
  %0 = blockscale.matmul %d, %c : !d, !c -> tensor<{M}x{L}xf32>
  return %0 : tensor<{M}x{L}xf32>
}}
"""


def values(codes, scales, rows):
    wide = scales.astype(float).repeat(TILE, 1).repeat(rows, 0)
    return VALUES[codes] * wide[:codes.shape[0]]


def promoted(a, b):
    """The product in f32, block after block of K."""
    sums = np.zeros((len(a[0]), len(b[0])), np.float32)
    for i in range(a[1].shape[1]):
        of_block = [VALUES[codes[:, i * TILE:(i + 1) * TILE]] for codes in (a[0], b[0])]
        factor = a[1][:, i:i + 1] * b[1][:, i].repeat(TILE)[:len(b[0])]
        sums = (of_block[0] @ of_block[1].T * factor.astype(float)
                + sums).astype(np.float32)
    return sums


def nearest(x):
    """Codes of e4m3, of two as near the even one."""
    near = np.abs(np.minimum(np.abs(x), 448)[..., None] - VALUES[:127])
    best = near.min(-1, keepdims=True) == near
    even = best & (np.arange(127) % 2 == 0)
    codes = np.where(even.any(-1), even.argmax(-1), best.argmax(-1))
    return codes | np.signbit(x) * 128


def quantize(x):
    """In f32, as `blockscale.quantize` says."""
    blocks = x.reshape(len(x), -1, TILE)
    largest = np.finfo(np.float32).max
    bound = np.float32(float(largest) / 448)
    if float(bound) * 448 > float(largest):
        bound = np.nextafter(bound, np.float32(0))
    scales = np.minimum(np.abs(blocks).max(2) / np.float32(448), bound)
    inverse = np.minimum(np.float32(1) / scales, largest)
    inverse[scales == 0] = 0
    codes = nearest((blocks * inverse[..., None]).astype(np.float32).astype(float))
    codes[np.broadcast_to(np.isnan(scales)[..., None], codes.shape)] = 127
    return codes.reshape(x.shape).astype(np.uint8), scales


def data():
    random = np.random.default_rng(1)
    small = np.flatnonzero((np.abs(VALUES) <= 4) & (VALUES * 2 % 1 == 0))
    a, b, c = (random.choice(small, shape).astype(np.uint8)
               for shape in ((M, K), (N, K), (L, N)))
    # Each row and tile has a scale of its own, and sums stay exact.
    of = [(1 + random.integers(0, 4, shape) / 4) * 2.0 ** random.integers(-2, 3, shape)
          for shape in ((M, K // TILE), (N // TILE, K // TILE), (1, N // TILE))]
    ascales, bscales, cscales = (scales.astype(np.float32) for scales in of)
    a[2] = 0
    b[128:] &= 127
    a[5, 7] = 127
    # Sums that are infinite, of which codes are the largest, and very small ones.
    ascales[6] = 2.0 ** 126
    ascales[8] = 2.0 ** -146
    return (a, ascales), (b, bscales), (c, cscales)


def main():
    folder, broken = pathlib.Path(sys.argv[1]), sys.argv[2] == "1"
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "chain.mlir").write_text(SOURCE)
    subprocess.run(["blockscale", "compile", folder / "chain.mlir", "--no-cubin",
                    "-o", folder], check=True)
    a, b, c = data()
    d, dscales = emulate(
        folder, "first", {"a_data": a[0], "a_scales": a[1], "b_data": b[0],
                          "b_scales": b[1]}, ["d_data", "d_scales"])
    d = d.view(np.uint8).reshape(M, N)
    dscales = dscales.view(np.float32).reshape(M, N // TILE)
    with np.errstate(all="ignore"):
        product = np.maximum(promoted(a, b), np.float32(0))
        codes, scales = quantize(product)
    assert np.isnan(product).any() and np.isinf(product).any()
    assert (d == codes).all(), np.argwhere(d != codes)[:5]
    assert (dscales.view(np.uint32) == scales.view(np.uint32)).all()
    if broken:
        dscales = dscales[:, ::-1]
    found, = emulate(folder, "second",
                     {"a_data": d, "a_scales": dscales, "b_data": c[0],
                      "b_scales": c[1]}, ["d"])
    found = found.view(np.float32).reshape(M, L)
    usual = [row for row in range(M) if row not in (5, 6)]
    of_d, of_c = values(codes, scales, 1)[usual], values(*c, TILE)
    assert np.isnan(found[5]).all()
    difference = np.abs(found[usual] - of_d @ of_c.T)
    bound = 1e-5 * (np.abs(of_d) @ np.abs(of_c).T) + 1e-37
    print("agree" if (difference <= bound).all() else "differ")


if __name__ == "__main__":
    main()
