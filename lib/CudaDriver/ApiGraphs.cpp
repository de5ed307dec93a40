//===- ApiGraphs.cpp - graphs, their edges and executables ----------------===//
//
// Part of the blockscale project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Driver.h"
#include "Streams.h"

#include <fstream>

using namespace blockscale;
using namespace blockscale::cuda;

namespace {

CUresult withGraph(CUgraph graph, const std::function<CUresult()> &work) {
  return withDriver(
      [&] { return isGraph(graph) ? work() : CUDA_ERROR_INVALID_VALUE; });
}

CUresult withNode(CUgraphNode node, const std::function<CUresult()> &work) {
  return withDriver(
      [&] { return isNode(node) ? work() : CUDA_ERROR_INVALID_VALUE; });
}

CUresult withExecutable(CUgraphExec executable,
                        const std::function<CUresult()> &work) {
  return withDriver([&] {
    return isExecutable(executable) ? work() : CUDA_ERROR_INVALID_VALUE;
  });
}

/// Fills the program's array, or says only how many there are. Places beyond
/// the last one are cleared.
template <typename T>
CUresult fill(const std::vector<T> &from, T *to, size_t *count) {
  if (!count)
    return CUDA_ERROR_INVALID_VALUE;
  for (size_t i = 0; to && i != *count; ++i)
    to[i] = i < from.size() ? from[i] : T{};
  *count = to ? std::min(*count, from.size()) : from.size();
  return CUDA_SUCCESS;
}

/// The edges of a graph, or those from and to a node.
std::vector<std::pair<GraphEdge, CUgraphNode_st *>>
edgesOf(const CUgraph_st &graph) {
  std::vector<std::pair<GraphEdge, CUgraphNode_st *>> edges;
  for (const auto &node : graph.nodes)
    for (const GraphEdge &edge : node->before)
      edges.emplace_back(edge, node.get());
  return edges;
}

/// The neighbours of a node with the data of the edges.
CUresult giveNeighbours(const std::vector<GraphEdge> &edges, CUgraphNode *nodes,
                        CUgraphEdgeData *data, size_t *count) {
  std::vector<CUgraphNode_st *> ends;
  std::vector<CUgraphEdgeData> kinds;
  for (const GraphEdge &edge : edges) {
    ends.push_back(edge.from);
    kinds.push_back(edge.data);
  }
  size_t room = count ? *count : 0;
  if (data && nodes)
    fill(kinds, data, &room);
  return fill(ends, nodes, count);
}

/// The changes are made all or none.
CUresult changeEdges(const CUgraphNode *from, const CUgraphNode *to,
                     const CUgraphEdgeData *data, size_t count, bool add) {
  if (count && (!from || !to))
    return CUDA_ERROR_INVALID_VALUE;
  for (size_t i = 0; i != count; ++i) {
    cudaError_t error =
        add ? addEdge(from[i], to[i], data ? data[i] : CUgraphEdgeData{})
            : removeEdge(from[i], to[i]);
    if (error == cudaSuccess)
      continue;
    while (i-- != 0)
      add ? removeEdge(from[i], to[i]) : addEdge(from[i], to[i]);
    return toDriver(error);
  }
  return CUDA_SUCCESS;
}

} // namespace

BLOCKSCALE_API CUresult cuGraphCreate(CUgraph *graph, unsigned flags) {
  return withDriver([&] {
    return flags ? CUDA_ERROR_INVALID_VALUE : give(graph, createGraph());
  });
}

BLOCKSCALE_API CUresult cuGraphDestroy(CUgraph graph) {
  return withDriver([&] { return destroyGraph(graph); });
}

BLOCKSCALE_API CUresult cuGraphClone(CUgraph *clone, CUgraph graph) {
  return withGraph(graph, [&] {
    if (!mayBeCopied(*graph))
      return CUDA_ERROR_NOT_SUPPORTED;
    return give(clone, cloneGraph(*graph));
  });
}

