//===- VerifyVerb.cpp - compile, emulate, compare -------------------------===//
//
// Part of the blockscale project, under the Apache License v2.0 with LLVM
// Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "InputModule.h"
#include "TimelineOutput.h"
#include "Verb.h"
#include "blockscale/Driver/Compile.h"
#include "blockscale/Driver/Driver.h"
#include "blockscale/Verify/Verify.h"
#include "llvm/Support/raw_ostream.h"

using namespace blockscale;
using namespace blockscale::driver;
using llvm::StringRef;
namespace cl = llvm::cl;

namespace {
enum class Data { Exact, Random, Both };

class VerifyVerb : public Verb {
public:
  VerifyVerb()
      : Verb("verify", "Compile, run on the emulator, compare with a reference "
                       "product") {}
  int run() override;

private:
  int verifyFile(StringRef path, const CompileOptions &options,
                 std::vector<verify::Verdict> &verdicts);
  int verifyPlan(const Compilation &compilation,
                 std::vector<verify::Verdict> &verdicts);
  /// The sizes to try: the product of what was given per dimension.
  std::vector<plan::Environment> sizesFor(const plan::Kernel &kernel) const;

  cl::list<std::string> inputs{cl::Positional, cl::sub(command), cl::OneOrMore,
                               cl::value_desc("FILE.mlir"),
                               cl::desc("Files to verify")};
  cl::opt<std::string> target{
      "target", cl::sub(command), cl::init("sm_100a"), cl::value_desc("CHIP"),
      cl::desc("Chip of products whose schedule names none (default sm_100a)")};
  cl::opt<std::string> ptxFile{
      "ptx", cl::sub(command), cl::value_desc("FILE.ptx"),
      cl::desc("Run this PTX in place of what was compiled, to see whether an "
               "edit of it is noticed")};
  cl::opt<int64_t> expectedRows{
      "expected-rows", cl::sub(command), cl::init(4096),
      cl::value_desc("NUMBER"),
      cl::desc("Rows to optimise for where their number is dynamic (default "
               "4096)")};
  cl::opt<bool> denseFallback{
      "dense-fallback", cl::sub(command),
      cl::desc("Multiply sparse operands that no instruction takes as dense "
               "ones")};
  cl::opt<bool> hostDuties{
      "host-duties", cl::sub(command),
      cl::desc("Judge the kernels of functions that also do what no kernel "
               "does; a note names what is not judged")};
  cl::list<int64_t> m{"m", cl::sub(command), cl::CommaSeparated,
                      cl::value_desc("NUMBERS"),
                      cl::desc("Values of a dynamic M (default 256)")};
  cl::list<int64_t> n{"n", cl::sub(command), cl::CommaSeparated,
                      cl::value_desc("NUMBERS"),
                      cl::desc("Values of a dynamic N (default 256)")};
  cl::list<int64_t> k{"k", cl::sub(command), cl::CommaSeparated,
                      cl::value_desc("NUMBERS"),
                      cl::desc("Values of a dynamic K (default 512)")};
  cl::list<int64_t> batch{"batch", cl::sub(command), cl::CommaSeparated,
                          cl::value_desc("NUMBERS"),
                          cl::desc("Values of a dynamic batch (default 2)")};
  cl::opt<Data> data{
      "data", cl::sub(command), cl::init(Data::Both),
      cl::desc("Inputs to run with"),
      cl::values(clEnumValN(Data::Exact, "exact",
                            "Small numbers; results must agree bit for bit"),
                 clEnumValN(Data::Random, "random",
                            "All codes; results must agree within a bound"),
                 clEnumValN(Data::Both, "both", "One run with each"))};
  cl::opt<uint64_t> tiles{
      "tiles", cl::sub(command), cl::init(0), cl::value_desc("NUMBER"),
      cl::desc("Run only that many clusters of the grid, spread evenly "
               "(default 0: all)")};
  cl::opt<int64_t> numSms{
      "num-sms", cl::sub(command), cl::init(0), cl::value_desc("NUMBER"),
      cl::desc("SMs that the launch assumes (default: the chip's reference "
               "part); few make a CTA compute many tiles")};
  cl::opt<uint64_t> seed{"seed", cl::sub(command), cl::init(1),
                         cl::value_desc("NUMBER"),
                         cl::desc("Seed of the inputs (default 1)")};
  cl::opt<unsigned> threads{"threads", cl::sub(command), cl::init(0),
                            cl::value_desc("NUMBER"),
                            cl::desc("Host threads (default 0: all)")};
  cl::opt<bool> trace{"trace", cl::sub(command),
                      cl::desc("Print asynchronous and barrier events")};
  cl::opt<emulator::Completion> completion{
      "completion", cl::sub(command), cl::init(emulator::Completion::Immediate),
      cl::desc("When asynchronous operations take effect"),
      cl::values(
          clEnumValN(emulator::Completion::Immediate, "immediate", "At issue"),
          clEnumValN(emulator::Completion::Random, "random",
                     "At times drawn from the seed"),
          clEnumValN(emulator::Completion::Latest, "latest",
                     "When nothing can run without them"))};
  TimelineOutput timeline{command};
};
} // namespace

