//===- WordBits.cpp - bits of words in kernels ----------------------------===//
//
// Part of the blockscale project, under the Apache License v2.0 with LLVM
// Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "WordBits.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"

using namespace mlir;
using namespace blockscale;

Value WordBits::bytesOf(Value left, Value right, ArrayRef<int64_t> order) {
  auto one = VectorType::get({1}, e.getI32Type());
  auto bytes = VectorType::get({4}, e.getI8Type());
  auto bytesOfWord = [&](Value word) -> Value {
    return vector::BitCastOp::create(
        e, bytes, vector::FromElementsOp::create(e, one, word));
  };
  Value shuffled = vector::ShuffleOp::create(e, bytesOfWord(left),
                                             bytesOfWord(right), order);
  return vector::ExtractOp::create(
      e, vector::BitCastOp::create(e, one, shuffled), int64_t(0));
}
