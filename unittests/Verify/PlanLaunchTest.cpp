//===- PlanLaunchTest.cpp - from a launch plan to an emulator launch ------===//
//
// Part of the blockscale project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Formats/TextOf.h"
#include "blockscale/Verify/Arguments.h"
#include "blockscale/Verify/Verify.h"

#include <gtest/gtest.h>
#include <set>

using namespace blockscale;
using namespace blockscale::verify;
using blockscale::test::textOf;

namespace {

/// D[m, n] = 3 for a kernel of one thread per element: enough of a plan to see
/// sizes, maps and arguments evaluated.
plan::Kernel smallKernel() {
  plan::Kernel kernel;
  kernel.name = "small";
  kernel.grid = {"min(ceildiv(M, 32), num_sms)", "1", "1"};
  kernel.cluster = {1, 1, 1};
  kernel.block = {32, 1, 1};
  kernel.sharedMemoryBytes = 1024;
  kernel.sizes = {{"M", std::nullopt}, {"N", 8}, {"K", 64}, {"batch", 1}};
  plan::Parameter data;
  data.role = "a_data";
  data.operand = "a";
  data.kind = plan::ParameterKind::TensorMap;
  plan::TensorMap map;
  map.dataType = {"CU_TENSOR_MAP_DATA_TYPE_UINT8", 0};
  map.globalDim = {"64", "M", "1"};
  map.globalStrides = {"64", "M * 64"};
  map.boxDim = {64, 32, 1};
  map.elementStrides = {1, 1, 1};
  map.swizzle = {"CU_TENSOR_MAP_SWIZZLE_64B", 2};
  data.tensorMap = map;
  plan::Parameter d;
  d.role = d.operand = "d";
  d.kind = plan::ParameterKind::Pointer;
  d.type = "f32";
  plan::Parameter size;
  size.role = "size_m";
  size.operand = "M";
  size.type = "i32";
  kernel.parameters = {data, d, size};
  plan::DataPacking a;
  a.operand = "a";
  a.format = "e4m3";
  a.order = "k_major";
  a.bits = 8;
  a.lines = "M";
  a.elements = "64";
  a.linePitch = "64";
  a.batchPitch = "M * 64";
  plan::DataPacking b = a;
  b.operand = "b";
  b.lines = "8";
  b.batchPitch = "512";
  kernel.data = {a, b};
  plan::ScalePacking scales;
  scales.operand = "a";
  scales.format = "ue8m0";
  scales.block = 32;
  scales.layout = "tiled_128x4";
  scales.bytes = "ceildiv(M, 128) * 512";
  plan::ScalePacking scalesB = scales;
  scalesB.operand = "b";
  scalesB.bytes = "512";
  kernel.scales = {scales, scalesB};
  plan::PlainOperand result;
  result.operand = "d";
  result.type = "f32";
  result.elements = "M * 8";
  kernel.operands = {result};
  return kernel;
}

/// Every CTA has an SM.
static constexpr Residency kAll{148, 148};

// Larger clusters do not fill the part: 33 clusters of four CTAs and 15 of
// eight on 148 SMs (counts of public benchmarks, see hw::usableSms).
TEST(PlanLaunch, ClustersThatRunAtOnce) {
  plan::Kernel kernel = smallKernel();
  hw::Part b200 = *hw::parsePart("B200");
  for (auto [extent, clusters] : {std::pair(1, 148), std::pair(2, 74),
                                  std::pair(4, 33), std::pair(8, 15)}) {
    kernel.cluster = {extent, 1, 1};
    EXPECT_EQ(residencyOn(b200, kernel).numSms, 148);
    EXPECT_EQ(residencyOn(b200, kernel).maxClusters, clusters);
  }
  EXPECT_EQ(residencyOn(8, kernel).maxClusters, 1);
  plan::Plan plan;
  plan.target = "sm_120a";
  EXPECT_EQ(residencyOn(plan, kernel)->numSms, 170);
  EXPECT_EQ(textOf(bindSizes(kernel, {{"M", 40}}, residencyOn(7, kernel))),
            "kernel 'small': 7 SMs cannot hold a cluster of 8 CTAs");
}

TEST(PlanLaunch, BindsSizes) {
  plan::Kernel kernel = smallKernel();
  Result<plan::Environment> sizes = bindSizes(kernel, {{"M", 40}}, kAll);
  ASSERT_TRUE(sizes) << textOf(sizes);
  EXPECT_EQ(*sizes, (plan::Environment{{"M", 40},
                                       {"N", 8},
                                       {"K", 64},
                                       {"batch", 1},
                                       {"num_sms", 148},
                                       {"max_clusters", 148}}));
  EXPECT_EQ(textOf(bindSizes(kernel, {}, kAll)),
            "size 'M' of kernel 'small' is dynamic and needs a value");
  EXPECT_EQ(textOf(bindSizes(kernel, {{"M", 0}}, kAll)),
            "size 'M' is 0; expected 1 to 2147483647");
  EXPECT_EQ(textOf(bindSizes(kernel, {{"M", 1}, {"N", 9}}, kAll)),
            "size 'N' of kernel 'small' is 8, not 9");
  EXPECT_EQ(textOf(bindSizes(kernel, {{"Q", 1}}, kAll)),
            "'Q' is not a size of kernel 'small'");
  kernel.sizes.clear();
  EXPECT_EQ(textOf(bindSizes(kernel, {}, kAll)),
            "the plan of kernel 'small' has no size 'M'");
}

TEST(PlanLaunch, KeepsToTheLimitsOfThePlan) {
  plan::Kernel kernel = smallKernel();
  kernel.sizes.at(0).maximum = 5000;
  kernel.limits = {{"M * 64", 256000, "bytes of a stride"}};
  EXPECT_TRUE(bindSizes(kernel, {{"M", 4000}}, kAll));
  EXPECT_EQ(
      textOf(bindSizes(kernel, {{"M", 4001}}, kAll)),
      "kernel 'small' would need 256064 bytes of a stride; at most 256000 "
      "are legal");
  EXPECT_EQ(textOf(bindSizes(kernel, {{"M", 5001}}, kAll)),
            "size 'M' is 5001; expected 1 to 5000");
  kernel.limits = {{"M * 9223372036854775807", 1, "bytes"}};
  EXPECT_FALSE(bindSizes(kernel, {{"M", 2}}, kAll));
}

TEST(PlanLaunch, BuildsTheLaunch) {
  plan::Kernel kernel = smallKernel();
  plan::Environment sizes = *bindSizes(kernel, {{"M", 40}}, kAll);
  Result<Inputs> inputs = makeInputs(kernel, sizes, DataKind::Exact, 1);
  ASSERT_TRUE(inputs) << textOf(inputs);
  EXPECT_EQ(inputs->data.memory.at("a_data").size(), 40u * 64);
  EXPECT_EQ(inputs->data.memory.at("a_scales").size(), 512u);
  EXPECT_EQ(inputs->data.memory.at("d").size(), 40u * 8 * 4);
  HostData data = inputs->data;
  Result<emulator::Launch> launch = buildLaunch(kernel, sizes, data);
  ASSERT_TRUE(launch) << textOf(launch);
  EXPECT_EQ(launch->grid.x, 2u);
  EXPECT_EQ(launch->block.x, 32u);
  EXPECT_EQ(launch->dynamicSharedBytes, 1024u);
  ASSERT_EQ(launch->arguments.size(), 3u);
  const auto &map =
      std::get<emulator::TensorMapArgument>(launch->arguments[0]).map;
  EXPECT_EQ(map.rank, 3u);
  EXPECT_EQ(map.globalDim[1], 40u);
  EXPECT_EQ(map.globalStrides[1], 2560u);
  EXPECT_EQ(map.boxDim[1], 32u);
  EXPECT_EQ(map.swizzle, emulator::Swizzle::B64);
  EXPECT_FALSE(launch->buffers[0].writable);
  EXPECT_TRUE(launch->buffers[1].writable);
  EXPECT_EQ(std::get<std::vector<uint8_t>>(launch->arguments[2]),
            (std::vector<uint8_t>{40, 0, 0, 0}));
}

TEST(PlanLaunch, SaysWhatIsMissing) {
  plan::Kernel kernel = smallKernel();
  plan::Environment sizes = *bindSizes(kernel, {{"M", 40}}, kAll);
  HostData none;
  EXPECT_EQ(textOf(buildLaunch(kernel, sizes, none)),
            "kernel 'small': no data for parameter 'a_data'");
  HostData wrong;
  wrong.memory["a_data"].resize(3);
  EXPECT_EQ(textOf(buildLaunch(kernel, sizes, wrong)),
            "kernel 'small': parameter 'a_data' needs 2560 bytes, found 3");
  kernel.cluster = {2, 1, 1};
  EXPECT_EQ(textOf(bindSizes(kernel, {{"M", 40}}, residencyOn(1, kernel))),
            "kernel 'small': 1 SMs cannot hold a cluster of 2 CTAs");
  EXPECT_EQ(textOf(bindSizes(kernel, {{"M", 40}}, {1, 1})),
            "kernel 'small': 1 SMs cannot hold a cluster of 2 CTAs");
  EXPECT_EQ(textOf(bindSizes(kernel, {{"M", 40}}, residencyOn(0, kernel))),
            "num_sms is 0; expected 1 to 2147483647");
  kernel.scales[0].layout = "plain";
  EXPECT_EQ(textOf(makeInputs(kernel, sizes, DataKind::Exact, 1)),
            "kernel 'small': scales of 'a' in layout 'plain'; expected "
            "'tiled_128x4', 'tiled_128x16' or 'grouped_128x4'");
  kernel.data.clear();
  EXPECT_EQ(textOf(makeInputs(kernel, sizes, DataKind::Exact, 1)),
            "kernel 'small': the plan does not say how operand 'a' is packed");
}

TEST(PlanLaunch, RefusesCodesThatNoDriverHas) {
  plan::Kernel kernel = smallKernel();
  plan::Environment sizes = *bindSizes(kernel, {{"M", 40}}, kAll);
  HostData data = makeInputs(kernel, sizes, DataKind::Exact, 1)->data;
  kernel.parameters[0].tensorMap->oobFill.code = 2;
  EXPECT_EQ(textOf(buildLaunch(kernel, sizes, data)),
            "kernel 'small': tensor map 'a_data': 'oobFill' has code 2; the "
            "driver's codes are 0 to 1");
  kernel.parameters[0].tensorMap->oobFill.code = 0;
  kernel.parameters[0].tensorMap->boxDim[1] = int64_t(1) << 32;
  EXPECT_EQ(textOf(buildLaunch(kernel, sizes, data)),
            "kernel 'small': tensor map 'a_data': a box extent or element "
            "stride of 4294967296");
}

TEST(PlanLaunch, TensorScalesAreOneForEachMatrix) {
  plan::Kernel kernel = smallKernel();
  kernel.sizes[3].value = 3;
  plan::Parameter scale;
  scale.role = "a_tensor_scale";
  scale.operand = "a";
  scale.kind = plan::ParameterKind::Pointer;
  kernel.parameters.push_back(scale);
  plan::Environment sizes = *bindSizes(kernel, {{"M", 40}}, kAll);
  EXPECT_EQ(textOf(memoryBytes(kernel, scale, sizes)),
            "the plan does not say what parameter 'a_tensor_scale' points to");
  kernel.tensorScales = {{"a", "batch", 4}};
  EXPECT_EQ(*memoryBytes(kernel, scale, sizes), 12u);
}

TEST(PlanLaunch, ScalesThatCoverKAreNumbers) {
  plan::Kernel kernel = smallKernel();
  kernel.sizes[3].value = 3;
  plan::Parameter scale;
  scale.role = "a_scales";
  scale.operand = "a";
  scale.kind = plan::ParameterKind::Pointer;
  kernel.parameters.push_back(scale);
  plan::Environment sizes = *bindSizes(kernel, {{"M", 40}}, kAll);
  plan::VectorScales vector{
      "a", "f32", 16, "ceildiv(M, 16)", "ceildiv(M, 16) * batch", 4};
  kernel.vectorScales = {vector};
  EXPECT_EQ(*memoryBytes(kernel, scale, sizes), 36u);
  for (auto [format, bytes] :
       {std::pair("f16", 18u), {"bf16", 18u}, {"ue8m0", 9u}}) {
    kernel.vectorScales[0].format = format;
    EXPECT_EQ(*memoryBytes(kernel, scale, sizes), bytes);
  }
  kernel.vectorScales[0].format = "f64";
  EXPECT_EQ(textOf(memoryBytes(kernel, scale, sizes)),
            "parameter 'a_scales' of type 'f64'");
}

constexpr const char *kNothing = R"(
.version 8.8
.target sm_100a
.address_size 64
.visible .entry small(.param .align 128 .b8 a[128], .param .u64 d,
                      .param .u32 m)
{
  ret;
}
)";

