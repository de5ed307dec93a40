//===- KernelVerifiers.h - what verifiers of kernel ops share ---*- C++ -*-===//
//
// Part of the blockscale project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef BLOCKSCALE_LIB_DIALECT_BLOCKSCALE_IR_KERNELVERIFIERS_H
#define BLOCKSCALE_LIB_DIALECT_BLOCKSCALE_IR_KERNELVERIFIERS_H

#include "blockscale/Dialect/Blockscale/IR/Blockscale.h"
#include "blockscale/HW/Target.h"

namespace blockscale {

/// Checks that a launch may name `symbol`, which stands for `kernel`; null if
/// for nothing.
mlir::LogicalResult verifyKernelSymbol(mlir::Operation *launch,
                                       mlir::SymbolRefAttr symbol,
                                       mlir::Operation *kernel);

/// Asks the legality table for `mma` on the target of the kernel around `op`.
/// Outside a kernel that is `otherwise`; sm_100a has every instruction of its
/// family but K = 96.
mlir::LogicalResult verifyInstruction(mlir::Operation *op, MmaAttr mma,
                                      hw::Target otherwise = {});

/// Scales in shared memory are whole atoms of 128 rows x 4 scales.
mlir::LogicalResult verifyScaleRing(mlir::Operation *op, SharedType ring);

/// Checks the variants that stand on `op` as `attribute`.
mlir::LogicalResult verifyVariants(mlir::Operation *op,
                                   mlir::Attribute attribute);

/// Codes and scales take the place of D where a product quantises its result:
/// what memory and schedule then have to be.
mlir::LogicalResult verifyQuantization(KernelMatmulOp op);

} // namespace blockscale

#endif // BLOCKSCALE_LIB_DIALECT_BLOCKSCALE_IR_KERNELVERIFIERS_H
