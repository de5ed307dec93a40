// RUN: %nvcc -arch=sm_100a %s -o %t
// RUN: blockscale emulate --cuda %t 2>&1 | FileCheck %s
// CHECK: blockscale: cudaMemcpy3D: CUDA arrays are not supported
// CHECK: all right

//===- boxes.cu - three-dimensional copies, the device's memory pool ------===//
//
// Part of the blockscale project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Inputs/Check.h"
#include <cstdint>
#include <vector>

constexpr int kX = 100, kY = 5, kZ = 3;

static void pools() {
  cudaMemPool_t pool, again;
  CALL(cudaDeviceGetDefaultMemPool(&pool, 0));
  CALL(cudaDeviceGetMemPool(&again, 0));
  EXPECT(pool == again);
  uint64_t threshold = UINT64_MAX, back = 0;
  CALL(cudaMemPoolSetAttribute(pool, cudaMemPoolAttrReleaseThreshold,
                               &threshold));
  CALL(cudaMemPoolGetAttribute(pool, cudaMemPoolAttrReleaseThreshold, &back));
  EXPECT(back == threshold);
  EXPECT(cudaMemPoolSetAttribute(pool, cudaMemPoolAttrUsedMemCurrent, &back) ==
         cudaErrorInvalidValue);
  EXPECT(cudaDeviceGetDefaultMemPool(&pool, 1) == cudaErrorInvalidDevice);
  CALL(cudaMemPoolTrimTo(again, 0));
}

int main() {
  std::vector<char> host(kX * kY * kZ), back(2 * 3 * 2, 'x');
  for (int i = 0; i < kX * kY * kZ; ++i)
    host[i] = char(i % 113);
  cudaPitchedPtr device;
  CALL(cudaMalloc3D(&device, make_cudaExtent(kX, kY, kZ)));
  EXPECT(device.pitch >= kX && device.xsize == kX && device.ysize == kY);
  CALL(cudaMemset3D(device, 7, make_cudaExtent(kX, kY, kZ)));
  cudaMemcpy3DParms to = {};
  to.srcPtr = make_cudaPitchedPtr(host.data(), kX, kX, kY);
  to.dstPtr = device;
  to.extent = make_cudaExtent(kX, kY - 1, kZ);
  to.kind = cudaMemcpyHostToDevice;
  CALL(cudaMemcpy3D(&to));
  // 2 x 3 x 2 from (10, 2, 1): the last row kept the value of the memset.
  cudaMemcpy3DParms from = {};
  from.srcPtr = device;
  from.srcPos = make_cudaPos(10, 2, 1);
  from.dstPtr = make_cudaPitchedPtr(back.data(), 2, 2, 3);
  from.extent = make_cudaExtent(2, 3, 2);
  from.kind = cudaMemcpyDeviceToHost;
  CALL(cudaMemcpy3DAsync(&from, nullptr));
  for (int z = 0; z < 2; ++z)
    for (int y = 0; y < 3; ++y)
      for (int x = 0; x < 2; ++x)
        EXPECT(back[(z * 3 + y) * 2 + x] ==
               (y == 2 ? 7 : host[((z + 1) * kY + y + 2) * kX + x + 10]));
  from.srcArray = reinterpret_cast<cudaArray_t>(&from);
  EXPECT(cudaMemcpy3D(&from) == cudaErrorNotSupported);
  pools();
  std::printf("all right\n");
}