TEST(Verify, AKernelThatWritesNothingFails) {
  emulator::ParseResult ptx = emulator::parsePtx(kNothing);
  ASSERT_TRUE(ptx);
  plan::Kernel kernel = smallKernel();
  plan::Environment sizes = *bindSizes(kernel, {{"M", 40}}, kAll);
  for (DataKind kind : {DataKind::Exact, DataKind::Random}) {
    Verdict verdict = verifyKernel(*ptx.module, kernel, sizes, kind, {});
    EXPECT_FALSE(verdict.why);
    EXPECT_EQ(verdict.unwritten, 320u);
    EXPECT_EQ(verdict.comparison.mismatches, 320u);
    EXPECT_FALSE(verdict.passed());
    std::string table = printVerdicts({verdict});
    EXPECT_NE(table.find("FAIL"), std::string::npos) << table;
    EXPECT_EQ(table.find("pass"), std::string::npos) << table;
  }
  VerifyOptions sample;
  sample.sampleClusters = 1;
  Verdict verdict =
      verifyKernel(*ptx.module, kernel, sizes, DataKind::Exact, sample);
  EXPECT_EQ(verdict.clustersRun, 1u);
  EXPECT_EQ(verdict.clusters, 2u);
  EXPECT_FALSE(verdict.passed());
}

