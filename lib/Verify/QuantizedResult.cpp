//===- QuantizedResult.cpp - check products that quantise D ---------------===//
//
// Part of the blockscale project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "QuantizedResult.h"
#include "Groups.h"
#include "QuantizedMemory.h"
#include "QuantizedResultChecker.h"
#include "QuantizedResultPlan.h"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <limits>

using namespace blockscale;
using namespace blockscale::verify;

//===----------------------------------------------------------------------===//
// Memory
//===----------------------------------------------------------------------===//

/// The product whose corner tells how large a matrix of D is: of groups in one
/// matrix the first that has rows, else its own. Null if it has none.
static std::optional<reference::Problem> productOf(const Inputs &inputs,
                                                   uint64_t matrix) {
  const std::vector<uint64_t> &ends = inputs.groupEnds;
  if (ends.empty())
    return inputs.problem;
  if (inputs.groupsAlongK)
    return problemOfGroup(inputs, matrix);
  auto first = inputs.isMasked
                   ? ends.begin() + int64_t(matrix)
                   : std::find_if(ends.begin(), ends.end(),
                                  [](uint64_t end) { return end > 0; });
  if (first == ends.end() || *first == 0)
    return std::nullopt;
  return problemOfGroup(inputs, size_t(first - ends.begin()));
}

/// The largest magnitude in a corner of a matrix of D.
static double largestOfCorner(const Inputs &inputs, uint64_t matrix) {
  constexpr uint64_t kCorner = 32;
  std::optional<reference::Problem> product = productOf(inputs, matrix);
  if (!product)
    return 0;
  uint64_t number = inputs.groupEnds.empty() ? matrix : 0;
  reference::Tile corner{number, 0, 0, std::min(product->m, kCorner),
                         std::min(product->resultColumns(), kCorner)};
  double largest = 0;
  for (const reference::TileResult &result :
       reference::matmul(*product, {corner}))
    for (double value : result.d)
      if (std::isfinite(value))
        largest = std::max(largest, std::fabs(value));
  return largest;
}

/// One factor of each matrix, under which scales take most of their values, or
/// elements do if it is the scale itself: of every eight of those three are 0,
/// an infinity and a NaN. A sign does not count.
static std::vector<float> tensorScales(const Inputs &inputs,
                                       const reference::Quantization &rule,
                                       bool areScales, uint64_t seed) {
  using Limits = std::numeric_limits<float>;
  constexpr float kRare[] = {0, Limits::infinity(), Limits::quiet_NaN()};
  double most = (areScales ? 1 : 448) * reference::largestElement(rule);
  std::vector<float> scales;
  for (uint64_t i = 0; i < matricesOf(inputs); ++i) {
    double factor = largestOfCorner(inputs, i) / most *
                    std::ldexp(1 + double((seed * 37 + i * 101) % 256) / 256,
                               int(i % 3) - 1);
    float magnitude = factor > 0 ? float(factor) : 1.0f;
    if (areScales && i % 8 >= 4 && i % 8 < 7)
      magnitude = kRare[i % 8 - 4];
    scales.push_back(magnitude * (i % 2 ? -1.0f : 1.0f));
  }
  return scales;
}

template <typename T> static std::vector<uint8_t> bytesOf(const T &values) {
  std::vector<uint8_t> bytes(values.size() * sizeof(values[0]));
  std::memcpy(bytes.data(), values.data(), bytes.size());
  return bytes;
}

std::optional<Reason> verify::addQuantizedResult(const plan::Kernel &kernel,
                                                 const plan::Environment &sizes,
                                                 uint64_t seed,
                                                 Inputs &inputs) {
  Result<reference::Quantization> rule = ruleOf(kernel);
  if (!rule)
    return rule.why();
  std::optional<reference::OutputType> type = typeBefore(*kernel.quantization);
  if (!type)
    return Reason("a product that is quantised as '" +
                  kernel.quantization->type.value_or("") + "'");
  const plan::ScalePacking *scales = ofResult(kernel.scales);
  if (scales && areInOne(inputs) != (scales->layout == kGrouped))
    return Reason("scales of groups in layout '" + scales->layout + "'");
  uint64_t columns = inputs.problem.resultColumns();
  if (columns % tileOf(kernel) != 0)
    return Reason(std::to_string(columns) + " columns of D in blocks of " +
                  std::to_string(tileOf(kernel)));
  inputs.problem.output = *type;
  for (const plan::Parameter &parameter : kernel.parameters) {
    if (parameter.operand == "d") {
      Result<uint64_t> bytes = memoryBytes(kernel, parameter, sizes);
      if (!bytes)
        return bytes.why();
      inputs.data.memory[parameter.role].assign(*bytes, kBeforeQuantized);
    }
    if (parameter.role == "tensor_scale")
      inputs.data.memory[parameter.role] =
          bytesOf(tensorScales(inputs, *rule, hasGivenScale(kernel), seed));
  }
  return std::nullopt;
}

//===----------------------------------------------------------------------===//
// Comparison
//===----------------------------------------------------------------------===//

/// The rows of each group that has any, behind those of the group before.
static void checkGroupsOfRows(const Inputs &inputs, const Multiply &multiply,
                              ResultChecker &checker) {
  uint64_t firstOfScales = 0;
  for (size_t group = 0; group < inputs.groupEnds.size(); ++group) {
    auto [begin, end] = rowsOfGroup(inputs, group);
    if (begin == end)
      continue;
    reference::Problem product = problemOfGroup(inputs, group);
    ResultRows rows{product};
    rows.first = begin;
    rows.firstOfScales = firstOfScales;
    firstOfScales += rows.ofScales();
    checker.check(rows, multiply);
  }
}

/// The matrix of each group, as far as it has rows.
static void checkMatrices(const Inputs &inputs, const Multiply &multiply,
                          ResultChecker &checker) {
  for (size_t group = 0; group < inputs.groupEnds.size(); ++group) {
    reference::Problem product = problemOfGroup(inputs, group);
    ResultRows rows{product};
    rows.areCounted = inputs.isMasked;
    rows.matrix = group;
    if (product.m > 0)
      checker.check(rows, multiply);
  }
}

void verify::compareQuantized(const plan::Kernel &kernel,
                              const plan::Environment &sizes,
                              const Inputs &inputs, const Multiply &multiply,
                              reference::Criterion criterion, bool isSampled,
                              Verdict &verdict) {
  ResultChecker checker(kernel, sizes, inputs, criterion, isSampled, verdict);
  if (hasMatrices(inputs))
    checkMatrices(inputs, multiply, checker);
  else if (areInOne(inputs))
    checkGroupsOfRows(inputs, multiply, checker);
  else
    checker.check(ResultRows{inputs.problem}, multiply);
  checker.finish();
}
