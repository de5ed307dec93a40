//===- TensorCore.h - how NVIDIA's tensor cores compute ---------*- C++ -*-===//
//
// Part of the blockscale project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The lowering of products for NVIDIA's chips: an instruction and a schedule.
//
//===----------------------------------------------------------------------===//

#ifndef BLOCKSCALE_DIALECT_BLOCKSCALE_IR_TENSORCORE_H
#define BLOCKSCALE_DIALECT_BLOCKSCALE_IR_TENSORCORE_H

#include "blockscale/Dialect/Blockscale/IR/Blockscale.h"

namespace blockscale {

/// The instruction, and the schedule, that is wished for or chosen for `op`;
/// null if there is none.
MmaAttr getMma(MatmulOp op);
ScheduleAttr getSchedule(MatmulOp op);

/// The schedule, or one in which everything is left open.
ScheduleAttr getScheduleWish(MatmulOp op);

/// Chooses instruction and schedule; either may be null.
void setTensorCore(MatmulOp op, MmaAttr mma, ScheduleAttr schedule);

/// Reads the clauses `mma` and `schedule`; null if there is neither.
mlir::FailureOr<TensorCoreAttr> parseTensorCoreClauses(mlir::AsmParser &parser);

} // namespace blockscale

#endif // BLOCKSCALE_DIALECT_BLOCKSCALE_IR_TENSORCORE_H
