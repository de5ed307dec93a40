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
#include "Observer.h"

#include <algorithm>

namespace blockscale::emulator::machine {

namespace {

constexpr unsigned kQuantum = 500;
/// Backward branches that a group may take while others of its warp wait.
constexpr unsigned kSpinLimit = 64;
/// Rounds in which every warp only polls before the run counts as stuck.
constexpr unsigned kIdleRounds = 4096;
/// Warp instructions without a write before a look for endless loops. Each look
/// that finds none makes the next one later and longer.
constexpr uint64_t kPatience = 1 << 9;
/// How often in a row the waits of a cluster expire without any effect before
/// it counts as stuck: a program may try a few barriers before it goes on.
constexpr unsigned kExpiries = 8;

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

/// Lanes in which a selp or slct takes its first value.
uint32_t firstChosen(const Exec &x, const Record &r, Slot chooser) {
  if (r.instruction->opcode == Opcode::Selp)
    return x.predicate(chooser);
  bool real = r.instruction->type(1) == Type::F32;
  uint32_t first = 0;
  forLanes(x.mask, [&](unsigned lane) {
    bool holds = real ? x.reg<float>(chooser)[lane] >= 0
                      : x.reg<int32_t>(chooser)[lane] >= 0;
    first |= uint32_t(holds) << lane;
  });
  return first;
}

/// What is undefined of the value that a selp or slct takes.
UndefinedHalves chosenHalves(const Exec &x, const Record &r, const Flow &flow) {
  uint32_t first = firstChosen(x, r, flow.chooser);
  UndefinedHalves yes = x.undefinedHalves(flow.parts[0]),
                  no = x.undefinedHalves(flow.parts[1]);
  uint32_t unknown = x.undefined(flow.chooser & ~1u);
  return {unknown | (yes.low & first) | (no.low & ~first),
          unknown | (yes.high & first) | (no.high & ~first)};
}

/// Passes undefined halves of registers on.
void flowHalves(Exec &x, const Record &r, const Flow &flow) {
  UndefinedHalves result;
  switch (flow.path) {
  case Flow::Path::Unpack: {
    UndefinedHalves whole;
    if (!flow.sources.empty()) // else a constant
      whole = x.undefinedHalves(flow.sources[0]);
    for (unsigned i = 0; i != 2; ++i)
      if (flow.parts[i] != kNoSlot)
        x.setUndefined(flow.parts[i], i ? whole.high : whole.low);
    return;
  }
  case Flow::Path::Pack:
    result = {x.undefined(flow.parts[0]), x.undefined(flow.parts[1])};
    break;
  case Flow::Path::Choose:
    result = chosenHalves(x, r, flow);
    break;
  case Flow::Path::ByHandler:
    return;
  case Flow::Path::Together:
  case Flow::Path::EachToItsOwn:
    for (Slot slot : flow.sources) {
      UndefinedHalves one = x.undefinedHalves(slot);
      result.low |= one.low;
      result.high |= one.high;
    }
    break;
  }
  for (Slot slot : flow.destinations)
    x.setUndefined(slot, result);
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
  if (flow.path != Flow::Path::Together) {
    flowHalves(x, r, flow);
    return true;
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
         0, Hazard::EndlessLoop);
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
  bool progress = false, tellsSteps = cluster.tellsSteps;
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
    else if (x.mask) {
      if (warp.loading)
        tell(cluster, RegistersUsed{x, program.flows[group.pc]});
      step = r.fn(x, r);
    }
    if (tellsSteps && step != Step::Block && step != Step::Fault) {
      // A branch that diverges makes the list of groups grow.
      x.group = &warp.groups[warp.current];
      tell(cluster, Executed{x, r, step});
    }
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

/// Whether a CTA of another cluster may free columns that one here waits for.
bool waitsForSm(const Cluster &cluster) {
  for (const auto &cta : cluster.ctas)
    if (cluster.grid.residency.waits(*cta))
      return true;
  return false;
}

/// All warps of a warpgroup execute the same setmaxnreg instructions.
void checkRegisters(Cluster &cluster) {
  for (auto &cta : cluster.ctas)
    for (auto &warp : cta->warps) {
      const Warp &first = *cta->warps[warp->index / 4 * 4];
      if (warp->registerChanges == first.registerChanges)
        continue;
      const Warp &more =
          warp->registerChanges > first.registerChanges ? *warp : first;
      report(cluster, {cta.get(), int(more.index), -1, more.registerLine},
             FindingKind::Barrier,
             "setmaxnreg was not executed by all warps of the warpgroup", 0,
             Hazard::RegistersMissing);
      break;
    }
}

void checkLeaks(Cluster &cluster) {
  for (auto &cta : cluster.ctas)
    for (const TensorHold &hold : cta->holds)
      report(cluster, hold.origin, FindingKind::TensorMemory,
             "the " + std::to_string(hold.columns) +
                 " columns of this tcgen05.alloc, from column " +
                 std::to_string(hold.column) + " on, were never freed",
             0, Hazard::AllocationLeaked);
  for (auto &cta : cluster.ctas)
    for (const MBarrier &barrier : cta->barriers)
      if (barrier.live() && barrier.tx() != 0) {
        reportUnbalanced(cluster, *cta, barrier);
        break;
      }
}

/// A try_wait may return false after a time of the hardware's choice, so a
/// program may test a barrier once and go on without it. Where nothing else can
/// happen, that time is over for all who wait. False if it has been in vain.
bool expireWaits(Cluster &cluster) {
  bool moved = cluster.expiredAt != cluster.activity();
  cluster.expiries = moved ? 1 : cluster.expiries + 1;
  cluster.expiredAt = cluster.activity();
  if (cluster.expiries > kExpiries)
    return false;
  bool any = false;
  for (auto &cta : cluster.ctas)
    for (auto &warp : cta->warps)
      for (Group &group : warp->groups) {
        const Record &r = cluster.program().code[group.pc];
        if (!group.blocked || !r.instruction ||
            r.instruction->opcode != Opcode::MbarrierTryWait)
          continue;
        group.expired = any = true;
        group.blocked = false;
      }
  return any;
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
  while (!cluster.faulted && !cluster.grid.stops()) {
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
    if (!ran && !acted && !cluster.pump(true) && !expireWaits(cluster)) {
      if (waitsForSm(cluster))
        return Outcome::Spins;
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
      if (spinsForever(cluster, patience / 4))
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
