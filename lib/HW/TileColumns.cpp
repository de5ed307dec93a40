//===- TileColumns.cpp - columns of a tile and of instructions ------------===//
//
// Part of the blockscale project, under the Apache License v2.0 with LLVM
// Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "blockscale/HW/TileColumns.h"

#include <numeric>

using namespace blockscale::hw;

static unsigned roundedUp(unsigned value, unsigned step) {
  return static_cast<unsigned>(ceilDiv(value, step)) * step;
}

TileColumns blockscale::hw::tileColumns(unsigned columns) {
  if (columns <= kInstructionColumns)
    return {columns, 0};
  unsigned step = columns % kAtomRows == 0 ? kAtomRows : kWideTileStep;
  unsigned first = roundedUp(columns / 2, step);
  return {first, columns - first};
}

TileColumns blockscale::hw::halvesOf(unsigned columns) {
  return {columns / 2, columns / 2};
}

unsigned blockscale::hw::commonColumns(const TileColumns &tile) {
  return std::gcd(tile.first, tile.second);
}

ScaleRegion blockscale::hw::tileScaleRegion(unsigned rows) {
  unsigned padded = roundedUp(rows, kAtomRows);
  return {ScalePath::FourByOne, padded, padded / kAtomLanes};
}

unsigned blockscale::hw::tileScaleColumns(unsigned rows, unsigned scales) {
  ScaleRegion region = tileScaleRegion(rows);
  return static_cast<unsigned>(scaleLayout(region).extent(
      Dim::Column, {{Dim::Row, region.rows}, {Dim::Block, scales}}));
}

unsigned blockscale::hw::scaleColumnOf(const TileColumns &tile,
                                       unsigned number) {
  return tile.begin(number) / kAtomLanes;
}
