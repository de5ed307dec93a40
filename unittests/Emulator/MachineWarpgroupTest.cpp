//===- MachineWarpgroupTest.cpp - wgmma.mma_async -------------------------===//
//
// Part of the blockscale project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Where elements lie in shared memory is typed here from the canonical layouts
// of the PTX ISA 9.1, "Shared memory matrix layout" of wgmma, and where they
// lie in registers from "Register fragments"; products are plain loops.
//
//===----------------------------------------------------------------------===//

#include "Assembler.h"
#include "MachineHarness.h"
#include "MatrixValues.h"

#include "blockscale/Emulator/Hazards.h"

using namespace blockscale::emulator;
using namespace blockscale::emulator::test;

namespace {

/// A matrix in shared memory: rows of A or columns of B, along K or across.
struct Tile {
  unsigned start = 0;   ///< byte in the copied memory
  unsigned swizzle = 0; ///< 0, 32, 64, 128
  bool transposed = false;
  unsigned rows = 0, rowBytes = 0; ///< along K
  unsigned skipped = 0;            ///< bytes along K in front of the operand

  unsigned span() const { return swizzle ? swizzle : 16; }
  /// Between groups of eight rows, or of K; 16 bytes more than needed where
  /// the layout allows it.
  unsigned stride() const {
    if (transposed)
      return swizzle ? 8 * swizzle : 256;
    return swizzle ? 8 * swizzle : 8 * rowBytes + 256;
  }
  unsigned leading() const {
    if (!transposed)
      return swizzle ? 16 : 128;
    unsigned groups = rowBytes / 2 / 8; // of K
    return swizzle ? stride() * groups : rows / 8 * 256 + 128;
  }
  /// The byte `byte` along K of a row.
  unsigned at(unsigned row, unsigned byte) const {
    unsigned offset;
    if (transposed) {
      unsigned k = byte / 2, mn = 2 * row + byte % 2;
      offset = swizzle ? mn % swizzle + k % 8 * swizzle +
                             mn / swizzle * leading() + k / 8 * stride()
                       : mn % 16 + k % 8 * 16 + mn / 16 * stride() +
                             k / 8 * leading();
    } else {
      byte += skipped;
      offset = swizzle ? row / 8 * stride() + row % 8 * swizzle + byte
                       : row / 8 * stride() + row % 8 * 16 +
                             byte / 16 * leading() + byte % 16;
    }
    unsigned address = start + offset;
    switch (swizzle) {
    case 128:
      return address ^ (address >> 7 & 7) << 4;
    case 64:
      return address ^ (address >> 7 & 3) << 4;
    case 32:
      return address ^ (address >> 7 & 1) << 4;
    default:
      return address;
    }
  }
  uint64_t descriptor(unsigned base) const {
    unsigned code = swizzle == 128 ? 1 : swizzle == 64 ? 2 : swizzle ? 3 : 0;
    return uint64_t((base + start + (transposed ? 0 : skipped)) >> 4) |
           uint64_t(leading() >> 4) << 16 | uint64_t(stride() >> 4) << 32 |
           uint64_t(code) << 62;
  }
};

struct Case {
  const char *name;
  unsigned n, k;
  const char *d, *a, *b;
  unsigned swizzleA = 0, swizzleB = 0;
  bool registersA = false;
  bool transposeA = false, transposeB = false;
  int signA = 1, signB = 1;
  bool addsToD = true;
  unsigned skipped = 0;
  int selector = -1; ///< of sparse forms
  const char *before = "", *after = "";
};

Case with(Case one, void (*change)(Case &)) {
  change(one);
  return one;
}

#define WITH(...) [](Case &c) { __VA_ARGS__; }

const Case kCases[] = {
    {"HalfN8", 8, 16, "f32", "f16", "f16"},
    {"HalfN64Swizzle128", 64, 16, "f32", "f16", "f16", 128, 128},
    {"HalfN256Swizzle64", 256, 16, "f32", "f16", "f16", 64, 64},
    {"HalfN24Swizzle32", 24, 16, "f32", "f16", "f16", 32, 128},
    with({"HalfSecondStep", 32, 16, "f32", "f16", "f16", 128, 128},
         WITH(c.skipped = 32)),
    with({"HalfLastStep", 40, 16, "f32", "f16", "f16", 128, 128},
         WITH(c.skipped = 96)),
    with({"HalfFresh", 16, 16, "f32", "f16", "f16", 0, 32},
         WITH(c.addsToD = false)),
    {"HalfToHalf", 48, 16, "f16", "f16", "f16", 64, 0},
    with({"HalfRegisters", 96, 16, "f32", "f16", "f16", 0, 128},
         WITH(c.registersA = true)),
    with({"HalfNegatedA", 16, 16, "f32", "f16", "f16", 128, 128},
         WITH(c.signA = -1)),
    with({"BrainNegatedB", 16, 16, "f32", "bf16", "bf16", 128, 128},
         WITH(c.signB = -1)),
    with({"HalfTransposedA", 24, 16, "f32", "f16", "f16", 128, 128},
         WITH(c.transposeA = true)),
    with({"HalfTransposedB", 128, 16, "f32", "f16", "f16", 128, 128},
         WITH(c.transposeB = true)),
    with({"BrainTransposedBoth", 64, 16, "f32", "bf16", "bf16", 64, 32},
         WITH(c.transposeA = c.transposeB = true)),
    with({"HalfTransposedPlain", 40, 16, "f32", "f16", "f16", 0, 0},
         WITH(c.transposeA = c.transposeB = true)),
    with({"BrainRegistersTransposedB", 192, 16, "f32", "bf16", "bf16", 0, 64},
         WITH(c.registersA = c.transposeB = true)),
    {"Tf32", 88, 8, "f32", "tf32", "tf32", 128, 64},
    with({"Tf32Registers", 8, 8, "f32", "tf32", "tf32", 0, 0},
         WITH(c.registersA = true)),
    {"Fp8", 136, 32, "f32", "e4m3", "e5m2", 128, 128},
    with({"Fp8RegistersToHalf", 104, 32, "f16", "e5m2", "e4m3", 0, 128},
         WITH(c.registersA = true; c.signA = -1)),
    {"Bytes", 224, 32, "s32", "s8", "u8", 128, 128},
    with({"BytesSaturated", 24, 32, "s32", "u8", "u8", 0, 64},
         WITH(c.before = ".satfinite"; c.registersA = true)),
    with({"Bits", 48, 256, "s32", "b1", "b1", 128, 128},
         WITH(c.after = ".and.popc")),
    with({"BitsRegisters", 8, 256, "s32", "b1", "b1", 0, 0},
         WITH(c.after = ".and.popc"; c.registersA = true)),
    with({"SparseHalf", 64, 32, "f32", "f16", "f16", 128, 128},
         WITH(c.selector = 0)),
    with({"SparseHalfSecond", 24, 32, "f16", "f16", "f16", 0, 0},
         WITH(c.selector = 1; c.registersA = true)),
    with({"SparseBrainTransposedB", 64, 32, "f32", "bf16", "bf16", 64, 128},
         WITH(c.selector = 1; c.transposeB = true)),
    with({"SparseTf32", 40, 16, "f32", "tf32", "tf32", 128, 128},
         WITH(c.selector = 1)),
    with({"SparseFp8", 16, 64, "f32", "e4m3", "e4m3", 64, 64},
         WITH(c.selector = 0)),
    with({"SparseBytes", 32, 64, "s32", "s8", "s8", 32, 64},
         WITH(c.selector = 0; c.registersA = true)),
};

/// Where shared memory of a kernel begins.
constexpr unsigned kSharedAt = 1024;
constexpr unsigned kTileB = 16384, kMemory = 49152 - 1024;

/// Everything of one product of 64 x n x k.
struct Product {
  const Case &c;
  Matrix a, stored, b, d;
  Tile tileA, tileB;
  std::vector<uint8_t> memory;
  std::vector<uint32_t> registers; ///< per thread: A, metadata, D
  unsigned accumulators, perThread;

