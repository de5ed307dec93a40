//===- WarpSchedules.h - schedules without tensor memory --------*- C++ -*-===//
//
// Part of the blockscale project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef BLOCKSCALE_DIALECT_BLOCKSCALE_IR_WARPSCHEDULES_H
#define BLOCKSCALE_DIALECT_BLOCKSCALE_IR_WARPSCHEDULES_H

#include "blockscale/Dialect/Blockscale/IR/Blockscale.h"

namespace blockscale {

/// Why `schedule` asks for a cluster or for accumulators that kernels of chips
/// without tensor memory do not have; empty if it does not, or on other chips.
std::optional<Reason> whyNotWarpSchedule(ScheduleAttr schedule,
                                         hw::Target target);

/// Why warps of `schedule` do not multiply and store tiles in turns, whose
/// elements of D are `element`, null if they are not stored as numbers; empty
/// if all warps share a tile.
std::optional<Reason> whyNotConsumerGroups(ScheduleAttr schedule,
                                           mlir::Type element,
                                           hw::Target target);

} // namespace blockscale

#endif // BLOCKSCALE_DIALECT_BLOCKSCALE_IR_WARPSCHEDULES_H
