//===- PlanTest.cpp - tests of launch plans in JSON -----------------------===//
//
// Part of the blockscale project, under the Apache License v2.0 with LLVM
// Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "blockscale/Plan/Plan.h"
#include "Formats/TextOf.h"
#include "blockscale/Plan/Sizes.h"
#include <gtest/gtest.h>

using namespace blockscale;
using namespace blockscale::plan;
using blockscale::test::textOf;

namespace {
Plan makePlan() {
  Parameter map;
  map.role = "a_data";
  map.operand = "a";
  map.kind = ParameterKind::TensorMap;
  map.type = "tensor_map";
  map.size = 128;
  map.alignment = 64;
  TensorMap described;
  described.dataType = {"CU_TENSOR_MAP_DATA_TYPE_UINT8", 0};
  described.globalDim = {"4096", "M"};
  described.globalStrides = {"4096"};
  described.boxDim = {128, 128};
  described.elementStrides = {1, 1};
  described.interleave = {"none", 0};
  described.swizzle = {"s", 3};
  described.l2Promotion = {"l", 2};
  described.oobFill = {"z", 0};
  map.tensorMap = described;
  Parameter size;
  size.role = "size_m";
  size.operand = "M";
  size.type = "i32";
  size.offset = 128;
  size.size = size.alignment = 4;
  Kernel kernel;
  kernel.name = "proj";
  kernel.sourceFunction = "proj";
  kernel.grid = {"min(ceildiv(M, 128), num_sms)", "1", "1"};
  kernel.cluster = {2, 1, 1};
  kernel.dependentLaunch = true;
  kernel.block = {192, 1, 1};
  kernel.sharedMemoryBytes = 230400;
  kernel.sizes = {
      {"M", std::nullopt, 2000000000}, {"N", 64}, {"K", 4096}, {"batch", 1}};
  kernel.limits = {{"M * 4096", 1099511627775, "bytes of a stride"}};
  kernel.conditions = {"M % 8 == 0"};
  kernel.parameters = {map, size};
  Step launch{"blockscale.launch",
              "proj",
              {{"a", "%arg0", std::nullopt}, {"alpha", "", 0.5}},
              {"%0"},
              "%0 = blockscale.launch",
              "proj.mlir:3:8"};
  Step duty{"arith.negf", std::nullopt,         {{"", "%0", std::nullopt}},
            {"%1"},       "%1 = arith.negf %0", ""};
  Function function{"proj", {{"%arg0", "f32"}}, {launch, duty}, {"%1"}};
  return {"sm_100a", {kernel}, {function}};
}

std::string replaced(std::string text, const std::string &from,
                     const std::string &to) {
  size_t at = text.find(from);
  if (at == std::string::npos) {
    ADD_FAILURE() << "no '" << from << "' in the plan";
    return text;
  }
  return text.replace(at, from.size(), to);
}

std::string errorOf(const std::string &text) {
  Result<Plan> plan = parsePlan(text);
  return plan ? "no error" : textOf(plan);
}

TEST(Plan, ComesBackFromItsText) {
  std::string text = printPlan(makePlan());
  Result<Plan> plan = parsePlan(text);
  ASSERT_TRUE(bool(plan)) << textOf(plan);
  const Kernel &kernel = plan->kernels.at(0);
  EXPECT_EQ(kernel.sharedMemoryBytes, 230400u);
  EXPECT_EQ(kernel.cluster.at(0), 2);
  EXPECT_TRUE(kernel.dependentLaunch);
  EXPECT_EQ(kernel.grid[0], "min(ceildiv(M, 128), num_sms)");
  EXPECT_EQ(kernel.sizes.at(0).value, std::nullopt);
  EXPECT_EQ(kernel.sizes.at(2).value, 4096);
  EXPECT_EQ(kernel.parameters.at(0).tensorMap->swizzle.code, 3);
  EXPECT_EQ(kernel.parameters.at(0).kind, ParameterKind::TensorMap);
  EXPECT_EQ(kernel.parameters.at(1).kind, ParameterKind::Scalar);
  EXPECT_EQ(kernel.parameters.at(1).offset, 128u);
  EXPECT_EQ(kernel.sizes.at(0).maximum, 2000000000);
  EXPECT_EQ(kernel.sizes.at(1).maximum, kMaxSize);
  EXPECT_EQ(kernel.limits.at(0).value, "M * 4096");
  EXPECT_EQ(kernel.limits.at(0).maximum, 1099511627775);
  EXPECT_EQ(kernel.limits.at(0).what, "bytes of a stride");
  const Function &function = plan->functions.at(0);
  EXPECT_EQ(function.arguments.at(0).name, "%arg0");
  EXPECT_EQ(function.steps.at(0).kernel, "proj");
  EXPECT_EQ(function.steps.at(0).operands.at(0).value, "%arg0");
  EXPECT_EQ(function.steps.at(0).operands.at(0).constant, std::nullopt);
  EXPECT_EQ(function.steps.at(0).operands.at(1).constant, 0.5);
  EXPECT_EQ(function.steps.at(1).kernel, std::nullopt);
  EXPECT_EQ(function.results.at(0), "%1");
  EXPECT_EQ(printPlan(*plan), text);
}

TEST(Plan, KnowsFixedOperands) {
  Plan plan = makePlan();
  EXPECT_EQ(fixedOperand(plan, "proj", "alpha"), 0.5);
  EXPECT_EQ(fixedOperand(plan, "proj", "a"), std::nullopt);
  EXPECT_EQ(fixedOperand(plan, "proj", "beta"), std::nullopt);
  EXPECT_EQ(fixedOperand(plan, "other", "alpha"), std::nullopt);
  // Two launches with one constant, then with two, then with a value.
  std::vector<Step> &steps = plan.functions.at(0).steps;
  steps.push_back(steps.at(0));
  EXPECT_EQ(fixedOperand(plan, "proj", "alpha"), 0.5);
  steps.at(2).operands.at(1).constant = 2.0;
  EXPECT_EQ(fixedOperand(plan, "proj", "alpha"), std::nullopt);
  steps.at(2).operands.at(1) = {"alpha", "%arg1", std::nullopt};
  EXPECT_EQ(fixedOperand(plan, "proj", "alpha"), std::nullopt);
}

// The key is there for pairs of columns only.
TEST(Plan, SaysThatColumnsArePairs) {
  Plan plan = makePlan();
  std::string plain = printPlan(plan);
  EXPECT_EQ(plain.find("\"pairs\""), std::string::npos);
  EXPECT_FALSE(parsePlan(plain)->kernels[0].epilogue.pairs);
  plan.kernels[0].epilogue.pairs = true;
  EXPECT_TRUE(parsePlan(printPlan(plan))->kernels[0].epilogue.pairs);
}

// The key is there for CTAs that wait for each other only.
TEST(Plan, SaysThatALaunchIsCooperative) {
  Plan plan = makePlan();
  std::string plain = printPlan(plan);
  EXPECT_EQ(plain.find("\"cooperative\""), std::string::npos);
  EXPECT_FALSE(parsePlan(plain)->kernels[0].cooperative);
  plan.kernels[0].cooperative = true;
  EXPECT_TRUE(parsePlan(printPlan(plan))->kernels[0].cooperative);
}

// Plans before sm_107 do not have the key.
TEST(Plan, SaysWhereSharedMemoryIsOversized) {
  Plan plan = makePlan();
  std::string standard = printPlan(plan);
  EXPECT_EQ(standard.find("oversizedSharedMemory"), std::string::npos);
  EXPECT_FALSE(parsePlan(standard)->kernels[0].oversizedSharedMemory);
  plan.kernels[0].oversizedSharedMemory = true;
  std::string text = printPlan(plan);
  EXPECT_NE(text.find("\"sharedMemoryBytes\": 230400,\n      "
                      "\"oversizedSharedMemory\": true,"),
            std::string::npos);
  EXPECT_TRUE(parsePlan(text)->kernels[0].oversizedSharedMemory);
  EXPECT_EQ(errorOf(replaced(text, "Memory\": true", "Memory\": 3")),
            "launch plan: 'kernels[0].oversizedSharedMemory': is not true or "
            "false");
}

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
  auto read = parsePlan(text);
  ASSERT_TRUE(read) << textOf(read);
  EXPECT_EQ(read->kernels[0].scales[0].rows, 1u);
  EXPECT_EQ(read->kernels[0].scales[0].ownBlock(), 32u);

