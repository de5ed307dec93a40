//===- TensorsTest.cpp - what formats and pruning do to weights -----------===//
//
// Part of the blockscale project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "blockscale/Advice/Tensors.h"
#include "Formats/TextOf.h"
#include "blockscale/Packing/Npy.h"

#include <cmath>
#include <cstdio>
#include <cstring>
#include <gtest/gtest.h>
#include <random>
#include <unistd.h>

using namespace blockscale;
using namespace blockscale::advice;
using blockscale::test::textOf;

namespace {

TEST(Groups, LiteralGroups) {
  // Conforming; three nonzero values, of which the 1 is dropped; negative zero
  // is a zero.
  std::vector<float> values{1, 0, 2, 0, 3, 1, 0, -4, -0.0f, 5, 0, -0.0f};
  GroupStats stats;
  countGroups(hw::SparsePattern::TwoOfFour, values, stats);
  EXPECT_EQ(stats.groups, 3u);
  EXPECT_EQ(stats.conforming, 2u);
  EXPECT_EQ(stats.violating(), 1u);
  EXPECT_EQ(stats.energy, 1 + 4 + 9 + 1 + 16 + 25);
  EXPECT_EQ(stats.dropped, 1);
  // Pairs (1,0), (0,0), (0,2), (0,0): two of four. Then four pairs, of which
  // (1,1) and (2,0) are dropped.
  values = {1, 0, 0, 0, 0, 2, 0, 0, 1, 1, 2, 0, 3, 0, 0, 4};
  GroupStats pairs;
  countGroups(hw::SparsePattern::PairsFourOfEight, values, pairs);
  EXPECT_EQ(pairs.groups, 2u);
  EXPECT_EQ(pairs.conforming, 1u);
  EXPECT_EQ(pairs.dropped, 1 + 1 + 4);
}

/// The least loss over all choices of two of four units, the slow way.
double leastLoss(const float *chunk, unsigned width) {
  double best = INFINITY;
  for (unsigned mask = 0; mask < 16; ++mask) {
    unsigned kept = 0;
    double loss = 0;
    for (unsigned unit = 0; unit < 4; ++unit) {
      kept += mask >> unit & 1;
      for (unsigned i = 0; i < width && !(mask >> unit & 1); ++i)
        loss += double(chunk[unit * width + i]) * chunk[unit * width + i];
    }
    if (kept == 2)
      best = std::min(best, loss);
  }
  return best;
}

TEST(Groups, NoOtherChoiceLosesLess) {
  std::mt19937 random(2);
  std::normal_distribution<float> normal;
  std::vector<float> values(4096);
  for (float &value : values)
    value = random() % 4 ? normal(random) : 0;
  for (auto [pattern, width] :
       {std::pair(hw::SparsePattern::TwoOfFour, 1u),
        std::pair(hw::SparsePattern::PairsFourOfEight, 2u)}) {
    GroupStats stats;
    countGroups(pattern, values, stats);
    double loss = 0;
    for (size_t i = 0; i < values.size(); i += 4 * width)
      loss += leastLoss(&values[i], width);
    EXPECT_NEAR(stats.dropped, loss, 1e-9 * loss);
  }
}

TEST(Errors, LiteralErrors) {
  ErrorStats stats;
  stats.add(4, 3);
  stats.add(-3, -3);
  stats.finish();
  EXPECT_EQ(stats.signal, 25);
  EXPECT_EQ(stats.noise, 1);
  EXPECT_DOUBLE_EQ(stats.sqnr(), 10 * std::log10(25.0));
  EXPECT_EQ(stats.largestError, 1);
  // 1 is 2^-2 of the largest, in the third bin from the top.
  EXPECT_EQ(stats.bins[ErrorStats::kBins - 3], 1u);
  EXPECT_EQ(stats.bins[0], 1u);
  EXPECT_TRUE(std::isinf(ErrorStats().sqnr()));
}

/// Errors of a format by the rules of one block.
double bruteForceNoise(const GemmFormat &format,
                       const std::vector<float> &values) {
  TensorScale tensor;
  if (format.scale == ElementFormat::UE4M3)
    tensor = nvfp4TensorScale(blockMax(values.data(), values.size()));
  double noise = 0;
  for (size_t at = 0; at < values.size(); at += format.block) {
    uint8_t codes[32], scale;
    float largest = blockMax(&values[at], format.block);
    if (format.scale == ElementFormat::UE4M3) {
      scale = nvfp4BlockScale(largest, tensor);
      nvfp4QuantizeBlock(scale, tensor, &values[at], format.block, codes);
    } else {
      scale = blockScaleByte(ScaleRule::RoundUp, format.weights, largest);
      quantizeBlock(format.weights, scale, &values[at], format.block, codes);
    }
    for (unsigned i = 0; i < format.block; ++i) {
      double became = double(decode(format.weights, codes[i])) *
                      decode(*format.scale, scale) * tensor.decode;
      noise += (values[at + i] - became) * (values[at + i] - became);
    }
  }
  return noise;
}

/// What stays of each group of four units if no other choice loses less, and
/// what is lost.
std::vector<float> keepMost(const std::vector<float> &values, unsigned width,
                            double &lost) {
  std::vector<float> kept;
  for (size_t at = 0; at < values.size(); at += 4 * width) {
    double best = INFINITY;
    unsigned chosen = 0;
    for (unsigned mask : {3u, 5u, 9u, 6u, 10u, 12u}) {
      double loss = 0;
      for (unsigned i = 0; i < 4 * width; ++i)
        if (!(mask >> (i / width) & 1))
          loss += double(values[at + i]) * values[at + i];
      if (loss < best) {
        best = loss;
        chosen = mask;
      }
    }
    lost += best;
    for (unsigned i = 0; i < 4 * width; ++i)
      if (chosen >> (i / width) & 1)
        kept.push_back(values[at + i]);
  }
  return kept;
}

TEST(Errors, AgreeWithBruteForceAndRankAlike) {
  std::mt19937 random(4);
  std::normal_distribution<float> normal;
  packing::NpyArray array{packing::NpyType::F32, {8, 64}, {}};
  std::vector<float> values(512);
  for (size_t i = 0; i < values.size(); ++i)
    values[i] = normal(random) * (i % 64 == 5 ? 30 : 1);
  array.data.resize(values.size() * 4);
  std::memcpy(array.data.data(), values.data(), array.data.size());
  std::string path =
      ::testing::TempDir() + "/advice-" + std::to_string(::getpid()) + ".npy";
  ASSERT_EQ(writeNpy(path, array), std::nullopt);
  auto read = checkpoint::Checkpoint::open(path);
  ASSERT_TRUE(read) << textOf(read);
  auto tensors = checkpoint::recognize(*read);
  auto errors = measureFormats(*read, tensors.at(0));
  ASSERT_TRUE(errors) << textOf(errors);
  unsigned dense = 0, sparse = 0;
  for (const FormatError &each : *errors) {
    EXPECT_EQ(each.error.count, values.size());
    double lost = 0;
    std::vector<float> stored = values;
    if (each.format->sparse)
      stored = keepMost(
          values, each.format->weights == ElementFormat::E2M1 ? 2 : 1, lost);
    ++(each.format->sparse ? sparse : dense);
    double expected = lost + bruteForceNoise(*each.format, stored);
    EXPECT_NEAR(each.error.noise, expected, 1e-5 * expected)
        << each.format->name;
  }
  EXPECT_EQ(dense, 3u);
  EXPECT_EQ(sparse, 3u);

  // The choice, by looking at all: the least time of those good enough.
  auto times = adviseGemm({4096, 8192, 8192}, *hw::parsePart("B200"));
  for (double least : {0.0, 15.0, 19.0, 25.0, 100.0}) {
    const FormatError *best = nullptr;
    double bestTime = times.front().prediction.total;
    for (const FormatError &each : *errors)
      for (const GemmAdvice &time : times)
        if (time.format == each.format && each.error.sqnr() >= least &&
            time.prediction.total < bestTime) {
          best = &each;
          bestTime = time.prediction.total;
        }
    EXPECT_EQ(chooseFormat(*errors, times, least), best) << least;
  }
  // None keeps an infinity.
  float infinity = INFINITY;
  std::memcpy(&array.data[400], &infinity, sizeof(infinity));
  ASSERT_EQ(writeNpy(path, array), std::nullopt);
  auto lost = measureFormats(*checkpoint::Checkpoint::open(path), tensors[0]);
  ASSERT_TRUE(lost) << textOf(lost);
  EXPECT_TRUE(lost->empty());
  EXPECT_EQ(chooseFormat(*errors, times, 100), nullptr);
  EXPECT_EQ(chooseFormat(*errors, times, 25)->format->name, "mxfp8");
  std::remove(path.c_str());
}

TEST(Recipes, WhatTheyLeaveAlone) {
  // The lists "exclude_modules" and "ignore" of published NVFP4 checkpoints of
  // Llama 3.1 (the head) and Qwen3-30B-A3B (the head and the routers).
  EXPECT_NE(whyLeft("lm_head.weight"), "");
  EXPECT_NE(whyLeft("model.embed_tokens.weight"), "");
  EXPECT_NE(whyLeft("model.layers.7.mlp.gate.weight"), "");
  EXPECT_EQ(whyLeft("model.layers.7.mlp.gate_proj.weight"), "");
  EXPECT_EQ(whyLeft("model.layers.7.mlp.experts.3.down_proj.weight"), "");
  EXPECT_EQ(whyLeft("model.layers.7.self_attn.q_proj.weight"), "");
}

} // namespace
