//===- BlockQuantize.cpp - scales of blocks and their codes ---------------===//
//
// Part of the blockscale project, under the Apache License v2.0 with LLVM
// Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "blockscale/Formats/BlockQuantize.h"
#include "blockscale/Formats/Quotient.h"

#include <algorithm>
#include <cmath>
#include <limits>

using namespace blockscale;

namespace {

constexpr float kFloatMax = std::numeric_limits<float>::max();
constexpr uint8_t kNanScale = 0xff;
constexpr int kScaleBias = 127;
constexpr int kLargestScale = 0xfe;
constexpr float kLargestE4M3 = 448.0f;
constexpr float kLargestE2M1 = 6.0f;

/// Whether the rule adds one to floor(log2 m) - emax, `fraction` being m scaled
/// into [1, 2).
bool addsOne(ScaleRule rule, const FormatInfo &info, float fraction) {
  if (rule == ScaleRule::FloorPlusOne)
    return true;
  if (info.isInteger())
    return false;
  float halfStep = std::ldexp(0.5f, -static_cast<int>(info.mantissaBits));
  float largest = std::ldexp(info.largest, -info.emax);
  switch (rule) {
  case ScaleRule::Ceil:
    return fraction > 1.0f;
  case ScaleRule::MidMax:
    return fraction > largest + halfStep;
  case ScaleRule::RoundedMax:
    // At the tie itself the neighbour below is odd, so it rounds up to 2.
    return fraction >= 2.0f - halfStep;
  case ScaleRule::TopBinade:
    return fraction > largest;
  case ScaleRule::Floor:
  case ScaleRule::RoundUp:
  case ScaleRule::FloorPlusOne:
    break;
  }
  return false;
}

/// The reciprocal, at most the largest finite number.
float boundedReciprocal(float value) {
  return std::min(1.0f / value, kFloatMax);
}

} // namespace

float blockscale::quotientTowardsZero(float dividend, float divisor) {
  double exact = static_cast<double>(dividend) / divisor;
  auto rounded = static_cast<float>(exact);
  return rounded > exact ? std::nextafter(rounded, 0.0f) : rounded;
}

float blockscale::blockMax(const float *values, size_t count) {
  float result = 0;
  for (size_t i = 0; i < count; ++i) {
    float magnitude = std::fabs(values[i]);
    if (std::isnan(magnitude))
      return std::numeric_limits<float>::quiet_NaN();
    result = std::max(result, magnitude);
  }
  return result;
}

uint8_t blockscale::blockScaleByte(ScaleRule rule, ElementFormat element,
                                   float largestMagnitude,
                                   InfinityPolicy infinities) {
  const FormatInfo &info = formatInfo(element);
  float magnitude = std::fabs(largestMagnitude);
  if (std::isnan(magnitude))
    return kNanScale;
  if (std::isinf(magnitude))
    return infinities == InfinityPolicy::NanBlock ? kNanScale : kLargestScale;
  if (magnitude == 0)
    return 0;
  if (rule == ScaleRule::RoundUp)
    return static_cast<uint8_t>(encode(ElementFormat::UE8M0,
                                       magnitude / info.largest,
                                       Rounding::TowardPositive));
  int exponent = std::ilogb(magnitude);
  float fraction = std::ldexp(magnitude, -exponent);
  int byte = exponent - info.emax + kScaleBias + addsOne(rule, info, fraction);
  return static_cast<uint8_t>(std::clamp(byte, 0, kLargestScale));
}

void blockscale::quantizeBlock(ElementFormat element, uint8_t scaleByte,
                               const float *values, size_t count,
                               uint8_t *codes) {
  // 2^(127 - byte) is itself a ue8m0 number, and exact: a product that leaves
  // the range of binary32 saturates or underflows in every element format.
  float factor = scaleByte == kNanScale
                     ? std::numeric_limits<float>::quiet_NaN()
                     : decode(ElementFormat::UE8M0, kLargestScale - scaleByte);
  for (size_t i = 0; i < count; ++i)
    codes[i] = static_cast<uint8_t>(encode(element, values[i] * factor));
}

