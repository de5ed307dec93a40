//===- Reports.h - results as JSON ------------------------------*- C++ -*-===//
//
// Part of the blockscale project, under the Apache License v2.0 with LLVM
// Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef BLOCKSCALE_LIB_CAPI_REPORTS_H
#define BLOCKSCALE_LIB_CAPI_REPORTS_H

#include "blockscale/Verify/Verify.h"

#include <nlohmann/json_fwd.hpp>
#include <string>
#include <vector>

namespace blockscale::capi {

using Json = nlohmann::ordered_json;

/// Parts of reports.
Json toJson(const std::vector<emulator::Finding> &findings);
Json toJson(const emulator::Counters &count);
Json toJson(emulator::OpenPointSet points);
/// As text, a line at the end; names in it may be any bytes.
std::string print(const Json &json);

/// blockscale-c/Emulator.h says what is in them.
std::string runReport(const emulator::RunResult &result);
std::string verdictReport(const std::vector<verify::Verdict> &verdicts);
std::string describeLaunch(const plan::Plan &plan, const plan::Kernel &kernel,
                           const plan::Environment &sizes);

} // namespace blockscale::capi

#endif // BLOCKSCALE_LIB_CAPI_REPORTS_H
