//===- Driver.cpp - the CUDA driver, found at run time --------------------===//
//
// Part of the blockscale project, under the Apache License v2.0 with LLVM
// Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Driver.h"

#include <dlfcn.h>
#include <mutex>

using namespace blockscale;
using namespace blockscale::runtime;

/// The name of an error, whatever the driver can say of it.
static std::string nameOf(const Driver &driver, DriverCode result) {
  const char *name = nullptr, *text = nullptr;
  if (!driver.errorName || driver.errorName(result, &name) != kCudaSuccess ||
      !name)
    return "error " + std::to_string(result);
  if (driver.errorString(result, &text) != kCudaSuccess || !text)
    return name;
  return std::string(name) + " (" + text + ")";
}

std::string Driver::failure(const char *function, DriverCode result) const {
  if (result == kCudaSuccess)
    return "";
  return std::string(function) + ": " + nameOf(*this, result);
}

static constexpr const char *kLibrary = "libcuda.so.1";

namespace {
/// The library and what was found in it.
struct Loaded {
  std::mutex mutex;
  void *library = nullptr;
  Driver driver;
  bool isReady = false, hasGpuFunctions = false;
};
} // namespace

static Loaded &loaded() {
  static Loaded state;
  return state;
}

#define BLOCKSCALE_DRIVER_LOOK(name, member, parameters)                       \
  driver.member =                                                              \
      reinterpret_cast<DriverCode(*) parameters>(dlsym(library, name));

#define BLOCKSCALE_DRIVER_LOAD(name, member, parameters)                       \
  BLOCKSCALE_DRIVER_LOOK(name, member, parameters)                             \
  if (!driver.member)                                                          \
    return std::string(kLibrary) + " has no function '" + name + "'";

/// Returns what is wrong.
static std::string load(Loaded &state) {
  // Never closed: functions of it may run up to the end of the process.
  void *library = state.library = dlopen(kLibrary, RTLD_NOW | RTLD_LOCAL);
  if (!library) {
    const char *why = dlerror();
    return std::string("cannot load the CUDA driver: ") +
           (why ? why : kLibrary);
  }
  Driver &driver = state.driver;
  BLOCKSCALE_DRIVER_FUNCTIONS(BLOCKSCALE_DRIVER_LOAD)
  BLOCKSCALE_DRIVER_LATER_FUNCTIONS(BLOCKSCALE_DRIVER_LOOK)
  return driver.failure("cuInit", driver.init(0));
}

/// Returns what is wrong.
static std::string loadGpuFunctions(Loaded &state) {
  void *library = state.library;
  Driver &driver = state.driver;
  BLOCKSCALE_DRIVER_GPU_FUNCTIONS(BLOCKSCALE_DRIVER_LOAD)
  return "";
}
#undef BLOCKSCALE_DRIVER_LOAD
#undef BLOCKSCALE_DRIVER_LOOK

Result<const Driver *> runtime::findDriver() {
  Loaded &state = loaded();
  std::lock_guard<std::mutex> lock(state.mutex);
  if (!state.isReady)
    if (std::string why = load(state); !why.empty())
      return Reason(why);
  state.isReady = true;
  return &state.driver;
}

Result<const Driver *> runtime::findGpuDriver() {
  if (Result<const Driver *> found = findDriver(); !found)
    return found;
  Loaded &state = loaded();
  std::lock_guard<std::mutex> lock(state.mutex);
  if (!state.hasGpuFunctions)
    if (std::string why = loadGpuFunctions(state); !why.empty())
      return Reason(why);
  state.hasGpuFunctions = true;
  return &state.driver;
}
