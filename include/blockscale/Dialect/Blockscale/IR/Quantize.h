//===- Quantize.h - quantize in steps ---------------------------*- C++ -*-===//
//
// Part of the blockscale project, under the Apache License v2.0 with LLVM
// Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef BLOCKSCALE_DIALECT_BLOCKSCALE_IR_QUANTIZE_H
#define BLOCKSCALE_DIALECT_BLOCKSCALE_IR_QUANTIZE_H

#include "blockscale/Dialect/Blockscale/IR/Blockscale.h"

namespace mlir {
class RewriterBase;
} // namespace mlir

namespace blockscale {

/// Whether the `tensor_scale` of `op` is the one scale of each matrix itself.
bool givesScale(QuantizeOp op);

/// Replaces a quantize to a sparse spec by `blockscale.prune`, a dense quantize
/// of what is left and `blockscale.compress`. Fails if the spec is dense.
llvm::LogicalResult expandSparseQuantize(mlir::RewriterBase &rewriter,
                                         QuantizeOp op);

} // namespace blockscale

#endif // BLOCKSCALE_DIALECT_BLOCKSCALE_IR_QUANTIZE_H