  plan.kernels[0].scales[0].rows = 0;
  plan.kernels[0].scales[0].elements = 128;
  text = printPlan(plan);
  read = parsePlan(text);
  ASSERT_TRUE(read) << textOf(read);
  EXPECT_EQ(read->kernels[0].scales[0].rows, 0u);
  EXPECT_EQ(read->kernels[0].scales[0].ownBlock(), 128u);
  EXPECT_EQ(printPlan(*read), text);
  EXPECT_EQ(errorOf(replaced(text, "\"rows\": 0", "\"rows\": -1")),
            "launch plan: 'kernels[0].scales[0].rows': -1 is out of range; "
            "expected 0 to 2147483647");
  EXPECT_EQ(
      errorOf(replaced(text, "\"elements\": 128", "\"elements\": 48")),
      "launch plan: 'kernels[0].scales[0]': has 'elements' of 48; expected "
      "a multiple of 'block', 32");
}

// Elements that are packed as those of another format; others do not have the
// key.
TEST(Plan, SaysOfWhichElementsOnesAreMade) {
  Plan plan = makePlan();
  DataPacking data;
  data.operand = "b";
  data.format = "e2m3";
  data.bits = 6;
  data.elementMultiple = data.alignment = 1;
  data.lines = data.elements = data.linePitch = data.batchPitch = "1";
  plan.kernels[0].data = {data};
  EXPECT_EQ(printPlan(plan).find("\"source\""), std::string::npos);
  plan.kernels[0].data[0].source = {"int2", {0, 8, -1, 40}};
  std::string text = printPlan(plan);
  auto read = parsePlan(text);
  ASSERT_TRUE(read) << textOf(read);
  ASSERT_TRUE(read->kernels[0].data[0].source);
  EXPECT_EQ(read->kernels[0].data[0].source->format, "int2");
  EXPECT_EQ(read->kernels[0].data[0].source->codes,
            (std::vector<int64_t>{0, 8, -1, 40}));
  EXPECT_EQ(printPlan(*read), text);
  EXPECT_EQ(errorOf(replaced(text, "-1,", "")),
            "launch plan: 'kernels[0].data[0].source': has 3 'codes'; expected "
            "one for each code of the source, a power of two up to 512");
  EXPECT_EQ(errorOf(replaced(text, "-1,", "-2,")),
            "launch plan: 'kernels[0].data[0].source.codes[2]': -2 is out of "
            "range; expected -1 to 65535");
}

