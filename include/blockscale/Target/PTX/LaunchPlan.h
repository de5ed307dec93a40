//===- LaunchPlan.h - the launch plan of compiled kernels -------*- C++ -*-===//
//
// Part of the blockscale project, under the Apache License v2.0 with LLVM
// Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Reads kernels at the kernel level of the dialect, after
// `blockscale-assign-memory`, and says what a host must know to launch them.
// Plan/Plan.h holds the plan itself.
//
//===----------------------------------------------------------------------===//

#ifndef BLOCKSCALE_TARGET_PTX_LAUNCHPLAN_H
#define BLOCKSCALE_TARGET_PTX_LAUNCHPLAN_H

#include "blockscale/Plan/Plan.h"
#include "mlir/IR/AffineExpr.h"
#include "mlir/Support/LLVM.h"
#include <string>

namespace mlir::gpu {
class GPUModuleOp;
}

namespace blockscale {

/// The plan of the kernels of `kernels`, whose memory is assigned, and of the
/// functions around it that launch them or launch nothing. Emits an error and
/// fails if a kernel lacks its attributes, or if a function does what no kernel
/// does, unless `hostDuties` puts that into the plan too.
mlir::FailureOr<plan::Plan> buildLaunchPlan(mlir::gpu::GPUModuleOp kernels,
                                            bool hostDuties = false);

/// The plan of the kernels alone, without any function.
mlir::FailureOr<plan::Plan> planKernels(mlir::gpu::GPUModuleOp kernels);

/// `expression` in the syntax of Plan/Expression.h. Symbols 0 to 5 are M, N,
/// K, batch, num_sms and max_clusters; there are no dimensions.
std::string printExpression(mlir::AffineExpr expression);

} // namespace blockscale

#endif // BLOCKSCALE_TARGET_PTX_LAUNCHPLAN_H
