//===- QuantizeTest.cpp - quantisation, the obvious way -------------------===//
//
// Part of the blockscale project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "blockscale/Reference/Quantize.h"
#include "gtest/gtest.h"

#include <cmath>
#include <limits>

using namespace blockscale;
using namespace blockscale::reference;

namespace {

using Codes = std::vector<uint8_t>;
constexpr float kNaN = std::numeric_limits<float>::quiet_NaN();
constexpr float kInfinity = std::numeric_limits<float>::infinity();
constexpr float kMost = std::numeric_limits<float>::max();

QuantizedBlock quantize(const std::string &rule, std::vector<float> values) {
  return quantizeBlock(
      {ElementFormat::E4M3, ElementFormat::UE8M0, rule, "even"}, values,
      std::nullopt, 0);
}

TEST(Quantize, PowersOfTwo) {
  // 448 is the largest e4m3, 1 is 0x38.
  QuantizedBlock block = quantize("floor", {448, 1, -1, 0, -0.0f});
  EXPECT_EQ(block.scale, 127);
  EXPECT_EQ(block.codes, (Codes{0x7e, 0x38, 0xb8, 0x00, 0x80}));
  // 500 saturates, or with half the scale is nearest 256.
  block = quantize("floor", {500});
  EXPECT_EQ(block.scale, 127);
  EXPECT_EQ(block.codes, Codes{0x7e});
  block = quantize("round_up", {500});
  EXPECT_EQ(block.scale, 128);
  EXPECT_EQ(block.codes, Codes{0x78});
}

// Where each rule begins to double the scale: 256 is 2^8, the largest element
// 1.75 times that, the step above 1.875 and the middle 1.8125 times; 1.9375 is
// the tie between 1.875 and 2.
TEST(Quantize, RulesTurn) {
  struct Turn {
    const char *rule;
    float last, first;
  };
  for (Turn turn :
       {Turn{"ceil", 256, 256.5f}, Turn{"top_binade", 448, 448.5f},
        Turn{"mid_max", 464, 464.5f}, Turn{"rounded_max", 495.5f, 496},
        Turn{"round_up", 448, 448.5f}}) {
    EXPECT_EQ(quantize(turn.rule, {turn.last}).scale, 127) << turn.rule;
    EXPECT_EQ(quantize(turn.rule, {turn.first}).scale, 128) << turn.rule;
  }
  EXPECT_EQ(quantize("floor", {511}).scale, 127);
  EXPECT_EQ(quantize("floor_plus_one", {256}).scale, 128);
}

// Of 7.5 the scale 1 makes 6 and the scale 2 makes 8: their squared errors are
// 2.25 and 0.25. Each 0.5 is an element of the first, and 0 or 1 of the second.
TEST(Quantize, TheSmallerErrorWins) {
  Quantization how{ElementFormat::E2M1, ElementFormat::UE8M0, "min_error",
                   "even"};
  auto scaleWith = [&](size_t halves) {
    std::vector<float> values(halves + 1, 0.5f);
    values[halves / 2] = -7.5f;
    return quantizeBlock(how, values, std::nullopt, 0).scale;
  };
  EXPECT_EQ(scaleWith(0), 128);
  EXPECT_EQ(scaleWith(7), 128);
  EXPECT_EQ(scaleWith(8), 127);
  EXPECT_EQ(scaleWith(20), 127);
  EXPECT_EQ(quantizeBlock(how, {0, 0}, std::nullopt, 0).scale, 0);
  EXPECT_EQ(quantizeBlock(how, {kNaN, 7.5f}, std::nullopt, 0).scale, 0xff);
  EXPECT_EQ(quantizeBlock(how, {kInfinity, 7.5f}, std::nullopt, 0).scale, 0xfe);
}

// Elements of so many binades that only what saturates under the smaller scale
// errs more under it than under the larger one: 464 and 61440 are the middles
// between the largest element and the step above.
TEST(Quantize, TheLargestDecides) {
  struct Case {
    ElementFormat element;
    float middle;
  };
  uint32_t state = 1;
  auto random = [&](float below) {
    state = state * 1664525 + 1013904223;
    return below * float(int32_t(state)) / 0x1p31f;
  };
  for (auto [element, middle] :
       {Case{ElementFormat::E4M3, 464}, Case{ElementFormat::E5M2, 61440}}) {
    Quantization searched{element, ElementFormat::UE8M0, "min_error", "even"};
    Quantization turned{element, ElementFormat::UE8M0, "mid_max", "even"};
    float power = std::exp2(std::ilogb(middle));
    for (float largest :
         {power, power * 1.5f, middle, std::nextafter(middle, 0.0f),
          std::nextafter(middle, kMost), power * 1.9375f,
          std::nextafter(2 * power, 0.0f)})
      for (float times : {1.0f, 0x1p-126f, 0x1p-140f, 0x1p60f, 0x1p-20f})
        for (unsigned count : {0, 1, 31}) {
          std::vector<float> values{largest * times};
          for (unsigned i = 0; i < count; ++i)
            values.push_back(random(largest) * times *
                             (i % 2 ? 1 : std::exp2(-float(i))));
          QuantizedBlock one = quantizeBlock(searched, values, std::nullopt, 0);
          QuantizedBlock other = quantizeBlock(turned, values, std::nullopt, 0);
          EXPECT_EQ(one.scale, other.scale) << largest << " times " << times;
          EXPECT_EQ(one.codes, other.codes) << largest << " times " << times;
        }
  }
}

// 6 is 6 times 1 or 4 times 1.5; 4.5 is 3 times 1.5, and 1 nothing times 1.5.
TEST(Quantize, FourOrSix) {
  Quantization how{ElementFormat::E2M1, ElementFormat::UE4M3, "min_error",
                   "even"};
  auto scaleOf = [&](std::vector<float> values, float factor) {
    return quantizeBlock(how, values, factor, 0).scale;
  };
  EXPECT_EQ(scaleOf({6, 4.5f}, 1), 0x3c);
  EXPECT_EQ(scaleOf({6, 1}, 1), 0x38);
  EXPECT_EQ(scaleOf({6}, 1), 0x38);
  // Where the largest scale is too small already there is no other.
  EXPECT_EQ(scaleOf({6 * 448, 4.5f * 448}, 1), 0x7e);
  // The first is 6 times 2^-10, which becomes 0, and 4 times more than that;
  // the second is only 4 times less than 2^-10.
  EXPECT_EQ(scaleOf({0x1.8p-8f}, 1), 0x01);
  EXPECT_EQ(scaleOf({0x1.8p-9f}, 1), 0x00);
}

TEST(Quantize, SpecialValues) {
  QuantizedBlock block = quantize("floor", {1, kNaN, kInfinity});
  EXPECT_EQ(block.scale, 0xff);
  EXPECT_EQ(block.codes, (Codes{0x7f, 0x7f, 0x7f}));
  block = quantize("floor", {1, -kInfinity});
  EXPECT_EQ(block.scale, 0xfe);
  EXPECT_EQ(block.codes, (Codes{0x00, 0xfe}));
  block = quantize("ceil", {0, -0.0f});
  EXPECT_EQ(block.scale, 0);
  EXPECT_EQ(block.codes, (Codes{0x00, 0x80}));
  // 2^-149, a subnormal f32, is below what the smallest scale tells from 0.
  EXPECT_EQ(quantize("floor", {0x1p-149f}).scale, 0);
}

TEST(Quantize, Ties) {
  // 2, 3 and 4 are codes 4, 5 and 6 of e2m1; 6 makes the scale 1.
  auto codes = [](const char *rounding, uint64_t seed, float value) {
    Quantization how{ElementFormat::E2M1, ElementFormat::UE8M0, "floor",
                     rounding, seed};
    return quantizeBlock(how, {value, 6}, std::nullopt, 0).codes.front();
  };
  EXPECT_EQ(codes("even", 0, 2.5f), 4);
  EXPECT_EQ(codes("even", 0, 3.5f), 6);
  EXPECT_EQ(codes("away", 0, -2.5f), 8 + 5);
  EXPECT_EQ(codes("zero", 0, 3.5f), 5);
  // The first output of SplitMix64 for seed 0 is 0xe220a8397b1dcdaf, of which
  // the first element has 0xcdaf: with 0.1966 that is 1.
  EXPECT_EQ(codes("stochastic", 0, 2.1875f), 4);
  EXPECT_EQ(codes("stochastic", 0, 2.203125f), 5);
}

TEST(Quantize, SharedRandomBits) {
  auto codes = [](ElementFormat element, float value, float largest,
                  uint64_t first) {
    Quantization how{element, ElementFormat::UE8M0, "floor", "stochastic_rs",
                     /*seed=*/0};
    Codes all = quantizeBlock(how, {value, value, value, value, largest},
                              std::nullopt, first)
                    .codes;
    all.pop_back();
    return all;
  };
  // The first group of seed 0 has 0x7950d340, by integers of any size: of 4
  // bits elements take 0x40, 0x50, 0xd3 and 0x79, which reach 256 with what is
  // left.
  auto narrow = [&](int rest) {
    return codes(ElementFormat::E2M1, 2 + float(rest) / 256, 6, 0);
  };
  EXPECT_EQ(narrow(256 - 0xd3 - 1), (Codes{4, 4, 4, 4}));
  EXPECT_EQ(narrow(256 - 0xd3), (Codes{4, 4, 5, 4}));
  EXPECT_EQ(narrow(256 - 0x79), (Codes{4, 4, 5, 5}));
  EXPECT_EQ(narrow(256 - 0x50), (Codes{4, 5, 5, 5}));
  EXPECT_EQ(narrow(256 - 0x40), (Codes{5, 5, 5, 5}));
  // The fifth group has 0xbe1a7908: two halves.
  auto wide = [&](int rest) {
    return codes(ElementFormat::E4M3, 2 + 0.25f * float(rest) / 65536, 448, 16);
  };
  EXPECT_EQ(wide(0x10000 - 0xbe1a - 1), (Codes{0x40, 0x40, 0x40, 0x40}));
  EXPECT_EQ(wide(0x10000 - 0xbe1a), (Codes{0x40, 0x40, 0x41, 0x41}));
  EXPECT_EQ(wide(0x10000 - 0x7908 - 1), (Codes{0x40, 0x40, 0x41, 0x41}));
  EXPECT_EQ(wide(0x10000 - 0x7908), (Codes{0x41, 0x41, 0x41, 0x41}));
}

TEST(Quantize, Nvfp4) {
  Quantization how{ElementFormat::E2M1, ElementFormat::UE4M3, "floor", "even"};
  QuantizedBlock block = quantizeBlock(how, {2688, 448, -448}, 1.0f, 0);
  EXPECT_EQ(block.scale, 0x7e);
  EXPECT_EQ(block.codes, (Codes{7, 2, 10}));
  // Half the factor of the tensor, of which the sign does not count, and twice
  // the scale; what is beyond the largest scale saturates.
  EXPECT_EQ(quantizeBlock(how, {6}, 1.0f, 0).scale, 0x38);
  EXPECT_EQ(quantizeBlock(how, {6}, -0.5f, 0).scale, 0x40);
  block = quantizeBlock(how, {5376}, std::nullopt, 0);
  EXPECT_EQ(block.scale, 0x7e);
  EXPECT_EQ(block.codes, Codes{7});
  // Without a scale nothing is left.
  block = quantizeBlock(how, {0x1p-20f, -0x1p-20f}, std::nullopt, 0);
  EXPECT_EQ(block.scale, 0);
  EXPECT_EQ(block.codes, (Codes{0, 8}));
  EXPECT_EQ(quantizeBlock(how, {kNaN}, 1.0f, 0).scale, 0x7f);
}

// The largest element times the largest scale, 2688, over the largest number.
TEST(Quantize, TensorScales) {
  Quantization how{ElementFormat::E2M1, ElementFormat::UE4M3, "floor", "even"};
  TensorScale scale = tensorScaleOf(how, {1, -1344, 5});
  EXPECT_EQ(scale.encode, 2);
  EXPECT_EQ(scale.decode, 0.5f);
  // 1 where nothing can be said, and under scales that reach as far as f32.
  for (const std::vector<float> &values :
       {std::vector<float>{0, -0.0f}, {1, kNaN}, {1, -kInfinity}})
    EXPECT_EQ(tensorScaleOf(how, values).decode, 1);
  EXPECT_EQ(
      tensorScaleOf({ElementFormat::E4M3, ElementFormat::UE8M0}, {8}).decode,
      1);
  // Of small numbers the inverse ends where f32 does, and so do products with
  // the scale of large ones.
  EXPECT_EQ(tensorScaleOf(how, {0x1p-126f}).encode, kMost);
  scale = tensorScaleOf(how, {kMost});
  EXPECT_LE(double(scale.decode) * 2688, double(kMost));
}

/// Its magnitude: the nearest, or the next one up if that is smaller.
TEST(Quantize, ScalesThatAreGiven) {
  auto given = [](std::optional<ElementFormat> scale, float value) {
    return givenScale({ElementFormat::E4M3, scale}, value);
  };
  constexpr float kInfinity = std::numeric_limits<float>::infinity();
  EXPECT_EQ(given(std::nullopt, -0.5f), 0x3f000000u);
  EXPECT_EQ(given(ElementFormat::F16, 0.1f), 0x2e67u);
  EXPECT_EQ(given(ElementFormat::F16, -0.5f), 0x3800u);
  EXPECT_EQ(given(ElementFormat::F16, 1e6f), 0x7bffu);
  EXPECT_EQ(given(ElementFormat::BF16, 0.1f), 0x3dcdu);
  EXPECT_EQ(given(ElementFormat::BF16, std::nanf("")), 0x7fc0u);
  EXPECT_EQ(given(ElementFormat::UE8M0, 0.75f), 127u);
  EXPECT_EQ(given(ElementFormat::UE8M0, -2), 128u);
  EXPECT_EQ(given(ElementFormat::UE8M0, 0), 0u);
  EXPECT_EQ(given(ElementFormat::UE8M0, kInfinity), 254u);
  EXPECT_EQ(given(ElementFormat::UE8M0, std::nanf("")), 255u);
}

TEST(Quantize, WhatItDoesNotKnow) {
  auto why = [](Quantization how) {
    auto reason = whyNot(how);
    return reason ? reason->text : "";
  };
  EXPECT_EQ(why({}), "");
  EXPECT_EQ(why({ElementFormat::INT8}),
            "elements of 'int8' are not quantised here");
  EXPECT_EQ(why({ElementFormat::E4M3, ElementFormat::UE5M3}),
            "scales of 'ue5m3' are not chosen here");
  EXPECT_EQ(why({ElementFormat::E2M1, ElementFormat::UE4M3, "ceil"}),
            "there is no rule 'ceil' for scales of 'ue4m3'");
  EXPECT_EQ(why({ElementFormat::E2M1, ElementFormat::UE8M0, "floor", "up"}),
            "there is no rounding 'up'");
}

} // namespace
