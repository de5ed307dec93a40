//===- UnitsTensorOracleTest.cpp - tensor-memory layouts, plain kinds -----===//
//
// Part of the blockscale project, under the Apache License v2.0 with LLVM
// Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Units/TensorCoreImpl.h"
#include "UnitsOracle.h"

#include <gtest/gtest.h>

#include <cmath>
#include <cstring>

using namespace blockscale::emulator;
using namespace blockscale::emulator::detail;
using namespace blockscale::emulator::test;

namespace {

/// Distinct ue8m0 code of a position; replicas of a row share it.
unsigned codeAt(unsigned lane, unsigned column, unsigned byte, bool split) {
  unsigned group = split ? lane / 64 : 0;
  return 20 + (lane % 32 * 7 + column * 31 + byte * 57 + group * 101) % 199;
}

/// Tensor memory full of scale codes and a reader of them.
struct ScaleWorld {
  TensorMemory tensor;
  TensorContext context;
  MmaRequest request;
  InstructionDescriptor idesc;
  TensorReport report;

  explicit ScaleWorld(bool split) {
    uint32_t address;
    tensor.allocate(512, address);
    for (unsigned lane = 0; lane < 128; ++lane) {
      for (unsigned c = 0; c < 512; ++c)
        for (unsigned b = 0; b < 4; ++b)
          tensor.row(lane)[c] |= codeAt(lane, c, b, split) << 8 * b;
      tensor.markValid(lane, 0, 512);
    }
    context.cta[0].tensor = context.cta[1].tensor = &tensor;
  }

  /// Value that the instruction uses for scale `s` of row or column `mn`.
  float scale(bool isA, unsigned column, unsigned id, unsigned count,
              unsigned mn, unsigned s) {
    (isA ? request.scaleA : request.scaleB) = column;
    (isA ? idesc.scaleIdA : idesc.scaleIdB) = id;
    idesc.scaleCount = count;
    Operand out;
    unsigned rows = isA ? idesc.m / request.form.ctaGroup : idesc.n;
    out.reset(rows, idesc.k, count);
    OperandReader reader(request, idesc, context, report);
    EXPECT_TRUE(isA ? reader.readScalesA(0, out) : reader.readScalesB(0, out))
        << (report.issues.empty() ? "" : report.issues.back().message);
    return out.scales[mn * count + s];
  }
};

MmaKind kindOf(const std::string &text) {
  return text == "mxf8f6f4" ? MmaKind::MXF8F6F4
         : text == "mxf4"   ? MmaKind::MXF4
                            : MmaKind::MXF4NVF4;
}

} // namespace

TEST(TensorOracle, ScalesAreReadWhereTheTableSays) {
  ScaleWorld quadrants(false), halves(true);
  unsigned checked = 0;
  for (auto &row : readCsv("tmem_sf_layout.csv")) {
    if (num(row["column"]) > 400)
      continue;
    bool isA = row["operand"] == "A";
    // A is replicated to all quadrants in both data paths.
    bool split = !isA && row["datapath"] == "2x2";
    ScaleWorld &world = split ? halves : quadrants;
    world.request.form = {kindOf(row["kind"]), row["sparse"] == "1",
                          num(row["cta_group"]), num(row["block_size"])};
    world.idesc.m = num(row["M"]);
    world.idesc.n = isA ? 128 : num(row["mn_extent"]);
    world.idesc.k = num(row["K"]);
    if (isA && world.idesc.m / world.request.form.ctaGroup <= num(row["mn"]))
      continue; // the table sizes A of an M=128 pair for 128 rows
    // With sparsity a scale covers twice the logical K.
    unsigned count =
        world.idesc.k / num(row["block_size"]) / (row["sparse"] == "1" ? 2 : 1);
    float found =
        world.scale(isA, num(row["instr_addr_column"]), num(row["instr_sf_id"]),
                    count, num(row["mn"]), num(row["sf_in_mma"]));
    unsigned code =
        codeAt(num(row["lane"]), num(row["column"]), num(row["byte"]), split);
    ASSERT_EQ(found, std::ldexp(1.0f, int(code) - 127))
        << row["operand"] << " " << row["kind"] << " mn " << row["mn"];
    ++checked;
  }
  EXPECT_GT(checked, 1000u);
}

