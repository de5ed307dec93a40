//===- Emulator.cpp - PTX on the emulator ---------------------------------===//
//
// Part of the blockscale project, under the Apache License v2.0 with LLVM
// Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "blockscale-c/Emulator.h"
#include "Handles.h"
#include "LongCall.h"
#include "Reports.h"
#include "blockscale/Plan/Variants.h"
#include "blockscale/Verify/PlanLaunch.h"

#include <algorithm>
#include <cstring>

using namespace blockscale;
using namespace blockscale::capi;

//===----------------------------------------------------------------------===//
// Objects
//===----------------------------------------------------------------------===//

namespace {
/// Memory of the program's.
struct Memory {
  uint8_t *data;
  size_t size;
};

/// What a plan says, and what the program has said of it.
struct Planned {
  plan::Plan plan;
  /// What was asked for, and what a launch with the sizes that are set takes.
  plan::Kernel asked, kernel;
  plan::Environment sizes;
  std::optional<int64_t> numSms, maxClusters;
  std::map<std::string, Memory> memory;
  std::map<std::string, float> factors;
};

struct LaunchObject : Object {
  static constexpr const char *kKind = "launch";
  Exclusive exclusive;
  emulator::Module module;
  /// Without a plan.
  emulator::Launch launch;
  std::optional<Planned> planned;
};

struct RunObject : Object {
  static constexpr const char *kKind = "run";
  bool isClean = false;
  std::string report;
};
} // namespace

static std::shared_ptr<LaunchObject> parse(BlockscaleSlice ptx) {
  emulator::ParseResult parsed = emulator::parsePtx(textOf(ptx, "ptx"));
  if (!parsed) {
    std::string why = "the emulator cannot read the PTX";
    for (const emulator::Diagnostic &error : parsed.errors)
      why += "\n" + error.format();
    fail(BLOCKSCALE_REFUSED, why);
  }
  auto object = std::make_shared<LaunchObject>();
  object->module = std::move(*parsed.module);
  return object;
}

/// Uses a launch of the kind that a function is for.
static void withLaunch(BlockscaleLaunch launch, bool isPlanned,
                       const std::function<void(LaunchObject &)> &body) {
  Use<LaunchObject> use(get<LaunchObject>(launch.id));
  if (use->planned.has_value() != isPlanned)
    fail(BLOCKSCALE_INVALID_ARGUMENT,
         isPlanned ? "the launch has no plan" : "the launch is its plan's");
  body(*use);
}

static void withPlan(BlockscaleLaunch launch,
                     const std::function<void(Planned &)> &body) {
  withLaunch(launch, true,
             [&](LaunchObject &object) { body(*object.planned); });
}

//===----------------------------------------------------------------------===//
// Launches of any PTX
//===----------------------------------------------------------------------===//

BlockscaleStatus blockscaleLaunchCreate(BlockscaleSlice ptx,
                                        BlockscaleSlice kernel,
                                        BlockscaleLaunch *launch) {
  return guarded([&] {
    requirePointer(launch, "launch");
    std::shared_ptr<LaunchObject> object = parse(ptx);
    object->launch.kernel = textOf(kernel, "kernel");
    if (!emulator::Kernel(object->module, object->launch.kernel).function())
      fail(BLOCKSCALE_REFUSED,
           "the PTX has no kernel '" + object->launch.kernel + "'");
    *launch = {addObject(std::move(object))};
  });
}

BlockscaleStatus blockscaleLaunchDestroy(BlockscaleLaunch launch) {
  return guarded([&] {
    Use<LaunchObject> use(get<LaunchObject>(launch.id));
    if (!removeObject(launch.id))
      failHandle(launch.id, LaunchObject::kKind);
  });
}

static BlockscaleStatus setExtents(BlockscaleLaunch launch,
                                   emulator::Dim3 emulator::Launch::*which,
                                   emulator::Dim3 value) {
  return guarded([&] {
    if (!value.x || !value.y || !value.z)
      fail(BLOCKSCALE_INVALID_ARGUMENT, "an extent is 0, expected at least 1");
    withLaunch(launch, false,
               [&](LaunchObject &object) { object.launch.*which = value; });
  });
}

