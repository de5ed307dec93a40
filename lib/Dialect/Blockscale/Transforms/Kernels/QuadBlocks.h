//===- QuadBlocks.h - blocks of rows out of fragments -----------*- C++ -*-===//
//
// Part of the blockscale project, under the Apache License v2.0 with LLVM
// Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef BLOCKSCALE_LIB_DIALECT_BLOCKSCALE_TRANSFORMS_KERNELS_QUADBLOCKS_H
#define BLOCKSCALE_LIB_DIALECT_BLOCKSCALE_TRANSFORMS_KERNELS_QUADBLOCKS_H

#include "KernelBuilder.h"

namespace blockscale {

/// Lanes that have a row of a fragment together, and the rows that they
/// exchange at once.
inline constexpr int64_t kQuad = 4;

/// Numbers of a lane of a quad: of each of four rows, or from each of its
/// lanes.
using QuadNumbers = std::array<llvm::SmallVector<mlir::Value>, kQuad>;

/// The four lanes of a quad have parts of the same four rows. Gives lane number
/// `lane` what all of them have of row number `lane`, those of lane 0 first. A
/// whole warp executes it.
QuadNumbers exchangeInQuad(KernelBuilder &b, QuadNumbers rows,
                           mlir::Value lane);

/// Lanes that have a column of a fragment together, a quad apart.
inline constexpr int64_t kLanesOfColumn = 8;

/// Numbers of such a lane: of each of eight columns, or from each of them.
using ColumnNumbers =
    std::array<llvm::SmallVector<mlir::Value>, kLanesOfColumn>;

/// The same for the eight lanes that have parts of the same eight columns.
ColumnNumbers exchangeInColumn(KernelBuilder &b, ColumnNumbers columns,
                               mlir::Value lane);

} // namespace blockscale

#endif // BLOCKSCALE_LIB_DIALECT_BLOCKSCALE_TRANSFORMS_KERNELS_QUADBLOCKS_H