TEST(TensorOracle, ScalesOfK96StepIntoTheNextWord) {
  std::map<std::string, CsvRow> sequence;
  auto key = [](CsvRow &row) {
    return row["operand"] + row["block_size"] + row["mn_extent"] +
           row["mma_index"];
  };
  for (auto &row : readCsv("k96_sequence.csv"))
    sequence[key(row)] = row;
  ScaleWorld world(false);
  world.request.form = {MmaKind::MXF4NVF4, false, 1, 16};
  world.idesc.m = 128;
  world.idesc.k = 96;
  unsigned checked = 0;
  for (auto &row : readCsv("k96_scale_positions.csv")) {
    auto step = sequence.find(key(row));
    if (step == sequence.end())
      continue;
    bool isA = row["operand"] == "A";
    world.idesc.n = isA ? 128 : num(row["mn_extent"]);
    float found = world.scale(
        isA, num(step->second["column_offset"]), num(step->second["sf_id"]),
        96 / num(row["block_size"]), num(row["mn"]), num(row["sf_in_mma"]));
    unsigned code = codeAt(num(row["lane_in_quadrant"]), num(row["column"]),
                           num(row["byte"]), false);
    ASSERT_EQ(found, std::ldexp(1.0f, int(code) - 127)) << row["mn"];
    ++checked;
  }
  EXPECT_GT(checked, 100u);
}

//===----------------------------------------------------------------------===//
// Plain kinds
//===----------------------------------------------------------------------===//

namespace {

/// cta_group 1, no swizzle; A and B are put where `place` says.
struct PlainWorld {
  std::vector<uint8_t> memory = std::vector<uint8_t>(65536);
  TensorMemory tensor;
  TensorContext context;
  MmaRequest request;
  TensorCore core;

  PlainWorld(MmaKind kind, uint32_t idesc) {
    uint32_t address;
    tensor.allocate(256, address);
    context.cta[0] = {memory.data(), 1024, 65536, nullptr, &tensor};
    request.form = {kind, false, 1, 0};
    request.idesc = idesc;
    // K-major, no swizzle: 16-byte columns 2048 apart, 8 rows 128 apart.
    request.a = descriptor(1024, 2048, 128);
    request.b = descriptor(32768, 2048, 128);
    request.d = 16;
  }
  static uint64_t descriptor(uint32_t start, uint32_t lbo, uint32_t sbo) {
    return start / 16 | uint64_t(lbo / 16) << 16 | uint64_t(sbo / 16) << 32 |
           uint64_t(1) << 46;
  }
  template <typename T> void put(uint32_t address, T value) {
    std::memcpy(&memory[address - 1024], &value, sizeof(T));
  }
  /// K-major byte position.
  static uint32_t at(uint32_t start, unsigned row, unsigned byte) {
    return start + row / 8 * 128 + row % 8 * 16 + byte / 16 * 2048 + byte % 16;
  }
  void run() {
    TensorReport report = core.execute(request, context);
    ASSERT_FALSE(report.refused) << report.issues[0].message;
  }
};

uint32_t plainIdesc(unsigned d, unsigned a, unsigned b, unsigned m,
                    unsigned n) {
  return d << 4 | a << 7 | b << 10 | n / 8 << 17 | m / 16 << 24;
}

} // namespace

TEST(TensorCorePlain, HalfOfSixtyFourRowsUsesEveryOtherSixteenLanes) {
  PlainWorld world(MmaKind::F16, plainIdesc(1, 0, 0, 64, 8));
  world.put<uint16_t>(PlainWorld::at(1024, 37, 9 * 2), 0x4200); // 3
  world.put<uint16_t>(PlainWorld::at(32768, 5, 9 * 2), 0x4500); // 5
  world.run();
  float value;
  // Row 37 is lane 37 % 16 + 32 * (37 / 16) = 69.
  std::memcpy(&value, world.tensor.row(69) + 16 + 5, 4);
  EXPECT_EQ(value, 15.0f);
  EXPECT_TRUE(world.tensor.valid(69, 16 + 7));
  EXPECT_FALSE(world.tensor.valid(69, 16 + 8));
  EXPECT_FALSE(world.tensor.valid(16, 16));
  world.request.enableInputD = true;
  world.request.scaleInputD = 1;
  world.run();
  std::memcpy(&value, world.tensor.row(69) + 16 + 5, 4);
  EXPECT_EQ(value, 22.5f);
  world.request.scaleInputD = 0;
  world.request.disableOutputLane[2] = 1u << 5; // lane 69
  world.run();
  std::memcpy(&value, world.tensor.row(69) + 16 + 5, 4);
  EXPECT_EQ(value, 22.5f);
}

