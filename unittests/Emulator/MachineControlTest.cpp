//===- MachineControlTest.cpp - branches, barriers, memory errors ---------===//
//
// Part of the blockscale project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "MachineHarness.h"

#include <chrono>
#include <thread>

using namespace blockscale::emulator;
using namespace blockscale::emulator::test;

namespace {

TEST(MachineControl, LanesReconverge) {
  // Each lane loops `lane` times; then all of them must vote together.
  Simple s = runBody("mov.u32 %r10, 0;\nL: setp.ge.u32 %p1, %r10, %r1;\n"
                     "@%p1 bra D;\nadd.u32 %r10, %r10, 1;\nbra L;\n"
                     "D: vote.sync.ballot.b32 %r11, 1, 0xFFFFFFFF;\n"
                     "add.u32 %r11, %r11, %r10;\nst.global.b32 [%rd1], %r11;");
  expectClean(s.result);
  for (uint32_t lane = 0; lane != 32; ++lane)
    EXPECT_EQ(s.out[lane], 0xFFFFFFFFu + lane);
}

TEST(MachineControl, SpinInsideWarpEnds) {
  // Lane 0 frees the others, which spin at a lower address.
  Simple s = runBody(
      "setp.eq.u32 %p1, %r1, 0;\nmov.u32 %r10, flag;\n"
      "@%p1 st.shared.b32 [%r10], 0;\nbar.warp.sync -1;\n@%p1 bra S;\n"
      "W: ld.volatile.shared.b32 %r11, [%r10];\nsetp.eq.u32 %p2, %r11, 0;\n"
      "@%p2 bra W;\nbra E;\nS: st.volatile.shared.b32 [%r10], 5;\n"
      "mov.u32 %r11, 6;\nE: st.global.b32 [%rd1], %r11;",
      {}, 32, 1, {}, 1, ".shared .align 4 .b32 flag;\n");
  expectClean(s.result);
  EXPECT_EQ(s.out[0], 6u);
  EXPECT_EQ(s.out[7], 5u);
}

TEST(MachineControl, BranchTable) {
  Simple s = runBody("and.b32 %r5, %r1, 1;\nts: .branchtargets A, B;\n"
                     "brx.idx %r5, ts;\nA: mov.u32 %r10, 10;\nbra E;\n"
                     "B: mov.u32 %r10, 20;\nE: st.global.b32 [%rd1], %r10;");
  expectClean(s.result);
  EXPECT_EQ(s.out[2], 10u);
  EXPECT_EQ(s.out[3], 20u);
}

TEST(MachineControl, CallOfDivergedLanes) {
  std::string callee =
      ".func (.param .b32 ret) twice(.param .b32 a)\n{\n.reg .b32 %r<3>;\n"
      "ld.param.b32 %r1, [a];\nadd.s32 %r2, %r1, %r1;\nst.param.b32 [ret], "
      "%r2;\nret;\n}\n";
  Simple s =
      runBody("setp.lt.u32 %p1, %r1, 4;\nmov.u32 %r10, %r1;\n@%p1 bra E;\n"
              "{ .param .b32 p0; .param .b32 r0; st.param.b32 [p0], %r1;\n"
              "call.uni (r0), twice, (p0); ld.param.b32 %r10, [r0]; }\n"
              "E: st.global.b32 [%rd1], %r10;",
              {}, 32, 1, {}, 1, callee);
  expectClean(s.result);
  EXPECT_EQ(s.out[3], 3u);
  EXPECT_EQ(s.out[5], 10u);
}

TEST(MachineControl, BarrierOrdersWarps) {
  Simple s = runBody(
      "mov.u32 %r10, buf;\nshl.b32 %r11, %r1, 2;\nadd.u32 %r12, %r10, %r11;\n"
      "st.shared.b32 [%r12], %r1;\nbar.sync 0;\nxor.b32 %r13, %r1, 127;\n"
      "shl.b32 %r13, %r13, 2;\nadd.u32 %r13, %r10, %r13;\n"
      "ld.shared.b32 %r14, [%r13];\nst.global.b32 [%rd1], %r14;",
      {}, 128, 3, {}, 1, ".shared .align 4 .b32 buf[128];\n");
  expectClean(s.result);
  EXPECT_EQ(s.out[0], 127u);
  EXPECT_EQ(s.out[128 * 2 + 100], 27u);
}

TEST(MachineControl, UninitialisedSharedReachesGlobal) {
  Simple s = runBody("mov.u32 %r10, buf;\nld.shared.b32 %r11, [%r10];\nadd.u32 "
                     "%r12, %r11, 1;\n"
                     "st.global.b32 [%rd1], %r12;",
                     {}, 32, 1, {}, 1, ".shared .align 4 .b32 buf[4];\n");
  ASSERT_EQ(firstKind(s.result), FindingKind::Uninitialised);
  // Reading and dropping it is no error.
  s = runBody("mov.u32 %r10, buf;\nld.shared.b32 %r11, [%r10];\nst.global.b32 "
              "[%rd1], %r1;",
              {}, 32, 1, {}, 1, ".shared .align 4 .b32 buf[4];\n");
  expectClean(s.result);
}

TEST(MachineControl, OutOfBounds) {
  Simple s =
      runBody("setp.eq.u32 %p1, %r1, 9;\n@%p1 st.global.b32 [%rd1+1024], %r1;");
  ASSERT_EQ(firstKind(s.result), FindingKind::OutOfBounds);
  EXPECT_EQ(s.result.findings[0].lane, 9);
  s = runBody("mov.u32 %r10, buf;\nld.shared.b32 %r11, [%r10+4096];", {}, 32, 1,
              {}, 1, ".shared .align 4 .b32 buf[4];\n");
  EXPECT_EQ(firstKind(s.result), FindingKind::OutOfBounds);
  s = runBody("st.global.b32 [%rd2], %r1;");
  EXPECT_EQ(firstKind(s.result), FindingKind::ReadOnly);
  s = runBody("ld.global.b32 %r5, [%rd2+2];");
  EXPECT_EQ(firstKind(s.result), FindingKind::Misaligned);
  s = runBody("mov.b64 %rd5, 0;\nld.b32 %r5, [%rd5];");
  EXPECT_EQ(firstKind(s.result), FindingKind::OutOfBounds);
}

TEST(MachineControl, DeadlockNamesTheBarrier) {
  Simple s = runBody(
      "mov.u32 %r10, bar;\nmbarrier.init.shared.b64 [%r10], 2;\n"
      "setp.eq.u32 %p1, %r1, 0;\n@%p1 mbarrier.arrive.shared.b64 _, [%r10];\n"
      "W: mbarrier.try_wait.parity.shared.b64 %p2, [%r10], 0;\n@!%p2 bra W;",
      {}, 1, 1, {}, 1, ".shared .align 8 .b64 bar;\n");
  ASSERT_EQ(firstKind(s.result), FindingKind::Deadlock);
  EXPECT_NE(s.result.findings[0].message.find("expected arrivals 2, pending 1"),
            std::string::npos)
      << s.result.findings[0].message;
}

TEST(MachineControl, DivergentBarrierIsADeadlock) {
  Simple s =
      runBody("setp.eq.u32 %p1, %r1, 0;\n@%p1 bra L;\nbar.sync 0;\nbra E;\n"
              "L: bar.sync 0;\nE: st.global.b32 [%rd1], %r1;");
  EXPECT_EQ(firstKind(s.result), FindingKind::Deadlock);
}

TEST(MachineControl, StepLimit) {
  Options options;
  options.stepLimit = 10000;
  Simple s = runBody("L: add.u32 %r5, %r5, 1;\nbra L;", {}, 32, 1, options);
  EXPECT_EQ(firstKind(s.result), FindingKind::StepLimit);
}

TEST(MachineControl, StopsWhenAsked) {
  std::atomic<bool> stop{false};
  Options options;
  options.stop = &stop;
  std::thread other([&] {
    std::this_thread::sleep_for(std::chrono::milliseconds(100));
    stop = true;
  });
  Simple s = runBody("L: add.u32 %r5, %r5, 1;\nbra L;", {}, 32, 1, options);
  other.join();
  EXPECT_TRUE(s.result.stopped);
  expectClean(s.result);
  EXPECT_EQ(s.result.counters.clusters, 0u);
  stop = false;
  s = runBody("st.global.b32 [%rd1], %r1;", {}, 32, 1, options);
  EXPECT_FALSE(s.result.stopped);
  EXPECT_EQ(s.result.counters.clusters, 1u);
}

TEST(MachineControl, UnsupportedIsRefusedBeforeTheRun) {
  Simple s = runBody(
      "st.global.b32 [%rd1], %r1;\nvmad.u32.u32.u32.po %r5, %r1, %r1, %r1;");
  ASSERT_EQ(firstKind(s.result), FindingKind::Unsupported);
  EXPECT_GT(s.result.findings[0].line, 0u);
  EXPECT_EQ(s.out[0], 0xAAAAAAAAu);
}

TEST(MachineControl, RemoteSharedMemory) {
  // Each CTA writes its rank into the other one's memory.
  Simple s =
      runBody("mov.u32 %r10, buf;\nmov.u32 %r11, %cluster_ctarank;\nxor.b32 "
              "%r12, %r11, 1;\n"
              "mapa.shared::cluster.u32 %r13, %r10, %r12;\n"
              "barrier.cluster.arrive.aligned;\nbarrier.cluster.wait.aligned;\n"
              "add.u32 %r14, %r11, 70;\nsetp.eq.u32 %p1, %r1, 0;\n"
              "@%p1 st.shared::cluster.b32 [%r13], %r14;\n"
              "barrier.cluster.arrive.aligned;\nbarrier.cluster.wait.aligned;\n"
              "ld.shared.b32 %r15, [%r10];\nst.global.b32 [%rd1], %r15;",
              {}, 64, 4, {}, 2, ".shared .align 4 .b32 buf;\n");
  expectClean(s.result);
  EXPECT_EQ(s.out[0], 71u);
  EXPECT_EQ(s.out[64], 70u);
  EXPECT_EQ(s.out[255], 70u);
}

TEST(MachineControl, ExplicitClusters) {
  const char *text = "mov.pred %p1, %is_explicit_cluster;\n"
                     "selp.b32 %r10, 7, 3, %p1;\nst.global.b32 [%rd1], %r10;";
  Simple alone = runBody(text), pair = runBody(text, {}, 32, 2, {}, 2);
  expectClean(alone.result);
  expectClean(pair.result);
  EXPECT_EQ(alone.out[0], 3u);
  EXPECT_EQ(pair.out[63], 7u);
}

TEST(MachineControl, AtomicsOfManyThreads) {
  Options options;
  options.threads = 2;
  Simple s = runBody("sub.s64 %rd5, %rd1, %rd3;\nsetp.eq.u32 %p1, %r4, 0;\n"
                     "atom.global.add.u32 %r10, [%rd5], 1;",
                     {}, 64, 8, options);
  expectClean(s.result);
  EXPECT_EQ(s.out[0], 0xAAAAAAAAu + 512);
}

TEST(MachineControl, ShuffleAndRedux) {
  Simple s =
      runBody("shfl.sync.bfly.b32 %r10|%p1, %r1, 16, 31, -1;\n"
              "redux.sync.add.u32 %r11, %r1, -1;\nshl.b32 %r11, %r11, 8;\n"
              "elect.sync %r12|%p2, -1;\nselp.b32 %r13, 0x1000000, 0, %p2;\n"
              "or.b32 %r10, %r10, %r11;\nor.b32 %r10, %r10, "
              "%r13;\nst.global.b32 [%rd1], %r10;");
  expectClean(s.result);
  EXPECT_EQ(s.out[0], 0x1000000u | 496u << 8 | 16);
  EXPECT_EQ(s.out[20], 496u << 8 | 4);
}

} // namespace
