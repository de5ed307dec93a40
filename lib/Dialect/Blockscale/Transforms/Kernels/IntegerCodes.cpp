//===- IntegerCodes.cpp - numbers as codes of integers --------------------===//
//
// Part of the blockscale project, under the Apache License v2.0 with LLVM
// Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

// No instruction has two codes from two numbers here, as those of narrow floats
// do. With 1.5 * 2^23 added an f32 has its integer in the low bits, and with
// 128 more that is positive, so that four of them add up to a word without a
// carry from one byte to the next. Then bytes that are 128 too large have the
// first bit wrong, and no other.

#include "IntegerCodes.h"

using namespace mlir;
using namespace blockscale;

static constexpr float kLargest = 127;
static constexpr int64_t kAbove = 128;
/// The bits of 1.5 * 2^23.
static constexpr int64_t kFarBits = 0x4b400000;
static constexpr size_t kCodesOfWord = 4;

/// Words of integers, each i32 with `kFarBits` and `kAbove` added.
static SmallVector<Value> joinBytes(Emitter &e, ArrayRef<Value> integers) {
  constexpr int64_t kByteBits = 8;
  constexpr uint32_t kOnes = 0x01010101;
  Value excess = e.i32(int32_t(uint32_t(kFarBits) * kOnes));
  Value firstBits = e.i32(int32_t(uint32_t(kAbove) * kOnes));
  SmallVector<Value> words;
  for (; !integers.empty(); integers = integers.drop_front(kCodesOfWord)) {
    Value word = integers.front();
    for (size_t i = 1; i < kCodesOfWord; ++i) {
      Value place = e.i32(int64_t(i) * kByteBits);
      word = arith::AddIOp::create(
          e, word, arith::ShLIOp::create(e, integers[i], place));
    }
    word = arith::SubIOp::create(e, word, excess);
    words.push_back(arith::XOrIOp::create(e, word, firstBits));
  }
  return words;
}

SmallVector<Value> blockscale::encodeBytes(Emitter &e, ArrayRef<Value> values) {
  constexpr float kFar = 0x1.8p23f + float(kAbove);
  SmallVector<Value> integers;
  for (Value value : values)
    integers.push_back(e.bits(
        arith::AddFOp::create(e, clamp(e, value, kLargest), e.f32(kFar))));
  return joinBytes(e, integers);
}
