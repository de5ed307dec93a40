//===- HazardsBarrierTest.cpp - more mistakes with mbarriers ------------===//
//
// Part of the blockscale project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Entries 1 to 18 and 28 of the catalogue, as they were seen in kernels.
//
//===----------------------------------------------------------------------===//

#include "HazardKernel.h"

using namespace blockscale::emulator;
using namespace blockscale::emulator::test;

namespace {

HazardCase latest(HazardCase c) {
  c.only = Completion::Latest;
  return c;
}

const HazardCase kCases[] = {
    {1, "ExpectedBeforeInit",
     "@%p1 mbarrier.init.shared.b64 [%r10], 1;\n$"
     "@%p3 mbarrier.arrive.expect_tx.shared.b64 _, [%r10], 128; //! warp 1\n"
     "@%p3 " BULK("%rd5") "\n" WAIT(W, "%r10", "0"),
     "", "bar.sync 0;\n"},
    {1, "CopyWithoutBarrier",
     BARRIERS EXPECT_BYTES("128") "mov.u32 %r6, $;\n@%p1 cp.async.bulk.shared::"
                                  "cluster.global.mbarrier::complete_tx::bytes "
                                  "[%r12], [%rd5], 128, [%r6]; "
                                  "//!\n" WAIT(W, "%r10", "0"),
     "%r13", "%r10"},
    {1, "UsedAfterInval", BARRIERS "$@%p1 " ARRIVE " //!",
     "@%p1 mbarrier.inval.shared.b64 "
     "[%r10];\n",
     ""},
    {2, "CountTooLarge", "@%p1 mbarrier.init.shared.b64 [%r10], $; //!",
     "1048576", "1048575"},
    {3, "MatrixStoreOverBarrier",
     BARRIERS "mov.u32 %r6, %laneid;\nand.b32 %r6, %r6, 7;\n"
              "mad.lo.u32 %r7, %r6, 16, $;\n"
              "stmatrix.sync.aligned.m8n8.x1.shared.b16 [%r7], {%r5}; //!",
     "%r10", "%r12", 32},
    {3, "ZerosOverBarrier",
     BARRIERS "@%p1 st.bulk.weak.shared::cta [$], 16, "
              "0; "
              "//!",
     "%r10", "%r12"},
    {3, "SmallCopyOverBarrier",
     BARRIERS "@%p1 cp.async.ca.shared.global [$], [%rd5], 8; //!\n"
              "cp.async.wait_all;",
     "%r10", "%r12"},
    {3, "StageOverBarrier",
     "add.u32 %r10, %r12, $;\n" BARRIERS EXPECT_BYTES("1024") "@%p1 " LOAD_BOX(
         "%r12", "0", "0", "%r10") " //!\n" WAIT(W, "%r10", "0"),
     "512", "4096"},
    {4, "CountAboveExpected",
     BARRIERS "@%p1 mbarrier.arrive.shared.b64 _, [%r10], $; //!", "2", "1"},
    {4, "ArrivesTwiceBeforeTheBytes",
     BARRIERS EXPECT_BYTES("128") "$@%p1 " BULK("%rd5") "\n" WAIT(W, "%r10",
                                                                  "0"),
     "@%p1 " ARRIVE " //!\n", ""},
    {5, "LoopOfNoIterations",
     "@%p1 mbarrier.init.shared.b64 [%r10], 2;\nbar.sync 0;\n@%p1 " ARRIVE
     "\nmov.u32 %r6, $;\nL: setp.eq.u32 %p8, %r6, 0;\n@%p8 bra D;\n@%p3 " ARRIVE
     "\nsub.u32 %r6, %r6, 1;\nbra L;\nD:\n" HANGS(""),
     "0", "1"},
    {6, "PaddedTypeCountedUnpacked",
     BARRIERS EXPECT_BYTES("$") "@%p1 " LOAD_BOX("%r12", "0", "0",
                                                 "%r10") "\n" HANGS(""),
     "1024", "512", 128, 1, 1, 0, "sm_100a", TensorMapType::U4Align16},
    {6, "PairCountedTwice",
     BARRIERS CLUSTER
     "@%p5 mbarrier.arrive.expect_tx.shared.b64 _, [%r10], "
     "$;\n"
     "and.b32 %r6, %r10, 0xFEFFFFFF;\n@%p1 "
     "cp.async.bulk.tensor.2d.cta_group::2."
     "shared::cluster.global.mbarrier::complete_tx::bytes [%r12], [%rd6, {0, "
     "0}], [%r6];\n@!%p4 bra E;\n" HANGS("") "E: bar.warp.sync -1;\n" CLUSTER,
     "4096", "2048", 128, 2, 2},
    {7, "HalfOfTheBox",
     BARRIERS EXPECT_BYTES("$") "@%p1 " LOAD_BOX(
         "%r12", "0", "0", "%r10") " //!\n" WAIT(W, "%r10", "0"),
     "512", "1024"},
    {7, "RowsOutsideNotCounted",
     BARRIERS EXPECT_BYTES("$") "@%p1 " LOAD_BOX(
         "%r12", "0", "60", "%r10") " //!\n" WAIT(W, "%r10", "0"),
     "512", "1024"},
    {8, "OneMebibyte",
     BARRIERS
     "mov.u32 %r6, $;\n@%p1 mbarrier.expect_tx.relaxed.cta.shared.b64 "
     "[%r10], %r6; //!\n@%p1 mbarrier.complete_tx.relaxed.cta.shared.b64 "
     "[%r10], %r6;",
     "1048576", "1048575"},
    // Two stages, four rounds.
    latest({9, "ParityFlippedPerStage",
            BARRIERS
            "mov.u32 %r6, 0;\n"
            "L: and.b32 %r7, %r6, 1;\nmad.lo.u32 %r8, %r7, 8, %r10;\n"
            "mad.lo.u32 %r9, %r7, 128, %r12;\n"
            "@%p1 mbarrier.arrive.expect_tx.shared.b64 _, [%r8], 128;\n"
            "@%p1 "
            "cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes "
            "[%r9], [%rd5], 128, [%r8];\nshr.u32 %r20, %r6, $;\nand.b32 %r20, "
            "%r20, "
            "1;\n"
            "nanosleep.u32 20;\nW: mbarrier.try_wait.parity.shared.b64 %p8, "
            "[%r8], "
            "%r20;\n@!%p8 bra W;\nld.shared.b32 %r21, [%r9]; //! warp 3\n" FENCE
            "bar.sync 0;\nadd.u32 %r6, %r6, 1;\nsetp.lt.u32 %p9, %r6, 4;\n@%p9 "
            "bra L;",
            "0", "1"}),
    {15, "ResultOfRemoteArrival",
     BARRIERS CLUSTER "cvt.u64.u32 %rd7, %r10;\ncvta.shared.u64 %rd7, %rd7;\n"
                      "mapa.u64 %rd7, %rd7, $;\n"
                      "@%p5 mbarrier.arrive.b64 %rd8, [%rd7]; //!\n" CLUSTER,
     "1", "0", 128, 2, 2},
    {16, "CopyIntoExitedCta",
     BARRIERS CLUSTER
     "@%p5 mapa.shared::cluster.u32 %r6, %r12, 1;\n"
     "@%p5 mapa.shared::cluster.u32 %r7, %r10, 1;\nsetp.eq.and.u32 %p9, %r1, "
     "0, !%p4;\n@%p9 mbarrier.arrive.expect_tx.shared.b64 _, "
     "[%r10], 128;\n$" CLUSTER
     "@%p5 cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes "
     "[%r6], [%rd5], 128, [%r7]; //!\n@%p4 bra E;\n" WAIT(W, "%r10",
                                                          "0") "E:\n" CLUSTER,
     "@!%p4 exit;\n", "", 128, 2, 2},
    {16, "NobodyWaitsForTheCopy",
     BARRIERS EXPECT_BYTES("128") "@%p1 " BULK("%rd5") " //!\n$", "",
     WAIT(W, "%r10", "0")},
    {16, "NoSuchRank",
     CLUSTER "@%p5 mapa.shared::cluster.u32 %r6, %r12, $;\n"
             "@%p5 st.shared::cluster.b32 [%r6], %r1; //!\n" CLUSTER,
     "2", "1", 128, 2, 2},
    {16, "MulticastToNobody",
     BARRIERS CLUSTER EXPECT_BYTES("128") CLUSTER
     "mov.b16 %h1, $;\n"
     "@%p5 cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes."
     "multicast::cluster [%r12], [%rd5], 128, [%r10], %h1; //!\n" WAIT(
         W, "%r10", "0") CLUSTER,
     "7", "3", 128, 2, 2},
    {18, "SingleIteration",
     BARRIERS
     "mov.u32 %r6, 1;\nL: setp.ge.u32 %p8, %r6, $;\n@%p8 bra D;\n@%p1 " ARRIVE
     "\nadd.u32 %r6, %r6, 1;\nbra L;\nD:\n" HANGS(""),
     "1", "2"},
    {28, "MaskTooNarrow",
     BARRIERS CLUSTER EXPECT_BYTES("128") CLUSTER
     "mov.b16 %h1, $;\n"
     "@%p5 cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes."
     "multicast::cluster [%r12], [%rd5], 128, [%r10], %h1;\n" HANGS(" cta 1")
         CLUSTER,
     "1", "3", 128, 2, 2},
};

INSTANTIATE_TEST_SUITE_P(Barrier, Hazards,
                         testing::ValuesIn(listed(kCases, mapKernel)), nameOf);

} // namespace
