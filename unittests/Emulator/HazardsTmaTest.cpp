//===- HazardsTmaTest.cpp - hazards of tensor and bulk copies -------------===//
//
// Part of the blockscale project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Entries 40 to 50 and 72 of the catalogue.
//
//===----------------------------------------------------------------------===//

#include "HazardKernel.h"

using namespace blockscale::emulator;
using namespace blockscale::emulator::test;

namespace {

const HazardCase kTmaCases[] = {
    {40, "Unaligned",
     BARRIERS EXPECT_BYTES("1024") "add.u32 %r12, %r12, $;\n"
                                   "@%p1 " LOAD_BOX(
                                       "%r12", "0", "0",
                                       "%r10") " //!\n" WAIT(W, "%r10", "0"),
     "64", "128"},
    advised({41, "PatternShifted",
             READY
             "mov.b64 %rd14, 0x4000404000010000;\nadd.u64 %rd13, %rd13, $;\n"
             "or.b64 %rd10, %rd13, %rd14;\n" MMA " //!\n" DONE(W) FREE,
             "8", "64"}),
    {40, "UnalignedStore",
     READY "add.u32 %r21, %r12, $;\n@%p1 "
           "cp.async.bulk.tensor.2d.global.shared::"
           "cta.bulk_group [%rd6, {0, 0}], [%r21]; //!\n"
           "@%p1 cp.async.bulk.commit_group;\n@%p1 cp.async.bulk.wait_group "
           "0;\n" FREE,
     "16", "128"},
    advised(
        {41, "AtTheCopy",
         BARRIERS EXPECT_BYTES("1024") "add.u32 %r12, %r12, $;\n@%p1 " LOAD_BOX(
             "%r12", "0", "0", "%r10") " //!\n" WAIT(W, "%r10", "0"),
         "128", "1024", 128, 1, 1, 0, "sm_100a", TensorMapType::U8,
         Swizzle::B128}),
    {42, "InnerCoordinate",
     BARRIERS EXPECT_BYTES("1024") "@%p1 " LOAD_BOX(
         "%r12", "$", "0", "%r10") " //!\n" WAIT(W, "%r10", "0"),
     "8", "16"},
    {43, "PaddedCoordinate",
     BARRIERS EXPECT_BYTES("512") "@%p1 " LOAD_BOX(
         "%r12", "$", "0", "%r10") " //!\n" WAIT(W, "%r10", "0"),
     "64", "128", 128, 1, 1, 0, "sm_100a", TensorMapType::U4Align16},
    {44, "NegativeStore",
     READY "@%p1 cp.async.bulk.tensor.2d.global.shared::cta.bulk_group [%rd6, "
           "{0, $}], [%r12]; //!\n@%p1 cp.async.bulk.commit_group;\n"
           "@%p1 cp.async.bulk.wait_group 0;\n" FREE,
     "-1", "1"},
    {45, "RankOfTheMap",
     BARRIERS EXPECT_BYTES("1024") "@%p1 cp.async.bulk.tensor.$}], [%r10]; "
                                   "//!\n" WAIT(W, "%r10", "0"),
     "3d.shared::cluster.global.mbarrier::complete_tx::bytes [%r12], [%rd6, "
     "{0, 0, 0",
     "2d.shared::cluster.global.mbarrier::complete_tx::bytes [%r12], [%rd6, "
     "{0, 0"},
    {46, "BarrierElsewhere",
     BARRIERS CLUSTER
     "@%p5 mbarrier.arrive.expect_tx.shared.b64 _, [%r10], "
     "1024;\nmapa.shared::cluster.u32 %r6, %r10, $;\n"
     "@%p5 " LOAD_BOX("%r12", "0", "0", "%r6") " //!\n@!%p4 bra E;\n" WAIT(
         W, "%r10", "0") "E:\n" CLUSTER,
     "1", "0", 128, 2, 2},
    {46, "OwnFormIntoPeer",
     BARRIERS CLUSTER
     "@%p5 mbarrier.arrive.expect_tx.shared.b64 _, [%r10], "
     "1024;\nmapa.shared::cluster.u32 %r6, %r12, $;\n@%p5 cp.async.bulk.tensor."
     "2d.shared::cta.global.mbarrier::complete_tx::bytes [%r6], [%rd6, {0, "
     "0}], "
     "[%r10]; //!\n@!%p4 bra E;\n" WAIT(W, "%r10", "0") "E:\n" CLUSTER,
     "1", "0", 128, 2, 2},
    {46, "BarrierOfAThirdCta",
     BARRIERS CLUSTER
     "@%p5 mbarrier.arrive.expect_tx.shared.b64 _, [%r10], "
     "1024;\nmapa.shared::cluster.u32 %r6, %r10, $;\n@%p5 cp.async.bulk.tensor."
     "2d.cta_group::2.shared::cluster.global.mbarrier::complete_tx::bytes "
     "[%r12], [%rd6, {0, 0}], [%r6]; //!\n@!%p4 bra E;\n" WAIT(
         W, "%r10", "0") "E:\n" CLUSTER,
     "2", "0", 128, 4, 4},
    {47, "PeerBitKept",
     BARRIERS CLUSTER
     "@%p5 mbarrier.arrive.expect_tx.shared.b64 _, [%r10], "
     "2048;\nand.b32 %r6, %r10, $;\n@%p1 cp.async.bulk.tensor.2d.cta_group::2."
     "shared::cluster.global.mbarrier::complete_tx::bytes [%r12], [%rd6, {0, "
     "0}], [%r6];\n@!%p4 bra E;\n"
     "W: mbarrier.try_wait.parity.shared.b64 %p8, [%r10], 0; //!\n"
     "@!%p8 bra W;\nE: bar.warp.sync -1;\n" CLUSTER,
     "0xFFFFFFFF", "0xFEFFFFFF", 128, 2, 2},
    {48, "PaddedTypeOnSm120",
     BARRIERS EXPECT_BYTES("512") "@%p1 cp.async.bulk.tensor.2d.shared::$."
                                  "global.mbarrier::complete_tx::bytes [%r12], "
                                  "[%rd6, {0, 0}], [%r10]; "
                                  "//!\n" WAIT(W, "%r10", "0"),
     "cluster", "cta", 128, 1, 1, 0, "sm_120a", TensorMapType::U4Align16},
    {49, "BulkSize",
     BARRIERS EXPECT_BYTES("32") "@%p1 "
                                 "cp.async.bulk.shared::cluster.global."
                                 "mbarrier::complete_tx::bytes "
                                 "[%r12], [%rd5], $, [%r10]; //!\n" WAIT(
                                     W, "%r10", "0"),
     "24", "32"},
    {49, "BulkOfNothing",
     BARRIERS "mov.u32 %r6, $;\n" EXPECT_BYTES(
         "%r6") "@%p1 cp.async.bulk.shared::cluster.global.mbarrier::"
                "complete_tx::bytes [%r12], [%rd5], %r6, [%r10]; //!\n" WAIT(
                    W, "%r10", "0"),
     "0", "16"},
    {49, "BulkAddress",
     BARRIERS EXPECT_BYTES("128") "add.s64 %rd5, %rd5, $;\n"
                                  "@%p1 " BULK("%rd5") " //!\n" WAIT(W, "%r10",
                                                                     "0"),
     "8", "16"},
    {50, "NoElect",
     READY
     "setp.lt.u32 %p10, %r1, $;\n"
     "@%p10 cp.reduce.async.bulk.global.shared::cta.bulk_group.add.u32 [%rd4], "
     "[%r12], 64; //! lane 1\n@%p10 cp.async.bulk.commit_group;\n"
     "@%p10 cp.async.bulk.wait_group 0;\n" FREE,
     "2", "1"},
    {50, "NoElectForMma",
     READY
     "setp.lt.u32 %p10, %r1, $;\nsetp.eq.u32 %p11, %r1, 1;\n"
     "@%p10 tcgen05.mma.cta_group::1.kind::f16 [%r14], %rd10, %rd11, %r16, "
     "%p6; //! lane 1\n" COMMIT_BY("@%p11", "1", "%r10") "\n" WAIT(W, "%r10",
                                                                   "0") END(V),
     "2", "1"},
    {50, "NoElectTensorStore",
     READY "setp.lt.u32 %p10, %r1, $;\n"
           "@%p10 cp.async.bulk.tensor.2d.global.shared::cta.bulk_group [%rd6, "
           "{0, 1}], [%r12]; //! lane 1\n@%p10 cp.async.bulk.commit_group;\n"
           "@%p10 cp.async.bulk.wait_group 0;\n" FREE,
     "32", "1"},
    {72, "OtherSwizzle",
     READY EXPECT_BYTES(
         "1024") "add.u32 %r21, %r12, $;\n"
                 "@%p1 " LOAD_BOX("%r21", "0", "0", "%r10") "\n" WAIT(
                     W, "%r10", "0") "add.u64 %rd11, %rd11, 512;\n" MMA
                                     " //!\n" END(V),
     "0", "16384", 128, 1, 1, 0, "sm_100a", TensorMapType::U8, Swizzle::B128},
};

INSTANTIATE_TEST_SUITE_P(Tma, Hazards,
                         testing::ValuesIn(listed(kTmaCases, mapKernel)),
                         nameOf);

} // namespace
