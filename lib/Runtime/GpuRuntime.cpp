//===- GpuRuntime.cpp - what upstream's gpu dialect calls -----------------===//
//
// Part of the blockscale project, under the Apache License v2.0 with LLVM
// Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// `gpu-to-llvm` and the translation of `gpu.binary` and `gpu.launch_func` emit
// calls of the functions below, with these parameters. LLVM has a library of
// them, libmlir_cuda_runtime.so, where it was built with CUDA; Debian's was
// not. This one finds the driver at run time.
//
// The calls have no place for errors: what goes wrong is printed, and the
// process aborted.
//
//===----------------------------------------------------------------------===//

#include "DeviceLaunch.h"
#include "Driver.h"

#include <atomic>
#include <cstdio>
#include <cstdlib>
#include <limits>
#include <mutex>

using namespace blockscale;
using namespace blockscale::runtime;

[[noreturn]] static void giveUp(const std::string &why) {
  std::fprintf(stderr, "blockscale: error: %s\n", why.c_str());
  std::fflush(nullptr);
  std::abort();
}

//===----------------------------------------------------------------------===//
// Devices
//===----------------------------------------------------------------------===//

/// What mgpuSetDefaultDevice was given last.
static std::atomic<int> defaultDevice{0};

static const Driver &driver() {
  static const Driver *found = [] {
    Result<const Driver *> result = findGpuDriver();
    if (!result)
      giveUp(result.why().text);
    return *result;
  }();
  return *found;
}

static void check(const char *function, DriverCode result) {
  if (result != kCudaSuccess)
    giveUp(driver().failure(function, result));
}

namespace {
/// The primary context of the default device, for as long as it lives.
class InContext {
public:
  InContext() {
    check("cuCtxGetCurrent", driver().currentContext(&before));
    check("cuCtxSetCurrent", driver().setContext(primary(defaultDevice)));
  }
  ~InContext() { check("cuCtxSetCurrent", driver().setContext(before)); }
  InContext(const InContext &) = delete;
  InContext &operator=(const InContext &) = delete;

private:
  /// Retained once, up to the end of the process.
  static Context primary(int number) {
    static std::mutex mutex;
    static std::map<int, Context> contexts;
    std::lock_guard<std::mutex> lock(mutex);
    Context &context = contexts[number];
    if (context)
      return context;
    Device device = 0;
    check("cuDeviceGet", driver().deviceGet(&device, number));
    check("cuDevicePrimaryCtxRetain", driver().retainPrimary(&context, device));
    return context;
  }

  Context before = nullptr;
};

/// Code of a program. It is given when the program starts and loaded when the
/// first of its kernels is asked for, so that a program that launches nothing
/// needs no driver.
struct LazyModule {
  const void *image;
  std::mutex mutex;
  Module module = nullptr;
};
} // namespace

//===----------------------------------------------------------------------===//
// Modules
//===----------------------------------------------------------------------===//

#pragma GCC visibility push(default)
extern "C" {
LazyModule *mgpuModuleLoad(const void *image, size_t bytes);
LazyModule *mgpuModuleLoadJIT(const void *image, int level);
void mgpuModuleUnload(LazyModule *lazy);
Function mgpuModuleGetFunction(LazyModule *lazy, const char *name);
void mgpuLaunchKernel(Function function, intptr_t gridX, intptr_t gridY,
                      intptr_t gridZ, intptr_t blockX, intptr_t blockY,
                      intptr_t blockZ, int32_t sharedBytes, Stream stream,
                      void **parameters, void **extra, size_t count);
void mgpuLaunchClusterKernel(Function function, intptr_t clusterX,
                             intptr_t clusterY, intptr_t clusterZ,
                             intptr_t gridX, intptr_t gridY, intptr_t gridZ,
                             intptr_t blockX, intptr_t blockY, intptr_t blockZ,
                             int32_t sharedBytes, Stream stream,
                             void **parameters, void **extra);
Stream mgpuStreamCreate();
void mgpuStreamDestroy(Stream stream);
void mgpuStreamSynchronize(Stream stream);
void mgpuStreamWaitEvent(Stream stream, Event event);
Event mgpuEventCreate();
void mgpuEventDestroy(Event event);
void mgpuEventSynchronize(Event event);
void mgpuEventRecord(Event event, Stream stream);
void *mgpuMemAlloc(uint64_t bytes, Stream stream, bool isHostShared);
void mgpuMemFree(void *memory, Stream stream);
void mgpuMemcpy(void *to, void *from, size_t bytes, Stream stream);
void mgpuMemset16(void *to, unsigned short value, size_t count, Stream stream);
void mgpuMemset32(void *to, unsigned value, size_t count, Stream stream);
void mgpuSetDefaultDevice(int32_t device);
}
#pragma GCC visibility pop

