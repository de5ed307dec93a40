//===- UnitsRubinTest.cpp - tcgen05.mma of sm_107 -------------------------===//
//
// Part of the blockscale project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Instruction descriptors compiled by the vendor's DSL for sm_107a, and
// products with the wide K: codes of each row, scales of each row and block are
// drawn at random, placed by formulas typed from the published layouts, and
// every element of the accumulator is compared with a double-precision loop.
// Everything else in tensor memory is NaN.
//
//===----------------------------------------------------------------------===//

#include "UnitsRubin.h"

#include <gtest/gtest.h>

#include <cmath>
#include <cstring>
#include <random>

using namespace blockscale::emulator;
using namespace blockscale::emulator::test;

namespace {

struct Shape {
  const char *name;
  MmaKind kind;
  unsigned block, group, m, n, k;
  Element a, b, scale = Element::UE8M0;
  unsigned idA = 0, idB = 0;
  bool sparse = false, rowScales = false, aInTensor = false;
};

void PrintTo(const Shape &shape, std::ostream *stream) {
  *stream << shape.name;
}

class Product {
public:
  static constexpr uint32_t kBase = 1024, kSize = 300 * 1024;
  static constexpr uint32_t kStartA = 2048, kStartB = 270336; // beyond 18 bits
  static constexpr uint32_t kColumnScaleA = 513, kColumnScaleB = 532,
                            kColumnMeta = 400, kColumnA = 420;

  explicit Product(const Shape &shape) : s(shape) {
    fp4 = s.kind == MmaKind::MXF4 || s.kind == MmaKind::MXF4NVF4;
    scaled = s.block != 0;
    scaleColumnA = s.rowScales ? kColumnScaleA : kColumnScaleA + 1;
    stored = s.sparse ? s.k / 2 : s.k;
    count = scaled ? s.k / s.block / (s.sparse ? 2 : 1) : 0;
    for (unsigned c = 0; c != 2; ++c) {
      memory[c].assign(kSize, 0xEE);
      uint32_t address;
      EXPECT_EQ(tensor[c].allocate(576, address, 0, true), AllocStatus::Ok);
      for (unsigned lane = 0; lane != 128; ++lane) {
        std::memset(tensor[c].row(lane), 0xFF, 576 * 4);
        tensor[c].markValid(lane, 0, 576);
      }
      context.cta[c] = {memory[c].data(), kBase, kSize, nullptr, &tensor[c]};
    }
    context.wideAddresses = true;
    draw();
    placeElements();
    placeScales();
    request.form = formOf(s.kind, s.block, s.group, s.sparse);
    if (!fp4)
      request.form.elementwise = false;
    request.idesc = scaled ? idesc() : plainIdesc();
    request.a = s.aInTensor ? kColumnA : descriptor(kStartA);
    request.aInTensorMemory = s.aInTensor;
    request.b = descriptor(kStartB);
    request.scaleA = scaleColumnA;
    request.scaleB = kColumnScaleB;
    request.metadata = kColumnMeta;
  }

  TensorReport run() {
    TensorCore core;
    return core.execute(request, context);
  }

  double expected(unsigned m, unsigned n) const {
    double sum = 0;
    for (unsigned k = 0; k != s.k; ++k) {
      unsigned block = scaled ? k * count / s.k : 0;
      double scale = scaled ? scaleA[m][block] * scaleB[n][block] : 1;
      sum += a[m][k] * b[n][k] * scale;
    }
    return sum;
  }

  double result(unsigned m, unsigned n) {
    uint32_t word = tensor[m / 128].row(m % 128)[n];
    return isInteger(s.kind) ? int32_t(word)
                             : double(decode(Element::F32, word));
  }