BlockscaleStatus blockscaleLaunchSetGrid(BlockscaleLaunch launch, uint32_t x,
                                         uint32_t y, uint32_t z) {
  return setExtents(launch, &emulator::Launch::grid, {x, y, z});
}

BlockscaleStatus blockscaleLaunchSetCluster(BlockscaleLaunch launch, uint32_t x,
                                            uint32_t y, uint32_t z) {
  return setExtents(launch, &emulator::Launch::cluster, {x, y, z});
}

BlockscaleStatus blockscaleLaunchSetBlock(BlockscaleLaunch launch, uint32_t x,
                                          uint32_t y, uint32_t z) {
  return setExtents(launch, &emulator::Launch::block, {x, y, z});
}

BlockscaleStatus blockscaleLaunchSetSharedBytes(BlockscaleLaunch launch,
                                                uint32_t bytes) {
  return guarded([&] {
    withLaunch(launch, false, [&](LaunchObject &object) {
      object.launch.dynamicSharedBytes = bytes;
    });
  });
}

static constexpr size_t kMostScalarBytes = 4096;

BlockscaleStatus blockscaleLaunchAddScalar(BlockscaleLaunch launch,
                                           const void *bytes, size_t size) {
  return guarded([&] {
    requirePointer(bytes, "bytes");
    // The parameters of a kernel have no more bytes altogether.
    if (!size || size > kMostScalarBytes)
      fail(BLOCKSCALE_INVALID_ARGUMENT,
           "a scalar has 1 to " + std::to_string(kMostScalarBytes) +
               " bytes, found " + std::to_string(size));
    const auto *first = static_cast<const uint8_t *>(bytes);
    withLaunch(launch, false, [&](LaunchObject &object) {
      object.launch.arguments.push_back(
          std::vector<uint8_t>(first, first + size));
    });
  });
}

static Memory memoryOf(void *data, size_t size) {
  requirePointer(data, "data");
  if (!size || size > SIZE_MAX / 2)
    fail(BLOCKSCALE_INVALID_ARGUMENT,
         "memory of " + std::to_string(size) + " bytes");
  return {static_cast<uint8_t *>(data), size};
}

/// The number of a new buffer.
static uint32_t addBuffer(LaunchObject &object, Memory memory,
                          bool isWritable) {
  object.launch.buffers.push_back({memory.data, memory.size, isWritable});
  return static_cast<uint32_t>(object.launch.buffers.size() - 1);
}

BlockscaleStatus blockscaleLaunchAddMemory(BlockscaleLaunch launch, void *data,
                                           size_t size, bool isWritable) {
  return guarded([&] {
    Memory memory = memoryOf(data, size);
    withLaunch(launch, false, [&](LaunchObject &object) {
      uint32_t buffer = addBuffer(object, memory, isWritable);
      object.launch.arguments.push_back(emulator::BufferArgument{buffer, 0});
    });
  });
}

static emulator::TensorMap tensorMapOf(const BlockscaleTensorMap &given) {
  emulator::TensorMap map;
  if (given.rank < 1 || given.rank > 5)
    fail(BLOCKSCALE_INVALID_ARGUMENT, "a tensor map has 1 to 5 dimensions, "
                                      "found " +
                                          std::to_string(given.rank));
  map.type =
      enumeratorOf<emulator::TensorMapType>(given.dataType, 16, "dataType");
  map.rank = given.rank;
  std::copy_n(given.globalDim, 5, map.globalDim.begin());
  std::copy_n(given.globalStrides, 4, map.globalStrides.begin());
  std::copy_n(given.boxDim, 5, map.boxDim.begin());
  std::copy_n(given.elementStrides, 5, map.elementStrides.begin());
  map.interleave =
      enumeratorOf<emulator::Interleave>(given.interleave, 3, "interleave");
  map.swizzle = enumeratorOf<emulator::Swizzle>(given.swizzle, 7, "swizzle");
  map.l2Promotion = enumeratorOf<uint32_t>(given.l2Promotion, 4, "l2Promotion");
  map.oobFill = enumeratorOf<emulator::OobFill>(given.oobFill, 2, "oobFill");
  if (std::optional<Reason> why = emulator::whyNot(map))
    fail(BLOCKSCALE_REFUSED, why->text);
  return map;
}

