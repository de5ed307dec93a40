//===- Barriers.cpp - CTA barriers and cluster barriers -------------------===//
//
// Part of the blockscale project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "../Run/Control.h"
#include "../Run/Observer.h"
#include "Warp.h"

#include <algorithm>

namespace blockscale::emulator::machine {
namespace {

/// A barrier of the CTA.
struct BarrierRecord {
  Slot id = kNoSlot;
  Slot count = kNoSlot;                       ///< threads, or kNoSlot for all
  Slot predicate = kNoSlot, result = kNoSlot; ///< with reduces
  Modifier operation = Modifier::Unknown;     ///< same
  bool reduces = false, arrivesOnly = false;
};

uint32_t warpThreads(const Warp &warp) {
  uint32_t left = warp.cta->threads - warp.index * 32;
  return std::min(left, 32u);
}

/// Threads that a barrier without count waits for: all that have not exited.
/// A partly exited warp counts in full.
uint32_t liveThreads(const Cta &cta) {
  uint32_t count = 0;
  for (const auto &warp : cta.warps)
    if (warp->live)
      count += warpThreads(*warp);
  return count;
}

void completeIfDone(Cta &cta, NamedBarrier &barrier) {
  if (barrier.arrived == 0)
    return;
  uint32_t wanted = barrier.expected ? barrier.expected : liveThreads(cta);
  if (barrier.arrived < wanted)
    return;
  barrier.passed[barrier.phase & 1] = std::exchange(barrier.passing, {});
  ++barrier.phase;
  barrier.lastPopc = barrier.popc;
  barrier.lastAll = barrier.all;
  barrier.lastAny = barrier.any;
  barrier.arrived = barrier.expected = barrier.popc = 0;
  barrier.all = true;
  barrier.any = false;
  ++cta.cluster->epoch;
}

Step arrive(Exec &x, const Record &r, NamedBarrier &barrier) {
  const auto &b = r.as<BarrierRecord>();
  uint32_t lane = x.firstLane();
  bool hasCount = b.count != kNoSlot;
  uint32_t count = hasCount ? x.reg<uint32_t>(b.count)[lane] : 0;
  if (hasCount && (count == 0 || count % 32))
    return x.fault(r, FindingKind::Barrier,
                   "barrier count " + std::to_string(count) +
                       " is not a positive multiple of 32",
                   int(lane), 0, Hazard::NamedBarrierCount);
  if (barrier.arrived == 0) {
    barrier.expected = count;
    barrier.reduces = b.reduces;
  } else if (barrier.expected != count) {
    return x.fault(r, FindingKind::Barrier,
                   "barrier count " + std::to_string(count) +
                       " differs from that of the first arrival, " +
                       std::to_string(barrier.expected),
                   int(lane), 0, Hazard::NamedBarrierCount);
  } else if (barrier.reduces != b.reduces) {
    return x.fault(r, FindingKind::Barrier,
                   "bar.red and bar.sync or bar.arrive in one phase", int(lane),
                   0, Hazard::NamedBarrierCount);
  }
  barrier.arrived += hasCount ? 32 : warpThreads(*x.warp);
  if (count && barrier.arrived > count)
    return x.fault(r, FindingKind::Barrier,
                   "more threads arrive than the barrier counts (" +
                       std::to_string(count) + ")",
                   int(lane), 0, Hazard::NamedBarrierCount);
  if (b.reduces) {
    uint32_t p = x.predicate(b.predicate) & x.mask;
    barrier.popc += uint32_t(__builtin_popcount(p));
    barrier.all = barrier.all && p == x.mask;
    barrier.any = barrier.any || p;
  }
  return Step::Next;
}

void giveResult(Exec &x, const Record &r, const NamedBarrier &barrier) {
  const auto &b = r.as<BarrierRecord>();
  if (!b.reduces)
    return;
  switch (b.operation) {
  case Modifier::And:
    x.setPredicate(b.result, barrier.lastAll ? ~0u : 0);
    break;
  case Modifier::Or:
    x.setPredicate(b.result, barrier.lastAny ? ~0u : 0);
    break;
  default:
    forLanes(x.mask, [&](unsigned lane) {
      x.reg<uint32_t>(b.result)[lane] = barrier.lastPopc;
    });
  }
}

Step ctaBarrier(Exec &x, const Record &r) {
  if (!gathered(x, ~0u))
    return Step::Block;
  const auto &b = r.as<BarrierRecord>();
  uint32_t id = x.reg<uint32_t>(b.id)[x.firstLane()];
  if (id > 15)
    return x.fault(r, FindingKind::Barrier,
                   "barrier " + std::to_string(id) + " of 16",
                   int(x.firstLane()), 0, Hazard::NamedBarrierCount);
  NamedBarrier &barrier = x.cta->named[id];
  Group &group = *x.group;
  if (!group.arrived) {
    if (arrive(x, r, barrier) == Step::Fault)
      return Step::Fault;
    group.token = barrier.phase;
    tell(*x.cluster, BarrierArrived{x, r, id, barrier.phase});
    completeIfDone(*x.cta, barrier);
    if (b.arrivesOnly)
      return Step::Next;
    group.arrived = true;
  }
  // Threads that exit meanwhile lower the number that is waited for.
  completeIfDone(*x.cta, barrier);
  if (barrier.phase == group.token)
    return Step::Block;
  group.arrived = false;
  tell(*x.cluster, BarrierPassed{x, r, id, group.token});
  giveResult(x, r, barrier);
  return Step::Next;
}

struct ClusterBarrierRecord {
  bool aligned, relaxed;
};
Step clusterArrive(Exec &x, const Record &r) {
  const auto &b = r.as<ClusterBarrierRecord>();
  if (b.aligned && !gathered(x, ~0u))
    return Step::Block;
  if (uint32_t twice = x.warp->clusterArrived & x.mask)
    return x.fault(r, FindingKind::Barrier,
                   "barrier.cluster.arrive twice without a wait",
                   __builtin_ctz(twice), 0, Hazard::BarrierNotReached);
  x.warp->clusterArrived |= x.mask;
  forLanes(x.mask, [&](unsigned lane) {
    x.warp->clusterPhase[lane] = x.cluster->clusterPhase;
  });
  tell(*x.cluster, BarrierArrived{x, r, kClusterBarrier,
                                  x.cluster->clusterPhase, b.relaxed});
  x.cluster->clusterArrivals += uint32_t(__builtin_popcount(x.mask));
  x.cluster->checkClusterBarrier();
  return Step::Next;
}

Step clusterWait(Exec &x, const Record &r) {
  if (r.as<ClusterBarrierRecord>().aligned && !gathered(x, ~0u))
    return Step::Block;
  if (uint32_t missing = x.mask & ~x.warp->clusterArrived)
    return x.fault(r, FindingKind::Barrier,
                   "barrier.cluster.wait without an arrive",
                   __builtin_ctz(missing), 0, Hazard::BarrierNotReached);
  x.cluster->checkClusterBarrier();
  bool done = true;
  forLanes(x.mask, [&](unsigned lane) {
    done = done && x.warp->clusterPhase[lane] != x.cluster->clusterPhase;
  });
  if (!done)
    return Step::Block;
  x.warp->clusterArrived &= ~x.mask;
  tell(*x.cluster, BarrierPassed{x, r, kClusterBarrier,
                                 x.warp->clusterPhase[x.firstLane()]});
  return Step::Next;
}

} // namespace

/// Exited threads count as arrived, unless they had arrived before.
void Cluster::checkClusterBarrier() {
  if (!clusterArrivals)
    return;
  for (const auto &cta : ctas)
    for (const auto &warp : cta->warps) {
      if (warp->live & ~warp->clusterArrived)
        return;
      for (uint32_t left = warp->live; left; left &= left - 1)
        if (warp->clusterPhase[__builtin_ctz(left)] != clusterPhase)
          return;
    }
  passed[clusterPhase & 1] = std::exchange(passing, {});
  ++clusterPhase;
  clusterArrivals = 0;
  ++epoch;
}

uint32_t barrierNumber(const Exec &x, const Record &r) {
  return x.reg<uint32_t>(r.as<BarrierRecord>().id)[x.firstLane()];
}

bool decodeBarrier(Decoder &d, const Instruction &in, Record &r) {
  switch (in.opcode) {
  case Opcode::BarrierClusterArrive:
  case Opcode::BarrierClusterWait:
    d.record<ClusterBarrierRecord>(r) = {in.has(Modifier::Aligned),
                                         in.has(Modifier::Relaxed)};
    r.fn =
        in.opcode == Opcode::BarrierClusterArrive ? clusterArrive : clusterWait;
    return true;
  case Opcode::BarSync:
  case Opcode::BarrierSync:
  case Opcode::BarArrive:
  case Opcode::BarrierArrive:
  case Opcode::BarRed:
  case Opcode::BarrierRed:
    break;
  default:
    return false;
  }
  auto &b = d.record<BarrierRecord>(r);
  b.reduces = in.opcode == Opcode::BarRed || in.opcode == Opcode::BarrierRed;
  b.arrivesOnly =
      in.opcode == Opcode::BarArrive || in.opcode == Opcode::BarrierArrive;
  size_t next = 0;
  if (b.reduces) {
    bool popc = in.has(Modifier::Popc);
    b.result = popc ? d.destination(in.operands[next], 32)
                    : d.predicateOut(in.operands[next]);
    b.operation = popc                    ? Modifier::Popc
                  : in.has(Modifier::And) ? Modifier::And
                                          : Modifier::Or;
    ++next;
  }
  if (in.operands.size() <= next)
    return d.refuse("barrier without a number");
  b.id = d.source(in.operands[next++], 32);
  if (next + b.reduces < in.operands.size())
    b.count = d.source(in.operands[next++], 32);
  if (b.reduces)
    b.predicate = d.predicate(in.operands[next]);
  r.fn = ctaBarrier;
  return true;
}

} // namespace blockscale::emulator::machine
