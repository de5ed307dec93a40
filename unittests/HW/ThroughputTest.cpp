//===- ThroughputTest.cpp - the interval of MMAs against measurements -----===//
//
// Part of the blockscale project, under the Apache License v2.0 with LLVM
// Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "blockscale/HW/Throughput.h"
#include "gtest/gtest.h"

using namespace blockscale::hw;

namespace {
struct Measured {
  unsigned n;
  double cycles;
};

TEST(ThroughputTest, RoundTripOfAStage) {
  // The sheet's section 5: 0.745 us at 24 KiB, 1.15 at 32, 1.51 at 48.
  EXPECT_NEAR(stageRoundTripCycles(24 * 1024), 0.745 * 1900, 1);
  EXPECT_NEAR(stageRoundTripCycles(32 * 1024), 1.15 * 1900, 1);
  EXPECT_NEAR(stageRoundTripCycles(48 * 1024), 1.51 * 1900, 1);
  EXPECT_NEAR(stageRoundTripCycles(40 * 1024), 1.33 * 1900, 1);
}

} // namespace

// Measured on B300 with cta_group 1, M = 128 and 32 bytes of K
// (ademeure/QuickRunCUDA); B200 gives the same.
TEST(ThroughputTest, IntervalIsTheMeasuredOne) {
  const Measured table[] = {{16, 39}, {32, 40},  {64, 48},  {96, 56},
                            {128, 64}, {192, 96}, {256, 128}};
  for (const Measured &row : table)
    EXPECT_DOUBLE_EQ(mmaIntervalCycles(128, row.n), row.cycles) << row.n;
}
