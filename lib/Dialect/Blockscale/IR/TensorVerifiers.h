//===- TensorVerifiers.h - what verifiers of tensor ops share ---*- C++ -*-===//
//
// Part of the blockscale project, under the Apache License v2.0 with LLVM
// Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef BLOCKSCALE_LIB_DIALECT_BLOCKSCALE_IR_TENSORVERIFIERS_H
#define BLOCKSCALE_LIB_DIALECT_BLOCKSCALE_IR_TENSORVERIFIERS_H

#include "blockscale/Dialect/Blockscale/IR/Blockscale.h"

namespace blockscale {

/// A shape in a diagnostic: [4, ?].
std::string shapeText(llvm::ArrayRef<int64_t> shape);

/// Whether two sizes, or shapes, can be the same at run time.
bool agree(int64_t lhs, int64_t rhs);
bool agree(llvm::ArrayRef<int64_t> lhs, llvm::ArrayRef<int64_t> rhs);

/// Input and result of an op that changes no value have one logical shape.
mlir::LogicalResult verifySameShape(mlir::Operation *op, mlir::ShapedType input,
                                    mlir::ShapedType result);

/// What without offsets nobody finds is for products with groups only.
mlir::LogicalResult verifyNotGrouped(mlir::Operation *op);

/// The rules of a product whose K is in groups.
mlir::LogicalResult verifyGroupsAlongK(MatmulOp op);

/// The rules of a product with groups whose rows are gathered by number.
mlir::LogicalResult verifyGathered(MatmulOp op);

/// How diagnostics call the spec of a tensor.
std::string specName(ScaledTensorType type);

/// One tensor scale per matrix: rank 0, or the batch dimension.
llvm::ArrayRef<int64_t> batchShape(llvm::ArrayRef<int64_t> shape);

} // namespace blockscale

#endif // BLOCKSCALE_LIB_DIALECT_BLOCKSCALE_IR_TENSORVERIFIERS_H
