//===- GraphNodes.h - nodes of graphs and their work ------------*- C++ -*-===//
//
// Part of the blockscale project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef BLOCKSCALE_LIB_CUDADRIVER_GRAPHNODES_H
#define BLOCKSCALE_LIB_CUDADRIVER_GRAPHNODES_H

#include "Driver.h"
#include "Graphs.h"

#include <utility>

namespace blockscale::cuda {

/// Adds a node behind `count` others; `data` is null or has that many entries.
CUresult addGraphNode(CUgraphNode *node, CUgraph graph,
                      const CUgraphNode *before, const CUgraphEdgeData *data,
                      size_t count, CUgraphNodeType type, NodeWork work);

/// Gives a node other work of its type.
CUresult setGraphNode(CUgraphNode node, CUgraphNodeType type, NodeWork work);

/// The work of a node as a `T`; null if the node is none or does something
/// else.
template <typename T> T *workOf(CUgraphNode node, CUgraphNodeType type) {
  return isNode(node) && node->type == type ? std::get_if<T>(&node->work)
                                            : nullptr;
}

/// The same, under the core's lock; a null pointer is an invalid value.
template <typename T>
CUresult setGraphNodeLocked(CUgraphNode node, CUgraphNodeType type,
                            const T *work) {
  return withDriver([&] {
    return work ? setGraphNode(node, type, *work) : CUDA_ERROR_INVALID_VALUE;
  });
}

} // namespace blockscale::cuda

#endif // BLOCKSCALE_LIB_CUDADRIVER_GRAPHNODES_H
