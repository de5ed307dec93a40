//===- CompareTest.cpp - verdicts and their explanations ------------------===//
//
// Part of the blockscale project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "blockscale/Reference/Compare.h"
#include "blockscale/Reference/Data.h"

#include <cmath>
#include <gtest/gtest.h>

using namespace blockscale;
using namespace blockscale::reference;

namespace {

Problem exactProblem() {
  Problem problem;
  problem.m = 140;
  problem.n = 24;
  problem.k = 512;
  problem.a = {ElementFormat::E2M1, {}, ElementFormat::UE4M3, {}, 16};
  problem.b = {ElementFormat::E2M1, {}, ElementFormat::UE4M3, {}, 16};
  EXPECT_FALSE(fillExact(problem.a, 1, problem.m, problem.k, 11));
  EXPECT_FALSE(fillExact(problem.b, 1, problem.n, problem.k, 12));
  return problem;
}

Comparison compareAll(const Problem &problem, const std::vector<float> &d,
                      Criterion criterion) {
  std::vector<double> found(d.begin(), d.end());
  Comparison comparison;
  for (const TileResult &tile : matmul(problem, allTiles(problem)))
    compare(problem, tile, found, criterion, comparison);
  return comparison;
}

/// What a kernel that computes `wrong` is told about element (row, column).
std::string verdict(const Problem &right, const Problem &wrong, uint64_t row,
                    uint64_t column) {
  uint64_t at = row * right.n + column;
  float expected = matmul(right)[at], found = matmul(wrong)[at];
  EXPECT_NE(expected, found);
  std::string text = diagnose(right, {0, row, column, expected, found});
  return text.substr(text.find("; ") + 2);
}

TEST(Compare, CountsAndFindsTheFirst) {
  Problem problem = exactProblem();
  std::vector<float> d = matmul(problem);
  Comparison same = compareAll(problem, d, Criterion::Exact);
  EXPECT_EQ(same.compared, 140u * 24u);
  EXPECT_EQ(same.mismatches, 0u);
  EXPECT_FALSE(same.first);
  d[3 * 24 + 7] = std::nextafter(d[3 * 24 + 7], INFINITY);
  d[139 * 24] = NAN;
  Comparison wrong = compareAll(problem, d, Criterion::Exact);
  EXPECT_EQ(wrong.mismatches, 2u);
  EXPECT_EQ(wrong.first->row, 3u);
  EXPECT_EQ(wrong.first->column, 7u);
  EXPECT_TRUE(std::isinf(wrong.worst));
  // One ulp is within the bounds of rounding, NaN is not.
  EXPECT_EQ(compareAll(problem, d, Criterion::Tight).mismatches, 1u);
  d.resize(100);
  EXPECT_EQ(compareAll(problem, d, Criterion::Safe).mismatches,
            140u * 24 - 100);
}

TEST(Compare, BoundsOfSums) {
  Problem problem = exactProblem();
  problem.k = 64;
  EXPECT_EQ(errorBound(problem, Criterion::Exact, 0, 0, 0, {5, 9}), 0);
  EXPECT_EQ(errorBound(problem, Criterion::Tight, 0, 0, 0, {5, 9}),
            64 * 0x1p-24 * 9);
  EXPECT_EQ(errorBound(problem, Criterion::Safe, 0, 0, 0, {5, 9}),
            66 * 0x1p-23 * 9 + 64 * 0x1p-149);
  problem.alpha = 2;
  EXPECT_EQ(errorBound(problem, Criterion::Tight, 0, 0, 0, {5, 9}),
            2 * 64 * 0x1p-24 * 9 + 0x1p-23 * 10);
  problem.output = OutputType::BF16;
  EXPECT_EQ(errorBound(problem, Criterion::Exact, 0, 0, 0, {5, 9}),
            0x1p-8 * 10);
}

// 65520 is where f16 begins to round to infinity.
TEST(Compare, SumsAtTheEndOfTheRangeMayRoundToInfinity) {
  Problem problem;
  problem.m = problem.n = 1;
  problem.k = 160;
  problem.output = OutputType::F16;
  auto agrees = [&](double sum, double found) {
    TileResult expected;
    expected.tile = {0, 0, 0, 1, 1};
    expected.sum = {sum};
    expected.absSum = {70000};
    expected.d = {roundToOutput(OutputType::F16, static_cast<float>(sum))};
    Comparison comparison;
    compare(problem, expected, {found}, Criterion::Tight, comparison);
    return comparison.mismatches == 0;
  };
  // The bound is 0.42.
  EXPECT_TRUE(agrees(65519.75, INFINITY));
  EXPECT_TRUE(agrees(-65519.75, -INFINITY));
  EXPECT_TRUE(agrees(65520.25, 65504));
  EXPECT_FALSE(agrees(65519.25, INFINITY));
  EXPECT_FALSE(agrees(65519.75, -INFINITY));
  EXPECT_FALSE(agrees(65500, INFINITY));
  EXPECT_FALSE(agrees(INFINITY, 65504));
}

TEST(Compare, RandomDataInF32OrderStayWithinTheTightBound) {
  Problem problem;
  problem.m = problem.n = 16;
  problem.k = 2048;
  problem.a.blockSize = problem.b.blockSize = 32;
  fillRandom(problem.a, 1, 16, 2048, 1);
  fillRandom(problem.b, 1, 16, 2048, 2);
  std::vector<float> found(256);
  for (uint64_t at = 0; at < 256; ++at)
    for (uint64_t k = 0; k < 2048; ++k)
      found[at] += float(elementValue(problem.a, 2048, at / 16, k) *
                         elementValue(problem.b, 2048, at % 16, k));
  EXPECT_GT(compareAll(problem, found, Criterion::Exact).mismatches, 0u);
  Comparison tight = compareAll(problem, found, Criterion::Tight);
  EXPECT_EQ(tight.mismatches, 0u);
  EXPECT_GT(tight.worst, 0.0);
  EXPECT_EQ(compareAll(problem, found, Criterion::Safe).mismatches, 0u);
}

TEST(Diagnose, NamesPlaceAndValues) {
  Problem problem = exactProblem();
  Problem wrong = problem;
  wrong.a.codes.assign(wrong.a.codes.size(), 0);
  float expected = matmul(problem)[3 * 24 + 7];
  std::string text = diagnose(problem, {0, 3, 7, expected, 0.0f});
  EXPECT_EQ(text.find("mismatch at row 3, column 7: expected "), 0u) << text;
  EXPECT_NE(text.find(", found 0; value explained by a sum of nothing"),
            std::string::npos)
      << text;
}

TEST(Diagnose, OneWrongScale) {
  Problem right = exactProblem(), wrong = right;
  // Row 5, block 3 takes the scale of row 5, block 4.
  wrong.a.scales[5 * 32 + 3] = right.a.scales[5 * 32 + 4];
  std::string text = verdict(right, wrong, 5, 2);
  EXPECT_NE(text.find("block 3 of a: value explained by scale of row "),
            std::string::npos)
      << text;
}

TEST(Diagnose, ScalesOfAnotherRow) {
  Problem right = exactProblem(), wrong = right;
  for (uint64_t j = 0; j < 32; ++j)
    wrong.b.scales[4 * 32 + j] = right.b.scales[9 * 32 + j];
  EXPECT_EQ(verdict(right, wrong, 100, 4),
            "every block of b: value explained by scale of row 9, block j for "
            "block j");
}

TEST(Diagnose, FactorOfAnotherRow) {
  Problem right = exactProblem();
  for (uint64_t row = 0; row < right.m; ++row)
    right.rowScales.push_back(1 + float(row) / 64);
  for (uint64_t column = 0; column < right.n; ++column)
    right.columnScales.push_back(3 - float(column) / 32);
  Problem wrong = right;
  wrong.rowScales[7] = right.rowScales[133];
  EXPECT_EQ(verdict(right, wrong, 7, 4),
            "value explained by the scale of row 133 of a");
  wrong = right;
  wrong.columnScales[4] = 1;
  EXPECT_EQ(verdict(right, wrong, 7, 4),
            "value explained by a scale of 1 of b");
}

// A kernel rounds at each factor.
TEST(Compare, FactorsOfRowsAndColumnsRoundOnceEach) {
  Problem problem;
  problem.m = problem.n = problem.k = 1;
  problem.a = {ElementFormat::E4M3, {0x38}, {}, {}, 0};
  problem.b = {ElementFormat::E4M3, {0x38}, {}, {}, 0};
  problem.rowScales = {3};
  problem.columnScales = {0.5};
  // Of the sum 0, so that the factors' roundings alone count: 2^-23 each.
  EXPECT_EQ(errorBound(problem, Criterion::Safe, 0, 0, 0, {2, 0}),
            2 * 0x1p-23 * 3 + 0x1p-149 * 1.5);
  problem.columnScales.clear();
  EXPECT_EQ(errorBound(problem, Criterion::Safe, 0, 0, 0, {2, 0}),
            0x1p-23 * 6 + 0x1p-149 * 3);
}

TEST(Diagnose, ScalesOfTheNextBlock) {
  Problem right = exactProblem(), wrong = right;
  for (uint64_t j = 0; j < 32; ++j)
    wrong.a.scales[7 * 32 + j] = right.a.scales[7 * 32 + (j ^ 2)];
  EXPECT_EQ(verdict(right, wrong, 7, 4),
            "every block of a: value explained by scale of row 7, block j ^ 2");
  for (uint64_t j = 0; j < 32; ++j)
    wrong.a.scales[7 * 32 + j] = right.a.scales[7 * 32 + (j + 4) % 32];
  EXPECT_EQ(verdict(right, wrong, 7, 4),
            "every block of a: value explained by scale of row 7, block j + 4");
}

TEST(Diagnose, NoScalesMissingBlocksAndOtherData) {
  Problem right = exactProblem(), wrong = right;
  // 0x38 is 1.0.
  std::fill_n(wrong.a.scales.begin() + 7 * 32, 32, 0x38);
  EXPECT_EQ(verdict(right, wrong, 7, 4),
            "every block of a: value explained by a scale of 1");
  wrong = right;
  std::fill_n(wrong.a.codes.begin() + 7 * 512 + 16 * 16, 256, 0);
  EXPECT_EQ(verdict(right, wrong, 7, 4),
            "block 16: value explained by a sum that ends before it");
  wrong = right;
  std::copy_n(right.a.codes.begin() + 23 * 512, 512,
              wrong.a.codes.begin() + 7 * 512);
  std::copy_n(right.a.scales.begin() + 23 * 32, 32,
              wrong.a.scales.begin() + 7 * 32);
  EXPECT_EQ(verdict(right, wrong, 7, 4),
            "value explained by the data of row 23");
}

TEST(Diagnose, AdmitsThatItDoesNotKnow) {
  Problem problem = exactProblem();
  float expected = matmul(problem)[0];
  std::string text = diagnose(problem, {0, 0, 0, expected, expected + 0.001f});
  EXPECT_NE(text.find("; no single wrong scale explains it"), std::string::npos)
      << text;
  text = diagnose(problem, {0, 999, 0, 1, NAN});
  EXPECT_EQ(text, "mismatch at row 999, column 0: expected 1, found nan");
}

} // namespace
