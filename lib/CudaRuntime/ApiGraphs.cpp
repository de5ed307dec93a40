//===- ApiGraphs.cpp - graphs that streams are captured into --------------===//
//
// Part of the blockscale project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Graphs.h"

using namespace blockscale::cudart;

struct CUgraphExec_st {
  GraphWork work;
};

namespace {

/// Guarded by the runtime's lock.
struct Graphs {
  std::unordered_set<cudaGraph_t> graphs;
  std::unordered_set<cudaGraphExec_t> executables;
};

Graphs &all() {
  static Graphs *graphs = new Graphs;
  return *graphs;
}

std::lock_guard<std::recursive_mutex> locked() {
  return std::lock_guard<std::recursive_mutex>(Runtime::get().lock);
}

} // namespace

BLOCKSCALE_API cudaError_t cudaStreamBeginCapture(cudaStream_t stream,
                                                  cudaStreamCaptureMode) {
  auto guard = locked();
  // The default stream cannot be captured.
  if (!stream || stream == cudaStreamLegacy || stream == cudaStreamPerThread)
    return note(cudaErrorStreamCaptureUnsupported);
  if (graphOf(stream))
    return note(cudaErrorIllegalState);
  stream->graph = new CUgraph_st;
  stream->origin = true;
  return cudaSuccess;
}

BLOCKSCALE_API cudaError_t cudaStreamEndCapture(cudaStream_t stream,
                                                cudaGraph_t *graph) {
  auto guard = locked();
  CUgraph_st *captured = graphOf(stream);
  if (!captured || !graph)
    return note(captured ? cudaErrorInvalidValue : cudaErrorIllegalState);
  if (!stream->origin)
    return note(cudaErrorStreamCaptureUnmatched);
  endCapture(captured);
  all().graphs.insert(captured);
  *graph = captured;
  return cudaSuccess;
}

BLOCKSCALE_API cudaError_t
cudaThreadExchangeStreamCaptureMode(cudaStreamCaptureMode *mode) {
  thread_local cudaStreamCaptureMode current = cudaStreamCaptureModeGlobal;
  if (!mode)
    return note(cudaErrorInvalidValue);
  std::swap(*mode, current);
  return cudaSuccess;
}

BLOCKSCALE_API cudaError_t cudaGraphInstantiate(cudaGraphExec_t *executable,
                                                cudaGraph_t graph,
                                                unsigned long long) {
  auto guard = locked();
  if (!executable || !all().graphs.count(graph))
    return note(cudaErrorInvalidValue);
  *executable = new CUgraphExec_st{graph->work};
  all().executables.insert(*executable);
  return cudaSuccess;
}

BLOCKSCALE_API cudaError_t cudaGraphInstantiateWithFlags(
    cudaGraphExec_t *executable, cudaGraph_t graph, unsigned long long flags) {
  return cudaGraphInstantiate(executable, graph, flags);
}

BLOCKSCALE_API cudaError_t cudaGraphUpload(cudaGraphExec_t executable,
                                           cudaStream_t) {
  auto guard = locked();
  return note(all().executables.count(executable) ? Runtime::get().sticky
                                                  : cudaErrorInvalidValue);
}

BLOCKSCALE_API cudaError_t cudaGraphLaunch(cudaGraphExec_t executable,
                                           cudaStream_t stream) {
  auto guard = locked();
  if (!all().executables.count(executable))
    return note(cudaErrorInvalidValue);
  // A copy: the executable may be gone when a graph of its own is launched.
  return doOrKeep(stream, [work = executable->work] {
    for (const auto &one : work)
      if (cudaError_t error = one(); error != cudaSuccess)
        return note(error);
    return cudaSuccess;
  });
}

BLOCKSCALE_API cudaError_t
cudaGraphExecUpdate(cudaGraphExec_t executable, cudaGraph_t graph,
                    cudaGraphExecUpdateResultInfo *result) {
  auto guard = locked();
  if (!all().executables.count(executable) || !all().graphs.count(graph))
    return note(cudaErrorInvalidValue);
  bool same = executable->work.size() == graph->work.size();
  if (result)
    *result = {same ? cudaGraphExecUpdateSuccess
                    : cudaGraphExecUpdateErrorTopologyChanged,
               nullptr, nullptr};
  if (!same)
    return note(cudaErrorGraphExecUpdateFailure);
  executable->work = graph->work;
  return cudaSuccess;
}

BLOCKSCALE_API cudaError_t cudaGraphExecDestroy(cudaGraphExec_t executable) {
  auto guard = locked();
  if (!all().executables.erase(executable))
    return note(cudaErrorInvalidValue);
  delete executable;
  return cudaSuccess;
}

BLOCKSCALE_API cudaError_t cudaGraphDestroy(cudaGraph_t graph) {
  auto guard = locked();
  if (!all().graphs.erase(graph))
    return note(cudaErrorInvalidValue);
  delete graph;
  return cudaSuccess;
}
