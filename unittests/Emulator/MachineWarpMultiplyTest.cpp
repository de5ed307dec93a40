//===- MachineWarpMultiplyTest.cpp - the shapes of mma.sync and mma.sp ----===//
//
// Part of the blockscale project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Which element a register of a lane holds is typed here from the formulas of
// the PTX ISA 9.1, "Matrix fragments for mma.m16n8k16" and its like; the
// products are made by plain loops.
//
//===----------------------------------------------------------------------===//

#include "Assembler.h"
#include "MachineHarness.h"
#include "MatrixValues.h"

using namespace blockscale::emulator;
using namespace blockscale::emulator::test;

namespace {

struct Place {
  unsigned row, column;
};
/// Of element `i` of the lane with group `g` (laneid / 4) and thread `c`
/// (laneid % 4) of it. Rows of B are those of K.
using Places = Place (*)(unsigned g, unsigned c, unsigned i);

/// Where the metadata of chunk `x` of row `m` is: thread of four, first bit.
struct Bits {
  unsigned thread, bit;
};
using MetadataPlaces = Bits (*)(unsigned m, unsigned x, unsigned selector);

struct Form {
  const char *name;
  unsigned m, n, k;
  const char *d, *a, *b; ///< types; C has that of D
  Places placesA, placesB;
  const char *before = "", *after = ""; ///< words around the types
  /// Of sparse forms: elements of a chunk.
  unsigned chunk = 0, selector = 0;
  MetadataPlaces metadata = nullptr;
  /// The target of which the assembler takes it.
  const char *target = "sm_100a";
};

// Fragments of A.
Place rowOfFour(unsigned g, unsigned c, unsigned i) { return {g, c * 4 + i}; }
Place rowOfEight(unsigned g, unsigned c, unsigned i) { return {g, c * 8 + i}; }
Place rowOf32(unsigned g, unsigned c, unsigned i) { return {g, c * 32 + i}; }
Place rowOfOne(unsigned g, unsigned c, unsigned) { return {g, c}; }
Place a16x4(unsigned g, unsigned c, unsigned i) {
  return {i == 0 ? g : g + 8, c};
}
Place a16x8Halves(unsigned g, unsigned c, unsigned i) {
  return {i < 2 ? g : g + 8, c * 2 + (i & 1)};
}
Place a16x8Words(unsigned g, unsigned c, unsigned i) {
  return {i == 0 || i == 2 ? g : g + 8, i < 2 ? c : c + 4};
}
Place a16x16Halves(unsigned g, unsigned c, unsigned i) {
  return {i < 2 || (i >= 4 && i < 6) ? g : g + 8,
          c * 2 + (i & 1) + (i >= 4 ? 8 : 0)};
}
Place a16x16Doubles(unsigned g, unsigned c, unsigned i) {
  return {i % 2 == 0 ? g : g + 8, (i % 2 == 0 ? i * 2 : i * 2 - 2) + c};
}
Place a16x16Bytes(unsigned g, unsigned c, unsigned i) {
  return {i < 4 ? g : g + 8, c * 4 + (i & 3)};
}
Place a16x32Bytes(unsigned g, unsigned c, unsigned i) {
  return {i < 4 || (i >= 8 && i < 12) ? g : g + 8,
          c * 4 + (i & 3) + (i >= 8 ? 16 : 0)};
}
Place a16x32Nibbles(unsigned g, unsigned c, unsigned i) {
  return {i < 8 ? g : g + 8, c * 8 + (i & 7)};
}
Place a16x64Nibbles(unsigned g, unsigned c, unsigned i) {
  return {i < 8 || (i >= 16 && i < 24) ? g : g + 8,
          c * 8 + (i & 7) + (i >= 16 ? 32 : 0)};
}
Place a16x128Bits(unsigned g, unsigned c, unsigned i) {
  return {i < 32 ? g : g + 8, c * 32 + (i & 31)};
}
Place a16x256Bits(unsigned g, unsigned c, unsigned i) {
  return {i < 32 || (i >= 64 && i < 96) ? g : g + 8,
          c * 32 + (i & 31) + (i >= 64 ? 128 : 0)};
}

// Fragments of B.
Place bOne(unsigned g, unsigned c, unsigned) { return {c, g}; }
Place bWords(unsigned g, unsigned c, unsigned i) { return {c + 4 * i, g}; }
Place bHalves(unsigned g, unsigned c, unsigned i) {
  return {c * 2 + (i & 1) + 8 * (i / 2), g};
}
Place bBytes(unsigned g, unsigned c, unsigned i) {
  return {c * 4 + (i & 3) + 16 * (i / 4), g};
}
Place bNibbles(unsigned g, unsigned c, unsigned i) {
  return {c * 8 + (i & 7) + 32 * (i / 8), g};
}
Place bBits(unsigned g, unsigned c, unsigned i) {
  return {c * 32 + (i & 31) + 128 * (i / 32), g};
}

// Metadata: rows of 16 bits, of 32 and of 64.
Bits oneThread(unsigned m, unsigned x, unsigned selector) {
  return {selector, (m < 8 ? 0 : 16) + 4 * x};
}
Bits twoThreadsByColumn(unsigned m, unsigned x, unsigned selector) {
  return {2 * selector + (x < 4 ? 0 : 1), (m < 8 ? 0 : 16) + 4 * (x & 3)};
}
Bits twoThreadsByRow(unsigned m, unsigned x, unsigned selector) {
  return {2 * selector + (m < 8 ? 0 : 1), 4 * x};
}
Bits allThreads(unsigned m, unsigned x, unsigned) {
  return {(m < 8 ? 0u : 1u) + (x < 8 ? 0u : 2u), 4 * (x & 7)};
}

const Form kDense[] = {
    {"DoubleK4", 8, 8, 4, "f64", "f64", "f64", rowOfOne, bOne},
    {"WideDoubleK4", 16, 8, 4, "f64", "f64", "f64", a16x4, bOne},
    {"WideDoubleK8", 16, 8, 8, "f64", "f64", "f64", a16x8Words, bWords},
    {"WideDoubleK16", 16, 8, 16, "f64", "f64", "f64", a16x16Doubles, bWords},
    {"Tf32K4", 16, 8, 4, "f32", "tf32", "tf32", a16x4, bOne},
    {"Tf32K8", 16, 8, 8, "f32", "tf32", "tf32", a16x8Words, bWords},
    {"HalfK8", 16, 8, 8, "f32", "f16", "f16", a16x8Halves, bHalves},
    {"HalfK8ToHalf", 16, 8, 8, "f16", "f16", "f16", a16x8Halves, bHalves},
    {"HalfK16", 16, 8, 16, "f32", "f16", "f16", a16x16Halves, bHalves},
    {"HalfK16ToHalf", 16, 8, 16, "f16", "f16", "f16", a16x16Halves, bHalves},
    {"BrainK8", 16, 8, 8, "f32", "bf16", "bf16", a16x8Halves, bHalves},
    {"BrainK16", 16, 8, 16, "f32", "bf16", "bf16", a16x16Halves, bHalves},
    {"Fp8K16", 16, 8, 16, "f32", "e4m3", "e5m2", a16x16Bytes, bBytes},
    {"Fp8K16ToHalf", 16, 8, 16, "f16", "e5m2", "e4m3", a16x16Bytes, bBytes},
    {"Fp8K32", 16, 8, 32, "f32", "e5m2", "e5m2", a16x32Bytes, bBytes},
    {"Fp8K32ToHalf", 16, 8, 32, "f16", "e4m3", "e4m3", a16x32Bytes, bBytes},
    {"SmallByteK16", 8, 8, 16, "s32", "s8", "u8", rowOfFour, bBytes},
    {"ByteK16", 16, 8, 16, "s32", "u8", "s8", a16x16Bytes, bBytes},
    {"ByteK32", 16, 8, 32, "s32", "s8", "s8", a16x32Bytes, bBytes},
    {"ByteK32Saturated", 16, 8, 32, "s32", "u8", "u8", a16x32Bytes, bBytes,
     ".satfinite"},
    {"SmallNibbleK32", 8, 8, 32, "s32", "s4", "u4", rowOfEight, bNibbles},
    {"NibbleK32", 16, 8, 32, "s32", "u4", "s4", a16x32Nibbles, bNibbles},
    {"NibbleK64", 16, 8, 64, "s32", "s4", "s4", a16x64Nibbles, bNibbles},
    {"NibbleK64Saturated", 16, 8, 64, "s32", "u4", "u4", a16x64Nibbles,
     bNibbles, ".satfinite"},
    {"SmallXor", 8, 8, 128, "s32", "b1", "b1", rowOf32, bBits, "", ".xor.popc"},
    {"SmallAnd", 8, 8, 128, "s32", "b1", "b1", rowOf32, bBits, "", ".and.popc"},
    {"XorK128", 16, 8, 128, "s32", "b1", "b1", a16x128Bits, bBits, "",
     ".xor.popc"},
    {"AndK128", 16, 8, 128, "s32", "b1", "b1", a16x128Bits, bBits, "",
     ".and.popc"},
    {"XorK256", 16, 8, 256, "s32", "b1", "b1", a16x256Bits, bBits, "",
     ".xor.popc"},
    {"AndK256", 16, 8, 256, "s32", "b1", "b1", a16x256Bits, bBits, "",
     ".and.popc"},
};

// What is stored of sparse A lies as a dense A of half of K.
const Form kSparse[] = {
    {"HalfK16First", 16, 8, 16, "f32", "f16", "f16", a16x8Halves, bHalves, "",
     "", 4, 0, oneThread},
    {"HalfK16Third", 16, 8, 16, "f16", "f16", "f16", a16x8Halves, bHalves, "",
     "", 4, 2, oneThread},
    {"BrainK16Last", 16, 8, 16, "f32", "bf16", "bf16", a16x8Halves, bHalves, "",
     "", 4, 3, oneThread},
    {"HalfK32", 16, 8, 32, "f32", "f16", "f16", a16x16Halves, bHalves, "", "",
     4, 0, twoThreadsByColumn},
    {"BrainK32Second", 16, 8, 32, "f32", "bf16", "bf16", a16x16Halves, bHalves,
     "", "", 4, 1, twoThreadsByColumn},
    {"Tf32K8Second", 16, 8, 8, "f32", "tf32", "tf32", a16x4, bWords, "", "", 2,
     1, oneThread},
    {"Tf32K16Second", 16, 8, 16, "f32", "tf32", "tf32", a16x8Words, bWords, "",
     "", 2, 1, twoThreadsByColumn},
    {"ByteK32", 16, 8, 32, "s32", "s8", "u8", a16x16Bytes, bBytes, "", "", 4, 0,
     twoThreadsByRow},
    {"ByteK32Second", 16, 8, 32, "s32", "u8", "u8", a16x16Bytes, bBytes,
     ".satfinite", "", 4, 1, twoThreadsByRow},
    {"ByteK64", 16, 8, 64, "s32", "u8", "s8", a16x32Bytes, bBytes, "", "", 4, 0,
     allThreads},
    {"NibbleK64Second", 16, 8, 64, "s32", "s4", "s4", a16x32Nibbles, bNibbles,
     "", "", 8, 1, twoThreadsByRow},
    {"NibbleK128", 16, 8, 128, "s32", "u4", "s4", a16x64Nibbles, bNibbles, "",
     "", 8, 0, allThreads},
    {"Fp8K64", 16, 8, 64, "f32", "e4m3", "e5m2", a16x32Bytes, bBytes, "", "", 4,
     0, allThreads},
};

Place placeC(unsigned m, unsigned g, unsigned c, unsigned i) {
  return {m == 16 && i >= 2 ? g + 8 : g, c * 2 + (i & 1)};
}

/// Registers of all lanes, word after word.
struct Fragment {
  unsigned bits;              ///< of an element
  unsigned registerBits;      ///< 32 or 64
  unsigned count;             ///< elements of a lane
  std::vector<uint8_t> bytes; ///< register by register, 32 lanes each

