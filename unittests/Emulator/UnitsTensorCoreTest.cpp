//===- UnitsTensorCoreTest.cpp - tcgen05.mma against a slow product -------===//
//
// Part of the blockscale project, under the Apache License v2.0 with LLVM
// Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The test places random codes in shared memory, scales and metadata in tensor
// memory by the published formulas, and compares every accumulator element
// with a double-precision loop over the codes. The data are small enough for
// every sum to be exact.
//
//===----------------------------------------------------------------------===//

#include "Units/TensorCore.h"

#include <gtest/gtest.h>

#include <cmath>
#include <cstring>
#include <ctime>
#include <gtest/gtest.h>
#include <random>

using namespace blockscale::emulator;

namespace {

struct Shape {
  const char *name;
  MmaKind kind;
  unsigned block, ctaGroup;
  bool sparse;
  unsigned m, n, k;
  Element a, b, scale;
  unsigned idA, idB;
  bool aInTensor = false;
  bool negateA = false;
};

unsigned formatCode(Element type, bool fp4Kind) {
  if (fp4Kind)
    return 1;
  switch (type) {
  case Element::E5M2:
    return 1;
  case Element::E2M3:
    return 3;
  case Element::E3M2:
    return 4;
  case Element::E2M1:
    return 5;
  default:
    return 0;
  }
}

/// A pair of CTAs with operands, and the exact product.
class Fixture {
public:
  explicit Fixture(const Shape &shape, unsigned seed = 1)
      : s(shape), random(seed) {
    fp4 = s.kind != MmaKind::MXF8F6F4;
    scaleCount = s.k / s.block / (s.sparse ? 2 : 1);
    for (unsigned c = 0; c < 2; ++c) {
      memory[c].assign(kSize, 0);
      uint32_t address;
      EXPECT_EQ(tensor[c].allocate(512, address), AllocStatus::Ok);
      context.cta[c] = {memory[c].data(), kBase, kSize, nullptr, &tensor[c]};
    }
    makeData();
    placeOperands();
    placeScales();
    request.form = {s.kind, s.sparse, s.ctaGroup, s.block};
    request.idesc = idesc();
    request.a = s.aInTensor ? kColumnA : descriptor(kStartA);
    request.aInTensorMemory = s.aInTensor;
    request.b = descriptor(kStartB);
    request.d = kColumnD;
    request.scaleA = kColumnSfa;
    request.scaleB = kColumnSfb;
    request.metadata = kColumnMeta;
  }

  static constexpr uint32_t kBase = 1024, kSize = 200 * 1024;
  static constexpr uint32_t kStartA = 2048, kStartB = 2048 + 65536;
  static constexpr uint32_t kColumnD = 0, kColumnSfa = 256, kColumnSfb = 288,
                            kColumnMeta = 320, kColumnA = 352;

  uint32_t idesc() const {
    uint32_t bits = s.sparse << 2 | s.idB << 4 | formatCode(s.a, fp4) << 7 |
                    formatCode(s.b, fp4) << 10 | uint32_t(s.negateA) << 13 |
                    (s.n / 8) << 17 | (s.m / 128) << 27 | s.idA << 29;
    if (s.scale == Element::UE8M0)
      bits |= 1u << 23;
    if (s.k == 96)
      bits |= 1u << 31;
    return bits;
  }

  static uint64_t descriptor(uint32_t start) {
    return uint64_t(start >> 4) | uint64_t(1) << 16 |
           uint64_t(1024 >> 4) << 32 | uint64_t(1) << 46 | uint64_t(2) << 61;
  }

  double expected(unsigned m, unsigned n) const {
    double sum = 0;
    for (unsigned k = 0; k < s.k; ++k)
      sum += a[m][k] * b[n][k] * scaleA[m][k * scaleCount / s.k] *
             scaleB[n][k * scaleCount / s.k];
    return s.negateA ? -sum : sum;
  }

  /// Where element (m, n) of the accumulator is (layouts A, B, D).
  float result(unsigned m, unsigned n) {
    unsigned cta = s.ctaGroup == 2 ? m / (s.m / 2) : 0;
    unsigned lane = s.ctaGroup == 2 ? m % (s.m / 2) : m, column = n;
    if (s.ctaGroup == 2 && s.m == 128) {
      lane += 64 * (n / (s.n / 2));
      column = n % (s.n / 2);
    }
    float value;
    std::memcpy(&value, tensor[cta].row(lane) + kColumnD + column, 4);
    return value;
  }

