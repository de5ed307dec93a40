//===- OperandFactors.h - factors of rows and columns -----------*- C++ -*-===//
//
// Part of the blockscale project, under the Apache License v2.0 with LLVM
// Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A factor for each row, or each column, of a product is a scale for all of K
// of the rows of one operand.
//
//===----------------------------------------------------------------------===//

#ifndef BLOCKSCALE_LIB_DIALECT_BLOCKSCALE_TRANSFORMS_FUSE_OPERANDFACTORS_H
#define BLOCKSCALE_LIB_DIALECT_BLOCKSCALE_TRANSFORMS_FUSE_OPERANDFACTORS_H

#include "blockscale/Dialect/Blockscale/IR/Blockscale.h"
#include "mlir/IR/ImplicitLocOpBuilder.h"

namespace blockscale::fuse {

/// Vectors of factors; null for none.
struct OperandFactors {
  mlir::Value ofRows, ofColumns;
};

/// Whether the rows of `operand` can have `vector`, of which one dimension has
/// more than one element, as scales for all of K.
bool takesFactors(mlir::Value operand, mlir::Value vector);

/// The operand with these scales.
mlir::Value withFactors(mlir::ImplicitLocOpBuilder &b, mlir::Value operand,
                        mlir::Value vector);

} // namespace blockscale::fuse

#endif // BLOCKSCALE_LIB_DIALECT_BLOCKSCALE_TRANSFORMS_FUSE_OPERANDFACTORS_H
