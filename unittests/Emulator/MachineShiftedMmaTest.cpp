//===- MachineShiftedMmaTest.cpp - A in tensor memory, shifted or sparse --===//
//
// Part of the blockscale project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Two MMAs of a kind without block scales, one after the other, into two
// accumulators; A and the sparsity metadata come from tensor memory. All rows
// of A differ. With `.ashift` the first one multiplies A as it is and the
// second one the rows that it moved.
//
//===----------------------------------------------------------------------===//

#include "Assembler.h"
#include "MachineHarness.h"

#include <set>

using namespace blockscale::emulator;
using namespace blockscale::emulator::test;

namespace {

constexpr unsigned kN = 32, kRowWords = 8, kOutWords = 2 * kN + kRowWords;

struct Case {
  const char *kind;
  uint32_t types;        ///< idesc bits of the element and accumulator types
  unsigned bytes;        ///< of one element
  uint32_t (*code)(int); ///< of an element of A or B
  unsigned group = 1;
  const char *qualifiers = ".ashift"; ///< of the first instruction
  bool sparse = false;
  unsigned rows = 128; ///< M of one CTA
  bool aInShared = false;
};

/// f16 of an integer of up to 11 bits.
uint32_t f16Of(int value) {
  uint32_t magnitude = uint32_t(std::abs(value)), exponent = 0;
  if (!magnitude)
    return 0;
  while (magnitude >> (exponent + 1))
    ++exponent;
  return (value < 0 ? 0x8000u : 0u) | (15 + exponent) << 10 |
         (magnitude - (1u << exponent)) << (10 - exponent);
}
/// tf32 is f32 whose low bits are ignored.
uint32_t tf32Of(int value) {
  float number = float(value);
  uint32_t bits;
  std::memcpy(&bits, &number, 4);
  return bits;
}
uint32_t e4m3Of(int value) {
  constexpr uint32_t kCodes[] = {0x00, 0x38, 0x40, 0x44, 0x48, 0x4A, 0x4C};
  return kCodes[std::abs(value)] | (value < 0 ? 0x80 : 0);
}
uint32_t s8Of(int value) { return uint8_t(value); }

/// The first three elements are the digits of the row, so no two are alike.
int valueA(unsigned row, unsigned k) {
  switch (k) {
  case 0:
    return int(row % 7) - 3;
  case 1:
    return int(row / 7 % 7) - 3;
  case 2:
    return int(row / 49) - 3;
  default:
    return int(row * 3 + k * 5 + row * k / 3) % 7 - 3;
  }
}
/// Columns 0..2 pick those elements.
int valueB(unsigned n, unsigned k) {
  return n < 3 ? k == n : int(n * 5 + k * 3 + n * k / 2) % 5;
}

/// Positions of the two elements that a chunk of four keeps, low one first in
/// the nibble.
unsigned nibbleOf(unsigned row, unsigned chunk) {
  constexpr unsigned kPairs[] = {0x4, 0x8, 0xC, 0x9, 0xD, 0xE};
  return kPairs[(row + row / 6 + chunk * 5) % 6];
}

uint32_t idescOf(const Case &c) {
  return c.types | uint32_t(c.sparse) << 2 | (c.sparse ? 1u : 0u) |
         kN / 8 << 17 | c.rows * c.group / 16 << 24;
}

/// The kernel; %r5 is the tensor memory, %p2 the issuing thread.
std::string kernelOf(const Case &c) {
  std::string group = ".cta_group::" + std::to_string(c.group);
  auto mma = [&](const char *qualifiers, const char *d, bool shared) {
    return std::string("@%p2 tcgen05.mma") + (c.sparse ? ".sp" : "") + group +
           ".kind::" + c.kind + qualifiers + " [" + d +
           (shared ? "], %rd5" : "], [%r5]") + ", %rd5, " +
           (c.sparse ? "[%r8], " : "") + "%r10, %p7;\n";
  };
  std::string loads = "{%r200", list = "{%r100";
  for (unsigned i = 1; i != kN; ++i)
    loads += ", %r" + std::to_string(200 + i);
  for (unsigned i = 1; i != kRowWords; ++i)
    list += ", %r" + std::to_string(100 + i);
  std::string text =
      kHeader +
      ".shared .align 4 .b32 slot;\n.shared .align 8 .b64 bar;\n"
      ".shared .align 1024 .b8 smem[2048];\n"
      ".visible .entry k(.param .u64 out, .param .u64 in)\n{\n"
      ".reg .pred %p<8>;\n.reg .b32 %r<300>;\n.reg .b64 %rd<16>;\n"
      "ld.param.u64 %rd1, [out];\nld.param.u64 %rd2, [in];\n"
      "mov.u32 %r1, %tid.x;\nmov.u32 %r20, %ctaid.x;\n"
      "mad.lo.u32 %r21, %r20, 128, %r1;\nmov.u32 %r2, slot;\n"
      "mov.u32 %r3, bar;\nmov.u32 %r4, smem;\nsetp.lt.u32 %p1, %r1, 32;\n"
      "setp.eq.u32 %p2, %r21, 0;\n"
      "@%p2 mbarrier.init.shared::cta.b64 [%r3], 1;\n"
      "barrier.cluster.arrive.aligned;\nbarrier.cluster.wait.aligned;\n"
      "@%p1 tcgen05.alloc" +
      group +
      ".sync.aligned.shared::cta.b32 [%r2], 128;\n"
      // Words 0..7: row of A, 8: metadata, 9..: one part in 128 of B.
      "mul.wide.u32 %rd3, %r21, 64;\nadd.s64 %rd3, %rd3, %rd2;\n"
      "shl.b32 %r6, %r1, 4;\nadd.u32 %r6, %r6, %r4;\n";
  for (unsigned i = 0; i != 13; ++i)
    text += "ld.global.b32 %r" + std::to_string(100 + i) + ", [%rd3+" +
            std::to_string(4 * i) + "];\n";
  text += "st.shared.v4.b32 [%r6], {%r109, %r110, %r111, %r112};\n"
          "fence.proxy.async.shared::cta;\nbar.sync 0;\n"
          "ld.shared.b32 %r5, [%r2];\nand.b32 %r7, %r1, 96;\n"
          "shl.b32 %r7, %r7, 16;\nadd.u32 %r7, %r7, %r5;\n"
          "tcgen05.st.sync.aligned.32x32b.x8.b32 [%r7], " +
          list +
          "};\n"
          "add.u32 %r8, %r7, 9;\n"
          "tcgen05.st.sync.aligned.32x32b.x1.b32 [%r8], {%r108};\n"
          "tcgen05.wait::st.sync.aligned;\n"
          "tcgen05.fence::before_thread_sync;\n"
          "barrier.cluster.arrive.aligned;\nbarrier.cluster.wait.aligned;\n"
          "tcgen05.fence::after_thread_sync;\n"
          // The selector names column 9 of the metadata at column 8.
          "add.u32 %r8, %r5, 8;\nshr.u32 %r12, %r4, 4;\n"
          "cvt.u64.u32 %rd5, %r12;\nor.b64 %rd5, %rd5, " +
          std::to_string(0x0000400800000000ull | uint64_t(kN / c.group) << 16) +
          ";\nmov.b32 %r10, " + std::to_string(idescOf(c)) +
          ";\nmov.b32 %r22, 0;\nsetp.ne.u32 %p7, %r22, 0;\n"
          "add.u32 %r13, %r5, 32;\nadd.u32 %r14, %r5, 64;\n" +
          mma(c.qualifiers, "%r13", c.aInShared) +
          mma("", "%r14", c.aInShared) + "@%p2 tcgen05.commit" + group +
          ".mbarrier::arrive::one.shared::cluster.b64 [%r3];\n"
          "@!%p2 bra D;\nW: mbarrier.try_wait.parity.shared::cta.b64 %p3, "
          "[%r3], 0;\n@!%p3 bra W;\nD: bar.warp.sync -1;\n"
          "barrier.cluster.arrive.aligned;\nbarrier.cluster.wait.aligned;\n"
          "tcgen05.fence::after_thread_sync;\n"
          "mul.wide.u32 %rd4, %r21, " +
          std::to_string(4 * kOutWords) + ";\nadd.s64 %rd4, %rd4, %rd1;\n";
  auto store = [&](unsigned column, unsigned count, unsigned first) {
    text += "add.u32 %r15, %r7, " + std::to_string(column) +
            ";\ntcgen05.ld.sync.aligned.32x32b.x" + std::to_string(count) +
            ".b32 " + (count == kN ? loads : list) +
            "}, [%r15];\ntcgen05.wait::ld.sync.aligned;\n";
    for (unsigned i = 0; i != count; ++i)
      text += "st.global.b32 [%rd4+" + std::to_string(4 * (first + i)) +
              "], %r" + std::to_string((count == kN ? 200 : 100) + i) + ";\n";
  };
  store(32, kN, 0);
  store(64, kN, kN);
  store(0, kRowWords, 2 * kN);
  return text +
         "barrier.cluster.arrive.aligned;\nbarrier.cluster.wait.aligned;\n"
         "@%p1 tcgen05.dealloc" +
         group + ".sync.aligned.b32 %r5, 128;\nret;\n}\n";
}

struct Outcome {
  RunResult result;
  std::vector<uint32_t> out, in;
  int32_t word(unsigned thread, unsigned at) const {
    return int32_t(out[thread * kOutWords + at]);
  }
  float number(unsigned thread, unsigned at) const {
    float value;
    std::memcpy(&value, &out[thread * kOutWords + at], 4);
    return value;
  }
};

/// Runs a case; the input of thread t are words 16 t on.
Outcome runCase(const Case &c, const Options &options = {}) {
  Outcome o;
  unsigned threads = 128 * c.group, stored = 32 / c.bytes;
  unsigned logical = stored * (c.sparse ? 2 : 1), perCta = kN / c.group;
  o.in.resize(threads * 16);
  o.out.assign(threads * kOutWords, 0xAAAAAAAA);
  auto put = [&](unsigned word, unsigned byte, int value) {
    uint32_t code = c.code(value);
    std::memcpy(reinterpret_cast<uint8_t *>(&o.in[word]) + byte, &code,
                c.bytes);
  };
  for (unsigned t = 0; t != threads; ++t) {
    for (unsigned k = 0; k != stored; ++k)
      put(t * 16, k * c.bytes, valueA(t, k));
    for (unsigned chunk = 0; c.sparse && chunk != 8; ++chunk)
      o.in[t * 16 + 8] |= nibbleOf(t, chunk) << 4 * chunk;
  }
  // Units of 16 bytes of K, in each of them one unit of every row.
  for (unsigned n = 0; n != kN; ++n)
    for (unsigned k = 0; k != logical; ++k) {
      unsigned at = k * c.bytes, unit = at / 16 * perCta + n % perCta;
      put((n / perCta * 128 + unit) * 16 + 9, at % 16, valueB(n, k));
    }
  Launch launch;
  launch.kernel = "k";
  launch.grid.x = launch.cluster.x = c.group;
  launch.block.x = 128;
  launch.buffers = {bufferOf(o.out), bufferOf(o.in, false)};
  launch.arguments = {BufferArgument{0, 0}, BufferArgument{1, 0}};
  o.result = runText(kernelOf(c), launch, options);
  return o;
}

/// Row of A that stands in a row after the move.
unsigned movedFrom(unsigned row) { return row % 32 == 31 ? row : row + 1; }

int sumOf(unsigned row, unsigned n, unsigned k) {
  int sum = 0;
  for (unsigned i = 0; i != k; ++i)
    sum += valueA(row, i) * valueB(n, i);
  return sum;
}

/// `data` is the row of stored A, `meta` the one of its metadata.
int sparseSumOf(unsigned data, unsigned meta, unsigned n) {
  int sum = 0;
  for (unsigned i = 0; i != 16; ++i) {
    unsigned position = nibbleOf(meta, i / 2) >> (i % 2 ? 2 : 0) & 3;
    sum += valueA(data, i) * valueB(n, i / 2 * 4 + position);
  }
  return sum;
}

constexpr uint32_t kF32 = 1u << 4;
const Case kF16 = {"f16", kF32, 2, f16Of};
const Case kTf32 = {"tf32", kF32 | 2 << 7 | 2 << 10, 4, tf32Of};
const Case kF8 = {"f8f6f4", kF32, 1, e4m3Of};
const Case kI8 = {"i8", 2u << 4 | 1 << 7 | 1 << 10, 1, s8Of};

Case with(Case c, unsigned group, const char *qualifiers) {
  c.group = group;
  c.qualifiers = qualifiers;
  return c;
}

const Case kShifted[] = {kF16,
                         kTf32,
                         kF8,
                         kI8,
                         with(kF8, 1, ".ashift.collector::a::discard"),
                         with(kF16, 2, ".ashift"),
                         with(kI8, 2, ".ashift")};

Case sparseCase(unsigned group, const char *qualifiers) {
  Case c = with(kF16, group, qualifiers);
  c.sparse = true;
  return c;
}

TEST(MachineShiftedMma, RowsMoveAfterTheProduct) {
  std::set<std::vector<int>> rows;
  for (unsigned m = 0; m != 256; ++m)
    rows.insert({valueA(m, 0), valueA(m, 1), valueA(m, 2)});
  ASSERT_EQ(rows.size(), 256u);
  for (const Case &c : kShifted)
    for (Completion completion : {Completion::Immediate, Completion::Latest}) {
      Options options;
      options.completion = completion;
      Outcome o = runCase(c, options);
      expectClean(o.result);
      EXPECT_TRUE(o.result.openPoints.contains(OpenPoint::ShiftedA));
      bool integers = c.code == s8Of;
      for (unsigned m = 0; m != 128 * c.group; ++m) {
        unsigned from = movedFrom(m);
        for (unsigned n = 0; n != kN; ++n)
          for (unsigned second = 0; second != 2; ++second) {
            unsigned at = second * kN + n;
            int sum = sumOf(second ? from : m, n, 32 / c.bytes);
            ASSERT_EQ(integers ? float(o.word(m, at)) : o.number(m, at),
                      float(sum))
                << c.kind << c.qualifiers << " group " << c.group << " mma "
                << second << " row " << m << " column " << n;
          }
        for (unsigned i = 0; i != kRowWords; ++i)
          ASSERT_EQ(uint32_t(o.word(m, 2 * kN + i)), o.in[from * 16 + i])
              << c.kind << " row " << m << " word " << i;
      }
    }
}

/// `.ashift` may take A from its collector buffer, which needs a fill.
TEST(MachineShiftedMma, LastUseNeedsAFill) {
  Outcome o = runCase(with(kF16, 1, ".ashift.collector::a::lastuse"));
  ASSERT_FALSE(o.result.clean());
  EXPECT_EQ(o.result.findings[0].hazard, 92u);
}

TEST(MachineShiftedMma, WithoutItRowsStay) {
  Outcome o = runCase(with(kF16, 1, ".collector::a::fill"));
  expectClean(o.result);
  EXPECT_FALSE(o.result.openPoints.contains(OpenPoint::ShiftedA));
  for (unsigned m = 0; m != 128; ++m)
    for (unsigned n = 0; n != kN; ++n)
      ASSERT_EQ(o.number(m, kN + n), float(sumOf(m, n, 16))) << m << " " << n;
}

TEST(MachineShiftedMma, SparseF16) {
  Outcome o = runCase(sparseCase(1, ""));
  expectClean(o.result);
  EXPECT_TRUE(o.result.openPoints.contains(OpenPoint::SparseSelector));
  for (unsigned m = 0; m != 128; ++m)
    for (unsigned n = 0; n != kN; ++n)
      ASSERT_EQ(o.number(m, n), float(sparseSumOf(m, m, n)))
          << "row " << m << " column " << n;
}

TEST(MachineShiftedMma, SparseRowsMoveWithoutTheirMetadata) {
  for (unsigned group : {1u, 2u}) {
    Outcome o = runCase(sparseCase(group, ".ashift"));
    expectClean(o.result);
    for (unsigned m = 0; m != 128 * group; ++m)
      for (unsigned n = 0; n != kN; ++n) {
        ASSERT_EQ(o.number(m, n), float(sparseSumOf(m, m, n))) << m << " " << n;
        ASSERT_EQ(o.number(m, kN + n), float(sparseSumOf(movedFrom(m), m, n)))
            << "group " << group << " row " << m << " column " << n;
      }
  }
}

TEST(MachineShiftedMma, IllegalUsesAreRefused) {
  Case shared = kF16, half = kF16, halfPair = sparseCase(2, ".ashift");
  shared.aInShared = true;
  half.rows = halfPair.rows = 64;
  const std::pair<Case, const char *> cases[] = {
      {shared, "'.ashift' needs A in tensor memory, found a shared-memory "
               "descriptor"},
      {with(kF16, 1, ".ashift.collector::a::fill"),
       "'.ashift' excludes '.collector::a::fill'"},
      {with(kF16, 1, ".ashift.collector::a::use"),
       "'.ashift' excludes '.collector::a::use'"},
      {half, "'.ashift' needs M 128 or 256, found 64"},
      {halfPair, "'.ashift' of a sparse pair needs M 256, found 128"}};
  for (const auto &[c, reason] : cases) {
    Outcome o = runCase(c);
    ASSERT_FALSE(o.result.findings.empty()) << reason;
    EXPECT_NE(o.result.findings[0].message.find(reason), std::string::npos)
        << o.result.findings[0].message;
  }
}

TEST(MachineShiftedMma, PtxasAgrees) {
  if (!hasAssembler())
    GTEST_SKIP() << "BLOCKSCALE_NO_NVCC is set";
  for (const Case &c : kShifted)
    EXPECT_TRUE(assembles(kernelOf(c))) << c.kind << c.qualifiers;
  EXPECT_TRUE(assembles(kernelOf(sparseCase(1, ""))));
  EXPECT_TRUE(assembles(kernelOf(sparseCase(2, ".ashift"))));
  EXPECT_FALSE(assembles(kernelOf(with(kF16, 1, ".ashift.collector::a::use"))));
  EXPECT_FALSE(
      assembles(kernelOf(with(kF16, 1, ".ashift.collector::a::fill"))));
}

} // namespace
