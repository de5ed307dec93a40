//===- DeviceMemory.h - what launches need not copy -------------*- C++ -*-===//
//
// Part of the blockscale project, under the Apache License v2.0 with LLVM
// Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef BLOCKSCALE_LIB_CONVERSION_BLOCKSCALETORUNTIME_DEVICEMEMORY_H
#define BLOCKSCALE_LIB_CONVERSION_BLOCKSCALETORUNTIME_DEVICEMEMORY_H

#include "blockscale/Dialect/Blockscale/IR/BlockscaleHost.h"
#include "blockscale/Plan/Plan.h"

namespace blockscale {

/// Whether the values in `memory` never change: a constant of the module.
bool isConstantMemory(mlir::Value memory);

/// What the launch plan says of the kernel of a launch.
using PlanOfLaunch =
    llvm::function_ref<const plan::Kernel &(LaunchIntoOp launch)>;

/// Allocates on the device, by calls of the runtime, what nothing but kernels
/// writes and reads: the D of one launch that is the C of others, and the parts
/// of a quantised D that are those of others' A or B. Other operands have an
/// order on the device that is not that of the host.
void placeOnDevice(mlir::ModuleOp module, PlanOfLaunch planOf);

} // namespace blockscale

#endif // BLOCKSCALE_LIB_CONVERSION_BLOCKSCALETORUNTIME_DEVICEMEMORY_H
