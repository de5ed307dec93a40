//===- ApiFunctions.cpp - attributes, occupancy and launches --------------===//
//
// Part of the blockscale project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Driver.h"
#include "Functions.h"
#include "GreenContexts.h"
#include "Streams.h"

using namespace blockscale;
using namespace blockscale::cuda;

namespace {

/// The kernel of a call, which is decoded before; a function belongs to the
/// context that is current, or to a library.
CUresult withKernel(const void *handle,
                    const std::function<CUresult(KernelEntry &)> &work) {
  return withContext([&] {
    KernelEntry *entry = kernelOf(handle);
    if (!entry ||
        (entry->module->context && entry->module->context != currentOwner()))
      return CUDA_ERROR_INVALID_HANDLE;
    if (cudaError_t error = prepare(*entry); error != cudaSuccess)
      return toDriver(error);
    return work(*entry);
  });
}

/// Kernels of libraries can be asked without a context.
CUresult withLibraryKernel(CUkernel kernel, CUdevice device,
                           const std::function<CUresult(KernelEntry &)> &work) {
  return withDriver([&] {
    if (!isDevice(device))
      return CUDA_ERROR_INVALID_DEVICE;
    KernelEntry *entry = kernelOf(kernel);
    if (!entry)
      return CUDA_ERROR_INVALID_HANDLE;
    if (cudaError_t error = prepare(*entry); error != cudaSuccess)
      return toDriver(error);
    return work(*entry);
  });
}

CUresult readConfig(const CUlaunchConfig &config, LaunchRequest &request) {
  request.grid = {config.gridDimX, config.gridDimY, config.gridDimZ};
  request.block = {config.blockDimX, config.blockDimY, config.blockDimZ};
  request.sharedBytes = config.sharedMemBytes;
  return toDriver(readAttributes(config.attrs, config.numAttrs, request));
}

CUresult launchFunction(CUfunction function, LaunchRequest request,
                        CUstream stream, void **arguments, void **extra) {
  return withKernel(function, [&](KernelEntry &entry) {
    std::vector<void *> pointers;
    if (arguments && extra)
      return CUDA_ERROR_INVALID_VALUE;
    if (extra) {
      if (cudaError_t error = readExtra(entry, extra, pointers);
          error != cudaSuccess)
        return toDriver(error);
      arguments = pointers.data();
    }
    request.arguments = arguments;
    return toDriver(launchOrKeep(stream, entry, request));
  });
}

/// CUDA_SUCCESS and the value, or the error.
CUresult readAttributeOf(const KernelEntry &entry, int *value,
                         CUfunction_attribute attribute) {
  return value ? toDriver(attributeOf(entry, attribute, *value))
               : CUDA_ERROR_INVALID_VALUE;
}

} // namespace

BLOCKSCALE_API CUresult cuFuncGetAttribute(int *value,
                                           CUfunction_attribute attribute,
                                           CUfunction function) {
  return withKernel(function, [&](KernelEntry &entry) {
    return readAttributeOf(entry, value, attribute);
  });
}

BLOCKSCALE_API CUresult cuFuncSetAttribute(CUfunction function,
                                           CUfunction_attribute attribute,
                                           int value) {
  return withKernel(function, [&](KernelEntry &entry) {
    return toDriver(setAttribute(entry, attribute, value));
  });
}

BLOCKSCALE_API CUresult cuKernelGetAttribute(int *value,
                                             CUfunction_attribute attribute,
                                             CUkernel kernel, CUdevice device) {
  return withLibraryKernel(kernel, device, [&](KernelEntry &entry) {
    return readAttributeOf(entry, value, attribute);
  });
}

BLOCKSCALE_API CUresult cuKernelSetAttribute(CUfunction_attribute attribute,
                                             int value, CUkernel kernel,
                                             CUdevice device) {
  return withLibraryKernel(kernel, device, [&](KernelEntry &entry) {
    return toDriver(setAttribute(entry, attribute, value));
  });
}

BLOCKSCALE_API CUresult cuFuncSetCacheConfig(CUfunction function,
                                             CUfunc_cache config) {
  return withKernel(function, [&](KernelEntry &) {
    return isCacheConfig(config) ? CUDA_SUCCESS : CUDA_ERROR_INVALID_VALUE;
  });
}

BLOCKSCALE_API CUresult cuKernelSetCacheConfig(CUkernel kernel, CUfunc_cache,
                                               CUdevice device) {
  return withLibraryKernel(kernel, device,
                           [](KernelEntry &) { return CUDA_SUCCESS; });
}

BLOCKSCALE_API CUresult cuFuncSetSharedMemConfig(CUfunction function,
                                                 CUsharedconfig config) {
  return withKernel(function, [&](KernelEntry &) {
    return isSharedConfig(config) ? CUDA_SUCCESS : CUDA_ERROR_INVALID_VALUE;
  });
}

BLOCKSCALE_API CUresult cuFuncGetParamInfo(CUfunction function, size_t index,
                                           size_t *offset, size_t *size) {
  return withKernel(function, [&](KernelEntry &entry) {
    return offset ? toDriver(parameterInfo(entry, index, offset, size))
                  : CUDA_ERROR_INVALID_VALUE;
  });
}

BLOCKSCALE_API CUresult cuKernelGetParamInfo(CUkernel kernel, size_t index,
                                             size_t *offset, size_t *size) {
  return withLibraryKernel(kernel, 0, [&](KernelEntry &entry) {
    return offset ? toDriver(parameterInfo(entry, index, offset, size))
                  : CUDA_ERROR_INVALID_VALUE;
  });
}

