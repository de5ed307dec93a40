//===- TileTest.cpp - scales into the tiled layout and back ---------------===//
//
// Part of the blockscale project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "blockscale/Packing/Tile.h"
#include "Formats/OracleCsv.h"

#include <algorithm>
#include <gtest/gtest.h>

using namespace blockscale;
using namespace blockscale::packing;
using namespace blockscale::test;

namespace {

std::vector<uint8_t> counting(size_t size) {
  std::vector<uint8_t> bytes(size);
  for (size_t i = 0; i < size; ++i)
    bytes[i] = static_cast<uint8_t>(i * 37 + i / 256 * 11 + 1);
  return bytes;
}

TEST(Tile, EveryOffsetOfTheOracle) {
  std::vector<CsvRow> rows = readOracle("sf_gmem_offsets.csv");
  ASSERT_EQ(rows.size(), 420u);
  for (const CsvRow &row : rows) {
    hw::ScaleTensor tensor;
    tensor.blockSize = std::stoul(row.at("block_size"));
    tensor.mn = std::stoull(row.at("mn_extent"));
    tensor.k = std::stoull(row.at("k_extent"));
    tensor.batch = std::stoull(row.at("batch_extent"));
    std::vector<uint8_t> plain(plainScaleBytes(tensor));
    uint64_t mn = std::stoull(row.at("mn"));
    uint64_t scale = std::stoull(row.at("k_element")) / tensor.blockSize;
    uint64_t batch = std::stoull(row.at("batch"));
    plain[(batch * tensor.mn + mn) * scalesPerRow(tensor) + scale] = 0xa5;
    std::optional<std::vector<uint8_t>> tiled = tileScales(tensor, plain);
    ASSERT_TRUE(tiled);
    uint64_t offset = std::stoull(row.at("byte_offset"));
    ASSERT_LT(offset, tiled->size());
    EXPECT_EQ((*tiled)[offset], 0xa5) << offset;
    EXPECT_EQ(std::count(tiled->begin(), tiled->end(), 0xa5), 1);
  }
}

TEST(Tile, OneAtomByHand) {
  hw::ScaleTensor tensor{32, 128, 128, 1};
  std::vector<uint8_t> tiled = *tileScales(tensor, counting(512));
  // Row 0, scales 0 to 3; then rows 32, 64, 96; then row 1.
  std::vector<uint8_t> plain = counting(512);
  for (unsigned i = 0; i < 4; ++i) {
    EXPECT_EQ(tiled[i], plain[i]);
    EXPECT_EQ(tiled[4 + i], plain[128 + i]);
    EXPECT_EQ(tiled[8 + i], plain[256 + i]);
    EXPECT_EQ(tiled[12 + i], plain[384 + i]);
    EXPECT_EQ(tiled[16 + i], plain[4 + i]);
  }
}

TEST(Tile, RaggedShapesComeBackAndPadWithTheGivenByte) {
  for (unsigned blockSize : {16u, 32u, 64u})
    for (uint64_t mn : {1, 31, 127, 129, 300})
      for (uint64_t k : {16, 100, 512, 1040}) {
        hw::ScaleTensor tensor{blockSize, mn, k, 3};
        std::vector<uint8_t> plain(plainScaleBytes(tensor), 0x11);
        std::vector<uint8_t> tiled = *tileScales(tensor, plain, 0x7f);
        EXPECT_EQ(tiled.size() % 512, 0u);
        EXPECT_EQ(size_t(std::count(tiled.begin(), tiled.end(), 0x11)),
                  plain.size());
        EXPECT_EQ(size_t(std::count(tiled.begin(), tiled.end(), 0x7f)),
                  tiled.size() - plain.size());
        plain = counting(plain.size());
        EXPECT_EQ(untileScales(tensor, *tileScales(tensor, plain)), plain);
      }
}

TEST(Tile, RefusesWrongSizesAndBlocks) {
  hw::ScaleTensor tensor{32, 128, 128, 1};
  EXPECT_FALSE(tileScales(tensor, std::vector<uint8_t>(511)));
  EXPECT_FALSE(untileScales(tensor, std::vector<uint8_t>(513)));
  tensor.blockSize = 0;
  EXPECT_FALSE(tileScales(tensor, {}));
  tensor = {32, ~uint64_t(0), 128, 1};
  EXPECT_FALSE(tileScales(tensor, {}));
}

TEST(Tile, RepeatsScalesOfSeveralRowsAndLongTiles) {
  // Two matrices of 5 rows by 160 elements, one scale for 4 rows and 64
  // elements: 2 x 3 scales each, of which the last cover one row and one block.
  hw::ScaleTensor tensor{32, 5, 160, 2};
  std::vector<uint8_t> scales{1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12};
  std::vector<uint8_t> expected{
      1, 1, 2, 2, 3, 1, 1, 2, 2, 3, 1, 1,  2,  2,  3,  1,  1,
      2, 2, 3, 4, 4, 5, 5, 6, 7, 7, 8, 8,  9,  7,  7,  8,  8,
      9, 7, 7, 8, 8, 9, 7, 7, 8, 8, 9, 10, 10, 11, 11, 12,
  };
  EXPECT_EQ(repeatScales(tensor, {4, 64}, scales), expected);
  // One for all rows of a matrix, in tiles as long as the blocks.
  tensor.k = 64;
  EXPECT_EQ(repeatScales(tensor, {0, 32}, {1, 2, 3, 4}),
            (std::vector<uint8_t>{1, 2, 1, 2, 1, 2, 1, 2, 1, 2,
                                  3, 4, 3, 4, 3, 4, 3, 4, 3, 4}));
  // What is as fine as the instruction's stays.
  EXPECT_EQ(repeatScales({16, 1, 32, 1}, {1, 16}, {8, 9}),
            (std::vector<uint8_t>{8, 9}));
}

TEST(Tile, RepeatsNoScalesOfOtherSizes) {
  hw::ScaleTensor tensor{32, 5, 160, 1};
  EXPECT_FALSE(repeatScales(tensor, {4, 64}, {1, 2, 3, 4, 5}));
  EXPECT_FALSE(repeatScales(tensor, {4, 64}, {1, 2, 3, 4, 5, 6, 7}));
  EXPECT_FALSE(repeatScales(tensor, {1, 16}, std::vector<uint8_t>(50)));
  EXPECT_FALSE(repeatScales(tensor, {1, 48}, std::vector<uint8_t>(20)));
  EXPECT_FALSE(repeatScales(tensor, {1, 0}, {}));
  tensor.blockSize = 24;
  EXPECT_FALSE(repeatScales(tensor, {1, 24}, std::vector<uint8_t>(35)));
}

} // namespace
