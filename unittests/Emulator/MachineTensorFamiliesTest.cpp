//===- MachineTensorFamiliesTest.cpp - tensor memory and plain MMAs -------===//
//
// Part of the blockscale project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "MachineHarness.h"
#include "UnitsOracle.h"

#include <cstring>

using namespace blockscale::emulator;
using namespace blockscale::emulator::test;

namespace {

/// A kernel of 128 threads around tensor memory: every lane stores word
/// lane * 1000 + column to columns 0..63; `text` loads 64 words into %r100 on.
std::vector<uint32_t> runTensor(const std::string &text, unsigned words,
                                RunResult &result,
                                std::vector<uint32_t> in = {}) {
  std::string all =
      kHeader + ".shared .align 4 .b32 slot;\n.shared .align 8 .b64 bar;\n"
                ".shared .align 1024 .b8 smem[16384];\n"
                ".visible .entry k(.param .u64 out, .param .u64 in)\n{\n"
                ".reg .pred %p<8>;\n.reg .b32 %r<300>;\n"
                ".reg .b64 %rd<16>;\nld.param.u64 %rd1, [out];\n"
                "ld.param.u64 %rd2, [in];\nmov.u32 %r1, %tid.x;\n"
                "mov.u32 %r2, slot;\nmov.u32 %r3, bar;\nmov.u32 %r4, smem;\n"
                "setp.lt.u32 %p1, %r1, 32;\nsetp.eq.u32 %p2, %r1, 0;\n"
                "@%p2 mbarrier.init.shared.b64 [%r3], 1;\n"
                "@%p1 tcgen05.alloc.cta_group::1.sync.aligned.shared::cta."
                "b32 [%r2], 128;\nbar.sync 0;\nld.shared.b32 %r5, [%r2];\n"
                "and.b32 %r6, %r1, 96;\nshl.b32 %r6, %r6, 16;\n"
                "add.u32 %r6, %r6, %r5;\nmul.lo.u32 %r7, %r1, 1000;\n";
  std::string list = "{";
  for (int i = 0; i != 64; ++i) {
    all += "add.u32 %r" + std::to_string(100 + i) + ", %r7, " +
           std::to_string(i) + ";\n";
    list += (i ? ", %r" : "%r") + std::to_string(100 + i);
  }
  list += "}";
  all += "tcgen05.st.sync.aligned.32x32b.x64.b32 [%r6], " + list +
         ";\ntcgen05.wait::st.sync.aligned;\nbar.sync 0;\n";
  all += text + "\ntcgen05.wait::ld.sync.aligned;\n";
  all += "mul.lo.u32 %r8, %r1, " + std::to_string(words * 4) +
         ";\ncvt.u64.u32 %rd3, %r8;\nadd.s64 %rd3, %rd3, %rd1;\n";
  for (unsigned i = 0; i != words; ++i)
    all += "st.global.b32 [%rd3+" + std::to_string(4 * i) + "], %r" +
           std::to_string(200 + i) + ";\n";
  all += "bar.sync 0;\n@%p1 tcgen05.dealloc.cta_group::1.sync.aligned.b32 %r5, "
         "128;\nret;\n}\n";
  std::vector<uint32_t> out(128 * words, 0xAAAAAAAA);
  in.resize(std::max<size_t>(in.size(), 4096));
  Launch launch;
  launch.kernel = "k";
  launch.block.x = 128;
  launch.buffers = {bufferOf(out), bufferOf(in, false)};
  launch.arguments = {BufferArgument{0, 0}, BufferArgument{1, 0}};
  result = runText(all, launch);
  return out;
}

std::string registers(unsigned count) {
  std::string list = "{";
  for (unsigned i = 0; i != count; ++i)
    list += (i ? ", %r" : "%r") + std::to_string(200 + i);
  return list + "}";
}

TEST(MachineTensorFamilies, TensorLoadShapesMatchTheTable) {
  // Rows: which lane (of the warp's 32) and column a register of a thread is.
  std::map<std::pair<std::string, unsigned>, std::vector<CsvRow>> shapes;
  for (CsvRow &row : readCsv("tcgen05_ld_fragments.csv"))
    if (row["shape"] != "16x32bx2")
      shapes[{row["shape"], num(row["num"])}].push_back(row);
  unsigned compared = 0;
  for (auto &[key, rows] : shapes) {
    unsigned columns = 0;
    for (CsvRow &row : rows)
      columns = std::max(columns, num(row["column_offset"]) + 1);
    const auto &[shape, times] = key;
    unsigned count = times * (shape == "16x128b"   ? 2
                              : shape == "16x256b" ? 4
                                                   : 1);
    if (columns > 64 || count > 64)
      continue;
    RunResult result;
    std::vector<uint32_t> out = runTensor(
        "tcgen05.ld.sync.aligned." + shape + ".x" + std::to_string(times) +
            ".b32 " + registers(count) + ", [%r6];",
        count, result);
    expectClean(result);
    for (CsvRow &row : rows)
      for (unsigned warp = 0; warp != 4; ++warp) {
        unsigned thread = num(row["thread"]), index = num(row["register"]);
        ASSERT_EQ(out[(warp * 32 + thread) * count + index],
                  (warp * 32 + num(row["lane_offset"])) * 1000 +
                      num(row["column_offset"]))
            << shape << ".x" << times << " thread " << thread << " register "
            << index;
        ++compared;
      }
  }
  EXPECT_GT(compared, 500u);
}

TEST(MachineTensorFamilies, TensorStoreAndPackedLoad) {
  // Two threads' halves: pack::16b takes the low halves of column pairs.
  RunResult result;
  std::vector<uint32_t> out =
      runTensor("tcgen05.ld.sync.aligned.32x32b.x4.pack::16b.b32 " +
                    registers(4) + ", [%r6];",
                4, result);
  expectClean(result);
  for (unsigned lane = 0; lane != 128; ++lane)
    for (unsigned i = 0; i != 4; ++i) {
      uint32_t low = (lane * 1000 + 2 * i) & 0xFFFF,
               high = (lane * 1000 + 2 * i + 1) & 0xFFFF;
      ASSERT_EQ(out[lane * 4 + i], high << 16 | low) << lane << " " << i;
    }
}

TEST(MachineTensorFamilies, TensorLoadAtLaneZeroOfEachWarp) {
  RunResult result;
  std::vector<uint32_t> out = runTensor(
      "tcgen05.ld.sync.aligned.32x32b.x2.b32 " + registers(2) + ", [%r5];", 2,
      result);
  expectClean(result);
  EXPECT_TRUE(result.openPoints.contains(OpenPoint::FragmentLaneZero));
  for (unsigned lane = 0; lane != 128; ++lane)
    EXPECT_EQ(out[lane * 2 + 1], lane * 1000 + 1);
}

TEST(MachineTensorFamilies, TensorShiftMovesRows) {
  // Each lane takes the next one of its slice of 32 lanes, for 8 columns.
  RunResult result;
  std::vector<uint32_t> out = runTensor(
      "@%p2 tcgen05.shift.cta_group::1.down [%r5];\n"
      "@%p2 tcgen05.commit.cta_group::1.mbarrier::arrive::one.shared::cluster."
      "b64 [%r3];\nW: mbarrier.try_wait.parity.shared.b64 %p3, [%r3], 0;\n"
      "@!%p3 bra W;\nbar.sync 0;\ntcgen05.fence::after_thread_sync;\n"
      "tcgen05.ld.sync.aligned.32x32b.x16.b32 " +
          registers(16) + ", [%r6];",
      16, result);
  expectClean(result);
  EXPECT_TRUE(result.openPoints.contains(OpenPoint::ShiftSlice));
  EXPECT_EQ(out[0 * 16 + 0], 1000u);
  EXPECT_EQ(out[30 * 16 + 7], 31007u);
  EXPECT_EQ(out[31 * 16 + 7], 31007u);
  EXPECT_EQ(out[30 * 16 + 8], 30008u);
  EXPECT_EQ(out[40 * 16 + 3], 41003u);
}

/// One tcgen05.mma of a kind without block scales: 128 or 64 rows, N = 16, 32
/// bytes of K, operands without swizzle in columns of 16 bytes.
struct PlainMma {
  const char *kind;
  uint32_t idesc;
  unsigned bytes; ///< of one element
  unsigned m = 128;
  const char *tail = ", %p7;"; ///< operands after the descriptor; %p7 is false
  bool twice = false;          ///< a second time, adding
};

/// Small integers that differ in every row and element of K.
int plainA(unsigned m, unsigned k) {
  return int(m * 3 + k * 5 + m * k / 3) % 7 - 3;
}
int plainB(unsigned n, unsigned k) {
  return int(n * 5 + k * 3 + n * k / 2) % 5;
}

/// Code of such an integer; `negative` tells the sign bit's value.
uint32_t codeOf(int value, const std::vector<uint32_t> &codes,
                uint32_t negative) {
  return value < 0 ? codes[size_t(-value)] | negative : codes[size_t(value)];
}

/// Words of the output, 16 per lane.
std::vector<uint32_t> runPlain(const PlainMma &c,
                               const std::vector<uint32_t> &codesA,
                               uint32_t negativeA,
                               const std::vector<uint32_t> &codesB,
                               RunResult &result) {
  std::vector<uint8_t> bytes(16384);
  unsigned k = 32 / c.bytes;
  auto put = [&](unsigned base, unsigned rows, unsigned row, unsigned i,
                 uint32_t code) {
    unsigned at = i * c.bytes;
    std::memcpy(&bytes[base + at / 16 * rows * 16 + row * 16 + at % 16], &code,
                c.bytes);
  };
  for (unsigned i = 0; i != k; ++i) {
    for (unsigned m = 0; m != c.m; ++m)
      put(0, c.m, m, i, codeOf(plainA(m, i), codesA, negativeA));
    for (unsigned n = 0; n != 16; ++n)
      put(8192, 16, n, i, codeOf(plainB(n, i), codesB, 0));
  }
  std::vector<uint32_t> in(4096);
  std::memcpy(in.data(), bytes.data(), bytes.size());
  std::string mma =
      "@%p2 tcgen05.mma.cta_group::1.kind::" + std::string(c.kind) +
      " [%r9], %rd5, %rd6, %r10";
  std::string text =
      "mov.b32 %r11, 0;\nL: mad.lo.u32 %r12, %r11, 128, %r1;\n"
      "mul.wide.u32 %rd4, %r12, 4;\nadd.s64 %rd4, %rd4, %rd2;\n"
      "ld.global.b32 %r13, [%rd4];\nshl.b32 %r12, %r12, 2;\n"
      "add.u32 %r12, %r12, %r4;\nst.shared.b32 [%r12], %r13;\n"
      "add.u32 %r11, %r11, 1;\nsetp.lt.u32 %p4, %r11, 32;\n@%p4 bra L;\n"
      "fence.proxy.async.shared::cta;\nbar.sync 0;\n"
      "shr.u32 %r12, %r4, 4;\ncvt.u64.u32 %rd5, %r12;\n"
      "add.s64 %rd6, %rd5, 512;\n"
      "or.b64 %rd5, %rd5, " +
      std::to_string(0x0000400800000000ull | uint64_t(c.m) << 16) +
      ";\nor.b64 %rd6, %rd6, " + std::to_string(0x0000400800100000ull) +
      ";\nadd.u32 %r9, %r5, 64;\nmov.b32 %r10, " + std::to_string(c.idesc) +
      ";\nmov.b32 %r20, 0;\nmov.b32 %r21, 0xFFFF0000;\n"
      "setp.ne.u32 %p7, %r20, 0;\nsetp.eq.u32 %p6, %r20, 0;\n" +
      mma + (c.twice ? ", %p7;" : c.tail) + "\n";
  if (c.twice)
    text += mma + c.tail + "\n";
  text += "@%p2 tcgen05.commit.cta_group::1.mbarrier::arrive::one.shared::"
          "cluster.b64 [%r3];\nW: mbarrier.try_wait.parity.shared.b64 %p3, "
          "[%r3], 0;\n@!%p3 bra W;\nbar.sync 0;\n"
          "tcgen05.fence::after_thread_sync;\nadd.u32 %r14, %r6, 64;\n"
          "tcgen05.ld.sync.aligned.32x32b.x16.b32 " +
          registers(16) + ", [%r14];";
  if (c.tail[2] == '{' || c.m == 64) {
    // Lanes that stay unwritten get zeros first.
    std::string zeros = "{%r20";
    for (int i = 1; i != 16; ++i)
      zeros += ", %r20";
    text = "mov.b32 %r20, 0;\nadd.u32 %r14, %r6, 64;\n"
           "tcgen05.st.sync.aligned.32x32b.x16.b32 [%r14], " +
           zeros + "};\ntcgen05.wait::st.sync.aligned;\nbar.sync 0;\n" + text;
  }
  return runTensor(text, 16, result, in);
}

const std::vector<uint32_t> kF16 = {0, 0x3C00, 0x4000, 0x4200, 0x4400};
const std::vector<uint32_t> kBf16 = {0, 0x3F80, 0x4000, 0x4040, 0x4080};
const std::vector<uint32_t> kTf32 = {0, 0x3F800000, 0x40000000, 0x40400000,
                                     0x40800000};
const std::vector<uint32_t> kE4M3 = {0, 0x38, 0x40, 0x44, 0x48};
const std::vector<uint32_t> kE5M2 = {0, 0x3C, 0x40, 0x42, 0x44};
const std::vector<uint32_t> kBytes = {0, 1, 2, 3, 4};

int plainSum(unsigned m, unsigned n, unsigned k) {
  int sum = 0;
  for (unsigned i = 0; i != k; ++i)
    sum += plainA(m, i) * plainB(n, i);
  return sum;
}

float asFloat(uint32_t bits) {
  float value;
  std::memcpy(&value, &bits, 4);
  return value;
}

/// D format f32, N = 16, M = 128: bit 4, 2 << 17, 8 << 24.
constexpr uint32_t kShape = 1u << 4 | 2u << 17 | 8u << 24;

void expectPlain(const PlainMma &c, const std::vector<uint32_t> &codesA,
                 uint32_t negativeA, const std::vector<uint32_t> &codesB) {
  RunResult result;
  std::vector<uint32_t> out = runPlain(c, codesA, negativeA, codesB, result);
  expectClean(result);
  for (unsigned m = 0; m != 128; ++m)
    for (unsigned n = 0; n != 16; ++n)
      ASSERT_EQ(asFloat(out[m * 16 + n]), float(plainSum(m, n, 32 / c.bytes)))
          << c.kind << " row " << m << " column " << n;
}

TEST(MachineTensorFamilies, PlainKinds) {
  expectPlain({"f16", kShape, 2}, kF16, 0x8000, kF16);
  expectPlain({"f16", kShape | 1 << 7 | 1 << 10, 2}, kBf16, 0x8000, kBf16);
  expectPlain({"tf32", kShape | 2 << 7 | 2 << 10, 4}, kTf32, 0x80000000, kTf32);
  expectPlain({"f8f6f4", kShape | 1 << 10, 1}, kE4M3, 0x80, kE5M2);
}

TEST(MachineTensorFamilies, PlainIntegers) {
  // s8 by u8 into s32: D format 2, A format 1. A is -|a|, that is 256 - |a|.
  RunResult result;
  PlainMma c{"i8", 2u << 4 | 1u << 7 | 2u << 17 | 8u << 24, 1};
  std::vector<uint32_t> codes = {0, 0xFF, 0xFE, 0xFD, 0xFC};
  std::vector<uint32_t> out = runPlain(c, codes, 0, kBytes, result);
  expectClean(result);
  for (unsigned m = 0; m != 128; ++m)
    for (unsigned n = 0; n != 16; ++n) {
      int sum = 0;
      for (unsigned k = 0; k != 32; ++k)
        sum -= std::abs(plainA(m, k)) * plainB(n, k);
      ASSERT_EQ(int32_t(out[m * 16 + n]), sum) << m << " " << n;
    }
}

TEST(MachineTensorFamilies, PlainHalfOfTheRows) {
  // M = 64: row m sits at lane m % 16 + 32 * (m / 16).
  RunResult result;
  PlainMma c{"f16", 1u << 4 | 2u << 17 | 4u << 24, 2, 64};
  std::vector<uint32_t> out = runPlain(c, kF16, 0x8000, kF16, result);
  expectClean(result);
  for (unsigned m = 0; m != 64; ++m)
    for (unsigned n = 0; n != 16; ++n)
      ASSERT_EQ(asFloat(out[(m % 16 + m / 16 * 32) * 16 + n]),
                float(plainSum(m, n, 16)))
          << m << " " << n;
}

TEST(MachineTensorFamilies, PlainOutputLanesDisabled) {
  // The mask of lanes 32..63 has its upper half set: those keep their zeros.
  RunResult result;
  PlainMma c{"f16", kShape, 2, 128, ", {%r20, %r21, %r20, %r20}, %p7;"};
  std::vector<uint32_t> out = runPlain(c, kF16, 0x8000, kF16, result);
  expectClean(result);
  for (unsigned m = 0; m != 128; ++m)
    for (unsigned n = 0; n != 16; ++n)
      ASSERT_EQ(asFloat(out[m * 16 + n]),
                m >= 48 && m < 64 ? 0.0f : float(plainSum(m, n, 16)))
          << m << " " << n;
}

TEST(MachineTensorFamilies, PlainScaledAccumulator) {
  // D = A * B, then D = A * B + D * 2^-2.
  RunResult result;
  PlainMma c{"f16", kShape, 2, 128, ", %p6, 2;", true};
  std::vector<uint32_t> out = runPlain(c, kF16, 0x8000, kF16, result);
  expectClean(result);
  for (unsigned m = 0; m != 128; ++m)
    for (unsigned n = 0; n != 16; ++n)
      ASSERT_EQ(asFloat(out[m * 16 + n]), 1.25f * float(plainSum(m, n, 16)))
          << m << " " << n;
}

} // namespace
