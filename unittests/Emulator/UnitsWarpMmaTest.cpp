//===- UnitsWarpMmaTest.cpp - mma.sync, ldmatrix, stmatrix ----------------===//
//
// Part of the blockscale project, under the Apache License v2.0 with LLVM
// Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Units/WarpMma.h"
#include "UnitsOracle.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <gtest/gtest.h>

using namespace blockscale::emulator;
using namespace blockscale::emulator::test;

namespace {

constexpr Element kFp4 = Element::E2M1, kFp8 = Element::E4M3;

/// Registers of one mma.sync with zero operands and unit scales.
struct Registers {
  uint32_t a[8 * 32] = {}, b[8 * 32] = {}, c[4 * 32] = {}, d[4 * 32] = {};
  uint32_t metadata[32], scaleA[32], scaleB[32];
  OpenPointSet openPoints;

  explicit Registers(uint32_t one = 0x7f7f7f7f) {
    std::fill(metadata, metadata + 32, 0x44444444);
    std::fill(scaleA, scaleA + 32, one);
    std::fill(scaleB, scaleB + 32, one);
  }
  static void set(uint32_t *file, unsigned lane, unsigned index, unsigned bits,
                  uint32_t code) {
    unsigned per = 32 / bits;
    file[index / per * 32 + lane] |= code << index % per * bits;
  }
  std::optional<std::string> run(const WarpMmaForm &form, unsigned byteA = 0,
                                 unsigned threadA = 0, unsigned byteB = 0,
                                 unsigned threadB = 0) {
    return warpMma(form, a, b, c, metadata, {scaleA, byteA, threadA},
                   {scaleB, byteB, threadB}, d, openPoints);
  }
  float result(unsigned m, unsigned n) const {
    unsigned lane = m % 8 * 4 + n / 2, index = m / 8 * 2 + n % 2;
    float value;
    std::memcpy(&value, &d[index * 32 + lane], 4);
    return value;
  }
};

WarpMmaForm narrow(unsigned k, Element type, unsigned vec, bool sparse) {
  WarpMmaForm form;
  form.k = k;
  form.a = form.b = type;
  form.scaleVec = vec;
  form.sparse = sparse;
  form.packedFp4 = type == kFp4;
  return form;
}

/// Code of 1.0.
uint32_t one(Element type) { return type == kFp4 ? 0x2 : 0x38; }

/// The lane and the bit of the metadata of row `m`, chunk `x`, found by setting
/// one bit after the other.
std::pair<unsigned, unsigned> placeOf(const WarpMmaForm &form, unsigned m,
                                      unsigned x) {
  for (unsigned lane = 0; lane != 32; ++lane)
    for (unsigned bit = 0; bit != 32; ++bit) {
      uint32_t metadata[32] = {};
      metadata[lane] = 1u << bit;
      if (metadataOf(form, metadata, m, x) == 1)
        return {lane, bit};
    }
  return {32, 32};
}

WarpMmaForm sparseForm(unsigned k, Element type, unsigned selector = 0) {
  WarpMmaForm form;
  form.k = k;
  form.a = form.b = type;
  form.sparse = true;
  form.packedFp4 = type == Element::E2M1;
  form.selector = selector;
  return form;
}

TEST(WarpMma, MetadataOfWholeRows) {
  // CuTe, mma_traits_sm120_sparse.hpp, ELayout: of 16x8x64 with 8-bit elements
  // (T32, V32) is ((2,2,8),32):((8,512,1),16) of M + 16 K, of 16x8x128 with
  // packed fp4 ((2,2,8),64):((8,1024,1),16).
  struct {
    WarpMmaForm form;
    unsigned chunk, half;
  } cases[] = {{sparseForm(64, Element::E4M3), 4, 512},
               {sparseForm(128, Element::E2M1), 8, 1024}};
  for (const auto &[form, chunk, half] : cases)
    for (unsigned lane = 0; lane != 32; ++lane)
      for (unsigned v = 0; v != form.k / 2; v += chunk) {
        unsigned index = lane % 2 * 8 + lane / 2 % 2 * half + lane / 4 + 16 * v;
        EXPECT_EQ(placeOf(form, index % 16, index / 16 / chunk),
                  std::pair(lane, v / chunk * 4))
            << form.k << " lane " << lane;
      }
}

TEST(WarpMma, MetadataOfTwoThreads) {
  // CUTLASS, util/host_reorder.h, reorder_meta, for metadata of 16 bits (16
  // elements of 16 bits) in columns of two: of the rows 0 to 31 the first is
  // that of the words 0 (with row 8) and 1, the rows 16 to 31 are those of a
  // second instruction with the other selector.
  for (unsigned selector = 0; selector != 2; ++selector) {
    WarpMmaForm form = sparseForm(32, Element::BF16, selector);
    for (unsigned row = 0; row != 16; ++row)
      for (unsigned column = 0; column != 2; ++column) {
        unsigned m = row + 16 * selector;
        unsigned word = m % 8 * 4 + m / 8, part = column;
        if (word % 2 == 0 && part == 1) {
          ++word;
          --part;
        } else if (word % 2 == 1 && part == 0) {
          --word;
          ++part;
        }
        for (unsigned x = 0; x != 4; ++x)
          EXPECT_EQ(placeOf(form, row, 4 * column + x),
                    std::pair(word, 16 * part + 4 * x))
              << "row " << row << " selector " << selector;
      }
  }
}

} // namespace

