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
    std::optional<Recoding> recoding = findRecoding("int4", to);
    ASSERT_TRUE(recoding);
    EXPECT_EQ(recoding->terms, 1u);
    std::vector<int> stored = storedCodes(*recoding);
    ASSERT_EQ(stored.size(), 16u);
    for (int code = 0; code < 16; ++code)
      EXPECT_EQ(recoding->factor *
                    valueOf(unsigned(stored[code]), exponent, mantissa, bias),
                (code < 8 ? code : code - 16) / 4.0)
          << code;
  }
}

// Whole numbers from -16 to 15: what 4 bits are less a zero point that they
// have; likewise those of 3 and 2 bits.
TEST(Recode, DifferencesOfFewBitsAreWholeNumbers) {
  for (auto [from, last] :
       {std::pair("uint4", 15), {"uint3", 7}, {"uint2", 3}}) {
    std::optional<Recoding> recoding =
        findRecoding(from, ElementFormat::E4M3, /*isInteger=*/true,
                     /*hasZeros=*/true);
    ASSERT_TRUE(recoding) << from;
    std::vector<int> stored = storedCodes(*recoding);
    ASSERT_EQ(stored.size(), size_t(2 * last + 2)) << from;
    for (int i = 0; i < int(stored.size()); ++i)
      EXPECT_EQ(valueOf(unsigned(stored[size_t(i)]), 4, 3, 7), i - last - 1);
  }
}

// Whole numbers from 0 to 15, 7 or 3, as they are beside zero points in real
// units.
TEST(Recode, UnsignedCodesOfFewBitsAreWholeNumbers) {
  for (auto [from, last] :
       {std::pair("uint4", 15), {"uint3", 7}, {"uint2", 3}}) {
    std::optional<Recoding> recoding =
        findRecoding(from, ElementFormat::E4M3, /*isInteger=*/true);
    ASSERT_TRUE(recoding) << from;
    std::vector<int> stored = storedCodes(*recoding);
    ASSERT_EQ(stored.size(), size_t(last + 1)) << from;
    for (int i = 0; i <= last; ++i)
      EXPECT_EQ(valueOf(unsigned(stored[size_t(i)]), 4, 3, 7), i);
  }
}

TEST(Recode, Int8IsTheSumOfTwoTermsUnderOneScale) {
  std::optional<Recoding> recoding = findRecoding("int8", ElementFormat::E4M3);
  ASSERT_TRUE(recoding);
  ASSERT_EQ(recoding->terms, 2u);
  std::vector<int> stored = storedCodes(*recoding);
  ASSERT_EQ(stored.size(), 512u);
  for (int code = 0; code < 256; ++code)
    EXPECT_EQ(valueOf(unsigned(stored[code]), 4, 3, 7) +
                  valueOf(unsigned(stored[256 + code]), 4, 3, 7),
              (code < 128 ? code : code - 256) / 64.0)
        << code;
}

// Differences of 8 bits are whole numbers from -256 to 255, which both formats
// of 16 bits have.
TEST(Recode, EightBitsAreNumbersOfSixteen) {
  for (auto [to, exponent, mantissa, bias] :
       {std::tuple(ElementFormat::BF16, 8, 7, 127),
        {ElementFormat::F16, 5, 10, 15}}) {
    std::optional<Recoding> zeros = findRecoding("uint8", to, true, true);
    ASSERT_TRUE(zeros);
    std::vector<int> differences = storedCodes(*zeros);
    ASSERT_EQ(differences.size(), 512u);
    for (int i = 0; i < 512; ++i)
      EXPECT_EQ(valueOf(unsigned(differences[i]), exponent, mantissa, bias),
                i - 256);
    std::optional<Recoding> integer = findRecoding("int8", to, true);
    ASSERT_TRUE(integer);
    std::vector<int> stored = storedCodes(*integer);
    ASSERT_EQ(stored.size(), 256u);
    for (int code = 0; code < 256; ++code)
      EXPECT_EQ(valueOf(unsigned(stored[code]), exponent, mantissa, bias),
                code < 128 ? code : code - 256);
  }
}

