//===- Explain.h - answer whole tables of questions -*- C++ -*-===//
//
// Part of the blockscale project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Layout and encoding questions in bulk: a table with question columns goes in,
// the same table with its answer columns comes out. The facts are those of HW
// and Formats; nothing is known here that is not known there.
//
//===----------------------------------------------------------------------===//

#ifndef BLOCKSCALE_EXPLAIN_EXPLAIN_H
#define BLOCKSCALE_EXPLAIN_EXPLAIN_H

#include "blockscale/Explain/Csv.h"

namespace blockscale::explain {

/// The tables that can be asked for, in the order of the documentation.
std::vector<std::string> tableNames();

/// The columns of a table in order.
struct TableColumn {
  std::string name;
  /// True: computed; false: part of the question.
  bool isAnswer;
};
/// Empty for an unknown table. `decode` and `encode` have two forms; this is
/// the first.
std::vector<TableColumn> tableColumns(std::string_view table);

struct ExplainResult {
  /// The answered table; absent only if the question as a whole makes no sense
  /// (unknown table, question column missing), which `diagnostics` says.
  std::optional<Csv> table;
  /// One sentence per row that could not be answered ("line 7: column 'm':
  /// ..."), or why there is no table.
  std::vector<std::string> diagnostics;
};

/// Answers every row. Answer columns of the question are ignored and computed
/// anew; other columns that the table does not know follow at the end as they
/// were. A row that is malformed, illegal or not supported gets
/// "illegal: <why>" in every answer column.
ExplainResult explainTable(std::string_view table, const Csv &question);

} // namespace blockscale::explain

#endif // BLOCKSCALE_EXPLAIN_EXPLAIN_H
