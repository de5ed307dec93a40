//===- HazardsMemoryTest.cpp - more races, missing fences and bad accesses ===//
//
// Part of the blockscale project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Entries 19 to 38 of the catalogue, as they were seen in kernels.
//
//===----------------------------------------------------------------------===//

#include "HazardKernel.h"

using namespace blockscale::emulator;
using namespace blockscale::emulator::test;

namespace {

const HazardCase kCases[] = {
    {19, "OperandOfMma",
     BARRIERS ALLOC DESCRIBED FILL "$bar.sync 0;\n" MMA " //!\n" END(V), "",
     FENCE},
    {19, "CopyOfGlobalStore",
     BARRIERS "@%p1 st.global.b32 [%rd4], %r1;\n$" EXPECT_BYTES(
         "128") "@%p1 " BULK("%rd4") " //!\n" WAIT(W, "%r10", "0"),
     "", "@%p1 fence.proxy.async.global;\n"},
    {19, "CopyOverStore",
     BARRIERS FILL "$bar.sync 0;\n" EXPECT_BYTES("128") "@%p1 " BULK(
         "%rd5") " //!\n" WAIT(W, "%r10", "0"),
     "", FENCE},
    {23, "OverwrittenByCopy",
     READY MMA "\n" COMMIT_BY("@%p1", "1", "%r15") "\n$" EXPECT_BYTES(
         "1024") "@%p1 " LOAD_BOX("%r12", "0", "0",
                                  "%r10") " //!\n" WAIT(W, "%r10", "0")
         WAIT(V, "%r15", "0") FREE,
     "", WAIT(U, "%r15", "0")},
    {26, "AnswerReadAgain",
     BARRIERS EXPECT_BYTES("16") TRY_CANCEL
     "\n" WAIT(W, "%r10", "0") "@%p1 ld.shared.b128 %q1, [%r13];\n" FENCE
                               "bar.sync 0;\n" EXPECT_BYTES("16") TRY_CANCEL
     "\n$@%p1 ld.shared.b128 %q1, [%r13]; //!\n" WAIT(V, "%r10", "1"),
     "", WAIT(U, "%r10", "1"), 128, 3, 1, 1},
    {35, "MapInLocalMemory",
     ".local .align 128 .b8 copied[128];\nmov.u64 %rd7, copied;\n"
     "cvta.local.u64 %rd7, %rd7;\nmov.b64 %rd6, $;\n" BARRIERS EXPECT_BYTES(
         "1024") "@%p1 " LOAD_BOX("%r12", "0", "0",
                                  "%r10") " //!\n" WAIT(W, "%r10", "0"),
     "%rd7", "%rd6"},
    {37, "ScalesOfNothing",
     BARRIERS ALLOC DESCRIBED "$" SCALES("@%p1", "%r18") " //!\n" END(V), "",
     FILL FENCE "bar.sync 0;\n"},
    {37, "StoreOfNothing",
     BARRIERS "$@%p1 cp.async.bulk.global.shared::cta.bulk_group [%rd4], "
              "[%r12], 256; //!\n@%p1 cp.async.bulk.commit_group;\n"
              "@%p1 cp.async.bulk.wait_group 0;\n",
     "", FILL FENCE "bar.sync 0;\n"},
    {37, "MmaOfNothing", BARRIERS ALLOC DESCRIBED "$" MMA " //!\n" END(V), "",
     FILL FENCE "bar.sync 0;\n"},
    {37, "BranchOnNothing",
     "$ld.shared.b32 %r6, [%r12];\nsetp.eq.u32 %p8, %r6, 0;\n"
     "@%p8 bra E; //!\nE:",
     "", FILL "bar.sync 0;\n", 32},
    {37, "AddressFromNothing",
     "$ld.shared.b32 %r6, [%r12];\nadd.u32 %r6, %r6, %r12;\n"
     "ld.shared.b32 %r7, [%r6]; //!",
     "", FILL "bar.sync 0;\n", 32},
    // 16 elements of 4 bits take 8 bytes of 16.
    {37, "GapOfPaddedType",
     BARRIERS EXPECT_BYTES("512") "@%p1 " LOAD_BOX(
         "%r12", "0", "0",
         "%r10") "\n" WAIT(W, "%r10",
                           "0") "@%p1 ld.shared.b32 %r6, [%r12+$];\n"
                                "@%p1 st.global.b32 [%rd4], %r6; //!",
     "8", "4", 128, 1, 1, 0, "sm_100a", TensorMapType::U4Align16},
    {38, "BehindTheBuffer", "@%p1 ld.global.b32 %r6, [%rd4+$]; //!", "512",
     "508"},
    {38, "BoxBeyondSharedMemory",
     BARRIERS EXPECT_BYTES("1024") "add.u32 %r12, %r12, $;\n@%p1 " LOAD_BOX(
         "%r12", "0", "0", "%r10") " //!\n" WAIT(W, "%r10", "0"),
     "32256", "31744"},
    {38, "Null", "mov.b64 %rd7, $;\n@%p1 ld.global.b32 %r6, [%rd7]; //!", "0",
     "%rd4"},
    {38, "VectorMisaligned",
     FILL "bar.sync 0;\n@%p1 ld.shared.v4.b32 {%r6, %r7, %r8, %r9}, [%r12+$]; "
          "//!",
     "8", "16"},
    {38, "PeerThroughTheOwnWindow",
     FILL CLUSTER "mapa.shared::cluster.u32 %r6, %r12, $;\n"
                  "@%p5 ld.shared.b32 %r7, [%r6]; //!\n" CLUSTER,
     "1", "0", 128, 2, 2},
};

INSTANTIATE_TEST_SUITE_P(Memory, Hazards,
                         testing::ValuesIn(listed(kCases, mapKernel)), nameOf);

} // namespace
