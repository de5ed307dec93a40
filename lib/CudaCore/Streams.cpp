//===- Streams.cpp - streams, events and captures -------------------------===//
//
// Part of the blockscale project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Streams.h"
#include "Contexts.h"

#include <algorithm>

using namespace blockscale;
using namespace blockscale::cuda;

namespace {

struct Handles {
  std::unordered_set<const CUstream_st *> streams;
  std::unordered_set<const CUevent_st *> events;
  /// Of streams: behind those of the two default ones.
  unsigned long long lastId = 2, lastCapture = 0;
};

Handles &handles() {
  static Handles *all = new Handles;
  return *all;
}

/// Null and the two names of the default stream.
bool isDefault(const CUstream_st *stream) {
  return !stream || stream == CU_STREAM_LEGACY ||
         stream == CU_STREAM_PER_THREAD;
}

/// Adds the nodes that are not there yet.
void join(std::vector<CUgraphNode_st *> &nodes,
          const std::vector<CUgraphNode_st *> &more) {
  for (CUgraphNode_st *node : more)
    if (std::find(nodes.begin(), nodes.end(), node) == nodes.end())
      nodes.push_back(node);
}

/// Whether every node of `nodes` comes before one of `tail`.
bool isJoined(const std::vector<CUgraphNode_st *> &nodes,
              const std::vector<CUgraphNode_st *> &tail) {
  return std::all_of(nodes.begin(), nodes.end(), [&](CUgraphNode_st *node) {
    return std::any_of(tail.begin(), tail.end(), [&](CUgraphNode_st *late) {
      return isAfter(late, node);
    });
  });
}

/// Streams and events of the capture are free again.
void release(Capture *capture) {
  auto leave = [&](auto *one) {
    if (one->capture.get() != capture)
      return false;
    one->tail.clear();
    one->capture.reset();
    return true;
  };
  // The capture goes with the last of them.
  for (const CUevent_st *one : handles().events)
    if (auto *event = const_cast<CUevent_st *>(one); leave(event))
      event->isStale = true;
  for (const CUstream_st *stream : handles().streams)
    leave(const_cast<CUstream_st *>(stream));
}

/// Whose events a stream records: green contexts have those of the primary one.
const CUctx_st *ownerOf(const CUstream_st *stream) {
  const CUctx_st *context = stateOf(stream).context;
  if (!context)
    return currentOwner();
  return context->green ? primaryContext() : context;
}

} // namespace

bool cuda::isStream(const CUstream_st *stream) {
  return isDefault(stream) || handles().streams.count(stream);
}

bool cuda::isEvent(const CUevent_st *event) {
  return handles().events.count(event);
}

cudaError_t cuda::checkStream(const CUstream_st *stream) {
  if (!isStream(stream))
    return cudaErrorInvalidResourceHandle;
  if (stream && stream != CU_STREAM_LEGACY)
    return cudaSuccess;
  cudaError_t error = cudaSuccess;
  for (const CUstream_st *other : handles().streams)
    if (other->capture && other->flags == CU_STREAM_DEFAULT) {
      other->capture->invalid = true;
      error = cudaErrorStreamCaptureImplicit;
    }
  return error;
}

const CUstream_st &cuda::stateOf(const CUstream_st *stream) {
  static const CUstream_st legacy{CU_STREAM_DEFAULT, 0, 1, nullptr, {}, {}};
  static const CUstream_st perThread{CU_STREAM_DEFAULT, 0, 2, nullptr, {}, {}};
  if (handles().streams.count(stream))
    return *stream;
  return stream == CU_STREAM_PER_THREAD ? perThread : legacy;
}

cudaError_t cuda::createStream(CUstream_st *&stream, unsigned flags,
                               int priority) {
  if (flags != CU_STREAM_DEFAULT && flags != CU_STREAM_NON_BLOCKING)
    return cudaErrorInvalidValue;
  stream = new CUstream_st;
  stream->flags = flags;
  stream->priority = std::clamp(priority, kGreatestPriority, kLeastPriority);
  stream->id = ++handles().lastId;
  stream->context = currentContext();
  handles().streams.insert(stream);
  return cudaSuccess;
}

