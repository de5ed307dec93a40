//===- KernelNeighbours.h - what kernels are beside others ------*- C++ -*-===//
//
// Part of the blockscale project, under the Apache License v2.0 with LLVM
// Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Which ops of a whole function kernels do, and whether a kernel makes or reads
// what an op reads or makes, so that it need not leave the device.
//
//===----------------------------------------------------------------------===//

#ifndef BLOCKSCALE_LIB_DIALECT_BLOCKSCALE_TRANSFORMS_KERNELS_KERNELNEIGHBOURS_H
#define BLOCKSCALE_LIB_DIALECT_BLOCKSCALE_TRANSFORMS_KERNELS_KERNELNEIGHBOURS_H

#include "blockscale/Dialect/Blockscale/IR/Blockscale.h"

namespace blockscale {

/// Whether the kernel of a product does it.
bool isOfKernel(QuantizeOp op);

/// Whether a kernel in a whole function can do it.
bool isDoneByKernel(QuantizeOp op);

/// Whether a kernel in a whole function can do the conversion `op`. The host
/// keeps a scale for several rows or blocks once, and subtracts zero points
/// itself.
bool isConvertible(mlir::Operation *op);

/// Whether a kernel reads the operands of `op` on the device.
bool isReader(mlir::Operation *op);

/// Whether a kernel makes the elements of `operand`.
bool isMadeByKernel(mlir::Value operand);

using IsReader = llvm::function_ref<bool(mlir::Operation *)>;

/// Whether all that reads `op` are kernels, so that its result need not leave
/// the device. `reads` says which of them are.
bool isForKernels(QuantizeOp op, IsReader reads = isReader);

/// Whether a kernel makes or reads what the conversion `op` reads or makes, so
/// that copies are saved if one does `op`, too.
bool isAmongKernels(mlir::Operation *op, IsReader reads = isReader);

} // namespace blockscale

#endif // BLOCKSCALE_LIB_DIALECT_BLOCKSCALE_TRANSFORMS_KERNELS_KERNELNEIGHBOURS_H
