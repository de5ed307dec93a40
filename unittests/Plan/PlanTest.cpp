//===- PlanTest.cpp - tests of launch plans in JSON -----------------------===//
//
// Part of the blockscale project, under the Apache License v2.0 with LLVM
// Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "blockscale/Plan/Plan.h"
#include "Formats/TextOf.h"
#include "PlanText.h"
#include "blockscale/Plan/Sizes.h"
#include <gtest/gtest.h>

using namespace blockscale;
using namespace blockscale::plan;
using namespace blockscale::test;

namespace {
TEST(Plan, ComesBackFromItsText) {
  std::string text = printPlan(makePlan());
  Result<Plan> plan = parsePlan(text);
  ASSERT_TRUE(bool(plan)) << textOf(plan);
  const Kernel &kernel = plan->kernels.at(0);
  EXPECT_EQ(kernel.sharedMemoryBytes, 230400u);
  EXPECT_EQ(kernel.cluster.at(0), 2);
  EXPECT_TRUE(kernel.dependentLaunch);
  EXPECT_EQ(kernel.grid[0], "min(ceildiv(M, 128), num_sms)");
  EXPECT_EQ(kernel.sizes.at(0).value, std::nullopt);
  EXPECT_EQ(kernel.sizes.at(2).value, 4096);
  EXPECT_EQ(kernel.parameters.at(0).tensorMap->swizzle.code, 3);
  EXPECT_EQ(kernel.parameters.at(0).kind, ParameterKind::TensorMap);
  EXPECT_EQ(kernel.parameters.at(1).kind, ParameterKind::Scalar);
  EXPECT_EQ(kernel.parameters.at(1).offset, 128u);
  EXPECT_EQ(kernel.sizes.at(0).maximum, 2000000000);
  EXPECT_EQ(kernel.sizes.at(1).maximum, kMaxSize);
  EXPECT_EQ(kernel.limits.at(0).value, "M * 4096");
  EXPECT_EQ(kernel.limits.at(0).maximum, 1099511627775);
  EXPECT_EQ(kernel.limits.at(0).what, "bytes of a stride");
  const Function &function = plan->functions.at(0);
  EXPECT_EQ(function.arguments.at(0).name, "%arg0");
  EXPECT_EQ(function.steps.at(0).kernel, "proj");
  EXPECT_EQ(function.steps.at(0).operands.at(0).value, "%arg0");
  EXPECT_EQ(function.steps.at(0).operands.at(0).constant, std::nullopt);
  EXPECT_EQ(function.steps.at(0).operands.at(1).constant, 0.5);
  EXPECT_EQ(function.steps.at(1).kernel, std::nullopt);
  EXPECT_EQ(function.results.at(0), "%1");
  EXPECT_EQ(printPlan(*plan), text);
}

TEST(Plan, KnowsFixedOperands) {
  Plan plan = makePlan();
  EXPECT_EQ(fixedOperand(plan, "proj", "alpha"), 0.5);
  EXPECT_EQ(fixedOperand(plan, "proj", "a"), std::nullopt);
  EXPECT_EQ(fixedOperand(plan, "proj", "beta"), std::nullopt);
  EXPECT_EQ(fixedOperand(plan, "other", "alpha"), std::nullopt);
  // Two launches with one constant, then with two, then with a value.
  std::vector<Step> &steps = plan.functions.at(0).steps;
  steps.push_back(steps.at(0));
  EXPECT_EQ(fixedOperand(plan, "proj", "alpha"), 0.5);
  steps.at(2).operands.at(1).constant = 2.0;
  EXPECT_EQ(fixedOperand(plan, "proj", "alpha"), std::nullopt);
  steps.at(2).operands.at(1) = {"alpha", "%arg1", std::nullopt};
  EXPECT_EQ(fixedOperand(plan, "proj", "alpha"), std::nullopt);
}

// The key is there for pairs of columns only.
TEST(Plan, SaysThatColumnsArePairs) {
  Plan plan = makePlan();
  std::string plain = printPlan(plan);
  EXPECT_EQ(plain.find("\"pairs\""), std::string::npos);
  EXPECT_FALSE(parsePlan(plain)->kernels[0].epilogue.pairs);
  plan.kernels[0].epilogue.pairs = true;
  EXPECT_TRUE(parsePlan(printPlan(plan))->kernels[0].epilogue.pairs);
}

// The key is there for CTAs that wait for each other only.
TEST(Plan, SaysThatALaunchIsCooperative) {
  Plan plan = makePlan();
  std::string plain = printPlan(plan);
  EXPECT_EQ(plain.find("\"cooperative\""), std::string::npos);
  EXPECT_FALSE(parsePlan(plain)->kernels[0].cooperative);
  plan.kernels[0].cooperative = true;
  EXPECT_TRUE(parsePlan(printPlan(plan))->kernels[0].cooperative);
}

// Plans before sm_107 do not have the key.
TEST(Plan, SaysWhereSharedMemoryIsOversized) {
  Plan plan = makePlan();
  std::string standard = printPlan(plan);
  EXPECT_EQ(standard.find("oversizedSharedMemory"), std::string::npos);
  EXPECT_FALSE(parsePlan(standard)->kernels[0].oversizedSharedMemory);
  plan.kernels[0].oversizedSharedMemory = true;
  std::string text = printPlan(plan);
  EXPECT_NE(text.find("\"sharedMemoryBytes\": 230400,\n      "
                      "\"oversizedSharedMemory\": true,"),
            std::string::npos);
  EXPECT_TRUE(parsePlan(text)->kernels[0].oversizedSharedMemory);
  EXPECT_EQ(errorOf(replaced(text, "Memory\": true", "Memory\": 3")),
            "launch plan: 'kernels[0].oversizedSharedMemory': is not true or "
            "false");
}

// Plans of kernels that multiply do not have the key.
TEST(Plan, SaysWhatIsConverted) {
  Plan plan = makePlan();
  EXPECT_EQ(printPlan(plan).find("conversion"), std::string::npos);
  plan.kernels[0].conversion = Conversion{"dequantize"};
  std::string text = printPlan(plan);
  Plan read = readAgain(plan);
  ASSERT_TRUE(read.kernels[0].conversion);
  EXPECT_EQ(read.kernels[0].conversion->op, "dequantize");
  EXPECT_EQ(text.find("keep"), std::string::npos);
}

TEST(Plan, SaysWhatIsPruned) {
  Plan plan = makePlan();
  plan.kernels[0].conversion = Conversion{"prune", 4, 8, true};
  std::string text = printPlan(plan);
  Plan read = readAgain(plan);
  const Conversion &conversion = *read.kernels[0].conversion;
  EXPECT_EQ(conversion.keep, 4u);
  EXPECT_EQ(conversion.group, 8u);
  EXPECT_TRUE(conversion.pairs);
  EXPECT_EQ(text.find("mnMajor"), std::string::npos);
  EXPECT_EQ(text.find("sparse"), std::string::npos);
}

TEST(Plan, SaysHowElementsLieThatARelayoutMayLeave) {
  Plan plan = makePlan();
  plan.kernels[0].conversion = Conversion{"relayout"};
  plan.kernels[0].conversion->mnMajor = true;
  plan.kernels[0].conversion->sparse = true;
  Plan read = readAgain(plan);
  EXPECT_TRUE(read.kernels[0].conversion->mnMajor);
  EXPECT_TRUE(read.kernels[0].conversion->sparse);
}

// Plans of kernels without one do not have the key.
TEST(Plan, SaysHowMuchWorkspaceThereIs) {
  Plan plan = makePlan();
  EXPECT_EQ(printPlan(plan).find("workspace"), std::string::npos);
  Parameter pointer;
  pointer.role = pointer.operand = "workspace";
  pointer.kind = ParameterKind::Pointer;
  pointer.type = "f32";
  pointer.offset = 136;
  pointer.size = pointer.alignment = 8;
  plan.kernels[0].parameters.push_back(pointer);
  plan.kernels[0].workspace = {"128", "128 + ceildiv(M, 128) * 65536", 16, 3};
  std::string text = printPlan(plan);
  Plan read = readAgain(plan);
  const Kernel &kernel = read.kernels[0];
  ASSERT_TRUE(kernel.workspace);
  EXPECT_EQ(kernel.workspace->zeroBytes, "128");
  EXPECT_EQ(kernel.workspace->bytes, "128 + ceildiv(M, 128) * 65536");
  EXPECT_EQ(kernel.workspace->alignment, 16u);
  EXPECT_EQ(kernel.workspace->parts, 3u);
  auto bytes = memoryBytes(kernel, kernel.parameters.back(),
                           {{"M", 129}, {"N", 64}, {"K", 4096}, {"batch", 1}});
  ASSERT_TRUE(bytes);
  EXPECT_EQ(*bytes, 131200u);

  EXPECT_EQ(
      errorOf(replaced(text, "\"role\": \"workspace\"", "\"role\": \"work\"")),
      "launch plan: kernel 'proj': a 'workspace' and a parameter of that "
      "role belong together");
  EXPECT_EQ(errorOf(replaced(text, "\"zeroBytes\": \"128\"",
                             "\"zeroBytes\": \"128 +\"")),
            "launch plan: 'kernels[0].workspace.zeroBytes': unexpected end in "
            "expression '128 +'");
  auto more = parsePlan(
      replaced(text, "\"zeroBytes\": \"128\"", "\"zeroBytes\": \"M * M\""));
  ASSERT_TRUE(more);
  auto refused = memoryBytes(more->kernels[0], kernel.parameters.back(),
                             {{"M", 1000}, {"N", 64}, {"K", 8}, {"batch", 1}});
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.why().text,
            "a workspace of 524416 bytes, of which 1000000 are zero");
}

