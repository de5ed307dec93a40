//===- Tile.cpp - scales into the tiled layout and back -------------------===//
//
// Part of the blockscale project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "blockscale/Packing/Tile.h"
#include "blockscale/Packing/Storage.h"

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