  Fragment(const std::string &type, unsigned elements)
      : bits(bitsOf(type)), registerBits(bits == 64 ? 64 : 32),
        count(elements / 32), bytes(registers() * 4 * registerBits) {}
  unsigned registers() const { return count * bits / registerBits; }
  uint64_t bitAt(unsigned lane, unsigned i) const {
    unsigned per = registerBits / bits;
    return (uint64_t(i / per) * 32 + lane) * registerBits + i % per * bits;
  }
  void set(unsigned lane, unsigned i, uint64_t code) {
    putBits(bytes, bitAt(lane, i), bits, code);
  }
  uint64_t get(unsigned lane, unsigned i) const {
    uint64_t code = 0, at = bitAt(lane, i);
    for (unsigned b = 0; b != bits; ++b)
      code |= uint64_t(bytes[(at + b) / 8] >> (at + b) % 8 & 1) << b;
    return code;
  }
};

std::string listOf(char letter, const Fragment &fragment) {
  std::string text = "{";
  for (unsigned i = 0; i != fragment.registers(); ++i)
    text += std::string(i ? ", %" : "%") + letter + std::to_string(i);
  return text + "}";
}

/// A kernel that loads registers, multiplies, and stores what came out.
std::string kernelOf(const std::string &multiply, const Fragment &a,
                     const Fragment &b, const Fragment &c, const Fragment &d) {
  std::string text = kHeader + ".visible .entry k(.param .u64 pa, .param .u64 "
                               "pb, .param .u64 pc, .param .u64 pd, .param "
                               ".u64 pe)\n{\n.reg .b64 %p<5>, %o;\n.reg .b32 "
                               "%t, %e;\n";
  const struct {
    char letter;
    const Fragment &fragment;
  } files[] = {{'a', a}, {'b', b}, {'c', c}, {'d', d}};
  auto move = [&](const char *word, unsigned i) {
    const Fragment &f = files[i].fragment;
    std::string bits = std::to_string(f.registerBits);
    text += "mov.u32 %t, %tid.x;\nmul.wide.u32 %o, %t, " +
            std::to_string(f.registerBits / 8) + ";\nadd.u64 %p" +
            std::to_string(i) + ", %p" + std::to_string(i) + ", %o;\n";
    for (unsigned r = 0; r != f.registers(); ++r) {
      std::string name = std::string("%") + files[i].letter + std::to_string(r);
      std::string place = "[%p" + std::to_string(i) + "+" +
                          std::to_string(r * 4 * f.registerBits) + "]";
      bool store = std::string(word) == "st";
      text += std::string(word) + ".global.b" + bits + " " +
              (store ? place + ", " + name : name + ", " + place) + ";\n";
    }
  };
  for (unsigned i = 0; i != 4; ++i) {
    text += "ld.param.u64 %p" + std::to_string(i) + ", [p" + files[i].letter +
            "];\n.reg .b" + std::to_string(files[i].fragment.registerBits) +
            " %" + files[i].letter + "<" +
            std::to_string(files[i].fragment.registers()) + ">;\n";
    if (i != 3)
      move("ld", i);
  }
  text += "ld.param.u64 %p4, [pe];\nmul.wide.u32 %o, %t, 4;\nmov.u32 %t, "
          "%tid.x;\nmul.wide.u32 %o, %t, 4;\nadd.u64 %p4, %p4, %o;\n"
          "ld.global.b32 %e, [%p4];\n";
  text += multiply + ";\n";
  move("st", 3);
  return text + "ret;\n}\n";
}

RunResult runKernel(const std::string &text, Fragment &a, Fragment &b,
                    Fragment &c, Fragment &d, std::vector<uint32_t> &metadata) {
  Launch launch;
  launch.kernel = "k";
  launch.block.x = 32;
  launch.buffers = {bufferOf(a.bytes, false), bufferOf(b.bytes, false),
                    bufferOf(c.bytes, false), bufferOf(d.bytes),
                    bufferOf(metadata, false)};
  for (uint32_t i = 0; i != 5; ++i)
    launch.arguments.push_back(BufferArgument{i, 0});
  return runText(text, launch);
}

std::string mnemonicOf(const Form &f, const char *sparse = "") {
  return std::string("mma") + sparse + ".sync.aligned.m" + std::to_string(f.m) +
         "n" + std::to_string(f.n) + "k" + std::to_string(f.k) + ".row.col" +
         f.before + "." + f.d + "." + f.a + "." + f.b + "." + f.d + f.after;
}

/// What the elements of A and B make of C.
int64_t expected(const Form &f, const Matrix &a, const Matrix &b, int c,
                 unsigned m, unsigned n) {
  int64_t sum = 0;
  bool exclusive = std::string(f.after) == ".xor.popc";
  for (unsigned k = 0; k != f.k; ++k)
    sum += exclusive ? a.at(m, k) ^ b.at(k, n) : a.at(m, k) * b.at(k, n);
  return sum + c;
}

class WarpMultiply : public testing::TestWithParam<Form> {};
class SparseWarpMultiply : public testing::TestWithParam<Form> {};

std::string nameOfForm(const testing::TestParamInfo<Form> &information) {
  return information.param.name;
}

/// All three operands of a form with numbers of their own.
struct Problem {
  Matrix a, b, c;
  Fragment fa, fb, fc, fd;