BlockscaleStatus blockscaleLaunchAddTensorMap(BlockscaleLaunch launch,
                                              const BlockscaleTensorMap *map,
                                              void *data, size_t size,
                                              bool isWritable) {
  return guarded([&] {
    requirePointer(map, "map");
    emulator::TensorMapArgument argument{tensorMapOf(*map), 0, 0};
    Memory memory = memoryOf(data, size);
    withLaunch(launch, false, [&](LaunchObject &object) {
      argument.buffer = addBuffer(object, memory, isWritable);
      object.launch.arguments.push_back(argument);
    });
  });
}

//===----------------------------------------------------------------------===//
// Launches of plans
//===----------------------------------------------------------------------===//

BlockscaleStatus blockscaleLaunchCreateFromPlan(BlockscaleSlice ptx,
                                                BlockscaleSlice planText,
                                                BlockscaleSlice kernel,
                                                BlockscaleLaunch *launch) {
  return guarded([&] {
    requirePointer(launch, "launch");
    std::string_view name = textOf(kernel, "kernel");
    Result<plan::Plan> plan = plan::parsePlan(textOf(planText, "plan"));
    if (!plan)
      fail(BLOCKSCALE_REFUSED, "the plan: " + plan.why().text);
    std::shared_ptr<LaunchObject> object = parse(ptx);
    Result<const plan::Plan *> chosen =
        plan::planForTarget(*plan, object->module.target);
    if (!chosen)
      fail(BLOCKSCALE_REFUSED, chosen.why().text);
    const auto &kernels = (*chosen)->kernels;
    auto found =
        std::find_if(kernels.begin(), kernels.end(), [&](const auto &each) {
          return name.empty() || each.name == name;
        });
    if (found == kernels.end())
      fail(BLOCKSCALE_REFUSED,
           "the plan has no kernel '" + std::string(name) + "'");
    if (auto why = verify::whyNotParameters(*found, object->module))
      fail(BLOCKSCALE_REFUSED, why->text);
    Planned planned;
    planned.asked = planned.kernel = *found;
    for (const char *factor : {"alpha", "beta"})
      if (std::optional<double> fixed =
              plan::fixedOperand(**chosen, found->name, factor))
        planned.factors[factor] = static_cast<float>(*fixed);
    planned.plan = **chosen;
    object->planned = std::move(planned);
    *launch = {addObject(std::move(object))};
  });
}

static const plan::Parameter *findParameter(const plan::Kernel &kernel,
                                            std::string_view role) {
  for (const plan::Parameter &parameter : kernel.parameters)
    if (parameter.role == role)
      return &parameter;
  return nullptr;
}

BlockscaleStatus blockscaleLaunchSetSize(BlockscaleLaunch launch,
                                         BlockscaleSlice name, int64_t value) {
  return guarded([&] {
    std::string text(textOf(name, "name"));
    if (value < 1)
      fail(BLOCKSCALE_REFUSED, "'" + text + "' is " + std::to_string(value) +
                                   ", expected at least 1");
    withPlan(launch, [&](Planned &planned) {
      const auto &sizes = planned.kernel.sizes;
      if (text == "num_sms")
        planned.numSms = value;
      else if (text == "max_clusters")
        planned.maxClusters = value;
      else if (std::any_of(sizes.begin(), sizes.end(),
                           [&](const auto &size) { return size.name == text; }))
        planned.sizes[text] = value;
      else
        fail(BLOCKSCALE_REFUSED,
             "'" + planned.kernel.name + "' has no size '" + text + "'");
      if (text == "M")
        planned.kernel =
            *plan::kernelForRows(planned.plan, &planned.asked, uint64_t(value));
    });
  });
}

