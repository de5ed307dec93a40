//===- Passes.h - scaled tensors to linalg ----------------------*- C++ -*-===//
//
// Part of the blockscale project, under the Apache License v2.0 with LLVM
// Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef BLOCKSCALE_CONVERSION_BLOCKSCALETOLINALG_PASSES_H
#define BLOCKSCALE_CONVERSION_BLOCKSCALETOLINALG_PASSES_H

#include "mlir/Pass/Pass.h"

namespace mlir {
class RewritePatternSet;
class TypeConverter;
} // namespace mlir

namespace blockscale {

/// Adds the conversion of `!blockscale.tensor` to the types of its parts, in
/// the order of `blockscale.disassemble`. All other types stay. A type whose
/// parts have no builtin types is not converted.
void populateBlockscaleToLinalgTypeConversions(mlir::TypeConverter &converter);

/// Adds the patterns of the ops on tensors; those of functions are upstream's.
/// `converter` must have the type conversion above and outlive the patterns.
/// With `useExtf` narrow floats are decoded by `arith.extf`, else by look-up.
/// With `checkSparsity` `compress` asserts that its input has its pattern.
void populateBlockscaleToLinalgPatterns(const mlir::TypeConverter &converter,
                                        mlir::RewritePatternSet &patterns,
                                        bool useExtf = false,
                                        bool checkSparsity = false);

#define GEN_PASS_DECL
#include "blockscale/Conversion/BlockscaleToLinalg/Passes.h.inc"

#define GEN_PASS_REGISTRATION
#include "blockscale/Conversion/BlockscaleToLinalg/Passes.h.inc"

} // namespace blockscale

#endif // BLOCKSCALE_CONVERSION_BLOCKSCALETOLINALG_PASSES_H