  explicit Problem(const Form &f)
      : a(f.m, f.k), b(f.k, f.n), c(f.m, f.n),
        fa(f.a, f.m * (f.chunk ? f.k / 2 : f.k)), fb(f.b, f.k * f.n),
        fc(f.d, f.m * f.n), fd(f.d, f.m * f.n) {
    Numbers numbers(f.m * 1000 + f.k * 10 + bitsOf(f.a) + f.selector);
    numbers.fill(a, f.a);
    numbers.fill(b, f.b);
    numbers.fill(c, f.d);
    for (unsigned lane = 0; lane != 32; ++lane) {
      unsigned g = lane / 4, t = lane % 4;
      for (unsigned i = 0; i != fb.count; ++i) {
        Place p = f.placesB(g, t, i);
        fb.set(lane, i, codeOf(f.b, b.at(p.row, p.column)));
      }
      for (unsigned i = 0; i != fc.count; ++i) {
        Place p = placeC(f.m, g, t, i);
        fc.set(lane, i, codeOf(f.d, c.at(p.row, p.column)));
      }
    }
  }
  void check(const Form &f) const {
    for (unsigned lane = 0; lane != 32; ++lane)
      for (unsigned i = 0; i != fd.count; ++i) {
        Place p = placeC(f.m, lane / 4, lane % 4, i);
        int64_t value =
            expected(f, a, b, c.at(p.row, p.column), p.row, p.column);
        ASSERT_EQ(fd.get(lane, i), codeOf(f.d, int(value)))
            << "lane " << lane << ", element " << i;
      }
  }
};

} // namespace

