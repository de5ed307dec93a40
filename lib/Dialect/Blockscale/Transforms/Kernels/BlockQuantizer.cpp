//===- BlockQuantizer.cpp - a block of numbers as codes -------------------===//
//
// Part of the blockscale project, under the Apache License v2.0 with LLVM
// Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "BlockQuantizer.h"
#include "mlir/Dialect/GPU/IR/GPUDialect.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"
#include "llvm/ADT/bit.h"

#include <limits>

using namespace mlir;
using namespace blockscale;

/// An f32 without its sign.
static constexpr int64_t kMagnitudeMask = 0x7fffffff;

BlockQuantizer::BlockQuantizer(Emitter &emitter, QuantizationAttr what,
                               const QuantizedStorage &storage,
                               ArrayRef<Value> sizes)
    : StorageAccess(emitter, storage, sizes), what(what),
      element(cast<FloatType>(what.getD().getElementType())),
      limit(largestElement(what.getD())) {}

//===----------------------------------------------------------------------===//
// Scales
//===----------------------------------------------------------------------===//

/// The bits of a NaN are above the others'.
Value BlockQuantizer::largestOf(ArrayRef<Value> values) {
  SmallVector<Value> bits;
  for (Value value : values)
    bits.push_back(
        arith::AndIOp::create(e, e.bits(value), e.i32(kMagnitudeMask)));
  // In pairs, so that no maximum waits for all before it.
  while (bits.size() > 1) {
    for (size_t i = 0; i < bits.size() / 2; ++i)
      bits[i] = arith::MaxUIOp::create(e, bits[2 * i], bits[2 * i + 1]);
    bits.resize(bits.size() / 2);
  }
  return e.fromBits(bits.front());
}

Value BlockQuantizer::largestOfTile(Value largest) {
  return e.fromBits(gpu::SubgroupReduceOp::create(
      e, e.bits(largest), gpu::AllReduceOperation::MAXUI, /*uniform=*/true,
      std::optional<uint32_t>(storage.rowTile)));
}

/// min(1 / (s * t), FLT_MAX), and 0 under a scale of 0.
Value BlockQuantizer::inverseOf(Value scale, Value factor) {
  Value step = scale;
  if (factor)
    step = arith::MinimumFOp::create(e, arith::MulFOp::create(e, scale, factor),
                                     e.f32(std::numeric_limits<float>::max()));
  Value isZero =
      arith::CmpFOp::create(e, arith::CmpFPredicate::OEQ, scale, e.f32(0));
  return select(e, isZero, e.f32(0), boundedInverse(e, step));
}

/// Of powers of two; `factor` is that of the tensor, or null.
BlockScaling BlockQuantizer::exponentScaling(ScaleRule rule, Value largest,
                                             Value factor) {
  constexpr int64_t kNaN = 0x7fc00000, kSmallest = 0x00400000;
  if (factor)
    largest = arith::MulFOp::create(e, largest, boundedInverse(e, factor));
  Value code = exponentScaleBits(e, largest, rule, element);
  // 2^(code - 127), or the inverse of that, which is one too: 2^-127, the
  // smallest, is a subnormal f32.
  auto power = [&](Value exponent, int64_t smallest) {
    Value bits = arith::ShLIOp::create(e, exponent, e.i32(23));
    auto is = [&](int64_t value) -> Value {
      return arith::CmpIOp::create(e, arith::CmpIPredicate::eq, code,
                                   e.i32(value));
    };
    bits = select(e, is(smallest), e.i32(kSmallest), bits);
    return e.fromBits(select(e, is(255), e.i32(kNaN), bits));
  };
  if (factor)
    return {code, inverseOf(power(code, 0), factor), Value()};
  return {code, power(arith::SubIOp::create(e, e.i32(254), code), 254),
          Value()};
}

