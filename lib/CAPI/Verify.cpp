//===- Verify.cpp - verdicts ----------------------------------------------===//
//
// Part of the blockscale project, under the Apache License v2.0 with LLVM
// Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "LongCall.h"
#include "Reports.h"
#include "Verification.h"
#include "blockscale/Verify/VerifyPlan.h"

#include <algorithm>

using namespace blockscale;
using namespace blockscale::capi;

BlockscaleVerifyOptions capi::defaultVerifyOptions() {
  verify::VerifyOptions defaults;
  BlockscaleVerifyOptions options = {};
  options.structSize = sizeof(options);
  options.data = BLOCKSCALE_DATA_BOTH;
  options.conditions = BLOCKSCALE_CONDITIONS_BOTH;
  options.seed = defaults.seed;
  return options;
}

BlockscaleStatus blockscaleVerifyOptionsInit(BlockscaleVerifyOptions *options,
                                             size_t structSize) {
  return guarded(
      [&] { initOptions(options, structSize, defaultVerifyOptions()); });
}

std::vector<int64_t> capi::valuesOf(const int64_t *values, size_t count,
                                    const char *what) {
  if (!count)
    return {};
  requirePointer(values, what);
  if (count > SIZE_MAX / sizeof(int64_t))
    fail(BLOCKSCALE_INVALID_ARGUMENT,
         std::string("'") + what + "' cannot have that many values");
  return {values, values + count};
}

static verify::PlanRequest requestOf(const BlockscaleVerifyOptions &given) {
  verify::PlanRequest request;
  request.data = enumeratorOf<verify::DataChoice>(
      given.data, BLOCKSCALE_DATA_BOTH + 1, "data");
  request.conditions = enumeratorOf<verify::ConditionsChoice>(
      given.conditions, BLOCKSCALE_CONDITIONS_BOTH + 1, "conditions");
  request.m = valuesOf(given.m, given.mCount, "m");
  request.n = valuesOf(given.n, given.nCount, "n");
  request.k = valuesOf(given.k, given.kCount, "k");
  request.batch = valuesOf(given.batch, given.batchCount, "batch");
  if (given.numSms)
    request.numSms = given.numSms;
  request.options.sampleClusters = given.sampleClusters;
  request.options.seed = given.seed;
  request.options.threads = given.threads;
  request.options.completion = enumeratorOf<emulator::Completion>(
      given.completion, BLOCKSCALE_COMPLETION_LATEST + 1, "completion");
  return request;
}

BlockscaleStatus blockscaleVerify(BlockscaleSlice ptx, BlockscaleSlice plan,
                                  const BlockscaleVerifyOptions *options,
                                  BlockscaleVerification *verification) {
  return guarded([&] {
    requirePointer(verification, "verification");
    BlockscaleVerifyOptions chosen = optionsOf(options, defaultVerifyOptions());
    verify::PlanRequest request = requestOf(chosen);
    LongCall call(chosen.stop, chosen.progress, chosen.progressData);
    request.options.stop = call.stop();
    request.options.progress = call.progressOfSteps(chosen.step);
    Result<plan::Plan> parsedPlan = plan::parsePlan(textOf(plan, "plan"));
    if (!parsedPlan)
      fail(BLOCKSCALE_REFUSED, "the plan: " + parsedPlan.why().text);
    emulator::ParseResult module = emulator::parsePtx(textOf(ptx, "ptx"));
    if (!module) {
      std::string why = "the emulator cannot read the PTX";
      for (const emulator::Diagnostic &error : module.errors)
        why += "\n" + error.format();
      fail(BLOCKSCALE_REFUSED, why);
    }
    verify::PlanVerdict outcome =
        verify::verifyPlan(*module.module, *parsedPlan, request);
    call.finish();
    if (outcome.why)
      fail(BLOCKSCALE_REFUSED, outcome.why->text);
    const std::vector<verify::Verdict> &verdicts = outcome.verdicts;
    auto object = std::make_shared<VerificationObject>();
    object->hasPassed =
        !verdicts.empty() &&
        std::all_of(verdicts.begin(), verdicts.end(),
                    [](const auto &verdict) { return verdict.passed(); });
    object->text = verify::printVerdicts(verdicts);
    object->report = verdictReport(verdicts);
    *verification = {addObject(std::move(object))};
  });
}

BlockscaleStatus
blockscaleVerificationPassed(BlockscaleVerification verification,
                             bool *passed) {
  return guarded([&] {
    requirePointer(passed, "passed");
    *passed = get<VerificationObject>(verification.id)->hasPassed;
  });
}

BlockscaleStatus
blockscaleVerificationGetText(BlockscaleVerification verification,
                              BlockscaleSlice *text) {
  return guarded([&] {
    requirePointer(text, "text");
    *text = sliceOf(get<VerificationObject>(verification.id)->text);
  });
}

BlockscaleStatus
blockscaleVerificationGetReport(BlockscaleVerification verification,
                                BlockscaleSlice *json) {
  return guarded([&] {
    requirePointer(json, "json");
    *json = sliceOf(get<VerificationObject>(verification.id)->report);
  });
}

BlockscaleStatus
blockscaleVerificationDestroy(BlockscaleVerification verification) {
  return guarded([&] { destroy<VerificationObject>(verification.id); });
}
