//===- Events.cpp - tell the observer what happened -----------------------===//
//
// Part of the blockscale project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Events.h"
#include "Access.h"
#include "Control.h"

namespace blockscale::emulator::machine {

void emit(Cluster &cluster, const Origin &origin, Event event) {
  event.cta = origin.cta->rank;
  event.warp = uint32_t(origin.warp);
  event.line = origin.line;
  Warp &warp = *origin.cta->warps[event.warp];
  event.before = warp.work;
  warp.work = {};
  cluster.grid.options.event(event);
}

void emit(const Exec &x, const Record &r, Event event) {
  emit(*x.cluster, x.origin(r), std::move(event));
}

Event barrierEvent(EventKind kind, uint32_t address, int64_t phase) {
  Event event;
  event.kind = kind;
  event.barrier = address;
  event.phase = phase;
  return event;
}

namespace {

Event plainEvent(EventKind kind, uint64_t bytes = 0) {
  Event event;
  event.kind = kind;
  event.bytes = bytes;
  return event;
}

uint64_t lanesOf(const Exec &x) { return uint64_t(__builtin_popcount(x.mask)); }

void countStore(Exec &x, const Record &r) {
  const Instruction &in = *r.instruction;
  const Operand &value = in.operands.back();
  bool isVector = value.kind == OperandKind::Vector;
  size_t elements = isVector ? value.elements.size() : 1;
  if (whereOf(in) == Where::Global)
    x.warp->work.globalStoredBytes +=
        lanesOf(x) * elements * bitWidth(in.type()) / 8;
}

/// Conversions that narrow: `.f16x2` and the like take two values a lane.
void countConversion(Exec &x, const Instruction &in) {
  unsigned to = bitWidth(in.type(0)), from = bitWidth(in.type(1));
  WarpWork &work = x.warp->work;
  uint64_t values = lanesOf(x) * (in.operands.size() > 2 ? 2 : 1);
  if (from != 32 || in.type(1) != Type::F32)
    return;
  unsigned bits = in.operands.size() > 2 ? to / 2 : to;
  if (bits == 16)
    work.halfConversions += values;
  else if (bits < 16)
    work.narrowConversions += values;
}

/// A poll that fails is repeated: what the warp does from the first failure on
/// is waiting, not work.
void observeWait(Exec &x, const Record &r, Step step) {
  Warp &warp = *x.warp;
  if (step == Step::Yield) {
    if (!warp.polls)
      warp.workBeforePolls = warp.work;
    warp.polls = true;
    return;
  }
  if (warp.polls)
    warp.work = warp.workBeforePolls;
  warp.polls = false;
  uint32_t address = pushedShared(x, *r.detail, 0, x.firstLane());
  const MBarrier *barrier = waitedBarrier(x, r);
  if (barrier)
    emit(x, r,
         barrierEvent(EventKind::Wait,
                      (address & 0xFFFFFF) | x.cta->rank << kRankShift,
                      int64_t(barrier->phase()) - 1));
}

} // namespace

void observe(Exec &x, const Record &r, Step step) {
  ++x.warp->work.instructions;
  const Instruction *in = r.instruction;
  if (!in || !x.mask)
    return;
  switch (in->opcode) {
  case Opcode::MbarrierTryWait:
  case Opcode::MbarrierTestWait:
    return observeWait(x, r, step);
  case Opcode::St:
    return countStore(x, r);
  case Opcode::Cvt:
    return countConversion(x, *in);
  case Opcode::Tcgen05Ld:
    return emit(x, r,
                plainEvent(EventKind::TensorLoad, r.detail->a.size() * 128));
  case Opcode::Tcgen05St:
    return emit(x, r,
                plainEvent(EventKind::TensorStore, r.detail->a.size() * 128));
  case Opcode::Tcgen05WaitLd:
  case Opcode::Tcgen05WaitSt:
    return emit(x, r, plainEvent(EventKind::TensorWait));
  case Opcode::Tcgen05Alloc:
    return emit(x, r, plainEvent(EventKind::TensorAlloc));
  case Opcode::CpAsyncBulkWaitGroup: {
    Event event = plainEvent(EventKind::StoreWait);
    event.readOnly = in->has(Modifier::Read);
    return emit(x, r, event);
  }
  case Opcode::Ret:
  case Opcode::Exit:
    if (!x.warp->live)
      emit(x, r, plainEvent(EventKind::Exit));
    return;
  default:
    return;
  }
}

} // namespace blockscale::emulator::machine
