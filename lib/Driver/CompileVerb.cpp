//===- CompileVerb.cpp - compile files ------------------------------------===//
//
// Part of the blockscale project, under the Apache License v2.0 with LLVM
// Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "CompileChoices.h"
#include "CompileForNKI.h"
#include "CompileReport.h"
#include "InputModule.h"
#include "Progress.h"
#include "ScheduleSearch.h"
#include "Verb.h"
#include "blockscale/Compiler/Compiler.h"
#include "blockscale/Driver/Driver.h"
#include "blockscale/Driver/OutputFiles.h"
#include "blockscale/NKI/Target.h"
#include "blockscale/Target/PTX/Launcher.h"
#include "llvm/Support/Error.h"

#include <filesystem>
#include <iostream>
#include <set>

using namespace blockscale;
using namespace blockscale::driver;

namespace {
/// What is written beside the kernels' own files.
enum class ReportKind { Plain, Html };

class CompileVerb : public Verb {
public:
  CompileVerb();
  int run() override;

private:
  int check();
  int compileOne(const std::string &path, const CompilerOptions &options);
  int writeOutputs(llvm::ArrayRef<ReportInput> inputs,
                   const std::vector<Compilation> &compilations);
  int runForNKI();

  std::vector<std::string> inputs;
  std::string target, output, ptxas, cache;
  unsigned threads = 0, searched = 0;
  bool noCubin = false, hostDuties = false;
  CompileChoices choices;
  Emit emit = Emit::All;
  ReportKind report = ReportKind::Plain;
  Progress progress{command};
};
} // namespace

CompileVerb::CompileVerb()
    : Verb("compile", "Compile MLIR to PTX, cubin, launch plan and report") {
  command.positionals("FILE.mlir", inputs, "Files to compile");
  command.text("target", target, "CHIP",
               "Chip of what names none (default: what the module names, or "
               "sm_100a); several, such as sm_100a,sm_107a, get one launch "
               "plan and launcher, which chooses by device; trn3 compiles to "
               "NKI");
  command.text("o", output, "PATH",
               "Directory for the files (default '.'); with --emit the file "
               "for the text (default standard output)");
  command.text("ptxas", ptxas, "PATH",
               "CUDA's assembler (default: where it is usually installed)");
  command.flag("no-cubin", noCubin, "Do not run the assembler");
  choices.addTo(command);
  constexpr unsigned kSearched = 4;
  command.numberOrNone(
      "search", searched, kSearched,
      "How many of the best schedules by the formula to compile and run on the "
      "timeline, of which the fastest is taken, and with D stored by TMA if "
      "that is faster still (default 0: the formula's first; 4 without a "
      "number)");
  command.flag("host-duties", hostDuties,
               "List in the launch plan what no kernel does, for the host to "
               "do in its order, in place of refusing it");
  command.text("cache", cache, "DIR",
               "Folder in which compiled kernels are kept and looked up");
  command.number("threads", threads,
                 "Threads that compile kernels, if there are several (default "
                 "0: all)");
  command.choice<ReportKind>(
      "report", report,
      {{"plain", ReportKind::Plain, "text and JSON (default)"},
       {"html", ReportKind::Html,
        "also FILE.report.html: a page with schedules compared, memory maps, "
        "places of scale bytes and an estimated timeline"}},
      "What to say about the kernels");
  command.choice<Emit>(
      "emit", emit,
      {{"tensor", Emit::Tensor, "products with their schedules"},
       {"kernel", Emit::Kernel, "kernels without addresses"},
       {"assigned", Emit::Assigned, "kernels with all addresses and scale ids"},
       {"nvvm", Emit::NVVM, "kernels in the NVVM dialect"},
       {"llvm", Emit::LLVM, "LLVM IR"},
       {"ptx", Emit::PTX, "PTX"},
       {"launcher", Emit::Launcher, "C++ header that launches the kernels"},
       {"host-linalg", Emit::HostLinalg,
        "whole functions: linalg around launches, on tensors"},
       {"host-memref", Emit::HostMemRef, "the same on memory"},
       {"host-llvm", Emit::HostLLVM,
        "the same in the LLVM dialect, calling the runtime"},
       {"nki", Emit::NKI, "Python of NKI, for trn3"}},
      "Print one stage instead of writing all files");
}

static std::string stemOf(const std::string &path) {
  return path == "-" ? "kernels" : std::filesystem::path(path).stem().string();
}

