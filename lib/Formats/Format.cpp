//===- Format.cpp - element and scale formats with their codecs -----------===//
//
// Part of the blockscale project, under the Apache License v2.0 with LLVM
// Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "blockscale/Formats/Format.h"

#include <cmath>
#include <cstring>
#include <limits>

using namespace blockscale;

namespace {

constexpr uint32_t kInfinityBits = 0x7f800000;
constexpr uint32_t kHiddenBit = 0x00800000;

uint32_t bitsOf(float value) {
  uint32_t bits;
  std::memcpy(&bits, &value, sizeof(bits));
  return bits;
}

/// A positive finite binary32 number as `mantissa` * 2^(exponent - 23), with
/// the mantissa in [2^23, 2^24).
struct Normalized {
  int exponent;
  uint32_t mantissa;
};

Normalized normalize(uint32_t magnitude) {
  if (magnitude >= kHiddenBit)
    return {static_cast<int>(magnitude >> 23) - 127,
            (magnitude & (kHiddenBit - 1)) | kHiddenBit};
  Normalized result{-126, magnitude};
  while (!(result.mantissa & kHiddenBit)) {
    result.mantissa <<= 1;
    --result.exponent;
  }
  return result;
}

/// The code of a non-negative finite magnitude, as if the exponent field had no
/// upper end: the caller compares the result with the largest code.
uint32_t roundMagnitude(const FormatInfo &info, uint32_t magnitude,
                        Rounding rounding) {
  if (magnitude == 0)
    return 0;
  Normalized number = normalize(magnitude);
  int minExponent = 1 - info.bias;
  int exponent = number.exponent > minExponent ? number.exponent : minExponent;
  int shift =
      23 - static_cast<int>(info.mantissaBits) + (exponent - number.exponent);
  // With 25 bits dropped nothing is left and the rest is below one half; more
  // would say the same.
  if (shift > 25)
    shift = 25;
  uint32_t quotient = number.mantissa >> shift;
  uint32_t rest = number.mantissa & ((uint32_t(1) << shift) - 1);
  uint32_t half = uint32_t(1) << (shift - 1);
  bool up = false;
  if (rounding == Rounding::NearestEven)
    up = rest > half || (rest == half && (quotient & 1));
  else if (rounding == Rounding::TowardPositive)
    up = rest != 0;
  // The hidden bit of `quotient` counts as one step of the exponent field, so
  // subnormals and carries into the next binade need no case of their own.
  return (static_cast<uint32_t>(exponent - minExponent) << info.mantissaBits) +
         quotient + up;
}

uint32_t encodeFloat(const FormatInfo &info, float value, Rounding rounding,
                     Saturation saturation) {
  uint32_t bits = bitsOf(value);
  uint32_t magnitude = bits & 0x7fffffff;
  if (magnitude > kInfinityBits)
    return info.nanCode;
  bool negative = info.isSigned && (bits >> 31);
  uint32_t sign = negative ? uint32_t(1) << (info.bits - 1) : 0;
  if (negative && rounding == Rounding::TowardPositive)
    rounding = Rounding::TowardZero;

  bool infinite = magnitude == kInfinityBits;
  if (!infinite) {
    uint32_t code = roundMagnitude(info, magnitude, rounding);
    if (code <= info.largestCode)
      return sign | code;
  }
  bool staysFinite = saturation == Saturation::Finite || !info.hasNaN() ||
                     (!infinite && rounding == Rounding::TowardZero);
  if (staysFinite)
    return sign | info.largestCode;
  // Infinity follows the largest number; so does NaN where it is all ones.
  return sign | (info.largestCode + 1);
}

uint32_t encodeExponent(const FormatInfo &info, float value, Rounding rounding,
                        Saturation saturation) {
  uint32_t magnitude = bitsOf(value) & 0x7fffffff;
  if (magnitude > kInfinityBits)
    return info.nanCode;
  uint32_t overflow =
      saturation == Saturation::Finite ? info.largestCode : info.nanCode;
  if (magnitude == kInfinityBits)
    return overflow;
  if (magnitude == 0)
    return 0;
  Normalized number = normalize(magnitude);
  int code = number.exponent + info.bias;
  uint32_t rest = number.mantissa - kHiddenBit;
  constexpr uint32_t half = kHiddenBit / 2;
  if (rounding == Rounding::TowardPositive)
    code += rest != 0;
  else if (rounding == Rounding::NearestEven)
    code += rest > half || (rest == half && (code & 1));
  if (code < 0)
    return 0;
  return code > static_cast<int>(info.largestCode)
             ? overflow
             : static_cast<uint32_t>(code);
}

uint32_t encodeInteger(const FormatInfo &info, float value, Rounding rounding) {
  if (std::isnan(value))
    return info.nanCode;
  double limit = info.largestCode;
  double scaled = std::ldexp(static_cast<double>(value), info.mantissaBits);
  double below = std::floor(scaled);
  double rest = scaled - below;
  if (scaled >= limit || scaled <= -limit) {
    below = scaled > 0 ? limit : -limit;
  } else if (rounding == Rounding::NearestEven) {
    bool odd = std::fmod(below, 2.0) != 0.0;
    below += rest > 0.5 || (rest == 0.5 && odd);
  } else if (rounding == Rounding::TowardPositive) {
    below += rest > 0;
  } else {
    below += rest > 0 && scaled < 0;
  }
  return static_cast<uint32_t>(static_cast<int32_t>(below)) & info.codeMask();
}

float decodeInteger(const FormatInfo &info, uint32_t code) {
  int32_t value = static_cast<int32_t>(code);
  if (code >> (info.bits - 1))
    value -= int32_t(1) << info.bits;
  return std::ldexp(static_cast<float>(value),
                    -static_cast<int>(info.mantissaBits));
}

std::array<float, 256> makeTable(ElementFormat format) {
  std::array<float, 256> table;
  bool wide = formatInfo(format).bits > 8;
  for (uint32_t code = 0; code < table.size(); ++code)
    table[code] =
        wide ? std::numeric_limits<float>::quiet_NaN() : decode(format, code);
  return table;
}

bool equalsInsensitive(std::string_view left, std::string_view right) {
  if (left.size() != right.size())
    return false;
  auto lower = [](char c) {
    return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c;
  };
  for (size_t i = 0; i < left.size(); ++i)
    if (lower(left[i]) != lower(right[i]))
      return false;
  return true;
}

struct FormatAlias {
  std::string_view name;
  ElementFormat format;
};

/// Spellings besides the PTX names and the MLIR types.
constexpr FormatAlias kAliases[] = {
    {"e2m1fn", ElementFormat::E2M1},
    {"e2m3fn", ElementFormat::E2M3},
    {"e3m2fn", ElementFormat::E3M2},
    {"e4m3fn", ElementFormat::E4M3},
    {"float8_e4m3fn", ElementFormat::E4M3},
    {"float8_e5m2", ElementFormat::E5M2},
    {"e8m0", ElementFormat::UE8M0},
    {"e8m0fnu", ElementFormat::UE8M0},
    {"s8", ElementFormat::INT8},
    {"s4", ElementFormat::INT4},
    {"bfloat16", ElementFormat::BF16},
    {"float16", ElementFormat::F16},
    {"fp16", ElementFormat::F16},
};

} // namespace