  void compare() {
    TensorReport report = run();
    for (const TensorIssue &issue : report.issues)
      ADD_FAILURE() << s.name << ": " << issue.message;
    unsigned wrong = 0;
    for (unsigned m = 0; m != s.m; ++m)
      for (unsigned n = 0; n != s.n; ++n)
        if (result(m, n) != expected(m, n) && !wrong++)
          ADD_FAILURE() << s.name << " at " << m << "," << n << ": "
                        << result(m, n) << ", expected " << expected(m, n);
    EXPECT_EQ(wrong, 0u);
  }

  Shape s;
  MmaRequest request;
  std::vector<uint8_t> memory[2];
  TensorMemory tensor[2] = {TensorMemory(576), TensorMemory(576)};
  TensorContext context;
  unsigned scaleColumnA = 0;

private:
  static unsigned codeOf(Element type) {
    switch (type) {
    case Element::E5M2:
      return 1;
    case Element::E2M3:
      return 3;
    case Element::E3M2:
      return 4;
    case Element::E2M1:
      return 5;
    case Element::S1Z4M11:
      return 3;
    default:
      return 0;
    }
  }
  uint32_t idesc() const {
    uint32_t format = s.scale == Element::UE4M3   ? 0
                      : s.scale == Element::UE8M0 ? 1
                                                  : 2;
    uint32_t bits = uint32_t(s.sparse) << 2 | s.idB << 4 | s.n / 8 << 17 |
                    format << 23 | uint32_t(s.rowScales) << 26 |
                    s.m / 128 << 27 | s.idA << 29;
    if (fp4) {
      bits |= 1 << 7 | 1 << 10 | uint32_t(s.sparse) << 12;
      if (s.k == 96 || s.k == 192)
        bits |= 1u << 31;
      else if (s.k == 128 && !s.sparse)
        bits |= 1 << 3;
      return bits;
    }
    bits |= codeOf(s.a) << 7 | codeOf(s.b) << 10;
    return bits | uint32_t(wide()) << 31;
  }
  uint32_t plainIdesc() const {
    return (isInteger(s.kind) ? 2u : 1u) << 4 | uint32_t(s.sparse) << 2 |
           codeOf(s.a) << 7 | codeOf(s.b) << 10 | s.n / 8 << 17 |
           s.m / 16 << 24 | uint32_t(s.k == 64) << 29;
  }
  bool wide() const { return s.k == (s.sparse ? 128u : 64u); }
  static uint64_t descriptor(uint32_t start) {
    return uint64_t(start >> 4) | 0x4000404000010000;
  }

  uint32_t elementCode(Element type) {
    switch (type) {
    case Element::E4M3:
      return (random() & 1) << 7 | (0x30 + random() % 16);
    case Element::E5M2:
      return (random() & 1) << 7 | (0x38 + random() % 8);
    case Element::E3M2:
      return (random() & 1) << 5 | random() % 16;
    case Element::E2M3:
      return random() & 0x3f;
    case Element::S1Z4M11:
      return random() & 0x87ff;
    default:
      return random() & 0xf;
    }
  }
  /// Of 1/2, 3/4, 1, 3/2, 2, 3, or powers of two.
  uint32_t scaleCode() {
    switch (s.scale) {
    case Element::UE8M0:
      return 126 + random() % 3;
    case Element::UE4M3:
      return 0x30 + 4 * (random() % 6);
    default:
      return 0x70 + 4 * (random() % 6);
    }
  }

  void draw() {
    static const unsigned kNibbles[6] = {0x4, 0x8, 0xC, 0x9, 0xD, 0xE};
    for (unsigned m = 0; m != s.m; ++m) {
      for (unsigned i = 0; i != stored; ++i)
        codesA[m][i] = elementCode(s.a);
      if (!s.sparse) {
        for (unsigned k = 0; k != s.k; ++k)
          a[m][k] = decode(s.a, codesA[m][k]);
      }
      for (unsigned c = 0; s.sparse && c != s.k / 4; ++c) {
        meta[m][c] = kNibbles[random() % 6];
        a[m][4 * c + (meta[m][c] & 3)] = decode(s.a, codesA[m][2 * c]);
        a[m][4 * c + (meta[m][c] >> 2)] = decode(s.a, codesA[m][2 * c + 1]);
      }
      for (unsigned i = 0; i != count; ++i)
        scaleA[m][i] = decode(s.scale, scaleCodeA[m][i] = scaleCode());
    }
    for (unsigned n = 0; n != s.n; ++n) {
      for (unsigned k = 0; k != s.k; ++k)
        b[n][k] = decode(s.b, codesB[n][k] = elementCode(s.b));
      for (unsigned i = 0; i != count; ++i)
        scaleB[n][i] = decode(s.scale, scaleCodeB[n][i] = scaleCode());
    }
  }

