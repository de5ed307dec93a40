//===- CompareResults.cpp - results of one program and another ------------===//
//
// Part of the blockscale project, under the Apache License v2.0 with LLVM
// Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "CompareResults.h"
#include "DecodedParts.h"
#include "llvm/ADT/APFloat.h"

#include <cmath>
#include <iomanip>
#include <sstream>

using namespace mlir;
using namespace blockscale;
using namespace blockscale::execute;

double execute::largestOf(const HostArray &array) {
  double largest = 0;
  for (uint64_t i = 0, e = array.count(); i < e; ++i) {
    double size = std::fabs(array.valueOf(i));
    if (std::isfinite(size))
      largest = std::max(largest, size);
  }
  return largest;
}

double execute::relativeStep(FloatType type) {
  return std::ldexp(1.0, 1 - int(llvm::APFloat::semanticsPrecision(
                                 type.getFloatSemantics())));
}

std::string execute::placeOf(ArrayRef<int64_t> sizes, uint64_t index) {
  std::string text;
  for (size_t i = sizes.size(); i-- > 0;) {
    auto size = uint64_t(sizes[i]);
    text = std::to_string(index % size) + (text.empty() ? "" : "x") + text;
    index /= size;
  }
  return text;
}

std::string execute::textOf(double expected, double found) {
  std::ostringstream text;
  text << std::setprecision(9) << "expected " << expected << ", found "
       << found;
  return text.str();
}

void execute::countDifference(FunctionVerdict &verdict, double ratio,
                              llvm::function_ref<std::string()> text) {
  if (!(ratio <= verdict.worst))
    verdict.worst = ratio;
  if (ratio <= 1)
    return;
  ++verdict.mismatches;
  if (verdict.first.empty())
    verdict.first = text();
}

void DecodedCodes::areRoundedFrom(const HostArray &array, double part) {
  auto element = dyn_cast<FloatType>(array.element);
  if (!element)
    return;
  source = &array;
  ofSource = part * largestOf(array);
  step = element.isF32() ? 0 : relativeStep(element);
}

bool DecodedCodes::areTails(uint64_t index) const {
  return isTail && std::fabs(numbers[0].valueOf(index) -
                             numbers[1].valueOf(index)) <= bound;
}

bool DecodedCodes::areAsNear(uint64_t index) const {
  if (!source || source->count() != numbers[0].count())
    return false;
  double x = source->valueOf(index);
  auto distance = [&](const HostArray &array) {
    return std::fabs(array.valueOf(index) - x);
  };
  return distance(numbers[1]) <=
         distance(numbers[0]) + 2 * (ofSource + step * std::fabs(x));
}

bool DecodedCodes::agree(uint64_t index) {
  if (type && numbers.empty()) {
    numbers = decodeParts(type, parts, *options);
    bound = numbers.empty() ? 0 : kSumBound * largestOf(numbers[0]);
    type = {};
  }
  return !numbers.empty() && (areTails(index) || areAsNear(index));
}

/// The error that an element of `array`, whose largest magnitude is `largest`,
/// may have.
static double boundOf(const HostArray &array, uint64_t index, Bound bound,
                      double largest) {
  auto type = dyn_cast<FloatType>(array.element);
  if (!type || bound.part == 0)
    return 0;
  double step = relativeStep(type);
  if (bound.isScale)
    return bound.part * largest + step * std::fabs(array.valueOf(index));
  return std::max(step, bound.part) * largest;
}

void execute::compareResult(const HostArray &expected, const HostArray &found,
                            const std::string &name, Bound bound,
                            DecodedCodes &codes, FunctionVerdict &verdict) {
  if (expected.sizes != found.sizes) {
    verdict.error = name + " has another shape with kernels";
    return;
  }
  double largest = largestOf(expected);
  for (uint64_t i = 0, e = expected.count(); i < e; ++i) {
    double x = expected.valueOf(i), y = found.valueOf(i);
    ++verdict.compared;
    if (x == y || (std::isnan(x) && std::isnan(y)))
      continue;
    double ratio = std::fabs(x - y) / boundOf(expected, i, bound, largest);
    if (!(ratio <= 1) && codes.agree(i))
      continue;
    countDifference(verdict, ratio, [&] {
      std::string place = placeOf(expected.sizes, i);
      return name + (place.empty() ? "" : ", element " + place) + ": " +
             textOf(x, y);
    });
  }
}
