//===- MachineWmmaTest.cpp - wmma.load, wmma.mma, wmma.store --------------===//
//
// Part of the blockscale project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The layout of fragments of wmma is open; what is tested is what a kernel can
// see: matrices in memory, with their layouts and strides.
//
//===----------------------------------------------------------------------===//

#include "Assembler.h"
#include "MachineHarness.h"
#include "MatrixValues.h"

#include "blockscale/Emulator/Hazards.h"

using namespace blockscale::emulator;
using namespace blockscale::emulator::test;

namespace {

struct Form {
  const char *name;
  unsigned m, n, k;
  const char *d, *c, *multiplicand;
  unsigned registersA, registersB;
  const char *before = ""; ///< between wmma.mma and sync
  const char *after = "";  ///< .satfinite, or a rounding
  /// Sub-byte types have one layout only.
  bool fixedLayout = false;
};

#define SHAPES(name, d, c, type, a0, b0, a1, b1, a2, b2)                       \
  {name "Square", 16, 16, 16, d, c, type, a0, b0},                             \
      {name "Wide", 8, 32, 16, d, c, type, a1, b1},                            \
      {name "Tall", 32, 8, 16, d, c, type, a2, b2},

const Form kForms[] = {
    SHAPES("Half", "f32", "f32", "f16", 8, 8, 8, 8, 8,
           8) SHAPES("HalfToHalf", "f16", "f16", "f16", 8, 8, 8, 8, 8, 8)
        SHAPES("HalfWidened", "f32", "f16", "f16", 8, 8, 8, 8, 8,
               8) SHAPES("HalfNarrowed", "f16", "f32", "f16", 8, 8, 8, 8, 8, 8)
            SHAPES("Brain", "f32", "f32", "bf16", 4, 4, 2, 8, 8, 2)
                SHAPES("Signed", "s32", "s32", "s8", 2, 2, 1, 4, 4, 1)
                    SHAPES("Unsigned", "s32", "s32", "u8", 2, 2, 1, 4, 4,
                           1){"Tf32", 16, 16, 8, "f32", "f32", "tf32", 4, 4},
    {"Double", 8, 8, 4, "f64", "f64", "f64", 1, 1},
    {"DoubleUp", 8, 8, 4, "f64", "f64", "f64", 1, 1, "", ".rp"},
    {"Nibbles", 8, 8, 32, "s32", "s32", "s4", 1, 1, "", "", true},
    {"UnsignedNibbles", 8, 8, 32, "s32", "s32", "u4", 1, 1, "", ".satfinite",
     true},
    {"Xor", 8, 8, 128, "s32", "s32", "b1", 1, 1, ".xor.popc", "", true},
    {"And", 8, 8, 128, "s32", "s32", "b1", 1, 1, ".and.popc", "", true},
};
#undef SHAPES

/// A matrix in memory: lines of `stride` elements.
struct Stored {
  bool row;
  unsigned stride, bits;
  std::vector<uint8_t> bytes;

