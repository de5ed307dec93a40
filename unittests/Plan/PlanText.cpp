//===- PlanText.cpp - a plan of one kernel, and texts of plans ------------===//
//
// Part of the blockscale project, under the Apache License v2.0 with LLVM
// Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "PlanText.h"
#include "Formats/TextOf.h"
#include <gtest/gtest.h>

using namespace blockscale;
using namespace blockscale::plan;

Plan test::makePlan() {
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

std::string test::replaced(std::string text, const std::string &from,
                           const std::string &to) {
  size_t at = text.find(from);
  if (at == std::string::npos) {
    ADD_FAILURE() << "no '" << from << "' in the plan";
    return text;
  }
  return text.replace(at, from.size(), to);
}

std::string test::errorOf(const std::string &text) {
  Result<Plan> plan = parsePlan(text);
  return plan ? "no error" : textOf(plan);
}

Plan test::readAgain(const Plan &plan) {
  std::string text = printPlan(plan);
  Result<Plan> read = parsePlan(text);
  if (!read) {
    ADD_FAILURE() << textOf(read);
    return plan;
  }
  EXPECT_EQ(printPlan(*read), text);
  return *read;
}
