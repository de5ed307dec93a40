//===- CalibrationTest.cpp - the model of time at measured points ---------===//
//
// Part of the blockscale project, under the Apache License v2.0 with LLVM
// Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

// The bounds are the errors that the published model states for itself.

#include "HW/Calibration.h"
#include "gtest/gtest.h"

using namespace blockscale;
using namespace blockscale::test;

namespace {

/// The other program's predictions, which print one decimal.
void expectPublishedPredictions(const std::vector<CalibrationPoint> &points,
                                double relative) {
  for (const CalibrationPoint &point : points) {
    double published = numberOf(point.row, "model_tflops");
    EXPECT_NEAR(point.predicted, published, published * relative + 0.06)
        << point.row.at("id");
  }
}

// Clocks under the power limit were searched in steps there, hence 0.15 %.
TEST(Calibration, GemmsArePredictedAsPublished) {
  expectPublishedPredictions(calibrateGemms(CalibrationSet::TensorGemm),
                             0.0015);
}

TEST(Calibration, Gemms) {
  CalibrationSummary summary =
      summarize(calibrateGemms(CalibrationSet::TensorGemm));
  EXPECT_EQ(summary.points, 89u);
  EXPECT_NEAR(summary.meanAbsolute, 0.067, 0.0005);
  EXPECT_NEAR(summary.median, 0.038, 0.0005);
  EXPECT_NEAR(summary.bias, 0.028, 0.0005);
  EXPECT_NEAR(summary.worst, 0.63, 0.005);
  EXPECT_EQ(summary.within10, 70u);
  EXPECT_EQ(summary.within20, 82u);
}

// The power limit is what the model owes most of its accuracy to.
TEST(Calibration, GemmsWithoutPowerLimit) {
  CalibrationSummary summary = summarize(
      calibrateGemms(CalibrationSet::TensorGemm, /*powerLimits=*/false));
  EXPECT_NEAR(summary.meanAbsolute, 0.173, 0.0005);
}

/// The kernel of a row of rubin/gemm.csv, as its sources describe it.
hw::GemmKernel rubinKernel(const CsvRow &row) {
  const std::string &id = row.at("id");
  bool isBf16 = row.at("format") == "BF16";
  bool isNvfp4 = row.at("format") == "NVFP4 to BF16";
  hw::GemmKernel kernel = kernelOf(isBf16 ? "BF16" : isNvfp4 ? "NVFP4" : "FP8");
  kernel.ctaGroup = kernel.cluster = 2;
  kernel.tileM = kernel.tileN = 256;
  if (isBf16 || id == "R04")
    return kernel;
  // Pair tiles of 512 x 256: two instructions that share B.
  kernel.instructionK *= 2;
  kernel.tileM = 512;
  kernel.instructionsM = 2;
  kernel.stageK = isNvfp4 ? 256 : 128;
  kernel.stageBytes = (isNvfp4 ? 56 : 48) * 1024;
  kernel.stages = id == "R01"                  ? 3
                  : id == "R02" || id == "R05" ? 4
                  : id == "R03" || id == "R06" ? 5
                                               : 6;
  return kernel;
}

// Section 11.4 of the facts on sm_107. None of them had a part in the fit but
// for the round trip of a stage.
TEST(Calibration, GemmsOfRubin) {
  std::vector<CsvRow> rows = readOracle("rubin/gemm.csv");
  ASSERT_EQ(rows.size(), 10u);
  for (const CsvRow &row : rows) {
    hw::GemmConditions conditions{*hw::parsePart("VR200")};
    conditions.clockGhz = 2.376;
    hw::GemmSize size{16384, 16384, 16384};
    if (row.at("M") != "large")
      size = sizeOf(row);
    double predicted =
        hw::predictGemm(rubinKernel(row), size, conditions).teraflops;
    double measured = numberOf(row, "measured_tflops");
    EXPECT_NEAR(predicted, measured, 0.15 * measured) << row.at("id");
  }
}

TEST(Calibration, MmaLoops) {
  std::vector<CalibrationPoint> points =
      calibrateGemms(CalibrationSet::MmaLoop);
  expectPublishedPredictions(points, 0.0002);
  CalibrationSummary all = summarize(points);
  EXPECT_EQ(all.points, 19u);
  points.resize(12);
  EXPECT_EQ(points.back().row.at("id"), "G101");
  CalibrationSummary oneSm = summarize(points);
  EXPECT_NEAR(oneSm.meanAbsolute, 0.048, 0.0005);
  EXPECT_NEAR(oneSm.bias, 0.048, 0.0005);
  // The rest has an assumed clock at worst.
  EXPECT_LT(all.worst, 0.085);
}

TEST(Calibration, WarpLevelGemms) {
  std::vector<CalibrationPoint> points =
      calibrateGemms(CalibrationSet::WarpGemm);
  expectPublishedPredictions(points, 0.0002);
  CalibrationSummary summary = summarize(points);
  EXPECT_EQ(summary.points, 14u);
  EXPECT_NEAR(summary.meanAbsolute, 0.133, 0.0005);
  std::vector<CalibrationPoint> big;
  for (const CalibrationPoint &point : points)
    if (point.row.at("M") != "1024")
      big.push_back(point);
  EXPECT_EQ(big.size(), 12u);
  EXPECT_NEAR(summarize(big).meanAbsolute, 0.051, 0.0005);
}

TEST(Calibration, Intervals) {
  CalibrationSummary summary = summarize(calibrateIntervals());
  EXPECT_EQ(summary.points, 264u);
  EXPECT_NEAR(summary.meanAbsolute, 0.0027, 0.00005);
  EXPECT_NEAR(summary.worst, 0.033, 0.0005);
}

TEST(Calibration, Latencies) {
  CalibrationSummary summary = summarize(calibrateLatencies());
  EXPECT_EQ(summary.points, 264u);
  EXPECT_LT(summary.meanAbsolute, 0.005);
  EXPECT_LT(summary.worst, 0.065);
}

TEST(Calibration, Bursts) {
  CalibrationSummary summary = summarize(calibrateBursts());
  EXPECT_EQ(summary.points, 840u);
  EXPECT_LT(summary.meanAbsolute, 0.003);
  EXPECT_LT(summary.worst, 0.033);
}

} // namespace