  explicit Product(const Case &c)
      : c(c), a(64, c.k), stored(64, c.selector < 0 ? c.k : c.k / 2),
        b(c.k, c.n), d(64, c.n), memory(kMemory) {
    Numbers numbers(c.n * 31 + c.k + c.skipped);
    numbers.fill(a, c.a);
    numbers.fill(b, c.b);
    numbers.fill(d, c.d[0] == 's' ? "s32" : "f16");
    accumulators = c.n / (c.d == std::string("f16") ? 4 : 2);
    perThread = 4 + 1 + accumulators;
    registers.resize(128 * perThread);
    prune(numbers);
    unsigned bits = bitsOf(c.a);
    tileA = {0, c.swizzleA, c.transposeA, 64, 32, c.skipped};
    tileB = {kTileB, c.swizzleB, c.transposeB, c.n, c.k * bits / 8, c.skipped};
    place(tileA, c.a,
          [&](unsigned row, unsigned k) { return stored.at(row, k); });
    place(tileB, c.b, [&](unsigned row, unsigned k) { return b.at(k, row); });
    fillRegisters();
  }
  template <typename F> void place(const Tile &tile, const char *type, F &&at) {
    unsigned bits = bitsOf(type);
    for (unsigned row = 0; row != tile.rows; ++row)
      for (unsigned k = 0; k != tile.rowBytes * 8 / bits; ++k) {
        uint64_t code = codeOf(type, at(row, k));
        // A byte of a transposed tile is a half of an element.
        for (unsigned i = 0; i < bits; i += 8)
          putBits(memory,
                  uint64_t(tile.at(row, (k * bits + i) / 8)) * 8 + k * bits % 8,
                  std::min(bits, 8u), code >> i);
      }
  }
  /// Chooses what is stored of sparse A, and says which in metadata.
  void prune(Numbers &numbers) {
    if (c.selector < 0) {
      stored = a;
      return;
    }
    bool tf32 = c.a == std::string("tf32");
    unsigned chunk = tf32 ? 2 : 4, rowBits = c.k / chunk * 4;
    for (unsigned m = 0; m != 64; ++m)
      for (unsigned x = 0; x != c.k / chunk; ++x) {
        constexpr unsigned kPairs[] = {4, 8, 9, 12, 13, 14};
        unsigned pair =
            tf32 ? (numbers.below(2) ? 14 : 4) : kPairs[numbers.below(6)];
        unsigned kept = 0;
        for (unsigned k = 0; k != chunk; ++k) {
          unsigned position = tf32 ? 2 * k : k;
          int &value = a.at(m, x * chunk + k);
          if (position == (pair & 3) || position == pair >> 2)
            stored.at(m, x * chunk / 2 + kept++) = value;
          else
            value = 0;
        }
        // Of 16 rows: two threads with half of the rows m and m + 8 each, or
        // all four with a row of 32 bits.
        unsigned row = m % 16, bit = 4 * x, thread, shift;
        if (rowBits == 32) {
          thread = 2 * unsigned(c.selector) + bit / 16;
          shift = row / 8 * 16 + bit % 16;
        } else {
          thread = row / 8 + 2 * (bit / 32);
          shift = bit % 32;
        }
        unsigned lane = row % 8 * 4 + thread;
        registers[(m / 16 * 32 + lane) * perThread + 4] |= pair << shift;
      }
  }
  void fillRegisters() {
    unsigned bits = bitsOf(c.a), per = 32 / bits;
    for (unsigned t = 0; t != 128; ++t) {
      unsigned w = t / 32, g = t % 32 / 4, q = t % 4;
      uint32_t *own = &registers[t * perThread];
      for (unsigned i = 0; i != 4 * per; ++i) {
        unsigned reg = i / per;
        unsigned row = 16 * w + g + (reg % 2 ? 8 : 0);
        unsigned k = q * per + i % per + (reg >= 2 ? 4 * per : 0);
        own[reg] |= uint32_t(codeOf(c.a, stored.at(row, k))) << i % per * bits;
      }
      unsigned bitsD = bitsOf(c.d);
      for (unsigned i = 0; i != c.n / 2; ++i)
        own[5 + i * bitsD / 32] |=
            uint32_t(codeOf(c.d, d.at(rowOf(t, i), columnOf(t, i))))
            << i * bitsD % 32;
    }
  }
  static unsigned rowOf(unsigned t, unsigned i) {
    return 16 * (t / 32) + t % 32 / 4 + (i % 4 < 2 ? 0 : 8);
  }
  static unsigned columnOf(unsigned t, unsigned i) {
    return 8 * (i / 4) + t % 4 * 2 + (i & 1);
  }
  int expected(unsigned m, unsigned n) const {
    int sum = 0;
    for (unsigned k = 0; k != c.k; ++k)
      sum += a.at(m, k) * b.at(k, n);
    return c.signA * c.signB * sum + (c.addsToD ? d.at(m, n) : 0);
  }
};

std::string list(unsigned first, unsigned count) {
  std::string text = "{";
  for (unsigned i = 0; i != count; ++i)
    text += std::string(i ? ", %v" : "%v") + std::to_string(first + i);
  return text + "}";
}

std::string multiplyText(const Product &p) {
  const Case &c = p.c;
  std::string text = std::string("wgmma.mma_async") +
                     (c.selector < 0 ? "" : ".sp") + ".sync.aligned.m64n" +
                     std::to_string(c.n) + "k" + std::to_string(c.k) +
                     c.before + "." + c.d + "." + c.a + "." + c.b + c.after;
  text += " " + list(5, p.accumulators) + ", ";
  text += c.registersA ? list(0, 4) : "%da";
  text += ", %db, ";
  if (c.selector >= 0)
    text += "%v4, " + std::to_string(c.selector) + ", ";
  text += c.addsToD ? "%yes" : "!%yes";
  bool half = bitsOf(c.a) == 16;
  if (c.d[0] == 'f')
    text += ", " + std::to_string(c.signA) + ", " + std::to_string(c.signB);
  if (half && !c.registersA)
    text += std::string(", ") + (c.transposeA ? "1" : "0");
  if (half)
    text += std::string(", ") + (c.transposeB ? "1" : "0");
  return text + ";\n";
}

/// Copies memory, loads registers, multiplies, stores what came out.
std::string kernelOf(const Product &p) {
  std::string bytes = std::to_string(p.memory.size());
  std::string text =
      ".version 9.0\n.target sm_90a\n.address_size 64\n"
      ".visible .entry k(.param .u64 pm, .param .u64 pr)\n{\n"
      ".reg .b32 %v<" +
      std::to_string(p.perThread) +
      ">, %t, %i, %x;\n.reg .b64 %m, %r, %o, %da, %db;\n.reg .pred %yes, %p;\n"
      ".shared .align 1024 .b8 tile[" +
      bytes +
      "];\nld.param.u64 %m, [pm];\nld.param.u64 %r, [pr];\n"
      "mov.u32 %t, %tid.x;\nsetp.lt.u32 %yes, %t, 1024;\n"
      "shl.b32 %i, %t, 2;\nmul.wide.u32 %o, %t, 4;\nadd.u64 %m, %m, %o;\n"
      "mov.u32 %x, tile;\nadd.u32 %x, %x, %i;\n"
      "COPY: ld.global.b32 %v0, [%m];\nst.shared.b32 [%x], %v0;\n"
      "add.u64 %m, %m, 512;\nadd.u32 %x, %x, 512;\nadd.u32 %i, %i, 512;\n"
      "setp.lt.u32 %p, %i, " +
      bytes +
      ";\n@%p bra COPY;\nfence.proxy.async.shared::cta;\nbar.sync 0;\n"
      "mul.lo.u32 %t, %t, " +
      std::to_string(4 * p.perThread) +
      ";\ncvt.u64.u32 %o, %t;\nadd.u64 %r, %r, %o;\n";
  for (unsigned i = 0; i != p.perThread; ++i)
    text += "ld.global.b32 %v" + std::to_string(i) + ", [%r+" +
            std::to_string(4 * i) + "];\n";
  text += "mov.b64 %da, " + std::to_string(p.tileA.descriptor(kSharedAt)) +
          ";\nmov.b64 %db, " + std::to_string(p.tileB.descriptor(kSharedAt)) +
          ";\nwgmma.fence.sync.aligned;\n" + multiplyText(p) +
          "wgmma.commit_group.sync.aligned;\n"
          "wgmma.wait_group.sync.aligned 0;\n";
  for (unsigned i = 5; i != p.perThread; ++i)
    text += "st.global.b32 [%r+" + std::to_string(4 * i) + "], %v" +
            std::to_string(i) + ";\n";
  return text + "ret;\n}\n";
}

class WarpgroupMultiply : public testing::TestWithParam<Case> {};

} // namespace

