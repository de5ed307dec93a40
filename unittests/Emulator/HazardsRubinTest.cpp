//===- HazardsRubinTest.cpp - hazards of what sm_107 and PTX 9.4 brought --===//
//
// Part of the blockscale project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "HazardKernel.h"

using namespace blockscale::emulator;
using namespace blockscale::emulator::test;

namespace {

#define MMA_KEEPING_B(use, enable)                                             \
  "@%p1 tcgen05.mma.cta_group::1.kind::f16.collector::b::" use                 \
  " [%r14], %rd10, %rd11, %r16, " enable ";"
#define COMMIT_READS(bar)                                                      \
  "@%p1 tcgen05.commit.cta_group::1.mbarrier::arrive::one.sync_restrict::"     \
  "shared::read::mma::a.shared::cluster.b64 [" bar "];\n"
/// B lies 8 KiB behind A.
#define B_APART "add.u64 %rd11, %rd11, 512;\n"
#define ALLOC_COLUMNS(words, to, count)                                        \
  "@%p2 tcgen05.alloc" words ".cta_group::1.sync.aligned.shared::cta.b32 "     \
  "[" to "], " count ";"
#define DEALLOC_COLUMNS(words, from, count)                                    \
  "@%p2 tcgen05.dealloc" words ".cta_group::1.sync.aligned.b32 " from          \
  ", " count ";"

HazardCase rubin(HazardCase c) {
  c.target = "sm_107a";
  return c;
}

const HazardCase kRubinCases[] = {
    // The collector buffer of B.
    rubin({92, "BNeverFilled",
           READY MMA_KEEPING_B("$", "%p6") "\n" MMA_KEEPING_B(
               "lastuse", "%p7") " //!\n" END(V),
           "discard", "fill"}),
    rubin({92, "BGivenUp",
           READY MMA_KEEPING_B("fill", "%p6") "\n" MMA_KEEPING_B(
               "$", "%p7") "\n" MMA_KEEPING_B("use", "%p7") " //!\n" END(V),
           "lastuse", "use"}),
    rubin({92, "BForgottenByAnMmaWithout",
           READY MMA_KEEPING_B("fill", "%p6") "\n$" MMA_KEEPING_B(
               "lastuse", "%p7") " //!\n" END(V),
           MMA_TO("%r14", "%p7") "\n", ""}),
    rubin({92, "AnotherN",
           READY MMA_KEEPING_B(
               "fill",
               "%p6") "\nmov.u32 %r16, $;\n" MMA_KEEPING_B("lastuse",
                                                           "%p6") " //!"
                                                                  "\n" END(V),
           "0x08080010", "0x08040010"}),
    rubin({92, "AnotherMatrix",
           READY MMA_KEEPING_B("fill",
                               "%p6") "\nadd.u64 %rd11, %rd11, "
                                      "$;\n" MMA_KEEPING_B("las"
                                                           "tus"
                                                           "e",
                                                           "%p"
                                                           "7") " //!\n" END(V),
           "64", "0"}),
    // The matrix changes after the first mma is over.
    rubin({92, "BChanged",
           READY MMA_KEEPING_B("fill", "%p6") "\n" DONE(
               W) "mov.u32 %r7, 0x3c003c00;\n@%p1 st.shared.b32 [%r12+$], "
                  "%r7;\nfence.proxy.async.shared::cta;\nbar.sync "
                  "0;\n" MMA_KEEPING_B("lastuse", "%p7") " //!\n" END(V),
           "16", "16384"}),
    rubin({70, "HalfOfTheRows",
           READY
           "mov.u32 %r16, $;\n" MMA_KEEPING_B("fill", "%p6") " //!\n" END(V),
           "0x04040010", "0x08040010"}),
    // What is kept may be fetched again.
    rubin({23, "BOverwrittenUnderItsUse",
           READY MMA_KEEPING_B("fill", "%p6") "\n" DONE(W)
               MMA_KEEPING_B("lastuse", "%p7") "\n$" COMMIT_BY(
                   "@%p1", "1", "%r15") "\n" WAIT(V, "%r15",
                                                  "0") "@%p1 st.shared.b32 "
                                                       "[%r12], %r5;\n" FREE,
           "@%p1 st.shared.b32 [%r12], %r5; //!\n", ""}),
    // The commit that tells that A was read.
    rubin({23, "BAfterTheReadsOfA",
           READY B_APART MMA "\n" COMMIT_READS("%r10") WAIT(
               W, "%r10", "0") "@%p1 st.shared.b32 [%r12+$], %r5; //!\n" END(V),
           "8192", "0"}),
    rubin({23, "AWithoutTheWait",
           READY B_APART MMA "\n" COMMIT_READS(
               "%r10") "$"
                       "@%p1 st.shared.b32 [%r12], %r5; //!\n" END(V),
           "", WAIT(W, "%r10", "0")}),
    rubin({23, "AOfALaterMma",
           READY B_APART "$@%p1 st.shared.b32 [%r12], %r5; //!\n" END(V),
           COMMIT_READS("%r10") MMA "\n" WAIT(W, "%r10", "0"),
           MMA "\n" COMMIT_READS("%r10") WAIT(W, "%r10", "0")}),
    rubin({58, "ResultAfterTheReadsOfA",
           READY MMA "\n$" WAIT(W, "%r10", "0") "@%p2 " LOAD
                                                " //!\n" WAIT_LD END(V),
           COMMIT_READS("%r10"), COMMIT}),
    rubin({53, "FreedAfterTheReadsOfA",
           READY MMA "\n$" WAIT(W, "%r10", "0") "bar.sync 0;\n" DEALLOC
                                                " //!\n",
           COMMIT_READS("%r10"), COMMIT}),
    // Pairs of operations that keep their order, and others.
    rubin({101, "ResultAsA",
           READY MMA "\n$@%p1 tcgen05.mma.cta_group::1.kind::f16 [%r14+32], "
                     "[%r14], %rd11, %r16, %p6; //!\n" END(V),
           "", DONE(W)}),
    rubin({101, "CopyOverTheResult",
           READY MMA "\n$@%p1 tcgen05.cp.cta_group::1.128x256b [%r14], %rd12; "
                     "//!\n" END(V),
           "", DONE(W)}),
    rubin({101, "ShiftOfTheResult",
           READY MMA "\n$@%p1 tcgen05.shift.cta_group::1.down [%r14]; //!"
                     "\n" END(V),
           "", DONE(W)}),
    rubin(advised({101, "AccumulatorOfAnotherShape",
                   READY MMA
                   "\nmov.u32 %r16, $;\n" MMA_TO("%r14", "%p6") " //!\n" END(V),
                   "0x08080010", "0x08040010"})),
    // Exclusive allocation.
    rubin(
        {55, "BeyondAllColumns",
         "mov.u32 %r7, $;\n" ALLOC_COLUMNS(
             ".exclusive", "%r13",
             "%r7") " //!\nbar.sync 0;\nld.shared.b32 %r14, [%r13];\nbar.sync "
                    "0;\n" DEALLOC_COLUMNS(".exclusive", "%r14", "%r7"),
         "608", "576"}),
    {55, "BeyondAllColumnsOfOthers",
     "mov.u32 %r7, $;\n" ALLOC_COLUMNS(
         ".exclusive", "%r13",
         "%r7") " //!\nbar.sync 0;\nld.shared.b32 %r14, [%r13];\nbar.sync "
                "0;\n" DEALLOC_COLUMNS(".exclusive", "%r14", "%r7"),
     "576", "384"},
    rubin(
        {55, "NoMultipleOf32",
         "mov.u32 %r7, $;\n" ALLOC_COLUMNS(
             ".exclusive", "%r13",
             "%r7") " //!\nbar.sync 0;\nld.shared.b32 %r14, [%r13];\nbar.sync "
                    "0;\n" DEALLOC_COLUMNS(".exclusive", "%r14", "%r7"),
         "80", "96"}),
    rubin({52, "FreedWithoutTheQualifier",
           "mov.u32 %r7, 128;\n" ALLOC_COLUMNS(
               ".exclusive", "%r13",
               "%r7") "\nbar.sync 0;\nld.shared.b32 %r14, [%r13];\nbar.sync "
                      "0;\n" DEALLOC_COLUMNS("$", "%r14", "%r7") " //!",
           "", ".exclusive"}),
    rubin({52, "FreedWithTheQualifier",
           ALLOC_COLUMNS(
               "", "%r13",
               "128") "\nbar.sync 0;\nld.shared.b32 %r14, [%r13];\nbar.sync "
                      "0;\n" DEALLOC_COLUMNS("$", "%r14", "128") " //!",
           ".exclusive", ""}),
    rubin(
        {57, "BesideAnotherAllocation",
         ALLOC_COLUMNS("", "%r13", "64") "\n" ALLOC_COLUMNS(
             "$", "%r13+4",
             "32") " //!\nbar.sync 0;\nld.shared.b32 %r14, [%r13];\n"
                   "ld.shared.b32 %r22, [%r13+4];\nbar.sync "
                   "0;\n" DEALLOC_COLUMNS(
                       "", "%r14", "64") "\n" DEALLOC_COLUMNS("", "%r22", "32"),
         ".exclusive", ""}),
    rubin({57, "BesideAnExclusiveOne",
           ALLOC_COLUMNS(
               ".exclusive", "%r13",
               "64") "\n$bar.sync 0;\nld.shared.b32 %r14, [%r13];\nbar.sync "
                     "0;\n" DEALLOC_COLUMNS(".exclusive", "%r14", "64"),
           ALLOC_COLUMNS("", "%r13+4", "32") " //!\n", ""}),
    rubin(cooperative(
        213, {57, "ExclusiveOnTheSameSm",
              "setp.eq.u32 %p10, %r2, 212;\n"
              "or.pred %p11, %p10, %p4;\n@!%p11 bra E;\n"
              "tcgen05.alloc$.cta_group::1.sync.aligned.shared::cta.b32 "
              "[%r13], 64; //! cta 212\nld.shared.b32 %r14, [%r13];\n"
              "mov.u32 %r7, 64;\n@!%p10 bra W;\n"
              "@%p1 red.relaxed.gpu.global.add.u32 [%rd4], 1;\n"
              "W: ld.relaxed.gpu.global.u32 %r6, [%rd4];\n"
              "setp.eq.u32 %p8, %r6, 0;\n@%p8 bra W;\n"
              "E:\n@!%p11 exit;\n"
              "tcgen05.dealloc.cta_group::1.sync.aligned.b32 %r14, %r7;\n",
              ".exclusive", ""})),
    // mbarriers.
    rubin({2, "CountOfLayoutV1",
           "@%p1 mbarrier.init.layout::v1.shared.b64 [%r10], $; //!\n", "512",
           "511"}),
    rubin({16, "ArrivalOnNoCta",
           BARRIERS CLUSTER
           "@%p5 mbarrier.arrive.release.cluster.shared::cluster.multicast::"
           "cluster::32b.b64 _, [%r10], 1, $; //!\n"
           "W: mbarrier.try_wait.parity.acquire.cluster.shared::cta.b64 %p8, "
           "[%r10], 0;\n@!%p8 bra W;\n" CLUSTER,
           "7", "3", 128, 2, 2}),
    rubin({18, "ArrivalOnOneCtaOfTwo",
           BARRIERS CLUSTER
           "@%p5 mbarrier.arrive.release.cluster.shared::cluster.multicast::"
           "cluster::32b.b64 _, [%r10], 1, $;\n"
           "W: mbarrier.try_wait.parity.acquire.cluster.shared::cta.b64 %p8, "
           "[%r10], 0; //! cta 1\n@!%p8 bra W;\n",
           "1", "3", 128, 2, 2}),
    {70, "K96OnSm107f",
     READY "mov.u32 %r16, $;\n" SCALES("@%p1", "%r18") "\n" SCALES(
         "@%p1", "%r19") "\n@%p1 tcgen05.mma.cta_group::1.kind::mxf4."
                         "block_scale.block32 [%r14], %rd10, %rd11, %r16, "
                         "[%r18], [%r19], %p6; //!\n" END(V),
     "0x88840480", "0x08840480", 128, 1, 1, 0, "sm_107f"},
    {70, "K96OnSm103f",
     READY "mov.u32 %r16, $;\n" SCALES("@%p1", "%r18") "\n" SCALES(
         "@%p1", "%r19") "\n@%p1 tcgen05.mma.cta_group::1.kind::mxf4."
                         "block_scale.block32 [%r14], %rd10, %rd11, %r16, "
                         "[%r18], [%r19], %p6; //!\n" END(V),
     "0x88840480", "0x08840480", 128, 1, 1, 0, "sm_103f"},
};

INSTANTIATE_TEST_SUITE_P(Rubin, Hazards,
                         testing::ValuesIn(listed(kRubinCases, mapKernel)),
                         nameOf);

} // namespace