  void compare(const char *what, double factor = 1) {
    unsigned wrong = 0;
    for (unsigned m = 0; m < s.m; ++m)
      for (unsigned n = 0; n < s.n; ++n)
        if (double(result(m, n)) != factor * expected(m, n) && !wrong++)
          ADD_FAILURE() << s.name << " " << what << " at " << m << "," << n
                        << ": " << result(m, n) << " expected "
                        << factor * expected(m, n);
  }

  /// Metadata 0 for a chunk of A, with or without its values.
  void clearMetadata(unsigned m, unsigned chunk, bool values) {
    for (unsigned u = 0; values && u != 2; ++u) {
      a[m][chunk * 4 + (meta[m][chunk] >> 2 * u & 3)] = 0;
      codeA[m][2 * chunk + u] = 0;
    }
    meta[m][chunk] = 0;
    placeOperands();
  }

  Shape s;
  std::mt19937 random;
  bool fp4;
  unsigned scaleCount;
  std::vector<uint8_t> memory[2];
  std::vector<uint8_t> valid = std::vector<uint8_t>(kSize, 0xff);
  TensorMemory tensor[2];
  TensorContext context;
  MmaRequest request;

private:
  uint32_t code(Element type) {
    // Small exponents only, so that sums stay exact.
    switch (type) {
    case Element::E4M3:
      return (random() & 1) << 7 | (0x30 + random() % 0x18);
    case Element::E5M2:
      return (random() & 1) << 7 | (0x38 + random() % 0x0c);
    case Element::E2M1:
      return random() & 0xf;
    default:
      return random() & 0x3f;
    }
  }
  uint32_t scaleCode() {
    return s.scale == Element::UE8M0 ? 124 + random() % 7
                                     : 0x28 + random() % 0x20;
  }

  void makeData() {
    unsigned storedK = s.sparse ? s.k / 2 : s.k;
    for (unsigned m = 0; m < s.m; ++m)
      for (unsigned k = 0; k < storedK; ++k)
        codeA[m][k] = code(s.a);
    for (unsigned n = 0; n < s.n; ++n)
      for (unsigned k = 0; k < s.k; ++k) {
        codeB[n][k] = code(s.b);
        b[n][k] = decode(s.b, codeB[n][k]);
      }
    const unsigned nibbles[6] = {0x4, 0x8, 0xc, 0x9, 0xd, 0xe};
    unsigned unit = fp4 ? 2 : 1;
    for (unsigned m = 0; m < s.m; ++m)
      for (unsigned k = 0; k < storedK; ++k) {
        if (!s.sparse) {
          a[m][k] = decode(s.a, codeA[m][k]);
          continue;
        }
        unsigned chunk = k / (2 * unit);
        if (k % (2 * unit) == 0)
          meta[m][chunk] = nibbles[random() % 6];
        unsigned which = k / unit % 2;
        unsigned position = meta[m][chunk] >> 2 * which & 3;
        a[m][chunk * 4 * unit + position * unit + k % unit] =
            decode(s.a, codeA[m][k]);
      }
    for (unsigned i = 0; i < scaleCount; ++i) {
      for (unsigned m = 0; m < s.m; ++m)
        scaleA[m][i] = decode(s.scale, codeSfa[m][i] = scaleCode());
      for (unsigned n = 0; n < s.n; ++n)
        scaleB[n][i] = decode(s.scale, codeSfb[n][i] = scaleCode());
    }
  }

  /// Bytes of a row as shared memory holds them.
  std::vector<uint8_t> bytesOf(Element type, const uint32_t *codes,
                               unsigned count) const {
    std::vector<uint8_t> out(fp4 ? count / 2 : count);
    for (unsigned i = 0; i < count; ++i) {
      if (fp4)
        out[i / 2] |= codes[i] << i % 2 * 4;
      else if (type == Element::E2M1)
        out[i / 16 * 16 + i % 16 / 2] |= codes[i] << i % 2 * 4;
      else if (type == Element::E2M3 || type == Element::E3M2)
        for (unsigned bit = 0; bit < 6; ++bit) {
          unsigned at = i % 16 * 6 + bit;
          out[i / 16 * 16 + at / 8] |= (codes[i] >> bit & 1) << at % 8;
        }
      else
        out[i] = codes[i];
    }
    return out;
  }

