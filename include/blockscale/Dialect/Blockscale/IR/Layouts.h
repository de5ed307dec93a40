//===- Layouts.h - HW's layouts in MLIR's terms -----------------*- C++ -*-===//
//
// Part of the blockscale project, under the Apache License v2.0 with LLVM
// Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Which of HW's layouts the attributes name, and shapes and affine maps that
// follow from them.
//
//===----------------------------------------------------------------------===//

#ifndef BLOCKSCALE_DIALECT_BLOCKSCALE_IR_LAYOUTS_H
#define BLOCKSCALE_DIALECT_BLOCKSCALE_IR_LAYOUTS_H

#include "blockscale/Dialect/Blockscale/IR/Blockscale.h"
#include "blockscale/HW/Layout.h"
#include "mlir/IR/AffineMap.h"

namespace blockscale {

/// The layout of scales, from row (tile along the rows) and block (tile along
/// K) to the dimensions of their tensor behind a batch dimension.
const hw::Layout &getScaleStorage(ScaleLayout layout);

/// The layout of sparsity metadata beside such scales; a block is what one byte
/// describes.
const hw::Layout &getMetadataStorage(ScaleLayout layout);

/// Whether `type` is scales of A with one row to a lane: 128 rows whose words
/// follow each other.
bool isRowPerLane(TensorMemoryType type);

/// The layout of scales or metadata in tensor memory, from row, block and
/// replica to lane, column and byte. `type` is no accumulator.
hw::Layout getPlaces(TensorMemoryType type);

/// The shape of `layout` for that many rows and blocks; what depends on a
/// dynamic one is dynamic.
llvm::SmallVector<int64_t> getStorageShape(const hw::Layout &layout,
                                           int64_t rows, int64_t blocks);

/// (row, block) -> dimensions of storage.
mlir::AffineMap getStorageMap(const hw::Layout &layout,
                              mlir::MLIRContext *context);

/// Dimensions of storage -> (row, block), for places in the padding too.
mlir::AffineMap getInverseStorageMap(const hw::Layout &layout,
                                     mlir::MLIRContext *context);

/// `layout` as bytes in memory for `rows` rows and `k` elements along K, of
/// which each block has `blockSize`.
hw::StorageLayout<mlir::AffineExpr> getStorageBytes(const hw::Layout &layout,
                                                    mlir::AffineExpr rows,
                                                    mlir::AffineExpr k,
                                                    int64_t blockSize);

} // namespace blockscale

#endif // BLOCKSCALE_DIALECT_BLOCKSCALE_IR_LAYOUTS_H
