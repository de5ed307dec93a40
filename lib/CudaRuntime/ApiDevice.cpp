//===- ApiDevice.cpp - the device and its properties ----------------------===//
//
// Part of the blockscale project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Runtime.h"

#include <climits>
#include <cstring>

using namespace blockscale;
using namespace blockscale::cudart;

namespace {

// Limits that all devices of HW/Device.h share (CUDA programming guide, table
// of compute capabilities).
constexpr int kMaxBlock[3] = {1024, 1024, 64};
constexpr int kMaxGrid[3] = {INT_MAX, 65535, 65535};
constexpr int kSharedWithoutOptIn = 48 << 10;
constexpr int kConstantBytes = 64 << 10;
/// What we stand for: the CUDA version of the headers.
constexpr int kVersion = CUDART_VERSION;

const hw::Device &device() { return Runtime::get().device; }
const hw::ChipInfo &chip() { return hw::chipInfo(device().chip()); }

bool isDevice(int ordinal) { return ordinal == 0; }

std::optional<int> limitAttribute(cudaDeviceAttr attribute) {
  switch (attribute) {
  case cudaDevAttrMaxThreadsPerBlock:
    return hw::kMaxThreadsPerCta;
  case cudaDevAttrMaxBlockDimX:
    return kMaxBlock[0];
  case cudaDevAttrMaxBlockDimY:
    return kMaxBlock[1];
  case cudaDevAttrMaxBlockDimZ:
    return kMaxBlock[2];
  case cudaDevAttrMaxGridDimX:
    return kMaxGrid[0];
  case cudaDevAttrMaxGridDimY:
    return kMaxGrid[1];
  case cudaDevAttrMaxGridDimZ:
    return kMaxGrid[2];
  case cudaDevAttrMaxSharedMemoryPerBlock:
    return kSharedWithoutOptIn;
  case cudaDevAttrMaxSharedMemoryPerBlockOptin:
    return int(chip().sharedMemoryPerCta);
  case cudaDevAttrMaxSharedMemoryPerMultiprocessor:
    return int(chip().sharedMemoryPerSm);
  case cudaDevAttrReservedSharedMemoryPerBlock:
    return int(hw::kReservedSharedMemory);
  case cudaDevAttrTotalConstantMemory:
    return kConstantBytes;
  case cudaDevAttrWarpSize:
    return hw::kWarpSize;
  case cudaDevAttrMaxPitch:
    return INT_MAX;
  case cudaDevAttrMaxRegistersPerBlock:
  case cudaDevAttrMaxRegistersPerMultiprocessor:
    return hw::kRegistersPerSm;
  case cudaDevAttrMaxThreadsPerMultiProcessor:
    return int(chip().maxThreadsPerSm);
  case cudaDevAttrMaxBlocksPerMultiprocessor:
    return int(device().maxCtasPerSm);
  case cudaDevAttrTextureAlignment:
  case cudaDevAttrSurfaceAlignment:
    return 512;
  case cudaDevAttrTexturePitchAlignment:
    return 32;
  default:
    return std::nullopt;
  }
}

std::optional<int> partAttribute(cudaDeviceAttr attribute) {
  switch (attribute) {
  case cudaDevAttrComputeCapabilityMajor:
    return int(device().capabilityMajor());
  case cudaDevAttrComputeCapabilityMinor:
    return int(device().capabilityMinor());
  case cudaDevAttrMultiProcessorCount:
    return int(device().part().smCount);
  case cudaDevAttrClockRate:
    return int(device().part().boostMhz) * 1000;
  case cudaDevAttrMemoryClockRate:
    return int(device().memoryMhz) * 1000;
  case cudaDevAttrGlobalMemoryBusWidth:
    return int(device().memoryBusBits);
  case cudaDevAttrL2CacheSize:
    return int(device().l2Bytes);
  case cudaDevAttrAsyncEngineCount:
    return 1;
  default:
    return std::nullopt;
  }
}

/// Yes or no; what is not in the list is 0: textures, peers, interprocess
/// handles, access to pageable memory.
int featureAttribute(cudaDeviceAttr attribute) {
  switch (attribute) {
  case cudaDevAttrGpuOverlap:
  case cudaDevAttrCanMapHostMemory:
  case cudaDevAttrConcurrentKernels:
  case cudaDevAttrUnifiedAddressing:
  case cudaDevAttrStreamPrioritiesSupported:
  case cudaDevAttrGlobalL1CacheSupported:
  case cudaDevAttrLocalL1CacheSupported:
  case cudaDevAttrManagedMemory:
  case cudaDevAttrConcurrentManagedAccess:
  case cudaDevAttrComputePreemptionSupported:
  case cudaDevAttrCanUseHostPointerForRegisteredMem:
  case cudaDevAttrCooperativeLaunch:
  case cudaDevAttrHostRegisterSupported:
  case cudaDevAttrMemoryPoolsSupported:
  case cudaDevAttrClusterLaunch:
    return 1;
  default:
    return 0;
  }
}

int attributeOf(cudaDeviceAttr attribute) {
  if (std::optional<int> value = limitAttribute(attribute))
    return *value;
  if (std::optional<int> value = partAttribute(attribute))
    return *value;
  return featureAttribute(attribute);
}

} // namespace

