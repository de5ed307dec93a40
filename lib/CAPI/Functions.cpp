//===- Functions.cpp - whole functions, called and judged -----------------===//
//
// Part of the blockscale project, under the Apache License v2.0 with LLVM
// Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "blockscale-c/Functions.h"
#include "LongCall.h"
#include "Options.h"
#include "Reports.h"
#include "Session.h"
#include "Verification.h"
#include "blockscale/Execute/CheckFunctions.h"
#include "blockscale/Execute/Program.h"
#include "blockscale/Verify/VerifyPlan.h"

#include <algorithm>
#include <nlohmann/json.hpp>

using namespace blockscale;
using namespace blockscale::capi;

namespace {
struct ProgramObject : Object {
  static constexpr const char *kKind = "program";
  Exclusive exclusive;
  std::unique_ptr<execute::Program> program;
  std::string description;
};

struct CallObject : Object {
  static constexpr const char *kKind = "call";
  std::vector<execute::ArrayValue> results;
  std::string report;
};
} // namespace

//===----------------------------------------------------------------------===//
// JSON
//===----------------------------------------------------------------------===//

static Json toJson(const execute::Slot &slot) {
  Json sizes = Json::array();
  for (int64_t size : slot.sizes)
    sizes.push_back(mlir::ShapedType::isDynamic(size) ? Json() : Json(size));
  return {{"index", slot.index},      {"part", slot.part},
          {"element", slot.element},  {"elementBytes", slot.elementBytes},
          {"sizes", sizes},           {"isNumber", slot.isNumber},
          {"isMemory", slot.isMemory}};
}

static Json toJson(const std::vector<execute::Slot> &slots) {
  Json list = Json::array();
  for (const execute::Slot &slot : slots)
    list.push_back(::toJson(slot));
  return list;
}

static std::string describe(const execute::Program &program) {
  Json list = Json::array();
  for (const execute::Signature &function : program.functions())
    list.push_back({{"name", function.name},
                    {"argumentTypes", function.argumentTypes},
                    {"resultTypes", function.resultTypes},
                    {"arguments", ::toJson(function.arguments)},
                    {"results", ::toJson(function.results)}});
  return print(list);
}

static Json toJson(emulator::Dim3 extent) {
  return Json::array({extent.x, extent.y, extent.z});
}

static std::string reportOf(const execute::CallOutcome &outcome) {
  Json launches = Json::array();
  for (const execute::LaunchRecord &launch : outcome.launches)
    launches.push_back({{"kernel", launch.kernel},
                        {"grid", ::toJson(launch.grid)},
                        {"cluster", ::toJson(launch.cluster)},
                        {"counters", capi::toJson(launch.counters)},
                        {"seconds", launch.seconds}});
  return print({{"clean", outcome.findings.empty()},
                {"launches", launches},
                {"findings", capi::toJson(outcome.findings)},
                {"openPoints", capi::toJson(outcome.openPoints)}});
}

static Json toJson(const execute::FunctionVerdict &verdict) {
  return {{"function", verdict.function},
          {"passed", verdict.passed()},
          {"data", verify::dataKindName(verdict.data)},
          {"sizes", verdict.sizes},
          {"error", verdict.error},
          {"launches", verdict.launches},
          {"compared", verdict.compared},
          {"mismatches", verdict.mismatches},
          {"worstError", verdict.worst},
          {"firstMismatch", verdict.first},
          {"findings", capi::toJson(verdict.findings)},
          {"openPoints", capi::toJson(verdict.openPoints)}};
}

//===----------------------------------------------------------------------===//
// Programs
//===----------------------------------------------------------------------===//

BlockscaleStatus blockscaleProgramCreate(BlockscaleModule handle,
                                         const BlockscaleCompileOptions *given,
                                         BlockscaleProgram *program) {
  return guarded([&] {
    requirePointer(program, "program");
    CompilerOptions options = compilerOptions(given);
    auto object = std::make_shared<ProgramObject>();
    inModule(handle, [&](Module &module) {
      auto made = execute::Program::compile(*module.op, options);
      if (mlir::failed(made))
        fail(BLOCKSCALE_REFUSED, "");
      object->program = std::move(*made);
    });
    object->description = describe(*object->program);
    *program = {addObject(std::move(object))};
  });
}