TEST_P(WarpMultiply, IsTheProduct) {
  const Form &f = GetParam();
  Problem p(f);
  for (unsigned lane = 0; lane != 32; ++lane)
    for (unsigned i = 0; i != p.fa.count; ++i) {
      Place at = f.placesA(lane / 4, lane % 4, i);
      p.fa.set(lane, i, codeOf(f.a, p.a.at(at.row, at.column)));
    }
  std::vector<uint32_t> metadata(32);
  std::string text = kernelOf(mnemonicOf(f) + " " + listOf('d', p.fd) + ", " +
                                  listOf('a', p.fa) + ", " + listOf('b', p.fb) +
                                  ", " + listOf('c', p.fc),
                              p.fa, p.fb, p.fc, p.fd);
  expectClean(runKernel(text, p.fa, p.fb, p.fc, p.fd, metadata));
  p.check(f);
  if (hasAssembler()) {
    EXPECT_TRUE(assembles(text, f.target));
  }
}

/// The chosen two of each chunk, in both spellings.
TEST_P(SparseWarpMultiply, IsTheProduct) {
  const Form &f = GetParam();
  Problem p(f);
  std::vector<uint32_t> metadata(32);
  Numbers numbers(f.k + f.selector);
  unsigned unit = f.chunk / 4; // of two in a row; 0 for tf32
  Matrix stored(f.m, f.k / 2);
  for (unsigned m = 0; m != f.m; ++m)
    for (unsigned x = 0; x != f.k / f.chunk; ++x) {
      constexpr unsigned kPairs[] = {0b0100, 0b1000, 0b1001,
                                     0b1100, 0b1101, 0b1110};
      unsigned pair = f.chunk == 2 ? (numbers.below(2) ? 0b1110 : 0b0100)
                                   : kPairs[numbers.below(6)];
      Bits bits = f.metadata(m, x, f.selector);
      metadata[m % 8 * 4 + bits.thread] |= pair << bits.bit;
      std::vector<int> kept;
      for (unsigned k = 0; k != f.chunk; ++k) {
        unsigned place = f.chunk == 2 ? 2 * k : k / unit;
        bool chosen = place == (pair & 3) || place == pair >> 2;
        int &value = p.a.at(m, x * f.chunk + k);
        if (chosen)
          kept.push_back(value);
        else
          value = 0;
      }
      ASSERT_EQ(kept.size(), f.chunk / 2);
      for (unsigned k = 0; k != kept.size(); ++k)
        stored.at(m, x * f.chunk / 2 + k) = kept[k];
    }
  for (unsigned lane = 0; lane != 32; ++lane)
    for (unsigned i = 0; i != p.fa.count; ++i) {
      Place at = f.placesA(lane / 4, lane % 4, i);
      p.fa.set(lane, i, codeOf(f.a, stored.at(at.row, at.column)));
    }
  for (const char *spelling : {".sp", ".sp::ordered_metadata"}) {
    std::string text =
        kernelOf(mnemonicOf(f, spelling) + " " + listOf('d', p.fd) + ", " +
                     listOf('a', p.fa) + ", " + listOf('b', p.fb) + ", " +
                     listOf('c', p.fc) + ", %e, " + std::to_string(f.selector),
                 p.fa, p.fb, p.fc, p.fd);
    std::fill(p.fd.bytes.begin(), p.fd.bytes.end(), 0);
    expectClean(runKernel(text, p.fa, p.fb, p.fc, p.fd, metadata));
    p.check(f);
    if (hasAssembler()) {
      EXPECT_TRUE(assembles(text, f.target));
    }
  }
}

