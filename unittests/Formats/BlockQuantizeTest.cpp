//===- BlockQuantizeTest.cpp - scale rules against reference blocks -------===//
//
// Part of the blockscale project, under the Apache License v2.0 with LLVM
// Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "blockscale/Formats/BlockQuantize.h"
#include "Formats/OracleCsv.h"
#include "blockscale/Formats/ScaleSpec.h"

#include <cmath>
#include <gtest/gtest.h>

using namespace blockscale;
using namespace blockscale::test;

namespace {

std::vector<uint8_t> codesOf(const std::string &field) {
  std::vector<uint8_t> codes;
  for (const std::string &word : wordsOf(field))
    codes.push_back(static_cast<uint8_t>(hexOf(word)));
  return codes;
}

void expectSameFloat(float found, float expected, const std::string &what) {
  if (std::isnan(expected))
    EXPECT_TRUE(std::isnan(found)) << what;
  else
    EXPECT_EQ(bitsOf(found), bitsOf(expected)) << what;
}

TEST(BlockQuantize, EveryBlockOfTheOracle) {
  const std::map<std::string, ScaleRule> rules = {
      {"mx_floor", ScaleRule::Floor},
      {"mx_rp", ScaleRule::RoundUp},
      {"nki_quantize_mx", ScaleRule::FloorPlusOne},
  };
  std::vector<CsvRow> rows = readOracle("numerics/blocks.csv");
  ASSERT_EQ(rows.size(), 604u);
  for (const CsvRow &row : rows) {
    std::string what =
        row.at("recipe") + " " + row.at("element") + " " + row.at("case");
    ElementFormat element = *parseFormat(row.at("element"));
    std::vector<float> inputs = floatsOf(row.at("inputs_f32_hex"));
    ASSERT_EQ(std::to_string(inputs.size()), row.at("block"));
    float amax = blockMax(inputs.data(), inputs.size());
    expectSameFloat(amax, floatOf(row.at("amax_f32_hex")), what);
    uint8_t scale = blockScaleByte(rules.at(row.at("recipe")), element, amax);
    EXPECT_EQ(scale, hexOf(row.at("scale_hex"))) << what;
    std::vector<uint8_t> codes(inputs.size());
    quantizeBlock(element, scale, inputs.data(), inputs.size(), codes.data());
    EXPECT_EQ(codes, codesOf(row.at("codes_hex"))) << what;
  }
}

TEST(BlockQuantize, EveryNvfp4BlockOfTheOracle) {
  std::vector<CsvRow> rows = readOracle("numerics/nvfp4.csv");
  ASSERT_EQ(rows.size(), 160u);
  for (const CsvRow &row : rows) {
    std::string what = "tensor " + row.at("tensor") + " row " + row.at("row") +
                       " block " + row.at("block");
    TensorScale tensor =
        nvfp4TensorScale(floatOf(row.at("tensor_amax_f32_hex")));
    expectSameFloat(tensor.encode, floatOf(row.at("enc_f32_hex")), what);
    expectSameFloat(tensor.decode, floatOf(row.at("dec_f32_hex")), what);
    std::vector<float> inputs = floatsOf(row.at("inputs_f32_hex"));
    ASSERT_EQ(inputs.size(), 16u);
    float amax = blockMax(inputs.data(), 16);
    expectSameFloat(amax, floatOf(row.at("block_amax_f32_hex")), what);
    uint8_t scale = nvfp4BlockScale(amax, tensor);
    EXPECT_EQ(scale, hexOf(row.at("scale_ue4m3_hex"))) << what;
    std::vector<uint8_t> codes(16);
    nvfp4QuantizeBlock(scale, tensor, inputs.data(), 16, codes.data());
    if (scale != 0) {
      EXPECT_EQ(codes, codesOf(row.at("codes_hex"))) << what;
      continue;
    }
    for (unsigned i = 0; i < 16; ++i)
      EXPECT_EQ(codes[i], std::signbit(inputs[i]) ? 0x8 : 0x0) << what;
  }
}

TEST(BlockQuantize, EveryFloatScaledBlockOfTheOracle) {
  std::vector<CsvRow> rows = readOracle("numerics/fp32scale.csv");
  ASSERT_EQ(rows.size(), 30u);
  for (const CsvRow &row : rows) {
    ElementFormat element = *parseFormat(row.at("element"));
    std::vector<float> inputs = floatsOf(row.at("inputs_f32_hex"));
    ASSERT_EQ(inputs.size(), 128u);
    float amax = blockMax(inputs.data(), inputs.size());
    expectSameFloat(amax, floatOf(row.at("amax_f32_hex")), "amax");
    float scale = floatScale(element, amax);
    expectSameFloat(scale, floatOf(row.at("scale_f32_hex")), "scale");
    std::vector<uint8_t> codes(inputs.size());
    quantizeByFloatScale(element, scale, inputs.data(), inputs.size(),
                         codes.data());
    EXPECT_EQ(codes, codesOf(row.at("codes_hex")));
  }
}

// TensorCast's exponent scales; only its rows that round ties to even have our
// element codes, the scale byte is the same under all.
TEST(BlockQuantize, EveryTensorCastExponentScale) {
  const std::map<std::string, ScaleRule> rules = {
      {"floor", ScaleRule::Floor},
      {"midmax", ScaleRule::MidMax},
      {"option3", ScaleRule::RoundedMax},
      {"topbinade", ScaleRule::TopBinade},
  };
  unsigned scales = 0, blocks = 0;
  for (const CsvRow &row : readOracle("numerics/tensorcast_cast.csv")) {
    if (row.at("scalemode").empty())
      continue;
    std::string what = row.at("nspec") + " " + row.at("scalemode");
    auto element = elementFormat(*parseNumberSpec(row.at("nspec")));
    ASSERT_TRUE(element) << what;
    std::vector<float> inputs = floatsOf(row.at("inputs_f32_hex"));
    uint8_t scale = blockScaleByte(rules.at(row.at("scalemode")), *element,
                                   blockMax(inputs.data(), inputs.size()));
    EXPECT_EQ(scale, hexOf(row.at("scale"))) << what;
    ++scales;
    if (row.at("roundmode") != "even")
      continue;
    std::vector<uint8_t> codes(inputs.size());
    quantizeBlock(*element, scale, inputs.data(), inputs.size(), codes.data());
    std::vector<float> expected = floatsOf(row.at("dequant_f32_hex"));
    ASSERT_EQ(expected.size(), inputs.size());
    for (size_t i = 0; i < inputs.size(); ++i)
      EXPECT_EQ(decode(*element, codes[i]) *
                    decode(ElementFormat::UE8M0, scale),
                expected[i])
          << what << " " << i;
    ++blocks;
  }
  // The other 12 rows have float scales, which Python's tests compare.
  EXPECT_EQ(scales, 157u);
  EXPECT_EQ(blocks, 119u);
}

// Thresholds in units of the binade, for e4m3, e2m1 and e5m2.
TEST(BlockQuantize, RulesTurnAtTheirThresholds) {
  struct Row {
    ScaleRule rule;
    ElementFormat element;
    float last, first;
  };
  const Row rows[] = {
      {ScaleRule::MidMax, ElementFormat::E4M3, 1.8125f, 0x1.d00002p0f},
      {ScaleRule::MidMax, ElementFormat::E2M1, 1.75f, 0x1.c00002p0f},
      {ScaleRule::MidMax, ElementFormat::E5M2, 1.875f, 0x1.e00002p0f},
      {ScaleRule::RoundedMax, ElementFormat::E4M3, 0x1.effffep0f, 1.9375f},
      {ScaleRule::RoundedMax, ElementFormat::E2M1, 0x1.bffffep0f, 1.75f},
      {ScaleRule::TopBinade, ElementFormat::E4M3, 1.75f, 0x1.c00002p0f},
      {ScaleRule::TopBinade, ElementFormat::E2M1, 1.5f, 0x1.800002p0f},
      {ScaleRule::Ceil, ElementFormat::E2M1, 1.0f, 0x1.000002p0f},
      {ScaleRule::RoundUp, ElementFormat::E2M1, 1.5f, 0x1.800002p0f},
  };
  for (const Row &row : rows) {
    int unscaled = 127 - formatInfo(row.element).emax;
    EXPECT_EQ(blockScaleByte(row.rule, row.element, row.last), unscaled);
    EXPECT_EQ(blockScaleByte(row.rule, row.element, row.first), unscaled + 1);
  }
}

TEST(BlockQuantize, EdgesClampAndNeverWrap) {
  for (ScaleRule rule : {ScaleRule::Floor, ScaleRule::RoundUp,
                         ScaleRule::FloorPlusOne, ScaleRule::MidMax}) {
    EXPECT_EQ(blockScaleByte(rule, ElementFormat::E5M2, 0.0f), 0x00);
    EXPECT_EQ(blockScaleByte(rule, ElementFormat::E5M2, 0x1p-149f), 0x00);
    EXPECT_EQ(blockScaleByte(rule, ElementFormat::E5M2, NAN), 0xff);
    EXPECT_EQ(blockScaleByte(rule, ElementFormat::E5M2, INFINITY), 0xfe);
    EXPECT_EQ(blockScaleByte(rule, ElementFormat::E5M2, INFINITY,
                             InfinityPolicy::NanBlock),
              0xff);
  }
  EXPECT_EQ(blockScaleByte(ScaleRule::Floor, ElementFormat::INT8, 0x1.fp127f),
            0xfe);
  const float zeros[2] = {0.0f, -0.0f};
  uint8_t codes[2];
  quantizeBlock(ElementFormat::E2M1, 0x00, zeros, 2, codes);
  EXPECT_EQ(codes[0], 0x0);
  EXPECT_EQ(codes[1], 0x8);
}

TEST(BlockQuantize, MxIntegersUseFloor) {
  const float values[4] = {1.0f, -1.984375f, 0.5f, 0.0078125f};
  EXPECT_EQ(blockScaleByte(ScaleRule::Floor, ElementFormat::INT8, 1.984375f),
            127);
  EXPECT_EQ(blockScaleByte(ScaleRule::MidMax, ElementFormat::INT8, 1.999f),
            127);
  uint8_t codes[4];
  quantizeBlock(ElementFormat::INT8, 127, values, 4, codes);
  EXPECT_EQ(codes[0], 64);
  EXPECT_EQ(codes[1], 0x81);
  EXPECT_EQ(codes[2], 32);
  EXPECT_EQ(codes[3], 0);
}

TEST(BlockQuantize, Nvfp4SpecialTensors) {
  EXPECT_EQ(nvfp4TensorScale(0.0f).encode, 1.0f);
  EXPECT_EQ(nvfp4TensorScale(NAN).decode, 1.0f);
  EXPECT_EQ(nvfp4TensorScale(INFINITY).encode, 1.0f);
  EXPECT_EQ(nvfp4TensorScale(2688.0f).encode, 1.0f);
  EXPECT_EQ(nvfp4BlockScale(NAN, TensorScale()), 0x7f);
  EXPECT_EQ(nvfp4BlockScale(INFINITY, TensorScale()), 0x7e);
  EXPECT_EQ(nvfp4BlockScale(6.0f, TensorScale()), 0x38);
  const float lost[3] = {1e-6f, -1e-6f, -INFINITY};
  uint8_t codes[3];
  nvfp4QuantizeBlock(0x00, TensorScale(), lost, 3, codes);
  EXPECT_EQ(codes[0], 0x0);
  EXPECT_EQ(codes[1], 0x8);
  EXPECT_EQ(codes[2], 0x8);
}

// Finite data give finite scales and no NaN codes, and the largest element
// times the scales is a binary32 number.
TEST(BlockQuantize, ExtremeDataStayFinite) {
  constexpr float kLargest = 0x1.fffffep127f, kSmallest = 0x1p-149f;
  for (ElementFormat element : {ElementFormat::E4M3, ElementFormat::E5M2,
                                ElementFormat::E2M1, ElementFormat::INT8}) {
    float largest = formatInfo(element).largest;
    for (float data : {kLargest, 0x1.fffffcp127f, 0x1.fp127f, 1.0f, kSmallest,
                       3 * kSmallest, 0.0f}) {
      float scale = floatScale(element, data, /*floor=*/0);
      EXPECT_TRUE(std::isfinite(largest * scale)) << largest << " " << data;
      const float values[3] = {data, -data, 0.0f};
      uint8_t codes[3];
      quantizeByFloatScale(element, scale, values, 3, codes);
      for (uint8_t code : codes)
        EXPECT_TRUE(std::isfinite(decode(element, code))) << data;
      TensorScale tensor = nvfp4TensorScale(data);
      EXPECT_TRUE(std::isfinite(2688.0f * tensor.decode)) << data;
      EXPECT_TRUE(std::isfinite(tensor.encode)) << data;
    }
  }
}

TEST(BlockQuantize, ZeroFloatScaleGivesZeros) {
  const float lost[3] = {1.0f, -1.0f, -INFINITY};
  uint8_t codes[3];
  quantizeByFloatScale(ElementFormat::E4M3, 0.0f, lost, 3, codes);
  EXPECT_EQ(codes[0], 0x00);
  EXPECT_EQ(codes[1], 0x80);
  EXPECT_EQ(codes[2], 0x80);
}

} // namespace
