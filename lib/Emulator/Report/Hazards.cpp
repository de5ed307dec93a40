//===- Hazards.cpp - the catalogue of hazards -----------------------------===//
//
// Part of the blockscale project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "blockscale/Emulator/Hazards.h"

#include <algorithm>
#include <iterator>
#include <sstream>

namespace blockscale::emulator {

/// By number.
static constexpr HazardInfo kHazards[] = {
#define BLOCKSCALE_HAZARD(name, number, grade, heading, rule)                  \
  {number, Grade::grade, heading, rule},
#include "blockscale/Emulator/Hazards.def"
};

const HazardInfo *hazardInfo(unsigned number) {
  const HazardInfo *it =
      std::lower_bound(std::begin(kHazards), std::end(kHazards), number,
                       [](const HazardInfo &info, unsigned value) {
                         return info.number < value;
                       });
  return it != std::end(kHazards) && it->number == number ? it : nullptr;
}

std::vector<HazardInfo> hazardCatalogue() {
  return {std::begin(kHazards), std::end(kHazards)};
}

std::string hazardTable() {
  std::ostringstream text;
  text << "| number | grade | hazard | rule |\n| --- | --- | --- | --- |\n";
  for (const HazardInfo &info : hazardCatalogue())
    text << "| " << info.number << " | "
         << (info.grade == Grade::Error ? "error" : "advice") << " | "
         << info.name << " | " << info.explanation << " |\n";
  return text.str();
}

} // namespace blockscale::emulator
