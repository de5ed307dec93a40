//===- Compare.cpp - does a kernel's result agree -------------------------===//
//
// Part of the blockscale project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "blockscale/Reference/Compare.h"

#include <algorithm>
#include <cmath>
#include <limits>

using namespace blockscale;
using namespace blockscale::reference;

static constexpr double kInfinity = std::numeric_limits<double>::infinity();

/// Error of the sum alone.
static double sumBound(Criterion criterion, uint64_t k, double absSum) {
  switch (criterion) {
  case Criterion::Exact:
    return 0;
  case Criterion::Tight:
    return 8 * std::sqrt(double(k)) * 0x1p-24 * absSum;
  case Criterion::Safe:
    return (double(k) + 2) * 0x1p-23 * absSum + double(k) * 0x1p-149;
  }
  return 0;
}

namespace {
/// The factor of an element's sum, and how often a kernel rounds when it
/// multiplies by it.
struct Factor {
  double value;
  unsigned roundings;
};
} // namespace

static Factor factorOf(const Problem &problem, uint64_t batch, uint64_t row,
                       uint64_t column) {
  double first = problem.firstFactor(batch, row);
  double last = problem.lastFactor(batch, column);
  return {first * last, unsigned(first != 1) + unsigned(last != 1)};
}

/// A number that a kernel may have as far off as `error`.
static Range around(double value, double error) {
  if (std::isnan(value))
    return Range::of(value);
  return Range{value - error, value + error, false};
}

static double roundingOf(Criterion criterion) {
  return criterion == Criterion::Exact ? 0 : 0x1p-23;
}

/// A sum with its factors; `column` counts those of the product.
static Range scaledSum(const Problem &problem, Criterion criterion,
                       uint64_t batch, uint64_t row, uint64_t column,
                       double sum, double absSum) {
  Factor factor = factorOf(problem, batch, row, column);
  double x = factor.value * sum;
  double error =
      sumBound(criterion, problem.k, absSum) * std::fabs(factor.value);
  error += factor.roundings * roundingOf(criterion) * std::fabs(x);
  return around(x, error);
}

/// The inputs of the epilogue of one element: with the errors that a kernel may
/// have made until then.
static Formula::Inputs<Range> rangesOf(const Problem &problem,
                                       Criterion criterion, uint64_t batch,
                                       uint64_t row, uint64_t column,
                                       const Sums &sums) {
  double c = 0;
  if (!problem.c.empty()) {
    uint64_t width = problem.resultColumns();
    uint64_t at = (batch * problem.m + row) * width + column;
    c = double(problem.beta) * problem.c[at];
  }
  auto biasAt = [&](uint64_t ofProduct) -> double {
    if (problem.biasKind == BiasKind::None)
      return 0;
    return problem.bias[problem.biasKind == BiasKind::Row ? row : ofProduct];
  };
  uint64_t first = problem.columnOf(column), second = first + problem.pairs;
  return {
      scaledSum(problem, criterion, batch, row, first, sums.sum, sums.absSum),
      around(c, roundingOf(criterion) * std::fabs(c)), Range::of(biasAt(first)),
      scaledSum(problem, criterion, batch, row, second, sums.up, sums.absUp),
      Range::of(biasAt(second))};
}

Range reference::legalResults(const Problem &problem, Criterion criterion,
                              uint64_t batch, uint64_t row, uint64_t column,
                              const Sums &sums) {
  Range range = problem.formula->evaluate(
      rangesOf(problem, criterion, batch, row, column, sums));
  if (range.lo > range.hi)
    return range;
  return {roundToOutput(problem.output, static_cast<float>(range.lo)),
          roundToOutput(problem.output, static_cast<float>(range.hi)),
          range.nan};
}

/// A result before it is rounded to the output: how large its parts are, and
/// how far it may be off.
struct Linear {
  double size, bound;
};
static Linear linearError(const Problem &problem, Criterion criterion,
                          uint64_t batch, uint64_t row, uint64_t column,
                          double sum, double absSum) {
  double rounding = roundingOf(criterion);
  Factor factor = factorOf(problem, batch, row, column);
  double scale = std::fabs(factor.value);
  double bound = sumBound(criterion, problem.k, absSum) * scale;
  double size = std::fabs(sum) * scale;
  bound += factor.roundings * rounding * size;
  if (!problem.c.empty()) {
    uint64_t at = (batch * problem.m + row) * problem.n + column;
    double scaled = std::fabs(double(problem.beta) * problem.c[at]);
    size += scaled;
    bound += rounding * (scaled + size);
  }
  if (problem.biasKind != BiasKind::None) {
    bool perColumn = problem.biasKind == BiasKind::Column;
    size += std::fabs(problem.bias[perColumn ? column : row]);
    bound += rounding * size;
  }
  return {size, bound};
}

