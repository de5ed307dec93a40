//===- DeviceMemory.h - what launches need not copy -------------*- C++ -*-===//
//
// Part of the blockscale project, under the Apache License v2.0 with LLVM
// Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef BLOCKSCALE_LIB_CONVERSION_BLOCKSCALETORUNTIME_DEVICEMEMORY_H
#define BLOCKSCALE_LIB_CONVERSION_BLOCKSCALETORUNTIME_DEVICEMEMORY_H

#include "mlir/IR/BuiltinOps.h"

namespace blockscale {

/// Whether the values in `memory` never change: a constant of the module.
bool isConstantMemory(mlir::Value memory);

/// Allocates on the device, by calls of the runtime, what nothing but kernels
/// writes and reads: the D of one launch that is the C of others. Other
/// operands have an order on the device that is not that of the host.
void placeOnDevice(mlir::ModuleOp module);

} // namespace blockscale

#endif // BLOCKSCALE_LIB_CONVERSION_BLOCKSCALETORUNTIME_DEVICEMEMORY_H
