//===- Producer.cpp - the role that loads operands ------------------------===//
//
// Part of the blockscale project, under the Apache License v2.0 with LLVM
// Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Producer.h"
#include "blockscale/Dialect/Blockscale/IR/SplitK.h"
#include "blockscale/HW/Memory.h"
#include "blockscale/HW/Part.h"
#include "blockscale/HW/ScaleLayout.h"
#include "mlir/Dialect/GPU/IR/GPUDialect.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"

#include <cmath>

using namespace mlir;
using namespace blockscale;

//===----------------------------------------------------------------------===//
// Loads
//===----------------------------------------------------------------------===//

void Producer::loadBox(Value map, ValueRange coordinates, Value ring,
                       const KTile &tile, Value slice, Value sharers, Value at,
                       int64_t box) {
  if (isPrefetching)
    TmaPrefetchOp::create(b, map, coordinates);
  else
    TmaLoadOp::create(b, map, coordinates, ring, stages.signalFull, tile.stage,
                      slice, sharers, at, box);
}

/// Loads this CTA's slice of an operand for all `sharers`; `index` is the CTA's
/// number among them.
void Producer::loadOperand(Value map, Value ring,
                           const OperandGeometry &operand, Value row,
                           KTile tile, Value sharers, Value index) {
  bool isMNMajor = operand.tile.major == hw::OperandMajor::MN;
  Value k = b.mul(tile.k, operand.tile.k);
  if (tile.group.first)
    k = b.add(tile.group.first, k);
  Value slice = operand.slices > 1 ? index : Value();
  if (slice && isMNMajor)
    k = b.add(k, b.mul(slice, operand.boxK));
  if (slice && !isMNMajor)
    row = b.add(row, b.mul(slice, operand.boxRows));
  auto loadAt = [&](int64_t box, int64_t rowBox) {
    Value inner = isMNMajor ? row : k, outer = isMNMajor ? k : row;
    int64_t step = isMNMajor ? operand.boxRows : operand.boxK;
    int64_t above = rowBox * operand.slices * operand.boxRows;
    SmallVector<Value> coordinates{b.add(inner, b.constant(box * step)),
                                   b.add(outer, b.constant(above)), tile.batch};
    loadBox(map, coordinates, ring, tile, slice, sharers, /*at=*/Value(),
            (box * operand.rowBoxes + rowBox) * operand.slices);
  };
  auto load = [&] {
    for (int64_t box = 0; box < operand.boxes; ++box)
      for (int64_t rowBox = 0; rowBox < operand.rowBoxes; ++rowBox)
        loadAt(box, rowBox);
  };
  if (operand.slices == operand.sharers)
    return load();
  b.onlyIf(
      b.compare(arith::CmpIPredicate::ult, index, b.constant(operand.slices)),
      load);
}

/// As loadOperand(), the rows of each box by their numbers.
void Producer::gatherOperand(Value map, Value ring,
                             const OperandGeometry &operand,
                             ArrayRef<FourRows> rows, KTile tile, Value sharers,
                             Value index) {
  Value k = b.mul(tile.k, operand.tile.k);
  auto load = [&] {
    for (const FourRows &four : rows)
      b.onlyIf(b.compare(arith::CmpIPredicate::ult, four.inBox,
                         b.constant(operand.boxRows)),
               [&] {
                 for (int64_t box = 0; box < operand.boxes; ++box) {
                   Value number = b.constant(box * operand.slices);
                   if (operand.slices > 1)
                     number = b.add(number, index);
                   Value place =
                       b.add(b.mul(number, operand.boxRows), four.inBox);
                   TmaGatherOp::create(b, map,
                                       b.add(k, b.constant(box * operand.boxK)),
                                       four.numbers, ring, stages.signalFull,
                                       tile.stage, place, sharers);
                 }
               });
  };
  if (operand.slices == operand.sharers)
    return load();
  b.onlyIf(
      b.compare(arith::CmpIPredicate::ult, index, b.constant(operand.slices)),
      load);
}

