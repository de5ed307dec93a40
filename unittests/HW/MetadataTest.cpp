//===- MetadataTest.cpp - structured-sparsity metadata===//
//
// Part of the blockscale project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "blockscale/HW/Metadata.h"
#include "Formats/TextOf.h"

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

constexpr SparsePattern kTwoOfFour = SparsePattern::TwoOfFour;
constexpr SparsePattern kPairs = SparsePattern::PairsFourOfEight;

SparsePattern patternOf(const CsvRow &row) {
  return row.at("kind").rfind("mxf8f6f4", 0) == 0 ? kTwoOfFour : kPairs;
}

// PTX ISA 9.7.16.10.8.1 to 9.7.16.10.8.3: the six encodings, and the four
// without meaning.
TEST(Metadata, PatternsOfKinds) {
  EXPECT_EQ(sparsePattern(MmaKind::MXF8F6F4), SparsePattern::TwoOfFour);
  EXPECT_EQ(sparsePattern(MmaKind::MXF4), SparsePattern::PairsFourOfEight);
  EXPECT_EQ(sparsePattern(MmaKind::MXF4NVF4), SparsePattern::PairsFourOfEight);
  EXPECT_EQ(sparsePattern(MmaKind::F16), SparsePattern::TwoOfFour);
  EXPECT_EQ(sparsePattern(MmaKind::F8F6F4), SparsePattern::TwoOfFour);
  EXPECT_EQ(sparsePattern(MmaKind::I8), SparsePattern::TwoOfFour);
  EXPECT_EQ(sparsePattern(MmaKind::TF32), SparsePattern::OneOfTwo);
}

TEST(Metadata, Nibbles) {
  for (SparsePattern pattern : {kTwoOfFour, kPairs}) {
    EXPECT_EQ(*metadataNibble(pattern, 0, 1), 0x4u);
    EXPECT_EQ(*metadataNibble(pattern, 0, 2), 0x8u);
    EXPECT_EQ(*metadataNibble(pattern, 0, 3), 0xcu);
    EXPECT_EQ(*metadataNibble(pattern, 1, 2), 0x9u);
    EXPECT_EQ(*metadataNibble(pattern, 1, 3), 0xdu);
    EXPECT_EQ(*metadataNibble(pattern, 2, 3), 0xeu);
    EXPECT_FALSE(metadataNibble(pattern, 2, 2));
    EXPECT_FALSE(metadataNibble(pattern, 2, 1));
    EXPECT_FALSE(metadataNibble(pattern, 0, 4));
    unsigned legal = 0;
    for (unsigned nibble = 0; nibble < 17; ++nibble)
      if (auto kept = keptUnits(pattern, nibble)) {
        ++legal;
        EXPECT_EQ(*metadataNibble(pattern, kept->first, kept->second), nibble);
      }
    EXPECT_EQ(legal, 6u);
  }
  EXPECT_EQ(*metadataNibble(SparsePattern::OneOfTwo, 0, 0), 0x4u);
  EXPECT_EQ(*metadataNibble(SparsePattern::OneOfTwo, 1, 1), 0xeu);
  EXPECT_EQ(keptUnits(SparsePattern::OneOfTwo, 0xe)->first, 1u);
  EXPECT_FALSE(keptUnits(SparsePattern::OneOfTwo, 0x8));
}

TEST(Metadata, CompressionRules) {
  // One element at position 1, one at position 3, -0 counts as zero.
  auto row = compress(kTwoOfFour, 8, {0, 0x33, 0x80, 0, 0x80, 0, 0, 0x44});
  ASSERT_TRUE(row) << textOf(row);
  EXPECT_EQ(row->stored, (std::vector<std::uint32_t>{0x33, 0, 0, 0x44}));
  EXPECT_EQ(row->metadata, (std::vector<std::uint8_t>{0xcd}));
  auto empty = compress(kTwoOfFour, 8, {0, 0, 0, 0, 1, 2, 0, 0});
  EXPECT_EQ(empty->metadata, (std::vector<std::uint8_t>{0x44}));
  auto pairs = compress(kPairs, 4,
                        {0, 0, 0, 5, 0, 0, 0, 0, //
                         0, 0, 0, 0, 7, 0, 8, 1});
  ASSERT_TRUE(pairs) << textOf(pairs);
  EXPECT_EQ(pairs->stored,
            (std::vector<std::uint32_t>{0, 5, 0, 0, 7, 0, 8, 1}));
  EXPECT_EQ(pairs->metadata, (std::vector<std::uint8_t>{0xed}));
  // 0x80 is -0 as a float, -128 or 128 as an integer.
  auto integers = compress(kTwoOfFour, 8, {0, 0x80, 0, 5, 0, 0, 0x80, 0},
                           HighestBit::Number);
  ASSERT_TRUE(integers) << textOf(integers);
  EXPECT_EQ(integers->stored, (std::vector<std::uint32_t>{0x80, 5, 0x80, 0}));
  EXPECT_EQ(integers->metadata, (std::vector<std::uint8_t>{0xed}));
  auto tf32 = compress(SparsePattern::OneOfTwo, 32, {0, 9, 7, 0});
  EXPECT_EQ(tf32->stored, (std::vector<std::uint32_t>{9, 7}));
  EXPECT_EQ(tf32->metadata, (std::vector<std::uint8_t>{0x4e}));
}

