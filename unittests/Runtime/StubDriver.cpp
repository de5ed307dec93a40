//===- StubDriver.cpp - a driver that only writes down --------------------===//
//
// Part of the blockscale project, under the Apache License v2.0 with LLVM
// Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// libcuda.so.1 for tests of the runtime: its parameters are those of the CUDA
// driver API, from cuda.h, spelt with builtin types.
//
//===----------------------------------------------------------------------===//

#include "StubDriver.h"

#include <cstring>
#include <iterator>
#include <mutex>
#include <sstream>

extern "C" StubDriver *stubDriver() {
  static StubDriver driver;
  return &driver;
}

namespace {
/// Holds the stub, which threads of a test share.
struct Guard {
  Guard() { lock.lock(); }
  ~Guard() { lock.unlock(); }
  static inline std::recursive_mutex lock;
};
} // namespace

/// Notes the call; the result that the function returns.
static int note(const char *function, const std::string &arguments = "") {
  Guard guard;
  StubDriver &stub = *stubDriver();
  stub.calls.push_back(arguments.empty() ? function
                                         : function + (" " + arguments));
  constexpr int kInvalidValue = 1;
  return stub.failing == function ? kInvalidValue : 0;
}

template <typename T> static std::string list(const T *values, size_t count) {
  std::ostringstream text;
  for (size_t i = 0; i < count; ++i)
    text << (i ? "," : "") << values[i];
  return text.str();
}

/// CUlaunchConfig and CUlaunchAttribute as cuda.h lays them out.
struct StubAttribute {
  int id;
  int padding;
  union {
    uint64_t words[8];
    unsigned cluster[3];
    int allowed;
  };
};
struct StubConfiguration {
  unsigned grid[3], block[3], shared;
  void *stream;
  StubAttribute *attributes;
  unsigned count;
};

static std::string describe(const StubConfiguration *configuration) {
  std::ostringstream text;
  text << "grid=" << list(configuration->grid, 3)
       << " block=" << list(configuration->block, 3)
       << " shared=" << configuration->shared;
  if (configuration->stream)
    text << " stream=" << reinterpret_cast<uintptr_t>(configuration->stream);
  constexpr int kCluster = 4, kDependent = 6;
  for (unsigned i = 0; i < configuration->count; ++i) {
    const StubAttribute &attribute = configuration->attributes[i];
    if (attribute.id == kCluster)
      text << " cluster=" << list(attribute.cluster, 3);
    else if (attribute.id == kDependent)
      text << " dependent=" << attribute.allowed;
    else
      text << " attribute" << attribute.id;
  }
  return text.str();
}

