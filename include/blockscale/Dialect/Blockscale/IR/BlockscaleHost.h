//===- BlockscaleHost.h - launches as the host sees them --------*- C++ -*-===//
//
// Part of the blockscale project, under the Apache License v2.0 with LLVM
// Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The ops of the dialect that are only met on the way to host code. Apart from
// the others: few files need them.
//
//===----------------------------------------------------------------------===//

#ifndef BLOCKSCALE_DIALECT_BLOCKSCALE_IR_BLOCKSCALEHOST_H
#define BLOCKSCALE_DIALECT_BLOCKSCALE_IR_BLOCKSCALEHOST_H

#include "blockscale/Dialect/Blockscale/IR/Blockscale.h"
#include "mlir/Interfaces/DestinationStyleOpInterface.h"

#define GET_OP_CLASSES
#include "blockscale/Dialect/Blockscale/IR/BlockscaleHostOps.h.inc"

namespace blockscale {

/// What the inputs of a launch of `kernel` are, in order: the operands of the
/// matmul that it was made from, "a", "b", "alpha", ... None if the kernel's
/// arguments no longer say.
llvm::SmallVector<llvm::StringRef>
launchOperands(mlir::FunctionOpInterface kernel);

} // namespace blockscale

#endif // BLOCKSCALE_DIALECT_BLOCKSCALE_IR_BLOCKSCALEHOST_H
