//===- KernelTime.cpp - the timeline's word on a kernel -------------------===//
//
// Part of the blockscale project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "KernelTime.h"
#include "blockscale/Verify/VerifyPlan.h"

using namespace blockscale;
using namespace blockscale::driver;

/// Two clusters of a kernel whose tiles are shared out: one in the middle adds
/// up the tile that the one before began, and begins another.
static std::vector<uint64_t>
clustersInTheMiddle(const emulator::Launch &launch) {
  uint64_t all =
      launch.grid.count() / std::max<uint64_t>(1, launch.cluster.count());
  if (all > 1)
    return {all / 2 - 1, all / 2};
  return {all / 2};
}

/// One run, with one set of sizes, of which one cluster is recorded.
static verify::PlanRequest oneRun(int64_t rows) {
  verify::PlanRequest request;
  request.data = verify::DataChoice::Exact;
  request.conditions = verify::ConditionsChoice::Plain;
  if (rows)
    request.m = {rows};
  // Of clusters that compute a tile together the last one, which comes last on
  // one thread, does most.
  request.options.sampleClusters = 1;
  request.options.threads = 1;
  request.afterRun = [](const verify::Verdict &) { return false; };
  return request;
}

/// Why nothing was recorded.
static std::string whyNotRun(const verify::PlanVerdict &outcome) {
  if (outcome.why)
    return outcome.why->text;
  if (!outcome.verdicts.empty() && outcome.verdicts.front().why)
    return outcome.verdicts.front().why->text;
  return "the kernel was not run";
}

TimedKernel driver::timeKernel(const Compilation &compilation,
                               const plan::Kernel &kernel, int64_t rows,
                               bool hasSums) {
  TimedKernel timed;
  emulator::ParseResult ptx = emulator::parsePtx(compilation.ptx);
  Result<hw::Target> target = hw::parseTarget(compilation.target);
  if (!ptx || !target) {
    timed.why = "the emulator cannot read the PTX";
    return timed;
  }
  timed.part = hw::referencePart(target->chip);
  plan::Plan single = compilation.plan;
  single.kernels = {kernel};
  // Where tiles are shared out two clusters are run, although they do not
  // finish all of their tiles.
  bool isStreamed = kernel.workspace && kernel.workspace->parts == 0;
  if (isStreamed)
    single.kernels.front().workspace->parts = 1;
  verify::PlanRequest request = oneRun(rows);
  std::unique_ptr<timeline::Timeline> recorded;
  request.options.beforeRun = [&](const emulator::Launch &launch,
                                  emulator::Options &options) {
    timeline::Conditions conditions =
        timeline::conditionsOf(launch, timed.part);
    // The loads of sums of parts of K are the formula's where one cluster
    // shows none, or not what it waits for.
    conditions.countsRowLoads = !kernel.workspace || hasSums;
    recorded = std::make_unique<timeline::Timeline>(conditions);
    if (isStreamed)
      options.clusters = clustersInTheMiddle(launch);
    options.eventCluster =
        options.clusters.empty() ? 0 : options.clusters.back();
    options.event = [&](const emulator::Event &event) { recorded->add(event); };
  };
  verify::PlanVerdict outcome =
      verify::verifyPlan(*ptx.module, single, request);
  if (outcome.verdicts.empty() || outcome.verdicts.front().why || !recorded) {
    timed.why = whyNotRun(outcome);
    return timed;
  }
  timed.sizes = outcome.verdicts.front().sizes;
  timed.estimate = recorded->finish();
  return timed;
}
