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
// CHECK: blockscale: cuTensorMapEncodeIm2colWide: the modes along W need no swizzle, the 64-byte swizzle or the 128-byte swizzle with 16- or 32-byte atoms
// CHECK: blockscale: the program asks for the driver function 'cuFlyToTheMoon', which the emulator does not have
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

/// The pixels of a row of output of a 3 x 3 filter, for tap (2, 1), W first.
__global__ void images(const __grid_constant__ CUtensorMap map,
                       const __grid_constant__ CUtensorMap wide, float *out) {
  __shared__ alignas(1024) float boxes[2][64 * 32];
  __shared__ alignas(8) uint64_t barrier;
  if (threadIdx.x == 0) {
    barrierInit(sharedAddress(&barrier), 1);
    barrierInitFence();
    barrierExpect(sharedAddress(&barrier), sizeof boxes);
    asm volatile("cp.async.bulk.tensor.4d.shared::cluster.global.im2col."
                 "mbarrier::complete_tx::bytes [%0], [%1, {%2, %3, %3, %4}], "
                 "[%5], {%6, %7};" ::"r"(sharedAddress(boxes[0])),
                 "l"(&map), "r"(0), "r"(-1), "r"(0),
                 "r"(sharedAddress(&barrier)), "h"(short(2)), "h"(short(1))
                 : "memory");
    asm volatile("cp.async.bulk.tensor.4d.shared::cta.global.im2col::w."
                 "mbarrier::complete_tx::bytes [%0], [%1, {%2, %3, %2, %2}], "
                 "[%4], {%5, %6};" ::"r"(sharedAddress(boxes[1])),
                 "l"(&wide), "r"(0), "r"(-1), "r"(sharedAddress(&barrier)),
                 "h"(short(2)), "h"(short(2))
                 : "memory");
  }
  __syncthreads();
  barrierWait(sharedAddress(&barrier), 0);
  for (int i = threadIdx.x; i < 2 * 64 * 32; i += blockDim.x) {
    int unit = i / 4 ^ i / 32 % 8;
    out[i] = (&boxes[0][0])[unit * 4 + i % 4];
  }
}

