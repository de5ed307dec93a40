//===- UnitsLookupTest.cpp - B of indices into tables (LUT-B) -------------===//
//
// Part of the blockscale project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A is the identity, so that the accumulator shows B, transposed: row k of it
// is element k of each row of B. Indices and tables are placed bit by bit by
// the sizes in the text of PTX 9.4 and the order that the open points name.
//
//===----------------------------------------------------------------------===//

#include "UnitsRubin.h"

#include <gtest/gtest.h>

#include <cmath>
#include <functional>
#include <map>

using namespace blockscale::emulator;
using namespace blockscale::emulator::test;

namespace {

constexpr uint32_t kBase = 1024, kSize = 96 * 1024;
constexpr uint32_t kStartA = 2048, kStartB = 32768;
constexpr unsigned kTables = 300, kScaleA = 320, kScaleB = 336;

struct Layout {
  const char *name;
  uint64_t swizzle; ///< code
  unsigned stride;  ///< bytes between groups of 8 rows
};
// Without swizzle each 16 bytes of 8 rows lie together, 128 bytes; the next 16
// of the rows follow.
constexpr Layout kSwizzled128{"128B", 2, 1024}, kSwizzled64{"64B", 4, 512},
    kPlain{"none", 0, 384};

/// One product of an identity by a B of indices.
class Lookup {
public:
  Lookup(MmaKind kind, unsigned group, unsigned n, unsigned half,
         const Layout &layout)
      : layout(layout), group(group), n(n), half(half) {
    bool scaled = kind == MmaKind::MXF8F6F4;
    for (unsigned c = 0; c != 2; ++c) {
      memory[c].assign(kSize, 0xEE);
      valid[c].assign(kSize, 0);
      uint32_t address;
      EXPECT_EQ(tensor[c].allocate(512, address), AllocStatus::Ok);
      context.cta[c] = {memory[c].data(), kBase, kSize, valid[c].data(),
                        &tensor[c]};
    }
    context.wideAddresses = true;
    placeIdentity();
    request.form = formOf(kind, scaled ? 32 : 0, group);
    request.form.lookupB = true;
    request.idesc = scaled ? n / 8 << 17 | 1 << 23 | group << 27 | 1u << 31
                           : 1 << 4 | n / 8 << 17 | group * 8 << 24 | 1 << 29;
    request.a = kStartA >> 4 | 0x4000404000010000;
    request.b = kStartB >> 4 | uint64_t(8) << 16 |
                uint64_t(layout.stride / 16) << 32 | uint64_t(1) << 46 |
                uint64_t(half) << 53 | layout.swizzle << 61;
    request.lookup = kTables;
    request.scaleA = kScaleA;
    request.scaleB = kScaleB;
    if (scaled)
      placeScales();
  }

  /// Fills tables and indices; `index(n, k)` for the half in use.
  void fill(const std::function<unsigned(unsigned, unsigned)> &index,
            const std::function<unsigned(unsigned, unsigned)> &value) {
    unsigned perCta = n / group;
    for (unsigned row = 0; row != n; ++row) {
      unsigned cta = row / perCta, within = row % perCta;
      uint8_t bytes[48] = {};
      for (unsigned k = 0; k != 64; ++k)
        for (unsigned bit = 0; bit != 3; ++bit) {
          unsigned at = (half * 64 + k) * 3 + bit;
          bytes[at / 8] |= uint8_t((index(row, k) >> bit & 1) << at % 8);
        }
      putRow(cta, within, bytes);
      for (unsigned v = 0; within % 8 == 0 && v != 8; ++v)
        putByte(cta, within / 8, kTables + v / 4, v % 4, value(row / 8, v));
    }
  }

  /// The bytes of the half in use.
  void putRow(unsigned cta, unsigned row, const uint8_t bytes[48]) {
    for (unsigned i = half * 24; i != half * 24 + 24; ++i) {
      uint32_t at = place(row, i);
      memory[cta][at - kBase] = bytes[i];
      valid[cta][at - kBase] = 0xFF;
    }
  }

  void putByte(unsigned cta, unsigned lane, unsigned column, unsigned byte,
               uint32_t code) {
    reinterpret_cast<uint8_t *>(tensor[cta].row(lane) + column)[byte] =
        uint8_t(code);
    tensor[cta].markValid(lane, column);
  }

  TensorReport run() { return TensorCore().execute(request, context); }

  /// Element k of row `row` of B as the accumulator shows it.
  double result(unsigned row, unsigned k) {
    return decode(Element::F32, tensor[0].row(k)[row]);
  }

