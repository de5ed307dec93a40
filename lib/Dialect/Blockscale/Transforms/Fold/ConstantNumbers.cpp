//===- ConstantNumbers.cpp - narrow numbers of constants ------------------===//
//
// Part of the blockscale project, under the Apache License v2.0 with LLVM
// Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "ConstantNumbers.h"

#include <cmath>
#include <limits>

using namespace mlir;
using namespace blockscale;

static constexpr float kFloatMax = std::numeric_limits<float>::max();
static constexpr unsigned kTF32Dropped = 13;

IntegerMeaning blockscale::meaningOfElements(ScaledTensorType type) {
  const ScaleSpec &spec = type.getSpec().getValue();
  if (spec.isUnscaled())
    return IntegerMeaning::Whole;
  return spec.hasPlainIntegers() ? IntegerMeaning::Symmetric
                                 : IntegerMeaning::Fraction;
}

/// SplitMix64's output, whose constants the docs of `blockscale.quantize` name
/// in part.
static uint64_t splitMix(uint64_t seed, uint64_t number) {
  uint64_t state = seed + (number + 1) * 0x9e3779b97f4a7c15;
  state = (state ^ (state >> 30)) * 0xbf58476d1ce4e5b9;
  state = (state ^ (state >> 27)) * 0x94d049bb133111eb;
  return state ^ state >> 31;
}

double blockscale::randomOf(uint64_t seed, uint64_t index) {
  uint64_t word = splitMix(seed, index / 4);
  return std::ldexp(static_cast<double>(word >> index % 4 * 16 & 0xffff), -16);
}

double blockscale::sharedRandomOf(uint64_t seed, uint64_t index,
                                  unsigned bits) {
  uint64_t state = splitMix(seed, 0) + (index / 16 + 1) * 0xa0761d6478bd642f;
  APInt one(64, state), other(64, state ^ 0xe7037ed1a0b428db);
  uint64_t word =
      (llvm::APIntOps::mulhu(one, other) ^ one * other).getZExtValue();
  auto group = static_cast<uint32_t>(index / 4 % 4), factor = group;
  for (uint32_t i = 0; i < group; ++i)
    factor *= 0x9e3779b1;
  auto random =
      static_cast<uint32_t>(word >> 32) + static_cast<uint32_t>(word) * factor;
  uint64_t place = index % 4;
  if (bits > 4)
    return std::ldexp(random >> place / 2 * 16 & 0xffff, -16);
  return std::ldexp(random >> (place % 2 * 16 + place / 2 * 8) & 0xff, -8);
}

/// `result`, bounded where x and y are finite.
static float finite(float result, float x, float y) {
  if (std::isinf(result) && std::isfinite(x) && std::isfinite(y))
    return std::copysign(kFloatMax, result);
  return result;
}

float blockscale::finiteProduct(float x, float y) {
  return finite(x * y, x, y);
}

float blockscale::finiteDifference(float x, float y) {
  return finite(x - y, x, y);
}

//===----------------------------------------------------------------------===//
// Integers
//===----------------------------------------------------------------------===//

namespace {
/// The numbers of an integer type, as counts of `step`.
struct IntegerRange {
  double least, largest;
  float step;
};
} // namespace

static IntegerRange rangeOf(IntegerType type, IntegerMeaning meaning) {
  auto width = static_cast<int>(type.getWidth());
  float step =
      meaning == IntegerMeaning::Fraction ? std::ldexp(1.0f, 2 - width) : 1.0f;
  if (type.isUnsigned())
    return {0, std::ldexp(1.0, width) - 1, step};
  double above = std::ldexp(1.0, width - 1);
  return {meaning == IntegerMeaning::Whole ? -above : 1 - above, above - 1,
          step};
}

/// Whether a magnitude `rest` steps, less than 1, above the one below it goes
/// to the one above.
static bool roundsUp(double rest, bool belowIsOdd, NumberRounding rounding) {
  switch (rounding.mode) {
  case ElementRounding::Even:
    return rest > 0.5 || (rest == 0.5 && belowIsOdd);
  case ElementRounding::Away:
    return rest >= 0.5;
  case ElementRounding::Zero:
    return rest > 0.5;
  case ElementRounding::Stochastic:
    return rest >= 1 - rounding.random;
  case ElementRounding::StochasticRS:
    break;
  }
  llvm_unreachable("covered switch, and that one is stochastic");
}

/// The integer next to `value`.
static int64_t roundedCount(double value, NumberRounding rounding) {
  double magnitude = std::fabs(value), below = std::floor(magnitude);
  bool isOdd = std::fmod(below, 2) == 1;
  auto count = static_cast<int64_t>(below) +
               roundsUp(magnitude - below, isOdd, rounding);
  return value < 0 ? -count : count;
}

