//===- FloatResults.h - results under float scales --------------*- C++ -*-===//
//
// Part of the blockscale project, under the Apache License v2.0 with LLVM
// Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// What products know that quantise their results under one f32 for a row and a
// block of columns, and those that do so with promoted sums.
//
//===----------------------------------------------------------------------===//

#ifndef BLOCKSCALE_DIALECT_BLOCKSCALE_IR_FLOATRESULTS_H
#define BLOCKSCALE_DIALECT_BLOCKSCALE_IR_FLOATRESULTS_H

#include "blockscale/Dialect/Blockscale/IR/Blockscale.h"

namespace blockscale {

/// Whether the scales of a tensor of this type are f32.
bool hasFloatScales(ScaledTensorType type);

/// Columns of a tile, at the most, where sums are promoted; and of a thread
/// where those of a tile are a multiple.
inline constexpr int64_t kMostPromotedColumns = 128, kPromotedColumns = 32;

/// The same of tiles whose result has blocks as wide as they are: a thread has
/// half of the columns there.
inline constexpr int64_t kWidestPromotedColumns = 2 * kMostPromotedColumns;

/// Columns of a tile, at the most, where sums are promoted and a block of a
/// quantised result is made of `columns` of the product, 0 if it is not
/// quantised.
inline int64_t mostPromotedColumns(int64_t columns) {
  return columns >= kWidestPromotedColumns ? kWidestPromotedColumns
                                           : kMostPromotedColumns;
}

} // namespace blockscale

#endif // BLOCKSCALE_DIALECT_BLOCKSCALE_IR_FLOATRESULTS_H
