// RUN: %nvcc -arch=sm_100a %s -o %t
// RUN: blockscale emulate --cuda %t 2>&1 | FileCheck %s
// RUN: blockscale emulate --device=B300 --completion=latest --cuda %t 2>&1 | FileCheck %s
// CHECK: blockscale: cuTensorMapEncodeTiled: globalStrides[0] is 72, must be a multiple of 16 below 2^40
// CHECK: blockscale: cuTensorMapEncodeTiled: boxDim[0] is 512, must be in 1..256
// CHECK: blockscale: cuTensorMapEncodeTiled: boxDim[0] spans 128 bytes, more than the 64 of the swizzle
// CHECK: blockscale: cuTensorMapEncodeTiled: globalAddress is not a multiple of 16
// CHECK: blockscale: cuTensorMapEncodeTiled: swizzle code 7 does not exist
// CHECK: blockscale: cuTensorMapEncodeIm2col: rank is 2, must be in 3..5
// CHECK: blockscale: cuTensorMapEncodeIm2col: a corner's offset is 128, must be in -128..127
// CHECK: blockscale: the program asks for the driver function 'cuMulticastCreate', which the emulator does not have
// CHECK: all right

//===- tma.cu - tensor maps from the driver, copies by TMA ------------------===//
//
// Part of the blockscale project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "../Emulator/cuda/Ptx.h"
#include "Inputs/Check.h"
#include <cudaTypedefs.h>
#include <vector>

constexpr int kWidth = 50, kHeight = 40, kPitch = 64;

/// One box of 32 x 8 floats, doubled, written back by TMA.
__global__ void twice(const __grid_constant__ CUtensorMap in,
                      const __grid_constant__ CUtensorMap out) {
  __shared__ alignas(1024) float box[8 * 32];
  __shared__ alignas(8) uint64_t barrier;
  int x = int(blockIdx.x) * 32, y = int(blockIdx.y) * 8;
  if (threadIdx.x == 0) {
    barrierInit(sharedAddress(&barrier), 1);
    barrierInitFence();
    barrierExpect(sharedAddress(&barrier), sizeof box);
    loadTile(sharedAddress(box), &in, x, y, sharedAddress(&barrier));
  }
  __syncthreads();
  barrierWait(sharedAddress(&barrier), 0);
  for (int i = threadIdx.x; i < 8 * 32; i += blockDim.x)
    box[i] *= 2;
  proxyFence();
  __syncthreads();
  if (threadIdx.x == 0) {
    storeTile(&out, x, y, sharedAddress(box));
    bulkCommit();
    bulkWait();
  }
}

template <typename F> static F driverFunction(const char *name) {
  void *address = nullptr;
  cudaDriverEntryPointQueryResult status;
  CALL(cudaGetDriverEntryPointByVersion(name, &address, 12000,
                                        cudaEnableDefault, &status));
  EXPECT(status == cudaDriverEntryPointSuccess);
  return reinterpret_cast<F>(address);
}

struct Arguments {
  cuuint64_t pitch = kPitch * 4;
  cuuint32_t boxWidth = 32;
  CUtensorMapSwizzle swizzle = CU_TENSOR_MAP_SWIZZLE_128B;
  int offset = 0;
};

static CUresult encode(CUtensorMap &map, void *address,
                       const Arguments &arguments = {}) {
  static auto function = driverFunction<PFN_cuTensorMapEncodeTiled_v12000>(
      "cuTensorMapEncodeTiled");
  const cuuint64_t dims[2] = {kWidth, kHeight};
  const cuuint32_t box[2] = {arguments.boxWidth, 8}, strides[2] = {1, 1};
  return function(&map, CU_TENSOR_MAP_DATA_TYPE_FLOAT32, 2,
                  static_cast<char *>(address) + arguments.offset, dims,
                  &arguments.pitch, box, strides,
                  CU_TENSOR_MAP_INTERLEAVE_NONE, arguments.swizzle,
                  CU_TENSOR_MAP_L2_PROMOTION_L2_128B,
                  CU_TENSOR_MAP_FLOAT_OOB_FILL_NONE);
}

