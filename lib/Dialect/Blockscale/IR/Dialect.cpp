//===- Dialect.cpp - the dialect ----------------------------------------===//
//
// Part of the blockscale project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "blockscale/Dialect/Blockscale/IR/BlockscaleErrors.h"
#include "blockscale/Dialect/Blockscale/IR/BlockscaleHost.h"
#include "blockscale/Dialect/Blockscale/IR/BlockscaleSums.h"
#include "blockscale/Dialect/Blockscale/IR/Bytecode.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"

using namespace mlir;
using namespace blockscale;

#include "blockscale/Dialect/Blockscale/IR/BlockscaleDialect.cpp.inc"

void BlockscaleDialect::initialize() {
  registerAttributes();
  registerTypes();
  addOperations<
#define GET_OP_LIST
#include "blockscale/Dialect/Blockscale/IR/BlockscaleOps.cpp.inc"
      >();
  addInterface(makeBytecodeInterface(this));
  addOperations<
#define GET_OP_LIST
#include "blockscale/Dialect/Blockscale/IR/BlockscaleHostOps.cpp.inc"
      >();
  addOperations<
#define GET_OP_LIST
#include "blockscale/Dialect/Blockscale/IR/BlockscaleSumsOps.cpp.inc"
      >();
  addOperations<
#define GET_OP_LIST
#include "blockscale/Dialect/Blockscale/IR/BlockscaleErrorOps.cpp.inc"
      >();
}

Operation *BlockscaleDialect::materializeConstant(OpBuilder &builder,
                                                  Attribute value, Type type,
                                                  Location loc) {
  return arith::ConstantOp::materialize(builder, value, type, loc);
}
