//===- separate-other.cu - the second file of separate.cu -----------------===//
//
// Part of the blockscale project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "separate.h"
#include <new>

static __device__ int hidden = 100;
__device__ int table[4] = {1000, 2000, 3000, 4000};

struct Rectangle : Shape {
  int width, height;
  __device__ Rectangle(int w, int h) : width(w), height(h) {}
  __device__ int area() const override { return width * height; }
};

__device__ Shape *shape;
static __device__ long long room[4];

__global__ void makeShape() { shape = new (room) Rectangle(6, 7); }

__device__ int scale(int x) { return factor * x + hidden; }

__device__ void store(int *target, int index) {
  target[index] = 1;
}

__global__ void next(int *out) {
  out[threadIdx.x] = twice(counter);
  counter += 5;
}

int nextOfOther(int *scratch) {
  next<<<1, 1>>>(scratch);
  int value;
  EXPECT(cudaMemcpy(&value, scratch, sizeof value, cudaMemcpyDeviceToHost));
  return value;
}
