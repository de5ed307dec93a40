// RUN: %nvcc -O2 -arch=sm_100a %s -o %t
// RUN: blockscale emulate --cuda %t | FileCheck %s
// CHECK: all right

// Clusters that are preferred are made of those that a kernel requires by its code,
// or that the launch asks for.
// Part of the blockscale project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include <cstdio>

__global__ void __cluster_dims__(2) required() {}
__global__ void plain() {}

static cudaError_t launch(void (*kernel)(), unsigned cluster,
                          unsigned preferred) {
  cudaLaunchAttribute attributes[2] = {};
  attributes[0].id = cudaLaunchAttributePreferredClusterDimension;
  attributes[0].val.preferredClusterDim = {preferred, 1, 1};
  attributes[1].id = cudaLaunchAttributeClusterDimension;
  attributes[1].val.clusterDim = {cluster, 1, 1};
  cudaLaunchConfig_t config = {};
  config.gridDim = dim3(8);
  config.blockDim = dim3(32);
  config.attrs = attributes;
  config.numAttrs = cluster ? 2 : 1;
  return cudaLaunchKernelEx(&config, kernel);
}

#define EXPECT(what)                                                           \
  if (!(what)) {                                                               \
    std::printf("not so: %s\n", #what);                                        \
    return 1;                                                                  \
  }

int main() {
  EXPECT(launch(required, 0, 4) == cudaSuccess);
  EXPECT(launch(required, 2, 4) == cudaSuccess);
  EXPECT(launch(required, 0, 3) == cudaErrorInvalidClusterSize);
  EXPECT(launch(plain, 2, 4) == cudaSuccess);
  EXPECT(launch(plain, 0, 4) == cudaErrorInvalidClusterSize);
  EXPECT(launch(plain, 4, 2) == cudaErrorInvalidClusterSize);
  std::printf("all right\n");
}
