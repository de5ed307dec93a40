//===- StrictObserver.cpp - what happens, as edges and checks -------------===//
//
// Part of the blockscale project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "StrictObserver.h"

#include "blockscale/Emulator/Events.h"

#include <algorithm>

namespace blockscale::emulator::machine {

//===----------------------------------------------------------------------===//
// Threads
//===----------------------------------------------------------------------===//

/// The first instruction that uses a register of a tcgen05.ld waits until the
/// load is complete.
void StrictObserver::on(const RegistersUsed &h) {
  checkWarpgroup(h);
  std::vector<WarpOrder::Load> &loads = h.x.warp->order->loads;
  auto uses = [&](const WarpOrder::Load &load) {
    auto loaded = [&](Slot slot) {
      return std::find(load.registers.begin(), load.registers.end(), slot) !=
             load.registers.end();
    };
    const Flow &flow = h.flow;
    return std::any_of(flow.sources.begin(), flow.sources.end(), loaded) ||
           std::any_of(flow.data.begin(), flow.data.end(), loaded);
  };
  auto last = std::find_if(loads.rbegin(), loads.rend(), uses);
  if (last == loads.rend())
    return;
  order.observe(*h.x.warp, last->stamp);
  loads.erase(loads.begin(), last.base());
  h.x.warp->loading = !loads.empty() || h.x.warp->order->warpgroup;
}

void StrictObserver::on(const CtaExited &h) { order.checkExit(h.cta); }

void StrictObserver::on(const BarrierArrived &h) {
  Clock &passing = h.number == kClusterBarrier
                       ? h.x.cluster->passing
                       : h.x.cta->named[h.number].passing;
  order.release(*h.x.warp, passing, h.relaxed);
}

void StrictObserver::on(const BarrierPassed &h) {
  Clock *passed = h.number == kClusterBarrier ? h.x.cluster->passed
                                              : h.x.cta->named[h.number].passed;
  order.acquire(*h.x.warp, passed[h.phase & 1]);
  if (h.number == kClusterBarrier)
    acquireExits(h);
}

/// A thread that exits without having arrived releases the barrier (PTX ISA,
/// exit): what its warp did comes before what follows the wait. A warp that had
/// arrived in this phase, or in a later one by now, may have done more since,
/// which nothing orders.
void StrictObserver::acquireExits(const BarrierPassed &h) {
  for (const auto &cta : h.x.cluster->ctas)
    for (const auto &warp : cta->warps) {
      if (warp->live)
        continue;
      uint64_t last = *std::max_element(std::begin(warp->clusterPhase),
                                        std::end(warp->clusterPhase));
      if (last < h.phase)
        order.acquire(*h.x.warp, warp->order->clock);
    }
}

void StrictObserver::on(const LanesMet &h) {
  order.meetLanes(*h.x.warp, h.lanes);
}

void StrictObserver::on(const Fenced &h) {
  Warp &warp = *h.x.warp;
  switch (h.kind) {
  case Fenced::Memory:
    return order.fence(warp, h.scope);
  case Fenced::BarrierInit:
    return order.fenceBarrierInit(warp);
  case Fenced::ProxyAsync:
    return order.fenceProxyAsync(warp, h.shared, h.global);
  case Fenced::MapRelease:
    return order.fenceTensorMap(warp, true, false, 0);
  case Fenced::MapAcquire:
    return order.fenceTensorMap(warp, false, true, h.address);
  case Fenced::PreviousGrids:
    return order.observe(warp, {kPreviousGrids, 1});
  case Fenced::TensorAfter:
    return warp.order->clock.promote(View::TensorFenced);
  case Fenced::TensorBefore:
    if (h.x.cluster->grid.options.advice)
      tensor.fenceBefore(warp);
    return;
  }
}

//===----------------------------------------------------------------------===//
// Memory
//===----------------------------------------------------------------------===//

void StrictObserver::on(const SharedTouched &h) {
  order.touchShared(h.warp, h.cta, h.ranges, h.count, h.touch);
}

void StrictObserver::on(const GlobalTouched &h) {
  order.touchGlobal(h.warp, h.ranges, h.count, h.touch);
}

void StrictObserver::on(const Synchronised &h) {
  order.synchronise(h.warp, h.cta, h.address, h.sync);
}

void StrictObserver::on(const MapUsed &h) {
  order.useTensorMap(h.x.origin(h.r, int(h.lane)), *h.x.warp, h.address);
}

//===----------------------------------------------------------------------===//
// mbarriers
//===----------------------------------------------------------------------===//

BarrierOrder &StrictObserver::barrierAt(const Cluster &cluster,
                                        uint32_t address) {
  return order.barrier(*cluster.ctas[address >> kRankShift],
                       address & 0xFFFFFF);
}

void StrictObserver::on(const MbarrierUpdated &h) {
  if (h.isFirst)
    released = completed = nullptr;
  Cluster &cluster = *h.x.cluster;
  Warp &warp = *h.x.warp;
  BarrierOrder &barrier = barrierAt(cluster, h.address);
  Origin origin = h.x.origin(h.r, int(h.lane));
  if (h.verb == MbarrierVerb::Init)
    order.initialised(warp, barrier, h.r.line);
  else
    order.use(origin, warp, barrier);
  bool arrives = h.arrives(), completes = h.verb == MbarrierVerb::Complete;
  if (arrives)
    order.arrived(barrier, origin, h.bytes);
  else if (h.verb == MbarrierVerb::Expect)
    barrier.visit(BarrierVisit::Expectation, origin, h.bytes);
  else if (completes)
    barrier.visit(BarrierVisit::Copy, origin, h.bytes);
  if (completes || (arrives && h.relaxed))
    order.passFenced(warp, barrier, h.scope);
  if (arrives && released != &barrier) {
    order.release(warp, barrier.pending, h.relaxed);
    released = &barrier;
  }
  uint32_t offset = h.address & 0xFFFFFF;
  if (arrives && &h.cta != h.x.cta && h.scope == Scope::Cta)
    reportHazard(cluster, origin, Hazard::ArrivalScope, FindingKind::MBarrier,
                 "arrival on an mbarrier of rank " +
                     std::to_string(h.cta.rank) + " with scope .cta",
                 offset);
  if (!h.result.completed)
    return;
  order.complete(barrier);
  if (completed == &barrier)
    reportHazard(
        cluster, origin, Hazard::TooManyArrivals, FindingKind::MBarrier,
        "lanes of one warp complete several phases of the mbarrier", offset);
  completed = &barrier;
}

void StrictObserver::on(const MbarrierTested &h) {
  BarrierOrder &barrier = order.barrier(*h.x.cta, h.offset);
  Origin origin = h.x.origin(h.r, int(h.lane));
  order.use(origin, *h.x.warp, barrier);
  if (order.tested(origin, *h.x.warp, barrier, h.test))
    h.beginsPoll = true;
}

void StrictObserver::on(const AsyncArrived &h) {
  BarrierOrder &barrier = barrierAt(h.cluster, h.address);
  if (h.result)
    order.arrived(barrier, h.origin, 0);
  barrier.pending.join(*h.ticket.covered);
  if (h.result && h.result->completed)
    order.complete(barrier);
}

void StrictObserver::on(const AsyncCompleted &h) {
  BarrierOrder &barrier = barrierAt(h.cluster, h.address);
  barrier.multicast |= h.kind == BarrierVisit::Multicast;
  barrier.visit(h.kind, h.origin, h.bytes);
  if (h.ticket.stamp.component == kOperation)
    order.end(h.origin, h.ticket.stamp, h.kind);
  if (h.result.completed)
    order.complete(barrier);
}

//===----------------------------------------------------------------------===//
// Asynchronous operations
//===----------------------------------------------------------------------===//

void StrictObserver::on(const TransactionBegun &h) {
  BarrierOrder &barrier = barrierAt(*h.x.cluster, h.address);
  order.use(h.origin, *h.x.warp, barrier);
  h.ticket.stamp = order.begin(barrier, h.origin, h.kind);
}

void StrictObserver::on(const QueueIssued &h) {
  h.ticket.stamp = order.issue(*h.x.warp, h.lane, h.queue);
  if (h.queue == Queue::BulkRead)
    h.x.warp->order->bulk[h.lane].line = h.r.line;
}

void StrictObserver::on(const QueueCovered &h) {
  h.ticket.covered = order.covered(*h.x.warp, h.lane, {h.queue});
}

void StrictObserver::on(const GroupCommitted &h) {
  order.commitGroup(*h.x.warp, h.lane, h.copies);
}

void StrictObserver::on(const GroupAwaited &h) {
  order.waitGroup(*h.x.warp, h.lane, h.copies, h.keep, h.readOnly, h.all);
}

void StrictObserver::on(const PairCounted &h) {
  tensor.countsForPair(h.barrier);
}

//===----------------------------------------------------------------------===//
// Tensor cores
//===----------------------------------------------------------------------===//

static Queue queueOf(unsigned group) {
  return group == 2 ? Queue::Tensor2 : Queue::Tensor1;
}

static Queue readQueueOf(unsigned group) {
  return group == 2 ? Queue::ReadA2 : Queue::ReadA1;
}

/// What the operation reads of shared memory, in its own CTA or in both of its
/// pair. A has a queue of its own, whose end a commit may tell alone.
void StrictObserver::touchOperands(const TensorIssued &h) {
  Cluster &cluster = *h.x.cluster;
  Touch touch;
  touch.async = true;
  touch.origin = h.x.origin(h.r, int(h.lane));
  Stamp stamps[2] = {order.issue(*h.x.warp, h.lane, queueOf(h.group)),
                     order.issue(*h.x.warp, h.lane, readQueueOf(h.group))};
  uint32_t even = h.group == 2 ? h.x.cta->rank & ~1u : h.x.cta->rank;
  std::vector<Range> ranges[2][2];
  h.operands([&](SharedOperand operand, unsigned cta, uint32_t address,
                 uint32_t bytes) {
    std::vector<Range> &own = ranges[operand == SharedOperand::A][cta & 1];
    uint64_t at = uint64_t(even + (cta & 1)) << kRankShift | address;
    if (!own.empty() && own.back().address + own.back().bytes == at)
      own.back().bytes += bytes;
    else
      own.push_back({at, bytes, h.lane});
  });
  for (unsigned isA : {1u, 0u})
    for (unsigned cta = 0; cta != h.group; ++cta) {
      const std::vector<Range> &own = ranges[isA][cta];
      if (even + cta >= cluster.ctas.size() || own.empty())
        continue;
      touch.stamp = stamps[isA];
      order.touchShared(*h.x.warp, *cluster.ctas[even + cta], own.data(),
                        own.size(), touch);
    }
}

void StrictObserver::on(const TensorIssued &h) {
  Cluster &cluster = *h.x.cluster;
  if (h.group == 2)
    on(PeerNeeded{h.x, h.r, h.lane, Hazard::PeerNotRunning});
  touchOperands(h);
  TensorEvent event;
  event.use = h.use;
  event.origin = h.x.origin(h.r, int(h.lane));
  event.done = order.last(*h.x.warp, h.lane, queueOf(h.group));
  event.issued = order.now(*h.x.warp);
  if (h.use == TensorUse::Multiply && !h.areas.empty())
    event.accumulator = h.areas.front();
  if (h.group == 1)
    return tensor.touch(*h.x.warp, *h.x.cta, event, h.areas);
  uint32_t even = h.x.cta->rank & ~1u;
  for (unsigned i = 0; even + 1 < cluster.ctas.size() && i != 2; ++i)
    tensor.touch(*h.x.warp, *cluster.ctas[even + i], event, h.areas);
}

void StrictObserver::on(const CommitIssued &h) {
  tensor.commit(*h.x.warp, h.origin, h.group, h.readsA);
  if (h.readsA)
    h.ticket.covered = order.covered(*h.x.warp, h.lane, {readQueueOf(h.group)});
  else
    h.ticket.covered = order.covered(*h.x.warp, h.lane,
                                     {queueOf(h.group), readQueueOf(h.group)});
}

void StrictObserver::on(const FragmentMoved &h) {
  Warp &warp = *h.x.warp;
  TensorEvent event;
  event.use = h.store ? TensorUse::Store : TensorUse::Load;
  event.origin = h.x.origin(h.r, 0);
  event.done =
      order.issue(warp, 0, h.store ? Queue::TensorStore : Queue::TensorLoad);
  event.issued = order.now(warp);
  tensor.touch(warp, *h.x.cta, event, areasOf(h.fragment, h.address, h.store));
  if (!h.store) {
    warp.order->loads.push_back({event.done, h.registers});
    warp.loading = true;
  }
}

void StrictObserver::on(const FragmentsAwaited &h) {
  Warp &warp = *h.x.warp;
  order.observe(
      warp,
      order.last(warp, 0, h.stores ? Queue::TensorStore : Queue::TensorLoad));
  if (h.stores)
    return;
  warp.order->loads.clear();
  warp.loading = warp.order->warpgroup.has_value();
}

void StrictObserver::on(const TensorAllocated &h) {
  tensor.allocate(h.cta, h.column, h.columns);
}

/// Nothing may be in flight on the columns, nor on those of the peer.
void StrictObserver::on(const TensorFreed &h) {
  Origin origin = h.x.origin(h.r, int(h.x.firstLane()));
  tensor.free(*h.x.warp, *h.x.cta, origin, h.column, h.columns);
  if (h.pair)
    tensor.free(*h.x.warp, *h.x.cluster->ctas[h.x.cta->rank ^ 1], origin,
                h.column, h.columns);
}

void StrictObserver::on(const PeerNeeded &h) {
  if (!tensor.knowsPeer(*h.x.warp))
    reportHazard(*h.x.cluster, h.x.origin(h.r, int(h.lane)), h.hazard,
                 FindingKind::Race,
                 "cta_group::2 before anything tells that the peer CTA runs");
}

//===----------------------------------------------------------------------===//
// Warpgroups
//===----------------------------------------------------------------------===//

/// What is known of the registers of a warp; from now on it is told of them.
static WarpgroupOrder &warpgroupOf(const Exec &x) {
  std::optional<WarpgroupOrder> &own = x.warp->order->warpgroup;
  if (!own) {
    own.emplace(x.cluster->program().registerBytes);
    x.warp->loading = true;
  }
  return *own;
}

void StrictObserver::checkWarpgroup(const RegistersUsed &h) {
  std::optional<WarpgroupOrder> &own = h.x.warp->order->warpgroup;
  if (!own)
    return;
  const Record &r = h.x.cluster->program().code[h.x.group->pc];
  Opcode opcode = r.instruction ? r.instruction->opcode : Opcode::Unknown;
  // Multiplications are told themselves. Compilers copy accumulators where the
  // assembler will see one register.
  if (opcode == Opcode::WgmmaMma || opcode == Opcode::Mov)
    return;
  if (auto used = own->use(h.flow))
    reportHazard(*h.x.cluster, h.x.origin(r, 0),
                 Hazard::WarpgroupRegisterInFlight, FindingKind::Race,
                 std::string(used->reads ? "use" : "write") + " of " +
                     (used->isD ? "an accumulator" : "a register with A") +
                     " of the wgmma.mma_async at line " +
                     std::to_string(used->line) +
                     ", which nothing says is complete");
}

void StrictObserver::on(const WarpgroupFenced &h) { warpgroupOf(h.x).fence(); }

/// A product is one operation of all four warps.
void StrictObserver::on(const WarpgroupAwaited &h) {
  auto count = uint32_t(h.count);
  warpgroupOf(h.x).wait(count);
  unsigned first = h.x.warp->index / 4 * 4;
  for (unsigned i = first; i != first + 4; ++i) {
    const Warp &one = *h.x.cta->warps[i];
    order.observe(*h.x.warp, {order.queue(one, 0, Queue::Warpgroup), count});
  }
}

void StrictObserver::on(const WarpgroupIssued &h) {
  Warp &warp = *h.x.warp;
  WarpgroupOrder &own = warpgroupOf(h.x);
  Touch touch;
  touch.async = true;
  touch.collective = true;
  touch.origin = h.x.origin(h.r, 0);
  touch.stamp = order.issue(warp, 0, Queue::Warpgroup);
  if (!own.fenced(h.d, h.a))
    reportHazard(*h.x.cluster, touch.origin, Hazard::WarpgroupUnfenced,
                 FindingKind::Race,
                 "the registers of the wgmma.mma_async were used after the "
                 "last wgmma.fence, or there was none");
  if (uint32_t line = own.overlaps(h.d, h.a))
    reportHazard(*h.x.cluster, touch.origin, Hazard::WarpgroupRegisterInFlight,
                 FindingKind::Race,
                 "the accumulators are not those of the wgmma.mma_async at "
                 "line " +
                     std::to_string(line) + ", with which they share some");
  own.issue(*touch.stamp, h.d, h.a, h.r.line);
  std::vector<Range> ranges;
  uint64_t rank = uint64_t(h.x.cta->rank) << kRankShift;
  h.operands([&](uint32_t address, uint32_t bytes) {
    if (!ranges.empty() &&
        ranges.back().address + ranges.back().bytes == (rank | address))
      ranges.back().bytes += bytes;
    else
      ranges.push_back({rank | address, bytes});
  });
  if (!ranges.empty())
    order.touchShared(warp, *h.x.cta, ranges.data(), ranges.size(), touch);
}

} // namespace blockscale::emulator::machine
