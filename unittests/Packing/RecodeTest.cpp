//===- RecodeTest.cpp - tests of codes in other formats -------------------===//
//
// Part of the blockscale project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "blockscale/Packing/Recode.h"

#include "gtest/gtest.h"

#include <cmath>
#include <tuple>
#include <vector>

using namespace blockscale;
using namespace blockscale::packing;

using Codes = std::vector<uint8_t>;

/// All codes of `bits`, in one row.
static Codes allCodes(unsigned bits) {
  Codes codes(size_t(1) << bits);
  for (size_t i = 0; i < codes.size(); ++i)
    codes[i] = uint8_t(i);
  return codes;
}

/// The value of a code in a format with a sign, from its definition.
static double valueOf(unsigned code, int exponentBits, int mantissaBits,
                      int bias) {
  int sign = code >> (exponentBits + mantissaBits) & 1;
  int exponent = code >> mantissaBits & ((1 << exponentBits) - 1);
  double fraction = std::ldexp(code & ((1 << mantissaBits) - 1), -mantissaBits);
  double magnitude = std::ldexp(fraction + (exponent ? 1 : 0),
                                (exponent ? exponent : 1) - bias);
  return sign ? -magnitude : magnitude;
}

TEST(Recode, Int4CountsInQuarters) {
  for (auto [to, exponent, mantissa, bias] :
       {std::tuple(ElementFormat::E2M3, 2, 3, 1),
        {ElementFormat::E4M3, 4, 3, 7}}) {
    const Recoding *recoding = findRecoding("int4", to);
    ASSERT_TRUE(recoding);
    EXPECT_EQ(recoding->terms, 1u);
    auto stored = recode(*recoding, 16, allCodes(4));
    ASSERT_TRUE(stored);
    for (int code = 0; code < 16; ++code)
      EXPECT_EQ(recoding->factor *
                    valueOf((*stored)[code], exponent, mantissa, bias),
                (code < 8 ? code : code - 16) / 4.0)
          << code;
  }
}

// Whole numbers from -16 to 15: what 4 bits are less a zero point that they
// have.
TEST(Recode, DifferencesOfFourBitsAreWholeNumbers) {
  const Recoding *recoding =
      findRecoding("uint4", ElementFormat::E4M3, /*isInteger=*/true);
  ASSERT_TRUE(recoding);
  EXPECT_TRUE(recoding->hasZeros);
  std::vector<int> stored = storedCodes(*recoding);
  ASSERT_EQ(stored.size(), 32u);
  for (int i = 0; i < 32; ++i)
    EXPECT_EQ(valueOf(unsigned(stored[size_t(i)]), 4, 3, 7), i - 16);
}

TEST(Recode, Int8IsTheSumOfTwoTermsUnderOneScale) {
  const Recoding *recoding = findRecoding("int8", ElementFormat::E4M3);
  ASSERT_TRUE(recoding);
  ASSERT_EQ(recoding->terms, 2u);
  auto stored = recode(*recoding, 128, allCodes(8));
  ASSERT_TRUE(stored);
  ASSERT_EQ(stored->size(), 512u);
  for (int code = 0; code < 256; ++code) {
    // Two rows of 128, each with its high halves first.
    int high = code / 128 * 256 + code % 128, low = high + 128;
    EXPECT_EQ(valueOf((*stored)[high], 4, 3, 7) +
                  valueOf((*stored)[low], 4, 3, 7),
              (code < 128 ? code : code - 256) / 64.0)
        << code;
  }
}

TEST(Recode, BiasedFormatsAreHalved) {
  for (auto [from, to, exponent, mantissa, bias, most] :
       {std::tuple("e4m3b8fnuz", ElementFormat::E4M3, 4, 3, 8, 0x7e),
        {"e5m2b16fnuz", ElementFormat::E5M2, 5, 2, 16, 0x7b}}) {
    const Recoding *recoding = findRecoding(from, to);
    ASSERT_TRUE(recoding);
    for (int code = 0; code < 256; ++code) {
      auto stored = recode(*recoding, 1, {uint8_t(code)});
      bool isNumber = code != 0x80 && (code & 0x7f) <= most;
      ASSERT_EQ(bool(stored), isNumber) << from << " " << code;
      if (isNumber)
        EXPECT_EQ(recoding->factor *
                      valueOf((*stored)[0], exponent, mantissa, bias - 1),
                  valueOf(code, exponent, mantissa, bias))
            << from << " " << code;
    }
  }
}

// k/4 of e2m3, whose bias is 1: from 1 on an exponent and three bits of
// fraction, a sign of 32.
TEST(Recode, TablesSayWhatIsStoredForEachCode) {
  const Recoding *int4 = findRecoding("int4", ElementFormat::E2M3);
  ASSERT_TRUE(int4);
  EXPECT_EQ(storedCodes(*int4), (std::vector<int>{0, 2, 4, 6, 8, 10, 12, 14, 48,
                                                  46, 44, 42, 40, 38, 36, 34}));
  const Recoding *fnuz = findRecoding("e5m2b16fnuz", ElementFormat::E5M2);
  ASSERT_TRUE(fnuz);
  std::vector<int> codes = storedCodes(*fnuz);
  ASSERT_EQ(codes.size(), 256u);
  EXPECT_EQ(codes[0x7b], 0x7b);
  EXPECT_EQ(codes[0x7c], -1);
  EXPECT_EQ(codes[0x80], -1);
  EXPECT_EQ(codes[0xff], -1);
}

TEST(Recode, SaysWhichCodeHasNone) {
  const Recoding *recoding = findRecoding("e4m3b8fnuz", ElementFormat::E4M3);
  ASSERT_TRUE(recoding);
  auto stored = recode(*recoding, 3, {1, 2, 3, 4, 0x80, 6});
  ASSERT_FALSE(stored);
  EXPECT_EQ(stored.why().text,
            "row 1, element 1: code 0x80 of e4m3b8fnuz has no exact code in "
            "e4m3; dequantize this operand, or clamp such codes before");
  auto ragged = recode(*recoding, 4, {1, 2, 3});
  ASSERT_FALSE(ragged);
  EXPECT_EQ(ragged.why().text, "3 elements are no whole rows of 4");
}

TEST(Recode, HasNoRowThatRounds) {
  EXPECT_FALSE(findRecoding("int4", ElementFormat::E2M1));
  EXPECT_FALSE(findRecoding("int8", ElementFormat::E5M2));
  EXPECT_FALSE(findRecoding("e4m3b8fnuz", ElementFormat::E5M2));
}
