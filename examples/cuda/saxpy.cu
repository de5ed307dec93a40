//===- saxpy.cu - a CUDA program that runs without a device ---------------===//
//
// Part of the blockscale project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// usage: saxpy COUNT [THREADS]
//
// The kernel does not look at `n`: with a COUNT that is no multiple of THREADS
// (default 250) it writes past its buffers.
//
//===----------------------------------------------------------------------===//

#include <cstdio>
#include <cstdlib>
#include <vector>

__global__ void saxpy(float a, const float *x, float *y) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  y[i] = a * x[i] + y[i];
}

int main(int argc, char **argv) {
  int n = argc > 1 ? std::atoi(argv[1]) : 1000;
  int threads = argc > 2 ? std::atoi(argv[2]) : 250;
  std::vector<float> x(n), y(n);
  for (int i = 0; i < n; ++i) {
    x[i] = float(i);
    y[i] = float(i % 10);
  }
  float *dx, *dy;
  cudaMalloc(&dx, n * sizeof(float));
  cudaMalloc(&dy, n * sizeof(float));
  cudaMemcpy(dx, x.data(), n * sizeof(float), cudaMemcpyHostToDevice);
  cudaMemcpy(dy, y.data(), n * sizeof(float), cudaMemcpyHostToDevice);
  saxpy<<<(n + threads - 1) / threads, threads>>>(2, dx, dy);
  cudaError_t error =
      cudaMemcpy(y.data(), dy, n * sizeof(float), cudaMemcpyDeviceToHost);
  if (error != cudaSuccess) {
    std::printf("%s\n", cudaGetErrorString(error));
    return 1;
  }
  int wrong = 0;
  for (int i = 0; i < n; ++i)
    wrong += y[i] != 2.0f * float(i) + float(i % 10);
  cudaDeviceProp properties;
  cudaGetDeviceProperties(&properties, 0);
  std::printf("%s: %d of %d wrong\n", properties.name, wrong, n);
  return wrong != 0;
}
