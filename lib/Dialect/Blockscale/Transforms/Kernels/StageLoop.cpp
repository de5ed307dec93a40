//===- StageLoop.cpp - MMAs that each read one stage ----------------------===//
//
// Part of the blockscale project, under the Apache License v2.0 with LLVM
// Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "StageLoop.h"

using namespace mlir;
using namespace blockscale;

/// The instructions of one stage where two above each other share B: both of a
/// step follow each other, so that the second finds B in the collector.
void StageLoop::multiplySharing(const MmaTile &tile, Value stage,
                                Value accumulate, Value valid) {
  MLIRContext *context = b.getContext();
  int64_t k = frame.mma.getK();
  for (int64_t begin = 0; begin < frame.geometry.tileK; begin += k) {
    auto range = KRangeAttr::get(context, /*part=*/0, begin, begin + k);
    Value onto = begin == 0 ? accumulate : b.always();
    for (auto [i, copy] : llvm::enumerate(tile.copies)) {
      bool isLast = i + 1 == tile.copies.size();
      auto collector = CollectorBAttr::get(context, isLast ? CollectorB::LastUse
                                                           : CollectorB::Fill);
      MmaOp::create(b, memory.accumulator, copy, stages.a[i], stages.b.front(),
                    stage, /*previous=*/Value(), scalesOfA(i), scalesOfB(),
                    /*metadata=*/Value(), onto, valid, tile.shift, frame.mma,
                    range, collector, ArrayAttr());
    }
  }
}

/// The same where each has a B of its own: one instruction, or two beside each
/// other.
void StageLoop::multiplyAlone(const MmaTile &tile, Value stage,
                              Value accumulate, Value valid) {
  Value metadata = memory.metadata.value_or(Value());
  if (metadata)
    CopyMetadataOp::create(b, *stages.metadata, stage, metadata,
                           frame.isPair());
  for (auto [i, ringOfB] : llvm::enumerate(stages.b)) {
    Value sums = memory.accumulatorOf(tile.copies.front(), i);
    MmaOp::create(b, memory.accumulator, sums, stages.a.front(), ringOfB, stage,
                  /*previous=*/Value(), scalesOfA(), scalesOfB(i), metadata,
                  accumulate, valid, shiftOf(tile, i), frame.instruction(i),
                  KRangeAttr(), CollectorBAttr(), ArrayAttr());
  }
}

/// One K tile: wait for its stage, copy scales, multiply, release the stage.
StagePosition StageLoop::multiplyStage(const MmaTile &tile, StagePosition ring,
                                       Value accumulate, Value valid) {
  awaitStage(ring);
  if (valid)
    maskTail(ring.scaleSlot(), valid);
  if (tile.free) {
    b.onlyIf(tile.leader, [&] { copyScales(tile, ring); });
    b.onlyIf(arith::XOrIOp::create(b, accumulate, b.always()),
             [&] { awaitAccumulator(*tile.free); });
  }
  b.onlyIf(tile.leader, [&] {
    if (!tile.free)
      copyScales(tile, ring);
    if (tile.copies.size() > 1)
      multiplySharing(tile, ring.slot, accumulate, valid);
    else
      multiplyAlone(tile, ring.slot, accumulate, valid);
    release(tile, ring.slot);
  });
  return stages.next(ring);
}

/// The K tile that K does not fill, if there is one.
StagePosition StageLoop::multiplyTail(const MmaTile &tile, StagePosition ring,
                                      Value fullTiles) {
  if (frame.hasWhole(frame.geometry.tileK))
    return ring;
  Value rest = b.rem(tile.k.size, frame.geometry.tileK);
  std::optional<int64_t> known = b.known(rest);
  if (known == 0)
    return ring;
  Value accumulate =
      b.compare(arith::CmpIPredicate::ne, fullTiles, tile.k.begin);
  if (known)
    return onlyInLastPart(tile, ring, [&] {
      return multiplyStage(tile, ring, accumulate, rest);
    });
  Value hasTail = b.isNotZero(rest);
  if (tile.k.isLast)
    hasTail = b.createOrFold<arith::AndIOp>(hasTail, tile.k.isLast);
  return b.choose(
      hasTail, ring,
      [&] { return multiplyStage(tile, ring, accumulate, rest); },
      [&] { return ring; });
}

/// The K tiles of a part that lie behind K: zeros, which are the sums of a part
/// that has no others.
StagePosition StageLoop::multiplyBehind(const MmaTile &tile,
                                        StagePosition ring) {
  Value tiles = b.ceilDiv(tile.k.size, frame.geometry.tileK);
  Value begin = b.createOrFold<arith::MaxUIOp>(tile.k.begin, tiles);
  return b.repeat(
      begin, tile.k.end, ring, [&](Value index, StagePosition current) {
        Value accumulate =
            b.compare(arith::CmpIPredicate::ne, index, tile.k.begin);
        return multiplyStage(tile, current, accumulate, Value());
      });
}

StagePosition StageLoop::multiplyTile(const MmaTile &tile, StagePosition ring) {
  Value fullTiles = b.div(tile.k.size, frame.geometry.tileK);
  Value begin = tile.k.begin, end = endOfWhole(tile, fullTiles);
  ring = b.repeat(begin, end, ring, [&](Value index, StagePosition current) {
    Value accumulate = b.compare(arith::CmpIPredicate::ne, index, begin);
    return multiplyStage(tile, current, accumulate, Value());
  });
  ring = multiplyTail(tile, ring, fullTiles);
  return frame.isSplitLate() ? multiplyBehind(tile, ring) : ring;
}
