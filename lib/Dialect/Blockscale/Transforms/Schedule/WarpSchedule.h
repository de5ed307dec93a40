//===- WarpSchedule.h - schedules of warp-level kernels ---------*- C++ -*-===//
//
// Part of the blockscale project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef BLOCKSCALE_LIB_DIALECT_BLOCKSCALE_TRANSFORMS_SCHEDULE_WARPSCHEDULE_H
#define BLOCKSCALE_LIB_DIALECT_BLOCKSCALE_TRANSFORMS_SCHEDULE_WARPSCHEDULE_H

#include "blockscale/Dialect/Blockscale/IR/Blockscale.h"
#include "blockscale/Dialect/Blockscale/Transforms/ScheduleChoices.h"
#include "blockscale/HW/Target.h"

namespace blockscale {

/// Why a product with a sparse A does not exchange its operands.
inline constexpr llvm::StringLiteral kWhyNotSwapSparse =
    "a sparse 'a' supplies the rows of the instruction, so "
    "'swap_operands' must be false";

/// Calls `add` with each completion of `op`'s schedule on `target`, a chip
/// without tensor memory, or with why it is not legal. A dynamic size counts as
/// `expectedRows`.
void listWarpSchedules(MatmulOp op, hw::Target target, int64_t expectedRows,
                       llvm::function_ref<void(Result<ScheduleChoice>)> add);

} // namespace blockscale

#endif // BLOCKSCALE_LIB_DIALECT_BLOCKSCALE_TRANSFORMS_SCHEDULE_WARPSCHEDULE_H