TEST(Plan, SaysHowZeroPointsLie) {
  Plan plan = makePlan();
  DataPacking data;
  data.operand = "b";
  data.format = "e4m3";
  data.bits = 8;
  data.elementMultiple = data.alignment = 1;
  data.lines = data.elements = data.linePitch = data.batchPitch = "1";
  data.source = {"uint1", {184, 0, 56, 64}, {}};
  plan.kernels[0].data = {data};
  EXPECT_EQ(printPlan(plan).find("\"zeros\""), std::string::npos);
  plan.kernels[0].data[0].source->zeros = {5, 0, 128};
  std::string text = printPlan(plan);
  auto read = parsePlan(text);
  ASSERT_TRUE(read) << textOf(read);
  const std::optional<ZeroPoints> &zeros =
      read->kernels[0].data[0].source->zeros;
  ASSERT_TRUE(zeros);
  EXPECT_EQ(zeros->bits, 5u);
  EXPECT_EQ(zeros->rows, 0u);
  EXPECT_EQ(zeros->block, 128u);
  EXPECT_EQ(printPlan(*read), text);
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
  auto read = parsePlan(text);
  ASSERT_TRUE(read) << read.why().text;
  EXPECT_EQ(read->kernels[0].vectorScales[0].block, 128u);
  EXPECT_EQ(read->kernels[0].vectorScales[1].block, 0u);
  EXPECT_EQ(printPlan(*read), text);
}

