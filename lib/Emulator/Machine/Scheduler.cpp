//===- Scheduler.cpp - which warp runs, until when ------------------------===//
//
// Part of the blockscale project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Lanes of a warp that share a program counter form a group. The group with
// the lowest program counter runs first, so that reducible code reconverges;
// a group that only jumps backward gives way to the others now and then. A
// group that waits is tried again when the cluster's epoch has moved on.
//
//===----------------------------------------------------------------------===//

#include "Control.h"
#include "Events.h"
#include "TensorOrder.h"

#include <algorithm>

namespace blockscale::emulator::machine {

namespace {

constexpr unsigned kQuantum = 500;
/// Backward branches that a group may take while others of its warp wait.
constexpr unsigned kSpinLimit = 64;
/// Rounds in which every warp only polls before the run counts as stuck.
constexpr unsigned kIdleRounds = 4096;
/// Warp instructions without a write before a look for endless loops.
constexpr uint64_t kPatience = 1 << 16;

bool ready(const Cluster &cluster, const Group &group) {
  return !group.blocked || group.blockedAt != cluster.epoch;
}

/// Sorts, drops empty groups, joins those that meet.
void normalise(Warp &warp) {
  std::vector<Group> &groups = warp.groups;
  groups.erase(std::remove_if(groups.begin(), groups.end(),
                              [](const Group &g) { return g.mask == 0; }),
               groups.end());
  std::sort(groups.begin(), groups.end(),
            [](const Group &a, const Group &b) { return a.pc < b.pc; });
  for (size_t i = 0; i + 1 < groups.size();) {
    if (groups[i].pc == groups[i + 1].pc && !groups[i].arrived &&
        !groups[i + 1].arrived) {
      groups[i].mask |= groups[i + 1].mask;
      groups[i].blocked = false;
      groups.erase(groups.begin() + long(i) + 1);
    } else {
      ++i;
    }
  }
}

/// The lowest ready group; after many backward branches, the one after it.
bool pick(const Cluster &cluster, Warp &warp) {
  bool found = false;
  bool rotate = warp.backward > kSpinLimit;
  for (size_t i = 0; i != warp.groups.size(); ++i)
    if (ready(cluster, warp.groups[i])) {
      warp.current = unsigned(i);
      if (found)
        break;
      found = true;
      if (!rotate)
        break;
    }
  if (rotate)
    warp.backward = 0;
  return found;
}

/// Passes undefined values on, or reports them. False after a report.
bool flowBefore(Exec &x, const Record &r, const Flow &flow) {
  uint32_t undefined = 0;
  for (Slot slot : flow.sources)
    undefined |= x.undefined(slot);
  undefined &= x.mask;
  uint32_t guard =
      r.guard == kNoSlot ? 0 : x.undefined(r.guard & ~1u) & x.group->mask;
  if ((undefined && flow.sink) || guard) {
    uint32_t lanes = guard ? guard : undefined;
    x.fault(r, FindingKind::Uninitialised,
            guard ? "a predicate depends on a register or memory that was "
                    "never written"
                  : "an operand depends on a register or memory that was "
                    "never written",
            __builtin_ctz(lanes));
    return false;
  }
  for (Slot slot : flow.destinations)
    x.setUndefined(slot, undefined);
  return true;
}

bool stepLimit(Cluster &cluster, Warp &warp, const Record &r) {
  if (warp.steps < cluster.grid.options.stepLimit)
    return false;
  report(cluster, {warp.cta, int(warp.index), -1, r.line},
         FindingKind::StepLimit,
         "the warp has executed " + std::to_string(warp.steps) +
             " instructions, the limit of this run",
         0, 86);
  return true;
}

} // namespace

bool runnable(const Cluster &cluster, const Warp &warp) {
  for (const Group &group : warp.groups)
    if (ready(cluster, group))
      return true;
  return false;
}

bool runWarp(Cluster &cluster, Warp &warp, unsigned quantum) {
  const Program &program = cluster.program();
  Exec x;
  x.cluster = &cluster;
  x.cta = warp.cta;
  x.warp = &warp;
  x.bank[0] = warp.registers;
  x.bank[1] = const_cast<uint8_t *>(program.constants.data());
  bool progress = false, isObserved = observed(cluster);
  uint64_t start = warp.steps;
  normalise(warp);
  if (!pick(cluster, warp))
    return false;
  for (; quantum; --quantum) {
    Group &group = warp.groups[warp.current];
    const Record &r = program.code[group.pc];
    x.group = &group;
    x.mask =
        r.guard == kNoSlot ? group.mask : group.mask & x.predicate(r.guard);
    ++warp.steps;
    Step step = Step::Next;
    if (warp.tainted && !flowBefore(x, r, program.flows[group.pc]))
      step = Step::Fault;
    else if (x.mask)
      step = r.fn(x, r);
    if (isObserved && step != Step::Block && step != Step::Fault)
      observe(x, r, step);
    if (step == Step::Next || step == Step::Yield) {
      ++group.pc;
      group.blocked = false;
      if (step == Step::Next)
        progress = true;
      if (warp.groups.size() > 1) {
        normalise(warp);
        pick(cluster, warp);
      }
      if (step == Step::Yield)
        break;
      continue;
    }
    if (step == Step::Fault) {
      cluster.faulted = true;
      break;
    }
    if (step == Step::Jump) {
      progress = true;
      if (warp.groups.size() > 1 || warp.groups[0].mask == 0) {
        normalise(warp);
        if (warp.groups.empty() || !pick(cluster, warp))
          break;
      } else {
        group.blocked = false;
      }
      if ((warp.steps & 1023) == 0 && stepLimit(cluster, warp, r)) {
        cluster.faulted = true;
        break;
      }
      continue;
    }
    group.blocked = true;
    group.blockedAt = cluster.epoch;
    --warp.steps;
    if (!pick(cluster, warp))
      break;
  }
  cluster.counters.instructions += warp.steps - start;
  if (!cluster.faulted &&
      stepLimit(cluster, warp,
                program.code[warp.groups.empty() ? 0 : warp.groups[0].pc]))
    cluster.faulted = true;
  return progress;
}

void Cluster::post(uint32_t queue, std::function<void()> act) {
  switch (grid.options.completion) {
  case Completion::Immediate:
    act();
    ++epoch;
    return;
  case Completion::Random:
    pending.push_back({turn + random() % 16, queue, std::move(act)});
    return;
  case Completion::Latest:
    pending.push_back({~uint64_t(0), queue, std::move(act)});
    return;
  }
}

bool Cluster::pump(bool force) {
  bool acted = false;
  std::vector<uint32_t> held;
  for (size_t i = 0; i < pending.size();) {
    AsyncOp &op = pending[i];
    bool waits =
        op.queue && std::find(held.begin(), held.end(), op.queue) != held.end();
    if (waits || (op.due > turn && !(force && !acted))) {
      if (op.queue)
        held.push_back(op.queue);
      ++i;
      continue;
    }
    auto act = std::move(op.act);
    pending.erase(pending.begin() + long(i));
    act();
    ++epoch;
    acted = true;
    if (force)
      return true;
  }
  return acted;
}

void Cluster::drain() {
  while (!faulted && pump(true)) {
  }
}

uint32_t Cluster::threads() const {
  uint32_t sum = 0;
  for (const auto &cta : ctas)
    sum += cta->threads;
  return sum;
}

uint32_t Cluster::exited() const {
  uint32_t sum = 0;
  for (const auto &cta : ctas)
    sum += cta->exited;
  return sum;
}

namespace {

std::string barrierState(const MBarrier &barrier) {
  return "phase " + std::to_string(barrier.phase()) + ", expected arrivals " +
         std::to_string(barrier.expected()) + ", pending " +
         std::to_string(barrier.pending()) + ", transaction bytes " +
         std::to_string(barrier.tx());
}

/// The mbarrier that a group waits for; null if it waits for something else.
MBarrier *barrierOf(Cluster &cluster, Warp &warp, const Group &group) {
  const Program &program = cluster.program();
  const Record &r = program.code[group.pc];
  if (!r.instruction || (r.instruction->opcode != Opcode::MbarrierTryWait &&
                         r.instruction->opcode != Opcode::MbarrierTestWait))
    return nullptr;
  Exec x;
  x.cluster = &cluster;
  x.cta = warp.cta;
  x.warp = &warp;
  x.bank[0] = warp.registers;
  x.bank[1] = const_cast<uint8_t *>(program.constants.data());
  x.mask = group.mask;
  return waitedBarrier(x, r);
}

/// The CTA barrier that a warp waits at, or null.
const NamedBarrier *namedBarrierOf(const Warp &warp, const Record &r) {
  if (!r.instruction)
    return nullptr;
  switch (r.instruction->opcode) {
  case Opcode::BarSync:
  case Opcode::BarrierSync:
  case Opcode::BarRed:
  case Opcode::BarrierRed:
    break;
  default:
    return nullptr;
  }
  const uint8_t *bank = r.op[0] & kConstantBank
                            ? warp.cta->cluster->program().constants.data()
                            : warp.registers;
  uint32_t id;
  std::memcpy(&id, bank + (r.op[0] & ~kConstantBank), 4);
  return id < 16 ? &warp.cta->named[id] : nullptr;
}

BarrierOrder *orderOf(Cluster &cluster, Cta &cta, const MBarrier *barrier) {
  for (size_t i = 0; cluster.order && i != cta.barrierAt.size(); ++i)
    if (cta.barrierAt[i] >= 0 &&
        &cta.barriers[size_t(cta.barrierAt[i])] == barrier)
      return &cluster.order->barrier(cta, kSharedBase + uint32_t(i) * 8);
  return nullptr;
}

/// The rule that bytes left over break.
unsigned bytesRule(const MBarrier &barrier, const BarrierOrder *order) {
  if (order && order->cta->cluster->tensorOrder->splitOverPair(*order->cta,
                                                                order->offset))
    return 47;
  return order && order->multicast ? 28 : barrier.tx() > 0 ? 6 : 7;
}

/// Whether nothing at all has arrived at the barrier.
bool untouched(const MBarrier &barrier) {
  return barrier.phase() == 0 && barrier.pending() == barrier.expected() &&
         barrier.tx() == 0;
}

/// The rule that a wait for ever breaks.
unsigned waitRule(Cluster &cluster, const MBarrier &barrier,
                  const BarrierOrder *order) {
  if (barrier.tx() != 0)
    return bytesRule(barrier, order);
  if (barrier.pending() != barrier.expected())
    return 5;
  // Roles that all wait for each other's first arrival: one of them should
  // have found its buffer free.
  bool others = false;
  for (auto &cta : cluster.ctas)
    for (auto &warp : cta->warps)
      for (const Group &group : warp->groups)
        if (MBarrier *other = barrierOf(cluster, *warp, group))
          others |= other != &barrier && untouched(*other);
  return untouched(barrier) && others ? 9 : 18;
}

} // namespace

void reportDeadlock(Cluster &cluster, bool polling) {
  const Program &program = cluster.program();
  for (auto &cta : cluster.ctas)
    for (auto &warp : cta->warps)
      for (const Group &group : warp->groups) {
        const Record &r = program.code[group.pc];
        std::string text = polling ? "no thread makes progress; at '"
                                   : "no thread can go on; waits at '";
        if (r.instruction)
          text += program.kernel->text(*r.instruction);
        text += "'";
        unsigned rule = 0;
        if (MBarrier *barrier = barrierOf(cluster, *warp, group)) {
          BarrierOrder *order = orderOf(cluster, *cta, barrier);
          text += " for mbarrier";
          if (order)
            text += " " + hex(order->offset);
          text += " (" + barrierState(*barrier) + ")";
          if (order && order->lastArrival)
            text +=
                ", last arrival at line " + std::to_string(order->lastArrival);
          rule = waitRule(cluster, *barrier, order);
        }
        if (const NamedBarrier *barrier = namedBarrierOf(*warp, r))
          text += ", at which " + std::to_string(barrier->arrived) +
                  " threads of " +
                  (barrier->expected ? std::to_string(barrier->expected)
                                     : "the whole CTA") +
                  " have arrived";
        if (group.mask != warp->live)
          text += ", lanes " + hex(group.mask) + " of " + hex(warp->live);
        report(cluster,
               {cta.get(), int(warp->index), __builtin_ctz(group.mask), r.line},
               FindingKind::Deadlock, text, 0,
               rule ? rule : stuckRule(cluster, *warp, group, polling));
      }
}

namespace {

/// All warps of a warpgroup execute the same setmaxnreg instructions.
void checkRegisters(Cluster &cluster) {
  for (auto &cta : cluster.ctas)
    for (auto &warp : cta->warps) {
      const Warp &first = *cta->warps[warp->index / 4 * 4];
      if (warp->registerChanges == first.registerChanges)
        continue;
      const Warp &more = warp->registerChanges > first.registerChanges
                             ? *warp
                             : first;
      report(cluster,
             {cta.get(), int(more.index), -1, more.registerLine},
             FindingKind::Barrier,
             "setmaxnreg was not executed by all warps of the warpgroup", 0,
             81);
      break;
    }
}

void checkLeaks(Cluster &cluster) {
  for (auto &cta : cluster.ctas)
    if (cta->tensor.liveAllocations())
      report(cluster, {cta.get(), -1, -1, 0}, FindingKind::TensorMemory,
             std::to_string(cta->tensor.liveAllocations()) +
                 " tensor-memory allocations were never freed",
             0, 52);
  for (auto &cta : cluster.ctas)
    for (const MBarrier &barrier : cta->barriers)
      if (barrier.live() && barrier.tx() != 0) {
        report(cluster, {cta.get(), -1, -1, 0}, FindingKind::MBarrier,
               "an mbarrier ends with unbalanced transactions (" +
                   barrierState(barrier) + ")",
               0, bytesRule(barrier, orderOf(cluster, *cta, &barrier)));
        break;
      }
}

void checkEnd(Cluster &cluster) {
  checkLeaks(cluster);
  checkRegisters(cluster);
}

} // namespace

Outcome runCluster(Cluster &cluster) {
  unsigned idle = 0;
  uint64_t lastEpoch = 0, lastActivity = 0, patience = kPatience;
  uint64_t quietSince = cluster.counters.instructions;
  while (!cluster.faulted &&
         !cluster.grid.stop.load(std::memory_order_relaxed)) {
    bool any = false, ran = false, progress = false;
    for (auto &cta : cluster.ctas)
      for (auto &warp : cta->warps) {
        if (!warp->live)
          continue;
        any = true;
        if (cluster.faulted || !runnable(cluster, *warp))
          continue;
        ran = true;
        progress |= runWarp(cluster, *warp, kQuantum);
      }
    if (!any || cluster.faulted)
      break;
    ++cluster.turn;
    bool acted = cluster.pump(false);
    if (!ran && !acted && !cluster.pump(true)) {
      reportDeadlock(cluster, false);
      cluster.faulted = true;
      return Outcome::Ended;
    }
    // Warps that only poll make no event; let late operations complete.
    idle = cluster.epoch == lastEpoch ? idle + 1 : 0;
    lastEpoch = cluster.epoch;
    if (idle > 8 && !cluster.pending.empty() && (idle & 7) == 0)
      cluster.pump(true);
    if (idle > kIdleRounds && !progress) {
      reportDeadlock(cluster, true);
      cluster.faulted = true;
      return Outcome::Ended;
    }
    if (cluster.activity() != lastActivity) {
      lastActivity = cluster.activity();
      quietSince = cluster.counters.instructions;
    } else if (cluster.counters.instructions - quietSince > patience) {
      if (spinsForever(cluster))
        return Outcome::Spins;
      quietSince = cluster.counters.instructions;
      patience *= 2;
    }
  }
  if (cluster.faulted || cluster.grid.stop)
    return Outcome::Ended;
  cluster.drain();
  if (!cluster.faulted)
    checkEnd(cluster);
  ++cluster.counters.clusters;
  return Outcome::Ended;
}

} // namespace blockscale::emulator::machine
