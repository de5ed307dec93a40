//===- MachineTensorTest.cpp - a whole block-scaled GEMM in PTX -----------===//
//
// Part of the blockscale project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// One CTA, 128 x 64 x 128, e4m3 with ue8m0 scales of 32: tensor maps, bulk
// copies, mbarriers, scale copies, four MMAs, tensor-memory loads, stores.
//
//===----------------------------------------------------------------------===//

#include "MachineHarness.h"

#include <cmath>

using namespace blockscale::emulator;
using namespace blockscale::emulator::test;

namespace {

constexpr unsigned kM = 128, kN = 64, kK = 128;

/// %r20..%r23: shared addresses of A, B, scales of A and of B.
std::string kernel() {
  std::string text = kHeader + R"(
.extern .shared .align 1024 .b8 smem[];
.shared .align 8 .b64 full;
.shared .align 8 .b64 done;
.shared .align 4 .b32 slot;
.visible .entry gemm(.param .align 128 .b8 mapA[128], .param .align 128 .b8 mapB[128],
                     .param .u64 sfa, .param .u64 sfb, .param .u64 out)
.reqntid 128
{
.reg .pred %p<8>;
.reg .b32 %r<128>;
.reg .b64 %rd<64>;
mov.u32 %r1, %tid.x;
mov.u32 %r2, full;
mov.u32 %r3, done;
mov.u32 %r4, slot;
mov.u32 %r20, smem;
add.u32 %r21, %r20, 16384;
add.u32 %r22, %r21, 8192;
add.u32 %r23, %r22, 512;
setp.eq.u32 %p1, %r1, 0;
@%p1 mbarrier.init.shared::cta.b64 [%r2], 1;
@%p1 mbarrier.init.shared::cta.b64 [%r3], 1;
fence.mbarrier_init.release.cluster;
setp.lt.u32 %p2, %r1, 32;
@%p2 tcgen05.alloc.cta_group::1.sync.aligned.shared::cta.b32 [%r4], 128;
@%p2 tcgen05.relinquish_alloc_permit.cta_group::1.sync.aligned;
bar.sync 0;
ld.shared.b32 %r5, [%r4];
@!%p1 bra EPILOGUE;
mov.b64 %rd1, mapA;
cvta.param.u64 %rd1, %rd1;
mov.b64 %rd2, mapB;
cvta.param.u64 %rd2, %rd2;
ld.param.u64 %rd3, [sfa];
ld.param.u64 %rd4, [sfb];
mov.u32 %r6, 0;
mbarrier.arrive.expect_tx.shared::cta.b64 _, [%r2], 25600;
cp.async.bulk.tensor.2d.shared::cluster.global.mbarrier::complete_tx::bytes [%r20], [%rd1, {%r6, %r6}], [%r2];
cp.async.bulk.tensor.2d.shared::cluster.global.mbarrier::complete_tx::bytes [%r21], [%rd2, {%r6, %r6}], [%r2];
cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [%r22], [%rd3], 512, [%r2];
cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [%r23], [%rd4], 512, [%r2];
FULL:
mbarrier.try_wait.parity.shared::cta.b64 %p3, [%r2], 0;
@!%p3 bra FULL;
// descriptors: start >> 4, stride 1024 (A, B) or 128 (scales), constant 1
shr.u32 %r7, %r20, 4;
cvt.u64.u32 %rd10, %r7;
or.b64 %rd10, %rd10, 0x4000404000010000;
shr.u32 %r7, %r21, 4;
cvt.u64.u32 %rd11, %r7;
or.b64 %rd11, %rd11, 0x4000404000010000;
shr.u32 %r7, %r22, 4;
cvt.u64.u32 %rd12, %r7;
or.b64 %rd12, %rd12, 0x0000400800000000;
shr.u32 %r7, %r23, 4;
cvt.u64.u32 %rd13, %r7;
or.b64 %rd13, %rd13, 0x0000400800000000;
add.u32 %r8, %r5, 64;
add.u32 %r9, %r5, 68;
tcgen05.cp.cta_group::1.32x128b.warpx4 [%r8], %rd12;
tcgen05.cp.cta_group::1.32x128b.warpx4 [%r9], %rd13;
mov.u32 %r10, 0x08900000;
setp.ne.u32 %p4, %r6, 0;
)";
  for (int step = 0; step != 4; ++step)
    text +=
        R"(tcgen05.mma.cta_group::1.kind::mxf8f6f4.block_scale [%r5], %rd10, %rd11, %r10, [%r8], [%r9], %p4;
setp.eq.u32 %p4, %r6, 0;
add.s64 %rd10, %rd10, 2;
add.s64 %rd11, %rd11, 2;
add.u32 %r10, %r10, 0x20000010;
)";
  text +=
      R"(tcgen05.commit.cta_group::1.mbarrier::arrive::one.shared::cluster.b64 [%r3];
EPILOGUE:
mbarrier.try_wait.parity.shared::cta.b64 %p5, [%r3], 0;
@!%p5 bra EPILOGUE;
bar.warp.sync -1;
tcgen05.fence::after_thread_sync;
and.b32 %r11, %r1, 96;
shl.b32 %r11, %r11, 16;
add.u32 %r11, %r11, %r5;
tcgen05.ld.sync.aligned.32x32b.x64.b32 {)";
  for (int i = 0; i != 64; ++i)
    text += (i ? ", %r" : "%r") + std::to_string(32 + i);
  text += R"(}, [%r11];
tcgen05.wait::ld.sync.aligned;
ld.param.u64 %rd20, [out];
mul.wide.u32 %rd21, %r1, 256;
add.s64 %rd20, %rd20, %rd21;
)";
  for (int i = 0; i != 64; i += 4)
    text += "st.global.v4.b32 [%rd20+" + std::to_string(4 * i) + "], {%r" +
            std::to_string(32 + i) + ", %r" + std::to_string(33 + i) + ", %r" +
            std::to_string(34 + i) + ", %r" + std::to_string(35 + i) + "};\n";
  return text + R"(bar.sync 0;
