//===- MachineLookupTest.cpp - tcgen05.mma with .decompress::lut::b -------===//
//
// Part of the blockscale project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A kernel that puts the identity and rows of indices into shared memory and
// tables into tensor memory, multiplies and stores the accumulator: row k of it
// is element k of each row of B.
//
//===----------------------------------------------------------------------===//

#include "Assembler.h"
#include "MachineHarness.h"

#include "blockscale/Emulator/Hazards.h"

using namespace blockscale::emulator;
using namespace blockscale::emulator::test;

namespace {

/// Without swizzle: 16 bytes of 8 rows together, the next 16 bytes of the rows
/// 128 bytes on. A has 64 bytes in a row, B 48, of which the second half
/// counts.
constexpr unsigned kBytesA = 8192, kWords = 2304;

const char *const kMma =
    "tcgen05.mma.cta_group::1.kind::f8f6f4.decompress::lut::b";
const char *const kWait =
    "W: mbarrier.try_wait.parity.shared.b64 %p3, [%r11], 0;\n@!%p3 bra W;\n"
    "tcgen05.fence::after_thread_sync;\n";

std::string kernelOf(const std::string &mnemonic, const std::string &more,
                     const std::string &beforeWait) {
  return ".version 9.4\n.target sm_107a\n.address_size 64\n"
         ".shared .align 1024 .b8 buf[9216];\n.shared .align 8 .b64 bar;\n"
         ".shared .align 8 .b32 slot[2];\n"
         ".visible .entry k(.param .u64 out, .param .u64 in)\n{\n"
         ".reg .pred %p<8>;\n.reg .b32 %r<64>;\n.reg .b64 %rd<16>;\n"
         "ld.param.u64 %rd1, [out];\nld.param.u64 %rd2, [in];\n"
         "mov.u32 %r1, %tid.x;\nmov.u32 %r10, buf;\nmov.u32 %r11, bar;\n"
         "mov.u32 %r12, slot;\nsetp.eq.u32 %p1, %r1, 0;\n"
         "setp.lt.u32 %p2, %r1, 32;\nsetp.ne.u32 %p0, 0, 0;\n"
         "@%p2 tcgen05.alloc.cta_group::1.sync.aligned.shared::cta.b32 [%r12], "
         "64;\n@%p1 mbarrier.init.shared.b64 [%r11], 1;\n"
         "mov.u32 %r2, %r1;\n"
         "COPY: mul.wide.u32 %rd3, %r2, 4;\nadd.s64 %rd3, %rd3, %rd2;\n"
         "ld.global.b32 %r3, [%rd3];\nmad.lo.u32 %r4, %r2, 4, %r10;\n"
         "st.shared.b32 [%r4], %r3;\nadd.u32 %r2, %r2, 128;\n"
         "setp.lt.u32 %p4, %r2, 2304;\n@%p4 bra COPY;\n"
         "fence.proxy.async.shared::cta;\nbar.sync 0;\n"
         "ld.shared.b32 %r14, [%r12];\nand.b32 %r17, %r1, 96;\n"
         "shl.b32 %r17, %r17, 16;\nadd.u32 %r17, %r17, %r14;\n"
         "mul.wide.u32 %rd3, %r1, 8;\nadd.s64 %rd3, %rd3, %rd2;\n"
         "ld.global.v2.b32 {%r5, %r6}, [%rd3+9216];\n"
         "tcgen05.st.sync.aligned.32x32b.x2.b32 [%r17+32], {%r5, %r6};\n"
         "tcgen05.wait::st.sync.aligned;\ntcgen05.fence::before_thread_sync;\n"
         "bar.sync 0;\ntcgen05.fence::after_thread_sync;\n"
         "shr.u32 %r7, %r10, 4;\ncvt.u64.u32 %rd4, %r7;\n"
         "or.b64 %rd5, %rd4, 0x0000402000080000;\n"
         // 512 units of 16 bytes on, groups 384 bytes apart, bit 53.
         "add.u64 %rd6, %rd4, 512;\nor.b64 %rd6, %rd6, 0x0020401800080000;\n"
         "add.u32 %r15, %r14, 32;\nmov.u32 %r16, 0x28040010;\n"
         "@%p1 " +
         mnemonic + " [%r14], %rd5, %rd6, [%r15], %r16, " + more +
         "%p0;\n@%p1 tcgen05.commit.cta_group::1.mbarrier::arrive::one.shared::"
         "cluster.b64 [%r11];\n" +
         beforeWait + kWait +
         "tcgen05.ld.sync.aligned.32x32b.x16.b32 {%r32, %r33, %r34, %r35, %r36,"
         " %r37, %r38, %r39, %r40, %r41, %r42, %r43, %r44, %r45, %r46, %r47}, "
         "[%r17];\ntcgen05.wait::ld.sync.aligned;\n"
         "mul.wide.u32 %rd7, %r1, 64;\nadd.s64 %rd7, %rd7, %rd1;\n"
         "st.global.v4.b32 [%rd7], {%r32, %r33, %r34, %r35};\n"
         "st.global.v4.b32 [%rd7+16], {%r36, %r37, %r38, %r39};\n"
         "st.global.v4.b32 [%rd7+32], {%r40, %r41, %r42, %r43};\n"
         "st.global.v4.b32 [%rd7+48], {%r44, %r45, %r46, %r47};\n"
         "tcgen05.fence::before_thread_sync;\nbar.sync 0;\n"
         "@%p2 tcgen05.dealloc.cta_group::1.sync.aligned.b32 %r14, 64;\n"
         "ret;\n}\n";
}

/// The values of e4m3 behind the codes 0x38 to 0x3F: eighths from 1 on.
double valueOf(unsigned table, unsigned index) {
  return (1 + index / 8.0) * (table ? 2 : 1);
}
unsigned indexOf(unsigned row, unsigned k) { return (k + row) % 8; }

struct Problem {
  std::vector<uint32_t> in, out;
  Problem() : in(kWords + 256), out(128 * 16) {
    auto *bytes = reinterpret_cast<uint8_t *>(in.data());
    for (unsigned k = 0; k != 64; ++k)
      bytes[k / 8 * 512 + k / 16 * 128 + k % 8 * 16 + k % 16] = 0x38;
    for (unsigned row = 0; row != 16; ++row)
      for (unsigned bit = 0; bit != 192; ++bit) {
        unsigned at = 24 + bit / 8;
        bytes[kBytesA + row / 8 * 384 + at / 16 * 128 + row % 8 * 16 +
              at % 16] |=
            uint8_t((indexOf(row, bit / 3) >> bit % 3 & 1) << bit % 8);
      }
    in[kWords] = 0x3B3A3938, in[kWords + 1] = 0x3F3E3D3C;
    in[kWords + 2] = 0x43424140, in[kWords + 3] = 0x47464544;
  }
  RunResult run(const std::string &text, Completion completion) {
    Launch launch;
    launch.kernel = "k";
    launch.block.x = 128;
    launch.buffers = {bufferOf(out), bufferOf(in, false)};
    launch.arguments = {BufferArgument{0, 0}, BufferArgument{1, 0}};
    Options options;
    options.completion = completion;
    return runText(text, launch, options);
  }
};

TEST(MachineLookup, AKernel) {
  for (Completion completion :
       {Completion::Immediate, Completion::Random, Completion::Latest}) {
    Problem problem;
    RunResult result = problem.run(kernelOf(kMma, "", ""), completion);
    expectClean(result);
    EXPECT_TRUE(result.openPoints.contains(OpenPoint::LookupTables));
    EXPECT_EQ(result.counters.macs, 128u * 16 * 64);
    for (unsigned row = 0; row != 16; ++row)
      for (unsigned k = 0; k != 128; ++k) {
        float value;
        std::memcpy(&value, &problem.out[k * 16 + row], 4);
        ASSERT_EQ(value, k < 64 ? valueOf(row / 8, indexOf(row, k)) : 0)
            << row << "," << k;
      }
  }
}

TEST(MachineLookup, TheAssemblerTakesIt) {
  if (!hasAssembler())
    GTEST_SKIP() << "BLOCKSCALE_NO_NVCC is set";
  EXPECT_TRUE(
      assembles(kernelOf(kMma, "", ""), "sm_107a", BLOCKSCALE_NEWEST_PTXAS));
}

// Lane 1 is not written, and nobody wrote it before.
TEST(MachineLookup, LanesThatStayAsTheyAre) {
  Problem problem;
  std::string text = kernelOf(std::string(kMma) + ".collector::b::fill",
                              "{%r8, %r9, %r9, %r9}, ", "");
  text.replace(text.find("mov.u32 %r2, %r1;"), 0,
               "mov.u32 %r8, 2;\nmov.u32 %r9, 0;\n");
  RunResult result = problem.run(text, Completion::Latest);
  EXPECT_EQ(firstKind(result), FindingKind::Uninitialised);
}

/// The rule that a kernel breaks with `line` before it waits.
unsigned ruleOf(const std::string &line) {
  Problem problem;
  RunResult result =
      problem.run(kernelOf(kMma, "", line), Completion::Immediate);
  return result.findings.empty() ? 0 : unsigned(result.findings.front().hazard);
}

TEST(MachineLookup, OperandsInFlight) {
  EXPECT_EQ(ruleOf(""), 0u);
  // All 48 bytes of a row are fetched, the half that is not used too.
  EXPECT_EQ(ruleOf("@%p1 st.shared.b32 [%r10+8192], 0;\n"), 23u);
  EXPECT_EQ(ruleOf("@%p1 st.shared.b32 [%r10+8464], 0;\n"), 23u);
  EXPECT_EQ(ruleOf("@%p1 st.shared.b32 [%r10+8960], 0;\n"), 0u);
  // The tables are in two columns.
  EXPECT_EQ(ruleOf("tcgen05.st.sync.aligned.32x32b.x1.b32 [%r17+33], {%r5};\n"
                   "tcgen05.wait::st.sync.aligned;\n"),
            58u);
  EXPECT_EQ(ruleOf("tcgen05.st.sync.aligned.32x32b.x1.b32 [%r17+34], {%r5};\n"
                   "tcgen05.wait::st.sync.aligned;\n"),
            0u);
}

} // namespace