void Producer::loadWhole(Value map, Value ring, KTile tile, Value at,
                         Value sharers, Value index,
                         function_ref<SmallVector<Value>(int64_t)> coordinates,
                         int64_t boxes) {
  auto load = [&] {
    for (int64_t box = 0; box < boxes; ++box)
      loadBox(map, coordinates(box), ring, tile, /*slice=*/Value(), sharers, at,
              box);
  };
  if (!sharers)
    return load();
  b.onlyIf(b.isEqual(index, 0), load);
}

void Producer::loadScales(Value map, Value ring, Value row, KTile tile,
                          Value sharers, Value index, int64_t boxes) {
  auto coordinatesOf = [&](int64_t box) {
    Value group = b.div(row, hw::kAtomRows);
    if (isRowTileMap(cast<TensorMapType>(map.getType()))) {
      Value rowTile = b.mul(tile.k, frame.geometry.scaleRowTiles());
      return SmallVector<Value>{b.constant(0), b.constant(0), rowTile, group,
                                tile.batch};
    }
    if (box)
      group = b.add(group, b.constant(box));
    Value word = b.mul(tile.k, frame.geometry.scaleWords);
    return SmallVector<Value>{b.constant(0), word, group, tile.batch};
  };
  loadWhole(map, ring, tile, tile.scaleStage, sharers, index, coordinatesOf,
            boxes);
}

void Producer::loadScalesOfB(Value row, KTile tile) {
  const TileGeometry &g = frame.geometry;
  Value first = row;
  for (auto [i, ring] : llvm::enumerate(stages.scales->b)) {
    if (i)
      first = b.add(row, b.constant(g.columns.begin(i)));
    loadScales(frame.op.getSfb(), ring, first, tile, sharers.sfb,
               frame.place.rankM, g.scaleGroupsOfB[i] / g.b.groupsOfScaleBox);
  }
}

/// The tiles of a group lie together, those of its first 128 rows first. What
/// is loaded behind the last one of a row belongs to no instruction.
void Producer::loadGroupScales(Value map, Value ring, Value row, Value rows,
                               int64_t rowGroups, KTile tile, Value sharers,
                               Value index) {
  auto load = [&] {
    Value before = b.mul(tile.group.firstTile, b.ceilDiv(rows, hw::kAtomRows));
    Value along = b.mul(tile.k, frame.geometry.scaleWords);
    Value first = b.div(row, hw::kAtomRows);
    for (int64_t i = 0; i < rowGroups; ++i) {
      Value rowTiles = b.mul(b.add(first, b.constant(i)), tile.group.tiles);
      SmallVector<Value> coordinates{b.constant(0),
                                     b.add(b.add(before, rowTiles), along)};
      TmaLoadOp::create(b, map, coordinates, ring, stages.signalFull,
                        tile.stage, /*slice=*/Value(), sharers, tile.scaleStage,
                        i);
    }
  };
  if (!sharers)
    return load();
  b.onlyIf(b.isEqual(index, 0), load);
}

/// Loads metadata, which belongs to rows of A as its scales do. What TMA fills
/// in after the last row is no pattern, so CTAs whose rows lie there read that
/// of the last rows.
void Producer::loadMetadata(Value row, KTile tile) {
  if (frame.geometry.clusterM > 1) {
    Value last = b.mul(b.div(b.sub(frame.rows, b.constant(1)), hw::kAtomRows),
                       hw::kAtomRows);
    row = b.createOrFold<arith::MinUIOp>(row, last);
  }
  loadWhole(frame.op.getMetadata(), *stages.metadata, tile, /*at=*/Value(),
            sharers.a, frame.place.rankN, [&](int64_t) {
              Value first = b.mul(tile.k, frame.geometry.metadataTiles);
              return SmallVector<Value>{b.constant(0), row, first, tile.batch};
            });
}

