//===- Layout.cpp - where scales and elements of K lie --------------------===//
//
// Part of the blockscale project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Rules.h"

#include <algorithm>
#include <set>

using namespace blockscale;
using namespace blockscale::nki;

/// Scale rows of one quadrant: 32 partitions by 8 of a group.
static constexpr unsigned kGroupsPerQuadrant = kQuadrant / kGroupPartitions;

unsigned blockscale::nki::scalePartition(unsigned group, unsigned offset) {
  return kQuadrant * (group / kGroupsPerQuadrant) + group % kGroupsPerQuadrant +
         offset;
}

unsigned blockscale::nki::minScalePartitions(unsigned partitions) {
  return partitions <= kQuadrant ? kGroupsPerQuadrant : partitions;
}

ContractionPosition blockscale::nki::contractionPosition(unsigned k) {
  return {k / kPack, k % kPack};
}

std::optional<std::string>
blockscale::nki::whyNotContractionMap(unsigned partitionStride,
                                      unsigned elementStride) {
  std::set<unsigned> members;
  for (unsigned p = 0; p < kGroupPartitions; ++p)
    for (unsigned q = 0; q < kPack; ++q)
      members.insert(p * partitionStride + q * elementStride);
  if (members.size() == kGroup && *members.rbegin() == kGroup - 1)
    return std::nullopt;
  return "k = " + number(partitionStride) + " * p + " + number(elementStride) +
         " * q puts other than 32 consecutive k into the group of partitions 0 "
         "to 7, which shares a scale: expected k = 4 * p + q or k = p + 8 * q "
         "(" +
         std::string(kQuantizeLayout) + "); nearest legal: k = 4 * p + q";
}

//===----------------------------------------------------------------------===//
// Accumulation groups
//===----------------------------------------------------------------------===//

unsigned blockscale::nki::accumulateFlag(unsigned step, unsigned steps) {
  return (step == 0 ? kFlagFirst : 0) | (step + 1 == steps ? kFlagLast : 0);
}

static std::string atStep(size_t step, size_t steps) {
  return "instruction " + std::to_string(step + 1) + " of " +
         std::to_string(steps) + " on one PSUM tile has ";
}

std::optional<std::string>
blockscale::nki::whyNotFlagGroup(const std::vector<unsigned> &flags) {
  for (size_t i = 0; i < flags.size(); ++i) {
    unsigned expected = accumulateFlag(i, flags.size());
    bool ontoExisting = i == 0 && (flags[0] & kFlagOntoExisting) != 0;
    if (flags[i] == expected ||
        (ontoExisting &&
         flags[0] == (kFlagOntoExisting | (expected & kFlagLast))))
      continue;
    return atStep(i, flags.size()) +
           "psum_accumulate_flag = " + number(flags[i]) + ": expected " +
           number(expected) +
           ", one opening instruction and a closing bit on the last (" +
           std::string(kMatmulParameters) + ")";
  }
  return std::nullopt;
}

std::optional<std::string> blockscale::nki::whyNotAccumulateGroup(
    const std::vector<std::optional<bool>> &accumulate) {
  for (size_t i = 0; i < accumulate.size(); ++i) {
    if (accumulate[i] == std::nullopt || *accumulate[i] == (i != 0))
      continue;
    return atStep(i, accumulate.size()) + "accumulate = " +
           (*accumulate[i] ? "True: expected False, since nothing was written "
                             "there before ("
                           : "False: expected True, since it drops the sum so "
                             "far (") +
           std::string(kMatmulParameters) + ")";
  }
  return std::nullopt;
}
