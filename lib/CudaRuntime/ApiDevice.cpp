//===- ApiDevice.cpp - the device and its properties ----------------------===//
//
// Part of the blockscale project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Contexts.h"
#include "Device.h"
#include "Runtime.h"
#include "Streams.h"

#include <climits>
#include <cstring>

using namespace blockscale;
using namespace blockscale::cuda;

namespace {

/// What we stand for: the CUDA version of the headers.
constexpr int kVersion = CUDART_VERSION;

const hw::Device &device() { return Core::get().device; }
hw::DeviceChip chip() { return device().chip(); }

bool isDevice(int ordinal) { return ordinal == 0; }

} // namespace

BLOCKSCALE_API cudaError_t cudaGetDeviceCount(int *count) {
  if (!count)
    return note(cudaErrorInvalidValue);
  // The driver's functions may be called from here on.
  auto guard = locked();
  isInitialised() = true;
  *count = 1;
  return cudaSuccess;
}

BLOCKSCALE_API cudaError_t cudaGetDevice(int *ordinal) {
  if (!ordinal)
    return note(cudaErrorInvalidValue);
  *ordinal = 0;
  return cudaSuccess;
}

BLOCKSCALE_API cudaError_t cudaSetDevice(int ordinal) {
  // It makes the primary context too.
  return call(
      [&] { return isDevice(ordinal) ? cudaSuccess : cudaErrorInvalidDevice; });
}

BLOCKSCALE_API cudaError_t cudaInitDevice(int ordinal, unsigned, unsigned) {
  return cudaSetDevice(ordinal);
}

BLOCKSCALE_API cudaError_t cudaChooseDevice(int *ordinal,
                                            const cudaDeviceProp *) {
  return cudaGetDevice(ordinal);
}

BLOCKSCALE_API cudaError_t cudaSetDeviceFlags(unsigned flags) {
  return call([&] {
    if (!areContextFlags(flags))
      return cudaErrorInvalidValue;
    Core::get().deviceFlags = flags;
    return cudaSuccess;
  });
}

BLOCKSCALE_API cudaError_t cudaGetDeviceFlags(unsigned *flags) {
  if (!flags)
    return note(cudaErrorInvalidValue);
  *flags = Core::get().deviceFlags;
  return cudaSuccess;
}

BLOCKSCALE_API cudaError_t cudaDeviceGetAttribute(int *value,
                                                  cudaDeviceAttr attribute,
                                                  int ordinal) {
  if (!isDevice(ordinal))
    return note(cudaErrorInvalidDevice);
  if (!value || int(attribute) < 1 || int(attribute) >= int(cudaDevAttrMax))
    return note(cudaErrorInvalidValue);
  *value = deviceAttribute(attribute);
  return cudaSuccess;
}