/// Error of a sum with what is added to it, rounded to the output.
static double linearBound(const Problem &problem, Criterion criterion,
                          uint64_t batch, uint64_t row, uint64_t column,
                          double sum, double absSum) {
  auto [size, bound] =
      linearError(problem, criterion, batch, row, column, sum, absSum);
  if (problem.output == OutputType::BF16)
    bound += 0x1p-8 * (size + bound);
  if (problem.output == OutputType::F16)
    bound += 0x1p-11 * (size + bound) + 0x1p-25;
  return bound;
}

double reference::errorBound(const Problem &problem, Criterion criterion,
                             uint64_t batch, uint64_t row, uint64_t column,
                             const Sums &sums) {
  if (!problem.formula)
    return linearBound(problem, criterion, batch, row, column, sums.sum,
                       sums.absSum);
  Range legal = legalResults(problem, criterion, batch, row, column, sums);
  double value =
      epilogue(problem, batch, row, column, static_cast<float>(sums.sum),
               static_cast<float>(sums.up));
  return std::max(legal.hi - value, value - legal.lo);
}

/// True if the outcome can be compared bit for bit: only operations that are
/// exact, or rounded once and the same way everywhere.
static bool isBitExact(const Problem &problem, Criterion criterion) {
  if (problem.output == OutputType::I32)
    return true;
  return criterion == Criterion::Exact &&
         (!problem.formula || problem.formula->isExact());
}

namespace {
/// One element of a tile.
struct Element {
  uint64_t row, column;
  Sums sums;
  double expected, found;
};
} // namespace

/// The distance from the right result in units of that to the end of the legal
/// ones on this side.
static double errorInRange(const Problem &problem, const Tile &tile,
                           const Element &element, Criterion criterion) {
  Range legal = legalResults(problem, criterion, tile.batch, element.row,
                             element.column, element.sums);
  if (!legal.contains(element.found))
    return kInfinity;
  if (std::isnan(element.found) || std::isnan(element.expected))
    return 0;
  double error = std::fabs(element.found - element.expected);
  double room = std::max(std::fabs(legal.hi - element.expected),
                         std::fabs(element.expected - legal.lo));
  return std::isfinite(error) && std::isfinite(room) ? error / room : 0;
}

/// Whether a sum next to the end of the output's range may round to `found`,
/// an infinity.
static bool mayOverflow(const Problem &problem, const Tile &tile,
                        const Element &element, double exact,
                        Criterion criterion) {
  double bound =
      linearError(problem, criterion, tile.batch, element.row, element.column,
                  element.sums.sum, element.sums.absSum)
          .bound;
  auto largest =
      static_cast<float>(exact + std::copysign(bound, element.found));
  return roundToOutput(problem.output, largest) == element.found;
}

/// The same of a sum, before it is rounded to the output.
static double errorOfSum(const Problem &problem, const Tile &tile,
                         const Element &element, Criterion criterion) {
  if (std::isnan(element.expected) || std::isnan(element.found))
    return kInfinity;
  double exact = epilogue(problem, tile.batch, element.row, element.column,
                          static_cast<float>(element.sums.sum));
  if (std::isinf(element.found))
    return mayOverflow(problem, tile, element, exact, criterion) ? 1
                                                                 : kInfinity;
  double bound = errorBound(problem, criterion, tile.batch, element.row,
                            element.column, element.sums);
  double error = std::fabs(element.found - exact);
  if (error == 0)
    return 0;
  return bound > 0 ? error / bound : kInfinity;
}

/// Error in units of its bound; above 1 is a mismatch.
static double errorRatio(const Problem &problem, const TileResult &expected,
                         uint64_t index, double found, Criterion criterion) {
  const Tile &tile = expected.tile;
  double value = expected.d[index];
  if (value == found || (std::isnan(value) && std::isnan(found)))
    return 0;
  if (isBitExact(problem, criterion))
    return kInfinity;
  Element element{tile.row + index / tile.columns,
                  tile.column + index % tile.columns, expected.sums(index),
                  value, found};
  return problem.formula ? errorInRange(problem, tile, element, criterion)
                         : errorOfSum(problem, tile, element, criterion);
}

void reference::compare(const Problem &problem, const TileResult &expected,
                        const std::vector<double> &found, Criterion criterion,
                        Comparison &comparison) {
  const Tile &tile = expected.tile;
  for (uint64_t index = 0; index < expected.d.size(); ++index) {
    uint64_t row = tile.row + index / tile.columns;
    uint64_t column = tile.column + index % tile.columns;
    uint64_t at =
        (tile.batch * problem.m + row) * problem.resultColumns() + column;
    // A result that is too short is one that was never written.
    double value = at < found.size() ? found[at]
                                     : std::numeric_limits<double>::quiet_NaN();
    double ratio = errorRatio(problem, expected, index, value, criterion);
    ++comparison.compared;
    comparison.worst = std::max(comparison.worst, ratio);
    if (ratio <= 1)
      continue;
    ++comparison.mismatches;
    if (!comparison.first)
      comparison.first =
          Mismatch{tile.batch, row, column, expected.d[index], value};
  }
}