  /// Packs a row of codes; at the narrow K of mxf8f6f4 small elements are
  /// padded.
  std::vector<uint8_t> packed(Element type, const uint32_t *codes,
                              unsigned number) const {
    unsigned bits = bitWidth(type);
    bool padded = s.kind == MmaKind::MXF8F6F4 && !wide() && bits < 8;
    std::vector<uint8_t> row(padded ? number : number * bits / 8);
    for (unsigned i = 0; i != number; ++i)
      for (unsigned bit = 0; bit != bits; ++bit) {
        unsigned at =
            padded ? i / 16 * 128 + i % 16 * bits + bit : i * bits + bit;
        row[at / 8] |= uint8_t((codes[i] >> bit & 1) << at % 8);
      }
    return row;
  }

  /// Rows of 128 bytes, swizzled in units of 16 bytes by the row's number in
  /// its group of 8.
  void placeRow(unsigned cta, uint32_t start, unsigned row,
                const std::vector<uint8_t> &bytes) {
    for (size_t i = 0; i != bytes.size(); ++i) {
      size_t at = start + row / 8 * 1024 + row % 8 * 128 + (i ^ (row % 8) << 4);
      memory[cta][at - kBase] = bytes[i];
    }
  }

  void placeElements() {
    for (unsigned m = 0; m != s.m; ++m) {
      std::vector<uint8_t> row = packed(s.a, codesA[m], stored);
      if (s.aInTensor)
        std::memcpy(tensor[m / 128].row(m % 128) + kColumnA, row.data(),
                    row.size());
      else
        placeRow(m / 128, kStartA, m % 128, row);
      for (unsigned c = 0; s.sparse && c < s.k / 4; c += 2)
        reinterpret_cast<uint8_t *>(tensor[m / 128].row(m % 128) +
                                    kColumnMeta)[c / 2] =
            uint8_t(meta[m][c] | meta[m][c + 1] << 4);
    }
    unsigned perCta = s.n / s.group;
    for (unsigned n = 0; n != s.n; ++n)
      placeRow(n / perCta, kStartB, n % perCta, packed(s.b, codesB[n], s.k));
  }

  void putByte(unsigned cta, unsigned lane, unsigned column, unsigned byte,
               uint32_t code) {
    reinterpret_cast<uint8_t *>(tensor[cta].row(lane) + column)[byte] =
        uint8_t(code);
  }
  /// In four copies: lane r mod 32, column r div 32 of its 128 rows; the next
  /// word of a row is 4 columns on for up to 128 rows, else 8.
  void putCopies(unsigned cta, unsigned base, unsigned row, unsigned rows,
                 unsigned index, uint32_t code) {
    unsigned step = rows <= 128 ? 4 : 8;
    unsigned column = base + index / 4 * step + row / 128 * 4 + row % 128 / 32;
    for (unsigned copy = 0; copy != 4; ++copy)
      putByte(cta, row % 32 + 32 * copy, column, index % 4, code);
  }
  void placeScales() {
    for (unsigned m = 0; m != s.m; ++m)
      for (unsigned i = 0; i != count; ++i) {
        unsigned index = s.idA + i, cta = m / 128, row = m % 128;
        if (s.rowScales)
          putByte(cta, row, scaleColumnA + index / 4, index % 4,
                  scaleCodeA[m][i]);
        else
          putCopies(cta, scaleColumnA, row, 128, index, scaleCodeA[m][i]);
      }
    for (unsigned cta = 0; cta != s.group; ++cta)
      for (unsigned n = 0; n != s.n; ++n)
        for (unsigned i = 0; i != count; ++i)
          putCopies(cta, kColumnScaleB, n, s.n, s.idB + i, scaleCodeB[n][i]);
  }

