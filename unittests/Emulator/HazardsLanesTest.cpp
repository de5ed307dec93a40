//===- HazardsLanesTest.cpp - races between the lanes of one warp ---------===//
//
// Part of the blockscale project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Lanes of a warp are ordered by bar.warp.sync, by barriers and by what threads
// are ordered by; not by their converging, nor by shuffles and votes.
//
//===----------------------------------------------------------------------===//

#include "HazardKernel.h"
#include "MachineHarness.h"

using namespace blockscale::emulator;
using namespace blockscale::emulator::test;

namespace {

/// %r20: the own word of the buffer, %r21 that of the neighbour.
#define WORDS                                                                  \
  "mad.lo.u32 %r20, %r1, 4, %r12;\nxor.b32 %r21, %r1, 1;\n"                    \
  "mad.lo.u32 %r21, %r21, 4, %r12;\n"
#define MINE "st.shared.u32 [%r20], %r1;\n"
#define MEET "bar.warp.sync -1;\n"
/// %rd10: the own word of the output, %rd11 that of the neighbour.
#define GLOBAL                                                                 \
  "mul.wide.u32 %rd10, %r1, 4;\nadd.s64 %rd10, %rd10, %rd4;\n"                 \
  "xor.b32 %r21, %r1, 1;\nmul.wide.u32 %rd11, %r21, 4;\n"                      \
  "add.s64 %rd11, %rd11, %rd4;\n"

const HazardCase kLaneCases[] = {
    {97, "ReadOfTheNeighbour",
     WORDS MINE "$ld.shared.u32 %r22, [%r21]; //! lane 0", "", MEET, 32},
    {97, "ShuffleIsNoBarrier",
     WORDS MINE "$ld.shared.u32 %r22, [%r21]; //! lane 0",
     "shfl.sync.idx.b32 %r23, %r1, 0, 31, -1;\n",
     "shfl.sync.idx.b32 %r23, %r1, 0, 31, -1;\n" MEET, 32},
    {97, "WriteOverTheRead",
     WORDS MINE MEET "ld.shared.u32 %r22, [%r21];\n"
                     "$st.shared.u32 [%r20], %r22; //! lane 0",
     "", MEET, 32},
    {97, "TwoWrites",
     WORDS MINE "add.u32 %r22, %r1, 100;\n"
                "$st.shared.u32 [%r21], %r22; //! lane 0",
     "", MEET, 32},
    {97, "OneForAll",
     WORDS "mov.u32 %r22, 7;\n@%p1 st.shared.u32 [%r12], %r22;\n"
           "$ld.shared.u32 %r23, [%r12]; //! lane none",
     "", MEET, 32},
    {97, "OneAfterAll",
     WORDS "@%p1 st.shared.u32 [%r12], %r5;\n" MEET
           "ld.shared.u32 %r23, [%r12];\nadd.u32 %r22, %r23, 7;\n"
           "$@%p1 st.shared.u32 [%r12], %r22; //! lane 0",
     "", MEET, 32},
    // Each lane reads what it wrote itself; one of them reads the next.
    {97, "TheLastLane",
     WORDS MINE "mov.u32 %r23, %r20;\nsetp.eq.u32 %p8, %r1, 31;\n"
                "@%p8 sub.u32 %r23, %r20, $;\n"
                "ld.shared.u32 %r22, [%r23]; //! lane 31",
     "4", "0", 32},
    // Vectors: the neighbour's half.
    {97, "HalfOfAVector",
     "mad.lo.u32 %r20, %r1, 16, %r12;\n"
     "st.shared.v4.u32 [%r20], {%r1, %r1, %r1, %r1};\n"
     "mad.lo.u32 %r21, %r1, 8, %r12;\nadd.u32 %r21, %r21, $;\n"
     "setp.eq.u32 %p8, %r1, 0;\n"
     "@%p8 ld.shared.v2.u32 {%r22, %r23}, [%r21]; //! lane 0",
     "16", "8", 32},
    // Bytes, of which a word has several.
    {97, "BytesOfOneWord",
     "add.u32 %r20, %r1, %r12;\nsetp.lt.u32 %p8, %r1, 4;\n"
     "setp.eq.u32 %p9, %r1, 1;\nand.pred %p10, %p8, %p9;\n"
     "@%p1 st.shared.u8 [%r12], %r5;\n@%p9 st.shared.u8 [%r20], %r5;\n"
     "@%p9 ld.shared.u8 %r22, [%r20-$]; //! lane 1",
     "1", "0", 32},
    // Halves of the warp meet among themselves.
    {97, "OtherHalf",
     WORDS MINE "mov.u32 %r23, 0xFFFF;\nsetp.ge.u32 %p8, %r1, 16;\n"
                "@%p8 mov.u32 %r23, 0xFFFF0000;\nbar.warp.sync %r23;\n"
                "xor.b32 %r21, %r1, $;\nmad.lo.u32 %r21, %r21, 4, %r12;\n"
                "ld.shared.u32 %r22, [%r21]; //! lane 0",
     "16", "8", 32},
    // Lane 0 meets the lower half, then all of the upper one: what the lower
    // half wrote has come along.
    {97, "OneThatMetBoth",
     WORDS MINE "setp.ge.u32 %p8, %r1, 16;\n@%p8 bra U;\n$U:\n"
                "or.pred %p9, %p1, %p8;\n@%p9 bar.warp.sync 0xFFFF0001;\n"
                "xor.b32 %r21, %r1, 17;\nmad.lo.u32 %r21, %r21, 4, %r12;\n"
                "setp.eq.u32 %p10, %r1, 16;\n"
                "@%p10 ld.shared.u32 %r22, [%r21]; //! lane 16",
     "", "bar.warp.sync 0xFFFF;\n", 32},
    {97, "GlobalNeighbour",
     GLOBAL "st.global.u32 [%rd10], %r1;\n"
            "$ld.global.u32 %r22, [%rd11]; //! lane 0",
     "", MEET, 32},
    // A loop that meets only at its end.
    {97, "NextTurn",
     WORDS "mov.u32 %r24, 0;\nL:\nadd.u32 %r22, %r24, %r1;\n"
           "st.shared.u32 [%r20], %r22; //! lane 0\n" MEET
           "ld.shared.u32 %r23, [%r21];\n$add.u32 %r24, %r24, 1;\n"
           "setp.lt.u32 %p8, %r24, 4;\n@%p8 bra L;",
     "", MEET, 32},
    // What the tensor core reads, one lane stored and another one issues.
    {97, "StoreAndBulkCopyByAnother",
     "setp.eq.u32 %p8, %r1, 5;\n@%p8 st.shared.v4.u32 [%r12], {%r1, %r1, %r1, "
     "%r1};\n" FENCE
     "$@%p1 cp.async.bulk.global.shared::cta.bulk_group [%rd4], [%r12], 16; "
     "//! lane 0\n"
     "@%p1 cp.async.bulk.commit_group;\n@%p1 cp.async.bulk.wait_group 0;",
     "", MEET, 32},
};

INSTANTIATE_TEST_SUITE_P(Lanes, Hazards,
                         testing::ValuesIn(listed(kLaneCases, mapKernel)),
                         nameOf);

/// Runs in one warp with a shared buffer at %r12 and barriers at %r10.
void expectFine(const std::string &text) {
  Options options;
  options.advice = true;
  Simple s = runBody("mov.u32 %r12, buf;\nmov.u32 %r10, bar;\n"
                     "mov.u32 %r5, 0;\nsetp.eq.u32 %p1, %r1, 0;\n" +
                         text,
                     {}, 32, 1, options, 1,
                     ".shared .align 16 .b64 bar[2];\n"
                     ".shared .align 16 .b8 buf[4096];\n");
  expectClean(s.result);
  for (const Finding &finding : s.result.advice)
    ADD_FAILURE() << toString(finding);
}

TEST(LanesOfAWarp, OwnWordsNeedNothing) {
  expectFine(WORDS MINE "ld.shared.u32 %r22, [%r20];\n"
                        "st.shared.u32 [%r20], %r22;\n"
                        "ld.shared.u8 %r23, [%r20+1];\n");
}

TEST(LanesOfAWarp, EqualValuesAreNoRace) {
  expectFine("mov.u32 %r22, 3;\nst.shared.u32 [%r12], %r22;\n"
             "ld.shared.u32 %r23, [%r12];\nst.shared.u32 [%r12], %r22;\n");
}

TEST(LanesOfAWarp, StrongAccessesMayMeet) {
  expectFine(WORDS "st.volatile.shared.u32 [%r20], %r1;\n"
                   "ld.volatile.shared.u32 %r22, [%r21];\n"
                   "st.volatile.shared.u32 [%r20], %r22;\n");
  expectFine("@%p1 st.shared.u32 [%r12], %r5;\nbar.warp.sync -1;\n"
             "atom.shared.add.u32 %r22, [%r12], 1;\n"
             "red.shared.add.u32 [%r12], 1;\n");
}

TEST(LanesOfAWarp, BarriersOrder) {
  expectFine(WORDS MINE "bar.sync 0;\nld.shared.u32 %r22, [%r21];\n"
                        "bar.sync 1, 32;\nst.shared.u32 [%r20], %r22;\n"
                        "barrier.cluster.arrive;\nbarrier.cluster.wait;\n"
                        "ld.shared.u32 %r22, [%r21];\n");
  expectFine(
      WORDS
      "@%p1 mbarrier.init.shared.b64 [%r10], 32;\nbar.warp.sync -1;\n" MINE
      "mbarrier.arrive.shared.b64 _, [%r10];\n"
      "W: mbarrier.try_wait.parity.shared.b64 %p8, [%r10], 0;\n"
      "@!%p8 bra W;\nld.shared.u32 %r22, [%r21];\n");
}

/// One lane passes a word on to the others through a flag.
TEST(LanesOfAWarp, ReleaseAndAcquireOrder) {
  expectFine("@%p1 st.shared.u32 [%r12+4], %r5;\nbar.warp.sync -1;\n"
             "mov.u32 %r22, 1;\n@!%p1 bra R;\n"
             "st.shared.u32 [%r12], %r22;\n"
             "st.release.cta.shared.u32 [%r12+4], %r22;\nbra E;\n"
             "R: ld.acquire.cta.shared.u32 %r23, [%r12+4];\n"
             "setp.eq.u32 %p8, %r23, 0;\n@%p8 bra R;\n"
             "ld.shared.u32 %r24, [%r12];\nE:\n");
}

/// Two lanes in one store are advice where they disagree, else nothing.
TEST(LanesOfAWarp, LanesOfOneStore) {
  for (bool differ : {true, false}) {
    Options options;
    options.advice = true;
    Simple s =
        runBody(std::string("mov.u32 %r12, buf;\nmov.u32 %r5, 0;\n") +
                    "shr.u32 %r20, %r1, 1;\n"
                    "mad.lo.u32 %r21, %r20, 4, %r12;\nst.shared.u32 "
                    "[%r21], " +
                    (differ ? "%r1;" : "%r20;"),
                {}, 32, 1, options, 1, ".shared .align 16 .b8 buf[4096];\n");
    expectClean(s.result);
    ASSERT_EQ(s.result.advice.size(), differ ? 1u : 0u);
    if (differ) {
      EXPECT_EQ(s.result.advice.front().hazard, 96u);
    }
  }
}

} // namespace