TEST(Plan, NamesWhatIsWrong) {
  std::string text = printPlan(makePlan());
  EXPECT_EQ(errorOf(replaced(text, "\"version\": 3", "\"version\": 1")),
            "launch plan: 'plan': version 1 is not 3, the one known here");
  EXPECT_EQ(errorOf(replaced(text, "\"target\"", "\"chip\"")),
            "launch plan: 'target': is missing");
  EXPECT_EQ(errorOf(replaced(text, "230400", "-1")),
            "launch plan: 'kernels[0].sharedMemoryBytes': -1 is out of range; "
            "expected 0 to 4294967295");
  EXPECT_EQ(errorOf(replaced(text, "num_sms)", "num_sms")),
            "launch plan: 'kernels[0].grid[0]': expected ')' in expression "
            "'min(ceildiv(M, 128), num_sms'");
  EXPECT_EQ(errorOf(replaced(text, "\"tensorMap\",", "\"pointer\",")),
            "launch plan: kernel 'proj': parameter 'a_data' has no place for "
            "a 'tensorMap'");
  EXPECT_EQ(errorOf(replaced(text, "\"scalar\"", "\"vector\"")),
            "launch plan: 'kernels[0].parameters[1].kind': 'vector' is not "
            "'tensorMap', 'pointer' or 'scalar'");
  EXPECT_EQ(errorOf("[]"), "launch plan: not a JSON object");
  EXPECT_EQ(errorOf("{"),
            "launch plan: parse error at line 1, column 2: syntax error while "
            "parsing object key - unexpected end of input; expected string "
            "literal");
}

