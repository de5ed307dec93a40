//===- LayoutTest.cpp - layouts as values ---------------------------------===//
//
// Part of the blockscale project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "blockscale/HW/Layout.h"

#include <gtest/gtest.h>

#include "Formats/OracleCsv.h"
#include "blockscale/HW/Fragments.h"
#include "blockscale/HW/Memory.h"
#include "blockscale/HW/Metadata.h"
#include "blockscale/HW/Mma.h"
#include "blockscale/HW/ScaleLayout.h"

using namespace blockscale::hw;
using blockscale::test::CsvRow;
using blockscale::test::readOracle;

namespace {

std::uint64_t num(const CsvRow &row, const char *column) {
  return std::stoull(row.at(column));
}

//===----------------------------------------------------------------------===//
// Printed, typed from the published descriptions
//===----------------------------------------------------------------------===//

TEST(Layout, PrintsTheTilesOfMemory) {
  EXPECT_EQ(print(kTiledScales), "s0 += r / 128\n"
                                 "s1 += j / 4\n"
                                 "s2 += r % 32\n"
                                 "s3 += r % 128 / 32 * 4\n"
                                 "s3 += j % 4\n");
  EXPECT_EQ(print(kTiledMetadata), "s0 += j / 16\n"
                                   "s1 += r / 128\n"
                                   "s2 += r % 128\n"
                                   "s3 += j % 16\n");
  EXPECT_EQ(print(kPlainRows), "s0 += r\n"
                               "s1 += j\n");
}

TEST(Layout, PrintsTensorMemory) {
  EXPECT_EQ(print(scaleLayout(*scaleRegion(ScalePath::FourByOne, 200))),
            "lane += r % 32\n"
            "lane += replica * 32\n"
            "column += r / 32\n"
            "column += j / 4 * 8\n"
            "byte += j % 4\n");
  EXPECT_EQ(print(scaleLayout(*scaleRegion(ScalePath::TwoByTwo, 80))),
            "lane += r % 40 % 32\n"
            "lane += replica * 32\n"
            "lane += r / 40 * 64\n"
            "column += r % 40 / 32\n"
            "column += j / 4 * 2\n"
            "byte += j % 4\n");
  EXPECT_EQ(print(kRowPerLane), "lane += r\n"
                                "column += j / 4\n"
                                "byte += j % 4\n");
  EXPECT_EQ(print(accumulatorPlaces(AccumulatorLayout::B, 96)),
            "cta += r / 64\n"
            "lane += r % 64\n"
            "lane += n / 48 * 64\n"
            "column += n % 48\n");
}

TEST(Layout, PrintsRegisters) {
  EXPECT_EQ(print(kScaleRegisters), "r += thread % 4 * 8\n"
                                    "r += thread / 4\n");
  // m16n8k64 of packed 4-bit elements, 8 in a register.
  EXPECT_EQ(print(warpFragmentLayout(WarpMma::K64, WarpOperand::A, 2)),
            "r += thread / 4\n"
            "r += value % 16 / 8 * 8\n"
            "k += value % 8\n"
            "k += thread % 4 * 8\n"
            "k += value / 16 * 32\n");
  EXPECT_EQ(print(warpFragmentLayout(WarpMma::K64, WarpOperand::ScaleA, 4)),
            "r += thread / 4\n"
            "r += thread % 2 * 8\n"
            "replica += thread % 4 / 2\n"
            "k += value * 16\n");
}

TEST(Layout, PrintsDigitsInUnits) {
  Term slow{Dim::Block, 16}, fast{Dim::Block, 1, 16};
  EXPECT_EQ(printDigit(slow, "k", 8), "k / 128");
  EXPECT_EQ(printDigit(fast, "k", 8), "k % 128 / 8");
  EXPECT_EQ(printDigit({Dim::Row}, "r"), "r");
}

//===----------------------------------------------------------------------===//
// One-to-one
//===----------------------------------------------------------------------===//

/// Every value of up to three sources has a place of its own, and each place
/// says what lies there.
void expectOneToOne(const Layout &layout, Coordinates::Coordinate x,
                    Coordinates::Coordinate y,
                    Coordinates::Coordinate z = {Dim::Replica, 1}) {
  SCOPED_TRACE(print(layout));
  for (std::uint64_t i = 0; i < x.value; ++i)
    for (std::uint64_t j = 0; j < y.value; ++j)
      for (std::uint64_t k = 0; k < z.value; ++k) {
        Coordinates source{{x.dim, i}, {y.dim, j}, {z.dim, k}};
        std::optional<Coordinates> back = layout.sourceAt(layout.at(source));
        ASSERT_TRUE(back);
        ASSERT_TRUE(*back == source) << i << ", " << j << ", " << k;
      }
}

TEST(Layout, IsOneToOne) {
  expectOneToOne(kTiledScales, {Dim::Row, 300}, {Dim::Block, 13});
  expectOneToOne(kTiledMetadata, {Dim::Row, 300}, {Dim::Block, 50});
  expectOneToOne(kPlainRows, {Dim::Row, 300}, {Dim::Block, 13});
  expectOneToOne(kRowPerLane, {Dim::Row, 128}, {Dim::Block, 33});
  for (unsigned n = 16; n <= 256; n += 16) {
    ScaleRegion wide = *scaleRegion(ScalePath::FourByOne, n);
    expectOneToOne(scaleLayout(wide), {Dim::Row, wide.rows}, {Dim::Block, 9},
                   {Dim::Replica, 4});
    wide.wordStride += 3;
    expectOneToOne(scaleLayout(wide), {Dim::Row, wide.rows}, {Dim::Block, 9},
                   {Dim::Replica, 4});
    expectOneToOne(scaleLayout(*scaleRegion(ScalePath::TwoByTwo, n)),
                   {Dim::Row, n}, {Dim::Block, 9}, {Dim::Replica, 2});
    for (auto [layout, rows] : {std::pair{AccumulatorLayout::A, 256u},
                                {AccumulatorLayout::B, 128u},
                                {AccumulatorLayout::D, 128u},
                                {AccumulatorLayout::F, 64u}})
      expectOneToOne(accumulatorPlaces(layout, n), {Dim::Row, rows},
                     {Dim::ColumnOfD, n});
  }
  expectOneToOne(kScaleRegisters, {Dim::Thread, 32}, {Dim::Value, 1});
}

TEST(Layout, RegistersAreOneToOne) {
  for (TmemShape shape :
       {TmemShape::S32x32b, TmemShape::S16x64b, TmemShape::S16x128b,
        TmemShape::S16x256b, TmemShape::S16x32bx2})
    expectOneToOne(tmemFragmentLayout(shape, 16), {Dim::Thread, 32},
                   {Dim::Value, 16});
  for (WarpMma mma :
       {WarpMma::K32, WarpMma::K64, WarpMma::SparseK64, WarpMma::SparseK128})
    for (WarpOperand operand :
         {WarpOperand::A, WarpOperand::B, WarpOperand::C, WarpOperand::Metadata,
          WarpOperand::ScaleA, WarpOperand::ScaleB})
      for (unsigned scales : {1u, 2u, 4u})
        if (auto size = warpFragmentSize(mma, operand, scales))
          expectOneToOne(warpFragmentLayout(mma, operand, scales),
                         {Dim::Thread, 32}, {Dim::Value, *size});
}

TEST(Layout, SaysWhereNothingLies) {
  // Columns 4 to 7 of a word stride of 8 hold no scales of 128 rows.
  Layout layout = scaleLayout({ScalePath::FourByOne, 128, 8});
  std::optional<Coordinates> beyond =
      layout.sourceAt({{Dim::Lane, 0}, {Dim::Column, 4}});
  EXPECT_TRUE(!beyond || (*beyond)[Dim::Row] >= 128);
  EXPECT_FALSE(
      accumulatorPlaces(AccumulatorLayout::F, 64).sourceAt({{Dim::Lane, 16}}));
  EXPECT_FALSE(
      accumulatorPlaces(AccumulatorLayout::D, 64).sourceAt({{Dim::Cta, 1}}));
}

TEST(Layout, InverseOfTheInverse) {
  Layout twice = kTiledScales.inverse().inverse();
  for (unsigned row : {0u, 31u, 32u, 127u, 128u, 1000u})
    for (unsigned block : {0u, 3u, 4u, 9u}) {
      Coordinates source{{Dim::Row, row}, {Dim::Block, block}};
      EXPECT_TRUE(twice.at(source) == kTiledScales.at(source));
    }
}

//===----------------------------------------------------------------------===//
// Storage
//===----------------------------------------------------------------------===//

/// "r / 128 * 1024 (3)": digit, distance, number of values.
std::string print(const StorageLayout<std::uint64_t> &storage) {
  std::string text;
  for (const auto &digit : storage.digits)
    text += printDigit(digit.term, dimName(digit.term.source)) + " * " +
            std::to_string(digit.stride) + " (" + std::to_string(digit.extent) +
            ")\n";
  return text + std::to_string(storage.matrixBytes);
}

// 300 rows are 3 groups of 128, 7 scales 2 atoms.
TEST(Layout, StorageOfScales) {
  auto storage =
      storageLayout(kTiledScales, {{Dim::Row, 300}, {Dim::Block, 7}});
  const char *expected = "r / 128 * 1024 (3)\n"
                         "j / 4 * 512 (2)\n"
                         "r % 32 * 16 (32)\n"
                         "r % 128 / 32 * 4 (4)\n"
                         "j % 4 * 1 (4)\n"
                         "3072";
  EXPECT_EQ(print(storage), expected);
  EXPECT_EQ(print(joined(storage)), expected);
  EXPECT_EQ(kTiledScales.multipleOf(Dim::Row), 128u);
  EXPECT_EQ(kTiledScales.multipleOf(Dim::Block), 4u);
}

// The rows of a tile of metadata follow those of the tile before it.
TEST(Layout, StorageOfMetadataJoinsRows) {
  auto storage =
      storageLayout(kTiledMetadata, {{Dim::Row, 300}, {Dim::Block, 17}});
  EXPECT_EQ(print(storage), "j / 16 * 6144 (2)\n"
                            "r / 128 * 2048 (3)\n"
                            "r % 128 * 16 (128)\n"
                            "j % 16 * 1 (16)\n"
                            "12288");
  EXPECT_EQ(print(joined(storage)), "j / 16 * 6144 (2)\n"
                                    "r * 16 (384)\n"
                                    "j % 16 * 1 (16)\n"
                                    "12288");
}

TEST(Layout, StorageOfPlainRows) {
  EXPECT_EQ(print(joined(
                storageLayout(kPlainRows, {{Dim::Row, 300}, {Dim::Block, 7}}))),
            "r * 7 (300)\n"
            "j * 1 (7)\n"
            "2100");
}

//===----------------------------------------------------------------------===//
// Tables made with other people's software
//===----------------------------------------------------------------------===//

TEST(Layout, MatchesTheScalesInMemory) {
  std::vector<CsvRow> rows = readOracle("sf_gmem_offsets.csv");
  ASSERT_EQ(rows.size(), 420u);
  for (const CsvRow &row : rows) {
    std::uint64_t block = num(row, "block_size");
    auto storage = storageLayout(
        kTiledScales, {{Dim::Row, num(row, "mn_extent")},
                       {Dim::Block, ceilDiv(num(row, "k_extent"), block)}});
    EXPECT_EQ(storage.offset({{Dim::Batch, num(row, "batch")},
                              {Dim::Row, num(row, "mn")},
                              {Dim::Block, num(row, "k_element") / block}}),
              num(row, "byte_offset"));
  }
}

TEST(Layout, MatchesTheMetadataInMemory) {
  std::vector<CsvRow> rows = readOracle("sparse_meta_gmem_offsets.csv");
  ASSERT_FALSE(rows.empty());
  for (const CsvRow &row : rows) {
    std::uint64_t perByte = num(row, "logical_elements_per_metadata_byte");
    auto storage =
        storageLayout(kTiledMetadata,
                      {{Dim::Row, num(row, "M")},
                       {Dim::Block, ceilDiv(num(row, "K_logical"), perByte)}});
    EXPECT_EQ(storage.offset({{Dim::Row, num(row, "m")},
                              {Dim::Block, num(row, "k_logical") / perByte}}),
              num(row, "byte_offset"));
  }
}

TEST(Layout, MatchesTheScalesInTensorMemory) {
  std::vector<CsvRow> rows = readOracle("tmem_sf_layout.csv");
  ASSERT_EQ(rows.size(), 2649u);
  for (const CsvRow &row : rows) {
    bool twoByTwo = row.at("operand") == "B" && row.at("datapath") == "2x2";
    Layout layout = scaleLayout(
        *scaleRegion(twoByTwo ? ScalePath::TwoByTwo : ScalePath::FourByOne,
                     static_cast<unsigned>(num(row, "mn_extent"))));
    // Scales per MMA by kind and block, whether sparse or not.
    std::uint64_t scales = row.at("kind") == "mxf8f6f4"   ? 1
                           : num(row, "block_size") == 16 ? 4
                                                          : 2;
    Coordinates at = layout.at(
        {{Dim::Row, num(row, "mn")},
         {Dim::Block, num(row, "k_step") * scales + num(row, "sf_in_mma")},
         {Dim::Replica, num(row, "replica")}});
    EXPECT_EQ(at[Dim::Lane], num(row, "lane"));
    EXPECT_EQ(at[Dim::Column], num(row, "column"));
    EXPECT_EQ(at[Dim::Byte], num(row, "byte"));
  }
}

TEST(Layout, MatchesTheMetadataInTensorMemory) {
  std::vector<CsvRow> rows = readOracle("tmem_sparse_meta.csv");
  ASSERT_FALSE(rows.empty());
  for (const CsvRow &row : rows) {
    // 8 bytes for each MMA.
    std::uint64_t perByte = num(row, "K_logical_per_mma") / 8;
    Coordinates at =
        kRowPerLane.at({{Dim::Row, num(row, "m")},
                        {Dim::Block, num(row, "k_step") * 8 +
                                         num(row, "k_logical") / perByte}});
    EXPECT_EQ(at[Dim::Lane], num(row, "lane"));
    EXPECT_EQ(at[Dim::Column], num(row, "column"));
    EXPECT_EQ(at[Dim::Byte], num(row, "byte"));
  }
}

TEST(Layout, MatchesTheScalesOfK96) {
  std::vector<CsvRow> rows = readOracle("k96_scale_positions.csv");
  ASSERT_EQ(rows.size(), 475u);
  for (const CsvRow &row : rows) {
    Layout layout = scaleLayout(*scaleRegion(
        ScalePath::FourByOne, static_cast<unsigned>(num(row, "mn_extent"))));
    std::uint64_t scales = 96 / num(row, "block_size");
    Coordinates at = layout.at(
        {{Dim::Row, num(row, "mn")},
         {Dim::Block, num(row, "mma_index") * scales + num(row, "sf_in_mma")}});
    EXPECT_EQ(at[Dim::Lane], num(row, "lane_in_quadrant"));
    EXPECT_EQ(at[Dim::Column], num(row, "column"));
    EXPECT_EQ(at[Dim::Byte], num(row, "byte"));
  }
}

//===----------------------------------------------------------------------===//
// Layouts of machines that are not lowered to yet: only values
//===----------------------------------------------------------------------===//

// Rubin, descriptor bit 26: a row of A to a lane; NVFP4 with K = 128 reads 2
// columns for each MMA, mxf8f6f4 with K = 64 half of one.
TEST(Layout, HoldsOneRowToALane) {
  EXPECT_EQ(kRowPerLane.extent(Dim::Column, {{Dim::Row, 128}, {Dim::Block, 8}}),
            2u);
  Coordinates second = kRowPerLane.at({{Dim::Row, 77}, {Dim::Block, 2}});
  EXPECT_EQ(second[Dim::Lane], 77u);
  EXPECT_EQ(second[Dim::Column], 0u);
  EXPECT_EQ(second[Dim::Byte], 2u);
}

// Trainium: the scale of 8 partitions (group g of column f) lies in partition
// 32 * (g / 4) + g % 4 of column f.
TEST(Layout, HoldsQuadrants) {
  constexpr Layout quadrants{{Dim::Block, 4, 0, Dim::Lane, 32},
                             {Dim::Block, 1, 4, Dim::Lane},
                             {Dim::Row, 1, 0, Dim::Column}};
  expectOneToOne(quadrants, {Dim::Block, 16}, {Dim::Row, 40});
  EXPECT_EQ(quadrants.at({{Dim::Block, 15}})[Dim::Lane], 99u);
  EXPECT_FALSE(quadrants.sourceAt({{Dim::Lane, 4}}));
}

} // namespace
