//===- RelayoutSource.h - parts in another layout, by kernel ----*- C++ -*-===//
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

/// Emit what thread `number`, i32, of those that move bytes from one layout to
/// another does, or elements from one order to the other; null if all threads
/// of the launch do. Memory is of i8. The threads of elements are whole CTAs.
void buildMovedBytes(const MovedBytes &moved, mlir::ImplicitLocOpBuilder &b,
                     mlir::Value from, mlir::Value to, const LaunchSizes &sizes,
                     mlir::Value number = {});
void buildMovedElements(const MovedElements &moved,
                        mlir::ImplicitLocOpBuilder &b, mlir::Value from,
                        mlir::Value to, const LaunchSizes &sizes,
                        mlir::Value number = {});

/// The same of zero points, which lie as `scales` do, in numbers of `type`: a
/// thread has the one of a place of the result, or its padding.
void buildMovedZeros(const MovedBytes &scales, mlir::IntegerType type,
                     mlir::ImplicitLocOpBuilder &b, mlir::Value from,
                     mlir::Value to, const LaunchSizes &sizes,
                     mlir::Value number);

/// Why no kernel computes `op`; empty if one does.
std::optional<Reason> whyNotKernel(RelayoutOp op);

/// Makes `blockscale.relayout` a source of kernels where its function does
/// nothing else.
void attachRelayoutSource(mlir::MLIRContext &context);

} // namespace blockscale

#endif // BLOCKSCALE_LIB_DIALECT_BLOCKSCALE_TRANSFORMS_KERNELS_RELAYOUTSOURCE_H
