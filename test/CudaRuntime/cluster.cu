// RUN: %nvcc -arch=sm_100a %s -o %t
// RUN: blockscale emulate --cuda %t 2>&1 | FileCheck %s
// RUN: blockscale emulate --completion=latest --cuda %t 2>&1 | FileCheck %s
// CHECK: kernel 'exchange(int const*, int*)': a cluster of 16 CTAs does not fit on B200: 1 to 8 CTAs, 16 when the kernel asks for a non-portable size
// CHECK: all right

//===- cluster.cu - clusters and their shared memory -----------------===//
//
// Part of the blockscale project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Inputs/Check.h"
#include <cooperative_groups.h>
#include <vector>

namespace cg = cooperative_groups;

/// Each block writes what the next one of its cluster has loaded.
__global__ void exchange(const int *in, int *out) {
  __shared__ int mine[64];
  cg::cluster_group cluster = cg::this_cluster();
  int at = blockIdx.x * blockDim.x + threadIdx.x;
  mine[threadIdx.x] = in[at] + int(cluster.block_rank()) * 1000;
  cluster.sync();
  unsigned next = (cluster.block_rank() + 1) % cluster.num_blocks();
  const int *theirs = cluster.map_shared_rank(mine, next);
  out[at] = theirs[63 - threadIdx.x];
  cluster.sync();
}

static cudaError_t launch(int blocks, int cluster, const int *in, int *out) {
  cudaLaunchConfig_t config = {};
  config.gridDim = dim3(blocks);
  config.blockDim = dim3(64);
  cudaLaunchAttribute attributes[2];
  attributes[0].id = cudaLaunchAttributeClusterDimension;
  attributes[0].val.clusterDim.x = cluster;
  attributes[0].val.clusterDim.y = 1;
  attributes[0].val.clusterDim.z = 1;
  attributes[1].id = cudaLaunchAttributeProgrammaticStreamSerialization;
  attributes[1].val.programmaticStreamSerializationAllowed = 1;
  config.attrs = attributes;
  config.numAttrs = 2;
  return cudaLaunchKernelEx(&config, exchange, in, out);
}

static void check(int blocks, int cluster, const int *in, int *out) {
  int n = blocks * 64;
  CALL(launch(blocks, cluster, in, out));
  std::vector<int> back(n);
  CALL(cudaMemcpy(back.data(), out, n * sizeof(int), cudaMemcpyDeviceToHost));
  for (int i = 0; i < n; ++i) {
    int block = i / 64, first = block / cluster * cluster;
    int next = first + (block + 1) % cluster;
    EXPECT(back[i] == 3 * (next * 64 + 63 - i % 64) + (next - first) * 1000);
  }
}

int main() {
  constexpr int n = 16 * 64;
  std::vector<int> in(n);
  for (int i = 0; i < n; ++i)
    in[i] = 3 * i;
  int *device, *out;
  CALL(cudaMalloc(&device, n * sizeof(int)));
  CALL(cudaMalloc(&out, n * sizeof(int)));
  CALL(cudaMemcpy(device, in.data(), n * sizeof(int), cudaMemcpyHostToDevice));
  check(16, 4, device, out);
  check(16, 8, device, out);
  check(6, 2, device, out);
  EXPECT(launch(6, 4, device, out) == cudaErrorInvalidClusterSize);
  EXPECT(launch(16, 16, device, out) == cudaErrorInvalidClusterSize);
  CALL(cudaFuncSetAttribute(exchange,
                            cudaFuncAttributeNonPortableClusterSizeAllowed, 1));
  check(16, 16, device, out);
  (void)cudaGetLastError();
  std::printf("all right\n");
}
