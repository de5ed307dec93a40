//===- Target.cpp - NeuronCores and revisions of NKI ----------------------===//
//
// Part of the blockscale project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "blockscale/NKI/Target.h"
#include "blockscale/NKI/Documents.h"

#include <array>

using namespace blockscale;
using namespace blockscale::nki;

namespace {

// nki.jit, "target platform"; NKI API reference, nki.isa.nc_matmul_mx, note:
// "Available only on NeuronCore-v4 and newer".
constexpr std::array kChips{
    ChipInfo{Chip::Trn1, "trn1", "NeuronCore-v2", false},
    ChipInfo{Chip::Inf2, "inf2", "NeuronCore-v2", false},
    ChipInfo{Chip::Trn2, "trn2", "NeuronCore-v3", false},
    ChipInfo{Chip::Trn3, "trn3", "NeuronCore-v4", true},
};

// NKI API reference, nki.isa.nc_matmul_mx: signature and "Tile size" of the
// documents of these times; nki.language.ndarray; nki.jit. Between May and July
// 2026 the columns grew, the scale type and indirection were added; no release
// notes say when.
constexpr std::array kRevisions{
    RevisionInfo{Revision::Dec2025, "2025-12-01", AccumulateControl::Flag, 512,
                 1024, false, false, false, true},
    RevisionInfo{Revision::LateDec2025, "2025-12-19",
                 AccumulateControl::Inferred, 512, 1024, false, false, false,
                 true},
    RevisionInfo{Revision::Apr2026, "2026-04", AccumulateControl::Argument, 512,
                 1024, false, false, true, false},
    RevisionInfo{Revision::Jul2026, "2026-07", AccumulateControl::Argument,
                 4096, 8192, true, true, true, false},
};

constexpr Revision kNewest = Revision::Jul2026;

} // namespace

const ChipInfo &blockscale::nki::chipInfo(Chip chip) {
  return kChips[static_cast<size_t>(chip)];
}

const RevisionInfo &blockscale::nki::revisionInfo(Revision revision) {
  return kRevisions[static_cast<size_t>(revision)];
}

std::string blockscale::nki::targetName(Target target) {
  std::string name(chipInfo(target.chip).name);
  if (target.revision != kNewest)
    name += "@" + std::string(revisionInfo(target.revision).name);
  return name;
}

bool blockscale::nki::isTargetName(std::string_view name) {
  return name.substr(0, 3) == "trn" || name.substr(0, 3) == "inf";
}

Result<Target> blockscale::nki::parseTarget(std::string_view name) {
  std::string_view chip = name.substr(0, name.find('@'));
  std::string revisions;
  for (const ChipInfo &chipRow : kChips) {
    if (chipRow.name != chip)
      continue;
    if (chip == name)
      return Target{chipRow.chip, kNewest};
    for (const RevisionInfo &row : kRevisions) {
      if (row.name == name.substr(chip.size() + 1))
        return Target{chipRow.chip, row.revision};
      revisions += (revisions.empty() ? "'" : ", '") +
                   std::string(chipRow.name) + "@" + std::string(row.name) +
                   "'";
    }
  }
  std::string unknown = "unknown target '" + std::string(name) + "'; ";
  if (!revisions.empty())
    return Reason(unknown + "known revisions of NKI: " + revisions);
  return Reason(unknown +
                "known targets of NKI: 'trn3', 'trn3@2026-04' and so on for a "
                "revision of its documents");
}

std::optional<Reason> blockscale::nki::whyNotTarget(Target target) {
  const ChipInfo &info = chipInfo(target.chip);
  if (info.hasMX)
    return std::nullopt;
  return "target '" + targetName(target) + "' is a " + std::string(info.core) +
         " without block-scaled instructions: nc_matmul_mx and quantize_mx "
         "are available on NeuronCore-v4 and newer only" +
         cite(kMatmulCore) + "; nearest legal target: 'trn3'";
}
