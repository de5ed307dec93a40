//===- Runtime.cpp - launch kernels from compiled functions ---------------===//
//
// Part of the blockscale project, under the Apache License v2.0 with LLVM
// Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "blockscale-runtime/Runtime.h"
#include "DeviceLaunch.h"

#include <atomic>
#include <cstdio>
#include <cstdlib>
#include <memory>
#include <mutex>

using namespace blockscale;
using namespace blockscale::runtime;

namespace {
/// What BlockscaleKernels::state points to.
struct State {
  plan::Plan plan;
  std::mutex mutex;
  /// The kernels as each context has loaded them.
  std::map<Context, Module> modules;
};
} // namespace

struct BlockscaleLaunch {
  BlockscaleLaunch(const Driver &driver, const plan::Kernel &kernel)
      : launcher(driver, kernel) {}
  DeviceLauncher launcher;
};

static thread_local std::string lastError;

/// Guards the `state` of all kernels.
static std::mutex stateMutex;

static std::atomic<BlockscaleErrorHandler> handler{nullptr};

static Result<State *> stateOf(BlockscaleKernels &kernels) {
  std::lock_guard<std::mutex> lock(stateMutex);
  if (kernels.state)
    return static_cast<State *>(kernels.state);
  if (!kernels.plan || kernels.planBytes < 0 || !kernels.image)
    return Reason("the kernels have no plan or no code");
  Result<plan::Plan> plan =
      plan::parsePlan({kernels.plan, size_t(kernels.planBytes)});
  if (!plan)
    return Reason("the launch plan cannot be read: " + plan.why().text);
  auto *state = new State;
  state->plan = *std::move(plan);
  kernels.state = state;
  return state;
}

static const plan::Kernel *findKernel(const plan::Plan &plan,
                                      const std::string &name) {
  for (const plan::Kernel &kernel : plan.kernels)
    if (kernel.name == name)
      return &kernel;
  return nullptr;
}

/// The module of `kernels` in the calling thread's context, which is set.
static Result<Module> moduleFor(const Driver &driver, State &state,
                                const void *image) {
  Result<Context> context = enterContext(driver);
  if (!context)
    return context.why();
  std::lock_guard<std::mutex> lock(state.mutex);
  Module &module = state.modules[*context];
  if (!module) {
    DriverCode result = driver.loadModule(&module, image);
    if (result != kCudaSuccess) {
      module = nullptr;
      return Reason(driver.failure("cuModuleLoadData", result) +
                    "; the kernels are for '" + state.plan.target +
                    "', the device has compute capability " +
                    computeCapability(driver));
    }
  }
  return module;
}

namespace {
/// What a call asks for, once it is understood.
struct Request {
  State *state = nullptr;
  const plan::Kernel *kernel = nullptr;
  HostOperands operands;
  plan::Environment sizes;
  /// None if D has no element, so that there is nothing to do.
  const Driver *driver = nullptr;
};
} // namespace

/// Returns what went wrong.
static std::string understand(BlockscaleKernels *kernels, const char *name,
                              const BlockscaleOperand *operands, int64_t count,
                              Request &request) {
  if (!kernels || !name || count < 0 || (count > 0 && !operands))
    return "a launch needs kernels, a name and operands";
  Result<State *> state = stateOf(*kernels);
  if (!state)
    return state.why().text;
  request.state = *state;
  request.kernel = findKernel((*state)->plan, name);
  if (!request.kernel)
    return "the launch plan has no kernel '" + std::string(name) + "'";
  Result<HostOperands> host = readOperands(operands, count);
  if (!host)
    return "kernel '" + request.kernel->name + "': " + host.why().text;
  request.operands = *std::move(host);
  std::string why = whyNotOperands(*request.kernel, request.operands);
  if (!why.empty())
    return why;
  plan::Environment &sizes = request.sizes;
  sizes = sizesOf(*request.kernel, request.operands);
  if (sizes["M"] == 0 || sizes["N"] == 0 || sizes["batch"] == 0)
    return "";
  Result<const Driver *> driver = findDriver();
  if (!driver)
    return driver.why().text;
  request.driver = *driver;
  return "";
}

