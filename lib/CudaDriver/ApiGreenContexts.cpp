//===- ApiGreenContexts.cpp - parts of the SMs ----------------------------===//
//
// Part of the blockscale project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Driver.h"
#include "GreenContexts.h"
#include "Streams.h"

using namespace blockscale;
using namespace blockscale::cuda;

namespace {

/// The least part, and what parts are multiples of, on chips of compute
/// capability 9.0 and later (CUDA driver API, "Green Contexts"); without
/// clusters that are scheduled together they are as on older chips.
constexpr unsigned kPartStep = 8, kFinePartStep = 2;
constexpr unsigned kSplitFlags =
    CU_DEV_SM_RESOURCE_SPLIT_IGNORE_SM_COSCHEDULING |
    CU_DEV_SM_RESOURCE_SPLIT_MAX_POTENTIAL_CLUSTER_SIZE;

/// What the first byte of a resource's own part says: where it comes from.
enum Origin : unsigned char { Whole = 1, Part = 2 };

/// `step` is what its parts are multiples of; 0 for a part, which has none.
CUdevResource makeResource(unsigned sms, Origin origin, unsigned step) {
  CUdevResource resource = {};
  if (sms == 0)
    return resource;
  resource.type = CU_DEV_RESOURCE_TYPE_SM;
  resource._internal_padding[0] = origin;
  resource.sm = {sms, step, step};
  return resource;
}

/// What a device or context has to give.
CUresult giveResource(CUdevResource *resource, CUdevResourceType type,
                      unsigned sms) {
  if (!resource)
    return CUDA_ERROR_INVALID_VALUE;
  if (type != CU_DEV_RESOURCE_TYPE_SM)
    return CUDA_ERROR_INVALID_RESOURCE_TYPE;
  *resource = makeResource(sms, Whole, kPartStep);
  return CUDA_SUCCESS;
}

bool isResource(const CUdevResource &resource) {
  unsigned char origin = resource._internal_padding[0];
  return resource.type == CU_DEV_RESOURCE_TYPE_SM &&
         (origin == Whole || origin == Part);
}

template <typename F> CUresult withGreen(CUgreenCtx context, F work) {
  return withDriver([&]() -> CUresult {
    if (!isGreenContext(context))
      return CUDA_ERROR_INVALID_CONTEXT;
    return toDriver(work(*context));
  });
}

} // namespace

BLOCKSCALE_API CUresult cuDeviceGetDevResource(CUdevice device,
                                               CUdevResource *resource,
                                               CUdevResourceType type) {
  return withDriver([&] {
    if (!isDevice(device))
      return CUDA_ERROR_INVALID_DEVICE;
    return giveResource(resource, type, Core::get().device.chip().smCount);
  });
}

BLOCKSCALE_API CUresult cuCtxGetDevResource(CUcontext context,
                                            CUdevResource *resource,
                                            CUdevResourceType type) {
  return withDriver([&] {
    if (!context || !isContext(context))
      return CUDA_ERROR_INVALID_CONTEXT;
    return giveResource(resource, type, smsOf(context));
  });
}

BLOCKSCALE_API CUresult cuGreenCtxGetDevResource(CUgreenCtx context,
                                                 CUdevResource *resource,
                                                 CUdevResourceType type) {
  return withGreen(context, [&](CUgreenCtx_st &green) {
    return giveResource(resource, type, smsOf(green.context));
  });
}