BlockscaleStatus blockscaleLaunchSetFactor(BlockscaleLaunch launch,
                                           BlockscaleSlice name, float value) {
  return guarded([&] {
    std::string text(textOf(name, "name"));
    withPlan(launch, [&](Planned &planned) {
      const plan::Parameter *parameter = findParameter(planned.kernel, text);
      if (!parameter || parameter->kind != plan::ParameterKind::Scalar ||
          parameter->type != "f32")
        fail(BLOCKSCALE_REFUSED,
             "'" + planned.kernel.name + "' has no factor '" + text + "'");
      planned.factors[text] = value;
    });
  });
}

static plan::Environment bind(const Planned &planned) {
  auto residency =
      planned.numSms ? Result<verify::Residency>(
                           verify::residencyOn(*planned.numSms, planned.kernel))
                     : verify::residencyOn(planned.plan, planned.kernel);
  if (!residency)
    fail(BLOCKSCALE_REFUSED, residency.why().text);
  residency->maxClusters = planned.maxClusters.value_or(residency->maxClusters);
  Result<plan::Environment> sizes =
      verify::bindSizes(planned.kernel, planned.sizes, *residency);
  if (!sizes)
    fail(BLOCKSCALE_REFUSED, sizes.why().text);
  return *std::move(sizes);
}

static uint64_t memoryBytes(const Planned &planned, std::string_view role) {
  const plan::Parameter *parameter = findParameter(planned.kernel, role);
  if (!parameter || parameter->kind == plan::ParameterKind::Scalar)
    fail(BLOCKSCALE_REFUSED, "'" + planned.kernel.name + "' has no memory '" +
                                 std::string(role) + "'");
  Result<uint64_t> bytes =
      verify::memoryBytes(planned.kernel, *parameter, bind(planned));
  if (!bytes)
    fail(BLOCKSCALE_REFUSED, bytes.why().text);
  return *bytes;
}

BlockscaleStatus blockscaleLaunchGetMemorySize(BlockscaleLaunch launch,
                                               BlockscaleSlice role,
                                               uint64_t *bytes) {
  return guarded([&] {
    requirePointer(bytes, "bytes");
    std::string_view name = textOf(role, "role");
    withPlan(launch,
             [&](Planned &planned) { *bytes = memoryBytes(planned, name); });
  });
}

static void requireMemorySize(const Planned &planned, const std::string &role,
                              size_t size) {
  uint64_t expected = memoryBytes(planned, role);
  if (size != expected)
    fail(BLOCKSCALE_REFUSED, "'" + role + "' has " + std::to_string(size) +
                                 " bytes, expected " +
                                 std::to_string(expected));
}

BlockscaleStatus blockscaleLaunchSetMemory(BlockscaleLaunch launch,
                                           BlockscaleSlice role, void *data,
                                           size_t size) {
  return guarded([&] {
    std::string name(textOf(role, "role"));
    Memory memory = memoryOf(data, size);
    withPlan(launch, [&](Planned &planned) {
      requireMemorySize(planned, name, size);
      planned.memory[name] = memory;
    });
  });
}

BlockscaleStatus blockscaleLaunchDescribe(BlockscaleLaunch launch,
                                          BlockscaleBytes *json) {
  return guarded([&] {
    requirePointer(json, "json");
    withPlan(launch, [&](Planned &planned) {
      *json = makeBytes(
          describeLaunch(planned.plan, planned.kernel, bind(planned)));
    });
  });
}

//===----------------------------------------------------------------------===//
// Runs
//===----------------------------------------------------------------------===//