BLOCKSCALE_API cudaError_t cudaGetDeviceProperties(cudaDeviceProp *properties,
                                                   int ordinal) {
  if (!isDevice(ordinal))
    return note(cudaErrorInvalidDevice);
  if (!properties)
    return note(cudaErrorInvalidValue);
  cudaDeviceProp &p = *properties;
  std::memset(&p, 0, sizeof p);
  device().productName.copy(p.name, sizeof p.name - 1);
  p.totalGlobalMem = device().memoryBytes;
  p.memPitch = INT_MAX;
  std::copy(kMaxBlock, kMaxBlock + 3, p.maxThreadsDim);
  std::copy(kMaxGrid, kMaxGrid + 3, p.maxGridSize);
  p.sharedMemPerBlock = kSharedWithoutOptIn;
  p.totalConstMem = kConstantBytes;
  p.sharedMemPerMultiprocessor = chip().sharedMemoryPerSm;
  p.reservedSharedMemPerBlock = hw::kReservedSharedMemory;
  p.textureAlignment = size_t(deviceAttribute(cudaDevAttrTextureAlignment));
  p.surfaceAlignment = p.textureAlignment;
  p.texturePitchAlignment =
      size_t(deviceAttribute(cudaDevAttrTexturePitchAlignment));
  const std::pair<int cudaDeviceProp::*, cudaDeviceAttr> fields[] = {
      {&cudaDeviceProp::regsPerBlock, cudaDevAttrMaxRegistersPerBlock},
      {&cudaDeviceProp::warpSize, cudaDevAttrWarpSize},
      {&cudaDeviceProp::maxThreadsPerBlock, cudaDevAttrMaxThreadsPerBlock},
      {&cudaDeviceProp::major, cudaDevAttrComputeCapabilityMajor},
      {&cudaDeviceProp::minor, cudaDevAttrComputeCapabilityMinor},
      {&cudaDeviceProp::multiProcessorCount, cudaDevAttrMultiProcessorCount},
      {&cudaDeviceProp::canMapHostMemory, cudaDevAttrCanMapHostMemory},
      {&cudaDeviceProp::concurrentKernels, cudaDevAttrConcurrentKernels},
      {&cudaDeviceProp::asyncEngineCount, cudaDevAttrAsyncEngineCount},
      {&cudaDeviceProp::unifiedAddressing, cudaDevAttrUnifiedAddressing},
      {&cudaDeviceProp::memoryBusWidth, cudaDevAttrGlobalMemoryBusWidth},
      {&cudaDeviceProp::l2CacheSize, cudaDevAttrL2CacheSize},
      {&cudaDeviceProp::maxThreadsPerMultiProcessor,
       cudaDevAttrMaxThreadsPerMultiProcessor},
      {&cudaDeviceProp::streamPrioritiesSupported,
       cudaDevAttrStreamPrioritiesSupported},
      {&cudaDeviceProp::globalL1CacheSupported,
       cudaDevAttrGlobalL1CacheSupported},
      {&cudaDeviceProp::localL1CacheSupported,
       cudaDevAttrLocalL1CacheSupported},
      {&cudaDeviceProp::regsPerMultiprocessor,
       cudaDevAttrMaxRegistersPerMultiprocessor},
      {&cudaDeviceProp::managedMemory, cudaDevAttrManagedMemory},
      {&cudaDeviceProp::concurrentManagedAccess,
       cudaDevAttrConcurrentManagedAccess},
      {&cudaDeviceProp::computePreemptionSupported,
       cudaDevAttrComputePreemptionSupported},
      {&cudaDeviceProp::canUseHostPointerForRegisteredMem,
       cudaDevAttrCanUseHostPointerForRegisteredMem},
      {&cudaDeviceProp::cooperativeLaunch, cudaDevAttrCooperativeLaunch},
      {&cudaDeviceProp::maxBlocksPerMultiProcessor,
       cudaDevAttrMaxBlocksPerMultiprocessor},
      {&cudaDeviceProp::hostRegisterSupported,
       cudaDevAttrHostRegisterSupported},
      {&cudaDeviceProp::memoryPoolsSupported, cudaDevAttrMemoryPoolsSupported},
      {&cudaDeviceProp::clusterLaunch, cudaDevAttrClusterLaunch},
  };
  for (const auto &[field, attribute] : fields)
    p.*field = deviceAttribute(attribute);
  p.sharedMemPerBlockOptin = chip().sharedMemoryPerCta;
  return cudaSuccess;
}

BLOCKSCALE_API cudaError_t cudaDeviceSynchronize() { return call(waitForAll); }

BLOCKSCALE_API cudaError_t cudaDeviceReset() {
  auto guard = locked();
  destroyContext(primaryContext());
  Core::get().sticky = cudaSuccess;
  lastError() = cudaSuccess;
  return cudaSuccess;
}

BLOCKSCALE_API cudaError_t cudaDeviceGetStreamPriorityRange(int *least,
                                                            int *greatest) {
  if (least)
    *least = kLeastPriority;
  if (greatest)
    *greatest = kGreatestPriority;
  return cudaSuccess;
}

BLOCKSCALE_API cudaError_t cudaDeviceSetLimit(cudaLimit limit, size_t value) {
  return call([&] { return setLimit(CUlimit(limit), value); });
}

BLOCKSCALE_API cudaError_t cudaDeviceGetLimit(size_t *value, cudaLimit limit) {
  return call([&] {
    return value ? getLimit(CUlimit(limit), *value) : cudaErrorInvalidValue;
  });
}

BLOCKSCALE_API cudaError_t cudaDeviceSetCacheConfig(cudaFuncCache) {
  return cudaSuccess;
}

BLOCKSCALE_API cudaError_t cudaDeviceGetCacheConfig(cudaFuncCache *config) {
  if (!config)
    return note(cudaErrorInvalidValue);
  *config = cudaFuncCachePreferNone;
  return cudaSuccess;
}

BLOCKSCALE_API cudaError_t cudaDeviceGetPCIBusId(char *text, int length,
                                                 int ordinal) {
  if (!isDevice(ordinal))
    return note(cudaErrorInvalidDevice);
  if (!text || length < int(sizeof kBusId))
    return note(cudaErrorInvalidValue);
  std::memcpy(text, kBusId, sizeof kBusId);
  return cudaSuccess;
}

BLOCKSCALE_API cudaError_t cudaDeviceCanAccessPeer(int *can, int, int) {
  if (!can)
    return note(cudaErrorInvalidValue);
  *can = 0;
  return cudaSuccess;
}

BLOCKSCALE_API cudaError_t cudaDriverGetVersion(int *version) {
  if (!version)
    return note(cudaErrorInvalidValue);
  *version = kVersion;
  return cudaSuccess;
}

BLOCKSCALE_API cudaError_t cudaRuntimeGetVersion(int *version) {
  return cudaDriverGetVersion(version);
}

BLOCKSCALE_API cudaError_t cudaProfilerStart() { return cudaSuccess; }
BLOCKSCALE_API cudaError_t cudaProfilerStop() { return cudaSuccess; }
