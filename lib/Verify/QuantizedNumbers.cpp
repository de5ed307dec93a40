//===- QuantizedNumbers.cpp - numbers that are quantised ------------------===//
//
// Part of the blockscale project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "QuantizedNumbers.h"
#include "QuantizedMemory.h"

#include <algorithm>
#include <cmath>
#include <limits>

using namespace blockscale;
using namespace blockscale::verify;

float verify::numberOfBlock(uint64_t block, uint64_t i, uint64_t alone,
                            DataKind kind, uint64_t seed,
                            const NumberRange &range, int above) {
  const auto [smallest, largest, largestElement] = range;
  constexpr float kInfinity = std::numeric_limits<float>::infinity();
  constexpr float kNaN = std::numeric_limits<float>::quiet_NaN();
  uint64_t random = mix(mix(seed + block) + i);
  float sign = random & 1 ? -1.0f : 1.0f;
  auto ordinary = [&](int exponent) {
    double significand = kind == DataKind::Exact
                             ? double(random >> 8 & 0xff) / 64
                             : double(random >> 8 & 0xffffff) / 0x1p22;
    return sign * float(std::ldexp(significand, exponent));
  };
  auto exponents = uint64_t(largest - smallest - 2);
  int exponent = kind == DataKind::Exact
                     ? int(block % 13) - 6
                     : smallest + int(mix(block + seed) % exponents);
  switch (block % 16) {
  case 1:
    return 0;
  case 3:
    return -0.0f;
  case 5:
    return i == block % 7 ? kNaN : ordinary(exponent);
  case 7:
    return random >> 40 & 1 ? sign * kInfinity : ordinary(exponent);
  case 9:
    // A NaN beside an infinity is a NaN.
    return i == 2 ? kInfinity : i == 9 ? kNaN : ordinary(exponent);
  case 11:
    // Numbers that only subnormals hold.
    return ordinary(smallest - int(random >> 40 & 7));
  case 13:
    // The largest element times a power of two is the largest number.
    return i == 0 ? largestElement * 2 : ordinary(1);
  default:
    return ordinary(i == alone ? std::min(exponent + above, largest - 2)
                               : exponent);
  }
}

float verify::numberBothWays(uint64_t tile, uint64_t row, uint64_t column,
                             DataKind kind, uint64_t seed,
                             const NumberRange &range) {
  constexpr uint64_t kExtent = 32, kMagnitudes = 4, kAbove = 8;
  uint64_t number = row % kExtent * kExtent + column % kExtent;
  float value = numberOfBlock(tile, number, /*alone=*/kExtent * kExtent, kind,
                              seed, range);
  uint64_t shift =
      mix(seed + row) % kMagnitudes + mix(seed - column) % kMagnitudes;
  if (mix(tile * kExtent + row) % kExtent == column % kExtent)
    shift += kAbove;
  float shifted = std::ldexp(value, int(shift) - int(kAbove));
  return std::isinf(shifted) ? value : shifted;
}
