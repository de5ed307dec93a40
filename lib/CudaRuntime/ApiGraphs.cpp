//===- ApiGraphs.cpp - captures and executable graphs ---------------------===//
//
// Part of the blockscale project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Runtime.h"
#include "Streams.h"

using namespace blockscale;
using namespace blockscale::cuda;

BLOCKSCALE_API cudaError_t cudaStreamBeginCapture(cudaStream_t stream,
                                                  cudaStreamCaptureMode mode) {
  return call(
      [&] { return beginCapture(stream, CUstreamCaptureMode(mode), nullptr); });
}

BLOCKSCALE_API cudaError_t cudaStreamBeginCaptureToGraph(
    cudaStream_t stream, cudaGraph_t graph, const cudaGraphNode_t *nodes,
    const cudaGraphEdgeData *, size_t count, cudaStreamCaptureMode mode) {
  return call([&] {
    if (!isGraph(graph) || (count && !nodes))
      return cudaErrorInvalidValue;
    return beginCapture(stream, CUstreamCaptureMode(mode), graph,
                        {nodes, nodes + count});
  });
}

BLOCKSCALE_API cudaError_t cudaStreamEndCapture(cudaStream_t stream,
                                                cudaGraph_t *graph) {
  return call([&] {
    return graph ? endCapture(stream, *graph) : cudaErrorInvalidValue;
  });
}

BLOCKSCALE_API cudaError_t
cudaThreadExchangeStreamCaptureMode(cudaStreamCaptureMode *mode) {
  CUstreamCaptureMode wanted =
      mode ? CUstreamCaptureMode(*mode) : CUstreamCaptureMode(-1);
  if (unsigned(wanted) > CU_STREAM_CAPTURE_MODE_RELAXED)
    return note(cudaErrorInvalidValue);
  *mode = cudaStreamCaptureMode(std::exchange(threadCaptureMode(), wanted));
  return cudaSuccess;
}

BLOCKSCALE_API cudaError_t cudaGraphInstantiate(cudaGraphExec_t *executable,
                                                cudaGraph_t graph,
                                                unsigned long long flags) {
  return call([&] {
    return executable ? instantiate(graph, flags, *executable)
                      : cudaErrorInvalidValue;
  });
}

BLOCKSCALE_API cudaError_t cudaGraphInstantiateWithFlags(
    cudaGraphExec_t *executable, cudaGraph_t graph, unsigned long long flags) {
  return cudaGraphInstantiate(executable, graph, flags);
}

BLOCKSCALE_API cudaError_t cudaGraphUpload(cudaGraphExec_t executable,
                                           cudaStream_t) {
  return call([&] {
    return isExecutable(executable) ? Core::get().sticky
                                    : cudaErrorInvalidValue;
  });
}

BLOCKSCALE_API cudaError_t cudaGraphLaunch(cudaGraphExec_t executable,
                                           cudaStream_t stream) {
  return call([&] { return launchGraph(executable, stream); });
}

BLOCKSCALE_API cudaError_t
cudaGraphExecUpdate(cudaGraphExec_t executable, cudaGraph_t graph,
                    cudaGraphExecUpdateResultInfo *result) {
  return call([&] {
    CUgraphExecUpdateResultInfo info;
    cudaError_t error = updateExecutable(executable, graph, info);
    if (result)
      *result = {cudaGraphExecUpdateResult(info.result), info.errorNode,
                 info.errorFromNode};
    return error;
  });
}

BLOCKSCALE_API cudaError_t cudaGraphExecDestroy(cudaGraphExec_t executable) {
  return call([&] { return destroyExecutable(executable); });
}

BLOCKSCALE_API cudaError_t cudaGraphDestroy(cudaGraph_t graph) {
  return call([&] { return destroyGraph(graph); });
}