static BlockscaleRunOptions defaultRunOptions() {
  emulator::Options defaults;
  BlockscaleRunOptions options = {};
  options.structSize = sizeof(options);
  options.seed = defaults.seed;
  options.stepLimit = defaults.stepLimit;
  options.strict = defaults.strict;
  return options;
}

BlockscaleStatus blockscaleRunOptionsInit(BlockscaleRunOptions *options,
                                          size_t structSize) {
  return guarded(
      [&] { initOptions(options, structSize, defaultRunOptions()); });
}

static emulator::Options runOptions(const BlockscaleRunOptions &chosen) {
  emulator::Options options;
  options.threads = chosen.threads;
  options.completion = enumeratorOf<emulator::Completion>(
      chosen.completion, BLOCKSCALE_COMPLETION_LATEST + 1, "completion");
  options.seed = chosen.seed;
  options.stepLimit = chosen.stepLimit;
  options.strict = chosen.strict;
  options.advice = chosen.advice;
  return options;
}

/// Runs the launch; what a call that was stopped wrote is lost.
static emulator::RunResult runPlanned(LaunchObject &object,
                                      const emulator::Options &options) {
  Planned &planned = *object.planned;
  plan::Environment sizes = bind(planned);
  verify::HostData data;
  data.scalars = planned.factors;
  for (const auto &[role, memory] : planned.memory) {
    // A size may have changed since it was set.
    requireMemorySize(planned, role, memory.size);
    data.memory[role].assign(memory.data, memory.data + memory.size);
  }
  // Who wants to see the workspace, or use it again, passes one.
  const std::string workspace(plan::kWorkspaceRole);
  if (planned.kernel.workspace && !planned.memory.count(workspace))
    data.memory[workspace].assign(memoryBytes(planned, workspace), 0);
  Result<emulator::Launch> launch =
      verify::buildLaunch(planned.kernel, sizes, data);
  if (!launch)
    fail(BLOCKSCALE_REFUSED, launch.why().text);
  emulator::RunResult result = emulator::run(object.module, *launch, options);
  if (result.stopped)
    return result;
  for (const plan::Parameter &parameter : planned.kernel.parameters) {
    bool isWritten = plan::isOfResult(parameter) || parameter.role == workspace;
    if (auto written = planned.memory.find(parameter.role);
        isWritten && written != planned.memory.end())
      std::memcpy(written->second.data, data.memory.at(parameter.role).data(),
                  written->second.size);
  }
  return result;
}

BlockscaleStatus blockscaleLaunchRun(BlockscaleLaunch launch,
                                     const BlockscaleRunOptions *given,
                                     BlockscaleRun *run) {
  return guarded([&] {
    requirePointer(run, "run");
    BlockscaleRunOptions chosen = optionsOf(given, defaultRunOptions());
    emulator::Options options = runOptions(chosen);
    LongCall call(chosen.stop, chosen.progress, chosen.progressData);
    options.stop = call.stop();
    options.progress = call.progress();
    Use<LaunchObject> use(get<LaunchObject>(launch.id));
    emulator::RunResult result =
        use->planned ? runPlanned(*use, options)
                     : emulator::run(use->module, use->launch, options);
    call.finish();
    auto object = std::make_shared<RunObject>();
    object->isClean = result.clean();
    object->report = runReport(result);
    *run = {addObject(std::move(object))};
  });
}

BlockscaleStatus blockscaleRunIsClean(BlockscaleRun run, bool *isClean) {
  return guarded([&] {
    requirePointer(isClean, "isClean");
    *isClean = get<RunObject>(run.id)->isClean;
  });
}

BlockscaleStatus blockscaleRunGetReport(BlockscaleRun run,
                                        BlockscaleSlice *json) {
  return guarded([&] {
    requirePointer(json, "json");
    *json = sliceOf(get<RunObject>(run.id)->report);
  });
}

BlockscaleStatus blockscaleRunDestroy(BlockscaleRun run) {
  return guarded([&] { destroy<RunObject>(run.id); });
}
