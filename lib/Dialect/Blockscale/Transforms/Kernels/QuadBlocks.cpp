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

QuadNumbers blockscale::exchangeInQuad(KernelBuilder &b, QuadNumbers rows,
                                       Value lane) {
  // One bit of the numbers of rows and lanes after the other: a lane keeps the
  // row that has its bit, and gives the other to the lane that has the other.
  for (int64_t bit : {1, 2}) {
    Value hasBit =
        b.isNotZero(b.createOrFold<arith::AndIOp>(lane, b.constant(bit)));
    for (int64_t row = 0; row < kQuad; ++row) {
      if (row & bit)
        continue;
      for (auto [low, high] : llvm::zip_equal(rows[row], rows[row | bit])) {
        Value got = exchange(b, b.select(hasBit, low, high), bit);
        low = b.select(hasBit, got, low);
        high = b.select(hasBit, high, got);
      }
    }
  }
  return rows;
}