cudaError_t cuda::destroyStream(CUstream_st *stream) {
  if (!handles().streams.erase(stream))
    return cudaErrorInvalidResourceHandle;
  if (stream->capture && stream->capture->origin == stream)
    stream->capture->invalid = true;
  delete stream;
  return Core::get().sticky;
}

cudaError_t cuda::waitFor(CUstream_st *stream) {
  if (!isStream(stream))
    return cudaErrorInvalidResourceHandle;
  if (Capture *capture = captureOf(stream))
    return invalidate(*capture);
  if (cudaError_t error = spoilCaptures(); error != cudaSuccess)
    return error;
  return Core::get().sticky;
}

cudaError_t cuda::waitForAll() {
  // Waiting for all streams means waiting for those that are captured.
  for (const CUstream_st *stream : handles().streams)
    if (stream->capture)
      return invalidate(*stream->capture);
  return Core::get().sticky;
}

cudaError_t cuda::waitForEvent(CUstream_st *stream, CUevent_st *event,
                               unsigned flags) {
  if (!isEvent(event))
    return cudaErrorInvalidResourceHandle;
  if (flags & ~unsigned(CU_EVENT_WAIT_EXTERNAL))
    return cudaErrorInvalidValue;
  if (cudaError_t error = checkStream(stream); error != cudaSuccess)
    return error;
  if (flags)
    return captureOf(stream)
               ? keep(stream, CU_GRAPH_NODE_TYPE_WAIT_EVENT, EventWork{event})
               : cudaErrorIllegalState;
  if (event->isStale)
    return cudaErrorInvalidValue;
  if (!event->capture) {
    // What was recorded elsewhere is over, and no part of a capture.
    if (Capture *capture = event->recorded ? captureOf(stream) : nullptr) {
      capture->invalid = true;
      return cudaErrorStreamCaptureIsolation;
    }
    return Core::get().sticky;
  }
  if (isDefault(stream))
    return cudaErrorStreamCaptureImplicit;
  if (stream->capture && stream->capture != event->capture)
    return cudaErrorStreamCaptureMerge;
  // The stream joins the capture of the one that it waits for.
  stream->capture = event->capture;
  join(stream->tail, event->tail);
  return cudaSuccess;
}

cudaError_t cuda::createEvent(CUevent_st *&event, unsigned flags) {
  constexpr unsigned kKnown =
      CU_EVENT_BLOCKING_SYNC | CU_EVENT_DISABLE_TIMING | CU_EVENT_INTERPROCESS;
  // What other processes see has no times.
  bool isShared = flags & CU_EVENT_INTERPROCESS;
  if (flags & ~kKnown || (isShared && !(flags & CU_EVENT_DISABLE_TIMING)))
    return cudaErrorInvalidValue;
  event = new CUevent_st;
  event->flags = flags;
  event->context = currentOwner();
  handles().events.insert(event);
  return cudaSuccess;
}

cudaError_t cuda::destroyEvent(CUevent_st *event) {
  if (!handles().events.erase(event))
    return cudaErrorInvalidResourceHandle;
  delete event;
  return Core::get().sticky;
}

cudaError_t cuda::recordEvent(CUevent_st *event, CUstream_st *stream,
                              unsigned flags) {
  if (!isEvent(event))
    return cudaErrorInvalidResourceHandle;
  if (flags & ~unsigned(CU_EVENT_RECORD_EXTERNAL))
    return cudaErrorInvalidValue;
  if (cudaError_t error = checkStream(stream); error != cudaSuccess)
    return error;
  if (event->context != ownerOf(stream))
    return cudaErrorInvalidResourceHandle;
  if (flags)
    return captureOf(stream)
               ? keep(stream, CU_GRAPH_NODE_TYPE_EVENT_RECORD, EventWork{event})
               : cudaErrorIllegalState;
  event->isStale = false;
  event->capture.reset();
  event->tail.clear();
  if (captureOf(stream)) {
    event->capture = stream->capture;
    event->tail = stream->tail;
    return cudaSuccess;
  }
  return recordEvent(event);
}

