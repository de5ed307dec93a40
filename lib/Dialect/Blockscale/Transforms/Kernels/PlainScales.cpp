//===- PlainScales.cpp - scales that no instruction reads -----------------===//
//
// Part of the blockscale project, under the Apache License v2.0 with LLVM
// Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "PlainScales.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"

using namespace mlir;
using namespace blockscale;

Value blockscale::plainScaleOf(Emitter &e, Value memory, Value code) {
  Type type = cast<GlobalType>(memory.getType()).getElementType();
  unsigned bits = type.getIntOrFloatBitWidth();
  Value stored = code;
  if (bits < code.getType().getIntOrFloatBitWidth())
    stored = arith::TruncIOp::create(e, e.getIntegerType(bits), code);
  if (isa<FloatType>(type))
    stored = arith::BitcastOp::create(e, type, stored);
  return vector::FromElementsOp::create(e, VectorType::get({1}, type), stored);
}
