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

/// One arrival on the mbarrier at a shared address with rank.
void arriveOn(Cluster &cluster, const Origin &origin, uint32_t address,
              const Ticket &ticket);
/// An arrival before which the expected count went up by one, so that the count
/// stays.
void arriveUncounted(Cluster &cluster, const Origin &origin, uint32_t address,
                     const Ticket &ticket);
/// The completion of `bytes` on that mbarrier, by a transaction.
void completeOn(Cluster &cluster, const Origin &origin, uint32_t address,
                uint32_t bytes, const Ticket &ticket,
                BarrierVisit::Kind kind = BarrierVisit::Copy);

/// What a copy found in its data, for the mbarrier at that address, which must
/// have room for it: before the completion of its bytes.
void reportOn(Cluster &cluster, const Origin &origin, uint32_t address,
              bool found);

/// A transaction that will complete on the mbarrier at a shared address with
/// rank.
Ticket beginTransaction(const Exec &x, const Origin &origin, uint32_t address,
                        BarrierVisit::Kind kind = BarrierVisit::Copy);

} // namespace blockscale::emulator::machine

#endif // BLOCKSCALE_LIB_EMULATOR_ASYNC_ASYNC_H
