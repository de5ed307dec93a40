//===- SparseZeros.h - zero points of what is kept -------------*- C++ -*-===//
//
// Part of the blockscale project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// What a sparse operand keeps is worth q * s - z where its zero points are in
// real units, and what it prunes 0. So no term of the row times one of the
// column is the zero points' part of a product: it is one itself, by ones at
// the kept places under scales of -z.
//
//   sum_kept (q s - z) b = sum_kept q s b + sum_kept 1 (-z) b
//
//===----------------------------------------------------------------------===//

#ifndef BLOCKSCALE_LIB_DIALECT_BLOCKSCALE_TRANSFORMS_LEGALIZE_SPARSEZEROS_H
#define BLOCKSCALE_LIB_DIALECT_BLOCKSCALE_TRANSFORMS_LEGALIZE_SPARSEZEROS_H

#include "blockscale/Dialect/Blockscale/IR/Blockscale.h"

namespace blockscale {

/// Whether an operand of the product is sparse and has zero points in real
/// units.
bool hasSparseRealZeros(MatmulOp op);

/// Why such a product is not made two; empty if it is.
std::optional<Reason> whyNotSplit(MatmulOp op);

/// Makes `op` the product without the zero points of one such operand, which it
/// adds to that of its ones, the new op in front of it that is returned.
MatmulOp splitZeros(MatmulOp op);

} // namespace blockscale

#endif // BLOCKSCALE_LIB_DIALECT_BLOCKSCALE_TRANSFORMS_LEGALIZE_SPARSEZEROS_H
