//===- FormulaTest.cpp - epilogues, one number and one range at a time ----===//
//
// Part of the blockscale project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Formats/TextOf.h"
#include "blockscale/Reference/Compare.h"

#include <cmath>
#include <gtest/gtest.h>
#include <limits>

using namespace blockscale;
using namespace blockscale::reference;
using blockscale::test::textOf;

namespace {

constexpr float kNaN = std::numeric_limits<float>::quiet_NaN();
constexpr float kInf = std::numeric_limits<float>::infinity();

/// One step of `function` on x, c and bias.
Formula formulaOf(const std::string &function, unsigned operands,
                  const std::string &type = "f32") {
  std::vector<std::string> names = {"x", "c", "bias"};
  names.resize(operands);
  Formula formula;
  EXPECT_EQ(formula.addStep("t0", function, names, type, "", std::nullopt),
            std::nullopt);
  EXPECT_EQ(formula.setResult("t0"), std::nullopt);
  return formula;
}

float apply(const std::string &function, unsigned operands, float x,
            float c = 0, float bias = 0) {
  return formulaOf(function, operands)
      .evaluate(Formula::Inputs<float>{x, c, bias});
}

Range rangeOf(const std::string &function, unsigned operands, Range x,
              Range c = Range::of(0), Range bias = Range::of(0)) {
  return formulaOf(function, operands)
      .evaluate(Formula::Inputs<Range>{x, c, bias});
}

TEST(Formula, Numbers) {
  EXPECT_EQ(apply("arith.addf", 2, 1.0f, 0x1p-24f), 1.0f);
  EXPECT_EQ(apply("arith.subf", 2, 3, 5), -2);
  EXPECT_EQ(apply("arith.mulf", 2, 3, -5), -15);
  EXPECT_EQ(apply("arith.divf", 2, 1, 4), 0.25f);
  EXPECT_EQ(apply("arith.negf", 1, 3), -3);
  EXPECT_EQ(apply("math.absf", 1, -3), 3);
  EXPECT_EQ(apply("math.copysign", 2, 3, -0.0f), -3);
  EXPECT_EQ(apply("math.fma", 3, 1 + 0x1p-23f, 1 - 0x1p-23f, -1), -0x1p-46f);
  EXPECT_EQ(apply("math.floor", 1, -1.5f), -2);
  EXPECT_EQ(apply("math.ceil", 1, -1.5f), -1);
  EXPECT_EQ(apply("math.trunc", 1, -1.5f), -1);
  EXPECT_EQ(apply("math.roundeven", 1, 2.5f), 2);
  EXPECT_EQ(apply("math.sqrt", 1, 9), 3);
  EXPECT_EQ(apply("math.rsqrt", 1, 16), 0.25f);
}

TEST(Formula, ExtremaOfNaN) {
  EXPECT_EQ(apply("arith.maximumf", 2, 3, 5), 5);
  EXPECT_EQ(apply("arith.minimumf", 2, 3, 5), 3);
  EXPECT_TRUE(std::isnan(apply("arith.maximumf", 2, kNaN, 5)));
  EXPECT_TRUE(std::isnan(apply("arith.minimumf", 2, 3, kNaN)));
  EXPECT_EQ(apply("arith.maxnumf", 2, kNaN, 5), 5);
  EXPECT_EQ(apply("arith.minnumf", 2, 3, kNaN), 3);
}

// Values of the functions to nine digits, from tables.
TEST(Formula, Functions) {
  EXPECT_FLOAT_EQ(apply("math.exp", 1, 1), 2.71828183f);
  EXPECT_EQ(apply("math.exp2", 1, -3), 0.125f);
  EXPECT_FLOAT_EQ(apply("math.expm1", 1, 0x1p-20f), 9.53674771e-7f);
  EXPECT_FLOAT_EQ(apply("math.log", 1, 10), 2.30258509f);
  EXPECT_EQ(apply("math.log2", 1, 8), 3);
  EXPECT_FLOAT_EQ(apply("math.log1p", 1, 1), 0.693147181f);
  EXPECT_FLOAT_EQ(apply("math.tanh", 1, 0.5f), 0.462117157f);
  EXPECT_FLOAT_EQ(apply("math.erf", 1, 0.5f), 0.520499878f);
}

TEST(Formula, NarrowTypes) {
  EXPECT_EQ(formulaOf("arith.truncf", 1, "bf16")
                .evaluate(Formula::Inputs<float>{1 + 0x3p-8f, 0, 0}),
            1 + 0x1p-6f);
  EXPECT_EQ(formulaOf("arith.truncf", 1, "f16")
                .evaluate(Formula::Inputs<float>{65520, 0, 0}),
            kInf);
}

/// select(x <predicate> c, 1, 0).
Formula comparison(const std::string &predicate) {
  Formula formula;
  EXPECT_EQ(formula.addStep("one", "arith.constant", {}, "f32", "", "1"),
            std::nullopt);
  EXPECT_EQ(formula.addStep("zero", "arith.constant", {}, "f32", "", "0"),
            std::nullopt);
  EXPECT_EQ(formula.addStep("is", "arith.cmpf", {"x", "c"}, "i1", predicate,
                            std::nullopt),
            std::nullopt);
  EXPECT_EQ(formula.addStep("t", "arith.select", {"is", "one", "zero"}, "f32",
                            "", std::nullopt),
            std::nullopt);
  EXPECT_EQ(formula.setResult("t"), std::nullopt);
  return formula;
}

// Columns: less, equal, greater, unordered (MLIR's arith.cmpf).
TEST(Formula, Predicates) {
  const std::pair<const char *, const char *> expected[] = {
      {"false", "0000"}, {"oeq", "0100"}, {"ogt", "0010"}, {"oge", "0110"},
      {"olt", "1000"},   {"ole", "1100"}, {"one", "1010"}, {"ord", "1110"},
      {"ueq", "0101"},   {"ugt", "0011"}, {"uge", "0111"}, {"ult", "1001"},
      {"ule", "1101"},   {"une", "1011"}, {"uno", "0001"}, {"true", "1111"}};
  for (auto [predicate, outcomes] : expected) {
    Formula formula = comparison(predicate);
    float left[] = {1, 2, 3, kNaN};
    for (int i = 0; i < 4; ++i)
      EXPECT_EQ(formula.evaluate(Formula::Inputs<float>{left[i], 2, 0}),
                outcomes[i] == '1' ? 1.0f : 0.0f)
          << predicate << " " << left[i];
  }
  Range unsure = comparison("ogt").evaluate(
      Formula::Inputs<Range>{Range{1, 3}, Range::of(2), Range::of(0)});
  EXPECT_EQ(unsure.lo, 0);
  EXPECT_EQ(unsure.hi, 1);
}

TEST(Formula, RangesHoldAllThatIsLegal) {
  Range squared = rangeOf("arith.mulf", 2, {-2, 3}, {-2, 3});
  EXPECT_TRUE(squared.contains(9) && squared.contains(-6));
  EXPECT_FALSE(squared.contains(9.001) || squared.contains(-6.001));
  Range power = rangeOf("math.exp", 1, Range::of(1));
  EXPECT_TRUE(power.contains(2.7182818284590452));
  EXPECT_TRUE(power.contains(2.7182830));
  EXPECT_FALSE(power.contains(2.7182900));
  EXPECT_FALSE(power.contains(kNaN));
  EXPECT_TRUE(rangeOf("math.log", 1, {-1, 1}).contains(kNaN));
  EXPECT_TRUE(rangeOf("math.log", 1, {-1, 1}).contains(-kInf));
  EXPECT_FALSE(rangeOf("math.log", 1, {2, 3}).contains(kNaN));
  EXPECT_TRUE(rangeOf("arith.divf", 2, {1, 1}, {-1, 1}).contains(kInf));
  EXPECT_FALSE(
      rangeOf("arith.maximumf", 2, Range::of(kNaN), {1, 2}).contains(1));
  EXPECT_TRUE(
      rangeOf("arith.maxnumf", 2, Range::of(kNaN), {1, 2}).contains(1.5));
  EXPECT_FALSE(
      rangeOf("arith.maxnumf", 2, Range::of(kNaN), {1, 2}).contains(kNaN));
  EXPECT_TRUE(
      rangeOf("arith.addf", 2, Range::of(kInf), {-kInf, 0}).contains(kNaN));
  Range beyond = rangeOf("arith.mulf", 2, Range::of(3e38), Range::of(2));
  EXPECT_TRUE(beyond.contains(kInf));
  EXPECT_FALSE(beyond.contains(1));
}

TEST(Formula, ExactIsWhatHasOneResult) {
  EXPECT_TRUE(formulaOf("arith.mulf", 2).isExact());
  EXPECT_TRUE(formulaOf("math.sqrt", 1).isExact());
  EXPECT_FALSE(formulaOf("math.exp", 1).isExact());
  EXPECT_TRUE(Formula().isExact());
}

TEST(Formula, SaysWhatIsWrong) {
  Formula f;
  auto add = [&](const char *name, const char *function,
                 std::vector<std::string> operands, const char *type = "f32",
                 const char *predicate = "",
                 std::optional<std::string> constant = std::nullopt) {
    return textOf(
        f.addStep(name, function, operands, type, predicate, constant));
  };
  EXPECT_EQ(add("t0", "math.sin", {"x"}),
            "epilogue: step 't0': function 'math.sin' of type 'f32' is not "
            "known");
  EXPECT_EQ(add("t0", "math.exp", {"x"}, "f64"),
            "epilogue: step 't0': function 'math.exp' of type 'f64' is not "
            "known");
  EXPECT_EQ(add("t0", "arith.addf", {"x"}),
            "epilogue: step 't0': expected 2 operands, found 1");
  EXPECT_EQ(add("t0", "arith.addf", {"x", "t0"}),
            "epilogue: step 't0': no step before makes 't0'");
  EXPECT_EQ(add("x", "math.exp", {"x"}),
            "epilogue: step 'x': its name is taken");
  EXPECT_EQ(add("t0", "arith.cmpf", {"x", "c"}, "i1", "lt"),
            "epilogue: step 't0': predicate 'lt' is not known");
  EXPECT_EQ(add("t0", "arith.constant", {}, "f32", "", "1.5x"),
            "epilogue: step 't0': '1.5x' is no number");
  EXPECT_EQ(add("t0", "arith.constant", {}),
            "epilogue: step 't0': '' is no number");
  EXPECT_EQ(add("t0", "arith.cmpf", {"x", "c"}, "i1", "olt"),
            textOf(std::optional<Reason>()));
  EXPECT_EQ(add("t1", "arith.addf", {"x", "t0"}),
            "epilogue: step 't1': 't0' is a condition, not a number");
  EXPECT_EQ(add("t1", "arith.select", {"x", "x", "c"}),
            "epilogue: step 't1': 'x' is a number, not a condition");
  EXPECT_EQ(textOf(f.setResult("t9")),
            "epilogue: no step makes the result 't9'");
  EXPECT_EQ(textOf(f.setResult("t0")),
            "epilogue: the result 't0' is a condition, not a number");
}

/// 1 x 1 with a sum of `product`, and formula max(x, c) * bias.
Problem clampProblem() {
  Problem problem;
  problem.m = problem.n = problem.k = 1;
  // 3 * 1 in e4m3.
  problem.a = {ElementFormat::E4M3, {0x44}, {}, {}, 0};
  problem.b = {ElementFormat::E4M3, {0x38}, {}, {}, 0};
  problem.beta = 2;
  problem.c = {2.5f};
  problem.biasKind = BiasKind::Column;
  problem.bias = {-1.5f};
  Formula formula;
  EXPECT_EQ(formula.addStep("m", "arith.maximumf", {"x", "c"}, "f32", "",
                            std::nullopt),
            std::nullopt);
  EXPECT_EQ(formula.addStep("r", "arith.mulf", {"m", "bias"}, "f32", "",
                            std::nullopt),
            std::nullopt);
  EXPECT_EQ(formula.setResult("r"), std::nullopt);
  problem.formula = formula;
  return problem;
}

Comparison judge(const Problem &problem, double found, Criterion criterion) {
  Comparison comparison;
  for (const TileResult &tile : matmul(problem, allTiles(problem)))
    compare(problem, tile, {found}, criterion, comparison);
  return comparison;
}

// The sum of both columns of a pair, of which the second is wrong.
TEST(Formula, NamesTheColumnOfAPairThatIsWrong) {
  Problem problem = clampProblem();
  problem.n = 2;
  problem.k = 64;
  problem.pairs = true;
  problem.c.clear();
  problem.biasKind = BiasKind::None;
  problem.bias.clear();
  // Ones, in two blocks of 32 under 1 and 2, and 1 and 8.
  problem.a.codes.assign(64, 0x38);
  problem.b.codes.assign(128, 0x38);
  problem.b.scaleFormat = ElementFormat::UE8M0;
  problem.b.scales = {127, 128, 127, 130};
  problem.b.blockSize = 32;
  Formula sum;
  EXPECT_EQ(
      sum.addStep("y", "arith.addf", {"x", "up"}, "f32", "", std::nullopt),
      std::nullopt);
  EXPECT_EQ(sum.setResult("y"), std::nullopt);
  problem.formula = sum;
  EXPECT_EQ(matmul(problem), std::vector<float>{96 + 288});
  EXPECT_EQ(judge(problem, 96 + 288, Criterion::Exact).mismatches, 0u);
  EXPECT_EQ(judge(problem, 96 + 64, Criterion::Exact).mismatches, 1u);
  EXPECT_NE(
      diagnose(problem, {0, 0, 0, 96 + 288, 96 + 64})
          .find("in the second column of the pair: every block of b: value "
                "explained by scale of row 1, block j - j % 2"),
      std::string::npos);
}

TEST(Formula, IsTheEpilogueOfAProduct) {
  Problem problem = clampProblem();
  // max(3, 2 * 2.5) * -1.5
  EXPECT_EQ(matmul(problem), std::vector<float>{-7.5f});
  EXPECT_EQ(judge(problem, -7.5, Criterion::Exact).mismatches, 0u);
  EXPECT_EQ(judge(problem, -4.5, Criterion::Exact).mismatches, 1u);
  float next = std::nextafter(-7.5f, 0.0f);
  EXPECT_EQ(judge(problem, next, Criterion::Exact).mismatches, 1u);
  EXPECT_EQ(judge(problem, next, Criterion::Tight).mismatches, 0u);
  EXPECT_EQ(judge(problem, -7.49, Criterion::Tight).mismatches, 1u);
  EXPECT_EQ(judge(problem, kNaN, Criterion::Tight).mismatches, 1u);
  problem.output = OutputType::BF16;
  EXPECT_EQ(judge(problem, -7.5, Criterion::Tight).mismatches, 0u);
  EXPECT_EQ(judge(problem, -7.46875, Criterion::Tight).mismatches, 1u);
}

} // namespace