/// A lone 1.0 in a fragment meets a lone 1.0 put where the table says its row
/// and K partner is: exactly one result is 1.
TEST(WarpMma, FragmentsMatchTheOracle) {
  const std::map<std::string, WarpMmaForm> forms = {
      {"m16n8k32.mxf8f6f4", narrow(32, kFp8, 1, false)},
      {"m16n8k64.mxf4", narrow(64, kFp4, 2, false)},
      {"sp.m16n8k64.mxf8f6f4", narrow(64, kFp8, 1, true)},
      {"sp.m16n8k128.mxf4", narrow(128, kFp4, 2, true)}};
  // Index all B positions of the table first: (form, n, k) -> (lane, index).
  std::map<std::tuple<std::string, unsigned, unsigned>,
           std::pair<unsigned, unsigned>>
      placesB;
  auto rows = readCsv("mma_sync_fragments.csv");
  for (auto &row : rows)
    if (row["operand"] == "B")
      placesB[{row["instruction"], num(row["row_m_or_col_n"]),
               num(row["k_element_or_n"])}] = {num(row["thread"]),
                                               num(row["value_index"])};
  unsigned checked = 0;
  for (auto &row : rows) {
    auto form = forms.find(row["instruction"]);
    if (form == forms.end() || row["operand"][0] != 'A')
      continue;
    bool sparse = form->second.sparse;
    unsigned m = num(row["row_m_or_col_n"]), k = num(row["k_element_or_n"]);
    Element type = form->second.a;
    unsigned bits = type == kFp4 ? 4 : 8;
    // Metadata 0x4 keeps units 0 and 1 of a chunk of four.
    unsigned unit = type == kFp4 ? 2 : 1;
    if (sparse && k / unit % 4 >= 2)
      continue;
    unsigned index = num(row["value_index"]);
    if (sparse)
      index = index / (4 * unit) * 2 * unit + index % (4 * unit);
    for (unsigned n = 0; n < 8; ++n) {
      auto place = placesB.find({row["instruction"], n, k});
      if (place == placesB.end())
        continue;
      Registers registers;
      Registers::set(registers.a, num(row["thread"]), index, bits, one(type));
      Registers::set(registers.b, place->second.first, place->second.second,
                     bits, one(type));
      ASSERT_FALSE(registers.run(form->second).has_value());
      unsigned ones = 0;
      for (unsigned i = 0; i < 128; ++i)
        ones += registers.d[i] != 0;
      ASSERT_EQ(ones, 1u);
      ASSERT_EQ(registers.result(m, n), 1.0f)
          << row["instruction"] << " m " << m << " k " << k << " n " << n;
      ++checked;
      break;
    }
  }
  EXPECT_GT(checked, 500u);
}