INSTANTIATE_TEST_SUITE_P(Dense, WarpMultiply, testing::ValuesIn(kDense),
                         nameOfForm);
INSTANTIATE_TEST_SUITE_P(Sparse, SparseWarpMultiply, testing::ValuesIn(kSparse),
                         nameOfForm);

namespace {

/// m8n8k4 of f16: lanes 4q..4q+3 and 16+4q..16+4q+3 make product q.
Place quadA(bool column, unsigned lane, unsigned i) {
  unsigned row = lane < 16 ? 0 : 4;
  return column ? Place{i % 4 + row, lane % 4} : Place{lane % 4 + row, i};
}
Place quadB(bool row, unsigned lane, unsigned i) {
  unsigned column = lane < 16 ? 0 : 4;
  return row ? Place{lane % 4, i + column} : Place{i, lane % 4 + column};
}
Place quadC(bool wide, unsigned lane, unsigned i) {
  unsigned high = lane < 16 ? 0 : 4;
  return wide ? Place{(lane & 1) + (i & 2) + high,
                      (i & 4) + (lane & 2) + (i & 1)}
              : Place{lane % 4 + high, i};
}

void multiplyQuads(bool columnA, bool rowB, const std::string &d,
                   const std::string &c) {
  SCOPED_TRACE(d + c + (columnA ? " col" : " row") + (rowB ? " row" : " col"));
  std::vector<Matrix> as, bs, cs;
  Numbers numbers(columnA + 2 * rowB + 17);
  for (unsigned q = 0; q != 4; ++q) {
    as.emplace_back(8, 4);
    bs.emplace_back(4, 8);
    cs.emplace_back(8, 8);
    numbers.fill(as.back(), "f16");
    numbers.fill(bs.back(), "f16");
    numbers.fill(cs.back(), "f16");
  }
  Fragment fa("f16", 128), fb("f16", 128), fc(c, 256), fd(d, 256);
  for (unsigned lane = 0; lane != 32; ++lane) {
    unsigned q = lane % 16 / 4;
    for (unsigned i = 0; i != 4; ++i) {
      Place a = quadA(columnA, lane, i), b = quadB(rowB, lane, i);
      fa.set(lane, i, codeOf("f16", as[q].at(a.row, a.column)));
      fb.set(lane, i, codeOf("f16", bs[q].at(b.row, b.column)));
    }
    for (unsigned i = 0; i != 8; ++i) {
      Place p = quadC(c == "f32", lane, i);
      fc.set(lane, i, codeOf(c, cs[q].at(p.row, p.column)));
    }
  }
  std::string text = kernelOf(
      std::string("mma.sync.aligned.m8n8k4.") + (columnA ? "col" : "row") +
          (rowB ? ".row." : ".col.") + d + ".f16.f16." + c + " " +
          listOf('d', fd) + ", " + listOf('a', fa) + ", " + listOf('b', fb) +
          ", " + listOf('c', fc),
      fa, fb, fc, fd);
  std::vector<uint32_t> metadata(32);
  expectClean(runKernel(text, fa, fb, fc, fd, metadata));
  for (unsigned lane = 0; lane != 32; ++lane)
    for (unsigned i = 0; i != 8; ++i) {
      unsigned q = lane % 16 / 4;
      Place p = quadC(d == "f32", lane, i);
      int sum = cs[q].at(p.row, p.column);
      for (unsigned k = 0; k != 4; ++k)
        sum += as[q].at(p.row, k) * bs[q].at(k, p.column);
      ASSERT_EQ(fd.get(lane, i), codeOf(d, sum)) << lane << " " << i;
    }
  if (hasAssembler()) {
    EXPECT_TRUE(assembles(text));
  }
}

/// The findings of one mma with zeros in all registers.
std::vector<Finding> findingsOf(const std::string &multiply) {
  return runBody(multiply).result.findings;
}

} // namespace

