//===- ScaleCodes.cpp - scales of numbers in arith ------------------------===//
//
// Part of the blockscale project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "blockscale/Dialect/Blockscale/IR/ScaleCodes.h"
#include "blockscale/Formats/Quotient.h"

#include <limits>

using namespace mlir;
using namespace blockscale;

static constexpr int64_t kFractionBits = 23;
static constexpr int64_t kInfinityBits = 0x7f800000;

/// floor(log2 m) - emax as a ue8m0 exponent, before clamping.
static Value floorExponent(Emitter &e, Value largest, Type element) {
  Value exponent =
      arith::ShRUIOp::create(e, e.bits(largest), e.i32(kFractionBits));
  std::optional<NumberSpec> spec = getNumberSpec(element);
  return arith::SubIOp::create(e, exponent, e.i32(spec ? spec->emax() : 0));
}

/// The exponent of the smallest power of two not below `value`.
static Value roundedUpExponent(Emitter &e, Value value) {
  Value raw = e.bits(value);
  Value above = arith::AddIOp::create(e, raw, e.i32(0x007fffff));
  Value exponent = arith::ShRUIOp::create(e, above, e.i32(kFractionBits));
  // Code 0 is 2^-127, a subnormal f32.
  Value tiny = arith::CmpIOp::create(e, arith::CmpIPredicate::ule, raw,
                                     e.i32(0x00400000));
  return select(e, tiny, e.i32(0), exponent);
}

/// A ue8m0 exponent, clamped; 254 where `source` is an infinity and the NaN
/// code where it is a NaN.
static Value exponentCode(Emitter &e, Value exponent, Value source) {
  exponent = arith::MaxSIOp::create(e, exponent, e.i32(0));
  exponent = arith::MinSIOp::create(e, exponent, e.i32(254));
  Value infinite = arith::CmpIOp::create(e, arith::CmpIPredicate::eq,
                                         e.bits(source), e.i32(kInfinityBits));
  exponent = select(e, infinite, e.i32(254), exponent);
  return select(e, isNaN(e, source), e.i32(255), exponent);
}

/// The least of the 23 bits of a fraction from which on a rule by fractions
/// doubles the scale.
static int64_t doublingFraction(ScaleRule rule, FloatType element) {
  if (rule == ScaleRule::Ceil)
    return 1;
  const llvm::fltSemantics &semantics = element.getFloatSemantics();
  int64_t bits = APFloat::semanticsPrecision(semantics) - 1;
  int64_t halfStep = int64_t(1) << (kFractionBits - 1 - bits);
  if (rule == ScaleRule::RoundedMax)
    return (int64_t(1) << kFractionBits) - halfStep;
  int64_t largest = llvm::bit_cast<uint32_t>(largestValue(element)) &
                    ((int64_t(1) << kFractionBits) - 1);
  return largest + (rule == ScaleRule::MidMax ? halfStep : 0) + 1;
}

/// Whether a rule doubles the scale of `floor`. What it says of magnitudes
/// whose scale is 2^-127 either way does not matter.
static Value doublesScale(Emitter &e, Value largest, ScaleRule rule,
                          Type element) {
  // The exponents of numbers below 2^-127 are less than their bits say.
  if (rule == ScaleRule::FloorPlusOne)
    return arith::CmpIOp::create(e, arith::CmpIPredicate::uge, e.bits(largest),
                                 e.i32(0x00400000));
  Value fraction = arith::AndIOp::create(e, e.bits(largest),
                                         e.i32((1 << kFractionBits) - 1));
  return arith::CmpIOp::create(
      e, arith::CmpIPredicate::uge, fraction,
      e.i32(doublingFraction(rule, cast<FloatType>(element))));
}

Value blockscale::exponentScaleBits(Emitter &e, Value largest, ScaleRule rule,
                                    Type element) {
  if (rule == ScaleRule::RoundUp) {
    Value quotient =
        arith::DivFOp::create(e, largest, e.f32(largestValue(element)));
    return exponentCode(e, roundedUpExponent(e, quotient), largest);
  }
  Value exponent = floorExponent(e, largest, element);
  if (rule != ScaleRule::Floor)
    exponent = arith::AddIOp::create(
        e, exponent,
        arith::ExtUIOp::create(e, e.getI32Type(),
                               doublesScale(e, largest, rule, element)));
  return exponentCode(e, exponent, largest);
}

Value blockscale::exponentScale(Emitter &e, Value largest, ScaleRule rule,
                                Type element) {
  return fromCode(e, exponentScaleBits(e, largest, rule, element),
                  Float8E8M0FNUType::get(e.getContext()));
}

Value blockscale::exponentUpwardsBits(Emitter &e, Value value) {
  return exponentCode(e, roundedUpExponent(e, value), value);
}

Value blockscale::exponentUpwards(Emitter &e, Value value) {
  return fromCode(e, exponentUpwardsBits(e, value),
                  Float8E8M0FNUType::get(e.getContext()));
}

Value blockscale::encodeUpwards(Emitter &e, Value value, Type type,
                                function_ref<Value(Value)> decode) {
  if (type.isF32())
    return value;
  if (isa<Float8E8M0FNUType>(type))
    return exponentUpwards(e, value);
  Value code = encode(e, value, type);
  Value below =
      arith::CmpFOp::create(e, arith::CmpFPredicate::OLT, decode(code),
                            clamp(e, value, largestValue(type)));
  // The codes of numbers that are not negative are in the numbers' order.
  Type integer = e.getIntegerType(type.getIntOrFloatBitWidth());
  bool isFloat = integer != type;
  Value raw =
      isFloat ? arith::BitcastOp::create(e, integer, code).getResult() : code;
  Value next = arith::AddIOp::create(
      e, raw, arith::ConstantIntOp::create(e, integer, 1));
  raw = select(e, below, next, raw);
  return isFloat ? arith::BitcastOp::create(e, type, raw).getResult() : raw;
}

Value blockscale::boundedInverse(Emitter &e, Value value) {
  Value inverse = arith::DivFOp::create(e, e.f32(1), value);
  return arith::MinimumFOp::create(e, inverse,
                                   e.f32(std::numeric_limits<float>::max()));
}

float blockscale::largestScale(Type format, float largestElement) {
  float bound = std::min(
      quotientTowardsZero(std::numeric_limits<float>::max(), largestElement),
      largestValue(format));
  auto real = dyn_cast<FloatType>(format);
  if (!real)
    return bound;
  APFloat value(bound);
  bool inexact;
  value.convert(real.getFloatSemantics(), APFloat::rmTowardZero, &inexact);
  value.convert(APFloat::IEEEsingle(), APFloat::rmTowardZero, &inexact);
  return value.convertToFloat();
}
