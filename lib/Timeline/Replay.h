//===- Replay.h - the machine that events are replayed on -------*- C++ -*-===//
//
// Part of the blockscale project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef BLOCKSCALE_LIB_TIMELINE_REPLAY_H
#define BLOCKSCALE_LIB_TIMELINE_REPLAY_H

#include "EventOrder.h"
#include "Port.h"
#include "blockscale/HW/Throughput.h"
#include "blockscale/Timeline/Timeline.h"

#include <map>
#include <tuple>
#include <utility>

namespace blockscale::timeline {

using UseTimes = std::array<double, kUses>;

/// When a phase of a barrier ended, and what was last.
struct PhaseEnd {
  double time = 0;
  Use blame = Use::Other;
  void reach(double at, Use by) {
    if (at >= time) {
      time = at;
      blame = by;
    }
  }
};

/// Lanes that run together.
struct LaneClock {
  double now = 0;
  /// What they waited for since their last matrix instruction.
  UseTimes waited{};
  /// When the asynchronous operation that they issued last takes effect.
  PhaseEnd async;
  /// When the stores that they issued have left shared memory.
  double stored = 0;
};

/// Loads from global memory, the first of which has this number, and when they
/// are there.
struct LoadsUnderWay {
  uint32_t first;
  double there;
};

struct WarpState {
  std::array<LaneClock, 32> lanes;
  /// By the number of the last one.
  std::map<uint32_t, LoadsUnderWay> loadsUnderWay;
  bool loads = false, multiplies = false, drains = false;
  /// Whether it is known to read sums of tensor memory some time, and else to
  /// write to shared memory what others read there.
  bool willDrain = false, provides = false;
  /// The lane whose waits are drawn: one that issues, if any does.
  uint32_t leader = 0;
};

/// A tensor core: of a CTA, of a pair, or of a quarter of an SM for mma.sync.
struct Core {
  double free = 0;
  UseTimes times{};
  /// tcgen05.cp: when the last one is done, and whether MMAs followed it.
  double copied = 0;
  bool copiedLast = false;
  double lastStart = 0, lastLatency = 0;
};

/// What the CTAs of a cluster have one of each.
struct SmPorts {
  Queue load;
  Port tensorLoad, convert, store, sharedLoad;
  /// Instructions of each quarter, one a cycle.
  std::array<Port, 4> issue;
  /// What it sends to other CTAs of the cluster.
  Port remoteStore;
};

enum class TrackKind : uint8_t {
  Load,
  TensorCopy,
  TensorCore,
  Store,
  Barriers,
  Warp
};

struct RawSlice {
  uint32_t cta;
  TrackKind track;
  uint32_t index; ///< of the warp or the core
  uint32_t lanes;
  double start, end;
  uint32_t line;
  std::string name;
};

class Timeline::Replay {
public:
  explicit Replay(const Conditions &conditions);
  void add(const emulator::Event &event);
  Estimate finish();

private:
  using Event = emulator::Event;
  using BarrierPhase = std::tuple<uint32_t, uint32_t, int64_t>;

  /// When the lanes of an event come to it.
  LaneClock &clockOf(const Event &event);
  /// Notes what an event that is yet to be replayed says of its warp.
  void foresee(const Event &event);
  void replayNext();
  void work(const Event &event, LaneClock &lane);
  double request(const Event &event, const LaneClock &lane);
  void loadRows(const Event &event, LaneClock &lane);
  void issue(const Event &event, LaneClock &lane);
  void load(const Event &event, LaneClock &lane);
  void store(const Event &event, LaneClock &lane);
  void storeRemote(const Event &event, LaneClock &lane);
  void multiply(const Event &event, LaneClock &lane);
  void warpMultiply(const Event &event, LaneClock &lane);
  void copyScales(const Event &event, LaneClock &lane);
  void commit(const Event &event, LaneClock &lane);
  void readTensor(const Event &event, LaneClock &lane);
  void arrive(const Event &event, LaneClock &lane);
  void wait(const Event &event, LaneClock &lane);
  void barrierWait(const Event &event, LaneClock &lane);
  /// The operation itself, after the work before it.
  void perform(const Event &event, LaneClock &lane);
  WarpState &warpOf(const Event &event) {
    return warps[{event.cta, event.warp}];
  }
  /// Notes that the lanes issue what other warps or units wait for.
  void lead(const Event &event);
  /// Moves lanes to `time`, which `blame` set.
  void waitUntil(const Event &event, LaneClock &lane, const PhaseEnd &end,
                 std::string name);
  /// Runs `step` cycles on a core: the gap before them goes to what the
  /// lanes waited for. Returns when it starts.
  double occupy(Core &core, LaneClock &lane, double earliest, double cycles);
  Core &coreOf(const Event &event);
  void slice(const Event &event, TrackKind track, double start, double end,
             std::string name, uint32_t index = 0);
  std::string trackName(const RawSlice &slice) const;
  UseTimes timesOf(uint32_t cta, const Core &core, double cycles) const;
  double cyclesAroundLoads(double cycles) const;
  bool isDrawn(const RawSlice &slice) const;
  double cyclesOf(double microseconds) const {
    return microseconds * clockGhz * 1e3;
  }

  EventOrder order;
  Conditions conditions;
  double clockGhz, loadBytesPerCycle, loadLatency;
  std::map<std::pair<uint32_t, uint32_t>, WarpState> warps;
  std::map<uint32_t, SmPorts> ports;
  std::map<std::pair<uint32_t, uint32_t>, Core> cores;
  std::map<BarrierPhase, PhaseEnd> phases;
  std::map<BarrierPhase, std::pair<double, unsigned>> gatherings;
  std::vector<RawSlice> slices;
};

} // namespace blockscale::timeline

#endif // BLOCKSCALE_LIB_TIMELINE_REPLAY_H
