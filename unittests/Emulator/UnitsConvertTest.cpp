//===- UnitsConvertTest.cpp - narrow conversions of cvt -------------------===//
//
// Part of the blockscale project, under the Apache License v2.0 with LLVM
// Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Units/Convert.h"
#include "UnitsOracle.h"

#include <gtest/gtest.h>

#include <cmath>
#include <cstring>
#include <gtest/gtest.h>
#include <limits>
#include <map>

using namespace blockscale::emulator;
using blockscale::emulator::test::CsvRow;
using blockscale::emulator::test::hex;
using blockscale::emulator::test::num;
using blockscale::emulator::test::readCsv;

static float fromBits(uint32_t bits) {
  float value;
  std::memcpy(&value, &bits, 4);
  return value;
}

static uint32_t toBits(float value) {
  uint32_t bits;
  std::memcpy(&bits, &value, 4);
  return bits;
}

static ConvertMode mode(Rounding rounding, bool satfinite) {
  ConvertMode result;
  result.rounding = rounding;
  result.satfinite = satfinite;
  return result;
}

TEST(Convert, EveryCodeDecodesAsTheOracleSays) {
  const std::map<std::string, Element> types = {
      {"e2m1", Element::E2M1},  {"e2m3", Element::E2M3},
      {"e3m2", Element::E3M2},  {"e4m3", Element::E4M3},
      {"e5m2", Element::E5M2},  {"ue8m0", Element::UE8M0},
      {"ue4m3", Element::UE4M3}};
  unsigned checked = 0;
  for (auto &row : readCsv("decode_tables.csv")) {
    float value = decode(types.at(row["format"]), hex(row["code"]));
    float expected = fromBits(hex(row["f32_bits"]));
    if (std::isnan(expected))
      EXPECT_TRUE(std::isnan(value)) << row["format"] << row["code"];
    else
      EXPECT_EQ(toBits(value), toBits(expected))
          << row["format"] << row["code"];
    ++checked;
  }
  EXPECT_GT(checked, 300u);
}

TEST(Convert, EncodesAsTheOracleSays) {
  struct Column {
    const char *name;
    Element type;
    ConvertMode how;
  };
  const Column columns[] = {
      {"e2m1_rn", Element::E2M1, mode(Rounding::RN, true)},
      {"e2m1_rz", Element::E2M1, mode(Rounding::RZ, true)},
      {"e2m3_rn", Element::E2M3, mode(Rounding::RN, true)},
      {"e2m3_rz", Element::E2M3, mode(Rounding::RZ, true)},
      {"e3m2_rn", Element::E3M2, mode(Rounding::RN, true)},
      {"e3m2_rz", Element::E3M2, mode(Rounding::RZ, true)},
      {"e4m3_rn_sat", Element::E4M3, mode(Rounding::RN, true)},
      {"e5m2_rn_sat", Element::E5M2, mode(Rounding::RN, true)},
      {"e5m2_rn_nosat", Element::E5M2, mode(Rounding::RN, false)},
      {"ue8m0_rz_sat", Element::UE8M0, mode(Rounding::RZ, true)},
      {"ue8m0_rz_nosat", Element::UE8M0, mode(Rounding::RZ, false)},
      {"ue8m0_rp_sat", Element::UE8M0, mode(Rounding::RP, true)},
      {"ue8m0_rp_nosat", Element::UE8M0, mode(Rounding::RP, false)}};
  unsigned checked = 0;
  for (auto &row : readCsv("numerics/encode.csv")) {
    float value = fromBits(hex(row["f32_bits_hex"]));
    for (const Column &column : columns)
      ASSERT_EQ(encode(column.type, value, column.how), hex(row[column.name]))
          << column.name << " of " << row["f32_bits_hex"];
    ++checked;
  }
  EXPECT_GT(checked, 1000u);
}

