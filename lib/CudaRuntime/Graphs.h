//===- Graphs.h - work that is kept instead of done -------------*- C++ -*-===//
//
// Part of the blockscale project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A stream that is being captured keeps its work in a graph; a launch of the
// graph does it in the order in which the program asked for it, which obeys
// every dependence between its streams.
//
//===----------------------------------------------------------------------===//

#ifndef BLOCKSCALE_LIB_CUDARUNTIME_GRAPHS_H
#define BLOCKSCALE_LIB_CUDARUNTIME_GRAPHS_H

#include "Runtime.h"

#include <functional>
#include <vector>

using GraphWork = std::vector<std::function<cudaError_t()>>;

struct CUgraph_st {
  GraphWork work;
};

struct CUstream_st {
  unsigned flags = cudaStreamDefault;
  int priority = 0;
  unsigned long long id = 0;
  /// Where its work goes while it is being captured, and whether the capture
  /// began here.
  CUgraph_st *graph = nullptr;
  bool origin = false;
};

namespace blockscale::cudart {

/// The graph that captures the stream, or null. The runtime is locked.
CUgraph_st *graphOf(cudaStream_t stream);

/// All streams whose work goes into the graph are streams again.
void endCapture(CUgraph_st *graph);

/// Keeps the work if the stream is being captured, or does it.
template <typename F> cudaError_t doOrKeep(cudaStream_t stream, F work) {
  std::lock_guard<std::recursive_mutex> guard(Runtime::get().lock);
  CUgraph_st *graph = graphOf(stream);
  if (!graph)
    return work();
  graph->work.push_back(std::move(work));
  return cudaSuccess;
}

} // namespace blockscale::cudart

#endif // BLOCKSCALE_LIB_CUDARUNTIME_GRAPHS_H
