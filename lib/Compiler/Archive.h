//===- Archive.h - reports as text and back ---------------------*- C++ -*-===//
//
// Part of the blockscale project, under the Apache License v2.0 with LLVM
// Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef BLOCKSCALE_LIB_COMPILER_ARCHIVE_H
#define BLOCKSCALE_LIB_COMPILER_ARCHIVE_H

#include "blockscale/Target/PTX/Report.h"
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace blockscale {

/// All of a report, for the cache; not the JSON that is for others.
std::string storeReport(const Report &report);
std::optional<Report> loadReport(std::string_view text);

/// The same for what ptxas says.
std::string storeFunctions(const std::vector<PtxasFunctionInfo> &functions);
std::optional<std::vector<PtxasFunctionInfo>>
loadFunctions(std::string_view text);

} // namespace blockscale

#endif // BLOCKSCALE_LIB_COMPILER_ARCHIVE_H
