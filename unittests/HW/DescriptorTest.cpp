//===- DescriptorTest.cpp - instruction and matrix descriptors===//
//
// Part of the blockscale project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "blockscale/HW/Descriptor.h"
#include "Formats/TextOf.h"

#include <set>

#include <gtest/gtest.h>

#include "Formats/OracleCsv.h"

using namespace blockscale;
using namespace blockscale::hw;
using blockscale::test::CsvRow;
using blockscale::test::number;
using blockscale::test::readOracle;
using blockscale::test::textOf;

namespace {

TEST(Descriptor, DecodesEveryInstructionOfTheOracle) {
  std::vector<CsvRow> rows = readOracle("idesc.csv");
  ASSERT_EQ(rows.size(), 163u);
  for (const CsvRow &row : rows) {
    auto bits =
        static_cast<std::uint32_t>(std::stoul(row.at("idesc"), nullptr, 16));
    auto kind = parseKind(row.at("kind"));
    ASSERT_TRUE(kind);
    auto instr = decodeBlockScaled(instrVariant(*kind), bits);
    ASSERT_TRUE(instr) << textOf(instr);
    EXPECT_EQ(formatName(instr->a), row.at("a_type"));
    EXPECT_EQ(formatName(instr->b), row.at("b_type"));
    EXPECT_EQ(formatName(instr->scale), row.at("sf_type"));
    EXPECT_EQ(instr->m, number(row, "M"));
    EXPECT_EQ(instr->n, number(row, "N"));
    EXPECT_EQ(instr->kSize == KSize::Long, row.at("K") == "96");
    EXPECT_NE(instr->kSize, KSize::Wide);
    EXPECT_EQ(instr->sparse, row.at("sparse") == "1");
    EXPECT_EQ(instr->aMnMajor, row.at("a_major") == "MN");
    EXPECT_EQ(instr->bMnMajor, row.at("b_major") == "MN");
    EXPECT_EQ(instr->negateA, row.at("negate_a") == "1");
    EXPECT_EQ(instr->negateB, row.at("negate_b") == "1");
    EXPECT_EQ(instr->sfaId, number(row, "sfa_id"));
    EXPECT_EQ(instr->sfbId, number(row, "sfb_id"));
    EXPECT_EQ(*encode(*instr), bits);
  }
}

/// Every id, shape and format comes back from its own bits, and no two
/// instructions share them.
TEST(Descriptor, BlockScaledRoundTrip) {
  std::set<std::uint32_t> seen;
  using F = ElementFormat;
  for (InstrVariant variant : {InstrVariant::MXF8F6F4, InstrVariant::MXF4})
    for (F a : {F::E4M3, F::E5M2, F::E2M3, F::E3M2, F::E2M1})
      for (unsigned m : {128u, 256u})
        for (unsigned n = 8; n <= 256; n += 8)
          for (unsigned ids = 0; ids < 16; ++ids)
            for (unsigned flags = 0; flags < 4; ++flags) {
              bool mxf4 = variant == InstrVariant::MXF4;
              if (mxf4 && a != F::E2M1)
                continue;
              BlockScaledInstr instr;
              instr.variant = variant;
              instr.a = a;
              instr.b = F::E2M1;
              instr.scale = mxf4 && (flags & 1) ? F::UE4M3 : F::UE8M0;
              instr.negateA = flags & 1;
              instr.kSize = mxf4 && (flags & 2) ? KSize::Long : KSize::Narrow;
              instr.sparse = !mxf4 && (flags & 2);
              instr.m = m;
              instr.n = n;
              instr.sfaId = ids & 3;
              instr.sfbId = ids >> 2;
              auto bits = encode(instr);
              ASSERT_TRUE(bits) << textOf(bits);
              auto back = decodeBlockScaled(variant, *bits);
              ASSERT_TRUE(back) << textOf(back);
              ASSERT_EQ(*back, instr);
              ASSERT_TRUE(seen.insert(*bits ^ (mxf4 ? 1u << 3 : 0)).second);
            }
  EXPECT_EQ(seen.size(), 5u * 2 * 32 * 16 * 4 + 2u * 32 * 16 * 4);
}

TEST(Descriptor, E2M1HasTwoCodes) {
  BlockScaledInstr instr;
  instr.a = instr.b = ElementFormat::E2M1;
  EXPECT_EQ(*encode(instr) & 0x1f80u, 5u << 7 | 5u << 10);
  instr.variant = InstrVariant::MXF4;
  EXPECT_EQ(*encode(instr) & 0x1f80u, 1u << 7 | 1u << 10);
}

TEST(Descriptor, RefusesReservedBitsAndCodes) {
  EXPECT_EQ(textOf(decodeBlockScaled(InstrVariant::MXF8F6F4, 0x08900008)),
            "reserved bits 0x00000008 are set");
  // Bits 24 and 25: no second scale format, and one that is reserved.
  EXPECT_FALSE(decodeBlockScaled(InstrVariant::MXF8F6F4, 0x09900000));
  EXPECT_FALSE(decodeBlockScaled(InstrVariant::MXF8F6F4, 0x0a900000));
  EXPECT_FALSE(decodeBlockScaled(InstrVariant::MXF8F6F4, 0x08900100));
  EXPECT_FALSE(decodeBlockScaled(InstrVariant::MXF8F6F4, 0x00900000));
  EXPECT_FALSE(decodeBlockScaled(InstrVariant::MXF4, 0x08901480));
}

// PTX ISA 9.7.16.4.2, the table of kinds f16, tf32, f8f6f4 and i8. The values
// are put together by hand: n/8 << 17, m/16 << 24.
TEST(Descriptor, PlainKinds) {
  PlainInstr f16;
  f16.n = 256;
  EXPECT_EQ(*encode(f16), 0x08400010u);
  PlainInstr bf16 = f16;
  bf16.a = bf16.b = PlainType::BF16;
  EXPECT_EQ(*encode(bf16), 0x08400490u);
  PlainInstr tf32;
  tf32.kind = MmaKind::TF32;
  tf32.a = tf32.b = PlainType::TF32;
  tf32.m = 64;
  tf32.n = 64;
  tf32.bMnMajor = true;
  EXPECT_EQ(*encode(tf32), 0x04110910u);
  PlainInstr fp8;
  fp8.kind = MmaKind::F8F6F4;
  fp8.a = PlainType::E5M2;
  fp8.b = PlainType::E2M1;
  fp8.sparse = true;
  fp8.n = 128;
  EXPECT_EQ(*encode(fp8), 0x08201494u);
  PlainInstr selected = tf32;
  selected.sparse = true;
  selected.sparsitySelector = 3;
  EXPECT_EQ(*encode(selected), 0x04110917u);
  PlainInstr i8;
  i8.kind = MmaKind::I8;
  i8.a = PlainType::S8;
  i8.b = PlainType::U8;
  i8.d = PlainType::S32;
  i8.saturate = true;
  i8.maxShift = 32;
  EXPECT_EQ(*encode(i8), 0xc80200a8u);
  for (const PlainInstr &instr : {f16, bf16, tf32, fp8, selected, i8})
    EXPECT_EQ(*decodePlain(instr.kind, *encode(instr)), instr);
}

TEST(Descriptor, PlainRefusals) {
  PlainInstr instr;
  instr.saturate = true;
  EXPECT_EQ(textOf(encode(instr)), "only kind 'i8' can saturate");
  instr = {};
  instr.a = PlainType::TF32;
  EXPECT_FALSE(encode(instr));
  instr = {};
  instr.sparsitySelector = 1;
  EXPECT_FALSE(encode(instr));
  instr.sparse = true;
  EXPECT_TRUE(encode(instr));
  instr.kind = MmaKind::F8F6F4;
  instr.a = instr.b = PlainType::E4M3;
  EXPECT_EQ(textOf(encode(instr)),
            "the sparsity selector of kind 'f8f6f4' is 0, found 1");
  // An i8 descriptor with the selector in bits 0 and 1.
  EXPECT_EQ(textOf(decodePlain(MmaKind::I8, 0x082000a6)),
            "the sparsity selector of kind 'i8' is 0, found 2");
  instr = {};
  instr.n = 12;
  EXPECT_FALSE(encode(instr));
  instr = {};
  instr.maxShift = 64;
  EXPECT_FALSE(encode(instr));
  instr = {};
  instr.kind = MmaKind::MXF4;
  EXPECT_FALSE(encode(instr));
}

TEST(Descriptor, DecodesEverySharedMemoryDescriptorOfTheOracle) {
  std::vector<CsvRow> rows = readOracle("smem_desc.csv");
  ASSERT_EQ(rows.size(), 47u);
  for (const CsvRow &row : rows) {
    std::uint64_t bits = std::stoull(row.at("descriptor"), nullptr, 16);
    auto descriptor = decodeSmem(bits);
    ASSERT_TRUE(descriptor) << textOf(descriptor);
    EXPECT_EQ(descriptor->start,
              number(row, "smem_base") + number(row, "start_offset_bytes"));
    EXPECT_EQ(descriptor->lbo, number(row, "lbo_bytes"));
    EXPECT_EQ(descriptor->sbo, number(row, "sbo_bytes"));
    EXPECT_EQ(static_cast<unsigned>(descriptor->swizzle),
              number(row, "layout_type"));
    EXPECT_EQ(*encode(*descriptor), bits);
  }
}

TEST(Descriptor, SharedMemoryRefusals) {
  SmemDescriptor descriptor;
  descriptor.start = 8;
  EXPECT_EQ(textOf(encode(descriptor)),
            "start address is 8, it must be a multiple of 16 bytes");
  descriptor.start = 1u << 18;
  EXPECT_FALSE(encode(descriptor));
  descriptor.start = 0;
  descriptor.baseOffset = 8;
  EXPECT_FALSE(encode(descriptor));
  descriptor.baseOffset = 0;
  descriptor.lboAbsolute = true;
  EXPECT_FALSE(encode(descriptor));
  descriptor.swizzle = Swizzle::B128;
  EXPECT_EQ(*encode(descriptor), 0x4010400000000000u);
  EXPECT_FALSE(decodeSmem(0x4000000000000000u));
  EXPECT_FALSE(decodeSmem(0x6000400000000000u));
  EXPECT_FALSE(decodeSmem(0x4020400000000000u));
}

// The eight steps of a K tile in CUTLASS's main loop (docs/sources.md, [k96];
// test/oracle/k96_smem_desc.csv), and a worked example with buffer 0 at 68608
// and buffers 16384 bytes apart.
TEST(Descriptor, K96Steps) {
  constexpr unsigned expected[8][3] = {{0, 0, 0},  {0, 48, 0}, {0, 96, 1},
                                       {1, 16, 1}, {1, 64, 1}, {1, 112, 2},
                                       {2, 32, 2}, {2, 80, 2}};
  for (unsigned i = 0; i < 8; ++i) {
    auto step = k96Step(i);
    ASSERT_TRUE(step);
    EXPECT_EQ(step->startBuffer, expected[i][0]);
    EXPECT_EQ(step->startByte, expected[i][1]);
    EXPECT_EQ(step->lboBuffer, expected[i][2]);
    EXPECT_EQ(step->crosses, i == 2 || i == 5);
  }
  std::array<std::uint32_t, 3> bases{68608, 84992, 101376};
  EXPECT_EQ(*encode(*k96Descriptor(bases, 0)), 0x4010404010c010c0u);
  EXPECT_EQ(*encode(*k96Descriptor(bases, 2)), 0x4010404014c010c6u);
  EXPECT_EQ(*encode(*k96Descriptor(bases, 5)), 0x4010404018c014c7u);
  EXPECT_FALSE(k96Descriptor(bases, 8));
  EXPECT_FALSE(k96Descriptor({68608, 85000, 101376}, 0));
}

TEST(Descriptor, ScaleCopy) {
  EXPECT_EQ(*encode(*copyDescriptor(2816)), 0x00004008000100b0u);
  EXPECT_FALSE(copyDescriptor(2817));
}

TEST(Descriptor, PlainTypesOfOperands) {
  EXPECT_EQ(plainType(ElementFormat::F16), PlainType::F16);
  EXPECT_EQ(plainType(ElementFormat::BF16), PlainType::BF16);
  EXPECT_EQ(plainType(OperandType::tf32()), PlainType::TF32);
  EXPECT_EQ(plainType(ElementFormat::E2M1), PlainType::E2M1);
  EXPECT_EQ(plainType(ElementFormat::INT8), PlainType::S8);
  EXPECT_EQ(plainType(OperandType::uint8()), PlainType::U8);
  EXPECT_FALSE(plainType(ElementFormat::INT4));
}

} // namespace
