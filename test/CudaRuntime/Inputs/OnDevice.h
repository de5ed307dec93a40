//===- OnDevice.h - data and their check made by kernels --------*- C++ -*-===//
//
// Part of the blockscale project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// As programs do that measure large kernels: operands are filled, and the
// result is compared with that of plain loops, on the device.
//
//===----------------------------------------------------------------------===//

#ifndef BLOCKSCALE_TEST_CUDARUNTIME_ONDEVICE_H
#define BLOCKSCALE_TEST_CUDARUNTIME_ONDEVICE_H

#include "Check.h"

#include <cstdint>

/// Numbers of -1 to 1 that differ by place and seed.
template <typename T>
__global__ void fillRandom(T *data, size_t count, uint32_t seed) {
  size_t at = size_t(blockIdx.x) * blockDim.x + threadIdx.x;
  if (at >= count)
    return;
  uint32_t hash = (uint32_t(at) + seed * 0x9E3779B9u) * 0x85EBCA6Bu;
  hash = (hash ^ hash >> 13) * 0xC2B2AE35u;
  hash ^= hash >> 16;
  data[at] = T(float(int32_t(hash)) * 0x1p-31f);
}

template <typename T> T *randomOnDevice(size_t count, uint32_t seed) {
  T *data;
  CALL(cudaMalloc(&data, count * sizeof(T)));
  fillRandom<<<unsigned((count + 255) / 256), 256>>>(data, count, seed);
  CALL(cudaGetLastError());
  return data;
}

template <typename T>
__global__ void differ(const T *got, const float *expected, size_t count,
                       int *largest) {
  size_t at = size_t(blockIdx.x) * blockDim.x + threadIdx.x;
  if (at < count)
    // Non-negative floats compare as their bits do; NaN is above all.
    atomicMax(largest, __float_as_int(fabsf(float(got[at]) - expected[at])));
}

/// The largest difference of two arrays, found by a kernel.
template <typename T>
float largestDifference(const T *got, const float *expected, size_t count) {
  int *largest, bits;
  CALL(cudaMalloc(&largest, sizeof *largest));
  CALL(cudaMemset(largest, 0, sizeof *largest));
  differ<<<unsigned((count + 255) / 256), 256>>>(got, expected, count, largest);
  CALL(cudaMemcpy(&bits, largest, sizeof bits, cudaMemcpyDeviceToHost));
  float value;
  static_assert(sizeof value == sizeof bits);
  memcpy(&value, &bits, sizeof value);
  return value;
}

#endif // BLOCKSCALE_TEST_CUDARUNTIME_ONDEVICE_H
