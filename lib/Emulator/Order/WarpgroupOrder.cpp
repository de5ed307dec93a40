//===- WarpgroupOrder.cpp - registers that wgmma uses ---------------------===//
//
// Part of the blockscale project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "WarpgroupOrder.h"

#include <algorithm>

namespace blockscale::emulator::machine {

static bool has(Slots slots, Slot slot) {
  return std::find(slots.begin(), slots.end(), slot) != slots.end();
}

static bool meet(Slots a, Slots b) {
  return std::any_of(a.begin(), a.end(),
                     [&](Slot slot) { return has(b, slot); });
}

static bool same(Slots a, Slots b) {
  return std::equal(a.begin(), a.end(), b.begin(), b.end());
}

std::optional<WarpgroupOrder::Use> WarpgroupOrder::use(const Flow &flow) {
  std::optional<Use> found;
  auto look = [&](Slot slot, bool reads) {
    if (slot & kConstantBank)
      return;
    used[slot >> 6] = true;
    auto met =
        std::find_if(running.begin(), running.end(), [&](const Multiply &one) {
          return has(one.d, slot) || (!reads && has(one.a, slot));
        });
    if (met == running.end())
      return;
    found = Use{met->line, has(met->d, slot), reads};
    running.erase(met);
  };
  for (Slot slot : flow.sources)
    look(slot, true);
  for (Slot slot : flow.data)
    look(slot, true);
  for (Slot slot : flow.destinations)
    look(slot, false);
  return found;
}

void WarpgroupOrder::fence() {
  wasFenced = true;
  used.assign(used.size(), false);
}

bool WarpgroupOrder::fenced(Slots d, Slots a) const {
  auto untouched = [&](Slots slots) {
    return std::none_of(slots.begin(), slots.end(), [&](Slot slot) {
      return !(slot & kConstantBank) && used[slot >> 6];
    });
  };
  return wasFenced && untouched(d) && untouched(a);
}

uint32_t WarpgroupOrder::overlaps(Slots d, Slots a) const {
  for (const Multiply &one : running)
    if ((!same(d, one.d) && meet(d, one.d)) || meet(d, one.a) || meet(a, one.d))
      return one.line;
  return 0;
}

void WarpgroupOrder::issue(Stamp stamp, Slots d, Slots a, uint32_t line) {
  running.push_back({stamp, d, a, line});
}

void WarpgroupOrder::wait(uint32_t count) {
  running.erase(std::remove_if(running.begin(), running.end(),
                               [&](const Multiply &one) {
                                 return one.stamp.time <= count;
                               }),
                running.end());
}

} // namespace blockscale::emulator::machine
