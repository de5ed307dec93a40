//===- Csv.cpp - comma-separated tables===//
//
// Part of the blockscale project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "blockscale/Explain/Csv.h"

#include <algorithm>

namespace blockscale::explain {

std::optional<std::size_t> Csv::column(std::string_view name) const {
  auto found = std::find(header.begin(), header.end(), name);
  if (found == header.end())
    return std::nullopt;
  return static_cast<std::size_t>(found - header.begin());
}

namespace {
/// Splits the text into rows, one call of `next` per row.
class Reader {
public:
  Reader(std::string_view text, std::vector<std::string> &diagnostics)
      : text(text), diagnostics(diagnostics) {
    if (text.substr(0, 3) == "\xef\xbb\xbf")
      at = 3;
  }

  /// The next row that is not empty; none at the end of the text.
  std::optional<Csv::Row> next() {
    while (at < text.size()) {
      Csv::Row row;
      row.line = line;
      bool quoted = false;
      do {
        row.fields.push_back(field(quoted));
      } while (separator());
      if (row.fields.size() > 1 || quoted || !row.fields[0].empty())
        return row;
    }
    return std::nullopt;
  }

private:
  bool atLineEnd() const {
    return at >= text.size() || text[at] == '\n' ||
           (text[at] == '\r' &&
            (at + 1 == text.size() || text[at + 1] == '\n'));
  }

  std::string field(bool &quoted) {
    if (at < text.size() && text[at] == '"') {
      quoted = true;
      return quotedField();
    }
    std::string value;
    while (!atLineEnd() && text[at] != ',')
      value += text[at++];
    return value;
  }

  std::string quotedField() {
    std::string value;
    unsigned start = line;
    for (++at; at < text.size(); ++at) {
      if (text[at] == '"') {
        if (at + 1 < text.size() && text[at + 1] == '"') {
          value += text[++at];
          continue;
        }
        ++at;
        while (!atLineEnd() && text[at] != ',')
          value += text[at++];
        return value;
      }
      if (text[at] == '\n')
        ++line;
      value += text[at];
    }
    diagnostics.push_back("line " + std::to_string(start) +
                          ": the quoted field is not closed");
    return value;
  }

  /// Steps over what ends a field; true if another field of the row follows.
  bool separator() {
    if (at < text.size() && text[at] == ',') {
      ++at;
      return true;
    }
    if (at < text.size() && text[at] == '\r')
      ++at;
    if (at < text.size() && text[at] == '\n')
      ++at;
    ++line;
    return false;
  }

  std::string_view text;
  std::vector<std::string> &diagnostics;
  std::size_t at = 0;
  unsigned line = 1;
};
} // namespace

CsvResult parseCsv(std::string_view text) {
  CsvResult result;
  Reader reader(text, result.diagnostics);
  std::optional<Csv::Row> header = reader.next();
  if (!header) {
    result.diagnostics.push_back("line 1: the table has no header");
    return result;
  }
  Csv table;
  table.header = std::move(header->fields);
  while (std::optional<Csv::Row> row = reader.next()) {
    if (row->fields.size() != table.header.size())
      result.diagnostics.push_back("line " + std::to_string(row->line) + ": " +
                                   std::to_string(row->fields.size()) +
                                   " fields, the header has " +
                                   std::to_string(table.header.size()));
    table.rows.push_back(std::move(*row));
  }
  result.table = std::move(table);
  return result;
}

static void writeRow(std::string &text,
                     const std::vector<std::string> &fields) {
  for (std::size_t i = 0; i < fields.size(); ++i) {
    if (i != 0)
      text += ',';
    if (fields[i].find_first_of(",\"\r\n") == std::string::npos) {
      text += fields[i];
      continue;
    }
    text += '"';
    for (char c : fields[i])
      text += c == '"' ? "\"\"" : std::string(1, c);
    text += '"';
  }
  text += '\n';
}

std::string writeCsv(const Csv &table) {
  std::string text;
  writeRow(text, table.header);
  for (const Csv::Row &row : table.rows)
    writeRow(text, row.fields);
  return text;
}

} // namespace blockscale::explain
