// RUN: %nvcc -arch=sm_100a %s -o %t
// RUN: blockscale emulate --cuda %t | FileCheck %s
// RUN: sh -c 'ulimit -v 8000000 && exec blockscale emulate --cuda %t' | FileCheck %s
// RUN: %nvcc_plain -std=c++17 -cudart static -arch=sm_100a %s -o %t.static
// RUN: blockscale emulate --cuda %t.static | FileCheck %s
// CHECK: all right

//===- managed.cu - memory that host and kernels share ----------------------===//
//
// Part of the blockscale project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Inputs/Check.h"

__managed__ int total = 40;
__managed__ struct {
  float scale;
  double table[3];
} shared = {2.5f, {1, 10, 100}};

__global__ void use(const int *pinned, int *managed, int *registered) {
  int i = threadIdx.x;
  atomicAdd(&total, pinned[i]);
  managed[i] = int(shared.scale * shared.table[i % 3]);
  registered[i] += managed[i];
  __syncthreads(); // all have read it
  if (i == 0)
    shared.scale = -1;
}

int main() {
  // The host reads managed variables before any call of the runtime.
  EXPECT(total == 40 && shared.table[2] == 100);
  shared.scale = 3;
  constexpr int n = 6;
  int *pinned, *managed, registered[n], *mapped;
  CALL(cudaHostAlloc(&pinned, n * sizeof(int), cudaHostAllocMapped));
  CALL(cudaMallocManaged(&managed, n * sizeof(int)));
  CALL(cudaHostRegister(registered, sizeof registered, cudaHostRegisterMapped));
  CALL(cudaHostGetDevicePointer(&mapped, registered, 0));
  for (int i = 0; i < n; ++i) {
    pinned[i] = i + 1;
    managed[i] = -1;
    registered[i] = 1000 * i;
  }
  use<<<1, n>>>(pinned, managed, mapped);
  CALL(cudaDeviceSynchronize());
  EXPECT(total == 40 + 21);
  EXPECT(shared.scale == -1);
  const int expected[n] = {3, 30, 300, 3, 30, 300};
  for (int i = 0; i < n; ++i) {
    EXPECT(managed[i] == expected[i]);
    EXPECT(registered[i] == 1000 * i + expected[i]);
  }

  cudaPointerAttributes attributes;
  CALL(cudaPointerGetAttributes(&attributes, managed + 2));
  EXPECT(attributes.type == cudaMemoryTypeManaged);
  CALL(cudaPointerGetAttributes(&attributes, pinned));
  EXPECT(attributes.type == cudaMemoryTypeHost);
  CALL(cudaPointerGetAttributes(&attributes, &attributes));
  EXPECT(attributes.type == cudaMemoryTypeUnregistered);
  void *device;
  CALL(cudaMalloc(&device, 100));
  CALL(cudaPointerGetAttributes(&attributes, device));
  EXPECT(attributes.type == cudaMemoryTypeDevice && !attributes.hostPointer);
  size_t free, all;
  CALL(cudaMemGetInfo(&free, &all));
  EXPECT(free < all);
  EXPECT(cudaMalloc(&device, all) == cudaErrorMemoryAllocation);
  EXPECT(cudaHostUnregister(pinned) == cudaErrorInvalidValue);
  CALL(cudaHostUnregister(registered));
  CALL(cudaFreeHost(pinned));
  CALL(cudaFree(managed));
  std::printf("all right\n");
}
