//===- ApiStreams.cpp - streams and events --------------------------------===//
//
// Part of the blockscale project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Work is done when it is asked for, so that a stream never holds any. Handles
// are checked all the same: on a device a stale one is an error.
//
//===----------------------------------------------------------------------===//

#include "Graphs.h"

#include <chrono>
#include <unordered_set>

using namespace blockscale::cudart;

struct CUevent_st {
  using Clock = std::chrono::steady_clock;
  unsigned flags = cudaEventDefault;
  bool recorded = false;
  CUgraph_st *graph = nullptr; ///< of the captured stream that recorded it
  Clock::time_point at;
};

namespace {

/// Guarded by the runtime's lock.
struct Handles {
  std::unordered_set<cudaStream_t> streams;
  std::unordered_set<cudaEvent_t> events;
  unsigned long long lastId = 2;
};

Handles &handles() {
  static Handles *all = new Handles;
  return *all;
}

std::lock_guard<std::recursive_mutex> locked() {
  return std::lock_guard<std::recursive_mutex>(Runtime::get().lock);
}

bool isStream(cudaStream_t stream) {
  return !stream || stream == cudaStreamLegacy ||
         stream == cudaStreamPerThread || handles().streams.count(stream);
}

/// Flags and priority; the default stream's are those of a new one.
const CUstream_st &stateOf(cudaStream_t stream) {
  static const CUstream_st standard;
  return handles().streams.count(stream) ? *stream : standard;
}

/// Waiting for a stream that is being captured makes no sense.
cudaError_t waitFor(cudaStream_t stream) {
  if (graphOf(stream))
    return note(cudaErrorStreamCaptureUnsupported);
  return note(isStream(stream) ? Runtime::get().sticky
                               : cudaErrorInvalidResourceHandle);
}

cudaError_t withStream(cudaStream_t stream) {
  return note(isStream(stream) ? Runtime::get().sticky
                               : cudaErrorInvalidResourceHandle);
}

} // namespace

CUgraph_st *blockscale::cudart::graphOf(cudaStream_t stream) {
  return handles().streams.count(stream) ? stream->graph : nullptr;
}

void blockscale::cudart::endCapture(CUgraph_st *graph) {
  for (cudaStream_t stream : handles().streams)
    if (stream->graph == graph)
      stream->graph = nullptr, stream->origin = false;
  for (cudaEvent_t event : handles().events)
    if (event->graph == graph)
      event->graph = nullptr;
}

BLOCKSCALE_API cudaError_t cudaStreamCreateWithPriority(cudaStream_t *stream,
                                                        unsigned flags,
                                                        int priority) {
  auto guard = locked();
  if (!stream || (flags != cudaStreamDefault && flags != cudaStreamNonBlocking))
    return note(cudaErrorInvalidValue);
  *stream =
      new CUstream_st{flags, priority, ++handles().lastId, nullptr, false};
  handles().streams.insert(*stream);
  return cudaSuccess;
}

BLOCKSCALE_API cudaError_t cudaStreamCreateWithFlags(cudaStream_t *stream,
                                                     unsigned flags) {
  return cudaStreamCreateWithPriority(stream, flags, 0);
}

BLOCKSCALE_API cudaError_t cudaStreamCreate(cudaStream_t *stream) {
  return cudaStreamCreateWithFlags(stream, cudaStreamDefault);
}

BLOCKSCALE_API cudaError_t cudaStreamDestroy(cudaStream_t stream) {
  auto guard = locked();
  if (!handles().streams.erase(stream))
    return note(cudaErrorInvalidResourceHandle);
  delete stream;
  return cudaSuccess;
}

BLOCKSCALE_API cudaError_t cudaStreamSynchronize(cudaStream_t stream) {
  auto guard = locked();
  return waitFor(stream);
}

BLOCKSCALE_API cudaError_t cudaStreamQuery(cudaStream_t stream) {
  return cudaStreamSynchronize(stream);
}

BLOCKSCALE_API cudaError_t cudaStreamWaitEvent(cudaStream_t stream,
                                               cudaEvent_t event, unsigned) {
  auto guard = locked();
  if (!handles().events.count(event))
    return note(cudaErrorInvalidResourceHandle);
  // The stream joins the capture of the one that it waits for.
  if (event->graph && handles().streams.count(stream) && !stream->graph)
    stream->graph = event->graph;
  return withStream(stream);
}

BLOCKSCALE_API cudaError_t cudaStreamGetFlags(cudaStream_t stream,
                                              unsigned *flags) {
  auto guard = locked();
  if (!isStream(stream))
    return note(cudaErrorInvalidResourceHandle);
  *flags = stateOf(stream).flags;
  return cudaSuccess;
}

