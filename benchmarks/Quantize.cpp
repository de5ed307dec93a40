//===- Quantize.cpp - host quantisation against memcpy --------------------===//
//
// Part of the blockscale project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// usage: quantize [MIB]
//
// Quantises f32 to NVFP4 and MXFP8, scales in 128 x 4 atoms, on one thread, in
// turns with memcpy of the same input. Prints the best of several rounds.
//
//===----------------------------------------------------------------------===//

#include "blockscale/Packing/Quantize.h"
#include "blockscale/HW/ScaleLayout.h"
#include "blockscale/Packing/Storage.h"

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <random>
#include <vector>

using namespace blockscale;
using namespace blockscale::packing;

static constexpr uint64_t kColumns = 8192;
static constexpr unsigned kRounds = 7;
/// Keeps copies that nobody reads.
static volatile float sink;

template <typename Work> static double seconds(Work work) {
  auto start = std::chrono::steady_clock::now();
  work();
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - start)
      .count();
}

/// Groups of the rows of an atom, so that scales are still near when they are
/// tiled.
static void quantizeTiled(const BlockFormat &format, const TensorScale &tensor,
                          const std::vector<float> &values,
                          std::vector<uint8_t> &elements,
                          std::vector<uint8_t> &tiled) {
  uint64_t blocks = scalesPerRow(format, kColumns);
  uint64_t rowBytes = packedRowBytes(format, kColumns);
  std::vector<uint8_t> plain(hw::kAtomRows * blocks);
  for (uint64_t row = 0; row < values.size() / kColumns; row += hw::kAtomRows) {
    quantizeRows(format, tensor, &values[row * kColumns], hw::kAtomRows,
                 kColumns, &elements[row * rowBytes], plain.data());
    toStorage(hw::kTiledScales, {1, hw::kAtomRows, blocks}, plain.data(),
              &tiled[row * blocks]);
  }
}

int main(int argc, char **argv) {
  uint64_t mib = argc > 1 ? std::strtoull(argv[1], nullptr, 10) : 256;
  uint64_t rows = (mib << 20) / (4 * kColumns) / hw::kAtomRows * hw::kAtomRows;
  if (rows == 0)
    return 1;
  std::vector<float> values(rows * kColumns), copy(values.size());
  std::minstd_rand random(1);
  for (float &value : values)
    value = float(int32_t(random()) - (1 << 30)) * 0x1p-34f;
  double gigabytes = double(values.size() * 4) / 1e9;
  for (const char *name : {"nvfp4", "mxfp8"}) {
    BlockFormat format = *parseBlockFormat(name);
    std::vector<uint8_t> elements(rows * packedRowBytes(format, kColumns));
    std::vector<uint8_t> tiled(rows * scalesPerRow(format, kColumns));
    TensorScale tensor;
    double quantize = 1e9, copying = 1e9, maximum = 1e9;
    for (unsigned round = 0; round < kRounds; ++round) {
      copying =
          std::min(copying, seconds([&] {
                     std::memcpy(copy.data(), values.data(), values.size() * 4);
                   }));
      sink = copy[round];
      maximum = std::min(maximum, seconds([&] {
                           tensor = nvfp4TensorScale(
                               largestMagnitude(values.data(), values.size()));
                         }));
      quantize =
          std::min(quantize, seconds([&] {
                     quantizeTiled(format, tensor, values, elements, tiled);
                   }));
    }
    // Of a tensor whose largest magnitude nobody knows yet.
    double whole = format.hasTensorScale() ? quantize + maximum : quantize;
    std::printf("%s: %.2f GB/s of f32, memcpy %.2f GB/s, ratio %.2f; largest "
                "magnitude %.2f GB/s, ratio with it where it matters %.2f\n",
                name, gigabytes / quantize, gigabytes / copying,
                copying / quantize, gigabytes / maximum, copying / whole);
  }
  return 0;
}
