//===- K96Loop.cpp - the MMAs of K = 96 -----------------------------------===//
//
// Part of the blockscale project, under the Apache License v2.0 with LLVM
// Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

// Eight instructions read three consecutive stages of the ring, wherever in it
// they lie. Each is issued when the stage that it ends in has arrived, and a
// stage is released behind the last instruction that reads it, which may be the
// first of the next stage:
//
//   part 0: wait for s,   instructions 0, 1
//   part 1: wait for s+1, instruction 2 (starts in s), release s, then 3, 4
//   part 2: wait for s+2, instruction 5 (starts in s+1), release s+1, then
//           6 and 7, release s+2

#include "K96Plan.h"
#include "KernelBuilder.h"
#include "blockscale/HW/ScaleLayout.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/IR/Matchers.h"

using namespace mlir;
using namespace blockscale;

namespace {
class K96Loop {
public:
  K96Loop(KernelBuilder &t, const MmaTile &tile)
      : t(t), b(t.b), tile(tile), whole(planK96(t.op.getMma(), kK96Group)) {}

  RingPosition multiplyTile(RingPosition ring);

private:
  /// What the instructions of a plan have in common.
  struct Group {
    const KPlan &plan;
    /// Whether the first one adds to the accumulator.
    Value accumulate;
    /// Elements of K in the group, where that is not known before launch.
    Value valid;
  };

  /// One stage of a group; returns the next position. `pending` is the slot
  /// of the stage before, if this one's first instruction starts in it, and
  /// becomes this one's likewise.
  RingPosition multiplyPart(const Group &group, int64_t part, RingPosition ring,
                            Value &pending);
  void multiplyRun(const Group &group, const KRun &run, Value slot,
                   Value previous);
  RingPosition multiplyGroup(const Group &group, RingPosition ring);
  RingPosition multiplyTail(RingPosition ring, Value rest, Value accumulate);
  /// The stages from number `part` on of a tail of `rest` elements.
  RingPosition multiplyFrom(int64_t part, RingPosition ring, Value rest,
                            Value accumulate, Value pending);
  RingPosition select(Value condition, function_ref<RingPosition()> then,
                      function_ref<RingPosition()> otherwise);
  void maskEnd(const Group &group, int64_t part, Value slot);

  KernelBuilder &t;
  ImplicitLocOpBuilder &b;
  const MmaTile &tile;
  KPlan whole;
};
} // namespace

/// `mma` with another K.
static MmaAttr withK(MmaAttr mma, int64_t k) {
  return MmaAttr::get(mma.getContext(), mma.getKind(), mma.getA(), mma.getB(),
                      mma.getScale(), mma.getBlock(), mma.getM(), mma.getN(), k,
                      mma.getAMnMajor(), mma.getBMnMajor(), mma.getCtaGroup(),
                      mma.getSparse());
}

/// Clears the scales behind the end of K where an instruction may read them.
void K96Loop::maskEnd(const Group &group, int64_t part, Value slot) {
  if (part + 1 != group.plan.parts() || (!group.valid && !group.plan.fill))
    return;
  Value inStage = group.valid
                      ? t.sub(group.valid, t.constant(part * kK96Stage))
                      : t.constant(group.plan.length - part * kK96Stage);
  Value scales = b.createOrFold<arith::DivUIOp>(
      inStage, t.constant(t.op.getMma().getBlock()));
  blockscale::maskScales(t, slot, scales);
}

void K96Loop::multiplyRun(const Group &group, const KRun &run, Value slot,
                          Value previous) {
  bool first = run.begin == 0;
  Value accumulate =
      first ? group.accumulate
            : Value(arith::ConstantIntOp::create(b, b.getI1Type(), 1));
  auto range = KRangeAttr::get(b.getContext(), run.part, run.begin, run.end);
  MmaOp::create(b, t.accumulator, tile.copy, t.sharedA, t.sharedB, slot,
                previous, t.sfa, t.sfb, /*metadata=*/Value(), accumulate,
                group.valid, tile.shift, withK(t.op.getMma(), run.k), range,
                ArrayAttr());
}

