//===- VerifyVerb.cpp - compile, emulate, compare -------------------------===//
//
// Part of the blockscale project, under the Apache License v2.0 with LLVM
// Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "CompileChoices.h"
#include "InputModule.h"
#include "Progress.h"
#include "TimelineOutput.h"
#include "Verb.h"
#include "blockscale/Compiler/Compiler.h"
#include "blockscale/Dialect/Blockscale/IR/Blockscale.h"
#include "blockscale/Driver/Driver.h"
#include "blockscale/Execute/CheckFunctions.h"
#include "blockscale/Verify/VerifyPlan.h"
#include "llvm/ADT/StringExtras.h"

#include <algorithm>
#include <iostream>
#include <set>

using namespace blockscale;
using namespace blockscale::driver;

namespace {
using Data = verify::DataChoice;
using Conditions = verify::ConditionsChoice;

class VerifyVerb : public Verb {
public:
  VerifyVerb();
  int run() override;

private:
  int verifyFile(const std::string &path, CompilerOptions options,
                 std::vector<verify::Verdict> &verdicts);
  int verifyInputs(const CompilerOptions &options);
  /// The option whose PTX takes the place of what was compiled; "" if none.
  std::string replacement() const {
    return !edits.empty() ? "--edits" : ptxFile.empty() ? "" : "--ptx";
  }
  std::optional<Reason>
  whyNotSeveral(const std::vector<std::string> &targets) const;
  std::optional<Reason> readSizes();
  /// Judges whole functions, unless only their kernels are to be judged.
  mlir::LogicalResult verifyFunctions(const std::string &path,
                                      mlir::ModuleOp module,
                                      CompilerOptions &options);
  int verifyPlan(const Compilation &compilation,
                 std::vector<verify::Verdict> &verdicts);
  int runPlan(const emulator::Module &module, const plan::Plan &plan,
              std::vector<verify::Verdict> &verdicts);
  int judgeEdits(const Compilation &compilation);
  void noteUnusedSizes() const;

  std::vector<std::string> inputs;
  std::string target, ptxFile;
  std::vector<std::string> edits, sizes;
  execute::SizeChoice sizeChoice;
  CompileChoices choices;
  bool hostDuties = false, trace = false;
  uint64_t stepLimit = emulator::Options().stepLimit;
  verify::PlanRequest request;
  std::vector<execute::FunctionVerdict> functions;
  /// The names of those that some kernel has.
  std::set<std::string> dynamicSizes;
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
               "sm_100a), or several, such as sm_100a,sm_107a, one after "
               "another");
  command.text("ptx", ptxFile, "FILE.ptx",
               "Run this PTX in place of what was compiled, to see whether an "
               "edit of it is noticed");
  command.texts("edits", edits, "FILE.ptx",
                "Run each of these edits of the PTX in place of what was "
                "compiled, until a run fails, and print for each whether it "
                "is noticed");
  choices.addTo(command);
  command.flag("host-duties", hostDuties,
               "Judge only the kernels of functions that also do what no "
               "kernel does; a note names what is not judged");
  command.numbers("m", request.m,
                  "Values of a dynamic M (default 256); whole functions take "
                  "the first of them, of this option and the next three");
  command.numbers("n", request.n, "Values of a dynamic N (default 256)");
  command.numbers("k", request.k, "Values of a dynamic K (default 512)");
  command.numbers("batch", request.batch,
                  "Values of a dynamic batch (default 2)");
  command.texts(
      "sizes", sizes, "SIZES",
      "Dynamic sizes of arguments of whole functions, such as "
      "'mlp.0.0=40,1.1=384': function (if not all), argument and "
      "dimension, counted from 0. What has no size and need not equal "
      "another gets one of its own");
  command.choice<Data>(
      "data", request.data,
      {{"exact", Data::Exact, "small numbers; results must agree bit for bit"},
       {"random", Data::Random, "all codes; results must agree within a bound"},
       {"both", Data::Both, "one run with each (default)"}},
      "Inputs to run with");
  command.choice<Conditions>(
      "conditions", request.conditions,
      {{"plain", Conditions::Plain, "those of a careful host"},
       {"harsh", Conditions::Harsh,
        "least alignment, every legal byte as padding, five tiles for each "
        "CTA, "
        "NaNs"},
       {"both", Conditions::Both,
        "harsh with random data, plain with exact data (default)"}},
      "What the plan allows that runs are made under");
  command.number("tiles", request.options.sampleClusters,
                 "Run only that many clusters of the grid, spread evenly, or "
                 "groups of clusters that compute a tile together (default 0: "
                 "all)");
  command.number("num-sms", request.numSms,
                 "SMs that the launch assumes (default: the chip's reference "
                 "part); few make a CTA compute many tiles");
  command.number("seed", request.options.seed,
                 "Seed of the inputs (default 1)");
  command.number("threads", request.options.threads,
                 "Host threads (default 0: all)");
  command.number("step-limit", stepLimit,
                 "Instructions that one warp may execute");
  command.flag("trace", trace, "Print asynchronous and barrier events");
  command.choice<Completion>(
      "completion", request.options.completion,
      {{"immediate", Completion::Immediate, "at issue (default)"},
       {"random", Completion::Random, "at times drawn from the seed"},
       {"latest", Completion::Latest, "when nothing can run without them"}},
      "When asynchronous operations take effect");
}

