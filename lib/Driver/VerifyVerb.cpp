//===- VerifyVerb.cpp - compile, emulate, compare -------------------------===//
//
// Part of the blockscale project, under the Apache License v2.0 with LLVM
// Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "InputModule.h"
#include "Progress.h"
#include "TimelineOutput.h"
#include "Verb.h"
#include "blockscale/Compiler/Compiler.h"
#include "blockscale/Driver/Driver.h"
#include "blockscale/Verify/Verify.h"

#include <iostream>

using namespace blockscale;
using namespace blockscale::driver;

namespace {
enum class Data { Exact, Random, Both };
enum class Conditions { Plain, Harsh, Both };

class VerifyVerb : public Verb {
public:
  VerifyVerb();
  int run() override;

private:
  int verifyFile(const std::string &path, const CompilerOptions &options,
                 std::vector<verify::Verdict> &verdicts);
  int verifyPlan(const Compilation &compilation,
                 std::vector<verify::Verdict> &verdicts);
  /// The sizes to try: the product of what was given per dimension.
  std::vector<plan::Environment> sizesFor(const plan::Kernel &kernel) const;

  std::vector<std::string> inputs;
  std::string target, ptxFile;
  int64_t expectedRows = 4096;
  std::optional<int64_t> numSms;
  bool denseFallback = false, hostDuties = false, trace = false;
  std::vector<int64_t> m, n, k, batch;
  Data data = Data::Both;
  Conditions conditions = Conditions::Both;
  uint64_t tiles = 0, seed = 1;
  unsigned threads = 0;
  emulator::Completion completion = emulator::Completion::Immediate;
  TimelineOutput timeline{command};
  Progress progress{command};
};
} // namespace

VerifyVerb::VerifyVerb()
    : Verb("verify", "Compile, run on the emulator, compare with a reference "
                     "product") {
  using emulator::Completion;
  command.positionals("FILE.mlir", inputs, "Files to verify");
  command.text("target", target, "CHIP",
               "Chip of what names none (default: what the module names, or "
               "sm_100a)");
  command.text("ptx", ptxFile, "FILE.ptx",
               "Run this PTX in place of what was compiled, to see whether an "
               "edit of it is noticed");
  command.number("expected-rows", expectedRows,
                 "Rows to optimise for where their number is dynamic (default "
                 "4096)");
  command.flag("dense-fallback", denseFallback,
               "Multiply sparse operands that no instruction takes as dense "
               "ones");
  command.flag("host-duties", hostDuties,
               "Judge the kernels of functions that also do what no kernel "
               "does; a note names what is not judged");
  command.numbers("m", m, "Values of a dynamic M (default 256)");
  command.numbers("n", n, "Values of a dynamic N (default 256)");
  command.numbers("k", k, "Values of a dynamic K (default 512)");
  command.numbers("batch", batch, "Values of a dynamic batch (default 2)");
  command.choice<Data>(
      "data", data,
      {{"exact", Data::Exact, "small numbers; results must agree bit for bit"},
       {"random", Data::Random, "all codes; results must agree within a bound"},
       {"both", Data::Both, "one run with each (default)"}},
      "Inputs to run with");
  command.choice<Conditions>(
      "conditions", conditions,
      {{"plain", Conditions::Plain, "those of a careful host"},
       {"harsh", Conditions::Harsh,
        "least alignment, every legal byte as padding, five tiles for each "
        "CTA, "
        "NaNs"},
       {"both", Conditions::Both,
        "harsh with random data, plain with exact data (default)"}},
      "What the plan allows that runs are made under");
  command.number("tiles", tiles,
                 "Run only that many clusters of the grid, spread evenly "
                 "(default 0: all)");
  command.number("num-sms", numSms,
                 "SMs that the launch assumes (default: the chip's reference "
                 "part); few make a CTA compute many tiles");
  command.number("seed", seed, "Seed of the inputs (default 1)");
  command.number("threads", threads, "Host threads (default 0: all)");
  command.flag("trace", trace, "Print asynchronous and barrier events");
  command.choice<Completion>(
      "completion", completion,
      {{"immediate", Completion::Immediate, "at issue (default)"},
       {"random", Completion::Random, "at times drawn from the seed"},
       {"latest", Completion::Latest, "when nothing can run without them"}},
      "When asynchronous operations take effect");
}

std::vector<plan::Environment>
VerifyVerb::sizesFor(const plan::Kernel &kernel) const {
  std::vector<plan::Environment> all{{}};
  for (const plan::Size &size : kernel.sizes) {
    if (size.value)
      continue;
    std::vector<int64_t> values = size.name == "M"   ? m
                                  : size.name == "N" ? n
                                  : size.name == "K" ? k
                                                     : batch;
    if (values.empty())
      values = {size.name == "batch" ? 2 : size.name == "K" ? 512 : 256};
    std::vector<plan::Environment> extended;
    for (const plan::Environment &sizes : all)
      for (int64_t value : values) {
        extended.push_back(sizes);
        extended.back()[size.name] = value;
      }
    all = std::move(extended);
  }
  return all;
}

