//===- Shadow.cpp - who touched which bytes last --------------------------===//
//
// Part of the blockscale project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Shadow.h"

#include <algorithm>

namespace blockscale::emulator::machine {

static uint64_t mix(uint64_t hash, uint64_t value) {
  hash = (hash ^ value) * 0x9E3779B97F4A7C15u;
  return hash ^ hash >> 29;
}

static uint64_t hashOf(const PastAccess &e) {
  uint64_t hash =
      mix(e.cluster, uint64_t(e.stamp.component) << 32 | e.stamp.time);
  return mix(hash, uint64_t(e.line) << 32 | uint64_t(e.flags) << 16 | e.bytes);
}

uint32_t Shadow::intern(const PastAccess &event) {
  if (lastEvent && events[lastEvent] == event)
    return lastEvent;
  uint32_t &id = recall().eventIds[hashOf(event) % kRemembered];
  if (!id || !(events[id] == event)) {
    id = uint32_t(events.size());
    events.push_back(event);
  }
  return lastEvent = id;
}

uint32_t Shadow::internSet(std::vector<uint32_t> members) {
  uint64_t hash = 0;
  for (uint32_t member : members)
    hash = mix(hash, member);
  uint32_t &id = recall().setIds[hash % kRemembered];
  if (!id || membersOf(id) != members) {
    id = uint32_t(sets.size()) | (ofManyClusters(members) ? Cell::kMany : 0);
    sets.push_back(std::move(members));
  }
  return id;
}

bool Shadow::ofManyClusters(const std::vector<uint32_t> &members) const {
  const PastAccess *first = nullptr;
  for (uint32_t member : members) {
    const PastAccess &event = events[member];
    if (event.is(PastAccess::Strong))
      continue;
    if (first && event.cluster != first->cluster)
      return true;
    first = &event;
  }
  return false;
}

/// A read that happened before this one need not be kept: whoever comes after
/// this one comes after both. Only a strong access may meet another strong one
/// without an edge, so it stands for strong ones alone. Of readers of many
/// clusters, none of which happened before this one, no more are kept.
uint32_t Shadow::addReader(uint32_t set, uint32_t reader, const Judge &judge) {
  bool many = set & Cell::kMany;
  if (many && !judge.clustersMet())
    return set;
  Grown &known = recall().grown[mix(set, reader) % kRemembered];
  if (known.result && known.set == set && known.reader == reader)
    return known.result;
  std::vector<uint32_t> members;
  bool strong = events[reader].is(PastAccess::Strong);
  for (uint32_t old : membersOf(set))
    if (!(events[old] == events[reader]) &&
        ((strong && !events[old].is(PastAccess::Strong)) ||
         !judge.before(events[old])))
      members.push_back(old);
  known = {set, reader, set};
  if (many && members.size() == membersOf(set).size())
    return set;
  members.push_back(reader);
  return known.result = internSet(std::move(members));
}

void Shadow::next(Cell cell, Visit &visit, uint64_t address) {
  uint32_t writer = cell.writerId(), readers = cell.readersId();
  const std::vector<uint32_t> &members = membersOf(readers);
  visit.in = cell.bits() & Cell::kNumbers;
  visit.lanes = visit.own = 0;
  visit.kept = visit.write ? 0 : Cell::kWriterLane | Cell::kReaderLane;
  // Lanes may store to one place by one instruction.
  if (writer && !(visit.write && writer == visit.event) &&
      visit.judge.sinceLanesMet(events[writer]))
    visit.lanes |= Cell::kWriterLane;
  if (!members.empty() && visit.judge.sinceLanesMet(events[members.back()]))
    visit.lanes |= Cell::kReaderLane;
  auto check = [&](uint32_t id, bool wrote) {
    Verdict verdict = visit.judge.verdict(events[id], wrote);
    if (verdict != Verdict::Fine)
      visit.judge.conflict(events[id], wrote, verdict, address);
  };
  if (!visit.write) {
    if (writer)
      check(writer, true);
    uint32_t grown = addReader(readers, visit.event, visit.judge);
    visit.isReader = membersOf(grown).back() == visit.event;
    if (visit.isReader) {
      visit.own = Cell::kReaderLane;
      visit.kept = Cell::kWriterLane;
    }
    visit.out = Cell{writer, grown}.bits();
    return;
  }
  // The last write happened before the reads that followed it, so one read
  // with an edge to this access orders the write as well. What was read back
  // has left the generic proxy: the fence that counts is that of the read.
  bool covered = false;
  for (uint32_t id : members) {
    check(id, false);
    covered |=
        !events[id].is(PastAccess::Strong) && visit.judge.before(events[id]);
  }
  if (writer && !covered)
    check(writer, true);
  visit.own = Cell::kWriterLane;
  visit.out = Cell{visit.event, 0}.bits();
}

uint64_t Shadow::withLanes(Cell cell, LaneCode lane, const Visit &visit,
                           uint64_t address) {
  if (visit.lanes & Cell::kWriterLane && cell.writerLane() != lane)
    visit.judge.lanesConflict(events[cell.writerId()], cell.writerLane(), lane,
                              true, address);
  if (visit.write) {
    if (visit.lanes & Cell::kReaderLane && cell.readerLane() != lane)
      visit.judge.lanesConflict(events[membersOf(cell.readersId()).back()],
                                cell.readerLane(), lane, false, address);
    return visit.out | Cell::ofWriter(lane);
  }
  LaneCode reader = cell.readerLane();
  if (visit.isReader)
    reader = visit.lanes & Cell::kReaderLane && reader != lane ? kSeveralLanes
                                                               : lane;
  return visit.out | Cell::ofWriter(cell.writerLane()) | Cell::ofReader(reader);
}

void Shadow::touchBytes(Cell &cell, unsigned first, unsigned count,
                        Visit &visit, const Range &range, uint64_t address) {
  if (cell.writer != kSplit) {
    splits.push_back({cell, cell, cell, cell});
    cell = {kSplit, uint32_t(splits.size() - 1)};
  }
  std::array<Cell, 4> &bytes = splits[cell.splitIndex()];
  for (unsigned i = first; i != first + count; ++i) {
    next(bytes[i], visit, address + i);
    bytes[i] = Cell::of(
        withLanes(bytes[i], range.laneAt(address + i), visit, address + i));
  }
  cell.readers = cell.splitIndex();
  if (std::all_of(bytes.begin(), bytes.end(),
                  [](const Cell &byte) { return byte.isRead(); }))
    cell.readers |= Cell::kMany;
  visit.in = ~uint64_t(0);
}

/// Words of a run, of which each gets `mine` and keeps some bits; the next
/// one's differs by `step`. Returns the first whose numbers are not those of
/// `in`.
template <bool steps, bool keeps>
static size_t fillRun(ShadowPage &cells, size_t run, size_t last, uint64_t in,
                      uint64_t mine, uint64_t step, uint64_t kept) {
  constexpr size_t kAtOnce = 4;
  auto store = [&](size_t i, uint64_t old) {
    cells.storeBits(i, keeps ? mine | (old & kept) : mine);
    if (steps)
      mine += step;
  };
  for (; run + kAtOnce <= last; run += kAtOnce) {
    uint64_t bits[kAtOnce], differ = 0;
    for (size_t i = 0; i != kAtOnce; ++i) {
      bits[i] = cells.loadBits(run + i);
      differ |= bits[i] ^ in;
    }
    if (differ & ShadowCell::kNumbers)
      break;
    for (size_t i = 0; i != kAtOnce; ++i)
      store(run + i, bits[i]);
  }
  for (; run != last; ++run) {
    uint64_t bits = cells.loadBits(run);
    if ((bits ^ in) & ShadowCell::kNumbers)
      break;
    store(run, bits);
  }
  return run;
}

static uint64_t bitsOf(LaneCode lane) {
  return ShadowCell::ofWriter(lane) | ShadowCell::ofReader(lane);
}

/// Cells with equal numbers get equal ones. Returns the first that differs.
size_t Shadow::touchRun(Page &cells, size_t first, size_t last,
                        const Range &range, uint64_t address, Visit &visit) {
  size_t run = first;
  for (; run != last; ++run) {
    uint64_t bits = cells.loadBits(run), at = address + 4 * (run - first);
    if ((bits & Cell::kNumbers) != visit.in)
      break;
    LaneCode lane = range.laneOfWord(at);
    uint64_t mine = bitsOf(lane);
    if ((bits ^ mine) & visit.lanes)
      bits = withLanes(Cell::of(bits), lane, visit, at);
    else
      bits = visit.out | (bits & visit.kept) | (mine & visit.own);
    cells.storeBits(run, bits);
  }
  return run;
}

Shadow::Page &Shadow::page(uint64_t number) {
  Recent &entry = recent[number % recent.size()];
  if (entry.number == number)
    return *entry.page;
  std::unique_ptr<Page> &page = pages[number];
  if (!page) {
    page = std::make_unique<Page>();
    for (const Preset &one : presets)
      for (uint32_t i = 0; i != kPageWords; ++i)
        if (uint64_t at = (number << kPageShift) + 4 * i;
            at >= one.address && at - one.address < one.bytes)
          page->store(i, {one.event, 0});
    if (pageMade)
      pageMade(number << kPageShift, page.get());
  }
  entry = {number, page.get()};
  return *page;
}

void Shadow::touchRange(const Range &range, Visit &visit) {
  uint64_t at = range.address, end = range.address + range.bytes;
  // Lanes that change from word to word, or not at all.
  bool isEven = range.laneShift <= 2 || range.laneShift == kOneLane;
  uint64_t step = range.laneShift == 2 ? bitsOf(1) : 0;
  while (at != end) {
    Page &cells = page(at >> kPageShift);
    uint64_t stop = std::min(end, ((at >> kPageShift) + 1) << kPageShift);
    while (at != stop) {
      size_t index = at >> 2 & (kPageWords - 1);
      size_t last = index + (stop - at) / 4;
      Cell cell = cells.load(index);
      bool isKnown = (cell.bits() & Cell::kNumbers) == visit.in;
      if (isKnown && !visit.lanes && isEven && at % 4 == 0 && last != index) {
        uint64_t lanes = bitsOf(range.laneOfWord(at)) & visit.own;
        auto fill = visit.kept
                        ? step ? fillRun<true, true> : fillRun<false, true>
                    : step ? fillRun<true, false>
                           : fillRun<false, false>;
        size_t next = fill(cells, index, last, visit.in, visit.out | lanes,
                           step & visit.own, visit.kept);
        at += uint64_t(next - index) * 4;
        continue;
      }
      uint64_t word = at & ~uint64_t(3);
      auto first = unsigned(at & 3);
      auto count = unsigned(std::min<uint64_t>(stop - at, 4 - first));
      if (count != 4 || cell.writer == kSplit) {
        touchBytes(cell, first, count, visit, range, word);
        if (count == 4 && visit.write) // the bytes are equal again
          cell = Cell::of(Cell{visit.event, 0}.bits() |
                          Cell::ofWriter(range.laneOfWord(at)));
        cells.store(index, cell);
        at += count;
        continue;
      }
      if (!isKnown)
        next(cell, visit, word);
      else
        at += 4 * (touchRun(cells, index, last, range, word, visit) - index);
    }
  }
}

void Shadow::touch(const Range *ranges, size_t count, const PastAccess &event,
                   bool write, Judge &judge) {
  if (events.size() + sets.size() + splits.size() > limit)
    collect();
  if (events.size() + 1 >= Cell::kWriterId || sets.size() >= Cell::kReadersId)
    forget();
  // No cell has these numbers.
  Visit visit{intern(event), write, judge, ~uint64_t(0), 0, 0, 0, 0, false};
  for (size_t i = 0; i != count; ++i)
    touchRange(ranges[i], visit);
}

std::vector<PastAccess> Shadow::writers(uint64_t address,
                                        uint32_t bytes) const {
  std::vector<uint32_t> ids;
  auto add = [&](uint32_t id) {
    if (id && (ids.empty() || ids.back() != id) &&
        std::find(ids.begin(), ids.end(), id) == ids.end())
      ids.push_back(id);
  };
  const Page *page = nullptr;
  uint64_t number = ~uint64_t(0);
  for (uint64_t at = address, end = address + bytes; at < end;) {
    if (at >> kPageShift != number) {
      number = at >> kPageShift;
      auto it = pages.find(number);
      page = it == pages.end() ? nullptr : it->second.get();
    }
    if (!page) {
      at = (number + 1) << kPageShift;
      continue;
    }
    Cell cell = page->load(at >> 2 & (kPageWords - 1));
    uint64_t next = std::min(end, (at | 3) + 1);
    if (cell.writer != kSplit)
      add(cell.writerId());
    else
      for (; at != next; ++at)
        add(splits[cell.splitIndex()][at & 3].writerId());
    at = next;
  }
  std::vector<PastAccess> result;
  for (uint32_t id : ids)
    result.push_back(events[id]);
  return result;
}

void Shadow::preset(uint64_t address, uint64_t bytes, const PastAccess &event) {
  presets.push_back({address, bytes, intern(event)});
}

void Shadow::collect() {
  std::vector<PastAccess> oldEvents(1);
  std::vector<std::vector<uint32_t>> oldSets(1);
  std::deque<std::array<Cell, 4>> oldSplits;
  oldEvents.swap(events);
  oldSets.swap(sets);
  oldSplits.swap(splits);
  recalled.reset();
  lastEvent = 0;
  std::vector<uint32_t> newEvent(oldEvents.size()), newSet(oldSets.size());
  auto keepEvent = [&](uint32_t &event) {
    if (event && !newEvent[event])
      newEvent[event] = intern(oldEvents[event]);
    event = newEvent[event];
  };
  auto keep = [&](Cell &cell) {
    uint32_t writer = cell.writerId();
    keepEvent(writer);
    uint32_t old = cell.readers & Cell::kReadersId;
    if (old && !newSet[old]) {
      std::vector<uint32_t> members = oldSets[old];
      for (uint32_t &member : members)
        keepEvent(member);
      newSet[old] = internSet(std::move(members));
    }
    cell = Cell::of(Cell{writer, newSet[old]}.bits() |
                    (cell.bits() & ~Cell::kNumbers));
  };
  for (Preset &one : presets)
    keepEvent(one.event);
  for (auto &[number, page] : pages)
    for (uint32_t i = 0; i != kPageWords; ++i) {
      Cell cell = page->load(i);
      if (cell.writer != kSplit) {
        keep(cell);
      } else {
        splits.push_back(oldSplits[cell.splitIndex()]);
        cell.readers =
            uint32_t(splits.size() - 1) | (cell.readers & Cell::kMany);
        for (Cell &byte : splits.back())
          keep(byte);
      }
      page->store(i, cell);
    }
  limit = std::max<size_t>(kLeastLimit,
                           2 * (events.size() + sets.size() + splits.size()));
}

/// What comes after races with nothing that came before: better than numbers
/// that mean two things.
void Shadow::forget() {
  for (auto &[number, page] : pages)
    for (uint32_t i = 0; i != kPageWords; ++i)
      page->store(i, {});
  presets.clear();
  splits.clear();
  events.resize(1);
  sets.resize(1);
  recalled.reset();
  lastEvent = 0;
  limit = kLeastLimit;
}

} // namespace blockscale::emulator::machine
