//===- Codebook.cpp - the tables of codebook number specs -----------------===//
//
// Part of the blockscale project, under the Apache License v2.0 with LLVM
// Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A pattern is a small float or integer grid. It is scaled to the top exponent
// of the number line, then moved along the line so that its largest value lies
// `offset` steps below the line's; without an offset it stays where it is. "e"
// adds copies divided by powers of two.
//
//===----------------------------------------------------------------------===//

#include "blockscale/Formats/Codebook.h"

#include "SpecCursor.h"

#include <algorithm>
#include <cmath>
#include <limits>

using namespace blockscale;
using namespace blockscale::detail;

namespace {

using Table = std::vector<double>;

/// All non-negative values of a float or fixed-point format, in order.
Table numberLine(const NumberSpec &spec) {
  Table line{0.0};
  double largest = spec.maxFloat();
  int exponent = spec.emin();
  double value = spec.minSubnormal();
  while (value <= largest) {
    line.push_back(value);
    if (value >= std::ldexp(1.0, exponent + 1))
      ++exponent;
    value += std::ldexp(1.0, exponent - static_cast<int>(spec.mantissaBits));
  }
  return line;
}

/// The grid of a pattern letter with `indexBits` bits, at its own exponent.
NumberSpec patternGrid(char letter, unsigned indexBits) {
  NumberSpec grid;
  grid.specials = NumberSpecials::Fnuz;
  grid.exponentBits = letter == 'f' ? 2 : 1;
  grid.mantissaBits = indexBits - 1 - grid.exponentBits;
  grid.bias = 1;
  grid.kind = letter == 'f' ? NumberKind::Float : NumberKind::Int;
  return grid;
}

/// Moves a table so that its largest value is line[size - 1 - offset]. False if
/// it leaves the line or was not on it.
bool moveAlong(const Table &line, unsigned offset, Table &table) {
  auto indexOf = [&](double value) -> ptrdiff_t {
    auto it = std::lower_bound(line.begin(), line.end(), value);
    return it != line.end() && *it == value ? it - line.begin() : -1;
  };
  ptrdiff_t top = indexOf(table.back());
  if (top < 0)
    return false;
  ptrdiff_t shift = static_cast<ptrdiff_t>(line.size()) - 1 - offset - top;
  for (double &value : table) {
    if (value == 0)
      continue;
    ptrdiff_t index = indexOf(value);
    if (index < 0 || index + shift < 1)
      return false;
    value = line[index + shift];
  }
  return true;
}

std::vector<unsigned> digits(SpecCursor &cursor) {
  std::vector<unsigned> result;
  while (std::optional<unsigned> digit = cursor.digit())
    result.push_back(*digit);
  return result;
}

/// Reads one pattern and appends its tables. Gives back the error, or nothing.
std::optional<Reason> appendPattern(const NumberSpec &spec, const Table &line,
                                    SpecCursor &cursor,
                                    std::vector<Table> &tables) {
  char letter = cursor.rest().front();
  if (letter == 'p' || letter == 's')
    return std::string("codebook pattern '") + letter +
           "' has no agreed tables, expected 'f' or 'i'";
  if (letter != 'f' && letter != 'i')
    return "codebook pattern " + inQuotes(cursor.rest()) +
           " must begin with 'f' or 'i'";
  unsigned last = letter == 'f' ? 6 : 8;
  if (spec.indexBits < 3 || spec.indexBits > last)
    return std::string("codebook pattern '") + letter + "' needs 3 to " +
           std::to_string(last) + " index bits, found " +
           std::to_string(spec.indexBits);
  cursor.consume(std::string_view(&letter, 1));

  NumberSpec grid = patternGrid(letter, spec.indexBits);
  Table natural = numberLine(grid);
  for (double &value : natural)
    value = std::ldexp(value, spec.emax() - grid.emax());

  std::vector<Table> moved;
  std::vector<unsigned> offsets = digits(cursor);
  for (unsigned offset : offsets) {
    moved.push_back(natural);
    if (!moveAlong(line, offset, moved.back()))
      return std::string("codebook pattern '") + letter +
             std::to_string(offset) + "' does not fit the number line of " +
             inQuotes(canonicalName(spec));
  }
  if (offsets.empty()) {
    if (natural.back() > spec.maxFloat())
      return std::string("codebook pattern '") + letter +
             "' exceeds the largest value of its number line";
    moved.push_back(natural);
  }

  std::vector<unsigned> exponents{0};
  if (cursor.consume("e")) {
    exponents = digits(cursor);
    if (exponents.empty())
      exponents = {0, 1};
  }
  for (const Table &table : moved)
    for (unsigned exponent : exponents) {
      tables.push_back(table);
      for (double &value : tables.back())
        value = std::ldexp(value, -static_cast<int>(exponent));
    }
  return std::nullopt;
}

} // namespace

Result<std::vector<std::vector<double>>>
blockscale::codebookTables(const NumberSpec &spec) {
  if (!spec.isCodebook())
    return Reason(inQuotes(canonicalName(spec)) + " is not a codebook");
  if (spec.pattern.empty())
    return std::vector<Table>();
  // No pattern needs a longer line, and it would be a table of gigabytes.
  if (spec.mantissaBits > 12)
    return Reason(
        "codebook patterns need a number line of at most 12 fraction bits, "
        "found " +
        std::to_string(spec.mantissaBits));
  Table line = numberLine(spec);
  std::vector<Table> tables;
  SpecCursor cursor(spec.pattern);
  while (!cursor.atEnd()) {
    size_t offset = spec.pattern.size() - cursor.rest().size();
    if (auto why = appendPattern(spec, line, cursor, tables))
      return why->within(offset);
  }
  size_t expected = size_t(1) << spec.metaBits;
  if (tables.size() != expected)
    return Reason("codebook pattern " + inQuotes(spec.pattern) + " gives " +
                  std::to_string(tables.size()) + " tables, expected " +
                  std::to_string(expected) + " for " +
                  std::to_string(spec.metaBits) + " metadata bits");
  return std::move(tables);
}

std::vector<float> blockscale::codebookValues(const NumberSpec &spec) {
  std::vector<float> values;
  for (const Table &table : *codebookTables(spec))
    for (float sign : {1.0f, -1.0f})
      for (double value : table)
        values.push_back(sign * static_cast<float>(value));
  return values;
}

std::optional<Reason>
blockscale::whyNotCodebookElements(const NumberSpec &spec) {
  Result<std::vector<Table>> tables = codebookTables(spec);
  if (!tables)
    return tables.why();
  if (tables->empty())
    return "the tables of codebook " + inQuotes(print(spec)) +
           " come from elsewhere; expected patterns that say them, as in "
           "'cb41fi_e2m2fnuz'";
  for (const Table &table : *tables)
    for (double value : table)
      if (value > std::numeric_limits<float>::max() ||
          static_cast<double>(static_cast<float>(value)) != value)
        return "a value of codebook " + inQuotes(print(spec)) +
               " is no float32";
  return std::nullopt;
}