template <typename Verdict>
static bool isAnyWrong(const std::vector<Verdict> &verdicts) {
  return std::any_of(verdicts.begin(), verdicts.end(),
                     [](const Verdict &verdict) { return !verdict.passed(); });
}

int VerifyVerb::verifyPlan(const Compilation &compilation,
                           std::vector<verify::Verdict> &verdicts) {
  std::string text = compilation.ptx;
  if (!ptxFile.empty()) {
    Result<std::string> file = readFile(ptxFile);
    if (!file)
      return reportError(file.why().text, kFailure);
    text = *file;
  }
  emulator::ParseResult ptx = emulator::parsePtx(text);
  for (const emulator::Diagnostic &diagnostic : ptx.errors)
    std::cerr << "PTX:" << diagnostic.format() << '\n';
  if (!ptx)
    return reportError("the emulator cannot read the PTX", kFailure);
  return runPlan(*ptx.module, compilation.plan, verdicts);
}

/// Says of each edit whether a run of it fails.
int VerifyVerb::judgeEdits(const Compilation &compilation) {
  int result = kSuccess;
  for (const std::string &path : edits) {
    Result<std::string> text = readFile(path);
    if (!text)
      return reportError(text.why().text, kFailure);
    emulator::ParseResult ptx = emulator::parsePtx(*text);
    std::vector<verify::Verdict> verdicts;
    if (ptx)
      if (int code = runPlan(*ptx.module, compilation.plan, verdicts))
        return code;
    bool isNoticed = !ptx || isAnyWrong(verdicts);
    std::cout << path << (isNoticed ? ": noticed\n" : ": not noticed\n");
    if (!isNoticed)
      result = kFailure;
  }
  return result;
}