TEST(Verify, ThePtxHasTheParametersOfThePlan) {
  emulator::ParseResult ptx = emulator::parsePtx(kNothing);
  ASSERT_TRUE(ptx);
  plan::Kernel kernel = smallKernel();
  const uint64_t places[][3] = {{0, 128, 128}, {128, 8, 8}, {136, 4, 4}};
  for (size_t i = 0; i < 3; ++i) {
    kernel.parameters[i].offset = places[i][0];
    kernel.parameters[i].size = places[i][1];
    kernel.parameters[i].alignment = places[i][2];
  }
  EXPECT_EQ(whyNotParameters(kernel, *ptx.module), std::nullopt);
  kernel.parameters[2].offset = 140;
  EXPECT_EQ(textOf(whyNotParameters(kernel, *ptx.module)),
            "kernel 'small': parameter 'size_m' has offset 140 in the plan and "
            "136 in the PTX");
  kernel.parameters[2].offset = 136;
  kernel.parameters[0].alignment = 64;
  EXPECT_EQ(textOf(whyNotParameters(kernel, *ptx.module)),
            "kernel 'small': parameter 'a_data' has alignment 64 in the plan, "
            "less than the 128 of the PTX");
  kernel.parameters.pop_back();
  EXPECT_EQ(textOf(whyNotParameters(kernel, *ptx.module)),
            "kernel 'small': the plan has 2 parameters, the PTX has 3");
  kernel.name = "other";
  EXPECT_EQ(textOf(whyNotParameters(kernel, *ptx.module)),
            "the PTX has no kernel 'other'");
}

