//===- BlockscaleErrors.h - errors of rounding ------------------*- C++ -*-===//
//
// Part of the blockscale project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// What a kernel needs that compares the errors of two scales, or that rounds at
// random. Apart from the other ops of kernels: few files need it.
//
//===----------------------------------------------------------------------===//

#ifndef BLOCKSCALE_DIALECT_BLOCKSCALE_IR_BLOCKSCALEERRORS_H
#define BLOCKSCALE_DIALECT_BLOCKSCALE_IR_BLOCKSCALEERRORS_H

#include "blockscale/Dialect/Blockscale/IR/Blockscale.h"

#define GET_OP_CLASSES
#include "blockscale/Dialect/Blockscale/IR/BlockscaleErrorOps.h.inc"

#endif // BLOCKSCALE_DIALECT_BLOCKSCALE_IR_BLOCKSCALEERRORS_H
