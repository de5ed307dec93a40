//===- RubinLayoutTest.cpp - descriptors and layouts of sm_107 ------------===//
//
// Part of the blockscale project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Literal numbers of the tables that test/oracle/README.md describes under
// "rubin", and its tables.
//
//===----------------------------------------------------------------------===//

#include "Formats/OracleCsv.h"
#include "Formats/TextOf.h"
#include "blockscale/HW/Check.h"
#include "blockscale/HW/Descriptor.h"
#include "blockscale/HW/Memory.h"
#include "blockscale/HW/ScaleLayout.h"
#include "blockscale/HW/TensorMap.h"
#include "blockscale/HW/Throughput.h"

#include <gtest/gtest.h>

using namespace blockscale;
using namespace blockscale::hw;
using blockscale::test::CsvRow;
using blockscale::test::readOracle;
using blockscale::test::textOf;

namespace {

using F = ElementFormat;

//===----------------------------------------------------------------------===//
// Descriptors
//===----------------------------------------------------------------------===//

BlockScaledInstr scaled(InstrVariant variant, F a, F b, F scale, unsigned m,
                        unsigned n) {
  BlockScaledInstr instr;
  instr.variant = variant;
  instr.a = a;
  instr.b = b;
  instr.scale = scale;
  instr.m = m;
  instr.n = n;
  instr.kSize = KSize::Wide;
  return instr;
}

// The values of section 3, read in compiled PTX.
TEST(RubinLayout, InstructionDescriptors) {
  auto fp4 = [](F scale, unsigned m, unsigned n) {
    return scaled(InstrVariant::MXF4, F::E2M1, F::E2M1, scale, m, n);
  };
  auto fp8 = [](F b, unsigned m, unsigned n) {
    return scaled(InstrVariant::MXF8F6F4, F::E4M3, b, F::UE8M0, m, n);
  };
  struct {
    BlockScaledInstr instr;
    std::uint32_t bits;
  } rows[] = {
      {fp4(F::UE4M3, 128, 128), 0x08200488},
      {fp4(F::UE4M3, 128, 192), 0x08300488},
      {fp4(F::UE4M3, 256, 256), 0x10400488},
      {fp4(F::UE5M3, 128, 128), 0x09200488},
      {fp4(F::UE5M3, 256, 256), 0x11400488},
      {fp4(F::UE8M0, 256, 256), 0x10C00488},
      {fp8(F::E4M3, 128, 128), 0x88A00000},
      {fp8(F::E4M3, 256, 256), 0x90C00000},
      {fp8(F::E2M1, 256, 256), 0x90C01400},
  };
  for (const auto &row : rows) {
    Result<std::uint32_t> bits = encode(row.instr);
    ASSERT_TRUE(bits) << textOf(bits);
    EXPECT_EQ(*bits, row.bits) << hex(row.bits, 8);
    Result<BlockScaledInstr> back =
        decodeBlockScaled(row.instr.variant, row.bits);
    ASSERT_TRUE(back) << textOf(back);
    EXPECT_TRUE(*back == row.instr) << hex(row.bits, 8);
  }
}

TEST(RubinLayout, BitsOfWhatIsNew) {
  BlockScaledInstr fp4 =
      scaled(InstrVariant::MXF4, F::E2M1, F::E2M1, F::UE4M3, 128, 128);
  fp4.rowPerLaneA = true;
  EXPECT_EQ(*encode(fp4), 0x08200488u | 1u << 26);
  fp4.rowPerLaneA = false;
  fp4.kSize = KSize::Long;
  EXPECT_EQ(*encode(fp4), 0x88200480u);
  fp4.kSize = KSize::Narrow;
  EXPECT_EQ(*encode(fp4), 0x08200480u);
  fp4.sparse = true;
  fp4.elementMetadata = true;
  EXPECT_EQ(*encode(fp4), 0x08200484u | 1u << 12);
  fp4.sparse = false;
  EXPECT_FALSE(encode(fp4));
  // K code 3, scale format 3.
  EXPECT_FALSE(decodeBlockScaled(InstrVariant::MXF4, 0x88200488));
  EXPECT_FALSE(decodeBlockScaled(InstrVariant::MXF4, 0x09A00488));
  // mxf8f6f4 has one scale format, whose bit 24 is 0.
  EXPECT_FALSE(decodeBlockScaled(InstrVariant::MXF8F6F4, 0x89A00000));
  PlainInstr plain;
  plain.kind = MmaKind::F8F6F4;
  plain.a = plain.b = PlainType::E4M3;
  plain.m = 128;
  plain.n = 128;
  Result<std::uint32_t> narrow = encode(plain);
  plain.isWide = true;
  Result<std::uint32_t> wide = encode(plain);
  ASSERT_TRUE(narrow && wide);
  EXPECT_EQ(*wide, *narrow | 1u << 29);
  EXPECT_TRUE(decodePlain(MmaKind::F8F6F4, *wide)->isWide);
  plain.sparse = true;
  EXPECT_FALSE(encode(plain));
}

/// Ours under the oracle's name of a field.
const Field *fieldOf(FieldList list, const std::string &name) {
  static const std::map<std::string, const char *> kNames{
      {"sparsity selector", "sparsity_selector"},
      {"sparse", "sparse"},
      {"D format", "d_format"},
      {"A format", "a_format"},
      {"B format", "b_format"},
      {"N / 8", "n_div_8"},
      {"M / 16", "m_div_16"},
      {"M / 128", "m_div_128"},
      {"K size", "k_size"},
      {"K size, upper bit", "k_size_high"},
      {"K size, lower bit", "k_size"},
      {"max shift (.ws)", "max_shift"},
      {"SFA id", "sfa_id"},
      {"SFB id", "sfb_id"},
      {"SFA layout", "sfa_layout"},
      {"scale format", "scale_format"},
      {"sparsity version", "sparsity_version"},
      {"start address / 16", "start"},
      {"leading byte offset / 16, or absolute next-buffer address / 16", "lbo"},
      {"stride byte offset / 16", "sbo"},
      {"version", "version"},
      {"base offset", "base_offset"},
      {"leading mode", "lbo_absolute"},
      {"swizzle", "swizzle"},
  };
  auto found = kNames.find(name);
  return found == kNames.end() ? nullptr : findField(list, found->second);
}

TEST(RubinLayout, FieldsLieWhereTheOracleSays) {
  std::vector<CsvRow> rows = readOracle("rubin/descriptors.csv");
  ASSERT_EQ(rows.size(), 48u);
  unsigned compared = 0;
  for (const CsvRow &row : rows) {
    const std::string &word = row.at("descriptor");
    FieldList list = word == "mxf8f6f4" ? instrFields(InstrVariant::MXF8F6F4)
                     : word == "mxf4 mxf4nvf4" ? instrFields(InstrVariant::MXF4)
                     : word == "shared memory descriptor"
                         ? fieldList(kSmemFields, 64)
                         : instrFields(InstrVariant::Plain);
    const Field *field = fieldOf(list, row.at("field"));
    if (!field)
      continue;
    ++compared;
    EXPECT_EQ(field->offset, std::stoul(row.at("offset")))
        << word << ": " << row.at("field");
    EXPECT_EQ(field->width, std::stoul(row.at("width")))
        << word << ": " << row.at("field");
  }
  EXPECT_EQ(compared, 38u);
}

// Section 4.2.
TEST(RubinLayout, SharedMemoryDescriptors) {
  EXPECT_EQ(smemAddressBits(Chip::SM107), 19u);
  EXPECT_EQ(smemAddressBits(Chip::SM103), 18u);
  SmemDescriptor tile;
  tile.lbo = 16;
  tile.sbo = 1024;
  tile.swizzle = Swizzle::B128;
  EXPECT_EQ(*encode(tile), 0x4000404000010000u);
  tile.sbo = 512;
  tile.swizzle = Swizzle::B64;
  EXPECT_EQ(*encode(tile), 0x8000402000010000u);
  EXPECT_EQ(*encode(*copyDescriptor(0)), 0x0000400800010000u);
  // 256 KiB and beyond.
  tile.start = 1u << 18;
  EXPECT_FALSE(encode(tile));
  Result<std::uint64_t> bits = encode(tile, smemAddressBits(Chip::SM107));
  ASSERT_TRUE(bits) << textOf(bits);
  EXPECT_EQ(*bits, 0x8000402000014000u);
  EXPECT_FALSE(decodeSmem(*bits));
  EXPECT_TRUE(*decodeSmem(*bits, 19) == tile);
  tile.start = 1u << 19;
  EXPECT_FALSE(encode(tile, 19));
  EXPECT_FALSE(copyDescriptor(300032));
  EXPECT_TRUE(copyDescriptor(300032, 19));
}

//===----------------------------------------------------------------------===//
// Scales
//===----------------------------------------------------------------------===//

// Columns from the scales of one MMA to those of the next, ids, and where the
// second word lies.
TEST(RubinLayout, ScaleStepsOfTheOracle) {
  std::vector<CsvRow> rows = readOracle("rubin/scale_layout.csv");
  ASSERT_EQ(rows.size(), 8u);
  struct {
    unsigned row, scales;
    /// Column and id of MMA 1 with word strides of 4 and of 8.
    unsigned narrow, wide, id;
    unsigned words;
  } expected[] = {
      {0, 8, 8, 16, 0, 2}, {1, 4, 4, 8, 0, 1}, {4, 4, 4, 8, 0, 1},
      {5, 2, 0, 0, 2, 1},  {6, 2, 0, 0, 2, 1}, {7, 1, 0, 0, 1, 1},
  };
  for (const auto &one : expected) {
    const CsvRow &row = rows[one.row];
    EXPECT_EQ(std::to_string(one.scales), row.at("scales per row and MMA"));
    Result<ScaleStep> narrow = scaleStep(one.scales, 4, 1);
    Result<ScaleStep> wide = scaleStep(one.scales, 8, 1);
    ASSERT_TRUE(narrow && wide) << row.at("form");
    EXPECT_EQ(narrow->column, one.narrow) << row.at("form");
    EXPECT_EQ(wide->column, one.wide) << row.at("form");
    EXPECT_EQ(narrow->id, one.id) << row.at("form");
    EXPECT_EQ(wordsPerMma(one.scales, narrow->id), one.words) << row.at("form");
  }
  // W depends on N <= 128, not on N.
  EXPECT_EQ(scaleRegion(ScalePath::FourByOne, 64)->wordStride, 4u);
  EXPECT_EQ(scaleRegion(ScalePath::FourByOne, 128)->wordStride, 4u);
  EXPECT_EQ(scaleRegion(ScalePath::FourByOne, 136)->wordStride, 8u);
  EXPECT_EQ(scaleRegion(ScalePath::FourByOne, 192)->wordStride, 8u);
  ConsumedBytes bytes = consumedBytes(8, 0);
  ASSERT_EQ(bytes.count, 8u);
  EXPECT_EQ(bytes.bytes[3].word, 0u);
  EXPECT_EQ(bytes.bytes[3].byte, 3u);
  EXPECT_EQ(bytes.bytes[4].word, 1u);
  EXPECT_EQ(bytes.bytes[4].byte, 0u);
  EXPECT_EQ(consumedBytes(8, 2).count, 0u);
}

TEST(RubinLayout, OneRowToALane) {
  Result<ScaleRegion> region = scaleRegion(ScalePath::RowPerLane, 128);
  ASSERT_TRUE(region) << textOf(region);
  EXPECT_EQ(region->wordStride, 1u);
  EXPECT_EQ(replicas(ScalePath::RowPerLane), 1u);
  EXPECT_FALSE(scaleRegion(ScalePath::RowPerLane, 64));
  for (unsigned row : {0u, 1u, 37u, 127u})
    for (unsigned scale : {0u, 3u, 4u, 13u}) {
      Result<ScalePosition> at = scalePosition(*region, row, scale, 0);
      ASSERT_TRUE(at) << textOf(at);
      EXPECT_EQ(at->lane, row);
      EXPECT_EQ(at->column, scale / 4);
      EXPECT_EQ(at->byte, scale % 4);
      Result<ScaleIndex> back = scaleIndex(*region, *at);
      ASSERT_TRUE(back) << textOf(back);
      EXPECT_EQ(back->row, row);
      EXPECT_EQ(back->scale, scale);
    }
  EXPECT_FALSE(scalePosition(*region, 0, 0, 1));
  // Columns for each MMA: 2, 1 and half of one.
  EXPECT_EQ(scaleStep(8, region->wordStride, 1)->column, 2u);
  EXPECT_EQ(scaleStep(4, region->wordStride, 1)->column, 1u);
  EXPECT_EQ(scaleStep(2, region->wordStride, 2)->column, 1u);
  EXPECT_EQ(scaleStep(2, region->wordStride, 1)->id, 2u);
}

// What a 128x128b copy takes from memory: 128 rows of 16 bytes.
TEST(RubinLayout, RowTilesInMemory) {
  Coordinates extents{{Dim::Row, 300}, {Dim::Block, 40}};
  StorageLayout<std::uint64_t> storage =
      storageLayout(kRowTiledScales, extents);
  EXPECT_EQ(storage.matrixBytes, 3u * 3 * 2048);
  EXPECT_EQ(storage.offset({{Dim::Row, 0}, {Dim::Block, 15}}), 15u);
  EXPECT_EQ(storage.offset({{Dim::Row, 1}, {Dim::Block, 0}}), 16u);
  EXPECT_EQ(storage.offset({{Dim::Row, 0}, {Dim::Block, 16}}), 2048u);
  EXPECT_EQ(storage.offset({{Dim::Row, 128}, {Dim::Block, 0}}), 3u * 2048);
  EXPECT_EQ(storage.offset({{Dim::Row, 165}, {Dim::Block, 35}}),
            3u * 2048 + 2 * 2048 + 37 * 16 + 3);
}

//===----------------------------------------------------------------------===//
// Memory
//===----------------------------------------------------------------------===//

TEST(RubinLayout, TensorMemory) {
  auto of = [](Chip chip, unsigned columns) {
    Result<TmemAllocation> made = allocationOn(chip, columns);
    return made ? std::to_string(made->columns) +
                      (made->isExclusive ? " exclusive" : "")
                : made.why().text;
  };
  EXPECT_EQ(of(Chip::SM107, 1), "32");
  EXPECT_EQ(of(Chip::SM107, 300), "512");
  EXPECT_EQ(of(Chip::SM107, 512), "512");
  EXPECT_EQ(of(Chip::SM107, 513), "544 exclusive");
  EXPECT_EQ(of(Chip::SM107, 560), "576 exclusive");
  EXPECT_EQ(of(Chip::SM107, 577),
            "tensor memory of sm_107 has 576 columns, 577 are asked for (PTX "
            "ISA 9.4, tcgen05.alloc [T]; ptxas takes more [P])");
  EXPECT_EQ(of(Chip::SM100, 513),
            "tensor memory has 512 columns, 513 are asked for");
  EXPECT_EQ(of(Chip::SM107, 0),
            "tensor memory has 512 columns, 0 are asked for");
}

// Section 4.3.
TEST(RubinLayout, OperandsInSharedMemory) {
  EXPECT_EQ(storedBits(MmaKind::MXF8F6F4, 32, false, 4), 8u);
  EXPECT_EQ(storedBits(MmaKind::MXF8F6F4, 64, false, 4), 4u);
  EXPECT_EQ(storedBits(MmaKind::MXF8F6F4, 64, false, 6), 6u);
  EXPECT_EQ(storedBits(MmaKind::MXF8F6F4, 64, false, 8), 8u);
  EXPECT_EQ(storedBits(MmaKind::MXF8F6F4, 64, true, 4), 8u);
  EXPECT_EQ(storedBits(MmaKind::MXF4NVF4, 128, false, 4), 4u);
  EXPECT_EQ(storedBits(MmaKind::F8F6F4, 64, false, 8), 8u);
  OperandType fp4 = F::E2M1, fp6 = F::E2M3;
  EXPECT_EQ(tensorMapDataType(fp4, 8), TensorMapDataType::U4x16Align16B);
  EXPECT_EQ(tensorMapDataType(fp4, 4), TensorMapDataType::U4x16Align8B);
  EXPECT_EQ(tensorMapDataType(fp6, 8), TensorMapDataType::U6x16Align16B);
  // None brings packed elements of 6 bits without gaps.
  EXPECT_EQ(tensorMapDataType(fp6, 6), std::nullopt);
  // The descriptor advances by 64 bytes of each row; by 32 where 4-bit elements
  // of mxf8f6f4 are packed.
  OperandTile tile;
  tile.mn = 128;
  tile.k = 256;
  tile.containerBits = 4;
  EXPECT_EQ(stepAddress(tile, {128, 128, 0, 1})->startOffset, 64u);
  tile.k = 128;
  tile.swizzle = Swizzle::B64;
  EXPECT_EQ(stepAddress(tile, {128, 64, 0, 1})->startOffset, 32u);
  EXPECT_EQ(stepAddress(tile, {128, 64, 0, 1})->sbo, 512u);
  tile.containerBits = 8;
  tile.swizzle = Swizzle::B128;
  EXPECT_EQ(stepAddress(tile, {128, 64, 0, 1})->startOffset, 64u);
}

//===----------------------------------------------------------------------===//
// Time
//===----------------------------------------------------------------------===//

// Section 11.3, rounded up to whole cycles.
TEST(RubinLayout, IntervalsOfWideInstructions) {
  struct {
    unsigned n, array, one, pair, oneShared, pairShared;
  } rows[] = {
      {64, 32, 96, 86, 80, 78},
      {128, 64, 128, 104, 96, 86},
      {192, 96, 160, 121, 112, 96},
      {256, 128, 192, 138, 128, 128},
  };
  for (const auto &row : rows) {
    auto cycles = [&](unsigned ctaGroup, unsigned sharers) {
      MmaStep step = mmaStep(MmaKind::MXF4NVF4, 128, false, ctaGroup,
                             128 * ctaGroup, row.n);
      EXPECT_EQ(step.bytesA, 64u);
      EXPECT_EQ(mmaArrayCycles(step), row.array);
      step.sharersOfB = sharers;
      return mmaIntervalCycles(step);
    };
    EXPECT_NEAR(cycles(1, 1), row.one, 0.5);
    EXPECT_NEAR(cycles(2, 1), row.pair, 0.5);
    EXPECT_NEAR(cycles(1, 2), row.oneShared, 0.5);
    EXPECT_NEAR(cycles(2, 2), row.pairShared, 0.5);
  }
  MmaStep mixed = mmaStep(MmaKind::MXF8F6F4, 64, false, 2, 256, 256, 8, 4);
  EXPECT_EQ(mixed.bytesA, 64u);
  EXPECT_EQ(mixed.bytesB, 32u);
  MmaStep padded = mmaStep(MmaKind::MXF8F6F4, 32, false, 2, 256, 256, 8, 4);
  EXPECT_EQ(padded.bytesA, 32u);
  EXPECT_EQ(padded.bytesB, 32u);
}

} // namespace
