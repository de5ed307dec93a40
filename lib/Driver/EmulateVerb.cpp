//===- EmulateVerb.cpp - run PTX on the emulator --------------------------===//
//
// Part of the blockscale project, under the Apache License v2.0 with LLVM
// Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "CudaProgram.h"
#include "EmulatedLaunch.h"
#include "Progress.h"
#include "RunSummary.h"
#include "TimelineOutput.h"
#include "Verb.h"
#include "blockscale/Driver/Driver.h"
#include "blockscale/Driver/OutputFiles.h"
#include "blockscale/Emulator/Hazards.h"
#include "blockscale/Emulator/SourceLines.h"
#include "blockscale/HW/Device.h"

#include <algorithm>
#include <chrono>
#include <filesystem>
#include <iostream>
#include <set>

using namespace blockscale;
using namespace blockscale::driver;

namespace {
class EmulateVerb : public Verb {
public:
  EmulateVerb();
  int run() override;

private:
  int check();
  int runProgram();
  int prepareTimelines(CudaProgram &request);
  /// Whether each --out names memory of the launch.
  int checkOutputs(const EmulatedLaunch &prepared);
  int addOutputs(const EmulatedLaunch &prepared, OutputFiles &files);
  /// Prints the findings and returns their texts.
  std::vector<std::string> report(const emulator::Module &module,
                                  const emulator::RunResult &result,
                                  double seconds);
  void printCounters(const emulator::Counters &count, double seconds);

  std::string input, kernel, device;
  PlannedLaunch planned;
  SpelledLaunch spelled;
  std::vector<std::string> outputs, program;
  std::string strict = "true";
  bool trace = false, advice = false, counters = false;
  unsigned threads = 0;
  emulator::Completion completion = emulator::Completion::Immediate;
  uint64_t seed = 1, stepLimit = uint64_t(1) << 32;
  TimelineOutput timeline{command};
  Progress progress{command};
  RunSummary summary{command};
};
} // namespace

EmulateVerb::EmulateVerb()
    : Verb("emulate",
           "Run a kernel of a PTX file, or a CUDA program, on the emulator") {
  using emulator::Completion;
  command.positional("FILE.ptx", input, "Module to run");
  command.text("plan", planned.file, "FILE.json",
               "Launch plan that 'compile' wrote beside the PTX");
  command.text("kernel", kernel, "NAME",
               "Kernel to run (default: the plan's first)");
  command.text("grid", spelled.grid, "X,Y,Z",
               "Without a plan, CTAs of the grid");
  command.text("cluster", spelled.cluster, "X,Y,Z",
               "Without a plan, CTAs of a cluster");
  command.text("block", spelled.block, "X,Y,Z",
               "Without a plan, threads of a CTA");
  command.number("shared", spelled.shared,
                 "Without a plan, bytes of dynamic shared memory");
  command.flag("oversized-shared", spelled.oversizedShared,
               "Without a plan, allow a CTA the shared memory that sm_107 has "
               "beyond 227 KiB");
  command.texts(
      "arg", spelled.arguments, "ARGUMENT",
      "Without a plan, the arguments in order: i32:N, u32:N, i64:N, u64:N, "
      "f32:X, in:FILE.npy, inout:FILE.npy, out:TYPE:SHAPE, "
      "map:FILE.npy:type=..,dims=..,strides=..,box=..,swizzle=..");
  command.texts("in", planned.inputs, "ROLE=FILE.npy",
                "With a plan, the packed memory of a parameter, such as "
                "a_data, b_scales, bias");
  command.texts("set", planned.settings, "NAME=NUMBER",
                "With a plan, a dynamic size (M, N, K, batch, tokens), "
                "num_sms, max_clusters, alpha or beta");
  command.texts("out", outputs, "WHICH=FILE.npy",
                "Where to write memory after the run: with a plan d=FILE, else "
                "the number of an argument");
  command.flag("trace", trace, "Print asynchronous and barrier events");
  command.flagOrName("strict", strict,
                     "Look for missing order, fences and waits: in all kernels "
                     "(default), in none with false, or in those with NAME in "
                     "their name");
  command.flag("advice", advice,
               "Also print what is formally wrong but works in published "
               "kernels");
  command.flag("counters", counters, "Print what was executed");
  command.number("threads", threads, "Host threads (default 0: all)");
  command.choice<Completion>(
      "completion", completion,
      {{"immediate", Completion::Immediate, "at issue (default)"},
       {"random", Completion::Random,
        "after a number of turns drawn from --seed"},
       {"latest", Completion::Latest, "when no thread can go on without them"}},
      "When asynchronous operations take effect");
  command.number("seed", seed, "Start of the random numbers (default 1)");
  command.text("device", device, "NAME",
               "With --cuda, the card that the program finds: B200 (default), "
               "B300, RTX5090, H100 or VR200");
  command.rest("cuda", program, "PROGRAM ARGUMENTS...",
               "Run a program that uses CUDA's runtime or driver, or an "
               "interpreter such as python3; what follows is the program's. "
               "--timeline names a folder then, for a trace of each launch");
  command.number("step-limit", stepLimit,
                 "Instructions that one warp may execute");
}

