//===- QuantizePlan.h - the plan of a kernel that quantises -----*- C++ -*-===//
//
// Part of the blockscale project, under the Apache License v2.0 with LLVM
// Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef BLOCKSCALE_LIB_TARGET_PTX_QUANTIZEPLAN_H
#define BLOCKSCALE_LIB_TARGET_PTX_QUANTIZEPLAN_H

#include "blockscale/Dialect/Blockscale/IR/Blockscale.h"
#include "blockscale/Plan/Plan.h"
#include "mlir/Dialect/GPU/IR/GPUDialect.h"

namespace blockscale {

/// What the plan says of a kernel with `blockscale.quantization`.
mlir::FailureOr<plan::Kernel> planQuantization(mlir::gpu::GPUFuncOp kernel,
                                               KernelAttr attribute);

/// Adds to the plan of the product of `kernel` how it quantises D.
mlir::LogicalResult planQuantizedResult(mlir::gpu::GPUFuncOp kernel,
                                        plan::Kernel &result);

} // namespace blockscale

#endif // BLOCKSCALE_LIB_TARGET_PTX_QUANTIZEPLAN_H
