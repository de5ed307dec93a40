//===- NumberParts.cpp - f32 one by one or in pairs -----------------------===//
//
// Part of the blockscale project, under the Apache License v2.0 with LLVM
// Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "NumberParts.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"

using namespace mlir;
using namespace blockscale;

NumberParts::Part NumberParts::join(ArrayRef<Value> numbers) {
  if (!isPacked)
    return numbers.front();
  auto type = VectorType::get({lanes()}, e.getF32Type());
  return vector::FromElementsOp::create(e, type, numbers);
}

NumberParts::Part NumberParts::splat(Value number) {
  return join(SmallVector<Value>(lanes(), number));
}

Value NumberParts::number(Part part, int64_t lane) {
  return isPacked ? vector::ExtractOp::create(e, part, lane).getResult() : part;
}

SmallVector<Value> NumberParts::numbers(Part part) {
  SmallVector<Value> all;
  for (int64_t lane = 0; lane < lanes(); ++lane)
    all.push_back(number(part, lane));
  return all;
}

NumberParts::Part NumberParts::times(Part part, Value factor) {
  return arith::MulFOp::create(e, part, splat(factor));
}