  Stored(const Matrix &matrix, const std::string &type, bool row,
         unsigned padding, bool filled = true)
      : row(row), stride((row ? matrix.columns : matrix.rows) + padding),
        bits(bitsOf(type)),
        bytes(size_t(row ? matrix.rows : matrix.columns) * stride * bits / 8) {
    for (unsigned r = 0; filled && r != matrix.rows; ++r)
      for (unsigned c = 0; c != matrix.columns; ++c)
        putBits(bytes, bitAt(r, c), bits, codeOf(type, matrix.at(r, c)));
  }
  uint64_t bitAt(unsigned r, unsigned c) const {
    return (row ? uint64_t(r) * stride + c : uint64_t(c) * stride + r) * bits;
  }
  uint64_t get(unsigned r, unsigned c) const {
    uint64_t code = 0;
    for (unsigned i = 0; i != bits; ++i)
      code |=
          uint64_t(bytes[(bitAt(r, c) + i) / 8] >> (bitAt(r, c) + i) % 8 & 1)
          << i;
    return code;
  }
};

std::string listOf(char letter, unsigned count) {
  std::string text = "{";
  for (unsigned i = 0; i != count; ++i)
    text += std::string(i ? ", %" : "%") + letter + std::to_string(i);
  return text + "}";
}

unsigned accumulators(const Form &f, const std::string &type) {
  return f.m * f.n / 32 / (type == "f16" ? 2 : 1);
}

/// How the matrices of a run lie.
struct Layouts {
  bool a, b, c, d; ///< rows
  bool shared;     ///< A is copied to shared memory first
};

std::string word(bool row) { return row ? ".row" : ".col"; }

std::string kernelOf(const Form &f, const Layouts &l, const Stored &a,
                     const Stored &b, const Stored &c, const Stored &d) {
  std::string shape = ".m" + std::to_string(f.m) + "n" + std::to_string(f.n) +
                      "k" + std::to_string(f.k);
  auto registers = [](char letter, unsigned count, unsigned bits) {
    return ".reg .b" + std::to_string(bits == 64 ? 64 : 32) + " %" + letter +
           "<" + std::to_string(count) + ">;\n";
  };
  unsigned countC = accumulators(f, f.c), countD = accumulators(f, f.d);
  std::string type = f.multiplicand;
  std::string text = kHeader;
  text += ".visible .entry k(.param .u64 pa, .param .u64 pb, .param .u64 pc, "
          ".param .u64 pd)\n{\n.reg .b64 %p<6>;\n.reg .b32 %s, %t;\n"
          ".reg .pred %q;\n.shared .align 32 .b8 copy[" +
          std::to_string(a.bytes.size()) + "];\n";
  text += registers('a', f.registersA, a.bits) +
          registers('b', f.registersB, b.bits) +
          registers('c', countC, c.bits) + registers('d', countD, d.bits);
  for (const char *name : {"a", "b", "c", "d"})
    text += std::string("ld.param.u64 %p") + char(name[0] - 'a' + '0') +
            ", [p" + name + "];\n";
  std::string from = "[%p0]", space = ".global";
  if (l.shared) {
    text += "mov.u32 %t, %tid.x;\nsetp.eq.u32 %q, %t, 0;\n";
    for (size_t at = 0; at != a.bytes.size(); at += 4)
      text += "@%q ld.global.b32 %s, [%p0+" + std::to_string(at) +
              "];\n@%q st.shared.b32 [copy+" + std::to_string(at) + "], %s;\n";
    text += "bar.warp.sync -1;\n";
    from = "[copy]";
    space = ".shared";
  }
  text += "mov.u32 %s, " + std::to_string(a.stride) + ";\n";
  text += "wmma.load.a.sync.aligned" + word(l.a) + shape + space + "." + type +
          " " + listOf('a', f.registersA) + ", " + from + ", %s;\n";
  text += "wmma.load.b.sync.aligned" + word(l.b) + shape + "." + type + " " +
          listOf('b', f.registersB) + ", [%p1], " + std::to_string(b.stride) +
          ";\n";
  text += "wmma.load.c.sync.aligned" + word(l.c) + shape + ".global." + f.c +
          " " + listOf('c', countC) + ", [%p2], " + std::to_string(c.stride) +
          ";\n";
  std::string types = std::string(".") + f.d +
                      (type == "f16" ? "" : "." + type + "." + type) + "." +
                      f.c;
  bool rounds = std::string(f.after) == ".rp";
  text += std::string("wmma.mma") + f.before + ".sync.aligned" + word(l.a) +
          word(l.b) + shape + (rounds ? f.after : "") + types +
          (rounds ? "" : f.after) + " " + listOf('d', countD) + ", " +
          listOf('a', f.registersA) + ", " + listOf('b', f.registersB) + ", " +
          listOf('c', countC) + ";\n";
  // The stride of D is left out where it is that of the matrix.
  text += "wmma.store.d.sync.aligned" + word(l.d) + shape + ".global." + f.d +
          " [%p3], " + listOf('d', countD) + ";\n";
  return text + "ret;\n}\n";
}

class Wmma : public testing::TestWithParam<Form> {};

void multiply(const Form &f, const Layouts &l) {
  SCOPED_TRACE(word(l.a) + word(l.b) + word(l.c) + word(l.d));
  Matrix a(f.m, f.k), b(f.k, f.n), c(f.m, f.n);
  Numbers numbers(f.m + f.k * 100 + bitsOf(f.multiplicand) + l.a * 7 + l.b);
  numbers.fill(a, f.multiplicand);
  numbers.fill(b, f.multiplicand);
  numbers.fill(c, f.d[0] == 'f' && f.d != std::string("f32") ? "f16" : f.c);
  // Strides beyond the matrix: of 16 bytes more, and of one line more.
  unsigned padding = 128 / bitsOf(f.multiplicand);
  Stored sa(a, f.multiplicand, l.a, padding);
  Stored sb(b, f.multiplicand, l.b, 2 * padding);
  Stored sc(c, f.c, l.c, 16), sd(c, f.d, l.d, 0, /*filled=*/false);
  std::string text = kernelOf(f, l, sa, sb, sc, sd);
  Launch launch;
  launch.kernel = "k";
  launch.block.x = 32;
  launch.buffers = {bufferOf(sa.bytes, false), bufferOf(sb.bytes, false),
                    bufferOf(sc.bytes, false), bufferOf(sd.bytes)};
  for (uint32_t i = 0; i != 4; ++i)
    launch.arguments.push_back(BufferArgument{i, 0});
  expectClean(runText(text, launch));
  bool exclusive = std::string(f.before) == ".xor.popc";
  for (unsigned m = 0; m != f.m; ++m)
    for (unsigned n = 0; n != f.n; ++n) {
      int sum = c.at(m, n);
      for (unsigned k = 0; k != f.k; ++k)
        sum += exclusive ? a.at(m, k) ^ b.at(k, n) : a.at(m, k) * b.at(k, n);
      ASSERT_EQ(sd.get(m, n), codeOf(f.d, sum)) << m << " " << n;
    }
  if (hasAssembler()) {
    EXPECT_TRUE(assembles(text)) << text;
  }
}

} // namespace

