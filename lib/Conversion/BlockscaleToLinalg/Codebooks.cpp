//===- Codebooks.cpp - codes of elements that are indices into tables -----===//
//
// Part of the blockscale project, under the Apache License v2.0 with LLVM
// Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "blockscale/Dialect/Blockscale/IR/Codebooks.h"
#include "ElementValues.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"

using namespace mlir;
using namespace blockscale;

Value blockscale::codebookCode(Emitter &e, const Parts &parts, Value index,
                               ValueRange position) {
  TableNumbers numbers = *tableNumbers(parts.type);
  Type i32 = e.getI32Type();
  SmallVector<Value> place(position);
  Value &row = place[place.size() - 2], &column = place.back();
  row = numbers.rows ? e.quotient(row, numbers.rows) : e.index(0);
  Value number = e.quotient(column, numbers.columns);
  column = e.quotient(number, numbers.perByte());
  Value byte = arith::ExtUIOp::create(
      e, i32, tensor::ExtractOp::create(e, parts.metadata, place));
  Value shift = arith::MulIOp::create(e, e.remainder(number, numbers.perByte()),
                                      e.index(numbers.bits));
  Value table = arith::ShRUIOp::create(
      e, byte, arith::IndexCastOp::create(e, i32, shift));
  table = arith::AndIOp::create(e, table, e.i32((1 << numbers.bits) - 1));
  return arith::OrIOp::create(
      e, arith::ShLIOp::create(e, table, e.i32(numbers.indexBits)),
      arith::ExtUIOp::create(e, i32, index));
}