TensorScale blockscale::nvfp4TensorScale(float largestMagnitude) {
  TensorScale scale;
  float magnitude = std::fabs(largestMagnitude);
  if (!std::isfinite(magnitude) || magnitude == 0)
    return scale;
  float factor = std::min(kLargestE4M3 * kLargestE2M1 / magnitude, kFloatMax);
  if (factor != 0)
    scale.encode = factor;
  // Rounding twice must not carry the largest value past the end of binary32.
  scale.decode =
      std::min(1.0f / scale.encode,
               quotientTowardsZero(kFloatMax, kLargestE4M3 * kLargestE2M1));
  return scale;
}

uint8_t blockscale::nvfp4BlockScale(float largestMagnitude,
                                    const TensorScale &tensor) {
  float magnitude = std::fabs(largestMagnitude);
  if (std::isnan(magnitude))
    return static_cast<uint8_t>(formatInfo(ElementFormat::UE4M3).nanCode);
  // The order of operations is part of the published rule.
  float scale = magnitude * (tensor.encode * (1.0f / kLargestE2M1));
  scale = std::min(std::min(scale, kFloatMax), kLargestE4M3);
  return static_cast<uint8_t>(encode(ElementFormat::UE4M3, scale));
}

float blockscale::nvfp4BlockFactor(uint8_t scaleByte,
                                   const TensorScale &tensor) {
  float scale = decode(ElementFormat::UE4M3, scaleByte);
  // With a zero scale the published reciprocal turns every value into +-6, all
  // of which mean 0; zeros are written instead.
  return scale == 0 ? 0.0f : boundedReciprocal(scale * tensor.decode);
}

void blockscale::nvfp4QuantizeBlock(uint8_t scaleByte,
                                    const TensorScale &tensor,
                                    const float *values, size_t count,
                                    uint8_t *codes) {
  float scale = decode(ElementFormat::UE4M3, scaleByte);
  float factor = nvfp4BlockFactor(scaleByte, tensor);
  for (size_t i = 0; i < count; ++i) {
    float value = values[i];
    if (scale == 0 && std::isinf(value))
      value = std::copysign(0.0f, value);
    codes[i] =
        static_cast<uint8_t>(encode(ElementFormat::E2M1, value * factor));
  }
}

uint8_t blockscale::ue5m3BlockScale(ElementFormat element,
                                    float largestMagnitude) {
  float scale = std::fabs(largestMagnitude) / formatInfo(element).largest;
  return static_cast<uint8_t>(
      encode(ElementFormat::UE5M3, scale, Rounding::TowardPositive));
}

float blockscale::ue5m3BlockFactor(uint8_t scaleByte) {
  float scale = decode(ElementFormat::UE5M3, scaleByte);
  return scale == 0 ? 0.0f : 1.0f / scale;
}

float blockscale::floatScale(ElementFormat element, float largestMagnitude,
                             float floor) {
  float magnitude = std::fabs(largestMagnitude);
  if (magnitude < floor)
    magnitude = floor;
  float largest = formatInfo(element).largest;
  float scale = magnitude / largest,
        bound = quotientTowardsZero(kFloatMax, largest);
  return scale > bound ? bound : scale;
}

void blockscale::quantizeByFloatScale(ElementFormat element, float scale,
                                      const float *values, size_t count,
                                      uint8_t *codes) {
  float factor = scale == 0 ? 0.0f : boundedReciprocal(scale);
  for (size_t i = 0; i < count; ++i) {
    bool isLost = scale == 0 && std::isinf(values[i]);
    float value = isLost ? std::copysign(0.0f, values[i]) : values[i];
    codes[i] = static_cast<uint8_t>(encode(element, value * factor));
  }
}
