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

double reference::errorBound(const Problem &problem, Criterion criterion,
                             uint64_t batch, uint64_t row, uint64_t column,
                             double sum, double absSum) {
  double rounding = criterion == Criterion::Exact ? 0 : 0x1p-23;
  double alpha = std::fabs(problem.alphaOf(batch));
  double bound = sumBound(criterion, problem.k, absSum) * alpha;
  double size = std::fabs(sum) * alpha;
  if (problem.alphaOf(batch) != 1)
    bound += rounding * size;
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
  // Neither function is steeper than 1.13 anywhere.
  if (problem.activation == Activation::Silu ||
      problem.activation == Activation::Gelu)
    bound = 1.13 * bound + 0x1p-18 * size;
  if (problem.output == OutputType::BF16)
    bound += 0x1p-8 * (size + bound);
  if (problem.output == OutputType::F16)
    bound += 0x1p-11 * (size + bound) + 0x1p-25;
  return bound;
}

/// True if the outcome can be compared bit for bit: only operations that are
/// exact, or rounded once and the same way everywhere.
static bool isBitExact(const Problem &problem, Criterion criterion) {
  if (problem.output == OutputType::I32)
    return true;
  return criterion == Criterion::Exact &&
         (problem.activation == Activation::None ||
          problem.activation == Activation::Relu);
}

/// Error in units of its bound; above 1 is a mismatch.
static double errorRatio(const Problem &problem, const TileResult &expected,
                         uint64_t index, double found, Criterion criterion) {
  constexpr double kInfinity = std::numeric_limits<double>::infinity();
  const Tile &tile = expected.tile;
  double value = expected.d[index];
  if (value == found || (std::isnan(value) && std::isnan(found)))
    return 0;
  if (isBitExact(problem, criterion) || std::isnan(value) ||
      std::isnan(found) || std::isinf(found))
    return kInfinity;
  uint64_t row = tile.row + index / tile.columns;
  uint64_t column = tile.column + index % tile.columns;
  double exact = epilogue(problem, tile.batch, row, column,
                          static_cast<float>(expected.sum[index]));
  double bound = errorBound(problem, criterion, tile.batch, row, column,
                            expected.sum[index], expected.absSum[index]);
  double error = std::fabs(found - exact);
  if (error == 0)
    return 0;
  return bound > 0 ? error / bound : kInfinity;
}

void reference::compare(const Problem &problem, const TileResult &expected,
                        const std::vector<double> &found, Criterion criterion,
                        Comparison &comparison) {
  const Tile &tile = expected.tile;
  for (uint64_t index = 0; index < expected.d.size(); ++index) {
    uint64_t row = tile.row + index / tile.columns;
    uint64_t column = tile.column + index % tile.columns;
    uint64_t at = (tile.batch * problem.m + row) * problem.n + column;
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
