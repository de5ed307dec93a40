//===- Numbers.cpp - narrow numbers in arith ------------------------------===//
//
// Part of the blockscale project, under the Apache License v2.0 with LLVM
// Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "blockscale/Dialect/Blockscale/IR/Numbers.h"
#include "blockscale/Formats/Codebook.h"

#include <cmath>
#include <limits>

using namespace mlir;
using namespace blockscale;

//===----------------------------------------------------------------------===//
// Emitter
//===----------------------------------------------------------------------===//

Value Emitter::index(int64_t value) {
  return arith::ConstantIndexOp::create(*this, value);
}

Value Emitter::i32(int64_t value) {
  return arith::ConstantIntOp::create(*this, getI32Type(), value);
}

Value Emitter::f32(float value) {
  return arith::ConstantOp::create(*this, getF32FloatAttr(value));
}

Value Emitter::bits(Value value) {
  return arith::BitcastOp::create(*this, getI32Type(), value);
}

Value Emitter::fromBits(Value value) {
  return arith::BitcastOp::create(*this, getF32Type(), value);
}

Value Emitter::quotient(Value value, int64_t divisor) {
  return arith::DivUIOp::create(*this, value, index(divisor));
}

Value Emitter::remainder(Value value, int64_t divisor) {
  return arith::RemUIOp::create(*this, value, index(divisor));
}

Value Emitter::ceilQuotient(Value value, int64_t divisor) {
  return quotient(arith::AddIOp::create(*this, value, index(divisor - 1)),
                  divisor);
}

Value Emitter::widen(Value value) {
  if (value.getType().isF32())
    return value;
  return arith::ExtFOp::create(*this, getF32Type(), value);
}

Value Emitter::narrow(Value value, Type type) {
  if (type.isF32())
    return value;
  return arith::TruncFOp::create(*this, type, value);
}

//===----------------------------------------------------------------------===//
// Encoding
//===----------------------------------------------------------------------===//

static constexpr int64_t kFractionBits = 23;
static constexpr int64_t kBias = 127;
static constexpr int64_t kMagnitudeMask = 0x7fffffff;
static constexpr int64_t kInfinityBits = 0x7f800000;

float blockscale::fixedPointStep(Type type) {
  return std::ldexp(1.0f, 2 - static_cast<int>(type.getIntOrFloatBitWidth()));
}

float blockscale::largestValue(Type type) {
  if (auto integer = dyn_cast<IntegerType>(type)) {
    unsigned bits = integer.getWidth() - !integer.isUnsigned();
    return fixedPointStep(type) * static_cast<float>((1 << bits) - 1);
  }
  APFloat largest =
      APFloat::getLargest(cast<FloatType>(type).getFloatSemantics());
  bool inexact;
  largest.convert(APFloat::IEEEsingle(), APFloat::rmNearestTiesToEven,
                  &inexact);
  return largest.convertToFloat();
}

Value blockscale::isNaN(Emitter &e, Value value) {
  return arith::CmpFOp::create(e, arith::CmpFPredicate::UNO, value, value);
}

Value blockscale::select(Emitter &e, Value condition, Value yes, Value no) {
  return arith::SelectOp::create(e, condition, yes, no);
}

Value blockscale::clamp(Emitter &e, Value value, float limit) {
  Value low = arith::MaxNumFOp::create(e, value, e.f32(-limit));
  return arith::MinNumFOp::create(e, low, e.f32(limit));
}

/// The integer, as i32, that `units`, an f32 in [0, 2^22], is rounded to.
static Value roundUnits(Emitter &e, Value units,
                        const ElementRounder &rounder) {
  if (rounder.mode == ElementRounding::Stochastic) {
    Value below = arith::FPToUIOp::create(e, e.getI32Type(), units);
    Value rest = arith::SubFOp::create(
        e, units, arith::UIToFPOp::create(e, e.getF32Type(), below));
    Value up = arith::CmpFOp::create(
        e, arith::CmpFPredicate::OGE, rest,
        arith::SubFOp::create(e, e.f32(1), rounder.random));
    return arith::AddIOp::create(e, below,
                                 arith::ExtUIOp::create(e, e.getI32Type(), up));
  }
  // Adding 2^23 rounds to an integer, which then stands in the low bits.
  Value rounded = arith::AddFOp::create(e, units, e.f32(0x1p23f));
  Value count =
      arith::SubIOp::create(e, e.bits(rounded), e.i32((kBias + 23) << 23));
  if (rounder.mode == ElementRounding::Even)
    return count;
  // What was a tie went to the even neighbour, which may be the wrong one.
  bool isAway = rounder.mode == ElementRounding::Away;
  Value rest = arith::SubFOp::create(
      e, units, arith::SubFOp::create(e, rounded, e.f32(0x1p23f)));
  Value isWrong = arith::CmpFOp::create(e, arith::CmpFPredicate::OEQ, rest,
                                        e.f32(isAway ? 0.5f : -0.5f));
  Value other = arith::AddIOp::create(e, count, e.i32(isAway ? 1 : -1));
  return select(e, isWrong, other, count);
}