void Producer::loadStage(const LoadedTile &from, Value k, StagePosition ring) {
  const TileGeometry &g = frame.geometry;
  KernelMatmulOp op = frame.op;
  KTile ofA{k, from.batchOfA, ring.slot, Value(), from.group};
  KTile ofB{k, from.batchOfB, ring.slot, Value(), from.group};
  if (!frame.isGathered() || frame.isSwapped())
    for (auto [ring, row] : llvm::zip_equal(stages.a, from.rows))
      loadOperand(op.getA(), ring, g.a, row, ofA, sharers.a, frame.place.rankN);
  if (!frame.isGathered() || !frame.isSwapped())
    for (auto [ring, part, row] :
         llvm::zip_equal(stages.b, g.partsOfB, from.rowsOfB))
      loadOperand(op.getB(), ring, part, row, ofB, sharers.b, sharers.indexOfB);
  if (stages.scales && !ring.scales)
    loadScalesOfStage(from, ofA, ofB);
  if (stages.metadata)
    loadMetadata(from.rows.front(), ofA);
  if (!ring.scales)
    return;
  // Behind what has room already: with fewer stages they may have to wait.
  WaitOp::create(b, stages.scalesEmpty, ring.scales->slot,
                 b.flip(ring.scales->parity));
  ofA.scaleStage = ofB.scaleStage = ring.scales->slot;
  loadScalesOfStage(from, ofA, ofB);
}

void Producer::loadScalesOfStage(const LoadedTile &from, KTile ofA, KTile ofB) {
  const TileGeometry &g = frame.geometry;
  KernelMatmulOp op = frame.op;
  if (frame.isGroupedAlongK()) {
    for (auto [ring, row] : llvm::zip(stages.scales->a, from.scaleRows))
      loadGroupScales(op.getSfa(), ring, row, frame.rows, g.a.scaleGroups, ofA,
                      sharers.a, frame.place.rankN);
    for (Value ring : stages.scales->b)
      loadGroupScales(op.getSfb(), ring, from.scaleRowOfB, frame.columns,
                      g.b.scaleGroups, ofB, sharers.sfb, frame.place.rankM);
    return;
  }
  for (auto [ring, row] : llvm::zip(stages.scales->a, from.scaleRows))
    loadScales(op.getSfa(), ring, row, ofA, sharers.a, frame.place.rankN);
  loadScalesOfB(from.scaleRowOfB, ofB);
}

void Producer::gatherStage(const LoadedTile &from, Value k, Value stage) {
  const TileGeometry &g = frame.geometry;
  KernelMatmulOp op = frame.op;
  KTile tile{k, Value(), stage, Value(), {}};
  if (frame.isSwapped())
    return gatherOperand(op.getB(), stages.b.front(), g.b,
                         from.gathered.front(), tile, sharers.b,
                         sharers.indexOfB);
  for (auto [ring, rows] : llvm::zip_equal(stages.a, from.gathered))
    gatherOperand(op.getA(), ring, g.a, rows, tile, sharers.a,
                  frame.place.rankN);
}

//===----------------------------------------------------------------------===//
// The role
//===----------------------------------------------------------------------===//

void Producer::asOne(function_ref<void()> body) {
  if (!frame.isGathered())
    return body();
  b.onlyIf(ElectOp::create(b), body);
}

/// The leader of a pair announces the bytes of both CTAs.
void Producer::announce(Value stage) {
  auto announce = [&] {
    ArriveExpectOp::create(b, stages.full, stage,
                           frame.geometry.countedBytes());
  };
  if (!frame.isPair())
    return announce();
  b.onlyIf(frame.place.isLeader(), announce);
}

/// Waits until all readers have released every stage, so that none of them
/// signals a CTA that has ended.
void Producer::drain(StagePosition ring) {
  auto drainRing = [&](Value empty, RingPosition from, int64_t count) {
    b.repeat(b.constant(count), {from.slot, from.parity, std::nullopt},
             [&](Value, StagePosition current) -> StagePosition {
               WaitOp::create(b, empty, current.slot, b.flip(current.parity));
               RingPosition next = b.next(current.operands(), count);
               return {next.slot, next.parity, std::nullopt};
             });
  };
  drainRing(stages.empty, ring.operands(), frame.geometry.stages);
  if (ring.scales)
    drainRing(stages.scalesEmpty, *ring.scales, frame.geometry.scaleStages);
}