BlockscaleStatus blockscaleProgramDescribe(BlockscaleProgram program,
                                           BlockscaleSlice *json) {
  return guarded([&] {
    requirePointer(json, "json");
    *json = sliceOf(get<ProgramObject>(program.id)->description);
  });
}

BlockscaleStatus blockscaleProgramDestroy(BlockscaleProgram program) {
  return guarded([&] { destroy<ProgramObject>(program.id); });
}

//===----------------------------------------------------------------------===//
// Calls
//===----------------------------------------------------------------------===//

static BlockscaleCallOptions defaultCallOptions() {
  BlockscaleCallOptions options = {};
  options.structSize = sizeof(options);
  options.seed = execute::CallOptions().seed;
  return options;
}

BlockscaleStatus blockscaleCallOptionsInit(BlockscaleCallOptions *options,
                                           size_t structSize) {
  return guarded(
      [&] { initOptions(options, structSize, defaultCallOptions()); });
}

static size_t functionNamed(const execute::Program &program,
                            std::string_view name) {
  const std::vector<execute::Signature> &functions = program.functions();
  if (name.empty() && functions.size() == 1)
    return 0;
  std::string names;
  for (size_t i = 0; i < functions.size(); ++i) {
    if (functions[i].name == name)
      return i;
    names += (i ? ", '" : "'") + functions[i].name + "'";
  }
  fail(BLOCKSCALE_REFUSED,
       name.empty()
           ? "there are several functions; name one of " + names
           : "no function '" + std::string(name) + "'; there are " + names);
}

static std::vector<execute::ArrayValue> copyOf(const BlockscaleArray *arguments,
                                               size_t count) {
  std::vector<execute::ArrayValue> values;
  if (count)
    requirePointer(arguments, "arguments");
  for (size_t i = 0; i < count; ++i) {
    const BlockscaleArray &from = arguments[i];
    if (from.size)
      requirePointer(from.data, "data");
    if (from.rank)
      requirePointer(from.shape, "shape");
    const auto *bytes = static_cast<const uint8_t *>(from.data);
    values.push_back(
        {{from.shape, from.shape + from.rank}, {bytes, bytes + from.size}});
  }
  return values;
}

BlockscaleStatus blockscaleProgramCall(BlockscaleProgram program,
                                       BlockscaleSlice function,
                                       const BlockscaleArray *arguments,
                                       size_t count,
                                       const BlockscaleCallOptions *given,
                                       BlockscaleCall *call) {
  return guarded([&] {
    requirePointer(call, "call");
    BlockscaleCallOptions chosen = optionsOf(given, defaultCallOptions());
    execute::CallOptions options;
    options.threads = chosen.threads;
    options.completion = enumeratorOf<emulator::Completion>(
        chosen.completion, BLOCKSCALE_COMPLETION_LATEST + 1, "completion");
    options.seed = chosen.seed;
    options.strict = chosen.strict;
    LongCall watched(chosen.stop, chosen.progress, chosen.progressData);
    options.stop = watched.stop();
    options.progress = watched.progressOfSteps(chosen.step);
    Use<ProgramObject> use(get<ProgramObject>(program.id));
    size_t index = functionNamed(*use->program, textOf(function, "function"));
    Result<execute::CallOutcome> outcome =
        use->program->call(index, copyOf(arguments, count), options);
    watched.finish();
    if (!outcome)
      fail(BLOCKSCALE_REFUSED, outcome.why().text);
    auto object = std::make_shared<CallObject>();
    object->report = reportOf(*outcome);
    object->results = std::move(outcome->results);
    *call = {addObject(std::move(object))};
  });
}

BlockscaleStatus blockscaleCallGetResultCount(BlockscaleCall call,
                                              size_t *count) {
  return guarded([&] {
    requirePointer(count, "count");
    *count = get<CallObject>(call.id)->results.size();
  });
}

