//===- HostPlan.h - what functions do around their kernels ------*- C++ -*-===//
//
// Part of the blockscale project, under the Apache License v2.0 with LLVM
// Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef BLOCKSCALE_TARGET_PTX_HOSTPLAN_H
#define BLOCKSCALE_TARGET_PTX_HOSTPLAN_H

#include "blockscale/Plan/Plan.h"
#include "mlir/Support/LLVM.h"

namespace mlir::gpu {
class GPUModuleOp;
}

namespace blockscale {

/// The functions around `kernels`, whose products are launches, step by step:
/// those that launch something of `kernels`, and those that launch nothing. An
/// op that no kernel does is a step of the host with `hostDuties` and an error
/// without. Errors in any case: ops outside of functions, functions whose
/// launches need several chips, and launches that do not run one after another,
/// exactly once.
mlir::FailureOr<std::vector<plan::Function>>
planFunctions(mlir::gpu::GPUModuleOp kernels, bool hostDuties);

} // namespace blockscale

#endif // BLOCKSCALE_TARGET_PTX_HOSTPLAN_H
