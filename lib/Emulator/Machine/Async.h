//===- Async.h - effects of asynchronous operations -------------*- C++ -*-===//
//
// Part of the blockscale project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef BLOCKSCALE_LIB_EMULATOR_MACHINE_ASYNC_H
#define BLOCKSCALE_LIB_EMULATOR_MACHINE_ASYNC_H

#include "State.h"

namespace blockscale::emulator::machine {

/// A finding of an operation that completes later; ends the run.
void asyncFault(Cluster &cluster, const Origin &origin, FindingKind kind,
                std::string message, uint64_t address);

/// The mbarrier at a shared address with rank; null after a report.
MBarrier *asyncBarrier(Cluster &cluster, const Origin &origin,
                       uint32_t address);

/// One arrival, and the completion of `bytes`, on the mbarrier at a shared
/// address with rank.
void arriveOn(Cluster &cluster, const Origin &origin, uint32_t address);
void completeOn(Cluster &cluster, const Origin &origin, uint32_t address,
                uint32_t bytes);

} // namespace blockscale::emulator::machine

#endif // BLOCKSCALE_LIB_EMULATOR_MACHINE_ASYNC_H
