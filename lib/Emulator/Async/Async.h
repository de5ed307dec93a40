//===- Async.h - effects of asynchronous operations -------------*- C++ -*-===//
//
// Part of the blockscale project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef BLOCKSCALE_LIB_EMULATOR_ASYNC_ASYNC_H
#define BLOCKSCALE_LIB_EMULATOR_ASYNC_ASYNC_H

#include "../Order/Order.h"

namespace blockscale::emulator::machine {

/// A finding of an operation that completes later; ends the run.
void asyncFault(Cluster &cluster, const Origin &origin, FindingKind kind,
                std::string message, uint64_t address,
                Hazard hazard = Hazard::None);

/// The mbarrier at a shared address with rank; null after a report.
MBarrier *asyncBarrier(Cluster &cluster, const Origin &origin,
                       uint32_t address);

/// One arrival on the mbarrier at a shared address with rank. In strict mode it
/// passes `covered` on.
void arriveOn(Cluster &cluster, const Origin &origin, uint32_t address,
              const std::shared_ptr<const Clock> &covered);
/// An arrival before which the expected count went up by one, so that the count
/// stays: it only passes `covered` on.
void arriveUncounted(Cluster &cluster, const Origin &origin, uint32_t address,
                     const std::shared_ptr<const Clock> &covered);
/// The completion of `bytes` on that mbarrier, by the transaction `operation`.
void completeOn(Cluster &cluster, const Origin &origin, uint32_t address,
                uint32_t bytes, Stamp operation,
                BarrierVisit::Kind kind = BarrierVisit::Copy);

/// Strict mode: a transaction that will complete on the mbarrier at a shared
/// address with rank. Without strict mode, and where there is no mbarrier, the
/// stamp says nothing.
Stamp beginTransaction(Exec &x, const Origin &origin, uint32_t address,
                       BarrierVisit::Kind kind = BarrierVisit::Copy);

} // namespace blockscale::emulator::machine

#endif // BLOCKSCALE_LIB_EMULATOR_ASYNC_ASYNC_H
