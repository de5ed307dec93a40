//===- Timeline.h - estimated times of a kernel's operations ----*- C++ -*-===//
//
// Part of the blockscale project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Replays the events of one cluster (Emulator/Events.h) with the throughput
// model (HW/Throughput.h): program order in each warp, phases of mbarriers
// between them, one tensor core, one TMA port and one store path in each SM.
// Cycles are those of the SM clock. All of it is an estimate: no number was
// measured with the kernel.
//
//===----------------------------------------------------------------------===//

#ifndef BLOCKSCALE_TIMELINE_TIMELINE_H
#define BLOCKSCALE_TIMELINE_TIMELINE_H

#include "blockscale/Emulator/Events.h"
#include "blockscale/Emulator/Machine.h"
#include "blockscale/HW/Part.h"

#include <array>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

namespace blockscale::timeline {

/// Where the kernel runs, and what one cluster does not show.
struct Conditions {
  hw::Part part;
  /// Clock of the SMs in GHz; 0 is the boost clock.
  double clockGhz = 0;
  /// CTAs of the grid and of a cluster.
  uint64_t gridCtas = 1, clusterCtas = 1;
  /// Bytes of global memory that the kernel was given: each crosses the memory
  /// bus once at least.
  uint64_t memoryBytes = 0;
  /// Whether what threads of an epilogue load takes time.
  bool countsRowLoads = true;
};

/// Those of a launch on `part` at its boost clock.
Conditions conditionsOf(const emulator::Launch &launch, const hw::Part &part);

/// What the tensor core's time went to.
enum class Use : uint8_t {
  Array,        ///< multiplied
  OperandFetch, ///< waited for operands from shared memory
  Issue,        ///< shortest interval of MMAs
  Stages,       ///< waited for the latency of loads that no stage hid
  L2,           ///< waited for the transfer of loads
  Epilogue,     ///< waited for the epilogue, or was done before it
  Other         ///< copies of scales, barriers, the issuing thread itself
};
inline constexpr size_t kUses = 7;

/// "array", "operand fetch", "issue", "stages", "L2", "epilogue", "other".
std::string_view useName(Use use);

/// One bar of the picture.
struct Slice {
  uint32_t cta = 0;
  std::string track; ///< "tensor core", "warp 0 (TMA)", "TMA", ...
  std::string name;
  double start = 0, end = 0; ///< cycles
  uint32_t line = 0;         ///< of the PTX
};

struct Estimate {
  std::vector<Slice> slices; ///< ordered by CTA, track and start
  double clockGhz = 0;
  /// Of the cluster, from its start to its last operation.
  double cycles = 0;
  /// How often the grid fills the part, one CTA to an SM.
  uint64_t waves = 1;
  /// Microseconds of the grid: the waves, or, if that takes longer, the memory
  /// between the cluster's first load and its last. Launch is not in it.
  double microseconds = 0, memoryMicroseconds = 0;
  /// Shares of the cluster's time by what its tensor cores did; they sum to 1.
  /// All 0 in a kernel without matrix instructions.
  std::array<double, kUses> shares{};
  /// Share of the grid's time in which the multipliers work.
  double tensorCoreBusy = 0;
  /// "array", ..., "memory", or "no matrix instruction".
  std::string_view bound;
};

/// Takes events in the order in which the emulator gives them.
class Timeline {
public:
  explicit Timeline(const Conditions &conditions);
  ~Timeline();
  void add(const emulator::Event &event);
  Estimate finish();

private:
  class Replay;
  std::unique_ptr<Replay> replay;
};

} // namespace blockscale::timeline

#endif // BLOCKSCALE_TIMELINE_TIMELINE_H
