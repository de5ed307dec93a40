//===- LayoutTest.cpp - scales by quadrant, K map, groups -----------------===//
//
// Part of the blockscale project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "blockscale/NKI/Legality.h"
#include "gtest/gtest.h"

using namespace blockscale;
using namespace blockscale::nki;

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
  EXPECT_FALSE(whyNotContractionMap(4, 1));
  EXPECT_FALSE(whyNotContractionMap(1, 8));
}

// The map of the guide, elements P = 128 apart packed together, is for values
// that are quantised on the device in that order.
TEST(NKILayout, TheMapOfTheGuideBreaksGroupsOf32) {
  std::optional<std::string> why = whyNotContractionMap(1, 128);
  ASSERT_TRUE(why);
  EXPECT_EQ(*why,
            "k = 1 * p + 128 * q puts other than 32 consecutive k into the "
            "group of partitions 0 to 7, which shares a scale: expected k = 4 "
            "* p + q or k = p + 8 * q (NKI API reference, nki.isa.quantize_mx, "
            "Layout); nearest legal: k = 4 * p + q");
  EXPECT_TRUE(whyNotContractionMap(4, 0));
  EXPECT_TRUE(whyNotContractionMap(8, 1));
}

TEST(NKIGroups, Flags) {
  EXPECT_EQ(accumulateFlag(0, 1), 3u);
  EXPECT_EQ(accumulateFlag(0, 3), 1u);
  EXPECT_EQ(accumulateFlag(1, 3), 0u);
  EXPECT_EQ(accumulateFlag(2, 3), 2u);
  for (const std::vector<unsigned> &legal :
       {std::vector<unsigned>{}, {3}, {1, 2}, {1, 0, 0, 2}, {6}, {4, 0, 2}})
    EXPECT_FALSE(whyNotFlagGroup(legal));
  for (const std::vector<unsigned> &illegal : {std::vector<unsigned>{1},
                                               {2},
                                               {0},
                                               {3, 3},
                                               {1, 1, 2},
                                               {1, 0, 0},
                                               {1, 2, 2},
                                               {1, 3},
                                               {4},
                                               {1, 4, 2},
                                               {7}})
    EXPECT_TRUE(whyNotFlagGroup(illegal));
  EXPECT_EQ(*whyNotFlagGroup({1, 0, 0}),
            "instruction 3 of 3 on one PSUM tile has psum_accumulate_flag = 0: "
            "expected 2, one opening instruction and a closing bit on the last "
            "(NKI API reference, nki.isa.nc_matmul_mx, Parameters)");
}

TEST(NKIGroups, Accumulate) {
  using Group = std::vector<std::optional<bool>>;
  for (const Group &legal :
       {Group{}, Group{false}, Group{std::nullopt}, Group{false, true, true},
        Group{std::nullopt, true}, Group{false, std::nullopt}})
    EXPECT_FALSE(whyNotAccumulateGroup(legal));
  EXPECT_EQ(*whyNotAccumulateGroup({true, true}),
            "instruction 1 of 2 on one PSUM tile has accumulate = True: "
            "expected False, since nothing was written there before (NKI API "
            "reference, nki.isa.nc_matmul_mx, Parameters)");
  EXPECT_EQ(*whyNotAccumulateGroup({false, false}),
            "instruction 2 of 2 on one PSUM tile has accumulate = False: "
            "expected True, since it drops the sum so far (NKI API reference, "
            "nki.isa.nc_matmul_mx, Parameters)");
}
