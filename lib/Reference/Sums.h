//===- Sums.h - the sums of a block-scaled product --------------*- C++ -*-===//
//
// Part of the blockscale project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef BLOCKSCALE_LIB_REFERENCE_SUMS_H
#define BLOCKSCALE_LIB_REFERENCE_SUMS_H

#include "blockscale/Reference/Matmul.h"

namespace blockscale::reference {

/// Rows of A that are multiplied at once.
inline constexpr unsigned kRowsAtOnce = 4;

/// How a host multiplies: `lanes` columns of B side by side, in one register.
/// Each sum is taken in order of K whatever the host, so that all ways give the
/// same bits (the products are exact, so that it does not matter either whether
/// they are rounded before they are added).
struct SumWay {
  const char *name;
  unsigned lanes;
  /// Adds the products of kRowsAtOnce rows and `lanes` columns. `a` has
  /// kRowsAtOnce values for each of `k`, `b` has `lanes`; `sums` and `absSums`
  /// are kRowsAtOnce x lanes.
  void (*multiply)(const double *a, const double *b, uint64_t k, double *sums,
                   double *absSums);
};

/// The ways that this host has, the fastest first.
const std::vector<SumWay> &sumWays();

/// Fills sum and absSum, which have their sizes, of a tile that lies within the
/// problem.
void computeSums(const Problem &problem, const SumWay &way, TileResult &result);

} // namespace blockscale::reference

#endif // BLOCKSCALE_LIB_REFERENCE_SUMS_H
