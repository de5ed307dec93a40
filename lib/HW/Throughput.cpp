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
  constexpr double kBytesPerRow = 32, kFetchBytesPerCycle = 128,
                   kShortest = 39;
  double array = n / 2.0;
  double fetch = (double(m) + n) * kBytesPerRow / kFetchBytesPerCycle;
  return std::max({array, fetch, kShortest});
}