BlockscaleStatus blockscaleCallGetResult(BlockscaleCall call, size_t index,
                                         BlockscaleArray *result) {
  return guarded([&] {
    requirePointer(result, "result");
    auto object = get<CallObject>(call.id);
    if (index >= object->results.size())
      fail(BLOCKSCALE_INVALID_ARGUMENT,
           "result " + std::to_string(index) + " of " +
               std::to_string(object->results.size()));
    const execute::ArrayValue &value = object->results[index];
    *result = {value.bytes.data(), value.bytes.size(), value.sizes.data(),
               value.sizes.size()};
  });
}

BlockscaleStatus blockscaleCallGetReport(BlockscaleCall call,
                                         BlockscaleSlice *json) {
  return guarded([&] {
    requirePointer(json, "json");
    *json = sliceOf(get<CallObject>(call.id)->report);
  });
}

BlockscaleStatus blockscaleCallDestroy(BlockscaleCall call) {
  return guarded([&] { destroy<CallObject>(call.id); });
}

//===----------------------------------------------------------------------===//
// Verdicts
//===----------------------------------------------------------------------===//

static execute::CheckOptions checkOptions(const BlockscaleVerifyOptions &given,
                                          CompilerOptions compiler) {
  execute::CheckOptions options;
  options.compiler = std::move(compiler);
  auto data = enumeratorOf<verify::DataChoice>(
      given.data, BLOCKSCALE_DATA_BOTH + 1, "data");
  if (data == verify::DataChoice::Exact)
    options.data = {verify::DataKind::Exact};
  if (data == verify::DataChoice::Random)
    options.data = {verify::DataKind::Random};
  auto take = [](const int64_t *values, size_t count, const char *what,
                 int64_t &size) {
    std::vector<int64_t> all = valuesOf(values, count, what);
    if (!all.empty() && all.front() < 1)
      fail(BLOCKSCALE_REFUSED, std::string(what) + " = " +
                                   std::to_string(all.front()) +
                                   ": expected at least 1");
    if (!all.empty())
      size = all.front();
  };
  take(given.m, given.mCount, "m", options.sizes.m);
  take(given.n, given.nCount, "n", options.sizes.n);
  take(given.k, given.kCount, "k", options.sizes.k);
  take(given.batch, given.batchCount, "batch", options.sizes.batch);
  options.seed = given.seed;
  options.threads = given.threads;
  options.completion = enumeratorOf<emulator::Completion>(
      given.completion, BLOCKSCALE_COMPLETION_LATEST + 1, "completion");
  return options;
}

BlockscaleStatus
blockscaleVerifyFunctions(BlockscaleModule handle,
                          const BlockscaleCompileOptions *compileOptions,
                          const BlockscaleVerifyOptions *given,
                          BlockscaleVerification *verification) {
  return guarded([&] {
    requirePointer(verification, "verification");
    BlockscaleVerifyOptions chosen = optionsOf(given, defaultVerifyOptions());
    execute::CheckOptions options =
        checkOptions(chosen, compilerOptions(compileOptions));
    LongCall call(chosen.stop, chosen.progress, chosen.progressData);
    LongCall::StepProgress progress = call.progressOfSteps(chosen.step);
    options.beforeRun = [&](emulator::Launch &launch, emulator::Options &run) {
      run.stop = call.stop();
      if (!progress)
        return;
      progress(launch.kernel, "clusters", 0,
               launch.grid.count() / launch.cluster.count());
      run.progress = [&progress, name = launch.kernel](uint64_t done,
                                                       uint64_t total) {
        progress(name, "clusters", done, total);
      };
    };
    std::vector<execute::FunctionVerdict> verdicts;
    inModule(handle, [&](Module &module) {
      auto checked = execute::checkFunctions(*module.op, options);
      if (mlir::failed(checked))
        fail(BLOCKSCALE_REFUSED, "");
      verdicts = std::move(*checked);
    });
    call.finish();
    auto object = std::make_shared<VerificationObject>();
    object->hasPassed =
        std::all_of(verdicts.begin(), verdicts.end(),
                    [](const auto &verdict) { return verdict.passed(); });
    object->text = execute::printVerdicts(verdicts);
    Json list = Json::array();
    for (const execute::FunctionVerdict &verdict : verdicts)
      list.push_back(::toJson(verdict));
    object->report = print(list);
    *verification = {addObject(std::move(object))};
  });
}
