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

static constexpr const char *kLibrary = "libcuda.so.1";

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

/// Fills `driver`; returns what is wrong.
static std::string load(Driver &driver) {
  // Never closed: functions of it may run up to the end of the process.
  void *library = dlopen(kLibrary, RTLD_NOW | RTLD_LOCAL);
  if (!library) {
    const char *why = dlerror();
    return std::string("cannot load the CUDA driver: ") +
           (why ? why : kLibrary);
  }
#define BLOCKSCALE_DRIVER_LOAD(name, member, parameters)                       \
  driver.member =                                                              \
      reinterpret_cast<DriverCode(*) parameters>(dlsym(library, name));        \
  if (!driver.member)                                                          \
    return std::string(kLibrary) + " has no function '" + name + "'";
  BLOCKSCALE_DRIVER_FUNCTIONS(BLOCKSCALE_DRIVER_LOAD)
#undef BLOCKSCALE_DRIVER_LOAD
  return driver.failure("cuInit", driver.init(0));
}

Result<const Driver *> runtime::findDriver() {
  static std::mutex mutex;
  static Driver driver;
  static bool isLoaded = false;
  std::lock_guard<std::mutex> lock(mutex);
  if (!isLoaded) {
    std::string why = load(driver);
    if (!why.empty())
      return Reason(why);
    isLoaded = true;
  }
  return &driver;
}