@%p2 tcgen05.dealloc.cta_group::1.sync.aligned.b32 %r5, 128;
ret;
}
)";
}

TensorMap mapOf(unsigned rows) {
  TensorMap map;
  map.type = TensorMapType::U8;
  map.rank = 2;
  map.globalDim = {kK, rows, 0, 0, 0};
  map.globalStrides = {kK, 0, 0, 0};
  map.boxDim = {kK, rows, 0, 0, 0};
  map.swizzle = Swizzle::B128;
  return map;
}

/// Codes of 0, 1, 2, -1 in e4m3.
constexpr uint8_t kCodes[4] = {0x00, 0x38, 0x40, 0xB8};
constexpr float kValues[4] = {0, 1, 2, -1};

struct Problem {
  std::vector<uint8_t> a, b, sfa, sfb;
  std::vector<float> out, expected;
  Launch launch;

  static unsigned pickA(unsigned m, unsigned k) {
    return (m * 7 + k * 5 + m * k / 9) % 4;
  }
  static unsigned pickB(unsigned n, unsigned k) {
    return (n * 3 + k * 11 + n * k / 7) % 4;
  }
  static int scaleA(unsigned m, unsigned j) { return int((m + 3 * j) % 5) - 2; }
  static int scaleB(unsigned n, unsigned j) { return int((2 * n + j) % 7) - 3; }

  Problem()
      : a(kM * kK), b(kN * kK), sfa(512, 127), sfb(512, 127), out(kM * kN, -1),
        expected(kM * kN) {
    for (unsigned m = 0; m != kM; ++m)
      for (unsigned k = 0; k != kK; ++k)
        a[m * kK + k] = kCodes[pickA(m, k)];
    for (unsigned n = 0; n != kN; ++n)
      for (unsigned k = 0; k != kK; ++k)
        b[n * kK + k] = kCodes[pickB(n, k)];
    for (unsigned j = 0; j != 4; ++j) {
      for (unsigned m = 0; m != kM; ++m)
        sfa[m % 32 * 16 + m / 32 * 4 + j] = uint8_t(127 + scaleA(m, j));
      for (unsigned n = 0; n != kN; ++n)
        sfb[n % 32 * 16 + n / 32 * 4 + j] = uint8_t(127 + scaleB(n, j));
    }
    for (unsigned m = 0; m != kM; ++m)
      for (unsigned n = 0; n != kN; ++n)
        for (unsigned k = 0; k != kK; ++k)
          expected[m * kN + n] +=
              std::ldexp(kValues[pickA(m, k)] * kValues[pickB(n, k)],
                         scaleA(m, k / 32) + scaleB(n, k / 32));
    launch.kernel = "gemm";
    launch.block.x = 128;
    launch.dynamicSharedBytes = 16384 + 8192 + 1024;
    launch.buffers = {bufferOf(a, false), bufferOf(b, false),
                      bufferOf(sfa, false), bufferOf(sfb, false),
                      bufferOf(out)};
    launch.arguments = {
        TensorMapArgument{mapOf(kM), 0, 0}, TensorMapArgument{mapOf(kN), 1, 0},
        BufferArgument{2, 0}, BufferArgument{3, 0}, BufferArgument{4, 0}};
  }
};

