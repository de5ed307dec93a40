//===- Runtime.cpp - launch kernels from compiled functions ---------------===//
//
// Part of the blockscale project, under the Apache License v2.0 with LLVM
// Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "blockscale-runtime/Runtime.h"
#include "DeviceLaunch.h"
#include "blockscale/Plan/Variants.h"

#include <atomic>
#include <cstdio>
#include <cstdlib>
#include <memory>
#include <mutex>

using namespace blockscale;
using namespace blockscale::runtime;

namespace {
/// What there is of the kernels in one context.
struct Loaded {
  Module module = nullptr;
  ResidentOperands resident;
};

/// What BlockscaleKernels::state points to.
struct State {
  plan::Plan plan;
  std::mutex mutex;
  std::map<Context, Loaded> loaded;
};
} // namespace

/// The calling thread's.
static thread_local Stream currentStream = nullptr;

struct BlockscalePreparedLaunch {
  BlockscalePreparedLaunch(const Driver &driver, const plan::Kernel &kernel)
      : launcher(driver, kernel, currentStream) {}
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

/// What there is of the kernels in the calling thread's context, which is set.
static Result<Loaded *> loadedFor(const Driver &driver, State &state) {
  Result<Context> context = enterContext(driver);
  if (!context)
    return context.why();
  std::lock_guard<std::mutex> lock(state.mutex);
  return &state.loaded[*context];
}

/// Returns what went wrong.
static std::string load(const Driver &driver, State &state, const void *image,
                        Loaded &loaded) {
  std::lock_guard<std::mutex> lock(state.mutex);
  if (loaded.module)
    return "";
  DriverCode result = driver.loadModule(&loaded.module, image);
  if (result == kCudaSuccess)
    return "";
  loaded.module = nullptr;
  return driver.failure("cuModuleLoadData", result) +
         "; the kernels are for '" + state.plan.target +
         "', the device has compute capability " + computeCapability(driver);
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

/// Returns what went wrong. Takes the kernel of that name even for few rows if
/// `isNamed`: whoever launches it has its name, too.
static std::string understand(BlockscaleKernels *kernels, const char *name,
                              const BlockscaleOperand *operands, int64_t count,
                              bool isNamed, Request &request) {
  if (!kernels || !name || count < 0 || (count > 0 && !operands))
    return "a launch needs kernels, a name and operands";
  Result<State *> state = stateOf(*kernels);
  if (!state)
    return state.why().text;
  request.state = *state;
  request.kernel = plan::findKernel((*state)->plan, name);
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
  if (!isNamed)
    request.kernel = plan::kernelForRows((*state)->plan, request.kernel,
                                         uint64_t(sizes["M"]));
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
  std::string why = understand(kernels, name, operands, count,
                               /*isNamed=*/false, request);
  if (!why.empty() || !request.driver)
    return why;
  Result<Loaded *> loaded = loadedFor(*request.driver, *request.state);
  if (!loaded)
    return loaded.why().text;
  DeviceLauncher launcher(*request.driver, *request.kernel, currentStream);
  why = load(*request.driver, *request.state, kernels->image, **loaded);
  if (why.empty())
    why = launcher.launch((*loaded)->module, request.sizes, request.operands,
                          (*loaded)->resident);
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

BlockscalePreparedLaunch *
blockscaleRuntimePrepare(BlockscaleKernels *kernels, const char *kernel,
                         const BlockscaleOperand *operands, int64_t count) {
  Request request;
  lastError =
      understand(kernels, kernel, operands, count, /*isNamed=*/true, request);
  if (lastError.empty() && !request.driver)
    return nullptr;
  std::unique_ptr<BlockscalePreparedLaunch> launch;
  if (lastError.empty()) {
    Result<Loaded *> loaded = loadedFor(*request.driver, *request.state);
    launch = std::make_unique<BlockscalePreparedLaunch>(*request.driver,
                                                        *request.kernel);
    lastError = loaded
                    ? launch->launcher.prepare(request.sizes, request.operands,
                                               (*loaded)->resident)
                    : loaded.why().text;
  }
  if (!lastError.empty())
    giveUp();
  return launch.release();
}

int64_t blockscaleRuntimeGrid(const BlockscalePreparedLaunch *launch,
                              int64_t axis) {
  return launch && axis >= 0 && axis < 3 ? launch->launcher.grid(unsigned(axis))
                                         : 0;
}

const void *blockscaleRuntimeParameter(const BlockscalePreparedLaunch *launch,
                                       int64_t index) {
  bool isThere = launch && index >= 0 &&
                 uint64_t(index) < launch->launcher.values().size();
  return isThere ? launch->launcher.values()[size_t(index)] : nullptr;
}

void blockscaleRuntimeFinish(BlockscalePreparedLaunch *launch) {
  lastError.clear();
  if (!launch)
    return;
  lastError = launch->launcher.finishPrepared();
  delete launch;
  if (!lastError.empty())
    giveUp();
}

void blockscaleRuntimeSetStream(void *stream) {
  currentStream = static_cast<Stream>(stream);
}

int32_t blockscaleRuntimeSynchronize() {
  Result<const Driver *> driver = findDriver();
  Result<Context> context =
      driver ? enterContext(**driver) : Result<Context>(driver.why());
  lastError = context
                  ? (*driver)->failure("cuStreamSynchronize",
                                       (*driver)->waitForStream(currentStream))
                  : context.why().text;
  return !lastError.empty();
}

void *blockscaleRuntimeAllocate(int64_t bytes) {
  lastError.clear();
  if (bytes == 0)
    return nullptr;
  Result<const Driver *> driver = findDriver();
  Result<Context> context =
      driver ? enterContext(**driver) : Result<Context>(driver.why());
  DevicePointer memory = 0;
  if (!context)
    lastError = context.why().text;
  else if (DriverCode result =
               (*driver)->allocate(&memory, size_t(bytes), currentStream))
    lastError = std::to_string(bytes) +
                " bytes: " + (*driver)->failure("cuMemAllocAsync", result);
  if (!lastError.empty())
    giveUp();
  return reinterpret_cast<void *>(memory);
}

void blockscaleRuntimeFree(void *memory) {
  lastError.clear();
  if (!memory)
    return;
  Result<const Driver *> driver = findDriver();
  lastError =
      driver ? (*driver)->failure(
                   "cuMemFreeAsync",
                   (*driver)->release(reinterpret_cast<DevicePointer>(memory),
                                      currentStream))
             : driver.why().text;
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
  for (auto &[context, loaded] : state->loaded) {
    std::string why =
        driver ? unloadIn(**driver, context, loaded.module, loaded.resident)
               : driver.why().text;
    if (lastError.empty())
      lastError = why;
  }
  delete state;
  return !lastError.empty();
}