TEST_P(Wmma, MultipliesMatricesOfEachLayout) {
  const Form &f = GetParam();
  if (f.fixedLayout) {
    multiply(f, {true, false, true, false, false});
    multiply(f, {true, false, false, true, true});
    return;
  }
  multiply(f, {true, true, true, true, false});
  multiply(f, {true, false, false, true, true});
  multiply(f, {false, true, true, false, true});
  multiply(f, {false, false, false, false, false});
}

INSTANTIATE_TEST_SUITE_P(All, Wmma, testing::ValuesIn(kForms),
                         [](const auto &information) {
                           return information.param.name;
                         });

/// A fragment may be scaled element by element, without knowing which is where.
TEST(WmmaFragments, HaveTheSameElementsInAllTypesOfC) {
  std::string text =
      kHeader + ".visible .entry k(.param .u64 in, .param .u64 out)\n{\n"
                ".reg .b64 %p<2>;\n.reg .f32 %f<8>;\n"
                "ld.param.u64 %p0, [in];\nld.param.u64 %p1, [out];\n"
                "wmma.load.c.sync.aligned.row.m8n32k16.global.f32 {%f0, %f1, "
                "%f2, %f3, %f4, %f5, %f6, %f7}, [%p0];\n";
  for (unsigned i = 0; i != 8; ++i) {
    std::string name = "%f" + std::to_string(i);
    text += "mul.f32 " + name + ", " + name + ", 0f40000000;\n";
  }
  text += "wmma.store.d.sync.aligned.col.m8n32k16.global.f32 [%p1], {%f0, %f1, "
          "%f2, %f3, %f4, %f5, %f6, %f7};\nret;\n}\n";
  std::vector<float> in(256), out(256);
  for (unsigned i = 0; i != 256; ++i)
    in[i] = float(i);
  Launch launch;
  launch.kernel = "k";
  launch.block.x = 32;
  launch.buffers = {bufferOf(in, false), bufferOf(out)};
  launch.arguments = {BufferArgument{0, 0}, BufferArgument{1, 0}};
  expectClean(runText(text, launch));
  for (unsigned m = 0; m != 8; ++m)
    for (unsigned n = 0; n != 32; ++n)
      EXPECT_EQ(out[n * 8 + m], 2 * float(m * 32 + n));
}

namespace {

#define LOAD(layout, address, rest)                                            \
  "wmma.load.a.sync.aligned." layout ".m16n16k16" rest ".f16 {%r10, %r11, "    \
  "%r12, %r13, %r14, %r15, %r16, %r17}, [" address "]"

struct Mistake {
  const char *name, *text;
  FindingKind kind;
  const char *message;
};

const Mistake kMistakes[] = {
    {"Stride", LOAD("row", "%rd5", ".global") ", 15;", FindingKind::BadAddress,
     "stride 15 of a matrix with lines of 16 elements of 16 bits"},
    {"Alignment", "add.u64 %rd6, %rd5, 8;\n" LOAD("row", "%rd6", ".global") ";",
     FindingKind::Misaligned, "address is not a multiple of 16"},
    {"StrideAlignment", LOAD("row", "%rd5", ".global") ", 20;",
     FindingKind::Misaligned, "address is not a multiple of 16"},
    {"Addresses", LOAD("row", "%rd2", ".global") ";", FindingKind::Divergence,
     "lanes of a warp give different addresses or strides"},
    {"Bounds", LOAD("row", "%rd5", ".global") ", 264;",
     FindingKind::OutOfBounds, "32 bytes outside every global buffer"},
    {"PartOfAWarp",
     "setp.lt.u32 %p1, %r1, 16;\n@%p1 " LOAD("row", "%rd5", ".global") ";",
     FindingKind::Deadlock, ""},
    {"Undefined",
     LOAD("row", "tile", ".shared") ";\nst.global.b32 [%rd1], %r10;",
     FindingKind::Uninitialised, ""},
};

class WmmaMistakes : public testing::TestWithParam<Mistake> {};

} // namespace

