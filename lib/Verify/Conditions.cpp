//===- Conditions.cpp - what a kernel must stand --------------------------===//
//
// Part of the blockscale project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Conditions.h"
#include "blockscale/Packing/Sparse.h"
#include "blockscale/Packing/Storage.h"
#include "blockscale/Packing/Tile.h"
#include "blockscale/Plan/Sizes.h"

#include <algorithm>
#include <random>

using namespace blockscale;
using namespace blockscale::verify;

//===----------------------------------------------------------------------===//
// Padding
//===----------------------------------------------------------------------===//

/// Replaces the bytes that `owned` leaves at zero by ones of `draw`.
template <typename Draw>
static void fillFree(const std::optional<std::vector<uint8_t>> &owned,
                     std::vector<uint8_t> &tiled, Draw draw) {
  for (size_t i = 0; owned && i < tiled.size(); ++i)
    if (!(*owned)[i])
      tiled[i] = draw();
}

std::vector<uint8_t> verify::layOutScales(const hw::Layout &layout,
                                          const hw::ScaleTensor &tensor,
                                          const std::vector<uint8_t> &plain,
                                          uint8_t padding) {
  packing::ByteMatrices matrices{tensor.batch, tensor.mn,
                                 packing::scalesPerRow(tensor)};
  std::vector<uint8_t> stored(packing::storageBytes(layout, matrices), padding);
  packing::toStorage(layout, matrices, plain.data(), stored.data());
  return stored;
}

void verify::drawScalePadding(const hw::Layout &layout,
                              const hw::ScaleTensor &tensor, unsigned largest,
                              uint64_t seed, std::vector<uint8_t> &tiled) {
  // The generator's own numbers are the same everywhere; those of the standard
  // distributions are not.
  std::mt19937_64 random(seed);
  std::vector<uint8_t> owned(packing::plainScaleBytes(tensor), 1);
  fillFree(layOutScales(layout, tensor, owned, 0), tiled,
           [&] { return uint8_t((random() >> 32) % (largest + 1)); });
}

void verify::drawMetadataPadding(const hw::MetadataTensor &tensor,
                                 uint64_t batch, uint64_t seed,
                                 std::vector<uint8_t> &tiled) {
  // Two places of four, the lower one in the lower bits; of 1:2 only the words
  // that name the first and the second of two.
  static constexpr uint8_t pairs[] = {0x4, 0x8, 0xc, 0x9, 0xd, 0xe};
  static constexpr uint8_t halves[] = {0x4, 0xe};
  bool isHalf = tensor.pattern == hw::SparsePattern::OneOfTwo;
  std::mt19937_64 random(seed);
  auto nibble = [&] {
    uint64_t number = random() >> 32;
    return isHalf ? halves[number % std::size(halves)]
                  : pairs[number % std::size(pairs)];
  };
  uint64_t perByte = hw::elementsPerMetadataByte(tensor.pattern);
  uint64_t rowBytes = (tensor.k + perByte - 1) / perByte;
  std::vector<uint8_t> plain(batch * tensor.m * rowBytes, 1);
  fillFree(packing::tileMetadata(tensor, batch, plain, 0), tiled,
           [&] { return uint8_t(nibble() | nibble() << 4); });
}

//===----------------------------------------------------------------------===//
// Numbers
//===----------------------------------------------------------------------===//

bool verify::plantNaN(reference::Operand &operand, uint64_t k, uint64_t row,
                      uint64_t seed) {
  if (operand.blockSize) {
    if (!formatInfo(operand.scaleFormat).hasNaN())
      return false;
    uint64_t blocks = operand.blocks(k);
    operand.scales[row * blocks + seed % blocks] =
        uint8_t(formatInfo(operand.scaleFormat).nanCode);
    return true;
  }
  constexpr uint32_t kTF32NaN = 0x7fc00000;
  uint64_t at = row * k + seed % k;
  if (operand.elements == reference::Elements::TF32)
    operand.setCode(at, kTF32NaN);
  else if (operand.elements == reference::Elements::Format &&
           formatInfo(operand.format).hasNaN())
    operand.setCode(at, formatInfo(operand.format).nanCode);
  else
    return false;
  return true;
}

//===----------------------------------------------------------------------===//
// The launch
//===----------------------------------------------------------------------===//

void verify::loosenPointers(const plan::Kernel &kernel, HostData &data) {
  // Buffers start at multiples of a page.
  for (auto &[role, bytes] : data.memory) {
    uint64_t shift = plan::alignmentOf(kernel, role);
    bytes.insert(bytes.begin(), shift, kGuardByte);
    data.offsets[role] = shift;
  }
}

plan::Environment verify::fewSms(const plan::Kernel &kernel,
                                 const plan::Environment &sizes) {
  constexpr uint64_t kTiles = 5;
  plan::Environment few = sizes;
  few["num_sms"] = few["max_clusters"] = plan::kMaxSize;
  uint64_t ctas = 1, clusterCtas = 1;
  for (const std::string &extent : kernel.grid) {
    Result<uint64_t> value = evaluateSize(extent, few);
    // What is wrong with it is said where the launch is built.
    if (!value || *value > uint64_t(plan::kMaxSize))
      return sizes;
    ctas *= *value;
  }
  for (int64_t extent : kernel.cluster)
    clusterCtas *= uint64_t(extent);
  uint64_t clusters = std::max<uint64_t>(1, ctas / clusterCtas / kTiles);
  few["num_sms"] =
      std::min(sizes.at("num_sms"), int64_t(clusters * clusterCtas));
  few["max_clusters"] = std::min(sizes.at("max_clusters"), int64_t(clusters));
  return few;
}
