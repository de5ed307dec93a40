//===- Pairs.h - pairs of columns that make one of D ------------*- C++ -*-===//
//
// Part of the blockscale project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef BLOCKSCALE_DIALECT_BLOCKSCALE_IR_PAIRS_H
#define BLOCKSCALE_DIALECT_BLOCKSCALE_IR_PAIRS_H

#include "blockscale/Dialect/Blockscale/IR/Blockscale.h"

namespace blockscale {

/// Why a kernel for `target` with this schedule cannot make one element of D of
/// two neighbouring sums, which a thread must have both of; empty if it can.
std::optional<Reason> whyNotPairs(ScheduleAttr schedule, hw::Target target);

/// Half of a size: the columns of D for those of the product.
mlir::OpFoldResult halfOf(mlir::OpBuilder &builder, mlir::Location loc,
                          mlir::OpFoldResult size);

} // namespace blockscale

#endif // BLOCKSCALE_DIALECT_BLOCKSCALE_IR_PAIRS_H
