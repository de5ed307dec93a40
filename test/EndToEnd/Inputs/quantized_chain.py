# Part of the blockscale project, under the Apache License v2.0 with LLVM
# Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

"""Two products, the quantised result of the first as A of the second.

  quantized_chain.py FOLDER BROKEN

The memory that the first kernel wrote is passed on as it is. Numbers are held against
numpy: codes and scales of the first, and the second's sums. The data have blocks of
zeros, NaNs, infinities and the largest numbers. Prints "agree"; with BROKEN = 1 two
scales are exchanged on the way, which has to show.
"""

import pathlib
import subprocess
import sys

import numpy as np

from quantized_linalg import tiled

M, K, N, L = 133, 128, 160, 96
TYPE = '!blockscale.tensor<{}x{}xf8E4M3FN, "e8m0_t32", layout = tiled_128x4>'
SOURCE = f"""
!a = {TYPE.format(M, K)}
!b = {TYPE.format(N, K)}
!d = {TYPE.format(M, N)}
!c = {TYPE.format(L, N)}
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


def table():
    """Values of e4m3 by code."""
    codes = np.arange(256)
    exponent, fraction = codes >> 3 & 15, codes & 7
    value = np.where(exponent == 0, fraction / 8 * 2.0 ** -6,
                     (1 + fraction / 8) * 2.0 ** (exponent - 7.0))
    value[codes & 127 == 127] = np.nan
    return np.where(codes >> 7, -value, value)


VALUES = table()


def values(codes, scales):
    return VALUES[codes] * np.where(
        scales == 255, np.nan, 2.0 ** (scales.astype(float) - 127)).repeat(32, 1)


def quantize(x):
    """e4m3 under powers of two, by the rule of OCP MX."""
    blocks = x.reshape(len(x), -1, 32)
    most = np.abs(blocks).max(2)
    with np.errstate(all="ignore"):
        scales = np.clip(np.floor(np.log2(most)) - 8 + 127, 0, 254)
    scales = np.where(np.isnan(most), 255, np.where(most == 0, 0, scales))
    scaled = blocks / 2.0 ** (scales[..., None] - 127)
    finite = VALUES[:127]
    near = np.abs(np.minimum(np.abs(scaled), 448)[..., None] - finite)
    # Of two as near the even code.
    best = near.min(-1, keepdims=True) == near
    even = best & (np.arange(127) % 2 == 0)
    codes = np.where(even.any(-1), even.argmax(-1), best.argmax(-1))
    codes = codes | np.signbit(scaled) * 128
    codes[np.broadcast_to((scales == 255)[..., None], codes.shape)] = 127
    return codes.reshape(x.shape).astype(np.uint8), scales.astype(np.uint8)


def data():
    random = np.random.default_rng(1)
    small = np.flatnonzero((np.abs(VALUES) <= 4) & (VALUES * 2 % 1 == 0))
    a, b, c = (random.choice(small, shape).astype(np.uint8)
               for shape in ((M, K), (N, K), (L, N)))
    # Each row and block has a scale of its own, and sums stay exact.
    ascales, bscales, cscales = (
        (124 + random.integers(0, 7, (rows, width // 32))).astype(np.uint8)
        for rows, width in ((M, K), (N, K), (L, N)))
    a[2] = 0
    b[64:96] = 0
    a[5, 7] = 127
    a[6], a[6, 0] = 0, 0x78
    ascales[6] = 240
    a[7] = 0x7e
    ascales[8] = 0
    b[3], b[3, 0] = 0, 0x78
    bscales[3] = 200
    return (a, ascales), (b, bscales), (c, cscales)


def emulate(folder, kernel, inputs, outputs):
    command = ["blockscale", "emulate", folder / "chain.ptx", "--plan",
               folder / "chain.plan.json", "--kernel", kernel]
    for role, array in inputs.items():
        np.save(folder / f"{role}.npy", array)
        command += ["--in", f"{role}={folder}/{role}.npy"]
    for role in outputs:
        command += ["--out", f"{role}={folder}/{kernel}_{role}.npy"]
    subprocess.run(command, check=True, stdout=subprocess.DEVNULL)
    return [np.load(folder / f"{kernel}_{role}.npy") for role in outputs]


def main():
    folder, broken = pathlib.Path(sys.argv[1]), sys.argv[2] == "1"
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "chain.mlir").write_text(SOURCE)
    subprocess.run(["blockscale", "compile", folder / "chain.mlir", "--no-cubin",
                    "-o", folder], check=True)
    a, b, c = data()
    d, dscales = emulate(
        folder, "first", {"a_data": a[0], "a_scales": tiled(a[1]),
                          "b_data": b[0], "b_scales": tiled(b[1])},
        ["d_data", "d_scales"])
    d = d.view(np.uint8).reshape(M, N)
    dscales = dscales.view(np.uint8).ravel()
    with np.errstate(all="ignore"):
        product = np.maximum(
            (values(*a) @ values(*b).T).astype(np.float32), np.float32(0))
    codes, scales = quantize(product.astype(float))
    assert np.isnan(product).any() and np.isinf(product).any()
    assert (d == codes).all(), np.argwhere(d != codes)[:5]
    assert (dscales == tiled(scales).ravel()).all()
    if broken:
        dscales[[16, 17]] = dscales[[17, 16]]
    found, = emulate(folder, "second",
                     {"a_data": d, "a_scales": dscales, "b_data": c[0],
                      "b_scales": tiled(c[1])}, ["d"])
    expected = (values(codes, scales) @ values(*c).T)
    found = found.view(np.float32).reshape(M, L)
    usual = [row for row in range(M) if row not in (5, 6)]
    assert np.isnan(found[5]).all()
    difference = np.abs(found[usual] - expected[usual])
    bound = 1e-5 * (np.abs(values(codes, scales))[usual] @
                    np.abs(values(*c)).T)
    print("agree" if (difference <= bound).all() else "differ")


if __name__ == "__main__":
    main()