/// Bits that are left of a rounded integer.
static constexpr unsigned kRoundedBits = 22;

/// The integer next to `value`, whose magnitude is below 2^22, in its low bits;
/// by ties to even with the bits of 1.5 * 2^23 added.
static Value roundInteger(Emitter &e, Value value,
                          const ElementRounder &rounder) {
  // Adding 1.5 * 2^23 leaves the rounded integer in the low bits.
  if (rounder.mode == ElementRounding::Even)
    return e.bits(arith::AddFOp::create(e, value, e.f32(0x1.8p23f)));
  Value raw = e.bits(value);
  Value magnitude =
      e.fromBits(arith::AndIOp::create(e, raw, e.i32(kMagnitudeMask)));
  Value count = roundUnits(e, magnitude, rounder);
  Value negative =
      arith::CmpIOp::create(e, arith::CmpIPredicate::slt, raw, e.i32(0));
  return select(e, negative, arith::SubIOp::create(e, e.i32(0), count), count);
}

Value blockscale::roundToInteger(Emitter &e, Value value,
                                 const ElementRounder &rounder) {
  Value raw = roundInteger(e, clamp(e, value, 0x1p22f - 1), rounder);
  if (rounder.mode == ElementRounding::Even)
    raw = arith::SubIOp::create(e, raw, e.i32(0x4b400000));
  return select(e, isNaN(e, value), e.i32(0), raw);
}

/// The most negative code is not used.
static Value encodeInteger(Emitter &e, Value value, IntegerType type,
                           float step, const ElementRounder &rounder) {
  Value steps =
      step == 1 ? value : arith::MulFOp::create(e, value, e.f32(1 / step));
  Value bounded =
      clamp(e, steps, static_cast<float>((1 << (type.getWidth() - 1)) - 1));
  Value count =
      arith::TruncIOp::create(e, type, roundInteger(e, bounded, rounder));
  Value zero = arith::ConstantIntOp::create(e, type, 0);
  return select(e, isNaN(e, value), zero, count);
}

/// The code of `magnitude`, not above the type's largest value, as i32.
static Value encodeMagnitude(Emitter &e, Value magnitude,
                             const llvm::fltSemantics &semantics,
                             const ElementRounder &rounder) {
  int64_t fraction = APFloat::semanticsPrecision(semantics) - 1;
  int64_t smallest = APFloat::semanticsMinExponent(semantics) + kBias;
  Value exponent =
      arith::ShRUIOp::create(e, e.bits(magnitude), e.i32(kFractionBits));
  exponent = arith::MaxUIOp::create(e, exponent, e.i32(smallest));
  // The magnitude in units of the last place: multiply by 2^(fraction - e).
  Value inverse = arith::ShLIOp::create(
      e, arith::SubIOp::create(e, e.i32(2 * kBias + fraction), exponent),
      e.i32(kFractionBits));
  Value units = arith::MulFOp::create(e, magnitude, e.fromBits(inverse));
  // A carry into the next binade is right as it is.
  Value count = roundUnits(e, units, rounder);
  Value binade = arith::SubIOp::create(e, exponent, e.i32(smallest));
  Value base = arith::ShLIOp::create(e, binade, e.i32(fraction));
  return arith::AddIOp::create(e, base, count);
}