  void placeRow(unsigned cta, uint32_t start, unsigned row,
                const std::vector<uint8_t> &bytes) {
    for (unsigned i = 0; i < bytes.size(); ++i) {
      uint32_t address = start + row / 8 * 1024 + row % 8 * 128 + i;
      address ^= (address >> 7 & 7) << 4;
      memory[cta][address - kBase] = bytes[i];
    }
  }

  void word(unsigned cta, unsigned lane, unsigned column, unsigned byte,
            uint32_t value) {
    uint32_t &at = tensor[cta].row(lane)[column];
    at = (at & ~(0xffu << 8 * byte)) | value << 8 * byte;
    tensor[cta].markValid(lane, column);
  }

  void placeOperands() {
    unsigned rows = s.m / s.ctaGroup, columns = s.n / s.ctaGroup;
    unsigned storedK = s.sparse ? s.k / 2 : s.k;
    for (unsigned m = 0; m < s.m; ++m) {
      std::vector<uint8_t> bytes = bytesOf(s.a, codeA[m], storedK);
      if (s.aInTensor) {
        for (unsigned k = 0; k < bytes.size(); ++k) {
          uint32_t byte = bytes[k];
          if (!fp4)
            byte = s.a == Element::E2M1 ? codeA[m][k] << 2 : codeA[m][k];
          word(m / rows, m % rows, kColumnA + k / 4, k % 4, byte);
        }
      } else {
        placeRow(m / rows, kStartA, m % rows, bytes);
      }
      for (unsigned c = 0; s.sparse && c < s.k / (fp4 ? 8 : 4); c += 2)
        word(m / rows, m % rows, kColumnMeta + c / 8, c / 2 % 4,
             meta[m][c] | meta[m][c + 1] << 4);
    }
    for (unsigned n = 0; n < s.n; ++n)
      placeRow(n / columns, kStartB, n % columns, bytesOf(s.b, codeB[n], s.k));
  }

  void placeScales() {
    unsigned rows = s.m / s.ctaGroup;
    for (unsigned i = 0; i < scaleCount; ++i) {
      for (unsigned m = 0; m < s.m; ++m) {
        unsigned r = m % rows, j = s.idA + i;
        for (unsigned q = 0; q < 4; ++q)
          word(m / rows, r % 32 + 32 * q, kColumnSfa + j / 4 * 4 + r / 32,
               j % 4, codeSfa[m][i]);
      }
      for (unsigned n = 0; n < s.n; ++n)
        for (unsigned c = 0; c < s.ctaGroup; ++c)
          placeScaleB(c, n, s.idB + i, codeSfb[n][i]);
    }
  }

  void placeScaleB(unsigned c, unsigned n, unsigned j, uint32_t value) {
    if (s.ctaGroup == 2 && s.m == 128) {
      unsigned h = n / (s.n / 2), q = n % (s.n / 2);
      for (unsigned r = 0; r < 2; ++r)
        word(c, q % 32 + 64 * h + 32 * r, kColumnSfb + q / 32, j % 4, value);
      return;
    }
    unsigned stride = s.n > 128 ? 8 : 4;
    for (unsigned q = 0; q < 4; ++q)
      word(c, n % 32 + 32 * q, kColumnSfb + j / 4 * stride + n / 32, j % 4,
           value);
  }

