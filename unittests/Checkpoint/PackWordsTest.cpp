//===- PackWordsTest.cpp - options of packing in words --------------------===//
//
// Part of the blockscale project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "blockscale/Checkpoint/PackWords.h"

#include <gtest/gtest.h>

using namespace blockscale;
using namespace blockscale::checkpoint;

namespace {

uint64_t bytesOf(std::string_view text) {
  Result<uint64_t> bytes = parseByteCount(text);
  return bytes ? *bytes : 0;
}

TEST(PackWords, ByteCounts) {
  EXPECT_EQ(bytesOf("1"), 1u);
  EXPECT_EQ(bytesOf("300B"), 300u);
  EXPECT_EQ(bytesOf("5GB"), 5000000000u);
  EXPECT_EQ(bytesOf("5 GiB"), 5368709120u);
  EXPECT_EQ(bytesOf("1.5KiB"), 1536u);
  EXPECT_EQ(bytesOf("2TB"), 2000000000000u);
  for (const char *text : {"", "0", "-1", "GB", "5XB", "5gb", "5 G B", "1e3",
                           "0.5", "1.2.3", "99999999TB", "nan", "."})
    EXPECT_EQ(bytesOf(text), 0u) << text;
  EXPECT_EQ(parseByteCount("5XB").why().text,
            "'5XB' is no number of bytes from 1 to 2^60, such as '5GB' or "
            "'512MiB'");
}

std::string whyNot(const PackWords &words) {
  Result<PackOptions> options = parsePackWords(words);
  return options ? "" : options.why().text;
}

TEST(PackWords, Defaults) {
  Result<PackOptions> options = parsePackWords({});
  ASSERT_TRUE(options);
  EXPECT_EQ(options->to, PackTo::Same);
  EXPECT_EQ(options->family, Family::ModelOpt);
  EXPECT_FALSE(options->tiled);
  EXPECT_EQ(options->shardBytes, 0u);
}

TEST(PackWords, Refusals) {
  PackWords words;
  words.names = "mine";
  EXPECT_EQ(whyNot(words),
            "--names is 'mine', legal are 'modelopt', 'compressed-tensors', "
            "'torchao', 'gpt-oss', 'gpt-oss-original', 'deepseek', "
            "'deepseek-v4', 'comfyui'");
  words.names = "comfyui";
  words.scales = "rows";
  EXPECT_EQ(whyNot(words),
            "ComfyUI has scales in atoms; legal is --scales=tiled");
  words = {};
  words.to = "mxfp8";
  words.rule = "up";
  EXPECT_EQ(whyNot(words),
            "--rule is 'up', legal are 'round-up', 'floor', 'floor-plus-one', "
            "'ceil', 'mid-max', 'rounded-max', 'top-binade'");
  words.rule = "floor";
  EXPECT_EQ(whyNot(words), "");
  words.to = "nvfp4";
  EXPECT_EQ(whyNot(words),
            "--rule is of the MX formats, whose scales are powers of two");
  words = {};
  words.scales = "columns";
  EXPECT_EQ(whyNot(words),
            "--scales is 'columns', legal are 'rows' and 'tiled'");
  words = {};
  words.to = "fp8-blocks";
  words.prune = "2:4";
  words.compress = true;
  EXPECT_EQ(whyNot(words), "--compress needs a block-scaled format in --to");
}

} // namespace
