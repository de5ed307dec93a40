//===- Tile.cpp - scales into the tiled layout and back -------------------===//
//
// Part of the blockscale project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "blockscale/Packing/Tile.h"

#include <algorithm>

using namespace blockscale;
using namespace blockscale::packing;

uint64_t packing::scalesPerRow(const hw::ScaleTensor &tensor) {
  return hw::atomsAlong(tensor.k, tensor.blockSize);
}

uint64_t packing::plainScaleBytes(const hw::ScaleTensor &tensor) {
  return tensor.batch * tensor.mn * scalesPerRow(tensor);
}

/// Calls `visit(plain, tiled, count)` for every run of up to four scales that
/// are neighbours in both forms.
template <typename Visit>
static void forEachRun(const hw::ScaleTensor &tensor, Visit visit) {
  uint64_t perRow = scalesPerRow(tensor);
  uint64_t atomsK = hw::atomsAlong(perRow, hw::kAtomScales);
  uint64_t atomsMN = hw::atomsAlong(tensor.mn, hw::kAtomRows);
  for (uint64_t row = 0, end = tensor.batch * tensor.mn; row < end; ++row) {
    uint64_t mn = row % tensor.mn;
    uint64_t atomRow = row / tensor.mn * atomsMN + mn / hw::kAtomRows;
    uint64_t inAtom = hw::atomOffset(mn % hw::kAtomRows, 0);
    for (uint64_t atom = 0; atom < atomsK; ++atom) {
      uint64_t first = atom * hw::kAtomScales;
      uint64_t count = std::min<uint64_t>(hw::kAtomScales, perRow - first);
      visit(row * perRow + first,
            (atomRow * atomsK + atom) * hw::kAtomBytes + inAtom, count);
    }
  }
}

std::optional<std::vector<uint8_t>>
packing::tileScales(const hw::ScaleTensor &tensor,
                    const std::vector<uint8_t> &plain, uint8_t padding) {
  if (hw::whyNot(tensor) || plain.size() != plainScaleBytes(tensor))
    return std::nullopt;
  std::vector<uint8_t> tiled(hw::storageBytes(tensor), padding);
  forEachRun(tensor, [&](uint64_t from, uint64_t to, uint64_t count) {
    std::copy_n(plain.begin() + from, count, tiled.begin() + to);
  });
  return tiled;
}

std::optional<std::vector<uint8_t>>
packing::untileScales(const hw::ScaleTensor &tensor,
                      const std::vector<uint8_t> &tiled) {
  if (hw::whyNot(tensor) || tiled.size() != hw::storageBytes(tensor))
    return std::nullopt;
  std::vector<uint8_t> plain(plainScaleBytes(tensor));
  forEachRun(tensor, [&](uint64_t to, uint64_t from, uint64_t count) {
    std::copy_n(tiled.begin() + from, count, plain.begin() + to);
  });
  return plain;
}