template <typename F> static F driverFunction(const char *name) {
  void *address = nullptr;
  cudaDriverEntryPointQueryResult status;
  CALL(cudaGetDriverEntryPointByVersion(name, &address, 12080,
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

constexpr int kImages = 2, kSide = 10, kChannels = 32;

struct Images {
  cuuint64_t dims[4] = {kChannels, kSide, kSide, kImages};
  cuuint64_t pitches[3] = {4 * kChannels, 4 * kChannels * kSide,
                           4 * kChannels * kSide * kSide};
  cuuint32_t strides[4] = {1, 1, 1, 1};
};

static CUresult encodeIm2col(CUtensorMap &map, void *address, cuuint32_t rank,
                             int corner) {
  auto function = driverFunction<PFN_cuTensorMapEncodeIm2col_v12000>(
      "cuTensorMapEncodeIm2col");
  const Images images;
  const int lower[2] = {-1, -1}, upper[2] = {-1, corner};
  return function(&map, CU_TENSOR_MAP_DATA_TYPE_FLOAT32, rank, address,
                  images.dims, images.pitches, lower, upper, kChannels, 64,
                  images.strides, CU_TENSOR_MAP_INTERLEAVE_NONE,
                  CU_TENSOR_MAP_SWIZZLE_128B, CU_TENSOR_MAP_L2_PROMOTION_NONE,
                  CU_TENSOR_MAP_FLOAT_OOB_FILL_NONE);
}

static CUresult encodeWide(CUtensorMap &map, void *address,
                           CUtensorMapSwizzle swizzle) {
  auto function = driverFunction<PFN_cuTensorMapEncodeIm2colWide_v12080>(
      "cuTensorMapEncodeIm2colWide");
  const Images images;
  return function(&map, CU_TENSOR_MAP_DATA_TYPE_FLOAT32, 4, address,
                  images.dims, images.pitches, -1, -1, kChannels, 62,
                  images.strides, CU_TENSOR_MAP_INTERLEAVE_NONE,
                  CU_TENSOR_MAP_IM2COL_WIDE_MODE_W, swizzle,
                  CU_TENSOR_MAP_L2_PROMOTION_NONE,
                  CU_TENSOR_MAP_FLOAT_OOB_FILL_NONE);
}

/// Element of the tensor, 0 outside of it.
static float pixel(const std::vector<float> &in, int n, int h, int w, int c) {
  bool inside = n < kImages && h >= 0 && h < kSide && w >= 0 && w < kSide;
  return inside ? in[((n * kSide + h) * kSide + w) * kChannels + c] : 0;
}

static void checkImages() {
  std::vector<float> in(kImages * kSide * kSide * kChannels),
      out(2 * 64 * kChannels);
  for (size_t i = 0; i < in.size(); ++i)
    in[i] = float(i + 1);
  float *source, *target;
  CALL(cudaMalloc(&source, in.size() * 4));
  CALL(cudaMalloc(&target, out.size() * 4));
  CALL(cudaMemcpy(source, in.data(), in.size() * 4, cudaMemcpyHostToDevice));
  CUtensorMap map, wide;
  EXPECT(encodeIm2col(map, source, 4, -1) == CUDA_SUCCESS);
  EXPECT(encodeWide(wide, source, CU_TENSOR_MAP_SWIZZLE_128B) == CUDA_SUCCESS);
  images<<<1, 64>>>(map, wide, target);
  CALL(cudaDeviceSynchronize());
  CALL(cudaMemcpy(out.data(), target, out.size() * 4, cudaMemcpyDeviceToHost));
  // The box goes from -1 to 8, so that a row has ten pixels of output.
  for (int p = 0; p < 64; ++p)
    for (int c = 0; c < kChannels; ++c) {
      EXPECT(out[p * kChannels + c] ==
             pixel(in, 0, p / 10 - 1 + 1, p % 10 - 1 + 2, c));
      EXPECT(out[(64 + p) * kChannels + c] ==
             pixel(in, p / 10, 0, p % 10 - 1 + 2, c));
    }
}

static void checkIllegal(void *address) {
  CUtensorMap map;
  // A template, whose address a kernel sets.
  EXPECT(encode(map, nullptr) == CUDA_SUCCESS);
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
  EXPECT(encodeWide(map, address, CU_TENSOR_MAP_SWIZZLE_32B) ==
         CUDA_ERROR_INVALID_VALUE);
  void *function;
  cudaDriverEntryPointQueryResult status;
  EXPECT(cudaGetDriverEntryPointByVersion("cuFlyToTheMoon", &function, 12000,
                                          cudaEnableDefault, &status) ==
         cudaSuccess);
  EXPECT(status == cudaDriverEntryPointSymbolNotFound && !function);
}

int main() {
  std::vector<float> in(kPitch * kHeight), out(kPitch * kHeight);
  for (int i = 0; i < kPitch * kHeight; ++i)
    in[i] = float(i);
  size_t bytes = in.size() * sizeof(float);
  // What follows lies after the first 2 MiB of device memory.
  void *before;
  CALL(cudaMalloc(&before, 2 << 20));
  float *source, *target;
  CALL(cudaMalloc(&source, bytes));
  CALL(cudaMalloc(&target, bytes));
  CALL(cudaMemcpy(source, in.data(), bytes, cudaMemcpyHostToDevice));
  CALL(cudaMemset(target, 0xFF, bytes));
  CUtensorMap inMap, outMap;
  EXPECT(encode(inMap, source) == CUDA_SUCCESS);
  EXPECT(encode(outMap, target) == CUDA_SUCCESS);
  // CUTLASS clears this bit in maps of small tensors.
  for (CUtensorMap *map : {&inMap, &outMap})
    reinterpret_cast<uint64_t *>(map)[1] &= ~(uint64_t(1) << 21);
  twice<<<dim3(2, 5), 64>>>(inMap, outMap);
  CALL(cudaGetLastError());
  CALL(cudaDeviceSynchronize());
  CALL(cudaMemcpy(out.data(), target, bytes, cudaMemcpyDeviceToHost));
  // Twice what the load filled in behind the map's width goes to the rest of
  // the last 16 bytes. Columns beyond stay as they were, all ones: a NaN.
  constexpr int kWritten = (kWidth + 3) / 4 * 4;
  static_assert(kWritten > kWidth && kWritten < kPitch);
  for (int y = 0; y < kHeight; ++y)
    for (int x = 0; x < kPitch; ++x) {
      float value = out[y * kPitch + x];
      float expected = x < kWidth ? 2 * in[y * kPitch + x] : 0;
      EXPECT(x < kWritten ? value == expected : value != value);
    }
  checkImages();
  checkIllegal(source);
  std::printf("all right\n");
}
