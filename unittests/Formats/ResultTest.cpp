//===- ResultTest.cpp - a value, or why there is none ---------------------===//
//
// Part of the blockscale project, under the Apache License v2.0 with LLVM
// Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "blockscale/Formats/Result.h"
#include <gtest/gtest.h>
#include <memory>
#include <vector>

using namespace blockscale;

namespace {

std::optional<Reason> whyNotEven(int number) {
  if (number % 2)
    return std::to_string(number) + " is odd";
  return std::nullopt;
}

Result<int> half(int number) {
  if (auto why = whyNotEven(number))
    return *why;
  return number / 2;
}

/// A reason travels through results of other types.
Result<std::string> halfAsText(int number) {
  Result<int> result = half(number);
  if (!result)
    return result.why().within(7);
  return std::to_string(*result);
}

TEST(Result, HoldsAValue) {
  Result<int> result = half(6);
  ASSERT_TRUE(result);
  EXPECT_EQ(*result, 3);
  *result = 5;
  EXPECT_EQ(*result, 5);
  EXPECT_EQ(*halfAsText(8), "4");
}

TEST(Result, HoldsAReasonWithItsPlace) {
  Result<std::string> result = halfAsText(7);
  ASSERT_FALSE(result);
  EXPECT_EQ(result.why().text, "7 is odd");
  EXPECT_EQ(result.why().place, 7u);
  EXPECT_EQ(result.why().within(3).place, 10u);
  EXPECT_EQ(half(1).why().place, 0u);
}

// Whether there is an answer is one question, the answer another.
TEST(Result, OfATruthValueIsTrueIfThereIsOne) {
  Result<bool> no = false;
  ASSERT_TRUE(no);
  EXPECT_FALSE(*no);
  EXPECT_FALSE(Result<bool>(Reason("unknown")));
}

// A literal would be a bool, or as well a string as a reason.
static_assert(!std::is_constructible_v<Result<bool>, const char *>);
static_assert(!std::is_constructible_v<Result<std::string>, const char *>);
static_assert(!std::is_constructible_v<Result<int>, const char (&)[4]>);

TEST(Result, GivesItsValueAway) {
  Result<std::unique_ptr<int>> result = std::make_unique<int>(4);
  std::unique_ptr<int> value = *std::move(result);
  EXPECT_EQ(*value, 4);
  // The vector lives as long as the loop.
  auto make = [] { return Result<std::vector<int>>({1, 2, 3}); };
  int sum = 0;
  for (int each : *make())
    sum += each;
  EXPECT_EQ(sum, 6);
}

} // namespace
