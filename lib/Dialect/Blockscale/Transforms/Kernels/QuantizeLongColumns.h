//===- QuantizeLongColumns.h - quantising whole columns ---------*- C++ -*-===//
//
// Part of the blockscale project, under the Apache License v2.0 with LLVM
// Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef BLOCKSCALE_LIB_DIALECT_BLOCKSCALE_TRANSFORMS_KERNELS_QUANTIZELONGCOLUMNS_H
#define BLOCKSCALE_LIB_DIALECT_BLOCKSCALE_TRANSFORMS_KERNELS_QUANTIZELONGCOLUMNS_H

#include "QuantizeRows.h"

namespace blockscale {

/// CTAs of such a kernel, each with as many columns as a warp has lanes.
mlir::AffineExpr tilesOfColumns(const QuantizedStorage &storage);

/// One scale for all of a row of the result, which is a column of what memory
/// holds: a lane of each warp of a CTA has some of its blocks.
class QuantizeLongColumns : public QuantizeRows {
public:
  using QuantizeRows::QuantizeRows;

  void build();

private:
  llvm::SmallVector<mlir::Value> load(const BlockPlace &place,
                                      mlir::Value first) override;
  mlir::Value largestOfCta(mlir::Value own, mlir::Value thread,
                           mlir::Value lane);
};

} // namespace blockscale

#endif // BLOCKSCALE_LIB_DIALECT_BLOCKSCALE_TRANSFORMS_KERNELS_QUANTIZELONGCOLUMNS_H
