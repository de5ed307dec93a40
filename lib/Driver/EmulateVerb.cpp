//===- EmulateVerb.cpp - run PTX on the emulator --------------------------===//
//
// Part of the blockscale project, under the Apache License v2.0 with LLVM
// Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "CudaProgram.h"
#include "TimelineOutput.h"
#include "Verb.h"
#include "blockscale/Driver/Driver.h"
#include "blockscale/Emulator/Hazards.h"
#include "blockscale/HW/Device.h"
#include "blockscale/Verify/Arguments.h"
#include "blockscale/Verify/PlanLaunch.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/Format.h"
#include "llvm/Support/MemoryBuffer.h"
#include "llvm/Support/raw_ostream.h"

#include <algorithm>
#include <chrono>
#include <set>

using namespace blockscale;
using namespace blockscale::driver;
using llvm::StringRef;
namespace cl = llvm::cl;

namespace {
/// A launch with the memory that its buffers borrow.
struct Prepared {
  emulator::Launch launch;
  /// Arrays of a launch from --arg, in the order of the buffers.
  std::vector<std::unique_ptr<packing::NpyArray>> arrays;
  /// Parameter index to array.
  std::map<unsigned, packing::NpyArray *> byParameter;
  /// Memory of a launch from --plan.
  verify::HostData data;
};

class EmulateVerb : public Verb {
public:
  EmulateVerb()
      : Verb("emulate",
             "Run a kernel of a PTX file, or a CUDA program, on the emulator") {
  }
  int run() override;

private:
  int check();
  int runProgram();
  /// Each returns an exit code; 0 is success.
  int prepareFromPlan(Prepared &prepared);
  int prepareFromArguments(Prepared &prepared);
  int readPlanMemory(const plan::Kernel &kernel, const plan::Environment &sizes,
                     Prepared &prepared);
  int writeOutputs(const Prepared &prepared);
  int report(const emulator::RunResult &result, double seconds);