int64_t blockscale::roundToInteger(float value, NumberRounding rounding) {
  constexpr double kLimit = 0x1p22 - 1;
  return std::isnan(value)
             ? 0
             : roundedCount(std::clamp<double>(value, -kLimit, kLimit),
                            rounding);
}

static uint32_t encodeInteger(IntegerType type, float value,
                              IntegerMeaning meaning, NumberRounding rounding) {
  if (std::isnan(value))
    return 0;
  IntegerRange range = rangeOf(type, meaning);
  double steps = std::clamp(static_cast<double>(value) / range.step,
                            range.least, range.largest);
  int64_t count = roundedCount(steps, rounding);
  return static_cast<uint32_t>(count) &
         static_cast<uint32_t>((uint64_t(1) << type.getWidth()) - 1);
}

static float decodeInteger(IntegerType type, uint32_t code,
                           IntegerMeaning meaning) {
  APInt bits(type.getWidth(), code);
  int64_t count = type.isUnsigned() ? static_cast<int64_t>(bits.getZExtValue())
                                    : bits.getSExtValue();
  return static_cast<float>(count) * rangeOf(type, meaning).step;
}

//===----------------------------------------------------------------------===//
// Floats
//===----------------------------------------------------------------------===//

static APFloat numberAt(FloatType type, uint32_t code) {
  return APFloat(type.getFloatSemantics(), APInt(type.getWidth(), code));
}

static uint32_t codeOf(const APFloat &value) {
  return static_cast<uint32_t>(value.bitcastToAPInt().getZExtValue());
}

static APFloat converted(float value, const llvm::fltSemantics &semantics,
                         APFloat::roundingMode mode) {
  APFloat number(value);
  bool losesInfo = false;
  number.convert(semantics, mode, &losesInfo);
  return number;
}

static float asFloat(APFloat number) {
  // That of f8E8M0FNU has no payload and would become an infinity.
  if (number.isNaN())
    return std::numeric_limits<float>::quiet_NaN();
  bool losesInfo = false;
  number.convert(APFloat::IEEEsingle(), APFloat::rmNearestTiesToEven,
                 &losesInfo);
  return number.convertToFloat();
}

/// The code of NaN: quiet with all bits set, without a sign.
static uint32_t nanCode(FloatType type) {
  const llvm::fltSemantics &semantics = type.getFloatSemantics();
  if (!APFloat::semanticsHasNaN(semantics))
    return codeOf(APFloat::getLargest(semantics));
  return codeOf(APFloat::getNaN(semantics, /*Negative=*/false, ~uint64_t(0)));
}

/// A magnitude not above the largest number, in a format of at most 8 bits.
static uint32_t encodeMagnitude(FloatType type, float magnitude,
                                NumberRounding rounding) {
  APFloat below =
      converted(magnitude, type.getFloatSemantics(), APFloat::rmTowardZero);
  uint32_t code = codeOf(below);
  double least = asFloat(below), distance = magnitude - least;
  if (distance == 0)
    return code;
  double step = asFloat(numberAt(type, code + 1)) - least;
  return code + roundsUp(distance / step, code & 1, rounding);
}

static uint32_t encodeNarrowFloat(FloatType type, float value,
                                  NumberRounding rounding) {
  if (std::isnan(value))
    return nanCode(type);
  const llvm::fltSemantics &semantics = type.getFloatSemantics();
  float largest = asFloat(APFloat::getLargest(semantics));
  uint32_t code =
      encodeMagnitude(type, std::min(std::fabs(value), largest), rounding);
  bool hasNegativeZero = APFloat::getZero(semantics, true).isNegative();
  if (std::signbit(value) && (code != 0 || hasNegativeZero))
    code |= 1u << (type.getWidth() - 1);
  return code;
}

/// A float of more than 8 bits: bf16, f16, f32.
static uint32_t encodeWideFloat(FloatType type, float value) {
  if (type.isF32() || std::isnan(value))
    return codeOf(converted(value, type.getFloatSemantics(),
                            APFloat::rmNearestTiesToEven));
  float largest = asFloat(APFloat::getLargest(type.getFloatSemantics()));
  return codeOf(converted(std::clamp(value, -largest, largest),
                          type.getFloatSemantics(),
                          APFloat::rmNearestTiesToEven));
}

