//===- Launch.h - from a launch to running clusters -------------*- C++ -*-===//
//
// Part of the blockscale project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef BLOCKSCALE_LIB_EMULATOR_RUN_LAUNCH_H
#define BLOCKSCALE_LIB_EMULATOR_RUN_LAUNCH_H

#include "Control.h"

namespace blockscale::emulator::machine {

using Findings = std::vector<Finding>;

/// Records that the launch cannot be run.
void refuse(Findings &findings, std::string message,
            Hazard hazard = Hazard::None);

/// Whether grid, cluster and block are possible and are what the kernel asks
/// for.
bool checkShape(const Function &kernel, const Launch &launch, Findings &out);

/// The storage of the module's variables: the caller's, or fresh copies.
void placeVariables(const Launch &launch, const Program &program,
                    Memory &memory);

/// Gives every buffer its address; refuses those that the caller has placed in
/// the way of others.
void placeBuffers(const Launch &launch, const Program &program, Memory &memory,
                  std::vector<uint64_t> &bases, Findings &out);

/// Lays the arguments out as the kernel's parameters.
bool fillParameters(const Function &kernel, const Launch &launch,
                    const std::vector<uint64_t> &bases, Memory &memory,
                    Findings &out);

/// The clusters to run, in their order.
bool chooseClusters(const Launch &launch, const Options &options,
                    std::vector<uint64_t> &order, Findings &out);

/// Builds the CTAs and warps of a cluster, at the entry of the kernel.
void startCluster(Cluster &cluster, uint64_t id);

/// Runs all clusters on host threads and collects what they found.
void runGrid(Grid &grid, RunResult &result);

} // namespace blockscale::emulator::machine

#endif // BLOCKSCALE_LIB_EMULATOR_RUN_LAUNCH_H