//===----------------------------------------------------------------------===//
// The command line
//===----------------------------------------------------------------------===//

/// What the value of --strict asks for.
struct StrictMode {
  bool on;
  std::string kernel; ///< part of its name; empty for all of them
};
static StrictMode strictMode(const std::string &value) {
  if (value == "false" || value == "0")
    return {false, ""};
  bool all = value.empty() || value == "true" || value == "1";
  return {true, all ? "" : value};
}

int EmulateVerb::check() {
  if (input.empty())
    return reportError("neither a PTX file nor a program after --cuda is given",
                       kNotUnderstood);
  if (!device.empty())
    return reportError("--device needs --cuda", kNotUnderstood);
  bool hasPlan = !planned.file.empty();
  if (hasPlan)
    for (const char *name :
         {"arg", "grid", "cluster", "block", "shared", "oversized-shared"})
      if (command.isGiven(name))
        return reportError("--" + std::string(name) +
                               " and --plan contradict each other: the launch "
                               "is the plan's",
                           kNotUnderstood);
  if (!hasPlan && (!planned.inputs.empty() || !planned.settings.empty()))
    return reportError("--in and --set need --plan", kNotUnderstood);
  if (!hasPlan && kernel.empty())
    return reportError("neither --plan nor --kernel is given", kNotUnderstood);
  for (const auto *list : {&planned.inputs, &planned.settings, &outputs})
    for (const std::string &text : *list)
      if (!splitPair(text))
        return reportError("expected NAME=VALUE, found '" + text + "'",
                           kNotUnderstood);
  return kSuccess;
}

//===----------------------------------------------------------------------===//
// Results
//===----------------------------------------------------------------------===//

/// The array that a parameter of that number points to; null if none does.
static const packing::NpyArray *findArray(const EmulatedLaunch &prepared,
                                          std::string_view which) {
  std::optional<unsigned> index = parseInteger<unsigned>(which);
  if (!index || !prepared.byParameter.count(*index))
    return nullptr;
  return prepared.byParameter.at(*index);
}

int EmulateVerb::checkOutputs(const EmulatedLaunch &prepared) {
  for (const std::string &text : outputs) {
    std::string which = splitPair(text)->first;
    if (!prepared.data.memory.count(which) && !findArray(prepared, which))
      return reportError("no memory behind '" + which + "'", kNotUnderstood);
  }
  return kSuccess;
}

int EmulateVerb::addOutputs(const EmulatedLaunch &prepared,
                            OutputFiles &files) {
  for (const std::string &text : outputs) {
    auto [which, path] = *splitPair(text);
    auto role = prepared.data.memory.find(which);
    bool isRole = role != prepared.data.memory.end();
    const packing::NpyArray *array =
        isRole ? nullptr : findArray(prepared, which);
    const std::vector<uint8_t> &data = isRole ? role->second : array->data;
    std::string head =
        isRole ? packing::formatNpyHeader(packing::NpyType::U8, {data.size()})
               : packing::formatNpyHeader(array->type, array->shape);
    if (head.empty())
      return reportError("the memory behind '" + which +
                             "' has too many dimensions for a .npy file",
                         kFailure);
    files.addLarge(path, std::move(head),
                   {reinterpret_cast<const char *>(data.data()), data.size()});
  }
  return kSuccess;
}

