//===- Dequantize.cpp - values of narrow numbers, slowly ------------------===//
//
// Part of the blockscale project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "blockscale/Reference/Dequantize.h"

#include <cmath>
#include <limits>

using namespace blockscale;

static float product(float x, float y) {
  float result = x * y;
  if (std::isfinite(x) && std::isfinite(y) && std::isinf(result))
    return std::copysign(std::numeric_limits<float>::max(), result);
  return result;
}

float reference::dequantize(ElementFormat element, uint32_t code,
                            ElementFormat scale, uint32_t scaleCode,
                            std::optional<float> tensorScale) {
  float value = product(decode(element, code), decode(scale, scaleCode));
  return tensorScale ? product(value, *tensorScale) : value;
}

float reference::dequantize(ElementFormat element, uint32_t code, float scale) {
  const FormatInfo &info = formatInfo(element);
  float unit = info.isInteger() ? std::ldexp(1.0f, int(info.mantissaBits)) : 1;
  return product(decode(element, code) * unit, scale);
}

float reference::dequantizeWithZero(uint32_t code, float scale, float zero,
                                    bool isReal) {
  if (!isReal)
    return product(float(code) - zero, scale);
  float value = product(float(code), scale), result = value - zero;
  if (std::isfinite(value) && std::isfinite(zero) && std::isinf(result))
    return std::copysign(std::numeric_limits<float>::max(), result);
  return result;
}

uint32_t reference::narrowed(ElementFormat format, float value) {
  return encode(format, value, Rounding::NearestEven,
                std::isinf(value) ? Saturation::None : Saturation::Finite);
}
