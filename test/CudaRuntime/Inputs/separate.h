//===- separate.h - what two files of device code share -------------------===//
//
// Part of the blockscale project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#pragma once
#include <cstdio>
#include <cstdlib>

#define EXPECT(call)                                                           \
  if (cudaError_t error = (call)) {                                            \
    std::printf("%s: %s\n", #call, cudaGetErrorName(error));                   \
    std::exit(1);                                                              \
  }

struct Shape {
  __device__ virtual int area() const = 0;
};

extern __device__ Shape *shape;
extern __device__ int table[4];
extern __device__ int counter;
extern __constant__ int factor;
__device__ int scale(int x);
__device__ void store(int *target, int index);
__global__ void makeShape();

/// One instance in each file.
template <typename T> __device__ __noinline__ T twice(T x) { return x + x; }

/// Twice the counter, by a kernel of the other file, which adds 5 to it.
int nextOfOther(int *scratch);
