//===- Deadlock.cpp - who waits for what, and who could still come --------===//
//
// Part of the blockscale project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A run in which nothing moves ends with a finding for each group of lanes: the
// instruction it is at and the state of the object it waits for. Strict mode
// adds what has counted on an mbarrier and what became of those who arrived in
// the phase before.
//
//===----------------------------------------------------------------------===//

#include "../Instructions/Access.h"
#include "../Order/TensorOrder.h"
#include "../Run/Control.h"

#include <set>

namespace blockscale::emulator::machine {
namespace {

/// Names in a list; more than these say little.
constexpr size_t kNamed = 8;

std::string number(uint64_t value) { return std::to_string(value); }

std::string barrierState(const MBarrier &barrier) {
  return "phase " + number(barrier.phase()) + ", expected arrivals " +
         number(barrier.expected()) + ", pending " + number(barrier.pending()) +
         ", transaction bytes " + std::to_string(barrier.tx()) +
         (barrier.phase() == barrier.conditionalPhase()
              ? ""
              : ", conditional phase " + number(barrier.conditionalPhase()));
}

Exec viewOf(Cluster &cluster, Warp &warp, const Group &group) {
  Exec x;
  x.cluster = &cluster;
  x.cta = warp.cta;
  x.warp = &warp;
  x.bank[0] = warp.registers;
  x.bank[1] = const_cast<uint8_t *>(cluster.program().constants.data());
  x.mask = group.mask;
  return x;
}

/// The mbarrier that a group waits for; null if it waits for something else.
MBarrier *barrierOf(Cluster &cluster, Warp &warp, const Group &group) {
  const Record &r = cluster.program().code[group.pc];
  if (!r.instruction || (r.instruction->opcode != Opcode::MbarrierTryWait &&
                         r.instruction->opcode != Opcode::MbarrierTestWait))
    return nullptr;
  Exec x = viewOf(cluster, warp, group);
  return waitedBarrier(x, r);
}

/// The number of the CTA barrier that a group waits at; 16 if it does not.
unsigned namedBarrierOf(Cluster &cluster, Warp &warp, const Group &group) {
  const Record &r = cluster.program().code[group.pc];
  if (!r.instruction)
    return 16;
  switch (r.instruction->opcode) {
  case Opcode::BarSync:
  case Opcode::BarrierSync:
  case Opcode::BarRed:
  case Opcode::BarrierRed:
    break;
  default:
    return 16;
  }
  Exec x = viewOf(cluster, warp, group);
  return std::min(barrierNumber(x, r), 16u);
}

BarrierOrder *orderOf(Cluster &cluster, Cta &cta, const MBarrier *barrier) {
  for (size_t i = 0; cluster.order && i != cta.barrierAt.size(); ++i)
    if (cta.barrierAt[i] >= 0 &&
        &cta.barriers[size_t(cta.barrierAt[i])] == barrier)
      return &cluster.order->barrier(cta, kSharedBase + uint32_t(i) * 8);
  return nullptr;
}

//===----------------------------------------------------------------------===//
// Which rule
//===----------------------------------------------------------------------===//

/// Whether the barrier has its bytes from multicasts of other CTAs, or got none
/// while its fellows in other CTAs did.
bool takesMulticast(Cluster &cluster, const BarrierOrder &order) {
  if (order.multicast)
    return true;
  for (const BarrierVisit &visit : order.visits)
    if (visit.kind == BarrierVisit::Copy)
      return false;
  for (auto &cta : cluster.ctas)
    if (barrierAt(*cta, order.offset, false) &&
        cluster.order->barrier(*cta, order.offset).multicast)
      return true;
  return false;
}

/// The rule that bytes left over break.
Hazard bytesRule(Cluster &cluster, const MBarrier &barrier,
                 const BarrierOrder *order) {
  if (order && cluster.tensorOrder->splitOverPair(*order->cta, order->offset))
    return Hazard::PairBytesSplit;
  if (order && order->countsAnswers())
    return Hazard::LaunchControlMisused;
  return order && takesMulticast(cluster, *order) ? Hazard::MulticastUnexpected
         : barrier.tx() > 0                       ? Hazard::BytesMissing
                                                  : Hazard::BytesUnexpected;
}

/// Whether nothing at all has arrived at the barrier.
bool untouched(const MBarrier &barrier) {
  return barrier.phase() == 0 && barrier.pending() == barrier.expected() &&
         barrier.tx() == 0;
}

/// The rule that a wait for ever breaks.
Hazard waitRule(Cluster &cluster, const MBarrier &barrier,
                const BarrierOrder *order) {
  if (barrier.tx() != 0)
    return bytesRule(cluster, barrier, order);
  if (barrier.pending() != barrier.expected())
    return Hazard::TooFewArrivals;
  // Roles that all wait for each other's first arrival: one of them should
  // have found its buffer free.
  bool others = false;
  for (auto &cta : cluster.ctas)
    for (auto &warp : cta->warps)
      for (const Group &group : warp->groups)
        if (MBarrier *other = barrierOf(cluster, *warp, group))
          others |= other != &barrier && untouched(*other);
  return untouched(barrier) && others ? Hazard::WrongStartParity
                                      : Hazard::NobodyArrives;
}

//===----------------------------------------------------------------------===//
// Who has come and who has not
//===----------------------------------------------------------------------===//

std::string nameOf(const Cluster &cluster, const Cta &cta, int warp) {
  std::string text = "warp " + std::to_string(warp);
  if (cluster.ctas.size() > 1)
    text += " of rank " + number(cta.rank);
  return text;
}

/// Where a warp is now.
std::string whereabouts(const Cluster &cluster, const Warp &warp) {
  if (!warp.live || warp.groups.empty())
    return "has exited";
  return "is at line " +
         number(cluster.program().code[warp.groups.front().pc].line);
}

/// "a, b, c", the first few.
std::string join(const std::vector<std::string> &parts) {
  std::string text;
  for (size_t i = 0; i != parts.size() && i != kNamed; ++i)
    text += (i ? ", " : "") + parts[i];
  if (parts.size() > kNamed)
    text += " and " + number(parts.size() - kNamed) + " more";
  return text;
}

std::string describe(const Cluster &cluster, const BarrierVisit &visit) {
  std::string who = nameOf(cluster, *visit.origin.cta, visit.origin.warp);
  std::string at = " at line " + number(visit.origin.line);
  std::string bytes = number(visit.bytes) + " bytes";
  switch (visit.kind) {
  case BarrierVisit::Arrival:
    return who + at + (visit.bytes ? " expecting " + bytes : "");
  case BarrierVisit::Expectation:
    return bytes + " expected by " + who + at;
  case BarrierVisit::Copy:
    return bytes + " of the copy" + at;
  case BarrierVisit::Multicast:
    return bytes + " of the multicast by " + who + at;
  case BarrierVisit::Answer:
    return bytes + " of the try_cancel" + at;
  }
  return "";
}

std::string visitsText(const Cluster &cluster, const BarrierOrder &order) {
  std::vector<std::string> here, missing;
  std::set<std::pair<const Cta *, int>> came;
  for (const BarrierVisit &visit : order.visits) {
    here.push_back(describe(cluster, visit));
    came.insert({visit.origin.cta, visit.origin.warp});
  }
  for (const BarrierVisit &visit : order.visitsBefore) {
    const Origin &who = visit.origin;
    if (visit.kind == BarrierVisit::Arrival &&
        came.insert({who.cta, who.warp}).second)
      missing.push_back(
          describe(cluster, visit) + " (" +
          whereabouts(cluster, *who.cta->warps[size_t(who.warp)]) + ")");
  }
  std::string text = here.empty() ? "; nothing came in this phase"
                                  : "; in this phase came " + join(here);
  if (!missing.empty())
    text += "; only in the phase before came " + join(missing);
  return text;
}

/// Lines of arrivals that no thread has executed.
std::string unusedArrivals(const Cluster &cluster) {
  std::vector<std::string> lines;
  for (const Record &r : cluster.program().code) {
    if (!r.instruction || cluster.order->hasArrived(r.line))
      continue;
    switch (r.instruction->opcode) {
    case Opcode::MbarrierArrive:
    case Opcode::MbarrierArriveDrop:
    case Opcode::Tcgen05Commit:
      lines.push_back(number(r.line));
      break;
    default:
      break;
    }
  }
  return lines.empty()
             ? ""
             : "; not executed so far: arrivals at line " + join(lines);
}

std::string mbarrierText(Cluster &cluster, const MBarrier &barrier,
                         const BarrierOrder *order) {
  std::string text = " for mbarrier";
  if (order)
    text += " " + hex(order->offset);
  text += " (" + barrierState(barrier) + ")";
  if (!order)
    return text;
  if (order->lastArrival)
    text += ", last arrival at line " + number(order->lastArrival);
  text += visitsText(cluster, *order);
  if (barrier.pending())
    text += unusedArrivals(cluster);
  return text;
}

/// Live warps of the CTA that do not wait at the barrier.
std::string missingWarps(Cluster &cluster, Cta &cta, unsigned barrier) {
  std::vector<std::string> missing;
  for (auto &warp : cta.warps) {
    bool here = false;
    for (const Group &group : warp->groups)
      here |= group.arrived && namedBarrierOf(cluster, *warp, group) == barrier;
    if (!here)
      missing.push_back("warp " + number(warp->index) + " " +
                        whereabouts(cluster, *warp));
  }
  return missing.empty() ? "" : "; " + join(missing);
}

std::string ctaBarrierText(Cluster &cluster, Cta &cta, unsigned id) {
  const NamedBarrier &barrier = cta.named[id];
  return ", at which " + number(barrier.arrived) + " threads of " +
         (barrier.expected ? number(barrier.expected) : "the whole CTA") +
         " have arrived" + missingWarps(cluster, cta, id);
}

std::string clusterBarrierText(const Cluster &cluster) {
  std::vector<std::string> missing;
  for (const auto &cta : cluster.ctas)
    for (const auto &warp : cta->warps)
      for (uint32_t left = warp->live; left; left &= left - 1) {
        auto lane = unsigned(__builtin_ctz(left));
        if (warp->clusterArrived >> lane & 1 &&
            warp->clusterPhase[lane] == cluster.clusterPhase)
          continue;
        missing.push_back(nameOf(cluster, *cta, int(warp->index)) + " " +
                          whereabouts(cluster, *warp));
        break;
      }
  return missing.empty() ? "" : "; not arrived: " + join(missing);
}

std::string columnsText(const Cluster &cluster, const Cta &cta) {
  std::vector<std::string> held = cluster.grid.residency.othersOn(cta);
  for (const TensorHold &hold : cta.holds)
    held.push_back(
        number(hold.columns) + " columns from " + number(hold.column) +
        " on by " + nameOf(cluster, cta, hold.origin.warp) +
        " since the tcgen05.alloc at line " + number(hold.origin.line));
  return held.empty() ? "" : "; held are " + join(held);
}

std::string objectText(Cluster &cluster, Warp &warp, const Group &group) {
  if (unsigned id = namedBarrierOf(cluster, warp, group); id < 16)
    return ctaBarrierText(cluster, *warp.cta, id);
  const Instruction *in = cluster.program().code[group.pc].instruction;
  if (in && in->opcode == Opcode::BarrierClusterWait)
    return clusterBarrierText(cluster);
  if (in && in->opcode == Opcode::Tcgen05Alloc)
    return columnsText(cluster, *warp.cta);
  return "";
}

void reportGroup(Cluster &cluster, Warp &warp, const Group &group,
                 bool polling) {
  const Program &program = cluster.program();
  const Record &r = program.code[group.pc];
  std::string text = polling ? "no thread makes progress; at '"
                             : "no thread can go on; waits at '";
  if (r.instruction)
    text += program.kernel->text(*r.instruction);
  text += "'";
  Hazard rule = Hazard::None;
  if (MBarrier *barrier = barrierOf(cluster, warp, group)) {
    BarrierOrder *order = orderOf(cluster, *warp.cta, barrier);
    text += mbarrierText(cluster, *barrier, order);
    rule = waitRule(cluster, *barrier, order);
  }
  text += objectText(cluster, warp, group);
  if (group.mask != warp.live)
    text += ", lanes " + hex(group.mask) + " of " + hex(warp.live);
  report(
      cluster, {warp.cta, int(warp.index), __builtin_ctz(group.mask), r.line},
      FindingKind::Deadlock, text, 0,
      rule != Hazard::None ? rule : stuckRule(cluster, warp, group, polling));
}

/// Whether no other thread could help: everybody has arrived and the bytes are
/// wrong. Those who wait for this group come after it.
bool isCause(Cluster &cluster, Warp &warp, const Group &group) {
  const MBarrier *barrier = barrierOf(cluster, warp, group);
  return barrier && barrier->pending() == 0 && barrier->tx() != 0;
}

} // namespace

void reportDeadlock(Cluster &cluster, bool polling) {
  auto reportAll = [&](bool causes) {
    for (auto &cta : cluster.ctas)
      for (auto &warp : cta->warps)
        for (const Group &group : warp->groups)
          if (isCause(cluster, *warp, group) == causes)
            reportGroup(cluster, *warp, group, polling);
  };
  reportAll(true);
  reportAll(false);
}

void reportUnbalanced(Cluster &cluster, Cta &cta, const MBarrier &barrier) {
  BarrierOrder *order = orderOf(cluster, cta, &barrier);
  Origin origin{&cta, -1, -1, 0};
  std::string text = "an mbarrier ends with unbalanced transactions (" +
                     barrierState(barrier) + ")";
  if (order && !order->visits.empty()) {
    origin = order->visits.back().origin;
    text += visitsText(cluster, *order);
  }
  report(cluster, origin, FindingKind::MBarrier, text, 0,
         bytesRule(cluster, barrier, order));
}

} // namespace blockscale::emulator::machine
