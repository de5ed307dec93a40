//===- Csv.h - comma-separated tables -*- C++ -*-===//
//
// Part of the blockscale project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef BLOCKSCALE_EXPLAIN_CSV_H
#define BLOCKSCALE_EXPLAIN_CSV_H

#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace blockscale::explain {

/// A table with a header. Rows may be shorter or longer than the header if
/// the text was; the reader reports them, and does not repair them.
struct Csv {
  struct Row {
    std::vector<std::string> fields;
    /// Line of the text on which the row starts, from 1; 0 if made by hand.
    unsigned line = 0;
  };

  std::vector<std::string> header;
  std::vector<Row> rows;

  /// Index of a column, if the header has it.
  std::optional<std::size_t> column(std::string_view name) const;
};

/// What was read, and what is wrong with it ("line 7: 3 fields, the header has
/// 5"). The table is absent if there is no header.
struct CsvResult {
  std::optional<Csv> table;
  std::vector<std::string> diagnostics;
};

/// Reads comma-separated text: LF or CRLF line ends, an optional byte-order
/// mark, fields in double quotes with "" for a quote. Empty lines are skipped.
CsvResult parseCsv(std::string_view text);

/// Writes the table with LF line ends; a field is quoted only if it must be.
std::string writeCsv(const Csv &table);

} // namespace blockscale::explain

#endif // BLOCKSCALE_EXPLAIN_CSV_H
