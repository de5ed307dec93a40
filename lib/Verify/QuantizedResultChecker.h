//===- QuantizedResultChecker.h - judge codes and scales of D ---*- C++ -*-===//
//
// Part of the blockscale project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef BLOCKSCALE_LIB_VERIFY_QUANTIZEDRESULTCHECKER_H
#define BLOCKSCALE_LIB_VERIFY_QUANTIZEDRESULTCHECKER_H

#include "QuantizedMemory.h"
#include "QuantizedResult.h"
#include "blockscale/HW/ScaleLayout.h"
#include "blockscale/Reference/Quantize.h"

#include <optional>
#include <string>
#include <vector>

namespace blockscale::verify {

/// The product that some rows of D are, those of a group or all: the matrix and
/// the row in which they begin, and where their scales do. Rows that are
/// counted have no padding below them.
struct ResultRows {
  const reference::Problem &product;
  uint64_t matrix = 0, first = 0, firstOfScales = 0;
  bool areCounted = false;

  uint64_t ofScales() const {
    if (areCounted)
      return product.m;
    return (product.m + hw::kAtomRows - 1) / hw::kAtomRows * hw::kAtomRows;
  }
};

/// A block of D: what it should be, and how far each number may be off. Its row
/// counts through all of D.
struct ResultBlock {
  uint64_t matrix, row, rowOfScales, number;
  std::vector<float> values, least, most;

  /// Adds the numbers of another block under the same scale.
  void join(const ResultBlock &other) {
    auto append = [](std::vector<float> &to, const std::vector<float> &from) {
      to.insert(to.end(), from.begin(), from.end());
    };
    append(values, other.values);
    append(least, other.least);
    append(most, other.most);
  }
};

/// Judges the parts of D of one kernel: first all rows, then what nothing may
/// have written.
class ResultChecker {
public:
  ResultChecker(const plan::Kernel &kernel, const plan::Environment &sizes,
                const Inputs &inputs, reference::Criterion criterion,
                bool isSampled, Verdict &verdict);

  void check(const ResultRows &rows, const Multiply &multiply);
  void finish();

private:
  ResultBlock blockAt(const ResultRows &rows,
                      const reference::TileResult &result, uint64_t row,
                      uint64_t column) const;
  void checkTile(const ResultRows &rows, const reference::TileResult &result,
                 uint64_t row, uint64_t column);
  void checkPadding(const ResultRows &rows);
  /// A block of a row, of a tile with all of these numbers.
  void check(const ResultBlock &block, const ResultBlock &tile);
  void checkExactly(const ResultBlock &block, const ResultBlock &tile);
  void checkWithin(const ResultBlock &block, const ResultBlock &tile);
  void checkCodesWithin(const ResultBlock &block, uint32_t scale);
  bool isUntouched(const ResultBlock &block) const;
  /// Whether who stores a block stores its scale: of a matrix the first does.
  bool hasScale(const ResultBlock &block) const {
    return !isGiven || (block.row == 0 && block.number == 0);
  }
  uint64_t placeOf(const ResultBlock &block) const;
  /// What memory has as the scale of a block, of which the code has so many
  /// bytes.
  uint32_t scaleFound(const ResultBlock &block) const;
  uint64_t codesOf(const ResultBlock &block) const {
    return block.matrix * batchPitch + block.row * linePitch +
           block.number * codeBytes;
  }
  /// What the scales of blocks are chosen under; none if they are given.
  std::optional<reference::TensorScale>
  factorOf(const ResultBlock &block) const;
  uint64_t firstOf(const ResultBlock &block) const {
    return (block.matrix * problem.m + block.row) * problem.resultColumns() +
           block.number * size;
  }
  void note(const ResultBlock &block, const std::string &what);
  /// The code of a scale, in hexadecimal digits.
  std::string text(uint32_t code) const;

  const reference::Problem &problem;
  const Inputs &inputs;
  reference::Criterion criterion;
  bool isSampled;
  Verdict &verdict;
  reference::Quantization rule;
  /// Elements of a block, rows and elements that share a scale.
  uint64_t size, rowsOfScale, tileSize;
  /// Whether the one scale of a matrix is given, whether scales have padding,
  /// and the bytes of each.
  bool isGiven, arePlain;
  uint64_t scaleBytes;
  uint64_t blocks, atoms, matrixBytes, codeBytes;
  uint64_t linePitch, batchPitch;
  std::vector<float> factors;
  MemoryImage codes, scales;
};

} // namespace blockscale::verify

#endif // BLOCKSCALE_LIB_VERIFY_QUANTIZEDRESULTCHECKER_H