TEST_P(WarpgroupMultiply, IsTheProduct) {
  const Case &c = GetParam();
  for (Completion completion : {Completion::Immediate, Completion::Latest}) {
    Product p(c);
    std::string text = kernelOf(p);
    Launch launch;
    launch.kernel = "k";
    launch.block.x = 128;
    launch.buffers = {bufferOf(p.memory, false), bufferOf(p.registers)};
    launch.arguments = {BufferArgument{0, 0}, BufferArgument{1, 0}};
    Options options;
    options.completion = completion;
    expectClean(runText(text, launch, options));
    unsigned bits = bitsOf(c.d);
    for (unsigned t = 0; t != 128; ++t)
      for (unsigned i = 0; i != c.n / 2; ++i) {
        unsigned m = Product::rowOf(t, i), n = Product::columnOf(t, i);
        uint32_t word = p.registers[t * p.perThread + 5 + i * bits / 32];
        uint64_t code = word >> i * bits % 32 & (bits == 32 ? ~0u : 0xffff);
        ASSERT_EQ(code, codeOf(c.d, p.expected(m, n))) << m << " " << n;
      }
    if (hasAssembler() && completion == Completion::Immediate) {
      EXPECT_TRUE(assembles(text, "sm_90a"));
    }
  }
}

INSTANTIATE_TEST_SUITE_P(All, WarpgroupMultiply, testing::ValuesIn(kCases),
                         [](const auto &information) {
                           return information.param.name;
                         });

