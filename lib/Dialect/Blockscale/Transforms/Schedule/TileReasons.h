//===- TileReasons.h - why a tile is none of a tensor core's ----*- C++ -*-===//
//
// Part of the blockscale project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef BLOCKSCALE_LIB_DIALECT_BLOCKSCALE_TRANSFORMS_SCHEDULE_TILEREASONS_H
#define BLOCKSCALE_LIB_DIALECT_BLOCKSCALE_TRANSFORMS_SCHEDULE_TILEREASONS_H

#include "../Kernels/Geometry.h"
#include "TileChoices.h"
#include "blockscale/Dialect/Blockscale/Transforms/Prediction.h"

namespace blockscale {

/// Why several tiles of `tileN` columns, `clusterN` of a cluster beside each
/// other, do not start where scales of `problem` do.
std::optional<Reason> whyNotTileN(const ProblemSizes &problem, MmaAttr mma,
                                  int64_t tileN, int64_t clusterN);

/// Why the rows of the wish are none of the choice's instructions.
std::optional<Reason> whyNotTileM(ScheduleAttr wish, MmaAttr mma,
                                  const TileChoice &choice, hw::Target target);

/// Why the accumulators of two instructions do not fit beside the scales.
std::optional<Reason> whyNotColumns(const TileGeometry &geometry,
                                    hw::Target target);

} // namespace blockscale

#endif // BLOCKSCALE_LIB_DIALECT_BLOCKSCALE_TRANSFORMS_SCHEDULE_TILEREASONS_H
