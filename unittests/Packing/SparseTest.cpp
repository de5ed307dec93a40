//===- SparseTest.cpp - tests of structured sparsity ----------------------===//
//
// Part of the blockscale project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "blockscale/Packing/Sparse.h"
#include "Formats/TextOf.h"

#include "../Formats/OracleCsv.h"
#include "gtest/gtest.h"

#include <cmath>
#include <limits>
#include <map>

using namespace blockscale;
using namespace blockscale::packing;
using namespace blockscale::test;
using blockscale::test::textOf;

/// Flags from text whose first character is the last element.
static std::vector<bool> flagsOf(const std::string &text) {
  std::vector<bool> flags;
  for (auto at = text.rbegin(); at != text.rend(); ++at)
    flags.push_back(*at == '1');
  return flags;
}

TEST(Sparse, PrunesAsTheOracle) {
  unsigned tried = 0;
  for (const CsvRow &row : readOracle("numerics/sparse.csv")) {
    if (row.at("kind") != "prune_2_4")
      continue;
    ++tried;
    EXPECT_EQ(keptElements({2, 4, false}, floatsOf(row.at("inputs_f32_hex"))),
              flagsOf(row.at("kept_mask_msb_first")))
        << row.at("inputs_f32_hex");
  }
  EXPECT_EQ(tried, 127u);
}

TEST(Sparse, PrunesPairsBySquares) {
  // Pairs weigh 9 + 0, 4 + 4, 1 + 9 and 0; elements alone would keep others.
  std::vector<float> values{3, 0, -2, 2, 1, -3, 0, 0};
  EXPECT_EQ(keptElements({4, 8, true}, values),
            (std::vector<bool>{1, 1, 0, 0, 1, 1, 0, 0}));
  EXPECT_EQ(keptElements({4, 8, false}, values),
            (std::vector<bool>{1, 0, 1, 1, 0, 1, 0, 0}));
  // Equal pairs: the lower ones stay. Every group is on its own.
  EXPECT_EQ(keptElements({4, 8, true}, {1, 1, 1, 1, 1, 1, 1, 1, //
                                        0, 0, 0, 0, 0, 1, 2, 0}),
            (std::vector<bool>{1, 1, 1, 1, 0, 0, 0, 0, //
                               0, 0, 0, 0, 1, 1, 1, 1}));
}

TEST(Sparse, ANaNIsNotPruned) {
  float nan = std::numeric_limits<float>::quiet_NaN();
  EXPECT_EQ(keptElements({1, 4, false}, {1e30f, -2, nan, 3}),
            (std::vector<bool>{0, 0, 1, 0}));
}

// Of kept elements, or of pairs where eight make a group.
TEST(Sparse, MetadataOfTheOracle) {
  std::map<std::string, unsigned> tried;
  for (const CsvRow &row : readOracle("numerics/sparse.csv")) {
    if (row.at("metadata_hex").empty())
      continue;
    std::vector<bool> kept = flagsOf(row.at("kept_mask_msb_first"));
    size_t unit = kept.size() / 4;
    std::vector<unsigned> units;
    for (unsigned i = 0; i < 4; ++i)
      if (kept[i * unit])
        units.push_back(i);
    ASSERT_EQ(units.size(), 2u);
    auto nibble =
        hw::metadataNibble(unit == 2 ? hw::SparsePattern::PairsFourOfEight
                                     : hw::SparsePattern::TwoOfFour,
                           units[0], units[1]);
    ASSERT_TRUE(nibble) << textOf(nibble);
    EXPECT_EQ(*nibble, hexOf(row.at("metadata_hex")));
    ++tried[row.at("kind")];
  }
  EXPECT_EQ(tried,
            (std::map<std::string, unsigned>{{"mask_to_metadata", 3},
                                             {"prune_2_4", 127},
                                             {"compress_4_8_pairs", 56}}));
}

TEST(Sparse, CompressesRowsAsTheOracle) {
  // All of them are full: what is stored in free slots is a choice.
  std::vector<uint8_t> codes, stored, metadata;
  for (const CsvRow &row : readOracle("numerics/sparse.csv")) {
    if (row.at("kind") != "compress_4_8_pairs")
      continue;
    std::vector<float> inputs = floatsOf(row.at("inputs_f32_hex"));
    std::vector<bool> kept = flagsOf(row.at("kept_mask_msb_first"));
    unsigned used = 0;
    for (unsigned pair = 0; pair < 4; ++pair)
      used += inputs[2 * pair] != 0 || inputs[2 * pair + 1] != 0;
    ASSERT_EQ(used, 2u);
    // Distinct codes that are not zero where the oracle's numbers are not.
    for (unsigned i = 0; i < 8; ++i) {
      uint8_t code = inputs[i] != 0 ? codes.size() % 7 + 1 : 0;
      codes.push_back(code);
      if (kept[i])
        stored.push_back(code);
    }
    metadata.push_back(hexOf(row.at("metadata_hex")));
  }
  size_t groups = metadata.size() / 2 * 2;
  ASSERT_EQ(groups, 56u);
  std::vector<uint8_t> bytes;
  for (size_t i = 0; i < groups; i += 2)
    bytes.push_back(metadata[i] | metadata[i + 1] << 4);
  codes.resize(groups * 8);
  stored.resize(groups * 4);
  // Two groups to a row.
  auto result =
      compressOperand(hw::SparsePattern::PairsFourOfEight, 4, 16, codes);
  ASSERT_TRUE(result) << textOf(result);
  EXPECT_EQ(result->stored, stored);
  EXPECT_EQ(result->metadata, bytes);
}

