//===- Control.h - moving lanes between program counters --------*- C++ -*-===//
//
// Part of the blockscale project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef BLOCKSCALE_LIB_EMULATOR_RUN_CONTROL_H
#define BLOCKSCALE_LIB_EMULATOR_RUN_CONTROL_H

#include "../Program/Decoder.h"
#include "State.h"

namespace blockscale::emulator::machine {

/// Sends each lane to its own target; lanes outside the mask go on.
Step scatterLanes(Exec &x, const uint32_t *target);

/// A call of a function that the machine provides: __assertfail and vprintf.
bool decodeExternCall(Decoder &d, const Instruction &in, Record &r,
                      const Function &callee);

/// Ends `lanes` of the running group; the others go to the next instruction.
void exitLanes(Exec &x, uint32_t lanes);

/// Runs one warp until it blocks, ends, yields or has used `quantum`
/// instructions. True if it did something other than wait.
bool runWarp(Cluster &cluster, Warp &warp, unsigned quantum);

/// Whether some group of the warp may go on.
bool runnable(const Cluster &cluster, const Warp &warp);

/// The barrier that the first waiting lane of an mbarrier wait polls, or null.
MBarrier *waitedBarrier(Exec &x, const Record &r);
/// Of an mbarrier wait: the offset of the barrier that a lane polls, and the
/// lanes that found it complete.
uint32_t waitedOffset(const Exec &x, const Record &r, unsigned lane);
uint32_t satisfiedLanes(const Exec &x, const Record &r);

/// The number of the CTA barrier that a bar or barrier instruction names.
uint32_t barrierNumber(const Exec &x, const Record &r);

enum class Outcome : uint8_t { Ended, Spins };

/// Runs a cluster to its end, reports deadlocks and leaks. Comes back early,
/// to be called again, when all its warps wait or spin, so that only a write of
/// another cluster can help.
Outcome runCluster(Cluster &cluster);

/// Whether all warps of the cluster wait or repeat themselves without writing,
/// as far as `steps` instructions of each show.
bool spinsForever(Cluster &cluster, uint64_t steps);

/// Lets each warp of a cluster that spins go on until it has read global memory
/// once.
void lookAgain(Cluster &cluster);

/// One finding per waiting group: what it waits for, with the objects' state,
/// who has been there and who could still come.
void reportDeadlock(Cluster &cluster, bool polling);

/// The cluster has ended and an mbarrier of `cta` expects other bytes than were
/// delivered.
void reportUnbalanced(Cluster &cluster, Cta &cta, const MBarrier &barrier);

/// The entry of the catalogue for a group that waits for ever, mbarriers aside;
/// 0 if none fits. `polling`: it runs without getting anywhere.
Hazard stuckRule(const Cluster &cluster, const Warp &warp, const Group &group,
                 bool polling);

} // namespace blockscale::emulator::machine

#endif // BLOCKSCALE_LIB_EMULATOR_RUN_CONTROL_H
