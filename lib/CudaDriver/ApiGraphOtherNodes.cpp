//===- ApiGraphOtherNodes.cpp - nodes with graphs, events, memory ---------===//
//
// Part of the blockscale project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "GraphNodes.h"
#include "Streams.h"

using namespace blockscale;
using namespace blockscale::cuda;

BLOCKSCALE_API CUresult cuGraphAddEmptyNode(CUgraphNode *node, CUgraph graph,
                                            const CUgraphNode *before,
                                            size_t count) {
  return withContext([&] {
    return addGraphNode(node, graph, before, nullptr, count,
                        CU_GRAPH_NODE_TYPE_EMPTY, std::monostate());
  });
}

BLOCKSCALE_API CUresult cuGraphAddChildGraphNode(CUgraphNode *node,
                                                 CUgraph graph,
                                                 const CUgraphNode *before,
                                                 size_t count, CUgraph child) {
  return withContext([&] {
    if (isGraph(child) && !mayBeCopied(*child))
      return CUDA_ERROR_NOT_SUPPORTED;
    return isGraph(child) ? addGraphNode(node, graph, before, nullptr, count,
                                         CU_GRAPH_NODE_TYPE_GRAPH,
                                         ChildWork{copyOf(*child)})
                          : CUDA_ERROR_INVALID_VALUE;
  });
}

BLOCKSCALE_API CUresult cuGraphChildGraphNodeGetGraph(CUgraphNode node,
                                                      CUgraph *graph) {
  return withDriver([&] {
    auto *work = workOf<ChildWork>(node, CU_GRAPH_NODE_TYPE_GRAPH);
    return work ? give(graph, work->graph.get()) : CUDA_ERROR_INVALID_VALUE;
  });
}

BLOCKSCALE_API CUresult cuGraphExecChildGraphNodeSetParams(
    CUgraphExec executable, CUgraphNode node, CUgraph child) {
  return withDriver([&] {
    return isGraph(child) ? setGraphNode(nodeIn(executable, node),
                                         CU_GRAPH_NODE_TYPE_GRAPH,
                                         ChildWork{copyOf(*child)})
                          : CUDA_ERROR_INVALID_VALUE;
  });
}

/// Adds a node that records the event or waits for it, as `type` says.
static CUresult addEventNode(CUgraphNode *node, CUgraph graph,
                             const CUgraphNode *before, size_t count,
                             CUgraphNodeType type, CUevent event) {
  return withContext([&] {
    return addGraphNode(node, graph, before, nullptr, count, type,
                        EventWork{event});
  });
}

BLOCKSCALE_API CUresult cuGraphAddEventRecordNode(CUgraphNode *node,
                                                  CUgraph graph,
                                                  const CUgraphNode *before,
                                                  size_t count, CUevent event) {
  return addEventNode(node, graph, before, count,
                      CU_GRAPH_NODE_TYPE_EVENT_RECORD, event);
}

BLOCKSCALE_API CUresult cuGraphAddEventWaitNode(CUgraphNode *node,
                                                CUgraph graph,
                                                const CUgraphNode *before,
                                                size_t count, CUevent event) {
  return addEventNode(node, graph, before, count, CU_GRAPH_NODE_TYPE_WAIT_EVENT,
                      event);
}

namespace {

CUresult getEvent(CUgraphNode node, CUgraphNodeType type, CUevent *event) {
  return withDriver([&] {
    auto *work = workOf<EventWork>(node, type);
    return work ? give(event, work->event) : CUDA_ERROR_INVALID_VALUE;
  });
}

} // namespace

BLOCKSCALE_API CUresult cuGraphEventRecordNodeGetEvent(CUgraphNode node,
                                                       CUevent *event) {
  return getEvent(node, CU_GRAPH_NODE_TYPE_EVENT_RECORD, event);
}

BLOCKSCALE_API CUresult cuGraphEventWaitNodeGetEvent(CUgraphNode node,
                                                     CUevent *event) {
  return getEvent(node, CU_GRAPH_NODE_TYPE_WAIT_EVENT, event);
}

BLOCKSCALE_API CUresult cuGraphEventRecordNodeSetEvent(CUgraphNode node,
                                                       CUevent event) {
  EventWork work{event};
  return setGraphNodeLocked(node, CU_GRAPH_NODE_TYPE_EVENT_RECORD, &work);
}

BLOCKSCALE_API CUresult cuGraphEventWaitNodeSetEvent(CUgraphNode node,
                                                     CUevent event) {
  EventWork work{event};
  return setGraphNodeLocked(node, CU_GRAPH_NODE_TYPE_WAIT_EVENT, &work);
}

BLOCKSCALE_API CUresult cuGraphExecEventRecordNodeSetEvent(
    CUgraphExec executable, CUgraphNode node, CUevent event) {
  auto guard = locked();
  return cuGraphEventRecordNodeSetEvent(nodeIn(executable, node), event);
}

BLOCKSCALE_API CUresult cuGraphExecEventWaitNodeSetEvent(CUgraphExec executable,
                                                         CUgraphNode node,
                                                         CUevent event) {
  auto guard = locked();
  return cuGraphEventWaitNodeSetEvent(nodeIn(executable, node), event);
}

BLOCKSCALE_API CUresult cuGraphAddMemAllocNode(
    CUgraphNode *node, CUgraph graph, const CUgraphNode *before, size_t count,
    CUDA_MEM_ALLOC_NODE_PARAMS *parameters) {
  return withContext([&] {
    if (!parameters)
      return CUDA_ERROR_INVALID_VALUE;
    // The first version of the structure is the second one's start.
    AllocWork work{};
    work.parameters.poolProps = parameters->poolProps;
    work.parameters.bytesize = parameters->bytesize;
    if (cudaError_t error = allocateFor(work); error != cudaSuccess)
      return toDriver(error);
    parameters->dptr = work.parameters.dptr;
    return addGraphNode(node, graph, before, nullptr, count,
                        CU_GRAPH_NODE_TYPE_MEM_ALLOC, work);
  });
}

BLOCKSCALE_API CUresult cuGraphMemAllocNodeGetParams(
    CUgraphNode node, CUDA_MEM_ALLOC_NODE_PARAMS *parameters) {
  return withDriver([&] {
    auto *work = workOf<AllocWork>(node, CU_GRAPH_NODE_TYPE_MEM_ALLOC);
    if (!work || !parameters)
      return CUDA_ERROR_INVALID_VALUE;
    *parameters = {};
    parameters->poolProps = work->parameters.poolProps;
    parameters->bytesize = work->parameters.bytesize;
    parameters->dptr = work->parameters.dptr;
    return CUDA_SUCCESS;
  });
}

BLOCKSCALE_API CUresult cuGraphAddMemFreeNode(CUgraphNode *node, CUgraph graph,
                                              const CUgraphNode *before,
                                              size_t count,
                                              CUdeviceptr address) {
  return withContext([&] {
    return addGraphNode(node, graph, before, nullptr, count,
                        CU_GRAPH_NODE_TYPE_MEM_FREE, FreeWork{address});
  });
}

BLOCKSCALE_API CUresult cuGraphMemFreeNodeGetParams(CUgraphNode node,
                                                    CUdeviceptr *address) {
  return withDriver([&] {
    auto *work = workOf<FreeWork>(node, CU_GRAPH_NODE_TYPE_MEM_FREE);
    return work ? give(address, work->address) : CUDA_ERROR_INVALID_VALUE;
  });
}
