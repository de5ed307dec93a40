//===- Diagnose.cpp - which wrong scale gives the value found -------------===//
//
// Part of the blockscale project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "blockscale/Reference/Compare.h"

#include <algorithm>
#include <cmath>
#include <functional>
#include <sstream>

using namespace blockscale;
using namespace blockscale::reference;

namespace {

/// Recomputes one element under the assumption of one mistake at a time.
class Diagnoser {
public:
  /// `isUp`: the mistake is looked for in the second column of a pair.
  Diagnoser(const Problem &problem, const Mismatch &mismatch, bool isUp);
  std::string run();

private:
  struct Side {
    const Operand &operand;
    const char *name;
    /// Rows of the operand, and the one in question.
    uint64_t rows, row;
  };

  /// The scale of a block of `block` elements; 1 without scales.
  double scaleOf(const Side &side, uint64_t row, uint64_t index) const;
  double sumWith(const std::function<double(uint64_t)> &factor) const;
  /// True if the sum would give the value found.
  bool explains(double sum) const;
  bool explainsWhole(const Side &side, uint64_t row,
                     const std::function<uint64_t(uint64_t)> &map) const;

  std::string otherFactor(const Side &side) const;
  std::string otherRow(const Side &side) const;
  std::string otherBlocks(const Side &side) const;
  std::string noScales(const Side &side) const;
  std::string blockCount() const;
  std::string oneBlock(const Side &side) const;
  std::string otherData(const Side &side) const;
  double sumOf(uint64_t rowA, uint64_t rowB) const;

