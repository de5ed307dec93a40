//===- Builders.h - products from C++ ---------------------------*- C++ -*-===//
//
// Part of the blockscale project, under the Apache License v2.0 with LLVM
// Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// For programs that make our IR: what stays the same when ops gain operands and
// attributes.
//
//===----------------------------------------------------------------------===//

#ifndef BLOCKSCALE_DIALECT_BLOCKSCALE_IR_BUILDERS_H
#define BLOCKSCALE_DIALECT_BLOCKSCALE_IR_BUILDERS_H

#include "blockscale/Dialect/Blockscale/IR/Blockscale.h"
#include "mlir/IR/Builders.h"

namespace blockscale {

/// The type `!blockscale.tensor` of `shape` ([M, K], or with a batch dimension
/// in front; `ShapedType::kDynamic` for what launch time tells) and of scales
/// as `spec` says: "e8m0_t32", "multi_float32_e4m3fn_t16", "n2m4"; empty for
/// none. What is not such a type is an error through `emitError`, and null.
ScaledTensorType
getScaledTensorType(llvm::function_ref<mlir::InFlightDiagnostic()> emitError,
                    llvm::ArrayRef<int64_t> shape, mlir::Type elementType,
                    llvm::StringRef spec,
                    ScaleLayout layout = ScaleLayout::Plain,
                    DataOrder order = DataOrder::KMajor);

/// The product of `a` and the transpose of `b`, which have scaled tensor types
/// and K last. Its result has the shape that follows and elements of
/// `resultElement`: f32, bf16, f16, or i32 for exact sums of integers. The op's
/// verifier judges the rest.
MatmulOp createMatmul(mlir::OpBuilder &builder, mlir::Location loc,
                      mlir::Value a, mlir::Value b, mlir::Type resultElement);

} // namespace blockscale

#endif // BLOCKSCALE_DIALECT_BLOCKSCALE_IR_BUILDERS_H