  double a[256][128] = {}, b[256][128] = {};
  double scaleA[256][8], scaleB[256][8];
  uint32_t codeA[256][128], codeB[256][128], meta[256][32];
  uint32_t codeSfa[256][8], codeSfb[256][8];
};

constexpr Element kE8 = Element::UE8M0, kE4 = Element::UE4M3;

const Shape kShapes[] = {
    {"mxf8", MmaKind::MXF8F6F4, 32, 1, false, 128, 64, 32, Element::E4M3,
     Element::E5M2, kE8, 1, 3},
    {"mxf8 n8", MmaKind::MXF8F6F4, 32, 1, false, 128, 8, 32, Element::E4M3,
     Element::E4M3, kE8, 0, 0},
    {"mxf6 x mxf4", MmaKind::MXF8F6F4, 32, 1, false, 128, 104, 32,
     Element::E2M3, Element::E2M1, kE8, 2, 1},
    {"mxf4 x mxf6 tmem", MmaKind::MXF8F6F4, 32, 1, false, 128, 256, 32,
     Element::E2M1, Element::E3M2, kE8, 3, 0, true},
    {"mxf8 negated", MmaKind::MXF8F6F4, 32, 1, false, 128, 32, 32,
     Element::E5M2, Element::E4M3, kE8, 0, 2, false, true},
    {"mxf8 pair", MmaKind::MXF8F6F4, 32, 2, false, 256, 256, 32, Element::E4M3,
     Element::E4M3, kE8, 1, 2},
    {"mxf8 pair m128", MmaKind::MXF8F6F4, 32, 2, false, 128, 128, 32,
     Element::E4M3, Element::E4M3, kE8, 1, 2},
    {"mxf8 sparse", MmaKind::MXF8F6F4, 32, 1, true, 128, 72, 64, Element::E4M3,
     Element::E4M3, kE8, 3, 1},
    {"mxf4", MmaKind::MXF4, 32, 1, false, 128, 192, 64, Element::E2M1,
     Element::E2M1, kE8, 2, 0},
    {"mxf4 tmem", MmaKind::MXF4, 32, 1, false, 128, 64, 64, Element::E2M1,
     Element::E2M1, kE8, 0, 2, true},
    {"mxf4 sparse", MmaKind::MXF4, 32, 1, true, 128, 128, 128, Element::E2M1,
     Element::E2M1, kE8, 0, 2},
    {"mxf4 k96", MmaKind::MXF4, 32, 1, false, 128, 128, 96, Element::E2M1,
     Element::E2M1, kE8, 3, 1},
    {"mxf4 k96 wide", MmaKind::MXF4, 32, 2, false, 256, 256, 96, Element::E2M1,
     Element::E2M1, kE8, 2, 3},
    {"nvf4", MmaKind::MXF4NVF4, 16, 1, false, 128, 256, 64, Element::E2M1,
     Element::E2M1, kE4, 0, 0},
    {"nvf4 pair", MmaKind::MXF4NVF4, 16, 2, false, 256, 176, 64, Element::E2M1,
     Element::E2M1, kE4, 0, 0},
    {"nvf4 block32", MmaKind::MXF4NVF4, 32, 1, false, 128, 16, 64,
     Element::E2M1, Element::E2M1, kE8, 0, 2},
    {"nvf4 sparse pair", MmaKind::MXF4NVF4, 16, 2, true, 256, 64, 128,
     Element::E2M1, Element::E2M1, kE4, 0, 0},
    {"nvf4 k96", MmaKind::MXF4NVF4, 16, 1, false, 128, 192, 96, Element::E2M1,
     Element::E2M1, kE4, 2, 2},
};

std::string messages(const TensorReport &report) {
  std::string text;
  for (const TensorIssue &issue : report.issues)
    text += issue.message + "; ";
  return text;
}

} // namespace

TEST(TensorCore, ProductsAreExactInEveryForm) {
  for (const Shape &shape : kShapes) {
    auto fixture = std::make_unique<Fixture>(shape);
    TensorCore core;
    TensorReport report = core.execute(fixture->request, fixture->context);
    ASSERT_TRUE(report.issues.empty())
        << shape.name << ": " << messages(report);
    EXPECT_EQ(report.macs, uint64_t(shape.m) * shape.n * shape.k);
    fixture->compare("fast");
    fixture->request.enableInputD = true;
    report = core.execute(fixture->request, fixture->context);
    ASSERT_TRUE(report.issues.empty()) << messages(report);
    fixture->compare("accumulated", 2);
    core.forcePrecise(true);
    fixture->request.enableInputD = false;
    core.execute(fixture->request, fixture->context);
    fixture->compare("precise");
  }
}

TEST(TensorCore, ScalesBeyondTheRangeOfFoldingAreExact) {
  Shape shape = kShapes[1];
  Fixture fixture(shape);
  // SFA 2^127 and SFB 2^-127: the product of the scales is 1.
  for (unsigned lane = 0; lane < 128; ++lane)
    for (unsigned c = 0; c < 4; ++c) {
      fixture.tensor[0].row(lane)[Fixture::kColumnSfa + c] = 0xfe;
      fixture.tensor[0].row(lane)[Fixture::kColumnSfb + c] = 0x00;
    }
  TensorCore core;
  TensorReport report = core.execute(fixture.request, fixture.context);
  ASSERT_TRUE(report.issues.empty()) << messages(report);
  EXPECT_TRUE(std::isfinite(fixture.result(5, 3)));
  EXPECT_NE(fixture.result(5, 3), 0.0f);
}

