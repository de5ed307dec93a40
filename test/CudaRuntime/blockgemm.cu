// RUN: %nvcc -gencode arch=compute_100a,code=[sm_100a,compute_100a] %s -o %t
// RUN: blockscale emulate --cuda %t | FileCheck %s
// CHECK: 24576 of 24576 elements agree

//===- blockgemm.cu - an NVFP4 tile on the tensor core (sm_100a) ------------===//
//
// Part of the blockscale project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

// The kernel of the emulator's own tests, with a host of its own: 128 x 192 x
// 768, blocks of 16 with ue4m3 scales, a ring of two stages fed by TMA.

#include "../Emulator/cuda/tensor.cu"
#include "Inputs/Check.h"
#include <cmath>
#include <cudaTypedefs.h>
#include <vector>

constexpr int kM = 128, kN = 192, kK = 768, kBlock = 16;
/// Values with an exact e2m1 code; the first is 0.
constexpr float kValues[] = {0, 0.5, 1, -1.5, 2, -3, 4, -6};
constexpr uint8_t kCodes[] = {0x0, 0x1, 0x2, 0xB, 0x4, 0xD, 0x6, 0xF};

static int pickA(int m, int k) { return (m * 5 + k * 3 + m * k / 7) % 8; }
static int pickB(int n, int k) { return (n * 3 + k * 7 + n * k / 5) % 8; }
static int exponentA(int m, int j) { return (m * 3 + j * 2 + m / 32) % 4 - 2; }
static int exponentB(int n, int j) { return (n + j * 2 + n / 16) % 3 - 1; }

/// Two values in a byte, the one of even k low.
static std::vector<uint8_t> packRows(int rows, int (*pick)(int, int)) {
  std::vector<uint8_t> bytes(rows * kK / 2);
  for (int r = 0; r < rows; ++r)
    for (int k = 0; k < kK; ++k)
      bytes[(r * kK + k) / 2] |= kCodes[pick(r, k)] << 4 * (k % 2);
  return bytes;
}

/// ue4m3 powers of two in atoms of 128 rows by 4 scales, K first.
static std::vector<uint8_t> packScales(int rows, int (*exponent)(int, int)) {
  constexpr int atoms = kK / kBlock / 4;
  std::vector<uint8_t> bytes((rows + 127) / 128 * atoms * 512, 0x7F);
  for (int r = 0; r < rows; ++r)
    for (int j = 0; j < kK / kBlock; ++j)
      bytes[(r / 128 * atoms + j / 4) * 512 + r % 32 * 16 + r % 128 / 32 * 4 +
            j % 4] = uint8_t((exponent(r, j) + 7) << 3);
  return bytes;
}

static void *upload(const std::vector<uint8_t> &bytes) {
  void *device;
  CALL(cudaMalloc(&device, bytes.size()));
  CALL(cudaMemcpy(device, bytes.data(), bytes.size(), cudaMemcpyHostToDevice));
  return device;
}

static CUtensorMap encode(CUtensorMapDataType type, void *address,
                          cuuint64_t width, cuuint64_t height,
                          cuuint64_t pitch, cuuint32_t boxWidth,
                          cuuint32_t boxHeight, CUtensorMapSwizzle swizzle) {
  void *function;
  cudaDriverEntryPointQueryResult status;
  CALL(cudaGetDriverEntryPointByVersion("cuTensorMapEncodeTiled", &function,
                                        12000, cudaEnableDefault, &status));
  const cuuint64_t dims[2] = {width, height};
  const cuuint32_t box[2] = {boxWidth, boxHeight}, strides[2] = {1, 1};
  CUtensorMap map;
  EXPECT(reinterpret_cast<PFN_cuTensorMapEncodeTiled_v12000>(function)(
             &map, type, 2, address, dims, &pitch, box, strides,
             CU_TENSOR_MAP_INTERLEAVE_NONE, swizzle,
             CU_TENSOR_MAP_L2_PROMOTION_NONE,
             CU_TENSOR_MAP_FLOAT_OOB_FILL_NONE) == CUDA_SUCCESS);
  return map;
}

static CUtensorMap rowsMap(void *address, int rows) {
  return encode(CU_TENSOR_MAP_DATA_TYPE_UINT8, address, kK / 2, rows, kK / 2,
                128, rows, CU_TENSOR_MAP_SWIZZLE_128B);
}

static CUtensorMap atomsMap(void *address, size_t bytes) {
  return encode(CU_TENSOR_MAP_DATA_TYPE_UINT16, address, 256, bytes / 512, 512,
                256, 4, CU_TENSOR_MAP_SWIZZLE_NONE);
}

int main() {
  std::vector<uint8_t> scalesA = packScales(kM, exponentA);
  std::vector<uint8_t> scalesB = packScales(kN, exponentB);
  CUtensorMap a = rowsMap(upload(packRows(kM, pickA)), kM);
  CUtensorMap b = rowsMap(upload(packRows(kN, pickB)), kN);
  CUtensorMap sa = atomsMap(upload(scalesA), scalesA.size());
  CUtensorMap sb = atomsMap(upload(scalesB), scalesB.size());
  float *out;
  CALL(cudaMalloc(&out, kM * kN * sizeof(float)));
  constexpr int kShared = sizeof(Ring<1>) + 1024;
  CALL(cudaFuncSetAttribute(
      ringSingle, cudaFuncAttributeMaxDynamicSharedMemorySize, kShared));
  ringSingle<<<1, 256, kShared>>>(a, b, sa, sb, out);
  CALL(cudaGetLastError());
  std::vector<float> result(kM * kN);
  CALL(cudaMemcpy(result.data(), out, result.size() * sizeof(float),
                  cudaMemcpyDeviceToHost));
  int agree = 0;
  for (int m = 0; m < kM; ++m)
    for (int n = 0; n < kN; ++n) {
      float sum = 0;
      for (int k = 0; k < kK; ++k)
        sum += std::ldexp(kValues[pickA(m, k)] * kValues[pickB(n, k)],
                          exponentA(m, k / kBlock) + exponentB(n, k / kBlock));
      agree += result[m * kN + n] == sum;
    }
  std::printf("%d of %d elements agree\n", agree, kM * kN);
  return agree != kM * kN;
}
