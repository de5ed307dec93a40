//===- Layout.h - where things lie, as a value ------------------*- C++ -*-===//
//
// Part of the blockscale project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A layout is a list of terms. Each takes a digit of a source coordinate (the
// row of a matrix, the number of a scale along K) and adds it, times a stride,
// to a target coordinate (a dimension of storage, a lane, a column). Offsets,
// inverses, extents, formulas, affine maps and tensor maps are all derived from
// that list, so that a new layout is a new list and nothing else.
//
//   scales in 128x4 atoms:  storage 0 = r / 128
//                           storage 1 = j / 4
//                           storage 2 = r % 32
//                           storage 3 = r / 32 % 4 * 4 + j % 4
//
//===----------------------------------------------------------------------===//

#ifndef BLOCKSCALE_HW_LAYOUT_H
#define BLOCKSCALE_HW_LAYOUT_H

#include <array>
#include <cassert>
#include <cstdint>
#include <initializer_list>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace blockscale::hw {

/// The coordinates on either side of a layout.
enum class Dim : std::uint8_t {
  // Of a matrix.
  Batch,
  /// Row of A, of D, or column of B or of D.
  Row,
  ColumnOfD,
  /// Number of a group of elements along K that share a byte: of the block of a
  /// scale, or of what a byte of sparsity metadata describes.
  Block,
  K,
  // Of storage in global or shared memory, slowest first, or all in one.
  Storage0,
  Storage1,
  Storage2,
  Storage3,
  Offset,
  // Of tensor memory: CTA of a pair, lane, column, byte of the column's word,
  // and which of several copies.
  Cta,
  Lane,
  Column,
  Byte,
  Replica,
  // Of registers.
  Thread,
  Value,
};
inline constexpr unsigned kDims = static_cast<unsigned>(Dim::Value) + 1;

/// "l", "r", "n", "j", "k", "s0" .. "s3", "offset", "cta", "lane", "column",
/// "byte", "replica", "thread", "value".
std::string_view dimName(Dim dim);

/// A value for each coordinate, 0 where nothing is said.
class Coordinates {
public:
  struct Coordinate {
    Dim dim;
    std::uint64_t value;
  };
  constexpr Coordinates() = default;
  constexpr Coordinates(std::initializer_list<Coordinate> coordinates) {
    for (Coordinate coordinate : coordinates)
      (*this)[coordinate.dim] = coordinate.value;
  }
  constexpr std::uint64_t &operator[](Dim dim) {
    return values[static_cast<unsigned>(dim)];
  }
  constexpr std::uint64_t operator[](Dim dim) const {
    return values[static_cast<unsigned>(dim)];
  }
  friend constexpr bool operator==(const Coordinates &x, const Coordinates &y) {
    for (unsigned i = 0; i < kDims; ++i)
      if (x.values[i] != y.values[i])
        return false;
    return true;
  }

private:
  std::array<std::uint64_t, kDims> values{};
};

/// target += source % period / divisor % modulus * stride, where a period or
/// modulus of 0 stands for none. The slowest digit of a source has no modulus
/// unless the extent of the source is the same in every use of the layout.
struct Term {
  Dim source;
  std::uint64_t divisor = 1, modulus = 0;
  Dim target = Dim::Offset;
  std::uint64_t stride = 1;
  /// For a digit of what is left after whole periods, where the period is no
  /// multiple of divisor * modulus.
  std::uint64_t period = 0;

  constexpr std::uint64_t digit(std::uint64_t value) const {
    value = (period ? value % period : value) / divisor;
    return modulus ? value % modulus : value;
  }
};

/// Whole divisors that hold `extent`.
constexpr std::uint64_t ceilDiv(std::uint64_t extent, std::uint64_t divisor) {
  return extent / divisor + (extent % divisor != 0);
}

class Layout {
public:
  static constexpr unsigned kMaxTerms = 8;

  constexpr Layout() = default;
  /// Terms that add to one target have strides of which each divides the next
  /// larger one, and digits that do not reach it: then the layout is
  /// one-to-one.
  constexpr Layout(std::initializer_list<Term> list) {
    for (const Term &term : list)
      add(term);
  }

