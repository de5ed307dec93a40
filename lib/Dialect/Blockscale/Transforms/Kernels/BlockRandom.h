//===- BlockRandom.h - what a block is random by ----------------*- C++ -*-===//
//
// Part of the blockscale project, under the Apache License v2.0 with LLVM
// Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef BLOCKSCALE_LIB_DIALECT_BLOCKSCALE_TRANSFORMS_KERNELS_BLOCKRANDOM_H
#define BLOCKSCALE_LIB_DIALECT_BLOCKSCALE_TRANSFORMS_KERNELS_BLOCKRANDOM_H

#include "blockscale/Dialect/Blockscale/IR/Blockscale.h"
#include "blockscale/Dialect/Blockscale/IR/Numbers.h"

namespace blockscale {

/// What the elements of a block are rounded by at random. The first one has
/// number `first`, an i64, in the whole input.
class BlockRandom {
public:
  /// Of blocks of `block` elements, rounded as `what` says.
  BlockRandom(Emitter &emitter, QuantizationAttr what, int64_t block);

  /// Whether elements share random bits as `cvt.rs` has them.
  bool areShared() const;
  /// The random numbers of two elements each, in an i32.
  llvm::SmallVector<mlir::Value> pairs(mlir::Value first);
  /// The bits of each four elements that share theirs.
  llvm::SmallVector<mlir::Value> sharedBits(mlir::Value first);
  /// The number of each element, i32, of either kind.
  llvm::SmallVector<mlir::Value> numbers(mlir::Value first);

private:
  uint64_t seed() const;
  llvm::SmallVector<mlir::Value> halvesOf(llvm::ArrayRef<mlir::Value> words);
  llvm::SmallVector<mlir::Value> sharedNumbers(mlir::Value first);

  Emitter &e;
  QuantizationAttr what;
  int64_t block;
};

} // namespace blockscale

#endif // BLOCKSCALE_LIB_DIALECT_BLOCKSCALE_TRANSFORMS_KERNELS_BLOCKRANDOM_H
