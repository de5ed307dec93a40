//===- TileSums.cpp - sums over tiles along K, slowly ---------------------===//
//
// Part of the blockscale project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "blockscale/Reference/TileSums.h"

#include <algorithm>

using namespace blockscale;

uint64_t reference::partialSums(uint64_t tile) {
  uint64_t count = 32;
  while (tile && count > 1 && count * kSummedPiece > tile)
    count /= 2;
  return count;
}

float reference::tileSum(const std::vector<float> &values, uint64_t partialSums,
                         const std::function<float(float, uint64_t)> &scaled) {
  std::vector<float> sums(partialSums, 0.0f);
  for (uint64_t first = 0; first < values.size(); first += kSummedPiece) {
    float piece = values[first];
    uint64_t end = std::min<uint64_t>(values.size(), first + kSummedPiece);
    for (uint64_t i = first + 1; i < end; ++i)
      piece += values[i];
    sums[first / kSummedPiece % partialSums] += scaled(piece, first);
  }
  while (sums.size() > 1) {
    size_t half = sums.size() / 2;
    for (size_t i = 0; i < half; ++i)
      sums[i] += sums[i + half];
    sums.resize(half);
  }
  return sums.front();
}