  cl::opt<std::string> input{cl::Positional, cl::sub(command),
                             cl::value_desc("FILE.ptx"),
                             cl::desc("Module to run")};
  cl::opt<std::string> planFile{
      "plan", cl::sub(command), cl::value_desc("FILE.json"),
      cl::desc("Launch plan that 'compile' wrote beside the PTX")};
  cl::opt<std::string> kernel{
      "kernel", cl::sub(command), cl::value_desc("NAME"),
      cl::desc("Kernel to run (default: the plan's first)")};
  cl::opt<std::string> grid{"grid", cl::sub(command), cl::init("1"),
                            cl::value_desc("X,Y,Z"),
                            cl::desc("CTAs of the grid")};
  cl::opt<std::string> cluster{"cluster", cl::sub(command), cl::init("1"),
                               cl::value_desc("X,Y,Z"),
                               cl::desc("CTAs of a cluster")};
  cl::opt<std::string> block{"block", cl::sub(command), cl::init("1"),
                             cl::value_desc("X,Y,Z"),
                             cl::desc("Threads of a CTA")};
  cl::opt<uint32_t> shared{"shared", cl::sub(command), cl::init(0),
                           cl::value_desc("BYTES"),
                           cl::desc("Dynamic shared memory")};
  cl::list<std::string> arguments{
      "arg", cl::sub(command), cl::value_desc("ARGUMENT"),
      cl::desc("Without a plan, the arguments in order: i32:N, u32:N, i64:N, "
               "u64:N, f32:X, in:FILE.npy, inout:FILE.npy, out:TYPE:SHAPE, "
               "map:FILE.npy:type=..,dims=..,strides=..,box=..,swizzle=..")};
  cl::list<std::string> inputs{
      "in", cl::sub(command), cl::value_desc("ROLE=FILE.npy"),
      cl::desc("With a plan, the packed memory of a parameter, such as "
               "a_data, b_scales, bias")};
  cl::list<std::string> settings{
      "set", cl::sub(command), cl::value_desc("NAME=NUMBER"),
      cl::desc("With a plan, a dynamic size (M, N, K, batch), num_sms, "
               "max_clusters, alpha "
               "or beta")};
  cl::list<std::string> outputs{
      "out", cl::sub(command), cl::value_desc("WHICH=FILE.npy"),
      cl::desc("Where to write memory after the run: with a plan d=FILE, else "
               "the number of an argument")};
  cl::opt<bool> trace{"trace", cl::sub(command),
                      cl::desc("Print asynchronous and barrier events")};
  cl::opt<bool> strict{
      "strict", cl::sub(command), cl::init(true),
      cl::desc("Look for missing order, fences and waits (default true)")};
  cl::opt<bool> advice{
      "advice", cl::sub(command),
      cl::desc("Also print what is formally wrong but works in published "
               "kernels")};
  cl::opt<bool> counters{"counters", cl::sub(command),
                         cl::desc("Print what was executed")};
  cl::opt<unsigned> threads{"threads", cl::sub(command), cl::init(0),
                            cl::value_desc("NUMBER"),
                            cl::desc("Host threads (default 0: all)")};
  cl::opt<emulator::Completion> completion{
      "completion", cl::sub(command),
      cl::desc("When asynchronous operations take effect"),
      cl::init(emulator::Completion::Immediate),
      cl::values(clEnumValN(emulator::Completion::Immediate, "immediate",
                            "at issue (default)"),
                 clEnumValN(emulator::Completion::Random, "random",
                            "after a number of turns drawn from --seed"),
                 clEnumValN(emulator::Completion::Latest, "latest",
                            "when no thread can go on without them"))};
  cl::opt<uint64_t> seed{"seed", cl::sub(command), cl::init(1),
                         cl::value_desc("NUMBER"),
                         cl::desc("Start of the random numbers (default 1)")};
  cl::opt<std::string> device{
      "device", cl::sub(command), cl::value_desc("NAME"),
      cl::desc("With --cuda, the card that the program finds: B200 (default), "
               "B300 or RTX5090")};
  cl::list<std::string> program{
      "cuda",
      cl::sub(command),
      cl::Positional,
      cl::PositionalEatsArgs,
      cl::value_desc("PROGRAM ARGUMENTS..."),
      cl::desc("Run a program that was built with 'nvcc -cudart shared'; what "
               "follows is the program's")};
  cl::opt<uint64_t> stepLimit{
      "step-limit", cl::sub(command), cl::init(uint64_t(1) << 32),
      cl::value_desc("NUMBER"),
      cl::desc("Instructions that one warp may execute")};
  TimelineOutput timeline{command};
};
} // namespace

//===----------------------------------------------------------------------===//
// The command line
//===----------------------------------------------------------------------===//

static std::optional<std::pair<StringRef, StringRef>>
splitPair(StringRef text) {
  auto pair = text.split('=');
  if (pair.first.empty() || pair.second.empty())
    return std::nullopt;
  return pair;
}

int EmulateVerb::check() {
  if (input.empty())
    return reportError(
        "neither a PTX file nor a program behind --cuda is given",
        kNotUnderstood);
  if (!device.empty())
    return reportError("--device needs --cuda", kNotUnderstood);
  bool hasPlan = !planFile.empty();
  if (hasPlan && !arguments.empty())
    return reportError("--arg and --plan contradict each other",
                       kNotUnderstood);
  if (!hasPlan && (!inputs.empty() || !settings.empty()))
    return reportError("--in and --set need --plan", kNotUnderstood);
  if (!hasPlan && kernel.empty())
    return reportError("neither --plan nor --kernel is given", kNotUnderstood);
  // `&` of a cl::list is the address of its values.
  for (const std::vector<std::string> *list : {&inputs, &settings, &outputs})
    for (const std::string &text : *list)
      if (!splitPair(text))
        return reportError("expected NAME=VALUE, found '" + text + "'",
                           kNotUnderstood);
  return kSuccess;
}

//===----------------------------------------------------------------------===//
// Launches from a plan
//===----------------------------------------------------------------------===//

