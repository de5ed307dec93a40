//===- GemmModelTest.cpp - predicted times of whole matmuls ---------------===//
//
// Part of the blockscale project, under the Apache License v2.0 with LLVM
// Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "blockscale/HW/GemmModel.h"
#include "gtest/gtest.h"

using namespace blockscale;
using namespace blockscale::hw;

namespace {

const OperandType kE2M1(ElementFormat::E2M1);

/// NVFP4 to bf16 with pairs of 256 x 256.
GemmKernel nvfp4Pair(unsigned instructionK) {
  GemmKernel kernel;
  kernel.kind = MmaKind::MXF4NVF4;
  kernel.instructionK = instructionK;
  kernel.bytesA = kernel.bytesB = bytesPerElement(kE2M1, 16);
  return kernel;
}

GemmConditions on(const char *part, double clockGhz) {
  GemmConditions conditions{*parsePart(part)};
  conditions.clockGhz = clockGhz;
  return conditions;
}

TEST(Part, Parts) {
  EXPECT_EQ(referencePart(Chip::SM100).name, "B200");
  EXPECT_EQ(referencePart(Chip::SM100).smCount, 148u);
  EXPECT_EQ(referencePart(Chip::SM103).boostMhz, 2032u);
  EXPECT_EQ(referencePart(Chip::SM110).smCount, 20u);
  EXPECT_EQ(referencePart(Chip::SM120).smCount, 170u);
  EXPECT_EQ(referencePart(Chip::SM121).smCount, 48u);
  EXPECT_EQ(parsePart("RTX PRO 6000")->smCount, 188u);
  EXPECT_FALSE(parsePart("B400"));
}

// One CTA to an SM: pairs fill a B200, 33 clusters of 4 and 15 of 8 fit.
TEST(Part, UsableSms) {
  Part b200 = *parsePart("B200");
  EXPECT_EQ(usableSms(b200, 1), 148u);
  EXPECT_EQ(usableSms(b200, 2), 148u);
  EXPECT_EQ(usableSms(b200, 4), 132u);
  EXPECT_EQ(usableSms(b200, 8), 120u);
}

TEST(GemmModel, BytesPerElement) {
  EXPECT_DOUBLE_EQ(bytesPerElement(kE2M1, 16), 0.5625);
  EXPECT_DOUBLE_EQ(bytesPerElement(kE2M1, 32), 0.53125);
  EXPECT_DOUBLE_EQ(bytesPerElement(ElementFormat::E4M3, 32), 1.03125);
  EXPECT_DOUBLE_EQ(bytesPerElement(ElementFormat::BF16, 0), 2.0);
}

// The parts of a wave, worked out by hand: 64 steps of 128 cycles at 96.5 % and
// 1.7 GHz; 74 tiles of 4096 x 288 bytes from 30 TB/s; 37.7 MB of operands and
// 33.6 MB of bf16 in four waves from 7 TB/s; 64 KiB of bf16 at 30 bytes a
// cycle.
TEST(GemmModel, WaveOfNvfp4OnB200) {
  GemmPrediction p =
      predictGemm(nvfp4Pair(64), {4096, 4096, 4096}, on("B200", 1.7));
  EXPECT_EQ(p.waves, 4);
  EXPECT_NEAR(p.mma, 4.99, 0.01);
  EXPECT_NEAR(p.l2, 2.91, 0.01);
  EXPECT_NEAR(p.memory, 1.87, 0.01);
  EXPECT_NEAR(p.epilogue, 1.29, 0.01);
  EXPECT_NEAR(p.wave, 6.02, 0.01);
  EXPECT_NEAR(p.total, 28.7, 0.05);
  EXPECT_NEAR(p.teraflops, 4790, 10);
  EXPECT_EQ(p.limit, GemmLimit::Array);
}

TEST(GemmModel, WaveOfK96OnB300) {
  GemmPrediction p =
      predictGemm(nvfp4Pair(96), {8192, 8192, 8192}, on("B300", 2.032));
  EXPECT_EQ(p.waves, 14);
  EXPECT_NEAR(p.mma, 5.61, 0.01);
  EXPECT_NEAR(p.l2, 5.82, 0.01);
  EXPECT_NEAR(p.memory, 2.08, 0.01);
  EXPECT_NEAR(p.epilogue, 1.08, 0.01);
  EXPECT_NEAR(p.wave, 7.81, 0.01);
  EXPECT_NEAR(p.teraflops, 9690, 10);
  EXPECT_EQ(p.limit, GemmLimit::L2);
}

// B200 cannot hold its boost clock of 1.965 GHz for 8192 cubed.
TEST(GemmModel, PowerLowersTheClock) {
  GemmConditions conditions = on("B200", 0);
  GemmSize size{8192, 8192, 8192};
  GemmPrediction atBoost = predictGemm(nvfp4Pair(64), size, conditions);
  EXPECT_DOUBLE_EQ(atBoost.clockGhz, 1.965);
  EXPECT_NEAR(atBoost.teraflops, 7600, 10);
  conditions.powerLimited = true;
  GemmPrediction limited = predictGemm(nvfp4Pair(64), size, conditions);
  EXPECT_NEAR(limited.clockGhz, 1.36, 0.005);
  EXPECT_NEAR(limited.teraflops, 5619.3, 6);
  EXPECT_NEAR(limited.watts, 1000, 0.5);
  // Zeros take 45 % of the dynamic power: 170 + 0.45 * 830 is below the limit.
  conditions.data = OperandData::Zero;
  EXPECT_GT(predictGemm(nvfp4Pair(64), size, conditions).clockGhz, 1.9);
}

// The array does 512 * K operations a cycle and SM; 2 * 8192^3 in 113.5 us at
// 2.032 GHz on 148 SMs of 49152 a cycle is 65.6 %.
TEST(GemmModel, TensorCoreBusy) {
  GemmPrediction p =
      predictGemm(nvfp4Pair(96), {8192, 8192, 8192}, on("B300", 2.032));
  EXPECT_NEAR(p.tensorCoreBusy, 0.6555, 0.001);
}

// 32 K tiles of 256 at 1.285 us of round trip for 38 KiB over the stages: 5
// stages hide it behind 128 MMAs (8.2 us against 8.6), 3 do not (13.7 us).
TEST(GemmModel, StagesHideTheLatency) {
  GemmKernel kernel = nvfp4Pair(64);
  kernel.stageK = 256;
  kernel.stageBytes = 38 * 1024;
  kernel.stages = 5;
  GemmSize size{8192, 8192, 8192};
  GemmPrediction five = predictGemm(kernel, size, on("B200", 0));
  EXPECT_NEAR(five.stages, 32 * 1.285 / 5, 0.001);
  EXPECT_EQ(five.limit, GemmLimit::Array);
  kernel.stages = 3;
  GemmPrediction three = predictGemm(kernel, size, on("B200", 0));
  EXPECT_NEAR(three.stages, 32 * 1.285 / 3, 0.001);
  EXPECT_EQ(three.limit, GemmLimit::Stages);
  EXPECT_LT(three.tensorCoreBusy, five.tensorCoreBusy);
}

/// FP8 to bf16 with pairs of 256 x 128, of whose blocks of 128 elements of K
/// four groups of warps add up the sums.
/// Cycles that a second warp on each quarter of the lanes saves.
double gainOfSecondWarp(const EpilogueWork &work) {
  return epilogueCycles(work, 1) - epilogueCycles(work, 2);
}

// 256 columns of bf16: eight rounds of 273 cycles at the port, behind the first
// load of 77. A second warp loads as much again before the first one stores.
TEST(GemmModel, StoresOfOneCtaAreBoundByThePort) {
  EpilogueWork work;
  EXPECT_NEAR(epilogueCycles(work, 1), 77 + 8 * 273, 5);
  EXPECT_NEAR(gainOfSecondWarp(work), -77, 2);
}

// Which is less than what it takes CTAs to meet: 557 cycles, of which a round
// of one warp hides 273 and one of two 546.
TEST(GemmModel, ASecondWarpLetsAClusterMeetWhileItStores) {
  EpilogueWork work;
  work.meetsEarly = true;
  EXPECT_NEAR(gainOfSecondWarp(work), 557 - 273 - 11 - 77, 2);
  // Stores of f32 take so long that it has met by then.
  work.bytes = 4;
  EXPECT_LT(gainOfSecondWarp(work), 0);
}

TEST(GemmModel, ASecondWarpHidesWhatTheFirstWaitsFor) {
  EpilogueWork work;
  work.wait = kL2LatencyCycles;
  EXPECT_GT(gainOfSecondWarp(work), 1500);
}

GemmKernel promotedPair() {
  GemmKernel kernel;
  kernel.kind = MmaKind::F8F6F4;
  kernel.instructionK = 32;
  kernel.tileN = 128;
  kernel.bytesA = kernel.bytesB = bytesPerElement(ElementFormat::E4M3, 0);
  kernel.promotionK = 128;
  kernel.promotionGroups = 4;
  kernel.accumulators = 4;
  return kernel;
}

// 32 blocks of 128 x 128 sums of 4 bytes through a port of 212 bytes a cycle,
// 309 cycles each, where the multipliers take 4 times 64; nothing hides the
// 1092 cycles that 32 KiB of bf16 take at 30 bytes a cycle.
TEST(GemmModel, SumsThatArePromotedPassOnePort) {
  GemmPrediction p =
      predictGemm(promotedPair(), {4096, 4096, 4096}, on("B200", 1.7));
  EXPECT_EQ(p.waves, 7);
  EXPECT_NEAR(p.mma, 4.99, 0.01);
  EXPECT_NEAR(p.promotion, 32 * 309.13 / 1700, 0.001);
  EXPECT_NEAR(p.wave, 5.819 + 0.643 + 0.5, 0.001);
  EXPECT_EQ(p.limit, GemmLimit::Promotion);
  EXPECT_EQ(gemmLimitName(p.limit), "promotion");
  // Blocks of twice the K are half as many.
  GemmKernel kernel = promotedPair();
  kernel.promotionK = 256;
  GemmPrediction two = predictGemm(kernel, {4096, 4096, 4096}, on("B200", 1.7));
  EXPECT_NEAR(two.promotion, p.promotion / 2, 0.001);
  EXPECT_EQ(two.limit, GemmLimit::Array);
}

// Each lane of 16 warps reads 32 scales of 4 bytes with each block, at 128
// bytes a cycle: 512 cycles. Of 8 warps it is 256, and one of them is busy for
// longer: 30 + 40 + 24 + 32 + 77.3 + 2 * 32 + 40 + 24.
TEST(GemmModel, ScalesOfColumnsPassThePortOfSharedMemory) {
  GemmKernel kernel = promotedPair();
  kernel.promotionScales = 32;
  GemmPrediction p = predictGemm(kernel, {4096, 4096, 4096}, on("B200", 1.7));
  EXPECT_NEAR(p.promotion, 32 * 512 / 1700.0, 0.001);
  kernel.tileN = 64;
  kernel.promotionGroups = 2;
  p = predictGemm(kernel, {4096, 4096, 4096}, on("B200", 1.7));
  EXPECT_NEAR(p.promotion, 32 * 331.3 / 1700, 0.001);
}

// 128 x 7168 x 2048 of NVFP4 in tiles of 128 x 64, one for each CTA: by the
// timeline 4.028 us alone, and in clusters of two CTAs that share A 4.318 where
// four warps store and 4.195 where eight do. So a cluster is not taken for what
// it takes off the L2 cache here.
TEST(GemmModel, CtasOfAClusterWaitForEachOther) {
  GemmKernel kernel = nvfp4Pair(64);
  kernel.ctaGroup = kernel.cluster = 1;
  kernel.tileM = 128;
  kernel.tileN = 64;
  kernel.stages = 8;
  kernel.stageK = 256;
  kernel.stageBytes = 128 * 144 + 64 * 128 + 128 * 16;
  kernel.overlap = EpilogueOverlap::TwoAccumulators;
  GemmSize size{128, 7168, 2048};
  double alone = predictGemm(kernel, size, on("B200", 1.965)).total;
  EXPECT_NEAR(alone, 4.028, 0.06);
  kernel.cluster = kernel.multicastA = 2;
  EXPECT_NEAR(predictGemm(kernel, size, on("B200", 1.965)).total - alone,
              4.318 - 4.028, 0.06);
  kernel.warpsOfQuarter = 2;
  EXPECT_NEAR(predictGemm(kernel, size, on("B200", 1.965)).total - alone,
              4.195 - 4.028, 0.06);
}

// A batch is that many products: tiles, traffic and work all scale.
// 256 tiles for 74 pairs: 108 of them in 74 shares of 23 or 24 of 16 stages,
// then two waves. Sums are brought together meanwhile, but where all of 96
// tiles are shared out: then the last CTA reads 128 KiB of each of two parts.
TEST(GemmModel, SharesFillTheLastWave) {
  GemmKernel kernel = nvfp4Pair(64);
  kernel.splitUnit = 256;
  GemmSize size{4096, 4096, 4096}, less{4096, 1536, 4096};
  GemmPrediction whole = predictGemm(kernel, size, on("B200", 1.7));
  kernel.shares = 74;
  kernel.sharedTiles = 108;
  GemmPrediction shared = predictGemm(kernel, size, on("B200", 1.7));
  EXPECT_EQ(shared.waves, 4);
  EXPECT_EQ(shared.reduction, 0);
  EXPECT_LT(shared.total, whole.total);
  kernel.sharedTiles = 96;
  EXPECT_NEAR(predictGemm(kernel, less, on("B200", 1.7)).reduction,
              (3 * 660 + 2 * 131072 / 49.65) / 1700, 1e-3);
}

// Four parts of a tile of 128 x 64: the last CTA reads 128 KiB at 49.6 bytes a
// cycle after three trips of 660; each of a cluster reads 32 KiB at 128, after
// 200 for the flight, and arrives four times at 24, with 7 cycles for each
// column.
TEST(GemmModel, PartsOfKMeetInAClusterOrInMemory) {
  GemmKernel kernel = nvfp4Pair(64);
  kernel.ctaGroup = kernel.cluster = 1;
  kernel.tileM = 128;
  kernel.tileN = 64;
  kernel.splits = 4;
  kernel.splitUnit = 256;
  GemmSize size{576, 64, 7168};
  GemmPrediction meet = predictGemm(kernel, size, on("B200", 1.965));
  EXPECT_NEAR(meet.reduction, (3 * 660 + 131072 / 49.65) / 1965, 1e-3);
  kernel.cluster = 4;
  kernel.exchanges = true;
  kernel.owners = 4;
  GemmPrediction exchange = predictGemm(kernel, size, on("B200", 1.965));
  EXPECT_NEAR(exchange.reduction,
              (200 + 32768 / 128.0 + 4 * 24 + 64 * 4) / 1965, 1e-3);
  // Nothing is stored in memory but D.
  EXPECT_LT(exchange.memory, meet.memory);
  EXPECT_LT(exchange.total, meet.total - 1.9);
  // Where two CTAs own all columns each adds twice as many.
  kernel.owners = 2;
  EXPECT_NEAR(predictGemm(kernel, size, on("B200", 1.965)).reduction,
              (200 + 65536 / 128.0 + 4 * 24 + 64 * 4) / 1965, 1e-3);
}

TEST(GemmModel, BatchMultiplies) {
  GemmPrediction one =
      predictGemm(nvfp4Pair(64), {4096, 4096, 4096}, on("B200", 1.7));
  GemmPrediction batch =
      predictGemm(nvfp4Pair(64), {4096, 4096, 4096, 37}, on("B200", 1.7));
  // 37 * 256 tiles on 74 pairs are 128 waves.
  EXPECT_EQ(one.waves, 4);
  EXPECT_EQ(batch.waves, 128);
  EXPECT_GT(batch.tensorCoreBusy, one.tensorCoreBusy);
}

// With M = 64 rows, the long side goes to the lanes of the tensor core.
TEST(GemmModel, BestSwapsForFewRows) {
  GemmChoice choice = bestGemm(nvfp4Pair(64), {64, 16384, 4096}, on("B200", 0));
  EXPECT_TRUE(choice.swapped);
  EXPECT_EQ(choice.kernel.tileN, 64u);
  EXPECT_FALSE(
      bestGemm(nvfp4Pair(64), {16384, 64, 4096}, on("B200", 0)).swapped);
}

// 7 waves of 128 x 128 x 4096 at 95 % of 4096 a cycle and 1.85 GHz, and 4 us:
// 134.5 us; RTX 5090 at 400 W.
TEST(GemmModel, WarpMma) {
  GemmPrediction p = predictWarpMmaGemm(MmaKind::MXF4NVF4, {4096, 4096, 4096},
                                        *parsePart("RTX 5090"), 1.85, 2.75);
  EXPECT_EQ(p.waves, 7);
  EXPECT_NEAR(p.total, 134.5, 0.1);
  EXPECT_NEAR(p.teraflops, 1021.8, 0.5);
  EXPECT_DOUBLE_EQ(p.clockGhz, 1.85);
  // A small product keeps the clock: smaller tiles at 80 % of that, 360.3 TF.
  GemmPrediction small =
      predictWarpMmaGemm(MmaKind::MXF4NVF4, {1024, 1024, 1024},
                         *parsePart("RTX 5090"), 1.85, 2.75);
  EXPECT_NEAR(small.teraflops, 360.3, 0.5);
  EXPECT_DOUBLE_EQ(small.clockGhz, 2.75);
}

} // namespace
