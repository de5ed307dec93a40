//===- MatmulSource.h - a matmul as the source of a kernel ------*- C++ -*-===//
//
// Part of the blockscale project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef BLOCKSCALE_LIB_DIALECT_BLOCKSCALE_TRANSFORMS_KERNELS_MATMULSOURCE_H
#define BLOCKSCALE_LIB_DIALECT_BLOCKSCALE_TRANSFORMS_KERNELS_MATMULSOURCE_H

#include "blockscale/Dialect/Blockscale/IR/Blockscale.h"

namespace blockscale {

/// Chooses the kind of instruction for the scale specs of the operands
/// (LegalizeScales.cpp), unless everything is chosen.
mlir::LogicalResult legalizeMatmul(MatmulOp op, hw::Target target,
                                   bool denseFallback);

/// Why scales that cover all of K cannot become factors of the epilogue; empty
/// if they can (LegalizeScales.cpp).
std::optional<Reason> whyNotFactor(const ScaleSpec &spec, mlir::Type element);

/// Completes instruction and schedule (SelectSchedule.cpp). A dynamic size
/// counts as `expectedRows`.
mlir::LogicalResult selectMatmulSchedule(MatmulOp op, hw::Target target,
                                         int64_t expectedRows);

/// Whether the type of 'a' has its scales in tiles of rows, which only
/// instructions with one row to a lane read.
bool hasRowPerLaneScales(MatmulOp op);

/// Why the scales of 'a' of a product that has them so are not what an
/// instruction reads with one row to a lane; empty if they are. `swap` says
/// whether the operands change sides.
std::optional<Reason> whyNotRowPerLane(MmaAttr mma, bool swap,
                                       hw::Target target);

/// Whether the sizes of a product that are known suit the 32-bit arithmetic of
/// kernels (MatmulRules.cpp).
mlir::LogicalResult checkSizes(MatmulOp op);

/// Whether instruction and schedule are complete and agree with each other,
/// with the operands and with their sizes (MatmulRules.cpp); they may have been
/// written by hand.
mlir::LogicalResult checkReady(MatmulOp op);

/// Make `blockscale.matmul` a source of kernels, and `blockscale.kernel_matmul`
/// a body of them.
void attachMatmulSource(mlir::MLIRContext &context);
void attachMatmulBody(mlir::MLIRContext &context);

} // namespace blockscale

#endif // BLOCKSCALE_LIB_DIALECT_BLOCKSCALE_TRANSFORMS_KERNELS_MATMULSOURCE_H
