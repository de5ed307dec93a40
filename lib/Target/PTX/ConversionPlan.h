//===- ConversionPlan.h - the plan of a kernel that converts ----*- C++ -*-===//
//
// Part of the blockscale project, under the Apache License v2.0 with LLVM
// Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef BLOCKSCALE_LIB_TARGET_PTX_CONVERSIONPLAN_H
#define BLOCKSCALE_LIB_TARGET_PTX_CONVERSIONPLAN_H

#include "blockscale/Dialect/Blockscale/IR/Blockscale.h"
#include "blockscale/Plan/Plan.h"
#include "mlir/Dialect/GPU/IR/GPUDialect.h"

namespace blockscale {

/// What the plan says of a kernel with `blockscale.conversion`.
mlir::FailureOr<plan::Kernel> planConversion(mlir::gpu::GPUFuncOp kernel,
                                             KernelAttr attribute);

} // namespace blockscale

#endif // BLOCKSCALE_LIB_TARGET_PTX_CONVERSIONPLAN_H
