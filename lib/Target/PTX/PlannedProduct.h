//===- PlannedProduct.h - the product that a kernel computes ----*- C++ -*-===//
//
// Part of the blockscale project, under the Apache License v2.0 with LLVM
// Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef BLOCKSCALE_LIB_TARGET_PTX_PLANNEDPRODUCT_H
#define BLOCKSCALE_LIB_TARGET_PTX_PLANNEDPRODUCT_H

#include "blockscale/Dialect/Blockscale/IR/Blockscale.h"
#include "mlir/Dialect/GPU/IR/GPUDialect.h"
#include "mlir/IR/AffineExpr.h"

namespace blockscale {

/// What a kernel computes: its product, and the types of the parameters that
/// the product's attribute leaves to them.
struct PlannedProduct {
  std::string sourceFunction;
  std::optional<std::string> variantOf;
  /// The most rows of A, if they are fewer than a product may have.
  std::optional<int64_t> mostRows;
  ScaledTensorType a, b;
  /// Element types; null where the product has no such operand.
  mlir::Type d, c, bias;
  bool isStoredByTma = false, isCLoadedByTma = false;
  /// Whether memory holds codes and scales of D.
  bool isQuantized = false;
  bool alpha = false;
  /// Whether rows of A are in groups, of which each has a matrix of B.
  bool isGrouped = false;
  /// Whether memory says how many rows of each matrix of A are there.
  bool isMasked = false;
  /// Groups along K, each with a matrix of D: -1 if the host counts them.
  int64_t kGroups = 0;
  /// Rows that are gathered from those of A; the same.
  int64_t gathered = 0;
  BiasKind biasKind = BiasKind::Column;
  EpilogueAttr epilogue;
  /// Whether D has a column for each two of the product.
  bool hasPairs = false;
  /// With the operands as the instruction has them: exchanged if `swap`.
  MmaAttr mma;
  bool swap = false;
};

mlir::FailureOr<PlannedProduct> plannedProductOf(mlir::gpu::GPUFuncOp kernel);

/// Sizes of the source matmul: constants, or symbols where they are dynamic.
struct SymbolicSizes {
  mlir::AffineExpr m, n, k, batch;
  /// The rows of A, which are M unless they are gathered.
  mlir::AffineExpr rowsOfA;
};

SymbolicSizes sizesOf(const PlannedProduct &product);

/// Matrices of A, C and D, and of B.
mlir::AffineExpr matricesOf(const PlannedProduct &product, bool isB = false);

/// Whether matrices have a factor each.
bool hasTensorScale(ScaledTensorType type);

} // namespace blockscale

#endif // BLOCKSCALE_LIB_TARGET_PTX_PLANNEDPRODUCT_H
