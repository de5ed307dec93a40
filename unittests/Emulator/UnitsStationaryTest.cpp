//===- UnitsStationaryTest.cpp - tcgen05.mma.ws ---------------------------===//
//
// Part of the blockscale project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Operands are small integers, so every sum is exact. Columns of B that no
// product may take hold values as well: a wrong shift or mask is a wrong
// result.
//
//===----------------------------------------------------------------------===//

#include "Units/TensorCore.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <gtest/gtest.h>
#include <memory>

using namespace blockscale::emulator;

namespace {

/// The codes of 0..5; negative values set the highest bit.
struct Type {
  uint32_t format;
  unsigned bytes;
  uint32_t codes[6];
};
const Type kF16{0, 2, {0, 0x3c00, 0x4000, 0x4200, 0x4400, 0x4500}};
const Type kTF32{
    2, 4, {0, 0x3f800000, 0x40000000, 0x40400000, 0x40800000, 0x40a00000}};
const Type kE5M2{1, 1, {0, 0x3c, 0x40, 0x42, 0x44, 0x45}};
const Type kS8{1, 1, {}};

struct Form {
  const char *name;
  MmaKind kind;
  const Type *type;
  unsigned m, n;
  bool sparse = false, aInTensor = false;
};

const Form kForms[] = {
    {"f16 32", MmaKind::F16, &kF16, 32, 64},
    {"f16 64", MmaKind::F16, &kF16, 64, 256},
    {"f16 128", MmaKind::F16, &kF16, 128, 128},
    {"tf32 32", MmaKind::TF32, &kTF32, 32, 128},
    {"f8f6f4 64", MmaKind::F8F6F4, &kE5M2, 64, 64},
    {"i8 32", MmaKind::I8, &kS8, 32, 256},
    {"i8 64 tensor", MmaKind::I8, &kS8, 64, 128, false, true},
    {"f16 32 tensor", MmaKind::F16, &kF16, 32, 256, false, true},
    {"f16 64 sparse", MmaKind::F16, &kF16, 64, 128, true},
    {"f8f6f4 32 sparse", MmaKind::F8F6F4, &kE5M2, 32, 64, true},
    {"f8f6f4 32 sparse tensor", MmaKind::F8F6F4, &kE5M2, 32, 128, true, true},
};

/// Fields of a zero-column mask descriptor.
struct Mask {
  unsigned start[4], first[4], nonZero, skip, use, shift;

  uint64_t bits() const {
    uint64_t word = uint64_t(nonZero) << 39 | uint64_t(skip) << 40 |
                    uint64_t(use) << 48 | uint64_t(shift) << 56;
    for (unsigned i = 0; i != 4; ++i)
      word |= uint64_t(start[i]) << 8 * i | uint64_t(first[i]) << (32 + i);
    return word;
  }
};

class Problem {
public:
  explicit Problem(const Form &form) : f(form) {
    memory.assign(kSize, 0);
    uint32_t address;
    EXPECT_EQ(tensor.allocate(512, address), AllocStatus::Ok);
    context.cta[0] = {memory.data(), kBase, kSize, nullptr, &tensor};
    stored = 32 / f.type->bytes;
    for (unsigned row = 0; row != f.m; ++row)
      for (unsigned k = 0; k != stored; ++k)
        put(kStartA, row, k, valueA(row, k));
    for (unsigned n = 0; n != f.n + 32; ++n)
      for (unsigned k = 0; k != stored * (f.sparse ? 2 : 1); ++k)
        put(kStartB, n, k, valueB(n, k));
    placeInTensor(128);
    request.form = {f.kind, f.sparse, 1, 0, true};
    uint32_t accumulator = f.kind == MmaKind::I8 ? 2 : 1;
    request.idesc = uint32_t(f.sparse) << 2 | accumulator << 4 |
                    f.type->format << 7 | f.type->format << 10 | f.n / 8 << 17 |
                    f.m / 16 << 24;
    request.aInTensorMemory = f.aInTensor;
    request.a = f.aInTensor ? kColumnA : descriptor(kStartA);
    request.b = descriptor(kStartB);
    request.d = kColumnD;
    request.metadata = kColumnMeta;
  }

  std::string run() {
    report = core.execute(request, context);
    std::string text;
    for (const TensorIssue &issue : report.issues)
      text += issue.message + "; ";
    return text;
  }

  /// Elements of D that are not `times` the product; `zero` is a string of 0
  /// and 1 for the columns, or empty.
  unsigned mismatches(const std::string &zero = "", unsigned shift = 0,
                      int times = 1) {
    unsigned count = 0, parts = 128 / f.m, part = f.n / parts;
    for (unsigned row = 0; row != f.m; ++row)
      for (unsigned n = 0; n != f.n; ++n) {
        // Layouts D, E and G: parts of N side by side in the lanes.
        uint32_t word = tensor.row(n / part * f.m + row)[kColumnD + n % part];
        float value;
        std::memcpy(&value, &word, 4);
        bool none = !zero.empty() && zero[n] == '1';
        int expected = none ? 0 : times * product(row, n + shift);
        count += f.kind == MmaKind::I8 ? int32_t(word) != expected
                                       : value != float(expected);
      }
    return count;
  }

