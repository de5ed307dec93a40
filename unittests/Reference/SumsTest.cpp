//===- SumsTest.cpp - every way to sum gives the same bits ----------------===//
//
// Part of the blockscale project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Sums.h"

#include <cmath>
#include <gtest/gtest.h>

using namespace blockscale;
using namespace blockscale::reference;

namespace {

TileResult sumsOf(const Problem &problem, const SumWay &way, const Tile &tile) {
  TileResult result;
  result.tile = tile;
  result.sum.resize(tile.rows * tile.columns);
  result.absSum.resize(tile.rows * tile.columns);
  computeSums(problem, way, result);
  return result;
}

TEST(ReferenceSums, EveryHostHasOne) {
  ASSERT_FALSE(sumWays().empty());
  EXPECT_STREQ(sumWays().back().name, "generic");
}

// 2^60 + 1 - 2^60, and with the 1 at the end: f64 loses the first 1 alone. The
// scales 0xbb, 0x7f and 0xbb stand for 2^60, 1 and 2^60, 0x38 is 1 in e4m3.
TEST(ReferenceSums, AreTakenInOrderOfK) {
  Problem problem;
  problem.m = 1;
  problem.n = 2;
  problem.k = 3;
  problem.a.codes = {0x38, 0x38, 0xb8};
  problem.a.blockSize = 1;
  problem.a.scales = {0xbb, 0x7f, 0xbb};
  problem.b.codes = {0x38, 0x38, 0x38, 0x38, 0x00, 0x38};
  ASSERT_FALSE(whyNot(problem));
  Problem last = problem;
  last.a.codes = {0x38, 0xb8, 0x38};
  last.a.scales = {0xbb, 0xbb, 0x7f};
  for (const SumWay &way : sumWays()) {
    EXPECT_EQ(sumsOf(problem, way, {0, 0, 0, 1, 2}).sum,
              (std::vector<double>{0, 0}))
        << way.name;
    TileResult later = sumsOf(last, way, {0, 0, 0, 1, 2});
    EXPECT_EQ(later.sum, (std::vector<double>{1, 0x1p60 + 1})) << way.name;
    EXPECT_EQ(later.absSum, (std::vector<double>{0x1p61 + 1, 0x1p60 + 1}))
        << way.name;
  }
}

// Scales of all sizes, so that nearly every addition is rounded.
TEST(ReferenceSums, OfRaggedTilesAreThoseOfALoop) {
  Problem problem;
  // More than the sums are taken of at once.
  constexpr uint64_t kElements = 1111;
  problem.m = 11;
  problem.n = 19;
  problem.k = kElements;
  problem.batch = 2;
  problem.a.format = ElementFormat::E2M1;
  problem.a.blockSize = 16;
  problem.b.blockSize = 0;
  for (uint64_t i = 0; i < 2 * 11 * kElements; ++i)
    problem.a.codes.push_back(i * 7 % 16);
  for (uint64_t i = 0; i < 2 * 11 * 70; ++i)
    problem.a.scales.push_back(60 + i * 37 % 131);
  for (uint64_t i = 0; i < 2 * 19 * kElements; ++i)
    problem.b.codes.push_back(i * 11 % 109);
  ASSERT_FALSE(whyNot(problem));
  const Tile tile{1, 2, 3, 9, 13};
  for (const SumWay &way : sumWays()) {
    TileResult result = sumsOf(problem, way, tile);
    for (uint64_t i = 0; i < result.sum.size(); ++i) {
      double sum = 0, absSum = 0;
      for (uint64_t k = 0; k < kElements; ++k) {
        double term = elementValue(problem.a, kElements, 11 + 2 + i / 13, k) *
                      elementValue(problem.b, kElements, 19 + 3 + i % 13, k);
        sum += term;
        absSum += std::fabs(term);
      }
      EXPECT_EQ(result.sum[i], sum) << way.name << " " << i;
      EXPECT_EQ(result.absSum[i], absSum) << way.name << " " << i;
    }
  }
}

} // namespace
