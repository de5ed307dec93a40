//===- Part.cpp - the products that carry the chips -----------------------===//
//
// Part of the blockscale project, under the Apache License v2.0 with LLVM
// Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "blockscale/HW/Part.h"
#include "blockscale/HW/Throughput.h"

#include <array>

using namespace blockscale::hw;

// SM counts: device queries in public benchmark repositories
// (AndreSlavescu/flashinfer-competition, ademeure/QuickRunCUDA,
// lookup1980/microbench-blackwell) and vendor pages. Clocks: the same; GB200 is
// a guess from its 10 PF, Thor and GB10 are derived from their peaks. Memory:
// SemiAnalysisAI/microbench-blackwell (B200), QuickRunCUDA (B300), gn-kernels
// (RTX 5090), the TileSight paper (RTX PRO 6000), vendor pages (Thor, GB10).
// VR200: SMs, locked clock and copy bandwidth of one early node from notes in
// cuDNN-frontend and FlashInfer, weak for the bandwidth (the vendor's peak is
// 22); power of the faster of two variants from third parties (docs/sources.md,
// [rubin]).
// Idle power of B200 and B300: fitted with the model of whole GEMMs.
const std::vector<Part> &blockscale::hw::allParts() {
  static const std::vector<Part> parts{
      {"B200", Chip::SM100, kMeasuredSms, 1965, 1000, 170, 7.0},
      {"GB200", Chip::SM100, 152, 2000, 1200, 170, 7.0},
      {"B300", Chip::SM103, kMeasuredSms, 2032, 1100, 185, 7.2},
      {"GB300", Chip::SM103, 152, 2070, 1400, 185, 7.2},
      {"VR200", Chip::SM107, 212, 2376, 2300, 0, 10.8},
      {"Thor T5000", Chip::SM110, 20, 1580, 130, 0, 0.273},
      {"RTX 5090", Chip::SM120, 170, 2407, 600, 0, 1.51},
      {"RTX PRO 6000", Chip::SM120, 188, 2617, 600, 0, 1.4},
      {"GB10", Chip::SM121, 48, 2500, 140, 0, 0.273},
  };
  return parts;
}

const Part &blockscale::hw::referencePart(Chip chip) {
  const std::vector<Part> &parts = allParts();
  for (const Part &part : parts)
    if (part.chip == chip)
      return part;
  return parts.front();
}

double blockscale::hw::bytesOnTheWay(const Part &part) {
  constexpr double kBytesPerMicrosecond = 1e6;
  return part.memoryTerabytesPerSecond * kBytesPerMicrosecond *
         kTmaMemoryLatency / part.smCount;
}

std::optional<Part> blockscale::hw::parsePart(std::string_view name) {
  for (const Part &part : allParts())
    if (part.name == name)
      return part;
  return std::nullopt;
}

unsigned blockscale::hw::usableSms(const Part &part, unsigned cluster) {
  // Counted on 148-SM parts: 33 clusters of 4 (public kernel notes), 15 of 8
  // (QuickRunCUDA). Parts of another size keep the same share. Nobody has
  // counted others. GPCs of 18 and 20 SMs hold 48 clusters of 3, 26 of 5, 24 of
  // 6 and 16 of 7, where they hold one of 4 and one of 8 more than was counted,
  // so that the SMs of 4, and of 8, are a cautious guess for all but 7.
  constexpr unsigned kClustersOf4 = 33, kClustersOf8 = 15;
  if (cluster <= 2)
    return part.smCount / cluster * cluster;
  // FlashInfer's occupancy query on the 212 SMs of VR200.
  constexpr unsigned kRubinSms = 212, kRubinClustersOf4 = 46,
                     kRubinClustersOf8 = 22;
  if (part.chip == Chip::SM107) {
    unsigned seen =
        cluster <= 4 ? kRubinClustersOf4 * 4 : kRubinClustersOf8 * 8;
    return part.smCount * seen / kRubinSms / cluster * cluster;
  }
  unsigned counted = cluster <= 4   ? kClustersOf4 * 4
                     : cluster == 7 ? kClustersOf8 * 7
                                    : kClustersOf8 * 8;
  return part.smCount * counted / kMeasuredSms / cluster * cluster;
}

unsigned blockscale::hw::residentClusters(const Part &part, unsigned cluster) {
  return usableSms(part, cluster) / cluster;
}
