//===- Matmul.h - the slow and obvious block-scaled product -----*- C++ -*-===//
//
// Part of the blockscale project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// What the compiled kernels are measured against. It knows element formats and
// nothing of tiles, descriptors, scale layouts or instructions: codes are one
// per byte, scales are plain rows.
//
//   d[m, n] = formula(x, beta * c[m, n], bias)
//         x = sum_k a[m, k] * b[n, k] * (alpha * rowScales[m]) *
//         columnScales[n]
//
// where the scales of rows and columns are 1 unless the problem has some, and
// the formula is the sum of the three unless the problem has another. With
// pairs of columns an element of the result is made of two of them:
//
//   d[m, j] = formula(x[m, 2j], x[m, 2j + 1], beta * c[m, j],
//                     bias[2j], bias[2j + 1])
//
// The sum is taken in double; every product of two scaled elements is exact
// there (at most 16 significant bits), but under scales of f32 it is rounded.
// What follows is done in f32, rounding to nearest even after each operation,
// in the order written.
//
//===----------------------------------------------------------------------===//

#ifndef BLOCKSCALE_REFERENCE_MATMUL_H
#define BLOCKSCALE_REFERENCE_MATMUL_H

#include "blockscale/Formats/Format.h"
#include "blockscale/Reference/Formula.h"

#include <atomic>
#include <functional>
#include <optional>
#include <string>
#include <vector>

namespace blockscale::reference {

enum class BiasKind : uint8_t { None, Column, Row };
enum class OutputType : uint8_t { F32, BF16, F16, I32 };

/// What the codes of an operand are.
enum class Elements : uint8_t {
  Format, ///< those of an element format
  TF32,   ///< f32 numbers whose low 13 bits do not count
  Int8,   ///< integers that mean themselves, unlike those of format `int8`
  UInt8   ///< the same without sign
};

/// One side of the product. A structured-sparse operand is given in full, with
/// zero codes where elements were dropped.
struct Operand {
  /// Read where `elements` says so.
  ElementFormat format = ElementFormat::E4M3;
  /// batch x rows x k codes of codeBytes() bytes, the low one first.
  std::vector<uint8_t> codes;
  /// UE8M0 or UE4M3 (or any other format of at most 8 bits).
  ElementFormat scaleFormat = ElementFormat::UE8M0;
  /// batch x rows x ceil(k / blockSize); empty without scales.
  std::vector<uint8_t> scales;
  /// Elements along k that share a scale; 0 without scales.
  uint64_t blockSize = 0;
  /// Anything but formats of at most 8 bits goes without scales.
  Elements elements = Elements::Format;
  /// What the values of `format` are multiplied by, a power of two: 4 for int4
  /// whose codes are whole numbers, 1/2 for formats of a bias of one more.
  double unit = 1;
  /// Scales as numbers, in place of `scales`.
  std::vector<float> floatScales = {};
  /// Zero points in real units, as many as scales: an element is worth its
  /// number times its scale less its zero point. Empty without.
  std::vector<float> zeros = {};

  /// Bytes that a code takes: 1, or 2 and 4 for elements of 16 and 32 bits.
  unsigned codeBytes() const;
  /// The code of element number `index`.
  uint32_t code(uint64_t index) const;
  void setCode(uint64_t index, uint32_t code);

  /// Number `index` of the scales.
  double scale(uint64_t index) const;

  /// Number `index` of the zero points, which belong to the scales.
  double zero(uint64_t index) const { return zeros.empty() ? 0 : zeros[index]; }

  /// Scales of one row; 0 without scales.
  uint64_t blocks(uint64_t k) const {
    return blockSize ? k / blockSize + (k % blockSize != 0) : 0;
  }
};

/// A product: a is m x k, b is n x k (the transpose of the right side).
struct Problem {
  uint64_t m = 0, n = 0, k = 0, batch = 1;
  Operand a, b;
  /// All constant factors together, tensor scales included.
  float alpha = 1;
  /// One for each matrix of the batch where they differ; empty, or in place of
  /// `alpha`.
  std::vector<float> alphas;
  /// Factors of each row and each column of the result, batch x m and batch x
  /// n; empty without.
  std::vector<float> rowScales, columnScales;
  float beta = 0;
  /// Of the size of the result, batch x m x resultColumns(); empty without it.
  std::vector<float> c;
  /// n numbers for Column, m for Row; shared by all batches.
  BiasKind biasKind = BiasKind::None;
  std::vector<float> bias;
  /// What is made of the product, c and the bias; their sum without it.
  std::optional<Formula> formula;
  /// Whether each two columns make one of the result, by a formula.
  bool pairs = false;
  OutputType output = OutputType::F32;

