//===- Quantize.cpp - quantisation, the obvious way -----------------------===//
//
// Part of the blockscale project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "blockscale/Reference/Quantize.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstring>
#include <limits>

using namespace blockscale;
using namespace blockscale::reference;

static constexpr float kFloatMax = std::numeric_limits<float>::max();

std::optional<Reason> reference::whyNot(const Quantization &quantization) {
  const FormatInfo &element = formatInfo(quantization.element);
  bool isInteger = quantization.element == ElementFormat::INT8 &&
                   quantization.scale != ElementFormat::UE8M0 &&
                   quantization.scale != ElementFormat::UE4M3 &&
                   quantization.rule != "min_error";
  if (element.bits > 8 || (element.isInteger() && !isInteger) ||
      !element.isSigned)
    return "elements of '" + std::string(element.name) +
           "' are not quantised here";
  bool isPower = quantization.scale == ElementFormat::UE8M0;
  std::string scales =
      quantization.scale ? std::string(formatName(*quantization.scale)) : "f32";
  bool isFloat = !quantization.scale ||
                 quantization.scale == ElementFormat::UE4M3 ||
                 quantization.scale == ElementFormat::F16 ||
                 quantization.scale == ElementFormat::BF16;
  if (!isPower && !isFloat)
    return "scales of '" + scales + "' are not chosen here";
  auto isOneOf = [](const std::string &name,
                    std::initializer_list<const char *> names) {
    return std::find(names.begin(), names.end(), name) != names.end();
  };
  if (!isOneOf(quantization.rule,
               {"floor", "round_up", "floor_plus_one", "ceil", "mid_max",
                "rounded_max", "top_binade", "min_error"}) ||
      (!isPower && quantization.rule != "floor" &&
       quantization.rule != "min_error"))
    return "there is no rule '" + quantization.rule + "' for scales of '" +
           scales + "'";
  if (!isOneOf(quantization.rounding,
               {"even", "away", "zero", "stochastic", "stochastic_rs"}))
    return "there is no rounding '" + quantization.rounding + "'";
  return std::nullopt;
}

//===----------------------------------------------------------------------===//
// Elements
//===----------------------------------------------------------------------===//

static uint64_t splitMix64(uint64_t state) {
  uint64_t z = (state ^ (state >> 30)) * 0xbf58476d1ce4e5b9u;
  z = (z ^ (z >> 27)) * 0x94d049bb133111ebu;
  return z ^ (z >> 31);
}

/// The random number of an element over 2^16: a quarter of SplitMix64's.
static double randomFraction(uint64_t seed, uint64_t number) {
  uint64_t z = splitMix64(seed + (number / 4 + 1) * 0x9e3779b97f4a7c15u);
  return double(uint16_t(z >> 16 * (number % 4))) / double(1 << 16);
}

/// What 1 is of an integer under floats, where it stands for a fraction.
static float unitOf(const Quantization &quantization) {
  const FormatInfo &info = formatInfo(quantization.element);
  return info.isInteger() ? std::ldexp(1.0f, -int(info.mantissaBits)) : 1;
}

float reference::largestElement(const Quantization &quantization) {
  return formatInfo(quantization.element).largest / unitOf(quantization);
}

/// The upper half of a product.
static uint64_t upperProduct(uint64_t x, uint64_t y) {
  uint64_t xLow = uint32_t(x), xHigh = x >> 32;
  uint64_t yLow = uint32_t(y), yHigh = y >> 32;
  uint64_t middle = xHigh * yLow + (xLow * yLow >> 32);
  uint64_t other = xLow * yHigh + uint32_t(middle);
  return xHigh * yHigh + (middle >> 32) + (other >> 32);
}

