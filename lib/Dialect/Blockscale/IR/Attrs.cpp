//===- Attrs.cpp - attributes of the dialect ----------------------------===//
//
// Part of the blockscale project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "blockscale/Dialect/Blockscale/IR/Blockscale.h"
#include "mlir/IR/DialectImplementation.h"
#include "llvm/ADT/TypeSwitch.h"

using namespace mlir;
using namespace blockscale;

#include "blockscale/Dialect/Blockscale/IR/BlockscaleEnums.cpp.inc"

#define GET_ATTRDEF_CLASSES
#include "blockscale/Dialect/Blockscale/IR/BlockscaleAttrs.cpp.inc"

void BlockscaleDialect::registerAttributes() {
  addAttributes<
#define GET_ATTRDEF_LIST
#include "blockscale/Dialect/Blockscale/IR/BlockscaleAttrs.cpp.inc"
      >();
}
