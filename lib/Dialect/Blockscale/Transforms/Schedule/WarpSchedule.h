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

/// Numbers of parts of K that are compared.
inline constexpr int64_t kSplitCandidates[] = {2, 3,  4,  5,  6,
                                               8, 12, 16, 24, 32};

/// Waves of tiles that parts of K may make more of. A size that only the host
/// knows may be anything, and the workspace grows with it: then K is split for
/// SMs that would be idle, not for the last wave.
int64_t mostWavesOfParts(const ProductSizes &sizes);

/// Calls `add` with each completion of `op`'s schedule on `target`, a chip
/// without tensor memory, or with why it is not legal. A dynamic size counts as
/// `expectedRows`.
void listWarpSchedules(MatmulOp op, hw::Target target, int64_t expectedRows,
                       llvm::function_ref<void(Result<ScheduleChoice>)> add);

/// What the formula has for `op` with the schedule that it has, on such a chip.
double predictWarpMicroseconds(MatmulOp op, int64_t expectedRows);

} // namespace blockscale

#endif // BLOCKSCALE_LIB_DIALECT_BLOCKSCALE_TRANSFORMS_SCHEDULE_WARPSCHEDULE_H
