//===- Tile.cpp - scales into the tiled layout and back -------------------===//
//
// Part of the blockscale project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "blockscale/Packing/Tile.h"
#include "blockscale/Packing/Storage.h"

#include <algorithm>

using namespace blockscale;
using namespace blockscale::packing;

uint64_t packing::scalesPerRow(const hw::ScaleTensor &tensor) {
  return hw::atomsAlong(tensor.k, tensor.blockSize);
}

uint64_t packing::plainScaleBytes(const hw::ScaleTensor &tensor) {
  return tensor.batch * tensor.mn * scalesPerRow(tensor);
}

static ByteMatrices matricesOf(const hw::ScaleTensor &tensor) {
  return {tensor.batch, tensor.mn, scalesPerRow(tensor)};
}

std::optional<std::vector<uint8_t>>
packing::repeatScales(const hw::ScaleTensor &tensor,
                      const ScaleCoverage &coverage,
                      const std::vector<uint8_t> &scales) {
  uint64_t block = tensor.blockSize;
  uint64_t rows =
      coverage.rows ? std::min(coverage.rows, tensor.mn) : tensor.mn;
  if (hw::whyNot(tensor) || !coverage.elements || coverage.elements % block)
    return std::nullopt;
  uint64_t rowTiles = (tensor.mn + rows - 1) / rows;
  uint64_t tiles =
      tensor.k / coverage.elements + (tensor.k % coverage.elements != 0);
  if (scales.size() != tensor.batch * rowTiles * tiles)
    return std::nullopt;
  std::vector<uint8_t> plain;
  plain.reserve(plainScaleBytes(tensor));
  for (uint64_t matrix = 0; matrix < tensor.batch; ++matrix)
    for (uint64_t row = 0; row < tensor.mn; ++row) {
      const uint8_t *own =
          scales.data() + (matrix * rowTiles + row / rows) * tiles;
      for (uint64_t at = 0; at < scalesPerRow(tensor); ++at)
        plain.push_back(own[at * block / coverage.elements]);
    }
  return plain;
}

std::optional<std::vector<uint8_t>>
packing::tileScales(const hw::ScaleTensor &tensor,
                    const std::vector<uint8_t> &plain, uint8_t padding) {
  if (hw::whyNot(tensor) || plain.size() != plainScaleBytes(tensor))
    return std::nullopt;
  std::vector<uint8_t> tiled(hw::storageBytes(tensor), padding);
  toStorage(hw::kTiledScales, matricesOf(tensor), plain.data(), tiled.data());
  return tiled;
}

std::optional<std::vector<uint8_t>>
packing::untileScales(const hw::ScaleTensor &tensor,
                      const std::vector<uint8_t> &tiled) {
  if (hw::whyNot(tensor) || tiled.size() != hw::storageBytes(tensor))
    return std::nullopt;
  std::vector<uint8_t> plain(plainScaleBytes(tensor));
  fromStorage(hw::kTiledScales, matricesOf(tensor), tiled.data(), plain.data());
  return plain;
}
