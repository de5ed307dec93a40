//===- ZeroTerms.h - zero points that an epilogue subtracts -----*- C++ -*-===//
//
// Part of the blockscale project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// An element is worth q * s - z where its zero point z is in real units, and
//
//   sum_k (q s - z) b = sum_k q s b - z * sum_k b
//
// for the k that share z. So the kernel multiplies the elements alone and
// subtracts from x for each tile along K a term of the row times one of the
// column: the zero point, and the sum of the other operand over the tile. With
// zero points of both operands the sums for those of `a` are of b less its own,
// and those for zero points of `b` of a without.
//
//===----------------------------------------------------------------------===//

#ifndef BLOCKSCALE_DIALECT_BLOCKSCALE_IR_ZEROTERMS_H
#define BLOCKSCALE_DIALECT_BLOCKSCALE_IR_ZEROTERMS_H

#include "blockscale/Dialect/Blockscale/IR/BlockscaleSums.h"
#include "mlir/IR/AffineExpr.h"
#include "mlir/IR/ImplicitLocOpBuilder.h"

namespace blockscale {

/// Whether elements have zero points that do not count in steps of their
/// scales.
bool hasRealZeros(ScaledTensorType type);

/// The terms of the zero points of an operand in a product with `k` elements
/// along K: one for each tile of them, none without such zero points.
mlir::AffineExpr zeroTerms(ScaledTensorType type, mlir::AffineExpr k);

/// Whether an operand of the product has such zero points.
bool hasZeroTerms(MatmulOp op);

/// The number of terms of both operands, an i32 that follows from `k` elements
/// along K; null without terms.
mlir::Value numZeroTerms(mlir::ImplicitLocOpBuilder &b, MatmulOp op,
                         mlir::Value k);

/// The attribute of a kernel that names the terms, "a_terms" or "b_terms", that
/// its launches give, made by another kernel; whoever packs makes all others.
inline constexpr llvm::StringLiteral kGivenTermsName = "blockscale.given_terms";

/// Where it may be.
mlir::LogicalResult verifyGivenTerms(mlir::Operation *op,
                                     mlir::Attribute attribute);

/// Adds up an operand of the product over the tiles of the zero points of the
/// other one, right before `op`, which are its terms; null if it has other ones
/// too, or kernels read it as other elements.
TileSumsOp createTermsOf(mlir::OpBuilder &builder, MatmulOp op, bool isA);

/// Why kernels have no such terms in a product of these operands; empty if they
/// have, or no operand has zero points in real units.
std::optional<Reason> whyNotZeroTerms(MatmulOp op);

} // namespace blockscale

#endif // BLOCKSCALE_DIALECT_BLOCKSCALE_IR_ZEROTERMS_H
