//===- ThroughputTest.cpp - the units of an SM against measurements -------===//
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

MmaStep mxfp8(unsigned ctaGroup, unsigned m, unsigned n) {
  return mmaStep(MmaKind::MXF8F6F4, 32, false, ctaGroup, m, n);
}
MmaStep k96(unsigned ctaGroup, unsigned n) {
  return mmaStep(MmaKind::MXF4NVF4, 96, false, ctaGroup, 128 * ctaGroup, n);
}
MmaStep sparse(unsigned ctaGroup, unsigned n) {
  return mmaStep(MmaKind::MXF8F6F4, 64, true, ctaGroup, 128 * ctaGroup, n);
}

TEST(ThroughputTest, BytesOfAStep) {
  EXPECT_EQ(mxfp8(1, 128, 256).bytesA, 32u);
  EXPECT_EQ(mxfp8(1, 128, 256).bytesB, 32u);
  EXPECT_EQ(k96(2, 256).bytesA, 48u);
  EXPECT_EQ(k96(2, 256).bytesB, 48u);
  MmaStep fp4 = mmaStep(MmaKind::MXF4, 128, true, 1, 128, 256);
  EXPECT_EQ(fp4.bytesA, 32u);
  EXPECT_EQ(fp4.bytesB, 64u);
  EXPECT_FALSE(mmaStep(MmaKind::F16, 16, false, 1, 128, 64).blockScaled);
  EXPECT_EQ(mmaStep(MmaKind::F16, 16, false, 1, 128, 64).bytesA, 32u);
}

/// Cycles of one N: cta_group 1 and 2 with 32 bytes of K, the same with K = 96,
/// and sparse ones.
struct Row {
  unsigned n;
  double one, pair, k96One, k96Pair, sparseOne, sparsePair;
};

// Measured on B300 but for the two sparse columns, which are the published
// formula's (and 160 at N = 256, which is measured: 7.44 PF).
TEST(ThroughputTest, IntervalIsTheMeasuredOne) {
  const Row table[] = {
      {16, 39, 39, 59, 59, 40, 39},       {32, 40, 39, 60, 59, 48, 43},
      {64, 48, 43, 72, 65, 64, 52},       {96, 56, 49, 84, 71, 80, 60},
      {128, 64, 64, 96, 78, 96, 69},      {192, 96, 96, 120, 96, 128, 96},
      {256, 128, 128, 144, 128, 160, 128}};
  for (const Row &row : table) {
    SCOPED_TRACE(row.n);
    // Whole cycles were published; the worst misfit is 3 % (pairs, N = 96).
    double half = 0.5, misfit = row.n == 96 ? 1.5 : 0.55;
    EXPECT_NEAR(mmaIntervalCycles(mxfp8(1, 128, row.n)), row.one, half);
    EXPECT_NEAR(mmaIntervalCycles(mxfp8(2, 256, row.n)), row.pair, misfit);
    EXPECT_NEAR(mmaIntervalCycles(k96(1, row.n)), row.k96One, half);
    EXPECT_NEAR(mmaIntervalCycles(k96(2, row.n)), row.k96Pair, misfit);
    EXPECT_NEAR(mmaIntervalCycles(sparse(1, row.n)), row.sparseOne, half);
    EXPECT_NEAR(mmaIntervalCycles(sparse(2, row.n)), row.sparsePair, misfit);
  }
}

// Half the rows at the same interval; a pair with M = 128 keeps the rate of 256
// from N = 136 on.
TEST(ThroughputTest, FewerRows) {
  EXPECT_DOUBLE_EQ(mmaIntervalCycles(mxfp8(1, 64, 256)), 128);
  EXPECT_DOUBLE_EQ(mmaIntervalCycles(mxfp8(2, 128, 256)), 64);
  EXPECT_DOUBLE_EQ(mmaIntervalCycles(mxfp8(2, 128, 64)), 25);
  EXPECT_DOUBLE_EQ(mmaIntervalCycles(mxfp8(2, 128, 16)), 19);
}

TEST(ThroughputTest, OperandInTensorMemory) {
  MmaStep step = mxfp8(1, 128, 16);
  step.aFromTensorMemory = true;
  EXPECT_DOUBLE_EQ(mmaIntervalCycles(step), 16);
  step.n = 128;
  EXPECT_DOUBLE_EQ(mmaIntervalCycles(step), 64);
  MmaStep pair = mxfp8(2, 256, 16);
  pair.aFromTensorMemory = true;
  EXPECT_DOUBLE_EQ(mmaIntervalCycles(pair), 18);
}

TEST(ThroughputTest, WhatLimitsTheInterval) {
  EXPECT_EQ(mmaLimit(mxfp8(1, 128, 256)), MmaLimit::Array);
  EXPECT_EQ(mmaLimit(mxfp8(1, 128, 96)), MmaLimit::OperandFetch);
  EXPECT_EQ(mmaLimit(mxfp8(1, 128, 16)), MmaLimit::Issue);
  EXPECT_EQ(mmaLimit(k96(1, 256)), MmaLimit::OperandFetch);
  EXPECT_EQ(mmaLimit(k96(2, 256)), MmaLimit::Array);
  EXPECT_EQ(mmaLimit(sparse(1, 256)), MmaLimit::OperandFetch);
}

MmaStep unscaled(unsigned ctaGroup, unsigned m, unsigned n) {
  return mmaStep(MmaKind::F16, 16, false, ctaGroup, m, n);
}

