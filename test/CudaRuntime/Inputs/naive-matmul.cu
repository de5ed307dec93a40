//===- naive-matmul.cu - D = A B^T by plain loops -------------------------===//
//
// Part of the blockscale project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Check.h"

#include <cstring>
#include <cuda_bf16.h>

template <typename T>
__global__ void multiply(float *d, const T *a, const T *b, int n) {
  int row = int(blockIdx.y) * 16 + int(threadIdx.y);
  int column = int(blockIdx.x) * 16 + int(threadIdx.x);
  float sum = 0;
  for (int k = 0; k < n; ++k)
    sum += float(a[row * n + k]) * float(b[column * n + k]);
  d[row * n + column] = sum;
}

template <typename T> void run(int n) {
  T *a, *b;
  float *d;
  CALL(cudaMalloc(&a, n * n * sizeof(T)));
  CALL(cudaMalloc(&b, n * n * sizeof(T)));
  CALL(cudaMalloc(&d, n * n * sizeof(float)));
  multiply<<<dim3(n / 16, n / 16), dim3(16, 16)>>>(d, a, b, n);
  CALL(cudaDeviceSynchronize());
}

int main(int, char **words) {
  int n = std::atoi(words[2]);
  if (!std::strcmp(words[1], "f32"))
    run<float>(n);
  else
    run<__nv_bfloat16>(n);
}