// Plans of kernels that multiply do not have the key.
TEST(Plan, SaysWhatIsConverted) {
  Plan plan = makePlan();
  EXPECT_EQ(printPlan(plan).find("conversion"), std::string::npos);
  plan.kernels[0].conversion = Conversion{"dequantize"};
  std::string text = printPlan(plan);
  auto read = parsePlan(text);
  ASSERT_TRUE(read) << read.why().text;
  ASSERT_TRUE(read->kernels[0].conversion);
  EXPECT_EQ(read->kernels[0].conversion->op, "dequantize");
  EXPECT_EQ(printPlan(*read), text);
  EXPECT_EQ(text.find("keep"), std::string::npos);
}

TEST(Plan, SaysWhatIsPruned) {
  Plan plan = makePlan();
  plan.kernels[0].conversion = Conversion{"prune", 4, 8, true};
  std::string text = printPlan(plan);
  auto read = parsePlan(text);
  ASSERT_TRUE(read) << read.why().text;
  const Conversion &conversion = *read->kernels[0].conversion;
  EXPECT_EQ(conversion.keep, 4u);
  EXPECT_EQ(conversion.group, 8u);
  EXPECT_TRUE(conversion.pairs);
  EXPECT_EQ(printPlan(*read), text);
  EXPECT_EQ(text.find("mnMajor"), std::string::npos);
  EXPECT_EQ(text.find("sparse"), std::string::npos);
}

TEST(Plan, SaysHowElementsLieThatARelayoutMayLeave) {
  Plan plan = makePlan();
  plan.kernels[0].conversion = Conversion{"relayout"};
  plan.kernels[0].conversion->mnMajor = true;
  plan.kernels[0].conversion->sparse = true;
  std::string text = printPlan(plan);
  auto read = parsePlan(text);
  ASSERT_TRUE(read) << read.why().text;
  EXPECT_TRUE(read->kernels[0].conversion->mnMajor);
  EXPECT_TRUE(read->kernels[0].conversion->sparse);
  EXPECT_EQ(printPlan(*read), text);
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
  auto read = parsePlan(text);
  ASSERT_TRUE(read);
  ASSERT_EQ(read->kernels[0].vectorScales.size(), 2u);
  const VectorScales &second = read->kernels[0].vectorScales[1];
  EXPECT_EQ(second.operand, "b");
  EXPECT_EQ(second.format, "ue8m0");
  EXPECT_EQ(second.rows, 0u);
  EXPECT_EQ(second.matrixElements, "1");
  EXPECT_EQ(second.elements, "batch");
  EXPECT_EQ(second.alignment, 1u);
  EXPECT_EQ(printPlan(*read), text);
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
  auto read = parsePlan(text);
  ASSERT_TRUE(read);
  const ZeroTerms &terms = read->kernels[0].zeroTerms.at(0);
  EXPECT_EQ(terms.operand, "b");
  EXPECT_EQ(terms.format, "f16");
  EXPECT_EQ(terms.rows, 4u);
  EXPECT_EQ(terms.block, 128u);
  EXPECT_EQ(terms.first, "1");
  EXPECT_EQ(terms.count, "ceildiv(K, 128)");
  EXPECT_EQ(printPlan(*read), text);
  EXPECT_EQ(errorOf(replaced(text, "\"first\": \"1\"", "\"first\": \"Q\"")),
            "launch plan: 'kernels[0].zeroTerms[0].first': unknown name 'Q' in "
            "expression 'Q'");
}