TEST(WarpMma, MetadataWordsMatchTheOracle) {
  const std::map<std::string, WarpMmaForm> forms = {
      {"sp.m16n8k64.mxf8f6f4", narrow(64, kFp8, 1, true)},
      {"sp.m16n8k128.mxf4", narrow(128, kFp4, 2, true)}};
  std::map<std::string, unsigned> checked;
  for (auto &row : readCsv("mma_sync_fragments.csv")) {
    auto form = forms.find(row["instruction"]);
    if (form == forms.end() || row["operand"][0] != 'E')
      continue;
    unsigned unit = form->second.packedFp4 ? 2 : 1, chunk = 4 * unit;
    unsigned m = num(row["row_m_or_col_n"]), k = num(row["k_element_or_n"]);
    if (k % chunk)
      continue;
    // All of A and B one; the chunk's second unit moves from 1 to 3, and B is
    // zero at unit 1 of that chunk only.
    Registers registers;
    std::fill(registers.a, registers.a + 8 * 32,
              unit == 2 ? 0x22222222 : 0x38383838);
    unsigned perB = unit == 2 ? 8 : 4, bits = unit == 2 ? 4 : 8;
    for (unsigned n = 0; n < 8; ++n)
      for (unsigned x = k + unit; x < k + 2 * unit; ++x) {
        unsigned lane = n * 4 + x / perB % 4;
        unsigned index = x % perB + x / (4 * perB) * perB;
        Registers::set(registers.b, lane, index, bits, one(form->second.b));
      }
    ASSERT_FALSE(registers.run(form->second).has_value());
    EXPECT_EQ(registers.result(m, 3), float(unit));
    unsigned shift = k / chunk % 8 * 4, lane = num(row["thread"]);
    registers.metadata[lane] &= ~(0xfu << shift);
    registers.metadata[lane] |= 0xcu << shift;
    ASSERT_FALSE(registers.run(form->second).has_value());
    ASSERT_EQ(registers.result(m, 3), 0.0f) << m << " " << k << " " << lane;
    ASSERT_EQ(registers.result(m ^ 8, 3), float(unit));
    ++checked[row["instruction"]];
  }
  EXPECT_EQ(checked.size(), 2u);
}

TEST(WarpMma, ScalesComeFromTheSelectedByteAndThread) {
  WarpMmaForm form = narrow(64, kFp4, 2, false);
  Registers registers;
  // Row 9 of A has 1.0 at k = 40 (second block), column 5 of B likewise.
  Registers::set(registers.a, 1 * 4 + 1, 16 + 8, 4, 2); // m 9, 8c + 32
  Registers::set(registers.b, 5 * 4 + 1, 8, 4, 2);
  // thread-id 1 of A: lanes c = 2 (row g) and c = 3 (row g + 8).
  registers.scaleA[1 * 4 + 3] = 0x817f7f7f; // byte 3: 4
  registers.scaleB[5 * 4 + 2] = 0x7f7f827f; // byte 1: 8
  ASSERT_FALSE(registers.run(form, 2, 1, 0, 2).has_value());
  EXPECT_EQ(registers.result(9, 5), 32.0f);
  ASSERT_FALSE(registers.run(form, 0, 1, 0, 2).has_value());
  EXPECT_EQ(registers.result(9, 5), 8.0f);
  EXPECT_EQ(registers.run(form, 1, 1, 0, 0),
            "byte-id 1 is not legal with scale_vec::2X");
  EXPECT_EQ(registers.run(form, 0, 2, 0, 0),
            "thread-id 2 of operand A is not in 0..1");
}

