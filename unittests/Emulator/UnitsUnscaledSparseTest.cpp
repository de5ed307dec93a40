//===- UnitsUnscaledSparseTest.cpp - tcgen05.mma.sp without scales --------===//
//
// Part of the blockscale project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Operands are small integers, encoded by tables typed from the definitions of
// the formats, so every sum is exact and the reference is integer arithmetic
// over the elements that the metadata keep. The tensor memory around the
// metadata holds other legal metadata: a wrong column is a wrong result.
//
//===----------------------------------------------------------------------===//

#include "Units/TensorCore.h"

#include <gtest/gtest.h>

#include <cstdlib>
#include <cstring>
#include <gtest/gtest.h>
#include <memory>
#include <random>

using namespace blockscale::emulator;

namespace {

/// A type of operands: its code in the descriptor, its bits, and the codes of
/// 0, 1, 2 and so on; negative values set the highest bit.
struct Type {
  const char *name;
  uint32_t format;
  unsigned bits;
  std::vector<uint32_t> codes;
  bool isSigned = true;
};

const Type kF16{"f16", 0, 16, {0, 0x3c00, 0x4000, 0x4200, 0x4400, 0x4500}};
const Type kBF16{"bf16", 1, 16, {0, 0x3f80, 0x4000, 0x4040, 0x4080, 0x40a0}};
const Type kTF32{
    "tf32",
    2,
    32,
    {0, 0x3f800000, 0x40000000, 0x40400000, 0x40800000, 0x40a00000}};
const Type kE4M3{"e4m3", 0, 8, {0, 0x38, 0x40, 0x44, 0x48, 0x4a}};
const Type kE5M2{"e5m2", 1, 8, {0, 0x3c, 0x40, 0x42, 0x44, 0x45}};
const Type kE2M3{"e2m3", 3, 6, {0, 0x08, 0x10, 0x14, 0x18, 0x1a}};
const Type kE3M2{"e3m2", 4, 6, {0, 0x0c, 0x10, 0x12, 0x14, 0x15}};
const Type kE2M1{"e2m1", 5, 4, {0, 0x2, 0x4, 0x5, 0x6}};
const Type kS8{"s8", 1, 8, {}};
const Type kU8{"u8", 0, 8, {}, false};

struct Form {
  MmaKind kind;
  const Type *a, *b;
  unsigned ctaGroup, n, selector = 0;
};

const Form kForms[] = {
    {MmaKind::F16, &kF16, &kF16, 1, 48},
    {MmaKind::F16, &kBF16, &kBF16, 1, 256, 1},
    {MmaKind::F16, &kF16, &kF16, 2, 96, 2},
    {MmaKind::F16, &kBF16, &kBF16, 2, 256, 3},
    {MmaKind::TF32, &kTF32, &kTF32, 1, 80},
    {MmaKind::TF32, &kTF32, &kTF32, 2, 64, 3},
    {MmaKind::F8F6F4, &kE4M3, &kE4M3, 1, 256},
    {MmaKind::F8F6F4, &kE5M2, &kE4M3, 1, 16},
    {MmaKind::F8F6F4, &kE2M3, &kE3M2, 1, 112},
    {MmaKind::F8F6F4, &kE2M1, &kE5M2, 2, 256},
    {MmaKind::F8F6F4, &kE3M2, &kE2M1, 2, 160},
    {MmaKind::I8, &kS8, &kS8, 1, 128},
    {MmaKind::I8, &kU8, &kS8, 1, 24},
    {MmaKind::I8, &kS8, &kU8, 2, 224},
};

/// An instruction with its operands in place, M 128 per CTA.
class Problem {
public:
  explicit Problem(const Form &form) : f(form), random(form.n) {
    for (unsigned c = 0; c != 2; ++c) {
      memory[c].assign(kSize, 0);
      uint32_t address;
      EXPECT_EQ(tensor[c].allocate(512, address), AllocStatus::Ok);
      context.cta[c] = {memory[c].data(), kBase, kSize, nullptr, &tensor[c]};
    }
    // An instruction reads 32 bytes of a row of A (8-bit containers hold the
    // narrower elements), 2:4 or 1:2 of the logical K.
    stored = 256 / std::max(f.a->bits, 8u);
    chunk = f.kind == MmaKind::TF32 ? 2 : 4;
    m = 128 * f.ctaGroup;
    fill();
    request.form = {f.kind, true, f.ctaGroup, 0};
    uint32_t accumulator = f.kind == MmaKind::I8 ? 2 : 1;
    request.idesc = f.selector | 1u << 2 | accumulator << 4 | f.a->format << 7 |
                    f.b->format << 10 | f.n / 8 << 17 | m / 16 << 24;
    request.a = descriptor(kStartA);
    request.b = descriptor(kStartB);
    request.d = 0;
    request.metadata = kColumnMeta;
  }

