//===- ApiDevice.cpp - start, errors and the device -----------------------===//
//
// Part of the blockscale project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Device.h"
#include "Driver.h"
#include "Memory.h"

#include <climits>
#include <cstring>

using namespace blockscale;
using namespace blockscale::cuda;

namespace {

/// Copies text into the program's buffer, of which the rest becomes zeros.
CUresult copyText(std::string_view text, char *to, int length) {
  if (!to || length <= 0)
    return CUDA_ERROR_INVALID_VALUE;
  std::memset(to, 0, size_t(length));
  text.copy(to, size_t(length) - 1);
  return CUDA_SUCCESS;
}

CUresult onDevice(CUdevice device, const std::function<CUresult()> &work) {
  return withDriver(
      [&] { return isDevice(device) ? work() : CUDA_ERROR_INVALID_DEVICE; });
}

/// Error for what names no device on a bus, or is no such name at all.
CUresult noBus(const char *text) {
  size_t length = std::strlen(text);
  return length && std::strspn(text, "0123456789abcdefABCDEF:.") == length
             ? CUDA_ERROR_INVALID_DEVICE
             : CUDA_ERROR_INVALID_VALUE;
}

const hw::Device &card() { return Core::get().device; }

} // namespace

BLOCKSCALE_API CUresult cuInit(unsigned flags) {
  auto guard = locked();
  if (flags)
    return CUDA_ERROR_INVALID_VALUE;
  isInitialised() = true;
  return CUDA_SUCCESS;
}

BLOCKSCALE_API CUresult cuDriverGetVersion(int *version) {
  return give(version, int(CUDA_VERSION));
}

BLOCKSCALE_API CUresult cuGetErrorString(CUresult error, const char **text) {
  if (!text)
    return CUDA_ERROR_INVALID_VALUE;
  // Errors of the driver have the runtime's numbers.
  *text = driverName(error) ? meaning(cudaError_t(error)) : nullptr;
  return *text ? CUDA_SUCCESS : CUDA_ERROR_INVALID_VALUE;
}

BLOCKSCALE_API CUresult cuGetErrorName(CUresult error, const char **text) {
  if (!text)
    return CUDA_ERROR_INVALID_VALUE;
  *text = driverName(error);
  return *text ? CUDA_SUCCESS : CUDA_ERROR_INVALID_VALUE;
}

BLOCKSCALE_API CUresult cuDeviceGetCount(int *count) {
  return withDriver([&] { return give(count, 1); });
}

BLOCKSCALE_API CUresult cuDeviceGet(CUdevice *device, int ordinal) {
  return onDevice(ordinal, [&] { return give(device, 0); });
}

BLOCKSCALE_API CUresult cuDeviceGetName(char *name, int length,
                                        CUdevice device) {
  return onDevice(device,
                  [&] { return copyText(card().productName, name, length); });
}

BLOCKSCALE_API CUresult cuDeviceGetUuid_v2(CUuuid *uuid, CUdevice device) {
  return onDevice(device, [&] {
    if (!uuid)
      return CUDA_ERROR_INVALID_VALUE;
    // The name in it tells emulated devices from others and from each other.
    std::memset(uuid, 0, sizeof *uuid);
    std::string text = "emu-" + std::string(card().name);
    text.copy(uuid->bytes, sizeof uuid->bytes);
    return CUDA_SUCCESS;
  });
}

BLOCKSCALE_API CUresult cuDeviceGetLuid(char *luid, unsigned *mask,
                                        CUdevice device) {
  return onDevice(device, [] { return CUDA_ERROR_NOT_SUPPORTED; });
}

BLOCKSCALE_API CUresult cuDeviceTotalMem(size_t *bytes, CUdevice device) {
  return onDevice(device,
                  [&] { return give(bytes, size_t(card().memoryBytes)); });
}

BLOCKSCALE_API CUresult cuDeviceGetAttribute(int *value,
                                             CUdevice_attribute attribute,
                                             CUdevice device) {
  return onDevice(device, [&] {
    if (attribute < 1 || attribute >= CU_DEVICE_ATTRIBUTE_MAX)
      return CUDA_ERROR_INVALID_VALUE;
    return give(value, deviceAttribute(attribute));
  });
}

BLOCKSCALE_API CUresult cuDeviceComputeCapability(int *major, int *minor,
                                                  CUdevice device) {
  return onDevice(device, [&] {
    if (!major || !minor)
      return CUDA_ERROR_INVALID_VALUE;
    *major = int(card().capabilityMajor());
    *minor = int(card().capabilityMinor());
    return CUDA_SUCCESS;
  });
}