TEST(Recode, ShortFloatsAreLongOnes) {
  for (auto [from, bits, fromExponent, fromMantissa, fromBias, finite] :
       {std::tuple("e2m1", 4, 2, 1, 1, 16),
        {"e2m3", 6, 2, 3, 1, 64},
        {"e3m2", 6, 3, 2, 3, 64},
        {"e4m3", 8, 4, 3, 7, 0x7f},
        {"e5m2", 8, 5, 2, 15, 0x7c}})
    for (auto [to, exponent, mantissa, bias] :
         {std::tuple(ElementFormat::BF16, 8, 7, 127),
          {ElementFormat::F16, 5, 10, 15}}) {
      std::optional<Recoding> recoding = findRecoding(from, to);
      ASSERT_TRUE(recoding) << from;
      std::vector<int> stored = storedCodes(*recoding);
      ASSERT_EQ(stored.size(), size_t(1) << bits);
      for (int code = 0; code < finite; ++code)
        EXPECT_EQ(valueOf(unsigned(stored[code]), exponent, mantissa, bias),
                  valueOf(unsigned(code), fromExponent, fromMantissa, fromBias))
            << from << " " << code;
    }
  // What is no number stays none.
  EXPECT_EQ(storedCodes(*findRecoding("e5m2", ElementFormat::BF16))[0x7c],
            0x7f80);
  EXPECT_EQ(storedCodes(*findRecoding("e5m2", ElementFormat::F16))[0xfc],
            0xfc00);
  EXPECT_GT(storedCodes(*findRecoding("e4m3", ElementFormat::BF16))[0x7f],
            0x7f80);
}

TEST(Recode, BiasedFormatsAreHalved) {
  for (auto [from, to, exponent, mantissa, bias, most] :
       {std::tuple("e4m3b8fnuz", ElementFormat::E4M3, 4, 3, 8, 0x7e),
        {"e5m2b16fnuz", ElementFormat::E5M2, 5, 2, 16, 0x7b}}) {
    std::optional<Recoding> recoding = findRecoding(from, to);
    ASSERT_TRUE(recoding);
    std::vector<int> stored = storedCodes(*recoding);
    for (int code = 0; code < 256; ++code) {
      bool isNumber = code != 0x80 && (code & 0x7f) <= most;
      ASSERT_EQ(stored[code] >= 0, isNumber) << from << " " << code;
      if (isNumber)
        EXPECT_EQ(recoding->factor * valueOf(unsigned(stored[code]), exponent,
                                             mantissa, bias - 1),
                  valueOf(code, exponent, mantissa, bias))
            << from << " " << code;
    }
  }
}

// Of IEEE 754 what is at least 256 in OCP's is an infinity or a NaN.
TEST(Recode, NumbersOfE4M3WithInfinitiesAreThoseWithout) {
  std::optional<Recoding> ieee = findRecoding("e4m3ieee", ElementFormat::E4M3);
  ASSERT_TRUE(ieee);
  EXPECT_EQ(ieee->factor, 1);
  std::vector<int> stored = storedCodes(*ieee);
  ASSERT_EQ(stored.size(), 256u);
  for (int code = 0; code < 256; ++code)
    EXPECT_EQ(stored[code], (code & 0x7f) < 0x78 ? code : -1);
}

// All codes: what has no number there in 8 bits, and what is none stays none.
TEST(Recode, OtherPeoplesFloatsAreNumbersOfSixteenBits) {
  for (auto [from, exponent, mantissa, bias] :
       {std::tuple("e4m3b8fnuz", 4, 3, 8),
        {"e5m2b16fnuz", 5, 2, 16},
        {"e4m3ieee", 4, 3, 7}})
    for (auto [to, toExponent, toMantissa, toBias, infinity] :
         {std::tuple(ElementFormat::BF16, 8, 7, 127, 0x7f80),
          {ElementFormat::F16, 5, 10, 15, 0x7c00}}) {
      std::optional<Recoding> recoding = findRecoding(from, to);
      ASSERT_TRUE(recoding) << from;
      EXPECT_EQ(recoding->factor, 1);
      std::vector<int> stored = storedCodes(*recoding);
      ASSERT_EQ(stored.size(), 256u);
      bool isIEEE = bias == 7;
      for (int code = 0; code < 256; ++code) {
        bool isNaN = isIEEE ? (code & 0x7f) > 0x78 : code == 0x80;
        if (isNaN)
          EXPECT_GT(stored[code] & 0x7fff, infinity) << from << " " << code;
        else if (isIEEE && (code & 0x7f) == 0x78)
          EXPECT_EQ(stored[code], infinity | (code & 0x80) << 8) << code;
        else
          EXPECT_EQ(
              valueOf(unsigned(stored[code]), toExponent, toMantissa, toBias),
              valueOf(unsigned(code), exponent, mantissa, bias))
              << from << " " << code;
      }
    }
}

