//===- TileColumnsTest.cpp - columns of a tile and of instructions --------===//
//
// Part of the blockscale project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "blockscale/HW/TileColumns.h"

#include <gtest/gtest.h>

using namespace blockscale::hw;

namespace {

struct Case {
  unsigned tile, first, second, common, scaleColumn;
};

TEST(TileColumns, WideTilesAreTwoInstructions) {
  // 256 and 128 begin with whole groups of 128 rows of scales, the others with
  // 64 rows of one.
  for (const Case &c : {Case{320, 192, 128, 64, 6}, Case{384, 256, 128, 128, 8},
                        Case{448, 256, 192, 64, 8}}) {
    TileColumns columns = tileColumns(c.tile);
    EXPECT_EQ(columns.instructions(), 2u) << c.tile;
    EXPECT_EQ(columns.first, c.first) << c.tile;
    EXPECT_EQ(columns.second, c.second) << c.tile;
    EXPECT_EQ(columns.columnsOf(0), c.first) << c.tile;
    EXPECT_EQ(columns.columnsOf(1), c.second) << c.tile;
    EXPECT_EQ(columns.begin(1), c.first) << c.tile;
    EXPECT_EQ(commonColumns(columns), c.common) << c.tile;
    EXPECT_EQ(scaleColumnOf(columns, 1), c.scaleColumn) << c.tile;
  }
}

TEST(TileColumns, OthersAreOne) {
  for (unsigned tile : {8u, 192u, 256u}) {
    TileColumns columns = tileColumns(tile);
    EXPECT_EQ(columns.instructions(), 1u);
    EXPECT_EQ(columns.first, tile);
    EXPECT_EQ(commonColumns(columns), tile);
    EXPECT_EQ(scaleColumnOf(columns, 0), 0u);
  }
}

TEST(TileColumns, ScalesOfATileLieInOneRegion) {
  // Four words of 16 scales, each of 12 columns for 384 rows.
  EXPECT_EQ(tileScaleRegion(320).wordStride, 12u);
  EXPECT_EQ(tileScaleRegion(320).rows, 384u);
  EXPECT_EQ(tileScaleColumns(320, 16), 48u);
  for (unsigned rows : {128u, 256u}) {
    blockscale::Result<ScaleRegion> region =
        scaleRegion(ScalePath::FourByOne, rows);
    ASSERT_TRUE(region);
    EXPECT_EQ(tileScaleRegion(rows).wordStride, region->wordStride);
    EXPECT_EQ(tileScaleColumns(rows, 16), scaleColumns(rows, 16));
  }
}

} // namespace