BLOCKSCALE_API CUresult cuDeviceGetProperties(CUdevprop *properties,
                                              CUdevice device) {
  return onDevice(device, [&] {
    if (!properties)
      return CUDA_ERROR_INVALID_VALUE;
    *properties = {};
    properties->maxThreadsPerBlock = hw::kMaxThreadsPerCta;
    std::copy(kMaxBlock, kMaxBlock + 3, properties->maxThreadsDim);
    std::copy(kMaxGrid, kMaxGrid + 3, properties->maxGridSize);
    properties->sharedMemPerBlock = kSharedWithoutOptIn;
    properties->totalConstantMemory = kConstantBytes;
    properties->SIMDWidth = hw::kWarpSize;
    properties->memPitch = INT_MAX;
    properties->regsPerBlock = hw::kRegistersPerSm;
    properties->clockRate = deviceAttribute(CU_DEVICE_ATTRIBUTE_CLOCK_RATE);
    properties->textureAlign =
        deviceAttribute(CU_DEVICE_ATTRIBUTE_TEXTURE_ALIGNMENT);
    return CUDA_SUCCESS;
  });
}

BLOCKSCALE_API CUresult cuDeviceGetPCIBusId(char *text, int length,
                                            CUdevice device) {
  return onDevice(device, [&] {
    return length < int(sizeof kBusId) ? CUDA_ERROR_INVALID_VALUE
                                       : copyText(kBusId, text, length);
  });
}

BLOCKSCALE_API CUresult cuDeviceGetByPCIBusId(CUdevice *device,
                                              const char *text) {
  return withDriver([&] {
    if (!text)
      return CUDA_ERROR_INVALID_VALUE;
    return std::strcmp(text, kBusId) == 0 ? give(device, 0) : noBus(text);
  });
}

BLOCKSCALE_API CUresult cuDeviceCanAccessPeer(int *can, CUdevice one,
                                              CUdevice other) {
  return onDevice(one, [&] {
    return isDevice(other) ? give(can, 0) : CUDA_ERROR_INVALID_DEVICE;
  });
}

BLOCKSCALE_API CUresult cuDeviceGetExecAffinitySupport(int *supported,
                                                       CUexecAffinityType,
                                                       CUdevice device) {
  return onDevice(device, [&] { return give(supported, 0); });
}

//===----------------------------------------------------------------------===//
// Pools of the device
//===----------------------------------------------------------------------===//

BLOCKSCALE_API CUresult cuDeviceGetDefaultMemPool(CUmemoryPool *pool,
                                                  CUdevice device) {
  return onDevice(device, [&] { return give(pool, defaultPool()); });
}

BLOCKSCALE_API CUresult cuDeviceGetMemPool(CUmemoryPool *pool,
                                           CUdevice device) {
  return withDriver([&] {
    return isDevice(device) ? give(pool, currentPool())
                            : CUDA_ERROR_INVALID_VALUE;
  });
}

BLOCKSCALE_API CUresult cuDeviceSetMemPool(CUdevice device, CUmemoryPool pool) {
  return onDevice(device, [&] {
    if (!isPool(pool))
      return CUDA_ERROR_INVALID_VALUE;
    currentPool() = pool;
    return CUDA_SUCCESS;
  });
}

BLOCKSCALE_API CUresult cuDeviceGraphMemTrim(CUdevice device) {
  return onDevice(device, [] { return CUDA_SUCCESS; });
}

BLOCKSCALE_API CUresult cuDeviceGetGraphMemAttribute(
    CUdevice device, CUgraphMem_attribute attribute, void *value) {
  // Memory of graphs is counted with all other memory.
  return onDevice(device, [&] {
    return attribute >= CU_GRAPH_MEM_ATTR_USED_MEM_CURRENT &&
                   attribute <= CU_GRAPH_MEM_ATTR_RESERVED_MEM_HIGH
               ? give(static_cast<cuuint64_t *>(value), {})
               : CUDA_ERROR_INVALID_VALUE;
  });
}

BLOCKSCALE_API CUresult cuDeviceSetGraphMemAttribute(
    CUdevice device, CUgraphMem_attribute attribute, void *value) {
  return onDevice(device, [&] {
    // Only the high-water marks can be set, and only back to the present use.
    bool isMark = attribute == CU_GRAPH_MEM_ATTR_USED_MEM_HIGH ||
                  attribute == CU_GRAPH_MEM_ATTR_RESERVED_MEM_HIGH;
    return isMark && value && *static_cast<const cuuint64_t *>(value) == 0
               ? CUDA_SUCCESS
               : CUDA_ERROR_INVALID_VALUE;
  });
}

BLOCKSCALE_API CUresult cuProfilerStart() {
  return withContext([] { return CUDA_SUCCESS; });
}

BLOCKSCALE_API CUresult cuProfilerStop() {
  return withContext([] { return CUDA_SUCCESS; });
}