TEST(WarpMma, UnscaledForms) {
  // m16n8k16 f16: A row 8, k 9 (register 3 low... high half), B column 2.
  WarpMmaForm half;
  half.k = 16;
  half.a = half.b = Element::F16;
  Registers registers;
  Registers::set(registers.a, 0, 7, 16, 0x4200); // m 8, k 9: 3
  Registers::set(registers.b, 8, 3, 16, 0x4400); // n 2, k 9: 4
  registers.c[2 * 32 + 1] = 0x3f800000;          // m 8, n 2: 1
  ASSERT_FALSE(registers.run(half).has_value());
  EXPECT_EQ(registers.result(8, 2), 13.0f);
  half.accumulator = WarpAccumulator::F16;
  registers.c[1 * 32 + 1] = 0x00003c00;
  ASSERT_FALSE(registers.run(half).has_value());
  EXPECT_EQ(registers.d[32 + 1], 0x00004a80u);
  // Integers wrap or saturate.
  WarpMmaForm bytes;
  bytes.k = 16;
  bytes.a = bytes.b = Element::S8;
  bytes.accumulator = WarpAccumulator::S32;
  Registers integers;
  Registers::set(integers.a, 0, 0, 8, 0x80);
  Registers::set(integers.b, 0, 0, 8, 0x80);
  integers.c[0] = 0x7fffffff;
  ASSERT_FALSE(integers.run(bytes).has_value());
  EXPECT_EQ(integers.d[0], 0x80003fffu);
  bytes.satfinite = true;
  ASSERT_FALSE(integers.run(bytes).has_value());
  EXPECT_EQ(integers.d[0], 0x7fffffffu);
  // fp4 of kind f8f6f4 is in bits 5..2.
  WarpMmaForm loose;
  loose.a = loose.b = kFp4;
  Registers fp4;
  Registers::set(fp4.a, 0, 0, 8, 0x7 << 2);
  Registers::set(fp4.b, 0, 0, 8, 0x3 << 2);
  ASSERT_FALSE(fp4.run(loose).has_value());
  EXPECT_EQ(fp4.result(0, 0), 9.0f);
  loose.k = 64;
  EXPECT_EQ(whyNot(loose),
            "shape 'm16n8k64' does not exist for 'e2m1'; there is 'm16n8k32'");
}

TEST(WarpMma, ChunkWithoutValuesMayHaveNoPositions) {
  WarpMmaForm form = narrow(64, Element::E4M3, 1, true);
  Registers r;
  // Row 0, chunk 0: two stored values, of which the metadata name no places.
  r.metadata[0] = 0x44444440;
  ASSERT_FALSE(r.run(form).has_value());
  EXPECT_TRUE(r.openPoints.contains(OpenPoint::ZeroMetadata));
  Registers::set(r.a, 0, 0, 8, 0x38); // 1.0
  EXPECT_EQ(r.run(form), "sparsity metadata 0 of row 0 is not an ascending "
                         "pair of positions");
}

TEST(WarpMma, SignedScaleOfZerosAlone) {
  WarpMmaForm form = narrow(64, kFp4, 4, false);
  form.scale = Element::UE4M3;
  Registers r(0x38383838); // 1.0
  // A: row 3 of ones in blocks 0 and 1; B: column 0 of ones.
  for (unsigned lane = 12; lane != 16; ++lane)
    r.a[lane] = 0x22222222;
  for (unsigned lane = 0; lane != 4; ++lane)
    r.b[lane] = r.b[32 + lane] = 0x22222222;
  ASSERT_FALSE(r.run(form).has_value());
  EXPECT_EQ(r.result(3, 0), 32.0f);
  r.scaleA[5 * 4] = 0xB8383838; // row 5, whose elements are zeros
  ASSERT_FALSE(r.run(form).has_value());
  EXPECT_EQ(r.result(3, 0), 32.0f);
  r.scaleA[3 * 4] = 0x3838B838; // block 1 of row 3
  EXPECT_EQ(r.run(form),
            "bit 7 is set in the 'ue4m3' scale of block 1 of row 3 of A");
}

