//===- PtxNamesTest.cpp ---------------------------------------------------===//
//
// Part of the blockscale project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "blockscale/Emulator/Ptx.h"
#include "gtest/gtest.h"

using namespace blockscale::emulator;

TEST(PtxNames, SpellingsOfEnumerators) {
  EXPECT_EQ(spelling(Opcode::CpAsyncBulkTensor), "cp.async.bulk.tensor");
  EXPECT_EQ(spelling(Opcode::Xor), "xor");
  EXPECT_EQ(spelling(Modifier::SharedCluster), "shared::cluster");
  EXPECT_EQ(spelling(Modifier::PropagateNan), "NaN");
  EXPECT_EQ(spelling(Modifier::Nan), "nan");
  EXPECT_EQ(spelling(SpecialRegister::ClusterCtarank), "%cluster_ctarank");
}

TEST(PtxNames, WidthsOfTypesInRegisters) {
  EXPECT_EQ(bitWidth(Type::Pred), 1u);
  EXPECT_EQ(bitWidth(Type::Bf16x2), 32u);
  EXPECT_EQ(bitWidth(Type::F32x2), 64u);
  EXPECT_EQ(bitWidth(Type::E2m1x2), 8u);
  EXPECT_EQ(bitWidth(Type::Ue8m0x2), 16u);
  EXPECT_EQ(bitWidth(Type::B128), 128u);
}