/// The K tiles of an output tile, from the first to before the last.
std::pair<Value, Value> Producer::kTilesOf(TilePosition tile, Value kTiles) {
  if (frame.isGroupedAlongK())
    return {b.constant(0),
            frame.partsOfK(tile.kGroup.size, frame.geometry.tileK)};
  if (!frame.isSplit() && !frame.isStreamed())
    return {b.constant(0), kTiles};
  KPart part = frame.partOfK(tile);
  int64_t stages = splitUnit(frame.mma) / frame.geometry.tileK;
  Value end = b.mul(part.end, stages);
  if (stages > 1)
    end = b.createOrFold<arith::MinUIOp>(end, kTiles);
  return {b.mul(part.begin, stages), end};
}

/// The operand whose rows are in groups has them and their scales at places of
/// the group's, and one matrix; the other one has a matrix for each group.
/// Groups along K are of one matrix on both sides.
Producer::LoadedTile Producer::whereFrom(TilePosition tile) {
  LoadedTile from;
  Value row, scaleRow, rowOfB, scaleRowOfB;
  from.batchOfA = from.batchOfB = tile.batch;
  if (frame.isGrouped()) {
    bool swap = frame.isSwapped();
    (swap ? rowOfB : row) = tile.group.firstRow;
    (swap ? scaleRowOfB : scaleRow) = tile.group.firstScaleRow;
    (swap ? from.batchOfB : from.batchOfA) = b.constant(0);
  }
  if (frame.isGroupedAlongK()) {
    from.batchOfA = from.batchOfB = b.constant(0);
    from.group = tile.kGroup;
  }
  for (int64_t i = 0; i < frame.geometry.rowInstructions; ++i) {
    Value first = frame.firstRow(frame.partOf(tile, i));
    from.rows.push_back(frame.within({row, {}}, first));
    from.scaleRows.push_back(frame.within({scaleRow, {}}, first));
  }
  for (unsigned i = 0; i < frame.geometry.columns.instructions(); ++i)
    from.rowsOfB.push_back(
        frame.within({rowOfB, {}}, frame.firstRowOfB(tile, i)));
  from.scaleRowOfB = frame.within({scaleRowOfB, {}}, frame.firstColumn(tile));
  if (!frame.isGathered())
    return from;
  const TileGeometry &g = frame.geometry;
  if (frame.isSwapped())
    from.gathered.push_back(rowsByNumber(g.b, from.rowsOfB.front(),
                                         tile.group.end, sharers.indexOfB));
  else
    for (Value first : from.rows)
      from.gathered.push_back(
          rowsByNumber(g.a, first, tile.group.end, frame.place.rankN));
  return from;
}

/// Rows behind the group's end are no rows of A: what another group loads, or
/// nobody, is not fetched once more.
SmallVector<Producer::FourRows, 2>
Producer::rowsByNumber(const OperandGeometry &operand, Value row, Value end,
                       Value index) {
  constexpr int64_t kRows = 4;
  auto type = VectorType::get({kRows}, b.getI32Type());
  auto vectorOf = [&](ArrayRef<int32_t> values) {
    return arith::ConstantOp::create(b,
                                     DenseIntElementsAttr::get(type, values));
  };
  if (operand.slices > 1)
    row = b.add(row, b.mul(index, operand.boxRows));
  SmallVector<FourRows, 2> rows;
  for (int64_t first = 0; first < operand.boxRows;
       first += kRows * hw::kWarpSize) {
    Value inBox = b.add(b.mul(lane, kRows), b.constant(first));
    Value from = b.add(row, inBox), count = b.sub(end, from);
    Value loaded = LoadRowOp::create(b, type, frame.op.getRowNumbers(),
                                     b.toI64(from), count, /*stride=*/Value());
    Value isThere = arith::CmpIOp::create(
        b, arith::CmpIPredicate::slt, vectorOf({0, 1, 2, 3}),
        vector::BroadcastOp::create(b, type, count));
    rows.push_back(
        {inBox, arith::SelectOp::create(b, isThere, loaded,
                                        vectorOf({-1, -1, -1, -1}))});
  }
  return rows;
}

StagePosition Producer::loadTile(TilePosition tile, StagePosition ring,
                                 Value kTiles) {
  auto [begin, end] = kTilesOf(tile, kTiles);
  LoadedTile from = whereFrom(tile);
  return b.repeat(begin, end, ring, [&](Value k, StagePosition current) {
    WaitOp::create(b, stages.empty, current.slot, b.flip(current.parity));
    asOne([&] {
      announce(current.slot);
      loadStage(from, k, current);
    });
    if (frame.isGathered())
      gatherStage(from, k, current.slot);
    return stages.next(current);
  });
}

