//===- RegistersTest.cpp - registers of warps -----------------------------===//
//
// Part of the blockscale project, under the Apache License v2.0 with LLVM
// Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "blockscale/HW/Registers.h"

#include <gtest/gtest.h>

using namespace blockscale::hw;

namespace {

// What ptxas 13.0 gives at most to a thread of kernels with so many threads
// (.reqntid) of which an SM has one (.minnctapersm 1).
TEST(Registers, OfThread) {
  EXPECT_EQ(registersOfThread(1), 255u);
  EXPECT_EQ(registersOfThread(6), 255u);
  EXPECT_EQ(registersOfThread(8), 255u);
  EXPECT_EQ(registersOfThread(9), 168u);
  EXPECT_EQ(registersOfThread(12), 168u);
  EXPECT_EQ(registersOfThread(18), 96u);
  EXPECT_EQ(registersOfThread(20), 96u);
  EXPECT_EQ(registersOfThread(32), 64u);
}

// CUTLASS's kernels of three warpgroups (sm90_gemm_tma_warpspecialized_
// cooperative.hpp) give 40 to the one that loads and 232 to those that
// multiply.
TEST(Registers, Shares) {
  auto expect = [](RegisterShares shares, unsigned taking, unsigned giving) {
    EXPECT_EQ(shares.taking, taking);
    EXPECT_EQ(shares.giving, giving);
  };
  expect(registerShares(2, 1, 40), 232, 40);
  expect(registerShares(2, 1, 32), 232, 40);
  expect(registerShares(2, 1, 24), 240, 24);
  expect(registerShares(2, 1, 64), 216, 72);
  // 480 registers of each part's lanes.
  expect(registerShares(4, 1, 64), 104, 64);
  expect(registerShares(4, 1, 40), 104, 64);
  expect(registerShares(4, 1, 32), 112, 32);
}

} // namespace
