//===- ApiContexts.cpp - contexts -----------------------------------------===//
//
// Part of the blockscale project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Device.h"
#include "Driver.h"
#include "Streams.h"

using namespace blockscale;
using namespace blockscale::cuda;

namespace {

/// CU_CTX_SCHED_*, MAP_HOST, LMEM_RESIZE_TO_MAX, COREDUMP, SYNC_MEMOPS.
constexpr unsigned kKnownFlags = CU_CTX_FLAGS_MASK;
/// Of cuCtxGetApiVersion.
constexpr unsigned kApiVersion = 4010;

template <typename F> CUresult onDevice(CUdevice device, F work) {
  return withDriver([&]() -> CUresult {
    return isDevice(device) ? work() : CUDA_ERROR_INVALID_DEVICE;
  });
}

CUresult makeContext(CUcontext *context, unsigned flags, CUdevice device) {
  return onDevice(device, [&]() -> CUresult {
    if (!context || flags & ~kKnownFlags)
      return CUDA_ERROR_INVALID_VALUE;
    *context = createContext(flags);
    pushContext(*context);
    return CUDA_SUCCESS;
  });
}

/// The context of a call that may name one; null for the current one.
CUresult withOne(CUcontext context,
                 const std::function<CUresult(CUctx_st &)> &work) {
  if (!context)
    return withContext([&] { return work(*currentContext()); });
  return withDriver([&] {
    return isContext(context) ? work(*context) : CUDA_ERROR_INVALID_CONTEXT;
  });
}

} // namespace

BLOCKSCALE_API CUresult cuCtxCreate_v2(CUcontext *context, unsigned flags,
                                       CUdevice device) {
  return makeContext(context, flags, device);
}

BLOCKSCALE_API CUresult cuCtxCreate_v3(CUcontext *context,
                                       CUexecAffinityParam *, int affinities,
                                       unsigned flags, CUdevice device) {
  return affinities ? CUDA_ERROR_UNSUPPORTED_EXEC_AFFINITY
                    : makeContext(context, flags, device);
}

BLOCKSCALE_API CUresult cuCtxCreate_v4(CUcontext *context,
                                       CUctxCreateParams *parameters,
                                       unsigned flags, CUdevice device) {
  if (parameters && parameters->numExecAffinityParams)
    return CUDA_ERROR_UNSUPPORTED_EXEC_AFFINITY;
  return makeContext(context, flags, device);
}

BLOCKSCALE_API CUresult cuCtxDestroy(CUcontext context) {
  return withDriver([&] {
    if (!isContext(context))
      return CUDA_ERROR_INVALID_CONTEXT;
    if (context->primary)
      return CUDA_ERROR_INVALID_VALUE;
    destroyContext(context);
    return CUDA_SUCCESS;
  });
}

BLOCKSCALE_API CUresult cuCtxPushCurrent(CUcontext context) {
  return withDriver([&] {
    if (!isContext(context))
      return CUDA_ERROR_INVALID_CONTEXT;
    pushContext(context);
    return CUDA_SUCCESS;
  });
}

BLOCKSCALE_API CUresult cuCtxPopCurrent(CUcontext *context) {
  return withDriver([&] {
    CUctx_st *popped = popContext();
    if (!popped)
      return CUDA_ERROR_INVALID_CONTEXT;
    if (context)
      *context = popped;
    return CUDA_SUCCESS;
  });
}

BLOCKSCALE_API CUresult cuCtxSetCurrent(CUcontext context) {
  return withDriver([&] {
    if (context && !isContext(context))
      return CUDA_ERROR_INVALID_CONTEXT;
    setCurrent(context);
    return CUDA_SUCCESS;
  });
}

BLOCKSCALE_API CUresult cuCtxGetCurrent(CUcontext *context) {
  return withDriver([&] { return give(context, currentContext()); });
}

BLOCKSCALE_API CUresult cuCtxGetDevice(CUdevice *device) {
  return withContext([&] { return give(device, 0); });
}

BLOCKSCALE_API CUresult cuCtxGetDevice_v2(CUdevice *device, CUcontext context) {
  return withOne(context, [&](CUctx_st &) { return give(device, 0); });
}

