//===- TileSumsTest.cpp - sums over tiles along K -------------------------===//
//
// Part of the blockscale project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "blockscale/Reference/TileSums.h"
#include "gtest/gtest.h"

using blockscale::reference::partialSums;
using blockscale::reference::tileSum;

namespace {

TEST(TileSums, PartialSums) {
  EXPECT_EQ(partialSums(16), 1u);
  EXPECT_EQ(partialSums(48), 2u);
  EXPECT_EQ(partialSums(128), 8u);
  EXPECT_EQ(partialSums(4096), 32u);
  EXPECT_EQ(partialSums(0), 32u);
}

// 2^24 + 1 is no f32: which numbers meet first decides what is lost.
TEST(TileSums, Order) {
  auto plain = [](float sum, uint64_t) { return sum; };
  std::vector<float> values(64, 0.0f);
  values[0] = 0x1p24f;
  // In the same piece as the large number the ones are lost one by one.
  values[1] = values[2] = 1;
  EXPECT_EQ(tileSum(values, 4, plain), 0x1p24f);
  // In the piece behind it they are two by then.
  values[1] = values[2] = 0;
  values[16] = values[17] = 1;
  EXPECT_EQ(tileSum(values, 4, plain), 0x1p24f + 2);
  // Pieces 1 and 3 meet before either meets piece 0.
  values[17] = 0;
  values[48] = 1;
  EXPECT_EQ(tileSum(values, 4, plain), 0x1p24f + 2);
  // Dealt to two sums they meet the same way; in one sum they are lost.
  EXPECT_EQ(tileSum(values, 2, plain), 0x1p24f + 2);
  EXPECT_EQ(tileSum(values, 1, plain), 0x1p24f);
}

// Scales are those of pieces, and the last one may be short.
TEST(TileSums, Scales) {
  std::vector<float> values(37, 1.0f);
  auto scaled = [](float sum, uint64_t first) {
    return sum * (first == 0 ? 1.0f : first == 16 ? 100.0f : 10000.0f);
  };
  EXPECT_EQ(tileSum(values, 2, scaled), 16.0f + 1600.0f + 50000.0f);
}

} // namespace
