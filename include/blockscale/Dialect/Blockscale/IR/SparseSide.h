//===- SparseSide.h - which operand is the sparse one -----------*- C++ -*-===//
//
// Part of the blockscale project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Instructions skip what their A prunes. A product whose 'b' is sparse gives
// them its operands exchanged, and its result comes out as it should.
//
//===----------------------------------------------------------------------===//

#ifndef BLOCKSCALE_DIALECT_BLOCKSCALE_IR_SPARSESIDE_H
#define BLOCKSCALE_DIALECT_BLOCKSCALE_IR_SPARSESIDE_H

#include "blockscale/Dialect/Blockscale/IR/Blockscale.h"

namespace blockscale {

/// Whether 'b' is sparse and 'a' is not.
bool isSparseB(MatmulOp op);

/// Why a schedule that exchanges the operands or does not would make the dense
/// one the A of a sparse instruction; empty if it would not.
std::optional<Reason> whyNotSparseSide(MatmulOp op, MmaAttr mma, bool swap);

} // namespace blockscale

#endif // BLOCKSCALE_DIALECT_BLOCKSCALE_IR_SPARSESIDE_H