void Producer::findSharers() {
  sharers = {frame.place.sharersOfA(), frame.place.sharersOfB(),
             frame.place.sharersOfSfb(), frame.place.indexOfB()};
}

int64_t Producer::prefetchedStages(bool isOfA, Value kTiles) {
  const TileGeometry &g = frame.geometry;
  const hw::Part &part = hw::referencePart(getTarget(frame.op).chip);
  int64_t bytes = isOfA ? g.countedBytesOfA() : g.countedBytesOfB();
  auto count = int64_t(std::ceil(hw::bytesOnTheWay(part) / double(bytes)));
  count = std::min(count, frame.geometry.stages);
  if (std::optional<int64_t> known = b.known(kTiles))
    count =
        std::min(count, std::max<int64_t>(1, *known / frame.schedule.splits()));
  return count;
}

void Producer::loadWeights(const LoadedTile &from, Value k) {
  const TileGeometry &g = frame.geometry;
  KernelMatmulOp op = frame.op;
  if (!frame.isSwapped() && !frame.isSparse()) {
    KTile tile{k, from.batchOfB, Value(), Value(), {}};
    for (auto [ring, part, row] :
         llvm::zip_equal(stages.b, g.partsOfB, from.rowsOfB))
      loadOperand(op.getB(), ring, part, row, tile, sharers.b,
                  sharers.indexOfB);
    if (stages.scales)
      loadScalesOfB(from.scaleRowOfB, tile);
    return;
  }
  KTile tile{k, from.batchOfA, Value(), Value(), {}};
  for (auto [ring, row] : llvm::zip_equal(stages.a, from.rows))
    loadOperand(op.getA(), ring, g.a, row, tile, sharers.a, frame.place.rankN);
  if (stages.scales)
    for (auto [ring, row] : llvm::zip(stages.scales->a, from.scaleRows))
      loadScales(op.getSfa(), ring, row, tile, sharers.a, frame.place.rankN);
  if (stages.metadata)
    loadMetadata(from.rows.front(), tile);
}

void Producer::emitPrefetch() {
  if (frame.isGrouped() || frame.isMasked() || frame.isGroupedAlongK())
    return;
  // Not the producer, whose first loads need not come behind it.
  b.warps("prefetch", WarpRange{0, 1}, [&] {
    b.onlyIf(ElectOp::create(b), [&] {
      TilePosition tile = source.first();
      findSharers();
      Value kTiles = b.ceilDiv(frame.op.getK(), frame.geometry.tileK);
      LoadedTile from = whereFrom(tile);
      Value begin = kTilesOf(tile, kTiles).first;
      bool isOfA = frame.isSwapped() || frame.isSparse();
      int64_t count = prefetchedStages(isOfA, kTiles);
      isPrefetching = true;
      for (int64_t stage = 0; stage < count; ++stage)
        loadWeights(from, b.add(begin, b.constant(stage)));
      isPrefetching = false;
    });
  });
}

void Producer::walkTiles() {
  Value kTiles = b.ceilDiv(frame.op.getK(), frame.geometry.tileK);
  StagePosition first = stages.first();
  findSharers();
  auto ring = source.forEach(
      first.values(), [&](TilePosition tile, ValueRange carried) {
        return loadTile(tile, StagePosition::of(carried), kTiles).values();
      });
  // What follows uses this CTA's resources, so there is no point in starting it
  // earlier.
  if (frame.schedule.isDependent())
    LaunchDependentsOp::create(b);
  if (frame.isCluster() && !frame.meetsLate())
    drain(StagePosition::of(ring));
}

void Producer::emitRole() {
  b.warps("producer", frame.warps.producer, [&] {
    if (!frame.isGathered())
      return b.onlyIf(ElectOp::create(b), [&] { walkTiles(); });
    Value thread = b.toI32(gpu::ThreadIdOp::create(b, gpu::Dimension::x));
    lane = b.rem(thread, hw::kWarpSize);
    walkTiles();
  });
}
