//===- MachineFamiliesTest.cpp - families that no other test runs ---------===//
//
// Part of the blockscale project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "MachineHarness.h"

#include <numeric>

using namespace blockscale::emulator;
using namespace blockscale::emulator::test;

namespace {

TEST(MachineFamilies, BarrierReductions) {
  // 64 threads; the predicate holds for multiples of 3 of them: 22.
  Simple s = runBody("rem.u32 %r5, %r1, 3;\nsetp.eq.u32 %p1, %r5, 0;\n"
                     "setp.lt.u32 %p2, %r1, 64;\n"
                     "bar.red.popc.u32 %r6, 0, %p1;\n"
                     "bar.red.and.pred %p3, 0, %p1;\n"
                     "bar.red.or.pred %p4, 0, !%p2;\n"
                     "bar.red.and.pred %p5, 0, %p2;\n"
                     "selp.u32 %r7, 100, 0, %p3;\nselp.u32 %r8, 1000, 0, %p4;\n"
                     "selp.u32 %r9, 10000, 0, %p5;\nadd.u32 %r6, %r6, %r7;\n"
                     "add.u32 %r6, %r6, %r8;\nadd.u32 %r6, %r6, %r9;\n"
                     "st.global.b32 [%rd1], %r6;",
                     {}, 64);
  expectClean(s.result);
  for (uint32_t value : s.out)
    EXPECT_EQ(value, 10022u);
}

TEST(MachineFamilies, BarrierArriveAndSync) {
  // Warp 0 produces and goes on; warp 1 waits for it.
  Simple s =
      runBody("mov.u32 %r10, buf;\nsetp.ge.u32 %p1, %r1, 32;\n@%p1 bra C;\n"
              "st.shared.b32 [%r10], 77;\nbar.arrive 2, 64;\nbra E;\n"
              "C: bar.sync 2, 64;\nld.shared.b32 %r11, [%r10];\n"
              "st.global.b32 [%rd1], %r11;\nE:",
              {}, 64, 1, {}, 1, ".shared .align 4 .b32 buf;\n");
  expectClean(s.result);
  EXPECT_EQ(s.out[0], 0xAAAAAAAAu);
  EXPECT_EQ(s.out[63], 77u);
}

TEST(MachineFamilies, StoreAsync) {
  // Each CTA of a pair sends a word per thread to the other one.
  for (Completion completion : {Completion::Immediate, Completion::Latest}) {
    Options options;
    options.completion = completion;
    Simple s = runBody(
        "mov.u32 %r10, buf;\nmov.u32 %r12, bar;\nsetp.eq.u32 %p1, %r1, 0;\n"
        "@%p1 mbarrier.init.shared.b64 [%r12], 1;\n"
        "@%p1 mbarrier.arrive.expect_tx.shared.b64 _, [%r12], 128;\n"
        "fence.mbarrier_init.release.cluster;\n"
        "barrier.cluster.arrive.aligned;\nbarrier.cluster.wait.aligned;\n"
        "mov.u32 %r13, %cluster_ctarank;\nxor.b32 %r14, %r13, 1;\n"
        "shl.b32 %r15, %r1, 2;\nadd.u32 %r16, %r10, %r15;\n"
        "mapa.shared::cluster.u32 %r17, %r16, %r14;\n"
        "mapa.shared::cluster.u32 %r18, %r12, %r14;\n"
        "mul.lo.u32 %r19, %r13, 1000;\nadd.u32 %r19, %r19, %r1;\n"
        "st.async.shared::cluster.mbarrier::complete_tx::bytes.b32 [%r17], "
        "%r19, [%r18];\n"
        "W: mbarrier.try_wait.parity.shared.b64 %p2, [%r12], 0;\n@!%p2 bra W;\n"
        "ld.shared.b32 %r20, [%r16];\nst.global.b32 [%rd1], %r20;\n"
        "barrier.cluster.arrive.aligned;\nbarrier.cluster.wait.aligned;",
        {}, 32, 2, options, 2,
        ".shared .align 16 .b32 buf[32];\n.shared .align 8 .b64 bar;\n");
    expectClean(s.result);
    for (uint32_t lane = 0; lane != 32; ++lane) {
      EXPECT_EQ(s.out[lane], 1000 + lane);
      EXPECT_EQ(s.out[32 + lane], lane);
    }
  }
}

TEST(MachineFamilies, CopyAsyncFillsWithZeros) {
  // 16 bytes asked for, 4 * (lane % 5) of them read.
  std::vector<uint32_t> in(64 + 4);
  std::iota(in.begin(), in.end(), 500u);
  Simple s = runBody(
      "mov.u32 %r10, buf;\nshl.b32 %r11, %r1, 4;\nadd.u32 %r10, %r10, %r11;\n"
      "rem.u32 %r12, %r1, 5;\nshl.b32 %r12, %r12, 2;\n"
      "sub.s64 %rd5, %rd2, %rd3;\nand.b32 %r13, %r1, 7;\n"
      "mul.wide.u32 %rd6, %r13, 16;\nadd.s64 %rd5, %rd5, %rd6;\n"
      "cp.async.ca.shared.global [%r10], [%rd5], 16, %r12;\n"
      "cp.async.commit_group;\ncp.async.wait_group 0;\n"
      "ld.shared.v4.b32 {%r5, %r6, %r7, %r8}, [%r10];\n"
      "add.u32 %r5, %r5, %r6;\nadd.u32 %r5, %r5, %r7;\nadd.u32 %r5, %r5, %r8;\n"
      "st.global.b32 [%rd1], %r5;",
      in, 32, 1, {}, 1, ".shared .align 16 .b8 buf[512];\n");
  expectClean(s.result);
  for (uint32_t lane = 0; lane != 32; ++lane) {
    uint32_t sum = 0;
    for (uint32_t i = 0; i != lane % 5; ++i)
      sum += 500 + lane % 8 * 4 + i;
    EXPECT_EQ(s.out[lane], sum) << lane;
  }
}

TEST(MachineFamilies, CopyAsyncArrivesOnBarrier) {
  std::vector<uint32_t> in(32);
  std::iota(in.begin(), in.end(), 9u);
  for (Completion completion : {Completion::Immediate, Completion::Latest}) {
    Options options;
    options.completion = completion;
    Simple s = runBody(
        "mov.u32 %r10, buf;\nshl.b32 %r11, %r1, 2;\nadd.u32 %r10, %r10, %r11;\n"
        "mov.u32 %r12, bar;\nsetp.eq.u32 %p1, %r1, 0;\n"
        "@%p1 mbarrier.init.shared.b64 [%r12], 32;\nbar.sync 0;\n"
        "cp.async.ca.shared.global [%r10], [%rd2], 4;\n"
        "cp.async.mbarrier.arrive.noinc.shared.b64 [%r12];\n"
        "W: mbarrier.try_wait.parity.shared.b64 %p2, [%r12], 0;\n@!%p2 bra W;\n"
        "ld.shared.b32 %r5, [%r10];\nst.global.b32 [%rd1], %r5;",
        in, 32, 1, options, 1,
        ".shared .align 16 .b8 buf[128];\n.shared .align 8 .b64 bar;\n");
    expectClean(s.result);
    EXPECT_EQ(s.out, in);
  }
}

TEST(MachineFamilies, AssertionNamesItsText) {
  Simple s = runBody(
      "setp.ne.u32 %p1, %r1, 3;\n@%p1 bra E;\n"
      "mov.b64 %rd5, text;\ncvta.global.u64 %rd5, %rd5;\n"
      "{ .param .b64 p0; .param .b64 p1; .param .b32 p2; .param .b64 p3;\n"
      ".param .b64 p4;\nst.param.b64 [p0], %rd5;\nst.param.b64 [p1], %rd5;\n"
      "st.param.b32 [p2], 42;\nst.param.b64 [p3], %rd5;\nst.param.b64 [p4], "
      "1;\n"
      "call.uni __assertfail, (p0, p1, p2, p3, p4);\n}\nE:",
      {}, 32, 1, {}, 1,
      ".extern .func __assertfail(.param .b64 a, .param .b64 b, .param .b32 "
      "c,\n"
      ".param .b64 d, .param .b64 e);\n"
      ".global .align 1 .b8 text[4] = {97, 62, 98, 0};\n");
  ASSERT_EQ(firstKind(s.result), FindingKind::Trap);
  const Finding &f = s.result.findings[0];
  EXPECT_EQ(f.message, "a>b:42: a>b: block: [0,0,0], thread: [3,0,0] Assertion "
                       "`a>b` failed");
  EXPECT_EQ(f.lane, 3);
}

TEST(MachineFamilies, TensorMapReplaced) {
  // The map in shared memory is written from nothing but its fields, copied to
  // global memory with a fence, acquired and used.
  std::vector<uint32_t> out(64, 0xAAAAAAAA), in(1024);
  std::iota(in.begin(), in.end(), 0u);
  std::vector<uint8_t> space(256);
  std::string text =
      kHeader +
      ".shared .align 128 .b8 smap[128];\n.shared .align 128 .b8 tile[256];\n"
      ".shared .align 8 .b64 bar;\n"
      ".visible .entry k(.param .u64 out, .param .u64 in, .param .u64 "
      "space)\n{\n"
      ".reg .pred %p<4>;\n.reg .b32 %r<16>;\n.reg .b64 %rd<16>;\n"
      "ld.param.u64 %rd1, [out];\nld.param.u64 %rd2, [in];\n"
      "ld.param.u64 %rd3, [space];\nmov.u32 %r1, %tid.x;\nmov.u32 %r2, smap;\n"
      "mov.u32 %r3, tile;\nmov.u32 %r4, bar;\nshl.b32 %r5, %r1, 2;\n"
      "add.u32 %r5, %r5, %r2;\nst.shared.b32 [%r5], 0;\n"
      "setp.eq.u32 %p1, %r1, 0;\n@%p1 mbarrier.init.shared.b64 [%r4], 1;\n"
      "bar.sync 0;\nmov.b64 %rd4, smap;\n";
  auto replace = [&](const std::string &field, const std::string &value,
                     const char *type = "b32") {
    size_t comma = field.find(',');
    text += "@%p1 tensormap.replace.tile." + field.substr(0, comma) +
            ".shared::cta.b1024." + type + " [%rd4]" +
            (comma == std::string::npos ? "" : field.substr(comma)) + ", " +
            value + ";\n";
  };
  text += "mov.b64 %rd5, 128;\nmov.b32 %r6, 32;\nmov.b32 %r7, 8;\n"
          "mov.b32 %r8, 1;\nmov.b32 %r9, 16;\n";
  replace("global_address", "%rd2", "b64");
  replace("rank", "1");
  replace("box_dim, 0", "%r9");
  replace("box_dim, 1", "4");
  replace("global_dim, 0", "%r6");
  replace("global_dim, 1", "%r7");
  replace("global_stride, 0", "%rd5", "b64");
  replace("element_stride, 0", "%r8");
  replace("element_stride, 1", "%r8");
  replace("elemtype", "2");
  replace("interleave_layout", "0");
  replace("swizzle_mode", "0");
  replace("fill_mode", "0");
  text +=
      "bar.sync 0;\ntensormap.cp_fenceproxy.global.shared::cta.tensormap::"
      "generic.release.gpu.sync.aligned [%rd3], [%rd4], 128;\n"
      "fence.proxy.tensormap::generic.acquire.gpu [%rd3], 128;\n"
      "@%p1 mbarrier.arrive.expect_tx.shared.b64 _, [%r4], 256;\n"
      "mov.b32 %r10, 20;\nmov.b32 %r11, 6;\n"
      "@%p1 cp.async.bulk.tensor.2d.shared::cluster.global.mbarrier::"
      "complete_tx::bytes [%r3], [%rd3, {%r10, %r11}], [%r4];\n"
      "W: mbarrier.try_wait.parity.shared.b64 %p2, [%r4], 0;\n@!%p2 bra W;\n"
      "shl.b32 %r5, %r1, 3;\nadd.u32 %r12, %r3, %r5;\n"
      "ld.shared.v2.b32 {%r13, %r14}, [%r12];\ncvt.u64.u32 %rd6, %r5;\n"
      "add.s64 %rd6, %rd6, %rd1;\nst.global.v2.b32 [%rd6], {%r13, %r14};\n"
      "ret;\n}\n";
  Launch launch;
  launch.kernel = "k";
  launch.block.x = 32;
  launch.buffers = {bufferOf(out), bufferOf(in, false), bufferOf(space)};
  launch.arguments = {BufferArgument{0, 0}, BufferArgument{1, 0},
                      BufferArgument{2, 0}};
  expectClean(runText(text, launch));
  for (uint32_t y = 0; y != 4; ++y)
    for (uint32_t x = 0; x != 16; ++x)
      EXPECT_EQ(out[y * 16 + x],
                20 + x < 32 && 6 + y < 8 ? (6 + y) * 32 + 20 + x : 0u)
          << x << " " << y;
}

TEST(MachineFamilies, ByteMatricesWithGaps) {
  // ldmatrix m8n16 of fp4: 8 bytes of data and a gap of 8 per row; element k
  // of row r has code (r + k) % 16. Lane l gets row l / 4, columns 4 (l % 4)
  // on, one byte each.
  std::vector<uint32_t> in(32);
  for (unsigned r = 0; r != 8; ++r)
    for (unsigned k = 0; k != 16; ++k)
      in[r * 4 + k / 8] |= ((r + k) % 16) << k % 8 * 4;
  Simple s = runBody(
      "mov.u32 %r10, buf;\nshl.b32 %r11, %r1, 2;\nadd.u32 %r12, %r10, %r11;\n"
      "ld.global.b32 %r5, [%rd2];\nst.shared.b32 [%r12], %r5;\nbar.sync 0;\n"
      "and.b32 %r13, %r1, 7;\nshl.b32 %r13, %r13, 4;\nadd.u32 %r13, %r13, "
      "%r10;\n"
      "ldmatrix.sync.aligned.m8n16.x1.shared.b8x16.b4x16_p64 {%r6}, [%r13];\n"
      "st.global.b32 [%rd1], %r6;",
      in, 32, 1, {}, 1, ".shared .align 16 .b8 buf[128];\n");
  expectClean(s.result);
  for (uint32_t lane = 0; lane != 32; ++lane) {
    uint32_t expected = 0;
    for (uint32_t i = 0; i != 4; ++i)
      expected |= ((lane / 4 + 4 * (lane % 4) + i) % 16) << 8 * i;
    EXPECT_EQ(s.out[lane], expected) << lane;
  }
}

TEST(MachineFamilies, GapsOfByteMatricesNeedNoData) {
  // TMA does not write the gap after 8 bytes of fp4 or 12 of fp6; a byte
  // before it that nobody wrote is a finding. Every row gets words of ones.
  auto load = [](const char *format, unsigned wordsWritten) {
    std::string words;
    for (unsigned i = 0; i != wordsWritten; ++i)
      words += "st.shared.b32 [%r13+" + std::to_string(4 * i) + "], %r5;\n";
    return runBody("mov.u32 %r10, buf;\nmov.b32 %r5, 0x11111111;\n"
                   "and.b32 %r13, %r1, 7;\nshl.b32 %r13, %r13, 4;\n"
                   "add.u32 %r13, %r13, %r10;\n" +
                       words +
                       "bar.sync 0;\nldmatrix.sync.aligned.m8n16.x1.shared."
                       "b8x16." +
                       format + " {%r6}, [%r13];\nst.global.b32 [%rd1], %r6;",
                   {}, 32, 1, {}, 1, ".shared .align 16 .b8 buf[128];\n");
  };
  Simple fp4 = load("b4x16_p64", 2);
  expectClean(fp4.result);
  EXPECT_EQ(fp4.out[31], 0x01010101u);
  Simple fp6 = load("b6x16_p32", 3);
  expectClean(fp6.result);
  // 0x111111 is the elements 0x11, 0x04, 0x11, 0x04.
  EXPECT_EQ(fp6.out[0], 0x04110411u);
  EXPECT_FALSE(load("b4x16_p64", 1).result.findings.empty());
  EXPECT_FALSE(load("b6x16_p32", 2).result.findings.empty());
}

TEST(MachineFamilies, TransposedInRegisters) {
  // movmatrix: thread l holds (l/4, 2(l%4)) and the next; the transpose holds
  // (2(l%4), l/4) and (2(l%4)+1, l/4).
  Simple s = runBody("shr.u32 %r5, %r1, 2;\nand.b32 %r6, %r1, 3;\n"
                     "mul.lo.u32 %r7, %r5, 8;\nmad.lo.u32 %r7, %r6, 2, %r7;\n"
                     "add.u32 %r8, %r7, 1;\nshl.b32 %r8, %r8, 16;\n"
                     "or.b32 %r7, %r7, %r8;\n"
                     "movmatrix.sync.aligned.m8n8.trans.b16 %r9, %r7;\n"
                     "st.global.b32 [%rd1], %r9;");
  expectClean(s.result);
  for (uint32_t lane = 0; lane != 32; ++lane) {
    uint32_t row = 2 * (lane % 4), column = lane / 4;
    EXPECT_EQ(s.out[lane], (row * 8 + column) | ((row + 1) * 8 + column) << 16);
  }
}

TEST(MachineFamilies, DependentLaunchAndRegisters) {
  Simple s = runBody("griddepcontrol.wait;\nsetmaxnreg.inc.sync.aligned.u32 "
                     "104;\ngriddepcontrol.launch_dependents;\n"
                     "st.global.b32 [%rd1], %r1;",
                     {}, 128);
  expectClean(s.result);
  EXPECT_EQ(s.out[127], 127u);
}

TEST(MachineFamilies, MatchAndVotes) {
  Simple s = runBody("shr.u32 %r5, %r1, 3;\nmatch.any.sync.b32 %r6, %r5, -1;\n"
                     "match.all.sync.b32 %r7|%p1, %r5, -1;\n"
                     "selp.u32 %r8, 1, 0, %p1;\nadd.u32 %r6, %r6, %r8;\n"
                     "vote.sync.all.pred %p2, %p1, -1;\n"
                     "selp.u32 %r8, 2, 0, %p2;\nadd.u32 %r6, %r6, %r8;\n"
                     "st.global.b32 [%rd1], %r6;");
  expectClean(s.result);
  for (uint32_t lane = 0; lane != 32; ++lane)
    EXPECT_EQ(s.out[lane], 0xFFu << lane / 8 * 8);
}

} // namespace
