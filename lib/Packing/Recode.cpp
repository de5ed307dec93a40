//===- Recode.cpp - codes of one format as codes of another ---------------===//
//
// Part of the blockscale project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "blockscale/Packing/Recode.h"
#include "blockscale/Formats/Codebook.h"

#include <algorithm>
#include <cmath>
#include <limits>

using namespace blockscale;
using namespace blockscale::packing;

/// Formats without a negative zero have a bias of one more than those of OCP.
static constexpr float kHalf = 0.5f;

/// Int4 counts in quarters, int8 in 64ths.
static constexpr float kWhole4 = 4, kWhole8 = 64;

static constexpr ElementFormat kBF16 = ElementFormat::BF16,
                               kF16 = ElementFormat::F16,
                               kE4M3 = ElementFormat::E4M3,
                               kE5M2 = ElementFormat::E5M2;

/// E4m3 with infinities, which scale specs call e4m3, as plans do OCP's.
static constexpr std::string_view kIEEE = "e4m3ieee";

/// Those without a negative zero.
static constexpr std::string_view kBiasedE4M3 = "e4m3b8fnuz",
                                  kBiasedE5M2 = "e5m2b16fnuz";

static constexpr Recoding kRecodings[] = {
    {"int4", ElementFormat::E2M3, 1, 1},
    {"int4", kE4M3, 1, 1},
    {"int4", kE4M3, 1, 1, /*isInteger=*/true},
    {"uint2", kE4M3, 1, 1, /*isInteger=*/true, /*hasZeros=*/true},
    {"uint3", kE4M3, 1, 1, /*isInteger=*/true, /*hasZeros=*/true},
    {"uint4", kE4M3, 1, 1, /*isInteger=*/true, /*hasZeros=*/true},
    {"uint2", kE4M3, 1, 1, /*isInteger=*/true},
    {"uint3", kE4M3, 1, 1, /*isInteger=*/true},
    {"uint4", kE4M3, 1, 1, /*isInteger=*/true},
    {"int8", kE4M3, 2, 1},
    {kBiasedE4M3, kE4M3, 1, kHalf},
    {kBiasedE5M2, kE5M2, 1, kHalf},
    {kIEEE, kE4M3, 1, 1},
    // Numbers of 8 bits and fewer are numbers of 16 bits: whole ones up to 256
    // in bf16, up to 2048 in f16.
    {"int4", kBF16, 1, 1},
    {"int4", kF16, 1, 1},
    {"int8", kBF16, 1, 1},
    {"int8", kF16, 1, 1},
    {"int4", kBF16, 1, 1, /*isInteger=*/true},
    {"int4", kF16, 1, 1, /*isInteger=*/true},
    {"int8", kBF16, 1, 1, /*isInteger=*/true},
    {"int8", kF16, 1, 1, /*isInteger=*/true},
    {"uint2", kBF16, 1, 1, /*isInteger=*/true, /*hasZeros=*/true},
    {"uint2", kF16, 1, 1, /*isInteger=*/true, /*hasZeros=*/true},
    {"uint3", kBF16, 1, 1, /*isInteger=*/true, /*hasZeros=*/true},
    {"uint3", kF16, 1, 1, /*isInteger=*/true, /*hasZeros=*/true},
    {"uint4", kBF16, 1, 1, /*isInteger=*/true, /*hasZeros=*/true},
    {"uint4", kF16, 1, 1, /*isInteger=*/true, /*hasZeros=*/true},
    {"uint8", kBF16, 1, 1, /*isInteger=*/true, /*hasZeros=*/true},
    {"uint8", kF16, 1, 1, /*isInteger=*/true, /*hasZeros=*/true},
    {"uint2", kBF16, 1, 1, /*isInteger=*/true},
    {"uint2", kF16, 1, 1, /*isInteger=*/true},
    {"uint3", kBF16, 1, 1, /*isInteger=*/true},
    {"uint3", kF16, 1, 1, /*isInteger=*/true},
    {"uint4", kBF16, 1, 1, /*isInteger=*/true},
    {"uint4", kF16, 1, 1, /*isInteger=*/true},
    {"uint8", kBF16, 1, 1, /*isInteger=*/true},
    {"uint8", kF16, 1, 1, /*isInteger=*/true},
    {"e2m1", kBF16, 1, 1},
    {"e2m1", kF16, 1, 1},
    {"e2m3", kBF16, 1, 1},
    {"e2m3", kF16, 1, 1},
    {"e3m2", kBF16, 1, 1},
    {"e3m2", kF16, 1, 1},
    {"e4m3", kBF16, 1, 1},
    {"e4m3", kF16, 1, 1},
    {"e5m2", kBF16, 1, 1},
    {"e5m2", kF16, 1, 1},
    {kBiasedE4M3, kBF16, 1, 1},
    {kBiasedE4M3, kF16, 1, 1},
    {kBiasedE5M2, kBF16, 1, 1},
    {kBiasedE5M2, kF16, 1, 1},
    {kIEEE, kBF16, 1, 1},
    {kIEEE, kF16, 1, 1},
};