TEST(Metadata, CompressionRefusals) {
  EXPECT_EQ(textOf(compress(kTwoOfFour, 8, {0, 0, 0, 0, 1, 2, 3, 0})),
            "the chunk at element 4 has 3 nonzero elements of 4, at most 2 can "
            "be kept");
  EXPECT_FALSE(compress(kTwoOfFour, 8, {1, 0, 0, 0}));
  EXPECT_FALSE(compress(kTwoOfFour, 8, {}));
  EXPECT_FALSE(compress(kTwoOfFour, 8, {256, 0, 0, 0, 0, 0, 0, 0}));
  EXPECT_FALSE(compress(kTwoOfFour, 40, {1, 0, 0, 0, 0, 0, 0, 0}));
  EXPECT_FALSE(decompress(kTwoOfFour, {{1, 2, 3}, {0x44}}));
  EXPECT_FALSE(decompress(kTwoOfFour, {{1, 2, 3, 4}, {0x40}}));
}

/// All masks with at most two kept units in each of two chunks come back.
TEST(Metadata, DecompressionInverts) {
  for (SparsePattern pattern : {kTwoOfFour, kPairs, SparsePattern::OneOfTwo}) {
    SparsePatternInfo info = patternInfo(pattern);
    unsigned units = info.chunk / info.unit, tried = 0;
    for (unsigned mask = 0; mask < 1u << 2 * units; ++mask) {
      std::vector<std::uint32_t> logical(2 * info.chunk, 0);
      for (unsigned i = 0; i < logical.size(); ++i)
        if (mask >> i / info.unit & 1)
          logical[i] = i % 7 + 1;
      auto row = compress(pattern, 4, logical);
      if (!row)
        continue;
      ++tried;
      auto back = decompress(pattern, *row);
      ASSERT_TRUE(back) << textOf(back);
      ASSERT_EQ(*back, logical);
    }
    EXPECT_EQ(tried, pattern == SparsePattern::OneOfTwo ? 9u : 121u);
  }
}

TEST(Metadata, DecompressesTheOracle) {
  std::vector<CsvRow> rows = readOracle("sparse_compress.csv");
  ASSERT_EQ(rows.size(), 33u);
  auto codes = [](const std::string &list) {
    std::vector<std::uint32_t> values;
    std::istringstream in(list);
    for (std::string code; in >> code;)
      values.push_back(
          static_cast<std::uint32_t>(std::stoul(code, nullptr, 16)));
    return values;
  };
  for (const CsvRow &row : rows) {
    unsigned byte = codes(row.at("metadata_byte")).at(0);
    // The reference leaves 0 for an empty chunk, which is no legal nibble.
    if (row.at("empty_chunk") == "low")
      byte |= 0x4;
    if (row.at("empty_chunk") == "high")
      byte |= 0x40;
    auto logical = decompress(patternOf(row),
                              {codes(row.at("stored_elements_hex_low_k_first")),
                               {static_cast<std::uint8_t>(byte)}});
    ASSERT_TRUE(logical) << textOf(logical);
    EXPECT_EQ(*logical, codes(row.at("logical_elements_hex_low_k_first")));
  }
}

TEST(Metadata, InvertsTheGlobalOracle) {
  std::vector<CsvRow> rows = readOracle("sparse_meta_gmem_offsets.csv");
  ASSERT_EQ(rows.size(), 416u);
  for (const CsvRow &row : rows) {
    MetadataTensor tensor{patternOf(row), number(row, "M"),
                          number(row, "K_logical")};
    auto place = metadataAt(tensor, number(row, "byte_offset"));
    ASSERT_TRUE(place);
    unsigned perByte = number(row, "logical_elements_per_metadata_byte");
    EXPECT_EQ(place->first, number(row, "m"));
    EXPECT_EQ(place->second, number(row, "k_logical") / perByte * perByte);
  }
}