TEST(WarpMultiplyQuads, AreFourProducts) {
  for (bool columnA : {false, true})
    for (bool rowB : {false, true}) {
      multiplyQuads(columnA, rowB, "f32", "f32");
      multiplyQuads(columnA, rowB, "f16", "f16");
    }
  multiplyQuads(false, false, "f32", "f16");
}

/// 2^53 + 1 lies between two numbers of f64; the direction chooses.
TEST(WarpMultiplyRounding, IsThatOfTheInstruction) {
  const struct {
    const char *word;
    uint32_t low; ///< of the result
  } kCases[] = {{"", 0}, {".rn", 0}, {".rz", 0}, {".rm", 0}, {".rp", 1}};
  for (const auto &one : kCases) {
    Simple s = runBody(
        "mov.b64 %rd4, 0d3FF0000000000000;\nmov.b64 %rd5, 0d0000000000000000;\n"
        "mov.b64 %rd6, 0d4340000000000000;\nsetp.eq.u32 %p1, %r1, 0;\n"
        "selp.b64 %rd7, %rd4, %rd5, %p1;\n"
        "mma.sync.aligned.m8n8k4.row.col" +
        std::string(one.word) +
        ".f64.f64.f64.f64 {%rd8, %rd9}, {%rd7}, {%rd4}, {%rd6, %rd6};\n"
        "mov.b64 {%r5, %r6}, %rd8;\nst.global.b32 [%rd1], %r5;");
    expectClean(s.result);
    EXPECT_EQ(s.out[0], one.low) << one.word;
    EXPECT_EQ(s.out[31], 0u) << one.word;
  }
}

