//===- SparseOperands.h - what instructions skip of operands ---*- C++ -*-===//
//
// Part of the blockscale project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef BLOCKSCALE_LIB_DIALECT_BLOCKSCALE_TRANSFORMS_LEGALIZE_SPARSEOPERANDS_H
#define BLOCKSCALE_LIB_DIALECT_BLOCKSCALE_TRANSFORMS_LEGALIZE_SPARSEOPERANDS_H

#include "HardwareOperand.h"

namespace blockscale {

/// Why no instruction skips what a sparse A prunes although one has its types
/// and scales; empty if it has none at all.
std::optional<Reason> whyNotPattern(hw::Target target, const HardwareOperand &a,
                                    const HardwareOperand &b);

/// Why the tensor core cannot skip what the type of a sparse operand, or the
/// ops that made it, say was pruned.
std::optional<Reason> whyNotSkipped(MatmulOp op,
                                    mlir::TypedValue<ScaledTensorType> x,
                                    llvm::StringRef name);

/// Why products without scales are not lowered for `target`; empty if they are.
std::optional<Reason> whyNotUnscaled(const HardwareOperand &a,
                                     hw::Target target);

/// The widest tile of a dense instruction that divides the tiles of both; 0
/// without scales.
std::optional<unsigned> denseBlock(const HardwareOperand &a,
                                   const HardwareOperand &b, hw::Target target);

/// Why nothing can make both operands dense: zeros have no code there; empty if
/// something can.
std::optional<Reason> whyNotDense(MatmulOp op);

/// `operand` without sparsity and in tiles of `block`, where it has any.
void densify(MatmulOp op, mlir::OpOperand &operand, unsigned block);

} // namespace blockscale

#endif // BLOCKSCALE_LIB_DIALECT_BLOCKSCALE_TRANSFORMS_LEGALIZE_SPARSEOPERANDS_H
