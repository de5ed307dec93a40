//===- Throughput.cpp - how fast the tensor core is fed -------------------===//
//
// Part of the blockscale project, under the Apache License v2.0 with LLVM
// Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "blockscale/HW/Throughput.h"

#include <algorithm>

double blockscale::hw::mmaIntervalCycles(unsigned m, unsigned n) {
  constexpr double kBytesPerRow = 32, kFetchBytesPerCycle = 128, kShortest = 39;
  double array = n / 2.0;
  double fetch = (double(m) + n) * kBytesPerRow / kFetchBytesPerCycle;
  return std::max({array, fetch, kShortest});
}

double blockscale::hw::stageRoundTripCycles(double bytes) {
  constexpr double kKiB = 1024, kCyclesPerMicrosecond = 1900;
  bool isSmall = bytes < 32 * kKiB;
  double fromBytes = (isSmall ? 24 : 32) * kKiB,
         fromTime = isSmall ? 0.745 : 1.15;
  double toBytes = (isSmall ? 32 : 48) * kKiB, toTime = isSmall ? 1.15 : 1.51;
  double slope = (toTime - fromTime) / (toBytes - fromBytes);
  constexpr double kShortestTime = 0.5;
  double time = fromTime + (bytes - fromBytes) * slope;
  return std::max(time, kShortestTime) * kCyclesPerMicrosecond;
}
