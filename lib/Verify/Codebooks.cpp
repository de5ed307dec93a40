//===- Codebooks.cpp - operands whose elements are in tables --------------===//
//
// Part of the blockscale project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Codebooks.h"
#include "blockscale/Formats/Codebook.h"

#include <algorithm>
#include <cmath>

using namespace blockscale;
using namespace blockscale::verify;

/// The largest power of two that divides all of them.
static double commonUnit(const std::vector<float> &values) {
  double unit = *std::max_element(values.begin(), values.end());
  unit = std::exp2(std::floor(std::log2(unit)));
  for (float value : values)
    while (std::fmod(double(value), unit) != 0)
      unit /= 2;
  return unit;
}

/// A multiple of 8 bits with a sign.
static int numberOf(uint8_t multiple) {
  constexpr int kSign = 0x80;
  return (multiple ^ kSign) - kSign;
}

Codebook::Codebook(const std::string &name) {
  Result<NumberSpec> spec = parseNumberSpec(name);
  if (!spec || !spec->isCodebook() || whyNotCodebookElements(*spec))
    return;
  std::vector<float> values = codebookValues(*spec);
  unit = commonUnit(values);
  for (size_t code = 0; code < values.size(); ++code)
    if (double multiple = values[code] / unit; std::fabs(multiple) <= INT8_MAX)
      codes[int(multiple)].push_back(code);
}

void Codebook::makeStorable(std::vector<uint8_t> &multiples) const {
  for (uint8_t &multiple : multiples) {
    int value = numberOf(multiple);
    while (!codes.count(value))
      value += value < 0 ? 1 : -1;
    multiple = uint8_t(value);
  }
}

size_t Codebook::codeOf(uint8_t multiple, uint64_t number) const {
  const std::vector<size_t> &alike = codes.at(numberOf(multiple));
  return alike[number % alike.size()];
}
