//===- MatmulTest.cpp - the reference product -----------------------------===//
//
// Part of the blockscale project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "blockscale/Reference/Matmul.h"
#include "Formats/OracleCsv.h"
#include "Formats/TextOf.h"

#include <cmath>
#include <gtest/gtest.h>

using namespace blockscale;
using namespace blockscale::reference;
using namespace blockscale::test;
using blockscale::test::textOf;

namespace {

std::vector<uint8_t> bytesOf(const std::string &field) {
  std::vector<uint8_t> bytes;
  for (const std::string &word : wordsOf(field))
    bytes.push_back(static_cast<uint8_t>(hexOf(word)));
  return bytes;
}

Problem problemOf(const CsvRow &row) {
  Problem problem;
  problem.m = std::stoull(row.at("m"));
  problem.n = std::stoull(row.at("n"));
  problem.k = std::stoull(row.at("k"));
  ElementFormat scale = *parseFormat(row.at("scale_format"));
  uint64_t block = std::stoull(row.at("block"));
  problem.a = {*parseFormat(row.at("a_format")), bytesOf(row.at("a_codes_hex")),
               scale, bytesOf(row.at("a_scales_hex")), block};
  problem.b = {*parseFormat(row.at("b_format")), bytesOf(row.at("b_codes_hex")),
               scale, bytesOf(row.at("b_scales_hex")), block};
  return problem;
}

struct FormulaStep {
  const char *name, *function;
  std::vector<std::string> operands;
  const char *constant;
};

/// The value of the last step.
Formula formula(const std::vector<FormulaStep> &steps) {
  Formula formula;
  for (const FormulaStep &step : steps)
    EXPECT_EQ(formula.addStep(step.name, step.function, step.operands, "f32",
                              "", step.constant),
              std::nullopt);
  EXPECT_EQ(formula.setResult(steps.back().name), std::nullopt);
  return formula;
}

TEST(ReferenceMatmul, EveryRowOfTheOracle) {
  std::vector<CsvRow> rows = readOracle("numerics/matmul.csv");
  ASSERT_EQ(rows.size(), 32u);
  for (const CsvRow &row : rows) {
    Problem problem = problemOf(row);
    ASSERT_FALSE(whyNot(problem)) << textOf(whyNot(problem));
    std::vector<TileResult> results = matmul(problem, {{0, 0, 0, 2, 2}}, 1);
    ASSERT_EQ(results.size(), 1u);
    std::vector<std::string> d = wordsOf(row.at("d_f64_hexfloat"));
    std::vector<std::string> absSum = wordsOf(row.at("abs_sum_f64_hexfloat"));
    ASSERT_EQ(d.size(), 4u);
    ASSERT_EQ(absSum.size(), 4u);
    for (unsigned i = 0; i < 4; ++i) {
      // The table holds the exact sum rounded once; 64 additions in double
      // round 64 times at most.
      double bound = 64 * 0x1p-53 * std::stod(absSum[i]);
      EXPECT_NEAR(results[0].sum[i], std::stod(d[i]), bound) << row.at("case");
      EXPECT_NEAR(results[0].absSum[i], std::stod(absSum[i]), bound);
      EXPECT_NEAR(results[0].d[i], std::stod(d[i]),
                  0x1p-24 * std::fabs(std::stod(d[i])) + bound);
    }
  }
}

/// 1 x 2 x 4: a = (1, 2, -1, 0.5), b = (1, 1, 1, 1), (2, 0, 4, 6) in e2m1.
Problem tiny() {
  Problem problem;
  problem.m = 1;
  problem.n = 2;
  problem.k = 4;
  problem.a = {ElementFormat::E2M1,
               {0x2, 0x4, 0xa, 0x1},
               ElementFormat::UE8M0,
               {128, 126},
               2};
  problem.b = {ElementFormat::E2M1,
               {2, 2, 2, 2, 4, 0, 6, 7},
               ElementFormat::UE4M3,
               {0x38, 0x38, 0x38, 0x40},
               2};
  return problem;
}

TEST(ReferenceMatmul, ByHand) {
  // Column 0: 2 * (1 + 2) + 0.5 * (-1 + 0.5) = 5.75.
  // Column 1: 2 * (2 + 0) + 0.5 * 2 * (-4 + 3) = 3.
  EXPECT_EQ(matmul(tiny()), (std::vector<float>{5.75f, 3.0f}));
  std::vector<TileResult> results = matmul(tiny(), {{0, 0, 1, 9, 9}});
  EXPECT_EQ(results[0].tile.rows, 1u);
  EXPECT_EQ(results[0].tile.columns, 1u);
  EXPECT_EQ(results[0].sum, std::vector<double>{3.0});
  EXPECT_EQ(results[0].absSum, std::vector<double>{11.0});
}

// (1 + 2) * 0.75 * 0.5 + (2 + 1) * 3 * 0.25: blocks of two elements.
TEST(ReferenceMatmul, ScalesThatAreNumbers) {
  constexpr uint8_t kOne = 0x38, kTwo = 0x40;
  Problem problem;
  problem.m = problem.n = 1;
  problem.k = 4;
  problem.a.format = problem.b.format = ElementFormat::E4M3;
  problem.a.codes = {kOne, kTwo, kOne, kOne};
  problem.b.codes = {kOne, kOne, kTwo, kOne};
  problem.a.blockSize = problem.b.blockSize = 2;
  problem.a.floatScales = {0.75f, 3};
  problem.b.floatScales = {0.5f, 0.25f};
  ASSERT_EQ(whyNot(problem), std::nullopt);
  EXPECT_EQ(matmul(problem), std::vector<float>{3.375f});
  problem.b.floatScales.pop_back();
  EXPECT_EQ(textOf(whyNot(problem)),
            "'scales of b' has 1 elements; expected 2");
}

// (2 - 0.5) * 1 + (4 - 0.5) * 2 + (3 - 8) * 1: zero points of 0.5 and 8, of
// which and of the products absSum has the magnitudes.
TEST(ReferenceMatmul, ZeroPointsInRealUnits) {
  constexpr uint8_t kOne = 0x38, kTwo = 0x40;
  Problem problem;
  problem.m = problem.n = 1;
  problem.k = 3;
  problem.b.format = ElementFormat::E4M3;
  problem.a.elements = Elements::UInt8;
  problem.a.codes = {1, 2, 1};
  problem.b.codes = {kOne, kTwo, kOne};
  problem.a.blockSize = 2;
  problem.a.floatScales = {2, 3};
  problem.a.zeros = {0.5f, 8};
  ASSERT_EQ(whyNot(problem), std::nullopt);
  EXPECT_EQ(matmul(problem), std::vector<float>{3.5f});
  std::vector<TileResult> results = matmul(problem, {{0, 0, 0, 1, 1}});
  EXPECT_EQ(results[0].absSum, std::vector<double>{2.5 + 9 + 11});
  problem.a.zeros.pop_back();
  EXPECT_EQ(textOf(whyNot(problem)),
            "there are 1 zero points of 'a' for 2 scales");
}

// Columns of 5.75 and 3, as `tiny` has them, and of 3 and 5.75.
TEST(ReferenceMatmul, PairsOfColumns) {
  Problem problem = tiny();
  problem.n = 4;
  for (bool isScale : {false, true}) {
    std::vector<uint8_t> &numbers =
        isScale ? problem.b.scales : problem.b.codes;
    auto half = int64_t(numbers.size() / 2);
    std::vector<uint8_t> first(numbers.begin(), numbers.begin() + half);
    numbers.insert(numbers.end(), numbers.begin() + half, numbers.end());
    numbers.insert(numbers.end(), first.begin(), first.end());
  }
  problem.pairs = true;
  EXPECT_EQ(textOf(whyNot(problem)),
            "pairs of columns are those of an even n, and a formula makes one "
            "element of two sums");
  // up + up_bias - 2 * x + c, with what belongs to each column.
  problem.biasKind = BiasKind::Column;
  problem.bias = {100, 1, 100, 2};
  problem.beta = 2;
  problem.c = {10, 20};
  problem.formula = formula({{"t", "arith.addf", {"x", "x"}, ""},
                             {"u", "arith.addf", {"up", "up_bias"}, ""},
                             {"v", "arith.subf", {"u", "t"}, ""},
                             {"y", "arith.addf", {"v", "c"}, ""}});
  ASSERT_EQ(whyNot(problem), std::nullopt);
  EXPECT_EQ(matmul(problem), (std::vector<float>{12.5f, 41.75f}));
  problem.columnScales = {1, 2, 4, 8};
  EXPECT_EQ(matmul(problem), (std::vector<float>{15.5f, 64.0f}));
  TileResult second = matmul(problem, {{0, 0, 1, 1, 1}}).front();
  EXPECT_EQ(second.sums(0).sum, 3.0);
  EXPECT_EQ(second.sums(0).up, 5.75);
  problem.c.push_back(0);
  EXPECT_EQ(textOf(whyNot(problem)), "'c' has 3 elements; expected 2");
  problem.c.pop_back();
  problem.n = 3;
  EXPECT_TRUE(whyNot(problem));
}

TEST(ReferenceMatmul, Epilogue) {
  Problem problem = tiny();
  problem.alpha = -2;
  problem.beta = 0.5;
  problem.c = {10, 20};
  EXPECT_EQ(matmul(problem), (std::vector<float>{-6.5f, 4.0f}));
  problem.biasKind = BiasKind::Column;
  problem.bias = {1, -6};
  EXPECT_EQ(matmul(problem), (std::vector<float>{-5.5f, -2.0f}));
  problem.biasKind = BiasKind::Row;
  problem.bias = {100};
  EXPECT_EQ(matmul(problem), (std::vector<float>{93.5f, 104.0f}));
  problem.biasKind = BiasKind::None;
  problem.bias = {};
  problem.formula = formula({{"v", "arith.addf", {"x", "c"}, ""},
                             {"zero", "arith.constant", {}, "0"},
                             {"y", "arith.maximumf", {"v", "zero"}, ""}});
  EXPECT_EQ(matmul(problem), (std::vector<float>{0.0f, 4.0f}));
  // 4 / (1 + exp(-4)) and 4 * Phi(4), to nine digits.
  problem.formula = formula({{"v", "arith.addf", {"x", "c"}, ""},
                             {"minus", "arith.negf", {"v"}, ""},
                             {"decay", "math.exp", {"minus"}, ""},
                             {"one", "arith.constant", {}, "1"},
                             {"sum", "arith.addf", {"one", "decay"}, ""},
                             {"y", "arith.divf", {"v", "sum"}, ""}});
  EXPECT_FLOAT_EQ(matmul(problem)[1], 3.92805516f);
  problem.formula = formula({{"v", "arith.addf", {"x", "c"}, ""},
                             {"root", "arith.constant", {}, "0.707106769"},
                             {"scaled", "arith.mulf", {"v", "root"}, ""},
                             {"erf", "math.erf", {"scaled"}, ""},
                             {"one", "arith.constant", {}, "1"},
                             {"sum", "arith.addf", {"one", "erf"}, ""},
                             {"half", "arith.constant", {}, "0.5"},
                             {"halved", "arith.mulf", {"v", "half"}, ""},
                             {"y", "arith.mulf", {"halved", "sum"}, ""}});
  EXPECT_FLOAT_EQ(matmul(problem)[1], 3.99987332f);
}

TEST(ReferenceMatmul, FactorsOfEachMatrix) {
  Problem problem;
  problem.m = problem.n = problem.k = 1;
  problem.batch = 3;
  // 1 * 1, 1 * 2 and 2 * 2.
  problem.a = {ElementFormat::E4M3, {0x38, 0x38, 0x40}, {}, {}, 0};
  problem.b = {ElementFormat::E4M3, {0x38, 0x40, 0x40}, {}, {}, 0};
  problem.alphas = {3, 0.5, -1};
  EXPECT_EQ(matmul(problem), (std::vector<float>{3.0f, 1.0f, -4.0f}));
  problem.alphas.pop_back();
  EXPECT_EQ(textOf(whyNot(problem)), "'factors' has 2 elements; expected 3");
}

// The first factor and the row's are multiplied first, then the column's: each
// product is rounded to f32.
TEST(ReferenceMatmul, FactorsOfRowsAndColumns) {
  Problem problem;
  problem.m = problem.n = 2;
  problem.k = 1;
  problem.batch = 2;
  // 1 and 2 times 1 and 4; in the second matrix 1 and 1 times 1 and 2.
  problem.a = {ElementFormat::E4M3, {0x38, 0x40, 0x38, 0x38}, {}, {}, 0};
  problem.b = {ElementFormat::E4M3, {0x38, 0x48, 0x38, 0x40}, {}, {}, 0};
  problem.alpha = 0.5;
  problem.rowScales = {3, 5, 7, 11};
  problem.columnScales = {0.25, 2, -1, 8};
  EXPECT_EQ(matmul(problem), (std::vector<float>{0.375f, 12.0f, 1.25f, 40.0f,
                                                 -3.5f, 56.0f, -5.5f, 88.0f}));
  problem.columnScales.pop_back();
  EXPECT_EQ(textOf(whyNot(problem)),
            "'column scales' has 3 elements; expected 4");

  // (1 + 2^-12)^2 * (1 + 2^-23) is 1 + 2^-11 + 2^-24 + 2^-23 + ...: alpha and
  // the row's scale together round their 2^-24 away, to even.
  Problem one;
  one.m = one.n = one.k = 1;
  one.a = {ElementFormat::E4M3, {0x38}, {}, {}, 0};
  one.b = {ElementFormat::E4M3, {0x38}, {}, {}, 0};
  one.alpha = 1 + 0x1p-12f;
  one.rowScales = {1 + 0x1p-12f};
  one.columnScales = {1 + 0x1p-23f};
  EXPECT_EQ(matmul(one), (std::vector<float>{1 + 0x1p-11f + 0x1p-23f}));
  // The other order has a tie that rounds up.
  one.alpha = 1 + 0x1p-23f;
  one.columnScales = {1 + 0x1p-12f};
  EXPECT_EQ(matmul(one), (std::vector<float>{1 + 0x1p-11f + 0x1p-22f}));
}

TEST(ReferenceMatmul, OutputTypes) {
  EXPECT_EQ(roundToOutput(OutputType::F32, 1.0f + 0x1p-23f), 1.0f + 0x1p-23f);
  EXPECT_EQ(roundToOutput(OutputType::BF16, 1.0f + 0x1p-8f), 1.0f);
  EXPECT_EQ(roundToOutput(OutputType::BF16, 1.0f + 0x3p-8f), 1.0f + 0x1p-6f);
  EXPECT_EQ(roundToOutput(OutputType::F16, 1.0f + 0x1p-11f), 1.0f);
  EXPECT_EQ(roundToOutput(OutputType::F16, 65519.0f), 65504.0f);
  EXPECT_EQ(roundToOutput(OutputType::F16, 65520.0f), INFINITY);
  Problem problem = tiny();
  problem.alpha = 1.0f + 0x1p-20f;
  problem.output = OutputType::BF16;
  EXPECT_EQ(matmul(problem), (std::vector<float>{5.75f, 3.0f}));
}

TEST(ReferenceMatmul, NaNScaleReachesItsRowOnly) {
  Problem problem = tiny();
  problem.b.scales[3] = 0x7f;
  std::vector<float> d = matmul(problem);
  EXPECT_EQ(d[0], 5.75f);
  EXPECT_TRUE(std::isnan(d[1]));
}

TEST(ReferenceMatmul, BatchesAndRaggedTilesDoNotDependOnThreads) {
  Problem problem;
  problem.m = 37;
  problem.n = 29;
  problem.k = 50;
  problem.batch = 3;
  problem.a.blockSize = 32;
  for (uint64_t i = 0; i < 3 * 37 * 50; ++i)
    problem.a.codes.push_back(i * 7 % 113);
  for (uint64_t i = 0; i < 3 * 37 * 2; ++i)
    problem.a.scales.push_back(120 + i % 13);
  for (uint64_t i = 0; i < 3 * 29 * 50; ++i)
    problem.b.codes.push_back(i * 11 % 109);
  ASSERT_FALSE(whyNot(problem));
  std::vector<float> d = matmul(problem, 1);
  std::vector<TileResult> tiles = matmul(problem, allTiles(problem, 16, 7), 3);
  EXPECT_EQ(tiles.size(), 3u * 3u * 5u);
  for (const TileResult &tile : tiles)
    for (uint64_t i = 0; i < tile.d.size(); ++i) {
      uint64_t row = tile.tile.row + i / tile.tile.columns;
      uint64_t column = tile.tile.column + i % tile.tile.columns;
      double sum = 0;
      for (uint64_t k = 0; k < 50; ++k)
        sum += elementValue(problem.a, 50, tile.tile.batch * 37 + row, k) *
               elementValue(problem.b, 50, tile.tile.batch * 29 + column, k);
      EXPECT_EQ(tile.sum[i], sum);
      EXPECT_EQ(tile.d[i], d[(tile.tile.batch * 37 + row) * 29 + column]);
    }
}

TEST(ReferenceMatmul, SaysWhyNot) {
  Problem problem = tiny();
  EXPECT_FALSE(whyNot(problem));
  problem.a.codes.pop_back();
  EXPECT_EQ(textOf(whyNot(problem)), "'a' has 3 elements; expected 4");
  EXPECT_TRUE(matmul(problem).empty());
  problem = tiny();
  problem.b.scales.push_back(0);
  EXPECT_EQ(textOf(whyNot(problem)),
            "'scales of b' has 5 elements; expected 4");
  problem = tiny();
  problem.c = {1};
  EXPECT_EQ(textOf(whyNot(problem)), "'c' has 1 elements; expected 2");
  problem = tiny();
  problem.biasKind = BiasKind::Row;
  EXPECT_EQ(textOf(whyNot(problem)), "'bias' has 0 elements; expected 1");
  problem = tiny();
  problem.k = 0;
  EXPECT_EQ(textOf(whyNot(problem)), "a product with an empty extent");
  problem = tiny();
  problem.m = problem.k = uint64_t(1) << 40;
  EXPECT_EQ(textOf(whyNot(problem)), "the size of 'a' does not fit 63 bits");
  problem = tiny();
  problem.a.format = ElementFormat::BF16;
  EXPECT_EQ(textOf(whyNot(problem)),
            "elements with scales, and their scales, have formats of at most 8 "
            "bits");
  problem = tiny();
  problem.output = OutputType::I32;
  EXPECT_EQ(textOf(whyNot(problem)),
            "an i32 result is the product of integers and nothing else");
}

/// 1 x 2 times 2 x 1, without scales.
Problem unscaled(Elements elements, ElementFormat format,
                 const std::vector<uint32_t> &a,
                 const std::vector<uint32_t> &b) {
  Problem problem;
  problem.m = problem.n = 1;
  problem.k = a.size();
  for (auto [operand, codes] : {std::pair(&problem.a, &a), {&problem.b, &b}}) {
    operand->elements = elements;
    operand->format = format;
    operand->codes.resize(codes->size() * operand->codeBytes());
    for (size_t i = 0; i < codes->size(); ++i)
      operand->setCode(i, (*codes)[i]);
  }
  return problem;
}

// 1.5 * 2 + (-3) * 0.5, in three formats of more than 8 bits. Of tf32 the low
// 13 bits do not count.
TEST(ReferenceMatmul, WideElements) {
  EXPECT_EQ(matmul(unscaled(Elements::Format, ElementFormat::F16,
                            {0x3e00, 0xc200}, {0x4000, 0x3800})),
            std::vector<float>{1.5f});
  EXPECT_EQ(matmul(unscaled(Elements::Format, ElementFormat::BF16,
                            {0x3fc0, 0xc040}, {0x4000, 0x3f00})),
            std::vector<float>{1.5f});
  EXPECT_EQ(
      matmul(unscaled(Elements::TF32, ElementFormat::E4M3,
                      {0x3fc01fff, 0xc0400001}, {0x40000000, 0x3f000000})),
      std::vector<float>{1.5f});
}

TEST(ReferenceMatmul, StopsWhenAsked) {
  Problem problem = unscaled(Elements::Format, ElementFormat::BF16,
                             {0x3fc0, 0xc040}, {0x4000, 0x3f00});
  std::atomic<bool> stop{false};
  EXPECT_EQ(matmul(problem, allTiles(problem), 1, &stop).size(), 1u);
  stop = true;
  EXPECT_TRUE(matmul(problem, allTiles(problem), 1, &stop).empty());
}

// Whatever the threads, each number of tiles done is told once, in order.
TEST(ReferenceMatmul, TellsItsProgress) {
  Problem problem = unscaled(Elements::Format, ElementFormat::BF16,
                             {0x3fc0, 0xc040}, {0x4000, 0x3f00});
  std::vector<Tile> tiles(17, allTiles(problem).front());
  for (unsigned threads : {1u, 4u}) {
    std::vector<uint64_t> told;
    matmul(problem, tiles, threads, nullptr,
           [&](uint64_t done, uint64_t total) {
             EXPECT_EQ(total, 17u);
             told.push_back(done);
           });
    ASSERT_EQ(told.size(), 17u);
    for (size_t i = 0; i < told.size(); ++i)
      EXPECT_EQ(told[i], i + 1);
  }
}

// Integers mean themselves; their sums are exact and wrap around at 2^32.
TEST(ReferenceMatmul, Integers) {
  Problem problem =
      unscaled(Elements::Int8, ElementFormat::E4M3, {0x80, 0x7f}, {0x80, 3});
  problem.b.elements = Elements::UInt8;
  EXPECT_EQ(matmul(problem), std::vector<float>{-128.0f * 128 + 127 * 3});
  problem.output = OutputType::I32;
  EXPECT_EQ(matmul(problem, allTiles(problem))[0].d[0], -16003.0);
  std::vector<uint32_t> largest(70000, 255);
  Problem wraps =
      unscaled(Elements::UInt8, ElementFormat::E4M3, largest, largest);
  wraps.output = OutputType::I32;
  EXPECT_EQ(matmul(wraps, allTiles(wraps))[0].d[0], 256782704.0);
  wraps.alpha = 2;
  EXPECT_EQ(textOf(whyNot(wraps)),
            "an i32 result is the product of integers and nothing else");
}

} // namespace
