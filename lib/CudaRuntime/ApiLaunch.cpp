//===- ApiLaunch.cpp - launches by the address of a stub ------------------===//
//
// Part of the blockscale project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Runtime.h"
#include "Streams.h"

using namespace blockscale;
using namespace blockscale::cuda;

namespace {

emulator::Dim3 toDim3(dim3 value) { return {value.x, value.y, value.z}; }

/// What <<<>>> keeps between its two calls.
struct Configuration {
  dim3 grid, block;
  size_t sharedBytes;
  cudaStream_t stream;
};
thread_local std::vector<Configuration> configurations;

cudaError_t launchSymbol(const void *symbol, const LaunchRequest &request,
                         cudaStream_t stream) {
  return call([&] {
    KernelEntry *entry = kernelFor(symbol);
    return entry ? launchOrKeep(stream, *entry, request)
                 : cudaErrorInvalidResourceHandle;
  });
}

LaunchRequest toRequest(dim3 grid, dim3 block, void **arguments,
                        size_t sharedBytes) {
  LaunchRequest request;
  request.grid = toDim3(grid);
  request.block = toDim3(block);
  request.sharedBytes = sharedBytes;
  request.arguments = arguments;
  return request;
}

} // namespace

BLOCKSCALE_API unsigned __cudaPushCallConfiguration(dim3 grid, dim3 block,
                                                    size_t sharedBytes,
                                                    CUstream_st *stream) {
  configurations.push_back({grid, block, sharedBytes, stream});
  return 0;
}

BLOCKSCALE_API cudaError_t __cudaPopCallConfiguration(dim3 *grid, dim3 *block,
                                                      size_t *sharedBytes,
                                                      void *stream) {
  if (configurations.empty())
    return note(cudaErrorMissingConfiguration);
  const Configuration &last = configurations.back();
  *grid = last.grid;
  *block = last.block;
  *sharedBytes = last.sharedBytes;
  *static_cast<cudaStream_t *>(stream) = last.stream;
  configurations.pop_back();
  return cudaSuccess;
}

BLOCKSCALE_API cudaError_t cudaLaunchKernel(const void *symbol, dim3 grid,
                                            dim3 block, void **arguments,
                                            size_t sharedBytes,
                                            cudaStream_t stream) {
  return launchSymbol(symbol, toRequest(grid, block, arguments, sharedBytes),
                      stream);
}

BLOCKSCALE_API cudaError_t __cudaGetKernel(cudaKernel_t *kernel,
                                           const void *symbol) {
  return call([&] {
    KernelEntry *entry = kernelFor(symbol);
    if (!entry)
      return cudaErrorInvalidResourceHandle;
    *kernel = reinterpret_cast<cudaKernel_t>(entry);
    return cudaSuccess;
  });
}

BLOCKSCALE_API cudaError_t cudaGetKernel(cudaKernel_t *kernel,
                                         const void *symbol) {
  return __cudaGetKernel(kernel, symbol);
}

BLOCKSCALE_API cudaError_t cudaGetFuncBySymbol(cudaFunction_t *function,
                                               const void *symbol) {
  if (!kernelFor(symbol))
    return note(cudaErrorInvalidDeviceFunction);
  return __cudaGetKernel(reinterpret_cast<cudaKernel_t *>(function), symbol);
}

BLOCKSCALE_API cudaError_t __cudaLaunchKernel(cudaKernel_t kernel, dim3 grid,
                                              dim3 block, void **arguments,
                                              size_t sharedBytes,
                                              cudaStream_t stream) {
  return cudaLaunchKernel(kernel, grid, block, arguments, sharedBytes, stream);
}

BLOCKSCALE_API cudaError_t cudaLaunchKernelExC(const cudaLaunchConfig_t *config,
                                               const void *symbol,
                                               void **arguments) {
  if (!config)
    return note(cudaErrorInvalidValue);
  LaunchRequest request = toRequest(config->gridDim, config->blockDim,
                                    arguments, config->dynamicSmemBytes);
  if (cudaError_t error =
          readAttributes(toDriver(config->attrs), config->numAttrs, request);
      error != cudaSuccess)
    return note(error);
  // As an H100's runtime has it, extents are a value here and a configuration
  // where the program launches by `<<<...>>>`.
  return call([&] {
    KernelEntry *entry = kernelFor(symbol);
    if (!entry)
      return cudaErrorInvalidResourceHandle;
    cudaError_t error = launchOrKeep(config->stream, *entry, request);
    return error == cudaErrorInvalidConfiguration ? cudaErrorInvalidValue
                                                  : error;
  });
}

BLOCKSCALE_API cudaError_t cudaLaunchCooperativeKernel(const void *symbol,
                                                       dim3 grid, dim3 block,
                                                       void **arguments,
                                                       size_t sharedBytes,
                                                       cudaStream_t stream) {
  LaunchRequest request = toRequest(grid, block, arguments, sharedBytes);
  request.cooperative = true;
  return launchSymbol(symbol, request, stream);
}

BLOCKSCALE_API cudaError_t cudaLaunchHostFunc(cudaStream_t stream,
                                              cudaHostFn_t function,
                                              void *data) {
  return call([&] { return callHost(stream, function, data); });
}

BLOCKSCALE_API cudaError_t cudaStreamAddCallback(cudaStream_t stream,
                                                 cudaStreamCallback_t callback,
                                                 void *data, unsigned) {
  if (!callback)
    return note(cudaErrorInvalidValue);
  callback(stream, Core::get().sticky, data);
  return cudaSuccess;
}