extern "C" {
int cuInit(unsigned) { return note("cuInit"); }
int cuGetErrorName(int, const char **name) {
  *name = "CUDA_ERROR_INVALID_VALUE";
  return 0;
}
int cuGetErrorString(int, const char **text) {
  *text = "invalid argument";
  return 0;
}
int cuDeviceGet(int *device, int ordinal) {
  *device = ordinal;
  return note("cuDeviceGet");
}
int cuDeviceGetAttribute(int *value, int attribute, int) {
  constexpr int kMultiprocessors = 16, kMajor = 75;
  *value = attribute == kMultiprocessors ? 7 : attribute == kMajor ? 10 : 0;
  return 0;
}
static thread_local void *current = nullptr;
int cuDevicePrimaryCtxRetain(void **context, int) {
  *context = stubDriver();
  return note("cuDevicePrimaryCtxRetain");
}
int cuCtxGetCurrent(void **context) {
  *context = current;
  return 0;
}
int cuCtxSetCurrent(void *context) {
  current = context;
  return 0;
}
int cuCtxGetDevice(int *device) {
  *device = 0;
  return 0;
}
int cuModuleLoadData(void **module, const void *image) {
  *module = stubDriver();
  return note("cuModuleLoadData", static_cast<const char *>(image));
}
int cuModuleUnload(void *) { return note("cuModuleUnload"); }
int cuModuleGetFunction(void **function, void *, const char *name) {
  *function = stubDriver();
  return note("cuModuleGetFunction", name);
}
int cuFuncSetAttribute(void *, int attribute, int value) {
  return note("cuFuncSetAttribute",
              std::to_string(attribute) + " " + std::to_string(value));
}
/// " on 7" for a stream; nothing for the default one.
static std::string onStream(void *stream) {
  return stream ? " on " + std::to_string(reinterpret_cast<uintptr_t>(stream))
                : "";
}
int cuMemAllocAsync(unsigned long long *address, size_t bytes, void *stream) {
  Guard guard;
  auto *memory = new uint8_t[bytes]();
  *address = reinterpret_cast<unsigned long long>(memory);
  stubDriver()->memory[memory] = bytes;
  return note("cuMemAllocAsync", std::to_string(bytes) + onStream(stream));
}
int cuMemFreeAsync(unsigned long long address, void *) {
  Guard guard;
  auto *memory = reinterpret_cast<uint8_t *>(address);
  stubDriver()->memory.erase(memory);
  delete[] memory;
  return 0;
}
/// The allocation around an address.
static std::map<uint8_t *, size_t>::iterator find(unsigned long long address) {
  auto &memory = stubDriver()->memory;
  auto after = memory.upper_bound(reinterpret_cast<uint8_t *>(address));
  if (after == memory.begin())
    return memory.end();
  auto it = std::prev(after);
  return reinterpret_cast<uint8_t *>(address) < it->first + it->second
             ? it
             : memory.end();
}
int cuPointerGetAttribute(void *data, int attribute,
                          unsigned long long address) {
  constexpr int kMemoryType = 2, kInvalidValue = 1;
  constexpr unsigned kDevice = 2;
  Guard guard;
  if (attribute != kMemoryType || find(address) == stubDriver()->memory.end())
    return kInvalidValue;
  std::memcpy(data, &kDevice, sizeof(kDevice));
  return 0;
}
int cuMemGetAddressRange_v2(unsigned long long *base, size_t *size,
                            unsigned long long address) {
  Guard guard;
  auto it = find(address);
  *base = reinterpret_cast<unsigned long long>(it->first);
  *size = it->second;
  return note("cuMemGetAddressRange");
}
int cuMemcpyHtoDAsync_v2(unsigned long long to, const void *from, size_t bytes,
                         void *) {
  Guard guard;
  std::memcpy(reinterpret_cast<void *>(to), from, bytes);
  auto *first = static_cast<const uint8_t *>(from);
  stubDriver()->uploads.emplace_back(first, first + bytes);
  return note("cuMemcpyHtoDAsync");
}
int cuMemcpyDtoHAsync_v2(void *to, unsigned long long from, size_t bytes,
                         void *) {
  std::memcpy(to, reinterpret_cast<void *>(from), bytes);
  return note("cuMemcpyDtoHAsync");
}
int cuStreamSynchronize(void *stream) {
  std::string where = onStream(stream);
  return note("cuStreamSynchronize", where.empty() ? "" : where.substr(1));
}
int cuTensorMapEncodeTiled(void *map, int type, unsigned rank, void *address,
                           const uint64_t *dims, const uint64_t *strides,
                           const uint32_t *box, const uint32_t *steps,
                           int interleave, int swizzle, int promotion,
                           int fill) {
  constexpr uintptr_t kMapAlignment = 128;
  bool isAligned = reinterpret_cast<uintptr_t>(map) % kMapAlignment == 0;
  std::memcpy(map, &address, sizeof(address));
  std::ostringstream text;
  text << "type=" << type << " dims=" << list(dims, rank)
       << " strides=" << list(strides, rank - 1) << " box=" << list(box, rank)
       << " steps=" << list(steps, rank) << " codes=" << interleave << ","
       << swizzle << "," << promotion << "," << fill
       << (isAligned ? "" : " misaligned");
  return note("cuTensorMapEncodeTiled", text.str());
}
int cuOccupancyMaxActiveClusters(int *clusters, void *,
                                 const StubConfiguration *configuration) {
  *clusters = stubDriver()->clusters;
  return note("cuOccupancyMaxActiveClusters", describe(configuration));
}
int cuLaunchKernelEx(const StubConfiguration *configuration, void *,
                     void **parameters, void **) {
  Guard guard;
  StubDriver &stub = *stubDriver();
  std::string text = describe(configuration);
  for (size_t i = 0; i < stub.parameterBytes.size(); ++i)
    if (stub.parameterBytes[i] == 4) {
      int32_t value;
      std::memcpy(&value, parameters[i], sizeof(value));
      text += " " + std::to_string(value);
    }
  void *d = nullptr;
  std::memcpy(&d, parameters[stub.d], sizeof(d));
  std::memcpy(d, stub.result.data(), stub.result.size());
  return note("cuLaunchKernelEx", text);
}
int cuCtxSynchronize() { return note("cuCtxSynchronize"); }
}
