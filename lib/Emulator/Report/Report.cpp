//===- Report.cpp - records findings and writes the trace -----------------===//
//
// Part of the blockscale project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "../Run/State.h"

#include "blockscale/Emulator/Hazards.h"

#include <algorithm>
#include <cstdio>

namespace blockscale::emulator::machine {

std::string hex(uint64_t value) {
  char buffer[32];
  std::snprintf(buffer, sizeof buffer, "0x%llx", (unsigned long long)value);
  return buffer;
}

static bool isAdvice(Hazard hazard) {
  const HazardInfo *info = hazardInfo(unsigned(hazard));
  return info && info->grade == Grade::Advice;
}

/// What a finding of the kind breaks, where it does not say so itself.
static Hazard ruleOf(FindingKind kind) {
  switch (kind) {
  case FindingKind::Uninitialised:
    return Hazard::Uninitialised;
  case FindingKind::OutOfBounds:
  case FindingKind::Misaligned:
  case FindingKind::ReadOnly:
  case FindingKind::BadAddress:
    return Hazard::BadAccess;
  default:
    return Hazard::None;
  }
}

void report(Cluster &cluster, const Origin &origin, FindingKind kind,
            std::string message, uint64_t address, Hazard hazard, bool mild) {
  if (hazard == Hazard::None)
    hazard = ruleOf(kind);
  bool advice = mild || isAdvice(hazard);
  std::vector<Finding> &findings = advice ? cluster.advice : cluster.findings;
  if (findings.size() >= cluster.grid.options.maxFindings ||
      (advice && !cluster.grid.options.advice))
    return;
  // A race recurs in each round of a loop and each warp.
  if (kind == FindingKind::Race || advice)
    for (const Finding &other : findings)
      if (other.hazard == unsigned(hazard) && other.line == origin.line)
        return;
  Finding finding{kind, std::move(message), origin.line};
  if (origin.cta)
    std::copy(origin.cta->id, origin.cta->id + 3, finding.cta);
  finding.warp = origin.warp;
  finding.lane = origin.lane;
  finding.address = address;
  finding.hazard = unsigned(hazard);
  for (const Finding &other : findings)
    if (other.kind == kind && other.line == finding.line && other.line != 0 &&
        other.message == finding.message && other.warp == finding.warp)
      return;
  findings.push_back(std::move(finding));
}

} // namespace blockscale::emulator::machine
