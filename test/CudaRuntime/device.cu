// RUN: %nvcc -arch=sm_100a %s -o %t
// RUN: blockscale emulate --cuda %t | FileCheck %s --check-prefixes=CHECK,B200
// RUN: blockscale emulate --device=B300 --cuda %t | FileCheck %s --check-prefixes=CHECK,B300
// RUN: blockscale emulate --device=RTX5090 --cuda %t | FileCheck %s --check-prefixes=CHECK,RTX

// B200: NVIDIA B200, 10.0, 148 SMs at 1965000 kHz
// B200: 191501434880 bytes, 7680 bits at 3996000 kHz, L2 132644864
// B200: shared 49152 232448 233472, threads 1024 2048, blocks 32
// B300: NVIDIA B300 SXM6 AC, 10.3, 148 SMs at 2032000 kHz
// B300: 288400343040 bytes, 7680 bits at 3996000 kHz, L2 132644864
// B300: shared 49152 232448 233472, threads 1024 2048, blocks 32
// RTX: NVIDIA GeForce RTX 5090, 12.0, 170 SMs at 2407000 kHz
// RTX: 34190917632 bytes, 512 bits at 14001000 kHz, L2 100663296
// RTX: shared 49152 101376 102400, threads 1024 1536, blocks 24

// The kernel: 4096 bytes of static shared memory, at most 256 threads.
// CHECK: static 4096, at most 256 threads

// Limited by threads: 2048 or 1536 / 256. By blocks: 32 or 24. By memory:
// 228 or 100 KiB / (4 + 1 + 20) KiB.
// B200: per SM: 8 32 9
// RTX: per SM: 6 20 4
// B200: clusters of 1, 2, 4, 8: 1184 592 264 120, largest 8
// RTX: clusters of 1, 2, 4, 8: 1020 510 222 102, largest 8
// B200: clusters of 16: cudaErrorInvalidClusterSize, then cudaSuccess 56, largest 16
// RTX: clusters of 16: cudaErrorInvalidClusterSize, then cudaSuccess 0, largest 8

//===- device.cu - what a program learns of its device --------------------===//
//
// Part of the blockscale project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Inputs/Check.h"

__global__ void __launch_bounds__(256) kernel(int *out) {
  __shared__ int values[1024];
  values[threadIdx.x] = out[threadIdx.x];
  __syncthreads();
  out[threadIdx.x] = values[threadIdx.x ^ 1];
}

static int attribute(cudaDeviceAttr which) {
  int value;
  CALL(cudaDeviceGetAttribute(&value, which, 0));
  return value;
}

static int perSm(int threads, size_t shared) {
  int count;
  CALL(cudaOccupancyMaxActiveBlocksPerMultiprocessor(&count, kernel, threads,
                                                     shared));
  return count;
}

static cudaError_t clusters(int size, int &count, int &largest) {
  cudaLaunchAttribute attribute;
  attribute.id = cudaLaunchAttributeClusterDimension;
  attribute.val.clusterDim.x = size;
  attribute.val.clusterDim.y = attribute.val.clusterDim.z = 1;
  cudaLaunchConfig_t config = {};
  config.gridDim = dim3(size);
  config.blockDim = dim3(256);
  config.attrs = &attribute;
  config.numAttrs = 1;
  count = largest = 0;
  // Both refuse a launch that the device does not take.
  cudaError_t error =
      cudaOccupancyMaxPotentialClusterSize(&largest, kernel, &config);
  EXPECT(error == cudaOccupancyMaxActiveClusters(&count, kernel, &config));
  return cudaOccupancyMaxActiveClusters(&count, kernel, &config);
}

int main() {
  int count, device;
  CALL(cudaGetDeviceCount(&count));
  EXPECT(count == 1);
  CALL(cudaGetDevice(&device));
  EXPECT(device == 0);
  EXPECT(cudaSetDevice(1) == cudaErrorInvalidDevice);
  cudaDeviceProp p;
  CALL(cudaGetDeviceProperties(&p, 0));
  std::printf("%s, %d.%d, %d SMs at %d kHz\n", p.name, p.major, p.minor,
              p.multiProcessorCount, attribute(cudaDevAttrClockRate));
  std::printf("%zu bytes, %d bits at %d kHz, L2 %d\n", p.totalGlobalMem,
              p.memoryBusWidth, attribute(cudaDevAttrMemoryClockRate),
              p.l2CacheSize);
  std::printf("shared %zu %zu %zu, threads %d %d, blocks %d\n",
              p.sharedMemPerBlock, p.sharedMemPerBlockOptin,
              p.sharedMemPerMultiprocessor, p.maxThreadsPerBlock,
              p.maxThreadsPerMultiProcessor, p.maxBlocksPerMultiProcessor);
  EXPECT(p.clusterLaunch && p.cooperativeLaunch && p.unifiedAddressing);
  EXPECT(p.major == attribute(cudaDevAttrComputeCapabilityMajor));

  cudaFuncAttributes attributes;
  CALL(cudaFuncGetAttributes(&attributes, kernel));
  std::printf("static %zu, at most %d threads\n", attributes.sharedSizeBytes,
              attributes.maxThreadsPerBlock);
  std::printf("per SM: %d %d %d\n", perSm(256, 0), perSm(32, 0),
              perSm(32, 20 << 10));
  int found[4], largest;
  for (int i = 0; i < 4; ++i)
    CALL(clusters(1 << i, found[i], largest));
  std::printf("clusters of 1, 2, 4, 8: %d %d %d %d, largest %d\n", found[0],
              found[1], found[2], found[3], largest);
  cudaError_t first = clusters(16, found[0], largest);
  CALL(cudaFuncSetAttribute(kernel,
                            cudaFuncAttributeNonPortableClusterSizeAllowed, 1));
  cudaError_t second = clusters(16, found[0], largest);
  std::printf("clusters of 16: %s, then %s %d, largest %d\n",
              cudaGetErrorName(first), cudaGetErrorName(second), found[0],
              largest);
}
