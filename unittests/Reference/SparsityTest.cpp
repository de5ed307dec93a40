//===- SparsityTest.cpp - which elements of a group stay ------------------===//
//
// Part of the blockscale project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "blockscale/Reference/Sparsity.h"
#include "gtest/gtest.h"

#include <limits>

using namespace blockscale::reference;

namespace {

using Stays = std::vector<bool>;

constexpr float kInfinity = std::numeric_limits<float>::infinity();
constexpr float kNaN = std::numeric_limits<float>::quiet_NaN();

TEST(Staying, LargestMagnitudes) {
  EXPECT_EQ(staying({1, -3, 2, -0.5f}, 2, false), Stays({0, 1, 1, 0}));
  EXPECT_EQ(staying({0, 0, 0x1p-149f, 0}, 1, false), Stays({0, 0, 1, 0}));
}

TEST(Staying, TiesToTheLowerPlace) {
  EXPECT_EQ(staying({1, -1, 1, 1}, 2, false), Stays({1, 1, 0, 0}));
  EXPECT_EQ(staying({-0.0f, 0, 0, 2}, 2, false), Stays({1, 0, 0, 1}));
}

TEST(Staying, NaNsAreInfinite) {
  EXPECT_EQ(staying({kInfinity, kNaN, -kNaN, kInfinity}, 2, false),
            Stays({1, 1, 0, 0}));
  EXPECT_EQ(staying({0x1.fffffep127f, kNaN}, 1, false), Stays({0, 1}));
}

TEST(Staying, PairsByTheirSquares) {
  EXPECT_EQ(staying({3, 3, 0, 4}, 2, true), Stays({1, 1, 0, 0}));
  EXPECT_EQ(staying({3, 4, 5, 0}, 2, true), Stays({1, 1, 0, 0}));
  // 2^-60 is nothing beside 1 in f64.
  EXPECT_EQ(staying({1, 0, 1, 0x1p-30f}, 2, true), Stays({1, 1, 0, 0}));
}

// PTX ISA: "0b0100" keeps places 0 and 1, "0b1110" 2 and 3.
TEST(Nibbles, OfFour) {
  EXPECT_EQ(nibbleOfFour({0, 0, 0, 0}), 0b0100u);
  EXPECT_EQ(nibbleOfFour({1, 1, 0, 0}), 0b0100u);
  EXPECT_EQ(nibbleOfFour({0, 0, 1, 1}), 0b1110u);
  EXPECT_EQ(nibbleOfFour({0, 1, 0, 0}), 0b1101u);
  EXPECT_EQ(nibbleOfFour({0, 0, 0, 1}), 0b1100u);
}

TEST(Nibbles, OfTwo) {
  EXPECT_EQ(nibbleOfTwo({0, 0}), 0b0100u);
  EXPECT_EQ(nibbleOfTwo({1, 0}), 0b0100u);
  EXPECT_EQ(nibbleOfTwo({0, 1}), 0b1110u);
}

} // namespace
