//===- WarpSchedule.h - schedules of warp-level kernels ---------*- C++ -*-===//
//
// Part of the blockscale project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef BLOCKSCALE_LIB_DIALECT_BLOCKSCALE_TRANSFORMS_SCHEDULE_WARPSCHEDULE_H
#define BLOCKSCALE_LIB_DIALECT_BLOCKSCALE_TRANSFORMS_SCHEDULE_WARPSCHEDULE_H

#include "blockscale/Dialect/Blockscale/IR/Blockscale.h"
#include "blockscale/HW/Target.h"

namespace blockscale {

/// Why a product with a sparse A does not exchange its operands.
inline constexpr llvm::StringLiteral kWhyNotSwapSparse =
    "a sparse 'a' supplies the rows of the instruction, so "
    "'swap_operands' must be false";

/// A complete instruction and schedule.
struct WarpSchedule {
  MmaAttr mma;
  ScheduleAttr schedule;
};

/// The fastest legal completion of `op`'s schedule on `target`, a chip without
/// tensor memory. A dynamic size counts as `expectedRows`. Emits an error and
/// fails if what the user wrote rules out all of them.
mlir::FailureOr<WarpSchedule> selectWarpSchedule(MatmulOp op, hw::Target target,
                                                 int64_t expectedRows);

} // namespace blockscale

#endif // BLOCKSCALE_LIB_DIALECT_BLOCKSCALE_TRANSFORMS_SCHEDULE_WARPSCHEDULE_H
