//===- Table.h - one table: its columns and how to answer a row -*- C++ -*-===//
//
// Part of the blockscale project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef BLOCKSCALE_LIB_EXPLAIN_TABLE_H
#define BLOCKSCALE_LIB_EXPLAIN_TABLE_H

#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "blockscale/HW/BitField.h"

namespace blockscale::explain {

/// The question columns of one row. The accessors remember the first thing
/// that is wrong and then return a harmless value, so that a table can read all
/// its columns first and ask `why` once.
class Question {
public:
  void set(std::string_view column, std::string value) {
    values.emplace_back(column, std::move(value));
  }

  const std::string &text(std::string_view column);
  /// A whole number, decimal, 0 .. `max`.
  std::uint64_t number(std::string_view column,
                       std::uint64_t max = 0xffffffffu);
  /// As `number`, for the 32-bit quantities of the hardware.
  unsigned count(std::string_view column) {
    return static_cast<unsigned>(number(column));
  }
  bool flag(std::string_view column) { return number(column, 1) != 0; }
  /// A hexadecimal number, with or without 0x, 0 .. `max`.
  std::uint64_t hexNumber(std::string_view column, std::uint64_t max);
  /// The index in `names` of the column's text.
  std::size_t oneOf(std::string_view column,
                    const std::vector<std::string_view> &names);

  void fail(std::string_view column, const std::string &what);
  /// What is wrong with the row so far; empty if nothing is.
  const std::optional<Reason> &why() const { return reason; }

private:
  std::vector<std::pair<std::string_view, std::string>> values;
  std::optional<Reason> reason;
};

/// The answer columns in order, or why the row has no answer.
using RowAnswer = Result<std::vector<std::string>>;

struct Column {
  std::string_view name;
  bool isAnswer;
};

struct Table {
  std::string_view name;
  std::vector<Column> columns;
  RowAnswer (*answer)(Question &question);
};

/// A whole number below 2^63 for tables of unbounded tensors.
inline constexpr std::uint64_t kMaxExtent = ~std::uint64_t(0) >> 1;

/// Numbers as decimal text.
template <typename... Numbers> RowAnswer decimals(Numbers... numbers) {
  return std::vector<std::string>{std::to_string(numbers)...};
}

void addDescriptorTables(std::vector<Table> &tables);
void addLayoutTables(std::vector<Table> &tables);
void addFragmentTables(std::vector<Table> &tables);
void addFormatTables(std::vector<Table> &tables);

} // namespace blockscale::explain

#endif // BLOCKSCALE_LIB_EXPLAIN_TABLE_H
