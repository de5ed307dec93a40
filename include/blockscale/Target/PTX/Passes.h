//===- Passes.h - kernels as data of the host -------------------*- C++ -*-===//
//
// Part of the blockscale project, under the Apache License v2.0 with LLVM
// Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef BLOCKSCALE_TARGET_PTX_PASSES_H
#define BLOCKSCALE_TARGET_PTX_PASSES_H

#include "mlir/Pass/Pass.h"

namespace blockscale {

#define GEN_PASS_DECL
#include "blockscale/Target/PTX/Passes.h.inc"

#define GEN_PASS_REGISTRATION
#include "blockscale/Target/PTX/Passes.h.inc"

} // namespace blockscale

#endif // BLOCKSCALE_TARGET_PTX_PASSES_H
