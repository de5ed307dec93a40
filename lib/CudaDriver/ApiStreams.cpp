//===- ApiStreams.cpp - streams, events and captures ----------------------===//
//
// Part of the blockscale project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Driver.h"
#include "Streams.h"

using namespace blockscale;
using namespace blockscale::cuda;

namespace {

/// Fills `*value` with what `read` finds in the stream's state.
template <typename T, typename F>
CUresult query(CUstream stream, T *value, F read) {
  return withContext([&] {
    return isStream(stream) ? give(value, T(read(stateOf(stream))))
                            : CUDA_ERROR_INVALID_HANDLE;
  });
}

/// The same of what ends a capture of the stream.
template <typename T, typename F>
CUresult queryIdle(CUstream stream, T *value, F read) {
  return withContext([&]() -> CUresult {
    if (Capture *capture = captureOf(stream))
      return capture->invalid ? CUDA_ERROR_STREAM_CAPTURE_INVALIDATED
                              : toDriver(invalidate(*capture));
    return query(stream, value, read);
  });
}

CUctx_st *own(const CUstream_st &state) {
  return state.context ? state.context : currentContext();
}

/// The regular context: that of a green one is the primary one.
CUcontext regularOf(const CUstream_st &state) {
  return own(state)->green ? primaryContext() : own(state);
}

CUgreenCtx greenOf(const CUstream_st &state) { return own(state)->green; }

CUresult withStream(CUstream stream) {
  return withContext([&] {
    return isStream(stream) ? Core::get().sticky
                            : cudaErrorInvalidResourceHandle;
  });
}

/// Replaces the nodes that the stream's next one comes after, or adds to them.
CUresult updateTail(CUstream stream, CUgraphNode *nodes, size_t count,
                    unsigned flags) {
  return withContext([&] {
    Capture *capture = captureOf(stream);
    if (!capture)
      return CUDA_ERROR_ILLEGAL_STATE;
    if (capture->invalid)
      return CUDA_ERROR_STREAM_CAPTURE_INVALIDATED;
    if (count && !nodes)
      return CUDA_ERROR_INVALID_VALUE;
    for (size_t i = 0; i != count; ++i)
      if (!isNode(nodes[i]) || nodes[i]->graph != capture->graph)
        return CUDA_ERROR_INVALID_VALUE;
    if (flags == CU_STREAM_SET_CAPTURE_DEPENDENCIES)
      stream->tail.clear();
    else if (flags != CU_STREAM_ADD_CAPTURE_DEPENDENCIES)
      return CUDA_ERROR_INVALID_VALUE;
    stream->tail.insert(stream->tail.end(), nodes, nodes + count);
    return CUDA_SUCCESS;
  });
}

} // namespace

BLOCKSCALE_API CUresult cuStreamCreateWithPriority(CUstream *stream,
                                                   unsigned flags,
                                                   int priority) {
  return withContext([&] {
    return stream ? createStream(*stream, flags, priority)
                  : cudaErrorInvalidValue;
  });
}

BLOCKSCALE_API CUresult cuStreamCreate(CUstream *stream, unsigned flags) {
  return cuStreamCreateWithPriority(stream, flags, 0);
}

BLOCKSCALE_API CUresult cuStreamDestroy(CUstream stream) {
  return withDriver([&] { return destroyStream(stream); });
}

BLOCKSCALE_API CUresult cuStreamSynchronize(CUstream stream) {
  return withContext([&] { return waitFor(stream); });
}

BLOCKSCALE_API CUresult cuStreamQuery(CUstream stream) {
  return cuStreamSynchronize(stream);
}

BLOCKSCALE_API CUresult cuStreamWaitEvent(CUstream stream, CUevent event,
                                          unsigned flags) {
  return withContext([&] { return waitForEvent(stream, event, flags); });
}

BLOCKSCALE_API CUresult cuStreamAddCallback(CUstream stream,
                                            CUstreamCallback callback,
                                            void *data, unsigned flags) {
  if (!callback || flags)
    return CUDA_ERROR_INVALID_VALUE;
  CUresult status = withStream(stream);
  if (status == CUDA_ERROR_INVALID_HANDLE)
    return status;
  // A graph has no place for what is called with a stream.
  CUresult captured = withDriver([&] {
    Capture *capture = captureOf(stream);
    return capture ? invalidate(*capture) : cudaSuccess;
  });
  if (captured != CUDA_SUCCESS)
    return captured;
  callback(stream, status, data);
  return CUDA_SUCCESS;
}