// PTX 9.1: ue8m0 in blocks of 16. Ones times ones; each row of A, column of B
// and block has a scale of its own.
TEST(WarpMma, Ue8m0InBlocksOf16) {
  WarpMmaForm form;
  form.k = 64;
  form.a = form.b = kFp4;
  form.packedFp4 = true;
  form.scaleVec = 4;
  form.scale = Element::UE8M0;
  ASSERT_FALSE(whyNot(form));
  uint32_t a[4 * 32], b[2 * 32], c[4 * 32] = {}, d[4 * 32];
  std::fill(std::begin(a), std::end(a), 0x22222222);
  std::fill(std::begin(b), std::end(b), 0x22222222);
  auto exponentA = [](unsigned row, unsigned block) {
    return int(row + 5 * block) % 7 - 3;
  };
  auto exponentB = [](unsigned column, unsigned block) {
    return int(3 * column + 2 * block) % 5 - 2;
  };
  // Lanes 0 and 1 of four have the scales of two rows, lane 2 those of B.
  uint32_t scaleA[32] = {}, scaleB[32] = {};
  for (unsigned quad = 0; quad != 8; ++quad)
    for (unsigned block = 0; block != 4; ++block) {
      for (unsigned half = 0; half != 2; ++half)
        scaleA[4 * quad + half] |=
            uint32_t(127 + exponentA(quad + 8 * half, block)) << 8 * block;
      scaleB[4 * quad + 2] |= uint32_t(127 + exponentB(quad, block))
                              << 8 * block;
    }
  OpenPointSet points;
  auto reason = warpMma(form, a, b, c, nullptr, {scaleA, 0, 0}, {scaleB, 0, 2},
                        d, points);
  ASSERT_FALSE(reason) << *reason;
  for (unsigned lane = 0; lane != 32; ++lane)
    for (unsigned i = 0; i != 4; ++i) {
      unsigned row = lane / 4 + 8 * (i / 2), column = lane % 4 * 2 + i % 2;
      double sum = 0;
      for (unsigned block = 0; block != 4; ++block)
        sum += 16 * std::ldexp(1.0, exponentA(row, block) +
                                        exponentB(column, block));
      float value;
      std::memcpy(&value, &d[i * 32 + lane], 4);
      EXPECT_EQ(value, sum) << row << "," << column;
    }
}

TEST(WarpMatrix, LoadsRowsAndColumns) {
  uint8_t rows[32][16];
  for (unsigned r = 0; r < 32; ++r)
    for (unsigned b = 0; b < 16; ++b)
      rows[r][b] = uint8_t(r * 16 + b);
  uint32_t out[4 * 32];
  MatrixForm form;
  form.num = 2;
  loadMatrix(form, rows, out);
  EXPECT_EQ(out[32 + 13], 0xb7b6b5b4u); // matrix 1, row 3, elements 2 and 3
  form.trans = true;
  loadMatrix(form, rows, out);
  // Matrix 0, rows 2 and 3, element 3.
  EXPECT_EQ(out[13], 0x37362726u);
  uint8_t back[32][16] = {};
  storeMatrix(form, out, back);
  EXPECT_EQ(0, std::memcmp(rows, back, 16 * 16));
  uint32_t moved[32], again[32];
  moveMatrix(out, moved);
  EXPECT_EQ(moved[13], 0x37363534u);
  moveMatrix(moved, again);
  EXPECT_EQ(0, std::memcmp(again, out, sizeof(again)));
}

TEST(WarpMatrix, ExpandsPaddedGroups) {
  uint8_t rows[8][16] = {};
  rows[2][2] = 0x21; // fp4 elements 4 and 5
  rows[2][3] = 0x43;
  uint32_t out[32];
  MatrixForm form{MatrixShape::M8N16, MatrixFormat::B4x16P64};
  loadMatrix(form, rows, out);
  EXPECT_EQ(out[2 * 4 + 1], 0x04030201u);
  rows[5][3] = 0x81; // fp6 elements 4..7: codes 1, 2, 3, 4
  rows[5][4] = 0x30;
  rows[5][5] = 0x10;
  form.format = MatrixFormat::B6x16P32;
  loadMatrix(form, rows, out);
  EXPECT_EQ(out[5 * 4 + 1], 0x04030201u);
  uint32_t in[32] = {};
  in[13] = 0x44332211;
  MatrixForm bytes{MatrixShape::M16N8, MatrixFormat::B8, 1, true};
  uint8_t stored[8][16];
  storeMatrix(bytes, in, stored);
  EXPECT_EQ(stored[2][3], 0x11);
  EXPECT_EQ(stored[3][3], 0x22);
  EXPECT_EQ(stored[2][11], 0x33);
  EXPECT_EQ(stored[3][11], 0x44);
  EXPECT_TRUE(bytes.legal(true));
  EXPECT_FALSE(bytes.legal(false));
}
