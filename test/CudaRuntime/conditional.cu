// Nodes of graphs that a kernel's word runs, skips, repeats or chooses.

// RUN: %nvcc -rdc=true -lcudadevrt -arch=sm_100a %s -o %t
// RUN: blockscale emulate --cuda %t | FileCheck %s --implicit-check-not=blockscale:
// CHECK: all right

// A word that two threads give at once is a race, as the documentation says.
// RUN: not blockscale emulate --cuda %t race 2>&1 | FileCheck %s --check-prefix=RACE
// RACE: race

//===- conditional.cu - nodes of graphs that ask a value --------------------===//
//
// Part of the blockscale project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Inputs/Check.h"
#include <cstdio>

/// Counts down, and stops the loop at zero.
__global__ void countDown(int *left, int *rounds,
                          cudaGraphConditionalHandle handle) {
  ++*rounds;
  cudaGraphSetConditional(handle, --*left > 0);
}

__global__ void choose(cudaGraphConditionalHandle handle, unsigned value) {
  cudaGraphSetConditional(handle, value);
}

__global__ void chooseByAll(cudaGraphConditionalHandle handle) {
  cudaGraphSetConditional(handle, threadIdx.x);
}

__global__ void store(int *target, int value) { *target = value; }

struct Node {
  cudaGraphNode_t node = nullptr;
  cudaGraph_t *bodies = nullptr;
};

static Node addConditional(cudaGraph_t graph, const cudaGraphNode_t *before,
                           cudaGraphConditionalHandle handle,
                           cudaGraphConditionalNodeType type, unsigned size) {
  cudaGraphNodeParams parameters{};
  parameters.type = cudaGraphNodeTypeConditional;
  parameters.conditional.handle = handle;
  parameters.conditional.type = type;
  parameters.conditional.size = size;
  Node result;
  CALL(cudaGraphAddNode(&result.node, graph, before, nullptr, before ? 1 : 0,
                         &parameters));
  result.bodies = parameters.conditional.phGraph_out;
  return result;
}

template <typename... Arguments>
static cudaGraphNode_t addKernel(cudaGraph_t graph, void *kernel,
                                 Arguments... arguments) {
  void *pointers[] = {&arguments...};
  cudaGraphNodeParams parameters{};
  parameters.type = cudaGraphNodeTypeKernel;
  parameters.kernel.func = kernel;
  parameters.kernel.gridDim = {1, 1, 1};
  parameters.kernel.blockDim = {1, 1, 1};
  parameters.kernel.kernelParams = pointers;
  cudaGraphNode_t node;
  CALL(cudaGraphAddNode(&node, graph, nullptr, nullptr, 0, &parameters));
  return node;
}

static int read(const int *word) {
  int value = 0;
  CALL(cudaMemcpy(&value, word, sizeof value, cudaMemcpyDeviceToHost));
  return value;
}

static void launch(cudaGraph_t graph) {
  cudaGraphExec_t executable;
  CALL(cudaGraphInstantiate(&executable, graph));
  CALL(cudaGraphLaunch(executable, 0));
  CALL(cudaDeviceSynchronize());
  CALL(cudaGraphExecDestroy(executable));
}

/// A loop that runs `left` times, twice: the default value begins it anew.
static void loops(int *words) {
  cudaGraph_t graph;
  CALL(cudaGraphCreate(&graph, 0));
  cudaGraphConditionalHandle handle;
  CALL(cudaGraphConditionalHandleCreate(&handle, graph, 1,
                                         cudaGraphCondAssignDefault));
  Node loop = addConditional(graph, nullptr, handle, cudaGraphCondTypeWhile, 1);
  addKernel(loop.bodies[0], (void *)countDown, words, words + 1, handle);
  cudaGraphExec_t executable;
  CALL(cudaGraphInstantiate(&executable, graph));
  for (int i = 0; i < 2; ++i) {
    int left[2] = {5, 0};
    CALL(cudaMemcpy(words, left, sizeof left, cudaMemcpyHostToDevice));
    CALL(cudaGraphLaunch(executable, 0));
    EXPECT(read(words) == 0 && read(words + 1) == 5);
  }
  // A handle is for one node, of its own graph.
  cudaGraphNodeParams again{};
  again.type = cudaGraphNodeTypeConditional;
  again.conditional.handle = handle;
  again.conditional.type = cudaGraphCondTypeWhile;
  again.conditional.size = 1;
  cudaGraphNode_t node;
  EXPECT(cudaGraphAddNode(&node, graph, nullptr, nullptr, 0, &again) ==
         cudaErrorInvalidValue);
  CALL(cudaGraphConditionalHandleCreate(&again.conditional.handle, graph, 1));
  again.conditional.size = 2;
  EXPECT(cudaGraphAddNode(&node, graph, nullptr, nullptr, 0, &again) ==
         cudaErrorInvalidValue);
  again.conditional.size = 1;
  // Its own graph may have it in a body.
  CALL(cudaGraphAddNode(&node, loop.bodies[0], nullptr, nullptr, 0, &again));
  CALL(cudaGraphExecDestroy(executable));
  CALL(cudaGraphDestroy(graph));
}

/// Bodies of `if` with and without `else`, and of `switch`.
static void choices(int *words, cudaGraphConditionalNodeType type,
                    unsigned size, unsigned value, int expected) {
  cudaGraph_t graph;
  CALL(cudaGraphCreate(&graph, 0));
  cudaGraphConditionalHandle handle;
  CALL(cudaGraphConditionalHandleCreate(&handle, graph));
  cudaGraphNode_t chooser = addKernel(graph, (void *)choose, handle, value);
  Node choice = addConditional(graph, &chooser, handle, type, size);
  for (unsigned i = 0; i < size; ++i)
    addKernel(choice.bodies[i], (void *)store, words, 100 + int(i));
  CALL(cudaMemset(words, 0, sizeof *words));
  launch(graph);
  EXPECT(read(words) == expected);
  // There are no copies of it.
  cudaGraph_t copy;
  EXPECT(cudaGraphClone(&copy, graph) == cudaErrorNotSupported);
  CALL(cudaGraphDestroy(graph));
}

int main(int count, char **) {
  int *words;
  CALL(cudaMalloc(&words, 2 * sizeof *words));
  if (count > 1) {
    cudaGraph_t graph;
    CALL(cudaGraphCreate(&graph, 0));
    cudaGraphConditionalHandle handle;
    CALL(cudaGraphConditionalHandleCreate(&handle, graph));
    chooseByAll<<<1, 64>>>(handle);
    return cudaDeviceSynchronize() != cudaSuccess;
  }
  loops(words);
  choices(words, cudaGraphCondTypeIf, 1, 7, 100);
  choices(words, cudaGraphCondTypeIf, 1, 0, 0);
  choices(words, cudaGraphCondTypeIf, 2, 0, 101);
  for (unsigned i = 0; i < 3; ++i)
    choices(words, cudaGraphCondTypeSwitch, 3, i, 100 + int(i));
  choices(words, cudaGraphCondTypeSwitch, 3, 3, 0);
  std::printf("all right\n");
}