BLOCKSCALE_API CUresult cuDevSmResourceSplitByCount(
    CUdevResource *result, unsigned *groups, const CUdevResource *input,
    CUdevResource *remaining, unsigned flags, unsigned least) {
  return withDriver([&] {
    if (!groups || !input || flags & ~kSplitFlags)
      return CUDA_ERROR_INVALID_VALUE;
    if (!isResource(*input))
      return CUDA_ERROR_INVALID_RESOURCE_TYPE;
    if (input->_internal_padding[0] != Whole)
      return CUDA_ERROR_INVALID_RESOURCE_CONFIGURATION;
    unsigned there = input->sm.smCount;
    if (least > there)
      return CUDA_ERROR_INVALID_RESOURCE_CONFIGURATION;
    unsigned step = flags & CU_DEV_SM_RESOURCE_SPLIT_IGNORE_SM_COSCHEDULING
                        ? kFinePartStep
                        : kPartStep;
    unsigned size = std::max(step, (least + step - 1) / step * step);
    // All of them are a part, too.
    size = std::min(size, there);
    unsigned count = there / size;
    if (result)
      count = std::min(count, *groups);
    *groups = count;
    for (unsigned i = 0; result && i < count; ++i)
      result[i] = makeResource(size, Part, /*step=*/0);
    if (remaining)
      *remaining = makeResource(there - count * size, Part, /*step=*/0);
    return CUDA_SUCCESS;
  });
}

BLOCKSCALE_API CUresult cuDevResourceGenerateDesc(CUdevResourceDesc *descriptor,
                                                  CUdevResource *resources,
                                                  unsigned count) {
  return withDriver([&] {
    if (!descriptor || !resources || count == 0)
      return CUDA_ERROR_INVALID_VALUE;
    unsigned sms = 0;
    for (unsigned i = 0; i < count; ++i) {
      if (!isResource(resources[i]))
        return CUDA_ERROR_INVALID_RESOURCE_TYPE;
      // Several have to be parts of one split.
      if (count > 1 && resources[i]._internal_padding[0] != Part)
        return CUDA_ERROR_INVALID_RESOURCE_CONFIGURATION;
      sms += resources[i].sm.smCount;
    }
    if (sms > Core::get().device.chip().smCount)
      return CUDA_ERROR_INVALID_RESOURCE_CONFIGURATION;
    *descriptor = keepDescriptor(sms);
    return CUDA_SUCCESS;
  });
}

BLOCKSCALE_API CUresult cuGreenCtxCreate(CUgreenCtx *context,
                                         CUdevResourceDesc descriptor,
                                         CUdevice device, unsigned flags) {
  return withDriver([&] {
    if (!isDevice(device))
      return CUDA_ERROR_INVALID_DEVICE;
    if (!context || !isDescriptor(descriptor) ||
        flags != CU_GREEN_CTX_DEFAULT_STREAM)
      return CUDA_ERROR_INVALID_VALUE;
    *context = createGreenContext(descriptor->sms);
    return CUDA_SUCCESS;
  });
}

BLOCKSCALE_API CUresult cuGreenCtxDestroy(CUgreenCtx context) {
  return withGreen(context, [&](CUgreenCtx_st &green) {
    destroyGreenContext(&green);
    return CUDA_SUCCESS;
  });
}

BLOCKSCALE_API CUresult cuCtxFromGreenCtx(CUcontext *context,
                                          CUgreenCtx green) {
  return withGreen(green, [&](CUgreenCtx_st &found) {
    return give(context, found.context);
  });
}

BLOCKSCALE_API CUresult cuGreenCtxGetId(CUgreenCtx context,
                                        unsigned long long *id) {
  return withGreen(context, [&](CUgreenCtx_st &green) {
    return give(id, green.context->id);
  });
}

BLOCKSCALE_API CUresult cuGreenCtxStreamCreate(CUstream *stream,
                                               CUgreenCtx context,
                                               unsigned flags, int priority) {
  return withGreen(context, [&](CUgreenCtx_st &green) {
    if (!stream || flags != CU_STREAM_NON_BLOCKING)
      return cudaErrorInvalidValue;
    cudaError_t error = createStream(*stream, flags, priority);
    if (error == cudaSuccess)
      (*stream)->context = green.context;
    return error;
  });
}

BLOCKSCALE_API CUresult cuGreenCtxRecordEvent(CUgreenCtx context,
                                              CUevent event) {
  return withGreen(context, [&](CUgreenCtx_st &) {
    return recordEvent(event, /*stream=*/nullptr);
  });
}

BLOCKSCALE_API CUresult cuGreenCtxWaitEvent(CUgreenCtx context, CUevent event) {
  return withGreen(context, [&](CUgreenCtx_st &) {
    return waitForEvent(/*stream=*/nullptr, event);
  });
}
