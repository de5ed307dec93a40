//===- HalvesLoop.cpp - MMAs of a tile in halves --------------------------===//
//
// Part of the blockscale project, under the Apache License v2.0 with LLVM
// Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "HalvesLoop.h"

#include <algorithm>

using namespace mlir;
using namespace blockscale;

/// Stages of which one half follows the other where a tile begins: the right
/// half of its sums waits for the left one of the tile before.
static constexpr int64_t kFirst = 2;

/// Where it ends, so that half of D is stored while the rest is multiplied.
/// Two stages of the ring are left to load the next tile meanwhile.
int64_t HalvesLoop::stagesOfEnd() const {
  constexpr int64_t kLeast = 2, kMost = 4, kLeft = 2;
  const TileGeometry &g = frame.geometry;
  return std::clamp(g.stages - kLeft, kLeast, std::min(kMost, g.scaleStages));
}

void HalvesLoop::multiplyHalf(const MmaTile &tile, unsigned number, Value stage,
                              Value accumulate, Value valid) {
  MmaOp::create(b, memory.accumulator, tile.copies[number], stages.a.front(),
                stages.b[number], stage, /*previous=*/Value(), scalesOfA(),
                scalesOfB(number), /*metadata=*/Value(), accumulate, valid,
                shiftOf(tile, number), frame.mma, KRangeAttr(),
                CollectorBAttr(), ArrayAttr());
}

void HalvesLoop::copyScalesOfA(StagePosition ring) {
  for (auto [scales, region] : llvm::zip(stages.scales->a, memory.scales->a))
    CopyScalesOp::create(b, scales, ring.scaleSlot(), region, frame.isPair(),
                         /*word=*/0);
}

void HalvesLoop::copyScalesOfB(unsigned number, StagePosition ring) {
  if (!stages.scales->b.empty())
    CopyScalesOp::create(b, stages.scales->b[number], ring.scaleSlot(),
                         memory.scales->b[number], frame.isPair(), /*word=*/0);
}

void HalvesLoop::multiplyLeft(const MmaTile &tile, StagePosition ring,
                              Value accumulate, Value valid) {
  awaitStage(ring);
  if (valid)
    maskTail(ring.scaleSlot(), valid);
  b.onlyIf(tile.leader, [&] {
    copyScalesOfA(ring);
    copyScalesOfB(0, ring);
    multiplyHalf(tile, 0, ring.slot, accumulate, valid);
  });
}

void HalvesLoop::multiplyRight(const MmaTile &tile, StagePosition ring,
                               const Group &group, Value accumulate) {
  b.onlyIf(tile.leader, [&] {
    // The left half of another stage has overwritten them.
    Value isOverwritten =
        b.compare(arith::CmpIPredicate::ne, group.count, b.constant(1));
    b.onlyIf(isOverwritten, [&] { copyScalesOfA(ring); });
    copyScalesOfB(1, ring);
    releaseScales(tile, ring);
    multiplyHalf(tile, 1, ring.slot, accumulate, group.valid);
    release(tile, ring.slot);
  });
}

StagePosition HalvesLoop::multiplyGroup(const MmaTile &tile, StagePosition ring,
                                        const Group &group) {
  Value accumulate = b.createOrFold<arith::XOrIOp>(group.isFirst, b.always());
  auto accumulates = [&](Value index) -> Value {
    return b.createOrFold<arith::OrIOp>(accumulate, b.isNotZero(index));
  };
  StagePosition first = ring;
  ring = b.repeat(group.count, ring, [&](Value index, StagePosition current) {
    multiplyLeft(tile, current, accumulates(index), group.valid);
    return stages.next(current);
  });
  b.onlyIf(arith::AndIOp::create(b, tile.leader, group.isLast),
           [&] { handOver(tile, tile.copies.front()); });
  b.onlyIf(group.isFirst, [&] { awaitAccumulator(*tile.free); });
  b.repeat(group.count, first, [&](Value index, StagePosition current) {
    multiplyRight(tile, current, group, accumulates(index));
    return stages.next(current);
  });
  return ring;
}

/// The stage that K does not fill, if there is one.
StagePosition HalvesLoop::multiplyTail(const MmaTile &tile, StagePosition ring,
                                       Value isFirst, Value hasTail,
                                       Value rest) {
  auto multiply = [&] {
    return multiplyGroup(tile, ring,
                         {isFirst, b.always(), b.constant(1), rest});
  };
  std::optional<int64_t> known = b.known(hasTail);
  if (known)
    return *known ? multiply() : ring;
  return b.choose(hasTail, ring, multiply, [&] { return ring; });
}

StagePosition HalvesLoop::multiplyTile(const MmaTile &tile,
                                       StagePosition ring) {
  Value whole = b.div(tile.k.size, frame.geometry.tileK);
  Value rest = b.rem(tile.k.size, frame.geometry.tileK);
  Value begin = tile.k.begin, end = endOfWhole(tile, whole);
  Value hasTail = b.isNotZero(rest);
  if (tile.k.isLast && b.known(hasTail) != 0)
    hasTail = b.createOrFold<arith::AndIOp>(hasTail, tile.k.isLast);
  Value hasNone = b.createOrFold<arith::XOrIOp>(hasTail, b.always());
  Value count = b.sub(end, begin), one = b.constant(1);
  Value isLong = b.compare(arith::CmpIPredicate::sge, count,
                           b.constant(kFirst + stagesOfEnd()));
  auto ofLong = [&](int64_t stages) {
    return b.select(isLong, b.constant(stages), one);
  };
  Value ofFirst = ofLong(kFirst), ofLast = ofLong(stagesOfEnd());
  // The first and the last group have one stage each in `groups`.
  Value groups = b.sub(b.add(count, b.constant(2)), b.add(ofFirst, ofLast));
  Value lastGroup = b.sub(groups, one);
  ring = b.repeat(groups, ring, [&](Value index, StagePosition current) {
    Value isFirst = b.isEqual(index, 0);
    Value isLast = b.compare(arith::CmpIPredicate::eq, index, lastGroup);
    Value stages = b.select(isFirst, ofFirst, b.select(isLast, ofLast, one));
    Value endsTile = b.createOrFold<arith::AndIOp>(isLast, hasNone);
    return multiplyGroup(tile, current, {isFirst, endsTile, stages, Value()});
  });
  Value isFirst = b.compare(arith::CmpIPredicate::eq, whole, begin);
  return multiplyTail(tile, ring, isFirst, hasTail, rest);
}