  /// A and the metadata in the lanes below `lanes`, once for each part of N.
  void placeInTensor(unsigned lanes) {
    for (unsigned lane = 0; lane < lanes; ++lane) {
      unsigned row = lane % f.m;
      uint32_t *words = tensor.row(lane);
      for (unsigned k = 0; k != stored; ++k) {
        uint32_t code = encode(valueA(row, k));
        std::memcpy(reinterpret_cast<uint8_t *>(words + kColumnA) +
                        k * f.type->bytes,
                    &code, f.type->bytes);
      }
      tensor.markValid(lane, kColumnA, 8);
      words[kColumnMeta] = words[kColumnMeta + 1] = 0;
      for (unsigned chunk = 0; chunk != 16; ++chunk)
        words[kColumnMeta + chunk / 8] |= nibble(row, chunk) << chunk % 8 * 4;
      tensor.markValid(lane, kColumnMeta, 2);
    }
  }

  Form f;
  MmaRequest request;
  TensorReport report;
  TensorMemory tensor;

private:
  static constexpr uint32_t kBase = 1024, kSize = 160 * 1024;
  static constexpr uint32_t kStartA = 2048, kStartB = 2048 + 65536;
  static constexpr uint32_t kColumnD = 32, kColumnA = 8, kColumnMeta = 300;

  /// K-major, 128-byte swizzle, 8 rows in 1024 bytes.
  static uint64_t descriptor(uint32_t start) {
    return uint64_t(start >> 4) | uint64_t(1) << 16 |
           uint64_t(1024 >> 4) << 32 | uint64_t(1) << 46 | uint64_t(2) << 61;
  }
  static int valueA(unsigned row, unsigned k) {
    return int(row * 3 + k * 5 + row * k / 3) % 11 - 5;
  }
  static int valueB(unsigned n, unsigned k) {
    return int(n * 7 + k * 3 + n * k / 5 + n / 11) % 11 - 5;
  }
  static unsigned nibble(unsigned row, unsigned chunk) {
    constexpr unsigned kPairs[] = {0x4, 0x8, 0xC, 0x9, 0xD, 0xE};
    return kPairs[(row + row / 6 + chunk * 5) % 6];
  }
  uint32_t encode(int value) const {
    if (f.kind == MmaKind::I8)
      return uint32_t(value) & 0xff;
    return f.type->codes[std::abs(value)] | uint32_t(value < 0)
                                                << (8 * f.type->bytes - 1);
  }
  void put(uint32_t start, unsigned row, unsigned k, int value) {
    uint32_t code = encode(value);
    for (unsigned i = 0; i != f.type->bytes; ++i) {
      uint32_t address =
          start + row / 8 * 1024 + row % 8 * 128 + k * f.type->bytes + i;
      address ^= (address >> 7 & 7) << 4;
      memory[address - kBase] = uint8_t(code >> 8 * i);
    }
  }
  int product(unsigned row, unsigned n) const {
    int sum = 0;
    for (unsigned k = 0; k != stored; ++k) {
      unsigned position = k;
      if (f.sparse)
        position = k / 2 * 4 + (nibble(row, k / 2) >> 2 * (k % 2) & 3);
      sum += valueA(row, k) * valueB(n, position);
    }
    return sum;
  }

  TensorCore core;
  unsigned stored = 0;
  std::vector<uint8_t> memory;
  TensorContext context;
};

/// `text` repeated up to a length, without its first `skip` characters.
std::string periods(const std::string &text, unsigned skip, unsigned length) {
  std::string all;
  while (all.size() < skip + length)
    all += text;
  return all.substr(skip, length);
}

} // namespace

TEST(Stationary, ProductsAreExactInEveryKindAndLayout) {
  for (const Form &form : kForms) {
    SCOPED_TRACE(form.name);
    auto p = std::make_unique<Problem>(form);
    EXPECT_EQ(p->run(), "");
    EXPECT_EQ(p->mismatches(), 0u);
    EXPECT_EQ(p->report.openPoints.contains(OpenPoint::StationaryReplicas),
              form.m != 128 && (form.sparse || form.aInTensor));
    EXPECT_FALSE(p->report.openPoints.contains(OpenPoint::ZeroColumnSpans));
    p->request.enableInputD = true;
    EXPECT_EQ(p->run(), "");
    EXPECT_EQ(p->mismatches("", 0, 2), 0u);
    EXPECT_GT(p->mismatches("", 1, 2), 0u);
  }
}

