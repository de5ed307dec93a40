//===- ApiFunctions.cpp - attributes and occupancy of kernels -------------===//
//
// Part of the blockscale project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Registers per thread are ptxas' choice, which PTX does not show: where a
// kernel does not limit them, occupancy is that of its threads and memory.
//
//===----------------------------------------------------------------------===//

#include "Runtime.h"

#include <algorithm>
#include <cstdlib>

using namespace blockscale;
using namespace blockscale::cudart;

namespace {

/// Shared memory is handed out in these steps.
constexpr uint64_t kSharedStep = 128;

/// The kernel behind a symbol, decoded.
cudaError_t findPrepared(const void *symbol, KernelEntry *&entry) {
  Runtime &runtime = Runtime::get();
  entry = runtime.findKernel(symbol);
  return entry ? runtime.prepare(*entry) : cudaErrorInvalidDeviceFunction;
}

uint32_t product(const std::array<uint32_t, 3> &extents) {
  return extents[0] * std::max(extents[1], 1u) * std::max(extents[2], 1u);
}

uint32_t maxThreads(const emulator::LaunchBounds &bounds) {
  if (bounds.reqntid[0])
    return product(bounds.reqntid);
  return bounds.maxntid[0] ? product(bounds.maxntid) : hw::kMaxThreadsPerCta;
}

/// What the kernel says of its registers; 0 if it says nothing.
uint32_t registersPerThread(const emulator::LaunchBounds &bounds) {
  if (bounds.maxnreg)
    return bounds.maxnreg;
  if (bounds.minnctapersm && (bounds.maxntid[0] || bounds.reqntid[0]))
    return std::min(hw::kRegistersPerSm /
                        (maxThreads(bounds) * bounds.minnctapersm) / 8 * 8,
                    hw::kMaxRegistersPerThread);
  return 0;
}

/// Shared memory that a CTA takes from its SM.
uint64_t sharedPerCta(const KernelEntry &entry, uint64_t dynamic) {
  uint64_t bytes =
      entry.kernel->staticSharedBytes() + dynamic + hw::kReservedSharedMemory;
  return (bytes + kSharedStep - 1) / kSharedStep * kSharedStep;
}

/// The cluster that a launch would have, in CTAs.
unsigned clusterSize(const KernelEntry &entry,
                     const cudaLaunchConfig_t &config) {
  for (unsigned i = 0; i != config.numAttrs; ++i)
    if (config.attrs[i].id == cudaLaunchAttributeClusterDimension) {
      const auto &extents = config.attrs[i].val.clusterDim;
      return extents.x * extents.y * extents.z;
    }
  const auto &required = entry.kernel->function()->launch.reqnctapercluster;
  return required[0] ? product(required) : 1;
}

} // namespace

int cudart::ctasPerSm(const KernelEntry &entry, int threads, uint64_t dynamic) {
  const hw::Device &device = Runtime::get().device;
  const hw::ChipInfo &chip = hw::chipInfo(device.chip());
  const emulator::LaunchBounds &bounds = entry.kernel->function()->launch;
  if (uint32_t(threads) > maxThreads(bounds) ||
      entry.kernel->staticSharedBytes() + dynamic > chip.sharedMemoryPerCta)
    return 0;
  uint32_t rounded =
      (uint32_t(threads) + hw::kWarpSize - 1) / hw::kWarpSize * hw::kWarpSize;
  uint64_t fit =
      std::min<uint64_t>(device.maxCtasPerSm, chip.maxThreadsPerSm / rounded);
  fit = std::min(fit, chip.sharedMemoryPerSm / sharedPerCta(entry, dynamic));
  if (uint32_t registers = registersPerThread(bounds))
    fit = std::min<uint64_t>(fit, hw::kRegistersPerSm / (registers * rounded));
  return int(fit);
}