  /// The issues of one execution, joined.
  std::string run() {
    TensorReport report = core.execute(request, context);
    EXPECT_EQ(report.openPoints.contains(OpenPoint::SparseSelector),
              chunk == 2 || f.a->bits == 16);
    std::string text;
    for (const TensorIssue &issue : report.issues)
      text += issue.message + "; ";
    return text;
  }

  /// Elements of D that are not `times` the product.
  unsigned mismatches(int times = 1) {
    unsigned count = 0;
    for (unsigned row = 0; row != m; ++row)
      for (unsigned n = 0; n != f.n; ++n) {
        uint32_t word = tensor[row / 128].row(row % 128)[n];
        float value;
        std::memcpy(&value, &word, 4);
        int expected = times * product(row, n);
        count += f.kind == MmaKind::I8 ? int32_t(word) != expected
                                       : value != float(expected);
      }
    return count;
  }

  Form f;
  MmaRequest request;
  unsigned m = 0;

private:
  static constexpr uint32_t kBase = 1024, kSize = 160 * 1024;
  static constexpr uint32_t kStartA = 2048, kStartB = 2048 + 65536;
  /// Columns of metadata: so many lie before those of selector 0.
  static constexpr uint32_t kColumnMeta = 260, kBefore = 4, kColumns = 16;

  /// K-major, 128-byte swizzle, 8 rows in 1024 bytes.
  static uint64_t descriptor(uint32_t start) {
    return uint64_t(start >> 4) | uint64_t(1) << 16 |
           uint64_t(1024 >> 4) << 32 | uint64_t(1) << 46 | uint64_t(2) << 61;
  }

  int draw(const Type &type) {
    if (type.codes.empty())
      return int(random() % 256) - (type.isSigned ? 128 : 0);
    int limit = int(type.codes.size()) - 1;
    return int(random() % unsigned(2 * limit + 1)) - limit;
  }

  static uint32_t encode(const Type &type, int value) {
    if (type.codes.empty())
      return uint32_t(value) & 0xff;
    return type.codes[unsigned(std::abs(value))] | uint32_t(value < 0)
                                                       << (type.bits - 1);
  }

  /// Writes element k of a row; 4- and 6-bit elements lie packed at the start
  /// of 16 bytes for every 16 of them.
  void put(unsigned cta, uint32_t start, unsigned row, unsigned k,
           const Type &type, int value) {
    bool narrow = type.bits < 8;
    unsigned first = narrow ? k / 16 * 128 + k % 16 * type.bits : k * type.bits;
    uint32_t code = encode(type, value);
    for (unsigned bit = 0; bit != type.bits; ++bit) {
      unsigned at = first + bit;
      uint32_t address = start + row / 8 * 1024 + row % 8 * 128 + at / 8;
      address ^= (address >> 7 & 7) << 4;
      memory[cta][address - kBase] |= uint8_t((code >> bit & 1) << at % 8);
    }
  }

  /// The metadata of a chunk of the row.
  unsigned nibble(unsigned row, unsigned c) const {
    return metadata[row][8 * (kBefore + f.selector) + c];
  }

  void fill() {
    unsigned logical = 2 * stored;
    a.assign(m, std::vector<int>(stored));
    b.assign(f.n, std::vector<int>(logical));
    for (unsigned row = 0; row != m; ++row)
      for (unsigned k = 0; k != stored; ++k)
        put(row / 128, kStartA, row % 128, k, *f.a, a[row][k] = draw(*f.a));
    unsigned perCta = f.n / f.ctaGroup;
    for (unsigned n = 0; n != f.n; ++n)
      for (unsigned k = 0; k != logical; ++k)
        put(n / perCta, kStartB, n % perCta, k, *f.b, b[n][k] = draw(*f.b));
    placeMetadata();
  }