/// A tf32 in the high bits of 32.
static uint32_t encodeTF32(FloatType type, float value) {
  const llvm::fltSemantics &semantics = type.getFloatSemantics();
  if (std::isnan(value))
    return nanCode(type) << kTF32Dropped;
  float largest = asFloat(APFloat::getLargest(semantics));
  return codeOf(converted(std::clamp(value, -largest, largest), semantics,
                          APFloat::rmNearestTiesToEven))
         << kTF32Dropped;
}

//===----------------------------------------------------------------------===//
// Any number
//===----------------------------------------------------------------------===//

float blockscale::decodeNumber(Type type, uint32_t code,
                               IntegerMeaning meaning) {
  if (auto integer = dyn_cast<IntegerType>(type))
    return decodeInteger(integer, code, meaning);
  if (type.isTF32())
    return llvm::bit_cast<float>(code >> kTF32Dropped << kTF32Dropped);
  return asFloat(numberAt(cast<FloatType>(type), code));
}

uint32_t blockscale::encodeNumber(Type type, float value,
                                  IntegerMeaning meaning,
                                  NumberRounding rounding) {
  if (auto integer = dyn_cast<IntegerType>(type))
    return encodeInteger(integer, value, meaning, rounding);
  auto real = cast<FloatType>(type);
  if (type.isTF32())
    return encodeTF32(real, value);
  return real.getWidth() <= 8 ? encodeNarrowFloat(real, value, rounding)
                              : encodeWideFloat(real, value);
}

uint32_t blockscale::encodeNumberUpwards(Type type, float value) {
  if (type.isF32())
    return llvm::bit_cast<uint32_t>(value);
  if (isa<Float8E8M0FNUType>(type)) {
    // APFloat rounds this format as others, to even fractions, which it lacks.
    if (std::isnan(value))
      return 0xff;
    if (std::isinf(value))
      return 0xfe;
    int exponent = 0;
    bool isPower = std::frexp(value, &exponent) == 0.5f;
    return value == 0 ? 0 : std::clamp(exponent - isPower + 127, 0, 0xfe);
  }
  uint32_t code = encodeNumber(type, value, IntegerMeaning::Fraction);
  float bounded =
      std::min(value, largestNumber(type, IntegerMeaning::Fraction));
  return code + (decodeNumber(type, code, IntegerMeaning::Fraction) < bounded);
}

uint32_t blockscale::encodeFinite(Type type, float value) {
  auto real = cast<FloatType>(type);
  return std::isfinite(value)
             ? encodeNumber(type, value, IntegerMeaning::Whole)
             : codeOf(converted(value, real.getFloatSemantics(),
                                APFloat::rmNearestTiesToEven));
}

float blockscale::largestNumber(Type type, IntegerMeaning meaning) {
  if (auto integer = dyn_cast<IntegerType>(type)) {
    IntegerRange range = rangeOf(integer, meaning);
    return static_cast<float>(range.largest) * range.step;
  }
  return asFloat(
      APFloat::getLargest(cast<FloatType>(type).getFloatSemantics()));
}

/// Whether a rule by fractions doubles the scale: `fraction` in [1, 2) is m
/// scaled by a power of two.
static bool doublesScale(ScaleRule rule, const NumberSpec &element,
                         double fraction) {
  double largest = std::ldexp(element.maxFloat(), -element.emax());
  double halfStep = std::ldexp(0.5, -static_cast<int>(element.mantissaBits));
  switch (rule) {
  case ScaleRule::Floor:
  case ScaleRule::RoundUp:
    return false;
  case ScaleRule::FloorPlusOne:
    return true;
  case ScaleRule::Ceil:
    return fraction > 1;
  case ScaleRule::MidMax:
    return fraction > largest + halfStep;
  case ScaleRule::RoundedMax:
    return fraction >= 2 - halfStep;
  case ScaleRule::TopBinade:
    return fraction > largest;
  case ScaleRule::MinError:
    break;
  }
  llvm_unreachable("two other rules are compared for this one");
}

uint32_t blockscale::exponentScaleOf(ScaleRule rule, Type element,
                                     float largest) {
  auto scale = Float8E8M0FNUType::get(element.getContext());
  if (rule == ScaleRule::RoundUp && std::isfinite(largest))
    return encodeNumberUpwards(
        scale, largest / largestNumber(element, IntegerMeaning::Fraction));
  if (!std::isfinite(largest) || largest == 0)
    return encodeNumberUpwards(scale, largest);
  NumberSpec spec = *getNumberSpec(element);
  int exponent = std::ilogb(largest);
  double fraction = std::ldexp(static_cast<double>(largest), -exponent);
  return std::clamp(exponent - spec.emax() +
                        doublesScale(rule, spec, fraction) + 127,
                    0, 0xfe);
}
