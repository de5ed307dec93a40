//===- LegalityTable.h - the legality table as text -------------*- C++ -*-===//
//
// Part of the blockscale project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The rows of one target, or all of them, for `explain legality --all`.
//
//===----------------------------------------------------------------------===//

#ifndef BLOCKSCALE_HW_LEGALITYTABLE_H
#define BLOCKSCALE_HW_LEGALITYTABLE_H

#include "blockscale/HW/Target.h"

#include <optional>
#include <string>

namespace blockscale::hw {

/// GitHub Markdown, for the documents.
std::string legalityTableMarkdown(std::optional<Target> target);

/// CSV with a header line.
std::string legalityTableCsv(std::optional<Target> target);

/// JSON for scripts: docs/legality.md describes it.
std::string legalityTableJson(std::optional<Target> target);

} // namespace blockscale::hw

#endif // BLOCKSCALE_HW_LEGALITYTABLE_H
