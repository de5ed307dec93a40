//===- Sums.cpp - the sums of a block-scaled product ----------------------===//
//
// Part of the blockscale project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Sums.h"

#include <algorithm>
#include <cmath>
#include <cstring>

using namespace blockscale;
using namespace blockscale::reference;

//===----------------------------------------------------------------------===//
// Rows as numbers
//===----------------------------------------------------------------------===//

namespace {

/// A piece of the sums: elements along k that are decoded together and stay in
/// the caches while they are multiplied.
struct Span {
  uint64_t first, end;
  uint64_t size() const { return end - first; }
};
constexpr uint64_t kSpan = 512;

/// The elements of a byte of a row, `step` apart from `to` on.
void scaleRow(const Operand &operand, uint64_t k, uint64_t row, Span span,
              double *to, uint64_t step) {
  const auto &numbers = decodeTable(operand.format);
  const uint8_t *codes = operand.codes.data() + row * k;
  uint64_t scales = row * operand.blocks(k);
  for (uint64_t i = span.first; i < span.end;) {
    double scale = operand.unit;
    uint64_t end = span.end;
    if (operand.blockSize) {
      uint64_t block = i / operand.blockSize;
      scale *= operand.scale(scales + block);
      end = std::min(end, (block + 1) * operand.blockSize);
    }
    for (; i < end; ++i)
      to[(i - span.first) * step] = numbers[codes[i]] * scale;
  }
}

/// What the value of an element with a zero point is the difference of, added
/// up.
double magnitude(const Operand &operand, uint64_t k, uint64_t row,
                 uint64_t index) {
  uint64_t block = row * operand.blocks(k) + index / operand.blockSize;
  double number = elementNumber(operand, row * k + index);
  return std::fabs(number * operand.scale(block)) +
         std::fabs(operand.zero(block));
}

/// Fills `values` with the scaled values of `count` rows from `first` on,
/// groups of `group` rows interleaved element by element. Rows that are missing
/// in the last group are left as they are. With `magnitudes` elements with zero
/// points are their magnitudes.
void scaleRows(const Operand &operand, uint64_t k, uint64_t first,
               uint64_t count, Span span, uint64_t group, bool magnitudes,
               std::vector<double> &values) {
  magnitudes &= !operand.zeros.empty();
  bool isNarrow = operand.zeros.empty() &&
                  operand.elements == Elements::Format &&
                  operand.codeBytes() == 1;
  for (uint64_t row = 0; row < count; ++row) {
    double *to =
        values.data() + row / group * group * span.size() + row % group;
    if (isNarrow) {
      scaleRow(operand, k, first + row, span, to, group);
      continue;
    }
    for (uint64_t i = span.first; i < span.end; ++i)
      to[(i - span.first) * group] =
          magnitudes ? magnitude(operand, k, first + row, i)
                     : elementValue(operand, k, first + row, i);
  }
}

} // namespace

//===----------------------------------------------------------------------===//
// Products
//===----------------------------------------------------------------------===//

namespace {

/// Numbers of a register of the given bytes, and their bits.
template <unsigned Bytes> struct Register {
  typedef double Numbers __attribute__((vector_size(Bytes)));
  typedef uint64_t Bits __attribute__((vector_size(Bytes)));
};

/// Compiled for each kind of register by the function that it is part of.
template <unsigned Bytes>
__attribute__((always_inline)) inline void
multiplyWith(const double *a, const double *b, uint64_t k, double *sums,
             double *absSums) {
  using Numbers = typename Register<Bytes>::Numbers;
  using Bits = typename Register<Bytes>::Bits;
  constexpr unsigned kLanes = Bytes / sizeof(double);
  constexpr uint64_t kSign = uint64_t(1) << 63;
  Numbers sum[kRowsAtOnce], absSum[kRowsAtOnce];
  std::memcpy(sum, sums, sizeof(sum));
  std::memcpy(absSum, absSums, sizeof(absSum));
  for (uint64_t i = 0; i < k; ++i, a += kRowsAtOnce, b += kLanes) {
    Numbers right;
    std::memcpy(&right, b, sizeof(right));
    for (unsigned row = 0; row < kRowsAtOnce; ++row) {
      Numbers term = a[row] * right;
      sum[row] += term;
      absSum[row] += (Numbers)((Bits)term & ~kSign);
    }
  }
  std::memcpy(sums, sum, sizeof(sum));
  std::memcpy(absSums, absSum, sizeof(absSum));
}

} // namespace