TEST(TensorCorePlain, TransposedOperandsFollowTheOtherMajor) {
  // A M-major: 8 K-rows of 16 bytes; LBO between groups of 8 K, SBO between
  // groups of 8 f16 along M.
  PlainWorld world(MmaKind::F16, plainIdesc(1, 0, 0, 128, 16) | 1u << 15);
  world.request.a = PlainWorld::descriptor(1024, 4096, 128);
  unsigned m = 77, k = 11;
  world.put<uint16_t>(
      1024 + m / 8 * 128 + k / 8 * 4096 + k % 8 * 16 + m % 8 * 2, 0x4000);
  world.put<uint16_t>(PlainWorld::at(32768, 13, k * 2), 0x4700); // 7
  world.run();
  float value;
  std::memcpy(&value, world.tensor.row(77) + 16 + 13, 4);
  EXPECT_EQ(value, 14.0f);
}

TEST(TensorCorePlain, IntegersAndTf32AndHalfAccumulators) {
  PlainWorld bytes(MmaKind::I8, plainIdesc(2, 1, 0, 128, 16));
  bytes.put<uint8_t>(PlainWorld::at(1024, 100, 31), 0x80); // -128
  bytes.put<uint8_t>(PlainWorld::at(32768, 9, 31), 0xff);  // 255
  bytes.run();
  EXPECT_EQ(int32_t(bytes.tensor.row(100)[16 + 9]), -32640);
  PlainWorld tf32(MmaKind::TF32, plainIdesc(1, 2, 2, 128, 16));
  tf32.put<float>(PlainWorld::at(1024, 3, 7 * 4), 1.0f + 0x1p-10f + 0x1p-20f);
  tf32.put<float>(PlainWorld::at(32768, 2, 7 * 4), 4.0f);
  tf32.run();
  float value;
  std::memcpy(&value, tf32.tensor.row(3) + 16 + 2, 4);
  EXPECT_EQ(value, 4.0f + 0x1p-8f);
  PlainWorld half(MmaKind::F8F6F4, plainIdesc(0, 0, 1, 128, 16));
  half.put<uint8_t>(PlainWorld::at(1024, 3, 20), 0x7e);  // 448
  half.put<uint8_t>(PlainWorld::at(32768, 2, 20), 0x3d); // 1.25
  half.run();
  EXPECT_EQ(half.tensor.row(3)[16 + 2], 0x6060u); // 560
}

TEST(TensorCorePlain, CopyGoesThroughTheDescriptor) {
  PlainWorld world(MmaKind::F16, 0);
  for (unsigned i = 0; i < 512; ++i)
    world.put<uint8_t>(2048 + i, uint8_t(i / 16 * 5 + i % 16));
  TensorReport report =
      world.core.copy(CopyShape::S32x128bWarp4, CopyFormat::Plain, 1, 8,
                      0x0000400800010080, world.context);
  ASSERT_FALSE(report.refused);
  // Row 19, bytes 4..7, in the third quadrant.
  EXPECT_EQ(world.tensor.row(19 + 64)[9], 0x66656463u);
  EXPECT_FALSE(world.tensor.valid(19, 12));
  std::vector<uint8_t> valid(world.context.cta[0].sharedSize, 0xff);
  valid[2048 + 16 * 31 - world.context.cta[0].sharedBase] = 0;
  world.context.cta[0].sharedValid = valid.data();
  report = world.core.copy(CopyShape::S32x128bWarp4, CopyFormat::Plain, 1, 8,
                           0x0000400800010080, world.context);
  EXPECT_TRUE(report.refused);
  EXPECT_EQ(report.issues[0].kind, TensorIssueKind::Uninitialised);
}