int EmulateVerb::readPlanMemory(const plan::Kernel &kernel,
                                const plan::Environment &sizes,
                                Prepared &prepared) {
  auto &memory = prepared.data.memory;
  for (const std::string &text : inputs) {
    auto [role, path] = *splitPair(text);
    packing::NpyResult file = packing::readNpy(path.str());
    if (!file.array)
      return reportError(file.error, kFailure);
    memory[role.str()] = std::move(file.array->data);
  }
  for (const plan::Parameter &parameter : kernel.parameters) {
    if (parameter.role != "d" || memory.count("d"))
      continue;
    Parsed<uint64_t> bytes = verify::memoryBytes(kernel, parameter, sizes);
    if (!bytes)
      return reportError(bytes.error, kFailure);
    memory["d"].resize(*bytes);
  }
  for (const auto &entry : memory)
    if (llvm::none_of(kernel.parameters, [&](const plan::Parameter &parameter) {
          return parameter.role == entry.first;
        }))
      return reportError("kernel '" + kernel.name + "' has no parameter '" +
                             entry.first + "'",
                         kNotUnderstood);
  return kSuccess;
}

int EmulateVerb::prepareFromPlan(Prepared &prepared) {
  auto file = llvm::MemoryBuffer::getFile(planFile);
  if (!file)
    return reportError("cannot read '" + planFile +
                           "': " + file.getError().message(),
                       kFailure);
  Parsed<plan::Plan> plan = plan::parsePlan((*file)->getBuffer());
  if (!plan)
    return reportError("'" + planFile + "': " + plan.error, kFailure);
  const std::vector<plan::Kernel> &kernels = plan->kernels;
  auto found = llvm::find_if(kernels, [&](const plan::Kernel &entry) {
    return kernel.empty() || entry.name == kernel;
  });
  if (found == kernels.end())
    return reportError("'" + planFile + "' has no kernel '" + kernel + "'",
                       kFailure);
  plan::Environment given;
  std::optional<int64_t> numSms, maxClusters;
  for (const std::string &text : settings) {
    auto [name, value] = *splitPair(text);
    double number;
    int64_t integer = 0;
    bool isFactor = name == "alpha" || name == "beta";
    if (isFactor ? value.getAsDouble(number) : value.getAsInteger(10, integer))
      return reportError("'" + value + "' is no value for '" + name + "'",
                         kNotUnderstood);
    if (isFactor)
      prepared.data.scalars[name.str()] = static_cast<float>(number);
    else if (name == "num_sms")
      numSms = integer;
    else if (name == "max_clusters")
      maxClusters = integer;
    else
      given[name.str()] = integer;
  }
  for (StringRef factor : {"alpha", "beta"})
    if (std::optional<double> fixed =
            plan::fixedOperand(*plan, found->name, factor))
      prepared.data.scalars.try_emplace(factor.str(), float(*fixed));
  auto residency = numSms ? Parsed<verify::Residency>::success(
                                verify::residencyOn(*numSms, *found))
                          : verify::residencyOn(*plan, *found);
  if (!residency)
    return reportError(residency.error, kFailure);
  residency.value->maxClusters = maxClusters.value_or(residency->maxClusters);
  Parsed<plan::Environment> sizes =
      verify::bindSizes(*found, given, *residency);
  if (!sizes)
    return reportError(sizes.error, kNotUnderstood);
  if (int code = readPlanMemory(*found, *sizes, prepared))
    return code;
  Parsed<emulator::Launch> launch =
      verify::buildLaunch(*found, *sizes, prepared.data);
  if (!launch)
    return reportError(launch.error, kFailure);
  prepared.launch = std::move(*launch.value);
  return kSuccess;
}

//===----------------------------------------------------------------------===//
// Launches from arguments
//===----------------------------------------------------------------------===//