static void multiplyGeneric(const double *a, const double *b, uint64_t k,
                            double *sums, double *absSums) {
  multiplyWith<16>(a, b, k, sums, absSums);
}

#if defined(__x86_64__)
__attribute__((target("avx2"))) static void
multiplyAvx2(const double *a, const double *b, uint64_t k, double *sums,
             double *absSums) {
  multiplyWith<32>(a, b, k, sums, absSums);
}

__attribute__((target("avx512f,avx512dq"))) static void
multiplyAvx512(const double *a, const double *b, uint64_t k, double *sums,
               double *absSums) {
  multiplyWith<64>(a, b, k, sums, absSums);
}
#endif

const std::vector<SumWay> &reference::sumWays() {
  static const std::vector<SumWay> ways = [] {
    std::vector<SumWay> found;
#if defined(__x86_64__)
    if (__builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512dq"))
      found.push_back({"avx512", 8, multiplyAvx512});
    if (__builtin_cpu_supports("avx2"))
      found.push_back({"avx2", 4, multiplyAvx2});
#endif
    found.push_back({"generic", 2, multiplyGeneric});
    return found;
  }();
  return ways;
}

static void addUp(const Problem &problem, const SumWay &way, bool magnitudes,
                  TileResult &result) {
  const Tile &tile = result.tile;
  uint64_t k = problem.k, lanes = way.lanes, piece = kRowsAtOnce * lanes;
  uint64_t rows = (tile.rows + kRowsAtOnce - 1) / kRowsAtOnce * kRowsAtOnce;
  uint64_t columns = (tile.columns + lanes - 1) / lanes * lanes;
  uint64_t longest = std::min(k, kSpan);
  std::vector<double> a(rows * longest), b(columns * longest);
  // In pieces of kRowsAtOnce x lanes, those of a column of pieces together.
  std::vector<double> sums(rows * columns), absSums(rows * columns);
  for (Span span{0, longest}; span.first < k;
       span = {span.end, std::min(k, span.end + kSpan)}) {
    scaleRows(problem.a, k, tile.batch * problem.m + tile.row, tile.rows, span,
              kRowsAtOnce, magnitudes, a);
    scaleRows(problem.b, k, tile.batch * problem.n + tile.column, tile.columns,
              span, lanes, magnitudes, b);
    uint64_t at = 0;
    for (uint64_t column = 0; column < columns; column += lanes)
      for (uint64_t row = 0; row < rows; row += kRowsAtOnce, at += piece)
        way.multiply(a.data() + row * span.size(),
                     b.data() + column * span.size(), span.size(),
                     sums.data() + at, absSums.data() + at);
  }
  for (uint64_t row = 0; row < tile.rows; ++row)
    for (uint64_t column = 0; column < tile.columns; ++column) {
      uint64_t number =
          column / lanes * (rows / kRowsAtOnce) + row / kRowsAtOnce;
      uint64_t at = number * piece + row % kRowsAtOnce * lanes + column % lanes;
      result.sum[row * tile.columns + column] = sums[at];
      result.absSum[row * tile.columns + column] = absSums[at];
    }
}

void reference::computeSums(const Problem &problem, const SumWay &way,
                            TileResult &result) {
  addUp(problem, way, /*magnitudes=*/false, result);
  if (problem.a.zeros.empty() && problem.b.zeros.empty())
    return;
  // Kernels round the parts of a difference, which may be larger than it is.
  TileResult bounds = result;
  addUp(problem, way, /*magnitudes=*/true, bounds);
  result.absSum = std::move(bounds.absSum);
}
