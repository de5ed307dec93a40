//===- TensorOrder.cpp - what happens before what in tensor memory --------===//
//
// Part of the blockscale project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "TensorOrder.h"
#include "../Instructions/Access.h"

#include <algorithm>

namespace blockscale::emulator::machine {
namespace {

/// Executed by the tensor core, in the order of issue of a thread.
bool isCore(TensorUse use) {
  return use == TensorUse::Multiply || use == TensorUse::Copy ||
         use == TensorUse::Shift;
}

bool isFree(TensorUse use) {
  return use == TensorUse::Free || use == TensorUse::FreeOfPeer;
}

const char *nameOf(TensorUse use) {
  static const char *const kNames[] = {
      "tcgen05.mma", "tcgen05.cp",      "tcgen05.shift",  "tcgen05.ld",
      "tcgen05.st",  "tcgen05.dealloc", "tcgen05.dealloc"};
  return kNames[size_t(use)];
}

} // namespace

TensorOrder::TensorOrder(Cluster &cluster, Order &order)
    : cluster(cluster), order(order) {}

TensorOrder::Cell *TensorOrder::cellsOf(Cta &cta, unsigned column) {
  if (cells.size() <= cta.rank)
    cells.resize(cta.rank + 1);
  Cells &mine = cells[cta.rank];
  if (mine.empty())
    mine.resize(TensorMemory::kColumns * kGroups);
  return &mine[column * kGroups];
}

/// An mma reads as A, metadata or scales what an mma wrote as its accumulator
/// (not what it moved by .ashift), or a copy or shift writes over it: no pair
/// of the list that keeps its order (PTX ISA 9.4, "Pipelined tcgen05
/// instructions").
bool TensorOrder::meetsResult(const TensorEvent &now,
                              const Meeting &meeting) const {
  const TensorEvent &earlier = events[meeting.earlier];
  bool another =
      now.use == TensorUse::Multiply ? !meeting.writes : isCore(now.use);
  return another && meeting.wrote && earlier.use == TensorUse::Multiply &&
         meeting.column - earlier.accumulator.column <
             earlier.accumulator.count;
}

static bool isFragment(TensorUse use) {
  return use == TensorUse::Load || use == TensorUse::Store;
}

bool TensorOrder::ordered(const Warp &warp, const TensorEvent &now,
                          const Meeting &meeting) const {
  const TensorEvent &earlier = events[meeting.earlier];
  if (order.knows(warp, earlier.done))
    return true;
  // Columns are freed once the operations on them are over, which relaxed
  // barriers tell too; no memory has to become visible.
  if (isFree(now.use) && order.knows(warp, earlier.done, View::Relaxed))
    return true;
  // The list of PTX 9.4: st and ld of a warp, in any order.
  if (isFragment(earlier.use) && isFragment(now.use))
    return earlier.issued.component == now.issued.component;
  if (!isCore(earlier.use) || !isCore(now.use) || meetsResult(now, meeting))
    return false;
  if (earlier.done.component == now.done.component)
    return true;
  // Between threads: what was written is seen after an edge, but what is
  // still read must be complete before it is overwritten.
  return meeting.wrote && order.knows(warp, earlier.issued);
}

Hazard TensorOrder::hazardOf(const Warp &warp, const TensorEvent &now,
                             uint32_t number) const {
  const TensorEvent &earlier = events[number];
  if (isFree(now.use))
    return now.use == TensorUse::Free ? Hazard::FreedInUse : Hazard::PairNotMet;
  if (earlier.use == TensorUse::Store)
    return Hazard::StoreUnawaited;
  if (earlier.use == TensorUse::Load)
    return earlier.issued.component != now.issued.component &&
                   order.knows(warp, earlier.issued)
               ? Hazard::ReleasedBeforeWait
               : Hazard::LoadOverwritten;
  if (isCore(now.use))
    return Hazard::ForeignOperandCopy;
  auto last = committed.find(earlier.done.component);
  if (last != committed.end() && last->second >= earlier.done.time)
    return Hazard::TensorAccessTooEarly;
  if (!stray.empty() && stray.back() >= number)
    return Hazard::ForeignCommit;
  return last != committed.end() ? Hazard::EarlyCommit
                                 : Hazard::TensorAccessTooEarly;
}

/// Whether the warp that did `number` fenced it before the arrival from which
/// `warp` knows of it.
bool TensorOrder::fencedBefore(const Warp &warp, uint32_t number) const {
  Component author = events[number].issued.component;
  auto fences = beforeFences.find(author);
  if (fences == beforeFences.end())
    return false;
  auto first = std::upper_bound(
      fences->second.begin(), fences->second.end(), number,
      [](uint32_t event, const BeforeFence &f) { return event < f.events; });
  return first != fences->second.end() &&
         order.knows(warp, {author, first->time});
}

/// What a thread's own instructions do in a row that the list of pairs does not
/// name, and hardware is known to do in order.
void TensorOrder::advisePipeline(Warp &warp, const TensorEvent &now,
                                 const Meeting &meeting) {
  const TensorEvent &earlier = events[meeting.earlier];
  unsigned column = meeting.column;
  if (!meeting.wrote || order.knows(warp, earlier.done))
    return;
  auto text = [&](const char *middle) {
    return std::string(nameOf(now.use)) + middle + nameOf(earlier.use) +
           " at line " + std::to_string(earlier.origin.line) + ", column " +
           std::to_string(column);
  };
  auto advise = [&](Hazard hazard, std::string message) {
    report(cluster, now.origin, FindingKind::Race, std::move(message), column,
           hazard, true);
  };
  if (earlier.use == TensorUse::Copy && now.use == TensorUse::Copy &&
      lastMultiply < meeting.earlier)
    advise(Hazard::ScalesOverwritten,
           text(" overwrites what may still be written by "));
  bool sameWarp = earlier.issued.component == now.issued.component;
  if (earlier.use == TensorUse::Store && now.use == TensorUse::Load && sameWarp)
    advise(Hazard::StoreUnawaited, text(" without tcgen05.wait::st after "));
  const TensorArea &a = earlier.accumulator, &b = now.accumulator;
  bool otherShape =
      a.column != b.column || a.count != b.count || a.lanes != b.lanes;
  if (earlier.use == TensorUse::Multiply && now.use == TensorUse::Multiply &&
      meeting.writes && otherShape)
    advise(Hazard::AccumulatorInFlight,
           text(" has another accumulator over that of "));
}

void TensorOrder::advise(Warp &warp, const TensorEvent &now,
                         const Meeting &meeting) {
  advisePipeline(warp, now, meeting);
  uint32_t number = meeting.earlier;
  unsigned column = meeting.column;
  const TensorEvent &earlier = events[number];
  auto text = [&](const char *middle) {
    return std::string(nameOf(now.use)) + middle + nameOf(earlier.use) +
           " at line " + std::to_string(earlier.origin.line) + ", column " +
           std::to_string(column);
  };
  bool sameWarp = earlier.issued.component == now.issued.component;
  if (!sameWarp && !isFree(now.use) &&
      !order.knows(
          warp, order.knows(warp, earlier.done) ? earlier.done : earlier.issued,
          View::TensorFenced))
    reportHazard(cluster, now.origin, Hazard::NoTensorFence, FindingKind::Race,
                 text(" without tcgen05.fence::after_thread_sync after the "
                      "barrier that orders it after "),
                 column);
  // A commit, by which core operations are known complete, fences by itself.
  bool committed = isCore(earlier.use) && order.knows(warp, earlier.done);
  if (!sameWarp && !isFree(now.use) && !committed &&
      !fencedBefore(warp, number))
    reportHazard(
        cluster, earlier.origin, Hazard::NoTensorFence, FindingKind::Race,
        std::string(nameOf(earlier.use)) +
            " without tcgen05.fence::before_thread_sync ahead of the "
            "arrival that orders it before " +
            nameOf(now.use) + " at line " + std::to_string(now.origin.line) +
            ", column " + std::to_string(column),
        column);
}

void TensorOrder::check(Warp &warp, const TensorEvent &now,
                        const Meeting &meeting) {
  uint32_t number = meeting.earlier;
  unsigned column = meeting.column;
  bool wrote = meeting.wrote;
  const TensorEvent &earlier = events[number];
  if (ordered(warp, now, meeting)) {
    if (cluster.grid.options.advice)
      advise(warp, now, meeting);
    return;
  }
  std::string text =
      std::string(nameOf(now.use)) +
      (isCore(now.use) || now.use == TensorUse::Load ? " touches" : " takes") +
      " column " + std::to_string(column) + ", which " + nameOf(earlier.use) +
      " at line " + std::to_string(earlier.origin.line) + " of warp " +
      std::to_string(earlier.origin.warp) +
      (wrote ? " may still be writing" : " may still be reading");
  bool result = meetsResult(now, meeting);
  reportHazard(cluster, now.origin,
               result ? Hazard::AccumulatorInFlight
                      : hazardOf(warp, now, number),
               FindingKind::Race, std::move(text), column);
}

void TensorOrder::touch(Warp &warp, Cta &cta, const TensorEvent &event,
                        const std::vector<TensorArea> &areas) {
  auto self = uint32_t(events.size());
  // Neighbouring cells mostly hold the same events: each is judged once.
  uint32_t goodWriter = 0, goodReader = 0;
  bool writes = false;
  auto judge = [&](uint32_t earlier, bool wrote, unsigned column) {
    uint32_t &good = wrote ? goodWriter : goodReader;
    if (!earlier || earlier == good || earlier == self)
      return;
    check(warp, event, {earlier, wrote, writes, column});
    good = earlier;
  };
  events.push_back(event);
  for (const TensorArea &area : areas) {
    writes = area.write;
    goodWriter = goodReader = 0;
    if (area.column + area.count > TensorMemory::kColumns)
      continue; // refused when it executes
    for (unsigned c = area.column; c != area.column + area.count; ++c) {
      Cell *column = cellsOf(cta, c);
      for (unsigned g = 0; g != kGroups; ++g) {
        if (!(area.lanes >> g & 1))
          continue;
        Cell &cell = column[g];
        judge(cell.writer, true, c);
        if (area.write || isFree(event.use)) {
          judge(cell.core, false, c);
          for (uint32_t load : cell.loads)
            judge(load, false, c);
        }
        if (area.write) {
          cell = Cell();
          cell.writer = self;
        } else if (!area.read) {
          continue;
        } else if (event.use == TensorUse::Load) {
          cell.loads[size_t(event.origin.warp) / 4 % 4] = self;
        } else {
          cell.core = self;
        }
      }
    }
  }
  if (event.use == TensorUse::Multiply)
    lastMultiply = self;
}

void TensorOrder::free(Warp &warp, Cta &cta, const Origin &origin,
                       unsigned column, unsigned count) {
  TensorEvent event;
  event.use = warp.cta == &cta ? TensorUse::Free : TensorUse::FreeOfPeer;
  event.origin = origin;
  touch(warp, cta, event, {{column, count}});
}

void TensorOrder::allocate(Cta &cta, unsigned column, unsigned count) {
  Cell *first = cellsOf(cta, column);
  std::fill(first, first + size_t(count) * kGroups, Cell());
}

void TensorOrder::commit(Warp &warp, const Origin &origin, unsigned group,
                         bool readsA) {
  auto lane = unsigned(origin.lane);
  Queue own = group == 2 ? Queue::Tensor2 : Queue::Tensor1;
  Stamp other =
      order.last(warp, lane, group == 2 ? Queue::Tensor1 : Queue::Tensor2);
  if (other.time > committed[other.component])
    reportHazard(
        cluster, origin, Hazard::CommitOfOtherGroup, FindingKind::Descriptor,
        "tcgen05.commit with cta_group::" + std::to_string(group) +
            " after operations with cta_group::" + std::to_string(3 - group));
  if (readsA)
    return;
  Stamp last = order.last(warp, lane, own);
  uint32_t &covered = committed[last.component];
  if (last.time > covered)
    covered = last.time;
  else
    stray.push_back(uint32_t(events.size()) - 1);
}

void TensorOrder::fenceBefore(const Warp &warp) {
  Component own = warp.order->component;
  std::vector<BeforeFence> &fences = beforeFences[own];
  auto count = uint32_t(events.size());
  if (fences.empty() || fences.back().events != count)
    fences.push_back({count, warp.order->clock.at(own)});
}

bool TensorOrder::splitOverPair(const Cta &cta, uint32_t offset) const {
  uint32_t peer = cta.rank ^ 1;
  if (peer >= cluster.ctas.size())
    return false;
  MBarrier *own = barrierAt(*cluster.ctas[cta.rank], offset, false),
           *other = barrierAt(*cluster.ctas[peer], offset, false);
  bool split = own && other && own->tx() > 0 && other->tx() < 0;
  return split && std::find(pairBarriers.begin(), pairBarriers.end(),
                            offset | peer << kRankShift) != pairBarriers.end();
}

bool TensorOrder::knowsPeer(const Warp &warp) const {
  size_t peer = warp.cta->rank ^ 1;
  if (peer >= cluster.ctas.size())
    return false;
  for (const auto &other : cluster.ctas[peer]->warps)
    if (order.knows(warp, {other->order->component, 1}, View::Relaxed))
      return true;
  return false;
}

} // namespace blockscale::emulator::machine
