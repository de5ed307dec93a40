//===- TwoModelsTest.cpp - the chooser's formula and the timeline ---------===//
//
// Part of the blockscale project, under the Apache License v2.0 with LLVM
// Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Two models say how long a kernel takes: the formula by which
// blockscale-select-schedule chooses, which knows a few numbers of a schedule,
// and the timeline, which replays what the first cluster of the emitted kernel
// does. Where they are far apart the choice is not of the kernel that runs, as
// it was when clusters of four left a second wave of which the formula knew
// nothing. Neither is a measurement.
//
//===----------------------------------------------------------------------===//

#include "blockscale/Compiler/Compiler.h"
#include "blockscale/Dialect/Blockscale/IR/TensorCore.h"
#include "blockscale/Dialect/Blockscale/Transforms/Prediction.h"
#include "blockscale/Emulator/Ptx.h"
#include "blockscale/HW/GemmModel.h"
#include "blockscale/Timeline/Timeline.h"
#include "blockscale/Verify/Verify.h"
#include "mlir/Parser/Parser.h"
#include <cstdio>
#include <gtest/gtest.h>

using namespace blockscale;

namespace {

/// A product of M x K and N x K with the types of its operands, as MLIR has
/// them behind the sizes.
struct Case {
  const char *name, *target;
  int64_t m, n, k;
  const char *a, *b;
  /// Whether a C in f32 is added.
  bool hasC = false;
};

std::string operand(int64_t rows, int64_t k, const char *rest) {
  return "!blockscale.tensor<" + std::to_string(rows) + "x" +
         std::to_string(k) + "x" + rest + ">";
}

std::string source(const Case &c) {
  std::string a = operand(c.m, c.k, c.a), b = operand(c.n, c.k, c.b);
  std::string shape =
      "tensor<" + std::to_string(c.m) + "x" + std::to_string(c.n) + "x";
  std::string d = shape + "bf16>", typeC = shape + "f32>";
  return "func.func @f(%a: " + a + ", %b: " + b +
         (c.hasC ? ", %c: " + typeC : "") + ") -> " + d +
         " {\n  %d = blockscale.matmul %a, %b " + (c.hasC ? "c(%c) " : "") +
         ": " + a + ", " + b + (c.hasC ? ", " + typeC : "") + " -> " + d +
         "\n  return %d : " + d + "\n}\n";
}

/// Microseconds of a kernel, launch included.
struct Times {
  double formula = 0, timeline = 0;
  /// The schedule, as the table shows it.
  std::string schedule;
};

/// What the formula says of the product of `module`, which gets a schedule.
void predict(mlir::ModuleOp module, const CompilerOptions &options,
             Times &times) {
  ASSERT_TRUE(mlir::succeeded(lowerTo(module, Stage::Tensor, options)));
  module.walk([&](MatmulOp op) {
    times.formula = predictMicroseconds(op, options.expectedRows);
    ScheduleAttr schedule = getSchedule(op);
    for (int64_t part : {schedule.getTileM(), schedule.getTileN()})
      times.schedule +=
          (times.schedule.empty() ? "" : "x") + std::to_string(part);
    times.schedule += " in " + std::to_string(schedule.clusterM()) + "x" +
                      std::to_string(schedule.clusterN());
  });
}

/// How many clusters a launch takes for resident.
enum class Resident {
  /// Those that the part holds.
  AsOnPart,
  /// One for as many SMs as it has CTAs, which is more.
  AnySms
};

/// What the timeline says of the kernel that it becomes.
void replay(mlir::ModuleOp module, const CompilerOptions &options,
            Resident resident, Times &times) {
  auto compiled = compile(module, options);
  ASSERT_TRUE(mlir::succeeded(compiled) && compiled->size() == 1);
  const plan::Plan &plan = compiled->front().plan;
  ASSERT_EQ(plan.kernels.size(), 1u);
  emulator::ParseResult ptx = emulator::parsePtx(compiled->front().ptx);
  ASSERT_TRUE(bool(ptx));
  hw::Part part = hw::referencePart(hw::parseTarget(plan.target)->chip);
  auto residency = resident == Resident::AsOnPart
                       ? verify::residencyOn(part, plan.kernels[0])
                       : verify::residencyOn(part.smCount, plan.kernels[0]);
  auto sizes = verify::bindSizes(plan.kernels[0], {}, residency);
  ASSERT_TRUE(bool(sizes));
  std::optional<timeline::Timeline> timeline;
  verify::VerifyOptions run;
  run.sampleClusters = 1;
  run.beforeRun = [&](const emulator::Launch &launch,
                      emulator::Options &machine) {
    timeline.emplace(timeline::conditionsOf(launch, part));
    machine.strict = false;
    machine.eventCluster =
        machine.clusters.empty() ? 0 : machine.clusters.front();
    machine.event = [&](const emulator::Event &event) { timeline->add(event); };
  };
  verify::Verdict verdict = verify::verifyKernel(
      *ptx.module, plan.kernels[0], *sizes, verify::DataKind::Exact, run);
  EXPECT_TRUE(verdict.passed()) << verify::printVerdicts({verdict});
  times.timeline = timeline->finish().microseconds + hw::kLaunchMicroseconds;
}

/// Without a number the timeline is not asked.
Times timesOf(const Case &c,
              std::optional<Resident> resident = Resident::AsOnPart) {
  mlir::DialectRegistry registry;
  registerCompilerDialects(registry);
  mlir::MLIRContext context(registry);
  CompilerOptions options;
  options.target = c.target;
  options.withReport = false;
  auto module = mlir::parseSourceString<mlir::ModuleOp>(source(c), &context);
  Times times;
  if (!module) {
    ADD_FAILURE() << source(c);
    return times;
  }
  predict(*module, options, times);
  if (resident && !testing::Test::HasFatalFailure())
    replay(*module, options, *resident, times);
  return times;
}

#define TILED ", layout = tiled_128x4"
#define NVFP4 "f4E2M1FN, \"e4m3fn_t16\"" TILED
#define MXFP4 "f4E2M1FN, \"e8m0_t32\"" TILED
#define MXFP8 "f8E4M3FN, \"e8m0_t32\"" TILED

constexpr Case kCases[] = {
    {"NVFP4", "sm_100a", 2048, 4096, 4096, NVFP4, NVFP4},
    {"NVFP4", "sm_100a", 4096, 7168, 2048, NVFP4, NVFP4},
    {"NVFP4", "sm_100a", 512, 10240, 8192, NVFP4, NVFP4},
    {"NVFP4", "sm_100a", 64, 8192, 8192, NVFP4, NVFP4},
    {"NVFP4", "sm_103a", 4096, 4096, 4608, NVFP4, NVFP4},
    {"NVFP4", "sm_107a", 2048, 4096, 4096, NVFP4, NVFP4},
    {"MXFP8", "sm_107a", 1024, 4096, 4096, MXFP8, MXFP8},
    {"MXFP4", "sm_100a", 1024, 4096, 4096, MXFP4, MXFP4},
    {"MXFP8", "sm_100a", 2048, 4096, 4096, MXFP8, MXFP8},
    {"MXFP8", "sm_100a", 16, 4096, 7168, MXFP8, MXFP8},
    {"MXFP8 2:4", "sm_100a", 2048, 4096, 4096,
     "f8E4M3FN, \"e8m0_t32n2m4\"" TILED, "f8E4M3FN, \"e8m0_t64\"" TILED},
    {"bf16", "sm_100a", 2048, 4096, 2048, "bf16", "bf16"},
    // Memory takes longer for D, or for C, than for the operands.
    {"NVFP4", "sm_120a", 2048, 1536, 256, NVFP4, NVFP4},
    {"MXFP8 + C", "sm_121a", 384, 384, 256, MXFP8, MXFP8, /*hasC=*/true},
};

TEST(TwoModels, AgreeOnTheTimeOfChosenKernels) {
  // The formula reproduces published measurements within 7 % on average and
  // claims 25 % for few rows; the timeline was never held against any.
  constexpr double kLeast = 0.75, kMost = 1.25;
  std::printf("%-10s %-8s %-18s %-16s %10s %10s %8s\n", "operands", "chip",
              "M x N x K", "tile in cluster", "formula us", "timeline us",
              "ratio");
  for (const Case &c : kCases) {
    Times times = timesOf(c);
    double ratio = times.formula / times.timeline;
    std::string size = std::to_string(c.m) + "x" + std::to_string(c.n) + "x" +
                       std::to_string(c.k);
    std::printf("%-10s %-8s %-18s %-16s %10.1f %10.1f %8.2f\n", c.name,
                c.target, size.c_str(), times.schedule.c_str(), times.formula,
                times.timeline, ratio);
    EXPECT_GT(ratio, kLeast) << c.name << " " << size;
    EXPECT_LT(ratio, kMost) << c.name << " " << size;
  }
}

// How much more than others clusters must promise to be chosen is no part of
// the time that they take: it was once counted, 2 %.
TEST(TwoModels, HaveClustersTakeNoMoreThanTheyDo) {
  constexpr double kShare = 0.01;
  for (int64_t n : {2112, 4096}) {
    Times times = timesOf({"MXFP8", "sm_100a", 16, n, 7168, MXFP8, MXFP8});
    EXPECT_NEAR(times.formula, times.timeline, kShare * times.timeline) << n;
  }
}

// A B200 of 148 SMs holds 33 clusters of four, not 37. Kernels were once
// launched with 37, of which the formula knew nothing.
TEST(TwoModels, DisagreeWhereClustersHaveToWait) {
  Times times = timesOf(kCases[0], Resident::AnySms);
  EXPECT_LT(times.formula / times.timeline, 0.6);
}

// On VR200, by the model: the kernel that is chosen, with its stages, against
// the best tile, whose stages cost nothing.
TEST(TwoModels, KeepTheTensorCoresOfRubinBusy) {
  Times times =
      timesOf({"NVFP4", "sm_107a", 8192, 8192, 8192, NVFP4, NVFP4}, {});
  hw::GemmKernel kernel;
  kernel.kind = hw::MmaKind::MXF4NVF4;
  kernel.instructionK = 128;
  kernel.bitsA = kernel.bitsB = 4;
  kernel.bytesA = kernel.bytesB = 0.5 + 1.0 / 16;
  kernel.bytesD = 2;
  hw::GemmConditions conditions;
  conditions.part = *hw::parsePart("VR200");
  hw::GemmPrediction best =
      hw::bestGemm(kernel, {8192, 8192, 8192}, conditions).prediction;
  std::printf("%s: %.1f us, the best tile %.1f us, busy %.3f\n",
              times.schedule.c_str(), times.formula, best.total,
              best.tensorCoreBusy);
  EXPECT_GE(best.total / times.formula, 0.95);
}

} // namespace