std::vector<plan::Environment>
VerifyVerb::sizesFor(const plan::Kernel &kernel) const {
  std::vector<plan::Environment> all{{}};
  for (const plan::Size &size : kernel.sizes) {
    const cl::list<int64_t> &given = size.name == "M"   ? m
                                     : size.name == "N" ? n
                                     : size.name == "K" ? k
                                                        : batch;
    if (size.value)
      continue;
    std::vector<int64_t> values(given.begin(), given.end());
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
    auto file = llvm::MemoryBuffer::getFile(ptxFile);
    if (!file)
      return reportError("cannot read '" + ptxFile +
                             "': " + file.getError().message(),
                         kFailure);
    text = (*file)->getBuffer().str();
  }
  emulator::ParseResult ptx = emulator::parsePtx(text);
  for (const emulator::Diagnostic &diagnostic : ptx.errors)
    llvm::errs() << "PTX:" << diagnostic.format() << '\n';
  if (!ptx)
    return reportError("the emulator cannot read the PTX", kFailure);
  verify::VerifyOptions options;
  options.seed = seed;
  options.threads = threads;
  options.sampleClusters = tiles;
  options.completion = completion;
  if (trace)
    options.trace = [](std::string_view line) {
      llvm::outs() << StringRef(line) << '\n';
    };
  int attached = kSuccess;
  options.beforeRun = [&](const emulator::Launch &launch,
                          emulator::Options &run) {
    attached = timeline.attach(*ptx.module, launch, run);
  };
  std::vector<verify::DataKind> kinds;
  if (data != Data::Random)
    kinds.push_back(verify::DataKind::Exact);
  if (data != Data::Exact)
    kinds.push_back(verify::DataKind::Random);
  for (const plan::Kernel &kernel : compilation.plan.kernels) {
    auto residency = numSms.getNumOccurrences()
                         ? Parsed<verify::Residency>::success(
                               verify::residencyOn(numSms, kernel))
                         : verify::residencyOn(compilation.plan, kernel);
    if (!residency)
      return reportError(residency.error, kFailure);
    for (const plan::Environment &given : sizesFor(kernel)) {
      Parsed<plan::Environment> sizes =
          verify::bindSizes(kernel, given, *residency);
      if (!sizes)
        return reportError(sizes.error, kNotUnderstood);
      for (verify::DataKind kind : kinds) {
        verdicts.push_back(
            verify::verifyKernel(*ptx.module, kernel, *sizes, kind, options));
        if (attached)
          return attached;
      }
    }
  }
  return kSuccess;
}

/// Says what the verdicts are not about.
static void noteHostDuties(StringRef path, const plan::Plan &plan) {
  for (const plan::Function &function : plan.functions)
    for (const plan::Step &step : function.steps)
      if (!step.kernel)
        llvm::errs() << "blockscale: note: "
                     << (step.location.empty() ? path.str() : step.location)
                     << ": '" << step.op << "' of '" << function.name
                     << "' is the host's duty and is not judged\n";
}

int VerifyVerb::verifyFile(StringRef path, const CompileOptions &options,
                           std::vector<verify::Verdict> &verdicts) {
  InputModule module(path);
  if (!module)
    return kFailure;
  mlir::FailureOr<Compilation> compilation = compile(*module, options);
  if (mlir::failed(compilation))
    return kFailure;
  noteHostDuties(path, compilation->plan);
  return verifyPlan(*compilation, verdicts);
}

int VerifyVerb::run() {
  CompileOptions options;
  options.target = target;
  options.expectedRows = expectedRows;
  options.denseFallback = denseFallback;
  options.hostDuties = hostDuties;
  if (std::optional<std::string> why = whyNot(options))
    return reportError(*why, kNotUnderstood);
  if (numSms.getNumOccurrences() && numSms < 1)
    return reportError("--num-sms takes 1 or more, found " +
                           llvm::Twine(numSms.getValue()),
                       kNotUnderstood);
  if (!ptxFile.empty() && inputs.size() > 1)
    return reportError("--ptx takes one input, found " +
                           llvm::Twine(inputs.size()),
                       kNotUnderstood);
  std::vector<verify::Verdict> verdicts;
  int result = kSuccess;
  for (const std::string &input : inputs)
    if (int code = verifyFile(input, options, verdicts))
      result = code;
  llvm::outs() << verify::printVerdicts(verdicts);
  if (int code = timeline.finish())
    result = code;
  for (const verify::Verdict &verdict : verdicts)
    if (!verdict.passed() && result == kSuccess)
      result = kFailure;
  return result;
}

std::unique_ptr<Verb> blockscale::driver::makeVerifyVerb() {
  return std::make_unique<VerifyVerb>();
}
