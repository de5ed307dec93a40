// RUN: %nvcc -arch=sm_100a %s -o %t
// RUN: blockscale emulate --cuda %t | FileCheck %s
// RUN: blockscale emulate --device=RTX5090 --completion=random --seed=7 --cuda %t | FileCheck %s
// RUN: %nvcc_plain -std=c++17 -cudart static -arch=sm_100a %s -o %t.static
// RUN: blockscale emulate --cuda %t.static | FileCheck %s
// CHECK: all right

//===- streams.cu - streams, events, copies, fills, symbols ----------===//
//
// Part of the blockscale project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Inputs/Check.h"
#include <vector>

__constant__ float weights[4] = {1, 2, 3, 4};
__device__ int counter = 100;
__device__ float results[8];

__global__ void weightedSum(const float *a, const float *b, float *c, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n)
    c[i] = a[i] * weights[i % 4] + b[i];
  if (i == 0)
    counter += n;
}

__global__ void fillResults() { results[threadIdx.x] = threadIdx.x * 1.5f; }

static void checkSums(cudaStream_t stream) {
  constexpr int n = 1000;
  std::vector<float> a(n), b(n), c(n, -1);
  for (int i = 0; i < n; ++i) {
    a[i] = float(i);
    b[i] = float(3 * i % 17);
  }
  float *da, *db, *dc;
  CALL(cudaMalloc(&da, n * sizeof(float)));
  CALL(cudaMallocAsync(&db, n * sizeof(float), stream));
  CALL(cudaMalloc(&dc, n * sizeof(float)));
  cudaEvent_t start, end;
  CALL(cudaEventCreate(&start));
  CALL(cudaEventCreateWithFlags(&end, cudaEventBlockingSync));
  CALL(cudaMemcpyAsync(da, a.data(), n * sizeof(float), cudaMemcpyHostToDevice,
                       stream));
  CALL(cudaMemcpyAsync(db, b.data(), n * sizeof(float), cudaMemcpyDefault,
                       stream));
  CALL(cudaEventRecord(start, stream));
  weightedSum<<<(n + 127) / 128, 128, 0, stream>>>(da, db, dc, n);
  CALL(cudaGetLastError());
  CALL(cudaEventRecord(end, stream));
  CALL(cudaStreamWaitEvent(nullptr, end, 0));
  CALL(cudaMemcpyAsync(c.data(), dc, n * sizeof(float), cudaMemcpyDeviceToHost,
                       stream));
  CALL(cudaStreamSynchronize(stream));
  const float expected[4] = {1, 2, 3, 4};
  for (int i = 0; i < n; ++i)
    EXPECT(c[i] == a[i] * expected[i % 4] + b[i]);
  float milliseconds = -1;
  CALL(cudaEventElapsedTime(&milliseconds, start, end));
  EXPECT(milliseconds > 0);
  CALL(cudaEventDestroy(start));
  CALL(cudaEventDestroy(end));
  EXPECT(cudaEventQuery(end) == cudaErrorInvalidResourceHandle);
  EXPECT(cudaGetLastError() == cudaErrorInvalidResourceHandle);
  EXPECT(cudaGetLastError() == cudaSuccess);
  CALL(cudaFree(da));
  CALL(cudaFreeAsync(db, stream));
  CALL(cudaFree(dc));
}

static void checkSymbols() {
  int value = 0;
  CALL(cudaMemcpyFromSymbol(&value, counter, sizeof value));
  EXPECT(value == 1100);
  value = 7;
  CALL(cudaMemcpyToSymbol(counter, &value, sizeof value));
  void *address;
  size_t size;
  CALL(cudaGetSymbolAddress(&address, counter));
  CALL(cudaGetSymbolSize(&size, counter));
  EXPECT(size == sizeof(int));
  value = 0;
  CALL(cudaMemcpy(&value, address, sizeof value, cudaMemcpyDeviceToHost));
  EXPECT(value == 7);
  // The second and third weight only.
  const float changed[2] = {20, 30};
  CALL(cudaMemcpyToSymbol(weights, changed, sizeof changed, sizeof(float)));
  float read[4];
  CALL(cudaMemcpyFromSymbol(read, weights, sizeof read));
  EXPECT(read[0] == 1 && read[1] == 20 && read[2] == 30 && read[3] == 4);
  EXPECT(cudaMemcpyToSymbol(weights, changed, sizeof changed,
                            3 * sizeof(float)) == cudaErrorInvalidValue);
  EXPECT(cudaGetLastError() == cudaErrorInvalidValue);
  fillResults<<<1, 8>>>();
  float back[3];
  CALL(cudaMemcpyFromSymbol(back, results, sizeof back, 4 * sizeof(float)));
  EXPECT(back[0] == 6 && back[1] == 7.5f && back[2] == 9);
}

static void checkRectangles() {
  constexpr int width = 5, height = 3;
  unsigned char host[height][8], *device;
  size_t pitch;
  CALL(cudaMallocPitch(&device, &pitch, width, height));
  EXPECT(pitch >= width && pitch % 32 == 0);
  CALL(cudaMemset2D(device, pitch, 0xEE, width, height));
  for (int y = 0; y < height; ++y)
    for (int x = 0; x < 8; ++x)
      host[y][x] = static_cast<unsigned char>(16 * y + x);
  // The middle rows' columns 1 and 2 go to columns 3 and 4.
  CALL(cudaMemcpy2D(device + pitch + 3, pitch, &host[1][1], 8, 2, 2,
                    cudaMemcpyHostToDevice));
  unsigned char back[height * width];
  CALL(cudaMemcpy2D(back, width, device, pitch, width, height,
                    cudaMemcpyDeviceToHost));
  const unsigned char expected[height * width] = {
      0xEE, 0xEE, 0xEE, 0xEE, 0xEE, 0xEE, 0xEE, 0xEE,
      0x11, 0x12, 0xEE, 0xEE, 0xEE, 0x21, 0x22};
  for (int i = 0; i < height * width; ++i)
    EXPECT(back[i] == expected[i]);
  EXPECT(cudaMemcpy2D(back, width - 1, device, pitch, width, height,
                      cudaMemcpyDeviceToHost) == cudaErrorInvalidPitchValue);
  CALL(cudaMemset(device, 0x5A, 2));
  CALL(cudaMemcpy(back, device, 3, cudaMemcpyDeviceToHost));
  EXPECT(back[0] == 0x5A && back[1] == 0x5A && back[2] == 0xEE);
  CALL(cudaFree(device));
  EXPECT(cudaFree(device) == cudaErrorInvalidValue);
}

int main() {
  cudaStream_t stream;
  CALL(cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking));
  checkSums(stream);
  checkSymbols();
  checkRectangles();
  int called = 0;
  CALL(cudaLaunchHostFunc(
      stream, [](void *data) { ++*static_cast<int *>(data); }, &called));
  CALL(cudaStreamSynchronize(stream));
  EXPECT(called == 1);
  CALL(cudaStreamDestroy(stream));
  EXPECT(cudaStreamDestroy(stream) == cudaErrorInvalidResourceHandle);
  std::printf("all right\n");
}
