//===- MainLoop.cpp - the role that issues MMAs ---------------------------===//
//
// Part of the blockscale project, under the Apache License v2.0 with LLVM
// Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "MainLoop.h"
#include "K96Loop.h"
#include "K96Plan.h"
#include "StageLoop.h"
#include "blockscale/HW/ScaleLayout.h"

using namespace mlir;
using namespace blockscale;

std::unique_ptr<MainLoop>
MainLoop::create(KernelFrame &frame, StageRing &stages, TensorMemory &memory,
                 AccumulatorRing &accumulators, TileSource &source) {
  if (isK96(frame.mma))
    return std::make_unique<K96Loop>(frame, stages, memory, accumulators,
                                     source);
  return std::make_unique<StageLoop>(frame, stages, memory, accumulators,
                                     source);
}

//===----------------------------------------------------------------------===//
// Stages
//===----------------------------------------------------------------------===//

RingPosition MainLoop::onlyInLastPart(const MmaTile &tile, RingPosition ring,
                                      function_ref<RingPosition()> multiply) {
  if (!tile.k.isLast)
    return multiply();
  return b.choose(tile.k.isLast, multiply, [&] { return ring; });
}

Value MainLoop::endOfWhole(const MmaTile &tile, Value whole) {
  if (!tile.k.isLast)
    return whole;
  return b.createOrFold<arith::MinUIOp>(tile.k.end, whole);
}

void MainLoop::awaitStage(RingPosition ring) {
  WaitOp::create(b, stages.full, ring.slot, ring.parity);
  TensorFenceOp::create(b, FenceSide::After);
}

void MainLoop::copyScales(Value stage, int64_t word) {
  if (!stages.scales)
    return;
  for (auto [ring, region] :
       llvm::zip_equal(stages.scales->a, memory.scales->a))
    CopyScalesOp::create(b, ring, stage, region, frame.isPair(), word);
  CopyScalesOp::create(b, stages.scales->b, stage, memory.scales->b,
                       frame.isPair(), word);
}

void MainLoop::maskScales(Value stage, Value valid) {
  // The other CTA of a pair does not know when its stage is full.
  SmallVector<Value> ranks{Value()};
  if (frame.isPair())
    ranks.push_back(b.add(frame.place.rank, b.constant(1)));
  for (Value rank : ranks) {
    for (Value ring : stages.scales->a)
      MaskScalesOp::create(b, ring, stage, valid, rank);
    MaskScalesOp::create(b, stages.scales->b, stage, valid, rank);
  }
}

void MainLoop::release(const MmaTile &tile, Value stage) {
  CommitOp::create(b, stages.empty, stage, tile.feeders, frame.isPair());
}

Value MainLoop::scalesOfA(int64_t rowInstruction) const {
  return memory.scales ? memory.scales->a[rowInstruction] : Value();
}

Value MainLoop::scalesOfB() const {
  return memory.scales ? memory.scales->b : Value();
}

//===----------------------------------------------------------------------===//
// Output tiles
//===----------------------------------------------------------------------===//

/// Columns between the start of a group of 128 scale rows and that of the
/// tile, for tiles that share groups.
Value MainLoop::scaleShift(Value columnTile) {
  const TileGeometry &g = frame.geometry;
  if (!frame.isScaled() || g.tileN % hw::kAtomRows == 0)
    return {};
  if (g.clusterN == 1 && b.known(frame.columnTiles) == 1)
    return {};
  Value row = b.mul(columnTile, g.tileN);
  return b.div(b.rem(row, hw::kAtomRows), hw::kAtomLanes);
}

/// The loop over output tiles of the warp that issues their MMAs.
void MainLoop::multiplyTiles() {
  Value leader = ElectOp::create(b);
  Value zero = b.constant(0);
  Value feeders = frame.place.feeders();
  Value pair;
  if (frame.isPair())
    pair = b.shiftLeft(3, frame.place.rank);
  SmallVector<Value> initial(6, zero);
  source.forEach(initial, [&](TilePosition position, ValueRange carried) {
    RingPosition stage{carried[0], carried[1]};
    RingPosition copy{carried[2], carried[3]};
    RingPosition free{carried[4], carried[5]};
    MmaTile tile{
        leader, {copy.slot}, Value(), feeders, frame.partOfK(position)};
    WaitOp::create(b, accumulators.empty, free.slot, b.flip(free.parity));
    for (int64_t i = 1; i < frame.geometry.rowInstructions; ++i) {
      copy = b.next(copy, accumulators.count());
      free = b.next(free, accumulators.emptyCount());
      tile.copies.push_back(copy.slot);
      WaitOp::create(b, accumulators.empty, free.slot, b.flip(free.parity));
    }
    TensorFenceOp::create(b, FenceSide::After);
    tile.shift = scaleShift(position.column);
    stage = multiplyTile(tile, stage);
    b.onlyIf(leader, [&] {
      for (Value filled : tile.copies)
        CommitOp::create(b, accumulators.full, filled, pair, frame.isPair());
    });
    copy = b.next(copy, accumulators.count());
    free = b.next(free, accumulators.emptyCount());
    return SmallVector<Value>{stage.slot,  stage.parity, copy.slot,
                              copy.parity, free.slot,    free.parity};
  });
}

void MainLoop::emitRole() {
  b.warps("mma", frame.warps.issuer, [&] {
    if (frame.isPair())
      b.onlyIf(frame.place.isLeader(), [&] { multiplyTiles(); });
    else
      multiplyTiles();
  });
}