std::string replaced(std::string text, const std::string &from,
                     const std::string &to) {
  size_t at = text.find(from);
  EXPECT_NE(at, std::string::npos) << from;
  return at == std::string::npos ? text : text.replace(at, from.size(), to);
}

class Gemm : public testing::TestWithParam<Completion> {};

TEST_P(Gemm, MatchesPlainLoop) {
  Problem p;
  Options options;
  options.completion = GetParam();
  RunResult result = runText(kernel(), p.launch, options);
  expectClean(result);
  for (unsigned i = 0; i != kM * kN; ++i)
    ASSERT_EQ(p.out[i], p.expected[i])
        << "row " << i / kN << " column " << i % kN;
  EXPECT_EQ(result.counters.mmas[4], 4u);
  EXPECT_EQ(result.counters.tensorCopies, 2u);
  EXPECT_EQ(result.counters.tmaLoadBytes, 25600u);
  EXPECT_EQ(result.counters.commits, 1u);
}
INSTANTIATE_TEST_SUITE_P(Completion, Gemm,
                         testing::Values(Completion::Immediate,
                                         Completion::Random,
                                         Completion::Latest));

TEST(GemmMutation, TraceNamesDescriptorFields) {
  Problem p;
  Options options;
  std::vector<std::string> lines;
  options.trace = [&](std::string_view line) {
    if (line.find("event=mma") != std::string_view::npos)
      lines.emplace_back(line);
  };
  expectClean(runText(kernel(), p.launch, options));
  ASSERT_EQ(lines.size(), 4u);
  EXPECT_NE(lines[2].find("kind=mxf8f6f4"), std::string::npos) << lines[2];
  EXPECT_NE(lines[2].find("m=128 n=64 k=32"), std::string::npos) << lines[2];
  EXPECT_NE(lines[2].find("scale_id_a=2 scale_id_b=2"), std::string::npos)
      << lines[2];
}

TEST(GemmMutation, WrongTransactionCountDeadlocks) {
  Problem p;
  RunResult result = runText(replaced(kernel(), "25600", "25616"), p.launch);
  EXPECT_EQ(firstKind(result), FindingKind::Deadlock);
}

TEST(GemmMutation, LeakIsReported) {
  Problem p;
  RunResult result = runText(
      replaced(kernel(),
               "@%p2 tcgen05.dealloc.cta_group::1.sync.aligned.b32 %r5, 128;",
               ""),
      p.launch);
  EXPECT_EQ(firstKind(result), FindingKind::TensorMemory);
}

TEST(GemmMutation, MissingScaleCopyReadsUninitialised) {
  Problem p;
  RunResult result = runText(
      replaced(kernel(), "tcgen05.cp.cta_group::1.32x128b.warpx4 [%r9], %rd13;",
               ""),
      p.launch);
  EXPECT_EQ(firstKind(result), FindingKind::Uninitialised);
}

TEST(GemmMutation, MissingWaitReadsTooEarly) {
  Problem p;
  Options options;
  options.completion = Completion::Latest;
  RunResult result =
      runText(replaced(kernel(), "@!%p3 bra FULL;", ""), p.launch, options);
  // try_wait may return false: its result counts.
  ASSERT_FALSE(result.clean());
  EXPECT_EQ(result.findings.front().hazard, 13u);
  // Without the wait itself the accumulator is still empty.
  result = runText(
      replaced(
          replaced(kernel(),
                   "mbarrier.try_wait.parity.shared::cta.b64 %p5, [%r3], 0;",
                   ""),
          "@!%p5 bra EPILOGUE;", ""),
      p.launch, options);
  EXPECT_EQ(firstKind(result), FindingKind::Uninitialised);
}

TEST(GemmMutation, WrongScaleIdGivesWrongNumbers) {
  Problem p;
  RunResult result = runText(
      replaced(kernel(), "add.u32 %r10, %r10, 0x20000010;", ""), p.launch);
  expectClean(result);
  EXPECT_NE(p.out, p.expected);
}

TEST(GemmMutation, IllegalDescriptor) {
  Problem p;
  RunResult result =
      runText(replaced(kernel(), "0x08900000", "0x08900008"), p.launch);
  EXPECT_EQ(firstKind(result), FindingKind::Descriptor);
}

} // namespace
