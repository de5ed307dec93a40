//===- Streams.h - streams, events and captures -----------------*- C++ -*-===//
//
// Part of the blockscale project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Work is done when it is asked for, so that a stream never holds any. Handles
// are checked all the same: on a device a stale one is an error. A stream that
// is being captured puts its work into a graph.
//
//===----------------------------------------------------------------------===//

#ifndef BLOCKSCALE_LIB_CUDACORE_STREAMS_H
#define BLOCKSCALE_LIB_CUDACORE_STREAMS_H

#include "Graphs.h"

#include <chrono>
#include <thread>

namespace blockscale::cuda {

/// Of streams; a smaller number comes first.
inline constexpr int kLeastPriority = 0, kGreatestPriority = -5;

/// What a stream's work goes into between the begin and the end of a capture.
struct Capture {
  CUgraph_st *graph = nullptr;
  CUstream_st *origin = nullptr;
  unsigned long long id = 0;
  bool invalid = false;
  CUstreamCaptureMode mode = CU_STREAM_CAPTURE_MODE_RELAXED;
  std::thread::id thread = {};
  /// Whether the graph was the program's before.
  bool intoGraph = false;
};

} // namespace blockscale::cuda

struct CUstream_st {
  unsigned flags = CU_STREAM_DEFAULT;
  int priority = 0;
  unsigned long long id = 0;
  CUctx_st *context = nullptr;
  std::shared_ptr<blockscale::cuda::Capture> capture;
  /// The nodes that the next one comes after.
  std::vector<CUgraphNode_st *> tail;
};

struct CUevent_st {
  using Clock = std::chrono::steady_clock;
  unsigned flags = CU_EVENT_DEFAULT;
  CUctx_st *context = nullptr;
  bool recorded = false;
  Clock::time_point at;
  /// Whether the capture that recorded it last is over: until it is recorded
  /// again, nothing can wait for it.
  bool isStale = false;
  /// Of the captured stream that recorded it.
  std::shared_ptr<blockscale::cuda::Capture> capture;
  std::vector<CUgraphNode_st *> tail;
};

namespace blockscale::cuda {

/// Whether the handle is a stream: null and the two special ones are.
bool isStream(const CUstream_st *stream);
bool isEvent(const CUevent_st *event);
/// Before work on a stream: an error for what is none, and for the default
/// stream while one that waits for it is captured, which ends that capture.
cudaError_t checkStream(const CUstream_st *stream);
/// Flags and so on; of the default stream those of a new one.
const CUstream_st &stateOf(const CUstream_st *stream);

cudaError_t createStream(CUstream_st *&stream, unsigned flags, int priority);
cudaError_t destroyStream(CUstream_st *stream);
/// Waits for the stream, which cannot be done while it is being captured.
cudaError_t waitFor(CUstream_st *stream);
/// `flags` is 0, or CU_EVENT_WAIT_EXTERNAL for a node of a capture's graph.
cudaError_t waitForEvent(CUstream_st *stream, CUevent_st *event,
                         unsigned flags = 0);
/// Of all streams: what cuCtxSynchronize and its like return.
cudaError_t waitForAll();

cudaError_t createEvent(CUevent_st *&event, unsigned flags);
cudaError_t destroyEvent(CUevent_st *event);
/// `flags` is 0, or CU_EVENT_RECORD_EXTERNAL for a node of a capture's graph.
cudaError_t recordEvent(CUevent_st *event, CUstream_st *stream,
                        unsigned flags = 0);
/// In a launch of a graph.
cudaError_t recordEvent(CUevent_st *event);
cudaError_t waitForEvent(CUevent_st *event);
cudaError_t elapsed(CUevent_st *start, CUevent_st *end, float &milliseconds);

/// Drops the streams and events of a context.
void dropStreams(const CUctx_st *context);

/// The capture of the stream, or null.
Capture *captureOf(const CUstream_st *stream);
/// `graph` is null for a new one; `after` are the nodes of it to begin with.
cudaError_t beginCapture(CUstream_st *stream, CUstreamCaptureMode mode,
                         CUgraph_st *graph,
                         std::vector<CUgraphNode_st *> after = {});
cudaError_t endCapture(CUstream_st *stream, CUgraph_st *&graph);
/// A capture that something not legal was done to.
cudaError_t invalidate(Capture &capture);
/// Before what may wait or allocate, as the mode of captures and that of this
/// thread say: captures that it spoils become invalid, and it is not done.
cudaError_t spoilCaptures();
/// The mode of this thread.
CUstreamCaptureMode &threadCaptureMode();

/// Before a graph is used as a whole: it cannot be while a capture adds to it,
/// which ends with the attempt.
cudaError_t spoilCaptureInto(const CUgraph_st *graph);
/// Whether a capture adds to the graph.
bool isCapturedInto(const CUgraph_st *graph);

/// Of the stream's capture: CU_STREAM_CAPTURE_STATUS_NONE if there is none.
CUstreamCaptureStatus captureStatus(const CUstream_st *stream);
/// What a program asks of a capture; null pointers are left alone.
cudaError_t captureInfo(CUstream_st *stream, unsigned long long *id,
                        CUgraph_st **graph, CUgraphNode_st *const **nodes,
                        size_t *count);

/// Calls a function of the host, or keeps the call.
cudaError_t callHost(CUstream_st *stream, CUhostFn function, void *data);

/// Adds a node to the graph that captures the stream.
cudaError_t keep(CUstream_st *stream, CUgraphNodeType type, NodeWork work);

/// Does the work, or keeps it if the stream is being captured.
template <typename F>
cudaError_t doOrKeep(CUstream_st *stream, F work,
                     CUgraphNodeType type = CU_GRAPH_NODE_TYPE_MEMCPY) {
  if (cudaError_t error = checkStream(stream); error != cudaSuccess)
    return error;
  if (!captureOf(stream))
    return work();
  return keep(stream, type, OtherWork{std::move(work)});
}

} // namespace blockscale::cuda

#endif // BLOCKSCALE_LIB_CUDACORE_STREAMS_H
