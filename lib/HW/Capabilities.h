//===- Capabilities.h - what each chip has --------------------*- C++ -*-===//
//
// Part of the blockscale project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// One row per chip. The sets of targets in the tables of this library follow
// from it: a new chip is a new row, a new property a new column.
//
//===----------------------------------------------------------------------===//

#ifndef BLOCKSCALE_LIB_HW_CAPABILITIES_H
#define BLOCKSCALE_LIB_HW_CAPABILITIES_H

#include "blockscale/HW/Mma.h"

#include <array>

namespace blockscale::hw {

struct Capabilities {
  Chip chip;
  /// Tensor memory and tcgen05; else matrix instructions are mma.sync.
  bool tcgen05;
  /// tcgen05.mma kind::i8.
  bool tcgen05Integer;
  /// tcgen05.mma with K = 96 by descriptors with an absolute leading offset.
  bool k96;
  /// tcgen05.ld.red, on the "a" target and on the "f" target.
  bool loadReduce, loadReduceFamily;
  /// cvt.rs.
  bool stochasticConvert;
  /// redux.sync on f32.
  bool reduxF32;
  /// FP4 metadata of a sparse A as pairs (4:8). Without it they are of single
  /// elements (2:4), which nothing here makes.
  bool pairwiseSparsity;
  /// K of twice the old one (64 for 8 bits, 128 for 4) and again 96, ue5m3
  /// scales and ue4m3 in blocks of 32, scales of A with one row to a lane.
  bool wideK;
  /// What came with it besides: collector::b, commits that wait for reads of A
  /// alone, masks of 32 CTAs, overrides of tensor maps, more conversions.
  bool ptx94;
  /// fma.f32x2 and its like are an instruction and not two, as ptxas 13.0 and
  /// 13.5 assemble them.
  bool multipliesPairs;
  /// Of the "f" target we only know that ptxas 13.0 assembles for it what it
  /// assembles for the family's first chip.
  bool familyInferred;
};

inline constexpr std::array kCapabilities{
    // chip, tcgen05, i8, K = 96, ld.red on a, on f, cvt.rs, redux, pairs, wide
    // K, 9.4, pairs of f32, f inferred
    Capabilities{Chip::SM100, true, true, false, false, false, true, true, true,
                 false, false, true, false},
    Capabilities{Chip::SM103, true, false, true, true, true, true, true, true,
                 false, false, true, false},
    Capabilities{Chip::SM107, true, false, false, true, true, true, true, false,
                 true, true, true, false},
    Capabilities{Chip::SM110, true, true, false, true, false, false, false,
                 true, false, false, false, true},
    Capabilities{Chip::SM120, false, false, false, false, false, false, false,
                 false, false, false, false, false},
    Capabilities{Chip::SM121, false, false, false, false, false, false, false,
                 false, false, false, false, true},
};
static_assert(kCapabilities.size() == size_t(Chip::SM121) + 1,
              "a row for each chip, in the order of the enum");

/// The targets of one variant whose chips `have`.
template <typename Have>
constexpr TargetSet targetsOf(TargetVariant variant, Have have) {
  TargetSet set;
  for (const Capabilities &chip : kCapabilities)
    if (have(chip))
      set = set | TargetSet{Target{chip.chip, variant}};
  return set;
}

/// The "a" targets of the chips with a property.
constexpr TargetSet archTargets(bool Capabilities::*property) {
  return targetsOf(TargetVariant::ArchSpecific,
                   [=](const Capabilities &chip) { return chip.*property; });
}

/// Their "f" targets, and both.
constexpr TargetSet familyTargets(bool Capabilities::*property) {
  return targetsOf(TargetVariant::Family,
                   [=](const Capabilities &chip) { return chip.*property; });
}
constexpr TargetSet targetsWith(bool Capabilities::*property) {
  return archTargets(property) | familyTargets(property);
}

/// The "a" targets of chips that lack tcgen05, and with the "f" targets.
constexpr TargetSet archTargetsWithoutTcgen05() {
  return targetsOf(TargetVariant::ArchSpecific,
                   [](const Capabilities &chip) { return !chip.tcgen05; });
}
constexpr TargetSet targetsWithoutTcgen05() {
  return archTargetsWithoutTcgen05() |
         targetsOf(TargetVariant::Family,
                   [](const Capabilities &chip) { return !chip.tcgen05; });
}

constexpr bool has(Chip chip, bool Capabilities::*property) {
  return kCapabilities[static_cast<size_t>(chip)].*property;
}

} // namespace blockscale::hw

#endif // BLOCKSCALE_LIB_HW_CAPABILITIES_H
