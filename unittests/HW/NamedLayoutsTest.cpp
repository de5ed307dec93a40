//===- NamedLayoutsTest.cpp - every layout by its name --------------------===//
//
// Part of the blockscale project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "blockscale/HW/NamedLayouts.h"
#include "Formats/OracleCsv.h"
#include "Formats/TextOf.h"

#include <gtest/gtest.h>

using namespace blockscale::hw;
using blockscale::test::CsvRow;
using blockscale::test::number;
using blockscale::test::readOracle;
using blockscale::test::textOf;

namespace {

using Values = std::vector<std::uint64_t>;
using Parameters = std::map<std::string, std::uint64_t>;

/// Holds content and place to each other in both directions.
void expectPlace(const char *name, const Parameters &parameters,
                 const Values &content, const Values &place) {
  auto layout = namedLayout(name, parameters);
  ASSERT_TRUE(layout) << textOf(layout);
  auto at = layout->placeOf(content);
  ASSERT_TRUE(at) << textOf(at);
  EXPECT_EQ(*at, place) << name;
  auto back = layout->contentAt(place);
  ASSERT_TRUE(back) << textOf(back);
  ASSERT_TRUE(*back);
  EXPECT_EQ(**back, content) << name;
}

/// What namedLayout() refuses.
std::string refusal(const char *name, const Parameters &parameters) {
  return textOf(namedLayout(name, parameters));
}

// The formula of CUTLASS and cuBLAS, by hand: row 37 is row 5 of the second
// quarter of its tile, block 3 the last of its group.
TEST(NamedLayouts, OneByteByHand) {
  expectPlace("tiled_128x4", {{"rows", 128}, {"blocks", 4}}, {0, 37, 3},
              {5 * 16 + 1 * 4 + 3});
  // Tile (1, 2) of 2 x 3 in matrix 1.
  expectPlace("tiled_128x4", {{"rows", 200}, {"blocks", 10}, {"batch", 2}},
              {1, 165, 9}, {6 * 512 + 5 * 512 + 5 * 16 + 1 * 4 + 1});
  // Tile (1, 1) of 2 x 2 in matrix 1, row after row.
  expectPlace("tiled_128x16", {{"rows", 200}, {"blocks", 20}, {"batch", 2}},
              {1, 165, 19}, {4 * 2048 + 3 * 2048 + 37 * 16 + 3});
  expectPlace("plain", {{"rows", 200}, {"blocks", 10}, {"batch", 2}},
              {1, 165, 9}, {2000 + 1659});
}

TEST(NamedLayouts, SizesWithPadding) {
  auto layout =
      namedLayout("tiled_128x4", {{"rows", 200}, {"blocks", 10}, {"batch", 2}});
  ASSERT_TRUE(layout);
  EXPECT_EQ(layout->size(), 2u * 256 * 12);
  unsigned held = 0;
  for (std::uint64_t offset = 0; offset < layout->size(); ++offset)
    held += layout->contentAt({offset})->has_value();
  EXPECT_EQ(held, 2u * 200 * 10);
  EXPECT_EQ(namedLayout("plain", {{"rows", 3}, {"blocks", 5}})->size(), 15u);
  EXPECT_EQ(
      namedLayout("tiled_metadata", {{"rows", 129}, {"blocks", 17}})->size(),
      256u * 32);
}

TEST(NamedLayouts, Formulas) {
  auto text = [](const char *name, const Parameters &parameters) {
    return namedLayout(name, parameters)->formula();
  };
  EXPECT_EQ(text("tiled_128x4", {{"rows", 200}, {"blocks", 10}, {"batch", 2}}),
            "offset += batch * 3072\n"
            "offset += row / 128 * 1536\n"
            "offset += block / 4 * 512\n"
            "offset += row % 32 * 16\n"
            "offset += row % 128 / 32 * 4\n"
            "offset += block % 4\n");
  EXPECT_EQ(text("plain", {{"rows", 3}, {"blocks", 5}}),
            "offset += row * 5\noffset += block\n");
  EXPECT_EQ(text("scale_registers", {}),
            "row += thread % 4 * 8\nrow += thread / 4\nblock += byte\n");
}

TEST(NamedLayouts, ScalesOfTheOracle) {
  for (const CsvRow &row : readOracle("sf_gmem_offsets.csv")) {
    unsigned block = number(row, "block_size");
    expectPlace("tiled_128x4",
                {{"rows", number(row, "mn_extent")},
                 {"blocks", (number(row, "k_extent") + block - 1) / block},
                 {"batch", number(row, "batch_extent")}},
                {number(row, "batch"), number(row, "mn"),
                 number(row, "k_element") / block},
                {number(row, "byte_offset")});
  }
}

TEST(NamedLayouts, MetadataOfTheOracle) {
  for (const CsvRow &row : readOracle("sparse_meta_gmem_offsets.csv")) {
    unsigned each = number(row, "logical_elements_per_metadata_byte");
    expectPlace("tiled_metadata",
                {{"rows", number(row, "M")},
                 {"blocks", number(row, "K_logical") / each}},
                {0, number(row, "m"), number(row, "k_logical") / each},
                {number(row, "byte_offset")});
  }
  for (const CsvRow &row : readOracle("tmem_sparse_meta.csv")) {
    // An instruction's K is 8 bytes of each row.
    unsigned k = number(row, "K_logical_per_mma"), each = k / 8;
    expectPlace(
        "tensor_metadata", {{"blocks", 64}},
        {number(row, "m"),
         (number(row, "k_step") * k + number(row, "k_logical")) / each},
        {number(row, "lane"), number(row, "column"), number(row, "byte")});
  }
}

TEST(NamedLayouts, TensorScalesOfTheOracle) {
  for (const CsvRow &row : readOracle("tmem_sf_layout.csv")) {
    bool isTwoByTwo = row.at("datapath") == "2x2" && row.at("operand") == "B";
    // Of sparse A a block counts the elements that are kept.
    unsigned scales = number(row, "K") / number(row, "block_size") /
                      (row.at("sparse") == "1" ? 2 : 1);
    expectPlace(
        "tensor_scales",
        {{"rows", number(row, "mn_extent")},
         {"blocks", 64},
         {"copies", isTwoByTwo ? 2 : 4}},
        {number(row, "mn"),
         number(row, "k_step") * scales + number(row, "sf_in_mma"),
         number(row, "replica")},
        {number(row, "lane"), number(row, "column"), number(row, "byte")});
  }
}

TEST(NamedLayouts, AccumulatorsOfTheOracle) {
  for (const CsvRow &row : readOracle("tmem_accumulator.csv")) {
    std::string name = "accumulator_";
    name += static_cast<char>(row.at("layout_id")[0] - 'A' + 'a');
    expectPlace(
        name.c_str(), {{"columns", number(row, "N")}},
        {number(row, "m"), number(row, "n")},
        {number(row, "cta_rank"), number(row, "lane"), number(row, "column")});
    EXPECT_EQ(
        namedLayout(name, {{"columns", number(row, "N")}})->contents[0].extent,
        number(row, "M"));
  }
}

TEST(NamedLayouts, LoadsOfTheOracle) {
  for (const CsvRow &row : readOracle("tcgen05_ld_fragments.csv")) {
    if (row.at("shape") == "16x32bx2")
      continue;
    expectPlace(("load_" + row.at("shape")).c_str(),
                {{"repeat", number(row, "num")}},
                {number(row, "lane_offset"), number(row, "column_offset")},
                {number(row, "thread"), number(row, "register")});
  }
  // Threads 16 to 31 read what lies 'split' columns further; between the halves
  // is what no register holds.
  expectPlace("load_16x32bx2", {{"repeat", 4}, {"split", 8}}, {3, 9}, {19, 1});
  expectPlace("load_16x32bx2", {{"repeat", 4}, {"split", 8}}, {3, 1}, {3, 1});
  auto halves = namedLayout("load_16x32bx2", {{"repeat", 4}, {"split", 8}});
  ASSERT_TRUE(halves);
  EXPECT_EQ(textOf(halves->placeOf({3, 5})),
            "lane 3, column 5 has no place in layout 'load_16x32bx2'");
}

TEST(NamedLayouts, WarpOperandsOfTheOracle) {
  unsigned checked = 0;
  for (const CsvRow &row : readOracle("mma_sync_fragments.csv")) {
    const std::string &instruction = row.at("instruction");
    bool isSparse = instruction.substr(0, 3) == "sp.";
    unsigned k = static_cast<unsigned>(
        std::stoul(instruction.substr(instruction.find("n8k") + 3)));
    const std::string operand = row.at("operand").substr(0, 1);
    std::string name = operand == "A"   ? "warp_a"
                       : operand == "B" ? "warp_b"
                       : operand == "C" ? "warp_c"
                       : operand == "E" ? "warp_metadata"
                                        : "";
    if (name.empty())
      continue;
    ++checked;
    expectPlace(name.c_str(), {{"k", k}, {"sparse", isSparse}},
                {number(row, "row_m_or_col_n"), number(row, "k_element_or_n")},
                {number(row, "thread"), number(row, "value_index")});
  }
  EXPECT_EQ(checked, 5142u);
}

// PTX ISA, scale vectors of mma.sync: of each quad threads 0 and 2 hold A's row
// g, 1 and 3 row g + 8, of which thread-id chooses; B's column g is in all
// four.
TEST(NamedLayouts, WarpScales) {
  expectPlace("warp_scales_a", {{"k", 64}, {"scales", 4}}, {8 + 5, 32, 1},
              {5 * 4 + 3, 2});
  expectPlace("warp_scales_b", {{"k", 64}, {"scales", 2}}, {5, 32, 3},
              {5 * 4 + 3, 1});
  // The scale of an element that is not the first of its block.
  auto layout = namedLayout("warp_scales_b", {{"k", 64}, {"scales", 2}});
  ASSERT_TRUE(layout);
  EXPECT_EQ(*layout->placeOf({5, 63, 3}), (Values{23, 1}));
}

TEST(NamedLayouts, AllAreOneToOne) {
  std::map<std::string, Parameters> sizes{
      {"plain", {{"rows", 5}, {"blocks", 3}, {"batch", 2}}},
      {"tiled_128x4", {{"rows", 130}, {"blocks", 5}, {"batch", 2}}},
      {"tiled_128x16", {{"rows", 130}, {"blocks", 17}, {"batch", 2}}},
      {"tiled_metadata", {{"rows", 130}, {"blocks", 17}, {"batch", 2}}},
      {"tensor_scales", {{"rows", 96}, {"blocks", 9}}},
      {"tensor_metadata", {{"rows", 64}, {"blocks", 7}}},
      {"accumulator_a", {{"columns", 48}}},
      {"accumulator_b", {{"columns", 48}}},
      {"accumulator_d", {{"columns", 24}}},
      {"accumulator_f", {{"columns", 24}}},
      {"load_32x32b", {{"repeat", 8}}},
      {"load_16x64b", {{"repeat", 8}}},
      {"load_16x128b", {{"repeat", 8}}},
      {"load_16x256b", {{"repeat", 8}}},
      {"load_16x32bx2", {{"repeat", 8}, {"split", 20}}},
      {"warp_a", {{"k", 128}, {"sparse", 1}}},
      {"warp_b", {{"k", 64}}},
      {"warp_c", {{"k", 32}}},
      {"warp_metadata", {{"k", 64}}},
      {"warp_scales_a", {{"k", 128}, {"sparse", 1}, {"scales", 4}}},
      {"warp_scales_b", {{"k", 64}, {"scales", 4}}},
      {"scale_registers", {}}};
  ASSERT_EQ(sizes.size(), namedLayouts().size());
  for (const NamedLayoutKind &kind : namedLayouts()) {
    ASSERT_TRUE(sizes.count(kind.name)) << kind.name;
    auto layout = namedLayout(kind.name, sizes[kind.name]);
    ASSERT_TRUE(layout) << textOf(layout);
    // Every place, as an odometer.
    Values place(layout->places.size(), 0);
    std::uint64_t held = 0;
    for (std::uint64_t i = 0; i < layout->size(); ++i) {
      std::uint64_t left = i;
      for (std::size_t axis = place.size(); axis-- > 0;) {
        place[axis] = left % layout->places[axis].extent;
        left /= layout->places[axis].extent;
      }
      auto content = layout->contentAt(place);
      ASSERT_TRUE(content) << kind.name;
      if (!*content)
        continue;
      ++held;
      auto back = layout->placeOf(**content);
      ASSERT_TRUE(back) << textOf(back);
      ASSERT_EQ(*back, place) << kind.name;
    }
    std::uint64_t lies = 1;
    for (const LayoutAxis &axis : layout->contents)
      lies *= axis.extent;
    // Of what a load spans the columns between its halves are not held; a scale
    // is for 32 elements of these.
    if (kind.name == "load_16x32bx2")
      lies = 16 * 8 * 2;
    if (kind.name == "warp_scales_a")
      lies /= 32;
    if (kind.name == "warp_scales_b")
      lies /= 16;
    EXPECT_EQ(held, lies) << kind.name;
  }
}

TEST(NamedLayouts, Refusals) {
  EXPECT_EQ(refusal("tiled", {}).substr(0, 61),
            "unknown layout 'tiled', legal are 'plain', 'tiled_128x4', 'ti");
  EXPECT_EQ(refusal("plain", {{"row", 4}}),
            "layout 'plain' has no parameter 'row', legal are 'rows', 'blocks' "
            "and 'batch'");
  EXPECT_EQ(refusal("scale_registers", {{"k", 4}}),
            "layout 'scale_registers' has no parameter 'k'");
  EXPECT_EQ(refusal("plain", {{"rows", 4}}),
            "layout 'plain' needs 'blocks', the bytes for each row");
  EXPECT_EQ(refusal("plain", {{"rows", 0}, {"blocks", 1}}),
            "expected 'rows' of at least 1, found 0");
  std::uint64_t large = std::uint64_t(1) << 40;
  for (const char *name : {"plain", "tiled_128x4", "tiled_metadata"}) {
    EXPECT_EQ(refusal(name, {{"rows", large}, {"blocks", large}}),
              "the layout does not fit 62 bits");
    EXPECT_EQ(refusal(name, {{"rows", ~std::uint64_t(0)}, {"blocks", 1}}),
              "the layout does not fit 62 bits");
  }
  EXPECT_EQ(refusal("tensor_scales", {{"copies", 3}}),
            "scales lie in tensor memory in 4 copies, or in 2 of B with pairs "
            "of CTAs and M = 128; found 3");
  EXPECT_EQ(refusal("tensor_scales", {{"rows", 256}, {"blocks", 1024}}),
            "the layout has 2048 columns, tensor memory 512");
  EXPECT_EQ(
      refusal("tensor_scales", {{"blocks", ~std::uint64_t(0)}}),
      "an instruction reads scales of at most 256 rows, and tensor memory "
      "has 2048 bytes in a lane");
  EXPECT_EQ(refusal("tensor_metadata", {{"rows", 129}}),
            "tensor memory has 128 lanes, one for each row; found 129 rows");
  EXPECT_NE(refusal("accumulator_a", {{"columns", 24}}), "");
  EXPECT_NE(refusal("load_32x32b", {{"repeat", 3}}), "");
  EXPECT_EQ(refusal("load_16x32bx2", {{"repeat", 4}, {"split", 3}}),
            "the second half of a load lies 'split' columns behind the first, "
            "from 4 to 508, found 3");
  EXPECT_EQ(refusal("warp_a", {{"k", 96}}),
            "mma.sync with block scaling has K = 32 and 64, and 64 and 128 "
            "where A is sparse; found 96");
  EXPECT_NE(refusal("warp_scales_a", {{"k", 64}, {"scales", 3}}), "");
  EXPECT_NE(refusal("warp_metadata", {{"k", 64}, {"sparse", 0}}), "");

  auto layout = namedLayout("plain", {{"rows", 4}, {"blocks", 2}});
  ASSERT_TRUE(layout);
  EXPECT_EQ(textOf(layout->placeOf({0, 4, 0})), "row 4 is none of the 4");
  EXPECT_EQ(textOf(layout->placeOf({0, 4})), "expected 3 coordinates, found 2");
  EXPECT_EQ(textOf(layout->contentAt({8})), "offset 8 is none of the 8");
}

} // namespace
