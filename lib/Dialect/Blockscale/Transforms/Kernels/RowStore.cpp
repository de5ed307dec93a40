//===- RowStore.cpp - the role that finishes and stores tiles -------------===//
//
// Part of the blockscale project, under the Apache License v2.0 with LLVM
// Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

// Four warps read the accumulator some columns at a time; each thread owns one
// lane, that is one row of the instruction's tile. Without operand swap that is
// a row of D and consecutive columns are consecutive in memory; with swap it is
// a column of D, and neighbouring lanes are.

#include "EpilogueMath.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/GPU/IR/GPUDialect.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/IR/Matchers.h"
#include "llvm/Support/MathExtras.h"

using namespace mlir;
using namespace blockscale;

namespace {
class EpilogueBuilder : EpilogueMath {
public:
  explicit EpilogueBuilder(KernelBuilder &t)
      : EpilogueMath(t, t.geometry.epilogueColumns()) {}
  void build();

private:
  SmallVector<Value> tile(TilePosition position, ValueRange carried);
  void chunk(TilePosition position, RingPosition copy, Value index);
  void releaseAfter(int64_t lastChunk, Value index, RingPosition copy);

  Value thread;
};
} // namespace

//===----------------------------------------------------------------------===//
// The role
//===----------------------------------------------------------------------===//

/// Lets the MMA overwrite the accumulator once chunk `lastChunk` is loaded.
void EpilogueBuilder::releaseAfter(int64_t lastChunk, Value index,
                                   RingPosition copy) {
  auto isLast = scf::IfOp::create(b, t.isEqual(index, lastChunk));
  OpBuilder::InsertionGuard guard(b);
  b.setInsertionPointToStart(isLast.thenBlock());
  TensorFenceOp::create(b, FenceSide::Before);
  Value slot = t.geometry.overlap ? t.constant(0) : copy.slot;
  ArriveOp::create(b, t.signalAccumulatorEmpty, slot);
}

void EpilogueBuilder::chunk(TilePosition position, RingPosition copy,
                            Value index) {
  int64_t chunks = t.geometry.tileN / width;
  int64_t lastChunk = chunks - 1;
  Value ordered = index;
  if (t.geometry.overlap) {
    // The columns that both accumulators share come first: the last ones of
    // accumulator 0, the first ones of accumulator 1.
    lastChunk = llvm::divideCeil(t.geometry.overlap, width) - 1;
    Value reversed = t.sub(t.constant(chunks - 1), index);
    ordered = b.createOrFold<arith::SelectOp>(t.isEqual(copy.slot, 0), reversed,
                                              index);
  }
  Value column = t.mul(ordered, t.constant(width));
  auto accumulator = cast<TensorMemoryType>(t.accumulator.getType());
  Value sum = LoadAccumulatorOp::create(
      b, vectorType.clone(accumulator.getElementType()), t.accumulator,
      copy.slot, column);
  releaseAfter(lastChunk, index, copy);

  EpilogueFragment fragment = fragmentAt(position, thread, column);
  store(finish(sum, fragment), fragment);
}

SmallVector<Value> EpilogueBuilder::tile(TilePosition position,
                                         ValueRange carried) {
  RingPosition copy{carried[0], carried[1]};
  WaitOp::create(b, t.accumulatorFull, copy.slot, copy.parity);
  TensorFenceOp::create(b, FenceSide::After);
  auto loop = scf::ForOp::create(
      b, t.constant(0), t.constant(t.geometry.tileN / width), t.constant(1));
  {
    OpBuilder::InsertionGuard guard(b);
    b.setInsertionPointToStart(loop.getBody());
    chunk(position, copy, loop.getInductionVar());
  }
  copy = t.next(copy, t.geometry.accumulators);
  return {copy.slot, copy.parity};
}

void EpilogueBuilder::build() {
  t.warps("epilogue", 0, kEpilogueThreads / 32, [&] {
    Value index = gpu::ThreadIdOp::create(b, gpu::Dimension::x);
    thread = arith::IndexCastUIOp::create(b, b.getI32Type(), index);
    // Batches have tensor scales of their own.
    bool oneBatch = matchPattern(t.op.getBatch(), m_One());
    if (oneBatch)
      loadScale(t.constant(0));
    Value zero = t.constant(0);
    t.tileLoop({zero, zero}, [&](TilePosition position, ValueRange carried) {
      if (!oneBatch)
        loadScale(position.batch);
      return tile(position, carried);
    });
  });
}

void blockscale::buildEpilogue(KernelBuilder &t) { EpilogueBuilder(t).build(); }