std::optional<Recoding> packing::findRecoding(std::string_view from,
                                              ElementFormat to, bool isInteger,
                                              bool hasZeros) {
  for (const Recoding &row : kRecodings)
    if (row.from == from && row.to == to && row.isInteger == isInteger &&
        row.hasZeros == hasZeros)
      return row;
  return std::nullopt;
}

/// Numbers of a plan's table of codes.
static constexpr unsigned kMostBits = 9;

/// The values of a codebook that the name is of, by code; none of others.
static std::vector<float> tableValues(std::string_view name) {
  Result<NumberSpec> spec = parseNumberSpec(name);
  if (!spec || !spec->isCodebook())
    return {};
  return codebookValues(*spec);
}

static bool holds(ElementFormat format, float value) {
  return decode(format, encode(format, value)) == value;
}

std::optional<Recoding> packing::recodeCodebook(std::string_view name,
                                                ElementFormat to) {
  std::vector<float> values = tableValues(name);
  if (values.empty() || values.size() > (size_t(1) << kMostBits))
    return std::nullopt;
  // Nothing but 1 if it will do.
  constexpr int kFarthest = 8;
  for (int distance = 0; distance <= kFarthest; ++distance)
    for (int exponent : {distance, -distance}) {
      float factor = std::ldexp(1.0f, exponent);
      if (std::all_of(values.begin(), values.end(),
                      [&](float value) { return holds(to, value / factor); }))
        return Recoding{name, to, 1, factor};
    }
  return std::nullopt;
}

std::optional<Recoding> packing::narrowCodebook(std::string_view name) {
  for (ElementFormat to : {ElementFormat::E2M1, ElementFormat::E2M3,
                           ElementFormat::E3M2, kE4M3, kE5M2})
    if (std::optional<Recoding> recoding = recodeCodebook(name, to))
      return recoding;
  return std::nullopt;
}

/// Bits of a code of the source.
static unsigned bitsOf(const Recoding &recoding) {
  if (std::optional<ElementFormat> format = parseFormat(recoding.from))
    return formatInfo(*format).bits;
  if (Result<NumberSpec> spec = parseNumberSpec(recoding.from);
      spec && spec->kind == NumberKind::Uint)
    return spec->bits();
  constexpr unsigned kByte = 8;
  return kByte;
}

/// Codes of the source that there are, or differences of two.
static size_t codesOf(const Recoding &recoding) {
  return size_t(recoding.hasZeros ? 2 : 1) << bitsOf(recoding);
}

/// The value of a code of e4m3 with infinities.
static float ieeeValue(unsigned code) {
  constexpr unsigned kInfinity = 0x78;
  unsigned magnitude = code & 0x7f;
  if (magnitude < kInfinity)
    return decode(kE4M3, code);
  if (magnitude > kInfinity)
    return std::numeric_limits<float>::quiet_NaN();
  return std::copysign(std::numeric_limits<float>::infinity(),
                       code > kInfinity ? -1.0f : 1.0f);
}

