//===- MachineAtomicsTest.cpp - atomics of 128 bits and of vectors --------===//
//
// Part of the blockscale project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "MachineHarness.h"

#include <algorithm>
#include <array>
#include <set>

using namespace blockscale::emulator;
using namespace blockscale::emulator::test;

namespace {

using Words = std::vector<uint32_t>;
using Quad = std::array<uint32_t, 4>;

/// Runs a body on buffers of any size; %rd10 and %rd11 are their starts.
RunResult runOn(const std::string &instructions, Words &out, Words &in,
                unsigned threads, unsigned ctas = 1) {
  Launch launch;
  launch.kernel = "k";
  launch.grid.x = ctas;
  launch.block.x = threads;
  launch.buffers = {bufferOf(out), bufferOf(in)};
  launch.arguments = {BufferArgument{0, 0}, BufferArgument{1, 0}};
  return runText(body("ld.param.u64 %rd10, [out];\nld.param.u64 %rd11, [in];\n"
                      "mul.wide.u32 %rd12, %r4, 16;\n"
                      "add.s64 %rd12, %rd12, %rd10;\n" +
                          instructions,
                      ".shared .align 16 .b8 data[16];\n"),
                 launch, {});
}

Quad quadOf(const Words &words, size_t index) {
  return {words[4 * index], words[4 * index + 1], words[4 * index + 2],
          words[4 * index + 3]};
}

/// What thread t gives.
Quad given(uint32_t t) { return {t, t * 3 + 1, ~t, t << 8}; }
const char kGiven[] = "mad.lo.u32 %r11, %r4, 3, 1;\nnot.b32 %r12, %r4;\n"
                      "shl.b32 %r13, %r4, 8;\n"
                      "mov.b128 %q1, {%rd20, %rd21};\n";
const char kPack[] = "mov.b64 %rd20, {%r4, %r11};\n"
                     "mov.b64 %rd21, {%r12, %r13};\n";

std::string pack() {
  std::string text = kGiven;
  text.insert(text.find("mov.b128"), kPack);
  return text;
}

TEST(MachineAtomics, ExchangeOf128BitsLosesNoValue) {
  for (const char *space : {".global", ""}) {
    Words in = {7, 8, 9, 10}, out(4 * 128);
    expectClean(runOn(pack() + "atom" + space +
                          ".exch.b128 %q2, [%rd11], %q1;\n"
                          "st.global.b128 [%rd12], %q2;\n",
                      out, in, 64, 2));
    std::multiset<Quad> seen = {quadOf(in, 0)}, expected = {{7, 8, 9, 10}};
    for (uint32_t t = 0; t != 128; ++t) {
      seen.insert(quadOf(out, t));
      expected.insert(given(t));
    }
    EXPECT_EQ(seen, expected);
  }
}

TEST(MachineAtomics, CompareAndSwapOf128BitsHasOneWinner) {
  // The words of the comparison differ from the location in the last one only
  // for odd threads.
  Words in = {7, 8, 9, 10}, out(4 * 64);
  expectClean(runOn(pack() + "and.b32 %r14, %r4, 1;\nadd.u32 %r14, %r14, 10;\n"
                             "mov.b32 %r15, 7;\nmov.b32 %r16, 8;\n"
                             "mov.b32 %r17, 9;\n"
                             "mov.b64 %rd22, {%r15, %r16};\n"
                             "mov.b64 %rd23, {%r17, %r14};\n"
                             "mov.b128 %q2, {%rd22, %rd23};\n"
                             "atom.global.cas.b128 %q3, [%rd11], %q2, %q1;\n"
                             "st.global.b128 [%rd12], %q3;\n",
                    out, in, 64));
  Quad last = quadOf(in, 0);
  ASSERT_LT(last[0], 64u);
  EXPECT_EQ(last, given(last[0]));
  EXPECT_EQ(last[0] % 2, 0u);
  unsigned early = 0;
  for (uint32_t t = 0; t != 64; ++t) {
    bool before = quadOf(out, t) == Quad{7, 8, 9, 10};
    EXPECT_TRUE(before || quadOf(out, t) == last) << t;
    EXPECT_TRUE(t != last[0] || before);
    early += before && t % 2 == 0;
  }
  EXPECT_EQ(early, 1u);
}

TEST(MachineAtomics, SharedMemoryOf128BitsNeedsAValue) {
  Words in(4), out(4 * 32);
  std::string exchange = pack() + "mov.u32 %r20, data;\n"
                                  "atom.shared.exch.b128 %q2, [%r20], %q1;\n";
  std::string swap = "atom.shared.cas.b128 %q2, [%r20], %q1, %q1;\n";
  expectClean(runOn(exchange + swap, out, in, 32));
  RunResult result =
      runOn(pack() + "mov.u32 %r20, data;\n" + swap, out, in, 32);
  EXPECT_EQ(firstKind(result), FindingKind::Uninitialised);
  result = runOn(pack() + "atom.global.exch.b128 %q2, [%rd11+8], %q1;\n", out,
                 in, 32);
  EXPECT_EQ(firstKind(result), FindingKind::Misaligned);
}

TEST(MachineAtomics, VectorsOfF32) {
  // 1, 2, 3, 4 in the location; thread t adds t, 2 t, -t, 0.5.
  Words in = {0x3f800000, 0x40000000, 0x40400000, 0x40800000}, out(4 * 32);
  expectClean(runOn("cvt.rn.f32.u32 %f1, %r4;\nadd.f32 %f2, %f1, %f1;\n"
                    "neg.f32 %f3, %f1;\nmov.b32 %f4, 0f3f000000;\n"
                    "atom.global.v4.f32.add {%f5, %f6, %f7, %f8}, [%rd11], "
                    "{%f1, %f2, %f3, %f4};\n"
                    "st.global.v4.f32 [%rd12], {%f5, %f6, %f7, %f8};\n",
                    out, in, 32));
  // 496 = 0 + ... + 31.
  const float sums[4] = {497, 994, -493, 20};
  for (unsigned i = 0; i != 4; ++i) {
    float value;
    std::memcpy(&value, &in[i], 4);
    EXPECT_EQ(value, sums[i]) << i;
  }
  // What the threads saw in the last element: 4, 4.5, 5 and so on.
  std::multiset<float> seen, expected;
  for (unsigned t = 0; t != 32; ++t) {
    float value;
    std::memcpy(&value, &out[4 * t + 3], 4);
    seen.insert(value);
    expected.insert(4 + 0.5f * float(t));
  }
  EXPECT_EQ(seen, expected);
}

TEST(MachineAtomics, VectorsOfHalves) {
  // Eight bf16, 1 to 8; each of 32 threads adds 1, so all sums are exact.
  Words in = {0x40003f80, 0x40804040, 0x40c040a0, 0x410040e0}, out(4 * 32);
  expectClean(runOn("mov.b16 %h1, 0x3f80;\n"
                    "red.global.v8.bf16.add.noftz [%rd11], {%h1, %h1, %h1, "
                    "%h1, %h1, %h1, %h1, %h1};\n",
                    out, in, 32));
  EXPECT_EQ(in, (Words{0x42084204, 0x4210420c, 0x42184214, 0x4220421c}));
  // f16 4, 1, 3, 2 against 2.5 and 2: the largest, pair by pair.
  in = {0x3c004400, 0x40004200, 0, 0};
  expectClean(runOn("mov.b32 %r10, 0x40004100;\n"
                    "red.global.v2.f16x2.max.noftz [%rd11], {%r10, %r10};\n",
                    out, in, 32));
  EXPECT_EQ(in, (Words{0x40004400, 0x40004200, 0, 0}));
}

//===----------------------------------------------------------------------===//
// red.async
//===----------------------------------------------------------------------===//

/// Both CTAs of a cluster reduce 32 words into the first one.
std::string reduceAsync(const std::string &op, bool init = true) {
  return "mov.u32 %r10, bar;\nmov.u32 %r11, words;\n"
         "mov.u32 %r12, %cluster_ctarank;\nsetp.eq.u32 %p1, %r1, 0;\n"
         "shl.b32 %r13, %r1, 2;\nadd.u32 %r13, %r13, %r11;\n"
         "ld.global.u32 %r14, [%rd2];\nmov.u32 %r15, 40;\n" +
         std::string(init ? "st.shared.u32 [%r13], %r15;\n" : "") +
         "setp.eq.and.u32 %p2, %r12, 0, %p1;\n"
         "@%p2 mbarrier.init.shared::cta.b64 [%r10], 1;\n"
         "@%p2 mbarrier.arrive.expect_tx.shared::cta.b64 _, [%r10], 256;\n"
         "fence.mbarrier_init.release.cluster;\n"
         "barrier.cluster.arrive.aligned;\nbarrier.cluster.wait.aligned;\n"
         "mapa.shared::cluster.u32 %r16, %r13, 0;\n"
         "mapa.shared::cluster.u32 %r17, %r10, 0;\n"
         "red.async.relaxed.cluster.shared::cluster.mbarrier::complete_tx::"
         "bytes." +
         op +
         " [%r16], %r14, [%r17];\nsetp.ne.u32 %p3, %r12, 0;\n@%p3 bra D;\n"
         "W: mbarrier.try_wait.parity.acquire.cluster.shared::cta.b64 %p4, "
         "[%r10], 0;\n@!%p4 bra W;\n"
         "bar.warp.sync -1;\nld.shared.u32 %r18, [%r13];\n"
         "st.global.u32 [%rd1], %r18;\nD:\n"
         "barrier.cluster.arrive.aligned;\nbarrier.cluster.wait.aligned;\n";
}
const char kWords[] = ".shared .align 8 .b64 bar;\n"
                      ".shared .align 4 .b8 words[128];\n";

TEST(MachineAtomics, AsynchronousReductions) {
  Words in(64);
  for (uint32_t i = 0; i != 64; ++i)
    in[i] = i < 32 ? 3 * i : 100 - i;
  for (Completion completion : {Completion::Immediate, Completion::Latest}) {
    Options options;
    options.completion = completion;
    auto words = [&](const char *op) {
      Simple s = runBody(reduceAsync(op), in, 32, 2, options, 2, kWords);
      expectClean(s.result);
      return s.out;
    };
    Words sums = words("add.u32"), largest = words("max.s32"),
          bits = words("xor.b32");
    for (uint32_t t = 0; t != 32; ++t) {
      EXPECT_EQ(sums[t], 40 + in[t] + in[32 + t]) << t;
      EXPECT_EQ(largest[t], std::max({40u, in[t], in[32 + t]})) << t;
      EXPECT_EQ(bits[t], 40 ^ in[t] ^ in[32 + t]) << t;
    }
  }
  Simple s = runBody(reduceAsync("add.u32", false), in, 32, 2, {}, 2, kWords);
  EXPECT_EQ(firstKind(s.result), FindingKind::Uninitialised);
}

TEST(MachineAtomics, DiscardedBytesAreLost) {
  Words in(32, 5), out(32, 6);
  expectClean(runOn("setp.eq.u32 %p1, %r1, 0;\n"
                    "@%p1 discard.global.L2 [%rd10], 128;\n",
                    out, in, 32));
  for (uint32_t word : out)
    EXPECT_NE(word, 6u);
  EXPECT_EQ(
      firstKind(runOn("discard.global.L2 [%rd10+64], 128;\n", out, in, 1)),
      FindingKind::Misaligned);
}

} // namespace