  Layout layout;
  unsigned group, n, half;
  MmaRequest request;
  std::vector<uint8_t> memory[2], valid[2];
  TensorMemory tensor[2];
  TensorContext context;

private:
  uint32_t place(unsigned row, unsigned byte) const {
    uint32_t at = kStartB + row / 8 * layout.stride;
    switch (layout.swizzle) {
    case 2:
      return at + row % 8 * 128 + (byte ^ (row % 8) << 4);
    case 4: // two rows share a line of 128 bytes
      return at + row % 8 * 64 + (byte ^ (row % 8 / 2) << 4);
    default:
      return at + byte / 16 * 128 + row % 8 * 16 + byte % 16;
    }
  }
  void placeIdentity() {
    for (unsigned c = 0; c != 2; ++c)
      for (unsigned m = 0; m != 128; ++m)
        for (unsigned k = 0; k != 64; ++k) {
          uint32_t at =
              kStartA + m / 8 * 1024 + m % 8 * 128 + (k ^ (m % 8) << 4) - kBase;
          memory[c][at] = m == k ? 0x38 : 0;
          valid[c][at] = 0xFF;
        }
  }
  /// Ones for A; a scale of its own for each row and block of B.
  void placeScales() {
    for (unsigned cta = 0; cta != group; ++cta)
      for (unsigned copy = 0; copy != 4; ++copy) {
        for (unsigned m = 0; m != 128; ++m)
          for (unsigned i = 0; i != 4; ++i)
            putByte(cta, m % 32 + 32 * copy, kScaleA + m / 32, i, 127);
        for (unsigned row = 0; row != n; ++row)
          for (unsigned i = 0; i != 4; ++i)
            putByte(cta, row % 32 + 32 * copy, kScaleB + row / 32, i,
                    scaleCode(row, i));
      }
  }

public:
  static unsigned scaleCode(unsigned row, unsigned block) {
    return 121 + (row * 3 + block) % 13;
  }
};

unsigned someIndex(unsigned row, unsigned k) {
  return (row * 5 + k * 3 + k / 8 + row / 8) % 8;
}
/// 64 numbers, one for each value of the first 8 tables.
unsigned someValue(unsigned table, unsigned value) {
  return 0x20 + (table * 8 + value) % 64 + (table / 8 % 2 ? 0x80 : 0);
}

void compare(MmaKind kind, unsigned group, unsigned n, unsigned half,
             const Layout &layout) {
  SCOPED_TRACE(std::string(layout.name) + " n " + std::to_string(n) + " half " +
               std::to_string(half) + " group " + std::to_string(group));
  Lookup product(kind, group, n, half, layout);
  product.fill(someIndex, someValue);
  TensorReport report = product.run();
  for (const TensorIssue &issue : report.issues)
    ADD_FAILURE() << issue.message;
  EXPECT_TRUE(report.openPoints.contains(OpenPoint::LookupTables));
  EXPECT_TRUE(report.openPoints.contains(OpenPoint::LookupIndices));
  unsigned wrong = 0;
  for (unsigned row = 0; row != n; ++row)
    for (unsigned k = 0; k != 64; ++k) {
      double expected =
          decode(Element::E4M3, someValue(row / 8, someIndex(row, k)));
      if (kind == MmaKind::MXF8F6F4)
        expected =
            std::ldexp(expected, int(Lookup::scaleCode(row, k / 32)) - 127);
      if (product.result(row, k) != expected && !wrong++)
        ADD_FAILURE() << "row " << row << ", k " << k << ": "
                      << product.result(row, k) << ", expected " << expected;
    }
  EXPECT_EQ(wrong, 0u);
}

TEST(UnitsLookup, EveryElementOfB) {
  for (const Layout &layout : {kSwizzled128, kSwizzled64, kPlain})
    for (unsigned half : {0, 1}) {
      compare(MmaKind::F8F6F4, 1, 16, half, layout);
      compare(MmaKind::F8F6F4, 1, 128, half, layout);
      compare(MmaKind::MXF8F6F4, 1, 40, half, layout);
    }
  compare(MmaKind::F8F6F4, 1, 256, 1, kSwizzled64);
  compare(MmaKind::MXF8F6F4, 2, 256, 1, kSwizzled64);
  compare(MmaKind::F8F6F4, 2, 96, 0, kSwizzled128);
}

// The indices 0 to 7 are the number 0xFAC688 of 24 bits.
TEST(UnitsLookup, IndicesByHand) {
  Lookup product(MmaKind::F8F6F4, 1, 16, 1, kSwizzled64);
  product.fill([](unsigned, unsigned) { return 0; },
               [](unsigned table, unsigned value) {
                 return table ? 0x30 + value : 0x38 + value;
               });
  uint8_t bytes[48];
  for (unsigned i = 0; i != 48; ++i)
    bytes[i] = "\x88\xC6\xFA"[i % 3];
  product.putRow(0, 5, bytes);
  product.putRow(0, 9, bytes);
  EXPECT_TRUE(product.run().issues.empty());
  for (unsigned k = 0; k != 64; ++k) {
    EXPECT_EQ(product.result(5, k), 1 + k % 8 / 8.0) << k;
    EXPECT_EQ(product.result(9, k), 0.5 + k % 8 / 16.0) << k;
    EXPECT_EQ(product.result(4, k), 1) << k;
    EXPECT_EQ(product.result(15, k), 0.5) << k;
  }
}

TEST(UnitsLookup, NegatedValues) {
  Lookup product(MmaKind::F8F6F4, 1, 16, 0, kSwizzled128);
  product.fill(someIndex, someValue);
  product.request.idesc |= 1 << 14;
  EXPECT_TRUE(product.run().issues.empty());
  EXPECT_EQ(product.result(3, 7),
            -decode(Element::E4M3, someValue(0, someIndex(3, 7))));
}

/// The first issue of a product that was changed.
std::string issueOf(const std::function<void(Lookup &)> &change,
                    MmaKind kind = MmaKind::F8F6F4, unsigned group = 1) {
  Lookup product(kind, group, 32, 0, kSwizzled64);
  product.fill(someIndex, someValue);
  EXPECT_TRUE(product.run().issues.empty());
  change(product);
  TensorReport report = product.run();
  EXPECT_TRUE(report.refused);
  return report.issues.empty() ? "" : report.issues.front().message;
}

TEST(UnitsLookup, Refusals) {
  const std::string lookup = "'.decompress::lut::b' ";
  EXPECT_EQ(issueOf([](Lookup &p) { p.request.idesc &= ~(1u << 29); }),
            lookup + "needs K=64, found K=32");
  EXPECT_EQ(issueOf([](Lookup &p) { p.request.idesc |= 1 << 10; }),
            lookup + "needs B of type 'e4m3', found 'e5m2'");
  EXPECT_EQ(issueOf([](Lookup &p) { p.request.idesc |= 1 << 16; }),
            lookup + "needs a K-major B");
  EXPECT_EQ(issueOf([](Lookup &p) { p.request.idesc ^= 12u << 24; }),
            "K=64 needs M=128 with cta_group::1, found M=64");
  EXPECT_EQ(issueOf([](Lookup &p) { p.request.lookup = kTables + 1; }),
            "the column of the lookup table of 'B' is odd");
  EXPECT_EQ(issueOf([](Lookup &p) { p.request.lookup = kTables | 16 << 16; }),
            "the address of the lookup table of 'B' must name lane 0");
  for (uint32_t column : {512u, 0xFFFEu})
    EXPECT_EQ(issueOf([&](Lookup &p) { p.request.lookup = column; }),
              "the lookup table of 'B' is in tensor-memory columns that are "
              "not allocated");
  EXPECT_EQ(
      issueOf([](Lookup &p) { p.tensor[0].markUndefined(3, kTables + 1); }),
      "the lookup table of 'B' in lane 3 was never written");
  EXPECT_EQ(
      issueOf([](Lookup &p) { p.request.b |= uint64_t(1) << 54; }),
      "operand 'B': bits 54-60 of the shared-memory descriptor must be 0");
  // What the second half of the rows holds was never written.
  EXPECT_EQ(issueOf([](Lookup &p) { p.request.b |= uint64_t(1) << 53; }),
            "operand 'B' reads shared memory that was never written");
  EXPECT_EQ(issueOf([](Lookup &p) { p.request.b |= uint64_t(2) << 61; }),
            "operand 'B': the 48 bytes of a row from byte 0 cross the end of "
            "the 32-byte swizzle row");
  EXPECT_EQ(issueOf([](Lookup &p) {
              p.request.b = (p.request.b & ~uint64_t(0x7FFF)) | 0x7FE0;
            }),
            "operand 'B' lies beyond shared memory");
  // In a pair each CTA has the tables of its columns.
  EXPECT_EQ(issueOf([](Lookup &p) { p.tensor[1].markUndefined(1, kTables); },
                    MmaKind::MXF8F6F4, 2),
            "the lookup table of 'B' in lane 1 was never written");
  Lookup plain(MmaKind::F8F6F4, 1, 32, 1, kSwizzled64);
  plain.request.form.lookupB = false;
  EXPECT_EQ(
      plain.run().issues.front().message,
      "operand 'B': bits 53-60 of the shared-memory descriptor must be 0");
}

// What the collector buffer of B is compared by.
TEST(UnitsLookup, ContentsOfBHoldTheTables) {
  Lookup product(MmaKind::F8F6F4, 1, 32, 0, kSwizzled64);
  product.fill(someIndex, someValue);
  product.request.tellsB = true;
  uint64_t before = product.run().contentsB;
  EXPECT_EQ(product.run().contentsB, before);
  product.putByte(0, 3, kTables + 1, 2, 0x7E);
  EXPECT_NE(product.run().contentsB, before);
}

TEST(UnitsLookup, ReadsWholeRows) {
  Lookup product(MmaKind::MXF8F6F4, 2, 48, 1, kSwizzled64);
  std::map<unsigned, unsigned> bytes;
  forOperandRanges(product.request, [&](SharedOperand operand, unsigned cta,
                                        uint32_t address, uint32_t count) {
    if (operand == SharedOperand::B) {
      EXPECT_GE(address, kStartB);
      EXPECT_LT(address, kStartB + 3 * 512);
      bytes[cta] += count;
    }
  });
  EXPECT_EQ(bytes, (std::map<unsigned, unsigned>{{0, 24 * 48}, {1, 24 * 48}}));
}

} // namespace
