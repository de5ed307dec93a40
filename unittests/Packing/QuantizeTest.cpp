//===- QuantizeTest.cpp - rows of numbers to block-scaled operands --------===//
//
// Part of the blockscale project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "blockscale/Packing/Quantize.h"

#include <cmath>
#include <cstring>
#include <gtest/gtest.h>
#include <limits>
#include <random>
#include <vector>

using namespace blockscale;
using namespace blockscale::packing;

namespace {

constexpr float kInfinity = std::numeric_limits<float>::infinity();
constexpr float kNan = std::numeric_limits<float>::quiet_NaN();

float fromBits(uint32_t bits) {
  float value;
  std::memcpy(&value, &bits, sizeof(value));
  return value;
}

/// What the rules of Formats make of the rows, one block at a time.
struct Slow {
  std::vector<uint8_t> elements, scales;

  Slow(const BlockFormat &format, const TensorScale &tensor,
       const std::vector<float> &values, uint64_t columns) {
    for (size_t row = 0; row < values.size() / columns; ++row) {
      std::vector<uint8_t> codes(columns);
      for (uint64_t k = 0; k < columns; k += format.block) {
        size_t count = std::min<uint64_t>(format.block, columns - k);
        const float *at = &values[row * columns + k];
        float largest = blockMax(at, count);
        if (format.hasTensorScale()) {
          scales.push_back(nvfp4BlockScale(largest, tensor));
          nvfp4QuantizeBlock(scales.back(), tensor, at, count, &codes[k]);
        } else {
          scales.push_back(
              blockScaleByte(format.rule, format.element, largest));
          quantizeBlock(format.element, scales.back(), at, count, &codes[k]);
        }
      }
      std::vector<uint8_t> packed(packedRowBytes(format, columns));
      packElements(format.element, codes.data(), columns, packed.data());
      elements.insert(elements.end(), packed.begin(), packed.end());
    }
  }
};

void compare(const BlockFormat &format, const std::vector<float> &values,
             uint64_t columns) {
  uint64_t rows = values.size() / columns;
  TensorScale tensor;
  if (format.hasTensorScale())
    tensor = nvfp4TensorScale(largestMagnitude(values.data(), values.size()));
  Slow slow(format, tensor, values, columns);
  std::vector<uint8_t> elements(rows * packedRowBytes(format, columns));
  std::vector<uint8_t> scales(rows * scalesPerRow(format, columns));
  quantizeRows(format, tensor, values.data(), rows, columns, elements.data(),
               scales.data());
  EXPECT_EQ(scales, slow.scales) << blockFormatName(format);
  EXPECT_EQ(elements, slow.elements) << blockFormatName(format);
}

std::vector<BlockFormat> allFormats() {
  std::vector<BlockFormat> formats;
  for (const char *name :
       {"nvfp4", "mxfp8", "mxfp8-e5m2", "mxfp6-e2m3", "mxfp6-e3m2", "mxfp4"})
    formats.push_back(*parseBlockFormat(name));
  for (ScaleRule rule : {ScaleRule::Floor, ScaleRule::FloorPlusOne,
                         ScaleRule::Ceil, ScaleRule::MidMax}) {
    formats.push_back(*parseBlockFormat("mxfp4"));
    formats.back().rule = rule;
  }
  return formats;
}

TEST(Quantize, AgreesWithTheRulesOfOneBlock) {
  std::mt19937 random(3);
  std::normal_distribution<float> normal;
  for (uint64_t columns : {32, 4096, 2081, 16, 7}) {
    std::vector<float> values(5 * columns);
    for (size_t i = 0; i < values.size(); ++i)
      values[i] = normal(random) * std::exp2(float(i / columns));
    for (const BlockFormat &format : allFormats())
      compare(format, values, columns);
  }
}

TEST(Quantize, AgreesForAnyBits) {
  // Every exponent, infinities and NaN among them.
  std::mt19937 random(5);
  std::vector<float> values(1 << 16);
  for (float &value : values)
    value = fromBits(random());
  for (const BlockFormat &format : allFormats())
    compare(format, values, 1 << 10);
}

TEST(Quantize, AgreesWhereItIsClose) {
  // Ties of each format, their neighbours, and what lies around each border.
  std::vector<float> values;
  for (int exponent = -140; exponent <= 10; ++exponent)
    for (uint32_t step = 0; step < 64; ++step)
      for (int32_t off : {-1, 0, 1}) {
        float value = std::ldexp(1 + step / 64.0f, exponent);
        uint32_t bits;
        std::memcpy(&bits, &value, sizeof(bits));
        values.push_back(fromBits(bits + uint32_t(off)));
        values.push_back(-values.back());
      }
  values.resize(values.size() / 64 * 64);
  for (const BlockFormat &format : allFormats())
    compare(format, values, 64);
}

// ue5m3, by hand: 13 / 6 lies between 2 (0x80) and 2.25 (0x81); 13 / 2.25
// is 5.8, which e2m1 rounds to 6 (7), and 1 / 2.25 to 0.5 (1).
TEST(Quantize, Ue5m3RoundsScalesUp) {
  BlockFormat format{ElementFormat::E2M1, ElementFormat::UE5M3, 16};
  EXPECT_FALSE(format.hasTensorScale());
  std::vector<float> values(48, 1);
  values[0] = -13;
  for (size_t i = 16; i < 32; ++i)
    values[i] = 0;
  values[40] = 1e9f;
  uint8_t elements[24], scales[3];
  quantizeRows(format, TensorScale(), values.data(), 1, 48, elements, scales);
  EXPECT_EQ(scales[0], 0x81);
  EXPECT_EQ(elements[0], 0x1f);
  EXPECT_EQ(elements[1], 0x11);
  // Zeros, and a scale that does not reach.
  EXPECT_EQ(scales[1], 0x00);
  EXPECT_EQ(elements[8], 0x00);
  EXPECT_EQ(scales[2], 0xfe);
  EXPECT_EQ(elements[20], 0x07);
  std::vector<float> back(48);
  dequantizeRows(format, 1, elements, scales, 1, 48, back.data());
  EXPECT_EQ(back[0], -13.5f);
  EXPECT_EQ(back[1], 1.125f);
  EXPECT_EQ(back[20], 0.0f);
  EXPECT_EQ(back[40], 6 * 114688.0f);
  // Blocks of 32 that end early, and the smallest scale that is no zero.
  format.block = 32;
  std::vector<float> tiny(40, 0x1p-60f);
  quantizeRows(format, TensorScale(), tiny.data(), 1, 40, elements, scales);
  EXPECT_EQ(scales[0], 0x01);
  EXPECT_EQ(scales[1], 0x01);
}

TEST(Quantize, SpecialBlocks) {
  std::vector<float> zeros(64), negative(64, -0.0f), infinite(64, 1),
      broken(64, 1), tiny(64, 0x1p-149f);
  infinite[3] = -kInfinity;
  broken[40] = kNan;
  for (const auto &values : {zeros, negative, infinite, broken, tiny})
    for (const BlockFormat &format : allFormats())
      compare(format, values, 32);
}

TEST(Quantize, LiteralBlock) {
  // 6 is the largest e2m1: the exponent of the scale is 0, the code 0x7f; ties
  // go to even (numerics of OCP MX, PTX cvt): 2.5 to 2, 3.5 to 4, 0.25 to 0.
  std::vector<float> values(32);
  values[0] = 6;
  values[1] = 2.5f;
  values[2] = 3.5f;
  values[3] = -0.25f;
  values[4] = -1.5f;
  uint8_t elements[16], scale;
  quantizeRows(*parseBlockFormat("mxfp4"), {}, values.data(), 1, 32, elements,
               &scale);
  EXPECT_EQ(scale, 0x7f);
  EXPECT_EQ(elements[0], 0x47);
  EXPECT_EQ(elements[1], 0x86);
  EXPECT_EQ(elements[2], 0x0b);
}

TEST(Quantize, DequantizesToElementTimesScale) {
  // Two rows of 18 in e2m1 with ue4m3 scales 2 and 0.5, 1 and 3 (0x40, 0x30,
  // 0x38, 0x44); the factor is 3.
  BlockFormat format = *parseBlockFormat("nvfp4");
  std::vector<uint8_t> elements(18, 0x21);
  std::vector<float> values(36);
  const uint8_t scales[] = {0x40, 0x30, 0x38, 0x44};
  dequantizeRows(format, 3, elements.data(), scales, 2, 18, values.data());
  EXPECT_EQ(values[0], 3);
  EXPECT_EQ(values[1], 6);
  EXPECT_EQ(values[16], 0.75f);
  EXPECT_EQ(values[18], 1.5f);
  EXPECT_EQ(values[35], 9);
}

TEST(Quantize, LargestMagnitudes) {
  std::vector<float> values(100000, 1);
  values[70000] = -3;
  EXPECT_EQ(largestMagnitude(values.data(), values.size()), 3);
  values[99999] = kNan;
  EXPECT_TRUE(std::isnan(largestMagnitude(values.data(), values.size())));
  EXPECT_EQ(largestMagnitude(nullptr, 0), 0);
}

TEST(Quantize, Names) {
  EXPECT_FALSE(parseBlockFormat("fp4"));
  EXPECT_EQ(blockFormatName(*parseBlockFormat("mxfp6-e3m2")), "mxfp6-e3m2");
  EXPECT_EQ(blockFormatName({ElementFormat::E4M3, ElementFormat::UE4M3, 16}),
            "");
}

} // namespace