/// Returns what went wrong.
static std::string launch(BlockscaleKernels *kernels, const char *name,
                          const BlockscaleOperand *operands, int64_t count) {
  Request request;
  std::string why = understand(kernels, name, operands, count, request);
  if (!why.empty() || !request.driver)
    return why;
  Result<Module> module =
      moduleFor(*request.driver, *request.state, kernels->image);
  if (!module)
    return module.why().text;
  DeviceLauncher launcher(*request.driver, *request.kernel);
  why = launcher.launch(*module, request.sizes, request.operands);
  return why.empty() ? launcher.finish() : why;
}

/// For callers without a place for errors.
[[noreturn]] static void giveUp() {
  if (BlockscaleErrorHandler given = handler)
    given(lastError.c_str());
  else
    std::fprintf(stderr, "blockscale: error: %s\n", lastError.c_str());
  std::fflush(nullptr);
  std::abort();
}

int32_t blockscaleRuntimeLaunch(BlockscaleKernels *kernels, const char *kernel,
                                const BlockscaleOperand *operands,
                                int64_t count) {
  lastError = launch(kernels, kernel, operands, count);
  return !lastError.empty();
}

void blockscaleRuntimeRun(BlockscaleKernels *kernels, const char *kernel,
                          const BlockscaleOperand *operands, int64_t count) {
  if (blockscaleRuntimeLaunch(kernels, kernel, operands, count))
    giveUp();
}

BlockscaleLaunch *blockscaleRuntimePrepare(BlockscaleKernels *kernels,
                                           const char *kernel,
                                           const BlockscaleOperand *operands,
                                           int64_t count) {
  Request request;
  lastError = understand(kernels, kernel, operands, count, request);
  if (lastError.empty() && !request.driver)
    return nullptr;
  std::unique_ptr<BlockscaleLaunch> launch;
  if (lastError.empty()) {
    Result<Context> entered = enterContext(*request.driver);
    if (!entered)
      lastError = entered.why().text;
    launch =
        std::make_unique<BlockscaleLaunch>(*request.driver, *request.kernel);
  }
  if (lastError.empty())
    lastError = launch->launcher.prepare(request.sizes, request.operands);
  if (!lastError.empty())
    giveUp();
  return launch.release();
}

int64_t blockscaleRuntimeGrid(const BlockscaleLaunch *launch, int64_t axis) {
  return launch && axis >= 0 && axis < 3 ? launch->launcher.grid(unsigned(axis))
                                         : 0;
}

const void *blockscaleRuntimeParameter(const BlockscaleLaunch *launch,
                                       int64_t index) {
  bool isThere = launch && index >= 0 &&
                 uint64_t(index) < launch->launcher.values().size();
  return isThere ? launch->launcher.values()[size_t(index)] : nullptr;
}

void blockscaleRuntimeFinish(BlockscaleLaunch *launch) {
  lastError.clear();
  if (!launch)
    return;
  lastError = launch->launcher.finish();
  delete launch;
  if (!lastError.empty())
    giveUp();
}

const char *blockscaleRuntimeError() { return lastError.c_str(); }

void blockscaleRuntimeSetErrorHandler(BlockscaleErrorHandler given) {
  handler = given;
}

int32_t blockscaleRuntimeUnload(BlockscaleKernels *kernels) {
  lastError.clear();
  if (!kernels || !kernels->state)
    return 0;
  std::lock_guard<std::mutex> lock(stateMutex);
  auto *state = static_cast<State *>(kernels->state);
  kernels->state = nullptr;
  Result<const Driver *> driver = findDriver();
  for (auto [context, module] : state->modules) {
    if (!module)
      continue;
    std::string why = unloadIn(**driver, context, module);
    if (lastError.empty())
      lastError = why;
  }
  delete state;
  return !lastError.empty();
}