LazyModule *mgpuModuleLoad(const void *image, size_t /*bytes*/) {
  return new LazyModule{image, {}, nullptr};
}

LazyModule *mgpuModuleLoadJIT(const void *image, int /*level*/) {
  return mgpuModuleLoad(image, 0);
}

void mgpuModuleUnload(LazyModule *lazy) {
  // The process ends: the driver may be gone already, and what it answers then
  // is of no use.
  if (lazy->module)
    driver().unloadModule(lazy->module);
  delete lazy;
}

Function mgpuModuleGetFunction(LazyModule *lazy, const char *name) {
  InContext context;
  std::lock_guard<std::mutex> lock(lazy->mutex);
  if (!lazy->module)
    if (DriverCode result = driver().loadModule(&lazy->module, lazy->image))
      giveUp(driver().failure("cuModuleLoadData", result) +
             "; the device has compute capability " +
             computeCapability(driver()));
  Function function = nullptr;
  if (DriverCode result = driver().getFunction(&function, lazy->module, name))
    giveUp("kernel '" + std::string(name) +
           "': " + driver().failure("cuModuleGetFunction", result));
  return function;
}

//===----------------------------------------------------------------------===//
// Launches
//===----------------------------------------------------------------------===//

static unsigned extent(intptr_t value) {
  if (value < 1 || value > std::numeric_limits<int32_t>::max())
    giveUp("a launch has an extent of " + std::to_string(value));
  return unsigned(value);
}

void mgpuLaunchClusterKernel(Function function, intptr_t clusterX,
                             intptr_t clusterY, intptr_t clusterZ,
                             intptr_t gridX, intptr_t gridY, intptr_t gridZ,
                             intptr_t blockX, intptr_t blockY, intptr_t blockZ,
                             int32_t sharedBytes, Stream stream,
                             void **parameters, void **extra) {
  InContext context;
  LaunchAttribute cluster = {};
  cluster.id = LaunchAttributeId::ClusterDimension;
  cluster.value.clusterDimension = {extent(clusterX), extent(clusterY),
                                    extent(clusterZ)};
  // Larger clusters may not find room on every part.
  constexpr intptr_t kMaxPortableCluster = 8;
  if (clusterX * clusterY * clusterZ > kMaxPortableCluster)
    check("cuFuncSetAttribute",
          driver().setFunctionAttribute(
              function, FunctionAttribute::NonPortableClusterSizeAllowed, 1));
  // More than the standard mode of any chip has.
  constexpr int32_t kMostStandard = 232448;
  if (sharedBytes > kMostStandard)
    check("cuFuncSetAttribute",
          driver().setFunctionAttribute(function,
                                        FunctionAttribute::SharedMemoryMode,
                                        kAllowOversizedSharedMemory));
  else if (sharedBytes > 0)
    check("cuFuncSetAttribute",
          driver().setFunctionAttribute(
              function, FunctionAttribute::MaxDynamicSharedSizeBytes,
              sharedBytes));
  LaunchConfiguration configuration = {};
  configuration.gridX = extent(gridX);
  configuration.gridY = extent(gridY);
  configuration.gridZ = extent(gridZ);
  configuration.blockX = extent(blockX);
  configuration.blockY = extent(blockY);
  configuration.blockZ = extent(blockZ);
  configuration.sharedBytes = unsigned(sharedBytes);
  configuration.stream = stream;
  configuration.attributes = &cluster;
  // A grid of clusters of one CTA starts its CTAs more slowly than one without
  // clusters does.
  configuration.attributeCount = clusterX * clusterY * clusterZ > 1;
  check("cuLaunchKernelEx",
        driver().launch(&configuration, function, parameters, extra));
}

