//===- QuantizeBothWays.h - a matrix and its transpose ----------*- C++ -*-===//
//
// Part of the blockscale project, under the Apache License v2.0 with LLVM
// Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef BLOCKSCALE_LIB_DIALECT_BLOCKSCALE_TRANSFORMS_KERNELS_QUANTIZEBOTHWAYS_H
#define BLOCKSCALE_LIB_DIALECT_BLOCKSCALE_TRANSFORMS_KERNELS_QUANTIZEBOTHWAYS_H

#include "QuantizeColumns.h"

namespace blockscale {

/// Rows and columns of the tile of a CTA.
inline constexpr int64_t kTileExtent = hw::kAtomRows;

/// One of the two results of a kernel that quantises a matrix and its
/// transpose.
struct QuantizedWay {
  QuantizationAttr what;
  QuantizedStorage storage;
  /// `rows` and `k` are those of the result.
  QuantizeArguments arguments;
};

/// How many tiles there are of what such a kernel reads, a CTA for each.
mlir::AffineExpr tilesOf(const QuantizedStorage &storage);

/// How many rows and columns a thread has.
int64_t columnsOfThread(const QuantizedWay &rows, const QuantizedWay &columns,
                        bool isTogether);

/// Emits the body of such a kernel.
void buildBothWays(mlir::ImplicitLocOpBuilder &b, const QuantizedWay &rows,
                   const QuantizedWay &columns);

} // namespace blockscale

#endif // BLOCKSCALE_LIB_DIALECT_BLOCKSCALE_TRANSFORMS_KERNELS_QUANTIZEBOTHWAYS_H