/// That of "stochastic_rs": half of 32 bits for two of four neighbours, or a
/// byte of them for each of 4 bits.
static double sharedFraction(uint64_t seed, uint64_t number, unsigned bits) {
  uint64_t state = splitMix64(seed + 0x9e3779b97f4a7c15u) +
                   (number / 16 + 1) * 0xa0761d6478bd642fu;
  uint64_t other = state ^ 0xe7037ed1a0b428dbu;
  uint64_t word = upperProduct(state, other) ^ (state * other);
  // j * 0x9e3779b1^j
  static constexpr uint32_t kFactors[4] = {0, 0x9e3779b1, 0xffcd98c2,
                                           0x640c7833};
  uint32_t random =
      uint32_t(word >> 32) + uint32_t(word) * kFactors[number / 4 % 4];
  if (bits == 4) {
    static constexpr unsigned kBytes[4] = {0, 2, 1, 3};
    return uint8_t(random >> 8 * kBytes[number % 4]) / 256.0;
  }
  return uint16_t(number % 4 < 2 ? random : random >> 16) / 65536.0;
}

/// The code of a magnitude, between two that are neighbours.
static uint32_t roundMagnitude(ElementFormat format, double magnitude,
                               const std::string &rounding, double random) {
  uint32_t largest = formatInfo(format).largestCode;
  const std::array<float, 256> &numbers = decodeTable(format);
  if (magnitude >= numbers[largest])
    return largest;
  const auto *next =
      std::upper_bound(numbers.begin(), numbers.begin() + largest, magnitude);
  auto low = uint32_t(next - numbers.begin()) - 1;
  double below = numbers[low], above = *next;
  double rest = (magnitude - below) / (above - below);
  bool isUp = rest > 0.5;
  if (rounding == "stochastic" || rounding == "stochastic_rs")
    isUp = rest >= 1 - random;
  else if (rest == 0.5)
    isUp = rounding == "away" || (rounding == "even" && low % 2 == 1);
  return low + isUp;
}

static uint8_t encodeElement(const Quantization &quantization, float value,
                             uint64_t number) {
  const FormatInfo &info = formatInfo(quantization.element);
  if (std::isnan(value))
    return uint8_t(info.nanCode);
  double random = 0;
  if (quantization.rounding == "stochastic")
    random = randomFraction(quantization.seed, number);
  if (quantization.rounding == "stochastic_rs")
    random = sharedFraction(quantization.seed, number, info.bits);
  double magnitude = std::fabs(double(value)) * unitOf(quantization);
  uint32_t code = roundMagnitude(quantization.element, magnitude,
                                 quantization.rounding, random);
  if (info.isInteger())
    return uint8_t(std::signbit(value) ? -code : code);
  return uint8_t(code | uint32_t(std::signbit(value)) << (info.bits - 1));
}

//===----------------------------------------------------------------------===//
// Scales
//===----------------------------------------------------------------------===//

/// The largest magnitude; NaN if there is one.
static float largestOf(const std::vector<float> &values) {
  float largest = 0;
  for (float value : values)
    largest = std::isnan(value) || std::isnan(largest)
                  ? std::numeric_limits<float>::quiet_NaN()
                  : std::max(largest, std::fabs(value));
  return largest;
}

TensorScale::TensorScale(float given)
    : decode(std::fabs(given)), encode(std::min(1.0f / decode, kFloatMax)) {}

TensorScale reference::tensorScaleOf(const Quantization &quantization,
                                     const std::vector<float> &values) {
  float largest = largestOf(values);
  // Powers of two, and floats, reach as far as f32 does.
  if (quantization.scale != ElementFormat::UE4M3 || !(largest > 0) ||
      std::isinf(largest))
    return TensorScale(1, 1);
  double product = double(formatInfo(quantization.element).largest) *
                   formatInfo(ElementFormat::UE4M3).largest;
  float encode = std::min(float(product) / largest, kFloatMax);
  auto most = float(kFloatMax / product);
  if (most * product > kFloatMax)
    most = std::nextafter(most, 0.0f);
  return TensorScale(std::min(1 / encode, most), encode);
}

/// Whether a rule doubles the scale of 'floor' for a magnitude of `fraction`
/// times a power of two.
static bool doubles(const std::string &rule, const FormatInfo &info,
                    double fraction) {
  double largest = std::ldexp(double(info.largest), -info.emax);
  double step = std::ldexp(1.0, -int(info.mantissaBits));
  if (rule == "floor_plus_one")
    return true;
  if (rule == "ceil")
    return fraction > 1;
  if (rule == "mid_max")
    return fraction > (largest + (largest + step)) / 2;
  if (rule == "rounded_max")
    return std::nearbyint(fraction / step) * step == 2;
  return rule == "top_binade" && fraction > largest;
}

