//===- Driver.h - what entry points of the driver share ---------*- C++ -*-===//
//
// Part of the blockscale project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef BLOCKSCALE_LIB_CUDADRIVER_DRIVER_H
#define BLOCKSCALE_LIB_CUDADRIVER_DRIVER_H

#include "Contexts.h"

#include <utility>

namespace blockscale::cuda {

/// Does the work of an entry point that needs no context, locked.
template <typename F> CUresult withDriver(F work) {
  auto guard = locked();
  if (!isInitialised())
    return CUDA_ERROR_NOT_INITIALIZED;
  return toDriver(work());
}

/// The same of one that needs a context in this thread, which a kernel that
/// failed may have left unusable.
template <typename F> CUresult withAnyContext(F work) {
  return withDriver([&]() -> CUresult {
    if (!currentContext())
      return CUDA_ERROR_INVALID_CONTEXT;
    if (!isContext(currentContext()))
      return CUDA_ERROR_CONTEXT_IS_DESTROYED;
    return toDriver(work());
  });
}

/// The same of one that such a context does not serve.
template <typename F> CUresult withContext(F work) {
  return withAnyContext([&]() -> CUresult {
    if (Core::get().sticky != cudaSuccess)
      return toDriver(Core::get().sticky);
    return toDriver(work());
  });
}

/// A function of that name that only says that it is missing; null if the
/// driver has no such name.
void *findMissing(const char *name);

/// Where a result goes: nothing is done for a null pointer.
template <typename T> CUresult give(T *result, const T &value) {
  if (!result)
    return CUDA_ERROR_INVALID_VALUE;
  *result = value;
  return CUDA_SUCCESS;
}

inline bool isCacheConfig(CUfunc_cache config) {
  return unsigned(config) <= CU_FUNC_CACHE_PREFER_EQUAL;
}

inline bool isSharedConfig(CUsharedconfig config) {
  return unsigned(config) <= CU_SHARED_MEM_CONFIG_EIGHT_BYTE_BANK_SIZE;
}

/// Whether the number names the device.
inline bool isDevice(CUdevice device) { return device == 0; }

} // namespace blockscale::cuda

#endif // BLOCKSCALE_LIB_CUDADRIVER_DRIVER_H
