//===- Blockscale.h - the dialect -------------------------------*- C++ -*-===//
//
// Part of the blockscale project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The blockscale dialect with its attributes, types and ops.
//
//===----------------------------------------------------------------------===//

#ifndef BLOCKSCALE_DIALECT_BLOCKSCALE_IR_BLOCKSCALE_H
#define BLOCKSCALE_DIALECT_BLOCKSCALE_IR_BLOCKSCALE_H

#include "mlir/Bytecode/BytecodeOpInterface.h"
#include "mlir/IR/BuiltinTypes.h"
#include "mlir/IR/Dialect.h"
#include "mlir/IR/OpDefinition.h"
#include "mlir/IR/OpImplementation.h"
#include "mlir/Interfaces/InferTypeOpInterface.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"

#include "blockscale/Dialect/Blockscale/IR/BlockscaleDialect.h.inc"
#include "blockscale/Dialect/Blockscale/IR/BlockscaleEnums.h.inc"

#define GET_ATTRDEF_CLASSES
#include "blockscale/Dialect/Blockscale/IR/BlockscaleAttrs.h.inc"

#define GET_TYPEDEF_CLASSES
#include "blockscale/Dialect/Blockscale/IR/BlockscaleTypes.h.inc"

#define GET_OP_CLASSES
#include "blockscale/Dialect/Blockscale/IR/BlockscaleOps.h.inc"

#endif // BLOCKSCALE_DIALECT_BLOCKSCALE_IR_BLOCKSCALE_H
