//===- ApiStreams.cpp - streams and events --------------------------------===//
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

/// Fills `*value` with what `read` finds in the stream's state.
template <typename T, typename F>
cudaError_t query(cudaStream_t stream, T *value, F read) {
  return call([&] {
    if (!isStream(stream))
      return cudaErrorInvalidResourceHandle;
    if (!value)
      return cudaErrorInvalidValue;
    *value = read(stateOf(stream));
    return cudaSuccess;
  });
}

cudaError_t withStream(cudaStream_t stream) {
  return call([&] {
    return isStream(stream) ? Core::get().sticky
                            : cudaErrorInvalidResourceHandle;
  });
}

} // namespace

BLOCKSCALE_API cudaError_t cudaStreamCreateWithPriority(cudaStream_t *stream,
                                                        unsigned flags,
                                                        int priority) {
  return call([&] {
    return stream ? createStream(*stream, flags, priority)
                  : cudaErrorInvalidValue;
  });
}

BLOCKSCALE_API cudaError_t cudaStreamCreateWithFlags(cudaStream_t *stream,
                                                     unsigned flags) {
  return cudaStreamCreateWithPriority(stream, flags, 0);
}

BLOCKSCALE_API cudaError_t cudaStreamCreate(cudaStream_t *stream) {
  return cudaStreamCreateWithFlags(stream, cudaStreamDefault);
}

BLOCKSCALE_API cudaError_t cudaStreamDestroy(cudaStream_t stream) {
  return call([&] { return destroyStream(stream); });
}

BLOCKSCALE_API cudaError_t cudaStreamSynchronize(cudaStream_t stream) {
  return call([&] { return waitFor(stream); });
}

BLOCKSCALE_API cudaError_t cudaStreamQuery(cudaStream_t stream) {
  return cudaStreamSynchronize(stream);
}

BLOCKSCALE_API cudaError_t cudaStreamWaitEvent(cudaStream_t stream,
                                               cudaEvent_t event,
                                               unsigned flags) {
  return call([&] { return waitForEvent(stream, event, flags); });
}

BLOCKSCALE_API cudaError_t cudaStreamGetFlags(cudaStream_t stream,
                                              unsigned *flags) {
  return query(stream, flags, [](const auto &state) { return state.flags; });
}

BLOCKSCALE_API cudaError_t cudaStreamGetPriority(cudaStream_t stream,
                                                 int *priority) {
  return query(stream, priority,
               [](const auto &state) { return state.priority; });
}

BLOCKSCALE_API cudaError_t cudaStreamGetId(cudaStream_t stream,
                                           unsigned long long *id) {
  return query(stream, id, [](const auto &state) { return state.id; });
}

BLOCKSCALE_API cudaError_t cudaStreamGetDevice(cudaStream_t stream,
                                               int *ordinal) {
  return query(stream, ordinal, [](const auto &) { return 0; });
}

BLOCKSCALE_API cudaError_t
cudaStreamIsCapturing(cudaStream_t stream, cudaStreamCaptureStatus *status) {
  return query(stream, status, [&](const auto &) {
    return cudaStreamCaptureStatus(captureStatus(stream));
  });
}

BLOCKSCALE_API cudaError_t
cudaStreamGetCaptureInfo(cudaStream_t stream, cudaStreamCaptureStatus *status,
                         unsigned long long *id, cudaGraph_t *graph,
                         const cudaGraphNode_t **dependencies,
                         const cudaGraphEdgeData **edges, size_t *count) {
  if (edges)
    *edges = nullptr;
  if (cudaError_t error = cudaStreamIsCapturing(stream, status);
      error != cudaSuccess)
    return error;
  return call(
      [&] { return captureInfo(stream, id, graph, dependencies, count); });
}

BLOCKSCALE_API cudaError_t
cudaStreamSetAttribute(cudaStream_t stream, cudaLaunchAttributeID,
                       const cudaLaunchAttributeValue *) {
  return withStream(stream);
}

//===----------------------------------------------------------------------===//
// Events
//===----------------------------------------------------------------------===//

BLOCKSCALE_API cudaError_t cudaEventCreateWithFlags(cudaEvent_t *event,
                                                    unsigned flags) {
  return call([&] {
    return event ? createEvent(*event, flags) : cudaErrorInvalidValue;
  });
}

BLOCKSCALE_API cudaError_t cudaEventCreate(cudaEvent_t *event) {
  return cudaEventCreateWithFlags(event, cudaEventDefault);
}

BLOCKSCALE_API cudaError_t cudaEventDestroy(cudaEvent_t event) {
  return call([&] { return destroyEvent(event); });
}

BLOCKSCALE_API cudaError_t cudaEventRecord(cudaEvent_t event,
                                           cudaStream_t stream) {
  return call([&] { return recordEvent(event, stream); });
}

BLOCKSCALE_API cudaError_t cudaEventRecordWithFlags(cudaEvent_t event,
                                                    cudaStream_t stream,
                                                    unsigned flags) {
  return call([&] { return recordEvent(event, stream, flags); });
}

BLOCKSCALE_API cudaError_t cudaEventSynchronize(cudaEvent_t event) {
  return call([&] { return waitForEvent(event); });
}

BLOCKSCALE_API cudaError_t cudaEventQuery(cudaEvent_t event) {
  return cudaEventSynchronize(event);
}

BLOCKSCALE_API cudaError_t cudaEventElapsedTime(float *milliseconds,
                                                cudaEvent_t start,
                                                cudaEvent_t end) {
  return call([&] {
    return milliseconds ? elapsed(start, end, *milliseconds)
                        : cudaErrorInvalidValue;
  });
}