BLOCKSCALE_API CUresult cuGraphNodeFindInClone(CUgraphNode *found,
                                               CUgraphNode original,
                                               CUgraph clone) {
  return withGraph(clone, [&] {
    for (const auto &node : clone->nodes)
      if (node->original == original)
        return give(found, node.get());
    return CUDA_ERROR_INVALID_VALUE;
  });
}

BLOCKSCALE_API CUresult cuGraphDestroyNode(CUgraphNode node) {
  return withDriver([&] { return destroyNode(node); });
}

BLOCKSCALE_API CUresult cuGraphGetNodes(CUgraph graph, CUgraphNode *nodes,
                                        size_t *count) {
  return withGraph(graph, [&] {
    std::vector<CUgraphNode_st *> all;
    for (const auto &node : graph->nodes)
      all.push_back(node.get());
    return fill(all, nodes, count);
  });
}

BLOCKSCALE_API CUresult cuGraphGetRootNodes(CUgraph graph, CUgraphNode *nodes,
                                            size_t *count) {
  return withGraph(graph, [&] {
    std::vector<CUgraphNode_st *> roots;
    for (const auto &node : graph->nodes)
      if (node->before.empty())
        roots.push_back(node.get());
    return fill(roots, nodes, count);
  });
}

BLOCKSCALE_API CUresult cuGraphGetEdges_v2(CUgraph graph, CUgraphNode *from,
                                           CUgraphNode *to,
                                           CUgraphEdgeData *data,
                                           size_t *count) {
  return withGraph(graph, [&] {
    if (!count || !from != !to)
      return CUDA_ERROR_INVALID_VALUE;
    std::vector<CUgraphNode_st *> ends;
    std::vector<GraphEdge> edges;
    for (const auto &[edge, end] : edgesOf(*graph)) {
      edges.push_back(edge);
      ends.push_back(end);
    }
    size_t room = *count;
    fill(ends, to, &room);
    return giveNeighbours(edges, from, data, count);
  });
}

BLOCKSCALE_API CUresult cuGraphNodeGetDependencies_v2(CUgraphNode node,
                                                      CUgraphNode *nodes,
                                                      CUgraphEdgeData *data,
                                                      size_t *count) {
  return withNode(
      node, [&] { return giveNeighbours(node->before, nodes, data, count); });
}

BLOCKSCALE_API CUresult cuGraphNodeGetDependentNodes_v2(CUgraphNode node,
                                                        CUgraphNode *nodes,
                                                        CUgraphEdgeData *data,
                                                        size_t *count) {
  return withNode(node, [&] {
    std::vector<GraphEdge> after;
    for (const auto &[edge, end] : edgesOf(*node->graph))
      if (edge.from == node)
        after.push_back({end, edge.data});
    return giveNeighbours(after, nodes, data, count);
  });
}

BLOCKSCALE_API CUresult cuGraphAddDependencies_v2(CUgraph graph,
                                                  const CUgraphNode *from,
                                                  const CUgraphNode *to,
                                                  const CUgraphEdgeData *data,
                                                  size_t count) {
  return withGraph(graph,
                   [&] { return changeEdges(from, to, data, count, true); });
}

BLOCKSCALE_API CUresult cuGraphRemoveDependencies_v2(
    CUgraph graph, const CUgraphNode *from, const CUgraphNode *to,
    const CUgraphEdgeData *data, size_t count) {
  return withGraph(graph,
                   [&] { return changeEdges(from, to, data, count, false); });
}

BLOCKSCALE_API CUresult cuGraphDebugDotPrint(CUgraph graph, const char *path,
                                             unsigned) {
  return withGraph(graph, [&] {
    std::ofstream file(path ? path : "");
    file << toDot(*graph);
    return file ? CUDA_SUCCESS : CUDA_ERROR_OPERATING_SYSTEM;
  });
}

//===----------------------------------------------------------------------===//
// Executables
//===----------------------------------------------------------------------===//

BLOCKSCALE_API CUresult cuGraphInstantiateWithFlags(CUgraphExec *executable,
                                                    CUgraph graph,
                                                    unsigned long long flags) {
  return withContext([&] {
    return executable ? instantiate(graph, flags, *executable)
                      : cudaErrorInvalidValue;
  });
}

