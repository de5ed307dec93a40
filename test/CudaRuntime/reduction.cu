// RUN: %nvcc -arch=sm_100a --compress-mode=none %s -o %t
// RUN: blockscale emulate --cuda %t | FileCheck %s
// RUN: %nvcc -arch=sm_100a --compress-mode=speed %s -o %t.lz4
// RUN: blockscale emulate --cuda %t.lz4 | FileCheck %s
// CHECK: block 1 of 3: 32 primes from 201 on, the first is 211
// CHECK: all right

//===- reduction.cu - shared memory, shuffles, atomics, printf -------===//
//
// Part of the blockscale project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Inputs/Check.h"
#include <cuda_runtime.h>
#include <vector>

/// Sum of a block by shuffles and shared memory, then one atomic.
__global__ void reduce(const int *in, int n, int *sum, float *floatSum) {
  __shared__ int warps[32];
  int value = 0;
  for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n;
       i += gridDim.x * blockDim.x)
    value += in[i];
  for (int offset = 16; offset; offset /= 2)
    value += __shfl_down_sync(0xffffffffu, value, offset);
  if (threadIdx.x % 32 == 0)
    warps[threadIdx.x / 32] = value;
  __syncthreads();
  if (threadIdx.x >= 32)
    return;
  value = threadIdx.x < blockDim.x / 32 ? warps[threadIdx.x] : 0;
  value = __reduce_add_sync(0xffffffffu, value);
  if (threadIdx.x == 0) {
    atomicAdd(sum, value);
    atomicAdd(floatSum, value * 0.5f);
  }
}

/// A histogram in dynamic shared memory, and the largest value by a loop of
/// compare-and-swap.
__global__ void histogram(const int *in, int n, int bins, unsigned *counts,
                          int *largest) {
  extern __shared__ unsigned local[];
  for (int i = threadIdx.x; i < bins; i += blockDim.x)
    local[i] = 0;
  __syncthreads();
  for (int i = threadIdx.x; i < n; i += blockDim.x) {
    atomicAdd(&local[unsigned(in[i]) % bins], 1u);
    int seen = *static_cast<volatile int *>(largest);
    while (seen < in[i]) {
      int before = atomicCAS(largest, seen, in[i]);
      if (before == seen)
        break;
      seen = before;
    }
  }
  __syncthreads();
  for (int i = threadIdx.x; i < bins; i += blockDim.x)
    atomicAdd(&counts[i], local[i]);
}

__global__ void primes() {
  __shared__ int count, first;
  if (threadIdx.x == 0) {
    count = 0;
    first = 1 << 30;
  }
  __syncthreads();
  int from = 1 + int(blockIdx.x) * 200;
  for (int number = from + int(threadIdx.x); number < from + 200;
       number += blockDim.x) {
    bool prime = number > 1;
    for (int d = 2; d * d <= number; ++d)
      prime = prime && number % d != 0;
    if (prime) {
      atomicAdd(&count, 1);
      atomicMin(&first, number);
    }
  }
  __syncthreads();
  if (threadIdx.x == 0 && blockIdx.x == 1)
    printf("block %u of %u: %d %s from %d on, the first is %d\n", blockIdx.x,
           gridDim.x, count, "primes", from, first);
}

int main() {
  constexpr int n = 5000, bins = 37;
  std::vector<int> in(n);
  int sum = 0, largest = -1;
  std::vector<unsigned> expected(bins);
  for (int i = 0; i < n; ++i) {
    in[i] = i * 7919 % 4096;
    sum += in[i];
    ++expected[in[i] % bins];
    largest = in[i] > largest ? in[i] : largest;
  }
  int *device, *sums;
  float *floatSum;
  unsigned *counts;
  CALL(cudaMalloc(&device, n * sizeof(int)));
  CALL(cudaMalloc(&sums, 2 * sizeof(int)));
  CALL(cudaMalloc(&floatSum, sizeof(float)));
  CALL(cudaMalloc(&counts, bins * sizeof(unsigned)));
  CALL(cudaMemset(sums, 0, 2 * sizeof(int)));
  CALL(cudaMemset(floatSum, 0, sizeof(float)));
  CALL(cudaMemset(counts, 0, bins * sizeof(unsigned)));
  CALL(cudaMemcpy(device, in.data(), n * sizeof(int), cudaMemcpyHostToDevice));
  reduce<<<3, 256>>>(device, n, sums, floatSum);
  histogram<<<1, 96, bins * sizeof(unsigned)>>>(device, n, bins, counts,
                                                sums + 1);
  primes<<<3, 100>>>();
  CALL(cudaDeviceSynchronize());
  int back[2];
  float half;
  std::vector<unsigned> counted(bins);
  CALL(cudaMemcpy(back, sums, sizeof back, cudaMemcpyDeviceToHost));
  CALL(cudaMemcpy(&half, floatSum, sizeof half, cudaMemcpyDeviceToHost));
  CALL(cudaMemcpy(counted.data(), counts, bins * sizeof(unsigned),
                  cudaMemcpyDeviceToHost));
  EXPECT(back[0] == sum);
  EXPECT(half == sum * 0.5f);
  EXPECT(back[1] == largest);
  EXPECT(counted == expected);
  std::printf("all right\n");
}
