//===- Contraction.h - a sum of products over loops -------------*- C++ -*-===//
//
// Part of the blockscale project, under the Apache License v2.0 with LLVM
// Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef BLOCKSCALE_LIB_CONVERSION_IMPORTTOBLOCKSCALE_CONTRACTION_H
#define BLOCKSCALE_LIB_CONVERSION_IMPORTTOBLOCKSCALE_CONTRACTION_H

#include "Factors.h"
#include "blockscale/Formats/ScaleSpec.h"

namespace blockscale::importer {

/// One side: data and scales as they are in memory, and what is subtracted from
/// the data. Scales and zero points may be missing.
struct Side {
  Factor data, scales, zeros;

  bool hasScales() const { return bool(scales.base); }
  bool hasZeros() const { return bool(zeros.base); }
};

/// The loops of a product by what they do; batch, rows and columns in the
/// result's order, the summed ones in that of the data.
struct Loops {
  llvm::SmallVector<unsigned> batch, rows, columns, reduction;
};

/// sum over the reduction of a * scale of a * b * scale of b * numbers.
struct Contraction {
  /// Whose rows are the result's rows, and its columns.
  Side a, b;
  /// The extents of the loops, where they are static.
  llvm::SmallVector<int64_t> ranges;
  Loops loops;
  /// Factors that are one number.
  llvm::SmallVector<Factor> numbers;
};

/// How the side is scaled whose rows run over these loops; the reason where the
/// dialect cannot say it.
Result<ScaleSpec> specOf(const Contraction &found, const Side &side,
                         llvm::ArrayRef<unsigned> rows);

/// The product in our ops, of type `type`, plus `c` if that is given; an error
/// at `op` where it cannot be said.
mlir::FailureOr<mlir::Value> buildContraction(mlir::ImplicitLocOpBuilder &b,
                                              mlir::Operation *op,
                                              const Contraction &found,
                                              mlir::RankedTensorType type,
                                              mlir::Value c = {});

} // namespace blockscale::importer

#endif // BLOCKSCALE_LIB_CONVERSION_IMPORTTOBLOCKSCALE_CONTRACTION_H
