//===- Conditionals.h - nodes of graphs that ask a value --------*- C++ -*-===//
//
// Part of the blockscale project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The handle of a condition is the address of its value in global memory, so
// that `cudaGraphSetConditional` of a kernel is a store like any other.
//
//===----------------------------------------------------------------------===//

#ifndef BLOCKSCALE_LIB_CUDACORE_CONDITIONALS_H
#define BLOCKSCALE_LIB_CUDACORE_CONDITIONALS_H

#include "Graphs.h"

namespace blockscale::cuda {

/// A condition for one node of the graph. Flags: CU_GRAPH_COND_ASSIGN_DEFAULT
/// gives it the default value at each launch.
cudaError_t createCondition(CUgraph_st *graph, unsigned defaultValue,
                            unsigned flags, CUgraphConditionalHandle &handle);

/// The work of a conditional node of `graph`, with new graphs for its bodies,
/// which `parameters.phGraph_out` lists then.
cudaError_t makeConditional(CUgraph_st *graph,
                            CUDA_CONDITIONAL_NODE_PARAMS &parameters,
                            NodeWork &work);

/// The condition's value now.
uint32_t valueOf(CUgraphConditionalHandle handle);
/// Whether the graph has a handle that no node of it has.
bool hasUnusedCondition(const CUgraph_st &graph);

/// What the beginning of a launch does to the conditions of the nodes, and of
/// those in bodies.
void assignDefaults(const CUgraph_st &graph);

} // namespace blockscale::cuda

#endif // BLOCKSCALE_LIB_CUDACORE_CONDITIONALS_H
