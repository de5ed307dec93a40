//===- Explain.cpp - answer whole tables of questions===//
//
// Part of the blockscale project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "blockscale/Explain/Explain.h"

#include <algorithm>

#include "Table.h"

namespace blockscale::explain {

//===----------------------------------------------------------------------===//
// One row
//===----------------------------------------------------------------------===//

const std::string &Question::text(std::string_view column) {
  static const std::string none;
  for (const auto &[name, value] : values)
    if (name == column)
      return value;
  return none;
}

void Question::fail(std::string_view column, const std::string &what) {
  if (!reason)
    reason = "column '" + std::string(column) + "': " + what;
}

std::uint64_t Question::number(std::string_view column, std::uint64_t max) {
  const std::string &digits = text(column);
  std::uint64_t value = 0;
  bool good = !digits.empty();
  for (char c : digits) {
    if (c < '0' || c > '9' || value > (~std::uint64_t(0) - 9) / 10) {
      good = false;
      break;
    }
    value = value * 10 + static_cast<unsigned>(c - '0');
  }
  if (good && value <= max)
    return value;
  fail(column, "expected a whole number from 0 to " + std::to_string(max) +
                   ", found '" + digits + "'");
  return 0;
}

std::uint64_t Question::hexNumber(std::string_view column, std::uint64_t max) {
  std::string_view digits = text(column);
  if (digits.substr(0, 2) == "0x" || digits.substr(0, 2) == "0X")
    digits.remove_prefix(2);
  std::uint64_t value = 0;
  bool good = !digits.empty() && digits.size() <= 16;
  for (char c : digits) {
    unsigned digit = c >= '0' && c <= '9'   ? c - '0'
                     : c >= 'a' && c <= 'f' ? c - 'a' + 10
                     : c >= 'A' && c <= 'F' ? c - 'A' + 10
                                            : 16;
    good = good && digit < 16;
    value = value << 4 | (digit & 15);
  }
  if (good && value <= max)
    return value;
  fail(column, "expected a hexadecimal number up to " + hw::hex(max, 1) +
                   ", found '" + text(column) + "'");
  return 0;
}

std::size_t Question::oneOf(std::string_view column,
                            const std::vector<std::string_view> &names) {
  const std::string &value = text(column);
  auto found = std::find(names.begin(), names.end(), value);
  if (found != names.end())
    return static_cast<std::size_t>(found - names.begin());
  std::string list;
  for (std::string_view name : names)
    list += (list.empty() ? "'" : ", '") + std::string(name) + "'";
  fail(column, "expected " + list + ", found '" + value + "'");
  return 0;
}

//===----------------------------------------------------------------------===//
// Whole tables
//===----------------------------------------------------------------------===//

static const std::vector<Table> &allTables() {
  static const std::vector<Table> tables = [] {
    std::vector<Table> list;
    addDescriptorTables(list);
    addLayoutTables(list);
    addFragmentTables(list);
    addFormatTables(list);
    return list;
  }();
  return tables;
}

std::vector<std::string> tableNames() {
  std::vector<std::string> names;
  for (const Table &table : allTables())
    if (names.empty() || names.back() != table.name)
      names.emplace_back(table.name);
  return names;
}

std::vector<TableColumn> tableColumns(std::string_view name) {
  std::vector<TableColumn> columns;
  for (const Table &table : allTables())
    if (table.name == name) {
      for (const Column &column : table.columns)
        columns.push_back({std::string(column.name), column.isAnswer});
      break;
    }
  return columns;
}

static std::vector<std::string_view> missingColumns(const Table &table,
                                                    const Csv &question) {
  std::vector<std::string_view> missing;
  for (const Column &column : table.columns)
    if (!column.isAnswer && !question.column(column.name))
      missing.push_back(column.name);
  return missing;
}

/// The form of the table that the question is in; otherwise says what is
/// missing.
static const Table *findTable(std::string_view name, const Csv &question,
                              std::vector<std::string> &diagnostics) {
  bool known = false;
  for (const Table &table : allTables()) {
    if (table.name != name)
      continue;
    known = true;
    std::vector<std::string_view> missing = missingColumns(table, question);
    if (missing.empty())
      return &table;
    for (std::string_view column : missing)
      diagnostics.push_back("line 1: the table has no column '" +
                            std::string(column) + "'");
  }
  if (!known) {
    std::string list;
    for (const std::string &other : tableNames())
      list += (list.empty() ? "'" : ", '") + other + "'";
    diagnostics = {"no table is called '" + std::string(name) +
                   "'; there are " + list};
  }
  return nullptr;
}

static RowAnswer answerRow(const Table &table, const Csv &input,
                           const Csv::Row &row, Question &question) {
  for (const Column &column : table.columns)
    if (!column.isAnswer) {
      std::size_t index = *input.column(column.name);
      question.set(column.name,
                   index < row.fields.size() ? row.fields[index] : "");
    }
  if (row.fields.size() != input.header.size())
    return Reason(std::to_string(row.fields.size()) +
                  " fields, the header has " +
                  std::to_string(input.header.size()));
  RowAnswer answer = table.answer(question);
  if (question.why())
    return *question.why();
  return answer;
}

ExplainResult explainTable(std::string_view name, const Csv &input) {
  ExplainResult result;
  const Table *table = findTable(name, input, result.diagnostics);
  if (!table)
    return result;
  result.diagnostics.clear();
  Csv output;
  std::vector<std::size_t> extras;
  for (const Column &column : table->columns)
    output.header.emplace_back(column.name);
  for (std::size_t i = 0; i < input.header.size(); ++i)
    if (!output.column(input.header[i])) {
      extras.push_back(i);
      output.header.push_back(input.header[i]);
    }
  for (const Csv::Row &row : input.rows) {
    Question question;
    RowAnswer answer = answerRow(*table, input, row, question);
    if (!answer)
      result.diagnostics.push_back("line " + std::to_string(row.line) + ": " +
                                   answer.why().text);
    Csv::Row out;
    out.line = row.line;
    std::size_t next = 0;
    for (const Column &column : table->columns) {
      if (!column.isAnswer)
        out.fields.push_back(question.text(column.name));
      else
        out.fields.push_back(answer ? (*answer)[next++]
                                    : "illegal: " + answer.why().text);
    }
    for (std::size_t extra : extras)
      out.fields.push_back(extra < row.fields.size() ? row.fields[extra] : "");
    output.rows.push_back(std::move(out));
  }
  result.table = std::move(output);
  return result;
}

} // namespace blockscale::explain