TEST(Sparse, AcceptsThePatternsOfTheOracle) {
  unsigned tried = 0;
  for (const CsvRow &row : readOracle("numerics/sparse.csv")) {
    bool pairs = row.at("kind") == "conforms_4_8_pairs";
    if (!pairs && row.at("kind") != "conforms_2_4")
      continue;
    ++tried;
    std::vector<uint8_t> codes;
    for (float value : floatsOf(row.at("inputs_f32_hex")))
      codes.push_back(value != 0 ? 1 : std::signbit(value) ? 8 : 0);
    // A row is whole bytes of metadata, two groups.
    size_t group = codes.size();
    codes.resize(2 * group);
    auto result = compressOperand(pairs ? hw::SparsePattern::PairsFourOfEight
                                        : hw::SparsePattern::TwoOfFour,
                                  4, 2 * group, codes);
    EXPECT_EQ(bool(result), row.at("result") == "yes")
        << row.at("inputs_f32_hex");
  }
  EXPECT_EQ(tried, 83u + 64u);
}

// One row of 16-bit elements, 2:4, and one of 32 bits, 1:2: the low byte first.
TEST(Sparse, CompressesWideElements) {
  std::vector<uint8_t> half(16, 0);
  half[2] = 0x34, half[3] = 0x12;   // element 1
  half[6] = 0x78, half[7] = 0x56;   // element 3
  half[9] = 0x80;                   // element 4 is -0
  half[12] = 0xbc, half[13] = 0x9a; // element 6
  auto result = compressOperand(hw::SparsePattern::TwoOfFour, 16, 8, half);
  ASSERT_TRUE(result) << textOf(result);
  EXPECT_EQ(result->stored,
            (std::vector<uint8_t>{0x34, 0x12, 0x78, 0x56, 0xbc, 0x9a, 0, 0}));
  EXPECT_EQ(result->metadata, std::vector<uint8_t>{0xed});
  std::vector<uint8_t> word(16, 0);
  word[4] = 1, word[5] = 2, word[6] = 3, word[7] = 4; // element 1
  word[8] = 5, word[11] = 0x3f;                       // element 2
  result = compressOperand(hw::SparsePattern::OneOfTwo, 32, 4, word);
  ASSERT_TRUE(result) << textOf(result);
  EXPECT_EQ(result->stored, (std::vector<uint8_t>{1, 2, 3, 4, 5, 0, 0, 0x3f}));
  EXPECT_EQ(result->metadata, std::vector<uint8_t>{0x4e});
  EXPECT_FALSE(compressOperand(hw::SparsePattern::TwoOfFour, 16, 8,
                               std::vector<uint8_t>(15)));
}

TEST(Sparse, RefusesWhatBreaksThePattern) {
  std::vector<uint8_t> codes(16, 0);
  codes[12] = codes[13] = codes[14] = 1;
  auto result = compressOperand(hw::SparsePattern::TwoOfFour, 8, 8, codes);
  ASSERT_FALSE(result);
  EXPECT_EQ(textOf(result).substr(0, 7), "row 1: ") << textOf(result);
  EXPECT_FALSE(compressOperand(hw::SparsePattern::TwoOfFour, 8, 24, codes));
}

// The tiles of 128 rows by 16 bytes, rows first, that PTX's 128x128b copies
// read; the numbers are counted by hand.
TEST(Sparse, TilesMetadata) {
  hw::MetadataTensor tensor;
  tensor.pattern = hw::SparsePattern::TwoOfFour;
  tensor.m = 130;
  tensor.k = 160; // 20 bytes to a row
  std::vector<uint8_t> plain(2 * 130 * 20);
  for (size_t i = 0; i < plain.size(); ++i)
    plain[i] = static_cast<uint8_t>(i * 31 + i / 256);
  auto tiled = tileMetadata(tensor, 2, plain, 0xe4);
  ASSERT_TRUE(tiled);
  ASSERT_EQ(tiled->size(), 2u * 2 * 256 * 16);
  EXPECT_EQ((*tiled)[0], plain[0]);
  EXPECT_EQ((*tiled)[15], plain[15]);
  EXPECT_EQ((*tiled)[16], plain[20]);                     // row 1
  EXPECT_EQ((*tiled)[129 * 16 + 3], plain[129 * 20 + 3]); // the second tile
  EXPECT_EQ((*tiled)[256 * 16], plain[16]);               // along K
  EXPECT_EQ((*tiled)[256 * 16 + 4], 0xe4);                // after K
  EXPECT_EQ((*tiled)[130 * 16], 0xe4);                    // after M
  EXPECT_EQ((*tiled)[2 * 256 * 16 + 5 * 16 + 2],
            plain[130 * 20 + 5 * 20 + 2]); // the second matrix
  EXPECT_EQ(tileMetadata(tensor, 2, plain)->at(130 * 16), 0x44);
  plain.pop_back();
  EXPECT_FALSE(tileMetadata(tensor, 2, plain));
}
