//===- ThroughputModel.cpp - the model of time against measurements -------===//
//
// Part of the blockscale project, under the Apache License v2.0 with LLVM
// Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Usage: throughput-model [points]
//
// Predicts every point of test/oracle/throughput and prints the errors of each
// set; with `points`, of each point. Then what the model expects of the tensor
// core in big products, for the kernels we emit and for the best tile it knows.
//
//===----------------------------------------------------------------------===//

#include "HW/Calibration.h"

#include <cstdio>
#include <cstring>

using namespace blockscale;
using namespace blockscale::hw;
using namespace blockscale::test;

static void printPoint(const CalibrationPoint &point) {
  const CsvRow &row = point.row;
  std::printf("  %s %s %s %s %s x %s x %s: measured %.1f, predicted %.1f TF, "
              "%+.1f %%\n",
              row.at("id").c_str(), row.at("chip").c_str(),
              row.at("kernel").c_str(), row.at("format").c_str(),
              row.at("M").c_str(), row.at("N").c_str(), row.at("K").c_str(),
              point.measured, point.predicted, 100 * point.error());
}

static void print(const char *name, const std::vector<CalibrationPoint> &points,
                  bool printPoints) {
  CalibrationSummary summary = summarize(points);
  std::printf("%s: %zu points, mean absolute error %.2f %%, median %.2f %%, "
              "bias %+.2f %%, worst %.1f %%\n",
              name, summary.points, 100 * summary.meanAbsolute,
              100 * summary.median, 100 * summary.bias, 100 * summary.worst);
  if (printPoints)
    for (const CalibrationPoint &point : points)
      printPoint(point);
}

namespace {
/// A kernel of pairs of CTAs with tiles of 256 x 256.
struct Emitted {
  const char *name, *format, *part;
  unsigned stages, stageK;
  /// Of one CTA: half of A and of B, its scales of A and all scales of B.
  double stageBytes;
};
} // namespace

static constexpr Emitted kEmitted[] = {
    {"NVFP4", "NVFP4", "B200", 6, 256, 38.0 * 1024},
    {"MXFP8", "MXFP8", "B200", 6, 128, 33.5 * 1024},
    {"NVFP4 K=96", "NVFP4 (K96)", "B300", 6, 256, 38.0 * 1024},
};

static void printBusy(const Emitted &emitted, bool powerLimited) {
  GemmSize size{8192, 8192, 8192};
  GemmConditions conditions{*parsePart(emitted.part)};
  conditions.powerLimited = powerLimited;
  GemmKernel kernel = kernelOf(emitted.format);
  kernel.stages = emitted.stages;
  kernel.stageK = emitted.stageK;
  kernel.stageBytes = emitted.stageBytes;
  GemmPrediction ours = predictGemm(kernel, size, conditions);
  GemmPrediction bound = bestGemm(kernel, size, conditions).prediction;
  std::string_view limit = gemmLimitName(ours.limit);
  std::printf(
      "%s on %s, 8192 cubed, %s: busy %.1f %% at %.3f GHz, limited by "
      "%.*s; best of the model %.1f %%, share of it %.1f %%\n",
      emitted.name, emitted.part, powerLimited ? "power limit" : "boost clock",
      100 * ours.tensorCoreBusy, ours.clockGhz, int(limit.size()), limit.data(),
      100 * bound.tensorCoreBusy, 100 * ours.teraflops / bound.teraflops);
}

int main(int argc, char **argv) {
  bool points = argc > 1 && std::strcmp(argv[1], "points") == 0;
  print("GEMMs of sm_100 and sm_103",
        calibrateGemms(CalibrationSet::TensorGemm), points);
  print("the same without the power limit",
        calibrateGemms(CalibrationSet::TensorGemm, /*powerLimits=*/false),
        false);
  print("loops of MMAs", calibrateGemms(CalibrationSet::MmaLoop), points);
  print("GEMMs of sm_120", calibrateGemms(CalibrationSet::WarpGemm), points);
  print("intervals of MMAs", calibrateIntervals(), false);
  print("latencies of MMAs", calibrateLatencies(), false);
  print("bursts of MMAs", calibrateBursts(), false);
  for (bool powerLimited : {false, true})
    for (const Emitted &emitted : kEmitted)
      printBusy(emitted, powerLimited);
}
