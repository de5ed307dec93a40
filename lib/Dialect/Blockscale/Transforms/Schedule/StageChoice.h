//===- StageChoice.h - how deep the rings of a kernel are -------*- C++ -*-===//
//
// Part of the blockscale project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef BLOCKSCALE_LIB_DIALECT_BLOCKSCALE_TRANSFORMS_SCHEDULE_STAGECHOICE_H
#define BLOCKSCALE_LIB_DIALECT_BLOCKSCALE_TRANSFORMS_SCHEDULE_STAGECHOICE_H

#include "../Kernels/Geometry.h"
#include "blockscale/Dialect/Blockscale/IR/Blockscale.h"
#include "blockscale/Dialect/Blockscale/Transforms/Prediction.h"

namespace blockscale {

/// Stages of which more gain nothing.
inline constexpr int64_t kUsefulStages = 8;

/// Stages of A and B, and of scales: 0 if they share one ring with those.
struct RingStages {
  int64_t operands, scales = 0;
};

using PredictStages = llvm::function_ref<ProductPrediction(RingStages)>;

/// The stages that `wish` asks for, or those that are best where it leaves them
/// free, in what `reserved` bytes leave of shared memory; or why there are
/// none. Of `geometry` its stages do not count.
Result<RingStages> chooseStages(ScheduleAttr wish, MmaAttr mma,
                                const TileGeometry &geometry, hw::Target target,
                                int64_t reserved, PredictStages predict);

/// How many times the predicted time of a kernel with `rings` counts beside
/// kernels of other tiles: what a ring of scales gains is the latency of loads,
/// which the model knows least well.
double marginOf(RingStages rings, PredictStages predict);

} // namespace blockscale

#endif // BLOCKSCALE_LIB_DIALECT_BLOCKSCALE_TRANSFORMS_SCHEDULE_STAGECHOICE_H
