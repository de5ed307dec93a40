//===- RelayoutSource.h - scales in another layout, by kernel ---*- C++ -*-===//
//
// Part of the blockscale project, under the Apache License v2.0 with LLVM
// Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef BLOCKSCALE_LIB_DIALECT_BLOCKSCALE_TRANSFORMS_KERNELS_RELAYOUTSOURCE_H
#define BLOCKSCALE_LIB_DIALECT_BLOCKSCALE_TRANSFORMS_KERNELS_RELAYOUTSOURCE_H

#include "ElementwiseSource.h"
#include "blockscale/Dialect/Blockscale/IR/Conversion.h"

namespace blockscale {

/// Emits the body of a kernel that reads scales from `from` and writes them to
/// `to`, memory of i8.
void buildRelayoutBody(const RelayoutStorage &storage,
                       mlir::ImplicitLocOpBuilder &b, mlir::Value from,
                       mlir::Value to, const LaunchSizes &sizes,
                       mlir::Value number = {});

/// Why no kernel computes `op`; empty if one does.
std::optional<Reason> whyNotKernel(RelayoutOp op);

/// Makes `blockscale.relayout` a source of kernels where its function does
/// nothing else.
void attachRelayoutSource(mlir::MLIRContext &context);

} // namespace blockscale

#endif // BLOCKSCALE_LIB_DIALECT_BLOCKSCALE_TRANSFORMS_KERNELS_RELAYOUTSOURCE_H
