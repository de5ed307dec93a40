//===- Passes.h - products of other dialects --------------------*- C++ -*-===//
//
// Part of the blockscale project, under the Apache License v2.0 with LLVM
// Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef BLOCKSCALE_CONVERSION_IMPORTTOBLOCKSCALE_PASSES_H
#define BLOCKSCALE_CONVERSION_IMPORTTOBLOCKSCALE_PASSES_H

#include "mlir/IR/BuiltinOps.h"
#include "mlir/Pass/Pass.h"

namespace blockscale {

#define GEN_PASS_DECL
#include "blockscale/Conversion/ImportToBlockscale/Passes.h.inc"

#define GEN_PASS_REGISTRATION
#include "blockscale/Conversion/ImportToBlockscale/Passes.h.inc"

} // namespace blockscale

#endif // BLOCKSCALE_CONVERSION_IMPORTTOBLOCKSCALE_PASSES_H