// Plans of kernels without one do not have the key.
TEST(Plan, SaysHowMuchWorkspaceThereIs) {
  Plan plan = makePlan();
  EXPECT_EQ(printPlan(plan).find("workspace"), std::string::npos);
  Parameter pointer;
  pointer.role = pointer.operand = "workspace";
  pointer.kind = ParameterKind::Pointer;
  pointer.type = "f32";
  pointer.offset = 136;
  pointer.size = pointer.alignment = 8;
  plan.kernels[0].parameters.push_back(pointer);
  plan.kernels[0].workspace = {"128", "128 + ceildiv(M, 128) * 65536", 16, 3};
  std::string text = printPlan(plan);
  auto read = parsePlan(text);
  ASSERT_TRUE(read);
  const Kernel &kernel = read->kernels[0];
  ASSERT_TRUE(kernel.workspace);
  EXPECT_EQ(kernel.workspace->zeroBytes, "128");
  EXPECT_EQ(kernel.workspace->bytes, "128 + ceildiv(M, 128) * 65536");
  EXPECT_EQ(kernel.workspace->alignment, 16u);
  EXPECT_EQ(kernel.workspace->parts, 3u);
  EXPECT_EQ(printPlan(*read), text);
  auto bytes = memoryBytes(kernel, kernel.parameters.back(),
                           {{"M", 129}, {"N", 64}, {"K", 4096}, {"batch", 1}});
  ASSERT_TRUE(bytes);
  EXPECT_EQ(*bytes, 131200u);

  EXPECT_EQ(
      errorOf(replaced(text, "\"role\": \"workspace\"", "\"role\": \"work\"")),
      "launch plan: kernel 'proj': a 'workspace' and a parameter of that "
      "role belong together");
  EXPECT_EQ(errorOf(replaced(text, "\"zeroBytes\": \"128\"",
                             "\"zeroBytes\": \"128 +\"")),
            "launch plan: 'kernels[0].workspace.zeroBytes': unexpected end in "
            "expression '128 +'");
  auto more = parsePlan(
      replaced(text, "\"zeroBytes\": \"128\"", "\"zeroBytes\": \"M * M\""));
  ASSERT_TRUE(more);
  auto refused = memoryBytes(more->kernels[0], kernel.parameters.back(),
                             {{"M", 1000}, {"N", 64}, {"K", 8}, {"batch", 1}});
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.why().text,
            "a workspace of 524416 bytes, of which 1000000 are zero");
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

TEST(Plan, NamesWhatIsWrong) {
  std::string text = printPlan(makePlan());
  EXPECT_EQ(errorOf(replaced(text, "\"version\": 3", "\"version\": 1")),
            "launch plan: 'plan': version 1 is not 3, the one known here");
  EXPECT_EQ(errorOf(replaced(text, "\"target\"", "\"chip\"")),
            "launch plan: 'target': is missing");
  EXPECT_EQ(errorOf(replaced(text, "230400", "-1")),
            "launch plan: 'kernels[0].sharedMemoryBytes': -1 is out of range; "
            "expected 0 to 4294967295");
  EXPECT_EQ(errorOf(replaced(text, "num_sms)", "num_sms")),
            "launch plan: 'kernels[0].grid[0]': expected ')' in expression "
            "'min(ceildiv(M, 128), num_sms'");
  EXPECT_EQ(errorOf(replaced(text, "\"tensorMap\",", "\"pointer\",")),
            "launch plan: kernel 'proj': parameter 'a_data' has no place for "
            "a 'tensorMap'");
  EXPECT_EQ(errorOf(replaced(text, "\"scalar\"", "\"vector\"")),
            "launch plan: 'kernels[0].parameters[1].kind': 'vector' is not "
            "'tensorMap', 'pointer' or 'scalar'");
  EXPECT_EQ(errorOf("[]"), "launch plan: not a JSON object");
  EXPECT_EQ(errorOf("{"),
            "launch plan: parse error at line 1, column 2: syntax error while "
            "parsing object key - unexpected end of input; expected string "
            "literal");
}

