//===- DequantizeTest.cpp - values of narrow numbers ----------------------===//
//
// Part of the blockscale project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "blockscale/Reference/Dequantize.h"
#include "gtest/gtest.h"

#include <cmath>
#include <limits>

using namespace blockscale;
using blockscale::reference::dequantize;

namespace {

constexpr float kLargest = std::numeric_limits<float>::max();

// OCP OFP8: 0x7e of e4m3 is 448, 0x38 is 1, 0x01 is 2^-9. OCP MX: 0x7f of e8m0
// is 1, 0xff NaN, 0x00 2^-127.
TEST(Dequantize, PowersOfTwo) {
  auto value = [](uint32_t code, uint32_t scale) {
    return dequantize(ElementFormat::E4M3, code, ElementFormat::UE8M0, scale,
                      std::nullopt);
  };
  EXPECT_EQ(value(0x7e, 0x7f), 448.0f);
  EXPECT_EQ(value(0xb8, 0x80), -2.0f);
  EXPECT_EQ(value(0x38, 0x00), 0x1p-127f);
  EXPECT_EQ(value(0x01, 0x76), 0x1p-18f);
  EXPECT_TRUE(std::signbit(value(0x80, 0x7f)));
  EXPECT_TRUE(std::isnan(value(0x7f, 0x7f)));
  EXPECT_TRUE(std::isnan(value(0x38, 0xff)));
  // 448 * 2^127 is beyond f32.
  EXPECT_EQ(value(0x7e, 0xfe), kLargest);
  EXPECT_EQ(value(0xfe, 0xfe), -kLargest);
}

// 0x7 of e2m1 is 6; 0x7e of e4m3 is 448; 0x7c of e5m2 is infinite.
TEST(Dequantize, TensorScales) {
  auto value = [](uint32_t code, float factor) {
    return dequantize(ElementFormat::E2M1, code, ElementFormat::UE4M3, 0x7e,
                      factor);
  };
  EXPECT_EQ(value(0x7, 0.5f), 1344.0f);
  EXPECT_EQ(value(0xf, 3e37f), -kLargest);
  EXPECT_EQ(value(0x7, std::numeric_limits<float>::infinity()),
            std::numeric_limits<float>::infinity());
  EXPECT_TRUE(std::isnan(value(0x0, std::numeric_limits<float>::infinity())));
  // An infinite element stays one.
  EXPECT_EQ(
      dequantize(ElementFormat::E5M2, 0x7c, ElementFormat::UE8M0, 0x00, 1e-30f),
      std::numeric_limits<float>::infinity());
}

// bf16: 0x7f7f is the largest, 0x7f80 infinity; f16: 0x7bff is 65504.
TEST(Dequantize, Narrowed) {
  EXPECT_EQ(reference::narrowed(ElementFormat::BF16, kLargest), 0x7f7fu);
  EXPECT_EQ(reference::narrowed(ElementFormat::BF16,
                                std::numeric_limits<float>::infinity()),
            0x7f80u);
  EXPECT_EQ(reference::narrowed(ElementFormat::F16, -1e6f), 0xfbffu);
  // 1 + 2^-8 is a tie of bf16; the even one is 1.
  EXPECT_EQ(reference::narrowed(ElementFormat::BF16, 1.00390625f), 0x3f80u);
}

} // namespace
