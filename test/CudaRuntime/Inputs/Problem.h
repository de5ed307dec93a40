//===- Problem.h - block-scaled products that are exact -------------------===//
//
// Part of the blockscale project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Operands of small integers and scales of powers of two, each row and block
// different, so that a sum of f32 is exact; how they lie in memory; tensor maps
// for them; and the product from plain loops.
//
//===----------------------------------------------------------------------===//

#ifndef BLOCKSCALE_TEST_CUDARUNTIME_PROBLEM_H
#define BLOCKSCALE_TEST_CUDARUNTIME_PROBLEM_H

#include "Check.h"

#include <cmath>
#include <cudaTypedefs.h>
#include <vector>

/// One operand: an integer of -4 to 4 per element, an exponent per block.
struct Operand {
  int rows, k, block, seed;

  int value(int row, int at) const {
    static constexpr int kValues[8] = {0, 1, -1, 2, 3, -4, -2, 4};
    return kValues[(row * (2 * seed + 3) + at * (seed + 1) + row * at / 7) & 7];
  }
  int exponent(int row, int j) const {
    return (row * 3 + j * (seed + 1) + row / 32) % 4 - 2;
  }
  int blocks() const { return (k + block - 1) / block; }

  /// e2m1, two to a byte, the one of even k low.
  std::vector<uint8_t> nibbles() const {
    static constexpr uint8_t kMagnitudes[5] = {0, 2, 4, 5, 6};
    std::vector<uint8_t> bytes(size_t(rows) * k / 2);
    for (int row = 0; row != rows; ++row)
      for (int at = 0; at != k; ++at) {
        int v = value(row, at);
        uint8_t code = kMagnitudes[std::abs(v)] | (v < 0 ? 8 : 0);
        bytes[(size_t(row) * k + at) / 2] |= code << 4 * (at % 2);
      }
    return bytes;
  }
  /// e4m3.
  std::vector<uint8_t> bytes() const {
    static constexpr uint8_t kMagnitudes[5] = {0, 0x38, 0x40, 0x44, 0x48};
    std::vector<uint8_t> bytes(size_t(rows) * k);
    for (int row = 0; row != rows; ++row)
      for (int at = 0; at != k; ++at) {
        int v = value(row, at);
        bytes[size_t(row) * k + at] =
            kMagnitudes[std::abs(v)] | (v < 0 ? 0x80 : 0);
      }
    return bytes;
  }
  uint8_t ue4m3(int row, int j) const {
    return uint8_t((exponent(row, j) + 7) << 3);
  }
  uint8_t ue8m0(int row, int j) const {
    return uint8_t(exponent(row, j) + 127);
  }

  /// ue4m3 in atoms of 128 rows by 4 blocks, K first; 1 after the last row.
  std::vector<uint8_t> atoms() const {
    int wide = blocks() / 4;
    std::vector<uint8_t> bytes(size_t(rows + 127) / 128 * wide * 512, 0x38);
    for (int row = 0; row != rows; ++row)
      for (int j = 0; j != blocks(); ++j)
        bytes[(size_t(row / 128) * wide + j / 4) * 512 + row % 32 * 16 +
              row % 128 / 32 * 4 + j % 4] = ue4m3(row, j);
    return bytes;
  }
  /// ue8m0, four blocks of a row in a word, rows of a word side by side.
  std::vector<uint32_t> words() const {
    int pitch = (rows + 3) / 4 * 4;
    std::vector<uint32_t> words(size_t(pitch) * ((blocks() + 3) / 4));
    for (int row = 0; row != rows; ++row)
      for (int j = 0; j != blocks(); ++j)
        words[size_t(j / 4) * pitch + row] |= uint32_t(ue8m0(row, j))
                                              << 8 * (j % 4);
    return words;
  }
};

template <typename T> T *upload(const std::vector<T> &data) {
  T *device;
  CALL(cudaMalloc(&device, data.size() * sizeof(T)));
  CALL(cudaMemcpy(device, data.data(), data.size() * sizeof(T),
                  cudaMemcpyHostToDevice));
  return device;
}

/// A matrix of `height` rows of `width` elements, loaded by boxes.
inline CUtensorMap
matrixMap(CUtensorMapDataType type, unsigned elementBytes, const void *address,
          uint64_t width, uint64_t height, unsigned boxWidth,
          unsigned boxHeight,
          CUtensorMapSwizzle swizzle = CU_TENSOR_MAP_SWIZZLE_128B) {
  static PFN_cuTensorMapEncodeTiled_v12000 encode = nullptr;
  cudaDriverEntryPointQueryResult status;
  if (!encode)
    CALL(cudaGetDriverEntryPointByVersion("cuTensorMapEncodeTiled",
                                          reinterpret_cast<void **>(&encode),
                                          12000, cudaEnableDefault, &status));
  const cuuint64_t dims[2] = {width, height}, pitch = width * elementBytes;
  const cuuint32_t box[2] = {boxWidth, boxHeight}, strides[2] = {1, 1};
  CUtensorMap map;
  EXPECT(encode(&map, type, 2, const_cast<void *>(address), dims, &pitch, box,
                strides, CU_TENSOR_MAP_INTERLEAVE_NONE, swizzle,
                CU_TENSOR_MAP_L2_PROMOTION_NONE,
                CU_TENSOR_MAP_FLOAT_OOB_FILL_NONE) == CUDA_SUCCESS);
  return map;
}

inline CUtensorMap byteMap(const void *address, uint64_t width, uint64_t height,
                           unsigned boxHeight) {
  return matrixMap(CU_TENSOR_MAP_DATA_TYPE_UINT8, 1, address, width, height,
                   128, boxHeight);
}

/// Atoms of 512 bytes, `count` of them in a box.
inline CUtensorMap atomMap(const void *address, size_t bytes, unsigned count) {
  return matrixMap(CU_TENSOR_MAP_DATA_TYPE_UINT16, 2, address, 256, bytes / 512,
                   256, count, CU_TENSOR_MAP_SWIZZLE_NONE);
}

/// Compares A times B^T with the device's result, row by row.
inline int check(const Operand &a, const Operand &b, const float *device) {
  std::vector<float> got(size_t(a.rows) * b.rows);
  CALL(cudaMemcpy(got.data(), device, got.size() * sizeof(float),
                  cudaMemcpyDeviceToHost));
  std::vector<int> left(size_t(a.rows) * a.k), right(size_t(b.rows) * b.k);
  // Exponents of -2 and up: two of them make the sum an integer over 16.
  for (int m = 0; m != a.rows; ++m)
    for (int k = 0; k != a.k; ++k)
      left[size_t(m) * a.k + k] = a.value(m, k)
                                  << (a.exponent(m, k / a.block) + 2);
  for (int n = 0; n != b.rows; ++n)
    for (int k = 0; k != b.k; ++k)
      right[size_t(n) * b.k + k] = b.value(n, k)
                                   << (b.exponent(n, k / b.block) + 2);
  size_t wrong = 0;
  for (int m = 0; m != a.rows; ++m)
    for (int n = 0; n != b.rows; ++n) {
      int sum = 0;
      const int *x = &left[size_t(m) * a.k], *y = &right[size_t(n) * b.k];
      for (int k = 0; k != a.k; ++k)
        sum += x[k] * y[k];
      wrong += got[size_t(m) * b.rows + n] != float(sum) / 16;
    }
  std::printf("%zu of %zu elements differ\n", wrong, got.size());
  return wrong != 0;
}

#endif // BLOCKSCALE_TEST_CUDARUNTIME_PROBLEM_H