namespace {

/// A module for sm_90a with one instruction; registers have values.
std::vector<Finding> findingsOf(const std::string &instruction) {
  std::string text = body(instruction + ";");
  text.replace(text.find("sm_100a"), 7, "sm_90a");
  Launch launch;
  launch.kernel = "k";
  launch.block.x = 128;
  std::vector<uint32_t> data(128);
  launch.buffers = {bufferOf(data)};
  launch.arguments = {BufferArgument{0, 0}, BufferArgument{0, 0}};
  return runText(text, launch).findings;
}

} // namespace

TEST(WarpgroupForms, ThatDoNotExistAreRefused) {
  const std::string d4 = " {%f1, %f2, %f3, %f4}, ";
  const struct {
    std::string instruction, message;
  } kRefused[] = {
      {"wgmma.mma_async.sync.aligned.m64n8k16.f16.bf16.bf16 {%f1, %f2}, %rd1, "
       "%rd2, %p1, 1, 1, 0, 0",
       "accumulator type does not go with the operands"},
      {"wgmma.mma_async.sync.aligned.m64n8k16.f32.f16.bf16" + d4 +
           "%rd1, %rd2, %p1, 1, 1, 0, 0",
       "operand types 'f16' and 'bf16' do not go together"},
      {"wgmma.mma_async.sync.aligned.m64n8k16.f32.f16.f16" + d4 +
           "%rd1, %rd2, %p1, 2, 1, 0, 0",
       "imm-scale must be 1 or -1"},
      {"wgmma.mma_async.sync.aligned.m64n8k16.f32.f16.f16" + d4 +
           "%rd1, %rd2, %p1, 1, 1, 0",
       "expected 4 immediates after scale-d, found 3"},
      {"wgmma.mma_async.sync.aligned.m64n16k16.f32.f16.f16" + d4 +
           "%rd1, %rd2, %p1, 1, 1, 0, 0",
       "wrong number of registers in a fragment"},
      {"wgmma.mma_async.sp.sync.aligned.m64n8k64.f32.e4m3.e4m3" + d4 +
           "%rd1, %rd2, %r1, 1, %p1, 1, 1",
       "sparsity selector 1 is not in 0..0"},
      {"wgmma.mma_async.sync.aligned.m64n40k32.s32.s8.s8 {%r1, %r2, %r3, %r4, "
       "%r5, %r6, %r7, %r8, %r9, %r10, %r11, %r12, %r13, %r14, %r15, %r16, "
       "%r17, %r18, %r19, %r20}, %rd1, %rd2, %p1",
       "N=40 does not exist for 's8'"},
  };
  for (const auto &one : kRefused) {
    auto found = findingsOf(one.instruction);
    ASSERT_EQ(found.size(), 1u) << one.instruction;
    EXPECT_EQ(found[0].kind, FindingKind::Unsupported);
    EXPECT_NE(found[0].message.find(one.message), std::string::npos)
        << found[0].message;
    if (hasAssembler()) {
      EXPECT_FALSE(assembles(body(one.instruction + ";"), "sm_90a"));
    }
  }
}

