//===- Hazards.h - the catalogue of hazards ---------------------*- C++ -*-===//
//
// Part of the blockscale project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Mistakes that silicon does not report: each has a number, a grade and a
// paragraph that says what the rule is.
//
//===----------------------------------------------------------------------===//

#ifndef BLOCKSCALE_EMULATOR_HAZARDS_H
#define BLOCKSCALE_EMULATOR_HAZARDS_H

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace blockscale::emulator {

/// Whether a finding fails the run.
enum class Grade : uint8_t {
  Error,
  /// Formally wrong or unusual, and found in kernels that work.
  Advice,
};

/// The mistakes by name; Finding::hazard is the number.
enum class Hazard : uint8_t {
  None = 0,
#define BLOCKSCALE_HAZARD(name, number, grade, heading, rule) name = number,
#include "blockscale/Emulator/Hazards.def"
};

struct HazardInfo {
  unsigned number;
  Grade grade;
  /// A few words for headings.
  std::string_view name;
  /// The rule, one paragraph.
  std::string_view explanation;
};

/// The entry with this number; null if there is none.
const HazardInfo *hazardInfo(unsigned number);

/// The whole catalogue, by number.
std::vector<HazardInfo> hazardCatalogue();

/// The same as a table in Markdown.
std::string hazardTable();

} // namespace blockscale::emulator

#endif // BLOCKSCALE_EMULATOR_HAZARDS_H