  /// At most kMaxTerms in all.
  constexpr void add(const Term &term) {
    assert(count < kMaxTerms && "a layout has at most 8 terms");
    terms[count++] = term;
  }

  constexpr const Term *begin() const { return terms.data(); }
  constexpr const Term *end() const { return terms.data() + count; }

  /// Where the sources' values at `point` lie.
  constexpr Coordinates at(const Coordinates &point) const {
    Coordinates result;
    for (const Term &term : *this)
      result[term.target] += term.digit(point[term.source]) * term.stride;
    return result;
  }

  /// The layout from targets to sources. It holds for places that something
  /// lies at.
  constexpr Layout inverse() const {
    Layout result;
    for (const Term &term : *this)
      result.add({term.target, term.stride, digitsBelowNext(term), term.source,
                  term.divisor, 0});
    return result;
  }

  /// What lies at `place`; nothing if nothing does. Coordinates that the layout
  /// does not mention are 0.
  constexpr std::optional<Coordinates>
  sourceAt(const Coordinates &place) const {
    Coordinates result = inverse().at(place);
    if (!(at(result) == place))
      return std::nullopt;
    return result;
  }

  /// Values of `source` after which the digits that have a modulus start again:
  /// the padding of its extent. 1 for a source with no such digit.
  constexpr std::uint64_t multipleOf(Dim source) const {
    std::uint64_t multiple = 1;
    for (const Term &term : *this)
      if (term.source == source && term.modulus * term.divisor > multiple)
        multiple = term.modulus * term.divisor;
    return multiple;
  }

  /// Extent of `target` in whole steps of its slowest term, where the sources
  /// have the extents that `extents` says.
  constexpr std::uint64_t extent(Dim target, const Coordinates &extents) const {
    std::uint64_t result = 1;
    for (const Term &term : *this) {
      if (term.target != target)
        continue;
      std::uint64_t digits = term.modulus;
      if (!digits)
        digits = ceilDiv(term.period ? term.period : extents[term.source],
                         term.divisor);
      if (digits * term.stride > result)
        result = digits * term.stride;
    }
    return result;
  }

  /// What one value of each digit without modulus holds, as a layout in
  /// Dim::Offset: for targets that are dimensions of storage, slowest first.
  constexpr Layout tile() const {
    Layout result;
    std::uint64_t faster = 1;
    for (unsigned i = count; i-- > 0;) {
      const Term &term = terms[i];
      if (!term.modulus)
        continue;
      // Terms of one dimension have strides of their own in it.
      bool isFirst = i + 1 == count || terms[i + 1].target != term.target;
      if (isFirst)
        faster = result.extent(Dim::Offset, {});
      result.add({term.source, term.divisor, term.modulus, Dim::Offset,
                  term.stride * faster});
    }
    Layout ordered;
    for (unsigned i = result.count; i-- > 0;)
      ordered.add(result.terms[i]);
    return ordered;
  }

  /// The source of the digit of `target` that has no modulus and so gives it an
  /// open end; nothing if its extent is fixed.
  constexpr std::optional<Dim> endlessSource(Dim target) const {
    for (const Term &term : *this)
      if (term.target == target && !term.modulus)
        return term.source;
    return std::nullopt;
  }

  /// The slowest digit of `source`, the one without modulus.
  constexpr std::optional<Term> slowest(Dim source) const {
    for (const Term &term : *this)
      if (term.source == source && !term.modulus)
        return term;
    return std::nullopt;
  }

private:
  /// Steps of `term` up to the next larger stride of its target; 0 for the
  /// largest.
  constexpr std::uint64_t digitsBelowNext(const Term &term) const {
    std::uint64_t next = 0;
    for (const Term &other : *this)
      if (other.target == term.target && other.stride > term.stride &&
          (!next || other.stride < next))
        next = other.stride;
    return next / term.stride;
  }

  std::array<Term, kMaxTerms> terms{};
  unsigned count = 0;
};