TEST(WarpMultiplyMetadata, MustNamePositions) {
  const std::string kOnes =
      "mov.b32 %r5, 0x3C003C00;\nmov.b32 %f1, 0f00000000;\n";
  auto sparse = [&](const char *spelling, const char *metadata,
                    const char *selector) {
    return kOnes + "mov.b32 %r6, " + metadata + ";\nmma" + spelling +
           ".sync.aligned.m16n8k16.row.col.f32.f16.f16.f32 {%f2, %f3, %f4, "
           "%f5}, {%r5, %r5}, {%r5, %r5}, {%f1, %f1, %f1, %f1}, %r6, " +
           selector + ";\nst.global.b32 [%rd1], %f2;";
  };
  EXPECT_TRUE(findingsOf(sparse(".sp", "0x44444444", "0")).empty());
  // Positions 1 and 0: only where they need not ascend.
  EXPECT_TRUE(findingsOf(sparse(".sp", "0x44444441", "0")).empty());
  auto found = findingsOf(sparse(".sp::ordered_metadata", "0x44444441", "0"));
  ASSERT_EQ(found.size(), 1u);
  EXPECT_EQ(found[0].message, "sparsity metadata 1 of row 0 is not an "
                              "ascending pair of positions");
  found = findingsOf(sparse(".sp", "0x44445444", "3"));
  ASSERT_EQ(found.size(), 1u);
  EXPECT_EQ(found[0].message,
            "sparsity metadata 5 of row 0 is not a pair of positions");
  found = findingsOf(sparse(".sp", "0x44444444", "4"));
  ASSERT_EQ(found.size(), 1u);
  EXPECT_NE(found[0].message.find("sparsity selector 4 is not in 0..3"),
            std::string::npos)
      << found[0].message;
  found = findingsOf(
      "mma.sp.sync.aligned.m16n8k8.row.col.f32.tf32.tf32.f32 {%f2, %f3, %f4, "
      "%f5}, {%r1, %r1}, {%r1, %r1}, {%f1, %f1, %f1, %f1}, %r1, 0;");
  ASSERT_FALSE(found.empty());
  std::string tf32 = kOnes +
                     "mov.b32 %r6, 0xE4E4E4E8;\nmma.sp::ordered_metadata.sync."
                     "aligned.m16n8k8.row.col.f32.tf32.tf32.f32 {%f2, %f3, "
                     "%f4, %f5}, {%r5, %r5}, {%r5, %r5}, {%f1, %f1, %f1, "
                     "%f1}, %r6, 0;";
  found = findingsOf(tf32);
  ASSERT_EQ(found.size(), 1u);
  EXPECT_EQ(found[0].message, "sparsity metadata 8 of row 0 is not 4 or 14");
}