BLOCKSCALE_API CUresult cuStreamGetFlags(CUstream stream, unsigned *flags) {
  return queryIdle(stream, flags,
                   [](const auto &state) { return state.flags; });
}

BLOCKSCALE_API CUresult cuStreamGetPriority(CUstream stream, int *priority) {
  return queryIdle(stream, priority,
                   [](const auto &state) { return state.priority; });
}

BLOCKSCALE_API CUresult cuStreamGetId(CUstream stream, unsigned long long *id) {
  return query(stream, id, [](const auto &state) { return state.id; });
}

BLOCKSCALE_API CUresult cuStreamGetDevice(CUstream stream, CUdevice *device) {
  return query(stream, device, [](const auto &) { return 0; });
}

BLOCKSCALE_API CUresult cuStreamGetCtx(CUstream stream, CUcontext *context) {
  return query(stream, context, own);
}

BLOCKSCALE_API CUresult cuStreamGetCtx_v2(CUstream stream, CUcontext *context,
                                          CUgreenCtx *green) {
  CUresult error = green ? query(stream, green, greenOf) : CUDA_SUCCESS;
  return error == CUDA_SUCCESS ? query(stream, context, regularOf) : error;
}

BLOCKSCALE_API CUresult cuStreamGetGreenCtx(CUstream stream,
                                            CUgreenCtx *green) {
  return query(stream, green, greenOf);
}

BLOCKSCALE_API CUresult cuStreamCopyAttributes(CUstream to, CUstream from) {
  CUresult error = withStream(to);
  return error == CUDA_SUCCESS ? withStream(from) : error;
}

namespace {

/// Attributes of launches that streams have as well.
bool isStreamAttribute(CUstreamAttrID id) {
  return id == CU_LAUNCH_ATTRIBUTE_ACCESS_POLICY_WINDOW ||
         id == CU_LAUNCH_ATTRIBUTE_SYNCHRONIZATION_POLICY ||
         id == CU_LAUNCH_ATTRIBUTE_PRIORITY ||
         id == CU_LAUNCH_ATTRIBUTE_MEM_SYNC_DOMAIN_MAP ||
         id == CU_LAUNCH_ATTRIBUTE_MEM_SYNC_DOMAIN;
}

bool isLegal(CUstreamAttrID id, const CUstreamAttrValue &value) {
  if (id == CU_LAUNCH_ATTRIBUTE_SYNCHRONIZATION_POLICY)
    return value.syncPolicy >= CU_SYNC_POLICY_AUTO &&
           value.syncPolicy <= CU_SYNC_POLICY_BLOCKING_SYNC;
  if (id == CU_LAUNCH_ATTRIBUTE_MEM_SYNC_DOMAIN)
    return value.memSyncDomain == CU_LAUNCH_MEM_SYNC_DOMAIN_DEFAULT ||
           value.memSyncDomain == CU_LAUNCH_MEM_SYNC_DOMAIN_REMOTE;
  return isStreamAttribute(id);
}

} // namespace

BLOCKSCALE_API CUresult cuStreamGetAttribute(CUstream stream, CUstreamAttrID id,
                                             CUstreamAttrValue *value) {
  if (!isStreamAttribute(id))
    return CUDA_ERROR_INVALID_VALUE;
  return query(stream, value, [&](const auto &state) {
    CUstreamAttrValue result{};
    if (id == CU_LAUNCH_ATTRIBUTE_PRIORITY)
      result.priority = state.priority;
    else if (id == CU_LAUNCH_ATTRIBUTE_SYNCHRONIZATION_POLICY)
      result.syncPolicy = CU_SYNC_POLICY_AUTO;
    return result;
  });
}

BLOCKSCALE_API CUresult cuStreamSetAttribute(CUstream stream, CUstreamAttrID id,
                                             const CUstreamAttrValue *value) {
  return value && isLegal(id, *value) ? withStream(stream)
                                      : CUDA_ERROR_INVALID_VALUE;
}

//===----------------------------------------------------------------------===//
// Captures
//===----------------------------------------------------------------------===//

BLOCKSCALE_API CUresult cuStreamBeginCapture(CUstream stream,
                                             CUstreamCaptureMode mode) {
  return withContext([&] { return beginCapture(stream, mode, nullptr); });
}

BLOCKSCALE_API CUresult cuStreamBeginCaptureToGraph(
    CUstream stream, CUgraph graph, const CUgraphNode *nodes,
    const CUgraphEdgeData *, size_t count, CUstreamCaptureMode mode) {
  return withContext([&] {
    if (!isGraph(graph) || (count && !nodes))
      return cudaErrorInvalidValue;
    return beginCapture(stream, mode, graph, {nodes, nodes + count});
  });
}

