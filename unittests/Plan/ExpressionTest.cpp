//===- ExpressionTest.cpp - tests of integer formulas ---------------------===//
//
// Part of the blockscale project, under the Apache License v2.0 with LLVM
// Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "blockscale/Plan/Expression.h"
#include "Formats/TextOf.h"
#include <gtest/gtest.h>

using namespace blockscale;
using namespace blockscale::plan;
using blockscale::test::textOf;

namespace {
const Environment kSizes{
    {"M", 129}, {"N", 7168}, {"K", 2880}, {"batch", 2}, {"num_sms", 148}};

int64_t value(std::string_view text) {
  Result<int64_t> result = evaluate(text, kSizes);
  if (!result) {
    ADD_FAILURE() << result.why().text;
    return -1;
  }
  return *result;
}

std::string errorOf(std::string_view text) {
  return textOf(evaluate(text, kSizes));
}

TEST(Expression, FollowsPrecedence) {
  EXPECT_EQ(value("2 + 3 * 4"), 14);
  EXPECT_EQ(value("(2+3)*4"), 20);
  EXPECT_EQ(value("20 - 5 - 3"), 12);
  EXPECT_EQ(value("100 / 5 / 2"), 10);
  EXPECT_EQ(value("7 - -2 * 3"), 13);
}

TEST(Expression, ComputesAGrid) {
  // 129 rows are 2 tiles of 128; 7168 columns are 28 of 256.
  EXPECT_EQ(value("min(ceildiv(M, 128) * ceildiv(N, 256) * batch, num_sms)"),
            112);
  EXPECT_EQ(value("max(M, N)"), 7168);
}

TEST(Expression, RoundsDivisions) {
  EXPECT_EQ(value("7 / 2"), 3);
  EXPECT_EQ(value("-7 / 2"), -4);
  EXPECT_EQ(value("-7 % 2"), 1);
  EXPECT_EQ(value("ceildiv(7, 2)"), 4);
  EXPECT_EQ(value("ceildiv(-7, 2)"), -3);
  EXPECT_EQ(value("ceildiv(8, 2)"), 4);
}

TEST(Expression, RefusesWhatHasNoValue) {
  EXPECT_EQ(errorOf("M / (K - K)"),
            "divisor 0 is not positive in expression 'M / (K - K)'");
  EXPECT_EQ(errorOf("4 % -2"),
            "divisor -2 is not positive in expression '4 % -2'");
  EXPECT_EQ(errorOf("X + 1"), "no value for 'X' in expression 'X + 1'");
  EXPECT_EQ(errorOf("9223372036854775807 + 1"),
            "a value exceeds 64 bits in expression '9223372036854775807 + 1'");
  EXPECT_EQ(errorOf("9223372036854775808"),
            "a number exceeds 64 bits in expression '9223372036854775808'");
}

TEST(Expression, RefusesWhatIsNotInTheGrammar) {
  EXPECT_EQ(errorOf(""), "unexpected end in expression ''");
  EXPECT_EQ(errorOf("1 +"), "unexpected end in expression '1 +'");
  EXPECT_EQ(errorOf("(1"), "expected ')' in expression '(1'");
  EXPECT_EQ(errorOf("1 2"), "unexpected '2' in expression '1 2'");
  EXPECT_EQ(errorOf("min(1)"), "expected ',' in expression 'min(1)'");
  EXPECT_EQ(errorOf("abs(1, 2)"),
            "unknown function 'abs' in expression 'abs(1, 2)'");
  std::string deep(100000, '(');
  EXPECT_NE(errorOf(deep).find("nesting deeper than 200"), std::string::npos);
  std::string minuses(100000, '-');
  EXPECT_NE(errorOf(minuses).find("nesting deeper than 200"),
            std::string::npos);
}

TEST(Expression, KnowsTheNamesOfAPlan) {
  EXPECT_EQ(whyNotExpression("ceildiv(M, N - N) + K * batch / num_sms"),
            std::nullopt);
  EXPECT_EQ(textOf(whyNotExpression("Q * 2")),
            "unknown name 'Q' in expression 'Q * 2'");
  EXPECT_EQ(whyNotExpression("r * M + j", {"r", "j"}), std::nullopt);
  EXPECT_EQ(textOf(whyNotExpression("r * M + j", {"r"})),
            "unknown name 'j' in expression 'r * M + j'");
}
TEST(Condition, ComparesTwoExpressions) {
  Environment sizes{{"K", 40}, {"M", 7}};
  EXPECT_EQ(*holds("K % 8 == 0", sizes), true);
  EXPECT_EQ(*holds("K % 16 == 0", sizes), false);
  EXPECT_EQ(*holds("K == M * 6 - 2", sizes), true);
  EXPECT_FALSE(holds("N == 0", sizes));
  EXPECT_FALSE(holds("K % 8", sizes));
}

TEST(Expression, SaysHowFarItWasRead) {
  EXPECT_EQ(evaluate("M * (N + Q)", kSizes).why().place, 10u);
  EXPECT_EQ(evaluate("M + ", kSizes).why().place, 4u);
  EXPECT_EQ(whyNotCondition("K % 8 == Q")->place, 10u);
  EXPECT_EQ(holds("M == 3 / 0", kSizes).why().place, 10u);
}

TEST(Condition, RefusesOtherText) {
  EXPECT_EQ(whyNotCondition("K % 8 == 0"), std::nullopt);
  for (const char *text : {"", "K", "K == ", "== 0", "K = 0", "K == 0 == 0"})
    EXPECT_TRUE(whyNotCondition(text)) << text;
}

} // namespace