// All codes of ue5m3, by the vendor's host code.
TEST(Convert, Ue5m3AsTheVendorsHostCodeHasIt) {
  auto encoded = [](float value, Rounding rounding) {
    ConvertMode mode;
    mode.rounding = rounding;
    mode.satfinite = true;
    return encode(Element::UE5M3, value, mode);
  };
  unsigned midpoints = 0;
  for (const CsvRow &row : readCsv("ue5m3.csv")) {
    unsigned code = num(row.at("code"));
    float value = decode(Element::UE5M3, code);
    if (code == 255) {
      EXPECT_TRUE(std::isnan(value));
      continue;
    }
    EXPECT_FLOAT_EQ(value, std::stof(row.at("value"))) << code;
    EXPECT_EQ(encoded(value, Rounding::RN), code);
    EXPECT_EQ(encoded(-value, Rounding::RP), code);
    float above = std::nextafter(value, INFINITY);
    EXPECT_EQ(encoded(above, Rounding::RZ), num(row.at("rz_above"))) << code;
    EXPECT_EQ(encoded(above, Rounding::RP), num(row.at("rp_above"))) << code;
    if (row.at("midpoint").empty())
      continue;
    float middle = (value + decode(Element::UE5M3, code + 1)) / 2;
    EXPECT_FLOAT_EQ(middle, std::stof(row.at("midpoint")));
    EXPECT_EQ(encoded(middle, Rounding::RN), num(row.at("rn"))) << code;
    ++midpoints;
  }
  EXPECT_EQ(midpoints, 254u);
}

TEST(Convert, HalfTypesRoundAndOverflow) {
  auto f16 = [](float v, ConvertMode m) { return encode(Element::F16, v, m); };
  EXPECT_EQ(f16(1.0f, {}), 0x3c00u);
  EXPECT_EQ(f16(65504.0f, {}), 0x7bffu);
  EXPECT_EQ(f16(65519.0f, {}), 0x7bffu);
  EXPECT_EQ(f16(65520.0f, {}), 0x7c00u);
  EXPECT_EQ(f16(65520.0f, mode(Rounding::RN, true)), 0x7bffu);
  EXPECT_EQ(f16(1e9f, mode(Rounding::RZ, false)), 0x7bffu);
  EXPECT_EQ(f16(-1e9f, mode(Rounding::RP, false)), 0xfbffu);
  EXPECT_EQ(f16(5.9604645e-8f, {}), 0x0001u);
  EXPECT_EQ(f16(-0.0f, {}), 0x8000u);
  EXPECT_EQ(f16(std::nanf(""), {}), 0x7fffu);
  EXPECT_EQ(encode(Element::BF16, fromBits(0x3f808000), {}), 0x3f80u);
  EXPECT_EQ(encode(Element::BF16, fromBits(0x3f818000), {}), 0x3f82u);
  EXPECT_EQ(encode(Element::BF16, fromBits(0x7f7fffff), {}), 0x7f80u);
  EXPECT_EQ(encode(Element::TF32, fromBits(0x3f801000), {}), 0x3f800000u);
  EXPECT_EQ(
      encode(Element::TF32, fromBits(0x3f801000), mode(Rounding::RNA, false)),
      0x3f802000u);
  EXPECT_EQ(
      encode(Element::TF32, fromBits(0xbf801fff), mode(Rounding::RZ, false)),
      0xbf800000u);
}

TEST(Convert, PackedFormsPutTheFirstOperandOnTop) {
  ConvertMode sat = mode(Rounding::RN, true);
  EXPECT_EQ(packX2(Element::E2M1, 6.0f, -0.5f, sat), 0x79u);
  EXPECT_EQ(packX2(Element::E4M3, 1.0f, 448.0f, sat), 0x387eu);
  EXPECT_EQ(packX2(Element::E2M3, 7.5f, 0.125f, sat), 0x1f01u);
  EXPECT_EQ(packX2(Element::BF16, 1.0f, 2.0f, {}), 0x3f804000u);
  EXPECT_EQ(packX2(Element::UE8M0, 2.0f, 1.0f, mode(Rounding::RP, true)),
            0x807fu);
  EXPECT_EQ(packX4(Element::E5M2, 1.0f, 2.0f, 4.0f, 8.0f,
                   mode(Rounding::RS, true), 0),
            0x3c404448u);
  EXPECT_EQ(packX4(Element::E2M1, 1.0f, 2.0f, 4.0f, 6.0f,
                   mode(Rounding::RS, true), 0),
            0x2467u);
}

TEST(Convert, ReluClampsNegativeValues) {
  ConvertMode relu = mode(Rounding::RN, true);
  relu.relu = true;
  EXPECT_EQ(packX2(Element::E4M3, -3.0f, 1.5f, relu), 0x003cu);
  EXPECT_EQ(packX2(Element::E2M1, -0.0f, -6.0f, relu), 0x00u);
  EXPECT_EQ(unpackToF16x2(Element::E5M2, 0xbc3c, true), 0x00003c00u);
}