  std::mt19937 random{7};
  bool fp4 = false, scaled = false;
  unsigned stored = 0, count = 0;
  uint32_t codesA[256][128], codesB[256][192];
  double a[256][192] = {}, b[256][192] = {};
  double scaleA[256][8], scaleB[256][8];
  uint32_t scaleCodeA[256][8], scaleCodeB[256][8], meta[256][48];
};

constexpr Element kFp4 = Element::E2M1, kE4 = Element::E4M3,
                  kE5 = Element::E5M2, kTi = Element::S1Z4M11;

const Shape kShapes[] = {
    {"NvFp4", MmaKind::MXF4NVF4, 16, 1, 128, 128, 128, kFp4, kFp4,
     Element::UE4M3},
    {"NvFp4OfN256", MmaKind::MXF4NVF4, 16, 1, 128, 256, 128, kFp4, kFp4,
     Element::UE4M3},
    {"NvFp4OfN192", MmaKind::MXF4NVF4, 16, 1, 128, 192, 128, kFp4, kFp4,
     Element::UE4M3},
    {"NvFp4OfN64", MmaKind::MXF4NVF4, 16, 1, 128, 64, 128, kFp4, kFp4,
     Element::UE4M3},
    {"NvFp4OfN8", MmaKind::MXF4NVF4, 16, 1, 128, 8, 128, kFp4, kFp4,
     Element::UE4M3},
    {"NvFp4Pair", MmaKind::MXF4NVF4, 16, 2, 256, 256, 128, kFp4, kFp4,
     Element::UE4M3},
    {"NvFp4PairOfN16", MmaKind::MXF4NVF4, 16, 2, 256, 16, 128, kFp4, kFp4,
     Element::UE4M3},
    {"Ue5m3", MmaKind::MXF4NVF4, 16, 1, 128, 128, 128, kFp4, kFp4,
     Element::UE5M3},
    {"Ue5m3Pair", MmaKind::MXF4NVF4, 16, 2, 256, 192, 128, kFp4, kFp4,
     Element::UE5M3},
    {"Ue8m0Of16", MmaKind::MXF4NVF4, 16, 1, 128, 128, 128, kFp4, kFp4,
     Element::UE8M0},
    {"Ue5m3Of32", MmaKind::MXF4NVF4, 32, 1, 128, 256, 128, kFp4, kFp4,
     Element::UE5M3},
    {"Ue4m3Of32", MmaKind::MXF4NVF4, 32, 1, 128, 128, 128, kFp4, kFp4,
     Element::UE4M3},
    {"Ue5m3NarrowK", MmaKind::MXF4NVF4, 16, 1, 128, 128, 64, kFp4, kFp4,
     Element::UE5M3},
    {"Ue5m3K96", MmaKind::MXF4NVF4, 16, 1, 128, 128, 96, kFp4, kFp4,
     Element::UE5M3, 2, 2},
    {"MxFp4", MmaKind::MXF4, 32, 1, 128, 128, 128, kFp4, kFp4},
    {"MxFp4Pair", MmaKind::MXF4, 32, 2, 256, 256, 128, kFp4, kFp4},
    {"MxFp4K96", MmaKind::MXF4, 32, 1, 128, 136, 96, kFp4, kFp4, Element::UE8M0,
     3, 1},
    {"MxFp8", MmaKind::MXF8F6F4, 32, 1, 128, 128, 64, kE4, kE4},
    {"MxFp8SecondId", MmaKind::MXF8F6F4, 32, 1, 128, 256, 64, kE5, kE4,
     Element::UE8M0, 2, 2},
    {"MxFp8Pair", MmaKind::MXF8F6F4, 32, 2, 256, 256, 64, kE4, kE5,
     Element::UE8M0, 0, 2},
    {"Fp8ByPackedFp4", MmaKind::MXF8F6F4, 32, 2, 256, 256, 64, kE4, kFp4},
    {"PackedFp4ByFp8", MmaKind::MXF8F6F4, 32, 1, 128, 128, 64, kFp4, kE4},
    {"PackedFp6", MmaKind::MXF8F6F4, 32, 1, 128, 128, 64, Element::E2M3,
     Element::E3M2},
    {"PaddedAtTheNarrowK", MmaKind::MXF8F6F4, 32, 1, 128, 128, 32, kFp4,
     Element::E3M2, Element::UE8M0, 3, 1},
    {"Fp8", MmaKind::F8F6F4, 0, 1, 128, 128, 64, kE4, kE5},
    {"Fp8Pair", MmaKind::F8F6F4, 0, 2, 256, 48, 64, kE5, kE4},
    // Scales of A one row to a lane, from an odd column on.
    {"RowsNvFp4", MmaKind::MXF4NVF4, 16, 1, 128, 128, 128, kFp4, kFp4,
     Element::UE4M3, 0, 0, false, true},
    {"RowsUe5m3Pair", MmaKind::MXF4NVF4, 16, 2, 256, 256, 128, kFp4, kFp4,
     Element::UE5M3, 0, 0, false, true},
    {"RowsMxFp4", MmaKind::MXF4, 32, 1, 128, 256, 128, kFp4, kFp4,
     Element::UE8M0, 0, 0, false, true},
    {"RowsNarrowK", MmaKind::MXF4NVF4, 16, 1, 128, 128, 64, kFp4, kFp4,
     Element::UE4M3, 0, 0, false, true},
    {"RowsHalfWord", MmaKind::MXF4, 32, 1, 128, 128, 64, kFp4, kFp4,
     Element::UE8M0, 2, 0, false, true},
    {"RowsK96", MmaKind::MXF4NVF4, 16, 1, 128, 128, 96, kFp4, kFp4,
     Element::UE4M3, 2, 0, false, true},
    {"RowsK96Of32", MmaKind::MXF4, 32, 2, 256, 128, 96, kFp4, kFp4,
     Element::UE8M0, 3, 2, false, true},
    {"RowsMxFp8", MmaKind::MXF8F6F4, 32, 2, 256, 256, 64, kE4, kE4,
     Element::UE8M0, 2, 0, false, true},
    {"RowsMxFp8NarrowK", MmaKind::MXF8F6F4, 32, 1, 128, 128, 32, kE4, kE4,
     Element::UE8M0, 1, 2, false, true},
    // Sparsity.
    {"SparseFp4", MmaKind::MXF4NVF4, 16, 1, 128, 128, 128, kFp4, kFp4,
     Element::UE4M3, 0, 0, true},
    {"SparseFp4K192", MmaKind::MXF4NVF4, 16, 1, 128, 128, 192, kFp4, kFp4,
     Element::UE4M3, 2, 0, true},
    {"SparseMxFp8", MmaKind::MXF8F6F4, 32, 1, 128, 128, 128, kE4, kE5,
     Element::UE8M0, 0, 2, true},
    // Sign and magnitude.
    {"Ti16", MmaKind::TI16, 0, 1, 128, 112, 16, kTi, kTi},
    {"Ti16Pair", MmaKind::TI16, 0, 2, 256, 96, 16, kTi, kTi},
    {"Ti16Sparse", MmaKind::TI16, 0, 1, 128, 64, 32, kTi, kTi, Element::UE8M0,
     0, 0, true},
    {"Ti16InTensorMemory", MmaKind::TI16, 0, 2, 256, 64, 16, kTi, kTi,
     Element::UE8M0, 0, 0, false, false, true},
    // A in tensor memory.
    {"Fp8InTensorMemory", MmaKind::MXF8F6F4, 32, 1, 128, 128, 64, kE4, kE4,
     Element::UE8M0, 0, 0, false, false, true},
    {"Fp4InTensorMemory", MmaKind::MXF4NVF4, 16, 2, 256, 128, 128, kFp4, kFp4,
     Element::UE4M3, 0, 0, false, false, true},
    {"Fp6InTensorMemory", MmaKind::MXF8F6F4, 32, 1, 128, 128, 64, Element::E2M3,
     kE4, Element::UE8M0, 0, 0, false, false, true},
};

class UnitsRubinProduct : public testing::TestWithParam<Shape> {};

TEST_P(UnitsRubinProduct, EveryElement) {
  auto product = std::make_unique<Product>(GetParam());
  product->compare();
}

/// Another value of any field of the layout changes the result or is refused.
TEST_P(UnitsRubinProduct, EachFieldMatters) {
  const Shape &s = GetParam();
  auto differs = [&](const char *what, auto change) {
    auto product = std::make_unique<Product>(s);
    change(*product);
    TensorReport report = product->run();
    if (report.refused)
      return;
    for (unsigned m = 0; m != s.m; ++m)
      for (unsigned n = 0; n != s.n; ++n)
        if (product->result(m, n) != product->expected(m, n))
          return;
    ADD_FAILURE() << s.name << ": " << what << " makes no difference";
  };
  bool fp4 = s.kind == MmaKind::MXF4 || s.kind == MmaKind::MXF4NVF4;
  bool fp8 = s.kind == MmaKind::F8F6F4;
  differs("the K size", [&](Product &p) {
    p.request.idesc ^= fp4 ? 1u << 3 : fp8 ? 1u << 29 : 1u << 31;
  });
  if (s.block) {
    differs("the layout of scales",
            [](Product &p) { p.request.idesc ^= 1u << 26; });
    differs("the column of A's scales",
            [](Product &p) { p.request.scaleA += 2; });
    differs("the column of B's scales",
            [](Product &p) { p.request.scaleB += 4; });
  }
  if (fp4)
    differs("the scale format", [](Product &p) {
      p.request.idesc ^= p.s.scale == Element::UE8M0 ? 3u << 23 : 1u << 24;
    });
  differs("the 15th bit of the address",
          [](Product &p) { p.request.b &= ~uint64_t(0x4000); });
  if (s.sparse && fp4)
    differs("the version of sparsity",
            [](Product &p) { p.request.idesc ^= 1u << 12; });
}

INSTANTIATE_TEST_SUITE_P(All, UnitsRubinProduct, testing::ValuesIn(kShapes),
                         [](const testing::TestParamInfo<Shape> &info) {
                           return std::string(info.param.name);
                         });

TEST(UnitsRubin, ChoicesAreNamed) {
  auto points = [](Shape shape) {
    return std::make_unique<Product>(shape)->run().openPoints;
  };
  Shape one = kShapes[0];
  EXPECT_TRUE(points(one).contains(OpenPoint::WideOneCta));
  EXPECT_TRUE(points(one).contains(OpenPoint::SharedAddress19));
  EXPECT_FALSE(points(one).contains(OpenPoint::MinifloatScalesOf32));
  Shape of32 = {"",   MmaKind::MXF4NVF4, 32, 2, 256, 128, 128, kFp4,
                kFp4, Element::UE5M3};
  EXPECT_TRUE(points(of32).contains(OpenPoint::MinifloatScalesOf32));
  EXPECT_FALSE(points(of32).contains(OpenPoint::WideOneCta));
  Shape fp8 = {"", MmaKind::MXF8F6F4, 32, 1, 128, 128, 64, kE4, kE4};
  EXPECT_TRUE(points(fp8).contains(OpenPoint::WideMxf8Scales));
  fp8.aInTensor = true;
  EXPECT_TRUE(points(fp8).contains(OpenPoint::WideTensorMemoryContainer));
  fp8.aInTensor = false;
  fp8.sparse = true;
  fp8.k = 128;
  EXPECT_TRUE(points(fp8).contains(OpenPoint::SparseWideScales));
}

TEST(UnitsRubin, PackedFp4HasNoPlaceInTensorMemory) {
  Shape shape = {"", MmaKind::MXF8F6F4, 32, 1, 128, 128, 64, kFp4, kE4};
  shape.aInTensor = true;
  TensorReport report = std::make_unique<Product>(shape)->run();
  ASSERT_TRUE(report.refused);
  EXPECT_EQ(report.issues.back().message,
            "4-bit elements of A in tensor memory have no container at K=64; "
            "K=32 has one");
}

TEST(UnitsRubin, IntegersWithASign) {
  // Bit 15 is the sign, bits 0 to 10 are the magnitude.
  EXPECT_EQ(decode(kTi, 0x07FF), 2047);
  EXPECT_EQ(decode(kTi, 0x87FF), -2047);
  EXPECT_EQ(decode(kTi, 0x8001), -1);
  EXPECT_EQ(decode(kTi, 0x0400), 1024);
  Shape shape = {"", MmaKind::TI16, 0, 1, 128, 64, 16, kTi, kTi};
  auto negated = std::make_unique<Product>(shape);
  negated->request.idesc |= 1 << 13;
  TensorReport report = negated->run();
  ASSERT_FALSE(report.refused);
  EXPECT_TRUE(report.openPoints.contains(OpenPoint::Ti16Majors));
  EXPECT_EQ(negated->result(5, 7), -negated->expected(5, 7));
  EXPECT_NE(negated->result(5, 7), 0);
  auto refusal = [&](auto change) {
    auto product = std::make_unique<Product>(shape);
    change(*product);
    TensorReport report = product->run();
    return report.refused ? report.issues.back().message : std::string();
  };
  EXPECT_EQ(refusal([](Product &p) { p.request.idesc |= 1 << 16; }),
            "operands of kind 'ti16' must be K-major");
  EXPECT_EQ(refusal([](Product &p) { p.request.idesc |= 1 << 3; }),
            "instruction descriptor bit 3 must be 0 for kind 'ti16'");
  EXPECT_EQ(refusal([](Product &p) { p.request.idesc ^= 3 << 4; }),
            "accumulator type 1 is not one of kind 'ti16'");
  EXPECT_EQ(refusal([](Product &p) { p.request.idesc ^= 1 << 7; }),
            "A format code 2 is not one of kind 'ti16'");
  // N of 24 with all rows.
  EXPECT_EQ(refusal([](Product &p) { p.request.idesc ^= (8 ^ 3) << 17; }),
            "N 24 is not a multiple of 16 up to 256");
  // The upper byte of row 2's second element: its place is swizzled.
  EXPECT_EQ(refusal([](Product &p) {
              p.memory[0][Product::kStartB - Product::kBase + 2 * 128 +
                          (2 << 4) + 3] |= 0x40;
            }),
            "operand 'B', row 2: bits 11 to 14 of element 1 must be 0 for "
            "'s1z4m11'");
}

TEST(UnitsRubin, ContentsOfB) {
  auto product = std::make_unique<Product>(kShapes[0]);
  EXPECT_EQ(product->run().contentsB, 0u);
  product->request.tellsB = true;
  uint64_t first = product->run().contentsB;
  EXPECT_EQ(product->run().contentsB, first);
  product
      ->memory[0][Product::kStartB - Product::kBase + 5 * 128 + (5 << 4) + 3] ^=
      1;
  uint64_t element = product->run().contentsB;
  EXPECT_NE(element, first);
  for (unsigned q = 0; q != 4; ++q)
    product->tensor[0].row(3 + 32 * q)[Product::kColumnScaleB] ^= 4;
  EXPECT_NE(product->run().contentsB, element);
}

} // namespace
