//===- Events.cpp - what happens, as events of the timeline ---------------===//
//
// Part of the blockscale project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Events.h"
#include "../Run/Control.h"
#include "../TensorCore/Tensor.h"

#include <algorithm>

namespace blockscale::emulator::machine {

namespace {

/// What the lanes of `mask` did, removed from the warp. Masks of groups that
/// have split or joined meanwhile go to whoever comes first.
LaneWork takeWork(Warp &warp, uint32_t mask) {
  LaneWork sum;
  for (GroupWork &entry : warp.work) {
    if (!(entry.mask & mask))
      continue;
    const LaneWork &work = entry.polls ? entry.beforePolls : entry.work;
    sum.instructions += work.instructions;
    sum.halfConversions += work.halfConversions;
    sum.narrowConversions += work.narrowConversions;
    sum.globalStoredBytes += work.globalStoredBytes;
    sum.sharedLoadedBytes += work.sharedLoadedBytes;
    sum.sharedStoredBytes += work.sharedStoredBytes;
    sum.globalLoadedBytes += work.globalLoadedBytes;
    sum.knownToL2Bytes += work.knownToL2Bytes;
    sum.knownToL1Bytes += work.knownToL1Bytes;
    if (!sum.firstLoad || (work.firstLoad && work.firstLoad < sum.firstLoad))
      sum.firstLoad = work.firstLoad;
    sum.lastLoad = std::max(sum.lastLoad, work.lastLoad);
    sum.usedLoad = std::max(sum.usedLoad, work.usedLoad);
    entry.mask = 0;
  }
  warp.work.erase(
      std::remove_if(warp.work.begin(), warp.work.end(),
                     [](const GroupWork &entry) { return entry.mask == 0; }),
      warp.work.end());
  return sum;
}

GroupWork &workOf(Exec &x) {
  std::vector<GroupWork> &work = x.warp->work;
  uint32_t mask = x.group->mask ? x.group->mask : x.mask;
  for (GroupWork &entry : work)
    if (entry.mask == mask)
      return entry;
  work.emplace_back();
  work.back().mask = mask;
  return work.back();
}

/// Fills in who and where, and passes the event on.
void emit(Cluster &cluster, const Origin &origin, Event event) {
  event.cta = origin.cta->rank;
  event.warp = uint32_t(origin.warp);
  event.line = origin.line;
  Warp &warp = *origin.cta->warps[event.warp];
  // Effects are immediate, so the group that issued them is the current one.
  uint32_t lanes = warp.groups.empty() ? 0 : warp.groups[warp.current].mask;
  lanes = lanes ? lanes : 1u << std::max(origin.lane, 0);
  event.lanes &= lanes;
  event.before = takeWork(warp, event.lanes);
  cluster.grid.options.event(event);
}

void emit(const Exec &x, const Record &r, Event event) {
  emit(*x.cluster, x.origin(r), std::move(event));
}

Event plainEvent(EventKind kind, uint64_t bytes = 0) {
  Event event;
  event.kind = kind;
  event.bytes = bytes;
  return event;
}

/// An arrival or a wait on a barrier.
Event barrierEvent(EventKind kind, uint32_t address, int64_t phase) {
  Event event = plainEvent(kind);
  event.barrier = address;
  event.phase = phase;
  return event;
}

uint64_t lanesOf(const Exec &x) { return uint64_t(__builtin_popcount(x.mask)); }

/// Bytes that the lanes load or store as `value`.
uint64_t bytesOf(const Exec &x, const Instruction &in, const Operand &value) {
  bool isVector = value.kind == OperandKind::Vector;
  size_t elements = isVector ? value.elements.size() : 1;
  return lanesOf(x) * elements * bitWidth(in.type()) / 8;
}

void countStore(Exec &x, const Instruction &in) {
  Where where = whereOf(in);
  if (where != Where::Global && where != Where::SharedCta)
    return;
  LaneWork &work = workOf(x).work;
  (where == Where::Global ? work.globalStoredBytes : work.sharedStoredBytes) +=
      bytesOf(x, in, in.operands.back());
}

/// Conversions that narrow: `.f16x2` and the like take two values a lane.
void countConversion(Exec &x, const Instruction &in) {
  unsigned to = bitWidth(in.type(0)), from = bitWidth(in.type(1));
  LaneWork &work = workOf(x).work;
  uint64_t values = lanesOf(x) * (in.operands.size() > 2 ? 2 : 1);
  if (from != 32 || in.type(1) != Type::F32)
    return;
  unsigned bits = in.operands.size() > 2 ? to / 2 : to;
  if (bits == 16)
    work.halfConversions += values;
  else if (bits < 16)
    work.narrowConversions += values;
}

/// Calls `visit` with each sector of `bytes` that lanes access from `address`
/// on.
template <typename Visit>
void forSectors(Exec &x, const AddressOperand &address, uint64_t bytes,
                Visit visit) {
  forLanes(x.mask, [&](unsigned lane) {
    uint64_t first = laneAddress(x, address, lane), last = first + bytes - 1;
    for (uint64_t i = first / kSectorBytes; i <= last / kSectorBytes; ++i)
      visit(i);
  });
}

} // namespace

/// A poll that fails is repeated: what the warp does from the first failure on
/// is waiting, not work. A wait that acquires what other SMs wrote empties the
/// L1 cache (docs/hardware.md).
void EventObserver::observeWait(Exec &x, const Record &r, Step step) {
  GroupWork &group = workOf(x);
  if (step == Step::Yield) {
    if (!group.polls)
      group.beforePolls = group.work;
    group.polls = true;
    return;
  }
  // Lanes that diverged and met here may wait for different barriers, and some
  // may have to try again.
  for (uint32_t left = satisfiedLanes(x, r); left;) {
    uint32_t offset = waitedOffset(x, r, unsigned(__builtin_ctz(left))),
             same = 0;
    forLanes(left, [&](unsigned lane) {
      same |= uint32_t(waitedOffset(x, r, lane) == offset) << lane;
    });
    left &= ~same;
    const MBarrier *barrier = barrierAt(*x.cta, offset, false);
    if (!barrier)
      continue;
    Event event =
        barrierEvent(EventKind::Wait, offset | x.cta->rank << kRankShift,
                     int64_t(barrier->phase()) - 1);
    event.lanes = same;
    emit(*x.cluster, x.origin(r), event);
    const Instruction &in = *r.instruction;
    if (in.has(Modifier::Acquire) && in.has(Modifier::Cluster))
      recent[x.cta->rank].clear();
  }
}

void EventObserver::countLoad(Exec &x, const Record &r) {
  const Instruction &in = *r.instruction;
  Where where = whereOf(in);
  if (where == Where::SharedCta)
    workOf(x).work.sharedLoadedBytes += bytesOf(x, in, in.operands.front());
  if (where != Where::Global)
    return;
  const auto &load = r.as<LoadStoreRecord>();
  LoadsUnderWay &loads = underWay[x.warp];
  LaneWork &work = workOf(x).work;
  work.lastLoad = loads.begin();
  if (!work.firstLoad)
    work.firstLoad = work.lastLoad;
  for (Slot slot : load.data)
    if (slot != kNoSlot)
      loads.set(slot, x.mask, work.lastLoad);
  countSectors(x, load);
}

void EventObserver::countSectors(Exec &x, const LoadStoreRecord &load) {
  LaneWork &work = workOf(x).work;
  RecentSectors &inL1 = recent[x.cta->rank];
  std::unordered_set<uint64_t> asked;
  forSectors(x, load.address, std::max(1u, load.bytes()), [&](uint64_t sector) {
    if (!asked.insert(sector).second)
      return;
    bool isNewToL1 = inL1.add(sector), isNewToL2 = inL2.insert(sector).second;
    (isNewToL2   ? work.globalLoadedBytes
     : isNewToL1 ? work.knownToL2Bytes
                 : work.knownToL1Bytes) += kSectorBytes;
  });
}

void EventObserver::countPrefetch(Exec &x, const Record &r) {
  const Instruction &in = *r.instruction;
  if (in.has(Modifier::L1) && whereOf(in) == Where::Global)
    forSectors(x, r.as<PrefetchRecord>().address, 1,
               [&](uint64_t sector) { inL2.insert(sector); });
}

/// Registers beside each other become a pair, and the other way round, without
/// an instruction.
static void passOn(const Flow &flow, uint32_t lanes, LoadsUnderWay &loads) {
  uint32_t last = 0;
  for (Slot slot : flow.sources)
    last = std::max(last, loads.of(slot, lanes));
  for (Slot slot : flow.destinations)
    loads.set(slot, lanes, last);
}

void LoadsUnderWay::set(Slot slot, uint32_t lanes, uint32_t load) {
  for (Result &result : results)
    if (result.slot == slot)
      result.lanes &= ~lanes;
  finish(0, 0);
  if (load)
    results.push_back({slot, lanes, load});
}

uint32_t LoadsUnderWay::of(Slot slot, uint32_t lanes) const {
  uint32_t last = 0;
  for (const Result &result : results)
    if (result.slot == slot && result.lanes & lanes)
      last = std::max(last, result.load);
  return last;
}

void LoadsUnderWay::finish(uint32_t lanes, uint32_t last) {
  for (Result &result : results)
    if (result.load <= last)
      result.lanes &= ~lanes;
  results.erase(
      std::remove_if(results.begin(), results.end(),
                     [](const Result &result) { return result.lanes == 0; }),
      results.end());
}

void EventObserver::countUses(Exec &x, const Record &r) {
  auto found = underWay.find(x.warp);
  if (found == underWay.end() || found->second.empty())
    return;
  LoadsUnderWay &loads = found->second;
  const Program &program = x.cluster->program();
  const Flow &flow = program.flows[size_t(&r - program.code.data())];
  if (flow.path == Flow::Path::Pack || flow.path == Flow::Path::Unpack)
    return passOn(flow, x.mask, loads);
  uint32_t used = 0;
  for (const std::vector<Slot> *slots :
       {&flow.sources, &flow.data, &flow.destinations})
    for (Slot slot : *slots)
      used = std::max(used, loads.of(slot, x.mask));
  if (!used)
    return;
  LaneWork &work = workOf(x).work;
  work.usedLoad = std::max(work.usedLoad, used);
  loads.finish(x.mask, used);
}

void EventObserver::on(const Executed &h) {
  Exec &x = h.x;
  const Record &r = h.r;
  ++workOf(x).work.instructions;
  const Instruction *in = r.instruction;
  if (!in || !x.mask)
    return;
  countUses(x, r);
  switch (in->opcode) {
  case Opcode::MbarrierTryWait:
  case Opcode::MbarrierTestWait:
    return observeWait(x, r, h.step);
  case Opcode::St:
    return countStore(x, *in);
  case Opcode::Ld:
    return countLoad(x, r);
  case Opcode::Prefetch:
    return countPrefetch(x, r);
  case Opcode::Cvt:
    return countConversion(x, *in);
  case Opcode::Tcgen05Ld:
    return emit(x, r, plainEvent(EventKind::TensorLoad, fragmentBytes(r)));
  case Opcode::Tcgen05St:
    return emit(x, r, plainEvent(EventKind::TensorStore, fragmentBytes(r)));
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

void EventObserver::on(const BarrierArrived &h) {
  emit(h.x, h.r,
       barrierEvent(EventKind::BarrierArrive, h.number, int64_t(h.phase)));
}

void EventObserver::on(const BarrierPassed &h) {
  emit(h.x, h.r,
       barrierEvent(EventKind::BarrierWait, h.number, int64_t(h.phase)));
}

void EventObserver::on(const MbarrierUpdated &h) {
  if (h.arrives())
    emit(h.x, h.r, barrierEvent(EventKind::Arrive, h.address, h.phase));
}

void EventObserver::on(const AsyncArrived &h) {
  if (h.result)
    emit(h.cluster, h.origin,
         barrierEvent(EventKind::AsyncArrive, h.address, h.phase));
}

void EventObserver::on(const AsyncCompleted &h) {
  emit(h.cluster, h.origin,
       barrierEvent(EventKind::AsyncArrive, h.address, h.phase));
}

void EventObserver::on(const CopyDone &h) {
  Event event = plainEvent(h.kind, h.bytes);
  event.target = h.target;
  emit(h.cluster, h.origin, event);
}

void EventObserver::on(const CancelAsked &h) {
  emit(h.cluster, h.origin, plainEvent(EventKind::Cancel));
}

void EventObserver::on(const WarpMmaDone &h) {
  Event event = plainEvent(EventKind::WarpMma);
  event.mma = h.kind;
  event.sparse = h.sparse;
  event.m = 16;
  event.n = 8;
  event.k = h.k;
  emit(h.x, h.r, event);
}

void EventObserver::on(const MmaDone &h) {
  const InstructionDescriptor &idesc = h.result.idesc;
  Event event = plainEvent(EventKind::Mma);
  event.mma = h.request.form.kind;
  event.sparse = h.request.form.sparse;
  event.aInTensorMemory = h.request.aInTensorMemory;
  event.ctaGroup = h.request.form.ctaGroup;
  event.m = idesc.m;
  event.n = idesc.n;
  event.k = idesc.k;
  emit(h.cluster, h.origin, event);
}

void EventObserver::on(const TensorCopyDone &h) {
  Event event = plainEvent(EventKind::TensorCopy, h.bytes);
  event.ctaGroup = h.group;
  emit(h.cluster, h.origin, event);
}

void EventObserver::on(const CommitBegun &h) {
  Event event = plainEvent(EventKind::Commit);
  event.ctaGroup = h.group;
  emit(h.cluster, h.origin, event);
}

} // namespace blockscale::emulator::machine