TEST(Plan, ConditionsCompare) {
  std::string text = printPlan(makePlan());
  EXPECT_NE(text.find("\"conditions\": [\n        \"M % 8 == 0\"\n"),
            std::string::npos);
  EXPECT_NE(
      errorOf(replaced(text, "M % 8 == 0", "M % 8")).find("conditions[0]"),
      std::string::npos);
  EXPECT_NE(
      errorOf(replaced(text, "M % 8 == 0", "X == 0")).find("conditions[0]"),
      std::string::npos);
}

TEST(Plan, RefusesNumbersOutOfRange) {
  std::string text = printPlan(makePlan());
  EXPECT_EQ(errorOf(replaced(text, "\"code\": 3", "\"code\": 99")),
            "launch plan: 'kernels[0].parameters[0].tensorMap.swizzle.code': "
            "99 is out of range; expected 0 to 15");
  EXPECT_EQ(errorOf(replaced(text, "\"code\": 3", "\"code\": -1")),
            "launch plan: 'kernels[0].parameters[0].tensorMap.swizzle.code': "
            "-1 is out of range; expected 0 to 15");
  EXPECT_EQ(errorOf(replaced(text, "230400", "9223372036854775808")),
            "launch plan: 'kernels[0].sharedMemoryBytes': 9223372036854775808 "
            "is out of range; expected 0 to 4294967295");
  EXPECT_EQ(errorOf(replaced(text, "230400", "2.5")),
            "launch plan: 'kernels[0].sharedMemoryBytes': is not an integer");
  EXPECT_EQ(errorOf(replaced(text, "\"value\": 4096", "\"value\": 0")),
            "launch plan: 'kernels[0].sizes[2].value': 0 is out of range; "
            "expected 1 to 2147483647");
  EXPECT_EQ(errorOf(replaced(text, "\"alignment\": 64", "\"alignment\": 0")),
            "launch plan: 'kernels[0].parameters[0].alignment': 0 is out of "
            "range; expected 1 to 4096");
}

TEST(Plan, NeedsEachSizeOnce) {
  Plan plan = makePlan();
  plan.kernels[0].sizes.clear();
  EXPECT_EQ(errorOf(printPlan(plan)),
            "launch plan: kernel 'proj': 'sizes' has 0 entries for 'M'; "
            "expected one");
  plan = makePlan();
  plan.kernels[0].sizes.push_back({"batch", 3});
  EXPECT_EQ(errorOf(printPlan(plan)),
            "launch plan: kernel 'proj': 'sizes' has 2 entries for 'batch'; "
            "expected one");
}

// A plan for one target, as it is joined with others.
Plan makePlanFor(const std::string &target, std::vector<std::string> devices) {
  Plan plan = makePlan();
  plan.target = target;
  plan.devices = std::move(devices);
  return plan;
}

Plan makeJoined() {
  Plan family = makePlanFor("sm_100f", {"10.0", "10.3", "10.7"});
  family.kernels[0].sharedMemoryBytes = 1024;
  return joinPlans({makePlanFor("sm_107a", {"10.7"}),
                    makePlanFor("sm_100a", {"10.0"}), family});
}

std::string targetFor(const Plan &plan, const char *device) {
  Result<const Plan *> found = planForDevice(plan, device);
  return found ? (*found)->target : found.why().text;
}

