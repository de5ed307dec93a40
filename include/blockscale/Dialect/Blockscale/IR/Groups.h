//===- Groups.h - products of groups of rows --------------------*- C++ -*-===//
//
// Part of the blockscale project, under the Apache License v2.0 with LLVM
// Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef BLOCKSCALE_DIALECT_BLOCKSCALE_IR_GROUPS_H
#define BLOCKSCALE_DIALECT_BLOCKSCALE_IR_GROUPS_H

#include "blockscale/Dialect/Blockscale/IR/Blockscale.h"

namespace blockscale {

/// Why no kernel computes a product whose rows are in groups; empty if one can.
std::optional<Reason> whyNotGrouped(MmaAttr mma, Scheduler scheduler,
                                    int64_t splits, hw::Target target);

/// The most rows that the scales of `rows` rows in `groups` groups take where
/// each group starts at a multiple of 128 rows.
mlir::AffineExpr groupedScaleRows(mlir::AffineExpr rows,
                                  mlir::AffineExpr groups);

} // namespace blockscale

#endif // BLOCKSCALE_DIALECT_BLOCKSCALE_IR_GROUPS_H
