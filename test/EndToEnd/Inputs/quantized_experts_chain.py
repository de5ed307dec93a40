# Part of the blockscale project, under the Apache License v2.0 with LLVM
# Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

"""Gate and up of experts, the quantised result as A of their down projections: rows of
all experts in one matrix (DeepGEMM's contiguous form), or a matrix of each of which some
rows are there (the masked one), under DeepSeek's float scales or in MXFP8.

  quantized_experts_chain.py FOLDER contiguous|masked deepseek|mx BROKEN

The memory that the first kernel wrote is passed on as it is, what it left out included.
Numbers are held against numpy: codes and scales of the first, and the second's sums.
Prints "agree"; with BROKEN = 1 the scales of two rows are exchanged on the way, which
has to show.
"""

import pathlib
import subprocess
import sys

import numpy as np

import quantized_chain as mx
import quantized_float_chain as floats
from quantized_chain import VALUES, emulate
from quantized_groups_chain import GATED, gated, of_matrices, operand

K, N, L, TILE = 256, 128, 96, 128
COUNTS = [129, 0, 1, 133]
EXPERTS, ROOM = len(COUNTS), 133
SOURCE = """
!a = !blockscale.tensor<{rows}x{k}xf8E4M3FN, {of_rows}>
!b = !blockscale.tensor<{experts}x{wide}x{k}xf8E4M3FN, {of_weights}>
!d = !blockscale.tensor<{rows}x{n}xf8E4M3FN, {of_rows}>
!c = !blockscale.tensor<{experts}x{l}x{n}xf8E4M3FN, {of_weights}>
!numbers = tensor<{experts}xi32>
func.func @first(%a: !a, %b: !b, %v: tensor<{experts}x{wide}xf32>, %n: !numbers) -> !d {{
  %0 = blockscale.matmul %a, %b groups(%n : !numbers) bias(%v) pairs {gated} : !a, !b, tensor<{experts}x{wide}xf32> -> tensor<{rows}x{n}xf32>
  %1 = blockscale.quantize %0 : tensor<{rows}x{n}xf32> to !d
  return %1 : !d
}}
func.func @second(%d: !d, %c: !c, %n: !numbers) -> tensor<{rows}x{l}xf32> {{
  %0 = blockscale.matmul %d, %c groups(%n : !numbers) : !d, !c -> tensor<{rows}x{l}xf32>
  return %0 : tensor<{rows}x{l}xf32>
}}
"""


class DeepSeek:
    """A float for 128 elements of a row, and for 128 x 128 of a weight."""
    of_rows, of_weights = '"float32_t128"', '"float32_t128_t128"'
    quantize = staticmethod(floats.quantize)
    product = staticmethod(floats.promoted)
    values = staticmethod(floats.values)

    @staticmethod
    def operand(random, rows, *shape):
        small = np.flatnonzero((np.abs(VALUES) <= 4) & (VALUES * 2 % 1 == 0))
        tiles = (*shape[:-2], -(-shape[-2] // rows), shape[-1] // TILE)
        scales = (1 + random.integers(0, 4, tiles) / 4) * 2.0 ** random.integers(-6, 1, tiles)
        return random.choice(small, shape).astype(np.uint8), scales.astype(np.float32)

    @staticmethod
    def packed(scales):
        return scales

    @staticmethod
    def rows_of(scales):
        return scales.view(np.float32).reshape(-1, N // TILE)


class MXFP8:
    of_rows = of_weights = '"e8m0_t32", layout = tiled_128x4'
    packed = staticmethod(of_matrices)

    @staticmethod
    def quantize(x):
        return mx.quantize(x.astype(float))

    @staticmethod
    def product(a, b):
        return mx.values(*a) @ mx.values(*b).T

    @staticmethod
    def values(codes, scales, rows):
        return mx.values(codes, scales)

    @staticmethod
    def operand(random, rows, *shape):
        return operand(random, *shape)

    @staticmethod
    def rows_of(scales):
        """Without those that pad each matrix."""
        tiles = scales.view(np.uint8).reshape(EXPERTS, -1, N // TILE, 32, 4, 4)
        rows = tiles.transpose(0, 1, 4, 3, 2, 5).reshape(EXPERTS, -1, N // 32)
        return rows[:, :ROOM].reshape(-1, N // 32)


def main():
    folder, form, spec, broken = sys.argv[1:]
    folder, kind = pathlib.Path(folder), {"deepseek": DeepSeek, "mx": MXFP8}[spec]
    is_masked = form == "masked"
    ends = np.cumsum(COUNTS)
    rows = {i: slice(ROOM * i, ROOM * i + count) if is_masked else slice(end - count, end)
            for i, (count, end) in enumerate(zip(COUNTS, ends)) if count}
    # Of one matrix three rows are behind the last group.
    shape = (EXPERTS, ROOM) if is_masked else (ends[-1] + 3,)
    total = int(np.prod(shape))
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "chain.mlir").write_text(SOURCE.format(
        rows="x".join(map(str, shape)), experts=EXPERTS, k=K, wide=2 * N, n=N, l=L,
        of_rows=kind.of_rows, of_weights=kind.of_weights, gated=GATED))
    subprocess.run(["blockscale", "compile", folder / "chain.mlir", "--no-cubin",
                    "-o", folder], check=True)

    random = np.random.default_rng(1)
    a = kind.operand(random, 1, *shape, K)
    b, c = (kind.operand(random, TILE, EXPERTS, *size) for size in ((2 * N, K), (L, N)))
    bias = random.integers(-8, 8, (EXPERTS, 2 * N)).astype(np.float32) / 4
    role, numbers = ("row_counts", COUNTS) if is_masked else ("offsets", ends)
    numbers = {role: np.array(numbers, np.int32)}
    d, dscales = emulate(
        folder, "first",
        {"a_data": a[0], "a_scales": kind.packed(a[1]), "b_data": b[0],
         "b_scales": kind.packed(b[1]), "bias": bias, **numbers}, ["d_data", "d_scales"])
    d = d.view(np.uint8).reshape(total, N)
    a = [part.reshape(total, -1) for part in a]
    expected = {}
    for expert, part in rows.items():
        sums = kind.product([each[part] for each in a], [each[expert] for each in b])
        codes, scales = kind.quantize(gated(sums, bias[expert]))
        assert (d[part] == codes).all(), np.argwhere(d[part] != codes)[:5]
        assert (kind.rows_of(dscales)[part] == scales).all()
        expected[expert] = codes, scales
    assert len(np.unique(np.concatenate([scales for _, scales in expected.values()]))) > 3
    if broken == "1":
        lines = dscales.view(np.uint8).reshape(-1, 4)
        # Of rows 1 and 2 of the first expert.
        at = [1, 2] if spec == "deepseek" else [4, 8]
        lines[at] = lines[at[::-1]]
    found, = emulate(folder, "second", {"a_data": d, "a_scales": dscales, "b_data": c[0],
                                        "b_scales": kind.packed(c[1]), **numbers}, ["d"])
    found = found.view(np.float32).reshape(total, L)
    agree = True
    for expert, part in rows.items():
        one = kind.values(*expected[expert], 1)
        other = kind.values(c[0][expert], c[1][expert], TILE)
        bound = 1e-5 * (np.abs(one) @ np.abs(other).T)
        agree &= bool((np.abs(found[part] - one @ other.T) <= bound).all())
    print("agree" if agree else "differ")


if __name__ == "__main__":
    main()
