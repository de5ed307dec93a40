//===- ApiDriver.cpp - functions of the driver by name --------------------===//
//
// Part of the blockscale project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Runtime.h"

using namespace blockscale;
using namespace blockscale::cuda;

BLOCKSCALE_API cudaError_t cudaGetDriverEntryPointByVersion(
    const char *symbol, void **pointer, unsigned version, unsigned long long,
    cudaDriverEntryPointQueryResult *status) {
  if (!symbol || !pointer)
    return note(cudaErrorInvalidValue);
  CUdriverProcAddressQueryResult found{};
  CUresult result =
      cuGetProcAddress_v2(symbol, pointer, int(version), 0, &found);
  if (result != CUDA_SUCCESS)
    return note(cudaError_t(result));
  if (status)
    *status = cudaDriverEntryPointQueryResult(found);
  if (*pointer)
    return cudaSuccess;
  sayOnce("the program asks for the driver function '" + std::string(symbol) +
          "', which the emulator does not have");
  return status ? cudaSuccess : note(cudaErrorSymbolNotFound);
}

BLOCKSCALE_API cudaError_t cudaGetDriverEntryPoint(
    const char *symbol, void **pointer, unsigned long long flags,
    cudaDriverEntryPointQueryResult *status) {
  return cudaGetDriverEntryPointByVersion(symbol, pointer, CUDART_VERSION,
                                          flags, status);
}

//===----------------------------------------------------------------------===//
// The driver's log
//===----------------------------------------------------------------------===//

BLOCKSCALE_API cudaError_t cudaLogsRegisterCallback(
    cudaLogsCallback_t callback, void *data, cudaLogsCallbackHandle *handle) {
  return note(cudaError_t(cuLogsRegisterCallback(
      reinterpret_cast<CUlogsCallback>(callback), data,
      reinterpret_cast<CUlogsCallbackHandle *>(handle))));
}

BLOCKSCALE_API cudaError_t
cudaLogsUnregisterCallback(cudaLogsCallbackHandle handle) {
  return note(cudaError_t(cuLogsUnregisterCallback(
      reinterpret_cast<CUlogsCallbackHandle>(handle))));
}

BLOCKSCALE_API cudaError_t cudaLogsCurrent(cudaLogIterator *iterator,
                                           unsigned flags) {
  return note(cudaError_t(cuLogsCurrent(iterator, flags)));
}

BLOCKSCALE_API cudaError_t cudaLogsDumpToFile(cudaLogIterator *iterator,
                                              const char *path,
                                              unsigned flags) {
  return note(cudaError_t(cuLogsDumpToFile(iterator, path, flags)));
}

BLOCKSCALE_API cudaError_t cudaLogsDumpToMemory(cudaLogIterator *iterator,
                                                char *buffer, size_t *size,
                                                unsigned flags) {
  return note(cudaError_t(cuLogsDumpToMemory(iterator, buffer, size, flags)));
}