void EmulateVerb::printCounters(const emulator::Counters &count,
                                double seconds) {
  std::cout << "seconds " << formatNumber("%.3f", seconds) << '\n'
            << "clusters " << count.clusters << '\n'
            << "instructions " << count.instructions << '\n';
  for (size_t i = 0; i < count.mmas.size(); ++i)
    if (count.mmas[i])
      std::cout << "mma." << name(emulator::MmaKind(i)) << ' ' << count.mmas[i]
                << '\n';
  std::cout << "macs " << count.macs << '\n'
            << "warp_mmas " << count.warpMmas << '\n'
            << "tensor_copies " << count.tensorCopies << '\n'
            << "tma_load_bytes " << count.tmaLoadBytes << '\n'
            << "tma_store_bytes " << count.tmaStoreBytes << '\n'
            << "barrier_waits " << count.barrierWaits << '\n'
            << "commits " << count.commits << '\n';
}

std::vector<std::string> EmulateVerb::report(const emulator::Module &module,
                                             const emulator::RunResult &result,
                                             double seconds) {
  std::set<unsigned> rules;
  std::vector<std::string> texts;
  auto print = [&](const emulator::Finding &finding, std::string_view grade) {
    std::string text = emulator::toString(finding) + "\n" +
                       emulator::sourceNote(module, finding);
    std::cerr << input << ": " << grade << text;
    text.pop_back();
    if (finding.hazard)
      rules.insert(finding.hazard);
    return text;
  };
  for (const emulator::Finding &finding : result.findings)
    texts.push_back(print(finding, ""));
  for (const emulator::Finding &finding : result.advice)
    print(finding, "advice: ");
  for (unsigned rule : rules)
    if (const emulator::HazardInfo *info = emulator::hazardInfo(rule))
      std::cerr << "hazard " << rule << ", " << info->name << ": "
                << info->explanation << '\n';
  if (counters)
    printCounters(result.counters, seconds);
  std::cout.flush();
  for (size_t i = 0; i < size_t(emulator::OpenPoint::Count); ++i)
    if (result.openPoints.contains(static_cast<emulator::OpenPoint>(i)))
      std::cerr << "blockscale: note: depends on a choice where the PTX ISA "
                   "is open: "
                << emulator::openPoints()[i].name << ": "
                << emulator::openPoints()[i].choice << '\n';
  return texts;
}

//===----------------------------------------------------------------------===//
// A CUDA program
//===----------------------------------------------------------------------===//

/// The folder for the traces of all launches, which is new or empty.
int EmulateVerb::prepareTimelines(CudaProgram &request) {
  if (!timeline.wantsReport() && timeline.target().empty())
    return kSuccess;
  if (completion != emulator::Completion::Immediate)
    return reportError("--timeline and --report need --completion=immediate",
                       kNotUnderstood);
  request.settings.emplace_back("BLOCKSCALE_REPORT",
                                timeline.wantsReport() ? "1" : "0");
  if (timeline.target().empty())
    return kSuccess;
  std::error_code error;
  std::filesystem::path folder =
      std::filesystem::absolute(timeline.target(), error);
  std::filesystem::create_directories(folder, error);
  if (error)
    return reportError("cannot make the folder '" + timeline.target() +
                           "': " + error.message(),
                       kFailure);
  if (!std::filesystem::is_empty(folder, error) || error)
    return reportError("the folder '" + timeline.target() +
                           "' for the traces of launches is not empty",
                       kFailure);
  request.settings.emplace_back("BLOCKSCALE_TIMELINE", folder);
  return kSuccess;
}

