//===- ReportTest.cpp - the report as JSON and text -----------------------===//
//
// Part of the blockscale project, under the Apache License v2.0 with LLVM
// Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "blockscale/Target/PTX/Report.h"
#include "llvm/Support/JSON.h"
#include "gtest/gtest.h"

using namespace blockscale;

namespace {

Report makeReport() {
  KernelReport kernel;
  kernel.name = "proj";
  kernel.kind = "mxf4nvf4";
  kernel.tileM = 128;
  kernel.tileN = 240;
  kernel.tileK = 256;
  kernel.mmasPerKTile = 4;
  kernel.copiesPerKTile = 12;
  kernel.stages = 5;
  kernel.accumulators = 2;
  kernel.sharedMemoryBytes = 209714;
  kernel.sharedMemoryLimitBytes = 232448;
  kernel.sharedMemory = {{"a", 0, 81920}, {"b", 81920, 76800, 5, 15360}};
  kernel.ctaGroup = 2;
  kernel.block = 16;
  kernel.tensorMemoryColumns = 512;
  kernel.tensorMemory = {{"accumulator 0", 0, 240}};
  kernel.flopsPerByte = 123.45;
  kernel.mmaCyclesPerKTile = 512;
  kernel.loadCyclesPerKTile = 300.4;
  Report report;
  report.target = "sm_103a";
  report.kernels.push_back(kernel);
  return report;
}

TEST(Report, PrintsTextWithoutResources) {
  EXPECT_EQ(printReportText(makeReport()),
            "proj for sm_103a\n"
            "  tile                128 x 240 x 256, mxf4nvf4\n"
            "  per K tile          4 MMAs, 12 scale copies\n"
            "  stages              5\n"
            "  accumulators        2\n"
            "  intensity           123.5 FLOP per byte\n"
            "  predicted bound     tensor core (estimate per K tile: 512 "
            "cycles of MMA, 300 of loads)\n"
            "  shared memory       209714 of 232448 bytes (90 %)\n"
            "    [     0,  81920) a\n"
            "    [ 81920, 158720) b\n"
            "  tensor memory       512 columns\n"
            "    [     0,    240) accumulator 0\n"
            "  not assembled: no registers and spills to report\n");
}

TEST(Report, PrintsJSONThatReadsBack) {
  Report report = makeReport();
  PtxasFunctionInfo other, own;
  other.name = "other";
  other.registers = 1;
  own.name = "proj";
  own.registers = 168;
  own.barriers = 2;
  own.stackBytes = 16;
  own.spillStoreBytes = 24;
  own.spillLoadBytes = 32;
  own.sharedBytes = 64;
  addResources(report, {other, own});
  auto value = llvm::json::parse(printReportJSON(report));
  ASSERT_TRUE(bool(value)) << llvm::toString(value.takeError());
  const llvm::json::Object &object = *value->getAsObject();
  EXPECT_EQ(object.getInteger("version"), 1);
  EXPECT_EQ(object.getString("target"), llvm::StringRef("sm_103a"));
  ASSERT_EQ(object.getArray("kernels")->size(), 1u);
  const llvm::json::Object &kernel =
      *(*object.getArray("kernels"))[0].getAsObject();
  EXPECT_EQ(kernel.getString("name"), llvm::StringRef("proj"));
  EXPECT_EQ(kernel.getInteger("tile_n"), 240);
  EXPECT_EQ(kernel.getInteger("mmas_per_k_tile"), 4);
  EXPECT_EQ(kernel.getInteger("copies_per_k_tile"), 12);
  EXPECT_EQ(kernel.getInteger("shared_memory_bytes"), 209714);
  EXPECT_EQ(kernel.getInteger("registers"), 168);
  EXPECT_EQ(kernel.getInteger("barriers"), 2);
  EXPECT_EQ(kernel.getInteger("stack_bytes"), 16);
  EXPECT_EQ(kernel.getInteger("spill_store_bytes"), 24);
  EXPECT_EQ(kernel.getInteger("spill_load_bytes"), 32);
  EXPECT_EQ(kernel.getInteger("static_shared_bytes"), 64);
  const llvm::json::Object &region =
      *(*kernel.getArray("shared_memory"))[1].getAsObject();
  EXPECT_EQ(region.getString("name"), llvm::StringRef("b"));
  EXPECT_EQ(region.getInteger("offset"), 81920);
  EXPECT_EQ(region.getInteger("size"), 76800);
  EXPECT_EQ(region.getInteger("copies"), 5);
  EXPECT_EQ(region.getInteger("stride"), 15360);
  EXPECT_EQ(kernel.getInteger("cta_group"), 2);
  EXPECT_EQ(kernel.getInteger("block"), 16);
  EXPECT_EQ(kernel.getBoolean("sparse"), false);
}

TEST(Report, HasNullWhereNothingWasAssembled) {
  auto value = llvm::json::parse(printReportJSON(makeReport()));
  ASSERT_TRUE(bool(value)) << llvm::toString(value.takeError());
  const llvm::json::Object &kernel =
      *(*value->getAsObject()->getArray("kernels"))[0].getAsObject();
  // Not getNull(): GCC and clang return an optional of nullptr_t in different
  // places.
  for (const char *name : {"registers", "spill_store_bytes"}) {
    const llvm::json::Value *field = kernel.get(name);
    ASSERT_NE(field, nullptr) << name;
    EXPECT_EQ(field->kind(), llvm::json::Value::Null) << name;
  }
}

} // namespace