  uint64_t resultColumns() const { return pairs ? n / 2 : n; }
  /// The column of the product that an element of the result is made of; with
  /// pairs the first one of two.
  uint64_t columnOf(uint64_t ofResult) const {
    return pairs ? 2 * ofResult : ofResult;
  }

  /// The factors of matrix `matrix` of the batch.
  float alphaOf(uint64_t matrix) const {
    return alphas.empty() ? alpha : alphas[matrix];
  }
  /// What an element's sum is multiplied by first: alpha and its row's scale,
  /// and last: its column's.
  float firstFactor(uint64_t matrix, uint64_t row) const {
    float factor = alphaOf(matrix);
    return rowScales.empty() ? factor : factor * rowScales[matrix * m + row];
  }
  float lastFactor(uint64_t matrix, uint64_t column) const {
    return columnScales.empty() ? 1 : columnScales[matrix * n + column];
  }
};

/// Why the problem cannot be computed: an empty extent, an array of another
/// size, scales with elements that take none, an i32 result of anything but
/// sums of integers, pairs of an odd number of columns or without a formula.
std::optional<Reason> whyNot(const Problem &problem);

/// A rectangle of the result.
struct Tile {
  uint64_t batch = 0, row = 0, column = 0, rows = 0, columns = 0;
};

/// The whole result, cut into tiles of at most `rows` x `columns`.
std::vector<Tile> allTiles(const Problem &problem, uint64_t rows = 128,
                           uint64_t columns = 128);

/// What an element of the result is made of.
struct Sums {
  /// sum_k a * b before alpha, and sum_k |a * b|, from which the error bound of
  /// a kernel follows.
  double sum = 0, absSum = 0;
  /// With pairs those of the second column.
  double up = 0, absUp = 0;
};

/// Results for a tile, `rows` x `columns` in C order.
struct TileResult {
  Tile tile;
  /// sum_k a * b before alpha.
  std::vector<double> sum;
  /// sum_k |a * b|, from which the error bound of a kernel follows; of elements
  /// with zero points of the magnitudes that they are the differences of.
  std::vector<double> absSum;
  /// With pairs those of the second columns; else empty.
  std::vector<double> up, absUp;
  /// The final value in the output type; f64 holds each of them.
  std::vector<double> d;

  /// Those of element number `index`.
  Sums sums(uint64_t index) const {
    if (up.empty())
      return {sum[index], absSum[index]};
    return {sum[index], absSum[index], up[index], absUp[index]};
  }
};

/// Computes the tiles on `threads` threads (0: as many as the host has). Tiles
/// are clipped to the result. The numbers do not depend on `threads`. The
/// problem must be one (whyNot); otherwise the answer is empty. It is empty,
/// too, if another thread sets `stop`, where there is such a flag, before the
/// end. `progress` is called with the tiles done and all tiles, by one thread
/// at a time.
std::vector<TileResult>
matmul(const Problem &problem, const std::vector<Tile> &tiles,
       unsigned threads = 0, const std::atomic<bool> *stop = nullptr,
       const std::function<void(uint64_t, uint64_t)> &progress = {});

/// `d` of the whole result, batch x m x resultColumns(), as f32.
std::vector<float> matmul(const Problem &problem, unsigned threads = 0);

/// What follows the sum for one element, `value` being the sum in f32, and `up`
/// the second one of a pair.
float epilogue(const Problem &problem, uint64_t batch, uint64_t row,
               uint64_t column, float value, float up = 0);

/// Rounds to the output type, to nearest even; overflow becomes infinity.
float roundToOutput(OutputType type, float value);

/// The value of element number `index` of an operand without its scale.
double elementNumber(const Operand &operand, uint64_t index);

/// The value of element (row, k), its scale included.
double elementValue(const Operand &operand, uint64_t k, uint64_t row,
                    uint64_t index);

} // namespace blockscale::reference

#endif // BLOCKSCALE_REFERENCE_MATMUL_H
