//===- HostPlan.h - what functions do around their kernels ------*- C++ -*-===//
//
// Part of the blockscale project, under the Apache License v2.0 with LLVM
// Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef BLOCKSCALE_LIB_TARGET_PTX_HOSTPLAN_H
#define BLOCKSCALE_LIB_TARGET_PTX_HOSTPLAN_H

#include "blockscale/Plan/Plan.h"
#include "mlir/IR/BuiltinOps.h"

namespace blockscale {

/// The functions of `module`, whose products are launches of kernels, step by
/// step. An op that no kernel does is a step of the host with `hostDuties` and
/// an error without. Errors in any case: ops outside of functions, and launches
/// that do not run one after another, exactly once.
mlir::FailureOr<std::vector<plan::Function>>
planFunctions(mlir::ModuleOp module, bool hostDuties);

} // namespace blockscale

#endif // BLOCKSCALE_LIB_TARGET_PTX_HOSTPLAN_H
