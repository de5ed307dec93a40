//===- OperandTest.cpp - element codes into operand storage and back ------===//
//
// Part of the blockscale project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "blockscale/Packing/Operand.h"
#include "Formats/TextOf.h"

#include <gtest/gtest.h>

using namespace blockscale;
using namespace blockscale::packing;
using blockscale::test::textOf;

namespace {

using Bytes = std::vector<uint8_t>;

TEST(Operand, NibblesLowFirstWithPitch) {
  OperandLayout layout;
  layout.bits = 4;
  layout.mn = 2;
  layout.k = 5;
  layout.rowPitch = 4;
  EXPECT_EQ(rowBytes(layout), 3u);
  EXPECT_EQ(*packOperand(layout, {1, 2, 3, 4, 5, 6, 7, 8, 9, 0xa}),
            (Bytes{0x21, 0x43, 0x05, 0, 0x76, 0x98, 0x0a, 0}));
}

TEST(Operand, SixBitStream) {
  OperandLayout layout;
  layout.bits = 6;
  layout.mn = 1;
  layout.k = 4;
  // 0x01 | 0x02 << 6 | 0x03 << 12 | 0x3f << 18 = 0xfc3081.
  EXPECT_EQ(*packOperand(layout, {0x01, 0x02, 0x03, 0x3f}),
            (Bytes{0x81, 0x30, 0xfc}));
  layout.k = 16;
  EXPECT_EQ(rowBytes(layout), 12u);
}

TEST(Operand, RowsAlongMn) {
  OperandLayout layout;
  layout.mnMajor = true;
  layout.mn = 3;
  layout.k = 2;
  layout.rowPitch = 4;
  EXPECT_EQ(*packOperand(layout, {1, 2, 3, 4, 5, 6}),
            (Bytes{1, 3, 5, 0, 2, 4, 6, 0}));
}

TEST(Operand, RowsOfWideElementsAlongMn) {
  OperandLayout layout;
  layout.bits = 16;
  layout.mnMajor = true;
  layout.mn = 3;
  layout.k = 2;
  layout.batch = 2;
  layout.rowPitch = 8;
  Bytes codes{1,  2,  3,  4,  5,  6,  7,  8,  9,  10, 11, 12,
              21, 22, 23, 24, 25, 26, 27, 28, 29, 30, 31, 32};
  Bytes storage{1,  2,  5,  6,  9,  10, 0, 0, 3,  4,  7,  8,  11, 12, 0, 0,
                21, 22, 25, 26, 29, 30, 0, 0, 23, 24, 27, 28, 31, 32, 0, 0};
  EXPECT_EQ(*packOperand(layout, codes), storage);
  EXPECT_EQ(*unpackOperand(layout, storage), codes);
}

TEST(Operand, BatchPitch) {
  OperandLayout layout;
  layout.mn = 1;
  layout.k = 2;
  layout.batch = 2;
  layout.batchPitch = 3;
  EXPECT_EQ(*packOperand(layout, {1, 2, 3, 4}), (Bytes{1, 2, 0, 3, 4, 0}));
}

TEST(Operand, ComesBack) {
  for (unsigned bits : {4u, 6u, 8u})
    for (bool mnMajor : {false, true})
      for (uint64_t k : {1, 7, 33}) {
        if (mnMajor && bits != 8)
          continue;
        OperandLayout layout;
        layout.bits = bits;
        layout.mnMajor = mnMajor;
        layout.mn = 5;
        layout.k = k;
        layout.batch = 2;
        layout.rowPitch = 48;
        layout.batchPitch = 48 * 40;
        Bytes codes(5 * k * 2);
        for (size_t i = 0; i < codes.size(); ++i)
          codes[i] = (i * 29 + 3) & ((1u << bits) - 1);
        EXPECT_EQ(unpackOperand(layout, *packOperand(layout, codes)), codes);
      }
}

std::string reason(const OperandLayout &layout) {
  return textOf(whyNot(layout));
}

// Codes of more than a byte have their low byte first, in and out of storage.
TEST(Operand, WideElements) {
  for (unsigned bits : {16u, 32u}) {
    OperandLayout layout;
    layout.bits = bits;
    layout.mn = 2;
    layout.k = 3;
    layout.rowPitch = 16;
    unsigned bytes = bits / 8;
    Bytes codes;
    for (unsigned i = 0; i < 6 * bytes; ++i)
      codes.push_back(uint8_t(i * 37 + 1));
    Bytes expected(32);
    for (unsigned i = 0; i < 3 * bytes; ++i) {
      expected[i] = codes[i];
      expected[16 + i] = codes[3 * bytes + i];
    }
    EXPECT_EQ(*packOperand(layout, codes), expected);
    EXPECT_EQ(*unpackOperand(layout, expected), codes);
    EXPECT_FALSE(packOperand(layout, Bytes(6)));
    layout.mnMajor = true;
    if (bits == 32)
      EXPECT_EQ(reason(layout),
                "elements of 32 bits are stored along 'k' only; rows along "
                "'mn' need 8 or 16 bits");
  }
}

TEST(Operand, SaysWhyNot) {
  OperandLayout layout;
  layout.mn = 4;
  layout.k = 10;
  EXPECT_EQ(whyNot(layout), std::nullopt);
  layout.rowPitch = 9;
  EXPECT_EQ(reason(layout), "a row pitch of 9 bytes; a row takes 10");
  EXPECT_FALSE(packOperand(layout, Bytes(40)));
  layout.rowPitch = 16;
  layout.batchPitch = 63;
  EXPECT_EQ(reason(layout), "a batch pitch of 63 bytes; a matrix takes 64");
  layout.batchPitch = 0;
  layout.bits = 5;
  EXPECT_EQ(reason(layout),
            "elements of 5 bits; operands have 4, 6, 8, 16 or 32");
  layout.bits = 4;
  layout.mnMajor = true;
  EXPECT_EQ(reason(layout), "elements of 4 bits are stored along 'k' only; "
                            "rows along 'mn' need 8 or 16 bits");
  layout = {};
  EXPECT_EQ(reason(layout), "an operand of 1 x 0 x 0 elements is empty");
  layout.mn = layout.k = uint64_t(1) << 33;
  EXPECT_EQ(reason(layout), "the number of elements does not fit 63 bits");
  layout.mn = 4;
  layout.rowPitch = uint64_t(1) << 62;
  EXPECT_EQ(reason(layout), "the storage does not fit 63 bits");
  EXPECT_FALSE(packOperand(layout, {}));
  layout.rowPitch = 0;
  layout.k = 10;
  EXPECT_FALSE(packOperand(layout, Bytes(39)));
  EXPECT_FALSE(unpackOperand(layout, Bytes(41)));
}

} // namespace
