//===- HazardsOrderTest.cpp - pairs that keep their order in tensor memory ===//
//
// Part of the blockscale project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The pairs of operations of PTX ISA 9.4, "Pipelined tcgen05 instructions": one
// thread, or one warp, does both with nothing between them, and nothing is
// found. The pairs that are not in the list are cases of HazardsTensorTest.cpp
// and HazardsRubinTest.cpp.
//
//===----------------------------------------------------------------------===//

#include "HazardKernel.h"

using namespace blockscale::emulator;
using namespace blockscale::emulator::test;

namespace {

/// A in tensor memory, 8 columns from %r18 on, which all threads know of.
#define A_STORED                                                               \
  READY ZERO "tcgen05.st.sync.aligned.32x32b.x8.b32 [%r17+32], " REGISTERS     \
             ";\n" WAIT_ST BEFORE "bar.sync 0;\n" AFTER
#define MMA_OF_A                                                               \
  "@%p1 tcgen05.mma.cta_group::1.kind::f16 [%r14], [%r18], %rd11, %r16, "      \
  "%p6;\n"
#define COPY(shape, at)                                                        \
  "@%p1 tcgen05.cp.cta_group::1." shape " [" at "], %rd12;\n"
#define SHIFT(at) "@%p1 tcgen05.shift.cta_group::1.down [" at "];\n"
#define STORE_AND_WAIT ZERO STORE "\n" WAIT_ST

const struct {
  const char *name, *text;
} kPairs[] = {
    {"MmaReadsAThenMmaWritesD",
     A_STORED MMA_OF_A MMA_TO("%r18", "%p6") "\n" END(V)},
    {"MmaReadsAThenCopyWrites",
     A_STORED MMA_OF_A COPY("128x256b", "%r18") END(V)},
    {"MmaReadsScalesThenCopyWrites",
     READY SCALES("@%p1", "%r18") "\n" SCALES(
         "@%p1", "%r19") "\n" SCALED "\n" SCALES("@%p1", "%r19") "\n" END(V)},
    {"MmaReadsAThenShiftWrites", A_STORED MMA_OF_A SHIFT("%r18") END(V)},
    {"MmaWritesDThenMmaReadsCAndWritesD",
     READY MMA "\n" MMA_TO("%r14", "%p7") "\n" MMA "\n" END(V)},
    {"CopyWritesThenMmaReadsA", READY COPY("128x256b", "%r18") MMA_OF_A END(V)},
    {"CopyWritesThenMmaReadsScales",
     READY SCALES("@%p1", "%r18") "\n" SCALES("@%p1", "%r19") "\n" SCALED
                                                              "\n" END(V)},
    {"CopyOf4RowsThenMmaReadsA",
     A_STORED COPY("4x256b", "%r18") MMA_OF_A END(V)},
    {"ShiftThenMmaReadsA", A_STORED SHIFT("%r18") MMA_OF_A END(V)},
    {"ShiftThenCopyOf4Rows",
     A_STORED SHIFT("%r18") COPY("4x256b", "%r18") END(V)},
    {"StoreThenStore", READY ZERO STORE "\n" STORE "\n" WAIT_ST FREE},
    {"LoadThenStore",
     READY STORE_AND_WAIT LOAD "\n" ZERO STORE "\n" WAIT_LD WAIT_ST FREE},
    {"MmaThenCommit", READY MMA "\n" DONE(W) AFTER LOAD "\n" WAIT_LD FREE},
    {"CopyThenCommit",
     READY COPY("128x256b", "%r14") DONE(W) AFTER LOAD "\n" WAIT_LD FREE},
    {"ShiftThenCommit", A_STORED SHIFT("%r18") DONE(W) AFTER
     "tcgen05.ld.sync.aligned.32x32b.x8.b32 " REGISTERS
     ", [%r17+32];\n" WAIT_LD FREE},
    {"LoadThenItsWait", READY STORE_AND_WAIT LOAD
     "\n" WAIT_LD "st.global.b32 [%rd4], %r32;\n" FREE},
    {"StoreThenItsWait", READY STORE_AND_WAIT LOAD "\n" WAIT_LD FREE},
};

RunResult runOnRubin(const char *text, Completion completion) {
  HazardCase c;
  c.text = text;
  c.target = "sm_107a";
  std::vector<uint32_t> out(128), in(4096);
  Launch launch;
  launch.kernel = "k";
  launch.block.x = 128;
  launch.buffers = {bufferOf(out), bufferOf(in, false)};
  launch.arguments = {BufferArgument{0, 0}, BufferArgument{1, 0},
                      TensorMapArgument{mapOf(c), 1, 0}};
  Options options;
  options.advice = true;
  options.completion = completion;
  return runText(mapKernel(c), launch, options);
}

TEST(HazardsOrder, PairsOfTheList) {
  for (const auto &pair : kPairs)
    for (Completion completion :
         {Completion::Immediate, Completion::Random, Completion::Latest}) {
      RunResult result = runOnRubin(pair.text, completion);
      for (const auto *list : {&result.findings, &result.advice})
        for (const Finding &finding : *list)
          ADD_FAILURE() << pair.name << ": " << toString(finding);
    }
}

// Choices of what runs, not of a descriptor alone.
TEST(HazardsOrder, ChoicesAreNamed) {
  auto points = [](const char *text) {
    return runOnRubin(text, Completion::Immediate).openPoints;
  };
  EXPECT_TRUE(points(READY MMA
                     "\n@%p1 tcgen05.commit.cta_group::1.mbarrier::arrive::one."
                     "sync_restrict::shared::read::mma::a.shared::cluster.b64 "
                     "[%r10];\n" WAIT(W, "%r10", "0") END(V))
                  .contains(OpenPoint::ReadCommit));
  EXPECT_FALSE(
      points(READY MMA "\n" DONE(W) FREE).contains(OpenPoint::ReadCommit));
  EXPECT_TRUE(points(READY "mov.u32 %r16, 0x04040010;\n@%p1 tcgen05.mma."
                           "cta_group::1.kind::f16.collector::b::fill [%r14], "
                           "%rd10, %rd11, %r16, %p6;\n" END(V))
                  .contains(OpenPoint::CollectorBHalfM));
  // Bit 52, and the swizzle of 128 bytes that it needs.
  EXPECT_TRUE(
      points(READY "or.b64 %rd11, %rd13, 0x4010404000000000;\n" MMA "\n" END(V))
          .contains(OpenPoint::AbsoluteLeading107));
  EXPECT_FALSE(
      points(READY MMA "\n" END(V)).contains(OpenPoint::AbsoluteLeading107));
  // What is expected after its arrival and completion, with nothing pending.
  EXPECT_TRUE(points(BARRIERS
                     "@%p1 mbarrier.complete_tx.relaxed.cta.shared::cta.b64 "
                     "[%r10], 64;\n@%p1 " ARRIVE
                     "\n@%p1 mbarrier.expect_tx.relaxed.cta.shared::cta.b64 "
                     "[%r10], 64;\n" WAIT(W, "%r10", "0"))
                  .contains(OpenPoint::ExpectTxCompletes));
}

} // namespace
