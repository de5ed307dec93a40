//===- Compare.h - does a kernel's result agree, and if not, why -*- C++
//-*-===//
//
// Part of the blockscale project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef BLOCKSCALE_REFERENCE_COMPARE_H
#define BLOCKSCALE_REFERENCE_COMPARE_H

#include "blockscale/Reference/Matmul.h"

namespace blockscale::reference {

/// What the sum of a kernel may differ by.
enum class Criterion : uint8_t {
  /// Nothing: exact data (Data.h).
  Exact,
  /// 8 * sqrt(k) * 2^-24 * sum |a b|: what rounding to nearest gives for random
  /// data, with room; an alarm, not a proof.
  Tight,
  /// (k + 2) * 2^-23 * sum |a b| + k * 2^-149: any order, any rounding.
  Safe
};

/// The largest difference from the value before rounding to the output type
/// that the criterion allows for an element with these sums. Beyond the sum:
/// 2^-23 relative per f32 operation of the epilogue (not with Exact), half an
/// ulp of a 16-bit output. An epilogue with a formula has the range of results
/// that `Formula` gives, rounded to the output, and this is the distance to the
/// farther end of it.
double errorBound(const Problem &problem, Criterion criterion, uint64_t batch,
                  uint64_t row, uint64_t column, const Sums &sums);

/// What a kernel with an epilogue of its own, a formula, may find for one
/// element, in the output type. `errorBound` around a rounded result may end
/// short of it.
Range legalResults(const Problem &problem, Criterion criterion, uint64_t batch,
                   uint64_t row, uint64_t column, const Sums &sums);

/// An element that differs.
struct Mismatch {
  uint64_t batch = 0, row = 0, column = 0;
  double expected = 0, found = 0;
};

/// The outcome over any number of tiles.
struct Comparison {
  uint64_t compared = 0, mismatches = 0;
  /// In the order of the tiles, then rows, then columns.
  std::optional<Mismatch> first;
  /// Largest error in units of its bound; of differing elements only with
  /// Exact, where it counts as infinity.
  double worst = 0;
};

/// Compares a tile with `found`, the whole result of the kernel as numbers,
/// batch x m x resultColumns(), and adds to `comparison`. NaN agrees with NaN
/// only, zeros of either sign with each other; integers agree exactly.
void compare(const Problem &problem, const TileResult &expected,
             const std::vector<double> &found, Criterion criterion,
             Comparison &comparison);

/// Says where an element differs and looks for one wrong scale, block or row
/// that would give the value found: "mismatch at row 3, column 7: expected 12,
/// found 14; block 2 of a: value explained by scale of row 3, block 3".
/// Candidates are tried from the simplest on; the first that fits is named.
std::string diagnose(const Problem &problem, const Mismatch &mismatch);

} // namespace blockscale::reference

#endif // BLOCKSCALE_REFERENCE_COMPARE_H
