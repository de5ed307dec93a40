//===- ApiPools.cpp - memory pools ----------------------------------------===//
//
// Part of the blockscale project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Memory.h"
#include "Runtime.h"

using namespace blockscale;
using namespace blockscale::cuda;

namespace {

cudaError_t give(cudaMemPool_t *result, int ordinal,
                 CUmemPoolHandle_st *(*which)()) {
  return call([&] {
    if (!result)
      return cudaErrorInvalidValue;
    if (ordinal)
      return cudaErrorInvalidDevice;
    *result = which();
    return cudaSuccess;
  });
}

} // namespace

BLOCKSCALE_API cudaError_t cudaDeviceGetDefaultMemPool(cudaMemPool_t *result,
                                                       int ordinal) {
  return give(result, ordinal, [] { return defaultPool(); });
}

BLOCKSCALE_API cudaError_t cudaDeviceGetMemPool(cudaMemPool_t *result,
                                                int ordinal) {
  return give(result, ordinal, [] { return currentPool(); });
}

BLOCKSCALE_API cudaError_t cudaDeviceSetMemPool(int ordinal,
                                                cudaMemPool_t pool) {
  return call([&] {
    if (ordinal)
      return cudaErrorInvalidDevice;
    if (!isPool(pool))
      return cudaErrorInvalidValue;
    currentPool() = pool;
    return cudaSuccess;
  });
}

BLOCKSCALE_API cudaError_t cudaMemPoolCreate(cudaMemPool_t *pool,
                                             const cudaMemPoolProps *props) {
  return call([&] {
    if (!pool || !props || props->allocType != cudaMemAllocationTypePinned)
      return cudaErrorInvalidValue;
    if (props->handleTypes != cudaMemHandleTypeNone)
      return cudaErrorNotSupported;
    *pool = createPool();
    return cudaSuccess;
  });
}

BLOCKSCALE_API cudaError_t cudaMemPoolDestroy(cudaMemPool_t pool) {
  return call([&] { return destroyPool(pool); });
}

BLOCKSCALE_API cudaError_t cudaMemPoolSetAttribute(cudaMemPool_t pool,
                                                   cudaMemPoolAttr attribute,
                                                   void *value) {
  return call([&] { return setPoolAttribute(pool, attribute, value); });
}

BLOCKSCALE_API cudaError_t cudaMemPoolGetAttribute(cudaMemPool_t pool,
                                                   cudaMemPoolAttr attribute,
                                                   void *value) {
  return call([&] { return getPoolAttribute(pool, attribute, value); });
}

BLOCKSCALE_API cudaError_t cudaMemPoolTrimTo(cudaMemPool_t pool, size_t) {
  return call(
      [&] { return isPool(pool) ? cudaSuccess : cudaErrorInvalidValue; });
}