int EmulateVerb::prepareFromArguments(Prepared &prepared) {
  emulator::Launch &launch = prepared.launch;
  launch.kernel = kernel;
  launch.dynamicSharedBytes = shared;
  const std::pair<StringRef, emulator::Dim3 *> extents[] = {
      {grid, &launch.grid}, {cluster, &launch.cluster}, {block, &launch.block}};
  for (auto [text, dim] : extents) {
    Parsed<emulator::Dim3> parsed = verify::parseDim3(text.str());
    if (!parsed)
      return reportError(parsed.error, kNotUnderstood);
    *dim = *parsed;
  }
  for (auto [index, text] : llvm::enumerate(arguments)) {
    Parsed<verify::TextArgument> parsed = verify::parseArgument(text);
    if (!parsed)
      return reportError(parsed.error, kNotUnderstood);
    verify::TextArgument argument = std::move(*parsed.value);
    if (argument.array) {
      uint32_t buffer = uint32_t(launch.buffers.size());
      prepared.arrays.push_back(
          std::make_unique<packing::NpyArray>(std::move(*argument.array)));
      packing::NpyArray &array = *prepared.arrays.back();
      prepared.byParameter[unsigned(index)] = &array;
      launch.buffers.push_back(
          {array.data.data(), array.data.size(), argument.writable});
      if (auto *map =
              std::get_if<emulator::TensorMapArgument>(&argument.argument))
        map->buffer = buffer;
      else
        argument.argument = emulator::BufferArgument{buffer, 0};
    }
    launch.arguments.push_back(std::move(argument.argument));
  }
  return kSuccess;
}

//===----------------------------------------------------------------------===//
// Results
//===----------------------------------------------------------------------===//

int EmulateVerb::writeOutputs(const Prepared &prepared) {
  for (const std::string &text : outputs) {
    auto [which, path] = *splitPair(text);
    packing::NpyArray array;
    unsigned index;
    auto role = prepared.data.memory.find(which.str());
    if (role != prepared.data.memory.end()) {
      array.shape = {role->second.size()};
      array.data = role->second;
    } else if (!which.getAsInteger(10, index) &&
               prepared.byParameter.count(index)) {
      array = *prepared.byParameter.at(index);
    } else {
      return reportError("no memory behind '" + which + "'", kNotUnderstood);
    }
    if (std::string error = packing::writeNpy(path.str(), array);
        !error.empty())
      return reportError(error, kFailure);
  }
  return kSuccess;
}

int EmulateVerb::report(const emulator::RunResult &result, double seconds) {
  std::set<unsigned> rules;
  auto print = [&](const emulator::Finding &finding, StringRef grade) {
    llvm::errs() << input << ": " << grade << emulator::toString(finding)
                 << '\n';
    if (finding.hazard)
      rules.insert(finding.hazard);
  };
  for (const emulator::Finding &finding : result.findings)
    print(finding, "");
  for (const emulator::Finding &finding : result.advice)
    print(finding, "advice: ");
  for (unsigned rule : rules)
    if (const emulator::HazardInfo *info = emulator::hazardInfo(rule))
      llvm::errs() << "hazard " << rule << ", " << info->name << ": "
                   << info->explanation << '\n';
  if (counters) {
    const emulator::Counters &count = result.counters;
    static constexpr StringRef kinds[] = {"f16",      "tf32", "f8f6f4",  "i8",
                                          "mxf8f6f4", "mxf4", "mxf4nvf4"};
    llvm::outs() << "seconds " << llvm::format("%.3f", seconds) << '\n'
                 << "clusters " << count.clusters << '\n'
                 << "instructions " << count.instructions << '\n';
    for (auto [kind, number] : llvm::zip_equal(kinds, count.mmas))
      if (number)
        llvm::outs() << "mma." << kind << ' ' << number << '\n';
    llvm::outs() << "macs " << count.macs << '\n'
                 << "warp_mmas " << count.warpMmas << '\n'
                 << "tensor_copies " << count.tensorCopies << '\n'
                 << "tma_load_bytes " << count.tmaLoadBytes << '\n'
                 << "tma_store_bytes " << count.tmaStoreBytes << '\n'
                 << "barrier_waits " << count.barrierWaits << '\n'
                 << "commits " << count.commits << '\n';
  }
  for (size_t i = 0; i < size_t(emulator::OpenPoint::Count); ++i)
    if (result.openPoints.contains(static_cast<emulator::OpenPoint>(i)))
      llvm::errs() << "blockscale: note: depends on a choice where the PTX ISA "
                      "is open: "
                   << emulator::openPoints()[i].name << ": "
                   << emulator::openPoints()[i].choice << '\n';
  return result.clean() ? kSuccess : kFailure;
}

