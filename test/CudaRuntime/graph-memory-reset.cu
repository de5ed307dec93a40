// RUN: %nvcc -O2 -arch=sm_100a %s -o %t
// RUN: blockscale emulate --cuda %t | FileCheck %s
// CHECK: all right

// A reset of the device ends the memory of graphs.
// Part of the blockscale project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include <cstdio>

#define EXPECT(what)                                                           \
  if (!(what)) {                                                               \
    std::printf("line %d: not %s\n", __LINE__, #what);                         \
    return 1;                                                                  \
  }

constexpr size_t kBytes = 4096;

static void *addMemory(cudaGraph_t graph) {
  cudaMemAllocNodeParams memory = {};
  memory.poolProps.allocType = cudaMemAllocationTypePinned;
  memory.poolProps.location = {cudaMemLocationTypeDevice, 0};
  memory.bytesize = kBytes;
  cudaGraphNode_t node;
  cudaGraphAddMemAllocNode(&node, graph, nullptr, 0, &memory);
  return memory.dptr;
}

int main() {
  cudaGraph_t graph;
  cudaGraphExec_t executable;
  EXPECT(cudaGraphCreate(&graph, 0) == cudaSuccess);
  void *before = addMemory(graph);
  EXPECT(cudaGraphInstantiate(&executable, graph, 0) == cudaSuccess);
  EXPECT(cudaGraphLaunch(executable, nullptr) == cudaSuccess);
  EXPECT(cudaDeviceReset() == cudaSuccess);

  EXPECT(cudaFree(before) == cudaErrorInvalidValue);
  EXPECT(cudaGraphLaunch(executable, nullptr) != cudaSuccess);
  cudaGetLastError();
  std::printf("all right\n");
}
