//===- Calibration.h - the model of time at measured points -----*- C++ -*-===//
//
// Part of the blockscale project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Reads test/oracle/throughput and predicts each of its points; shared by the
// test, which bounds the errors, and the benchmark, which prints them.
//
//===----------------------------------------------------------------------===//

#ifndef BLOCKSCALE_UNITTESTS_HW_CALIBRATION_H
#define BLOCKSCALE_UNITTESTS_HW_CALIBRATION_H

#include "Formats/OracleCsv.h"
#include "blockscale/HW/GemmModel.h"

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <stdexcept>

namespace blockscale::test {

/// One measurement and what is predicted for it.
struct CalibrationPoint {
  CsvRow row;
  double measured, predicted;
  /// The prediction over the measurement, minus one.
  double error() const { return predicted / measured - 1; }
};

/// Errors of a set of points.
struct CalibrationSummary {
  size_t points = 0;
  double meanAbsolute = 0, median = 0, bias = 0, worst = 0;
  size_t within10 = 0, within20 = 0;
};

inline CalibrationSummary
summarize(const std::vector<CalibrationPoint> &points) {
  CalibrationSummary summary;
  std::vector<double> errors;
  for (const CalibrationPoint &point : points) {
    double error = std::abs(point.error());
    errors.push_back(error);
    summary.meanAbsolute += error / points.size();
    summary.bias += point.error() / points.size();
    summary.within10 += error <= 0.1;
    summary.within20 += error <= 0.2;
  }
  std::sort(errors.begin(), errors.end());
  summary.points = points.size();
  summary.median = errors.at(errors.size() / 2);
  summary.worst = errors.back();
  return summary;
}

inline double numberOf(const CsvRow &row, const char *column) {
  return std::strtod(row.at(column).c_str(), nullptr);
}

/// The kernel of a format's name in gemm.csv, tile left open.
inline hw::GemmKernel kernelOf(const std::string &format) {
  const hw::OperandType e2m1(ElementFormat::E2M1), e4m3(ElementFormat::E4M3),
      bf16(ElementFormat::BF16);
  struct Row {
    const char *format;
    hw::MmaKind kind;
    unsigned k;
    bool sparse;
    hw::OperandType a, b;
    unsigned span;
  };
  const Row rows[] = {
      {"NVFP4", hw::MmaKind::MXF4NVF4, 64, false, e2m1, e2m1, 16},
      {"NVFP4 (K96)", hw::MmaKind::MXF4NVF4, 96, false, e2m1, e2m1, 16},
      {"MXFP4", hw::MmaKind::MXF4, 64, false, e2m1, e2m1, 32},
      {"MXFP8", hw::MmaKind::MXF8F6F4, 32, false, e4m3, e4m3, 32},
      {"MXFP8 x MXFP4", hw::MmaKind::MXF8F6F4, 32, false, e4m3, e2m1, 32},
      {"FP8", hw::MmaKind::F8F6F4, 32, false, e4m3, e4m3, 0},
      {"FP8 sparse", hw::MmaKind::F8F6F4, 64, true, e4m3, e4m3, 0},
      {"BF16/FP16", hw::MmaKind::F16, 16, false, bf16, bf16, 0},
      {"BF16", hw::MmaKind::F16, 16, false, bf16, bf16, 0}};
  for (const Row &row : rows) {
    if (format != row.format)
      continue;
    hw::GemmKernel kernel;
    kernel.kind = row.kind;
    kernel.instructionK = row.k;
    kernel.sparse = row.sparse;
    kernel.bytesA = hw::bytesPerElement(row.a, row.span);
    kernel.bytesB = hw::bytesPerElement(row.b, row.span);
    return kernel;
  }
  throw std::runtime_error("unknown format '" + format + "'");
}

inline hw::GemmSize sizeOf(const CsvRow &row) {
  return {int64_t(numberOf(row, "M")), int64_t(numberOf(row, "N")),
          int64_t(numberOf(row, "K"))};
}

/// A library takes its best tile. The CuTe DSL example of clusters of 2 is a
/// known kernel: one tile, one accumulator released as a whole, a linear order.
inline hw::GemmPrediction predictTensorGemm(const CsvRow &row,
                                            bool powerLimits) {
  hw::GemmConditions conditions{hw::parsePart(row.at("chip")).value()};
  conditions.clockGhz = numberOf(row, "clock_GHz");
  conditions.powerLimited = powerLimits && row.at("regime") == "benchmark loop";
  if (row.at("data") == "zero")
    conditions.data = hw::OperandData::Zero;
  hw::GemmKernel kernel = kernelOf(row.at("format"));
  if (row.at("kernel") != "CuTeDSL (2,1) K96")
    return hw::bestGemm(kernel, sizeOf(row), conditions).prediction;
  kernel.overlap = hw::EpilogueOverlap::None;
  kernel.raster = hw::Raster::Linear;
  return hw::predictGemm(kernel, sizeOf(row), conditions);
}

/// Loops of one tile's MMAs: by their interval, and in bursts where the source
/// says how many a commit has.
inline double predictLoopTeraflops(const CsvRow &row) {
  hw::GemmKernel kernel = kernelOf(row.at("format"));
  unsigned m = unsigned(numberOf(row, "M"));
  hw::MmaStep step =
      hw::mmaStep(kernel.kind, kernel.instructionK, kernel.sparse,
                  m == 256 ? 2 : 1, m, unsigned(numberOf(row, "N")));
  // The clock of the loops with 128 MMAs for each commit was not recorded.
  constexpr double kAssumedGhz = 1.75;
  constexpr unsigned kPerCommit = 128;
  bool inBursts = row.at("kernel").find("128 per commit") != std::string::npos;
  double clock = inBursts ? kAssumedGhz : numberOf(row, "clock_GHz");
  double cycles = inBursts ? hw::mmaBurstCycles(step, kPerCommit) / kPerCommit
                           : hw::mmaIntervalCycles(step);
  bool oneSm = row.at("kernel").find("1 SM") != std::string::npos;
  double sms = oneSm ? 1 : hw::parsePart(row.at("chip"))->smCount;
  return 2.0 * m / step.ctaGroup * step.n * kernel.instructionK / cycles * sms *
         clock / 1e3;
}

/// Clocks that sm_120 cards sustain: 600 W 1.95 GHz in FP4 and 2.10 in FP8 (RTX
/// PRO 6000), 2.10 (RTX 5090); 400 W 1.85 and 1.75. A short run keeps 2.75,
/// between the vendor's 2.41 and the 2.9 that was seen.
inline double predictWarpTeraflops(const CsvRow &row) {
  bool isFp4 = row.at("format") == "NVFP4";
  bool isPro = row.at("chip") == "RTX PRO 6000";
  bool has400Watts = row.at("regime") == "400 W cap";
  double sustained = has400Watts      ? (isFp4 ? 1.85 : 1.75)
                     : isPro && isFp4 ? 1.95
                                      : 2.10;
  constexpr double kShortRun = 2.75;
  return hw::predictWarpMmaGemm(
             isFp4 ? hw::MmaKind::MXF4NVF4 : hw::MmaKind::MXF8F6F4, sizeOf(row),
             *hw::parsePart(row.at("chip")), sustained, kShortRun)
      .teraflops;
}

enum class CalibrationSet { TensorGemm, MmaLoop, WarpGemm };

inline CalibrationSet setOf(const CsvRow &row) {
  if (row.at("regime") == "MMA issue loop")
    return CalibrationSet::MmaLoop;
  return row.at("chip").rfind("RTX", 0) == 0 ? CalibrationSet::WarpGemm
                                             : CalibrationSet::TensorGemm;
}

/// The points of one set of gemm.csv; `powerLimits` false leaves the clock
/// where it starts.
inline std::vector<CalibrationPoint> calibrateGemms(CalibrationSet set,
                                                    bool powerLimits = true) {
  std::vector<CalibrationPoint> points;
  for (const CsvRow &row : readOracle("throughput/gemm.csv")) {
    if (setOf(row) != set)
      continue;
    double predicted = set == CalibrationSet::MmaLoop
                           ? predictLoopTeraflops(row)
                       : set == CalibrationSet::WarpGemm
                           ? predictWarpTeraflops(row)
                           : predictTensorGemm(row, powerLimits).teraflops;
    points.push_back({row, numberOf(row, "tflops"), predicted});
  }
  return points;
}

inline hw::MmaStep stepOf(const CsvRow &row) {
  hw::MmaStep step{unsigned(numberOf(row, "m")), unsigned(numberOf(row, "n")),
                   unsigned(numberOf(row, "cta_group"))};
  step.aFromTensorMemory = row.at("a_from") == "tensor";
  step.blockScaled = row.at("format").rfind("mx", 0) == 0;
  return step;
}

inline std::vector<CalibrationPoint> calibrateIntervals() {
  std::vector<CalibrationPoint> points;
  for (const CsvRow &row : readOracle("throughput/mma_intervals.csv"))
    points.push_back(
        {row, numberOf(row, "interval"), hw::mmaIntervalCycles(stepOf(row))});
  return points;
}

inline std::vector<CalibrationPoint> calibrateLatencies() {
  std::vector<CalibrationPoint> points;
  for (const CsvRow &row : readOracle("throughput/mma_intervals.csv"))
    points.push_back(
        {row, numberOf(row, "latency"), hw::mmaLatencyCycles(stepOf(row))});
  return points;
}

inline std::vector<CalibrationPoint> calibrateBursts() {
  std::vector<CalibrationPoint> points;
  for (const CsvRow &row : readOracle("throughput/mma_bursts.csv")) {
    double depth = numberOf(row, "depth");
    points.push_back(
        {row, numberOf(row, "cycles_per_mma"),
         hw::mmaBurstCycles(stepOf(row), unsigned(depth)) / depth});
  }
  return points;
}

} // namespace blockscale::test

#endif // BLOCKSCALE_UNITTESTS_HW_CALIBRATION_H