cudaError_t cuda::recordEvent(CUevent_st *event) {
  if (!isEvent(event))
    return cudaErrorInvalidResourceHandle;
  event->recorded = true;
  event->at = CUevent_st::Clock::now();
  return Core::get().sticky;
}

cudaError_t cuda::waitForEvent(CUevent_st *event) {
  if (!isEvent(event))
    return cudaErrorInvalidResourceHandle;
  if (event->capture) {
    event->capture->invalid = true;
    return cudaErrorCapturedEvent;
  }
  return event->isStale ? cudaErrorInvalidValue : Core::get().sticky;
}

cudaError_t cuda::elapsed(CUevent_st *start, CUevent_st *end,
                          float &milliseconds) {
  if (!isEvent(start) || !isEvent(end) || !start->recorded || !end->recorded ||
      (start->flags | end->flags) & CU_EVENT_DISABLE_TIMING)
    return cudaErrorInvalidResourceHandle;
  std::chrono::duration<float, std::milli> passed = end->at - start->at;
  milliseconds = passed.count();
  return cudaSuccess;
}

void cuda::dropStreams(const CUctx_st *context) {
  auto drop = [&](auto &set) {
    for (auto it = set.begin(); it != set.end();) {
      const auto *one = *it;
      if (one->context != context) {
        ++it;
        continue;
      }
      it = set.erase(it);
      delete one;
    }
  };
  drop(handles().streams);
  drop(handles().events);
}

//===----------------------------------------------------------------------===//
// Captures
//===----------------------------------------------------------------------===//

Capture *cuda::captureOf(const CUstream_st *stream) {
  return handles().streams.count(stream) ? stream->capture.get() : nullptr;
}

cudaError_t cuda::beginCapture(CUstream_st *stream, CUstreamCaptureMode mode,
                               CUgraph_st *graph,
                               std::vector<CUgraphNode_st *> after) {
  if (unsigned(mode) > CU_STREAM_CAPTURE_MODE_RELAXED)
    return cudaErrorInvalidValue;
  // The default stream cannot be captured.
  if (isDefault(stream))
    return cudaErrorStreamCaptureUnsupported;
  if (!isStream(stream))
    return cudaErrorInvalidResourceHandle;
  if (stream->capture)
    return cudaErrorIllegalState;
  for (const CUgraphNode_st *node : after)
    if (!isNode(node) || node->graph != graph)
      return cudaErrorInvalidValue;
  stream->capture = std::make_shared<Capture>();
  stream->capture->intoGraph = graph;
  stream->capture->graph = graph ? graph : createGraph();
  stream->capture->origin = stream;
  stream->capture->mode = mode;
  stream->capture->thread = std::this_thread::get_id();
  stream->capture->id = ++handles().lastCapture;
  stream->tail = std::move(after);
  return cudaSuccess;
}

cudaError_t cuda::endCapture(CUstream_st *stream, CUgraph_st *&graph) {
  graph = nullptr;
  if (!isStream(stream))
    return cudaErrorInvalidResourceHandle;
  Capture *capture = captureOf(stream);
  if (!capture)
    return cudaErrorIllegalState;
  if (capture->origin != stream) {
    capture->invalid = true;
    return cudaErrorStreamCaptureUnmatched;
  }
  std::shared_ptr<Capture> kept = stream->capture;
  bool joined = true;
  for (const CUstream_st *other : handles().streams)
    if (other->capture == kept)
      joined &= isJoined(other->tail, stream->tail);
  release(capture);
  if (joined && !capture->invalid) {
    graph = capture->graph;
    return cudaSuccess;
  }
  if (!capture->intoGraph)
    destroyGraph(capture->graph);
  return capture->invalid ? cudaErrorStreamCaptureInvalidated
                          : cudaErrorStreamCaptureUnjoined;
}

