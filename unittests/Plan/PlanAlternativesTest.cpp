//===- PlanAlternativesTest.cpp - plans for several targets ---------------===//
//
// Part of the blockscale project, under the Apache License v2.0 with LLVM
// Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Formats/TextOf.h"
#include "PlanText.h"
#include "blockscale/Plan/Plan.h"
#include <gtest/gtest.h>

using namespace blockscale;
using namespace blockscale::plan;
using namespace blockscale::test;

namespace {
// A plan for one target, as it is joined with others.
Plan makePlanFor(const std::string &target, std::vector<std::string> devices) {
  Plan plan = makePlan();
  plan.target = target;
  plan.devices = std::move(devices);
  return plan;
}

Plan makeJoined() {
  Plan family = makePlanFor("sm_100f", {"10.0", "10.3", "10.7"});
  family.kernels[0].sharedMemoryBytes = 1024;
  return joinPlans({makePlanFor("sm_107a", {"10.7"}),
                    makePlanFor("sm_100a", {"10.0"}), family});
}

std::string targetFor(const Plan &plan, const char *device) {
  Result<const Plan *> found = planForDevice(plan, device);
  return found ? (*found)->target : found.why().text;
}

TEST(Plan, ADeviceTakesTheFirstThatItRuns) {
  Plan plan = makeJoined();
  EXPECT_EQ(plan.target, "sm_107a");
  EXPECT_EQ(choices(plan).size(), 3u);
  EXPECT_EQ(targetFor(plan, "10.0"), "sm_100a");
  EXPECT_EQ(targetFor(plan, "10.3"), "sm_100f");
  EXPECT_EQ(targetFor(plan, "10.7"), "sm_107a");
  EXPECT_EQ(
      targetFor(plan, "9.0"),
      "a device of compute capability 9.0 runs none of the kernels, which "
      "are for 'sm_107a' (compute capability 10.7), 'sm_100a' (compute "
      "capability 10.0), 'sm_100f' (compute capability 10.0, 10.3, "
      "10.7)");
  EXPECT_EQ((*planForTarget(plan, "sm_100f"))->kernels[0].sharedMemoryBytes,
            1024u);
  EXPECT_EQ((*planForTarget(plan, "sm_107a"))->kernels[0].sharedMemoryBytes,
            230400u);
  EXPECT_EQ(textOf(planForTarget(plan, "sm_103a")),
            "the plan has no kernels for 'sm_103a'; they are for 'sm_107a' "
            "(compute capability 10.7), 'sm_100a' (compute capability 10.0), "
            "'sm_100f' (compute capability 10.0, 10.3, 10.7)");
  // Code of a plan that leaves no choice may have been edited.
  EXPECT_TRUE(bool(planForTarget(makePlan(), "sm_103a")));
}

TEST(Plan, AlternativesComeBackFromTheirText) {
  std::string text = printPlan(makeJoined());
  Result<Plan> plan = parsePlan(text);
  ASSERT_TRUE(bool(plan)) << textOf(plan);
  EXPECT_EQ(printPlan(*plan), text);
  ASSERT_EQ(plan->alternatives.size(), 2u);
  EXPECT_EQ(plan->alternatives[1].target, "sm_100f");
  EXPECT_EQ(plan->alternatives[1].devices.at(1), "10.3");
  EXPECT_EQ(plan->alternatives[1].kernels[0].sharedMemoryBytes, 1024u);
  // Plans of one target are as they were.
  EXPECT_EQ(printPlan(makePlan()).find("devices"), std::string::npos);
  EXPECT_EQ(printPlan(makePlan()).find("alternatives"), std::string::npos);
}

TEST(Plan, AlternativesAreDistinctAndSayForWhom) {
  std::string text = printPlan(makeJoined());
  EXPECT_EQ(errorOf(replaced(text, "\"sm_100f\"", "\"sm_107a\"")),
            "launch plan: target 'sm_107a': is there twice");
  EXPECT_EQ(errorOf(replaced(text, "\"devices\": [\n        \"10.0\"\n      ]",
                             "\"devices\": []")),
            "launch plan: target 'sm_100a': needs 'devices' to be chosen by");
  for (const char *device : {"10", "a.0", "10.", ".7", "10.0 ", "1234.0"})
    EXPECT_EQ(errorOf(replaced(text, "10.3", device)),
              "launch plan: target 'sm_100f': '" + std::string(device) +
                  "' in 'devices' is no compute capability such as '10.0'");
  // The kernels of alternatives are judged, too.
  EXPECT_EQ(
      errorOf(replaced(text, "\"sharedMemoryBytes\": 1024",
                       "\"sharedMemoryBytes\": -1")),
      "launch plan: 'alternatives[1].kernels[0].sharedMemoryBytes': -1 is "
      "out of range; expected 0 to 4294967295");
  Plan plan = makeJoined();
  plan.alternatives[1].kernels[0].sizes.clear();
  EXPECT_EQ(errorOf(printPlan(plan)),
            "launch plan: kernel 'proj': 'sizes' has 0 entries for 'M'; "
            "expected one");
}
} // namespace