/// Of e4m3, in the order of operations that `blockscale.quantize` has. The
/// largest magnitude becomes the element `target`.
BlockScaling BlockQuantizer::floatScaling(float target, Value largest,
                                          Value factor) {
  auto format = Float8E4M3FNType::get(what.getContext());
  Value scale;
  if (factor)
    scale = arith::MulFOp::create(
        e, largest,
        arith::MulFOp::create(e, boundedInverse(e, factor),
                              e.f32(1.0f / target)));
  else
    scale = arith::DivFOp::create(e, largest, e.f32(target));
  scale =
      arith::MinimumFOp::create(e, scale, e.f32(largestScale(format, limit)));
  Value code = EncodePairOp::create(e, scale, e.f32(0), TypeAttr::get(format));
  // The bits of an e4m3 at the top of an f32's fraction and exponent are that
  // number times 2^-120, subnormals included; 0x7f is NaN.
  Value bits = arith::ShLIOp::create(e, code, e.i32(20));
  Value value = arith::MulFOp::create(e, e.fromBits(bits), e.f32(0x1p120f));
  Value isNaNCode =
      arith::CmpIOp::create(e, arith::CmpIPredicate::eq, code, e.i32(0x7f));
  value = select(e, isNaNCode, e.f32(std::numeric_limits<float>::quiet_NaN()),
                 value);
  return {code, inverseOf(value, factor), value};
}

/// The sum of what the elements of a tile add to its error, an i32: there are
/// at most 1024 of at most 2^20.
Value BlockQuantizer::errorOf(ArrayRef<Value> values, Value inverse,
                              Value ratio, Value counts) {
  SmallVector<Value> errors;
  for (Value value : values) {
    Value quotient =
        math::AbsFOp::create(e, arith::MulFOp::create(e, value, inverse));
    errors.push_back(squaredError(e, quotient, ratio, what.getD()));
  }
  while (errors.size() > 1) {
    for (size_t i = 0; i < errors.size() / 2; ++i)
      errors[i] = add(errors[2 * i], errors[2 * i + 1]);
    errors.resize(errors.size() / 2);
  }
  if (storage.rowTile == 1)
    return errors.front();
  return gpu::SubgroupReduceOp::create(
      e, select(e, counts, errors.front(), e.i32(0)),
      gpu::AllReduceOperation::ADD, /*uniform=*/true,
      std::optional<uint32_t>(storage.rowTile));
}

/// The one of two scales that `min_error` takes.
BlockScaling BlockQuantizer::lessErring(ArrayRef<Value> values, Value largest,
                                        Value factor, Value counts) {
  bool isPower = storage.scale == ElementFormat::UE8M0;
  float below = secondLargestElement(what.getD());
  BlockScaling first = isPower
                           ? exponentScaling(ScaleRule::Floor, largest, factor)
                           : floatScaling(limit, largest, factor);
  BlockScaling second =
      isPower ? exponentScaling(ScaleRule::FloorPlusOne, largest, factor)
              : floatScaling(below, largest, factor);
  // A power is twice the other unless both are the same.
  Value ratio =
      isPower ? e.f32(2)
              : arith::DivFOp::create(e, second.scale, first.scale).getResult();
  Value isBetter =
      arith::CmpIOp::create(e, arith::CmpIPredicate::ult,
                            errorOf(values, second.inverse, ratio, counts),
                            errorOf(values, first.inverse, e.f32(1), counts));
  if (!isPower) {
    Value isZero = arith::CmpIOp::create(e, arith::CmpIPredicate::eq,
                                         first.code, e.i32(0));
    isBetter = arith::OrIOp::create(e, isBetter, isZero);
  }
  return {select(e, isBetter, second.code, first.code),
          select(e, isBetter, second.inverse, first.inverse), Value()};
}

BlockScaling BlockQuantizer::scalingOf(ArrayRef<Value> values, Value largest,
                                       Value factor, Value counts) {
  if (comparesErrors())
    return lessErring(values, largest, factor, counts);
  return storage.scale == ElementFormat::UE8M0
             ? exponentScaling(what.getRule(), largest, factor)
             : floatScaling(limit, largest, factor);
}

//===----------------------------------------------------------------------===//
// Elements
//===----------------------------------------------------------------------===//

/// `value`, which to nearest even becomes what the op's rounding to nearest
/// makes of it. A tie of narrow numbers ends in zeros: with its last bit set it
/// lies above the tie, one less below. Nothing else crosses a tie so, since
/// what ends in a one stays as it is.
Value BlockQuantizer::withoutTie(Value value) {
  Value one = e.i32(1);
  if (what.getRounding() == ElementRounding::Even)
    return value;
  if (what.getRounding() == ElementRounding::Away) {
    // An infinity would become a NaN.
    value = arith::MaximumFOp::create(e, value, e.f32(-limit));
    value = arith::MinimumFOp::create(e, value, e.f32(limit));
    return e.fromBits(arith::OrIOp::create(e, e.bits(value), one));
  }
  Value raw = e.bits(value);
  Value magnitude = arith::AndIOp::create(e, raw, e.i32(kMagnitudeMask));
  // There is nothing below 0.
  Value less = arith::MinUIOp::create(e, magnitude, one);
  raw = arith::SubIOp::create(e, raw, less);
  return e.fromBits(arith::OrIOp::create(e, raw, one));
}