BLOCKSCALE_API CUresult cuCtxGetFlags(unsigned *flags) {
  return withContext([&] { return give(flags, currentContext()->flags); });
}

BLOCKSCALE_API CUresult cuCtxSetFlags(unsigned flags) {
  return withContext([&] {
    if (flags & ~kKnownFlags)
      return CUDA_ERROR_INVALID_VALUE;
    currentContext()->flags = flags;
    return CUDA_SUCCESS;
  });
}

BLOCKSCALE_API CUresult cuCtxGetId(CUcontext context, unsigned long long *id) {
  return withOne(context, [&](CUctx_st &one) { return give(id, one.id); });
}

BLOCKSCALE_API CUresult cuCtxGetApiVersion(CUcontext context,
                                           unsigned *version) {
  return withOne(context,
                 [&](CUctx_st &) { return give(version, kApiVersion); });
}

BLOCKSCALE_API CUresult cuCtxSynchronize() { return withContext(waitForAll); }

BLOCKSCALE_API CUresult cuCtxSynchronize_v2(CUcontext context) {
  return withOne(context, [](CUctx_st &) { return toDriver(waitForAll()); });
}

BLOCKSCALE_API CUresult cuCtxSetLimit(CUlimit limit, size_t value) {
  return withContext([&] { return setLimit(limit, value); });
}

BLOCKSCALE_API CUresult cuCtxGetLimit(size_t *value, CUlimit limit) {
  return withContext(
      [&] { return value ? getLimit(limit, *value) : cudaErrorInvalidValue; });
}

BLOCKSCALE_API CUresult cuCtxGetCacheConfig(CUfunc_cache *config) {
  return withContext([&] { return give(config, CU_FUNC_CACHE_PREFER_NONE); });
}

BLOCKSCALE_API CUresult cuCtxSetCacheConfig(CUfunc_cache) {
  return withContext([] { return CUDA_SUCCESS; });
}

BLOCKSCALE_API CUresult cuCtxGetStreamPriorityRange(int *least, int *greatest) {
  return withContext([&] {
    if (least)
      *least = kLeastPriority;
    if (greatest)
      *greatest = kGreatestPriority;
    return CUDA_SUCCESS;
  });
}

BLOCKSCALE_API CUresult cuCtxResetPersistingL2Cache() {
  return withContext([] { return CUDA_SUCCESS; });
}

//===----------------------------------------------------------------------===//
// The primary context
//===----------------------------------------------------------------------===//

BLOCKSCALE_API CUresult cuDevicePrimaryCtxRetain(CUcontext *context,
                                                 CUdevice device) {
  return onDevice(device, [&]() -> CUresult {
    if (!context)
      return CUDA_ERROR_INVALID_VALUE;
    ++primaryUsers();
    return give(context, primaryContext());
  });
}

BLOCKSCALE_API CUresult cuDevicePrimaryCtxRelease(CUdevice device) {
  return onDevice(device, []() -> CUresult {
    if (!primaryUsers())
      return CUDA_ERROR_INVALID_CONTEXT;
    if (--primaryUsers() == 0)
      destroyContext(primaryContext());
    return CUDA_SUCCESS;
  });
}

BLOCKSCALE_API CUresult cuDevicePrimaryCtxReset(CUdevice device) {
  return onDevice(device, []() -> CUresult {
    destroyContext(primaryContext());
    Core::get().sticky = cudaSuccess;
    return CUDA_SUCCESS;
  });
}

BLOCKSCALE_API CUresult cuDevicePrimaryCtxSetFlags(CUdevice device,
                                                   unsigned flags) {
  return onDevice(device, [&]() -> CUresult {
    if (flags & ~kKnownFlags)
      return CUDA_ERROR_INVALID_VALUE;
    primaryContext()->flags = flags;
    return CUDA_SUCCESS;
  });
}

BLOCKSCALE_API CUresult cuDevicePrimaryCtxGetState(CUdevice device,
                                                   unsigned *flags,
                                                   int *active) {
  return onDevice(device, [&]() -> CUresult {
    if (!flags || !active)
      return CUDA_ERROR_INVALID_VALUE;
    *flags = primaryContext()->flags;
    *active = primaryUsers() != 0;
    return CUDA_SUCCESS;
  });
}
