//===- FragmentsTest.cpp - which register holds which element===//
//
// Part of the blockscale project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "blockscale/HW/Fragments.h"
#include "Formats/TextOf.h"

#include <map>
#include <set>

#include <gtest/gtest.h>

#include "Formats/OracleCsv.h"

using namespace blockscale::hw;
using blockscale::test::CsvRow;
using blockscale::test::number;
using blockscale::test::readOracle;
using blockscale::test::textOf;

namespace {

TEST(Fragments, TmemShapesAreBijective) {
  struct Case {
    TmemShape shape;
    unsigned lanes, columnsPerNum, maxNum;
  };
  // Column extents of PTX ISA 9.7.16.2.3.
  for (auto [shape, lanes, perNum, maxNum] :
       {Case{TmemShape::S32x32b, 32, 1, 128},
        Case{TmemShape::S16x64b, 16, 2, 128},
        Case{TmemShape::S16x128b, 16, 4, 64},
        Case{TmemShape::S16x256b, 16, 8, 32},
        Case{TmemShape::S16x32bx2, 16, 2, 128}})
    for (unsigned columns = 1; columns <= maxNum; columns *= 2) {
      std::set<std::pair<unsigned, unsigned>> seen;
      for (unsigned t = 0; t < 32; ++t)
        for (unsigned q = 0; q < tmemRegisters(shape, columns); ++q) {
          auto at = tmemFragment(shape, columns, t, q, columns);
          ASSERT_TRUE(at);
          ASSERT_LT(at->lane, lanes);
          ASSERT_LT(at->column, perNum * columns);
          ASSERT_TRUE(seen.insert({at->lane, at->column}).second);
          auto owner = tmemFragmentOwner(shape, columns, *at, columns);
          ASSERT_TRUE(owner);
          ASSERT_EQ(*owner, std::pair(t, q));
        }
      ASSERT_EQ(seen.size(), lanes * perNum * columns);
    }
}

TEST(Fragments, TmemRefusals) {
  EXPECT_FALSE(whyNot(TmemShape::S16x128b, 64));
  EXPECT_EQ(textOf(whyNot(TmemShape::S16x128b, 128)),
            "'16x128b' has no .x128; legal are powers of two from 1 to 64");
  EXPECT_TRUE(whyNot(TmemShape::S32x32b, 3));
  EXPECT_TRUE(whyNot(TmemShape::S32x32b, 0));
  EXPECT_FALSE(tmemFragment(TmemShape::S32x32b, 1, 32, 0, 0));
  EXPECT_FALSE(tmemFragment(TmemShape::S32x32b, 1, 0, 1, 0));
  EXPECT_FALSE(tmemFragmentOwner(TmemShape::S16x64b, 1, {16, 0}, 0));
}

TEST(Fragments, OwnersOfTheTmemOracle) {
  std::vector<CsvRow> rows = readOracle("tcgen05_ld_fragments.csv");
  ASSERT_EQ(rows.size(), 713u);
  for (const CsvRow &row : rows) {
    auto shape = parseTmemShape(row.at("shape"));
    ASSERT_TRUE(shape);
    unsigned count = number(row, "num");
    auto owner = tmemFragmentOwner(
        *shape, count,
        {number(row, "lane_offset"), number(row, "column_offset")}, count);
    ASSERT_TRUE(owner) << textOf(owner);
    EXPECT_EQ(*owner,
              std::pair(number(row, "thread"), number(row, "register")));
  }
}

/// Every element of A, B and C has one owner.
TEST(Fragments, WarpOperandsAreBijective) {
  for (WarpMma mma :
       {WarpMma::K32, WarpMma::K64, WarpMma::SparseK64, WarpMma::SparseK128})
    for (WarpOperand operand :
         {WarpOperand::A, WarpOperand::B, WarpOperand::C}) {
      std::set<std::pair<unsigned, unsigned>> seen;
      unsigned size = *warpFragmentSize(mma, operand, 0);
      for (unsigned t = 0; t < 32; ++t)
        for (unsigned i = 0; i < size; ++i) {
          auto at = warpFragment(mma, operand, 0, t, i);
          ASSERT_TRUE(at);
          ASSERT_LT(at->rowOrColumn, operand == WarpOperand::B ? 8u : 16u);
          ASSERT_LT(at->k, operand == WarpOperand::C ? 8 : warpMmaK(mma));
          ASSERT_TRUE(seen.insert({at->rowOrColumn, at->k}).second);
        }
    }
}

/// Each pair of quads' lanes covers a row of metadata twice over: 16 rows of K
/// logical elements in 32 threads with K/2 each.
TEST(Fragments, MetadataCoversEveryElementOnce) {
  for (WarpMma mma : {WarpMma::SparseK64, WarpMma::SparseK128}) {
    std::map<std::pair<unsigned, unsigned>, unsigned> seen;
    for (unsigned t = 0; t < 32; ++t)
      for (unsigned i = 0; i < warpMmaK(mma) / 2; ++i) {
        auto at = warpFragment(mma, WarpOperand::Metadata, 0, t, i);
        ++seen[{at->rowOrColumn, at->k}];
      }
    EXPECT_EQ(seen.size(), 16u * warpMmaK(mma));
  }
  EXPECT_FALSE(warpFragment(WarpMma::K32, WarpOperand::Metadata, 0, 0, 0));
}

// PTX ISA 9.7.14.3.
TEST(Fragments, ScaleSelectors) {
  auto legal = [](WarpOperand operand, unsigned scales, unsigned byte,
                  unsigned thread) {
    return !whyNotScaleSelector(operand, scales, byte, thread);
  };
  constexpr unsigned bytes[5] = {0, 0b1111, 0b0101, 0, 0b0001};
  for (unsigned scales : {1u, 2u, 4u})
    for (unsigned byte = 0; byte < 6; ++byte)
      for (unsigned thread = 0; thread < 6; ++thread) {
        bool byteLegal = byte < 4 && (bytes[scales] >> byte & 1);
        EXPECT_EQ(legal(WarpOperand::ScaleA, scales, byte, thread),
                  byteLegal && thread < 2);
        EXPECT_EQ(legal(WarpOperand::ScaleB, scales, byte, thread),
                  byteLegal && thread < 4);
      }
  EXPECT_FALSE(legal(WarpOperand::A, 1, 0, 0));
  EXPECT_FALSE(legal(WarpOperand::ScaleA, 3, 0, 0));
  EXPECT_EQ(*scaleSupplier(WarpOperand::ScaleA, 0, 5), 20u);
  EXPECT_EQ(*scaleSupplier(WarpOperand::ScaleA, 1, 13), 23u);
  EXPECT_EQ(*scaleSupplier(WarpOperand::ScaleB, 3, 5), 23u);
  EXPECT_FALSE(scaleSupplier(WarpOperand::ScaleA, 2, 0));
  EXPECT_FALSE(scaleSupplier(WarpOperand::ScaleB, 0, 8));
}

/// The supplier of a row holds that row's scales.
TEST(Fragments, SuppliersHoldTheirRow) {
  for (unsigned thread = 0; thread < 2; ++thread)
    for (unsigned row = 0; row < 16; ++row)
      EXPECT_EQ(warpFragment(WarpMma::K64, WarpOperand::ScaleA, 4,
                             *scaleSupplier(WarpOperand::ScaleA, thread, row),
                             3)
                    ->rowOrColumn,
                row);
  for (unsigned thread = 0; thread < 4; ++thread)
    for (unsigned column = 0; column < 8; ++column)
      EXPECT_EQ(
          warpFragment(WarpMma::K64, WarpOperand::ScaleB, 2,
                       *scaleSupplier(WarpOperand::ScaleB, thread, column), 1)
              ->rowOrColumn,
          column);
  EXPECT_FALSE(warpFragment(WarpMma::K64, WarpOperand::ScaleA, 1, 0, 0));
  EXPECT_FALSE(warpFragment(WarpMma::K32, WarpOperand::ScaleA, 2, 0, 0));
}

// PTX ISA 9.7.14.3: threads of a quad that the selector does not name.
TEST(Fragments, RegistersOfScalesServeSeveralTiles) {
  // The lanes that an instruction reads hold the scales of its rows.
  for (WarpOperand operand : {WarpOperand::ScaleA, WarpOperand::ScaleB}) {
    unsigned rows = operand == WarpOperand::ScaleA ? 16 : 8;
    for (unsigned tile = 0; tile < 64 / rows; ++tile) {
      auto selector = scaleSelector(operand, 1, tile, 0);
      ASSERT_TRUE(selector);
      for (unsigned row = 0; row < rows; ++row) {
        auto lane = scaleSupplier(operand, selector->threadId, row);
        ASSERT_TRUE(lane);
        EXPECT_EQ(scaleRegisterRow(*lane), (tile * rows + row) % 32);
      }
    }
  }
  auto byte = [](unsigned scales, unsigned step) {
    return scaleSelector(WarpOperand::ScaleA, scales, 0, step)->byteId;
  };
  EXPECT_EQ(byte(1, 3), 3u);
  EXPECT_EQ(byte(1, 4), 0u);
  EXPECT_EQ(byte(2, 1), 2u);
  EXPECT_EQ(byte(2, 2), 0u);
  EXPECT_EQ(byte(4, 3), 0u);
  EXPECT_FALSE(scaleSelector(WarpOperand::A, 1, 0, 0));
  EXPECT_FALSE(scaleSelector(WarpOperand::ScaleA, 3, 0, 0));
}

TEST(Fragments, PlainInstructions) {
  auto at = [](unsigned bits, unsigned k, WarpOperand operand, unsigned thread,
               unsigned index) {
    auto element = plainWarpFragment(bits, k, operand, thread, index);
    EXPECT_TRUE(element) << textOf(element);
    return std::pair(element->rowOrColumn, element->k);
  };
  // Thread 6: g = 1, c = 2.
  EXPECT_EQ(at(16, 16, WarpOperand::A, 6, 7), std::pair(9u, 13u));
  EXPECT_EQ(at(16, 16, WarpOperand::A, 6, 4), std::pair(1u, 12u));
  EXPECT_EQ(at(16, 16, WarpOperand::B, 6, 3), std::pair(1u, 13u));
  EXPECT_EQ(at(16, 8, WarpOperand::A, 6, 2), std::pair(9u, 4u));
  EXPECT_EQ(at(32, 8, WarpOperand::A, 6, 3), std::pair(9u, 6u));
  EXPECT_EQ(at(32, 8, WarpOperand::B, 6, 1), std::pair(1u, 6u));
  EXPECT_EQ(at(32, 4, WarpOperand::A, 6, 1), std::pair(9u, 2u));
  EXPECT_EQ(at(8, 32, WarpOperand::A, 6, 13), std::pair(9u, 25u));
  EXPECT_EQ(at(8, 16, WarpOperand::A, 6, 5), std::pair(9u, 9u));
  EXPECT_EQ(at(8, 32, WarpOperand::B, 6, 5), std::pair(1u, 25u));
  EXPECT_EQ(at(4, 64, WarpOperand::A, 6, 17), std::pair(1u, 49u));
  EXPECT_EQ(at(16, 16, WarpOperand::C, 6, 3), std::pair(9u, 5u));
  EXPECT_FALSE(plainWarpFragment(16, 32, WarpOperand::A, 0, 0));
  EXPECT_FALSE(plainWarpFragment(16, 16, WarpOperand::A, 0, 8));
  EXPECT_FALSE(plainWarpFragment(16, 16, WarpOperand::ScaleA, 0, 0));
}

TEST(Fragments, PlainOperandsAreBijective) {
  constexpr unsigned shapes[][2] = {{16, 8}, {16, 16}, {32, 4}, {32, 8},
                                    {8, 16}, {8, 32},  {4, 64}};
  for (auto [bits, k] : shapes)
    for (WarpOperand operand :
         {WarpOperand::A, WarpOperand::B, WarpOperand::C}) {
      std::set<std::pair<unsigned, unsigned>> seen;
      for (unsigned t = 0; t < 32; ++t)
        for (unsigned i = 0;; ++i) {
          auto element = plainWarpFragment(bits, k, operand, t, i);
          if (!element)
            break;
          ASSERT_TRUE(seen.insert({element->rowOrColumn, element->k}).second);
        }
      unsigned rows = operand == WarpOperand::B ? 8 : 16;
      EXPECT_EQ(seen.size(), rows * (operand == WarpOperand::C ? 8 : k));
    }
}

} // namespace
