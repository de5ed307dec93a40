//===- BlockProblem.h - operands of a block-scaled product ------*- C++ -*-===//
//
// Part of the blockscale project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Exact data that differ in every row, block and chunk, packed as the fact
// sheets say, and the product by the plain loop.
//
//===----------------------------------------------------------------------===//

#ifndef BLOCKSCALE_UNITTESTS_EMULATOR_BLOCKPROBLEM_H
#define BLOCKSCALE_UNITTESTS_EMULATOR_BLOCKPROBLEM_H

#include "blockscale/Emulator/TensorMap.h"

#include <cmath>
#include <cstdint>
#include <vector>

namespace blockscale::emulator::test {

struct BlockProblem {
  unsigned m = 128, n = 64, k = 128;
  unsigned block = 32; ///< logical elements per scale
  bool fp4 = false;    ///< packed e2m1 with ue4m3; otherwise e4m3 with ue8m0
  bool sparse = false;

  std::vector<uint8_t> a, b;           ///< rows of stored elements
  std::vector<uint8_t> scaleA, scaleB; ///< atoms of 128 x 4, K first
  std::vector<uint8_t> metadata;       ///< tiles of 128 rows x 16 bytes
  std::vector<float> out, expected;

  unsigned bytesOf(unsigned elements) const {
    return fp4 ? elements / 2 : elements;
  }
  unsigned rowBytesA() const { return bytesOf(sparse ? k / 2 : k); }
  unsigned rowBytesB() const { return bytesOf(k); }

  static int exponentA(unsigned row, unsigned j) {
    return int(row * 3 + j * 2 + row / 32) % 5 - 2;
  }
  static int exponentB(unsigned row, unsigned j) {
    return int(row + j * 2 + row / 16) % 3 - 1;
  }

  void fill() {
    std::vector<float> left(m * k), right(n * k);
    a.assign(m * rowBytesA(), 0);
    b.assign(n * rowBytesB(), 0);
    metadata.assign((m + 127) / 128 * 2048, 0);
    fillA(left);
    for (unsigned row = 0; row != n; ++row)
      for (unsigned i = 0; i != k; ++i)
        right[row * k + i] =
            put(&b[row * rowBytesB()], i, (row * 5 + i * 7 + row * i / 3) % 6);
    scaleA = scales(m, exponentA);
    scaleB = scales(n, exponentB);
    out.assign(m * n, -12345);
    expected.assign(m * n, 0);
    for (unsigned x = 0; x != m; ++x)
      for (unsigned y = 0; y != n; ++y)
        for (unsigned i = 0; i != k; ++i)
          expected[x * n + y] +=
              std::ldexp(left[x * k + i] * right[y * k + i],
                         exponentA(x, i / block) + exponentB(y, i / block));
  }

  /// A map over rows of bytes, one swizzle-wide box of `rows` rows.
  static TensorMap rowsMap(unsigned rowBytes, unsigned rows, unsigned boxBytes,
                           unsigned boxRows) {
    TensorMap map;
    map.type = TensorMapType::U8;
    map.rank = 2;
    map.globalDim = {rowBytes, rows, 0, 0, 0};
    map.globalStrides = {rowBytes, 0, 0, 0};
    map.boxDim = {boxBytes, boxRows, 0, 0, 0};
    map.swizzle = boxBytes == 128 ? Swizzle::B128 : Swizzle::B64;
    return map;
  }

  /// A map over atoms of 512 bytes, boxes of four.
  static TensorMap atomsMap(size_t bytes) {
    TensorMap map;
    map.type = TensorMapType::U16;
    map.rank = 2;
    map.globalDim = {256, bytes / 512, 0, 0, 0};
    map.globalStrides = {512, 0, 0, 0};
    map.boxDim = {256, 4, 0, 0, 0};
    return map;
  }

private:
  /// Writes pick `pick` as element `i` of a row; returns its value.
  float put(uint8_t *row, unsigned i, unsigned pick) const {
    static constexpr float kValues[6] = {1, -1, 2, 0.5f, 0, -3};
    static constexpr uint8_t kE2M1[6] = {0x2, 0xA, 0x4, 0x1, 0x0, 0xD};
    static constexpr uint8_t kE4M3[6] = {0x38, 0xB8, 0x40, 0x30, 0x00, 0xC4};
    if (fp4)
      row[i / 2] |= uint8_t(kE2M1[pick] << 4 * (i % 2));
    else
      row[i] = kE4M3[pick];
    return kValues[pick];
  }

  void fillA(std::vector<float> &left) {
    static constexpr uint8_t kNibbles[6] = {0x4, 0x8, 0xC, 0x9, 0xD, 0xE};
    unsigned stored = sparse ? k / 2 : k, unit = fp4 ? 2 : 1;
    for (unsigned row = 0; row != m; ++row)
      for (unsigned i = 0; i != stored; ++i) {
        unsigned logical = i;
        if (sparse) {
          unsigned chunk = i / (2 * unit);
          uint8_t nibble = kNibbles[(row + chunk * 5 + row * chunk) % 6];
          unsigned place = nibble >> 2 * (i / unit % 2) & 3;
          logical = chunk * 4 * unit + place * unit + i % unit;
          if (i % (2 * unit) == 0)
            metadata[row / 128 * 2048 + row % 128 * 16 + chunk / 2] |=
                uint8_t(nibble << 4 * (chunk % 2));
        }
        left[row * k + logical] =
            put(&a[row * rowBytesA()], i, (row * 3 + i * 5 + row * i / 4) % 6);
      }
  }

  std::vector<uint8_t> scales(unsigned rows,
                              int (*exponent)(unsigned, unsigned)) const {
    unsigned words = (k / block + 3) / 4;
    std::vector<uint8_t> bytes((rows + 127) / 128 * words * 512,
                               fp4 ? 0x38 : 0x7F);
    for (unsigned row = 0; row != rows; ++row)
      for (unsigned j = 0; j != k / block; ++j)
        bytes[(row / 128 * words + j / 4) * 512 + row % 32 * 16 +
              row % 128 / 32 * 4 + j % 4] =
            uint8_t(fp4 ? (exponent(row, j) + 7) << 3 : exponent(row, j) + 127);
    return bytes;
  }
};

} // namespace blockscale::emulator::test

#endif // BLOCKSCALE_UNITTESTS_EMULATOR_BLOCKPROBLEM_H
