//===- BlockRandom.cpp - what a block is random by ------------------------===//
//
// Part of the blockscale project, under the Apache License v2.0 with LLVM
// Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "BlockRandom.h"
#include "blockscale/Dialect/Blockscale/IR/RandomBits.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"

using namespace mlir;
using namespace blockscale;

BlockRandom::BlockRandom(Emitter &emitter, QuantizationAttr what, int64_t block)
    : e(emitter), what(what), block(block) {}

bool BlockRandom::areShared() const {
  return what.getRounding() == ElementRounding::StochasticRS;
}

uint64_t BlockRandom::seed() const { return uint64_t(what.getSeed().getInt()); }

/// The lower and the upper half of words of 64 bits. One instruction has both
/// halves of a register.
SmallVector<Value> BlockRandom::halvesOf(ArrayRef<Value> words) {
  auto halves = VectorType::get({2}, e.getI32Type());
  SmallVector<Value> all;
  for (Value word : words) {
    Value both = vector::BitCastOp::create(
        e, halves,
        vector::FromElementsOp::create(e, VectorType::get({1}, word.getType()),
                                       word));
    for (int64_t half : {0, 1})
      all.push_back(vector::ExtractOp::create(e, both, half));
  }
  return all;
}

/// The bits of each four elements of such a block.
SmallVector<Value> BlockRandom::sharedBits(Value first) {
  SmallVector<Value> all;
  SmallVector<Value> halves =
      halvesOf(sharedRandomWords(e, seed(), first, block));
  for (size_t i = 0; i < halves.size(); i += 2)
    all.append(randomGroups(e, halves[i + 1], halves[i]));
  return all;
}

/// The same of groups that share theirs. Of a byte the lower eight bits are 0.
SmallVector<Value> BlockRandom::sharedNumbers(Value first) {
  unsigned bits = what.getD().getElementType().getIntOrFloatBitWidth();
  int64_t taken = takenRandomBits(bits);
  SmallVector<Value> all;
  for (Value group : sharedBits(first))
    for (int64_t i = 0; i < kRandomGroup; ++i) {
      int64_t below = firstRandomBit(i, bits) - (kRandomBits - taken);
      Value number = group;
      if (below < 0)
        number = arith::ShLIOp::create(e, group, e.i32(-below));
      else if (below > 0)
        number = arith::ShRUIOp::create(e, group, e.i32(below));
      int64_t mask = ((1 << taken) - 1) << (kRandomBits - taken);
      all.push_back(arith::AndIOp::create(e, number, e.i32(mask)));
    }
  return all;
}

/// The random numbers of two elements each, in an i32, of a block whose first
/// element has number `first`.
SmallVector<Value> BlockRandom::pairs(Value first) {
  int64_t count = block / kSharedRandom;
  Value shared = arith::ConstantIntOp::create(e, e.getI64Type(), kSharedRandom);
  Value group = arith::DivUIOp::create(e, first, shared);
  return halvesOf(randomWords(e, seed(), group, count));
}

/// Those of one element each, i32.
SmallVector<Value> BlockRandom::numbers(Value first) {
  if (areShared())
    return sharedNumbers(first);
  SmallVector<Value> all;
  for (Value pair : pairs(first)) {
    all.push_back(
        arith::AndIOp::create(e, pair, e.i32((1 << kRandomBits) - 1)));
    all.push_back(arith::ShRUIOp::create(e, pair, e.i32(kRandomBits)));
  }
  return all;
}