BLOCKSCALE_API CUresult cuStreamEndCapture(CUstream stream, CUgraph *graph) {
  return withContext([&] {
    return graph ? endCapture(stream, *graph) : cudaErrorInvalidValue;
  });
}

BLOCKSCALE_API CUresult cuStreamIsCapturing(CUstream stream,
                                            CUstreamCaptureStatus *status) {
  return query(stream, status,
               [&](const auto &) { return captureStatus(stream); });
}

BLOCKSCALE_API CUresult
cuThreadExchangeStreamCaptureMode(CUstreamCaptureMode *mode) {
  if (!mode || unsigned(*mode) > CU_STREAM_CAPTURE_MODE_RELAXED)
    return CUDA_ERROR_INVALID_VALUE;
  std::swap(*mode, threadCaptureMode());
  return CUDA_SUCCESS;
}

BLOCKSCALE_API CUresult cuStreamGetCaptureInfo_v3(
    CUstream stream, CUstreamCaptureStatus *status, cuuint64_t *id,
    CUgraph *graph, const CUgraphNode **nodes, const CUgraphEdgeData **edges,
    size_t *count) {
  if (edges)
    *edges = nullptr;
  if (CUresult error = cuStreamIsCapturing(stream, status))
    return error;
  unsigned long long number = 0;
  CUresult error = withContext(
      [&] { return captureInfo(stream, &number, graph, nodes, count); });
  if (id)
    *id = number;
  return error;
}

BLOCKSCALE_API CUresult cuStreamGetCaptureInfo_v2(
    CUstream stream, CUstreamCaptureStatus *status, cuuint64_t *id,
    CUgraph *graph, const CUgraphNode **nodes, size_t *count) {
  return cuStreamGetCaptureInfo_v3(stream, status, id, graph, nodes, nullptr,
                                   count);
}

BLOCKSCALE_API CUresult cuStreamUpdateCaptureDependencies_v2(
    CUstream stream, CUgraphNode *nodes, const CUgraphEdgeData *, size_t count,
    unsigned flags) {
  return updateTail(stream, nodes, count, flags);
}

//===----------------------------------------------------------------------===//
// Events
//===----------------------------------------------------------------------===//

BLOCKSCALE_API CUresult cuEventCreate(CUevent *event, unsigned flags) {
  return withContext([&] {
    return event ? createEvent(*event, flags) : cudaErrorInvalidValue;
  });
}

BLOCKSCALE_API CUresult cuEventDestroy(CUevent event) {
  return withDriver([&] { return destroyEvent(event); });
}

BLOCKSCALE_API CUresult cuEventRecord(CUevent event, CUstream stream) {
  return withContext([&] { return recordEvent(event, stream); });
}

BLOCKSCALE_API CUresult cuEventRecordWithFlags(CUevent event, CUstream stream,
                                               unsigned flags) {
  return withContext([&] { return recordEvent(event, stream, flags); });
}

BLOCKSCALE_API CUresult cuEventQuery(CUevent event) {
  return withContext([&] { return waitForEvent(event); });
}

BLOCKSCALE_API CUresult cuEventSynchronize(CUevent event) {
  return cuEventQuery(event);
}

BLOCKSCALE_API CUresult cuEventElapsedTime_v2(float *milliseconds,
                                              CUevent start, CUevent end) {
  return withDriver([&] {
    return milliseconds ? elapsed(start, end, *milliseconds)
                        : cudaErrorInvalidValue;
  });
}

namespace {

/// Of events with a context as a whole; null for the current one.
CUresult withEvent(CUcontext context, CUevent event,
                   const std::function<cudaError_t()> &work) {
  return withContext([&]() -> CUresult {
    if (context && !isContext(context))
      return CUDA_ERROR_INVALID_CONTEXT;
    const CUctx_st *owner = !context
                                ? currentOwner()
                                : (context->green ? primaryContext() : context);
    return isEvent(event) && event->context == owner
               ? toDriver(work())
               : CUDA_ERROR_INVALID_HANDLE;
  });
}

} // namespace

BLOCKSCALE_API CUresult cuCtxRecordEvent(CUcontext context, CUevent event) {
  return withEvent(context, event, [&] { return recordEvent(event); });
}

BLOCKSCALE_API CUresult cuCtxWaitEvent(CUcontext context, CUevent event) {
  return withEvent(context, event, [&] { return waitForEvent(event); });
}
