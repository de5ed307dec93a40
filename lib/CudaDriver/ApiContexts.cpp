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

/// Of cuCtxGetApiVersion: what drivers have said since CUDA 3.2.
constexpr unsigned kApiVersion = 3020;

template <typename F> CUresult onDevice(CUdevice device, F work) {
  return withDriver([&]() -> CUresult {
    return isDevice(device) ? work() : CUDA_ERROR_INVALID_DEVICE;
  });
}

CUresult makeContext(CUcontext *context, unsigned flags, CUdevice device) {
  return onDevice(device, [&]() -> CUresult {
    if (!context || !areContextFlags(flags))
      return CUDA_ERROR_INVALID_VALUE;
    if (Core::get().sticky != cudaSuccess)
      return toDriver(Core::get().sticky);
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
    if (!isContext(context) || context->primary || context->green)
      return CUDA_ERROR_INVALID_CONTEXT;
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
  // Memory of the host is always mapped in the device's own context.
  return withContext([&] {
    const CUctx_st &one = *currentContext();
    return give(flags, one.flags | (one.primary ? CU_CTX_MAP_HOST : 0u));
  });
}

BLOCKSCALE_API CUresult cuCtxSetFlags(unsigned flags) {
  return withContext([&] {
    if (!areContextFlags(flags))
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
  return withContext([&] { return give(config, cacheConfig()); });
}

BLOCKSCALE_API CUresult cuCtxSetCacheConfig(CUfunc_cache config) {
  return withContext([&] {
    if (!isCacheConfig(config))
      return CUDA_ERROR_INVALID_VALUE;
    cacheConfig() = config;
    return CUDA_SUCCESS;
  });
}

// Banks have had four bytes since Maxwell, whatever a program asks for.

BLOCKSCALE_API CUresult cuCtxGetSharedMemConfig(CUsharedconfig *config) {
  return withContext(
      [&] { return give(config, CU_SHARED_MEM_CONFIG_FOUR_BYTE_BANK_SIZE); });
}

BLOCKSCALE_API CUresult cuCtxSetSharedMemConfig(CUsharedconfig config) {
  return withContext([&] {
    return isSharedConfig(config) ? CUDA_SUCCESS : CUDA_ERROR_INVALID_VALUE;
  });
}

// There is one device, which is no peer of itself.

BLOCKSCALE_API CUresult cuCtxEnablePeerAccess(CUcontext peer, unsigned flags) {
  return withContext([&] {
    if (!isContext(peer))
      return CUDA_ERROR_INVALID_CONTEXT;
    return flags ? CUDA_ERROR_INVALID_VALUE
                 : CUDA_ERROR_PEER_ACCESS_UNSUPPORTED;
  });
}

BLOCKSCALE_API CUresult cuCtxDisablePeerAccess(CUcontext peer) {
  return withContext([&] {
    return isContext(peer) ? CUDA_ERROR_PEER_ACCESS_NOT_ENABLED
                           : CUDA_ERROR_INVALID_CONTEXT;
  });
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
    if (!areContextFlags(flags))
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
