//===- Cluster.cpp - who shares what in a cluster -------------------------===//
//
// Part of the blockscale project, under the Apache License v2.0 with LLVM
// Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

// A cluster covers clusterM x clusterN CTAs of D; the rank of a CTA counts
// along the rows first, so that pairs, which share rows of a tile, have
// neighbouring ranks. CTAs beside each other along columns share A, CTAs above
// each other share B: each loads one slice and sends it to all of them.

#include "KernelBuilder.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/SCF/IR/SCF.h"

using namespace mlir;
using namespace blockscale;

/// `count` bits, every `step`-th from bit 0 on.
static int64_t bitsOf(int64_t count, int64_t step) {
  int64_t bits = 0;
  for (int64_t i = 0; i < count; ++i)
    bits |= int64_t(1) << (i * step);
  return bits;
}

static Value shiftLeft(KernelBuilder &t, int64_t bits, Value distance) {
  return t.b.createOrFold<arith::ShLIOp>(t.constant(bits), distance);
}

Value KernelBuilder::firstRow(TilePosition tile) {
  Value row = mul(tile.row, constant(geometry.tileM));
  if (!isPair())
    return row;
  return add(row, mul(rem(rank, 2), constant(geometry.rowsPerCta())));
}

Value KernelBuilder::firstColumn(TilePosition tile) {
  return mul(tile.column, constant(geometry.tileN));
}

Value KernelBuilder::firstRowOfB(TilePosition tile) {
  Value row = firstColumn(tile);
  if (!isPair())
    return row;
  return add(row, mul(rem(rank, 2), constant(geometry.columnsPerCta())));
}

Value KernelBuilder::sharersOfA() {
  if (geometry.a.sharers == 1)
    return {};
  return shiftLeft(*this, bitsOf(geometry.clusterN, geometry.clusterM), rankM);
}

Value KernelBuilder::sharersOfB() {
  if (geometry.b.sharers == 1)
    return {};
  Value first = mul(rankN, constant(geometry.clusterM));
  if (isPair())
    first = add(first, rem(rank, 2));
  int64_t bits = bitsOf(geometry.b.sharers, geometry.ctaGroup);
  return shiftLeft(*this, bits, first);
}

Value KernelBuilder::sharersOfSfb() {
  if (geometry.clusterM == 1)
    return {};
  Value first = mul(rankN, constant(geometry.clusterM));
  return shiftLeft(*this, bitsOf(geometry.clusterM, 1), first);
}

Value KernelBuilder::feeders() {
  if (!isCluster())
    return {};
  int64_t column = bitsOf(geometry.clusterM, 1);
  int64_t row = bitsOf(geometry.ctaGroup, 1) *
                bitsOf(geometry.clusterN, geometry.clusterM);
  Value beside = shiftLeft(*this, row, rankM);
  Value above =
      shiftLeft(*this, column, mul(rankN, constant(geometry.clusterM)));
  return b.createOrFold<arith::OrIOp>(beside, above);
}

void KernelBuilder::onlyIf(Value condition, function_ref<void()> body) {
  auto branch = scf::IfOp::create(b, condition);
  OpBuilder::InsertionGuard guard(b);
  b.setInsertionPointToStart(branch.thenBlock());
  body();
}