//===----------------------------------------------------------------------===//
// A CUDA program
//===----------------------------------------------------------------------===//

int EmulateVerb::runProgram() {
  if (!input.empty() || !planFile.empty() || !kernel.empty() ||
      !arguments.empty() || !inputs.empty() || !settings.empty() ||
      !outputs.empty())
    return reportError("--cuda takes its kernels and their arguments from the "
                       "program, not from the command line",
                       kNotUnderstood);
  CudaProgram request;
  request.command = program;
  if (!device.empty()) {
    std::string why;
    if (!hw::findDevice(device, &why))
      return reportError(why, kNotUnderstood);
    request.settings.emplace_back("BLOCKSCALE_DEVICE", device);
  }
  static constexpr StringRef completions[] = {"immediate", "random", "latest"};
  auto set = [&](const cl::Option &option, StringRef name, StringRef value) {
    if (option.getNumOccurrences())
      request.settings.emplace_back(name.str(), value.str());
  };
  set(completion, "BLOCKSCALE_COMPLETION",
      completions[unsigned(completion.getValue())]);
  set(seed, "BLOCKSCALE_SEED", std::to_string(seed));
  set(stepLimit, "BLOCKSCALE_STEP_LIMIT", std::to_string(stepLimit));
  set(threads, "BLOCKSCALE_THREADS", std::to_string(threads));
  set(trace, "BLOCKSCALE_TRACE", trace ? "1" : "0");
  set(strict, "BLOCKSCALE_STRICT", strict ? "1" : "0");
  set(advice, "BLOCKSCALE_ADVICE", advice ? "1" : "0");
  return runCudaProgram(request);
}

int EmulateVerb::run() {
  if (program.getNumOccurrences())
    return runProgram();
  if (int code = check())
    return code;
  auto file = llvm::MemoryBuffer::getFileOrSTDIN(input.getValue());
  if (!file)
    return reportError(
        "cannot read '" + input + "': " + file.getError().message(), kFailure);
  StringRef text = (*file)->getBuffer();
  emulator::ParseResult ptx =
      emulator::parsePtx(std::string_view(text.data(), text.size()));
  for (const emulator::Diagnostic &diagnostic : ptx.errors)
    llvm::errs() << input << ':' << diagnostic.format() << '\n';
  if (!ptx)
    return reportError("cannot run '" + input + "'", kFailure);
  Prepared prepared;
  if (int code = planFile.empty() ? prepareFromArguments(prepared)
                                  : prepareFromPlan(prepared))
    return code;
  emulator::Options options;
  options.threads = threads;
  options.stepLimit = stepLimit;
  options.strict = strict;
  options.advice = advice;
  options.completion = completion;
  options.seed = seed;
  if (trace)
    options.trace = [](std::string_view line) {
      llvm::outs() << StringRef(line.data(), line.size()) << '\n';
    };
  options.print = [](std::string_view line) {
    llvm::outs() << StringRef(line.data(), line.size());
  };
  if (int code = timeline.attach(*ptx.module, prepared.launch, options))
    return code;
  auto start = std::chrono::steady_clock::now();
  emulator::RunResult result =
      emulator::run(*ptx.module, prepared.launch, options);
  std::chrono::duration<double> seconds =
      std::chrono::steady_clock::now() - start;
  int code = report(result, seconds.count());
  if (int failed = writeOutputs(prepared))
    return failed;
  if (int failed = timeline.finish())
    return failed;
  return code;
}

std::unique_ptr<Verb> blockscale::driver::makeEmulateVerb() {
  return std::make_unique<EmulateVerb>();
}
