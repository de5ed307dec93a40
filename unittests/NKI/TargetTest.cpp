//===- TargetTest.cpp - chips and revisions -------------------------------===//
//
// Part of the blockscale project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "blockscale/NKI/Target.h"
#include "Formats/TextOf.h"
#include "gtest/gtest.h"

using namespace blockscale;
using namespace blockscale::nki;
using blockscale::test::textOf;

TEST(NKITarget, NamesAreReadAndWritten) {
  for (const char *name : {"trn1", "inf2", "trn2", "trn3", "trn3@2025-12-01",
                           "trn3@2025-12-19", "trn3@2026-04", "trn2@2026-04"}) {
    Result<Target> target = parseTarget(name);
    ASSERT_TRUE(target) << name;
    EXPECT_EQ(targetName(*target), name);
  }
  // The newest revision is what a name without one means.
  EXPECT_EQ(targetName(*parseTarget("trn3@2026-07")), "trn3");
}

TEST(NKITarget, UnknownNamesAreRefusedWithTheKnownOnes) {
  EXPECT_EQ(textOf(parseTarget("trn9")),
            "unknown target 'trn9'; known targets of NKI: 'trn3', "
            "'trn3@2026-04' and so on for a revision of its documents");
  EXPECT_EQ(textOf(parseTarget("trn3@1999")),
            "unknown target 'trn3@1999'; known revisions of NKI: "
            "'trn3@2025-12-01', 'trn3@2025-12-19', 'trn3@2026-04', "
            "'trn3@2026-07'");
  for (const char *name : {"", "trn3@", "trn", "trn33", "sm_100a", "trn3 "})
    EXPECT_FALSE(parseTarget(name)) << name;
}

TEST(NKITarget, NamesOfThisHalf) {
  EXPECT_TRUE(isTargetName("trn3"));
  EXPECT_TRUE(isTargetName("trn9"));
  EXPECT_TRUE(isTargetName("inf2"));
  EXPECT_FALSE(isTargetName("sm_100a"));
  EXPECT_FALSE(isTargetName(""));
}

TEST(NKITarget, OnlyNeuronCoreV4HasTheInstructions) {
  EXPECT_FALSE(whyNotTarget(*parseTarget("trn3")));
  for (const char *name : {"trn1", "inf2", "trn2"})
    EXPECT_TRUE(whyNotTarget(*parseTarget(name))) << name;
  EXPECT_EQ(textOf(whyNotTarget(*parseTarget("trn2"))),
            "target 'trn2' is a NeuronCore-v3 without block-scaled "
            "instructions: nc_matmul_mx and quantize_mx are available on "
            "NeuronCore-v4 and newer only (NKI API reference, "
            "nki.isa.nc_matmul_mx, note); nearest legal target: 'trn3'");
}

// Signatures and limits of the documents of each time.
TEST(NKITarget, WhatTheRevisionsSay) {
  const RevisionInfo &flags = revisionInfo(Revision::Dec2025);
  EXPECT_EQ(flags.control, AccumulateControl::Flag);
  EXPECT_EQ(flags.maxMovingF32, 512u);
  EXPECT_EQ(flags.maxMovingBF16, 1024u);
  EXPECT_FALSE(flags.hasE8M0Scales);
  EXPECT_EQ(revisionInfo(Revision::LateDec2025).control,
            AccumulateControl::Inferred);
  const RevisionInfo &april = revisionInfo(Revision::Apr2026);
  EXPECT_EQ(april.control, AccumulateControl::Argument);
  EXPECT_EQ(april.maxMovingF32, 512u);
  EXPECT_FALSE(april.hasE8M0Scales);
  const RevisionInfo &july = revisionInfo(Revision::Jul2026);
  EXPECT_EQ(july.control, AccumulateControl::Argument);
  EXPECT_EQ(july.maxMovingF32, 4096u);
  EXPECT_EQ(july.maxMovingBF16, 8192u);
  EXPECT_TRUE(july.hasE8M0Scales);
}

// Trainium3 architecture guide: SBUF 32 MiB, PSUM 2 MiB, 128 partitions.
TEST(NKITarget, Memories) {
  EXPECT_EQ(kSbufBytesPerPartition * kPartitions, 33554432u);
  EXPECT_EQ(kPsumBanks * kPsumBankBytes * kPartitions, 2097152u);
}