int EmulateVerb::runProgram() {
  if (program.empty() || program.front().empty())
    return reportError("expected a program after --cuda, found none",
                       kNotUnderstood);
  if (!input.empty() || !planned.file.empty() || !kernel.empty() ||
      !spelled.arguments.empty() || !planned.inputs.empty() ||
      !planned.settings.empty() || !outputs.empty())
    return reportError("--cuda takes its kernels and their arguments from the "
                       "program, not from the command line",
                       kNotUnderstood);
  CudaProgram request;
  request.command = program;
  if (!device.empty()) {
    if (Result<hw::Device> found = hw::findDevice(device); !found)
      return reportError(found.why().text, kNotUnderstood);
    request.settings.emplace_back("BLOCKSCALE_DEVICE", device);
  }
  static constexpr const char *completions[] = {"immediate", "random",
                                                "latest"};
  auto set = [&](const char *option, const char *name, std::string value) {
    if (command.isGiven(option))
      request.settings.emplace_back(name, std::move(value));
  };
  set("completion", "BLOCKSCALE_COMPLETION", completions[unsigned(completion)]);
  set("seed", "BLOCKSCALE_SEED", std::to_string(seed));
  set("step-limit", "BLOCKSCALE_STEP_LIMIT", std::to_string(stepLimit));
  set("threads", "BLOCKSCALE_THREADS", std::to_string(threads));
  set("trace", "BLOCKSCALE_TRACE", trace ? "1" : "0");
  StrictMode mode = strictMode(strict);
  set("strict", "BLOCKSCALE_STRICT", mode.on ? "1" : "0");
  set("strict", "BLOCKSCALE_STRICT_KERNEL", mode.kernel);
  set("advice", "BLOCKSCALE_ADVICE", advice ? "1" : "0");
  set("progress", "BLOCKSCALE_PROGRESS",
      progress.choice().value_or(false) ? "1" : "0");
  if (int code = prepareTimelines(request))
    return code;
  request.recordAll = summary.isWanted();
  Result<ProgramEnd> end = runCudaProgram(request);
  if (!end)
    return reportError(end.why().text, kFailure);
  OutputFiles files;
  summary.finish(end->launches, program.front(), end->status, files);
  if (auto why = files.write(""))
    return reportError(why->text, kFailure);
  bool isClean =
      std::all_of(end->launches.begin(), end->launches.end(),
                  [](const auto &launch) { return launch.findings.empty(); });
  return end->status == kSuccess && !isClean ? kFailure : end->status;
}

int EmulateVerb::run() {
  if (command.isGiven("cuda"))
    return runProgram();
  if (int code = check())
    return code;
  Result<std::string> text = readFile(input);
  if (!text)
    return reportError(text.why().text, kFailure);
  emulator::ParseResult ptx = emulator::parsePtx(*text);
  for (const emulator::Diagnostic &diagnostic : ptx.errors)
    std::cerr << input << ':' << diagnostic.format() << '\n';
  if (!ptx)
    return reportError("cannot run '" + input + "'", kFailure);
  EmulatedLaunch prepared;
  if (int code = planned.file.empty()
                     ? prepareLaunch(spelled, kernel, prepared)
                     : prepareLaunch(planned, kernel, *ptx.module, prepared))
    return code;
  if (int code = checkOutputs(prepared))
    return code;
  emulator::Options options;
  options.threads = threads;
  options.sms = prepared.sms;
  options.stepLimit = stepLimit;
  StrictMode mode = strictMode(strict);
  options.strict = mode.on;
  options.strictKernel = mode.kernel;
  options.advice = advice;
  options.completion = completion;
  options.seed = seed;
  if (trace)
    options.trace = [](std::string_view line) { std::cout << line << '\n'; };
  options.print = [](std::string_view line) { std::cout << line; };
  if (int code = timeline.attach(*ptx.module, prepared.launch, options))
    return code;
  progress.attach(prepared.launch.kernel, options);
  auto start = std::chrono::steady_clock::now();
  emulator::RunResult result =
      emulator::run(*ptx.module, prepared.launch, options);
  std::chrono::duration<double> seconds =
      std::chrono::steady_clock::now() - start;
  progress.finish();
  int code = result.clean() ? kSuccess : kFailure;
  std::vector<std::string> texts = report(*ptx.module, result, seconds.count());
  OutputFiles files;
  summary.finish({recordOf(prepared.launch, result, texts, seconds.count())},
                 input, std::nullopt, files);
  // What was refused has no results; what went wrong on the way has some.
  bool isRefused = code && !result.counters.instructions;
  if (int failed = isRefused ? kSuccess : addOutputs(prepared, files))
    return failed;
  if (!isRefused)
    timeline.finish(files);
  if (auto why = files.write(""))
    return reportError(why->text, kFailure);
  return code;
}

std::unique_ptr<Verb> blockscale::driver::makeEmulateVerb() {
  return std::make_unique<EmulateVerb>();
}
