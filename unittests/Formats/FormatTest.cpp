//===- FormatTest.cpp - codecs against the reference tables ---------------===//
//
// Part of the blockscale project, under the Apache License v2.0 with LLVM
// Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "blockscale/Formats/Format.h"
#include "Formats/OracleCsv.h"

#include <cmath>
#include <gtest/gtest.h>

using namespace blockscale;
using namespace blockscale::test;

namespace {

constexpr float kInfinity = INFINITY;

struct EncodeColumn {
  const char *name;
  ElementFormat format;
  Rounding rounding;
  Saturation saturation;
};

constexpr EncodeColumn kEncodeColumns[] = {
    {"e2m1_rn", ElementFormat::E2M1, Rounding::NearestEven, Saturation::Finite},
    {"e2m1_rz", ElementFormat::E2M1, Rounding::TowardZero, Saturation::Finite},
    {"e2m3_rn", ElementFormat::E2M3, Rounding::NearestEven, Saturation::Finite},
    {"e2m3_rz", ElementFormat::E2M3, Rounding::TowardZero, Saturation::Finite},
    {"e3m2_rn", ElementFormat::E3M2, Rounding::NearestEven, Saturation::Finite},
    {"e3m2_rz", ElementFormat::E3M2, Rounding::TowardZero, Saturation::Finite},
    {"e4m3_rn_sat", ElementFormat::E4M3, Rounding::NearestEven,
     Saturation::Finite},
    {"e4m3_rn_nosat", ElementFormat::E4M3, Rounding::NearestEven,
     Saturation::None},
    {"e5m2_rn_sat", ElementFormat::E5M2, Rounding::NearestEven,
     Saturation::Finite},
    {"e5m2_rn_nosat", ElementFormat::E5M2, Rounding::NearestEven,
     Saturation::None},
    {"ue8m0_rz_sat", ElementFormat::UE8M0, Rounding::TowardZero,
     Saturation::Finite},
    {"ue8m0_rz_nosat", ElementFormat::UE8M0, Rounding::TowardZero,
     Saturation::None},
    {"ue8m0_rp_sat", ElementFormat::UE8M0, Rounding::TowardPositive,
     Saturation::Finite},
    {"ue8m0_rp_nosat", ElementFormat::UE8M0, Rounding::TowardPositive,
     Saturation::None},
    {"ue4m3_rn_sat", ElementFormat::UE4M3, Rounding::NearestEven,
     Saturation::Finite},
};

/// A column of rubin/ue5m3.csv.
uint32_t codeIn(const CsvRow &row, const char *column) {
  return std::stoul(row.at(column));
}

// All codes, and what the midpoints between them and their neighbours become,
// by the host code of CUDA 13.5.
TEST(Format, Ue5m3) {
  std::vector<CsvRow> rows = readOracle("rubin/ue5m3.csv");
  ASSERT_EQ(rows.size(), 256u);
  constexpr ElementFormat kFormat = ElementFormat::UE5M3;
  for (const CsvRow &row : rows) {
    uint32_t code = codeIn(row, "code");
    float value = decode(kFormat, code);
    if (code == 0xff) {
      EXPECT_TRUE(std::isnan(value));
      continue;
    }
    // The table prints nine digits, which name one binary32 number.
    EXPECT_EQ(value, std::strtof(row.at("value").c_str(), nullptr)) << code;
    EXPECT_EQ(encode(kFormat, value), code);
    EXPECT_EQ(encode(kFormat, -value), code) << "the sign is dropped";
    if (row.at("midpoint to the next code").empty())
      continue;
    float middle =
        std::strtof(row.at("midpoint to the next code").c_str(), nullptr);
    EXPECT_EQ(encode(kFormat, middle), codeIn(row, "code of the midpoint (rn)"))
        << code;
    float above = std::nextafter(value, INFINITY);
    EXPECT_EQ(encode(kFormat, above, Rounding::TowardZero),
              codeIn(row, "code just above the value (rz)"))
        << code;
    EXPECT_EQ(encode(kFormat, above, Rounding::TowardPositive),
              codeIn(row, "(rp)"))
        << code;
  }
  EXPECT_EQ(decode(kFormat, 0x01), 0x1p-17f);
  EXPECT_EQ(decode(kFormat, 0x08), 0x1p-14f);
  EXPECT_EQ(decode(kFormat, 0x78), 1.0f);
  EXPECT_EQ(decode(kFormat, 0xfe), 114688.0f);
  EXPECT_EQ(encode(kFormat, 118784.0f), 0xfeu);
  EXPECT_EQ(encode(kFormat, INFINITY), 0xfeu);
  EXPECT_EQ(encode(kFormat, NAN), 0xffu);
  EXPECT_EQ(encode(kFormat, 1e9f, Rounding::NearestEven, Saturation::None),
            0xffu);
  EXPECT_EQ(encode(kFormat, 1e-30f, Rounding::TowardPositive), 0x01u);
  EXPECT_EQ(parseFormat("ue5m3"), kFormat);
}

TEST(Format, EncodesEveryRowOfTheOracle) {
  std::vector<CsvRow> rows = readOracle("numerics/encode.csv");
  ASSERT_EQ(rows.size(), 10140u);
  for (const CsvRow &row : rows) {
    const std::string &input = row.at("f32_bits_hex");
    for (const EncodeColumn &column : kEncodeColumns) {
      const std::string &expected = row.at(column.name);
      if (expected.empty()) {
        // Negative inputs have no ue4m3 answer, and only they.
        ASSERT_EQ(column.format, ElementFormat::UE4M3);
        ASSERT_TRUE(hexOf(input) >> 31) << input;
        continue;
      }
      EXPECT_EQ(encode(column.format, floatOf(input), column.rounding,
                       column.saturation),
                hexOf(expected))
          << input << " " << column.name;
    }
  }
}

TEST(Format, EncodesEveryRowOfTheSamples) {
  constexpr EncodeColumn columns[] = {
      {"e2m1", ElementFormat::E2M1, Rounding::NearestEven, Saturation::Finite},
      {"e2m3", ElementFormat::E2M3, Rounding::NearestEven, Saturation::Finite},
      {"e3m2", ElementFormat::E3M2, Rounding::NearestEven, Saturation::Finite},
      {"e4m3", ElementFormat::E4M3, Rounding::NearestEven, Saturation::Finite},
      {"e5m2", ElementFormat::E5M2, Rounding::NearestEven, Saturation::Finite},
      {"ue8m0_round_up", ElementFormat::UE8M0, Rounding::TowardPositive,
       Saturation::Finite},
      {"ue8m0_round_down", ElementFormat::UE8M0, Rounding::TowardZero,
       Saturation::Finite},
  };
  std::vector<CsvRow> rows = readOracle("encode_samples.csv");
  ASSERT_EQ(rows.size(), 549u);
  for (const CsvRow &row : rows)
    for (const EncodeColumn &column : columns)
      EXPECT_EQ(encode(column.format, floatOf(row.at("f32_bits")),
                       column.rounding, column.saturation),
                hexOf(row.at(column.name)))
          << row.at("f32_bits") << " " << column.name;
}

void expectDecode(const std::string &name, const std::string &code,
                  const std::string &bits) {
  std::optional<ElementFormat> format = parseFormat(name);
  ASSERT_TRUE(format) << name;
  float expected = floatOf(bits);
  for (float value :
       {decode(*format, hexOf(code)), decodeTable(*format)[hexOf(code)]}) {
    if (std::isnan(expected))
      EXPECT_TRUE(std::isnan(value)) << name << " " << code;
    else
      EXPECT_EQ(bitsOf(value), bitsOf(expected)) << name << " " << code;
  }
}

TEST(Format, DecodesEveryRowOfTheOracle) {
  std::vector<CsvRow> rows = readOracle("numerics/decode.csv");
  ASSERT_EQ(rows.size(), 520u);
  for (const CsvRow &row : rows)
    expectDecode(row.at("format"), row.at("code_hex"), row.at("f32_bits_hex"));
}

TEST(Format, DecodesEveryRowOfTheTables) {
  std::vector<CsvRow> rows = readOracle("decode_tables.csv");
  ASSERT_EQ(rows.size(), 520u);
  for (const CsvRow &row : rows)
    expectDecode(row.at("format"), row.at("code"), row.at("f32_bits"));
}

// OCP MX 1.0 table 1 and sections 5.3.1 to 5.3.3; OFP8 1.0 table 1.
TEST(Format, InfoMatchesThePublishedTables) {
  struct Row {
    ElementFormat format;
    unsigned bits, exponentBits, mantissaBits;
    int bias, emax;
    float largest;
    uint32_t largestCode;
  };
  constexpr Row rows[] = {
      {ElementFormat::E2M1, 4, 2, 1, 1, 2, 6.0f, 0x7},
      {ElementFormat::E2M3, 6, 2, 3, 1, 2, 7.5f, 0x1f},
      {ElementFormat::E3M2, 6, 3, 2, 3, 4, 28.0f, 0x1f},
      {ElementFormat::E4M3, 8, 4, 3, 7, 8, 448.0f, 0x7e},
      {ElementFormat::E5M2, 8, 5, 2, 15, 15, 57344.0f, 0x7b},
      {ElementFormat::UE8M0, 8, 8, 0, 127, 127, 0x1p127f, 0xfe},
      {ElementFormat::UE4M3, 7, 4, 3, 7, 8, 448.0f, 0x7e},
      {ElementFormat::INT8, 8, 0, 6, 0, 0, 127.0f / 64, 0x7f},
      {ElementFormat::INT4, 4, 0, 2, 0, 0, 1.75f, 0x7},
      {ElementFormat::BF16, 16, 8, 7, 127, 127, 3.38953139e38f, 0x7f7f},
      {ElementFormat::F16, 16, 5, 10, 15, 15, 65504.0f, 0x7bff},
      {ElementFormat::UE5M3, 8, 5, 3, 15, 16, 114688.0f, 0xfe},
  };
  ASSERT_EQ(std::size(rows), kFormats.size());
  for (const Row &row : rows) {
    const FormatInfo &info = formatInfo(row.format);
    EXPECT_EQ(info.format, row.format);
    EXPECT_EQ(info.bits, row.bits) << info.name;
    EXPECT_EQ(info.exponentBits, row.exponentBits) << info.name;
    EXPECT_EQ(info.mantissaBits, row.mantissaBits) << info.name;
    EXPECT_EQ(info.bias, row.bias) << info.name;
    EXPECT_EQ(info.emax, row.emax) << info.name;
    EXPECT_EQ(info.largest, row.largest) << info.name;
    EXPECT_EQ(info.largestCode, row.largestCode) << info.name;
    EXPECT_EQ(decode(row.format, row.largestCode), row.largest) << info.name;
  }
}

TEST(Format, TiesOfE2M1GoToEven) {
  constexpr float ties[][2] = {{0.25f, 0}, {0.75f, 1}, {1.25f, 1}, {1.75f, 2},
                               {2.5f, 2},  {3.5f, 4},  {5.0f, 4}};
  for (auto &tie : ties) {
    EXPECT_EQ(decode(ElementFormat::E2M1, encode(ElementFormat::E2M1, tie[0])),
              tie[1]);
    EXPECT_EQ(decode(ElementFormat::E2M1, encode(ElementFormat::E2M1, -tie[0])),
              -tie[1]);
  }
}

TEST(Format, HalfPrecisionFormats) {
  auto f16 = [](float x, Rounding r = Rounding::NearestEven,
                Saturation s = Saturation::None) {
    return encode(ElementFormat::F16, x, r, s);
  };
  auto bf16 = [](float x, Rounding r = Rounding::NearestEven,
                 Saturation s = Saturation::None) {
    return encode(ElementFormat::BF16, x, r, s);
  };
  EXPECT_EQ(f16(1.0f), 0x3c00u);
  EXPECT_EQ(f16(-2.0f), 0xc000u);
  EXPECT_EQ(f16(65519.0f), 0x7bffu);
  EXPECT_EQ(f16(65520.0f), 0x7c00u);
  EXPECT_EQ(f16(65520.0f, Rounding::TowardZero), 0x7bffu);
  EXPECT_EQ(f16(-65520.0f, Rounding::TowardPositive), 0xfbffu);
  EXPECT_EQ(f16(kInfinity, Rounding::NearestEven, Saturation::Finite), 0x7bffu);
  EXPECT_EQ(f16(0x1p-24f), 0x0001u);
  EXPECT_EQ(f16(0x1p-25f), 0x0000u);
  EXPECT_EQ(f16(0x1.8p-24f), 0x0002u);
  EXPECT_EQ(f16(NAN), 0x7fffu);
  EXPECT_EQ(bf16(1.0f), 0x3f80u);
  EXPECT_EQ(bf16(0x1.01p0f), 0x3f80u);
  EXPECT_EQ(bf16(0x1.03p0f), 0x3f82u);
  EXPECT_EQ(bf16(0x1p-133f), 0x0001u);
  EXPECT_EQ(bf16(3.4e38f), 0x7f80u);
  EXPECT_EQ(bf16(3.4e38f, Rounding::NearestEven, Saturation::Finite), 0x7f7fu);
  EXPECT_EQ(decode(ElementFormat::BF16, 0xc040), -3.0f);
  EXPECT_EQ(decode(ElementFormat::F16, 0x3555), 0x1.554p-2f);
  EXPECT_EQ(decode(ElementFormat::F16, 0xfc00), -kInfinity);
  EXPECT_TRUE(std::isnan(decode(ElementFormat::F16, 0x7e00)));
}

TEST(Format, HalfPrecisionCodesRoundTrip) {
  for (ElementFormat format : {ElementFormat::BF16, ElementFormat::F16})
    for (uint32_t code = 0; code < 0x10000; ++code) {
      float value = decode(format, code);
      if (!std::isnan(value)) {
        ASSERT_EQ(
            encode(format, value, Rounding::NearestEven, Saturation::None),
            code);
      }
    }
}

TEST(Format, MxIntegersCountInFractions) {
  EXPECT_EQ(encode(ElementFormat::INT8, 1.0f), 64u);
  EXPECT_EQ(encode(ElementFormat::INT8, -1.0f), 0xc0u);
  EXPECT_EQ(encode(ElementFormat::INT8, 0.5f / 64), 0u);
  EXPECT_EQ(encode(ElementFormat::INT8, 1.5f / 64), 2u);
  EXPECT_EQ(encode(ElementFormat::INT8, -1.5f / 64), 0xfeu);
  EXPECT_EQ(encode(ElementFormat::INT8, -1.5f / 64, Rounding::TowardZero),
            0xffu);
  EXPECT_EQ(encode(ElementFormat::INT8, 1.25f / 64, Rounding::TowardPositive),
            2u);
  EXPECT_EQ(encode(ElementFormat::INT8, 100.0f), 127u);
  EXPECT_EQ(encode(ElementFormat::INT8, -kInfinity), 0x81u);
  EXPECT_EQ(encode(ElementFormat::INT8, NAN), 0u);
  EXPECT_EQ(encode(ElementFormat::INT4, -1.75f), 0x9u);
  EXPECT_EQ(encode(ElementFormat::INT4, 2.0f), 0x7u);
  EXPECT_EQ(decode(ElementFormat::INT8, 0x80), -2.0f);
  EXPECT_EQ(decode(ElementFormat::INT8, 0x7f), 1.984375f);
  EXPECT_EQ(decode(ElementFormat::INT4, 0x8), -2.0f);
  EXPECT_EQ(decode(ElementFormat::INT4, 0xd), -0.75f);
}

TEST(Format, UnsignedScalesTakeTheMagnitude) {
  EXPECT_EQ(encode(ElementFormat::UE4M3, -1.0f), 0x38u);
  EXPECT_EQ(encode(ElementFormat::UE8M0, -4.0f, Rounding::TowardZero), 0x81u);
  EXPECT_EQ(encode(ElementFormat::UE8M0, 3.0f), 0x80u);
  EXPECT_EQ(encode(ElementFormat::UE8M0, 6.0f), 0x82u);
  // Bit 7 of a ue4m3 byte is no part of the number.
  EXPECT_EQ(decode(ElementFormat::UE4M3, 0xb8), 1.0f);
}

TEST(Format, ParsesNamesOfAllFamilies) {
  EXPECT_EQ(parseFormat("E2M1"), ElementFormat::E2M1);
  EXPECT_EQ(parseFormat("f4E2M1FN"), ElementFormat::E2M1);
  EXPECT_EQ(parseFormat("f6e2m3fn"), ElementFormat::E2M3);
  EXPECT_EQ(parseFormat("f6E3M2FN"), ElementFormat::E3M2);
  EXPECT_EQ(parseFormat("e4m3fn"), ElementFormat::E4M3);
  EXPECT_EQ(parseFormat("f8E4M3FN"), ElementFormat::E4M3);
  EXPECT_EQ(parseFormat("f8E5M2"), ElementFormat::E5M2);
  EXPECT_EQ(parseFormat("f8E8M0FNU"), ElementFormat::UE8M0);
  EXPECT_EQ(parseFormat("e8m0"), ElementFormat::UE8M0);
  EXPECT_EQ(parseFormat("ue4m3"), ElementFormat::UE4M3);
  EXPECT_EQ(parseFormat("bf16"), ElementFormat::BF16);
  EXPECT_EQ(parseFormat("i4"), ElementFormat::INT4);
  EXPECT_FALSE(parseFormat(""));
  // The MLIR type without "FN" is another format, with a largest value of 240.
  EXPECT_FALSE(parseFormat("f8E4M3"));
  EXPECT_FALSE(parseFormat("e4m3fnuz"));
}

TEST(Format, PacksNibblesLowFirst) {
  const uint8_t codes[] = {0x1, 0x2, 0x3, 0xf, 0x7};
  uint8_t packed[4] = {0xee, 0xee, 0xee, 0xee};
  ASSERT_EQ(packedBytes(ElementFormat::E2M1, 5), 3u);
  ASSERT_TRUE(packElements(ElementFormat::E2M1, codes, 5, packed));
  EXPECT_EQ(packed[0], 0x21);
  EXPECT_EQ(packed[1], 0xf3);
  EXPECT_EQ(packed[2], 0x07);
  EXPECT_EQ(packed[3], 0xee);
}

TEST(Format, PacksSixBitsAsALittleEndianStream) {
  const uint8_t codes[] = {0x3f, 0x00, 0x2a, 0x15, 0x01};
  uint8_t packed[5] = {0xee, 0xee, 0xee, 0xee, 0xee};
  ASSERT_EQ(packedBytes(ElementFormat::E3M2, 5), 4u);
  ASSERT_EQ(packedBytes(ElementFormat::E3M2, 16), 12u);
  ASSERT_TRUE(packElements(ElementFormat::E3M2, codes, 5, packed));
  EXPECT_EQ(packed[0], 0x3f);
  EXPECT_EQ(packed[1], 0xa0);
  EXPECT_EQ(packed[2], 0x56);
  EXPECT_EQ(packed[3], 0x01);
  EXPECT_EQ(packed[4], 0xee);
}

TEST(Format, UnpackInvertsPack) {
  for (const FormatInfo &info : kFormats) {
    uint8_t codes[41], packed[41] = {}, back[41] = {};
    for (unsigned i = 0; i < 41; ++i)
      codes[i] = (i * 37 + 11) & info.codeMask();
    bool narrow = info.storageBits <= 8;
    ASSERT_EQ(packElements(info.format, codes, 41, packed), narrow);
    ASSERT_EQ(unpackElements(info.format, packed, 41, back), narrow);
    for (unsigned i = 0; narrow && i < 41; ++i)
      EXPECT_EQ(back[i], codes[i]) << info.name << " " << i;
  }
}

} // namespace
