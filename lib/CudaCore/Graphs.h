//===- Graphs.h - work that is kept instead of done -------------*- C++ -*-===//
//
// Part of the blockscale project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A launch of a graph does the work of its nodes in an order that obeys their
// dependences, those that were added first before others.
//
//===----------------------------------------------------------------------===//

#ifndef BLOCKSCALE_LIB_CUDACORE_GRAPHS_H
#define BLOCKSCALE_LIB_CUDACORE_GRAPHS_H

#include "Launch.h"

#include <functional>
#include <variant>

namespace blockscale::cuda {

/// A graph inside of a node, which has a copy of its own.
struct ChildWork {
  std::shared_ptr<CUgraph_st> graph;
};
struct EventWork {
  CUevent_st *event = nullptr;
};
/// Memory that is at the same place in every launch.
struct AllocWork {
  CUDA_MEM_ALLOC_NODE_PARAMS_v2 parameters;
};
struct FreeWork {
  CUdeviceptr address = 0;
};
/// Runs one of its graphs, or none, as the value behind the handle says.
struct ConditionalWork {
  CUgraphConditionalHandle handle = 0;
  CUgraphConditionalNodeType type = CU_GRAPH_COND_TYPE_IF;
  std::vector<std::shared_ptr<CUgraph_st>> bodies;
  /// The bodies as the program was told of them.
  std::shared_ptr<std::vector<CUgraph_st *>> list;
};
/// What came into the graph by a capture and has no parameters to ask for.
struct OtherWork {
  std::function<cudaError_t()> function;
};

using NodeWork =
    std::variant<std::monostate, KernelWork, CUDA_MEMCPY3D,
                 CUDA_MEMSET_NODE_PARAMS, CUDA_HOST_NODE_PARAMS, ChildWork,
                 EventWork, AllocWork, FreeWork, ConditionalWork, OtherWork>;

struct GraphEdge {
  CUgraphNode_st *from = nullptr;
  CUgraphEdgeData data{};
};

} // namespace blockscale::cuda

struct CUgraphNode_st {
  CUgraph_st *graph = nullptr;
  CUgraphNodeType type = CU_GRAPH_NODE_TYPE_EMPTY;
  blockscale::cuda::NodeWork work;
  std::vector<blockscale::cuda::GraphEdge> before;
  bool enabled = true;
  /// Of a node of a copy: the node that it is a copy of.
  CUgraphNode_st *original = nullptr;
};

struct CUgraph_st {
  std::vector<std::unique_ptr<CUgraphNode_st>> nodes;
  unsigned long long id = 0;
  /// Of the graph that it is a body in, at whatever depth; 0 for none.
  unsigned long long root = 0;
  /// What it keeps alive, with the number of its uses.
  std::map<CUuserObject_st *, unsigned> objects;
  CUgraph_st();
  ~CUgraph_st();
};

/// What graphs and programs keep alive by counting.
struct CUuserObject_st {
  CUhostFn destroy = nullptr;
  void *data = nullptr;
  unsigned long long uses = 0;
};

struct CUgraphExec_st {
  std::unique_ptr<CUgraph_st> graph;
  std::vector<CUgraphNode_st *> order;
  unsigned long long flags = 0;
  /// The number of the graph that it was made of.
  unsigned long long source = 0;
};

namespace blockscale::cuda {

/// Graphs of the program and those in nodes; nodes of any graph.
bool isGraph(const CUgraph_st *graph);
bool isNode(const CUgraphNode_st *node);
bool isExecutable(const CUgraphExec_st *executable);

CUgraph_st *createGraph();
/// Of a graph of the program.
cudaError_t destroyGraph(CUgraph_st *graph);
std::unique_ptr<CUgraph_st> copyOf(const CUgraph_st &graph);
/// Whether the graph may be cloned and be a child: not if one of its nodes
/// chooses among bodies, or has or frees memory of its own.
bool mayBeCopied(const CUgraph_st &graph);
/// Takes memory of a graph back that a launch left to the program; nothing if
/// `address` is none.
std::optional<cudaError_t> releaseGraphMemory(uint64_t address);

/// After a context has ended: what was its memory may be anybody's now.
void forgetGraphMemory();
/// A copy that is the program's.
CUgraph_st *cloneGraph(const CUgraph_st &graph);

/// Adds a node after others, all of which are in the graph.
cudaError_t addNode(CUgraph_st *graph, CUgraphNodeType type, NodeWork work,
                    const std::vector<GraphEdge> &before,
                    CUgraphNode_st *&node);
cudaError_t destroyNode(CUgraphNode_st *node);
cudaError_t addEdge(CUgraphNode_st *from, CUgraphNode_st *to,
                    const CUgraphEdgeData &data = {});
cudaError_t removeEdge(CUgraphNode_st *from, CUgraphNode_st *to);
/// The nodes in an order that obeys their dependences; fewer than there are if
/// they have a cycle.
std::vector<CUgraphNode_st *> sorted(const CUgraph_st &graph);
/// Whether `late` comes after `early`, or is it.
bool isAfter(const CUgraphNode_st *late, const CUgraphNode_st *early);

/// Makes the work of a memory node: the address is known from here on.
cudaError_t allocateFor(AllocWork &work);
/// Whether the work's handles and addresses are legal.
cudaError_t checkWork(const NodeWork &work);

cudaError_t instantiate(CUgraph_st *graph, unsigned long long flags,
                        CUgraphExec_st *&executable,
                        CUgraphNode_st **errorNode = nullptr);
cudaError_t launchGraph(CUgraphExec_st *executable, CUstream_st *stream);
cudaError_t destroyExecutable(CUgraphExec_st *executable);
/// Puts the work of the graph's nodes into the executable, whose shape must be
/// the same; the result and node of the difference otherwise.
cudaError_t updateExecutable(CUgraphExec_st *executable, CUgraph_st *graph,
                             CUgraphExecUpdateResultInfo &info);
/// The executable's node for one of the graph that it was made of; null if it
/// has none.
CUgraphNode_st *nodeIn(CUgraphExec_st *executable, const CUgraphNode_st *node);

bool isObject(const CUuserObject_st *object);
CUuserObject_st *createObject(CUhostFn destroy, void *data, unsigned uses);
/// The last use that goes calls the object's function.
cudaError_t changeUses(CUuserObject_st *object, long long change);

/// The graph in the language of graphviz.
std::string toDot(const CUgraph_st &graph);

} // namespace blockscale::cuda

#endif // BLOCKSCALE_LIB_CUDACORE_GRAPHS_H
