//===- K96Loop.cpp - the MMAs of K = 96 -----------------------------------===//
//
// Part of the blockscale project, under the Apache License v2.0 with LLVM
// Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

// Eight instructions read three consecutive stages of the ring, wherever in it
// they lie. Each is issued when the stage that it ends in has arrived, and a
// stage is released after the last instruction that reads it, which may be the
// first of the next stage:
//
//   part 0: wait for s,   instructions 0, 1
//   part 1: wait for s+1, instruction 2 (starts in s), release s, then 3, 4
//   part 2: wait for s+2, instruction 5 (starts in s+1), release s+1, then
//           6 and 7, release s+2

#include "K96Loop.h"

using namespace mlir;
using namespace blockscale;

/// Clears the scales past the end of K where an instruction may read them.
void K96Loop::maskEnd(const Group &group, int64_t part, Value slot) {
  if (part + 1 != group.plan.parts() || (!group.valid && !group.plan.fill))
    return;
  Value inStage = group.valid
                      ? b.sub(group.valid, b.constant(part * kK96Stage))
                      : b.constant(group.plan.length - part * kK96Stage);
  maskScales(slot, b.ceilDiv(inStage, frame.mma.getBlock()));
}

void K96Loop::multiplyRun(const Group &group, const KRun &run, Value slot,
                          Value previous) {
  Value accumulate = run.begin == 0 ? group.accumulate : b.always();
  auto range = KRangeAttr::get(b.getContext(), run.part, run.begin, run.end);
  for (auto [i, ringOfB] : llvm::enumerate(stages.b)) {
    Value sums = memory.accumulatorOf(group.tile.copies.front(), i);
    MmaOp::create(b, memory.accumulator, sums, stages.a.front(), ringOfB, slot,
                  previous, scalesOfA(), scalesOfB(i), /*metadata=*/Value(),
                  accumulate, group.valid, shiftOf(group.tile, i),
                  frame.instruction(i).with(&MmaAttr::Fields::k, run.k), range,
                  CollectorBAttr(), ArrayAttr());
  }
}

StagePosition K96Loop::multiplyPart(const Group &group, int64_t part,
                                    StagePosition ring, Value &pending) {
  const TileGeometry &g = frame.geometry;
  awaitStage(ring);
  maskEnd(group, part, ring.scaleSlot());
  b.onlyIf(group.tile.leader, [&] {
    copyScales(group.tile, ring, part * g.scaleWords % g.scaleRegionWords);
    for (const KRun &run : group.plan.runsOf(part)) {
      multiplyRun(group, run, ring.slot, run.crosses ? pending : Value());
      if (run.crosses)
        release(group.tile, pending);
    }
    SmallVector<KRun> following = group.plan.runsOf(part + 1);
    pending = Value();
    if (!following.empty() && following.front().crosses)
      pending = ring.slot;
    else
      release(group.tile, ring.slot);
  });
  return stages.next(ring);
}

StagePosition K96Loop::multiplyGroup(const Group &group, StagePosition ring) {
  Value pending;
  for (int64_t part = 0, e = group.plan.parts(); part < e; ++part)
    ring = multiplyPart(group, part, ring, pending);
  return ring;
}

StagePosition K96Loop::multiplyFrom(const MmaTile &tile, int64_t part,
                                    StagePosition ring, Value rest,
                                    Value accumulate, Value pending) {
  // As if this stage were full; what K does not reach is not executed.
  int64_t end = (part + 1) * kK96Stage;
  KPlan last = planK96(frame.mma, end);
  auto endHere = [&] {
    Value slot = pending;
    return multiplyPart({tile, last, accumulate, rest}, part, ring, slot);
  };
  if (part + 1 == hw::kK96GroupStages)
    return endHere();
  Value ends = b.compare(arith::CmpIPredicate::sle, rest, b.constant(end));
  return b.choose(ends, ring, endHere, [&] {
    Value slot = pending;
    StagePosition next =
        multiplyPart({tile, whole, accumulate, Value()}, part, ring, slot);
    return multiplyFrom(tile, part + 1, next, rest, accumulate, slot);
  });
}

/// What K leaves over after the last whole group.
StagePosition K96Loop::multiplyTail(const MmaTile &tile, StagePosition ring,
                                    Value rest, Value accumulate) {
  std::optional<int64_t> known = b.known(rest);
  if (!known)
    return b.choose(
        b.isNotZero(rest), ring,
        [&] { return multiplyFrom(tile, 0, ring, rest, accumulate, Value()); },
        [&] { return ring; });
  if (*known == 0)
    return ring;
  KPlan plan = planK96(frame.mma, *known);
  return onlyInLastPart(tile, ring, [&] {
    return multiplyGroup({tile, plan, accumulate, Value()}, ring);
  });
}

StagePosition K96Loop::multiplyTile(const MmaTile &tile, StagePosition ring) {
  Value k = frame.op.getK();
  Value groups = b.div(k, kK96Group);
  Value begin = tile.k.begin, end = endOfWhole(tile, groups);
  ring = b.repeat(begin, end, ring, [&](Value index, StagePosition current) {
    Value accumulate = b.compare(arith::CmpIPredicate::ne, index, begin);
    return multiplyGroup({tile, whole, accumulate, Value()}, current);
  });
  Value accumulate = b.compare(arith::CmpIPredicate::ne, groups, begin);
  return multiplyTail(tile, ring, b.rem(k, kK96Group), accumulate);
}