// The examples of the PTX ISA, "Zero-Column Mask Descriptor". Their masks are
// printed with the highest column first, here it is the lowest.
TEST(Stationary, MasksOfTheExamplesOfTheIsa) {
  auto masked = [](unsigned m, unsigned n, const Mask &mask) {
    ZeroColumns columns;
    EXPECT_EQ(decodeZeroColumns(mask.bits(), m, n, columns).value_or(""), "");
    std::string text = columns.zero.to_string();
    std::reverse(text.begin(), text.end());
    EXPECT_EQ(columns.shift, mask.shift);
    EXPECT_EQ(text.find('1', n), std::string::npos);
    return text.substr(0, n);
  };
  EXPECT_EQ(masked(128, 64, {{}, {}, 0, 4, 3, 0}), std::string(64, '0'));
  EXPECT_EQ(masked(128, 64, {{}, {}, 1, 2, 3, 0}), periods("0000111", 0, 64));
  EXPECT_EQ(masked(64, 128, {{}, {1, 0}, 1, 2, 3, 0}),
            periods("1110000", 0, 64) + periods("0000111", 0, 64));
  EXPECT_EQ(masked(32, 128, {{0, 1, 2, 1}, {1, 1, 0, 0}, 1, 2, 3, 2}),
            "11100001110000111000011100001110" // mask0
            "11000011100001110000111000011100"
            "00111000011100001110000111000011"
            "00011100001110000111000011100001");
}

TEST(Stationary, MaskedColumnsAreZeroAndOthersShift) {
  for (const Form &form : kForms) {
    SCOPED_TRACE(form.name);
    auto p = std::make_unique<Problem>(form);
    p->request.zeroColumns =
        Mask{{3, 1, 0, 2}, {0, 1, 0, 1}, 1, 2, 6, 13}.bits();
    unsigned parts = 128 / form.m, size = form.n / parts;
    const std::string starts[4] = {
        periods("0000000111", 3, size), periods("1110000000", 1, size),
        periods("0000000111", 0, size), periods("1110000000", 2, size)};
    std::string zero;
    for (unsigned part = 0; part != parts; ++part)
      zero += starts[part];
    EXPECT_EQ(p->run(), "");
    EXPECT_EQ(p->mismatches(zero, 13), 0u);
    EXPECT_GT(p->mismatches(zero, 12), 0u);
    EXPECT_GT(p->mismatches("", 13), 0u);
    EXPECT_TRUE(p->report.openPoints.contains(OpenPoint::ZeroColumnSpans));
  }
}

TEST(Stationary, EachPartOfNTakesAFromItsOwnLanes) {
  auto p = std::make_unique<Problem>(kForms[7]);
  for (unsigned lane = 96; lane != 128; ++lane)
    std::fill_n(p->tensor.row(lane) + 8, 8, 0);
  EXPECT_EQ(p->run(), "");
  EXPECT_EQ(p->mismatches(std::string(192, '0') + std::string(64, '1')), 0u);
}

TEST(Stationary, IllegalFormsAreRefused) {
  auto reason = [](auto change) {
    auto p = std::make_unique<Problem>(kForms[1]);
    change(p->request);
    std::string text = p->run();
    EXPECT_TRUE(p->report.refused);
    return text;
  };
  EXPECT_EQ(reason([](MmaRequest &q) { q.form.kind = MmaKind::MXF8F6F4; }),
            "'.ws' does not exist for kind 'mxf8f6f4'; ");
  EXPECT_EQ(reason([](MmaRequest &q) { q.form.ctaGroup = 2; }),
            "'.ws' exists with cta_group::1 only; ");
  EXPECT_EQ(reason([](MmaRequest &q) { q.idesc += 3u << 24; }),
            "M 112 is not legal for kind 'f16' with '.ws'; legal are 32, 64 "
            "and 128; ");
  EXPECT_EQ(reason([](MmaRequest &q) { q.idesc -= 8u << 17; }),
            "N 192 is not legal with '.ws'; legal are 64, 128 and 256; ");
  EXPECT_EQ(reason([](MmaRequest &q) {
              q.form.sparse = true;
              q.idesc |= 4;
            }),
            "N 256 is not legal with '.ws'; legal are 64 and 128; ");
  EXPECT_EQ(
      reason([](MmaRequest &q) { q.zeroColumns = uint64_t(33) << 56; }),
      "the zero-column mask descriptor shifts by 33 columns; with M 64 at "
      "most 32 are legal; ");
  EXPECT_EQ(reason([](MmaRequest &q) { q.zeroColumns = uint64_t(1) << 37; }),
            "bits 36-38 and 62-63 of the zero-column mask descriptor must be "
            "0; ");
  EXPECT_EQ(reason([](MmaRequest &q) { q.d |= 16 << 16; }),
            "accumulator address names lane 16, must be 0; accumulator address "
            "names lane 16, must be 0; ");
  // The largest shift between uses of a buffer is legal with .ws alone.
  auto p = std::make_unique<Problem>(kForms[1]);
  p->request.idesc |= 3u << 30;
  EXPECT_EQ(p->run(), "");
  EXPECT_EQ(p->mismatches(), 0u);
  p->request.form.weightStationary = false;
  EXPECT_EQ(p->run(), "instruction descriptor bits 30-31 must be 0 for kind "
                      "'f16'; ");
}
