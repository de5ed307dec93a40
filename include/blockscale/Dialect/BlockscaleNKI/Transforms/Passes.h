//===- Passes.h - from products to kernels of NKI ---------------*- C++ -*-===//
//
// Part of the blockscale project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef BLOCKSCALE_DIALECT_BLOCKSCALENKI_TRANSFORMS_PASSES_H
#define BLOCKSCALE_DIALECT_BLOCKSCALENKI_TRANSFORMS_PASSES_H

#include "blockscale/Dialect/BlockscaleNKI/IR/BlockscaleNKI.h"
#include "mlir/Pass/Pass.h"

namespace mlir {
class ModuleOp;
}

namespace blockscale::nki {
#define GEN_PASS_DECL
#include "blockscale/Dialect/BlockscaleNKI/Transforms/Passes.h.inc"

#define GEN_PASS_REGISTRATION
#include "blockscale/Dialect/BlockscaleNKI/Transforms/Passes.h.inc"
} // namespace blockscale::nki

#endif // BLOCKSCALE_DIALECT_BLOCKSCALENKI_TRANSFORMS_PASSES_H
