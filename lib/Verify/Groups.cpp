//===- Groups.cpp - inputs of grouped products ----------------------------===//
//
// Part of the blockscale project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Groups.h"
#include "blockscale/HW/ScaleLayout.h"

#include <algorithm>
#include <iterator>

using namespace blockscale;
using namespace blockscale::verify;

std::vector<uint64_t> verify::drawGroupEnds(uint64_t groups, uint64_t rows,
                                            uint64_t seed) {
  static constexpr uint64_t sizes[] = {129, 0, 1, 127, 128, 0, 257, 64, 3};
  constexpr uint64_t kFewRows = 8, kBehind = 3;
  uint64_t used = rows % 2 == 0 && rows > kFewRows ? rows - kBehind : rows;
  std::vector<uint64_t> ends;
  uint64_t end = 0;
  for (uint64_t group = 0; group < groups; ++group) {
    uint64_t wanted = sizes[(group + seed) % std::size(sizes)];
    end += group + 1 == groups ? used - end : std::min(wanted, used - end);
    ends.push_back(end);
  }
  return ends;
}

std::vector<uint64_t> verify::drawRowCounts(uint64_t matrices, uint64_t rows,
                                            uint64_t seed) {
  static constexpr uint64_t sizes[] = {129, 0, 1, 127, 128, 257, 64, 3};
  std::vector<uint64_t> counts;
  for (uint64_t matrix = 0; matrix < matrices; ++matrix)
    counts.push_back(std::min(rows, sizes[(matrix + seed) % std::size(sizes)]));
  // One has all of its rows.
  if (matrices)
    counts[seed % matrices] = rows;
  return counts;
}

Result<std::vector<uint8_t>>
verify::padGroups(const std::vector<uint8_t> &rows, uint64_t width,
                  const std::vector<uint64_t> &ends, uint64_t padded,
                  uint8_t padding) {
  constexpr uint64_t kUnit = hw::kAtomRows;
  uint64_t needed = 0, before = 0;
  for (uint64_t end : ends) {
    needed += (end - before + kUnit - 1) / kUnit * kUnit;
    before = end;
  }
  uint64_t most = rows.size() / width + kUnit * ends.size();
  if (padded < needed || padded > most)
    return Reason("the plan has " + std::to_string(padded) +
                  " rows of scales for groups that take " +
                  std::to_string(needed) + " to " + std::to_string(most));
  std::vector<uint8_t> result(padded * width, padding);
  uint64_t first = 0, to = 0;
  for (uint64_t end : ends) {
    std::copy(rows.begin() + int64_t(first * width),
              rows.begin() + int64_t(end * width),
              result.begin() + int64_t(to * width));
    to += (end - first + kUnit - 1) / kUnit * kUnit;
    first = end;
  }
  return result;
}

/// `count` rows of `width` numbers from row `first` on, as far as they are
/// there: a plan may say anything, and what is missing is noticed later.
template <typename T>
static std::vector<T> rowsOf(const std::vector<T> &all, uint64_t first,
                             uint64_t count, uint64_t width) {
  uint64_t begin = std::min<uint64_t>(first * width, all.size());
  uint64_t end = std::min<uint64_t>((first + count) * width, all.size());
  return {all.begin() + int64_t(begin), all.begin() + int64_t(end)};
}

static reference::Operand rowsOf(const reference::Operand &operand, uint64_t k,
                                 uint64_t first, uint64_t count) {
  reference::Operand rows;
  rows.format = operand.format;
  rows.scaleFormat = operand.scaleFormat;
  rows.blockSize = operand.blockSize;
  rows.elements = operand.elements;
  rows.codes = rowsOf(operand.codes, first, count, k * operand.codeBytes());
  rows.scales = rowsOf(operand.scales, first, count, operand.blocks(k));
  rows.unit = operand.unit;
  rows.floatScales =
      rowsOf(operand.floatScales, first, count, operand.blocks(k));
  rows.zeros = rowsOf(operand.zeros, first, count, operand.blocks(k));
  return rows;
}

std::pair<uint64_t, uint64_t> verify::rowsOfGroup(const Inputs &inputs,
                                                  size_t group) {
  const std::vector<uint64_t> &ends = inputs.groupEnds;
  if (!inputs.isMasked)
    return {group ? ends[group - 1] : 0, ends[group]};
  uint64_t first = group * inputs.problem.m;
  return {first, first + ends[group]};
}

reference::Problem verify::problemOfGroup(const Inputs &inputs, size_t group) {
  if (inputs.groupsAlongK)
    return problemOfKGroup(inputs, group);
  const reference::Problem &all = inputs.problem;
  auto [first, end] = rowsOfGroup(inputs, group);
  uint64_t rows = end - first;
  reference::Problem problem;
  problem.m = rows;
  problem.n = all.n;
  problem.k = all.k;
  problem.a = rowsOf(all.a, all.k, first, rows);
  problem.b = rowsOf(all.b, all.k, group * all.n, all.n);
  problem.alpha = all.alphaOf(group);
  problem.rowScales = rowsOf(all.rowScales, first, rows, 1);
  problem.columnScales = rowsOf(all.columnScales, group, 1, all.n);
  problem.beta = all.beta;
  problem.pairs = all.pairs;
  problem.c = rowsOf(all.c, first, rows, all.resultColumns());
  problem.biasKind = all.biasKind;
  problem.bias = all.biasKind == reference::BiasKind::Row
                     ? rowsOf(all.bias, first, rows, 1)
                     : rowsOf(all.bias, group, 1, all.n);
  problem.formula = all.formula;
  problem.output = all.output;
  return problem;
}

std::optional<Reason> verify::whyNotProduct(const Inputs &inputs) {
  if (inputs.groupEnds.empty())
    return reference::whyNot(inputs.problem);
  for (size_t group = 0; group < inputs.groupEnds.size(); ++group) {
    reference::Problem problem = problemOfGroup(inputs, group);
    if (problem.m == 0)
      continue;
    if (auto why = reference::whyNot(problem))
      return "group " + std::to_string(group) + ": " + why->text;
  }
  return std::nullopt;
}
