//===- MachineStationaryMmaTest.cpp - kernels with tcgen05.mma.ws ---------===//
//
// Part of the blockscale project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// One CTA multiplies two tiles of A by one B, which the first instruction
// fills into a collector buffer and the second one uses.
//
//===----------------------------------------------------------------------===//

#include "Assembler.h"
#include "MachineHarness.h"

using namespace blockscale::emulator;
using namespace blockscale::emulator::test;

namespace {

constexpr unsigned kN = 64, kK = 32;

struct Case {
  unsigned m;
  bool sparse = false;
  const char *first = ".collector::b2::fill";
  const char *second = ".collector::b2::lastuse";
  const char *mask = ""; ///< operand of both instructions
};

int valueA(unsigned tile, unsigned row, unsigned k) {
  return int(tile * 5 + row * 3 + k * 5 + row * k / 3) % 13 - 6;
}
int valueB(unsigned n, unsigned k) {
  return int(n * 7 + k * 3 + n * k / 5 + n / 11) % 13 - 6;
}
unsigned nibbleOf(unsigned row, unsigned chunk) {
  constexpr unsigned kPairs[] = {0x4, 0x8, 0xC, 0x9, 0xD, 0xE};
  return kPairs[(row + row / 6 + chunk * 5) % 6];
}

/// Thread t brings 64 bytes of operands and a row of metadata; the operands lie
/// without swizzle, 16 bytes of K of 8 rows together.
std::string kernelOf(const Case &c) {
  unsigned tile = c.m * kK, columns = kN * c.m / 128;
  uint32_t idesc = uint32_t(c.sparse) << 2 | 2 << 4 | 1 << 7 | 1 << 10 |
                   kN / 8 << 17 | c.m / 16 << 24;
  auto descriptor = [&](unsigned rows) {
    return std::to_string(uint64_t(rows) << 16 | uint64_t(128 >> 4) << 32 |
                          uint64_t(1) << 46);
  };
  auto mma = [&](const char *use, const char *d, const char *a) {
    return std::string("@%p2 tcgen05.mma.ws") + (c.sparse ? ".sp" : "") +
           ".cta_group::1.kind::i8" + use + " [" + d + "], " + a + ", %rd7, " +
           (c.sparse ? "[%r8], " : "") + "%r10, %p7" + c.mask + ";\n";
  };
  std::string text =
      kHeader +
      ".shared .align 4 .b32 slot;\n.shared .align 8 .b64 bar;\n"
      ".shared .align 1024 .b8 smem[16384];\n"
      ".visible .entry k(.param .u64 out, .param .u64 in)\n{\n"
      ".reg .pred %p<8>;\n.reg .b32 %r<300>;\n.reg .b64 %rd<16>;\n"
      "ld.param.u64 %rd1, [out];\nld.param.u64 %rd2, [in];\n"
      "mov.u32 %r1, %tid.x;\nmov.u32 %r2, slot;\nmov.u32 %r3, bar;\n"
      "mov.u32 %r4, smem;\nsetp.lt.u32 %p1, %r1, 32;\n"
      "setp.eq.u32 %p2, %r1, 0;\n"
      "@%p2 mbarrier.init.shared::cta.b64 [%r3], 1;\n"
      "@%p1 tcgen05.alloc.cta_group::1.sync.aligned.shared::cta.b32 [%r2], "
      "256;\n"
      "mul.wide.u32 %rd3, %r1, 128;\nadd.s64 %rd3, %rd3, %rd2;\n"
      "mad.lo.u32 %r6, %r1, 112, %r4;\n";
  for (unsigned i = 0; i != 7; ++i)
    text += "ld.global.v4.b32 {%r100, %r101, %r102, %r103}, [%rd3+" +
            std::to_string(16 * i) + "];\nst.shared.v4.b32 [%r6+" +
            std::to_string(16 * i) + "], {%r100, %r101, %r102, %r103};\n";
  text += "ld.global.v2.b32 {%r110, %r111}, [%rd3+112];\n"
          "fence.proxy.async.shared::cta;\nbar.sync 0;\n"
          "ld.shared.b32 %r5, [%r2];\nand.b32 %r7, %r1, 96;\n"
          "shl.b32 %r7, %r7, 16;\nadd.u32 %r7, %r7, %r5;\n"
          "tcgen05.st.sync.aligned.32x32b.x2.b32 [%r7], {%r110, %r111};\n"
          "tcgen05.wait::st.sync.aligned;\n"
          "tcgen05.fence::before_thread_sync;\nbar.sync 0;\n"
          "tcgen05.fence::after_thread_sync;\nmov.b32 %r8, %r5;\n"
          "shr.u32 %r12, %r4, 4;\ncvt.u64.u32 %rd5, %r12;\n"
          "add.s64 %rd6, %rd5, " +
          std::to_string(tile / 16) + ";\nadd.s64 %rd7, %rd6, " +
          std::to_string(tile / 16) + ";\nor.b64 %rd5, %rd5, " +
          descriptor(c.m) + ";\nor.b64 %rd6, %rd6, " + descriptor(c.m) +
          ";\nor.b64 %rd7, %rd7, " + descriptor(kN + 16) + ";\nmov.b32 %r10, " +
          std::to_string(idesc) +
          ";\nmov.b64 %rd8, 0x0506008100000003;\n"
          "mov.b32 %r22, 0;\nsetp.ne.u32 %p7, %r22, 0;\n"
          "add.u32 %r13, %r5, 8;\nadd.u32 %r14, %r5, 72;\n" +
          mma(c.first, "%r13", "%rd5") + mma(c.second, "%r14", "%rd6") +
          "@%p2 tcgen05.commit.cta_group::1.mbarrier::arrive::one."
          "shared::cluster.b64 [%r3];\n"
          "W: mbarrier.try_wait.parity.shared::cta.b64 %p3, [%r3], 0;\n"
          "@!%p3 bra W;\nbar.warp.sync -1;\n"
          "tcgen05.fence::after_thread_sync;\n"
          "mul.wide.u32 %rd4, %r1, " +
          std::to_string(8 * columns) + ";\nadd.s64 %rd4, %rd4, %rd1;\n";
  for (unsigned column = 0; column != 2 * columns; column += 8) {
    text +=
        "add.u32 %r15, %r7, " +
        std::to_string(column < columns ? 8 + column : 72 + column - columns) +
        ";\ntcgen05.ld.sync.aligned.32x32b.x8.b32 {%r200, %r201, %r202, "
        "%r203, %r204, %r205, %r206, %r207}, [%r15];\n"
        "tcgen05.wait::ld.sync.aligned;\n";
    for (unsigned i = 0; i != 8; ++i)
      text += "st.global.b32 [%rd4+" + std::to_string(4 * (column + i)) +
              "], %r" + std::to_string(200 + i) + ";\n";
  }
  return text +
         "bar.sync 0;\n@%p1 tcgen05.dealloc.cta_group::1.sync.aligned.b32 "
         "%r5, 256;\nret;\n}\n";
}

struct Outcome {
  RunResult result;
  std::vector<int32_t> out;
};

Outcome runCase(const Case &c, Completion completion = Completion::Immediate) {
  Outcome o;
  unsigned columns = kN * c.m / 128, logical = c.sparse ? 2 * kK : kK;
  std::vector<uint8_t> operands(128 * 112), in(128 * 128);
  // Rows of 16 bytes; the units of K of one row are `rows` rows apart.
  auto put = [&](unsigned start, unsigned rows, unsigned row, unsigned k,
                 int value) {
    operands[start + (k / 16 * rows + row) * 16 + k % 16] = uint8_t(value);
  };
  for (unsigned row = 0; row != c.m; ++row)
    for (unsigned k = 0; k != kK; ++k)
      for (unsigned tile = 0; tile != 2; ++tile)
        put(tile * c.m * kK, c.m, row, k, valueA(tile, row, k));
  for (unsigned n = 0; n != kN + 16; ++n)
    for (unsigned k = 0; k != logical; ++k)
      put(2 * c.m * kK, kN + 16, n, k, valueB(n, k));
  for (unsigned t = 0; t != 128; ++t) {
    std::memcpy(&in[t * 128], &operands[t * 112], 112);
    for (unsigned chunk = 0; chunk != 16; ++chunk)
      in[t * 128 + 112 + chunk / 2] |=
          uint8_t(nibbleOf(t % c.m, chunk) << chunk % 2 * 4);
  }
  o.out.assign(128 * 2 * columns, 0x55555555);
  Launch launch;
  launch.kernel = "k";
  launch.block.x = 128;
  launch.buffers = {bufferOf(o.out), bufferOf(in, false)};
  launch.arguments = {BufferArgument{0, 0}, BufferArgument{1, 0}};
  Options options;
  options.completion = completion;
  o.result = runText(kernelOf(c), launch, options);
  return o;
}

int product(const Case &c, unsigned tile, unsigned row, unsigned n) {
  int sum = 0;
  for (unsigned k = 0; k != kK; ++k) {
    unsigned position = k;
    if (c.sparse)
      position = k / 2 * 4 + (nibbleOf(row, k / 2) >> 2 * (k % 2) & 3);
    sum += valueA(tile, row, k) * valueB(n, position);
  }
  return sum;
}

/// `zero` has a character per column, 1 for those that the mask hides.
void expectProducts(const Case &c, const Outcome &o, const std::string &zero,
                    unsigned shift) {
  unsigned columns = kN * c.m / 128;
  for (unsigned tile = 0; tile != 2; ++tile)
    for (unsigned row = 0; row != c.m; ++row)
      for (unsigned n = 0; n != kN; ++n) {
        unsigned thread = n / columns * c.m + row;
        int expected = zero[n] == '1' ? 0 : product(c, tile, row, n + shift);
        ASSERT_EQ(o.out[(thread * 2 + tile) * columns + n % columns], expected)
            << "M " << c.m << " tile " << tile << " row " << row << " column "
            << n;
      }
}

TEST(MachineStationaryMma, TwoTilesOfOneB) {
  for (unsigned m : {32u, 64u, 128u})
    for (bool sparse : {false, true})
      for (Completion completion :
           {Completion::Immediate, Completion::Latest}) {
        Case c{m, sparse};
        Outcome o = runCase(c, completion);
        expectClean(o.result);
        expectProducts(c, o, std::string(kN, '0'), 0);
      }
}

TEST(MachineStationaryMma, MaskComesFromARegister) {
  // Shift 5; one column of zeros and seven of B in turn, from the fourth on.
  Case c{128, false, "", ".collector::b0::discard", ", %rd8"};
  Outcome o = runCase(c);
  expectClean(o.result);
  std::string zero;
  for (unsigned n = 0; n != kN; ++n)
    zero += (n + 3) % 8 == 0 ? '1' : '0';
  expectProducts(c, o, zero, 5);
}

TEST(MachineStationaryMma, UseNeedsAFill) {
  struct {
    const char *first, *second, *reason;
  } cases[] = {
      {"", ".collector::b1::use", "collector buffer b1 is used"},
      {".collector::b3::fill", ".collector::b2::use", "buffer b2 is used"},
      {".collector::b0::lastuse", "", "buffer b0 is used"},
      {".collector::b0::fill", ".collector::b0::use", ""}};
  for (const auto &one : cases) {
    Outcome o = runCase({64, false, one.first, one.second});
    if (!*one.reason) {
      expectClean(o.result);
      continue;
    }
    ASSERT_EQ(o.result.findings.size(), 1u) << one.reason;
    EXPECT_EQ(o.result.findings[0].kind, FindingKind::Descriptor);
    EXPECT_NE(o.result.findings[0].message.find(one.reason), std::string::npos)
        << o.result.findings[0].message;
  }
}

TEST(MachineStationaryMma, PtxasAgrees) {
  if (!hasAssembler())
    GTEST_SKIP() << "BLOCKSCALE_NO_NVCC is set";
  EXPECT_TRUE(assembles(kernelOf({32})));
  EXPECT_TRUE(assembles(kernelOf({64, true, "", "", ", %rd8"})));
  EXPECT_TRUE(
      assembles(kernelOf({64, true, ".collector::b3::use", "", ", 0"})));
  EXPECT_FALSE(assembles(kernelOf({64, false, ".collector::a::fill", ""})));
}

} // namespace
