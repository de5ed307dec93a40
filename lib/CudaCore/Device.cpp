//===- Device.cpp - what the device says of itself ------------------------===//
//
// Part of the blockscale project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Device.h"
#include "Functions.h"

#include <algorithm>
#include <climits>

using namespace blockscale;
using namespace blockscale::cuda;

namespace {

const hw::Device &device() { return Core::get().device; }
hw::DeviceChip chip() { return device().chip(); }

std::optional<int> limitAttribute(cudaDeviceAttr attribute) {
  // As numbers: some are newer than the header.
  switch (int(attribute)) {
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
  case kOversizedSharedAttribute:
    return int(
        std::max(chip().sharedMemoryPerCta, chip().oversizedSharedPerCta));
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
    return int(chip().smCount);
  case cudaDevAttrClockRate:
    return int(chip().boostMhz) * 1000;
  case cudaDevAttrMemoryClockRate:
    return int(device().memoryMhz) * 1000;
  case cudaDevAttrGlobalMemoryBusWidth:
    return int(device().memoryBusBits);
  case cudaDevAttrL2CacheSize:
    return int(device().l2Bytes);
  case cudaDevAttrAsyncEngineCount:
    return int(device().copyEngines);
  case cudaDevAttrEccEnabled:
    return device().hasEcc;
  case cudaDevAttrSingleToDoublePrecisionPerfRatio:
    return int(device().singleToDouble);
  case cudaDevAttrMaxPersistingL2CacheSize:
    return int(device().l2Bytes / 8 * 5);
  default:
    return std::nullopt;
  }
}

/// Yes or no; what is not in the list is 0: textures, peers, interprocess
/// handles, access to pageable memory.
int featureAttribute(cudaDeviceAttr attribute) {
  // A number: some are the driver's alone, and have no name in this type.
  switch (int(attribute)) {
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
  case CU_DEVICE_ATTRIBUTE_TENSOR_MAP_ACCESS_SUPPORTED:
  case CU_DEVICE_ATTRIBUTE_VIRTUAL_MEMORY_MANAGEMENT_SUPPORTED:
  case CU_DEVICE_ATTRIBUTE_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR_SUPPORTED:
  case CU_DEVICE_ATTRIBUTE_HOST_MEMORY_POOLS_SUPPORTED:
  case CU_DEVICE_ATTRIBUTE_HOST_NUMA_MEMORY_POOLS_SUPPORTED:
    return 1;
  default:
    return 0;
  }
}

} // namespace

int cuda::deviceAttribute(int number) {
  auto attribute = cudaDeviceAttr(number);
  if (std::optional<int> value = limitAttribute(attribute))
    return *value;
  if (std::optional<int> value = partAttribute(attribute))
    return *value;
  return featureAttribute(attribute);
}