BLOCKSCALE_API cudaError_t cudaFuncGetAttributes(cudaFuncAttributes *attributes,
                                                 const void *symbol) {
  Runtime &runtime = Runtime::get();
  std::lock_guard<std::recursive_mutex> guard(runtime.lock);
  KernelEntry *entry = nullptr;
  if (!attributes)
    return note(cudaErrorInvalidValue);
  if (cudaError_t error = findPrepared(symbol, entry); error != cudaSuccess)
    return note(error);
  const emulator::LaunchBounds &bounds = entry->kernel->function()->launch;
  const LoadedModule &loaded = *entry->module->loaded;
  *attributes = {};
  attributes->sharedSizeBytes = entry->kernel->staticSharedBytes();
  attributes->constSizeBytes = loaded.variables.constant.size();
  attributes->localSizeBytes = entry->kernel->localBytes();
  attributes->maxThreadsPerBlock = int(maxThreads(bounds));
  attributes->numRegs = int(registersPerThread(bounds));
  // Of the virtual architecture; CUB takes its tuning by it.
  attributes->ptxVersion = std::atoi(loaded.module.target.c_str() + 3);
  attributes->binaryVersion = int(runtime.device.capabilityMajor() * 10 +
                                  runtime.device.capabilityMinor());
  attributes->maxDynamicSharedSizeBytes =
      std::max(entry->maxDynamicShared,
               int(48 << 10) - int(entry->kernel->staticSharedBytes()));
  attributes->preferredShmemCarveout = entry->carveout;
  attributes->clusterDimMustBeSet =
      bounds.explicitcluster && !bounds.reqnctapercluster[0];
  attributes->requiredClusterWidth = int(bounds.reqnctapercluster[0]);
  attributes->requiredClusterHeight = int(bounds.reqnctapercluster[1]);
  attributes->requiredClusterDepth = int(bounds.reqnctapercluster[2]);
  attributes->nonPortableClusterSizeAllowed = entry->nonPortableCluster;
  return cudaSuccess;
}

BLOCKSCALE_API cudaError_t cudaFuncSetAttribute(const void *symbol,
                                                cudaFuncAttribute attribute,
                                                int value) {
  Runtime &runtime = Runtime::get();
  std::lock_guard<std::recursive_mutex> guard(runtime.lock);
  KernelEntry *entry = nullptr;
  if (cudaError_t error = findPrepared(symbol, entry); error != cudaSuccess)
    return note(error);
  int capacity = int(hw::chipInfo(runtime.device.chip()).sharedMemoryPerCta);
  switch (attribute) {
  case cudaFuncAttributeMaxDynamicSharedMemorySize:
    if (value < 0 ||
        value > capacity - int(entry->kernel->staticSharedBytes())) {
      say("kernel '" + readable(entry->name) + "' cannot have " +
          std::to_string(value) + " bytes of dynamic shared memory: a CTA of " +
          std::string(runtime.device.name) + " has " +
          std::to_string(capacity) + ", the kernel declares " +
          std::to_string(entry->kernel->staticSharedBytes()));
      return note(cudaErrorInvalidValue);
    }
    entry->maxDynamicShared = value;
    return cudaSuccess;
  case cudaFuncAttributePreferredSharedMemoryCarveout:
    if (value < -1 || value > 100)
      return note(cudaErrorInvalidValue);
    entry->carveout = value;
    return cudaSuccess;
  case cudaFuncAttributeNonPortableClusterSizeAllowed:
    entry->nonPortableCluster = value;
    return cudaSuccess;
  case cudaFuncAttributeClusterSchedulingPolicyPreference:
    return cudaSuccess;
  default:
    return note(cudaErrorInvalidValue);
  }
}

BLOCKSCALE_API cudaError_t cudaFuncSetCacheConfig(const void *, cudaFuncCache) {
  return cudaSuccess;
}

BLOCKSCALE_API cudaError_t cudaFuncGetName(const char **name,
                                           const void *symbol) {
  Runtime &runtime = Runtime::get();
  std::lock_guard<std::recursive_mutex> guard(runtime.lock);
  KernelEntry *entry = runtime.findKernel(symbol);
  if (!name || !entry)
    return note(cudaErrorInvalidDeviceFunction);
  *name = entry->name.c_str();
  return cudaSuccess;
}

BLOCKSCALE_API cudaError_t cudaFuncGetParamInfo(const void *symbol,
                                                size_t index, size_t *offset,
                                                size_t *size) {
  Runtime &runtime = Runtime::get();
  std::lock_guard<std::recursive_mutex> guard(runtime.lock);
  KernelEntry *entry = nullptr;
  if (cudaError_t error = findPrepared(symbol, entry); error != cudaSuccess)
    return note(error);
  const auto &parameters = entry->kernel->function()->parameters;
  if (index >= parameters.size())
    return note(cudaErrorInvalidValue);
  if (offset)
    *offset = parameters[index].offset;
  if (size)
    *size = parameters[index].size;
  return cudaSuccess;
}