TEST(TensorCore, NaNScaleReachesItsRowOnly) {
  Fixture fixture(kShapes[0]);
  for (unsigned q = 0; q < 4; ++q)
    fixture.tensor[0].row(7 + 32 * q)[Fixture::kColumnSfa + 1] |= 0xff00;
  TensorCore core;
  TensorReport report = core.execute(fixture.request, fixture.context);
  EXPECT_TRUE(report.openPoints.contains(OpenPoint::NaNScale));
  EXPECT_TRUE(std::isnan(fixture.result(39, 0)));
  EXPECT_TRUE(std::isnan(fixture.result(39, 63)));
  EXPECT_FALSE(std::isnan(fixture.result(7, 0)));
  EXPECT_FALSE(std::isnan(fixture.result(38, 0)));
}

TEST(TensorCore, ChunkWithoutValuesMayHaveNoPositions) {
  Fixture fixture(kShapes[7]), wrong(kShapes[7]);
  fixture.clearMetadata(77, 5, true);
  TensorCore core;
  TensorReport report = core.execute(fixture.request, fixture.context);
  ASSERT_TRUE(report.issues.empty()) << messages(report);
  EXPECT_TRUE(report.openPoints.contains(OpenPoint::ZeroMetadata));
  fixture.compare("without values");
  wrong.clearMetadata(77, 5, false);
  report = core.execute(wrong.request, wrong.context);
  ASSERT_FALSE(report.issues.empty());
  EXPECT_EQ(report.issues[0].message, "sparsity metadata 0 of row 77, chunk 5 "
                                      "is not a legal pair of positions");
}

TEST(TensorCore, ProblemsAreReported) {
  auto run = [](auto change) {
    auto fixture = std::make_unique<Fixture>(kShapes[13]);
    change(*fixture);
    TensorCore core;
    TensorReport report = core.execute(fixture->request, fixture->context);
    EXPECT_TRUE(report.refused);
    report.issues.push_back(
        {TensorIssueKind::OutOfRange, Hazard::None, 9, 0, "none"});
    return report.issues[0];
  };
  using Kind = TensorIssueKind;
  EXPECT_EQ(run([](Fixture &f) { f.request.idesc |= 1u << 4; }).kind,
            Kind::IllegalInstruction);
  EXPECT_EQ(run([](Fixture &f) { f.request.b |= uint64_t(1) << 61; }).kind,
            Kind::IllegalInstruction);
  TensorIssue shared = run(
      [](Fixture &f) { f.request.b = Fixture::descriptor(201 * 1024 - 1024); });
  EXPECT_EQ(shared.kind, Kind::OutOfRange);
  EXPECT_EQ(shared.message, "operand 'B' lies beyond shared memory");
  EXPECT_EQ(run([](Fixture &f) {
              f.valid[Fixture::kStartA + 32 * 128 - Fixture::kBase] = 0;
              f.context.cta[0].sharedValid = f.valid.data();
            }).address,
            Fixture::kStartA + 32 * 128u);
  EXPECT_EQ(run([](Fixture &f) { f.request.enableInputD = true; }).kind,
            Kind::Uninitialised);
  EXPECT_EQ(run([](Fixture &f) { f.request.scaleB = 300; }).kind,
            Kind::Uninitialised);
  EXPECT_EQ(run([](Fixture &f) {
              f.request.scaleA = 510;
              for (unsigned lane = 0; lane < 128; ++lane)
                f.tensor[0].markValid(lane, 510, 2);
            }).address,
            512u);
  EXPECT_EQ(run([](Fixture &f) { f.request.scaleA = 1u << 16; }).kind,
            Kind::IllegalInstruction);
  TensorIssue replica =
      run([](Fixture &f) { f.tensor[0].row(70)[Fixture::kColumnSfb] ^= 1; });
  EXPECT_EQ(replica.kind, Kind::Inconsistent);
  EXPECT_EQ(replica.address, 70u << 16 | Fixture::kColumnSfb);
}

/// A manual timing: run with --gtest_also_run_disabled_tests.
TEST(TensorCore, DISABLED_Timing) {
  Fixture fixture(kShapes[13]);
  TensorCore core;
  core.execute(fixture.request, fixture.context);
  fixture.request.enableInputD = true;
  std::clock_t begin = std::clock();
  const unsigned count = 2000;
  for (unsigned i = 0; i < count; ++i)
    core.execute(fixture.request, fixture.context);
  double seconds = double(std::clock() - begin) / CLOCKS_PER_SEC;
  std::printf("%.1f us per 128x256x64 NVFP4 mma, %.1f GFLOP/s\n",
              seconds / count * 1e6,
              2.0 * 128 * 256 * 64 * count / seconds * 1e-9);
}
