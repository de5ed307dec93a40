//===- Arrays.h - arguments and results of functions ------------*- C++ -*-===//
//
// Part of the blockscale project, under the Apache License v2.0 with LLVM
// Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef BLOCKSCALE_LIB_EXECUTE_ARRAYS_H
#define BLOCKSCALE_LIB_EXECUTE_ARRAYS_H

#include "blockscale/Dialect/Blockscale/IR/Blockscale.h"

#include <vector>

namespace blockscale::execute {

/// An array in the memory of the host, row-major, or a number (without sizes).
struct HostArray {
  mlir::Type element;
  std::vector<int64_t> sizes;
  bool isNumber = false;
  /// Memory that the function may write: what a memref is.
  bool isMemory = false;
  std::vector<uint8_t> bytes;

  uint64_t count() const;
  /// The bits of an element.
  llvm::APInt bitsOf(uint64_t index) const;
  void setBits(uint64_t index, const llvm::APInt &bits);
  /// An element as a number; codes of formats without sign are positive.
  double valueOf(uint64_t index) const;
};

/// Bytes of an element in memory, as LLVM stores it.
unsigned bytesOf(mlir::Type element);

/// What inputs are like.
enum class Fill {
  /// Small integers and powers of two: sums of products of them are exact.
  Exact,
  /// Numbers of all mantissas, moderate in size.
  Random
};

/// `type` with the sizes `shape`; a reason where no scaled tensor has them.
Result<ScaledTensorType> withShape(ScaledTensorType type,
                                   llvm::ArrayRef<int64_t> shape);

/// Values for an argument of type `type` with the sizes `shape`: its parts if
/// it is a scaled tensor, otherwise one array or number; memrefs are row-major.
/// One of type index is the one element of `shape`, if that has one. Tensors
/// that are scales of others have positive elements. Fails, with a reason, for
/// other types.
mlir::FailureOr<std::vector<HostArray>>
makeArgument(mlir::Type type, Fill fill, llvm::ArrayRef<int64_t> shape,
             bool isScales, uint64_t &seed, std::string &reason);

/// The types of the arrays, as tensors, and numbers that a value of type `type`
/// becomes; fails as makeArgument does.
mlir::FailureOr<llvm::SmallVector<mlir::Type>> plainTypes(mlir::Type type,
                                                          std::string &reason);

} // namespace blockscale::execute

#endif // BLOCKSCALE_LIB_EXECUTE_ARRAYS_H
