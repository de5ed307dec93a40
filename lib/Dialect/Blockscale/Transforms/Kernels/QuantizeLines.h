//===- QuantizeLines.h - whole rows and columns of a matrix -----*- C++ -*-===//
//
// Part of the blockscale project, under the Apache License v2.0 with LLVM
// Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef BLOCKSCALE_LIB_DIALECT_BLOCKSCALE_TRANSFORMS_KERNELS_QUANTIZELINES_H
#define BLOCKSCALE_LIB_DIALECT_BLOCKSCALE_TRANSFORMS_KERNELS_QUANTIZELINES_H

#include "QuantizeBothWays.h"

namespace blockscale {

/// CTAs of a kernel that quantises a matrix and its transpose, of which at
/// least one has a scale for all of a row; `columns` is the transpose, whose
/// rows are K of the matrix.
mlir::AffineExpr ctasOfLines(const QuantizedStorage &rows,
                             const QuantizedStorage &columns);

/// Emits the body of such a kernel.
void buildLines(mlir::ImplicitLocOpBuilder &b, const QuantizedWay &rows,
                const QuantizedWay &columns);

} // namespace blockscale

#endif // BLOCKSCALE_LIB_DIALECT_BLOCKSCALE_TRANSFORMS_KERNELS_QUANTIZELINES_H
