//===- QuadBlocks.cpp - blocks of rows out of fragments -------------------===//
//
// Part of the blockscale project, under the Apache License v2.0 with LLVM
// Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "QuadBlocks.h"
#include "blockscale/HW/Target.h"
#include "mlir/Dialect/GPU/IR/GPUDialect.h"

using namespace mlir;
using namespace blockscale;

/// What the lane has whose number differs in the bits of `mask`.
static Value exchange(KernelBuilder &b, Value value, int64_t mask) {
  return gpu::ShuffleOp::create(b, value, int32_t(mask), int32_t(hw::kWarpSize),
                                gpu::ShuffleMode::XOR)
      .getShuffleResult();
}

/// Gives each lane what all have of the line that has its number, among as many
/// lanes as there are `lines`, which are `distance` apart.
static void exchangeLines(KernelBuilder &b,
                          MutableArrayRef<SmallVector<Value>> lines, Value lane,
                          int64_t distance) {
  // One bit of the numbers of lines and lanes after the other: a lane keeps the
  // line that has its bit, and gives the other to the lane that has the other.
  auto count = int64_t(lines.size());
  for (int64_t bit = 1; bit < count; bit *= 2) {
    Value hasBit =
        b.isNotZero(b.createOrFold<arith::AndIOp>(lane, b.constant(bit)));
    for (int64_t line = 0; line < count; ++line) {
      if (line & bit)
        continue;
      for (auto [low, high] : llvm::zip_equal(lines[line], lines[line | bit])) {
        Value got = exchange(b, b.select(hasBit, low, high), bit * distance);
        low = b.select(hasBit, got, low);
        high = b.select(hasBit, high, got);
      }
    }
  }
}

QuadNumbers blockscale::exchangeInQuad(KernelBuilder &b, QuadNumbers rows,
                                       Value lane) {
  exchangeLines(b, rows, lane, /*distance=*/1);
  return rows;
}

ColumnNumbers blockscale::exchangeInColumn(KernelBuilder &b,
                                           ColumnNumbers columns, Value lane) {
  exchangeLines(b, columns, lane, /*distance=*/kQuad);
  return columns;
}