/// The byte of a power of two.
static uint8_t exponentByte(const Quantization &quantization,
                            const std::string &rule, float largest) {
  constexpr int kBias = 127, kLast = 254, kNaN = 255;
  if (std::isnan(largest))
    return kNaN;
  if (std::isinf(largest))
    return kLast;
  const FormatInfo &info = formatInfo(quantization.element);
  bool isRoundedUp = rule == "round_up";
  float source = isRoundedUp ? largest / info.largest : largest;
  if (source == 0)
    return 0;
  int exponent = std::ilogb(source);
  double fraction = std::ldexp(double(source), -exponent);
  if (isRoundedUp)
    exponent += fraction > 1;
  else
    exponent += doubles(rule, info, fraction) - info.emax;
  return uint8_t(std::clamp(exponent + kBias, 0, kLast));
}

/// The byte of the e4m3 scale that makes `limit` of the largest magnitude.
static uint8_t floatByte(float limit, float largest,
                         std::optional<TensorScale> tensorScale) {
  const FormatInfo &format = formatInfo(ElementFormat::UE4M3);
  float scale = largest / limit;
  if (tensorScale) {
    // The order of operations is that of NVFP4.
    scale = largest * (tensorScale->encode * (1.0f / limit));
  }
  if (std::isnan(scale))
    return uint8_t(format.nanCode);
  return uint8_t(roundMagnitude(ElementFormat::UE4M3, scale, "even", 0));
}

/// The bits of a scale of f32, f16 or bf16 next to `scale`.
static uint32_t plainBits(const Quantization &quantization, float scale) {
  constexpr uint32_t kNaN = 0x7fc00000, kHalfNaN = 0x7e00;
  constexpr unsigned kHalf = 16;
  if (std::isnan(scale) && quantization.scale)
    return quantization.scale == ElementFormat::F16 ? kHalfNaN : kNaN >> kHalf;
  if (std::isnan(scale))
    return kNaN;
  if (quantization.scale)
    return encode(*quantization.scale, scale);
  uint32_t bits;
  std::memcpy(&bits, &scale, sizeof(bits));
  return bits;
}

/// The scale with this code.
static float valueOf(const Quantization &quantization, uint32_t scale) {
  if (quantization.scale)
    return decode(*quantization.scale, scale);
  float value;
  std::memcpy(&value, &scale, sizeof(value));
  return value;
}

/// The bits of the plain float scale that makes `limit` of the largest
/// magnitude. None is so large that the largest element times it would be
/// infinite.
static uint32_t floatBits(const Quantization &quantization, float limit,
                          float largest) {
  double most = largestElement(quantization);
  uint32_t bound = plainBits(quantization, float(double(kFloatMax) / most));
  while (double(valueOf(quantization, bound)) * most > double(kFloatMax))
    --bound;
  float scale = largest / limit;
  if (scale > valueOf(quantization, bound))
    return bound;
  return plainBits(quantization, scale);
}

uint32_t reference::givenScale(const Quantization &quantization, float given) {
  float magnitude = std::fabs(given);
  if (quantization.scale == ElementFormat::UE8M0) {
    constexpr uint32_t kNaN = 255, kLast = 254;
    if (std::isnan(magnitude))
      return kNaN;
    for (uint32_t code = 0; code < kLast; ++code)
      if (magnitude <= decode(ElementFormat::UE8M0, code))
        return code;
    return kLast;
  }
  uint32_t code = plainBits(quantization, magnitude);
  if (!quantization.scale || std::isnan(magnitude))
    return code;
  float most = formatInfo(*quantization.scale).largest;
  return code + (decode(*quantization.scale, code) < std::min(magnitude, most));
}