/// The stage of host code that `emit` prints; none if it prints something else.
static std::optional<HostStage> hostStageOf(Emit emit) {
  switch (emit) {
  case Emit::HostLinalg:
    return HostStage::Linalg;
  case Emit::HostMemRef:
    return HostStage::MemRef;
  case Emit::HostLLVM:
    return HostStage::LLVM;
  default:
    return std::nullopt;
  }
}

/// What is wrong with the command line as a whole.
int CompileVerb::check() {
  std::set<std::string> stems;
  for (const std::string &input : inputs)
    if (!stems.insert(stemOf(input)).second)
      return reportError("two inputs would write the same files: '" + input +
                             "'",
                         kNotUnderstood);
  if (emit != Emit::All && inputs.size() > 1)
    return reportError("--emit takes one input, found " +
                           std::to_string(inputs.size()),
                       kNotUnderstood);
  if (emit != Emit::All && command.isGiven("report"))
    return reportError("--report and --emit contradict each other: a stage has "
                       "no report",
                       kNotUnderstood);
  if (hostDuties && hostStageOf(emit))
    return reportError("--host-duties and whole functions of --emit contradict "
                       "each other: host code does what no kernel does",
                       kNotUnderstood);
  if (noCubin && command.isGiven("ptxas"))
    return reportError("--ptxas and --no-cubin contradict each other",
                       kNotUnderstood);
  return kSuccess;
}

/// `inputs` has an entry for each target that was asked for.
int CompileVerb::writeOutputs(llvm::ArrayRef<ReportInput> inputs,
                              const std::vector<Compilation> &compilations) {
  OutputFiles files;
  bool isJoined = inputs.size() > 1;
  for (size_t i = 0; i < compilations.size(); ++i) {
    const Compilation &compilation = compilations[i];
    const ReportInput &input = inputs[isJoined ? i : 0];
    // Kernels of several chips do not fit one file.
    std::string stem = stemOf(input.path);
    if (compilations.size() > 1)
      stem += "." + compilation.target;
    files.add(stem + ".ptx", compilation.ptx);
    if (!compilation.cubin.empty())
      files.add(stem + ".cubin", compilation.cubin);
    if (!isJoined)
      files.add(stem + ".plan.json", plan::printPlan(compilation.plan));
    files.add(stem + ".report.txt", printReportText(compilation.report));
    files.add(stem + ".report.json", printReportJSON(compilation.report));
    if (report == ReportKind::Html)
      files.add(stem + ".report.html", printReportPage(compilation, input));
  }
  if (isJoined)
    files.add(stemOf(inputs.front().path) + ".plan.json",
              plan::printPlan(joinPlans(compilations)));
  if (auto error = files.write(output.empty() ? "." : output))
    return reportError(error->text, kFailure);
  return kSuccess;
}

/// The stage whose IR `emit` prints; none if it prints something else.
static std::optional<Stage> stageOf(Emit emit) {
  switch (emit) {
  case Emit::Tensor:
    return Stage::Tensor;
  case Emit::Kernel:
    return Stage::Kernel;
  case Emit::Assigned:
    return Stage::Assigned;
  case Emit::NVVM:
    return Stage::NVVM;
  case Emit::LLVM:
  case Emit::PTX:
  case Emit::Launcher:
  case Emit::HostLinalg:
  case Emit::HostMemRef:
  case Emit::HostLLVM:
  case Emit::NKI:
  case Emit::All:
    return std::nullopt;
  }
  llvm_unreachable("covered switch");
}

/// The text that `emit` names, of kernels that are all for one chip.
static mlir::FailureOr<std::string>
emitKernels(mlir::ModuleOp module, Emit emit, CompilerOptions options) {
  options.withLLVMIR = emit == Emit::LLVM;
  options.withPTX = emit == Emit::PTX;
  options.withPlan = emit == Emit::Launcher;
  options.withReport = false;
  mlir::FailureOr<std::vector<Compilation>> results = compile(module, options);
  if (mlir::failed(results))
    return mlir::failure();
  const Compilation &first = results->front();
  if (emit == Emit::Launcher && targetsOf(options).size() > 1)
    return printLauncher(joinPlans(*results));
  if (results->size() > 1)
    return module.emitError()
           << "has kernels for '" << first.target << "' and '"
           << (*results)[1].target
           << "', but --emit prints those of one chip; without it each chip "
              "gets files of its own";
  return emit == Emit::Launcher ? printLauncher(first.plan)
         : emit == Emit::PTX    ? first.ptx
                                : first.llvmIR;
}

