//===- StorageAccess.h - a scaled tensor in a kernel's memory ---*- C++ -*-===//
//
// Part of the blockscale project, under the Apache License v2.0 with LLVM
// Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef BLOCKSCALE_LIB_DIALECT_BLOCKSCALE_TRANSFORMS_KERNELS_STORAGEACCESS_H
#define BLOCKSCALE_LIB_DIALECT_BLOCKSCALE_TRANSFORMS_KERNELS_STORAGEACCESS_H

#include "blockscale/Dialect/Blockscale/IR/Numbers.h"
#include "blockscale/Dialect/Blockscale/IR/Quantization.h"

namespace blockscale {

/// Threads of a CTA of kernels whose threads work each for itself: those that
/// quantise and those that convert.
inline constexpr int64_t kElementwiseThreads = 128;

/// The widest access of one thread in bytes.
inline constexpr int64_t kAccessBytes = 16;

/// The number of the thread among all of such a launch, i32.
mlir::Value threadNumber(Emitter &emitter);

/// A block of a matrix, by i32 numbers.
struct BlockPlace {
  mlir::Value matrix, row, block;
};

/// Where the parts of a scaled tensor lie, for the sizes of a launch.
class StorageAccess {
public:
  /// `sizes` by the symbols that `storage` has for them, i32.
  StorageAccess(Emitter &emitter, const QuantizedStorage &storage,
                llvm::ArrayRef<mlir::Value> sizes);

  /// A size or stride for the sizes of the launch. All are positive.
  mlir::Value extentOf(mlir::AffineExpr expression, mlir::Type type);

  /// The first byte of the row of a block in the memory of elements, i64.
  mlir::Value lineOffset(const BlockPlace &place);
  /// The byte of the scale of a block in memory, computed in i32 or i64.
  mlir::Value scaleOffset(const BlockPlace &place, mlir::Type type);

  /// The number of the f32 scale of a block in memory, i64.
  mlir::Value floatNumber(const BlockPlace &place);

  /// The byte of `place` in the bytes of rows and blocks that `layout` places.
  mlir::Value placeOffset(const hw::StorageLayout<mlir::AffineExpr> &layout,
                          const BlockPlace &place, mlir::Type type);

  /// Whole words, i32, of global memory from element `number` on, i64, where a
  /// piece begins of so many bytes that all follow each other.
  llvm::SmallVector<mlir::Value> loadWords(mlir::Value memory,
                                           mlir::Value number, int64_t bytes);
  void storeWords(mlir::Value memory, mlir::Value number,
                  llvm::ArrayRef<mlir::Value> words);

  /// Element `number`, i64, of global memory.
  mlir::Value loadNumber(mlir::Value memory, mlir::Value number);
  /// Stores a byte of i8.
  void storeByte(mlir::Value memory, mlir::Value offset, mlir::Value byte);
  /// Stores the lowest `count` bytes of an i32, a power of two by whose
  /// multiple they lie in memory.
  void storeBytes(mlir::Value memory, mlir::Value offset, mlir::Value word,
                  int64_t count);

protected:
  mlir::Value add(mlir::Value x, mlir::Value y);
  mlir::Value mul(mlir::Value x, mlir::Value y);
  /// As i64.
  mlir::Value wide(mlir::Value x);
  mlir::Value wide(int64_t x);

  Emitter &e;
  const QuantizedStorage &storage;

private:
  llvm::SmallVector<mlir::Value> sizes;
};

} // namespace blockscale

#endif // BLOCKSCALE_LIB_DIALECT_BLOCKSCALE_TRANSFORMS_KERNELS_STORAGEACCESS_H