TEST(ThroughputTest, Latency) {
  EXPECT_DOUBLE_EQ(mmaLatencyCycles(unscaled(1, 128, 256)), 264);
  EXPECT_DOUBLE_EQ(mmaLatencyCycles(unscaled(1, 64, 128)), 184);
  EXPECT_DOUBLE_EQ(mmaLatencyCycles(unscaled(2, 256, 256)), 298);
  EXPECT_DOUBLE_EQ(mmaLatencyCycles(unscaled(2, 128, 128)), 197);
  EXPECT_DOUBLE_EQ(mmaLatencyCycles(mxfp8(1, 128, 256)), 265);
  EXPECT_DOUBLE_EQ(mmaLatencyCycles(mxfp8(2, 256, 256)), 301);
  MmaStep step = unscaled(1, 128, 256);
  step.aFromTensorMemory = true;
  EXPECT_DOUBLE_EQ(mmaLatencyCycles(step), 232);
  MmaStep pair = unscaled(2, 256, 256);
  pair.aFromTensorMemory = true;
  EXPECT_DOUBLE_EQ(mmaLatencyCycles(pair), 266);
}

TEST(ThroughputTest, MmasInFlight) {
  EXPECT_EQ(mmasInFlight(unscaled(1, 128, 256)), 3u);
  EXPECT_EQ(mmasInFlight(unscaled(1, 128, 128)), 4u);
  EXPECT_EQ(mmasInFlight(unscaled(2, 256, 64)), 5u);
  MmaStep pair = unscaled(2, 128, 64);
  pair.aFromTensorMemory = true;
  EXPECT_EQ(mmasInFlight(pair), 9u);
}

// 12 + 264 for the first, 128 for each further one.
TEST(ThroughputTest, Burst) {
  EXPECT_DOUBLE_EQ(mmaBurstCycles(unscaled(1, 128, 256), 1), 276);
  EXPECT_DOUBLE_EQ(mmaBurstCycles(unscaled(1, 128, 256), 4), 660);
}

TEST(ThroughputTest, TensorCopies) {
  EXPECT_DOUBLE_EQ(tensorCopyCycles(512), 16);
  EXPECT_NEAR(tensorCopyCycles(4096), 71, 3);
}

TEST(ThroughputTest, Barrier) {
  EXPECT_DOUBLE_EQ(barrierCycles(4), 30);
  EXPECT_DOUBLE_EQ(barrierCycles(32), 86);
}

TEST(ThroughputTest, RoundTripOfAStage) {
  // Measured: 0.745 us at 24 KiB, 1.15 at 32, 1.51 at 48.
  EXPECT_NEAR(stageRoundTripMicroseconds(24 * 1024), 0.745, 1e-9);
  EXPECT_NEAR(stageRoundTripMicroseconds(32 * 1024), 1.15, 1e-9);
  EXPECT_NEAR(stageRoundTripMicroseconds(48 * 1024), 1.51, 1e-9);
  EXPECT_NEAR(stageRoundTripCycles(40 * 1024), 1.33 * 1900, 1);
}

TEST(ThroughputTest, BytesInFlight) {
  EXPECT_NEAR(tmaTerabytesPerSecond(8 * 1024), 2.1, 1e-9);
  EXPECT_NEAR(tmaTerabytesPerSecond(48 * 1024), 6.475, 1e-9);
  EXPECT_NEAR(tmaTerabytesPerSecond(200 * 1024), 7.1, 1e-9);
}

// m16n8k64 in 4 cycles of an SM, and m16n8k32 with scales in the same.
TEST(ThroughputTest, WarpMma) {
  EXPECT_DOUBLE_EQ(warpMmaFlopsPerCycle(MmaKind::MXF4NVF4),
                   2 * 16 * 8 * 64 / 4);
  EXPECT_DOUBLE_EQ(warpMmaFlopsPerCycle(MmaKind::MXF8F6F4),
                   2 * 16 * 8 * 32 / 4);
  EXPECT_DOUBLE_EQ(warpMmaFlopsPerCycle(MmaKind::F8F6F4), 1024);
}

// Of every sparse kind an instruction reads 32 bytes of a row of A and 64 of a
// column of B, with scales or without.
TEST(ThroughputTest, SparseStepsWithoutScales) {
  struct Case {
    MmaKind kind;
    unsigned k;
  };
  for (Case c : {Case{MmaKind::F16, 32}, Case{MmaKind::TF32, 16},
                 Case{MmaKind::F8F6F4, 64}, Case{MmaKind::I8, 64}}) {
    MmaStep step = mmaStep(c.kind, c.k, /*sparse=*/true, 1, 128, 256);
    EXPECT_EQ(step.bytesA, 32u);
    EXPECT_EQ(step.bytesB, 64u);
    EXPECT_FALSE(step.blockScaled);
    EXPECT_EQ(mmaArrayCycles(step), 128);
  }
}

// What ptxas 13.0 and 13.5 make of fma.rn.f32x2: FFMA2, or two FFMA.
TEST(ThroughputTest, PairsOfFloats) {
  for (Chip chip : {Chip::SM100, Chip::SM103, Chip::SM107})
    EXPECT_TRUE(multipliesPairs(chip));
  for (Chip chip : {Chip::SM110, Chip::SM120, Chip::SM121})
    EXPECT_FALSE(multipliesPairs(chip));
}

} // namespace