Value blockscale::encodeBits(Emitter &e, Value value, FloatType type,
                             const ElementRounder &rounder) {
  const llvm::fltSemantics &semantics = type.getFloatSemantics();
  Value raw = e.bits(value);
  Value magnitude =
      e.fromBits(arith::AndIOp::create(e, raw, e.i32(kMagnitudeMask)));
  magnitude = arith::MinNumFOp::create(e, magnitude, e.f32(largestValue(type)));
  Value code = encodeMagnitude(e, magnitude, semantics, rounder);
  unsigned width = type.getWidth();
  Value sign = arith::ShLIOp::create(
      e, arith::ShRUIOp::create(e, raw, e.i32(31)), e.i32(width - 1));
  if (!APFloat::getZero(semantics, /*Negative=*/true).isNegative()) {
    Value isZero =
        arith::CmpIOp::create(e, arith::CmpIPredicate::eq, code, e.i32(0));
    sign = select(e, isZero, e.i32(0), sign);
  }
  code = arith::OrIOp::create(e, code, sign);
  // Formats without NaN take the largest value for it, without a sign.
  APFloat special = APFloat::semanticsHasNaN(semantics)
                        ? APFloat::getNaN(semantics, /*Negative=*/false, ~0ull)
                        : APFloat::getLargest(semantics);
  Value nan =
      e.i32(static_cast<int64_t>(special.bitcastToAPInt().getZExtValue()));
  return select(e, isNaN(e, value), nan, code);
}

Value blockscale::fromCode(Emitter &e, Value code, FloatType type) {
  Value trimmed =
      arith::TruncIOp::create(e, e.getIntegerType(type.getWidth()), code);
  return arith::BitcastOp::create(e, type, trimmed);
}

Value blockscale::encode(Emitter &e, Value value, Type type,
                         const ElementRounder &rounder) {
  if (auto integer = dyn_cast<IntegerType>(type))
    return encodeInteger(e, value, integer, fixedPointStep(type), rounder);
  auto real = cast<FloatType>(type);
  if (real.getWidth() <= 8)
    return fromCode(e, encodeBits(e, value, real, rounder), real);
  if (type.isF32())
    return value;
  Value bounded = clamp(e, value, largestValue(type));
  return e.narrow(select(e, isNaN(e, value), value, bounded), type);
}

/// What an integer of a tensor with scales counts in.
static float integerStep(ScaledTensorType type) {
  return type.getSpec().getValue().hasPlainIntegers()
             ? 1
             : fixedPointStep(type.getElementType());
}

float blockscale::largestElement(ScaledTensorType type) {
  Type element = type.getElementType();
  if (isa<CodebookType>(element)) {
    std::vector<float> values = codebookValues(*getNumberSpec(element));
    return *llvm::max_element(values);
  }
  float largest = largestValue(element);
  return isa<IntegerType>(element)
             ? largest / fixedPointStep(element) * integerStep(type)
             : largest;
}

float blockscale::secondLargestElement(ScaledTensorType type) {
  Type element = type.getElementType();
  if (isa<IntegerType>(element))
    return largestElement(type) - integerStep(type);
  APFloat value =
      APFloat::getLargest(cast<FloatType>(element).getFloatSemantics());
  value.next(/*nextDown=*/true);
  bool inexact;
  value.convert(APFloat::IEEEsingle(), APFloat::rmNearestTiesToEven, &inexact);
  return value.convertToFloat();
}

/// The power of two that is not below any error of an element under a scale by
/// the rule `floor`: what lies above the largest element, below twice its
/// exponent.
static float errorUnit(ScaledTensorType type) {
  float largest = largestElement(type);
  if (isa<IntegerType>(type.getElementType()))
    return integerStep(type);
  float above = std::ldexp(2.0f, std::ilogb(largest)) - largest;
  return std::ldexp(1.0f, static_cast<int>(std::ceil(std::log2(above))));
}

/// `magnitude` rounded to nearest even as an element, at most the largest.
/// Adding 2^23 steps leaves no room for what is less than a step.
static Value roundedMagnitude(Emitter &e, Value magnitude,
                              ScaledTensorType type) {
  Value bounded =
      arith::MinNumFOp::create(e, magnitude, e.f32(largestElement(type)));
  Value far;
  if (auto real = dyn_cast<FloatType>(type.getElementType())) {
    const llvm::fltSemantics &semantics = real.getFloatSemantics();
    int64_t fraction = APFloat::semanticsPrecision(semantics) - 1;
    int64_t smallest = APFloat::semanticsMinExponent(semantics) + kBias;
    Value binade =
        arith::AndIOp::create(e, e.bits(bounded), e.i32(kInfinityBits));
    binade =
        arith::MaxUIOp::create(e, binade, e.i32(smallest << kFractionBits));
    far = e.fromBits(arith::AddIOp::create(
        e, binade, e.i32((kFractionBits - fraction) << kFractionBits)));
  } else {
    far = e.f32(std::ldexp(integerStep(type), kFractionBits));
  }
  return arith::SubFOp::create(e, arith::AddFOp::create(e, bounded, far), far);
}

