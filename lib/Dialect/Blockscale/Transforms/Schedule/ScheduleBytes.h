//===- ScheduleBytes.h - shared memory besides the stages -------*- C++ -*-===//
//
// Part of the blockscale project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef BLOCKSCALE_LIB_DIALECT_BLOCKSCALE_TRANSFORMS_SCHEDULE_SCHEDULEBYTES_H
#define BLOCKSCALE_LIB_DIALECT_BLOCKSCALE_TRANSFORMS_SCHEDULE_SCHEDULEBYTES_H

#include "../Kernels/Geometry.h"
#include "blockscale/Dialect/Blockscale/IR/Blockscale.h"
#include "blockscale/HW/Target.h"

namespace blockscale {

/// Bytes in which threads choose the scales of what they quantise together.
int64_t bytesOfScaleChoice(MatmulOp op, const ScheduleAttr::Fields &fields,
                           hw::Target target);

/// Columns of the product that a thread that brings sums of swapped operands to
/// rows of D needs together; 0 if it stores them as they are.
int64_t broughtColumns(MatmulOp op, bool swap);

/// Rows of D that share a scale; 1 if it has none.
int64_t rowsOfTile(MatmulOp op);

/// Bytes through which sums of swapped operands are brought to rows of D.
int64_t bytesOfExchange(const TileGeometry &geometry, int64_t columns,
                        int64_t rowsOfTile, const ScheduleAttr::Fields &fields,
                        bool isPromoting);

/// Bytes of shared memory besides the stages.
int64_t reservedBytes(const TileGeometry &geometry,
                      const ScheduleAttr::Fields &fields, int64_t bytesD,
                      int64_t bytesC, bool isPromoting);

} // namespace blockscale

#endif // BLOCKSCALE_LIB_DIALECT_BLOCKSCALE_TRANSFORMS_SCHEDULE_SCHEDULEBYTES_H
