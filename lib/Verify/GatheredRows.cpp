//===- GatheredRows.cpp - rows of groups that are gathered by number ------===//
//
// Part of the blockscale project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Groups.h"

#include <limits>

using namespace blockscale;
using namespace blockscale::verify;

std::vector<int64_t> verify::drawRowNumbers(uint64_t rows, uint64_t tokens,
                                            uint64_t seed) {
  constexpr uint64_t kStep = 37, kEvery = 11;
  const int64_t outside[] = {-1, int64_t(tokens),
                             std::numeric_limits<int32_t>::min(),
                             std::numeric_limits<int32_t>::max()};
  std::vector<int64_t> numbers;
  for (uint64_t row = 0; row < rows; ++row) {
    bool isOutside = row % kEvery == kEvery - 1;
    numbers.push_back(isOutside ? outside[row / kEvery % std::size(outside)]
                                : int64_t((row * kStep + seed) % tokens));
  }
  return numbers;
}

/// Rows of `width` numbers by number, zeros where there is no such row.
template <typename T>
static std::vector<T> gathered(const std::vector<T> &all,
                               const std::vector<int64_t> &numbers,
                               uint64_t width) {
  std::vector<T> result(numbers.size() * width, T(0));
  for (size_t row = 0; row < numbers.size(); ++row) {
    if (numbers[row] < 0 || (uint64_t(numbers[row]) + 1) * width > all.size())
      continue;
    auto from = all.begin() + numbers[row] * int64_t(width);
    std::copy(from, from + int64_t(width),
              result.begin() + int64_t(row * width));
  }
  return result;
}

void verify::gatherRows(const std::vector<int64_t> &numbers,
                        const std::vector<uint8_t> &sortedScales,
                        reference::Problem &problem) {
  reference::Operand &a = problem.a;
  uint64_t blocks = a.blocks(problem.k);
  a.codes = gathered(a.codes, numbers, problem.k * a.codeBytes());
  a.scales =
      sortedScales.empty() ? gathered(a.scales, numbers, blocks) : sortedScales;
  if (!a.floatScales.empty())
    a.floatScales = gathered(a.floatScales, numbers, blocks);
  if (!problem.rowScales.empty())
    problem.rowScales = gathered(problem.rowScales, numbers, 1);
}