TEST_P(WmmaMistakes, AreFound) {
  const Mistake &one = GetParam();
  Simple s = runBody(std::string("ld.param.u64 %rd5, [in];\n") + one.text,
                     std::vector<uint32_t>(1024), 32, 1, {}, 1,
                     ".shared .align 32 .b8 tile[512];\n");
  ASSERT_FALSE(s.result.findings.empty());
  EXPECT_EQ(s.result.findings[0].kind, one.kind)
      << toString(s.result.findings[0]);
  EXPECT_NE(s.result.findings[0].message.find(one.message), std::string::npos)
      << s.result.findings[0].message;
}

INSTANTIATE_TEST_SUITE_P(All, WmmaMistakes, testing::ValuesIn(kMistakes),
                         [](const auto &information) {
                           return information.param.name;
                         });

/// A store in one warp is read by another one: only with a barrier.
TEST(WmmaRaces, AreThoseOfLoadsAndStores) {
  auto kernel = [](const std::string &between) {
    return "mov.b32 %f1, 0f3F800000;\nsetp.ge.u32 %p1, %r1, 32;\n"
           "@%p1 bra READ;\n"
           "wmma.store.d.sync.aligned.row.m16n16k16.shared.f32 [tile], {%f1, "
           "%f1, %f1, %f1, %f1, %f1, %f1, %f1};\nREAD:\n" +
           between +
           "wmma.load.c.sync.aligned.col.m16n16k16.shared.f32 {%f2, %f3, %f4, "
           "%f5, %f6, %f7, %f8, %f9}, [tile];\nst.global.b32 [%rd1], %f9;";
  };
  const char *module = ".shared .align 32 .b8 tile[1024];\n";
  Simple right = runBody(kernel("bar.sync 0;\n"), {}, 64, 1, {}, 1, module);
  expectClean(right.result);
  EXPECT_EQ(right.out[63], 0x3F800000u);
  Simple wrong = runBody(kernel(""), {}, 64, 1, {}, 1, module);
  ASSERT_FALSE(wrong.result.clean());
  EXPECT_EQ(wrong.result.findings[0].hazard, unsigned(Hazard::SharedRace));
}

TEST(WmmaForms, ThatDoNotExistAreRefused) {
  const struct {
    const char *instruction, *message;
  } kCases[] = {
      {"wmma.load.a.sync.aligned.col.m8n8k32.global.s4 {%r10}, [%rd1], 32",
       "the layout of A must be '.row' for 's4'"},
      {"wmma.load.b.sync.aligned.row.m8n8k128.global.b1 {%r10}, [%rd1], 128",
       "the layout of B must be '.col' for 'b1'"},
      {"wmma.load.a.sync.aligned.row.m16n16k8.global.f16 {%r10}, [%rd1]",
       "shape 'm16n16k8' does not exist for 'f16'; there is 'm16n16k16', "
       "'m8n32k16', 'm32n8k16'"},
      {"wmma.load.a.sync.aligned.row.m16n16k16.global.s8 {%r10}, [%rd1]",
       "expected 2 registers, found 1"},
      {"wmma.mma.sync.aligned.row.col.m16n16k16.s32.s8.u8.s32 {%r10, %r11, "
       "%r12, %r13, %r14, %r15, %r16, %r17}, {%r1, %r1}, {%r1, %r1}, {%r1, "
       "%r1, %r1, %r1, %r1, %r1, %r1, %r1}",
       "operand types 's8' and 'u8' do not go together"},
  };
  for (const auto &one : kCases) {
    Simple s = runBody(std::string(one.instruction) + ";");
    ASSERT_EQ(s.result.findings.size(), 1u) << one.instruction;
    EXPECT_EQ(s.result.findings[0].kind, FindingKind::Unsupported);
    EXPECT_NE(s.result.findings[0].message.find(one.message), std::string::npos)
        << s.result.findings[0].message;
    if (hasAssembler()) {
      EXPECT_FALSE(assembles(body(std::string(one.instruction) + ";")));
    }
  }
}