TEST(Plan, ADeviceTakesTheFirstThatItRuns) {
  Plan plan = makeJoined();
  EXPECT_EQ(plan.target, "sm_107a");
  EXPECT_EQ(choices(plan).size(), 3u);
  EXPECT_EQ(targetFor(plan, "10.0"), "sm_100a");
  EXPECT_EQ(targetFor(plan, "10.3"), "sm_100f");
  EXPECT_EQ(targetFor(plan, "10.7"), "sm_107a");
  EXPECT_EQ(
      targetFor(plan, "9.0"),
      "a device of compute capability 9.0 runs none of the kernels, which "
      "are for 'sm_107a' (compute capability 10.7), 'sm_100a' (compute "
      "capability 10.0), 'sm_100f' (compute capability 10.0, 10.3, "
      "10.7)");
  EXPECT_EQ((*planForTarget(plan, "sm_100f"))->kernels[0].sharedMemoryBytes,
            1024u);
  EXPECT_EQ((*planForTarget(plan, "sm_107a"))->kernels[0].sharedMemoryBytes,
            230400u);
  EXPECT_EQ(textOf(planForTarget(plan, "sm_103a")),
            "the plan has no kernels for 'sm_103a'; they are for 'sm_107a' "
            "(compute capability 10.7), 'sm_100a' (compute capability 10.0), "
            "'sm_100f' (compute capability 10.0, 10.3, 10.7)");
  // Code of a plan that leaves no choice may have been edited.
  EXPECT_TRUE(bool(planForTarget(makePlan(), "sm_103a")));
}

TEST(Plan, AlternativesComeBackFromTheirText) {
  std::string text = printPlan(makeJoined());
  Result<Plan> plan = parsePlan(text);
  ASSERT_TRUE(bool(plan)) << textOf(plan);
  EXPECT_EQ(printPlan(*plan), text);
  ASSERT_EQ(plan->alternatives.size(), 2u);
  EXPECT_EQ(plan->alternatives[1].target, "sm_100f");
  EXPECT_EQ(plan->alternatives[1].devices.at(1), "10.3");
  EXPECT_EQ(plan->alternatives[1].kernels[0].sharedMemoryBytes, 1024u);
  // Plans of one target are as they were.
  EXPECT_EQ(printPlan(makePlan()).find("devices"), std::string::npos);
  EXPECT_EQ(printPlan(makePlan()).find("alternatives"), std::string::npos);
}

TEST(Plan, AlternativesAreDistinctAndSayForWhom) {
  std::string text = printPlan(makeJoined());
  EXPECT_EQ(errorOf(replaced(text, "\"sm_100f\"", "\"sm_107a\"")),
            "launch plan: target 'sm_107a': is there twice");
  EXPECT_EQ(errorOf(replaced(text, "\"devices\": [\n        \"10.0\"\n      ]",
                             "\"devices\": []")),
            "launch plan: target 'sm_100a': needs 'devices' to be chosen by");
  for (const char *device : {"10", "a.0", "10.", ".7", "10.0 ", "1234.0"})
    EXPECT_EQ(errorOf(replaced(text, "10.3", device)),
              "launch plan: target 'sm_100f': '" + std::string(device) +
                  "' in 'devices' is no compute capability such as '10.0'");
  // The kernels of alternatives are judged, too.
  EXPECT_EQ(
      errorOf(replaced(text, "\"sharedMemoryBytes\": 1024",
                       "\"sharedMemoryBytes\": -1")),
      "launch plan: 'alternatives[1].kernels[0].sharedMemoryBytes': -1 is "
      "out of range; expected 0 to 4294967295");
  Plan plan = makeJoined();
  plan.alternatives[1].kernels[0].sizes.clear();
  EXPECT_EQ(errorOf(printPlan(plan)),
            "launch plan: kernel 'proj': 'sizes' has 0 entries for 'M'; "
            "expected one");
}

TEST(Plan, RefusesTextBeyondItsLimits) {
  for (const char *bracket : {"[", "{\"a\":"}) {
    std::string deep;
    for (int i = 0; i < 100000; ++i)
      deep += bracket;
    EXPECT_EQ(errorOf(deep), "launch plan: nesting deeper than 32");
  }
  EXPECT_EQ(errorOf(std::string(kMaxPlanBytes + 1, ' ')),
            "launch plan: 67108865 bytes; at most 67108864 are read");
}
} // namespace