TEST(Inputs, HarshConditionsAreWhatThePlanAllows) {
  plan::Kernel kernel = smallKernel();
  kernel.data[0].alignment = kernel.data[1].alignment = 16;
  for (plan::ScalePacking &scales : kernel.scales) {
    scales.alignment = 32;
    scales.largestPaddingValue = 127;
  }
  kernel.operands[0].alignment = 4;
  plan::Environment sizes = *bindSizes(kernel, {{"M", 40}}, kAll);
  Result<Inputs> plain = makeInputs(kernel, sizes, DataKind::Exact, 1);
  Result<Inputs> harsh =
      makeInputs(kernel, sizes, DataKind::Exact, 1, Conditions::Harsh);
  ASSERT_TRUE(harsh) << textOf(harsh);
  EXPECT_TRUE(plain->data.offsets.empty());
  EXPECT_EQ(harsh->data.offsets,
            (std::map<std::string, uint64_t>{{"a_data", 16},
                                             {"a_scales", 32},
                                             {"b_data", 16},
                                             {"b_scales", 32},
                                             {"d", 4}}));
  // One scale of one row of A is NaN, all else is as it was.
  const std::vector<uint8_t> &before = plain->problem.a.scales;
  const std::vector<uint8_t> &after = harsh->problem.a.scales;
  size_t changed = 0;
  for (size_t i = 0; i < before.size(); ++i)
    if (before[i] != after[i]) {
      ++changed;
      EXPECT_EQ(after[i], 0xff);
    }
  EXPECT_EQ(changed, 1u);
  EXPECT_EQ(plain->problem.b.scales, harsh->problem.b.scales);
  // 40 of 128 rows with 2 of 4 scales are owned; the rest is padding.
  const std::vector<uint8_t> &tiled = harsh->data.memory.at("a_scales");
  ASSERT_EQ(tiled.size(), 512u + 32);
  std::set<uint8_t> padding;
  for (size_t i = 0; i < 512; ++i) {
    size_t row = i % 16 / 4 * 32 + i / 16, block = i % 4;
    if (row >= 40 || block >= 2)
      padding.insert(tiled[32 + i]);
    else
      EXPECT_EQ(tiled[32 + i], after[row * 2 + block]);
  }
  EXPECT_GT(padding.size(), 100u);
  EXPECT_LE(*padding.rbegin(), 127);
}