BLOCKSCALE_API cudaError_t cudaGetDeviceCount(int *count) {
  if (!count)
    return note(cudaErrorInvalidValue);
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
  return note(isDevice(ordinal) ? cudaSuccess : cudaErrorInvalidDevice);
}

BLOCKSCALE_API cudaError_t cudaInitDevice(int ordinal, unsigned, unsigned) {
  return cudaSetDevice(ordinal);
}

BLOCKSCALE_API cudaError_t cudaChooseDevice(int *ordinal,
                                            const cudaDeviceProp *) {
  return cudaGetDevice(ordinal);
}

BLOCKSCALE_API cudaError_t cudaSetDeviceFlags(unsigned flags) {
  Runtime::get().deviceFlags = flags;
  return cudaSuccess;
}

BLOCKSCALE_API cudaError_t cudaGetDeviceFlags(unsigned *flags) {
  if (!flags)
    return note(cudaErrorInvalidValue);
  *flags = Runtime::get().deviceFlags;
  return cudaSuccess;
}

BLOCKSCALE_API cudaError_t cudaDeviceGetAttribute(int *value,
                                                  cudaDeviceAttr attribute,
                                                  int ordinal) {
  if (!isDevice(ordinal))
    return note(cudaErrorInvalidDevice);
  if (!value || int(attribute) < 1 || int(attribute) >= int(cudaDevAttrMax))
    return note(cudaErrorInvalidValue);
  *value = attributeOf(attribute);
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
  p.textureAlignment = size_t(attributeOf(cudaDevAttrTextureAlignment));
  p.surfaceAlignment = p.textureAlignment;
  p.texturePitchAlignment =
      size_t(attributeOf(cudaDevAttrTexturePitchAlignment));
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
    p.*field = attributeOf(attribute);
  p.sharedMemPerBlockOptin = chip().sharedMemoryPerCta;
  return cudaSuccess;
}

BLOCKSCALE_API cudaError_t cudaDeviceSynchronize() {
  return note(Runtime::get().sticky);
}

BLOCKSCALE_API cudaError_t cudaDeviceReset() {
  Runtime::get().sticky = cudaSuccess;
  lastError() = cudaSuccess;
  return cudaSuccess;
}

BLOCKSCALE_API cudaError_t cudaDeviceGetStreamPriorityRange(int *least,
                                                            int *greatest) {
  if (least)
    *least = 0;
  if (greatest)
    *greatest = -5;
  return cudaSuccess;
}

BLOCKSCALE_API cudaError_t cudaDeviceSetLimit(cudaLimit, size_t) {
  // No limit of the device binds the emulator.
  return cudaSuccess;
}

BLOCKSCALE_API cudaError_t cudaDeviceGetLimit(size_t *value, cudaLimit limit) {
  if (!value)
    return note(cudaErrorInvalidValue);
  switch (limit) {
  case cudaLimitStackSize:
    *value = 1024;
    return cudaSuccess;
  case cudaLimitPrintfFifoSize:
    *value = 1 << 20;
    return cudaSuccess;
  case cudaLimitMallocHeapSize:
    *value = 8 << 20;
    return cudaSuccess;
  default:
    return note(cudaErrorUnsupportedLimit);
  }
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
  constexpr char kBusId[] = "0000:00:00.0";
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