TEST(Plan, ConditionsCompare) {
  std::string text = printPlan(makePlan());
  EXPECT_NE(text.find("\"conditions\": [\n        \"M % 8 == 0\"\n"),
            std::string::npos);
  EXPECT_NE(
      errorOf(replaced(text, "M % 8 == 0", "M % 8")).find("conditions[0]"),
      std::string::npos);
  EXPECT_NE(
      errorOf(replaced(text, "M % 8 == 0", "X == 0")).find("conditions[0]"),
      std::string::npos);
}

TEST(Plan, RefusesNumbersOutOfRange) {
  std::string text = printPlan(makePlan());
  EXPECT_EQ(errorOf(replaced(text, "\"code\": 3", "\"code\": 99")),
            "launch plan: 'kernels[0].parameters[0].tensorMap.swizzle.code': "
            "99 is out of range; expected 0 to 15");
  EXPECT_EQ(errorOf(replaced(text, "\"code\": 3", "\"code\": -1")),
            "launch plan: 'kernels[0].parameters[0].tensorMap.swizzle.code': "
            "-1 is out of range; expected 0 to 15");
  EXPECT_EQ(errorOf(replaced(text, "230400", "9223372036854775808")),
            "launch plan: 'kernels[0].sharedMemoryBytes': 9223372036854775808 "
            "is out of range; expected 0 to 4294967295");
  EXPECT_EQ(errorOf(replaced(text, "230400", "2.5")),
            "launch plan: 'kernels[0].sharedMemoryBytes': is not an integer");
  EXPECT_EQ(errorOf(replaced(text, "\"value\": 4096", "\"value\": 0")),
            "launch plan: 'kernels[0].sizes[2].value': 0 is out of range; "
            "expected 1 to 2147483647");
  EXPECT_EQ(errorOf(replaced(text, "\"alignment\": 64", "\"alignment\": 0")),
            "launch plan: 'kernels[0].parameters[0].alignment': 0 is out of "
            "range; expected 1 to 4096");
}

TEST(Plan, NeedsEachSizeOnce) {
  Plan plan = makePlan();
  plan.kernels[0].sizes.clear();
  EXPECT_EQ(errorOf(printPlan(plan)),
            "launch plan: kernel 'proj': 'sizes' has 0 entries for 'M'; "
            "expected one");
  plan = makePlan();
  plan.kernels[0].sizes.push_back({"batch", 3});
  EXPECT_EQ(errorOf(printPlan(plan)),
            "launch plan: kernel 'proj': 'sizes' has 2 entries for 'batch'; "
            "expected one");
}

TEST(Plan, RefusesTextBeyondItsLimits) {
  for (const char *bracket : {"[", "{\"a\":"}) {
    std::string deep;
    for (int i = 0; i < 100000; ++i)
      deep += bracket;
    EXPECT_EQ(errorOf(deep), "launch plan: nesting deeper than 32");
  }
  EXPECT_EQ(errorOf(std::string(kMaxPlanBytes + 1, ' ')),
            "launch plan: 67108865 bytes; at most 67108864 are read");
}
} // namespace