cudaError_t cuda::invalidate(Capture &capture) {
  capture.invalid = true;
  return cudaErrorStreamCaptureUnsupported;
}

CUstreamCaptureMode &cuda::threadCaptureMode() {
  static thread_local CUstreamCaptureMode mode = CU_STREAM_CAPTURE_MODE_GLOBAL;
  return mode;
}

cudaError_t cuda::spoilCaptures() {
  CUstreamCaptureMode own = threadCaptureMode();
  if (own == CU_STREAM_CAPTURE_MODE_RELAXED)
    return cudaSuccess;
  cudaError_t error = cudaSuccess;
  for (const CUstream_st *stream : handles().streams) {
    Capture *capture = stream->capture.get();
    if (!capture || capture->mode == CU_STREAM_CAPTURE_MODE_RELAXED)
      continue;
    bool isOwn = capture->thread == std::this_thread::get_id();
    if (isOwn || (capture->mode == CU_STREAM_CAPTURE_MODE_GLOBAL &&
                  own == CU_STREAM_CAPTURE_MODE_GLOBAL))
      error = invalidate(*capture);
  }
  return error;
}

bool cuda::isCapturedInto(const CUgraph_st *graph) {
  return std::any_of(handles().streams.begin(), handles().streams.end(),
                     [&](const CUstream_st *stream) {
                       return stream->capture &&
                              stream->capture->graph == graph;
                     });
}

cudaError_t cuda::spoilCaptureInto(const CUgraph_st *graph) {
  cudaError_t error = cudaSuccess;
  for (const CUstream_st *stream : handles().streams)
    if (stream->capture && stream->capture->graph == graph)
      error = invalidate(*stream->capture);
  return error;
}

cudaError_t cuda::keep(CUstream_st *stream, CUgraphNodeType type,
                       NodeWork work) {
  if (stream->capture->invalid)
    return cudaErrorStreamCaptureInvalidated;
  std::vector<GraphEdge> before;
  for (CUgraphNode_st *node : stream->tail)
    before.push_back({node, {}});
  CUgraphNode_st *node = nullptr;
  if (cudaError_t error =
          addNode(stream->capture->graph, type, std::move(work), before, node);
      error != cudaSuccess)
    return error;
  stream->tail = {node};
  return cudaSuccess;
}

CUstreamCaptureStatus cuda::captureStatus(const CUstream_st *stream) {
  const Capture *capture = captureOf(stream);
  if (!capture)
    return CU_STREAM_CAPTURE_STATUS_NONE;
  return capture->invalid ? CU_STREAM_CAPTURE_STATUS_INVALIDATED
                          : CU_STREAM_CAPTURE_STATUS_ACTIVE;
}

cudaError_t cuda::captureInfo(CUstream_st *stream, unsigned long long *id,
                              CUgraph_st **graph, CUgraphNode_st *const **nodes,
                              size_t *count) {
  const Capture *capture = captureOf(stream);
  if (!capture)
    return isStream(stream) ? cudaSuccess : cudaErrorInvalidResourceHandle;
  if (id)
    *id = capture->id;
  if (graph)
    *graph = capture->graph;
  if (nodes)
    *nodes = stream->tail.data();
  if (count)
    *count = stream->tail.size();
  return cudaSuccess;
}

cudaError_t cuda::callHost(CUstream_st *stream, CUhostFn function, void *data) {
  if (!function)
    return cudaErrorInvalidValue;
  if (cudaError_t error = checkStream(stream); error != cudaSuccess)
    return error;
  if (captureOf(stream))
    return keep(stream, CU_GRAPH_NODE_TYPE_HOST,
                CUDA_HOST_NODE_PARAMS{function, data});
  function(data);
  return cudaSuccess;
}