/// The value of a code without a negative zero, whose place is NaN's; all
/// others are numbers, of which the largest exponent has none in OCP's formats.
static float biasedValue(unsigned code, ElementFormat ocp) {
  constexpr unsigned kNaN = 0x80;
  if (code == kNaN)
    return std::numeric_limits<float>::quiet_NaN();
  unsigned fractionBits = ocp == kE4M3 ? 3 : 2;
  int bias = ocp == kE4M3 ? 8 : 16;
  unsigned exponent = (code & 0x7f) >> fractionBits;
  unsigned fraction = code & ((1u << fractionBits) - 1);
  if (exponent)
    fraction |= 1u << fractionBits;
  else
    exponent = 1;
  float magnitude =
      std::ldexp(float(fraction), int(exponent) - bias - int(fractionBits));
  return code > kNaN ? -magnitude : magnitude;
}

/// The value of a term of an element, by a code of the source.
static float valueOf(const Recoding &recoding, unsigned code, unsigned term) {
  if (recoding.hasZeros)
    return float(int(code) - int(codesOf(recoding) / 2));
  if (recoding.from == kIEEE)
    return ieeeValue(code);
  if (recoding.from == kBiasedE4M3 || recoding.from == kBiasedE5M2)
    return biasedValue(code, recoding.from == kBiasedE4M3 ? kE4M3 : kE5M2);
  std::optional<ElementFormat> format = parseFormat(recoding.from);
  if (!format)
    return float(code);
  // The low half counts up from the high one, whatever the sign.
  if (recoding.terms > 1)
    code &= term == 0 ? 0xf0 : 0x0f;
  float value = decode(*format, code);
  if (!recoding.isInteger)
    return value;
  return value * (format == ElementFormat::INT8 ? kWhole8 : kWhole4);
}

/// Of a format of 16 bits, which is one of IEEE 754.
static unsigned infinity(ElementFormat format, bool isNegative) {
  const FormatInfo &info = formatInfo(format);
  return (unsigned(isNegative) << (info.bits - 1)) | (info.largestCode + 1);
}

/// The code of a term of an element; -1 if there is none.
static int termOf(const Recoding &recoding, unsigned code, unsigned term) {
  // The same bits, where they are numbers in both. What is a negative zero in
  // OCP's is the NaN of biased formats, what is 256 and more in e4m3 are the
  // infinity and the NaNs of IEEE 754.
  bool isBiased = recoding.factor == kHalf;
  if (isBiased || (recoding.from == kIEEE && recoding.to == kE4M3)) {
    constexpr unsigned kNaN = 0x80, kLargestOfIEEE = 0x77;
    unsigned largest =
        isBiased ? formatInfo(recoding.to).largestCode : kLargestOfIEEE;
    bool isNumber = (code & 0x7f) <= largest && !(isBiased && code == kNaN);
    return isNumber ? int(code) : -1;
  }
  float value = valueOf(recoding, code, term);
  // Saturation is not what an infinity becomes.
  if (std::isinf(value))
    return int(infinity(recoding.to, value < 0));
  uint32_t stored = encode(recoding.to, value);
  float back = decode(recoding.to, stored);
  return back == value || (std::isnan(back) && std::isnan(value)) ? int(stored)
                                                                  : -1;
}

std::vector<int> packing::storedCodes(const Recoding &recoding) {
  std::vector<int> codes;
  for (float value : tableValues(recoding.from))
    codes.push_back(int(encode(recoding.to, value / recoding.factor)));
  if (!codes.empty())
    return codes;
  for (unsigned term = 0; term < recoding.terms; ++term)
    for (size_t code = 0; code < codesOf(recoding); ++code)
      codes.push_back(termOf(recoding, unsigned(code), term));
  return codes;
}
