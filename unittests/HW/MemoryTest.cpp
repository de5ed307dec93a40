//===- MemoryTest.cpp - shared and tensor memory geometry===//
//
// Part of the blockscale project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "blockscale/HW/Memory.h"
#include "Formats/TextOf.h"
#include "blockscale/HW/ScaleLayout.h"

#include <set>
#include <tuple>

#include <gtest/gtest.h>

using namespace blockscale::hw;
using blockscale::test::textOf;

namespace {

constexpr Swizzle kAllSwizzles[] = {Swizzle::None, Swizzle::B128Atom32,
                                    Swizzle::B128, Swizzle::B64, Swizzle::B32};

// PTX ISA 9.7.16.10.6; test/oracle/smem_swizzle_offsets.csv.
TEST(Memory, SwizzleFunctions) {
  EXPECT_EQ(swizzled(Swizzle::B128, 0x380), 0x380u ^ 0x70u);
  EXPECT_EQ(swizzled(Swizzle::B128, 0x410), 0x410u);
  EXPECT_EQ(swizzled(Swizzle::B64, 0x380), 0x380u ^ 0x30u);
  EXPECT_EQ(swizzled(Swizzle::B32, 0x380), 0x380u ^ 0x10u);
  EXPECT_EQ(swizzled(Swizzle::None, 0x380), 0x380u);
  EXPECT_EQ(swizzled(Swizzle::B128Atom32, 0x380), 0x380u ^ 0x60u);
  for (Swizzle swizzle : kAllSwizzles) {
    EXPECT_EQ(parseSwizzle(swizzleName(swizzle)), swizzle);
    for (std::uint64_t a = 0; a < 4096; ++a)
      ASSERT_EQ(swizzled(swizzle, swizzled(swizzle, a)), a);
  }
}

TEST(Memory, TilesAreBijective) {
  for (OperandMajor major : {OperandMajor::K, OperandMajor::MN})
    for (Swizzle swizzle : kAllSwizzles)
      for (unsigned bits : {4u, 8u, 16u, 32u}) {
        OperandTile tile{major, swizzle, bits, 128, 256};
        bool legal =
            major == OperandMajor::K ||
            ((bits == 8 || bits == 16) && swizzle != Swizzle::B128Atom32);
        ASSERT_EQ(!whyNot(tile), legal);
        if (!legal)
          continue;
        std::set<std::uint64_t> seen;
        for (unsigned mn = 0; mn < tile.mn; ++mn)
          for (unsigned k = 0; k < tile.k; ++k) {
            auto offset = elementOffset(tile, mn, k);
            ASSERT_TRUE(offset);
            ASSERT_LT(*offset, 128u * 256);
            ASSERT_TRUE(seen.insert(*offset).second);
            ASSERT_EQ(*elementAt(tile, *offset), std::pair(mn, k));
          }
      }
}

// docs/sources.md, [steps]: descriptor advance along K of a K-major tile of R
// rows.
TEST(Memory, StartAdvance) {
  constexpr unsigned rows = 128;
  auto start = [](Swizzle swizzle, unsigned step) {
    OperandTile tile{OperandMajor::K, swizzle, 8, rows, 256};
    return stepAddress(tile, {rows, 32, 0, step})->startOffset;
  };
  EXPECT_EQ(start(Swizzle::B128, 3), 96u);
  EXPECT_EQ(start(Swizzle::B128, 4), rows * 128u);
  EXPECT_EQ(start(Swizzle::B64, 1), 32u);
  EXPECT_EQ(start(Swizzle::B64, 2), rows * 64u);
  EXPECT_EQ(start(Swizzle::B32, 1), rows * 32u);
  EXPECT_EQ(start(Swizzle::None, 1), rows * 32u);
}

// PTX ISA 9.7.16.10.6 with elements of 2 and 4 bytes: a row of 128 bytes is 64
// or 32 of them, 16 bytes are moved as one.
TEST(Memory, WideElements) {
  OperandTile half{OperandMajor::K, Swizzle::B128, 16, 128, 128};
  OperandTile word{OperandMajor::K, Swizzle::B128, 32, 128, 64};
  EXPECT_EQ(tileBytes(half), 32768u);
  EXPECT_EQ(tileBytes(word), 32768u);
  EXPECT_EQ(*tileOffset(half, 5, 70), 128u * 128 + 5 * 128 + 12);
  EXPECT_EQ(*tileOffset(word, 5, 35), 128u * 128 + 5 * 128 + 12);
  // Byte 652 of row 5 lies in chunk 0, which row 5 swaps with chunk 5.
  EXPECT_EQ(*elementOffset(half, 5, 6), (5u * 128 + 5 * 16 + 12) / 2);
  EXPECT_EQ(*elementOffset(word, 5, 3), (5u * 128 + 5 * 16 + 12) / 4);
  // An instruction of kind f16 or tf32 with a dense operand takes 32 bytes.
  EXPECT_EQ(stepAddress(half, {128, 16, 0, 5})->startOffset, 128u * 128 + 32);
  EXPECT_EQ(stepAddress(word, {128, 8, 0, 5})->startOffset, 128u * 128 + 32);
  EXPECT_FALSE(whyNot(half));
  EXPECT_EQ(
      textOf(whyNot(OperandTile{OperandMajor::K, Swizzle::B128, 64, 128, 128})),
      "elements are stored in 4, 8, 16 or 32 bits, found 64");
}

// The canonical layouts of docs/sources.md, [canonical]: 64 elements of 2 bytes
// along MN and 8 along K are together, then K, then MN.
TEST(Memory, WideElementsAlongRows) {
  OperandTile half{OperandMajor::MN, Swizzle::B128, 16, 128, 64};
  EXPECT_EQ(tileBytes(half), 16384u);
  EXPECT_EQ(*tileOffset(half, 3, 0), 6u);
  EXPECT_EQ(*tileOffset(half, 3, 1), 128u + 6);
  EXPECT_EQ(*tileOffset(half, 3, 9), 1024u + 128 + 6);
  EXPECT_EQ(*tileOffset(half, 67, 9), 8192u + 1024 + 128 + 6);
  // Row 1 of the pattern has chunk 0 where row 0 has chunk 1.
  EXPECT_EQ(*elementOffset(half, 3, 1), (128u + 16 + 6) / 2);
  // An instruction of kind f16 takes 16 of K, two groups of 8.
  auto step = stepAddress(half, {128, 16, 0, 3});
  EXPECT_EQ(step->startOffset, 6144u);
  EXPECT_EQ(step->lbo, 8192u);
  EXPECT_EQ(step->sbo, 1024u);
  EXPECT_EQ(stepAddress(half, {64, 16, 1, 0})->startOffset, 8192u);
  EXPECT_EQ(stepAddress(half, {64, 16, 1, 0})->lbo, 0u);
  EXPECT_EQ(
      textOf(whyNot(OperandTile{OperandMajor::MN, Swizzle::B128, 16, 96, 64})),
      "an MN extent of 96 elements of 16 bits is not a multiple of the 128 "
      "bytes of swizzle '128B'");
  EXPECT_EQ(
      textOf(whyNot(OperandTile{OperandMajor::MN, Swizzle::B128, 32, 96, 64})),
      "only operands of 8 and 16 bits may be MN-major");
}

TEST(Memory, StepRefusals) {
  OperandTile tile{OperandMajor::K, Swizzle::B128, 8, 128, 256};
  EXPECT_FALSE(stepAddress(tile, {128, 32, 1, 0}));
  EXPECT_FALSE(stepAddress(tile, {128, 32, 0, 8}));
  EXPECT_FALSE(stepAddress(tile, {128, 8, 0, 0}));
  EXPECT_FALSE(stepAddress(tile, {0, 32, 0, 0}));
  // A 48-byte step crosses the swizzle column; K=96 has descriptors of its own.
  OperandTile packed{OperandMajor::K, Swizzle::B128, 4, 128, 768};
  EXPECT_TRUE(stepAddress(packed, {128, 96, 0, 1}));
  EXPECT_FALSE(stepAddress(packed, {128, 96, 0, 2}));
  EXPECT_FALSE(stepDescriptor(tile, {128, 32, 0, 0}, 1u << 18));
  EXPECT_EQ(stepDescriptor(tile, {128, 32, 0, 0}, 1024)->baseOffset, 0u);
  EXPECT_EQ(stepDescriptor(tile, {128, 32, 0, 0}, 1024 + 384)->baseOffset, 3u);
}

TEST(Memory, AllocationsRoundUp) {
  EXPECT_EQ(*allocationColumns(1), 32u);
  EXPECT_EQ(*allocationColumns(33), 64u);
  EXPECT_EQ(*allocationColumns(304), 512u);
  EXPECT_EQ(*allocationColumns(512), 512u);
  EXPECT_FALSE(allocationColumns(0));
  EXPECT_FALSE(allocationColumns(513));
}

// docs/sources.md, [columns]: cta_group::1, M = 128, N = 256, K tile 256,
// mxf4nvf4 with blocks of 16.
TEST(Memory, WorkedColumnBudget) {
  EXPECT_EQ(scaleColumns(128, 16), 16u);
  EXPECT_EQ(scaleColumns(256, 16), 32u);
  EXPECT_EQ(accumulatorColumns(AccumulatorLayout::D, 256), 256u);
  EXPECT_EQ(scaleColumns(192, 4), 8u);
  EXPECT_EQ(accumulatorColumns(AccumulatorLayout::B, 256), 128u);
}

TEST(Memory, AccumulatorsAreBijective) {
  struct Case {
    AccumulatorLayout layout;
    unsigned rows, step;
  };
  for (auto [layout, rows, step] :
       {Case{AccumulatorLayout::A, 256, 16},
        Case{AccumulatorLayout::B, 128, 16}, Case{AccumulatorLayout::D, 128, 8},
        Case{AccumulatorLayout::F, 64, 8}})
    for (unsigned n = step; n <= 256; n += step) {
      std::set<std::tuple<unsigned, unsigned, unsigned>> seen;
      for (unsigned row = 0; row < rows; ++row)
        for (unsigned column = 0; column < n; ++column) {
          auto at = accumulatorPosition(layout, n, row, column);
          ASSERT_TRUE(at);
          ASSERT_LT(at->lane, 128u);
          ASSERT_LT(at->column, accumulatorColumns(layout, n));
          ASSERT_TRUE(seen.insert({at->cta, at->lane, at->column}).second);
          ASSERT_EQ(*accumulatorElement(layout, n, *at),
                    std::pair(row, column));
        }
    }
  EXPECT_FALSE(accumulatorPosition(AccumulatorLayout::D, 12, 0, 0));
  EXPECT_FALSE(accumulatorPosition(AccumulatorLayout::A, 24, 0, 0));
  EXPECT_FALSE(accumulatorPosition(AccumulatorLayout::D, 16, 128, 0));
  EXPECT_FALSE(accumulatorElement(AccumulatorLayout::F, 8, {0, 16, 0}));
}

TEST(Memory, AccumulatorLayoutOfAnInstruction) {
  EXPECT_EQ(*accumulatorLayout(1, 128, true), AccumulatorLayout::D);
  EXPECT_EQ(*accumulatorLayout(2, 256, true), AccumulatorLayout::A);
  EXPECT_EQ(*accumulatorLayout(2, 128, false), AccumulatorLayout::B);
  EXPECT_EQ(*accumulatorLayout(1, 64, false), AccumulatorLayout::F);
  EXPECT_FALSE(accumulatorLayout(2, 128, true));
  EXPECT_FALSE(accumulatorLayout(1, 256, false));
  EXPECT_EQ(tmemAddress(16, 64), 1048640u);
}

} // namespace