RingPosition K96Loop::multiplyPart(const Group &group, int64_t part,
                                   RingPosition ring, Value &pending) {
  WaitOp::create(b, t.full, ring.slot, ring.parity);
  TensorFenceOp::create(b, FenceSide::After);
  maskEnd(group, part, ring.slot);
  auto onlyLeader = scf::IfOp::create(b, tile.leader);
  {
    OpBuilder::InsertionGuard guard(b);
    b.setInsertionPointToStart(onlyLeader.thenBlock());
    int64_t word = part * t.geometry.scaleWords % t.geometry.scaleRegionWords;
    auto release = [&](Value slot) {
      CommitOp::create(b, t.empty, slot, tile.feeders, t.isPair());
    };
    CopyScalesOp::create(b, t.sharedSfa, ring.slot, t.sfa, t.isPair(), word);
    CopyScalesOp::create(b, t.sharedSfb, ring.slot, t.sfb, t.isPair(), word);
    for (const KRun &run : group.plan.runsOf(part)) {
      multiplyRun(group, run, ring.slot, run.crosses ? pending : Value());
      if (run.crosses)
        release(pending);
    }
    SmallVector<KRun> following = group.plan.runsOf(part + 1);
    pending = Value();
    if (!following.empty() && following.front().crosses)
      pending = ring.slot;
    else
      release(ring.slot);
  }
  return t.next(ring, t.geometry.stages);
}

RingPosition K96Loop::multiplyGroup(const Group &group, RingPosition ring) {
  Value pending;
  for (int64_t part = 0, e = group.plan.parts(); part < e; ++part)
    ring = multiplyPart(group, part, ring, pending);
  return ring;
}

RingPosition K96Loop::select(Value condition, function_ref<RingPosition()> then,
                             function_ref<RingPosition()> otherwise) {
  Type i32 = b.getI32Type();
  auto branch = scf::IfOp::create(b, TypeRange{i32, i32}, condition,
                                  /*withElseRegion=*/true);
  OpBuilder::InsertionGuard guard(b);
  auto fill = [&](Block *block, function_ref<RingPosition()> body) {
    b.setInsertionPointToStart(block);
    RingPosition ring = body();
    scf::YieldOp::create(b, ValueRange{ring.slot, ring.parity});
  };
  fill(branch.thenBlock(), then);
  fill(branch.elseBlock(), otherwise);
  return {branch.getResult(0), branch.getResult(1)};
}

RingPosition K96Loop::multiplyFrom(int64_t part, RingPosition ring, Value rest,
                                   Value accumulate, Value pending) {
  // As if this stage were full; what K does not reach is not executed.
  int64_t end = (part + 1) * kK96Stage;
  KPlan last = planK96(t.op.getMma(), end);
  auto endHere = [&] {
    Value slot = pending;
    return multiplyPart({last, accumulate, rest}, part, ring, slot);
  };
  if (part + 1 == hw::kK96GroupStages)
    return endHere();
  Value ends = b.createOrFold<arith::CmpIOp>(arith::CmpIPredicate::sle, rest,
                                             t.constant(end));
  return select(ends, endHere, [&] {
    Value slot = pending;
    RingPosition next =
        multiplyPart({whole, accumulate, Value()}, part, ring, slot);
    return multiplyFrom(part + 1, next, rest, accumulate, slot);
  });
}

/// What K leaves over behind the last whole group.
RingPosition K96Loop::multiplyTail(RingPosition ring, Value rest,
                                   Value accumulate) {
  APInt known;
  if (!matchPattern(rest, m_ConstantInt(&known))) {
    Value hasRest = b.createOrFold<arith::CmpIOp>(arith::CmpIPredicate::ne,
                                                  rest, t.constant(0));
    return select(
        hasRest,
        [&] { return multiplyFrom(0, ring, rest, accumulate, Value()); },
        [&] { return ring; });
  }
  if (known.isZero())
    return ring;
  KPlan plan = planK96(t.op.getMma(), known.getSExtValue());
  return multiplyGroup({plan, accumulate, Value()}, ring);
}

RingPosition K96Loop::multiplyTile(RingPosition ring) {
  Value zero = t.constant(0), group = t.constant(kK96Group);
  Value groups = b.createOrFold<arith::DivUIOp>(t.op.getK(), group);
  auto loop = scf::ForOp::create(b, zero, groups, t.constant(1),
                                 ValueRange{ring.slot, ring.parity});
  {
    OpBuilder::InsertionGuard guard(b);
    b.setInsertionPointToStart(loop.getBody());
    RingPosition current{loop.getRegionIterArg(0), loop.getRegionIterArg(1)};
    Value accumulate = arith::CmpIOp::create(b, arith::CmpIPredicate::ne,
                                             loop.getInductionVar(), zero);
    current = multiplyGroup({whole, accumulate, Value()}, current);
    scf::YieldOp::create(b, ValueRange{current.slot, current.parity});
  }
  Value accumulate =
      b.createOrFold<arith::CmpIOp>(arith::CmpIPredicate::ne, groups, zero);
  Value rest = b.createOrFold<arith::RemUIOp>(t.op.getK(), group);
  return multiplyTail({loop.getResult(0), loop.getResult(1)}, rest, accumulate);
}

RingPosition blockscale::multiplyK96Tile(KernelBuilder &t, const MmaTile &tile,
                                         RingPosition ring) {
  return K96Loop(t, tile).multiplyTile(ring);
}
