//===- Differences.h - what two ways of one function differ by --*- C++ -*-===//
//
// Part of the blockscale project, under the Apache License v2.0 with LLVM
// Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef BLOCKSCALE_LIB_EXECUTE_DIFFERENCES_H
#define BLOCKSCALE_LIB_EXECUTE_DIFFERENCES_H

#include "blockscale/Dialect/Blockscale/IR/Blockscale.h"
#include "llvm/ADT/DenseMap.h"

namespace blockscale::execute {

/// What a value may differ by from one way of running a function to the other.
enum class Difference {
  /// Nothing: no product is part of it, or one whose sums are exact.
  None,
  /// What sums differ by in which products are added up in another order.
  Sums,
  /// What numbers differ by that follow from rounded sums: where a sum is near
  /// the middle of two codes its last bit decides.
  Codes
};

/// The differences of the values of one function. What several blocks, or a
/// region, make counts as codes.
class Differences {
public:
  /// With exact data a product of two arguments has no rounding, as long as no
  /// constant and no epilogue of its own is part of it.
  explicit Differences(bool isExact) : isExact(isExact) {}

  /// Of a value before it is rounded to its own type.
  Difference of(mlir::Value value);

private:
  Difference ofOp(mlir::Operation *op);
  /// Of a value of its own type.
  Difference rounded(mlir::Value value);

  bool isExact;
  llvm::DenseMap<mlir::Operation *, Difference> known;
};

} // namespace blockscale::execute

#endif // BLOCKSCALE_LIB_EXECUTE_DIFFERENCES_H
