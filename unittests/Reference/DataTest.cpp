//===- DataTest.cpp - inputs that show mistakes ---------------------------===//
//
// Part of the blockscale project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "blockscale/Reference/Data.h"
#include "Formats/TextOf.h"

#include <cmath>
#include <gtest/gtest.h>
#include <set>

using namespace blockscale;
using namespace blockscale::reference;
using blockscale::test::textOf;

namespace {

constexpr ElementFormat kElements[] = {ElementFormat::E2M1, ElementFormat::E2M3,
                                       ElementFormat::E3M2, ElementFormat::E4M3,
                                       ElementFormat::E5M2, ElementFormat::INT8,
                                       ElementFormat::INT4};
constexpr ElementFormat kScales[] = {ElementFormat::UE8M0,
                                     ElementFormat::UE4M3};

TEST(ReferenceData, BoundsKeepSumsExact) {
  for (bool scaled : {false, true})
    for (uint64_t k = 1; k <= uint64_t(1) << 17; k = k * 3 / 2 + 1) {
      std::optional<ExactBounds> bounds = exactBounds(k, scaled);
      ASSERT_TRUE(bounds) << k;
      uint64_t largest = uint64_t(bounds->element) * bounds->scale;
      EXPECT_LE(k * largest * largest, 8388608u) << k;
      EXPECT_GE(bounds->scale, scaled ? 8u : 1u);
    }
  EXPECT_EQ(exactBounds(4096, true)->element, 4u);
  EXPECT_EQ(exactBounds(4096, true)->scale, 8u);
  EXPECT_FALSE(exactBounds(uint64_t(1) << 40, true));
}

/// The promise of exact data: any subset of the products sums to a number that
/// f32 holds, because all are multiples of one power of two and the sum of
/// magnitudes stays within 2^23 of them.
void expectExact(const Problem &problem, double unit) {
  std::vector<TileResult> results = matmul(problem, allTiles(problem), 1);
  for (const TileResult &result : results)
    for (uint64_t i = 0; i < result.d.size(); ++i) {
      double units = result.absSum[i] / unit;
      EXPECT_EQ(units, std::floor(units));
      EXPECT_LE(units, 8388608.0);
      EXPECT_EQ(double(float(result.sum[i])), result.sum[i]);
    }
  for (uint64_t row = 0; row < problem.m; ++row)
    for (uint64_t k = 0; k < problem.k; ++k) {
      double units =
          elementValue(problem.a, problem.k, row, k) / elementUnit(problem.a);
      ASSERT_EQ(units, std::floor(units));
    }
}

TEST(ReferenceData, ExactForEveryFormatAndScale) {
  for (ElementFormat element : kElements)
    for (ElementFormat scale : kScales)
      for (uint64_t k : {64, 4096}) {
        Problem problem;
        problem.m = 6;
        problem.n = 5;
        problem.k = k;
        problem.a = {element, {}, scale, {}, 16};
        problem.b = {element, {}, scale, {}, 32};
        ASSERT_FALSE(fillExact(problem.a, 1, 6, k, 1));
        ASSERT_FALSE(fillExact(problem.b, 1, 5, k, 2));
        ASSERT_FALSE(whyNot(problem));
        expectExact(problem, elementUnit(problem.a) * elementUnit(problem.b));
      }
}

TEST(ReferenceData, ExactWithoutScales) {
  Problem problem;
  problem.m = problem.n = 4;
  problem.k = 4096;
  ASSERT_FALSE(fillExact(problem.a, 1, 4, 4096, 1));
  ASSERT_FALSE(fillExact(problem.b, 1, 4, 4096, 2));
  EXPECT_TRUE(problem.a.scales.empty());
  expectExact(problem, 1);
}

TEST(ReferenceData, NeighbouringScalesDifferAndRowsAreDistinct) {
  for (ElementFormat scale : kScales) {
    Operand operand{ElementFormat::E2M1, {}, scale, {}, 16};
    ASSERT_FALSE(fillExact(operand, 1, 300, 256, 9));
    std::set<std::vector<uint8_t>> data, scales;
    for (uint64_t row = 0; row < 300; ++row) {
      auto own = operand.scales.begin() + row * 16;
      for (uint64_t at = row * 16; at < row * 16 + 16; ++at) {
        if (at % 16 != 0) {
          EXPECT_NE(operand.scales[at], operand.scales[at - 1]);
        }
        if (row) {
          EXPECT_NE(operand.scales[at], operand.scales[at - 16]);
        }
        if (row >= 32) {
          EXPECT_NE(operand.scales[at], operand.scales[at - 32 * 16]);
        }
      }
      scales.insert({own, own + 16});
      data.insert({operand.codes.begin() + row * 256,
                   operand.codes.begin() + (row + 1) * 256});
    }
    EXPECT_EQ(data.size(), 300u);
    EXPECT_EQ(scales.size(), 300u);
  }
}

TEST(ReferenceData, SeedsDecide) {
  Operand one{ElementFormat::E4M3, {}, ElementFormat::UE8M0, {}, 32};
  Operand two = one, three = one;
  fillRandom(one, 2, 3, 64, 7);
  fillRandom(two, 2, 3, 64, 7);
  fillRandom(three, 2, 3, 64, 8);
  EXPECT_EQ(one.codes, two.codes);
  EXPECT_EQ(one.scales, two.scales);
  EXPECT_NE(one.codes, three.codes);
  EXPECT_EQ(one.codes.size(), 384u);
  EXPECT_EQ(one.scales.size(), 12u);
}

TEST(ReferenceData, RandomCodesAreFiniteAndCoverTheFormat) {
  const std::pair<ElementFormat, unsigned> counts[] = {
      {ElementFormat::E2M1, 16},
      {ElementFormat::E2M3, 64},
      {ElementFormat::E3M2, 64},
      {ElementFormat::E4M3, 254},
      {ElementFormat::E5M2, 248}};
  for (auto [format, count] : counts) {
    Operand operand{format, {}, ElementFormat::UE4M3, {}, 16};
    fillRandom(operand, 1, 64, 256, 3);
    std::set<uint8_t> codes(operand.codes.begin(), operand.codes.end());
    EXPECT_EQ(codes.size(), count);
    for (uint8_t code : codes)
      EXPECT_TRUE(std::isfinite(decode(format, code)));
    // 0x01 .. 0x7e: neither zero nor NaN.
    std::set<uint8_t> scales(operand.scales.begin(), operand.scales.end());
    EXPECT_EQ(*scales.begin(), 0x01);
    EXPECT_EQ(*scales.rbegin(), 0x7e);
  }
}

TEST(ReferenceData, SparsifyLeavesTwoOfFour) {
  for (bool pairs : {false, true}) {
    Operand operand{ElementFormat::E2M1, {}, ElementFormat::UE8M0, {}, 32};
    operand.codes.assign(8 * 64, 0x3);
    sparsify(operand, 64, {4, pairs ? 2u : 1u}, 5);
    uint64_t width = pairs ? 2 : 1;
    std::set<std::vector<bool>> patterns;
    for (uint64_t first = 0; first < operand.codes.size(); first += 4 * width) {
      unsigned kept = 0;
      std::vector<bool> pattern;
      for (uint64_t slot = 0; slot < 4; ++slot) {
        const uint8_t *at = operand.codes.data() + first + slot * width;
        EXPECT_EQ(at[0], at[width - 1]);
        kept += at[0] != 0;
        pattern.push_back(at[0] != 0);
      }
      EXPECT_EQ(kept, 2u);
      patterns.insert(pattern);
    }
    EXPECT_EQ(patterns.size(), 6u);
  }
}

TEST(ReferenceData, SparsifyLeavesOneOfTwo) {
  Operand operand;
  operand.elements = Elements::TF32;
  operand.codes.assign(4 * 32 * 64, 0x3f);
  sparsify(operand, 64, {2, 1}, 5);
  unsigned first = 0;
  for (uint64_t i = 0; i < 32 * 64; i += 2) {
    bool keepsFirst = operand.code(i) != 0;
    EXPECT_EQ(operand.code(keepsFirst ? i : i + 1), 0x3f3f3f3fu);
    EXPECT_EQ(operand.code(keepsFirst ? i + 1 : i), 0u);
    first += keepsFirst;
  }
  EXPECT_GT(first, 400u);
  EXPECT_LT(first, 624u);
}

// Elements that go without scales: exact data in integers up to 12, and random
// data that are finite.
TEST(ReferenceData, ElementsWithoutScales) {
  struct Case {
    Elements elements;
    ElementFormat format;
    double low, high, randomLimit;
  };
  const Case cases[] = {
      {Elements::Format, ElementFormat::F16, -12, 12, 65504},
      {Elements::Format, ElementFormat::BF16, -12, 12, 256},
      {Elements::TF32, ElementFormat::E4M3, -12, 12, 256},
      {Elements::Int8, ElementFormat::E4M3, -12, 12, 128},
      {Elements::UInt8, ElementFormat::E4M3, 0, 12, 255},
  };
  for (const Case &c : cases) {
    Operand operand;
    operand.elements = c.elements;
    operand.format = c.format;
    ASSERT_FALSE(fillExact(operand, 1, 16, 64, 3));
    std::set<double> seen;
    for (uint64_t i = 0; i < 16 * 64; ++i)
      seen.insert(elementNumber(operand, i));
    EXPECT_EQ(*seen.begin(), c.low);
    EXPECT_EQ(*seen.rbegin(), c.high);
    EXPECT_EQ(seen.size(), size_t(c.high - c.low) + 1);
    fillRandom(operand, 1, 16, 64, 3);
    seen.clear();
    for (uint64_t i = 0; i < 16 * 64; ++i) {
      seen.insert(elementNumber(operand, i));
      EXPECT_LE(std::fabs(elementNumber(operand, i)), c.randomLimit);
    }
    EXPECT_GT(seen.size(), 200u);
  }
}

TEST(ReferenceData, SaysWhyNot) {
  Operand operand{ElementFormat::E4M3, {}, ElementFormat::F16, {}, 32};
  EXPECT_EQ(textOf(fillExact(operand, 1, 1, 64, 0)),
            "no exact data with scales in format 'f16'");
  EXPECT_EQ(textOf(fillExact(operand, 1, 1, uint64_t(1) << 30, 0)),
            "no exact data for sums of 1073741824 products");
}

TEST(ReferenceData, VectorsAreMultiplesOfTheirUnit) {
  for (float value : exactVector(1000, 0.25, 1)) {
    EXPECT_EQ(value * 4, std::floor(value * 4));
    EXPECT_LE(std::fabs(value), 64.0f);
  }
  for (float value : randomVector(1000, 1))
    EXPECT_EQ(roundToOutput(OutputType::BF16, value), value);
}

} // namespace
