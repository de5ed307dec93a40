//===- NumberCodes.cpp - codes of float formats of a byte -----------------===//
//
// Part of the blockscale project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "blockscale/Formats/NumberCodes.h"

#include <cmath>
#include <limits>

using namespace blockscale;

/// The bits of a code without its sign.
static uint32_t magnitudeMask(const NumberSpec &spec) {
  return (uint32_t(1) << (spec.bits() - 1)) - 1;
}

/// Whether a code of that magnitude is NaN or infinite, and as which number
/// without its sign.
static bool isSpecial(const NumberSpec &spec, uint32_t magnitude,
                      bool isNegative, float &number) {
  const float infinity = std::numeric_limits<float>::infinity();
  number = std::numeric_limits<float>::quiet_NaN();
  const uint32_t all = magnitudeMask(spec);
  switch (spec.specials) {
  case NumberSpecials::Ieee: {
    uint32_t top = all >> spec.mantissaBits << spec.mantissaBits;
    if (magnitude == top)
      number = infinity;
    return magnitude >= top;
  }
  case NumberSpecials::Fn:
    return magnitude == all;
  case NumberSpecials::Inuz:
    if (magnitude == all)
      number = infinity;
    return magnitude == all || (isNegative && magnitude == 0);
  case NumberSpecials::Fnuz:
    // Formats of fewer bits have a negative zero in place of a NaN.
    return spec.bits() == 8 && isNegative && magnitude == 0;
  case NumberSpecials::None:
    return false;
  }
  return false;
}

float blockscale::numberOfCode(const NumberSpec &spec, uint32_t code) {
  uint32_t magnitude = code & magnitudeMask(spec);
  bool isNegative = code >> (spec.bits() - 1) & 1;
  float number = 0;
  if (!isSpecial(spec, magnitude, isNegative, number)) {
    uint32_t one = uint32_t(1) << spec.mantissaBits;
    uint32_t exponent = magnitude >> spec.mantissaBits,
             fraction = magnitude & (one - 1);
    // What has no exponent has that of the smallest one and no leading 1.
    if (exponent)
      fraction += one;
    number =
        std::ldexp(float(fraction), int(exponent ? exponent : 1) - spec.bias -
                                        int(spec.mantissaBits));
  }
  return isNegative ? -number : number;
}

uint32_t blockscale::codeOfNumber(const NumberSpec &spec, double value) {
  const uint32_t codes = uint32_t(1) << spec.bits(), all = magnitudeMask(spec);
  double rounded = roundTo(spec, value);
  for (uint32_t code = 0; code < codes; ++code) {
    float number = numberOfCode(spec, code);
    bool isSame = std::isnan(rounded) ? std::isnan(number)
                                      : double(number) == std::fabs(rounded);
    if (!isSame)
      continue;
    bool hasSign = std::signbit(rounded) && !std::isnan(rounded);
    // A format without a negative zero has the other one.
    float unused = 0;
    bool isSpecialIfNegative =
        code == 0 && isSpecial(spec, 0, /*isNegative=*/true, unused);
    return hasSign && !isSpecialIfNegative ? code | (all + 1) : code;
  }
  return 0;
}
