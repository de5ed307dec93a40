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
// Components are numbered per cluster. What a warp knows of other clusters is a
// Frontier: times of each of them, flat, in a tree whose parts are shared by
// all who know the same. Barriers of the whole grid and chains of flags so cost
// what they change, not what has gathered.
//
//===----------------------------------------------------------------------===//

#ifndef BLOCKSCALE_LIB_EMULATOR_ORDER_CLOCK_H
#define BLOCKSCALE_LIB_EMULATOR_ORDER_CLOCK_H

#include <algorithm>
#include <array>
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

/// The times of the components of one cluster.
class Times {
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
  void join(const Times &other) {
    grow(other.times.size());
    for (size_t i = 0; i != other.times.size(); ++i)
      times[i] = std::max(times[i], other.times[i]);
  }
  /// Takes over the components that `wanted` says.
  template <typename F> void joinSome(const Times &other, F &&wanted) {
    grow(other.times.size());
    for (size_t i = 0; i != other.times.size(); ++i)
      if (wanted(Component(i / kStride)))
        times[i] = std::max(times[i], other.times[i]);
  }
  /// Takes over what a relaxed arrival or wait passes on.
  void joinRelaxed(const Times &other) {
    grow(other.times.size());
    for (View view : {View::Relaxed, View::BarrierInit})
      joinView(view, other, view);
  }
  /// What happened before in `other` is so in `view` here.
  void joinView(View view, const Times &other, View from = View::Happens) {
    grow(other.times.size());
    for (size_t i = 0; i != other.times.size(); i += kStride)
      times[i + size_t(view)] =
          std::max(times[i + size_t(view)], other.times[i + size_t(from)]);
  }

  /// These are all times that a warp knew at a point of its life, which nobody
  /// comes to know otherwise.
  void sign(Stamp stamp) { author = stamp; }
  /// Whether `other` has nothing new.
  bool covers(const Times &other) const;

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
  Stamp author; ///< time 0: of several warps
};

/// One of a row of frontiers each of which has all that those before it have.
struct Edition {
  uint64_t row = 0, number = 0; ///< row 0: of none
};

/// Times by cluster; copies are cheap and share what they have in common.
class Frontier {
public:
  /// Null if nothing is known of the cluster.
  const Times *of(uint64_t cluster) const;
  /// Takes over what is known of a cluster.
  void add(uint64_t cluster, const std::shared_ptr<const Times> &times);
  /// Takes over all of `other`; false if that is nothing new.
  bool join(const Frontier &other);
  bool empty() const { return !root; }
  /// Says which edition this is.
  void name(Edition edition);
  /// Whether the two are known to be equal.
  bool same(const Frontier &other) const { return root == other.root; }

private:
  struct Node;
  using NodePtr = std::shared_ptr<const Node>;
  enum Side : unsigned { Neither, First, Second, Either };
  static Side join(const NodePtr &a, const NodePtr &b, NodePtr &both);
  static NodePtr with(const NodePtr &node, uint64_t cluster,
                      const std::shared_ptr<const Times> &times);
  bool includes(Edition edition) const;
  void include(Edition edition);

  NodePtr root;
  Edition self;
  /// Some that this one has joined, to save looking into them again.
  std::array<Edition, 3> parts;
};

/// What a release to other warps, of any cluster, passes on.
struct Message {
  Frontier happens, reached; ///< as in Clock
  /// What its author knew of the own cluster; null if there is none.
  std::shared_ptr<const Times> own;
  uint64_t cluster = 0;
  bool afterPrevious = false; ///< the grids before this one are complete

  void join(const Message &other) {
    happens.join(other.happens);
    reached.join(other.reached);
    if (other.own)
      happens.add(other.cluster, other.own);
    afterPrevious |= other.afterPrevious;
  }
};

/// What is known inside a cluster: its own times, and those of others.
class Clock : public Times {
public:
  void join(const Clock &other) {
    Times::join(other);
    others.join(other.others);
    othersReached.join(other.othersReached);
  }
  /// Takes over what a warp of any cluster released; `self` is the own one.
  void join(const Message &message, uint64_t self);
  /// What a warp of `self` with this clock releases at `now`.
  Message message(uint64_t self, Stamp now) const;

  /// All that happened before is so in `view` too.
  void promote(View view) {
    joinView(view, *this);
    if (view == View::ReachedGlobal)
      othersReached.join(others);
  }
  bool knowsOther(uint64_t cluster, Stamp stamp,
                  View view = View::Happens) const {
    const Times *times = others.of(cluster);
    if (times && times->knows(stamp, view))
      return true;
    const Times *reached =
        view == View::ReachedGlobal ? othersReached.of(cluster) : nullptr;
    return reached && reached->knows(stamp);
  }

private:
  /// What happened before in other clusters, and what of it is followed by a
  /// fence.proxy.async for global memory. Entries of the own cluster are of no
  /// use, and stay because a shared tree has them.
  Frontier others, othersReached;
};

} // namespace blockscale::emulator::machine

#endif // BLOCKSCALE_LIB_EMULATOR_ORDER_CLOCK_H