int VerifyVerb::verifyPlan(const Compilation &compilation,
                           std::vector<verify::Verdict> &verdicts) {
  std::string text = compilation.ptx;
  if (!ptxFile.empty()) {
    std::string error;
    std::optional<std::string> file = readFile(ptxFile, error);
    if (!file)
      return reportError(error, kFailure);
    text = *file;
  }
  emulator::ParseResult ptx = emulator::parsePtx(text);
  for (const emulator::Diagnostic &diagnostic : ptx.errors)
    std::cerr << "PTX:" << diagnostic.format() << '\n';
  if (!ptx)
    return reportError("the emulator cannot read the PTX", kFailure);
  verify::VerifyOptions options;
  options.seed = seed;
  options.threads = threads;
  options.sampleClusters = tiles;
  options.completion = completion;
  if (trace)
    options.trace = [](std::string_view line) { std::cout << line << '\n'; };
  int attached = kSuccess;
  options.beforeRun = [&](const emulator::Launch &launch,
                          emulator::Options &run) {
    attached = timeline.attach(*ptx.module, launch, run);
    progress.attach(launch.kernel, run);
  };
  std::vector<verify::DataKind> kinds;
  if (data != Data::Random)
    kinds.push_back(verify::DataKind::Exact);
  if (data != Data::Exact)
    kinds.push_back(verify::DataKind::Random);
  for (const plan::Kernel &kernel : compilation.plan.kernels) {
    auto residency = numSms ? Parsed<verify::Residency>::success(
                                  verify::residencyOn(*numSms, kernel))
                            : verify::residencyOn(compilation.plan, kernel);
    if (!residency)
      return reportError(residency.error, kFailure);
    for (const plan::Environment &given : sizesFor(kernel)) {
      Parsed<plan::Environment> sizes =
          verify::bindSizes(kernel, given, *residency);
      if (!sizes)
        return reportError(sizes.error, kNotUnderstood);
      for (verify::DataKind kind : kinds) {
        bool isHarsh = conditions == Conditions::Harsh ||
                       (conditions == Conditions::Both &&
                        kind == verify::DataKind::Random);
        options.conditions =
            isHarsh ? verify::Conditions::Harsh : verify::Conditions::Plain;
        verdicts.push_back(
            verify::verifyKernel(*ptx.module, kernel, *sizes, kind, options));
        progress.finish();
        if (attached)
          return attached;
      }
    }
  }
  return kSuccess;
}

/// Says what the verdicts are not about.
static void noteHostDuties(const std::string &path, const plan::Plan &plan) {
  for (const plan::Function &function : plan.functions)
    for (const plan::Step &step : function.steps)
      if (!step.kernel)
        std::cerr << "blockscale: note: "
                  << (step.location.empty() ? path : step.location) << ": '"
                  << step.op << "' of '" << function.name
                  << "' is the host's duty and is not judged\n";
}

int VerifyVerb::verifyFile(const std::string &path,
                           const CompilerOptions &options,
                           std::vector<verify::Verdict> &verdicts) {
  InputModule module(path);
  if (!module)
    return kFailure;
  mlir::FailureOr<std::vector<Compilation>> compilations =
      compile(*module, options);
  if (mlir::failed(compilations))
    return kFailure;
  if (!ptxFile.empty() && compilations->size() > 1)
    return reportError(
        "--ptx takes the place of the kernels of one chip, found "
        "those of '" +
            compilations->front().target + "' and '" +
            (*compilations)[1].target + "'",
        kNotUnderstood);
  for (const Compilation &compilation : *compilations) {
    noteHostDuties(path, compilation.plan);
    if (int code = verifyPlan(compilation, verdicts))
      return code;
  }
  return kSuccess;
}

int VerifyVerb::run() {
  CompilerOptions options;
  options.target = target;
  options.expectedRows = expectedRows;
  options.denseFallback = denseFallback;
  options.hostDuties = hostDuties;
  if (std::optional<std::string> why = whyNot(options))
    return reportError(*why, kNotUnderstood);
  if (numSms && *numSms < 1)
    return reportError("--num-sms takes 1 or more, found " +
                           std::to_string(*numSms),
                       kNotUnderstood);
  if (!ptxFile.empty() && inputs.size() > 1)
    return reportError("--ptx takes one input, found " +
                           std::to_string(inputs.size()),
                       kNotUnderstood);
  std::vector<verify::Verdict> verdicts;
  int result = kSuccess;
  for (const std::string &input : inputs)
    if (int code = verifyFile(input, options, verdicts))
      result = code;
  std::cout << verify::printVerdicts(verdicts);
  OutputFiles files;
  timeline.finish(files);
  if (std::string error = files.write(""); !error.empty())
    result = reportError(error, kFailure);
  for (const verify::Verdict &verdict : verdicts)
    if (!verdict.passed() && result == kSuccess)
      result = kFailure;
  return result;
}

std::unique_ptr<Verb> blockscale::driver::makeVerifyVerb() {
  return std::make_unique<VerifyVerb>();
}
