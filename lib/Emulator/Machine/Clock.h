//===- Clock.h - what a warp knows of the others ----------------*- C++ -*-===//
//
// Part of the blockscale project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A vector clock has a time per component: a warp, an mbarrier, a queue of
// asynchronous operations. Component c at time t in the clock of a warp means
// that everything which c did up to t happened before what the warp does now.
// The other views answer the same question for weaker or stronger relations,
// and travel along the same edges.
//
//===----------------------------------------------------------------------===//

#ifndef BLOCKSCALE_LIB_EMULATOR_MACHINE_CLOCK_H
#define BLOCKSCALE_LIB_EMULATOR_MACHINE_CLOCK_H

#include <algorithm>
#include <cstdint>
#include <memory>
#include <utility>
#include <vector>

namespace blockscale::emulator::machine {

using Component = uint32_t;
/// The grids before this one: griddepcontrol.wait brings it to time 1.
inline constexpr Component kPreviousGrids = 0;
/// A stamp with this component is not complete yet: its time is an index into
/// the operations of Order, which know the real stamp later.
inline constexpr Component kOperation = ~Component(0);

/// One point in the life of a component.
struct Stamp {
  Component component = kPreviousGrids;
  uint32_t time = 0;
};

enum class View : uint8_t {
  Happens, ///< happens before, in the memory model
  Relaxed, ///< would, if relaxed arrivals and waits ordered memory
  /// mbarrier.init, which fence.mbarrier_init alone makes visible.
  BarrierInit,
  /// Generic accesses to shared memory followed by fence.proxy.async of the
  /// thread that made them; of any thread that they happened before.
  FencedShared,
  ReachedShared,
  /// The latter for global memory.
  ReachedGlobal,
  /// Followed by fence.proxy.tensormap::generic.release of the same thread.
  MapReleased,
  /// Followed by tcgen05.fence::after_thread_sync.
  TensorFenced,
  Count,
};

class Clock {
public:
  uint32_t at(Component component, View view = View::Happens) const {
    size_t i = size_t(component) * kStride + size_t(view);
    return i < times.size() ? times[i] : 0;
  }
  bool knows(Stamp stamp, View view = View::Happens) const {
    return stamp.component != kOperation &&
           stamp.time <= at(stamp.component, view);
  }
  void raise(Stamp stamp, View view) {
    uint32_t &time = slot(stamp.component, view);
    time = std::max(time, stamp.time);
  }
  /// Same, for Happens and with it Relaxed.
  void raise(Stamp stamp) {
    raise(stamp, View::Happens);
    raise(stamp, View::Relaxed);
  }
  /// Takes over what `other` knows.
  void join(const Clock &other) {
    grow(other.times.size());
    for (size_t i = 0; i != other.times.size(); ++i)
      times[i] = std::max(times[i], other.times[i]);
    for (const auto &[cluster, clock] : other.others)
      joinOther(cluster, clock);
  }
  /// Takes over the components that `wanted` says.
  template <typename F> void joinSome(const Clock &other, F &&wanted) {
    grow(other.times.size());
    for (size_t i = 0; i != other.times.size(); ++i)
      if (wanted(Component(i / kStride)))
        times[i] = std::max(times[i], other.times[i]);
  }
  /// Takes over what a relaxed arrival or wait passes on.
  void joinRelaxed(const Clock &other) {
    grow(other.times.size());
    for (size_t i = 0; i != other.times.size(); i += kStride)
      for (View view : {View::Relaxed, View::BarrierInit}) {
        uint32_t &time = times[i + size_t(view)];
        time = std::max(time, other.times[i + size_t(view)]);
      }
  }
  /// All that happened before is so in `view` too.
  void promote(View view) {
    for (size_t i = 0; i != times.size(); i += kStride)
      times[i + size_t(view)] = std::max(times[i + size_t(view)], times[i]);
  }
  /// The clock of a warp of another cluster; null if nothing is known of it.
  const Clock *other(uint64_t cluster) const {
    auto it = find(cluster);
    return it != others.end() && it->first == cluster ? it->second.get()
                                                      : nullptr;
  }
  /// Takes over a clock of another cluster.
  void joinOther(uint64_t cluster, const std::shared_ptr<const Clock> &clock) {
    auto it = others.begin() + (find(cluster) - others.cbegin());
    if (it == others.end() || it->first != cluster) {
      others.emplace(it, cluster, clock);
    } else if (it->second != clock) {
      auto both = std::make_shared<Clock>(*it->second);
      both->join(*clock);
      it->second = std::move(both);
    }
  }
  /// Takes over what a clock of another cluster knows of third ones.
  void joinOthersOf(const Clock &clock, uint64_t self) {
    for (const auto &[cluster, one] : clock.others)
      if (cluster == self)
        join(*one);
      else
        joinOther(cluster, one);
  }

private:
  /// Times of a component lie together, with room for one more view.
  static constexpr size_t kStride = 8;
  static_assert(size_t(View::Count) <= kStride);

  void grow(size_t size) {
    if (times.size() < size)
      times.resize(size);
  }
  uint32_t &slot(Component component, View view) {
    grow((size_t(component) + 1) * kStride);
    return times[size_t(component) * kStride + size_t(view)];
  }

  std::vector<uint32_t> times;
  using Others = std::vector<std::pair<uint64_t, std::shared_ptr<const Clock>>>;
  Others::const_iterator find(uint64_t cluster) const {
    return std::lower_bound(
        others.begin(), others.end(), cluster,
        [](const auto &one, uint64_t id) { return one.first < id; });
  }
  Others others; ///< by cluster
};

} // namespace blockscale::emulator::machine

#endif // BLOCKSCALE_LIB_EMULATOR_MACHINE_CLOCK_H