TEST(WarpMultiplyForms, ThatDoNotExistAreRefused) {
  const struct {
    const char *instruction, *message;
  } kCases[] = {
      {"mma.sync.aligned.m16n8k32.row.col.f32.f16.f16.f32 {%f2, %f3, %f4, "
       "%f5}, {%r1, %r1, %r1, %r1}, {%r1, %r1}, {%f1, %f1, %f1, %f1}",
       "shape 'm16n8k32' does not exist for 'f16'; there is 'm8n8k4', "
       "'m16n8k8', 'm16n8k16'"},
      {"mma.sync.aligned.m16n8k16.row.col.f32.bf16.f16.f32 {%f2, %f3, %f4, "
       "%f5}, {%r1, %r1, %r1, %r1}, {%r1, %r1}, {%f1, %f1, %f1, %f1}",
       "operand types 'bf16' and 'f16' do not go together"},
      {"mma.sync.aligned.m16n8k16.row.col.f16.f16.f16.f32 {%f2, %f3}, {%r1, "
       "%r1, %r1, %r1}, {%r1, %r1}, {%f1, %f1, %f1, %f1}",
       "accumulator type does not go with the operands"},
      {"mma.sync.aligned.m16n8k8.row.col.f16.bf16.bf16.f16 {%f2, %f3}, {%r1, "
       "%r1}, {%r1}, {%f1, %f1}",
       "accumulator type does not go with the operands"},
      {"mma.sync.aligned.m16n8k8.col.row.f32.f16.f16.f32 {%f2, %f3, %f4, "
       "%f5}, {%r1, %r1}, {%r1}, {%f1, %f1, %f1, %f1}",
       "the layouts of A and B must be '.row' and '.col'"},
      {"mma.sync.aligned.m8n8k4.row.col.f16.f16.f16.f32 {%r1, %r1, %r1, %r1}, "
       "{%r1, %r1}, {%r1, %r1}, {%f1, %f1, %f1, %f1, %f1, %f1, %f1, %f1}",
       "accumulator type does not go with the operands"},
  };
  for (const auto &one : kCases) {
    auto found = findingsOf(std::string(one.instruction) + ";");
    ASSERT_EQ(found.size(), 1u) << one.instruction;
    EXPECT_EQ(found[0].kind, FindingKind::Unsupported);
    EXPECT_NE(found[0].message.find(one.message), std::string::npos)
        << found[0].message;
    if (hasAssembler()) {
      EXPECT_FALSE(assembles(body(std::string(one.instruction) + ";")));
    }
  }
}
