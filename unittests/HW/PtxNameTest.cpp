//===- PtxNameTest.cpp - tests of names of kernels ------------------------===//
//
// Part of the blockscale project, under the Apache License v2.0 with LLVM
// Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "blockscale/HW/PtxName.h"
#include <gtest/gtest.h>

using blockscale::hw::ptxName;

namespace {
TEST(PtxName, KeepsIdentifiers) {
  for (const char *name : {"proj", "f", "_x", "Layer0_q", "a_1", "int", "add",
                           "ld", "entry", "main", "class"})
    EXPECT_EQ(ptxName(name), name);
}

TEST(PtxName, SpellsOtherCharactersAsUnderscores) {
  EXPECT_EQ(ptxName("layers.0.q"), "layers_0_q");
  EXPECT_EQ(ptxName("a.b"), "a_b");
  EXPECT_EQ(ptxName("a-b c"), "a_b_c");
  EXPECT_EQ(ptxName("f$1"), "f_1");
  EXPECT_EQ(ptxName("%tid"), "_tid");
  EXPECT_EQ(ptxName(".entry"), "_entry");
  EXPECT_EQ(ptxName("\xc3\xa9t\xc3\xa9"), "kernel__t__");
}

TEST(PtxName, StartsWithLetterOrUnderscore) {
  EXPECT_EQ(ptxName("0"), "_0");
  EXPECT_EQ(ptxName("3.proj"), "_3_proj");
}

TEST(PtxName, IsNeverEmpty) {
  EXPECT_EQ(ptxName(""), "kernel");
  EXPECT_EQ(ptxName("_"), "kernel_");
  EXPECT_EQ(ptxName("."), "kernel_");
  EXPECT_EQ(ptxName("___"), "kernel___");
}

TEST(PtxName, LeavesNamesToOthers) {
  // PTX ISA 9.0, section 4.5: a predefined identifier.
  EXPECT_EQ(ptxName("WARP_SZ"), "kernelWARP_SZ");
  EXPECT_EQ(ptxName("__nv_expf"), "kernel__nv_expf");
  EXPECT_EQ(ptxName("blockscale_shared_memory"),
            "kernelblockscale_shared_memory");
  EXPECT_EQ(ptxName("fArguments"), "kernelfArguments_");
}
} // namespace