TEST(Convert, UnpacksExactly) {
  EXPECT_EQ(unpackToF16x2(Element::E2M1, 0x79, false), 0x4600b800u);
  EXPECT_EQ(unpackToF16x2(Element::E4M3, 0x7e01, false), 0x5f001800u);
  EXPECT_EQ(unpackToF16x2(Element::E3M2, 0x1f21, false), 0x4f00ac00u);
  EXPECT_EQ(unpackUE8M0ToBF16x2(0x7f00), 0x3f800040u);
  EXPECT_EQ(unpackUE8M0ToBF16x2(0xff80), 0x7fff4000u);
}

TEST(Convert, StochasticRoundingCarriesFromTheRandomBits) {
  // 1.25 lies between the e2m1 codes of 1 and 1.5: half of the 8 bits.
  ConvertMode rs = mode(Rounding::RS, true);
  EXPECT_EQ(encode(Element::E2M1, 1.25f, rs, 0x7f, 8), 0x2u);
  EXPECT_EQ(encode(Element::E2M1, 1.25f, rs, 0x80, 8), 0x3u);
  // a reads bits 31..24, b bits 15..8, e bits 23..16, f bits 7..0.
  EXPECT_EQ(packX4(Element::E2M1, 1.25f, 1.25f, 1.25f, 1.25f, rs, 0x80000000),
            0x3222u);
  EXPECT_EQ(packX4(Element::E2M1, 1.25f, 1.25f, 1.25f, 1.25f, rs, 0x00800000),
            0x2232u);
  EXPECT_EQ(
      packX4(Element::E4M3, 1.0625f, 1.0625f, 1.0625f, 1.0625f, rs, 0x80000000),
      0x39393838u);
  // a and b share the upper half, e and f the lower one, also of 6 bits.
  EXPECT_EQ(
      packX4(Element::E4M3, 1.0625f, 1.0625f, 1.0625f, 1.0625f, rs, 0x8000),
      0x38383939u);
  EXPECT_EQ(
      packX4(Element::E2M3, 1.0625f, 1.0625f, 1.0625f, 1.0625f, rs, 0x7fff8000),
      0x08080909u);
  // Of subnormals, too, all that is less than a step counts: 2^-10 is half of
  // it.
  EXPECT_EQ(packX4(Element::E4M3, 0x1p-10f, -0x1p-10f, 0x1p-10f, 1000, rs,
                   0x80007fff),
            0x0181007eu);
  EXPECT_EQ(
      packX2(Element::F16, 1.00048828125f, 1.00048828125f, rs, 0x10000000),
      0x3c013c00u);
  // PTX 9.4: of f16x2 the low 13 bits of each half count, of bf16x2 all 16.
  EXPECT_EQ(
      packX2(Element::F16, 1.00048828125f, 1.00048828125f, rs, 0xefff1000),
      0x3c003c01u);
  EXPECT_EQ(packX2(Element::BF16, 1.00390625f, 1.00390625f, rs, 0x80007fff),
            0x3f813f80u);
  EXPECT_EQ(packX2(Element::BF16, 1.0009765625f, 1.0009765625f, rs, 0xe000dfff),
            0x3f813f80u);
}

TEST(Convert, ShortWayToBf16AgreesWithTheLongOne) {
  ConvertMode longWay;
  longWay.relu = true; // no effect on numbers that are not negative
  for (uint32_t high = 0; high < 0x8000; ++high)
    for (uint32_t low :
         {0x0000u, 0x0001u, 0x7fffu, 0x8000u, 0x8001u, 0xffffu}) {
      uint32_t bits = high << 16 | low;
      float value, negative;
      std::memcpy(&value, &bits, 4);
      bits |= 0x80000000;
      std::memcpy(&negative, &bits, 4);
      uint32_t expected = encode(Element::BF16, value, longWay);
      ASSERT_EQ(encode(Element::BF16, value, ConvertMode{}), expected) << bits;
      if (value == value) {
        ASSERT_EQ(encode(Element::BF16, negative, ConvertMode{}),
                  expected | 0x8000)
            << bits;
      }
    }
  // 1 + 2^-8 is a tie and goes to the even 1.0; 1 + 3 * 2^-8 goes up.
  EXPECT_EQ(encode(Element::BF16, 1.00390625f, ConvertMode{}), 0x3f80u);
  EXPECT_EQ(encode(Element::BF16, 1.01171875f, ConvertMode{}), 0x3f82u);
}