  /// Legal nibbles in all columns about those of the instruction.
  void placeMetadata() {
    const unsigned twoOfFour[6] = {0x4, 0x8, 0xc, 0x9, 0xd, 0xe};
    const unsigned oneOfTwo[2] = {0x4, 0xe};
    metadata.assign(m, std::vector<unsigned>(8 * kColumns));
    for (unsigned row = 0; row != m; ++row) {
      TensorMemory &target = tensor[row / 128];
      uint32_t *words = target.row(row % 128) + kColumnMeta - kBefore;
      for (unsigned i = 0; i != 8 * kColumns; ++i) {
        unsigned code =
            chunk == 2 ? oneOfTwo[random() % 2] : twoOfFour[random() % 6];
        metadata[row][i] = code;
        words[i / 8] |= code << i % 8 * 4;
      }
      target.markValid(row % 128, kColumnMeta - kBefore, kColumns);
    }
  }

  int product(unsigned row, unsigned n) const {
    int sum = 0;
    for (unsigned k = 0; k != stored; ++k) {
      unsigned perChunk = chunk / 2, c = k / perChunk;
      unsigned code = nibble(row, c);
      unsigned position =
          chunk == 2 ? code == 0xe : code >> 2 * (k % perChunk) & 3;
      sum += a[row][k] * b[n][c * chunk + position];
    }
    return sum;
  }

  std::mt19937 random;
  TensorCore core;
  unsigned stored = 0, chunk = 0;
  std::vector<uint8_t> memory[2];
  TensorMemory tensor[2];
  TensorContext context;
  std::vector<std::vector<int>> a, b;
  std::vector<std::vector<unsigned>> metadata;
};

std::string nameOf(const Form &form) {
  return std::string(name(form.kind)) + " " + form.a->name + " x " +
         form.b->name + " cta_group::" + std::to_string(form.ctaGroup);
}

} // namespace

TEST(UnscaledSparse, ProductsAreExactInEveryKind) {
  for (const Form &form : kForms) {
    SCOPED_TRACE(nameOf(form));
    auto problem = std::make_unique<Problem>(form);
    EXPECT_EQ(problem->run(), "");
    EXPECT_EQ(problem->mismatches(), 0u);
    problem->request.enableInputD = true;
    EXPECT_EQ(problem->run(), "");
    EXPECT_EQ(problem->mismatches(2), 0u);
  }
}

TEST(UnscaledSparse, AnotherMetadataColumnIsAnotherProduct) {
  for (const Form &form : kForms)
    for (int shift : {-1, 1, 2}) {
      SCOPED_TRACE(nameOf(form) + ", metadata moved by " +
                   std::to_string(shift));
      auto problem = std::make_unique<Problem>(form);
      problem->request.metadata += uint32_t(shift);
      EXPECT_EQ(problem->run(), "");
      EXPECT_GT(problem->mismatches(), problem->m * form.n / 2);
    }
}

TEST(UnscaledSparse, AnotherSelectorIsAnotherProduct) {
  for (const Form &form : kForms) {
    if (form.kind != MmaKind::F16 && form.kind != MmaKind::TF32)
      continue;
    SCOPED_TRACE(nameOf(form));
    auto problem = std::make_unique<Problem>(form);
    problem->request.idesc ^= 1;
    EXPECT_EQ(problem->run(), "");
    EXPECT_GT(problem->mismatches(), problem->m * form.n / 2);
  }
}

// PTX ISA, tcgen05, "Sparsity selector": it must be 0 for these two kinds.
TEST(UnscaledSparse, KindsOfBytesHaveNoSelector) {
  for (const Form &form : kForms) {
    if (form.kind != MmaKind::F8F6F4 && form.kind != MmaKind::I8)
      continue;
    SCOPED_TRACE(nameOf(form));
    auto problem = std::make_unique<Problem>(form);
    problem->request.idesc |= 2;
    EXPECT_EQ(problem->run(),
              std::string("the sparsity selector must be 0 for kind '") +
                  name(form.kind) + "', found 2; ");
  }
}
