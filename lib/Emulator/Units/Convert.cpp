//===- Convert.cpp - the narrow float conversions of cvt ------------------===//
//
// Part of the blockscale project, under the Apache License v2.0 with LLVM
// Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Convert.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstring>
#include <limits>
#include <vector>

namespace blockscale::emulator {

namespace {

/// A sign-magnitude format; `low` is the number of zero bits kept below the
/// mantissa (tf32 sits in the upper part of an f32).
struct FloatLayout {
  const char *name;
  unsigned width;    ///< bits as an operand
  unsigned mantissa; ///< stored mantissa bits
  int bias;
  uint32_t maxCode;  ///< largest finite magnitude
  uint32_t infinity; ///< 0: none
  uint32_t nan;      ///< what cvt writes; 0: none, saturates to +max
  unsigned low;
  bool isSigned;
};

} // namespace

/// Indexed by Element.
static constexpr std::array<FloatLayout, kElements> kLayouts{{
    {"e4m3", 8, 3, 7, 0x7e, 0, 0x7f, 0, true},
    {"e5m2", 8, 2, 15, 0x7b, 0x7c, 0x7f, 0, true},
    {"e2m3", 6, 3, 1, 0x1f, 0, 0, 0, true},
    {"e3m2", 6, 2, 3, 0x1f, 0, 0, 0, true},
    {"e2m1", 4, 1, 1, 0x7, 0, 0, 0, true},
    {"ue8m0", 8, 0, 127, 0xfe, 0, 0xff, 0, false},
    {"ue4m3", 8, 3, 7, 0x7e, 0, 0x7f, 0, false},
    {"f16", 16, 10, 15, 0x7bff, 0x7c00, 0x7fff, 0, true},
    {"bf16", 16, 7, 127, 0x7f7f, 0x7f80, 0x7fff, 0, true},
    {"tf32", 32, 10, 127, 0x3fbff, 0x3fc00, 0x3ffff, 13, true},
    {"f32", 32, 23, 127, 0x7f7fffff, 0x7f800000, 0x7fffffff, 0, true},
    {"s8", 8, 0, 0, 0, 0, 0, 0, true},
    {"u8", 8, 0, 0, 0, 0, 0, 0, false},
    {"s4", 4, 0, 0, 0, 0, 0, 0, true},
    {"u4", 4, 0, 0, 0, 0, 0, 0, false},
    {"b1", 1, 0, 0, 0, 0, 0, 0, false},
    {"f64", 64, 0, 0, 0, 0, 0, 0, true},
    {"ue5m3", 8, 3, 15, 0xfe, 0, 0xff, 0, false},
    {"s2f6", 8, 0, 0, 0, 0, 0, 0, true},
    {"s1z4m11", 16, 0, 0, 0, 0, 0, 0, true},
}};

static const FloatLayout &layoutOf(Element type) {
  return kLayouts[unsigned(type)];
}

unsigned bitWidth(Element type) { return layoutOf(type).width; }

const char *name(Element type) { return layoutOf(type).name; }

std::optional<Element> findElement(std::string_view name) {
  for (size_t i = 0; i != kLayouts.size(); ++i)
    if (kLayouts[i].name == name)
      return Element(i);
  return std::nullopt;
}

static float bitsToFloat(uint32_t bits) {
  float value;
  std::memcpy(&value, &bits, sizeof(value));
  return value;
}

static uint32_t floatToBits(float value) {
  uint32_t bits;
  std::memcpy(&bits, &value, sizeof(bits));
  return bits;
}

float decode(Element type, uint32_t code) {
  switch (type) {
  case Element::F32:
    return bitsToFloat(code);
  case Element::TF32:
    return bitsToFloat(code & 0xffffe000u);
  case Element::BF16:
    return bitsToFloat(code << 16);
  case Element::S8:
    return float(int8_t(code));
  case Element::U8:
    return float(uint8_t(code));
  case Element::S4:
    return float(int(code << 28) >> 28);
  case Element::U4:
    return float(code & 0xf);
  case Element::B1:
    return float(code & 1);
  case Element::S2F6:
    return float(int8_t(code)) / 64;
  case Element::S1Z4M11: {
    auto magnitude = float(code & 0x7ff);
    return code & 0x8000 ? -magnitude : magnitude;
  }
  case Element::UE8M0:
    code &= 0xff;
    return code == 0xff ? std::numeric_limits<float>::quiet_NaN()
                        : float(std::ldexp(1.0, int(code) - 127));
  default:
    break;
  }
  const FloatLayout &layout = layoutOf(type);
  unsigned magnitudeBits = layout.width - (type != Element::UE5M3);
  uint32_t magnitude = code & ((1u << magnitudeBits) - 1);
  bool negative = layout.isSigned && (code >> magnitudeBits & 1);
  if (magnitude > layout.maxCode) {
    float special = magnitude == layout.infinity
                        ? std::numeric_limits<float>::infinity()
                        : std::numeric_limits<float>::quiet_NaN();
    return negative ? -special : special;
  }
  int exponent = int(magnitude >> layout.mantissa);
  uint32_t fraction = magnitude & ((1u << layout.mantissa) - 1);
  if (exponent == 0)
    exponent = 1;
  else
    fraction |= 1u << layout.mantissa;
  double value = std::ldexp(double(fraction),
                            exponent - layout.bias - int(layout.mantissa));
  return float(negative ? -value : value);
}

namespace {

/// Values of all codes of the formats up to 16 bits.
struct DecodeTables {
  std::vector<float> byElement[kElements];
  DecodeTables() {
    for (unsigned e = 0; e < kElements; ++e) {
      Element type = Element(e);
      unsigned bits = bitWidth(type);
      if (bits > 16 || type == Element::BF16)
        continue;
      byElement[e].resize(size_t(1) << bits);
      for (uint32_t code = 0; code < byElement[e].size(); ++code)
        byElement[e][code] = decode(type, code);
    }
  }
};

} // namespace

const float *tableOf(Element type) {
  static const DecodeTables tables;
  const std::vector<float> &values = tables.byElement[unsigned(type)];
  return values.empty() ? nullptr : values.data();
}

static uint32_t encodeUE8M0(float value, ConvertMode mode) {
  uint32_t bits = floatToBits(value) & 0x7fffffff;
  if (bits > 0x7f800000)
    return 0xff;
  if (bits == 0x7f800000)
    return mode.satfinite ? 0xfe : 0xff;
  uint32_t exponent = bits >> 23, fraction = bits & 0x7fffff;
  if (mode.rounding == Rounding::RP) {
    // 2^-127 is the subnormal 0x400000; only what is above it rounds up.
    bool up = exponent == 0 ? fraction > 0x400000 : fraction != 0;
    exponent += up;
  }
  if (exponent == 0xff && mode.satfinite)
    return 0xfe;
  return exponent;
}

static uint32_t encodeS2F6(float value, ConvertMode mode) {
  if (std::isnan(value))
    return 127;
  double steps = std::nearbyint(double(value) * 64);
  steps = std::min(std::max(steps, mode.relu ? 0.0 : -128.0), 127.0);
  return uint8_t(int8_t(steps));
}

/// Exponent of a positive normal number.
static int exponentOf(double value) {
  uint64_t bits;
  std::memcpy(&bits, &value, sizeof bits);
  return int(bits >> 52) - 1023;
}

/// 2^exponent, for exponents of normal numbers.
static double powerOfTwo(int exponent) {
  uint64_t bits = uint64_t(exponent + 1023) << 52;
  double value;
  std::memcpy(&value, &bits, sizeof value);
  return value;
}

/// Rounds the non-negative `scaled` to an integer.
static double roundScaled(double scaled, bool negative, Rounding rounding,
                          uint32_t random, unsigned randomBits) {
  double floor = std::floor(scaled), fraction = scaled - floor;
  switch (rounding) {
  case Rounding::RZ:
    return floor;
  case Rounding::RP:
    return floor + (!negative && fraction > 0);
  case Rounding::RM:
    return floor + (negative && fraction > 0);
  case Rounding::RNA:
    return floor + (fraction >= 0.5);
  case Rounding::RS:
    return floor +
           (fraction + std::ldexp(double(random), -int(randomBits)) >= 1);
  case Rounding::RN:
    break;
  }
  // At most 25 bits of an f32 are left of the point.
  bool odd = uint64_t(floor) & 1;
  return floor + (fraction > 0.5 || (fraction == 0.5 && odd));
}

/// Whether an overflowing result stays at the largest finite value.
static bool overflowStaysFinite(bool negative, Rounding rounding) {
  return rounding == Rounding::RZ || (rounding == Rounding::RP && negative) ||
         (rounding == Rounding::RM && !negative);
}

uint32_t encode(Element type, float value, ConvertMode mode, uint32_t random,
                unsigned randomBits) {
  if (type == Element::F32)
    return floatToBits(value);
  if (type == Element::UE8M0)
    return encodeUE8M0(value, mode);
  if (type == Element::S2F6)
    return encodeS2F6(value, mode);
  if (type == Element::BF16 && mode.rounding == Rounding::RN && !mode.relu) {
    // The upper half of an f32; NaN and what overflows go the long way.
    uint32_t bits = floatToBits(value);
    uint32_t code = (bits + 0x7fff + (bits >> 16 & 1)) >> 16;
    if ((bits & 0x7fffffff) < 0x7f800000 && (code & 0x7fff) < 0x7f80)
      return code;
  }
  const FloatLayout &layout = layoutOf(type);
  // cvt.rna.tf32 cuts the bits of NaN, even where infinity is left.
  if (type == Element::TF32 && mode.rounding == Rounding::RNA &&
      !mode.satfinite && std::isnan(value))
    return floatToBits(value) & ~0x1FFFu;
  if (std::isnan(value))
    return (layout.nan ? layout.nan : layout.maxCode) << layout.low;
  // The sign is dropped before it could turn the rounding.
  if (type == Element::UE5M3)
    value = std::fabs(value);
  bool negative = std::signbit(value);
  if (negative && (mode.relu || !layout.isSigned))
    return 0;
  uint32_t sign = negative ? 1u << (layout.width - 1 - layout.low) : 0;
  bool saturates = mode.satfinite || (!layout.infinity && !layout.nan);
  uint32_t overflow = saturates         ? layout.maxCode
                      : layout.infinity ? layout.infinity
                                        : layout.nan;
  if (std::isinf(value))
    return (sign | overflow) << layout.low;
  double magnitude = std::fabs(double(value));
  uint32_t code = 0;
  if (magnitude != 0) {
    // Any f32 is a normal double, and so is every power of two used here.
    int exponent = std::max(exponentOf(magnitude), 1 - layout.bias);
    int quantum = exponent - int(layout.mantissa);
    double rounded = roundScaled(magnitude * powerOfTwo(-quantum), negative,
                                 mode.rounding, random, randomBits);
    // The hidden bit of a normal number adds 1 to the exponent field, and a
    // carry out of the mantissa adds one more.
    code = (uint32_t(exponent + layout.bias - 1) << layout.mantissa) +
           uint32_t(rounded);
  }
  if (code > layout.maxCode)
    code = !saturates && overflowStaysFinite(negative, mode.rounding)
               ? layout.maxCode
               : overflow;
  if (mode.plusZero && !code)
    sign = 0;
  return (sign | code) << layout.low;
}

float dividedByScale(float value, uint32_t scale) {
  bool tiny = std::fpclassify(value) == FP_SUBNORMAL;
  return dividedByOwnScale(tiny ? std::copysign(0.0f, value) : value, scale);
}

float dividedByOwnScale(float value, uint32_t scale) {
  scale &= 0xff;
  if (scale == 0xff)
    return std::numeric_limits<float>::quiet_NaN();
  if (!std::isfinite(value))
    return value;
  double quotient = std::ldexp(double(value), 127 - int(scale));
  double most = std::numeric_limits<float>::max();
  return float(std::min(std::max(quotient, -most), most));
}

uint32_t packX2(Element type, float a, float b, ConvertMode mode,
                uint32_t random) {
  unsigned randomBits = type == Element::F16 ? 13 : 16;
  uint32_t mask = (1u << randomBits) - 1;
  unsigned field = type == Element::E2M1 ? 4 : bitWidth(type) <= 8 ? 8 : 16;
  uint32_t high = encode(type, a, mode, random >> 16 & mask, randomBits);
  uint32_t low = encode(type, b, mode, random & mask, randomBits);
  return high << field | low;
}

uint32_t packX4(Element type, float a, float b, float e, float f,
                ConvertMode mode, uint32_t random) {
  const float values[4] = {a, b, e, f};
  bool fp4 = type == Element::E2M1;
  const uint32_t bits8[4] = {random >> 24, random >> 8 & 0xff,
                             random >> 16 & 0xff, random & 0xff};
  uint32_t result = 0;
  for (unsigned i = 0; i < 4; ++i) {
    uint32_t bits = fp4 ? bits8[i] : i < 2 ? random >> 16 : random & 0xffff;
    result = result << (fp4 ? 4 : 8) |
             encode(type, values[i], mode, bits, fp4 ? 8 : 16);
  }
  return result;
}

uint32_t unpackToF16x2(Element type, uint32_t packed, bool relu) {
  unsigned field = type == Element::E2M1 ? 4 : 8;
  uint32_t mask = (1u << field) - 1;
  ConvertMode mode;
  mode.relu = relu;
  uint32_t high =
      encode(Element::F16, decode(type, packed >> field & mask), mode);
  uint32_t low = encode(Element::F16, decode(type, packed & mask), mode);
  return high << 16 | low;
}

uint32_t unpackToBF16x2(Element type, uint32_t packed, uint32_t scales,
                        ConvertMode mode) {
  unsigned field = type == Element::E2M1 ? 4 : 8;
  auto half = [&](unsigned i) {
    float value = decode(type, packed >> i * field & ((1u << field) - 1));
    float scale = decode(Element::UE8M0, scales >> 8 * i & 0xff);
    // Exact: few bits times a power of two; what overflows f32 is beyond bf16.
    return encode(Element::BF16, value * scale, mode);
  };
  return half(1) << 16 | half(0);
}

uint32_t unpackUE8M0ToBF16x2(uint32_t packed) {
  ConvertMode mode;
  uint32_t high =
      encode(Element::BF16, decode(Element::UE8M0, packed >> 8 & 0xff), mode);
  uint32_t low =
      encode(Element::BF16, decode(Element::UE8M0, packed & 0xff), mode);
  return high << 16 | low;
}

} // namespace blockscale::emulator