BLOCKSCALE_API CUresult
cuGraphInstantiateWithParams(CUgraphExec *executable, CUgraph graph,
                             CUDA_GRAPH_INSTANTIATE_PARAMS *parameters) {
  return withContext([&] {
    if (!executable || !parameters)
      return cudaErrorInvalidValue;
    parameters->hErrNode_out = nullptr;
    cudaError_t error = instantiate(graph, parameters->flags, *executable,
                                    &parameters->hErrNode_out);
    parameters->result_out = error == cudaSuccess
                                 ? CUDA_GRAPH_INSTANTIATE_SUCCESS
                                 : CUDA_GRAPH_INSTANTIATE_INVALID_STRUCTURE;
    return error;
  });
}

BLOCKSCALE_API CUresult cuGraphExecGetFlags(CUgraphExec executable,
                                            cuuint64_t *flags) {
  return withExecutable(
      executable, [&] { return give(flags, cuuint64_t(executable->flags)); });
}

BLOCKSCALE_API CUresult cuGraphUpload(CUgraphExec executable, CUstream stream) {
  return withExecutable(executable, [&] {
    return isStream(stream) ? CUDA_SUCCESS : CUDA_ERROR_INVALID_HANDLE;
  });
}

BLOCKSCALE_API CUresult cuGraphLaunch(CUgraphExec executable, CUstream stream) {
  return withContext([&] { return launchGraph(executable, stream); });
}

BLOCKSCALE_API CUresult cuGraphExecDestroy(CUgraphExec executable) {
  return withDriver([&] { return destroyExecutable(executable); });
}

BLOCKSCALE_API CUresult cuGraphExecUpdate_v2(
    CUgraphExec executable, CUgraph graph, CUgraphExecUpdateResultInfo *info) {
  return withContext([&] {
    return info ? updateExecutable(executable, graph, *info)
                : cudaErrorInvalidValue;
  });
}

//===----------------------------------------------------------------------===//
// Objects that a graph keeps alive
//===----------------------------------------------------------------------===//

BLOCKSCALE_API CUresult cuUserObjectCreate(CUuserObject *object, void *data,
                                           CUhostFn destroy, unsigned uses,
                                           unsigned flags) {
  return withDriver([&] {
    if (!object || !destroy || !uses ||
        flags != CU_USER_OBJECT_NO_DESTRUCTOR_SYNC)
      return CUDA_ERROR_INVALID_VALUE;
    return give(object, createObject(destroy, data, uses));
  });
}

BLOCKSCALE_API CUresult cuUserObjectRetain(CUuserObject object,
                                           unsigned count) {
  return withDriver([&] { return changeUses(object, count); });
}

BLOCKSCALE_API CUresult cuUserObjectRelease(CUuserObject object,
                                            unsigned count) {
  return withDriver(
      [&] { return changeUses(object, -static_cast<long long>(count)); });
}

BLOCKSCALE_API CUresult cuGraphRetainUserObject(CUgraph graph,
                                                CUuserObject object,
                                                unsigned count,
                                                unsigned flags) {
  return withGraph(graph, [&] {
    if (!isObject(object) || !count ||
        flags & ~unsigned(CU_GRAPH_USER_OBJECT_MOVE))
      return CUDA_ERROR_INVALID_VALUE;
    // The graph takes over uses of the program's, or has some of its own.
    if (flags != CU_GRAPH_USER_OBJECT_MOVE)
      changeUses(object, count);
    graph->objects[object] += count;
    return CUDA_SUCCESS;
  });
}

BLOCKSCALE_API CUresult cuGraphReleaseUserObject(CUgraph graph,
                                                 CUuserObject object,
                                                 unsigned count) {
  return withGraph(graph, [&] {
    auto it = graph->objects.find(object);
    if (it == graph->objects.end() || it->second < count)
      return CUDA_ERROR_INVALID_VALUE;
    if ((it->second -= count) == 0)
      graph->objects.erase(it);
    return toDriver(changeUses(object, -static_cast<long long>(count)));
  });
}