// k/4 of e2m3, whose bias is 1: from 1 on an exponent and three bits of
// fraction, a sign of 32.
TEST(Recode, TablesSayWhatIsStoredForEachCode) {
  std::optional<Recoding> int4 = findRecoding("int4", ElementFormat::E2M3);
  ASSERT_TRUE(int4);
  EXPECT_EQ(storedCodes(*int4), (std::vector<int>{0, 2, 4, 6, 8, 10, 12, 14, 48,
                                                  46, 44, 42, 40, 38, 36, 34}));
  std::optional<Recoding> fnuz =
      findRecoding("e5m2b16fnuz", ElementFormat::E5M2);
  ASSERT_TRUE(fnuz);
  std::vector<int> codes = storedCodes(*fnuz);
  ASSERT_EQ(codes.size(), 256u);
  EXPECT_EQ(codes[0x7b], 0x7b);
  EXPECT_EQ(codes[0x7c], -1);
  EXPECT_EQ(codes[0x80], -1);
  EXPECT_EQ(codes[0xff], -1);
}

TEST(Recode, HasNoRowThatRounds) {
  EXPECT_FALSE(findRecoding("int4", ElementFormat::E2M1));
  EXPECT_FALSE(findRecoding("int8", ElementFormat::E5M2));
  EXPECT_FALSE(findRecoding("e4m3b8fnuz", ElementFormat::E5M2));
}

// The tables of docs/sources.md's [tensorcast], written out: halves of what a
// nibble counts, and so on.
TEST(Recode, CodebooksAreTheValuesOfTheirTables) {
  using Table = std::vector<double>;
  std::vector<double> eighths, sixteenths;
  for (int k = 0; k < 16; ++k) {
    eighths.push_back(k / 8.0);
    sixteenths.push_back(k / 16.0);
  }
  for (const auto &[name, tables, to, exponent, mantissa, bias] :
       {std::tuple("cb31ie_int5",
                   std::vector<Table>{{0, .5, 1, 1.5}, {0, .25, .5, .75}},
                   ElementFormat::E2M1, 2, 1, 1),
        {"cb51ie_int7", {eighths, sixteenths}, ElementFormat::E2M3, 2, 3, 1},
        {"cb41fi_e2m2fnuz",
         {{0, .5, 1, 1.5, 2, 3, 4, 6}, {0, 1, 2, 3, 4, 5, 6, 7}},
         ElementFormat::E2M3,
         2,
         3,
         1},
        {"cb42fe0123_e3m2fnuz",
         {{0, 2, 4, 6, 8, 12, 16, 24},
          {0, 1, 2, 3, 4, 6, 8, 12},
          {0, .5, 1, 1.5, 2, 3, 4, 6},
          {0, .25, .5, .75, 1, 1.5, 2, 3}},
         ElementFormat::E3M2,
         3,
         2,
         3}}) {
    std::optional<Recoding> recoding = narrowCodebook(name);
    ASSERT_TRUE(recoding) << name;
    EXPECT_EQ(recoding->to, to) << name;
    std::vector<int> stored = storedCodes(*recoding);
    size_t half = tables[0].size();
    ASSERT_EQ(stored.size(), 2 * half * tables.size()) << name;
    for (size_t code = 0; code < stored.size(); ++code) {
      double expected = tables[code / (2 * half)][code % half];
      if (code / half % 2)
        expected = -expected;
      double found = recoding->factor *
                     valueOf(unsigned(stored[code]), exponent, mantissa, bias);
      EXPECT_EQ(found, expected) << name << " " << code;
      EXPECT_EQ(std::signbit(found), std::signbit(expected)) << name;
    }
  }
}

TEST(Recode, CodebooksOfEightBitsAreBf16) {
  EXPECT_FALSE(narrowCodebook("cb81ie_int9"));
  std::optional<Recoding> recoding =
      recodeCodebook("cb81ie_int9", ElementFormat::BF16);
  ASSERT_TRUE(recoding);
  EXPECT_EQ(recoding->factor, 1);
  std::vector<int> stored = storedCodes(*recoding);
  ASSERT_EQ(stored.size(), 512u);
  for (int code = 0; code < 512; ++code) {
    double value = code % 128 / (code < 256 ? 64.0 : 128.0);
    EXPECT_EQ(valueOf(unsigned(stored[size_t(code)]), 8, 7, 127),
              code / 128 % 2 ? -value : value);
  }
}

TEST(Recode, NoFormatHasTablesThatAreTooFineOrTooMany) {
  for (const char *name : {"cb41f01_e2m9fnuz", "cb82ie0123_int9", "e2m1fnuz"}) {
    EXPECT_FALSE(recodeCodebook(name, ElementFormat::BF16)) << name;
    EXPECT_FALSE(narrowCodebook(name)) << name;
  }
}