/// One line per term: "lane += r % 32", "column += j / 4 * 8".
std::string print(const Layout &layout);

/// A digit as text: "r % 128 / 32". `unit` is the number of what `name` counts
/// in each value of the source: with 8 elements to a block, block / 16 is
/// "k / 128".
std::string printDigit(const Term &term, std::string_view name,
                       std::uint64_t unit = 1);

//===----------------------------------------------------------------------===//
// Layouts in memory
//===----------------------------------------------------------------------===//

/// A layout whose targets are dimensions of storage, slowest first and densely
/// packed, with sizes filled in. `Extent` is a number, or a formula of numbers
/// known later: what can be multiplied by another and by a number.
template <typename Extent> struct StorageLayout {
  /// A digit with the number of values that it has and the distance in memory
  /// between them. The slowest is first.
  struct Digit {
    Term term;
    Extent extent, stride;
  };
  std::vector<Digit> digits;
  /// Bytes of one matrix, which is the distance between those of a batch.
  Extent matrixBytes;

  /// Where the byte of the sources' values, Dim::Batch among them, lies.
  Extent offset(const Coordinates &sources) const {
    Extent result = matrixBytes * sources[Dim::Batch];
    for (const Digit &digit : digits)
      result =
          result + digit.stride * digit.term.digit(sources[digit.term.source]);
    return result;
  }
  /// The sources of the byte at `offset`. They may lie in the padding.
  Coordinates at(std::uint64_t offset) const {
    Coordinates result;
    result[Dim::Batch] = offset / matrixBytes;
    for (const Digit &digit : digits)
      result[digit.term.source] +=
          offset / digit.stride % digit.extent * digit.term.divisor;
    return result;
  }
};

/// The storage of a matrix of bytes in `layout`. `digitsOf` gives the extent of
/// a source divided by a number and rounded up, `constant` makes an extent of a
/// number.
template <typename Extent, typename DigitsOf, typename Constant>
StorageLayout<Extent> storageLayout(const Layout &layout, DigitsOf digitsOf,
                                    Constant constant) {
  std::vector<Term> order(layout.begin(), layout.end());
  // Terms are written in order of the dimensions; within one the larger stride
  // is slower.
  for (std::size_t i = 1; i < order.size(); ++i)
    for (std::size_t j = i; j > 0 && order[j].target == order[j - 1].target &&
                            order[j].stride > order[j - 1].stride;
         --j)
      std::swap(order[j], order[j - 1]);
  StorageLayout<Extent> storage{{}, constant(1)};
  for (auto term = order.rbegin(); term != order.rend(); ++term) {
    Extent extent = term->modulus ? constant(term->modulus)
                                  : digitsOf(term->source, term->divisor);
    storage.digits.insert(storage.digits.begin(),
                          {*term, extent, storage.matrixBytes});
    storage.matrixBytes = storage.matrixBytes * extent;
  }
  return storage;
}

/// The same with numbers: `extents` of the sources.
StorageLayout<std::uint64_t> storageLayout(const Layout &layout,
                                           const Coordinates &extents);

/// Joins digits of one source that follow each other in memory: row / 128 and
/// row % 128, one behind the other, are row. What remains is what a formula or
/// a tensor map needs.
template <typename Extent>
StorageLayout<Extent> joined(const StorageLayout<Extent> &storage) {
  StorageLayout<Extent> result{{}, storage.matrixBytes};
  for (const auto &digit : storage.digits) {
    if (!result.digits.empty()) {
      auto &slower = result.digits.back();
      const Term &inner = digit.term;
      if (slower.term.source == inner.source && inner.modulus &&
          slower.term.divisor == inner.divisor * inner.modulus) {
        slower.term.divisor = inner.divisor;
        if (slower.term.modulus)
          slower.term.modulus *= inner.modulus;
        slower.extent = slower.extent * digit.extent;
        slower.stride = digit.stride;
        continue;
      }
    }
    result.digits.push_back(digit);
  }
  return result;
}

} // namespace blockscale::hw

#endif // BLOCKSCALE_HW_LAYOUT_H
