//===- Timeline.cpp - estimated times of a kernel's operations ------------===//
//
// Part of the blockscale project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Replay.h"

#include <algorithm>

using namespace blockscale;
using namespace blockscale::timeline;

Conditions blockscale::timeline::conditionsOf(const emulator::Launch &launch,
                                              const hw::Part &part) {
  Conditions conditions;
  conditions.part = part;
  conditions.gridCtas = launch.grid.count();
  conditions.clusterCtas = launch.cluster.count();
  for (const emulator::Buffer &buffer : launch.buffers)
    conditions.memoryBytes += buffer.size;
  return conditions;
}

std::string_view blockscale::timeline::useName(Use use) {
  switch (use) {
  case Use::Array:
    return "array";
  case Use::OperandFetch:
    return "operand fetch";
  case Use::Issue:
    return "issue";
  case Use::Stages:
    return "stages";
  case Use::L2:
    return "L2";
  case Use::Epilogue:
    return "epilogue";
  case Use::Other:
    return "other";
  }
  return "";
}

std::string Timeline::Replay::trackName(const RawSlice &slice) const {
  switch (slice.track) {
  case TrackKind::Load:
    return "TMA loads";
  case TrackKind::TensorCopy:
    return "tensor copies";
  case TrackKind::TensorCore:
    return slice.index ? "tensor core " + std::to_string(slice.index)
                       : "tensor core";
  case TrackKind::Store:
    return "stores";
  case TrackKind::Barriers:
    return "barriers";
  case TrackKind::Warp:
    break;
  }
  const WarpState &warp = warps.at({slice.cta, slice.index});
  std::string role = warp.multiplies && warp.loads ? " (TMA, MMA)"
                     : warp.multiplies             ? " (MMA)"
                     : warp.loads                  ? " (TMA)"
                     : warp.drains                 ? " (epilogue)"
                                                   : "";
  return "warp " + std::to_string(slice.index) + role;
}

/// Of a warp that diverged, one group of lanes is shown.
bool Timeline::Replay::isDrawn(const RawSlice &slice) const {
  return slice.track != TrackKind::Warp ||
         slice.lanes >> warps.at({slice.cta, slice.index}).leader & 1;
}

/// The longest of the uses.
static Use largest(const std::array<double, kUses> &shares) {
  return Use(std::max_element(shares.begin(), shares.end()) - shares.begin());
}

/// What a core's time went to, to the end of the cluster.
UseTimes Timeline::Replay::timesOf(uint32_t cta, const Core &core,
                                   double cycles) const {
  UseTimes times = core.times;
  // What is left after its last instruction it waits for the epilogue.
  times[size_t(Use::Epilogue)] += cycles - core.free;
  // Loads that keep the port busy are late for its sake.
  constexpr double kBusyPort = 0.9;
  auto port = ports.find(cta);
  if (port == ports.end())
    return times;
  const Queue &loads = port->second.load;
  if (loads.isUsed() && loads.served() > kBusyPort * loads.span())
    std::swap(times[size_t(Use::L2)], times[size_t(Use::Stages)]);
  return times;
}

/// Cycles before the first byte of a load lands and after the last one did: the
/// memory serves the cluster in between only.
double Timeline::Replay::cyclesAroundLoads(double cycles) const {
  double first = cycles, last = 0;
  for (const auto &entry : ports)
    if (const Queue &loads = entry.second.load; loads.isUsed()) {
      first = std::min(first, loads.first());
      last = std::max(last, loads.last());
    }
  return last > 0 ? std::max(0.0, first + cycles - last) : 0;
}

Estimate Timeline::Replay::finish() {
  while (order.held())
    replayNext();
  Estimate result;
  result.clockGhz = clockGhz;
  for (const auto &entry : warps)
    for (const LaneClock &lane : entry.second.lanes)
      result.cycles = std::max({result.cycles, lane.now, lane.stored});
  for (const auto &entry : cores)
    result.cycles = std::max(result.cycles, entry.second.free);

  for (const auto &[key, core] : cores) {
    UseTimes times = timesOf(key.first, core, result.cycles);
    for (size_t use = 0; use != kUses; ++use)
      result.shares[use] += times[use] / result.cycles / double(cores.size());
  }

  uint64_t clusters = conditions.gridCtas / conditions.clusterCtas;
  uint64_t resident = std::max<uint64_t>(
      1,
      hw::residentClusters(conditions.part, unsigned(conditions.clusterCtas)));
  result.waves = (clusters + resident - 1) / resident;
  double computing = double(result.waves) * result.cycles / (clockGhz * 1e3);
  result.memoryMicroseconds = double(conditions.memoryBytes) /
                              (conditions.part.memoryTerabytesPerSecond * 1e6);
  double transferring = result.memoryMicroseconds +
                        cyclesAroundLoads(result.cycles) / (clockGhz * 1e3);
  result.microseconds = std::max(computing, transferring);
  if (result.microseconds > 0)
    result.tensorCoreBusy =
        result.shares[size_t(Use::Array)] * computing / result.microseconds;
  result.bound = cores.empty()              ? "no matrix instruction"
                 : transferring > computing ? "memory"
                                            : useName(largest(result.shares));

  // Loads where they come to lie when all are told.
  for (const auto &entry : ports)
    for (const auto &[at, request] : entry.second.load.all()) {
      slices[request.slice].start = request.end - request.cycles;
      slices[request.slice].end = request.end;
    }
  std::sort(slices.begin(), slices.end(),
            [](const RawSlice &x, const RawSlice &y) {
              return std::tie(x.cta, x.track, x.index, x.start, x.end) <
                     std::tie(y.cta, y.track, y.index, y.start, y.end);
            });
  for (RawSlice &raw : slices)
    if (isDrawn(raw))
      result.slices.push_back({raw.cta, trackName(raw), std::move(raw.name),
                               raw.start, raw.end, raw.line});
  return result;
}

Timeline::Timeline(const Conditions &conditions)
    : replay(std::make_unique<Replay>(conditions)) {}
Timeline::~Timeline() = default;
void Timeline::add(const emulator::Event &event) { replay->add(event); }
Estimate Timeline::finish() { return replay->finish(); }
