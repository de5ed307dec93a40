//===- Machine.cpp - runs a kernel ----------------------------------------===//
//
// Part of the blockscale project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "blockscale/Emulator/Machine.h"

#include "../Ptx/Targets.h"
#include "Launch.h"
#include "Observer.h"

#include <algorithm>

namespace blockscale::emulator {

Counters &Counters::operator+=(const Counters &other) {
  instructions += other.instructions;
  for (size_t i = 0; i != mmas.size(); ++i)
    mmas[i] += other.mmas[i];
  macs += other.macs;
  warpMmas += other.warpMmas;
  tensorCopies += other.tensorCopies;
  tmaLoadBytes += other.tmaLoadBytes;
  tmaStoreBytes += other.tmaStoreBytes;
  barrierWaits += other.barrierWaits;
  commits += other.commits;
  clusters += other.clusters;
  return *this;
}

namespace machine {

Warp::Warp() = default;
Warp::~Warp() = default;
Cluster::Cluster(Grid &grid) : grid(grid) {}
Cluster::~Cluster() = default;
Grid::Grid(const Program &program, const Launch &launch, const Options &options)
    : program(program), launch(launch), options(options),
      sms(options.sms ? options.sms : smCount(program.module->target)),
      tensorColumns(emulator::tensorColumns(program.module->target)),
      wideMma(hasFeature(program.module->target, TargetFeature::WideMma)) {
  if (options.strict)
    memoryOrder = std::make_unique<GridOrder>(program);
}
Grid::~Grid() = default;

/// Why a CTA cannot have that much shared memory, if it cannot.
static std::optional<std::string> whyNotShared(uint64_t bytes,
                                               const Module &module,
                                               const Launch &launch,
                                               const Options &options) {
  uint32_t standard = sharedCapacity(module.target);
  uint32_t oversized = oversizedSharedCapacity(module.target);
  uint32_t room = options.sharedBytes ? options.sharedBytes : standard;
  if (launch.oversizedShared)
    room = std::max(room, oversized);
  if (bytes <= room)
    return std::nullopt;
  std::string text = "the kernel needs " + std::to_string(bytes) +
                     " bytes of shared memory, " +
                     (options.sharedBytes ? "the device" : module.target) +
                     " has " + std::to_string(room);
  if (oversized > room && bytes <= oversized)
    text += "; " + std::to_string(oversized) +
            " where the launch allows oversized shared memory";
  return text;
}

/// Bytes of registers and local memory of a cluster.
constexpr uint64_t kMaxThreadState = uint64_t(1) << 30;

} // namespace machine

RunResult run(const Module &module, const Launch &launch,
              const Options &options) {
  return run(Kernel(module, launch.kernel), launch, options);
}

RunResult run(const Kernel &kernel, const Launch &launch,
              const Options &options) {
  using namespace machine;
  if (options.strict && kernel.function() &&
      kernel.function()->name.find(options.strictKernel) == std::string::npos) {
    Options plain = options;
    plain.strict = false;
    return run(kernel, launch, plain);
  }
  RunResult result;
  result.findings = kernel.refusals();
  if (!result.findings.empty() ||
      !checkShape(*kernel.function(), launch, result.findings))
    return result;
  const Program &program = *kernel.program;
  const Module &module = *program.module;
  uint64_t shared = uint64_t(program.dynamicShared) + launch.dynamicSharedBytes;
  if (auto reason = whyNotShared(shared, module, launch, options)) {
    refuse(result.findings, *reason);
    return result;
  }
  uint64_t warps = (launch.block.count() + 31) / 32 * launch.cluster.count();
  uint64_t state = warps * (program.registerBytes + 32 * program.localBytes);
  if (state > kMaxThreadState) {
    refuse(result.findings, "the threads of a cluster need " +
                                std::to_string(state) +
                                " bytes of registers and local memory, a run "
                                "has " +
                                std::to_string(kMaxThreadState));
    return result;
  }
  Grid grid(program, launch, options);
  std::vector<uint64_t> bases;
  placeVariables(launch, program, grid.memory);
  placeBuffers(launch, program, grid.memory, bases, result.findings);
  if (!result.findings.empty() ||
      !fillParameters(*kernel.function(), launch, bases, grid.memory,
                      result.findings) ||
      !chooseClusters(launch, options, grid.order, result.findings))
    return result;
  if (grid.memoryOrder) {
    grid.memoryOrder->cover(grid.memory.regions);
    for (const Region &region : grid.memory.regions)
      if (region.fromPreviousGrid)
        grid.memoryOrder->presetPrevious(region.base, region.size);
  }
  runGrid(grid, result);
  result.stopped =
      options.stop && options.stop->load(std::memory_order_relaxed);
  return result;
}

} // namespace blockscale::emulator
