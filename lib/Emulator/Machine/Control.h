//===- Control.h - moving lanes between program counters --------*- C++ -*-===//
//
// Part of the blockscale project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef BLOCKSCALE_LIB_EMULATOR_MACHINE_CONTROL_H
#define BLOCKSCALE_LIB_EMULATOR_MACHINE_CONTROL_H

#include "Decoder.h"

namespace blockscale::emulator::machine {

/// Ends `lanes` of the running group; the others go to the next instruction.
void exitLanes(Exec &x, uint32_t lanes);

/// Runs one warp until it blocks, ends, yields or has used `quantum`
/// instructions. True if it did something other than wait.
bool runWarp(Cluster &cluster, Warp &warp, unsigned quantum);

/// Whether some group of the warp may go on.
bool runnable(const Cluster &cluster, const Warp &warp);

/// The barrier that the first waiting lane of an mbarrier wait polls, or null.
MBarrier *waitedBarrier(Exec &x, const Record &r);

/// Runs a cluster to its end, reports deadlocks and leaks.
void runCluster(Cluster &cluster);

} // namespace blockscale::emulator::machine

#endif // BLOCKSCALE_LIB_EMULATOR_MACHINE_CONTROL_H
