//===- ApiFunctions.cpp - attributes and occupancy of kernels -------------===//
//
// Part of the blockscale project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Functions.h"
#include "GreenContexts.h"
#include "Runtime.h"
#include "Streams.h"

using namespace blockscale;
using namespace blockscale::cuda;

namespace {

/// Does `work` with the kernel of a symbol, decoded.
cudaError_t withKernel(const void *symbol,
                       const std::function<cudaError_t(KernelEntry &)> &work) {
  return call([&] {
    KernelEntry *entry = nullptr;
    if (cudaError_t error = preparedKernel(symbol, entry); error != cudaSuccess)
      return error;
    return work(*entry);
  });
}

} // namespace

BLOCKSCALE_API cudaError_t cudaFuncGetAttributes(cudaFuncAttributes *attributes,
                                                 const void *symbol) {
  return withKernel(symbol, [&](KernelEntry &entry) {
    if (!attributes)
      return cudaErrorInvalidValue;
    *attributes = attributesOf(entry);
    return cudaSuccess;
  });
}

BLOCKSCALE_API cudaError_t cudaFuncSetAttribute(const void *symbol,
                                                cudaFuncAttribute attribute,
                                                int value) {
  // The numbers are the driver's.
  return withKernel(symbol, [&](KernelEntry &entry) {
    return setAttribute(entry, CUfunction_attribute(attribute), value);
  });
}

BLOCKSCALE_API cudaError_t cudaKernelSetAttributeForDevice(
    cudaKernel_t kernel, cudaFuncAttribute attribute, int value, int ordinal) {
  return ordinal ? note(cudaErrorInvalidDevice)
                 : cudaFuncSetAttribute(kernel, attribute, value);
}

BLOCKSCALE_API cudaError_t cudaFuncSetCacheConfig(const void *, cudaFuncCache) {
  return cudaSuccess;
}

BLOCKSCALE_API cudaError_t cudaFuncGetName(const char **name,
                                           const void *symbol) {
  return call([&] {
    KernelEntry *entry = kernelFor(symbol);
    if (!name || !entry)
      return cudaErrorInvalidResourceHandle;
    *name = entry->name.c_str();
    return cudaSuccess;
  });
}

BLOCKSCALE_API cudaError_t cudaFuncGetParamInfo(const void *symbol,
                                                size_t index, size_t *offset,
                                                size_t *size) {
  return withKernel(symbol, [&](KernelEntry &entry) {
    return parameterInfo(entry, index, offset, size);
  });
}

BLOCKSCALE_API cudaError_t
cudaOccupancyMaxActiveBlocksPerMultiprocessorWithFlags(
    int *count, const void *symbol, int threads, size_t dynamic, unsigned) {
  return withKernel(symbol, [&](KernelEntry &entry) {
    if (!count || threads <= 0)
      return cudaErrorInvalidValue;
    *count = ctasPerSm(entry, threads, dynamic);
    return cudaSuccess;
  });
}

BLOCKSCALE_API cudaError_t cudaOccupancyMaxActiveBlocksPerMultiprocessor(
    int *count, const void *symbol, int threads, size_t dynamic) {
  return cudaOccupancyMaxActiveBlocksPerMultiprocessorWithFlags(
      count, symbol, threads, dynamic, cudaOccupancyDefault);
}

BLOCKSCALE_API cudaError_t cudaOccupancyAvailableDynamicSMemPerBlock(
    size_t *bytes, const void *symbol, int count, int threads) {
  return withKernel(symbol, [&](KernelEntry &entry) {
    return bytes ? availableShared(entry, count, threads, *bytes)
                 : cudaErrorInvalidValue;
  });
}

/// What a launch would be, but for its stream.
static cudaError_t readConfig(const cudaLaunchConfig_t &config,
                              LaunchRequest &request) {
  request.grid = {config.gridDim.x, config.gridDim.y, config.gridDim.z};
  request.block = {config.blockDim.x, config.blockDim.y, config.blockDim.z};
  request.sharedBytes = config.dynamicSmemBytes;
  return readAttributes(toDriver(config.attrs), config.numAttrs, request);
}

BLOCKSCALE_API cudaError_t cudaOccupancyMaxPotentialClusterSize(
    int *size, const void *symbol, const cudaLaunchConfig_t *config) {
  return withKernel(symbol, [&](KernelEntry &entry) {
    if (!size || !config)
      return cudaErrorInvalidValue;
    LaunchRequest request;
    if (cudaError_t error = readConfig(*config, request); error != cudaSuccess)
      return error;
    return maxClusterSize(entry, request, *size);
  });
}

BLOCKSCALE_API cudaError_t cudaOccupancyMaxActiveClusters(
    int *count, const void *symbol, const cudaLaunchConfig_t *config) {
  return withKernel(symbol, [&](KernelEntry &entry) {
    if (!count || !config)
      return cudaErrorInvalidValue;
    LaunchRequest request;
    if (cudaError_t error = readConfig(*config, request); error != cudaSuccess)
      return error;
    if (!isStream(config->stream))
      return cudaErrorInvalidResourceHandle;
    request.sms = smsOf(config->stream);
    return maxActiveClusters(entry, request, *count);
  });
}
