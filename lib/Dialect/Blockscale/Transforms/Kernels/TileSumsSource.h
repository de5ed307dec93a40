//===- TileSumsSource.h - sums over tiles along K, by kernel ----*- C++ -*-===//
//
// Part of the blockscale project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef BLOCKSCALE_LIB_DIALECT_BLOCKSCALE_TRANSFORMS_KERNELS_TILESUMSSOURCE_H
#define BLOCKSCALE_LIB_DIALECT_BLOCKSCALE_TRANSFORMS_KERNELS_TILESUMSSOURCE_H

#include "ElementwiseSource.h"
#include "blockscale/Dialect/Blockscale/IR/Conversion.h"

namespace blockscale {

/// Emits the body of the kernel of `op`, whose operand lies as `sums` says.
void buildTileSumsBody(TileSumsOp op, const SumStorage &sums,
                       mlir::ImplicitLocOpBuilder &b,
                       const ScaledOperandArguments &arguments);

/// Why no kernel computes `op`; empty if one does.
std::optional<Reason> whyNotKernel(TileSumsOp op);

/// Makes `blockscale.tile_sums` a source of kernels where its function does
/// nothing else.
void attachTileSumsSource(mlir::MLIRContext &context);

} // namespace blockscale

#endif // BLOCKSCALE_LIB_DIALECT_BLOCKSCALE_TRANSFORMS_KERNELS_TILESUMSSOURCE_H