BLOCKSCALE_API cudaError_t cudaStreamGetPriority(cudaStream_t stream,
                                                 int *priority) {
  auto guard = locked();
  if (!isStream(stream))
    return note(cudaErrorInvalidResourceHandle);
  *priority = stateOf(stream).priority;
  return cudaSuccess;
}

BLOCKSCALE_API cudaError_t cudaStreamGetId(cudaStream_t stream,
                                           unsigned long long *id) {
  auto guard = locked();
  if (!isStream(stream))
    return note(cudaErrorInvalidResourceHandle);
  *id = stateOf(stream).id;
  return cudaSuccess;
}

BLOCKSCALE_API cudaError_t cudaStreamGetDevice(cudaStream_t stream,
                                               int *ordinal) {
  auto guard = locked();
  if (!isStream(stream))
    return note(cudaErrorInvalidResourceHandle);
  *ordinal = 0;
  return cudaSuccess;
}

BLOCKSCALE_API cudaError_t
cudaStreamIsCapturing(cudaStream_t stream, cudaStreamCaptureStatus *status) {
  auto guard = locked();
  if (!isStream(stream))
    return note(cudaErrorInvalidResourceHandle);
  *status = graphOf(stream) ? cudaStreamCaptureStatusActive
                            : cudaStreamCaptureStatusNone;
  return cudaSuccess;
}

BLOCKSCALE_API cudaError_t cudaStreamGetCaptureInfo(
    cudaStream_t stream, cudaStreamCaptureStatus *status, unsigned long long *,
    cudaGraph_t *, const cudaGraphNode_t **, const cudaGraphEdgeData **,
    size_t *) {
  return cudaStreamIsCapturing(stream, status);
}

BLOCKSCALE_API cudaError_t
cudaStreamSetAttribute(cudaStream_t stream, cudaLaunchAttributeID,
                       const cudaLaunchAttributeValue *) {
  auto guard = locked();
  return withStream(stream);
}

//===----------------------------------------------------------------------===//
// Events
//===----------------------------------------------------------------------===//

BLOCKSCALE_API cudaError_t cudaEventCreateWithFlags(cudaEvent_t *event,
                                                    unsigned flags) {
  auto guard = locked();
  if (!event)
    return note(cudaErrorInvalidValue);
  *event = new CUevent_st{flags, false, nullptr, {}};
  handles().events.insert(*event);
  return cudaSuccess;
}

BLOCKSCALE_API cudaError_t cudaEventCreate(cudaEvent_t *event) {
  return cudaEventCreateWithFlags(event, cudaEventDefault);
}

BLOCKSCALE_API cudaError_t cudaEventDestroy(cudaEvent_t event) {
  auto guard = locked();
  if (!handles().events.erase(event))
    return note(cudaErrorInvalidResourceHandle);
  delete event;
  return cudaSuccess;
}

BLOCKSCALE_API cudaError_t cudaEventRecord(cudaEvent_t event,
                                           cudaStream_t stream) {
  auto guard = locked();
  if (!handles().events.count(event) || !isStream(stream))
    return note(cudaErrorInvalidResourceHandle);
  event->graph = graphOf(stream);
  if (event->graph)
    return cudaSuccess;
  event->recorded = true;
  event->at = CUevent_st::Clock::now();
  return note(Runtime::get().sticky);
}

BLOCKSCALE_API cudaError_t cudaEventRecordWithFlags(cudaEvent_t event,
                                                    cudaStream_t stream,
                                                    unsigned) {
  return cudaEventRecord(event, stream);
}

BLOCKSCALE_API cudaError_t cudaEventSynchronize(cudaEvent_t event) {
  auto guard = locked();
  if (!handles().events.count(event))
    return note(cudaErrorInvalidResourceHandle);
  return note(Runtime::get().sticky);
}

BLOCKSCALE_API cudaError_t cudaEventQuery(cudaEvent_t event) {
  return cudaEventSynchronize(event);
}

BLOCKSCALE_API cudaError_t cudaEventElapsedTime(float *milliseconds,
                                                cudaEvent_t start,
                                                cudaEvent_t end) {
  auto guard = locked();
  const auto &events = handles().events;
  if (!milliseconds)
    return note(cudaErrorInvalidValue);
  if (!events.count(start) || !events.count(end) || !start->recorded ||
      !end->recorded || (start->flags | end->flags) & cudaEventDisableTiming)
    return note(cudaErrorInvalidResourceHandle);
  std::chrono::duration<float, std::milli> passed = end->at - start->at;
  *milliseconds = passed.count();
  return cudaSuccess;
}