  const Problem &problem;
  const Mismatch &mismatch;
  Side a, b;
  uint64_t block, blocks;
  /// Per block, the sum of products without scales.
  std::vector<double> partial;
  double sum = 0, absSum = 0;
  /// The right sums of the other column of a pair, and which one that is.
  double otherSum = 0, otherAbsSum = 0;
  bool isUp;
};

/// The smaller of the scaled block sizes; blocks of 32 if there are no scales.
uint64_t commonBlock(const Problem &problem) {
  uint64_t a = problem.a.blockSize, b = problem.b.blockSize;
  if (a && b)
    return std::min(a, b);
  return a || b ? std::max(a, b) : 32;
}

Diagnoser::Diagnoser(const Problem &problem, const Mismatch &mismatch,
                     bool isUp)
    : problem(problem), mismatch(mismatch),
      a{problem.a, "a", problem.m, mismatch.row},
      b{problem.b, "b", problem.n, problem.columnOf(mismatch.column) + isUp},
      block(commonBlock(problem)),
      blocks(problem.k / block + (problem.k % block != 0)), partial(blocks),
      isUp(isUp) {
  uint64_t firstA = (mismatch.batch * problem.m + mismatch.row) * problem.k;
  uint64_t firstB = (mismatch.batch * problem.n + b.row) * problem.k;
  for (uint64_t i = 0; i < problem.k; ++i) {
    double term = elementNumber(problem.a, firstA + i) *
                  elementNumber(problem.b, firstB + i);
    uint64_t j = i / block;
    partial[j] += term;
    absSum += std::fabs(term * scaleOf(a, a.row, j) * scaleOf(b, b.row, j));
  }
  sum = sumWith([](uint64_t) { return 1.0; });
  if (!problem.pairs)
    return;
  uint64_t firstRow = mismatch.batch * problem.m + a.row;
  uint64_t otherRow = mismatch.batch * problem.n + (b.row ^ 1);
  for (uint64_t i = 0; i < problem.k; ++i) {
    double term = elementValue(problem.a, problem.k, firstRow, i) *
                  elementValue(problem.b, problem.k, otherRow, i);
    otherSum += term;
    otherAbsSum += std::fabs(term);
  }
}

double Diagnoser::scaleOf(const Side &side, uint64_t row,
                          uint64_t index) const {
  const Operand &operand = side.operand;
  if (!operand.blockSize)
    return 1;
  uint64_t perRow = operand.blocks(problem.k);
  uint64_t at = std::min(index * block / operand.blockSize, perRow - 1);
  return operand.scale((mismatch.batch * side.rows + row) * perRow + at);
}

/// The scaled sum with the share of each block multiplied by `factor`.
double Diagnoser::sumWith(const std::function<double(uint64_t)> &factor) const {
  double total = 0;
  for (uint64_t j = 0; j < blocks; ++j)
    total +=
        partial[j] * scaleOf(a, a.row, j) * scaleOf(b, b.row, j) * factor(j);
  return total;
}

bool Diagnoser::explains(double candidate) const {
  auto sumsOf = [&](double value) {
    return isUp ? Sums{otherSum, otherAbsSum, value, absSum}
                : Sums{value, absSum, otherSum, otherAbsSum};
  };
  auto finish = [&](double value) {
    Sums sums = sumsOf(value);
    return roundToOutput(problem.output,
                         epilogue(problem, mismatch.batch, mismatch.row,
                                  mismatch.column, static_cast<float>(sums.sum),
                                  static_cast<float>(sums.up)));
  };
  float value = finish(candidate);
  if (value == finish(sum))
    return false;
  if (value == mismatch.found)
    return true;
  // Rounding alone must not look like an explanation, so the candidate has to
  // be much nearer than the right value is.
  double distance = std::fabs(double(value) - mismatch.found);
  double bound = errorBound(problem, Criterion::Tight, mismatch.batch,
                            mismatch.row, mismatch.column, sumsOf(candidate));
  double error = std::fabs(double(mismatch.expected) - mismatch.found);
  return distance <= bound && distance * 16 < error;
}

/// True if the scales of `row`, block `map(j)` for block j, explain the value.
bool Diagnoser::explainsWhole(
    const Side &side, uint64_t row,
    const std::function<uint64_t(uint64_t)> &map) const {
  const Side &other = &side == &a ? b : a;
  double total = 0;
  for (uint64_t j = 0; j < blocks; ++j) {
    uint64_t from = map(j);
    if (from < blocks)
      total +=
          partial[j] * scaleOf(side, row, from) * scaleOf(other, other.row, j);
  }
  return explains(total);
}

std::string rowAndBlock(uint64_t row, const std::string &block) {
  return "scale of row " + std::to_string(row) + ", block " + block;
}

/// The factor of another row of an operand whose scales cover all of K, or
/// none.
std::string Diagnoser::otherFactor(const Side &side) const {
  const std::vector<float> &factors =
      &side == &a ? problem.rowScales : problem.columnScales;
  if (factors.empty())
    return "";
  uint64_t first = mismatch.batch * side.rows;
  double own = factors[first + side.row];
  std::string why = "value explained by ";
  if (explains(sum / own))
    return why + "a scale of 1 of " + side.name;
  for (uint64_t row = 0; row < side.rows; ++row)
    if (explains(sum * (factors[first + row] / own)))
      return why + "the scale of row " + std::to_string(row) + " of " +
             side.name;
  return "";
}

std::string Diagnoser::otherRow(const Side &side) const {
  for (uint64_t distance = 1; distance < side.rows && distance <= 256;
       ++distance)
    for (bool below : {false, true}) {
      if (below ? distance > side.row : distance >= side.rows - side.row)
        continue;
      uint64_t row = below ? side.row - distance : side.row + distance;
      if (explainsWhole(side, row, [](uint64_t j) { return j; }))
        return "every block of " + std::string(side.name) +
               ": value explained by " + rowAndBlock(row, "j for block j");
    }
  return "";
}

std::string Diagnoser::otherBlocks(const Side &side) const {
  for (uint64_t shift = 1; shift <= 8 && shift < blocks; ++shift) {
    if (explainsWhole(side, side.row, [&](uint64_t j) { return j + shift; }) ||
        explainsWhole(side, side.row,
                      [&](uint64_t j) { return (j + shift) % blocks; }))
      return "every block of " + std::string(side.name) +
             ": value explained by " +
             rowAndBlock(side.row, "j + " + std::to_string(shift));
    if (explainsWhole(side, side.row, [&](uint64_t j) { return j - shift; }) ||
        explainsWhole(side, side.row, [&](uint64_t j) {
          return (j + blocks - shift) % blocks;
        }))
      return "every block of " + std::string(side.name) +
             ": value explained by " +
             rowAndBlock(side.row, "j - " + std::to_string(shift));
  }
  for (uint64_t mask : {1, 2, 3})
    if (explainsWhole(side, side.row, [&](uint64_t j) { return j ^ mask; }))
      return "every block of " + std::string(side.name) +
             ": value explained by " +
             rowAndBlock(side.row, "j ^ " + std::to_string(mask));
  for (uint64_t step : {2, 4})
    if (explainsWhole(side, side.row,
                      [&](uint64_t j) { return j / step * step; }))
      return "every block of " + std::string(side.name) +
             ": value explained by " +
             rowAndBlock(side.row, "j - j % " + std::to_string(step));
  return "";
}

std::string Diagnoser::noScales(const Side &side) const {
  if (!side.operand.blockSize)
    return "";
  double total =
      sumWith([&](uint64_t j) { return 1.0 / scaleOf(side, side.row, j); });
  return explains(total) ? "every block of " + std::string(side.name) +
                               ": value explained by a scale of 1"
                         : "";
}

/// One block too few or counted twice, or a tail or head missing.
std::string Diagnoser::blockCount() const {
  for (uint64_t j = 0; j < blocks; ++j) {
    std::string name = "block " + std::to_string(j);
    if (explains(sumWith([&](uint64_t i) { return i == j ? 0.0 : 1.0; })))
      return name + ": value explained by leaving it out";
    if (explains(sumWith([&](uint64_t i) { return i == j ? 2.0 : 1.0; })))
      return name + ": value explained by counting it twice";
    if (explains(sumWith([&](uint64_t i) { return i < j ? 1.0 : 0.0; })))
      return name + ": value explained by a sum that ends before it";
    if (explains(sumWith([&](uint64_t i) { return i < j ? 0.0 : 1.0; })))
      return name + ": value explained by a sum that starts at it";
  }
  return "";
}

/// One block with the scale of another place: the same row first, then the
/// other rows of the same 128.
std::string Diagnoser::oneBlock(const Side &side) const {
  if (!side.operand.blockSize)
    return "";
  uint64_t first = side.row / 128 * 128;
  uint64_t last = std::min(first + 128, side.rows);
  auto search = [&](uint64_t j, uint64_t row, uint64_t from) -> std::string {
    double own = scaleOf(side, side.row, j);
    double ratio = scaleOf(side, row, from) / own;
    if (ratio == 1 || partial[j] == 0)
      return "";
    if (!explains(sumWith([&](uint64_t i) { return i == j ? ratio : 1.0; })))
      return "";
    return "block " + std::to_string(j) + " of " + side.name +
           ": value explained by " + rowAndBlock(row, std::to_string(from));
  };
  for (uint64_t j = 0; j < blocks; ++j)
    for (uint64_t from = 0; from < blocks; ++from)
      if (std::string found = search(j, side.row, from); !found.empty())
        return found;
  for (uint64_t j = 0; j < blocks; ++j)
    for (uint64_t row = first; row < last; ++row)
      if (std::string found = search(j, row, j); !found.empty())
        return found;
  return "";
}

double Diagnoser::sumOf(uint64_t rowA, uint64_t rowB) const {
  double total = 0;
  uint64_t firstA = mismatch.batch * problem.m + rowA;
  uint64_t firstB = mismatch.batch * problem.n + rowB;
  for (uint64_t i = 0; i < problem.k; ++i)
    total += elementValue(problem.a, problem.k, firstA, i) *
             elementValue(problem.b, problem.k, firstB, i);
  return total;
}

/// The right value of another row or column in the same 128.
std::string Diagnoser::otherData(const Side &side) const {
  uint64_t first = side.row / 128 * 128;
  uint64_t last = std::min(first + 128, side.rows);
  bool isA = &side == &a;
  for (uint64_t row = first; row < last; ++row)
    if (row != side.row &&
        explains(isA ? sumOf(row, b.row) : sumOf(a.row, row)))
      return "value explained by the data of " +
             std::string(isA ? "row " : "column ") + std::to_string(row);
  return "";
}

std::string Diagnoser::run() {
  if (!std::isfinite(mismatch.found) || !std::isfinite(sum))
    return "";
  using Step = std::string (Diagnoser::*)(const Side &) const;
  for (Step step :
       {&Diagnoser::otherFactor, &Diagnoser::otherRow, &Diagnoser::otherBlocks,
        &Diagnoser::noScales, &Diagnoser::otherData})
    for (const Side *side : {&a, &b})
      if (std::string found = (this->*step)(*side); !found.empty())
        return found;
  if (explains(0))
    return "value explained by a sum of nothing";
  if (std::string found = blockCount(); !found.empty())
    return found;
  for (const Side *side : {&a, &b})
    if (std::string found = oneBlock(*side); !found.empty())
      return found;
  return "";
}

} // namespace

std::string reference::diagnose(const Problem &problem,
                                const Mismatch &mismatch) {
  std::ostringstream text;
  text.precision(9);
  text << "mismatch at ";
  if (problem.batch > 1)
    text << "batch " << mismatch.batch << ", ";
  text << "row " << mismatch.row << ", column " << mismatch.column
       << ": expected " << mismatch.expected << ", found " << mismatch.found;
  uint64_t blockA = problem.a.blockSize, blockB = problem.b.blockSize;
  bool nested = !blockA || !blockB ||
                std::max(blockA, blockB) % std::min(blockA, blockB) == 0;
  if (whyNot(problem) || mismatch.batch >= problem.batch ||
      mismatch.row >= problem.m || mismatch.column >= problem.resultColumns() ||
      !nested)
    return text.str();
  std::string why = Diagnoser(problem, mismatch, /*isUp=*/false).run();
  if (why.empty() && problem.pairs) {
    why = Diagnoser(problem, mismatch, /*isUp=*/true).run();
    if (!why.empty())
      why = "in the second column of the pair: " + why;
  }
  text << "; " << (why.empty() ? "no single wrong scale explains it" : why);
  return text.str();
}