static mlir::FailureOr<std::string> emitText(mlir::ModuleOp module, Emit emit,
                                             const CompilerOptions &options) {
  std::optional<Stage> stage = stageOf(emit);
  std::optional<HostStage> hostStage = hostStageOf(emit);
  if (!stage && !hostStage)
    return emitKernels(module, emit, options);
  if (mlir::failed(stage ? lowerTo(module, *stage, options)
                         : lowerToHost(module, *hostStage, options)))
    return mlir::failure();
  std::string text;
  llvm::raw_string_ostream stream(text);
  module.print(stream);
  stream << '\n';
  return text;
}

int CompileVerb::compileOne(const std::string &path,
                            const CompilerOptions &options) {
  InputModule module(path, choices.imports);
  if (!module || (choices.imports && failed(importProducts(*module, options))))
    return kFailure;
  if (searched && failed(searchSchedules(
                      *module, searched, options, [](const std::string &found) {
                        std::cerr << "blockscale: note: " << found << '\n';
                      })))
    return kFailure;
  if (emit != Emit::All) {
    mlir::FailureOr<std::string> text = emitText(*module, emit, options);
    if (mlir::failed(text))
      return kFailure;
    if (auto error = writeFile(output.empty() ? "-" : output, *text))
      return reportError(error->text, kFailure);
    return kSuccess;
  }
  std::vector<ReportInput> inputs;
  for (const std::string &each : targetsOf(options)) {
    ReportInput &input = inputs.emplace_back(ReportInput{path, {}, 0});
    if (command.isGiven("expected-rows"))
      input.rows = choices.expectedRows;
    if (report != ReportKind::Html)
      continue;
    // Compiling takes products away.
    CompilerOptions forOne = options;
    forOne.target = each;
    auto schedules = reportSchedules(*module, forOne);
    if (mlir::failed(schedules))
      return kFailure;
    input.schedules = std::move(*schedules);
  }
  mlir::FailureOr<std::vector<Compilation>> compilations =
      compile(*module, options);
  if (mlir::failed(compilations))
    return kFailure;
  return writeOutputs(inputs, *compilations);
}

/// NVIDIA's half has options that mean nothing here.
int CompileVerb::runForNKI() {
  for (const char *option :
       {"ptxas", "no-cubin", "expected-rows", "dispatch-rows", "dense-fallback",
        "host-duties", "quantize-on-device", "cache", "threads", "report",
        "search"})
    if (command.isGiven(option))
      return reportError("--" + std::string(option) + " is not for target '" +
                             target + "', which runs kernels of NKI",
                         kNotUnderstood);
  int result = kSuccess;
  for (const std::string &input : inputs)
    if (int code = compileForNKI(input, target, emit, output))
      result = code;
  return result;
}

int CompileVerb::run() {
  if (int code = check())
    return code;
  if (nki::isTargetName(target))
    return runForNKI();
  if (emit == Emit::NKI)
    return reportError(
        "--emit=nki needs a target of NKI, such as --target=trn3" +
            (target.empty() ? "" : ", found '" + target + "'"),
        kNotUnderstood);
  CompilerOptions options;
  options.target = target;
  choices.apply(options);
  options.hostDuties = hostDuties;
  options.cache = cache;
  options.threads = threads;
  progress.begin("compile", "kernels");
  options.progress = [this](uint64_t done, uint64_t all) {
    progress.report(done, all);
  };
  if (std::optional<Reason> why = whyNot(options))
    return reportError(why->text, kNotUnderstood);
  // Host code holds PTX unless it is to hold a cubin.
  bool toHost = hostStageOf(emit).has_value();
  if ((emit == Emit::All && !noCubin) || (toHost && command.isGiven("ptxas"))) {
    llvm::Expected<std::string> program = findPtxas(ptxas);
    options.otherPtxas = !command.isGiven("ptxas");
    if (program)
      options.ptxas = *program;
    else if (command.isGiven("ptxas"))
      return reportError(llvm::toString(program.takeError()), kFailure);
    else
      std::cerr << "blockscale: note: no cubin: "
                << llvm::toString(program.takeError()) << '\n';
  }
  int result = kSuccess;
  for (const std::string &input : inputs)
    if (int code = compileOne(input, options))
      result = code;
  progress.finish();
  return result;
}

std::unique_ptr<Verb> blockscale::driver::makeCompileVerb() {
  return std::make_unique<CompileVerb>();
}
