//===- WarpKernelReport.h - reports on warp-level kernels -------*- C++ -*-===//
//
// Part of the blockscale project, under the Apache License v2.0 with LLVM
// Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef BLOCKSCALE_LIB_TARGET_PTX_WARPKERNELREPORT_H
#define BLOCKSCALE_LIB_TARGET_PTX_WARPKERNELREPORT_H

#include "blockscale/Dialect/Blockscale/IR/Blockscale.h"
#include "blockscale/Target/PTX/KernelReport.h"
#include "mlir/Dialect/GPU/IR/GPUDialect.h"

namespace blockscale {

/// Whether `kernel` is one for a chip that multiplies with mma.sync, and loads
/// operands.
bool isWarpKernel(mlir::gpu::GPUFuncOp kernel);

/// The rings that a warp-level kernel loads, with their names; some of them
/// several times.
llvm::SmallVector<std::pair<mlir::Value, llvm::StringRef>>
warpKernelRings(mlir::gpu::GPUFuncOp kernel);

/// Fills in what an instruction says of itself besides its shape.
void reportInstruction(MmaAttr instruction, KernelReport &report);

/// Fills in what the main loop of a warp-level kernel tells.
void reportWarpLoop(mlir::gpu::GPUFuncOp kernel, KernelReport &report);

} // namespace blockscale

#endif // BLOCKSCALE_LIB_TARGET_PTX_WARPKERNELREPORT_H
