// RUN: %nvcc -std=c++17 -arch=sm_100a %s -o %t
// RUN: blockscale emulate --cuda %t | FileCheck %s
// RUN: not blockscale emulate --cuda %t fail 2>&1 | FileCheck %s --check-prefix=ASSERT
// CHECK: list of 6: 25 16 9 4 1 0
// CHECK-NEXT: 6 of 6 freed
// ASSERT: heap.cu:{{[0-9]+}}: void drop(int, {{.*}}bool): block: [0,0,0], thread: [2,0,0] Assertion `!fails || threadIdx.x != 2` failed
// ASSERT: device-side assert triggered (cudaErrorAssert)

//===- heap.cu - malloc, new, printf and assert in kernels -----------===//
//
// Part of the blockscale project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Inputs/Check.h"
#include <cassert>
#include <cuda_runtime.h>

struct Node {
  int value;
  Node *next;
};

__device__ Node *head;
__device__ int freed;

/// Each thread in turn puts a node in front of the list.
__global__ void make(int count) {
  for (int turn = 0; turn < count; ++turn) {
    if (turn == threadIdx.x) {
      auto *node = turn % 2 ? new Node
                            : static_cast<Node *>(malloc(sizeof(Node)));
      node->value = turn * turn;
      node->next = head;
      head = node;
    }
    __syncthreads();
  }
}

__global__ void show(int count) {
  printf("list of %d:", count);
  for (Node *node = head; node; node = node->next)
    printf(" %d", node->value);
  printf("\n");
}

__global__ void drop(int count, bool fails) {
  assert(!fails || threadIdx.x != 2);
  Node *node = head;
  for (unsigned i = 0; i < threadIdx.x; ++i)
    node = node->next;
  __syncthreads();
  free(node);
  atomicAdd(&freed, node != nullptr);
}

int main(int argc, char **) {
  constexpr int kCount = 6;
  make<<<1, kCount>>>(kCount);
  show<<<1, 1>>>(kCount);
  drop<<<1, kCount>>>(kCount, argc > 1);
  cudaError_t error = cudaDeviceSynchronize();
  if (error != cudaSuccess) {
    std::printf("%s (%s)\n", cudaGetErrorString(error),
                cudaGetErrorName(error));
    return 1;
  }
  int count = 0;
  CALL(cudaMemcpyFromSymbol(&count, freed, sizeof count));
  std::printf("%d of %d freed\n", count, kCount);
  return 0;
}
