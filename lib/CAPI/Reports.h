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

#include <string>
#include <vector>

namespace blockscale::capi {

/// blockscale-c/Emulator.h says what is in them.
std::string runReport(const emulator::RunResult &result);
std::string verdictReport(const std::vector<verify::Verdict> &verdicts);
std::string describeLaunch(const plan::Plan &plan, const plan::Kernel &kernel,
                           const plan::Environment &sizes);

} // namespace blockscale::capi

#endif // BLOCKSCALE_LIB_CAPI_REPORTS_H