/// Ragged extents: every byte of the storage is one chunk pair or padding.
TEST(Metadata, GlobalLayoutIsBijective) {
  MetadataTensor tensor{kPairs, 200, 272};
  ASSERT_EQ(storageBytes(tensor), 8192u);
  unsigned used = 0;
  for (std::uint64_t offset = 0; offset < 8192; ++offset)
    if (auto place = metadataAt(tensor, offset)) {
      ++used;
      ASSERT_EQ(*metadataOffset(tensor, place->first, place->second), offset);
    }
  EXPECT_EQ(used, 200u * 17);
  EXPECT_FALSE(metadataOffset(tensor, 200, 0));
  EXPECT_FALSE(metadataOffset(tensor, 0, 272));
  EXPECT_FALSE(metadataOffset({kPairs, 0, 1}, 0, 0));
}

/// 1:2 metadata: a byte covers 4 elements, a tile of 128 rows 64 of them.
TEST(Metadata, GlobalLayoutOfOneOfTwo) {
  MetadataTensor tensor{SparsePattern::OneOfTwo, 200, 96};
  EXPECT_EQ(storageBytes(tensor), 8192u);
  EXPECT_EQ(*metadataOffset(tensor, 3, 9), 3u * 16 + 2);
  EXPECT_EQ(*metadataOffset(tensor, 130, 63), 130u * 16 + 15);
  EXPECT_EQ(*metadataOffset(tensor, 130, 70), 4096u + 130 * 16 + 1);
  EXPECT_EQ(*metadataAt(tensor, 4096 + 130 * 16 + 1),
            std::pair(std::uint64_t(130), std::uint64_t(68)));
  unsigned used = 0;
  for (std::uint64_t offset = 0; offset < 8192; ++offset)
    used += bool(metadataAt(tensor, offset));
  EXPECT_EQ(used, 200u * 24);
}

struct KindCase {
  MmaKind kind;
  unsigned perByte, k, columns;
};

// PTX ISA 9.7.16.10.8: a row of an instruction has K / 4 nibbles (2:4), K / 8
// (4:8 in pairs) or K / 2 (1:2).
constexpr KindCase kKindCases[] = {
    {MmaKind::MXF8F6F4, 8, 64, 2},   {MmaKind::MXF4, 16, 128, 2},
    {MmaKind::MXF4NVF4, 16, 128, 2}, {MmaKind::F8F6F4, 8, 64, 2},
    {MmaKind::I8, 8, 64, 2},         {MmaKind::F16, 8, 32, 1},
    {MmaKind::TF32, 4, 16, 1}};

TEST(Metadata, TensorMemoryIsBijective) {
  for (auto [kind, perByte, mmaK, columns] : kKindCases) {
    EXPECT_EQ(metadataColumns(kind, 4), 4 * columns);
    std::set<std::tuple<unsigned, unsigned, unsigned>> seen;
    for (unsigned step = 0; step < 4; ++step)
      for (unsigned m = 0; m < 128; ++m)
        for (unsigned k = 0; k < mmaK; k += perByte) {
          auto at = metadataPosition(kind, step, m, k + perByte - 1);
          ASSERT_TRUE(at);
          ASSERT_EQ(at->lane, m);
          ASSERT_EQ(at->column, columns * step + k / perByte / 4);
          ASSERT_TRUE(seen.insert({at->lane, at->column, at->byte}).second);
          auto index = metadataIndex(kind, *at);
          ASSERT_TRUE(index);
          ASSERT_EQ(std::tuple(index->step, index->m, index->k),
                    std::tuple(step, m, k));
        }
    EXPECT_FALSE(metadataPosition(kind, 0, 128, 0));
    EXPECT_FALSE(metadataPosition(kind, 0, 0, mmaK));
    EXPECT_FALSE(metadataPosition(kind, 512 / columns, 0, 0));
  }
}

// The address plus the selector is the column of the instruction's metadata;
// byte kinds have selector 0.
TEST(Metadata, StepsNameColumnAndSelector) {
  auto step = [](MmaKind kind, unsigned index) {
    MetadataStep step = metadataStep(kind, index);
    return std::pair(step.column, step.selector);
  };
  for (MmaKind kind : {MmaKind::F16, MmaKind::TF32}) {
    EXPECT_EQ(step(kind, 0), std::pair(0u, 0u));
    EXPECT_EQ(step(kind, 1), std::pair(0u, 1u));
    EXPECT_EQ(step(kind, 2), std::pair(2u, 0u));
    EXPECT_EQ(step(kind, 3), std::pair(2u, 1u));
  }
  for (MmaKind kind : {MmaKind::F8F6F4, MmaKind::I8, MmaKind::MXF4}) {
    EXPECT_EQ(step(kind, 0), std::pair(0u, 0u));
    EXPECT_EQ(step(kind, 1), std::pair(2u, 0u));
    EXPECT_EQ(step(kind, 3), std::pair(6u, 0u));
  }
}

} // namespace
