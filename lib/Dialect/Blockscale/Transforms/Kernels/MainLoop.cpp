//===- MainLoop.cpp - the role that issues MMAs ---------------------------===//
//
// Part of the blockscale project, under the Apache License v2.0 with LLVM
// Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "MainLoop.h"
#include "HalvesLoop.h"
#include "K96Loop.h"
#include "K96Plan.h"
#include "StageLoop.h"
#include "blockscale/HW/ScaleLayout.h"
#include "mlir/Dialect/SCF/IR/SCF.h"

using namespace mlir;
using namespace blockscale;

std::unique_ptr<MainLoop>
MainLoop::create(KernelFrame &frame, StageRing &stages, TensorMemory &memory,
                 AccumulatorRing &accumulators, TileSource &source) {
  if (isK96(frame.mma))
    return std::make_unique<K96Loop>(frame, stages, memory, accumulators,
                                     source);
  if (frame.geometry.hasHalves)
    return std::make_unique<HalvesLoop>(frame, stages, memory, accumulators,
                                        source);
  return std::make_unique<StageLoop>(frame, stages, memory, accumulators,
                                     source);
}

//===----------------------------------------------------------------------===//
// Stages
//===----------------------------------------------------------------------===//

StagePosition MainLoop::onlyInLastPart(const MmaTile &tile, StagePosition ring,
                                       function_ref<StagePosition()> multiply) {
  if (!tile.k.isLast)
    return multiply();
  return b.choose(tile.k.isLast, ring, multiply, [&] { return ring; });
}

Value MainLoop::endOfWhole(const MmaTile &tile, Value whole) {
  if (!tile.k.end)
    return whole;
  // Without a last part all of them are whole.
  return tile.k.isLast ? b.createOrFold<arith::MinUIOp>(tile.k.end, whole)
                       : tile.k.end;
}

void MainLoop::awaitStage(StagePosition ring) {
  WaitOp::create(b, stages.full, ring.slot, ring.parity);
  TensorFenceOp::create(b, FenceSide::After);
}

void MainLoop::awaitAccumulator(RingPosition free) {
  WaitOp::create(b, accumulators.empty, free.slot, b.flip(free.parity));
  TensorFenceOp::create(b, FenceSide::After);
}

void MainLoop::copyScales(const MmaTile &tile, StagePosition ring,
                          int64_t word) {
  if (!stages.scales)
    return;
  Value stage = ring.scaleSlot();
  for (auto [scales, region] : llvm::zip(stages.scales->a, memory.scales->a))
    CopyScalesOp::create(b, scales, stage, region, frame.isPair(), word);
  for (auto [scales, region] : llvm::zip(stages.scales->b, memory.scales->b))
    CopyScalesOp::create(b, scales, stage, region, frame.isPair(), word);
  releaseScales(tile, ring);
}

void MainLoop::releaseScales(const MmaTile &tile, StagePosition ring) {
  // Done before the instructions that read the copies.
  if (stages.scalesEmpty)
    CommitOp::create(b, stages.scalesEmpty, ring.scaleSlot(), tile.feeders,
                     frame.isPair());
}

void MainLoop::copyOnes() {
  ArrayRef<Value> regions = memory.scales->a;
  if (frame.geometry.a.loadsScales)
    regions = memory.scales->b;
  for (Value region : regions)
    CopyScalesOp::create(b, stages.ones, b.constant(0), region, frame.isPair(),
                         /*word=*/0);
  CommitOp::create(b, stages.onesCopied, b.constant(0), /*multicast=*/Value(),
                   frame.isPair());
}

void MainLoop::maskScales(Value stage, Value valid) {
  // The other CTA of a pair does not know when its stage is full.
  SmallVector<Value> ranks{Value()};
  if (frame.isPair())
    ranks.push_back(b.add(frame.place.rank, b.constant(1)));
  for (Value rank : ranks) {
    for (Value ring : stages.scales->a)
      MaskScalesOp::create(b, ring, stage, valid, rank);
    for (Value ring : stages.scales->b)
      MaskScalesOp::create(b, ring, stage, valid, rank);
  }
}

void MainLoop::maskTail(Value stage, Value valid) {
  int64_t span = frame.mma.getScaleSpan();
  // Groups along K end with whole instructions.
  if (!frame.isScaled() || frame.mma.getK() == span || frame.isGroupedAlongK())
    return;
  Value rest = b.rem(valid, frame.mma.getK());
  if (b.known(rest) == 0)
    return;
  // The last block may be filled in part: what is missing of it was read as
  // zeros, and its scale counts.
  b.onlyIf(b.isNotZero(rest),
           [&] { maskScales(stage, b.ceilDiv(valid, span)); });
}

void MainLoop::handOver(const MmaTile &tile, Value accumulator) {
  CommitOp::create(b, accumulators.full, accumulator, tile.pair,
                   frame.isPair());
}