/// Adds a verdict for each run.
int VerifyVerb::runPlan(const emulator::Module &module, const plan::Plan &plan,
                        std::vector<verify::Verdict> &verdicts) {
  verify::VerifyOptions &options = request.options;
  if (trace)
    options.trace = [](std::string_view line) { std::cout << line << '\n'; };
  int attached = kSuccess;
  options.beforeRun = [&](const emulator::Launch &launch,
                          emulator::Options &run) {
    run.stepLimit = stepLimit;
    attached = timeline.attach(module, launch, run);
  };
  options.progress = [&](std::string_view name, std::string_view unit,
                         uint64_t done, uint64_t total) {
    if (done == 0)
      progress.begin(std::string(name), std::string(unit));
    progress.report(done, total);
  };
  request.afterRun = [&](const verify::Verdict &verdict) {
    progress.finish();
    return attached == kSuccess && (edits.empty() || verdict.passed());
  };
  verify::PlanVerdict outcome = verify::verifyPlan(module, plan, request);
  verdicts.insert(verdicts.end(), outcome.verdicts.begin(),
                  outcome.verdicts.end());
  if (attached)
    return attached;
  if (outcome.why)
    return reportError(outcome.why->text,
                       outcome.isRequestWrong ? kNotUnderstood : kFailure);
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

/// Returns what is wrong.
std::optional<Reason> VerifyVerb::readSizes() {
  auto take = [](const std::vector<int64_t> &values, int64_t &value) {
    if (!values.empty())
      value = values.front();
  };
  take(request.m, sizeChoice.m);
  take(request.n, sizeChoice.n);
  take(request.k, sizeChoice.k);
  take(request.batch, sizeChoice.batch);
  for (const std::string &list : sizes)
    for (llvm::StringRef text : llvm::split(list, ',')) {
      Result<execute::GivenSize> given = execute::parseGivenSize(text);
      if (!given)
        return Reason("--sizes: " + given.why().text);
      sizeChoice.given.push_back(*given);
    }
  return std::nullopt;
}

/// Says that the functions of `module` launch other kernels than those of the
/// table of kernels, if they do.
static void noteHostQuantization(const std::string &path,
                                 mlir::ModuleOp module) {
  bool quantizesResults = false;
  module.walk([&](QuantizeOp op) {
    auto product = op.getInput().getDefiningOp<MatmulOp>();
    quantizesResults |= product && !product.hasGroups();
  });
  if (quantizesResults)
    std::cerr << "blockscale: note: " << path
              << ": functions are called with results of products quantised "
                 "on the host; with '--quantize-on-device' they launch the "
                 "kernels that do\n";
}

mlir::LogicalResult VerifyVerb::verifyFunctions(const std::string &path,
                                                mlir::ModuleOp module,
                                                CompilerOptions &options) {
  // PTX from a file takes the place of the kernels' alone.
  if (hostDuties || !replacement().empty() ||
      execute::functionsToCheck(module).empty()) {
    if (sizes.empty())
      return mlir::success();
    return module.emitError()
           << "--sizes gives those of whole functions, none of which is called "
              "here; --m, --n, --k and --batch give those of products";
  }
  execute::CheckOptions check;
  check.compiler = options;
  if (request.data == Data::Exact)
    check.data = {verify::DataKind::Exact};
  if (request.data == Data::Random)
    check.data = {verify::DataKind::Random};
  check.sizes = sizeChoice;
  check.seed = request.options.seed;
  check.threads = request.options.threads;
  check.completion = request.options.completion;
  check.beforeRun = [&](emulator::Launch &launch, emulator::Options &run) {
    run.stepLimit = stepLimit;
    progress.attach(launch.kernel, run);
  };
  mlir::FailureOr<std::vector<execute::FunctionVerdict>> checked =
      execute::checkFunctions(module, check);
  progress.finish();
  if (mlir::failed(checked))
    return mlir::failure();
  if (!options.quantizeOnDevice)
    noteHostQuantization(path, module);
  functions.insert(functions.end(), checked->begin(), checked->end());
  options.withFunctions = false;
  return mlir::success();
}

int VerifyVerb::verifyFile(const std::string &path, CompilerOptions options,
                           std::vector<verify::Verdict> &verdicts) {
  InputModule module(path, choices.imports);
  if (!module ||
      (choices.imports && failed(importProducts(*module, options))) ||
      mlir::failed(verifyFunctions(path, *module, options)))
    return kFailure;
  progress.begin("compile", "kernels");
  options.progress = [&](uint64_t done, uint64_t all) {
    progress.report(done, all);
  };
  mlir::FailureOr<std::vector<Compilation>> compilations =
      compile(*module, options);
  progress.finish();
  if (mlir::failed(compilations))
    return kFailure;
  if (!replacement().empty() && compilations->size() > 1)
    return reportError(replacement() +
                           " takes the place of the kernels of one chip, found "
                           "those of '" +
                           compilations->front().target + "' and '" +
                           (*compilations)[1].target + "'",
                       kNotUnderstood);
  for (const Compilation &compilation : *compilations) {
    noteHostDuties(path, compilation.plan);
    for (const plan::Kernel &kernel : compilation.plan.kernels)
      for (const plan::Size &size : kernel.sizes)
        if (!size.value)
          dynamicSizes.insert(size.name);
    if (int code = edits.empty() ? verifyPlan(compilation, verdicts)
                                 : judgeEdits(compilation))
      return code;
  }
  return kSuccess;
}

/// Says which options are of sizes that nothing has. Functions may have them in
/// other places than their kernels.
void VerifyVerb::noteUnusedSizes() const {
  for (const execute::FunctionVerdict &verdict : functions)
    if (verdict.sizes != "-")
      return;
  for (auto [option, size] :
       {std::pair("m", "M"), {"n", "N"}, {"k", "K"}, {"batch", "batch"}})
    if (command.isGiven(option) && !dynamicSizes.count(size))
      std::cerr << "blockscale: note: --" << option
                << " gives values of a dynamic " << size
                << ", which no kernel here has\n";
}

/// Verifies all files for one target, or for what they name.
int VerifyVerb::verifyInputs(const CompilerOptions &options) {
  std::vector<verify::Verdict> verdicts;
  functions.clear();
  dynamicSizes.clear();
  int result = kSuccess;
  for (const std::string &input : inputs)
    if (int code = verifyFile(input, options, verdicts))
      result = code;
  if (edits.empty())
    std::cout << verify::printVerdicts(verdicts)
              << execute::printVerdicts(functions);
  if (result == kSuccess)
    noteUnusedSizes();
  bool anyWrong = isAnyWrong(verdicts) || isAnyWrong(functions);
  return anyWrong && result == kSuccess ? kFailure : result;
}

/// Why the command line cannot be followed for more than one target.
std::optional<Reason>
VerifyVerb::whyNotSeveral(const std::vector<std::string> &targets) const {
  if (targets.size() == 1)
    return std::nullopt;
  if (!replacement().empty())
    return Reason(replacement() +
                  " takes the place of the kernels of one target, found '" +
                  target + "'");
  if (std::find(inputs.begin(), inputs.end(), "-") != inputs.end())
    return Reason("standard input is read once; for several targets name a "
                  "file");
  return std::nullopt;
}

int VerifyVerb::run() {
  CompilerOptions options;
  options.target = target;
  choices.apply(options);
  options.hostDuties = hostDuties;
  if (std::optional<Reason> why = whyNot(options))
    return reportError(why->text, kNotUnderstood);
  if (std::optional<Reason> why = readSizes())
    return reportError(why->text, kNotUnderstood);
  if (request.numSms && *request.numSms < 1)
    return reportError("--num-sms takes 1 or more, found " +
                           std::to_string(*request.numSms),
                       kNotUnderstood);
  if (!ptxFile.empty() && !edits.empty())
    return reportError("--ptx and --edits contradict each other",
                       kNotUnderstood);
  if (!replacement().empty() && inputs.size() > 1)
    return reportError(replacement() + " takes one input, found " +
                           std::to_string(inputs.size()),
                       kNotUnderstood);
  std::vector<std::string> targets = targetsOf(options);
  if (std::optional<Reason> why = whyNotSeveral(targets))
    return reportError(why->text, kNotUnderstood);
  int result = kSuccess;
  for (const std::string &each : targets) {
    options.target = each;
    if (targets.size() > 1)
      std::cout << "for " << each << ":\n";
    if (int code = verifyInputs(options))
      result = code;
  }
  OutputFiles files;
  timeline.finish(files);
  if (auto why = files.write(""))
    return reportError(why->text, kFailure);
  return result;
}

std::unique_ptr<Verb> blockscale::driver::makeVerifyVerb() {
  return std::make_unique<VerifyVerb>();
}