std::optional<ElementFormat> blockscale::parseFormat(std::string_view name) {
  if (name.empty())
    return std::nullopt;
  for (const FormatInfo &info : kFormats)
    if (equalsInsensitive(name, info.name) ||
        equalsInsensitive(name, info.mlirType))
      return info.format;
  for (const FormatAlias &alias : kAliases)
    if (equalsInsensitive(name, alias.name))
      return alias.format;
  return std::nullopt;
}

uint32_t blockscale::encode(ElementFormat format, float value,
                            Rounding rounding, Saturation saturation) {
  const FormatInfo &info = formatInfo(format);
  if (info.isInteger())
    return encodeInteger(info, value, rounding);
  if (info.isExponentOnly())
    return encodeExponent(info, value, rounding, saturation);
  return encodeFloat(info, value, rounding, saturation);
}

float blockscale::decode(ElementFormat format, uint32_t code) {
  const FormatInfo &info = formatInfo(format);
  code &= info.codeMask();
  if (info.isInteger())
    return decodeInteger(info, code);
  if (info.isExponentOnly())
    return code == info.nanCode
               ? std::numeric_limits<float>::quiet_NaN()
               : std::ldexp(1.0f, static_cast<int>(code) - info.bias);
  bool negative = info.isSigned && (code >> (info.bits - 1));
  uint32_t magnitude = info.isSigned ? code & (info.codeMask() >> 1) : code;
  if (info.hasNaN() && magnitude > info.largestCode) {
    if (!info.hasInfinity() || magnitude > info.largestCode + 1)
      return std::numeric_limits<float>::quiet_NaN();
    float infinity = std::numeric_limits<float>::infinity();
    return negative ? -infinity : infinity;
  }
  uint32_t hidden = uint32_t(1) << info.mantissaBits;
  uint32_t fraction = magnitude & (hidden - 1);
  int exponent = static_cast<int>(magnitude >> info.mantissaBits);
  if (exponent > 0)
    fraction += hidden;
  else
    exponent = 1;
  float value =
      std::ldexp(static_cast<float>(fraction),
                 exponent - info.bias - static_cast<int>(info.mantissaBits));
  return negative ? -value : value;
}

