//===- BlockscaleSums.h - sums of scaled tensors ----------------*- C++ -*-===//
//
// Part of the blockscale project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// What a product with zero points in real units needs of its operands. Apart
// from the other ops on tensors: few files need it.
//
//===----------------------------------------------------------------------===//

#ifndef BLOCKSCALE_DIALECT_BLOCKSCALE_IR_BLOCKSCALESUMS_H
#define BLOCKSCALE_DIALECT_BLOCKSCALE_IR_BLOCKSCALESUMS_H

#include "blockscale/Dialect/Blockscale/IR/Blockscale.h"

#define GET_OP_CLASSES
#include "blockscale/Dialect/Blockscale/IR/BlockscaleSumsOps.h.inc"

#endif // BLOCKSCALE_DIALECT_BLOCKSCALE_IR_BLOCKSCALESUMS_H
