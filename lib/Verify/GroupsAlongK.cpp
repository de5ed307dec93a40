//===- GroupsAlongK.cpp - inputs of products whose K is in groups ---------===//
//
// Part of the blockscale project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Conditions.h"
#include "Groups.h"

#include <algorithm>
#include <iterator>

using namespace blockscale;
using namespace blockscale::verify;

std::vector<uint64_t> verify::drawKGroupEnds(uint64_t groups, uint64_t k,
                                             uint64_t step, uint64_t seed) {
  static constexpr uint64_t sizes[] = {9, 0, 1, 4, 7, 0, 5, 3, 2};
  constexpr uint64_t kFewSteps = 4;
  uint64_t steps = k / step;
  uint64_t used = steps > kFewSteps ? steps - 1 : steps;
  std::vector<uint64_t> ends;
  uint64_t end = 0;
  for (uint64_t group = 0; group < groups; ++group) {
    uint64_t wanted = sizes[(group + seed) % std::size(sizes)];
    end += group + 1 == groups ? used - end : std::min(wanted, used - end);
    ends.push_back(end * step);
  }
  return ends;
}

/// Columns `first` to before `end` of `rows` rows of `all` numbers each; at
/// least `width` of them, the others 0.
template <typename T>
static std::vector<T> columnsOf(const std::vector<T> &data, uint64_t rows,
                                uint64_t all, uint64_t first, uint64_t end,
                                uint64_t width) {
  std::vector<T> columns(rows * width, T());
  for (uint64_t row = 0; row < rows; ++row)
    for (uint64_t at = first; at < end && row * all + at < data.size(); ++at)
      columns[row * width + at - first] = data[row * all + at];
  return columns;
}

/// That of matrix `matrix` where each has `count` numbers.
static std::vector<float> ofMatrix(const std::vector<float> &all,
                                   uint64_t matrix, uint64_t count) {
  return columnsOf(all, 1, all.size(), matrix * count, (matrix + 1) * count,
                   all.empty() ? 0 : count);
}

Result<std::vector<uint8_t>> verify::tileKGroups(
    const std::vector<uint8_t> &scales, const hw::ScaleTensor &tensor,
    const std::vector<uint64_t> &ends, uint64_t bytes, uint8_t padding) {
  uint64_t block = tensor.blockSize, first = 0;
  uint64_t perRow = (tensor.k + block - 1) / block;
  std::vector<uint8_t> all;
  for (uint64_t end : ends) {
    if (end == first)
      continue;
    hw::ScaleTensor group = tensor;
    group.k = end - first;
    uint64_t last = (end + block - 1) / block;
    std::vector<uint8_t> own = columnsOf(
        scales, tensor.mn, perRow, first / block, last, last - first / block);
    std::vector<uint8_t> tiled =
        layOutScales(hw::kTiledScales, group, own, padding);
    all.insert(all.end(), tiled.begin(), tiled.end());
    first = end;
  }
  if (all.size() > bytes)
    return Reason("the plan has " + std::to_string(bytes) +
                  " bytes of scales for groups that take " +
                  std::to_string(all.size()));
  all.resize(bytes, padding);
  return all;
}

reference::Problem verify::problemOfKGroup(const Inputs &inputs, size_t group) {
  const reference::Problem &all = inputs.problem;
  uint64_t first = group ? inputs.groupEnds[group - 1] : 0;
  uint64_t end = inputs.groupEnds[group];
  reference::Problem problem;
  problem.m = all.m;
  problem.n = all.n;
  problem.k = std::max<uint64_t>(1, end - first);
  auto slice = [&](const reference::Operand &from, uint64_t rows,
                   reference::Operand &to) {
    to = from;
    uint64_t bytes = from.codeBytes();
    to.codes = columnsOf(from.codes, rows, all.k * bytes, first * bytes,
                         end * bytes, problem.k * bytes);
    uint64_t block = from.blockSize;
    if (!block)
      return;
    auto blocksOfGroup = [&](const auto &numbers) {
      return columnsOf(numbers, rows, from.blocks(all.k), first / block,
                       (end + block - 1) / block, from.blocks(problem.k));
    };
    to.scales = blocksOfGroup(from.scales);
    // Of those that are not there zeros would be made.
    if (!from.floatScales.empty())
      to.floatScales = blocksOfGroup(from.floatScales);
    if (!from.zeros.empty())
      to.zeros = blocksOfGroup(from.zeros);
  };
  slice(all.a, all.m, problem.a);
  slice(all.b, all.n, problem.b);
  problem.alpha = all.alphaOf(group);
  problem.rowScales = ofMatrix(all.rowScales, group, all.m);
  problem.columnScales = ofMatrix(all.columnScales, group, all.n);
  problem.beta = all.beta;
  problem.c = ofMatrix(all.c, group, all.m * all.n);
  problem.biasKind = all.biasKind;
  problem.bias = ofMatrix(all.bias, group, all.n);
  problem.formula = all.formula;
  problem.output = all.output;
  return problem;
}