TEST(Verify, HarshConditionsGiveEachCtaFiveTiles) {
  emulator::ParseResult ptx = emulator::parsePtx(kNothing);
  ASSERT_TRUE(ptx);
  plan::Kernel kernel = smallKernel();
  VerifyOptions options;
  options.conditions = Conditions::Harsh;
  // 11 tiles of 32 rows.
  plan::Environment sizes = *bindSizes(kernel, {{"M", 352}}, kAll);
  EXPECT_EQ(verifyKernel(*ptx.module, kernel, sizes, DataKind::Exact, options)
                .clusters,
            2u);
  options.conditions = Conditions::Plain;
  EXPECT_EQ(verifyKernel(*ptx.module, kernel, sizes, DataKind::Exact, options)
                .clusters,
            11u);
}

TEST(Arguments, ReadsEachKind) {
  EXPECT_EQ(std::get<std::vector<uint8_t>>(parseArgument("i32:-2")->argument),
            (std::vector<uint8_t>{0xfe, 0xff, 0xff, 0xff}));
  EXPECT_EQ(std::get<std::vector<uint8_t>>(parseArgument("u64:0x10")->argument),
            (std::vector<uint8_t>{0x10, 0, 0, 0, 0, 0, 0, 0}));
  EXPECT_EQ(std::get<std::vector<uint8_t>>(parseArgument("f32:1")->argument),
            (std::vector<uint8_t>{0, 0, 0x80, 0x3f}));
  Result<TextArgument> out = parseArgument("out:f4:3x2");
  ASSERT_TRUE(out) << textOf(out);
  EXPECT_EQ(out->array->data.size(), 24u);
  EXPECT_TRUE(out->writable);
}

TEST(Arguments, ReadsTensorMaps) {
  std::string path = testing::TempDir() + "/blockscale-arguments.npy";
  packing::NpyArray array{
      packing::NpyType::U8, {8, 64}, std::vector<uint8_t>(512)};
  ASSERT_EQ(packing::writeNpy(path, array), std::nullopt);
  Result<TextArgument> argument = parseArgument(
      "map:" + path + ":type=u8,dims=64x8,strides=64,box=64x4,swizzle=64B");
  ASSERT_TRUE(argument) << textOf(argument);
  const auto &map =
      std::get<emulator::TensorMapArgument>(argument->argument).map;
  EXPECT_EQ(map.rank, 2u);
  EXPECT_EQ(map.globalDim[1], 8u);
  EXPECT_EQ(map.boxDim[1], 4u);
  EXPECT_EQ(map.globalStrides[0], 64u);
  EXPECT_EQ(map.swizzle, emulator::Swizzle::B64);
  EXPECT_EQ(textOf(parseArgument("map:" + path + ":type=u8,dims=64,box=64x4")),
            "a tensor map needs 'type', 'dims', one stride fewer, and a 'box' "
            "of as many dimensions");
  EXPECT_EQ(textOf(parseArgument("map:" + path + ":type=u9")),
            "'u9' is no value for 'type'");
  EXPECT_EQ(textOf(parseArgument("map:" + path + ":box=99999999999")),
            "'99999999999' is no value for 'box'");
  EXPECT_EQ(textOf(parseArgument("map:" + path + ":size=1")),
            "unknown field 'size' of a tensor map");
  std::remove(path.c_str());
}

TEST(Arguments, RefusesTheRest) {
  EXPECT_EQ(textOf(parseArgument("i32:5000000000")),
            "'5000000000' is not an integer of 32 bits");
  EXPECT_EQ(textOf(parseArgument("f32:x")), "'x' is not a number");
  EXPECT_EQ(textOf(parseArgument("out:q9:3")), "unknown element type 'q9'");
  EXPECT_EQ(textOf(parseArgument("out:f4:3y")),
            "'3y' is not a shape such as '16x8'");
  EXPECT_EQ(textOf(parseArgument("out:f4:99999999999x99999999999")),
            "shape '99999999999x99999999999' is empty or larger than 2^40 "
            "bytes");
  EXPECT_EQ(textOf(parseArgument("5")),
            "argument '5' does not start with i32:, u32:, i64:, u64:, f32:, "
            "in:, inout:, out: or map:");
  EXPECT_EQ(textOf(parseArgument("in:/nowhere.npy")),
            "'/nowhere.npy': cannot be opened");
  EXPECT_EQ(parseDim3("4,2")->y, 2u);
  EXPECT_EQ(parseDim3("4")->z, 1u);
  EXPECT_EQ(textOf(parseDim3("4,0")),
            "'4,0' is not one to three extents such as '8,1,1'");
  EXPECT_EQ(textOf(parseDim3("1,2,3,4")),
            "'1,2,3,4' is not one to three extents such as '8,1,1'");
}

} // namespace
