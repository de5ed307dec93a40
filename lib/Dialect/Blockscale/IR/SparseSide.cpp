//===- SparseSide.cpp - which operand is the sparse one -------------------===//
//
// Part of the blockscale project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "blockscale/Dialect/Blockscale/IR/SparseSide.h"
#include "blockscale/Dialect/Blockscale/IR/Groups.h"

using namespace blockscale;

bool blockscale::isSparseB(MatmulOp op) {
  return op.getB().getType().getSpec().getValue().isSparse() &&
         !op.getA().getType().getSpec().getValue().isSparse();
}

std::optional<Reason> blockscale::whyNotSparseSide(MatmulOp op, MmaAttr mma,
                                                   bool swap) {
  bool isB = isSparseB(op);
  if (!mma.getSparse() || swap == isB)
    return std::nullopt;
  // Neither order of operands is legal: 'swap_operands' is not what to change.
  if (isB && op.isGathered() && hasRowFactors(op))
    return Reason("threads read scales of rows of 'a' that are gathered for "
                  "rows of their own only, but beside a sparse 'b' they have "
                  "columns; nearest legal: a dense 'b', as "
                  "'blockscale.densify' makes it");
  return Reason(std::string("a sparse '") + (isB ? "b" : "a") +
                "' supplies the rows of the instruction, so 'swap_operands' "
                "must be " +
                (isB ? "true" : "false"));
}