float blockscale::errorFactor(ScaledTensorType type) {
  return std::sqrt(kErrorUnits) / errorUnit(type);
}

bool blockscale::largestDecides(ScaledTensorType type) {
  auto element = dyn_cast<FloatType>(type.getElementType());
  const ScaleSpec &spec = type.getSpec().getValue();
  if (!element || spec.isMultiscale() ||
      spec.scale->kind != NumberKind::Exponent)
    return false;
  // An error is at most half a step of subnormals under the larger scale, which
  // is twice the first one.
  const llvm::fltSemantics &semantics = element.getFloatSemantics();
  float step = std::ldexp(
      1.0f, APFloat::semanticsMinExponent(semantics) + 1 -
                static_cast<int>(APFloat::semanticsPrecision(semantics)));
  float count = step * errorFactor(type);
  return count * count < 1;
}

Value blockscale::squaredError(Emitter &e, Value quotient, Value ratio,
                               ScaledTensorType type) {
  Value error =
      arith::SubFOp::create(e, quotient, roundedMagnitude(e, quotient, type));
  // A power of two more in the factor rounds nothing.
  Value factor = arith::MulFOp::create(e, ratio, e.f32(errorFactor(type)));
  error = arith::MulFOp::create(e, error, factor);
  Value square = arith::MulFOp::create(e, error, error);
  // A NaN, too, becomes the bound.
  square = arith::MinNumFOp::create(e, square, e.f32(kErrorUnits));
  return arith::FPToUIOp::create(e, e.getI32Type(), square);
}

Value blockscale::encodeElement(Emitter &e, Value value, ScaledTensorType type,
                                const ElementRounder &rounder) {
  if (auto integer = dyn_cast<IntegerType>(type.getElementType()))
    return encodeInteger(e, value, integer, integerStep(type), rounder);
  return encode(e, value, type.getElementType(), rounder);
}

static Value isFinite(Emitter &e, Value value) {
  Value magnitude =
      arith::AndIOp::create(e, e.bits(value), e.i32(kMagnitudeMask));
  return arith::CmpIOp::create(e, arith::CmpIPredicate::ult, magnitude,
                               e.i32(kInfinityBits));
}

/// `result`, bounded where x and y are finite.
static Value saturated(Emitter &e, Value result, Value x, Value y) {
  Value bounded = clamp(e, result, std::numeric_limits<float>::max());
  Value finite = arith::AndIOp::create(e, isFinite(e, x), isFinite(e, y));
  return select(e, finite, bounded, result);
}

Value blockscale::saturatedProduct(Emitter &e, Value x, Value y) {
  return saturated(e, arith::MulFOp::create(e, x, y), x, y);
}

Value blockscale::saturatedDifference(Emitter &e, Value x, Value y) {
  return saturated(e, arith::SubFOp::create(e, x, y), x, y);
}

Value blockscale::narrowSaturating(Emitter &e, Value value, Type type) {
  if (type.isF32())
    return value;
  Value bounded = clamp(e, value, largestValue(type));
  return e.narrow(select(e, isFinite(e, value), bounded, value), type);
}

/// Between the least and the largest of the integers.
static Value encodePlainInteger(Emitter &e, Value value, IntegerType type,
                                const ElementRounder &rounder) {
  auto width = static_cast<int>(type.getWidth());
  bool isUnsigned = type.isUnsigned();
  float largest = std::ldexp(1.0f, isUnsigned ? width : width - 1) - 1;
  float least = isUnsigned ? 0 : -std::ldexp(1.0f, width - 1);
  Value bounded = arith::MaxNumFOp::create(e, value, e.f32(least));
  bounded = arith::MinNumFOp::create(e, bounded, e.f32(largest));
  Type stored = e.getIntegerType(type.getWidth());
  Value count =
      arith::TruncIOp::create(e, stored, roundInteger(e, bounded, rounder));
  Value zero = arith::ConstantIntOp::create(e, stored, 0);
  return select(e, isNaN(e, value), zero, count);
}

