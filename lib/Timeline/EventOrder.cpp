//===- EventOrder.cpp - events in the order of their times ----------------===//
//
// Part of the blockscale project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "EventOrder.h"

#include <cassert>

using namespace blockscale::timeline;
using blockscale::emulator::Event;
using blockscale::emulator::EventKind;

namespace {

bool isArrival(const Event &event) {
  return event.kind == EventKind::Arrive ||
         event.kind == EventKind::AsyncArrive ||
         event.kind == EventKind::BarrierArrive;
}

bool isWait(const Event &event) {
  return event.kind == EventKind::Wait || event.kind == EventKind::BarrierWait;
}

/// What an arrival counts on and a wait waits for.
auto phaseOf(const Event &event) {
  bool ofWarps = event.kind == EventKind::BarrierArrive ||
                 event.kind == EventKind::BarrierWait;
  bool ofCta =
      ofWarps && event.barrier != blockscale::emulator::kClusterBarrier;
  return std::tuple(event.barrier, ofCta ? event.cta : 0u, event.phase,
                    ofWarps);
}

} // namespace

void EventOrder::hold(const Event &event) {
  warps[{event.cta, event.warp}].push_back(event);
  ++count;
  if (isArrival(event))
    ++arrivals[phaseOf(event)];
}

bool EventOrder::isReady(const Event &event) const {
  return !isWait(event) || !arrivals.count(phaseOf(event));
}

/// Of what is held the event that was told first is ready, so that there is
/// one.
Event EventOrder::take(Warps::iterator warp) {
  assert(warp != warps.end() && "nobody waits for what was told later");
  Event event = warp->second.front();
  warp->second.pop_front();
  if (warp->second.empty())
    warps.erase(warp);
  --count;
  if (isArrival(event))
    if (auto phase = arrivals.find(phaseOf(event)); --phase->second == 0)
      arrivals.erase(phase);
  return event;
}
