//===- ScaleLayoutTest.cpp - where every scale byte lies===//
//
// Part of the blockscale project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "blockscale/HW/ScaleLayout.h"
#include "Formats/TextOf.h"
#include "blockscale/HW/Mma.h"

#include <set>
#include <tuple>

#include <gtest/gtest.h>

#include "Formats/OracleCsv.h"

using namespace blockscale::hw;
using blockscale::test::CsvRow;
using blockscale::test::number;
using blockscale::test::readOracle;
using blockscale::test::textOf;

namespace {

TEST(ScaleLayout, EveryByteOfTheStorageIsOneScale) {
  for (unsigned block : {16u, 32u, 64u}) {
    ScaleTensor tensor{block, 200, 5 * block + 1, 3};
    ASSERT_EQ(paddedRows(tensor), 256u);
    ASSERT_EQ(paddedScales(tensor), 8u);
    ASSERT_EQ(storageBytes(tensor), 6144u);
    unsigned padding = 0;
    for (std::uint64_t offset = 0; offset < 6144; ++offset) {
      auto element = scaleAt(tensor, offset);
      ASSERT_TRUE(element);
      if (element->padding) {
        ++padding;
        continue;
      }
      auto back = scaleOffset(tensor, element->mn, element->scale * block,
                              element->batch);
      ASSERT_TRUE(back) << textOf(back);
      ASSERT_EQ(*back, offset);
    }
    EXPECT_EQ(padding, 6144u - 3 * 200 * 6);
    EXPECT_FALSE(scaleAt(tensor, 6144));
  }
}

TEST(ScaleLayout, InvertsTheGlobalOracle) {
  std::vector<CsvRow> rows = readOracle("sf_gmem_offsets.csv");
  ASSERT_EQ(rows.size(), 420u);
  for (const CsvRow &row : rows) {
    ScaleTensor tensor{number(row, "block_size"), number(row, "mn_extent"),
                       number(row, "k_extent"), number(row, "batch_extent")};
    auto element = scaleAt(tensor, number(row, "byte_offset"));
    ASSERT_TRUE(element);
    EXPECT_FALSE(element->padding);
    EXPECT_EQ(element->mn, number(row, "mn"));
    EXPECT_EQ(element->scale, number(row, "k_element") / tensor.blockSize);
    EXPECT_EQ(element->batch, number(row, "batch"));
  }
}

TEST(ScaleLayout, InvertsTheTensorMemoryOracle) {
  std::vector<CsvRow> rows = readOracle("tmem_sf_layout.csv");
  ASSERT_EQ(rows.size(), 2649u);
  for (const CsvRow &row : rows) {
    auto region =
        scaleRegion(scalePath(row.at("operand") == "B",
                              number(row, "cta_group"), number(row, "M")),
                    number(row, "mn_extent"));
    ASSERT_TRUE(region);
    unsigned scales =
        scalesPerMma(*parseKind(row.at("kind")), number(row, "block_size"),
                     number(row, "K"), row.at("sparse") == "1");
    ASSERT_NE(scales, 0u);
    auto index =
        scaleIndex(*region, {number(row, "lane"), number(row, "column"),
                             number(row, "byte")});
    ASSERT_TRUE(index) << textOf(index);
    EXPECT_EQ(index->row, number(row, "mn"));
    EXPECT_EQ(index->scale,
              number(row, "k_step") * scales + number(row, "sf_in_mma"));
    EXPECT_EQ(index->replica, number(row, "replica"));
  }
}

/// Every legal N on both paths, several words: distinct places, and back.
TEST(ScaleLayout, TensorMemoryIsBijective) {
  for (ScalePath path : {ScalePath::FourByOne, ScalePath::TwoByTwo})
    for (unsigned n = 16; n <= 256; n += 16) {
      auto region = scaleRegion(path, n);
      ASSERT_TRUE(region);
      std::set<std::tuple<unsigned, unsigned, unsigned>> seen;
      for (unsigned row = 0; row < region->rows; ++row)
        for (unsigned scale = 0; scale < 12; ++scale)
          for (unsigned replica = 0; replica < replicas(path); ++replica) {
            auto at = scalePosition(*region, row, scale, replica);
            ASSERT_TRUE(at) << textOf(at);
            ASSERT_LT(at->lane, 128u);
            ASSERT_TRUE(seen.insert({at->lane, at->column, at->byte}).second);
            auto index = scaleIndex(*region, *at);
            ASSERT_TRUE(index) << textOf(index);
            ASSERT_EQ(index->row, row);
            ASSERT_EQ(index->scale, scale);
            ASSERT_EQ(index->replica, replica);
          }
    }
}

TEST(ScaleLayout, RefusesPlacesOutside) {
  auto region = scaleRegion(ScalePath::FourByOne, 128);
  EXPECT_FALSE(scalePosition(*region, 128, 0, 0));
  EXPECT_FALSE(scalePosition(*region, 0, 0, 4));
  EXPECT_FALSE(scalePosition(*region, 0, 512, 0));
  EXPECT_FALSE(scaleIndex(*region, {128, 0, 0}));
  EXPECT_FALSE(scaleRegion(ScalePath::FourByOne, 257));
  EXPECT_FALSE(scalePosition({ScalePath::FourByOne, 256, 4}, 0, 0, 0));
}

// docs/sources.md, [scales] and test/oracle/tmem_sf_layout.csv: one word is 4
// columns for N <= 128, 8 for N up to 256.
TEST(ScaleLayout, WordStride) {
  EXPECT_EQ(scaleRegion(ScalePath::FourByOne, 128)->wordStride, 4u);
  EXPECT_EQ(scaleRegion(ScalePath::FourByOne, 64)->wordStride, 4u);
  EXPECT_EQ(scaleRegion(ScalePath::FourByOne, 192)->wordStride, 8u);
  EXPECT_EQ(scaleRegion(ScalePath::TwoByTwo, 128)->wordStride, 2u);
  EXPECT_EQ(scaleRegion(ScalePath::TwoByTwo, 256)->wordStride, 4u);
}

// As public kernels have them: odd tiles of 64 or 192 columns start 2 columns
// further.
TEST(ScaleLayout, TilesThatShareAtoms) {
  for (unsigned n : {64u, 192u}) {
    auto region = scaleRegion(ScalePath::FourByOne, n);
    EXPECT_EQ(scalePosition(*region, n % 128, 0, 0)->column, 2u);
    EXPECT_EQ(n % kSharedAtomStep, 0u);
  }
}

// test/oracle/k96_sequence.csv: {column, id} of eight MMAs.
TEST(ScaleLayout, K96Sequences) {
  constexpr unsigned block16[8][2] = {{0, 0},  {4, 2},  {12, 0}, {16, 2},
                                      {24, 0}, {28, 2}, {36, 0}, {40, 2}};
  constexpr unsigned block32[8][2] = {{0, 0},  {0, 3},  {4, 2},  {8, 1},
                                      {12, 0}, {12, 3}, {16, 2}, {20, 1}};
  for (unsigned i = 0; i < 8; ++i)
    for (unsigned stride : {4u, 8u}) {
      EXPECT_EQ(scaleStep(6, stride, i)->column, block16[i][0] * stride / 4);
      EXPECT_EQ(scaleStep(6, stride, i)->id, block16[i][1]);
      EXPECT_EQ(scaleStep(3, stride, i)->column, block32[i][0] * stride / 4);
      EXPECT_EQ(scaleStep(3, stride, i)->id, block32[i][1]);
    }
  EXPECT_FALSE(scaleStep(4, 8, 64));
  EXPECT_FALSE(scaleStep(5, 4, 0));
}

// PTX ISA 9.7.16.10.7.2: legal ids, and the bytes consumed for K=96.
TEST(ScaleLayout, IdsAndConsumedBytes) {
  constexpr unsigned legal[7] = {0, 0b1111, 0b0101, 0b1111, 0b0001, 0, 0b0101};
  for (unsigned scales = 0; scales < 7; ++scales)
    for (unsigned id = 0; id < 6; ++id) {
      EXPECT_EQ(isScaleId(scales, id), id < 4 && (legal[scales] >> id & 1));
      EXPECT_EQ(consumedBytes(scales, id).count,
                id < 4 && (legal[scales] >> id & 1) ? scales : 0);
    }
  auto list = [](unsigned scales, unsigned id) {
    std::string text;
    ConsumedBytes consumed = consumedBytes(scales, id);
    for (unsigned i = 0; i < consumed.count; ++i)
      text += std::to_string(consumed.bytes[i].word) +
              std::to_string(consumed.bytes[i].byte) + " ";
    return text;
  };
  EXPECT_EQ(list(3, 0), "00 01 02 ");
  EXPECT_EQ(list(3, 1), "01 02 03 ");
  EXPECT_EQ(list(3, 2), "02 03 10 ");
  EXPECT_EQ(list(3, 3), "03 10 11 ");
  EXPECT_EQ(list(6, 0), "00 01 02 03 10 11 ");
  EXPECT_EQ(list(6, 2), "02 03 10 11 12 13 ");
}

/// What the steps consume, laid end to end, is every scale once.
TEST(ScaleLayout, StepsConsumeEveryScaleOnce) {
  for (unsigned scales : {1u, 2u, 3u, 4u, 6u})
    for (unsigned stride : {4u, 8u})
      for (unsigned i = 0, next = 0; i < 24; ++i) {
        auto step = scaleStep(scales, stride, i);
        ASSERT_TRUE(step);
        ConsumedBytes consumed = consumedBytes(scales, step->id);
        ASSERT_EQ(consumed.count, scales);
        for (unsigned s = 0; s < scales; ++s, ++next)
          ASSERT_EQ((step->column / stride + consumed.bytes[s].word) * 4 +
                        consumed.bytes[s].byte,
                    next);
      }
}

TEST(ScaleLayout, InvertsTheK96Oracle) {
  std::vector<CsvRow> rows = readOracle("k96_scale_positions.csv");
  ASSERT_EQ(rows.size(), 475u);
  for (const CsvRow &row : rows) {
    auto region = scaleRegion(ScalePath::FourByOne, number(row, "mn_extent"));
    auto index =
        scaleIndex(*region, {number(row, "lane_in_quadrant"),
                             number(row, "column"), number(row, "byte")});
    ASSERT_TRUE(index);
    EXPECT_EQ(index->row, number(row, "mn"));
    EXPECT_EQ(index->scale, number(row, "mma_index") *
                                    (row.at("block_size") == "16" ? 6 : 3) +
                                number(row, "sf_in_mma"));
  }
}

} // namespace