/// Rounds at bit 13, after which the low bits are zero.
static Value encodeTF32(Emitter &e, Value value) {
  constexpr int64_t kDropped = 13, kHalf = 1 << (kDropped - 1);
  constexpr int64_t kNaN = 0x7fffe000;
  Value raw = e.bits(clamp(e, value, 0x1.ffcp127f));
  Value odd = arith::AndIOp::create(
      e, arith::ShRUIOp::create(e, raw, e.i32(kDropped)), e.i32(1));
  Value rounded = arith::AddIOp::create(
      e, arith::AddIOp::create(e, raw, e.i32(kHalf - 1)), odd);
  rounded = arith::AndIOp::create(e, rounded, e.i32(kTF32Bits));
  return e.fromBits(select(e, isNaN(e, value), e.i32(kNaN), rounded));
}

/// A zero point of more bits than a rounded integer has. It counts steps of a
/// scale, and only where that ends short of the numbers are there 2^22 of them:
/// then it is the largest integer below.
static Value encodeWideInteger(Emitter &e, Value value, IntegerType type,
                               const ElementRounder &rounder) {
  Value count = roundToInteger(e, value, rounder);
  return type.getWidth() == 32 ? count
                               : arith::TruncIOp::create(e, type, count);
}

Value blockscale::encodeUnscaled(Emitter &e, Value value, Type type,
                                 const ElementRounder &rounder) {
  if (auto integer = dyn_cast<IntegerType>(type);
      integer && integer.getWidth() > kRoundedBits)
    return encodeWideInteger(e, value, integer, rounder);
  if (auto integer = dyn_cast<IntegerType>(type))
    return encodePlainInteger(e, value, integer, rounder);
  return type.isTF32() ? encodeTF32(e, value) : encode(e, value, type, rounder);
}

SmallVector<Value> blockscale::randomWords(Emitter &e, uint64_t seed,
                                           Value group, int64_t count) {
  // SplitMix64: Steele, Lea, Flood, "Fast splittable pseudorandom number
  // generators", 2014; the constants of its finalizer are Stafford's.
  constexpr uint64_t kStep = 0x9e3779b97f4a7c15, kFirst = 0xbf58476d1ce4e5b9,
                     kSecond = 0x94d049bb133111eb;
  auto constant = [&](uint64_t value) -> Value {
    return arith::ConstantIntOp::create(e, e.getI64Type(),
                                        static_cast<int64_t>(value));
  };
  auto mix = [&](Value state, int64_t shift) -> Value {
    Value high = arith::ShRUIOp::create(e, state, constant(shift));
    return arith::XOrIOp::create(e, state, high);
  };
  auto times = [&](Value state, uint64_t factor) -> Value {
    return arith::MulIOp::create(e, state, constant(factor));
  };
  Value first = times(group, kStep);
  SmallVector<Value> words;
  for (int64_t i = 0; i < count; ++i) {
    Value state = arith::AddIOp::create(
        e, first, constant(seed + kStep * static_cast<uint64_t>(i + 1)));
    words.push_back(
        mix(times(mix(times(mix(state, 30), kFirst), 27), kSecond), 31));
  }
  return words;
}

Value blockscale::randomFraction(Emitter &e, uint64_t seed, Value number) {
  Type i64 = e.getI64Type();
  auto constant = [&](int64_t value) -> Value {
    return arith::ConstantIntOp::create(e, i64, value);
  };
  number = arith::IndexCastUIOp::create(e, i64, number);
  Value group = arith::DivUIOp::create(e, number, constant(kSharedRandom));
  Value place = arith::RemUIOp::create(e, number, constant(kSharedRandom));
  Value word = randomWords(e, seed, group, /*count=*/1).front();
  Value shift = arith::MulIOp::create(e, place, constant(kRandomBits));
  Value bits = arith::AndIOp::create(e, arith::ShRUIOp::create(e, word, shift),
                                     constant((int64_t(1) << kRandomBits) - 1));
  Value whole = arith::UIToFPOp::create(e, e.getF32Type(), bits);
  return arith::MulFOp::create(e, whole,
                               e.f32(std::ldexp(1.0f, -int(kRandomBits))));
}