static CUresult encodeIm2col(CUtensorMap &map, void *address, cuuint32_t rank,
                             int corner) {
  auto function = driverFunction<PFN_cuTensorMapEncodeIm2col_v12000>(
      "cuTensorMapEncodeIm2col");
  const cuuint64_t dims[4] = {32, 10, 10, 2}, pitches[3] = {128, 1280, 12800};
  const cuuint32_t strides[4] = {1, 1, 1, 1};
  const int lower[2] = {-1, -1}, upper[2] = {-1, corner};
  return function(&map, CU_TENSOR_MAP_DATA_TYPE_FLOAT32, rank, address, dims,
                  pitches, lower, upper, 32, 64, strides,
                  CU_TENSOR_MAP_INTERLEAVE_NONE, CU_TENSOR_MAP_SWIZZLE_128B,
                  CU_TENSOR_MAP_L2_PROMOTION_NONE,
                  CU_TENSOR_MAP_FLOAT_OOB_FILL_NONE);
}

static void checkIllegal(void *address) {
  CUtensorMap map;
  Arguments pitch, box, swizzle, aligned, code;
  pitch.pitch = 72;
  EXPECT(encode(map, address, pitch) == CUDA_ERROR_INVALID_VALUE);
  box.boxWidth = 512;
  EXPECT(encode(map, address, box) == CUDA_ERROR_INVALID_VALUE);
  swizzle.swizzle = CU_TENSOR_MAP_SWIZZLE_64B;
  EXPECT(encode(map, address, swizzle) == CUDA_ERROR_INVALID_VALUE);
  aligned.offset = 8;
  EXPECT(encode(map, address, aligned) == CUDA_ERROR_INVALID_VALUE);
  code.swizzle = CUtensorMapSwizzle(7);
  EXPECT(encode(map, address, code) == CUDA_ERROR_INVALID_VALUE);
  EXPECT(encodeIm2col(map, address, 2, 0) == CUDA_ERROR_INVALID_VALUE);
  EXPECT(encodeIm2col(map, address, 4, 128) == CUDA_ERROR_INVALID_VALUE);
  EXPECT(encodeIm2col(map, address, 4, -1) == CUDA_SUCCESS);
  void *function;
  cudaDriverEntryPointQueryResult status;
  EXPECT(cudaGetDriverEntryPointByVersion("cuMulticastCreate", &function, 12000,
                                          cudaEnableDefault, &status) ==
         cudaErrorSymbolNotFound);
  EXPECT(status == cudaDriverEntryPointSymbolNotFound && !function);
}

int main() {
  std::vector<float> in(kPitch * kHeight), out(kPitch * kHeight);
  for (int i = 0; i < kPitch * kHeight; ++i)
    in[i] = float(i);
  size_t bytes = in.size() * sizeof(float);
  float *source, *target;
  CALL(cudaMalloc(&source, bytes));
  CALL(cudaMalloc(&target, bytes));
  CALL(cudaMemcpy(source, in.data(), bytes, cudaMemcpyHostToDevice));
  CALL(cudaMemset(target, 0xFF, bytes));
  CUtensorMap inMap, outMap;
  EXPECT(encode(inMap, source) == CUDA_SUCCESS);
  EXPECT(encode(outMap, target) == CUDA_SUCCESS);
  twice<<<dim3(2, 5), 64>>>(inMap, outMap);
  CALL(cudaGetLastError());
  CALL(cudaDeviceSynchronize());
  CALL(cudaMemcpy(out.data(), target, bytes, cudaMemcpyDeviceToHost));
  // Columns beyond the map's width stay as they were, all ones: a NaN.
  for (int y = 0; y < kHeight; ++y)
    for (int x = 0; x < kPitch; ++x) {
      float value = out[y * kPitch + x];
      EXPECT(x < kWidth ? value == 2 * in[y * kPitch + x] : value != value);
    }
  checkIllegal(source);
  std::printf("all right\n");
}