const std::array<float, 256> &blockscale::decodeTable(ElementFormat format) {
  static const auto tables = [] {
    std::array<std::array<float, 256>, kNumElementFormats> result;
    for (const FormatInfo &info : kFormats)
      result[static_cast<unsigned>(info.format)] = makeTable(info.format);
    return result;
  }();
  return tables[static_cast<unsigned>(format)];
}

size_t blockscale::packedBytes(ElementFormat format, size_t count) {
  unsigned bits = formatInfo(format).storageBits;
  // Eight elements fill `bits` bytes; splitting avoids overflow of the product.
  return count / 8 * bits + (count % 8 * bits + 7) / 8;
}

bool blockscale::packElements(ElementFormat format, const uint8_t *codes,
                              size_t count, uint8_t *packed) {
  const FormatInfo &info = formatInfo(format);
  if (info.storageBits > 8)
    return false;
  uint32_t mask = info.codeMask();
  size_t i = 0;
  // Whole pairs of nibbles without a bit buffer, so that the loop vectorises.
  if (info.storageBits == 4)
    for (; i + 2 <= count; i += 2)
      *packed++ = static_cast<uint8_t>((codes[i] & 0xf) | (codes[i + 1] << 4));
  uint32_t pending = 0;
  unsigned pendingBits = 0;
  for (; i < count; ++i) {
    pending |= (codes[i] & mask) << pendingBits;
    pendingBits += info.storageBits;
    while (pendingBits >= 8) {
      *packed++ = static_cast<uint8_t>(pending);
      pending >>= 8;
      pendingBits -= 8;
    }
  }
  if (pendingBits)
    *packed = static_cast<uint8_t>(pending);
  return true;
}

bool blockscale::unpackElements(ElementFormat format, const uint8_t *packed,
                                size_t count, uint8_t *codes) {
  const FormatInfo &info = formatInfo(format);
  if (info.storageBits > 8)
    return false;
  uint32_t mask = info.codeMask();
  size_t i = 0;
  // See packElements.
  if (info.storageBits == 4)
    for (; i + 2 <= count; i += 2, ++packed) {
      codes[i] = *packed & 0xf;
      codes[i + 1] = *packed >> 4;
    }
  uint32_t pending = 0;
  unsigned pendingBits = 0;
  for (; i < count; ++i) {
    if (pendingBits < info.storageBits) {
      pending |= static_cast<uint32_t>(*packed++) << pendingBits;
      pendingBits += 8;
    }
    codes[i] = static_cast<uint8_t>(pending & mask);
    pending >>= info.storageBits;
    pendingBits -= info.storageBits;
  }
  return true;
}
