//===- Factors.h - what a value is the product of ---------------*- C++ -*-===//
//
// Part of the blockscale project, under the Apache License v2.0 with LLVM
// Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef BLOCKSCALE_LIB_CONVERSION_IMPORTTOBLOCKSCALE_FACTORS_H
#define BLOCKSCALE_LIB_CONVERSION_IMPORTTOBLOCKSCALE_FACTORS_H

#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/IR/ImplicitLocOpBuilder.h"

namespace blockscale::importer {

/// Where a dimension of a factor comes from: `loop floordiv divisor`.
struct Place {
  unsigned loop;
  int64_t divisor;
};

/// A tensor, or a number, that is multiplied.
struct Factor {
  /// What the places are the dimensions of, before they are cut and joined.
  mlir::Value base;
  /// What the dimensions of `base` are cut into, and the sizes of the parts;
  /// empty for none.
  llvm::SmallVector<mlir::ReassociationIndices> cuts;
  llvm::SmallVector<mlir::OpFoldResult> cutSizes;
  /// Dimensions of these to join; empty for none.
  llvm::SmallVector<mlir::ReassociationIndices> groups;
  llvm::SmallVector<Place> places;
  /// An op said that it scales.
  bool isScale = false;
  /// Its integers have no sign.
  bool isUnsigned = false;
  /// It is subtracted from the integers beside it, and no factor.
  bool isZero = false;

  /// The tensor of which `places` are the dimensions.
  mlir::Value build(mlir::ImplicitLocOpBuilder &b) const;
};

struct Factors {
  llvm::SmallVector<Factor> all;
  /// An `arith.scaling_extf` with scales that are no powers of two by type.
  mlir::Operation *unsettledScaling = nullptr;
};

/// The factors of what `op` adds up, with places in its loops. Fails if it adds
/// up anything but products.
mlir::LogicalResult findSummedFactors(mlir::linalg::LinalgOp op,
                                      Factors &factors);

} // namespace blockscale::importer

#endif // BLOCKSCALE_LIB_CONVERSION_IMPORTTOBLOCKSCALE_FACTORS_H