BLOCKSCALE_API cudaError_t
cudaOccupancyMaxActiveBlocksPerMultiprocessorWithFlags(
    int *count, const void *symbol, int threads, size_t dynamic, unsigned) {
  Runtime &runtime = Runtime::get();
  std::lock_guard<std::recursive_mutex> guard(runtime.lock);
  KernelEntry *entry = nullptr;
  if (!count || threads <= 0)
    return note(cudaErrorInvalidValue);
  if (cudaError_t error = findPrepared(symbol, entry); error != cudaSuccess)
    return note(error);
  *count = ctasPerSm(*entry, threads, dynamic);
  return cudaSuccess;
}

BLOCKSCALE_API cudaError_t cudaOccupancyMaxActiveBlocksPerMultiprocessor(
    int *count, const void *symbol, int threads, size_t dynamic) {
  return cudaOccupancyMaxActiveBlocksPerMultiprocessorWithFlags(
      count, symbol, threads, dynamic, cudaOccupancyDefault);
}

BLOCKSCALE_API cudaError_t cudaOccupancyAvailableDynamicSMemPerBlock(
    size_t *bytes, const void *symbol, int count, int threads) {
  Runtime &runtime = Runtime::get();
  std::lock_guard<std::recursive_mutex> guard(runtime.lock);
  KernelEntry *entry = nullptr;
  if (!bytes || count <= 0 || threads <= 0)
    return note(cudaErrorInvalidValue);
  if (cudaError_t error = findPrepared(symbol, entry); error != cudaSuccess)
    return note(error);
  const hw::ChipInfo &chip = hw::chipInfo(runtime.device.chip());
  if (ctasPerSm(*entry, threads, 0) < count)
    return note(cudaErrorInvalidValue);
  uint64_t share =
      chip.sharedMemoryPerSm / uint64_t(count) / kSharedStep * kSharedStep;
  uint64_t taken =
      entry->kernel->staticSharedBytes() + hw::kReservedSharedMemory;
  *bytes = share > taken ? share - taken : 0;
  return cudaSuccess;
}

BLOCKSCALE_API cudaError_t cudaOccupancyMaxPotentialClusterSize(
    int *size, const void *symbol, const cudaLaunchConfig_t *config) {
  Runtime &runtime = Runtime::get();
  std::lock_guard<std::recursive_mutex> guard(runtime.lock);
  KernelEntry *entry = nullptr;
  if (!size || !config)
    return note(cudaErrorInvalidValue);
  if (cudaError_t error = findPrepared(symbol, entry); error != cudaSuccess)
    return note(error);
  bool large = entry->nonPortableCluster &&
               hw::residentClusters(runtime.device, hw::kMaxCluster);
  *size = int(large ? hw::kMaxCluster : hw::kMaxPortableCluster);
  return cudaSuccess;
}

BLOCKSCALE_API cudaError_t cudaOccupancyMaxActiveClusters(
    int *count, const void *symbol, const cudaLaunchConfig_t *config) {
  Runtime &runtime = Runtime::get();
  std::lock_guard<std::recursive_mutex> guard(runtime.lock);
  KernelEntry *entry = nullptr;
  if (!count || !config)
    return note(cudaErrorInvalidValue);
  if (cudaError_t error = findPrepared(symbol, entry); error != cudaSuccess)
    return note(error);
  unsigned size = clusterSize(*entry, *config);
  if (hw::whyNotCluster(
          {runtime.device.chip(), hw::TargetVariant::ArchSpecific}, size,
          entry->nonPortableCluster))
    return note(cudaErrorInvalidClusterSize);
  int threads =
      int(config->blockDim.x * config->blockDim.y * config->blockDim.z);
  if (threads <= 0)
    return note(cudaErrorInvalidConfiguration);
  *count = int(hw::residentClusters(runtime.device, size)) *
           ctasPerSm(*entry, threads, config->dynamicSmemBytes);
  return cudaSuccess;
}
