//===- HazardsTensorTest.cpp - hazards of tensor memory and mma -----------===//
//
// Part of the blockscale project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Entries 51 to 76 of the catalogue.
//
//===----------------------------------------------------------------------===//

#include "HazardKernel.h"

using namespace blockscale::emulator;
using namespace blockscale::emulator::test;

namespace {

const HazardCase kTensorCases[] = {
    {51, "BeyondTheAllocation",
     READY ZERO "tcgen05.st.sync.aligned.32x32b.x8.b32 [%r17+$], " REGISTERS
                "; //! warp 2, lane none\n" WAIT_ST FREE,
     "64", "8"},
    {51, "AfterTheFree", READY ZERO "$" STORE " //! lane none\n" WAIT_ST FREE,
     "bar.sync 0;\n" DEALLOC "\nbar.sync 0;\n", ""},
    {51, "AccumulatorBeyond", READY MMA_TO("%r14+$", "%p6") " //!\n" END(V),
     "56", "48"},
    {52, "FreedWithAnotherSize",
     READY "bar.sync 0;\n@%p2 tcgen05.dealloc.cta_group::1.sync.aligned.b32 "
           "%r14, $; //!",
     "32", "64"},
    {52, "Leaked",
     "@%p2 tcgen05.alloc.cta_group::1.sync.aligned.shared::cta.b32 [%r13], "
     "64; //!\nbar.sync 0;\nld.shared.b32 %r14, [%r13];\n$",
     "", DEALLOC},
    {52, "SecondLeaked",
     ALLOC
     "@%p3 bra A;\n@!%p2 bra A;\n"
     "tcgen05.alloc.cta_group::1.sync.aligned.shared::cta.b32 [%r13+4], 32; "
     "//!\nA: bar.sync 0;\nld.shared.b32 %r22, [%r13+4];\n"
     "@%p2 tcgen05.dealloc.cta_group::1.sync.aligned.b32 %r14, 64;\n$",
     "", "@%p2 tcgen05.dealloc.cta_group::1.sync.aligned.b32 %r22, 32;"},
    {52, "FreedTwice", READY "bar.sync 0;\n" DEALLOC "\n$", DEALLOC " //!\n",
     ""},
    {52, "FreedElsewhere",
     READY "bar.sync 0;\nadd.u32 %r14, %r14, $;\n" DEALLOC " //!", "32", "0"},
    {53, "LoadsInFlight",
     READY MMA "\n" DONE(W) AFTER LOAD "\n$" DEALLOC " //!",
     "bar.sync 0;\n" WAIT_LD, WAIT_LD "bar.sync 0;\n"},
    {53, "LoadsUnused", READY MMA "\n" DONE(W) AFTER LOAD "\n$" DEALLOC " //!",
     "bar.sync 0;\nadd.u32 %r40, %r39, 1;\n",
     "add.u32 %r40, %r39, 1;\nbar.sync 0;\n"},
    {53, "MmaInFlight", READY MMA "\n" COMMIT "$bar.sync 0;\n" DEALLOC " //!",
     "", WAIT(W, "%r10", "0")},
    {53, "CopyInFlight",
     READY SCALES("@%p1", "%r18") "\n" COMMIT "$bar.sync 0;\n" DEALLOC " //!",
     "", WAIT(W, "%r10", "0")},
    {54, "PeerNotKnown",
     "$@%p2 tcgen05.alloc.cta_group::2.sync.aligned.shared::cta.b32 [%r13], "
     "64; //!\n" CLUSTER "ld.shared.b32 %r14, [%r13];\n" CLUSTER
     "@%p2 tcgen05.dealloc.cta_group::2.sync.aligned.b32 %r14, 64;",
     "", CLUSTER, 128, 2, 2},
    {54, "PeerStillLoads",
     CLUSTER
     "@%p2 tcgen05.alloc.cta_group::2.sync.aligned.shared::cta.b32 "
     "[%r13], 64;\n" CLUSTER "ld.shared.b32 %r14, [%r13];\nand.b32 %r17, %r1, "
     "96;\nshl.b32 %r17, %r17, 16;\nadd.u32 %r17, %r17, %r14;\n" ZERO STORE
     "\n" WAIT_ST LOAD "\n" WAIT_LD "$"
     "@%p2 tcgen05.dealloc.cta_group::2.sync.aligned.b32 %r14, 64; //! cta "
     "1\n" CLUSTER,
     "bar.sync 0;\n", CLUSTER, 128, 2, 2},
    {54, "PeerLoadsBeforeRelaxedBarrier",
     CLUSTER
     "@%p2 tcgen05.alloc.cta_group::2.sync.aligned.shared::cta.b32 "
     "[%r13], 64;\n" CLUSTER "ld.shared.b32 %r14, [%r13];\nand.b32 %r17, %r1, "
     "96;\nshl.b32 %r17, %r17, 16;\nadd.u32 %r17, %r17, %r14;\n" ZERO STORE
     "\n" WAIT_ST LOAD "\n$"
     "@%p2 tcgen05.dealloc.cta_group::2.sync.aligned.b32 %r14, 64; //! cta "
     "1\n" CLUSTER,
     WAIT_LD "bar.sync 0;\n",
     WAIT_LD
     "barrier.cluster.arrive.relaxed.aligned;\nbarrier.cluster.wait.aligned;\n",
     128, 2, 2},
    {55, "AfterRelinquish",
     READY
     "@%p2 tcgen05.relinquish_alloc_permit.cta_group::1.sync.aligned;\n$" FREE,
     "@%p2 tcgen05.alloc.cta_group::1.sync.aligned.shared::cta.b32 [%r13], "
     "32; //!\n",
     ""},
    {55, "Growing",
     "@%p2 tcgen05.alloc.cta_group::1.sync.aligned.shared::cta.b32 [%r13+4], "
     "$;\n@%p2 tcgen05.alloc.cta_group::1.sync.aligned.shared::cta.b32 [%r13], "
     "64; //!\nbar.sync 0;\nld.shared.b32 %r14, [%r13];\n"
     "ld.shared.b32 %r22, [%r13+4];\n" DEALLOC "\n@%p2 "
     "tcgen05.dealloc.cta_group"
     "::1.sync.aligned.b32 %r22, 128;",
     "32", "128"},
    {55, "NoPowerOfTwo",
     "mov.u32 %r7, $;\n"
     "@%p2 tcgen05.alloc.cta_group::1.sync.aligned.shared::cta.b32 [%r13], "
     "%r7; //!\nbar.sync 0;\nld.shared.b32 %r14, [%r13];\n" FREE,
     "48", "64"},
    {56, "NoEdge",
     "@%p2 tcgen05.alloc.cta_group::1.sync.aligned.shared::cta.b32 [%r13], "
     "64;\n$ld.shared.b32 %r14, [%r13]; //! warp 1\n" FREE,
     "", "bar.sync 0;\n"},
    {56, "RelaxedClusterBarrier",
     "@%p2 tcgen05.alloc.cta_group::1.sync.aligned.shared::cta.b32 [%r13], "
     "64;\nbarrier.cluster.arrive$.aligned;\nbarrier.cluster.wait.aligned;\n"
     "ld.shared.b32 %r14, [%r13]; //! warp 3\n" FREE,
     ".relaxed", ""},
    {57, "NobodyFrees",
     "@%p2 tcgen05.alloc.cta_group::1.sync.aligned.shared::cta.b32 [%r13], "
     "512;\n$bar.sync 0;\nld.shared.b32 %r14, [%r13];\nbar.sync 0;\n"
     "@%p2 tcgen05.dealloc.cta_group::1.sync.aligned.b32 %r14, 512;",
     "@%p2 tcgen05.alloc.cta_group::1.sync.aligned.shared::cta.b32 [%r13], "
     "512; //!\n",
     ""},
    {57, "OthersHoldTooMany",
     "@%p2 tcgen05.alloc.cta_group::1.sync.aligned.shared::cta.b32 [%r13], "
     "256;\n@%p2 tcgen05.alloc.cta_group::1.sync.aligned.shared::cta.b32 "
     "[%r13+4], 128;\nbar.sync 0;\nld.shared.b32 %r14, [%r13];\n"
     "ld.shared.b32 %r22, [%r13+4];\n$@%p2 tcgen05.alloc.cta_group::1.sync."
     "aligned.shared::cta.b32 [%r13+8], 128; //!\n"
     "@%p2 tcgen05.dealloc.cta_group::1.sync.aligned.b32 %r22, 128;\n"
     "bar.sync 0;\nld.shared.b32 %r22, [%r13+8];\n"
     "@%p2 tcgen05.dealloc.cta_group::1.sync.aligned.b32 %r22, 128;\n"
     "@%p2 tcgen05.dealloc.cta_group::1.sync.aligned.b32 %r14, 256;",
     "@%p2 tcgen05.alloc.cta_group::1.sync.aligned.shared::cta.b32 [%r13+12], "
     "128;\n",
     ""},
    {57, "PairHoldsTooMany",
     CLUSTER "@%p2 tcgen05.alloc.cta_group::2.sync.aligned.shared::cta.b32 "
             "[%r13], 512;\n" CLUSTER "ld.shared.b32 %r14, [%r13];\n$" CLUSTER
             "@%p2 tcgen05.dealloc.cta_group::2.sync.aligned.b32 %r14, 512;\n",
     "@%p2 tcgen05.alloc.cta_group::2.sync.aligned.shared::cta.b32 [%r13+4], "
     "32; //!\n",
     "", 128, 2, 2},
    // CTA 0 waits for CTA 148, which is on its SM.
    cooperative(149,
                {57, "CtaOfTheSameSm",
                 "mov.u32 %r7, $;\nsetp.eq.u32 %p10, %r2, 148;\n"
                 "or.pred %p11, %p10, %p4;\n@!%p11 bra E;\n"
                 "tcgen05.alloc.cta_group::1.sync.aligned.shared::cta.b32 "
                 "[%r13], %r7; //! "
                 "cta 148\nld.shared.b32 %r14, [%r13];\n@!%p10 bra W;\n"
                 "@%p1 red.relaxed.gpu.global.add.u32 [%rd4], 1;\n"
                 "W: ld.relaxed.gpu.global.u32 %r6, [%rd4];\n"
                 "setp.eq.u32 %p8, %r6, 0;\n@%p8 bra W;\n"
                 "tcgen05.dealloc.cta_group::1.sync.aligned.b32 %r14, %r7;\nE:",
                 "512", "256"}),
    {58, "NoWait",
     READY MMA "\n" COMMIT "$@%p2 " LOAD " //!\n" WAIT_LD WAIT(V, "%r10", "0")
         FREE,
     "", WAIT(W, "%r10", "0") AFTER},
    {58, "LoadOfCopiedScales",
     READY SCALES("@%p1", "%r14") "\n" COMMIT "$@%p2 " LOAD
                                  " //!\n" WAIT_LD WAIT(V, "%r10", "0") FREE,
     "", WAIT(W, "%r10", "0") AFTER},
    {59, "CommitOfAnotherThread",
     READY MMA "\n$" WAIT(W, "%r10", "0") "@%p2 " LOAD " //!\n" WAIT_LD END(V),
     COMMIT_BY("@%p3", "1", "%r10") "\n", COMMIT},
    {60, "CommitTooEarly",
     READY "$" WAIT(W, "%r10", "0") LOAD " //!\n" WAIT_LD END(V),
     COMMIT MMA "\n", MMA "\n" COMMIT},
    {61, "CommitOfAnotherGroup", READY MMA "\n$" WAIT(W, "%r10", "0") FREE,
     COMMIT_BY("@%p1", "2", "%r10") " //!\n", COMMIT},
    {62, "NextTileOverwrites",
     READY MMA "\n" DONE(W) AFTER LOAD "\n$" MMA " //!\n" WAIT_LD END(V), "",
     WAIT_LD "bar.sync 0;\n"},
    {63, "StoreInFlight",
     READY ZERO STORE
     "\nadd.u32 %r17, %r17, 8;\n" STORE
     "\n$bar.sync 0;\n" MMA_TO("%r14", "%p7") " //!\n" WAIT_ST END(V),
     "", WAIT_ST},
    // A warp's own st and ld keep their order by the list of PTX 9.4.
    advised({63, "LoadOfAStore",
             READY ZERO "@%p2 " STORE "\n$@%p2 " LOAD
                        " //!\n" WAIT_LD WAIT_ST FREE,
             "", WAIT_ST}),
    {64, "NothingToAddTo", READY MMA_TO("%r14", "$") " //!\n" END(V), "%p7",
     "%p6"},
    {65, "OneQuadrantOnly", READY "$" SCALED " //!\n" END(V),
     ZERO "@%p2 tcgen05.st.sync.aligned.32x32b.x8.b32 [%r18], " REGISTERS
          ";\n@%p2 " WAIT_ST,
     SCALES("@%p1", "%r18") "\n" SCALES("@%p1", "%r19") "\n"},
    {65, "ScalesOfBMissing",
     READY SCALES("@%p1", "%r18") "\n$" SCALED " //!\n" END(V), "",
     SCALES("@%p1", "%r19") "\n"},
    {65, "ScalesInAnotherColumn",
     READY SCALES("@%p1", "%r18") "\nadd.u32 %r22, %r19, $;\n" SCALES(
         "@%p1", "%r22") "\n" SCALED " //!\n" END(V),
     "8", "0"},
    {66, "CopyBehindACopy",
     READY SCALES("@%p1", "%r18") "\n$" SCALES("@%p1", "%r18") " //!\n" END(V),
     "", DONE(W)},
    // PTX 9.4 lists what an mma reads before a later copy.
    {66, "CopyBehindTheMmaThatReads",
     READY SCALES("@%p1", "%r18") "\n" SCALES("@%p1", "%r19") "\n$" SCALES(
         "@%p1", "%r18") " //!\n" END(V),
     "", SCALED "\n"},
    {67, "CopyOfAnotherThread",
     READY SCALES("@%p3", "%r18") "\n" SCALES(
         "@%p3",
         "%r19") "\n"
                 "@%p3 mbarrier.arrive.$.cta.shared::cta.b64 _, [%r10];\n" WAIT(
                     W, "%r10", "0") SCALED
     " //!\n" COMMIT_BY("@%p3", "1", "%r15") "\n" WAIT(U, "%r15", "0")
         COMMIT_BY("@%p1", "1", "%r10") "\n" WAIT(V, "%r10", "1") FREE,
     "relaxed", "release"},
    {68, "LanesOfAnotherWarp",
     READY ZERO
     "@%p2 tcgen05.st.sync.aligned.32x32b.x8.b32 [%r14+$], " REGISTERS
     "; //! lane none\n@%p2 " WAIT_ST FREE,
     "2097152", "0"},
    {68, "LoadOfAnotherWarpsLanes",
     READY ZERO STORE "\n" WAIT_ST
                      "@%p2 tcgen05.ld.sync.aligned.32x32b.x8.b32 " REGISTERS
                      ", [%r14+$]; //! lane none\n" WAIT_LD FREE,
     "2097152", "0"},
    {69, "BeyondTheLastColumn", READY MMA_TO("%r14+$", "%p6") " //!\n" END(V),
     "500", "0"},
    {51, "CopyBeyondTheLastColumn",
     READY "add.u32 %r22, %r14, $;\n" SCALES("@%p1", "%r22") " //!\n" END(V),
     "4096", "32"},
    {51, "ShiftBeyondTheLastColumn",
     READY "@%p1 tcgen05.cp.cta_group::1.128x256b [%r14], %rd12;\n"
           "@%p1 tcgen05.shift.cta_group::1.down [%r14+$]; //!\n" END(V),
     "508", "0"},
    {69, "LaneOfTheAccumulator", READY MMA_TO("%r14+$", "%p6") " //!\n" END(V),
     "327680", "0"},
    {70, "ReservedBit", READY "mov.u32 %r16, $;\n" MMA " //!\n" END(V),
     "0x08040018", "0x08040010"},
    {70, "K96OnSm100",
     READY "mov.u32 %r16, $;\n" SCALES("@%p1", "%r18") "\n" SCALES(
         "@%p1", "%r19") "\n@%p1 tcgen05.mma.cta_group::1.kind::mxf4."
                         "block_scale.block32 [%r14], %rd10, %rd11, %r16, "
                         "[%r18], [%r19], %p6; "
                         "//!\n" END(V),
     "0x88840480", "0x08840480"},
    {70, "TypeOfAnotherKind", READY "mov.u32 %r16, $;\n" MMA " //!\n" END(V),
     "0x08040290", "0x08040010"},
    {70, "NoSuchN", READY "mov.u32 %r16, $;\n" MMA " //!\n" END(V),
     "0x08020010", "0x08040010"},
    {70, "NoSuchMOfWeightStationary",
     READY "mov.u32 %r16, $;\n@%p1 tcgen05.mma.ws.cta_group::1.kind::f16 "
           "[%r14], %rd10, %rd11, %r16, %p6; //!\n" END(V),
     "0x0C100010", "0x08100010"},
    {71, "NoSuchSwizzle",
     READY "xor.b64 %rd10, %rd10, $;\n" MMA " //!\n" END(V),
     "0x6000000000000000", "0"},
    {71, "ConstantBits", READY "xor.b64 %rd10, %rd10, $;\n" MMA " //!\n" END(V),
     "0x0000400000000000", "0"},
    {71, "BeyondSharedMemory",
     READY "add.u64 %rd10, %rd10, $;\n" MMA " //!\n" END(V), "2040", "1024"},
    {73, "AddressesDiffer",
     READY ZERO STORE "\n" WAIT_ST
                      "$tcgen05.ld.sync.aligned.32x32b.x8.b32 " REGISTERS
                      ", [%r21]; //! warp 2\n" WAIT_LD FREE,
     "add.u32 %r21, %r17, %r1;\n", "mov.u32 %r21, %r17;\n"},
    {73, "HalfOfAWarp",
     READY ZERO STORE "\n" WAIT_ST "mov.u32 %r22, %laneid;\n"
                      "setp.ge.u32 %p10, %r22, $;\n@%p10 bra E;\n" LOAD
                      " //!\nE:\n" WAIT_LD FREE,
     "16", "32"},
    {74, "ReleasedBeforeWait",
     READY MMA "\n" DONE(W) AFTER LOAD "\n$" MMA " //!\n" END(V),
     "bar.sync 0;\n" WAIT_LD, WAIT_LD "bar.sync 0;\n"},
    {74, "ReleasedBeforeUse",
     READY MMA "\n" DONE(W) AFTER LOAD "\n$" MMA " //!\n" END(V),
     "bar.sync 0;\nadd.u32 %r40, %r39, 1;\n",
     "add.u32 %r40, %r39, 1;\nbar.sync 0;\n"},
    {75, "NoFence",
     READY MMA "\n" DONE(W) "$" LOAD " //! warp 1\n" WAIT_LD FREE, "", AFTER},
    {75, "NoFenceBefore",
     READY MMA "\n" DONE(W) AFTER LOAD " //! warp 1\n" WAIT_LD
                                       "$bar.sync 0;\n" AFTER MMA "\n" END(V),
     "", BEFORE},
    {75, "FenceBeforeTooEarly",
     READY MMA "\n" DONE(W) AFTER BEFORE LOAD " //! warp 1\n" WAIT_LD "$"
                                              "bar.sync 0;\n" AFTER MMA
                                              "\n" END(V),
     "", BEFORE},
    {76, "PeerHasExited",
     READY CLUSTER
     "@%p4 bra GO;\n$GO:\n" CLUSTER
     "mov.u32 %r16, 0x10080010;\n@%p5 tcgen05.mma.cta_group::2.kind::f16 "
     "[%r14], %rd10, %rd11, %r16, %p6; //!\n" COMMIT_BY(
         "@%p5", "2", "%r10") "\n@!%p4 bra E;\n" WAIT(W, "%r10",
                                                      "0") "E:\n" CLUSTER FREE,
     FREE "exit;\n", "", 128, 2, 2},
    {76, "PeerNotKnown",
     READY
     "$mov.u32 %r16, 0x10080010;\n@%p5 tcgen05.mma.cta_group::2.kind::"
     "f16 [%r14], %rd10, %rd11, %r16, %p6; //!\n" COMMIT_BY(
         "@%p5", "2", "%r10") "\n@!%p4 bra E;\n" WAIT(W, "%r10",
                                                      "0") "E:\n" CLUSTER FREE,
     "", CLUSTER, 128, 2, 2},
};

INSTANTIATE_TEST_SUITE_P(Tensor, Hazards,
                         testing::ValuesIn(listed(kTensorCases, mapKernel)),
                         nameOf);

} // namespace
