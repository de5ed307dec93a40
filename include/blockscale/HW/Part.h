//===- Part.h - the products that carry the chips ---------------*- C++ -*-===//
//
// Part of the blockscale project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// What a product adds to its chip: how many SMs, which clock, which memory.
// Only the model of time asks; nothing here decides whether a kernel is right.
//
//===----------------------------------------------------------------------===//

#ifndef BLOCKSCALE_HW_PART_H
#define BLOCKSCALE_HW_PART_H

#include "blockscale/HW/Target.h"

#include <optional>
#include <string_view>
#include <vector>

namespace blockscale::hw {

/// SMs of B200 and B300, on which all was measured that scales with them.
inline constexpr unsigned kMeasuredSms = 148;

/// One product. Terabytes are decimal.
struct Part {
  std::string_view name;
  Chip chip;
  unsigned smCount;
  unsigned boostMhz;
  /// 0 where nobody published one.
  unsigned powerLimitWatts;
  /// Power without load, fitted together with the coefficients of
  /// GemmModel.cpp; 0 where they were not fitted.
  unsigned idleWatts;
  /// Memory bandwidth that reads achieve, in TB/s; the vendor's figure where
  /// nobody measured it.
  double memoryTerabytesPerSecond;
};

/// All parts, in the order of their chips; the first of a chip is its
/// reference.
const std::vector<Part> &allParts();

/// The part that stands for `chip` where nobody names one.
const Part &referencePart(Chip chip);

/// Bytes that memory brings to each SM before the first one of a load lands
/// (kTmaMemoryLatency).
double bytesOnTheWay(const Part &part);

/// "B200", "RTX 5090"; empty for an unknown name.
std::optional<Part> parsePart(std::string_view name);

/// SMs that a grid of clusters of `cluster` CTAs, one CTA to an SM, can use.
/// The GPCs of the parts with tensor memory have 18 or 20 SMs, so that bigger
/// clusters leave some idle.
unsigned usableSms(const Part &part, unsigned cluster);

/// Clusters of `cluster` CTAs, one CTA to an SM, that the part runs at once.
unsigned residentClusters(const Part &part, unsigned cluster);

} // namespace blockscale::hw

#endif // BLOCKSCALE_HW_PART_H
