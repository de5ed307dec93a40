//===- PlanOperandsTest.cpp - how operands lie, in plans ------------------===//
//
// Part of the blockscale project, under the Apache License v2.0 with LLVM
// Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "PlanText.h"
#include "blockscale/Plan/Plan.h"
#include "blockscale/Plan/Sizes.h"
#include <gtest/gtest.h>

using namespace blockscale;
using namespace blockscale::plan;
using namespace blockscale::test;

namespace {
// Plans of operands with a scale for each row and block do not have the keys.
TEST(Plan, SaysWhatScalesCoverThatAreRepeated) {
  Plan plan = makePlan();
  ScalePacking scales;
  scales.operand = "b";
  scales.format = "ue8m0";
  scales.block = 32;
  scales.layout = "tiled_128x4";
  scales.offset = "r * 4 + j";
  scales.paddedRows = scales.paddedScales = scales.bytes = "512";
  scales.alignment = 16;
  plan.kernels[0].scales = {scales};
  std::string text = printPlan(plan);
  EXPECT_EQ(text.find("\"rows\""), std::string::npos);
  Plan read = readAgain(plan);
  EXPECT_EQ(read.kernels[0].scales[0].rows, 1u);
  EXPECT_EQ(read.kernels[0].scales[0].ownBlock(), 32u);

  plan.kernels[0].scales[0].rows = 0;
  plan.kernels[0].scales[0].elements = 128;
  text = printPlan(plan);
  read = readAgain(plan);
  EXPECT_EQ(read.kernels[0].scales[0].rows, 0u);
  EXPECT_EQ(read.kernels[0].scales[0].ownBlock(), 128u);
  EXPECT_EQ(errorOf(replaced(text, "\"rows\": 0", "\"rows\": -1")),
            "launch plan: 'kernels[0].scales[0].rows': -1 is out of range; "
            "expected 0 to 2147483647");
  EXPECT_EQ(
      errorOf(replaced(text, "\"elements\": 128", "\"elements\": 48")),
      "launch plan: 'kernels[0].scales[0]': has 'elements' of 48; expected "
      "a multiple of 'block', 32");
}

/// Elements of B of `bits` each, packed in one line.
static DataPacking packingOfB(const char *format, unsigned bits) {
  DataPacking data;
  data.operand = "b";
  data.format = format;
  data.bits = bits;
  data.elementMultiple = data.alignment = 1;
  data.lines = data.elements = data.linePitch = data.batchPitch = "1";
  return data;
}

// Elements that are packed as those of another format; others do not have the
// key.
TEST(Plan, SaysOfWhichElementsOnesAreMade) {
  Plan plan = makePlan();
  DataPacking data = packingOfB("e2m3", 6);
  plan.kernels[0].data = {data};
  EXPECT_EQ(printPlan(plan).find("\"source\""), std::string::npos);
  plan.kernels[0].data[0].source = {"int2", {0, 8, -1, 40}};
  std::string text = printPlan(plan);
  Plan read = readAgain(plan);
  ASSERT_TRUE(read.kernels[0].data[0].source);
  EXPECT_EQ(read.kernels[0].data[0].source->format, "int2");
  EXPECT_EQ(read.kernels[0].data[0].source->codes,
            (std::vector<int64_t>{0, 8, -1, 40}));
  EXPECT_EQ(errorOf(replaced(text, "-1,", "")),
            "launch plan: 'kernels[0].data[0].source': has 3 'codes'; expected "
            "one for each code of the source, a power of two up to 512");
  EXPECT_EQ(errorOf(replaced(text, "-1,", "-2,")),
            "launch plan: 'kernels[0].data[0].source.codes[2]': -2 is out of "
            "range; expected -1 to 65535");
}

TEST(Plan, SaysHowZeroPointsLie) {
  Plan plan = makePlan();
  DataPacking data = packingOfB("e4m3", 8);
  data.source = {"uint1", {184, 0, 56, 64}, {}};
  plan.kernels[0].data = {data};
  EXPECT_EQ(printPlan(plan).find("\"zeros\""), std::string::npos);
  plan.kernels[0].data[0].source->zeros = {5, 0, 128};
  std::string text = printPlan(plan);
  Plan read = readAgain(plan);
  const std::optional<ZeroPoints> &zeros =
      read.kernels[0].data[0].source->zeros;
  ASSERT_TRUE(zeros);
  EXPECT_EQ(zeros->bits, 5u);
  EXPECT_EQ(zeros->rows, 0u);
  EXPECT_EQ(zeros->block, 128u);
  EXPECT_EQ(errorOf(replaced(text, "\"bits\": 5", "\"bits\": 64")),
            "launch plan: 'kernels[0].data[0].source.zeros.bits': 64 is out of "
            "range; expected 2 to 32");
}

// Scales of blocks of K say so; of those for all of K nothing is said.
TEST(Plan, SaysHowScalesOfBlocksOfKLie) {
  Plan plan = makePlan();
  plan.kernels[0].vectorScales = {
      {"a", "f32", 1, "M * 4", "M * 4 * batch", 4, 128},
      {"b", "f32", 128, "8", "8 * batch", 4, 0},
  };
  std::string text = printPlan(plan);
  EXPECT_NE(text.find("\"block\": 128"), std::string::npos);
  Plan read = readAgain(plan);
  EXPECT_EQ(read.kernels[0].vectorScales[0].block, 128u);
  EXPECT_EQ(read.kernels[0].vectorScales[1].block, 0u);
}

// Plans of operands without such scales do not have the key.
TEST(Plan, SaysHowScalesThatCoverKLie) {
  Plan plan = makePlan();
  EXPECT_EQ(printPlan(plan).find("vectorScales"), std::string::npos);
  plan.kernels[0].vectorScales = {
      {"a", "f32", 1, "M", "M * batch", 4},
      {"b", "ue8m0", 0, "1", "batch", 1},
  };
  std::string text = printPlan(plan);
  Plan read = readAgain(plan);
  ASSERT_EQ(read.kernels[0].vectorScales.size(), 2u);
  const VectorScales &second = read.kernels[0].vectorScales[1];
  EXPECT_EQ(second.operand, "b");
  EXPECT_EQ(second.format, "ue8m0");
  EXPECT_EQ(second.rows, 0u);
  EXPECT_EQ(second.matrixElements, "1");
  EXPECT_EQ(second.elements, "batch");
  EXPECT_EQ(second.alignment, 1u);
  EXPECT_EQ(errorOf(replaced(text, "\"rows\": 1,", "\"rows\": -1,")),
            "launch plan: 'kernels[0].vectorScales[0].rows': -1 is out of "
            "range; expected 0 to 2147483647");
}

// Nor do those of operands without zero points in real units.
TEST(Plan, SaysWhichTermsZeroPointsHave) {
  Plan plan = makePlan();
  EXPECT_EQ(printPlan(plan).find("zeroTerms"), std::string::npos);
  plan.kernels[0].zeroTerms = {{"b", "f16", 4, 128, "1", "ceildiv(K, 128)"}};
  std::string text = printPlan(plan);
  Plan read = readAgain(plan);
  const ZeroTerms &terms = read.kernels[0].zeroTerms.at(0);
  EXPECT_EQ(terms.operand, "b");
  EXPECT_EQ(terms.format, "f16");
  EXPECT_EQ(terms.rows, 4u);
  EXPECT_EQ(terms.block, 128u);
  EXPECT_EQ(terms.first, "1");
  EXPECT_EQ(terms.count, "ceildiv(K, 128)");
  EXPECT_EQ(errorOf(replaced(text, "\"first\": \"1\"", "\"first\": \"Q\"")),
            "launch plan: 'kernels[0].zeroTerms[0].first': unknown name 'Q' in "
            "expression 'Q'");
}

// The places of scales and metadata are expressions of their coordinates.
TEST(Plan, JudgesFormulasOfPlaces) {
  Plan plan = makePlan();
  ScalePacking scales;
  scales.operand = "a";
  scales.block = 32;
  scales.offset = "l * (ceildiv(M, 128) * 512) + r % 32 * 16 + j % 4";
  scales.alignment = 16;
  MetadataPacking metadata;
  metadata.operand = "a";
  metadata.elementsPerByte = 8;
  metadata.offset = "l * 2048 + r * 16 + k % 128 / 8";
  metadata.alignment = 16;
  plan.kernels[0].scales = {scales};
  plan.kernels[0].metadata = {metadata};
  std::string text = printPlan(plan);
  EXPECT_EQ(errorOf(text), "no error");
  EXPECT_EQ(errorOf(replaced(text, "+ j % 4", "+ k % 4")),
            "launch plan: 'kernels[0].scales[0].offset': unknown name 'k' in "
            "expression 'l * (ceildiv(M, 128) * 512) + r % 32 * 16 + k % 4'");
  EXPECT_EQ(errorOf(replaced(text, "k % 128 / 8", "j")),
            "launch plan: 'kernels[0].metadata[0].offset': unknown name 'j' in "
            "expression 'l * 2048 + r * 16 + j'");
  EXPECT_EQ(errorOf(replaced(text, "l * 2048 + r * 16 + k % 128 / 8", "")),
            "launch plan: 'kernels[0].metadata[0].offset': unexpected end in "
            "expression ''");
  // They are no names of the sizes of a launch.
  EXPECT_EQ(errorOf(replaced(text, "min(ceildiv(M, 128), num_sms)", "r")),
            "launch plan: 'kernels[0].grid[0]': unknown name 'r' in expression "
            "'r'");
}

// What TMA reaches together, what an instruction multiplies, and whole tiles of
// scales.
TEST(Plan, KnowsWhereGroupsAlongKEnd) {
  Kernel kernel;
  kernel.data = {packingOfB("e4m3", 8)};
  EXPECT_EQ(stepAlongK(kernel), 32u);
  kernel.data = {packingOfB("bf16", 16)};
  EXPECT_EQ(stepAlongK(kernel), 16u);
  kernel.data.push_back(packingOfB("e2m3", 6));
  kernel.data[1].elementMultiple = 128;
  EXPECT_EQ(stepAlongK(kernel), 128u);
  kernel.scales.resize(1);
  kernel.scales[0].operand = "b";
  kernel.scales[0].block = 32;
  EXPECT_EQ(stepAlongK(kernel), 128u);
  kernel.scales[0].elements = 256;
  EXPECT_EQ(stepAlongK(kernel), 256u);
  kernel.scales.clear();
  kernel.vectorScales.resize(2);
  kernel.vectorScales[0].operand = "a";
  kernel.vectorScales[0].block = 96;
  // Those of the result do not matter.
  kernel.vectorScales[1].operand = "d";
  kernel.vectorScales[1].block = 1024;
  EXPECT_EQ(stepAlongK(kernel), 384u);
}

TEST(Plan, KnowsWhatAddressesAreMultiplesOf) {
  Kernel kernel = makePlan().kernels[0];
  DataPacking data;
  data.operand = "a";
  data.alignment = 32;
  kernel.data = {data};
  kernel.vectorScales = {{"b", "f32", 1, "N", "N", 4}};
  kernel.workspace = {"128", "256", 16, 3};
  EXPECT_EQ(alignmentOf(kernel, "a_data"), 32u);
  EXPECT_EQ(alignmentOf(kernel, "b_scales"), 4u);
  EXPECT_EQ(alignmentOf(kernel, "workspace"), 16u);
  EXPECT_EQ(alignmentOf(kernel, "b_data"), 1u);
}
} // namespace
