//===- WordBits.h - bits of words in kernels --------------------*- C++ -*-===//
//
// Part of the blockscale project, under the Apache License v2.0 with LLVM
// Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef BLOCKSCALE_LIB_DIALECT_BLOCKSCALE_TRANSFORMS_KERNELS_WORDBITS_H
#define BLOCKSCALE_LIB_DIALECT_BLOCKSCALE_TRANSFORMS_KERNELS_WORDBITS_H

#include "blockscale/Dialect/Blockscale/IR/Numbers.h"
#include "mlir/Dialect/Arith/IR/Arith.h"

namespace blockscale {

/// Operations on i32 values, with constants by their values.
class WordBits {
public:
  explicit WordBits(Emitter &emitter) : e(emitter) {}

protected:
  using Value = mlir::Value;

  Value bitAnd(Value x, Value y) {
    return mlir::arith::AndIOp::create(e, x, y);
  }
  Value bitAnd(Value x, int64_t mask) {
    return bitAnd(x, e.i32(int32_t(mask)));
  }
  Value bitOr(Value x, Value y) { return mlir::arith::OrIOp::create(e, x, y); }
  Value bitXor(Value x, Value y) {
    return mlir::arith::XOrIOp::create(e, x, y);
  }
  Value bitXor(Value x, int64_t mask) {
    return bitXor(x, e.i32(int32_t(mask)));
  }
  Value add(Value x, int64_t y) {
    return mlir::arith::AddIOp::create(e, x, e.i32(int32_t(y)));
  }
  Value mul(Value x, int64_t y) {
    return mlir::arith::MulIOp::create(e, x, e.i32(y));
  }
  Value left(Value x, Value distance) {
    return mlir::arith::ShLIOp::create(e, x, distance);
  }
  Value right(Value x, Value distance) {
    return mlir::arith::ShRUIOp::create(e, x, distance);
  }
  Value left(Value x, int64_t distance) {
    return distance ? left(x, e.i32(distance)) : x;
  }
  Value right(Value x, int64_t distance) {
    return distance ? right(x, e.i32(distance)) : x;
  }

  /// Four of the bytes of two words, by their numbers: those of `right` are 4
  /// to 7.
  Value bytesOf(Value left, Value right, llvm::ArrayRef<int64_t> order);

  Emitter &e;
};

} // namespace blockscale

#endif // BLOCKSCALE_LIB_DIALECT_BLOCKSCALE_TRANSFORMS_KERNELS_WORDBITS_H
