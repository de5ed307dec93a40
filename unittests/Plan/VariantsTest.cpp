//===- VariantsTest.cpp - tests of kernels for few rows -------------------===//
//
// Part of the blockscale project, under the Apache License v2.0 with LLVM
// Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "blockscale/Plan/Variants.h"
#include <gtest/gtest.h>

using namespace blockscale;
using namespace blockscale::plan;

namespace {
Kernel makeKernel(const std::string &name, int64_t mostRows) {
  Kernel kernel;
  kernel.name = name;
  kernel.sizes = {
      {"M", std::nullopt, mostRows}, {"N", 64}, {"K", 128}, {"batch", 1}};
  DataPacking data;
  data.operand = "a";
  data.linePitch = "128";
  kernel.data = {data};
  Parameter size;
  size.role = "size_m";
  size.type = "i32";
  kernel.parameters = {size};
  return kernel;
}

Kernel makeVariant(const std::string &name, int64_t mostRows) {
  Kernel kernel = makeKernel(name, mostRows);
  kernel.variantOf = "proj";
  return kernel;
}

/// In no order.
Plan makePlan() {
  return {"sm_100a",
          {makeVariant("proj_m64", 64), makeKernel("proj", 1000),
           makeVariant("proj_m16", 16), makeKernel("other", 1000)},
          {}};
}

TEST(Variants, FewestRowsThatAreEnough) {
  Plan plan = makePlan();
  const Kernel *proj = findKernel(plan, "proj");
  EXPECT_EQ(kernelForRows(plan, proj, 1)->name, "proj_m16");
  EXPECT_EQ(kernelForRows(plan, proj, 16)->name, "proj_m16");
  EXPECT_EQ(kernelForRows(plan, proj, 17)->name, "proj_m64");
  EXPECT_EQ(kernelForRows(plan, proj, 64)->name, "proj_m64");
  EXPECT_EQ(kernelForRows(plan, proj, 65)->name, "proj");
  EXPECT_EQ(kernelForRows(plan, findKernel(plan, "other"), 1)->name, "other");
  // What is asked for by its own name stays.
  EXPECT_EQ(kernelForRows(plan, findKernel(plan, "proj_m64"), 1)->name,
            "proj_m64");
  EXPECT_EQ(findKernel(plan, "none"), nullptr);
}

TEST(Variants, FactorsAreThoseOfTheKernel) {
  Plan plan = makePlan();
  plan.functions = {
      {"f",
       {},
       {{"blockscale.launch", "proj", {{"alpha", "", 0.5}}, {}, "", ""}},
       {}}};
  EXPECT_EQ(fixedOperand(plan, "proj_m16", "alpha"), 0.5);
  EXPECT_EQ(fixedOperand(plan, "other", "alpha"), std::nullopt);
}

std::string whyNot(const Plan &plan) {
  auto why = whyNotVariants(plan);
  return why ? why->text : "";
}

TEST(Variants, TranslateElementsAsTheirKernel) {
  Plan plan = makePlan();
  for (Kernel &kernel : plan.kernels)
    kernel.data[0].source = {"int2", {0, 9, 30, 70}};
  EXPECT_EQ(whyNot(plan), "");
  plan.kernels[0].data[0].source->codes[3] = 71;
  EXPECT_NE(whyNot(plan), "");
  plan.kernels[0].data[0].source->codes[3] = 70;
  for (Kernel &kernel : plan.kernels)
    kernel.data[0].source->zeros = {8, 4, 128};
  EXPECT_EQ(whyNot(plan), "");
  for (unsigned ZeroPoints::*field :
       {&ZeroPoints::bits, &ZeroPoints::rows, &ZeroPoints::block}) {
    Plan other = plan;
    (*other.kernels[0].data[0].source->zeros).*field += 1;
    EXPECT_NE(whyNot(other), "");
  }
  plan.kernels[0].data[0].source->zeros.reset();
  EXPECT_NE(whyNot(plan), "");
  plan.kernels[0].data[0].source.reset();
  EXPECT_NE(whyNot(plan), "");
}

TEST(Variants, MustGoWithTheirKernel) {
  EXPECT_EQ(whyNot(makePlan()), "");
  Plan lost = makePlan();
  lost.kernels[0].variantOf = "none";
  EXPECT_EQ(whyNot(lost),
            "launch plan: kernel 'proj_m64': 'none', of which it is a variant, "
            "is no kernel for all numbers of rows");
  Plan nested = makePlan();
  nested.kernels[0].variantOf = "proj_m16";
  EXPECT_NE(whyNot(nested).find("is no kernel for all numbers of rows"),
            std::string::npos);
  Plan fixed = makePlan();
  fixed.kernels[0].sizes[0].value = 64;
  EXPECT_NE(whyNot(fixed).find("a fixed M"), std::string::npos);
  Plan many = makePlan();
  many.kernels[0].sizes[0].maximum = 1000;
  EXPECT_NE(whyNot(many).find("takes no more rows than it"), std::string::npos);
  Plan packed = makePlan();
  packed.kernels[0].data[0].linePitch = "64";
  EXPECT_NE(whyNot(packed).find("packs them otherwise"), std::string::npos);
  Plan parameters = makePlan();
  parameters.kernels[0].parameters[0].role = "size_n";
  EXPECT_NE(whyNot(parameters).find("takes other operands"), std::string::npos);
  // A workspace of its own is no operand.
  Plan workspace = makePlan();
  workspace.kernels[0].parameters.emplace_back().role = "workspace";
  EXPECT_EQ(whyNot(workspace), "");
}
} // namespace
