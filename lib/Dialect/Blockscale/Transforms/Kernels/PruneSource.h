//===- PruneSource.h - the largest elements of groups, by kernel -*- C++ -*-==//
//
// Part of the blockscale project, under the Apache License v2.0 with LLVM
// Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef BLOCKSCALE_LIB_DIALECT_BLOCKSCALE_TRANSFORMS_KERNELS_PRUNESOURCE_H
#define BLOCKSCALE_LIB_DIALECT_BLOCKSCALE_TRANSFORMS_KERNELS_PRUNESOURCE_H

#include "ElementwiseSource.h"
#include "blockscale/Dialect/Blockscale/IR/Conversion.h"

namespace blockscale {

/// Emits the body of the kernel of `op`, which reads `from` and writes `to`,
/// memory of its element type.
void buildPruneBody(PruneOp op, const QuantizedStorage &storage,
                    mlir::ImplicitLocOpBuilder &b, mlir::Value from,
                    mlir::Value to, const LaunchSizes &sizes);

/// Why no kernel computes `op`; empty if one does.
std::optional<Reason> whyNotKernel(PruneOp op);

/// Makes `blockscale.prune` a source of kernels where its function does nothing
/// else.
void attachPruneSource(mlir::MLIRContext &context);

} // namespace blockscale

#endif // BLOCKSCALE_LIB_DIALECT_BLOCKSCALE_TRANSFORMS_KERNELS_PRUNESOURCE_H