void MainLoop::release(const MmaTile &tile, Value stage) {
  CommitOp::create(b, stages.empty, stage, tile.feeders, frame.isPair());
}

Value MainLoop::scalesOfA(int64_t rowInstruction) const {
  return memory.scales ? memory.scales->a[rowInstruction] : Value();
}

Value MainLoop::scalesOfB(unsigned number) const {
  if (!memory.scales)
    return {};
  ArrayRef<Value> regions = memory.scales->b;
  return regions.size() > 1 ? regions[number] : regions.front();
}

Value MainLoop::shiftOf(const MmaTile &tile, unsigned number) {
  if (!number || frame.geometry.scaleGroupsOfB.size() > 1)
    return tile.shift;
  Value columns = b.constant(hw::scaleColumnOf(frame.geometry.columns, number));
  return tile.shift ? b.add(tile.shift, columns) : columns;
}

SmallVector<Value> MainLoop::valuesOf(const Rings &at) {
  SmallVector<Value> values = at.stage.values();
  values.insert(values.begin() + 2,
                {at.copy.slot, at.copy.parity, at.free.slot, at.free.parity});
  return values;
}

MainLoop::Rings MainLoop::ringsOf(ValueRange values) {
  SmallVector<Value> ofStage(values.take_front(2));
  llvm::append_range(ofStage, values.drop_front(6));
  return {StagePosition::of(ofStage),
          {values[2], values[3]},
          {values[4], values[5]}};
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

MainLoop::Rings MainLoop::fillAccumulators(MmaTile tile, Value columnTile,
                                           Rings at) {
  tile.copies = {at.copy.slot};
  if (copiesAhead())
    tile.free = at.free;
  else
    WaitOp::create(b, accumulators.empty, at.free.slot, b.flip(at.free.parity));
  for (int64_t i = 1; i < frame.geometry.accumulatorsOfTile(); ++i) {
    at.copy = b.next(at.copy, accumulators.count());
    at.free = b.next(at.free, accumulators.emptyCount());
    tile.copies.push_back(at.copy.slot);
    if (handsOver())
      tile.free = at.free;
    else
      WaitOp::create(b, accumulators.empty, at.free.slot,
                     b.flip(at.free.parity));
  }
  if (!copiesAhead())
    TensorFenceOp::create(b, FenceSide::After);
  tile.shift = scaleShift(columnTile);
  at.stage = multiplyTile(tile, at.stage);
  b.onlyIf(tile.leader, [&] {
    ArrayRef<Value> filled = tile.copies;
    for (Value each : handsOver() ? filled.take_back() : filled)
      handOver(tile, each);
  });
  at.copy = b.next(at.copy, accumulators.count());
  at.free = b.next(at.free, accumulators.emptyCount());
  return at;
}

MainLoop::Rings MainLoop::fillBlockOfStage(const MmaTile &tile, int64_t part,
                                           Value valid, Rings at) {
  int64_t size = frame.promotionBlock();
  auto range = KRangeAttr::get(b.getContext(), /*part=*/0, part * size,
                               (part + 1) * size);
  Value none = arith::ConstantOp::create(b, b.getBoolAttr(false));
  WaitOp::create(b, accumulators.empty, at.free.slot, b.flip(at.free.parity));
  TensorFenceOp::create(b, FenceSide::After);
  b.onlyIf(tile.leader, [&] {
    MmaOp::create(b, memory.accumulator, at.copy.slot, stages.a.front(),
                  stages.b.front(), at.stage.slot, /*previous=*/Value(),
                  scalesOfA(), scalesOfB(), memory.metadata.value_or(Value()),
                  none, valid, tile.shift, frame.mma, range, CollectorBAttr(),
                  ArrayAttr());
    // Before the block is handed over: who takes the last one may be the last
    // that runs.
    int64_t end = (part + 1) * size;
    Value isLast =
        end == frame.geometry.tileK ? b.always()
        : valid ? b.compare(arith::CmpIPredicate::sle, valid, b.constant(end))
                : Value();
    if (isLast)
      b.onlyIf(isLast, [&] { release(tile, at.stage.slot); });
    CommitOp::create(b, accumulators.full, at.copy.slot, tile.pair,
                     frame.isPair());
  });
  at.copy = b.next(at.copy, accumulators.count());
  at.free = b.next(at.free, accumulators.emptyCount());
  return at;
}

MainLoop::Rings MainLoop::fillBlocksOfStage(const MmaTile &tile, Value valid,
                                            Rings at) {
  int64_t size = frame.promotionBlock();
  std::optional<int64_t> known =
      valid ? b.known(valid) : std::optional<int64_t>(frame.geometry.tileK);
  awaitStage(at.stage);
  if (valid)
    maskTail(at.stage.scaleSlot(), valid);
  if (memory.metadata || stages.scales)
    b.onlyIf(tile.leader, [&] {
      copyScales(tile, at.stage);
      if (memory.metadata)
        CopyMetadataOp::create(b, *stages.metadata, at.stage.slot,
                               *memory.metadata, frame.isPair());
    });
  for (int64_t part = 0; part * size < known.value_or(frame.geometry.tileK);
       ++part) {
    if (known || part == 0) {
      at = fillBlockOfStage(tile, part, valid, at);
      continue;
    }
    Value isThere =
        b.compare(arith::CmpIPredicate::sgt, valid, b.constant(part * size));
    at = choose(isThere, at,
                [&] { return fillBlockOfStage(tile, part, valid, at); });
  }
  at.stage = stages.next(at.stage);
  return at;
}

MainLoop::Rings MainLoop::choose(Value condition, const Rings &otherwise,
                                 function_ref<Rings()> then) {
  SmallVector<Value> before = valuesOf(otherwise);
  auto choice = scf::IfOp::create(b, TypeRange(ValueRange(before)), condition,
                                  /*withElseRegion=*/true);
  OpBuilder::InsertionGuard guard(b);
  b.setInsertionPointToStart(choice.thenBlock());
  scf::YieldOp::create(b, valuesOf(then()));
  b.setInsertionPointToStart(choice.elseBlock());
  scf::YieldOp::create(b, before);
  return ringsOf(choice.getResults());
}

MainLoop::Rings MainLoop::fillShortBlocks(const MmaTile &tile, Rings at) {
  int64_t tileK = frame.geometry.tileK;
  Value wholeStages = b.div(tile.k.size, tileK);
  auto loop = scf::ForOp::create(b, b.constant(0), wholeStages, b.constant(1),
                                 valuesOf(at));
  {
    OpBuilder::InsertionGuard guard(b);
    b.setInsertionPointToStart(loop.getBody());
    Rings after = fillBlocksOfStage(tile, /*valid=*/Value(),
                                    ringsOf(loop.getRegionIterArgs()));
    scf::YieldOp::create(b, valuesOf(after));
  }
  at = ringsOf(loop.getResults());
  if (frame.hasWhole(tileK))
    return at;
  Value rest = b.rem(tile.k.size, tileK);
  std::optional<int64_t> known = b.known(rest);
  if (known == 0)
    return at;
  if (known)
    return fillBlocksOfStage(tile, rest, at);
  return choose(b.isNotZero(rest), at,
                [&] { return fillBlocksOfStage(tile, rest, at); });
}

MainLoop::Rings MainLoop::fillBlocks(MmaTile tile, Value columnTile, Rings at) {
  if (frame.promotionBlock() < frame.geometry.tileK) {
    tile.shift = scaleShift(columnTile);
    return fillShortBlocks(tile, at);
  }
  int64_t stages = frame.promotionBlock() / frame.geometry.tileK;
  Value blocks = frame.partsOfK(tile.k.size, frame.promotionBlock());
  bool isWhole = frame.hasWhole(frame.promotionBlock()) ||
                 b.known(b.rem(tile.k.size, frame.promotionBlock())) == 0;
  auto loop =
      scf::ForOp::create(b, b.constant(0), blocks, b.constant(1), valuesOf(at));
  OpBuilder::InsertionGuard guard(b);
  b.setInsertionPointToStart(loop.getBody());
  Value block = loop.getInductionVar();
  tile.k.begin = b.mul(block, stages);
  tile.k.end = b.add(tile.k.begin, b.constant(stages));
  if (!isWhole)
    tile.k.isLast = b.compare(arith::CmpIPredicate::eq, block,
                              b.sub(blocks, b.constant(1)));
  Rings after =
      fillAccumulators(tile, columnTile, ringsOf(loop.getRegionIterArgs()));
  scf::YieldOp::create(b, valuesOf(after));
  return ringsOf(loop.getResults());
}

/// The loop over output tiles of the warp that issues their MMAs.
void MainLoop::multiplyTiles() {
  Value leader = ElectOp::create(b);
  Value zero = b.constant(0);
  if (stages.ones) {
    b.onlyIf(leader, [&] { copyOnes(); });
    // A CTA that has no tile frees tensor memory right away.
    WaitOp::create(b, stages.onesCopied, zero, zero);
  }
  Value feeders = frame.place.feeders();
  Value pair;
  if (frame.isPair())
    pair = b.shiftLeft(3, frame.place.rank);
  Rings initial{stages.first(), {zero, zero}, {zero, zero}};
  source.forEach(
      valuesOf(initial), [&](TilePosition position, ValueRange carried) {
        MmaTile tile{leader,      {},   Value(),
                     feeders,     pair, frame.partOfK(position),
                     std::nullopt};
        Rings at = ringsOf(carried);
        return valuesOf(frame.promotionBlock()
                            ? fillBlocks(tile, position.column, at)
                            : fillAccumulators(tile, position.column, at));
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