TEST(WarpgroupDescriptors, AreChecked) {
  auto found = [](const std::string &descriptor, unsigned threads = 128) {
    std::string text = body("mov.b64 %rd5, " + descriptor +
                            ";\nwgmma.fence.sync.aligned;\nmov.pred %p1, 0;\n"
                            "wgmma.mma_async.sync.aligned.m64n8k8.f32.tf32."
                            "tf32 {%f1, %f2, %f3, %f4}, %rd5, %rd5, %p1, 1, "
                            "1;");
    text.replace(text.find("sm_100a"), 7, "sm_90a");
    Launch launch;
    launch.kernel = "k";
    launch.block.x = threads;
    std::vector<uint32_t> data(256);
    launch.buffers = {bufferOf(data)};
    launch.arguments = {BufferArgument{0, 0}, BufferArgument{0, 0}};
    RunResult result = runText(text, launch);
    EXPECT_FALSE(result.clean());
    return result.clean() ? Finding() : result.findings[0];
  };
  Finding one = found("0x0000400000000000");
  EXPECT_EQ(one.hazard, unsigned(Hazard::IllegalMatrixDescriptor));
  EXPECT_NE(one.message.find("bits set outside of its fields"),
            std::string::npos);
  one = found("0x0000000800010040");
  EXPECT_EQ(one.kind, FindingKind::OutOfBounds) << toString(one);
  one = found("%rd1"); // another one in each lane
  EXPECT_EQ(one.kind, FindingKind::Divergence) << toString(one);
  one = found("0", 96);
  EXPECT_EQ(one.hazard, unsigned(Hazard::WarpgroupsDisagree)) << toString(one);
}