/// The code of `value`, which is no NaN, as i32; `random` is an i32 of 24 bits.
/// In units of 2^-24 of the step between two codes a magnitude X is rounded up
/// where its fraction exceeds the random number R, to floor((ceil(X) - 1 - R) /
/// 2^24) + 1, all in integers.
Value BlockQuantizer::stochasticCode(Value value, Value random) {
  const llvm::fltSemantics &semantics = element.getFloatSemantics();
  constexpr int64_t kFractionBits = 23, kBias = 127, kRandomBits = 24;
  int64_t fraction = APFloat::semanticsPrecision(semantics) - 1;
  int64_t smallest = APFloat::semanticsMinExponent(semantics) + kBias;
  int64_t binade = kRandomBits + fraction;
  auto sub = [&](Value x, Value y) -> Value {
    return arith::SubIOp::create(e, x, y);
  };
  Value raw = e.bits(value);
  Value magnitude = arith::AndIOp::create(e, raw, e.i32(kMagnitudeMask));
  int64_t bound = llvm::bit_cast<uint32_t>(limit);
  magnitude = arith::MinUIOp::create(e, magnitude, e.i32(bound));
  Value own = arith::ShRUIOp::create(e, magnitude, e.i32(kFractionBits));
  Value exponent = arith::MaxUIOp::create(e, own, e.i32(smallest));
  // What is so small that the shift ends at 31 is below one unit.
  Value shift = arith::MinUIOp::create(e, sub(exponent, own), e.i32(31));
  Value hidden = mul(arith::MinUIOp::create(e, magnitude, e.i32(1)),
                     e.i32(int64_t(1) << kFractionBits));
  Value significand = arith::OrIOp::create(
      e, arith::AndIOp::create(e, magnitude, e.i32((1 << kFractionBits) - 1)),
      hidden);
  Value units = mul(significand, e.i32(int64_t(1) << (fraction + 1)));
  units = arith::ShRSIOp::create(e, add(units, e.i32(-1)), shift);
  // The exponent counts above the code, which has all of the step's bits.
  int64_t base = (int64_t(1) << kRandomBits) - (smallest << binade);
  Value sum = add(mul(exponent, e.i32(int64_t(1) << binade)),
                  sub(e.i32(int32_t(base)), random));
  Value code = arith::ShRUIOp::create(e, add(sum, units), e.i32(kRandomBits));
  int64_t width = element.getWidth();
  Value sign = arith::AndIOp::create(
      e, arith::ShRUIOp::create(e, raw, e.i32(32 - width)),
      e.i32(int64_t(1) << (width - 1)));
  return arith::OrIOp::create(e, code, sign);
}

/// Under a scale that is NaN all elements are, and under no other: an infinity
/// has a scale whose inverse is not 0.
void BlockQuantizer::replaceNaN(SmallVector<Value> &words, Value inverse) {
  auto bits = unsigned(storage.data->globalBits);
  uint64_t code = formatInfo(storage.element).nanCode;
  if (!APFloat::semanticsHasNaN(element.getFloatSemantics()))
    code = APFloat::getLargest(element.getFloatSemantics())
               .bitcastToAPInt()
               .getZExtValue();
  Value isNaNBlock = isNaN(e, inverse);
  for (size_t i = 0; i < words.size(); ++i) {
    uint32_t word = 0;
    for (unsigned bit = 0; bit < 32; ++bit)
      word |= uint32_t(code >> ((i * 32 + bit) % bits) & 1) << bit;
    words[i] = select(e, isNaNBlock, e.i32(int32_t(word)), words[i]);
  }
}