void mgpuLaunchKernel(Function function, intptr_t gridX, intptr_t gridY,
                      intptr_t gridZ, intptr_t blockX, intptr_t blockY,
                      intptr_t blockZ, int32_t sharedBytes, Stream stream,
                      void **parameters, void **extra, size_t /*count*/) {
  mgpuLaunchClusterKernel(function, 1, 1, 1, gridX, gridY, gridZ, blockX,
                          blockY, blockZ, sharedBytes, stream, parameters,
                          extra);
}

//===----------------------------------------------------------------------===//
// Streams, events, memory
//===----------------------------------------------------------------------===//

Stream mgpuStreamCreate() {
  InContext context;
  Stream stream = nullptr;
  constexpr unsigned kNonBlocking = 1;
  check("cuStreamCreate", driver().createStream(&stream, kNonBlocking));
  return stream;
}

void mgpuStreamDestroy(Stream stream) {
  InContext context;
  check("cuStreamDestroy", driver().destroyStream(stream));
}

void mgpuStreamSynchronize(Stream stream) {
  InContext context;
  check("cuStreamSynchronize", driver().waitForStream(stream));
}

void mgpuStreamWaitEvent(Stream stream, Event event) {
  InContext context;
  check("cuStreamWaitEvent", driver().letStreamWait(stream, event, 0));
}

Event mgpuEventCreate() {
  InContext context;
  Event event = nullptr;
  constexpr unsigned kDisableTiming = 2;
  check("cuEventCreate", driver().createEvent(&event, kDisableTiming));
  return event;
}

void mgpuEventDestroy(Event event) {
  InContext context;
  check("cuEventDestroy", driver().destroyEvent(event));
}

void mgpuEventSynchronize(Event event) {
  InContext context;
  check("cuEventSynchronize", driver().waitForEvent(event));
}

void mgpuEventRecord(Event event, Stream stream) {
  InContext context;
  check("cuEventRecord", driver().recordEvent(event, stream));
}

static DevicePointer addressOf(const void *memory) {
  return reinterpret_cast<DevicePointer>(memory);
}

void *mgpuMemAlloc(uint64_t bytes, Stream /*stream*/, bool isHostShared) {
  InContext context;
  DevicePointer memory = 0;
  if (bytes == 0)
    return nullptr;
  constexpr unsigned kGlobal = 1;
  if (isHostShared)
    check("cuMemAllocManaged",
          driver().allocateManaged(&memory, bytes, kGlobal));
  else
    check("cuMemAlloc", driver().allocateAtOnce(&memory, bytes));
  return reinterpret_cast<void *>(memory);
}

void mgpuMemFree(void *memory, Stream /*stream*/) {
  InContext context;
  if (memory)
    check("cuMemFree", driver().releaseAtOnce(addressOf(memory)));
}

void mgpuMemcpy(void *to, void *from, size_t bytes, Stream stream) {
  InContext context;
  check("cuMemcpyAsync",
        driver().copyAsync(addressOf(to), addressOf(from), bytes, stream));
}

void mgpuMemset16(void *to, unsigned short value, size_t count, Stream stream) {
  InContext context;
  check("cuMemsetD16Async",
        driver().set16(addressOf(to), value, count, stream));
}

void mgpuMemset32(void *to, unsigned value, size_t count, Stream stream) {
  InContext context;
  check("cuMemsetD32Async",
        driver().set32(addressOf(to), value, count, stream));
}

void mgpuSetDefaultDevice(int32_t device) { defaultDevice = device; }
