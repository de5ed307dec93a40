//===- OperandMaps.h - tensor maps of the operands of a product -*- C++ -*-===//
//
// Part of the blockscale project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef BLOCKSCALE_LIB_DIALECT_BLOCKSCALE_TRANSFORMS_KERNELS_OPERANDMAPS_H
#define BLOCKSCALE_LIB_DIALECT_BLOCKSCALE_TRANSFORMS_KERNELS_OPERANDMAPS_H

#include "Geometry.h"
#include "blockscale/Dialect/Blockscale/Transforms/KernelSource.h"
#include "mlir/IR/AffineExpr.h"

namespace blockscale {

/// Sizes of a product as symbols of the host's maps. A size that is static is a
/// constant.
struct HostSizes {
  mlir::AffineExpr m, n, k, batch;
  /// Rows of A that are gathered from; null where none are.
  mlir::AffineExpr tokens;
};

HostSizes hostSizes(MatmulOp op);

/// The parameters that TMA brings operands by, in the kernel's order: elements
/// of A and B, then scales and metadata of those that have some for
/// instructions. Boxes are what `geometry` says of a stage.
llvm::SmallVector<KernelParameter> operandMaps(MatmulOp op,
                                               const TileGeometry &geometry);

} // namespace blockscale

#endif // BLOCKSCALE_LIB_DIALECT_BLOCKSCALE_TRANSFORMS_KERNELS_OPERANDMAPS_H
