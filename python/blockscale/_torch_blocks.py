# Part of the blockscale project, under the Apache License v2.0 with LLVM
# Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

"""Products with scales of f32 for 128 elements of K, in one launch: kernels of chips
with tensor memory multiply the sum of each block by them in registers."""

from ._errors import Refused
from ._mlir_text import Type

BLOCK = 128


def of_blocks(function, node, side, data, scales, by_rows):
    """One side with its scales, [rows or blocks of them, blocks of K]."""
    rows, k = data.type.shape
    if not isinstance(k, int) or k % BLOCK:
        raise Refused(f"'{node.name}': K = {k} of {side} is no multiple of the "
                      f"block, {BLOCK}")
    given, blocks = scales.type.shape
    if blocks != k // BLOCK:
        # Filled up to a multiple of four, which nothing reads.
        type = Type((given, k // BLOCK), scales.type.element)
        count = given if isinstance(given, int) else function.size(scales, 0)
        scales = function.op(
            f"tensor.extract_slice {scales.name}[0, 0] [{count}, {k // BLOCK}] "
            f"[1, 1] : {scales.type} to {type}", type)
    size = rows if isinstance(rows, int) else "?"
    spec = f"float32_t{BLOCK}" if by_rows else f"float32_t{BLOCK}_t{BLOCK}"
    type = f'!blockscale.tensor<{size}x{k}x{data.type.element}, "{spec}">'
    return function.op(f"blockscale.assemble {data.name}, {scales.name} : "
                       f"{data.type}, {scales.type} to {type}", type)
