// RUN: %nvcc -arch=sm_100a %s -o %t
// RUN: blockscale emulate --cuda %t 2>&1 | FileCheck %s --implicit-check-not=blockscale:
// CHECK: all right

//===- cub.cu - kernels of the toolkit's own library ----------------------===//
//
// Part of the blockscale project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

// A scan looks back at the tiles before its own while they are computed; a sort
// counts, scans and scatters.

#include "Inputs/Check.h"
#include <algorithm>
#include <cub/device/device_radix_sort.cuh>
#include <cub/device/device_scan.cuh>
#include <vector>

constexpr int kCount = 20000;

__global__ void nothing() {}

/// Calls `work` for the size of its scratch memory, then with it.
template <typename F> static void withScratch(F work) {
  size_t bytes = 0;
  CALL(work(nullptr, bytes));
  void *scratch;
  CALL(cudaMalloc(&scratch, bytes));
  CALL(work(scratch, bytes));
  CALL(cudaFree(scratch));
}

int main() {
  // CUB takes the tuning of the architecture that it is told.
  cudaFuncAttributes attributes;
  CALL(cudaFuncGetAttributes(&attributes, nothing));
  EXPECT(attributes.ptxVersion == 100 && attributes.binaryVersion == 100);
  std::vector<int> in(kCount), sums(kCount), sorted(kCount);
  for (int i = 0; i < kCount; ++i)
    in[i] = (i * 7919) % 20011;
  int *device, *out;
  CALL(cudaMalloc(&device, kCount * sizeof(int)));
  CALL(cudaMalloc(&out, kCount * sizeof(int)));
  CALL(cudaMemcpy(device, in.data(), kCount * sizeof(int),
                  cudaMemcpyHostToDevice));
  withScratch([&](void *scratch, size_t &bytes) {
    return cub::DeviceScan::InclusiveSum(scratch, bytes, device, out, kCount);
  });
  CALL(cudaMemcpy(sums.data(), out, kCount * sizeof(int),
                  cudaMemcpyDeviceToHost));
  withScratch([&](void *scratch, size_t &bytes) {
    return cub::DeviceRadixSort::SortKeys(scratch, bytes, device, out, kCount);
  });
  CALL(cudaMemcpy(sorted.data(), out, kCount * sizeof(int),
                  cudaMemcpyDeviceToHost));
  int sum = 0;
  for (int i = 0; i < kCount; ++i)
    EXPECT(sums[i] == (sum += in[i]));
  std::sort(in.begin(), in.end());
  EXPECT(in == sorted);
  std::printf("all right\n");
}