std::pair<uint32_t, uint32_t>
reference::candidates(const Quantization &quantization, float largest,
                      std::optional<TensorScale> tensorScale) {
  bool isSearch = quantization.rule == "min_error";
  if (quantization.scale == ElementFormat::UE8M0) {
    if (tensorScale)
      largest *= tensorScale->encode;
    auto byRule = [&](const std::string &rule) {
      return exponentByte(quantization, rule, largest);
    };
    if (!isSearch)
      return {byRule(quantization.rule), byRule(quantization.rule)};
    return {byRule("floor"), byRule("floor_plus_one")};
  }
  uint32_t most = formatInfo(quantization.element).largestCode;
  auto towards = [&](uint32_t code) -> uint32_t {
    float limit = decode(quantization.element, code) / unitOf(quantization);
    if (quantization.scale == ElementFormat::UE4M3)
      return floatByte(limit, largest, tensorScale);
    return floatBits(quantization, limit, largest);
  };
  return {towards(most), towards(isSearch ? most - 1 : most)};
}

/// What an element is multiplied by under a scale.
static float inverseOf(const Quantization &quantization, uint32_t scale,
                       std::optional<TensorScale> tensorScale) {
  float number = valueOf(quantization, scale), step = number;
  // std::min keeps a NaN that is its first argument.
  if (tensorScale)
    step = std::min(number * tensorScale->decode, kFloatMax);
  if (number == 0)
    return 0;
  return std::min(1.0f / step, kFloatMax);
}

/// The distance of a magnitude to the nearest element.
static float distanceOf(ElementFormat format, float magnitude) {
  const FormatInfo &info = formatInfo(format);
  if (!(magnitude < info.largest))
    return magnitude - info.largest;
  int exponent = 0;
  std::frexp(magnitude, &exponent);
  double step = std::max(std::ldexp(1.0, exponent - 1 - int(info.mantissaBits)),
                         double(decode(format, 1)));
  return float(std::fabs(magnitude - std::nearbyint(magnitude / step) * step));
}

/// The error of a tile under `scale`, of which `first` is the one that it is
/// compared with.
static uint64_t errorUnder(const Quantization &quantization, uint32_t scale,
                           uint32_t first, const std::vector<float> &values,
                           std::optional<TensorScale> tensorScale) {
  const FormatInfo &info = formatInfo(quantization.element);
  float inverse = inverseOf(quantization, scale, tensorScale);
  float ratio = valueOf(quantization, scale) / valueOf(quantization, first);
  float above = std::ldexp(2.0f, info.emax) - info.largest;
  float unit = std::exp2(std::ceil(std::log2(above)));
  uint64_t sum = 0;
  for (float value : values) {
    float error = distanceOf(quantization.element, std::fabs(value * inverse)) *
                  ratio / unit;
    float square = error * error;
    sum += square < 1 ? uint64_t(square * 0x1p20f) : uint64_t(1) << 20;
  }
  return sum;
}

uint32_t reference::scaleOf(const Quantization &quantization,
                            const std::vector<float> &values,
                            std::optional<TensorScale> tensorScale) {
  float largest = largestOf(values);
  auto [first, second] = candidates(quantization, largest, tensorScale);
  if (first == second || valueOf(quantization, first) == 0)
    return second;
  auto error = [&, smaller = first](uint32_t scale) {
    return errorUnder(quantization, scale, smaller, values, tensorScale);
  };
  return error(second) < error(first) ? second : first;
}

std::vector<uint8_t>
reference::quantizeUnder(const Quantization &quantization, uint32_t scale,
                         const std::vector<float> &values,
                         std::optional<TensorScale> tensorScale,
                         uint64_t first) {
  float inverse = inverseOf(quantization, scale, tensorScale);
  std::vector<uint8_t> codes;
  for (size_t i = 0; i < values.size(); ++i)
    codes.push_back(
        encodeElement(quantization, values[i] * inverse, first + i));
  return codes;
}

QuantizedBlock reference::quantizeBlock(const Quantization &quantization,
                                        const std::vector<float> &values,
                                        std::optional<TensorScale> tensorScale,
                                        uint64_t first) {
  QuantizedBlock result;
  result.scale = scaleOf(quantization, values, tensorScale);
  result.codes =
      quantizeUnder(quantization, result.scale, values, tensorScale, first);
  return result;
}
