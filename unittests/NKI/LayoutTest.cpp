//===- LayoutTest.cpp - scales by quadrant, K map, groups -----------------===//
//
// Part of the blockscale project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Formats/TextOf.h"
#include "blockscale/NKI/Legality.h"
#include "gtest/gtest.h"

using namespace blockscale;
using namespace blockscale::nki;
using blockscale::test::textOf;

// MXFP guide, Scale Tensor: scales lie in the quadrant that their group came
// from; four per quadrant, 16 for 128 partitions.
TEST(NKILayout, ScalesLieInTheQuadrantOfTheirGroup) {
  const unsigned expected[16] = {0,  1,  2,  3,  32, 33, 34, 35,
                                 64, 65, 66, 67, 96, 97, 98, 99};
  for (unsigned group = 0; group < 16; ++group)
    EXPECT_EQ(scalePartition(group), expected[group]);
  EXPECT_EQ(scalePartition(0, 12), 12u);
  EXPECT_EQ(scalePartition(7, 4), 39u);
  EXPECT_EQ(scalePartition(15, 12), 111u);
}

TEST(NKILayout, ScaleTilesOfMoreThanAQuadrantAreOversized) {
  EXPECT_EQ(minScalePartitions(32), 4u);
  EXPECT_EQ(minScalePartitions(64), 64u);
  EXPECT_EQ(minScalePartitions(96), 96u);
  EXPECT_EQ(minScalePartitions(128), 128u);
}

TEST(NKILayout, GroupsOf32ConsecutiveKAreEightPartitions) {
  for (unsigned k = 0; k < 512; ++k) {
    ContractionPosition position = contractionPosition(k);
    EXPECT_EQ(position.partition * 4 + position.element, k);
    EXPECT_EQ(position.partition / 8, k / 32);
  }
}

static std::optional<Reason> whyNotMap(ContractionMap map) {
  MatmulQuery query;
  query.stationaryMap = query.movingMap = map;
  return whyNot(query);
}

// The map of the guide, elements P = 128 apart packed together, is for values
// that are quantised on the device in that order.
TEST(NKILayout, TheMapOfTheGuideBreaksGroupsOf32) {
  EXPECT_FALSE(whyNotMap({4, 1}));
  EXPECT_FALSE(whyNotMap({1, 8}));
  std::optional<Reason> why = whyNotMap({1, 128});
  ASSERT_TRUE(why);
  EXPECT_EQ(why->text,
            "k = 1 * p + 128 * q of the stationary is not legal for "
            "'nc_matmul_mx' on 'trn3': expected 32 consecutive k in partitions "
            "0 to 7, which share a scale: k = 4 * p + 1 * q or k = 1 * p + 8 * "
            "q (NKI API reference, nki.isa.quantize_mx, Layout); nearest "
            "legal: k = 4 * p + 1 * q of the moving, k = 4 * p + 1 * q of the "
            "stationary");
  EXPECT_TRUE(whyNotMap({4, 0}));
  EXPECT_TRUE(whyNotMap({8, 1}));
}

static std::optional<Reason> whyNotFlags(std::vector<unsigned> flags) {
  MatmulQuery query;
  query.target.revision = Revision::Dec2025;
  query.accumulateFlags = std::move(flags);
  std::optional<Reason> why = whyNot(query);
  EXPECT_FALSE(whyNot(nearestLegal(query)));
  return why;
}

TEST(NKIGroups, Flags) {
  EXPECT_EQ(accumulateFlag(0, 1), 3u);
  EXPECT_EQ(accumulateFlag(0, 3), 1u);
  EXPECT_EQ(accumulateFlag(1, 3), 0u);
  EXPECT_EQ(accumulateFlag(2, 3), 2u);
  // One alone may be any of a group.
  for (const std::vector<unsigned> &legal : {std::vector<unsigned>{},
                                             {0},
                                             {1},
                                             {2},
                                             {3},
                                             {4},
                                             {6},
                                             {1, 2},
                                             {1, 0, 0, 2},
                                             {4, 0, 2}})
    EXPECT_FALSE(whyNotFlags(legal));
  for (const std::vector<unsigned> &illegal : {std::vector<unsigned>{5},
                                               {7},
                                               {3, 3},
                                               {1, 1, 2},
                                               {1, 0, 0},
                                               {1, 2, 2},
                                               {1, 3},
                                               {0, 2},
                                               {4, 0},
                                               {1, 4, 2},
                                               {6, 2}})
    EXPECT_TRUE(whyNotFlags(illegal));
  EXPECT_EQ(textOf(whyNotFlags({1, 0, 0})),
            "psum_accumulate_flag = 1, 0, 0 is not legal for 'nc_matmul_mx' on "
            "'trn3@2025-12-01': expected 2 for instruction 3 of 3: one opening "
            "instruction and a closing bit on the last (NKI API reference, "
            "nki.isa.nc_matmul_mx, Parameters); nearest legal: "
            "psum_accumulate_flag = 1, 0, 2");
}

TEST(NKIGroups, Accumulate) {
  using Group = std::vector<std::optional<bool>>;
  auto whyNotGroup = [](Group group) {
    MatmulQuery query;
    query.accumulate = std::move(group);
    EXPECT_FALSE(whyNot(nearestLegal(query)));
    return whyNot(query);
  };
  for (const Group &legal :
       {Group{}, Group{false}, Group{true}, Group{std::nullopt},
        Group{false, true, true}, Group{std::nullopt, true},
        Group{false, std::nullopt}})
    EXPECT_FALSE(whyNotGroup(legal));
  EXPECT_EQ(textOf(whyNotGroup({true, true})),
            "accumulate = True, True is not legal for 'nc_matmul_mx' on "
            "'trn3': expected False for instruction 1 of 2: nothing was "
            "written there before (NKI API reference, nki.isa.nc_matmul_mx, "
            "Parameters); nearest legal: accumulate = False, True");
  EXPECT_EQ(textOf(whyNotGroup({false, false})),
            "accumulate = False, False is not legal for 'nc_matmul_mx' on "
            "'trn3': expected True for instruction 2 of 2: False drops the sum "
            "so far (NKI API reference, nki.isa.nc_matmul_mx, Parameters); "
            "nearest legal: accumulate = False, True");
}
