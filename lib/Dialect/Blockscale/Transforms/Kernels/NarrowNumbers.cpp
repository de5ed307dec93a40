//===- NarrowNumbers.cpp - codes in words and scales as f32 ---------------===//
//
// Part of the blockscale project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "NarrowNumbers.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"

using namespace mlir;
using namespace blockscale;

/// The codes of elements `i` and `i + 1`, as `blockscale.decode_pair` has them.
static Value codesAt(Emitter &e, ArrayRef<Value> words, int64_t bits,
                     int64_t i) {
  int64_t word = i * bits / 32, bit = i * bits % 32;
  auto right = [&](Value x, int64_t distance) -> Value {
    return distance ? arith::ShRUIOp::create(e, x, e.i32(distance)).getResult()
                    : x;
  };
  auto left = [&](Value x, int64_t distance) -> Value {
    return arith::ShLIOp::create(e, x, e.i32(distance));
  };
  Value pair = right(words[word], bit);
  if (bit + 2 * bits > 32)
    pair = arith::OrIOp::create(e, pair, left(words[word + 1], 32 - bit));
  if (bits != 6)
    return pair;
  // 6-bit codes come in bytes of their own.
  Value low = arith::AndIOp::create(e, pair, e.i32(0x3f));
  Value high = arith::AndIOp::create(e, left(pair, 2), e.i32(0x3f << 8));
  return arith::OrIOp::create(e, low, high);
}

/// Those of integers without a sign.
static SmallVector<Value> decodeUnsigned(Emitter &e, ArrayRef<Value> words,
                                         int64_t bits, int64_t count) {
  int64_t perWord = 32 / bits, mask = (int64_t(1) << bits) - 1;
  SmallVector<Value> values;
  for (int64_t i = 0; i < count; ++i) {
    Value word = words[i / perWord];
    if (int64_t right = i % perWord * bits)
      word = arith::ShRUIOp::create(e, word, e.i32(right));
    Value code = arith::AndIOp::create(e, word, e.i32(mask));
    values.push_back(arith::UIToFPOp::create(e, e.getF32Type(), code));
  }
  return values;
}

/// Those of int8.
static SmallVector<Value> decodeIntegers(Emitter &e, ArrayRef<Value> words,
                                         int64_t count) {
  constexpr int64_t kBits = 8, kCodes = 4, kAbove = 24;
  SmallVector<Value> values;
  for (int64_t i = 0; i < count; ++i) {
    Value word = words[i / kCodes];
    if (int64_t left = kAbove - i % kCodes * kBits)
      word = arith::ShLIOp::create(e, word, e.i32(left));
    Value integer = arith::ShRSIOp::create(e, word, e.i32(kAbove));
    values.push_back(arith::SIToFPOp::create(e, e.getF32Type(), integer));
  }
  return values;
}

SmallVector<Value> blockscale::decodeWords(Emitter &e, ArrayRef<Value> words,
                                           Type type, int64_t bits,
                                           int64_t count) {
  if (type.isUnsignedInteger())
    return decodeUnsigned(e, words, bits, count);
  if (isa<IntegerType>(type))
    return decodeIntegers(e, words, count);
  SmallVector<Value> values;
  for (int64_t i = 0; i < count; i += 2) {
    Value pair = DecodePairOp::create(e, codesAt(e, words, bits, i),
                                      TypeAttr::get(type));
    for (int64_t k = 0; k < 2; ++k)
      values.push_back(e.widen(vector::ExtractOp::create(e, pair, k)));
  }
  return values;
}

Value blockscale::scaleOfByte(Emitter &e, Value byte, ElementFormat format) {
  constexpr int64_t kNaN = 0x7fc00000, kSmallest = 0x00400000;
  Value code = arith::ExtUIOp::create(e, e.getI32Type(), byte);
  auto is = [&](int64_t value) -> Value {
    return arith::CmpIOp::create(e, arith::CmpIPredicate::eq, code,
                                 e.i32(value));
  };
  auto shifted = [&](int64_t distance) -> Value {
    return arith::ShLIOp::create(e, code, e.i32(distance));
  };
  switch (format) {
  case ElementFormat::UE8M0: {
    // 2^-127 is a subnormal f32.
    Value value = select(e, is(0), e.i32(kSmallest), shifted(23));
    return e.fromBits(select(e, is(0xff), e.i32(kNaN), value));
  }
  case ElementFormat::UE5M3: {
    // The fields of an f32 whose exponent counts from -15, not from -127.
    Value value =
        arith::MulFOp::create(e, e.fromBits(shifted(20)), e.f32(0x1p112f));
    return select(e, is(0xff), e.fromBits(e.i32(kNaN)), value);
  }
  default: {
    MLIRContext *context = e.getContext();
    Type type = Float8E4M3FNType::get(context);
    if (format == ElementFormat::E5M2)
      type = Float8E5M2Type::get(context);
    Value pair = DecodePairOp::create(e, code, TypeAttr::get(type));
    return e.widen(vector::ExtractOp::create(e, pair, 0));
  }
  }
}