/// The codes as 32-bit words in the order of memory.
SmallVector<Value> BlockQuantizer::encode(ArrayRef<Value> values, Value inverse,
                                          Value first) {
  auto bits = int64_t(storage.data->globalBits);
  bool isStochastic = what.getRounding() == ElementRounding::Stochastic;
  auto shifted = [&](Value code, int64_t distance) -> Value {
    if (distance == 0)
      return code;
    return distance > 0
               ? arith::ShLIOp::create(e, code, e.i32(distance)).getResult()
               : arith::ShRUIOp::create(e, code, e.i32(-distance)).getResult();
  };
  auto product = [&](size_t i) -> Value {
    return arith::MulFOp::create(e, values[i], inverse);
  };
  auto rounded = [&](size_t i) {
    Value random = randomBits(e, uint64_t(what.getSeed().getInt()),
                              add(first, wide(int64_t(i))));
    random = arith::TruncIOp::create(e, e.getI32Type(), random);
    return stochasticCode(product(i), random);
  };
  // A pair of codes, together.
  auto pairAt = [&](size_t i) -> Value {
    if (isStochastic)
      return arith::OrIOp::create(e, rounded(i), shifted(rounded(i + 1), bits));
    Value pair = EncodePairOp::create(e, withoutTie(product(i)),
                                      withoutTie(product(i + 1)),
                                      TypeAttr::get(element));
    if (bits != 6)
      return pair;
    // 6-bit codes come in bytes of their own.
    Value low = arith::AndIOp::create(e, pair, e.i32(0x3f));
    Value high = arith::AndIOp::create(e, shifted(pair, -2), e.i32(0x3f << 6));
    return arith::OrIOp::create(e, low, high);
  };
  SmallVector<Value> words(storage.block * bits / 32);
  auto put = [&](int64_t word, Value part) {
    words[word] = words[word]
                      ? arith::OrIOp::create(e, words[word], part).getResult()
                      : part;
  };
  for (int64_t i = 0; i < storage.block; i += 2) {
    Value pair = pairAt(i);
    int64_t word = i * bits / 32, bit = i * bits % 32;
    put(word, shifted(pair, bit));
    if (bit + 2 * bits > 32)
      put(word + 1, shifted(pair, bit - 32));
  }
  if (isStochastic)
    replaceNaN(words, inverse);
  return words;
}

int64_t BlockQuantizer::blockBytes() const {
  return storage.block * int64_t(storage.data->globalBits) / 8;
}

int64_t BlockQuantizer::dataAccess() const {
  int64_t bytes = blockBytes();
  return std::min(kAccessBytes, bytes & -bytes);
}

Value BlockQuantizer::dataOffset(const BlockPlace &place) {
  return add(lineOffset(place), mul(wide(place.block), wide(blockBytes())));
}

Value BlockQuantizer::dataPiece(ArrayRef<Value> words, int64_t piece) {
  int64_t access = dataAccess(), count = access / 4;
  auto type = VectorType::get({count}, e.getI32Type());
  Value value = vector::FromElementsOp::create(
      e, type, words.slice(piece * count, count));
  return vector::BitCastOp::create(e, VectorType::get({access}, e.getI8Type()),
                                   value);
}

void BlockQuantizer::storeData(Value memory, const BlockPlace &place,
                               ArrayRef<Value> words) {
  Value offset = dataOffset(place);
  int64_t access = dataAccess();
  for (int64_t i = 0; i < blockBytes() / access; ++i)
    StoreRowOp::create(e, dataPiece(words, i), memory,
                       add(offset, wide(i * access)), e.i32(access),
                       /*stride=*/Value(), /*aligned=*/true);
}

//===----------------------------------------------------------------------===//
// The tensor scale
//===----------------------------------------------------------------------===//

Value BlockQuantizer::loadFactor(Value memory, Value matrix) {
  return math::AbsFOp::create(e, loadNumber(memory, matrix));
}

void BlockQuantizer::storeFactor(Value memory, const BlockPlace &place,
                                 Value factor) {
  Value isFirst = arith::CmpIOp::create(
      e, arith::CmpIPredicate::eq,
      arith::OrIOp::create(e, place.row, place.block), e.i32(0));
  auto condition = scf::IfOp::create(e, isFirst);
  OpBuilder::InsertionGuard guard(e);
  e.setInsertionPointToStart(condition.thenBlock());
  auto one = VectorType::get({1}, e.getF32Type());
  StoreRowOp::create(e, vector::FromElementsOp::create(e, one, factor), memory,
                     wide(place.matrix), e.i32(1), /*stride=*/Value(),
                     /*aligned=*/true);
}
