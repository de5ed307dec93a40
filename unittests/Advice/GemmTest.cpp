//===- GemmTest.cpp - formats of a product by predicted time --------------===//
//
// Part of the blockscale project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "blockscale/Advice/Gemm.h"

#include <gtest/gtest.h>

using namespace blockscale;
using namespace blockscale::advice;

namespace {

GemmBytes bytesOf(const char *format, hw::GemmSize size) {
  const GemmFormat *found = findGemmFormat(format);
  EXPECT_TRUE(found) << format;
  return gemmBytes(*found, size);
}

TEST(Gemm, BytesByPart) {
  // 4096 cubed: 16 Mi elements an operand.
  constexpr double kMi = 1 << 20;
  hw::GemmSize cube{4096, 4096, 4096};
  GemmBytes bf16 = bytesOf("bf16", cube);
  EXPECT_EQ(bf16.weights, 32 * kMi);
  EXPECT_EQ(bf16.scales, 0);
  EXPECT_EQ(bf16.total(), 96 * kMi);
  // Half a byte an element, a byte for 16 of them, on both sides.
  GemmBytes nvfp4 = bytesOf("nvfp4", cube);
  EXPECT_EQ(nvfp4.activations, 8 * kMi);
  EXPECT_EQ(nvfp4.weights, 8 * kMi);
  EXPECT_EQ(nvfp4.scales, 2 * kMi);
  EXPECT_EQ(nvfp4.result, 32 * kMi);
  // Half of the weights and 4 bits of metadata for 8 of them; a scale for 32.
  GemmBytes sparse = bytesOf("nvfp4, 4:8", cube);
  EXPECT_EQ(sparse.weights, 4 * kMi);
  EXPECT_EQ(sparse.metadata, 1 * kMi);
  EXPECT_EQ(sparse.scales, 1 * kMi);
  // 4 bits for 4.
  EXPECT_EQ(bytesOf("fp8, 2:4", cube).metadata, 2 * kMi);
  // A last, partial block has a scale; batches count.
  EXPECT_EQ(bytesOf("mxfp8", {3, 5, 33, 2}).scales, 2 * (3 + 5) * 2);
}

TEST(Gemm, FormatsOfParts) {
  auto has = [](const char *format, const char *part) {
    return kindOn(*findGemmFormat(format), *hw::parsePart(part)).has_value();
  };
  EXPECT_TRUE(has("nvfp4", "B200"));
  EXPECT_FALSE(has("nvfp4, K = 96", "B200"));
  EXPECT_TRUE(has("nvfp4, K = 96", "B300"));
  EXPECT_TRUE(has("nvfp4, 4:8", "B200"));
  EXPECT_TRUE(has("nvfp4", "RTX 5090"));
  // Sparse instructions of sm_107 for 4 bits have metadata of single elements;
  // another kind's 2:4 is not what the format keeps.
  EXPECT_FALSE(has("mxfp4, 4:8", "VR200"));
  EXPECT_FALSE(has("nvfp4, 4:8", "VR200"));
  EXPECT_TRUE(has("mxfp8, 2:4", "VR200"));
  // The model of mma.sync has no sparse instructions.
  EXPECT_FALSE(has("mxfp8, 2:4", "RTX 5090"));
  EXPECT_EQ(kindOn(*findGemmFormat("mxfp8 x mxfp4"), *hw::parsePart("B200")),
            hw::MmaKind::MXF8F6F4);
}

// NVFP4 on VR200 at 2.376 GHz with 212 SMs: 32768 operations a cycle and SM
// with K = 64 are 16.5 PF, which K = 128 passes; 65536 are 33.0.
TEST(Gemm, WideInstructions) {
  hw::GemmSize size{8192, 8192, 8192};
  hw::Part part = *hw::parsePart("VR200");
  for (const GemmAdvice &row : adviseGemm(size, part)) {
    if (row.format->name == "nvfp4") {
      EXPECT_GT(row.prediction.teraflops, 16507);
      EXPECT_LT(row.prediction.teraflops, 33014);
    }
    if (row.format->name == "nvfp4, K = 96") {
      EXPECT_LT(row.prediction.teraflops, 0.75 * 33014);
    }
    if (row.format->name == "mxfp8") {
      EXPECT_LT(row.prediction.teraflops, 16507);
    }
  }
}

TEST(Gemm, AgainstTheModelItself) {
  hw::GemmSize size{8192, 8192, 8192};
  hw::Part part = *hw::parsePart("B200");
  hw::GemmKernel kernel;
  kernel.kind = hw::MmaKind::MXF4NVF4;
  kernel.instructionK = 64;
  kernel.bytesA = kernel.bytesB = 0.5 + 1.0 / 16;
  hw::GemmConditions conditions;
  conditions.part = part;
  double expected = hw::bestGemm(kernel, size, conditions).prediction.total;
  bool isFound = false;
  for (const GemmAdvice &row : adviseGemm(size, part))
    if (row.format->name == "nvfp4") {
      isFound = true;
      EXPECT_EQ(row.prediction.total, expected);
      // Four times the rate of bf16, less what does not scale.
      EXPECT_GT(row.speedup, 3);
      EXPECT_LT(row.speedup, 4);
    }
  EXPECT_TRUE(isFound);
  EXPECT_EQ(adviseGemm(size, part).front().format->name, "bf16");
  EXPECT_EQ(adviseGemm(size, part).front().speedup, 1);
}

TEST(Gemm, WhyNot) {
  EXPECT_EQ(whyNot({1, 1, 1}), "");
  EXPECT_EQ(whyNot({0, 1, 1}), "M is 0; legal is 1 to 2147483648");
  EXPECT_EQ(whyNot({1, 1, int64_t(1) << 32}),
            "K is 4294967296; legal is 1 to 2147483648");
}

} // namespace
