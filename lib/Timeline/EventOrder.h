//===- EventOrder.h - events in the order of their times --------*- C++ -*-===//
//
// Part of the blockscale project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef BLOCKSCALE_LIB_TIMELINE_EVENTORDER_H
#define BLOCKSCALE_LIB_TIMELINE_EVENTORDER_H

#include "blockscale/Emulator/Events.h"

#include <cstddef>
#include <deque>
#include <map>
#include <tuple>
#include <utility>

namespace blockscale::timeline {

/// The emulator runs a warp until it has to wait, so that it tells what one
/// warp does long before what another one does at the same time. Who is served
/// first would then depend on that, and not on who comes first. Here events
/// wait until theirs is the earliest warp: in the order of each warp, and of
/// those for which nothing is missing that was told before.
class EventOrder {
public:
  void hold(const emulator::Event &event);
  std::size_t held() const { return count; }

  /// Takes out the event whose warp `timeOf` says is the earliest one. Some
  /// event must be held.
  template <typename TimeOf> emulator::Event next(TimeOf timeOf) {
    auto best = warps.end();
    double least = 0;
    for (auto warp = warps.begin(); warp != warps.end(); ++warp) {
      const emulator::Event &event = warp->second.front();
      if (!isReady(event))
        continue;
      double time = timeOf(event);
      if (best == warps.end() || time < least) {
        best = warp;
        least = time;
      }
    }
    return take(best);
  }

private:
  using Warps =
      std::map<std::pair<uint32_t, uint32_t>, std::deque<emulator::Event>>;
  /// Barrier, CTA where it has one, phase, and whether it is no mbarrier.
  using Phase = std::tuple<uint32_t, uint32_t, int64_t, bool>;

  bool isReady(const emulator::Event &event) const;
  emulator::Event take(Warps::iterator warp);

  Warps warps; ///< none without events
  /// Arrivals that are held.
  std::map<Phase, unsigned> arrivals;
  std::size_t count = 0;
};

} // namespace blockscale::timeline

#endif // BLOCKSCALE_LIB_TIMELINE_EVENTORDER_H
