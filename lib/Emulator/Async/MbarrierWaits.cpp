//===- MbarrierWaits.cpp - waits on mbarriers, and what they hold ---------===//
//
// Part of the blockscale project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "../Run/Control.h"
#include "../Run/Observer.h"
#include "Mbarriers.h"

#include <utility>

namespace blockscale::emulator::machine {
namespace {

struct WaitRecord : MbarrierRecord {
  Slot done = kNoSlot;   ///< predicate
  Slot phase = kNoSlot;  ///< parity or token
  Slot report = kNoSlot; ///< predicate: something was reported in the phase
  Slot value = kNoSlot;  ///< what was reported
  unsigned valueBytes = 0;
  bool byParity = false;
  bool tries = false;       ///< try_wait
  bool conditional = false; ///< for the phase that ends without a report
};

struct LayoutRecord : MbarrierRecord {
  Slot matches = kNoSlot; ///< predicate
  bool v1 = false;
};

MBarrierTest testLane(Exec &x, const WaitRecord &w, const MBarrier &barrier,
                      unsigned lane) {
  if (!w.byParity)
    return barrier.testToken(x.reg<uint64_t>(w.phase)[lane]);
  uint32_t parity = x.reg<uint32_t>(w.phase)[lane];
  return w.conditional ? barrier.testConditional(parity)
                       : barrier.testParity(parity);
}

/// The barrier of the own CTA that a lane names; null after a report.
MBarrier *ownBarrier(Exec &x, const Record &r, const MbarrierRecord &m,
                     unsigned lane, uint32_t &address, const char *what) {
  Cta *cta = nullptr;
  MBarrier *barrier = barrierOf(x, r, m, lane, cta, address, false);
  if (!barrier || cta == x.cta)
    return barrier;
  x.fault(r, FindingKind::MBarrier,
          std::string(what) + " an mbarrier of another CTA", int(lane), address,
          Hazard::NotOwnBarrier);
  return nullptr;
}

/// Stores what was reported in the phase that is over; in lanes whose phase is
/// not it is undefined.
void storeReports(const Exec &x, const WaitRecord &w, uint32_t done,
                  uint32_t reported) {
  if (w.report != kNoSlot) {
    x.setPredicate(w.report, reported);
    x.setUndefined(w.report, x.mask & ~done);
  }
  if (w.value == kNoSlot)
    return;
  // Copies report a predicate and leave the value as it is, which is 0.
  for (uint32_t left = x.mask; left; left &= left - 1)
    std::memset(x.at(w.value) + __builtin_ctz(left) * w.valueBytes, 0,
                w.valueBytes);
  x.setUndefined(w.value, x.mask & ~done);
}

/// Whether a program keeps the answer and goes on, as pipelines do that look at
/// the next stage while they are busy with one.
bool isLook(const Exec &x) {
  const auto &code = x.cluster->program().code;
  size_t next = size_t(x.group->pc) + 1;
  return next < code.size() && code[next].instruction &&
         code[next].instruction->opcode == Opcode::Selp;
}

/// Where a timeline asks for events, the first look at a phase says no, as
/// try_wait may: the program then waits where it needs the phase, and the
/// timeline learns that place. The emulator's own order, in which the answer
/// may be yes long before it would be, says nothing about it.
bool saysNo(Exec &x, const Record &r, const WaitRecord &w) {
  if (!x.cluster->tellsSteps || !w.tries || !isLook(x))
    return false;
  unsigned lane = x.firstLane();
  Look look{&r, laneShared(x, w.address, lane),
            w.byParity ? x.reg<uint32_t>(w.phase)[lane]
                       : uint32_t(x.reg<uint64_t>(w.phase)[lane] >> 20)};
  return std::exchange(x.warp->look, look) != look;
}

Step wait(Exec &x, const Record &r) {
  const auto &w = r.as<WaitRecord>();
  uint32_t done = 0, reported = 0;
  bool first = false;
  if (saysNo(x, r, w)) {
    x.setPredicate(w.done, 0);
    storeReports(x, w, 0, 0);
    return Step::Next;
  }
  for (uint32_t left = x.mask; left; left &= left - 1) {
    auto lane = unsigned(__builtin_ctz(left));
    uint32_t address = 0;
    MBarrier *barrier = ownBarrier(x, r, w, lane, address, "wait on");
    if (!barrier)
      return Step::Fault;
    MBarrierTest test = testLane(x, w, *barrier, lane);
    if (test.error != MBarrierError::None)
      return x.fault(r, FindingKind::MBarrier, describe(test.error), int(lane),
                     address, hazardOf(test.error, false));
    // A token names its phase.
    uint32_t phase = w.byParity
                         ? x.reg<uint32_t>(w.phase)[lane]
                         : uint32_t(x.reg<uint64_t>(w.phase)[lane] >> 20);
    // A wait for a conditional phase may see any number of others end.
    if (!w.conditional || test.done)
      tell(*x.cluster, MbarrierTested{x,
                                      r,
                                      lane,
                                      address & 0xFFFFFF,
                                      {test.done, w.relaxed, w.scope, phase},
                                      first});
    done |= uint32_t(test.done) << lane;
    reported |= uint32_t(test.done && barrier->lastReport()) << lane;
  }
  // try_wait may return false; the latest order does so once per poll, the
  // others when nothing else can happen.
  bool gives =
      first && x.cluster->grid.options.completion == Completion::Latest;
  gives |= std::exchange(x.group->expired, false);
  if (!done && w.tries && !gives)
    return Step::Block;
  x.setPredicate(w.done, done);
  storeReports(x, w, done, reported);
  if (!done)
    return Step::Yield;
  ++x.cluster->counters.barrierWaits;
  return Step::Next;
}

Step checkLayout(Exec &x, const Record &r) {
  const auto &l = r.as<LayoutRecord>();
  uint32_t matches = 0;
  for (uint32_t left = x.mask; left; left &= left - 1) {
    auto lane = unsigned(__builtin_ctz(left));
    uint32_t address = 0;
    MBarrier *barrier = ownBarrier(x, r, l, lane, address, "check of");
    if (!barrier)
      return Step::Fault;
    if (!barrier->live())
      return x.fault(r, FindingKind::MBarrier,
                     describe(MBarrierError::NotInitialised), int(lane),
                     address, hazardOf(MBarrierError::NotInitialised, false));
    matches |= uint32_t(barrier->reports() == l.v1) << lane;
  }
  x.setPredicate(l.matches, matches);
  return Step::Next;
}

struct PendingCountOp {
  uint32_t operator()(uint64_t token) const {
    return MBarrier::pendingCount(token);
  }
};

/// The predicates of a wait; a second one takes the report.
bool decodePredicates(Decoder &d, const Instruction &in, WaitRecord &w) {
  const Operand &to = in.operands[0];
  bool pair = to.kind == OperandKind::Pair;
  if (pair && !in.has(Modifier::PhasePrimary))
    return d.refuse("a report needs '.phase_type::primary'");
  if (w.conditional && !w.byParity)
    return d.refuse("'.phase_type::conditional' needs '.parity'");
  w.done = d.predicateOut(pair ? to.elements[0] : to);
  if (pair && to.elements[1].kind != OperandKind::Sink)
    w.report = d.predicateOut(to.elements[1]);
  return true;
}

bool decodeWait(Decoder &d, const Instruction &in, Record &r) {
  auto &w = d.record<WaitRecord>(r);
  w.byParity = in.has(Modifier::Parity);
  w.tries = in.opcode == Opcode::MbarrierTryWait;
  w.conditional = in.has(Modifier::PhaseConditional);
  if (!decodePredicates(d, in, w))
    return false;
  size_t next = 1;
  if (in.operands[next].kind != OperandKind::Address) {
    unsigned bits = 0;
    if (in.operands[next].kind != OperandKind::Sink) {
      w.value = d.destinationAny(in.operands[next], bits);
      w.valueBytes = bits / 8;
    }
    ++next;
  }
  decodeCommon(d, in, in.operands[next], w);
  w.phase = d.source(in.operands[next + 1], w.byParity ? 32 : 64);
  r.fn = wait;
  return true;
}

} // namespace

MBarrier *waitedBarrier(Exec &x, const Record &r) {
  if (r.fn != wait)
    return nullptr;
  return barrierAt(*x.cta, waitedOffset(x, r, x.firstLane()), false);
}

uint32_t waitedOffset(const Exec &x, const Record &r, unsigned lane) {
  return laneShared(x, r.as<WaitRecord>().address, lane) & 0xFFFFFF;
}

uint32_t satisfiedLanes(const Exec &x, const Record &r) {
  return x.mask & x.predicate(r.as<WaitRecord>().done);
}

bool decodeMbarrierWait(Decoder &d, const Instruction &in, Record &r) {
  if (in.opcode == Opcode::MbarrierPendingCount) {
    r.fn = map<PendingCountOp, uint32_t, uint64_t>;
    return mixedOperands(d, in, r, 32, {64});
  }
  if (in.opcode != Opcode::MbarrierCheckLayout)
    return decodeWait(d, in, r);
  auto &l = d.record<LayoutRecord>(r);
  l.matches = d.predicateOut(in.operands[0]);
  decodeCommon(d, in, in.operands[1], l);
  l.v1 = in.has(Modifier::LayoutV1);
  r.fn = checkLayout;
  return true;
}

} // namespace blockscale::emulator::machine