//===----------------------------------------------------------------------===//
// Occupancy
//===----------------------------------------------------------------------===//

BLOCKSCALE_API CUresult cuOccupancyMaxActiveBlocksPerMultiprocessorWithFlags(
    int *count, CUfunction function, int threads, size_t dynamic,
    unsigned flags) {
  return withKernel(function, [&](KernelEntry &entry) {
    return threads > 0 && flags <= CU_OCCUPANCY_DISABLE_CACHING_OVERRIDE
               ? give(count, ctasPerSm(entry, threads, dynamic))
               : CUDA_ERROR_INVALID_VALUE;
  });
}

BLOCKSCALE_API CUresult cuOccupancyMaxActiveBlocksPerMultiprocessor(
    int *count, CUfunction function, int threads, size_t dynamic) {
  return cuOccupancyMaxActiveBlocksPerMultiprocessorWithFlags(
      count, function, threads, dynamic, CU_OCCUPANCY_DEFAULT);
}

BLOCKSCALE_API CUresult cuOccupancyMaxPotentialBlockSizeWithFlags(
    int *grid, int *block, CUfunction function, CUoccupancyB2DSize toDynamic,
    size_t dynamic, int limit, unsigned flags) {
  return withKernel(function, [&](KernelEntry &entry) {
    if (!grid || !block || flags > CU_OCCUPANCY_DISABLE_CACHING_OVERRIDE)
      return CUDA_ERROR_INVALID_VALUE;
    auto bytes = [&](int threads) {
      return uint64_t(toDynamic ? toDynamic(threads) : dynamic);
    };
    bestBlock(entry, bytes, limit, *grid, *block);
    return CUDA_SUCCESS;
  });
}

BLOCKSCALE_API CUresult cuOccupancyMaxPotentialBlockSize(
    int *grid, int *block, CUfunction function, CUoccupancyB2DSize toDynamic,
    size_t dynamic, int limit) {
  return cuOccupancyMaxPotentialBlockSizeWithFlags(
      grid, block, function, toDynamic, dynamic, limit, CU_OCCUPANCY_DEFAULT);
}

BLOCKSCALE_API CUresult cuOccupancyAvailableDynamicSMemPerBlock(
    size_t *bytes, CUfunction function, int count, int threads) {
  return withKernel(function, [&](KernelEntry &entry) {
    return bytes ? toDriver(availableShared(entry, count, threads, *bytes))
                 : CUDA_ERROR_INVALID_VALUE;
  });
}

BLOCKSCALE_API CUresult cuOccupancyMaxPotentialClusterSize(
    int *size, CUfunction function, const CUlaunchConfig *config) {
  return withKernel(function, [&](KernelEntry &entry) {
    LaunchRequest request;
    if (!size || !config)
      return CUDA_ERROR_INVALID_VALUE;
    if (CUresult error = readConfig(*config, request); error != CUDA_SUCCESS)
      return error;
    return toDriver(maxClusterSize(entry, request, *size));
  });
}

BLOCKSCALE_API CUresult cuOccupancyMaxActiveClusters(
    int *count, CUfunction function, const CUlaunchConfig *config) {
  return withKernel(function, [&](KernelEntry &entry) {
    LaunchRequest request;
    if (!count || !config)
      return CUDA_ERROR_INVALID_VALUE;
    if (CUresult error = readConfig(*config, request); error != CUDA_SUCCESS)
      return error;
    if (!isStream(config->hStream))
      return CUDA_ERROR_INVALID_HANDLE;
    request.sms = smsOf(config->hStream);
    return toDriver(maxActiveClusters(entry, request, *count));
  });
}

//===----------------------------------------------------------------------===//
// Launches
//===----------------------------------------------------------------------===//

BLOCKSCALE_API CUresult cuLaunchKernel(CUfunction function, unsigned gridX,
                                       unsigned gridY, unsigned gridZ,
                                       unsigned blockX, unsigned blockY,
                                       unsigned blockZ, unsigned sharedBytes,
                                       CUstream stream, void **arguments,
                                       void **extra) {
  LaunchRequest request;
  request.grid = {gridX, gridY, gridZ};
  request.block = {blockX, blockY, blockZ};
  request.sharedBytes = sharedBytes;
  return launchFunction(function, request, stream, arguments, extra);
}

BLOCKSCALE_API CUresult cuLaunchKernelEx(const CUlaunchConfig *config,
                                         CUfunction function, void **arguments,
                                         void **extra) {
  LaunchRequest request;
  if (!config)
    return CUDA_ERROR_INVALID_VALUE;
  if (CUresult error =
          withContext([&] { return readConfig(*config, request); });
      error != CUDA_SUCCESS)
    return error;
  return launchFunction(function, request, config->hStream, arguments, extra);
}

BLOCKSCALE_API CUresult cuLaunchCooperativeKernel(
    CUfunction function, unsigned gridX, unsigned gridY, unsigned gridZ,
    unsigned blockX, unsigned blockY, unsigned blockZ, unsigned sharedBytes,
    CUstream stream, void **arguments) {
  LaunchRequest request;
  request.grid = {gridX, gridY, gridZ};
  request.block = {blockX, blockY, blockZ};
  request.sharedBytes = sharedBytes;
  request.cooperative = true;
  return launchFunction(function, request, stream, arguments, nullptr);
}

BLOCKSCALE_API CUresult cuLaunchHostFunc(CUstream stream, CUhostFn function,
                                         void *data) {
  return withContext([&] { return callHost(stream, function, data); });
}
