//===- HazardCase.h - a kernel with a mistake, and without ------*- C++ -*-===//
//
// Part of the blockscale project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Each case has a place `$`. With the wrong text there, the line that holds
// `//!` is found under the number of the catalogue, in each order of completion
// and at the CTA, warp and lane that the marker names: `//! cta 1, warp 2`;
// what it does not name is 0, and `none` says that none is to blame. With the
// right text nothing is found.
//
//===----------------------------------------------------------------------===//

#ifndef BLOCKSCALE_UNITTESTS_EMULATOR_HAZARDCASE_H
#define BLOCKSCALE_UNITTESTS_EMULATOR_HAZARDCASE_H

#include "MachineHarness.h"

#include "blockscale/Emulator/Hazards.h"

namespace blockscale::emulator::test {

struct HazardCase {
  unsigned number = 0;
  const char *name = "";
  const char *text = "", *wrong = "", *right = "";
  uint32_t threads = 128, ctas = 1, cluster = 1;
  unsigned resident = 0;
  const char *target = "sm_100a";
  TensorMapType type = TensorMapType::U8; ///< of the map of mapKernel
  Swizzle swizzle = Swizzle::None;        ///< same
  const char *module = "";                ///< variables
  const char *directives = "";            ///< of mapKernel
  bool fromPreviousGrid = false;          ///< the input
  bool cooperative = false;
  /// Advice under the number of an entry that is an error elsewhere.
  bool advice = false;
  uint64_t stepLimit = uint64_t(1) << 32;
  std::optional<Completion> only = std::nullopt;
  /// The module with the place filled, and whether the kernel takes a map.
  std::string (*kernel)(const HazardCase &) = nullptr;
  bool takesMap = false;
};

/// The kernel of MachineHarness.h.
std::string plainKernel(const HazardCase &c);
/// A kernel with a tensor map of 128 x 64 elements and boxes of 128 x 8 on the
/// input; its registers are those of HazardKernel.h.
std::string mapKernel(const HazardCase &c);
TensorMap mapOf(const HazardCase &c);

void PrintTo(const HazardCase &c, std::ostream *stream);
std::string nameOf(const testing::TestParamInfo<HazardCase> &information);

/// The mistake is advice, though its entry is an error elsewhere.
inline HazardCase advised(HazardCase c) {
  c.advice = true;
  return c;
}
/// All CTAs of one warp each run at once.
inline HazardCase cooperative(uint32_t ctas, HazardCase c) {
  c.cooperative = true;
  c.ctas = ctas;
  c.threads = 32;
  return c;
}

/// All cases that are instantiated.
std::vector<HazardCase> &hazardCases();

/// The cases with the kernel, entered into hazardCases.
template <size_t n>
std::vector<HazardCase> listed(const HazardCase (&cases)[n],
                               std::string (*kernel)(const HazardCase &)) {
  std::vector<HazardCase> all(cases, cases + n);
  for (HazardCase &c : all) {
    c.kernel = kernel;
    c.takesMap = kernel == mapKernel;
  }
  hazardCases().insert(hazardCases().end(), all.begin(), all.end());
  return all;
}

/// The two tests of a case are in HazardCase.cpp.
class Hazards : public testing::TestWithParam<HazardCase> {};

} // namespace blockscale::emulator::test

#endif // BLOCKSCALE_UNITTESTS_EMULATOR_HAZARDCASE_H
