//===- Findings.cpp - names and printing of findings ----------------------===//
//
// Part of the blockscale project, under the Apache License v2.0 with LLVM
// Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "blockscale/Emulator/Findings.h"

#include <array>
#include <cstdio>

namespace blockscale::emulator {

std::string_view name(FindingKind kind) {
  static constexpr std::array<std::string_view, 18> kNames{
      "launch",     "unsupported",   "out-of-bounds", "misaligned",
      "read-only",  "uninitialised", "bad-address",   "mbarrier",
      "barrier",    "tma",           "tensor-memory", "descriptor",
      "divergence", "arithmetic",    "trap",          "deadlock",
      "step-limit", "race"};
  return kNames[static_cast<size_t>(kind)];
}

std::string toString(const Finding &finding) {
  std::string text;
  if (finding.line)
    text += "line " + std::to_string(finding.line) + ", ";
  text += "cta (" + std::to_string(finding.cta[0]) + "," +
          std::to_string(finding.cta[1]) + "," +
          std::to_string(finding.cta[2]) + ")";
  if (finding.warp >= 0)
    text += ", warp " + std::to_string(finding.warp);
  if (finding.lane >= 0)
    text += ", lane " + std::to_string(finding.lane);
  if (finding.address) {
    char buffer[32];
    std::snprintf(buffer, sizeof buffer, ", address 0x%llx",
                  static_cast<unsigned long long>(finding.address));
    text += buffer;
  }
  text += ": ";
  text += name(finding.kind);
  text += ": ";
  text += finding.message;
  if (finding.hazard)
    text += " [hazard " + std::to_string(finding.hazard) + "]";
  return text;
}

} // namespace blockscale::emulator
