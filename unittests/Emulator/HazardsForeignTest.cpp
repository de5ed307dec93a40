//===- HazardsForeignTest.cpp - what foreign programs do --------*- C++ -*-===//
//
// Part of the blockscale project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Published programs do each of these things rightly; beside each stands the
// mistake next to it, which must still be found.
//
//===----------------------------------------------------------------------===//

#include "HazardKernel.h"

using namespace blockscale::emulator;
using namespace blockscale::emulator::test;

namespace {

/// Warp 1 copies 16 bytes a lane into the buffer by cp.async and arrives on a
/// barrier that warp 0 waits for.
#define COPIED_BY_WARP_1(arrival)                                              \
  "@%p1 mbarrier.init.shared.b64 [%r10], 32;\nbar.sync 0;\n"                   \
  "and.b32 %r20, %r1, 31;\nshl.b32 %r20, %r20, 4;\n"                           \
  "add.u32 %r21, %r12, %r20;\ncvt.u64.u32 %rd8, %r20;\n"                       \
  "add.u64 %rd9, %rd5, %rd8;\nadd.u64 %rd8, %rd4, %rd8;\n@%p2 bra C;\n"        \
  "cp.async.cg.shared.global [%r21], [%rd9], 16;\n" arrival                    \
  "\nbra E;\nC:\n" WAIT(W, "%r10", "0")
#define UNCOUNTED "cp.async.mbarrier.arrive.shared::cta.b64 [%r10];\n" ARRIVE

/// %r7 is the row of a matrix in the buffer that this lane names.
#define ROWS_OF_MATRIX                                                         \
  "mov.u32 %r6, %laneid;\nand.b32 %r6, %r6, 7;\n"                              \
  "mad.lo.u32 %r7, %r6, 16, %r12;\n"

HazardCase warps(unsigned number, const char *name, const char *text,
                 const char *wrong, const char *right) {
  HazardCase c;
  c.number = number;
  c.name = name;
  c.text = text;
  c.wrong = wrong;
  c.right = right;
  c.threads = 64;
  return c;
}
HazardCase pairs(HazardCase c) {
  c.ctas = c.cluster = 2;
  return c;
}
HazardCase dependent(HazardCase c) {
  c.fromPreviousGrid = true;
  return c;
}
HazardCase many(HazardCase c) {
  c.threads = 512;
  return c;
}

/// 16 warps with 128 registers a thread: eight ask for more, eight give back.
#define REGISTERS_OF_16_WARPS(wanted)                                          \
  "shr.u32 %r20, %r1, 7;\nsetp.eq.u32 %p9, %r20, 2;\n"                         \
  "setp.eq.u32 %p10, %r20, 3;\nsetp.lt.u32 %p11, %r20, 2;\n"                   \
  "@%p9 setmaxnreg.dec.sync.aligned.u32 96;\n"                                 \
  "@%p10 setmaxnreg.dec.sync.aligned.u32 24;\n"                                \
  "@%p11 setmaxnreg.inc.sync.aligned.u32 " wanted "; //! warp 7\n"

const HazardCase kForeignCases[] = {
    // A test of a barrier before the work that completes it: it gives up.
    warps(18, "OneTestBeforeTheWork",
          BARRIERS
          "@!%p1 bra E;\n"
          "mbarrier.try_wait.parity.shared.b64 %p9, [%r10], 0;\n"
          "mbarrier.try_wait.parity.shared.b64 %p9, [%r15], 0;\n$\n"
          "W: mbarrier.try_wait.parity.shared.b64 %p8, [%r10], 0; //!\n"
          "@!%p8 bra W;\nE:\n",
          "", ARRIVE),
    warps(37, "SelectsTheWrittenOne",
          "ld.shared.b32 %r20, [%r13];\nmov.u32 %r21, 7;\n"
          "setp.ge.u32 %p9, %r1, $;\nselp.b32 %r22, %r21, %r20, %p9;\n"
          "@%p1 st.global.u32 [%rd4], %r22; //!",
          "1", "0"),
    warps(37, "SelectsTheWrittenOneBySign",
          "ld.shared.b32 %r20, [%r13];\nmov.u32 %r21, 7;\nmov.u32 %r23, $;\n"
          "slct.b32.s32 %r22, %r20, %r21, %r23;\n"
          "@%p1 st.global.u32 [%rd4], %r22; //!",
          "0", "-1"),
    warps(37, "SelectsByTheUnwritten",
          "ld.shared.b32 %r20, [%r13];\nmov.u32 %r21, 7;\n"
          "setp.ge.u32 %p9, $, 0;\nselp.b32 %r22, %r21, %r1, %p9;\n"
          "@%p1 st.global.u32 [%rd4], %r22; //!",
          "%r20", "%r1"),
    // Half of a pair of which the other half was never written.
    warps(37, "HalfOfBf16x2",
          "cvt.rn.bf16x2.f32 %r20, %r63, %r5;\nmov.b32 {%h1, %h2}, %r20;\n"
          "@%p1 st.global.b16 [%rd4], $; //!",
          "%h2", "%h1"),
    warps(37, "HalfOfF16x2",
          "cvt.rn.relu.f16x2.f32 %r20, %r5, %r63;\nmov.b32 {%h1, %h2}, %r20;\n"
          "@%p1 st.global.b16 [%rd4], $; //!",
          "%h1", "%h2"),
    warps(37, "BothBytesOfE4m3x2",
          "cvt.rn.satfinite.e4m3x2.f32 %h1, $, %r5;\n"
          "@%p1 st.global.b16 [%rd4], %h1; //!",
          "%r63", "%r5"),
    {37, "StoredAsItIs", "@%p1 st.global.u32 [%rd4], $; //!", "%r63", "%r5"},
    // Matrices and tensor memory hold undefined elements as well as defined
    // ones: compilers store what the loop they peeled never made.
    {37, "StoredAsMatrix",
     ROWS_OF_MATRIX "stmatrix.sync.aligned.m8n8.x1.shared.b16 [%r7], {$};\n"
                    "bar.warp.sync -1;\nld.shared.u32 %r22, [%r12];\n"
                    "@%p1 st.global.u32 [%rd4], %r22; //!",
     "%r63", "%r5", 32},
    {37, "HalfStoredAsMatrix",
     ROWS_OF_MATRIX "cvt.rn.bf16x2.f32 %r20, %r63, %r5;\n"
                    "stmatrix.sync.aligned.m8n8.x1.shared.b16 [%r7], {%r20};\n"
                    "bar.warp.sync -1;\nld.shared.b16 %h1, [%r12+$];\n"
                    "@%p1 st.global.b16 [%rd4], %h1; //!",
     "2", "0", 32},
    {37, "LoadedAsMatrix",
     ROWS_OF_MATRIX "st.shared.v4.b32 [%r7], {%r5, %r5, %r5, %r5};\n"
                    "bar.warp.sync -1;\n@%p1 st.shared.u32 [%r12], %r63;\n"
                    "bar.warp.sync -1;\n"
                    "ldmatrix.sync.aligned.m8n8.x1.shared.b16 {%r22}, [%r7];\n"
                    "setp.eq.u32 %p9, %r1, $;\n"
                    "@%p9 st.global.u32 [%rd4], %r22; //!",
     "0", "1", 32},
    {37, "StoredInTensorMemory",
     ALLOC ZERO "mov.u32 %r33, $;\n" STORE "\n" WAIT_ST LOAD "\n" WAIT_LD
                "@%p1 st.global.u32 [%rd4], %r33; //!\n" FREE,
     "%r63", "%r5"},
    // cp.async.mbarrier.arrive without .noinc passes the copies on.
    warps(89, "UncountedArrival",
          COPIED_BY_WARP_1("$" ARRIVE) "ld.shared.u32 %r22, [%r21]; "
                                       "//!\nst.global.u32 [%rd8], %r22;\nE:\n",
          "", "cp.async.mbarrier.arrive.shared::cta.b64 [%r10];\n"),
    warps(19, "UncountedArrivalAndBulkRead",
          COPIED_BY_WARP_1(
              UNCOUNTED) "$\n@!%p1 bra "
                         "E;\ncp.async.bulk.global.shared::cta.bulk_group "
                         "[%rd4], "
                         "[%r12], 512; //!\ncp.async.bulk.commit_group;\n"
                         "cp.async.bulk.wait_group 0;\nE:\n",
          "", "fence.proxy.async.shared::cta;"),
    // Released by a fence, completed by a relaxed operation.
    warps(89, "FencedCompletion",
          BARRIERS "@%p1 mbarrier.arrive.expect_tx.shared.b64 _, [%r10], 16;\n"
                   "@!%p3 bra C;\nst.shared.u32 [%r12], %r1;\n$\n"
                   "mbarrier.complete_tx.relaxed.cluster.shared::cta.b64 "
                   "[%r10], 16;\n"
                   "C:\n@!%p1 bra E;\n" WAIT(
                       W, "%r10", "0") "ld.shared.u32 %r22, [%r12]; //!\n"
                                       "st.global.u32 [%rd4], %r22;\nE:\n",
          "", "fence.release.sync_restrict::shared::cta.cluster;"),
    warps(14, "FencedArrivalAndWait",
          BARRIERS
          "@!%p3 bra C;\nst.shared.u32 [%r12], %r1;\nfence.acq_rel.cta;\n"
          "mbarrier.arrive.relaxed.cta.shared::cta.b64 _, [%r10];\n"
          "C:\n@!%p1 bra E;\nW: mbarrier.try_wait.parity.relaxed.cta.shared::"
          "cta.b64 %p8, [%r10], 0;\n@!%p8 bra W;\n$\n"
          "ld.shared.u32 %r22, [%r12]; //!\nst.global.u32 [%rd4], %r22;\nE:\n",
          "", "fence.acq_rel.cta;"),
    // Every lane maps a rank, and the guard leaves out the one that is missing.
    pairs(warps(16, "MapsARankThatIsMissing",
                CLUSTER
                "mapa.shared::cluster.u32 %r20, %r12, %r1;\n"
                "setp.lt.u32 %p9, %r1, $;\nand.pred %p9, %p9, %p4;\n"
                "@%p9 st.shared::cluster.b32 [%r20], %r1; //! lane 2\n" CLUSTER,
                "3", "2")),
    // The input of a dependent launch, which the grid before writes.
    dependent(warps(36, "CopyOfThePreviousGrid",
                    BARRIERS EXPECT_BYTES("1024") "$\n@%p1 " LOAD_BOX(
                        "%r12", "0", "0", "%r10") " //!\n" WAIT(W, "%r10", "0"),
                    "", "griddepcontrol.wait;")),
    dependent(warps(
        36, "WaitOfAnotherThread",
        BARRIERS
            EXPECT_BYTES("1024") "@%p3 griddepcontrol.wait;\n$\n@%p1 " LOAD_BOX(
                "%r12", "0", "0", "%r10") " //!\n" WAIT(W, "%r10", "0"),
        "", "bar.sync 0;")),
    many(warps(81, "AllRegistersOfTheSm", REGISTERS_OF_16_WARPS("$"), "208",
               "192")),
    // What was read back has left the generic proxy.
    warps(19, "CopyOverTheAddressOfColumns",
          BARRIERS
          "@%p2 tcgen05.alloc.cta_group::1.sync.aligned.shared::cta.b32 "
          "[%r12], 64;\nbar.sync 0;\n$\nbar.sync 0;\n" EXPECT_BYTES(
              "1024") "@%p1 " LOAD_BOX("%r12", "0", "0",
                                       "%r10") " //!\n" WAIT(W, "%r10", "0")
              DEALLOC,
          "mov.u32 %r14, 0;", "ld.shared.b32 %r14, [%r12];"),
    warps(95, "CpAsyncIntoAnMma",
          READY "mad.lo.u32 %r7, %r1, 16, %r12;\n"
                "cp.async.cg.shared.global [%r7], [%rd5], 16;\n"
                "cp.async.wait_all;\n$bar.sync 0;\n" MMA " //!\n" DONE(W) FREE,
          "", FENCE),
    warps(92, "LastUseWithoutFill",
          READY "@%p1 tcgen05.mma.cta_group::1.kind::f16.collector::a::$ [%r14]"
                ", %rd10, %rd11, %r16, %p6; //!\n" DONE(W) FREE,
          "lastuse", "fill"),
    warps(92, "UseAfterLastUse",
          READY "@%p1 tcgen05.mma.cta_group::1.kind::f16.collector::a::fill "
                "[%r14], %rd10, %rd11, %r16, %p6;\n"
                "@%p1 tcgen05.mma.cta_group::1.kind::f16.collector::a::$ "
                "[%r14], %rd10, %rd11, %r16, %p6;\n"
                "@%p1 tcgen05.mma.cta_group::1.kind::f16.collector::a::use "
                "[%r14], %rd10, %rd11, %r16, %p6; //!\n" DONE(W) FREE,
          "lastuse", "use"),
    warps(92, "UseOfAnotherMatrix",
          READY "add.u64 %rd14, %rd10, $;\n"
                "@%p1 tcgen05.mma.cta_group::1.kind::f16.collector::a::fill "
                "[%r14], %rd10, %rd11, %r16, %p6;\n"
                "@%p1 tcgen05.mma.cta_group::1.kind::f16.collector::a::use "
                "[%r14], %rd14, %rd11, %r16, %p6; //!\n" DONE(W) FREE,
          "64", "0"),
    warps(96, "LanesOfOneStore",
          "selp.u32 %r20, %r1, 0, %p2;\nmov.u32 %r21, $;\n"
          "mad.lo.u32 %r22, %r1, %r21, %r12;\n"
          "@%p2 st.shared.u32 [%r22], %r20; //! lane 1",
          "0", "4"),
    // Padding with bit 7 beside zeros, and beside a row of ones.
    warps(93, "Ue4m3WithASign",
          READY
          "mov.u32 %r5, $;\n" FILL
          "mad.lo.u32 %r7, %r1, 8, %r12;\nmov.u32 %r6, 0xB8B8B8B8;\n"
          "st.shared.v2.b32 [%r7+16384], {%r6, %r6};\n" FENCE
          "bar.sync 0;\nadd.u64 %rd12, %rd12, 1024;\n" SCALES(
              "@%p1",
              "%r18") "\n" SCALES("@%p1",
                                  "%r19") "\nmov.u32 %r16, 0x08040480;\n@%p1 "
                                          "tcgen05.mma.cta_group::1.kind::"
                                          "mxf4nvf4.block_scale.block16 "
                                          "[%r14], %rd10, %rd11, %r16, [%r18], "
                                          "[%r19], %p6; //!\n" DONE(W) FREE,
          "0x22222222", "0"),
    pairs(warps(94, "WaitForThePeer",
                BARRIERS CLUSTER
                "mapa.shared::cluster.u32 %r20, %r10, 0;\n"
                "not.pred %p9, %p4;\nand.pred %p9, %p9, %p1;\n"
                "@%p9 mbarrier.arrive.release.cluster.shared::cluster.b64 _, "
                "[%r20];\n@!%p5 bra E;\n"
                "W: mbarrier.try_wait.parity.acquire.$.shared::cta.b64 %p8, "
                "[%r10], 0; //!\n@!%p8 bra W;\nE:\n" CLUSTER,
                "cta", "cluster")),
    // A matrix off its pattern: as the copy wrote it, or with another count.
    warps(41, "BaseOffsetOfAnAlignedMatrix",
          READY "mov.b64 %rd14, $;\nor.b64 %rd10, %rd13, %rd14;\n" MMA
                " //!\n" DONE(W) FREE,
          "0x4002404000010000", "0x4000404000010000"),
};

INSTANTIATE_TEST_SUITE_P(Foreign, Hazards,
                         testing::ValuesIn(listed(kForeignCases, mapKernel)),
                         nameOf);

/// The wait gives up without strict mode too.
TEST(ForeignPrograms, OneTestBeforeTheWork) {
  for (bool strict : {true, false})
    for (Completion completion :
         {Completion::Immediate, Completion::Random, Completion::Latest}) {
      Options options;
      options.strict = strict;
      options.completion = completion;
      Simple s =
          runBody("mov.u32 %r10, bar;\nmbarrier.init.shared.b64 [%r10], 1;\n"
                  "mbarrier.try_wait.parity.shared.b64 %p1, [%r10], 0;\n"
                  "selp.u32 %r11, 1, 0, %p1;\n"
                  "mbarrier.arrive.shared.b64 _, [%r10];\n"
                  "mbarrier.try_wait.parity.shared.b64 %p2, [%r10], 0;\n"
                  "selp.u32 %r12, 10, 0, %p2;\nadd.u32 %r11, %r11, %r12;\n"
                  "st.global.u32 [%rd1], %r11;",
                  {}, 1, 1, options, 1, ".shared .align 8 .b64 bar;\n");
      expectClean(s.result);
      EXPECT_EQ(s.out[0], 10u);
    }
}

/// A kernel that takes its columns to begin at 0 is found on an SM where they
/// do not.
TEST(ForeignPrograms, ColumnsBeginElsewhere) {
  const std::string columns =
      "mov.u32 %r10, slot;\n"
      "tcgen05.alloc.cta_group::1.sync.aligned.shared::cta.b32 [%r10], 64;\n"
      "bar.warp.sync -1;\nld.shared.b32 %r11, [%r10];\nmov.u32 %r12, BASE;\n"
      "tcgen05.st.sync.aligned.32x32b.x1.b32 [%r12], {%r1};\n"
      "tcgen05.wait::st.sync.aligned;\n"
      "st.global.u32 [%rd1], %r11;\n"
      "tcgen05.dealloc.cta_group::1.sync.aligned.b32 %r11, 64;";
  auto run = [&](const char *base, unsigned first) {
    std::string text = columns;
    text.replace(text.find("BASE"), 4, base);
    Options options;
    options.firstTensorColumn = first;
    return runBody(text, {}, 32, 1, options, 1,
                   ".shared .align 4 .b32 slot;\n");
  };
  expectClean(run("0", 0).result);
  Simple moved = run("%r11", 256);
  expectClean(moved.result);
  EXPECT_EQ(moved.out[31], 256u);
  Simple wrong = run("0", 256);
  ASSERT_FALSE(wrong.result.clean());
  EXPECT_EQ(wrong.result.findings[0].hazard, 51u);
  // Where too few are left, those before are given.
  EXPECT_EQ(run("%r11", 480).out[0], 0u);
}

/// Strict mode of one kernel by name.
TEST(ForeignPrograms, StrictInOneKernel) {
  auto run = [](const char *name) {
    Options options;
    options.strictKernel = name;
    return runBody("sub.s64 %rd1, %rd1, %rd3;\nst.global.u32 [%rd1], %r1;", {},
                   64, 1, options)
        .result.clean();
  };
  EXPECT_FALSE(run(""));
  EXPECT_FALSE(run("k"));
  EXPECT_TRUE(run("other"));
}

/// %nsmid and the memory of a CTA are those of the device.
TEST(ForeignPrograms, SizesOfTheDevice) {
  Options options;
  options.sms = 20;
  Simple s = runBody("mov.u32 %r10, %nsmid;\nst.global.u32 [%rd1], %r10;", {},
                     32, 1, options);
  expectClean(s.result);
  EXPECT_EQ(s.out[7], 20u);
  options.sms = 0;
  s = runBody("mov.u32 %r10, %nsmid;\nst.global.u32 [%rd1], %r10;");
  EXPECT_EQ(s.out[7], 148u); // B200
  EXPECT_EQ(smCount("sm_103a"), 148u);
  EXPECT_EQ(smCount("sm_110a"), 20u);
  EXPECT_EQ(smCount("sm_120a"), 170u);
  EXPECT_EQ(smCount("sm_121f"), 48u);
  EXPECT_EQ(smCount("sm_90a"), 132u);
  options.sharedBytes = 4096;
  const std::string shared = ".shared .align 4 .b8 all[4096];\n";
  EXPECT_TRUE(
      runBody("", {}, 32, 1, options, 1, ".shared .align 4 .b8 all[3072];\n")
          .result.clean());
  s = runBody("", {}, 32, 1, options, 1, ".shared .align 4 .b8 all[4100];\n");
  ASSERT_EQ(firstKind(s.result), FindingKind::Launch);
  EXPECT_NE(s.result.findings[0].message.find("the device has 4096"),
            std::string::npos)
      << s.result.findings[0].message;
  // CUDA C++ Programming Guide, technical specifications per compute
  // capability: shared memory per thread block.
  EXPECT_EQ(sharedCapacity("sm_100a"), 232448u);
  EXPECT_EQ(sharedCapacity("sm_110f"), 232448u);
  EXPECT_EQ(sharedCapacity("sm_90"), 232448u);
  EXPECT_EQ(sharedCapacity("sm_120a"), 101376u);
  EXPECT_EQ(sharedCapacity("sm_121"), 101376u);
  EXPECT_EQ(sharedCapacity("sm_89"), 101376u);
  EXPECT_EQ(sharedCapacity("sm_80"), 166912u);
  EXPECT_EQ(sharedCapacity("sm_75"), 65536u);
}

} // namespace
