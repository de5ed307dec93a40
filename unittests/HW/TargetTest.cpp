//===- TargetTest.cpp - names and limits of the chips ---------------------===//
//
// Part of the blockscale project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Formats/TextOf.h"
#include "blockscale/HW/DeviceTargets.h"

#include <gtest/gtest.h>

using namespace blockscale;
using namespace blockscale::hw;
using blockscale::test::textOf;

namespace {

constexpr TargetVariant kA = TargetVariant::ArchSpecific;
constexpr TargetVariant kF = TargetVariant::Family;
constexpr TargetVariant kPlain = TargetVariant::Plain;

TEST(Target, ParsesEveryName) {
  struct Case {
    const char *name;
    Chip chip;
    TargetVariant variant;
  };
  for (const Case &c : {Case{"sm_100a", Chip::SM100, kA},
                        {"sm_103a", Chip::SM103, kA},
                        {"sm_107a", Chip::SM107, kA},
                        {"sm_110a", Chip::SM110, kA},
                        {"sm_120a", Chip::SM120, kA},
                        {"sm_121a", Chip::SM121, kA},
                        {"sm_100f", Chip::SM100, kF},
                        {"sm_103f", Chip::SM103, kF},
                        {"sm_107f", Chip::SM107, kF},
                        {"sm_110f", Chip::SM110, kF},
                        {"sm_120f", Chip::SM120, kF},
                        {"sm_121f", Chip::SM121, kF},
                        {"sm_100", Chip::SM100, kPlain},
                        {"sm_121", Chip::SM121, kPlain}}) {
    Result<Target> target = parseTarget(c.name);
    ASSERT_TRUE(target) << c.name;
    EXPECT_EQ(target->chip, c.chip) << c.name;
    EXPECT_EQ(target->variant, c.variant) << c.name;
    EXPECT_EQ(targetName(*target), c.name);
  }
  EXPECT_EQ(allTargets().size(), 18u);
}

TEST(Target, RefusesOtherNamesAndListsTheKnown) {
  for (const char *name : {"", "sm_90a", "SM_100A", "sm_100b", "sm_100a ",
                           "100a", "sm_1000", "compute_100a"}) {
    EXPECT_EQ(textOf(parseTarget(name)),
              "unknown target '" + std::string(name) +
                  "'; known targets: sm_100a, sm_103a, sm_107a, sm_110a, "
                  "sm_120a, sm_121a, sm_100f, sm_103f, sm_107f, sm_110f, "
                  "sm_120f, sm_121f");
  }
}

TEST(Target, PlainTargetsAreRefusedWithTheReason) {
  EXPECT_FALSE(whyNotTarget({Chip::SM100, kA}));
  EXPECT_FALSE(whyNotTarget({Chip::SM121, kF}));
  EXPECT_EQ(textOf(whyNotTarget({Chip::SM120, kPlain})),
            "target 'sm_120' has no block-scaled matrix instruction: they are "
            "outside the instruction set that plain targets share with later "
            "chips; nearest legal target: 'sm_120a'");
}

// PTX ISA 9.4: sm_10x is one family, sm_12x another, and code for a family runs
// on its chips of the same or a later number.
TEST(Target, DevicesByComputeCapability) {
  using Devices = std::vector<std::string>;
  EXPECT_EQ(computeCapability(Chip::SM100), "10.0");
  EXPECT_EQ(computeCapability(Chip::SM107), "10.7");
  EXPECT_EQ(devicesOf({Chip::SM107, kA}), Devices{"10.7"});
  EXPECT_EQ(devicesOf({Chip::SM100, kF}), (Devices{"10.0", "10.3", "10.7"}));
  EXPECT_EQ(devicesOf({Chip::SM103, kF}), (Devices{"10.3", "10.7"}));
  EXPECT_EQ(devicesOf({Chip::SM110, kF}), Devices{"11.0"});
  EXPECT_EQ(devicesOf({Chip::SM120, kF}), (Devices{"12.0", "12.1"}));
  EXPECT_EQ(devicesOf({Chip::SM121, kA}), Devices{"12.1"});
}

static std::string namesOf(const Result<std::vector<Target>> &targets) {
  std::string text;
  if (targets)
    for (Target target : *targets)
      text += targetName(target) + " ";
  return targets ? text : targets.why().text;
}

TEST(Target, SeveralInTheOrderOfPreference) {
  EXPECT_EQ(namesOf(parseTargets("sm_103a")), "sm_103a ");
  EXPECT_EQ(namesOf(parseTargets("sm_100a,sm_107a")), "sm_107a sm_100a ");
  EXPECT_EQ(namesOf(parseTargets("sm_103f,sm_100f,sm_107f,sm_120a,sm_100a")),
            "sm_120a sm_100a sm_107f sm_103f sm_100f ");
  EXPECT_EQ(namesOf(parseTargets("sm_100a,sm_107a,sm_100a")),
            "target 'sm_100a' is named twice");
  EXPECT_EQ(namesOf(parseTargets("sm_100a,sm_103")),
            textOf(whyNotTarget({Chip::SM103, kPlain})));
  for (const char *names : {"", ",", "sm_100a,", ",sm_100a", "sm_100a,,sm_107a",
                            "sm_100a, sm_107a", "sm_100a;sm_107a"})
    EXPECT_EQ(namesOf(parseTargets(names)).rfind("unknown target '", 0), 0u)
        << names;
}

// Found by trying (docs/sources.md, [ptxas]).
TEST(Target, MinimumPtxVersions) {
  EXPECT_EQ(minPtxVersion({Chip::SM100, kA}), 86u);
  EXPECT_EQ(minPtxVersion({Chip::SM120, kA}), 87u);
  EXPECT_EQ(minPtxVersion({Chip::SM103, kA}), 88u);
  EXPECT_EQ(minPtxVersion({Chip::SM121, kA}), 88u);
  EXPECT_EQ(minPtxVersion({Chip::SM110, kA}), 90u);
  EXPECT_EQ(minPtxVersion({Chip::SM100, kF}), 88u);
  EXPECT_EQ(minPtxVersion({Chip::SM120, kF}), 88u);
  EXPECT_EQ(minPtxVersion({Chip::SM100, kPlain}), 0u);
}

TEST(Target, LimitsOfTheChips) {
  EXPECT_TRUE(hasTensorMemory({Chip::SM100, kA}));
  EXPECT_TRUE(hasTensorMemory({Chip::SM110, kA}));
  EXPECT_FALSE(hasTensorMemory({Chip::SM120, kA}));
  EXPECT_FALSE(hasTensorMemory({Chip::SM121, kF}));
  EXPECT_FALSE(whyNotSharedMemory({Chip::SM103, kA}, 232448));
  EXPECT_TRUE(whyNotSharedMemory({Chip::SM103, kA}, 232449));
  EXPECT_FALSE(whyNotSharedMemory({Chip::SM120, kA}, 101376));
  EXPECT_EQ(textOf(whyNotSharedMemory({Chip::SM120, kA}, 101377)),
            "101377 bytes of shared memory do not fit on 'sm_120a': at most "
            "101376 bytes per CTA");
}

TEST(Target, Clusters) {
  Target target{Chip::SM100, kA};
  EXPECT_FALSE(whyNotCluster(target, 1));
  EXPECT_FALSE(whyNotCluster(target, 8));
  EXPECT_FALSE(whyNotCluster(target, 16, /*nonPortable=*/true));
  EXPECT_TRUE(whyNotCluster(target, 0));
  EXPECT_TRUE(whyNotCluster(target, 17, true));
  EXPECT_EQ(textOf(whyNotCluster(target, 16)),
            "a cluster of 16 CTAs does not fit on 'sm_100a': at most 8 CTAs, "
            "16 when the kernel asks for a non-portable size; nearest legal: "
            "8");
}

} // namespace
