//===- HazardsWarpgroupTest.cpp - hazards of wgmma ------------------------===//
//
// Part of the blockscale project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Entries 98 to 100 of the catalogue, and those of operands in shared memory.
//
//===----------------------------------------------------------------------===//

#include "HazardKernel.h"

using namespace blockscale::emulator;
using namespace blockscale::emulator::test;

namespace {

/// Zeros in shared memory; %rd10 describes A of 64 rows, %rd11 B of 8.
#define DESCRIPTORS                                                            \
  "shr.u32 %r20, %r12, 4;\ncvt.u64.u32 %rd13, %r20;\n"                         \
  "or.b64 %rd10, %rd13, 0x0000001000080000;\nadd.u64 %rd11, %rd10, 128;\n"     \
  "mov.u32 %r30, 0;\nmov.u32 %r31, 0;\nmov.u32 %r32, 0;\nmov.u32 %r33, 0;\n"   \
  "mov.u32 %r34, 0;\nmov.u32 %r35, 0;\nmov.u32 %r36, 0;\nmov.u32 %r37, 0;\n"
#define OPERANDS FILL FENCE "bar.sync 0;\n" DESCRIPTORS
#define ORDER "wgmma.fence.sync.aligned;\n"
#define MULTIPLY_TO(d, a, flags)                                               \
  "wgmma.mma_async.sync.aligned.m64n8k16.f32.f16.f16 {" d "}, " a              \
  ", %rd11, %p7, 1, 1, " flags ";"
#define FIRST "%r30, %r31, %r32, %r33"
#define SECOND "%r34, %r35, %r36, %r37"
#define MULTIPLY MULTIPLY_TO(FIRST, "%rd10", "0, 0")
#define COMMITTED "wgmma.commit_group.sync.aligned;\n"
#define WAITED "wgmma.wait_group.sync.aligned 0;\n"

constexpr const char *kHopper = "sm_90a";

HazardCase hopper(HazardCase c) {
  c.target = kHopper;
  return c;
}

/// Which warp goes on first after a wait depends on the order of completion.
HazardCase latest(HazardCase c) {
  c.only = Completion::Latest;
  return c;
}

const HazardCase kWarpgroupCases[] = {
    hopper({98, "AccumulatorReadBeforeWait",
            OPERANDS ORDER MULTIPLY COMMITTED
            "$add.u32 %r40, %r30, 1; //! warp 3\n" WAITED,
            "", WAITED}),
    hopper({98, "AccumulatorWrittenBeforeWait",
            OPERANDS ORDER MULTIPLY COMMITTED
            "$ld.global.b32 %r33, [%rd5]; //! warp 3\n",
            "", WAITED}),
    latest(hopper(
        {98, "WaitForTooFewGroups",
         OPERANDS ORDER MULTIPLY COMMITTED MULTIPLY_TO(SECOND, "%rd10", "0, 0")
             COMMITTED "wgmma.wait_group.sync.aligned $;\n"
                       "st.global.b32 [%rd4], %r30;\nadd.u32 %r40, %r37, 1; "
                       "//!\n",
         "1", "0"})),
    hopper({98, "WaitWithoutCommit",
            OPERANDS ORDER MULTIPLY "\n$" WAITED
                                    "add.u32 %r40, %r31, 1; //! warp 3\n",
            "", COMMITTED}),
    hopper({98, "RegisterOfAOverwritten",
            OPERANDS ORDER MULTIPLY_TO(FIRST, "{" SECOND "}", "0") COMMITTED
            "$add.u32 %r36, %r5, 1; //! warp 3\n" WAITED,
            "", WAITED}),
    hopper({98, "AccumulatorsShifted",
            OPERANDS ORDER MULTIPLY COMMITTED
            "$" MULTIPLY_TO("%r32, %r33, %r34, %r35", "%rd10",
                            "0, 0") " //! warp 3\n" COMMITTED WAITED,
            "", WAITED ORDER}),
    hopper({99, "NoFence",
            OPERANDS "$" MULTIPLY " //! warp 3\n" COMMITTED WAITED, "", ORDER}),
    hopper({99, "AccumulatorSetAfterTheFence",
            OPERANDS ORDER "add.u32 %r32, %r32, %r5;\n$" MULTIPLY
                           " //! warp 3\n" COMMITTED WAITED,
            "", ORDER}),
    hopper({99, "RegisterOfASetAfterTheFence",
            OPERANDS ORDER "add.u32 %r35, %r35, %r5;\n$" MULTIPLY_TO(
                FIRST, "{" SECOND "}", "0") " //! warp 3\n" COMMITTED WAITED,
            "", ORDER}),
    latest(hopper({99, "AccumulatorsScaledBetween",
                   OPERANDS ORDER MULTIPLY COMMITTED WAITED
                   "add.f32 %r30, %r30, %r30;\n$" MULTIPLY
                   " //!\n" COMMITTED WAITED,
                   "", ORDER})),
    hopper({100, "DescriptorsDiffer",
            OPERANDS "setp.ge.u32 %p10, %r1, 32;\n"
                     "@%p10 add.u64 %rd11, %rd11, $;\n" ORDER MULTIPLY
                     " //!\n" COMMITTED WAITED,
            "1", "0"}),
    hopper({100, "TwoInstructions",
            OPERANDS ORDER "$" MULTIPLY "\nbra B;\nA: " MULTIPLY
                           " //!\nB: " COMMITTED WAITED,
            "@%p2 bra A;\n", ""}),
    hopper({19, "NoProxyFenceBeforeWgmma",
            FILL "$bar.sync 0;\n" DESCRIPTORS ORDER MULTIPLY
                 " //! warp 3\n" COMMITTED WAITED,
            "", FENCE}),
    // A wait is for the parts of all four warps.
    hopper({23, "OperandOverwrittenBeforeWgmmaRead",
            OPERANDS ORDER MULTIPLY COMMITTED
            "$@%p1 st.shared.b32 [%r12+2048], %r5; //!\n" WAITED,
            "", WAITED}),
    hopper({37, "OperandNeverWritten",
            FILL FENCE "bar.sync 0;\n" DESCRIPTORS
                       "add.u64 %rd11, %rd10, $;\n" ORDER MULTIPLY
                       " //! warp 3\n" COMMITTED WAITED,
            "256", "128"}),
};

} // namespace

INSTANTIATE_TEST_SUITE_P(Warpgroup, Hazards,
                         testing::ValuesIn(listed(kWarpgroupCases, mapKernel)),
                         nameOf);
