//===- RandomCodes.cpp - codes rounded at random --------------------------===//
//
// Part of the blockscale project, under the Apache License v2.0 with LLVM
// Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

// Magnitudes that count codes: an f32 is multiplied by a power of two so small
// that the code of its magnitude stands in its bits, also where it is subnormal
// as a code, which it then is as an f32 too. Below the code is the rest, as a
// fraction of a step, of which those bits count that random numbers have. There
// the random bits are added; a carry goes to the next code. Multiplied back it
// is the number whose code was counted to, and what is beyond the largest one
// is so still.

#include "RandomCodes.h"
#include "blockscale/Dialect/Blockscale/IR/Blockscale.h"
#include "blockscale/Dialect/Blockscale/IR/BlockscaleErrors.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"

using namespace mlir;
using namespace blockscale;

/// The numbers of a part, which begins at number `first`, times `scale` and
/// with their random bits in the lowest `restBits`, which stay if `keepsRest`.
static SmallVector<Value> counted(Emitter &e, NumberParts parts,
                                  ArrayRef<Value> values, float scale,
                                  unsigned restBits, size_t first,
                                  ArrayRef<Value> pairs, bool keepsRest) {
  int64_t step = int64_t(1) << (restBits - kRandomBits);
  NumberParts::Part part = MultiplyTowardsZeroOp::create(
      e, parts.join(values), parts.splat(e.f32(scale)));
  SmallVector<Value> numbers;
  for (int64_t lane = 0; lane < parts.lanes(); ++lane) {
    size_t number = first + size_t(lane);
    Value sum = AddHalfOp::create(e, e.bits(parts.number(part, lane)), step,
                                  pairs[number / 2],
                                  /*upper=*/number % 2 != 0);
    if (!keepsRest)
      sum = arith::AndIOp::create(e, sum, e.i32(-(int64_t(1) << restBits)));
    numbers.push_back(e.fromBits(sum));
  }
  return numbers;
}

/// What `make` makes of each part of values times `inverse`, which begins at
/// the number that it is told.
static SmallVector<Value>
forEachPart(NumberParts parts, ArrayRef<Value> values, Value inverse,
            function_ref<NumberParts::Part(SmallVector<Value>, size_t)> make) {
  SmallVector<Value> made;
  for (size_t i = 0; i < values.size(); i += parts.lanes()) {
    NumberParts::Part part =
        parts.times(values.slice(i, parts.lanes()), inverse);
    llvm::append_range(made, parts.numbers(make(parts.numbers(part), i)));
  }
  return made;
}

//===----------------------------------------------------------------------===//
// Codes of 4 bits
//===----------------------------------------------------------------------===//

SmallVector<Value> blockscale::randomCodes(Emitter &e, NumberParts parts,
                                           ArrayRef<Value> values,
                                           Value inverse, ArrayRef<Value> pairs,
                                           bool byInstruction) {
  // The smallest normal number is 1, that of f32 2^-126. Numbers have one bit
  // of their fraction in the code.
  constexpr float kDown = 0x1p-126f, kUp = 0x1p126f;
  constexpr unsigned kRestBits = 22;
  constexpr size_t kWord = 8;
  auto format = TypeAttr::get(Float4E2M1FNType::get(e.getContext()));
  // By random bits of 0 the instruction rounds towards zero.
  SmallVector<Value> numbers = forEachPart(
      parts, values, inverse, [&](ArrayRef<Value> part, size_t first) {
        return parts.times(counted(e, parts, part, kDown, kRestBits, first,
                                   pairs, /*keepsRest=*/byInstruction),
                           e.f32(kUp));
      });
  SmallVector<Value> words;
  Value zero = e.i32(0);
  for (ArrayRef<Value> rest = numbers; !rest.empty();
       rest = rest.drop_front(kWord)) {
    ArrayRef<Value> word = rest.take_front(kWord);
    words.push_back(byInstruction
                        ? EncodeStochasticOp::create(e, e.getI32Type(), word,
                                                     ValueRange{zero, zero},
                                                     format)
                              .getResult()
                        : EncodeWordOp::create(e, word, format).getResult());
  }
  return words;
}

SmallVector<Value> blockscale::orSigns(Emitter &e, ArrayRef<Value> words,
                                       ArrayRef<Value> values) {
  constexpr int64_t kBits = 4, kWord = 32, kCodes = kWord / kBits;
  constexpr int64_t kSign = int64_t(1) << 31;
  SmallVector<Value> result(words);
  for (auto [i, value] : llvm::enumerate(values)) {
    int64_t place = int64_t(i) % kCodes * kBits;
    Value sign = arith::AndIOp::create(e, e.bits(value), e.i32(-kSign));
    sign = arith::ShRUIOp::create(e, sign, e.i32(kWord - kBits - place));
    Value &word = result[i / kCodes];
    word = arith::OrIOp::create(e, word, sign);
  }
  return result;
}

//===----------------------------------------------------------------------===//
// Integers
//===----------------------------------------------------------------------===//

static constexpr float kLargest = 127;

/// `value` between the ends, and a NaN as 0 if there may be one.
static Value bounded(Emitter &e, Value value, bool hasNaN) {
  if (hasNaN)
    value = select(e, isNaN(e, value), e.f32(0), value);
  return clamp(e, value, kLargest);
}

/// Words of the low bytes of numbers.
static SmallVector<Value> lowBytes(Emitter &e, ArrayRef<Value> numbers) {
  constexpr size_t kCodesOfWord = 4;
  auto bytes = VectorType::get({kCodesOfWord}, e.getI8Type());
  auto whole = VectorType::get({1}, e.getI32Type());
  SmallVector<Value> words;
  for (; !numbers.empty(); numbers = numbers.drop_front(kCodesOfWord)) {
    SmallVector<Value> codes;
    for (Value number : numbers.take_front(kCodesOfWord))
      codes.push_back(
          arith::TruncIOp::create(e, e.getI8Type(), e.bits(number)));
    Value word = vector::FromElementsOp::create(e, bytes, codes);
    word = vector::BitCastOp::create(e, whole, word);
    words.push_back(vector::ExtractOp::create(e, word, int64_t(0)));
  }
  return words;
}

SmallVector<Value> blockscale::randomBytes(Emitter &e, NumberParts parts,
                                           ArrayRef<Value> values,
                                           Value inverse, ArrayRef<Value> pairs,
                                           bool hasNaN) {
  // The smallest f32, 2^-149, is the last bit of random numbers, 2^-16. What is
  // multiplied back so far that it is in units of 2^-6 stands in the low bits
  // of the sum with 1.5 * 2^17, with its sign.
  constexpr float kDown = 0x1p-133f, kUp = 0x1p127f, kFar = 0x1.8p17f;
  SmallVector<Value> integers = forEachPart(
      parts, values, inverse, [&](SmallVector<Value> part, size_t first) {
        for (Value &value : part)
          value = bounded(e, value, hasNaN);
        Value sums =
            parts.join(counted(e, parts, part, kDown, kRandomBits, first, pairs,
                               /*keepsRest=*/false));
        return math::FmaOp::create(e, sums, parts.splat(e.f32(kUp)),
                                   parts.splat(e.f32(kFar)))
            .getResult();
      });
  return lowBytes(e, integers);
}
