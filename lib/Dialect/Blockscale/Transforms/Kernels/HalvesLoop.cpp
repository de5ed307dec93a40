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

void HalvesLoop::copyScalesOf(unsigned number, StagePosition ring) {
  Value stage = ring.scaleSlot();
  for (auto [scales, region] : llvm::zip(stages.scales->a, memory.scales->a))
    CopyScalesOp::create(b, scales, stage, region, frame.isPair(), /*word=*/0);
  if (!stages.scales->b.empty())
    CopyScalesOp::create(b, stages.scales->b[number], stage,
                         memory.scales->b[number], frame.isPair(), /*word=*/0);
}

void HalvesLoop::handOverLeft(const MmaTile &tile, const Place &place) {
  if (place.isLast)
    b.onlyIf(arith::AndIOp::create(b, tile.leader, place.isLast),
             [&] { handOver(tile, tile.copies.front()); });
}

void HalvesLoop::awaitRight(const MmaTile &tile, const Place &place) {
  b.onlyIf(place.isFirst, [&] { awaitAccumulator(*tile.free); });
}

StagePosition HalvesLoop::multiplyStage(const MmaTile &tile, StagePosition ring,
                                        const Place &place, Value valid) {
  awaitStage(ring);
  if (valid)
    maskTail(ring.scaleSlot(), valid);
  awaitRight(tile, place);
  Value accumulate = b.createOrFold<arith::XOrIOp>(place.isFirst, b.always());
  b.onlyIf(tile.leader, [&] {
    copyScales(tile, ring);
    multiplyHalf(tile, 0, ring.slot, accumulate, valid);
    if (place.isLast)
      b.onlyIf(place.isLast, [&] { handOver(tile, tile.copies.front()); });
    multiplyHalf(tile, 1, ring.slot, accumulate, valid);
    release(tile, ring.slot);
  });
  return stages.next(ring);
}

StagePosition HalvesLoop::multiplyTogether(const MmaTile &tile,
                                           StagePosition ring,
                                           const Place &place, int64_t count) {
  Value accumulate = b.createOrFold<arith::XOrIOp>(place.isFirst, b.always());
  Value begin = b.constant(0), end = b.constant(count);
  auto accumulates = [&](Value index) -> Value {
    Value isLater = b.compare(arith::CmpIPredicate::ne, index, begin);
    return b.createOrFold<arith::OrIOp>(accumulate, isLater);
  };
  StagePosition first = ring;
  ring = b.repeat(begin, end, ring, [&](Value index, StagePosition current) {
    awaitStage(current);
    b.onlyIf(tile.leader, [&] {
      copyScalesOf(0, current);
      multiplyHalf(tile, 0, current.slot, accumulates(index), Value());
    });
    return stages.next(current);
  });
  handOverLeft(tile, place);
  awaitRight(tile, place);
  b.repeat(begin, end, first, [&](Value index, StagePosition current) {
    b.onlyIf(tile.leader, [&] {
      copyScalesOf(1, current);
      releaseScales(tile, current);
      multiplyHalf(tile, 1, current.slot, accumulates(index), Value());
      release(tile, current.slot);
    });
    return stages.next(current);
  });
  return ring;
}

/// The stage that K does not fill, if there is one.
StagePosition HalvesLoop::multiplyTail(const MmaTile &tile, StagePosition ring,
                                       Value isFirst, Value hasTail,
                                       Value rest) {
  auto multiply = [&] {
    return multiplyStage(tile, ring, {isFirst, b.always()}, rest);
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
  Value never = arith::ConstantOp::create(b, b.getBoolAttr(false));
  Value isLong = b.compare(arith::CmpIPredicate::sge, b.sub(end, begin),
                           b.constant(kFirst + stagesOfEnd()));
  std::optional<int64_t> isKnown = b.known(isLong);
  auto multiplyEnd = [&](const Place &place, int64_t count) {
    auto multiply = [&] { return multiplyTogether(tile, ring, place, count); };
    if (isKnown)
      return *isKnown ? multiply() : ring;
    return b.choose(isLong, ring, multiply, [&] { return ring; });
  };
  ring = multiplyEnd({b.always(), Value()}, kFirst);
  auto skipped = [&](int64_t count) {
    return b.select(isLong, b.constant(count), b.constant(0));
  };
  Value lastOfLoop = b.sub(end, b.constant(1));
  ring = b.repeat(
      b.add(begin, skipped(kFirst)), b.sub(end, skipped(stagesOfEnd())), ring,
      [&](Value index, StagePosition current) {
        Place place{never, Value()};
        if (!isKnown || !*isKnown) {
          place.isFirst = b.compare(arith::CmpIPredicate::eq, index, begin);
          place.isLast = arith::AndIOp::create(
              b, b.compare(arith::CmpIPredicate::eq, index, lastOfLoop),
              hasNone);
        }
        return multiplyStage(tile, current, place, Value());
      });
  ring = multiplyEnd({never, hasNone}, stagesOfEnd());
  Value isFirst = b.compare(arith::CmpIPredicate::eq, whole, begin);
  return multiplyTail(tile, ring, isFirst, hasTail, rest);
}
