//===- ModelTest.cpp - the products of a model's layers -------------------===//
//
// Part of the blockscale project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Configurations as published with the models; the expected shapes are those of
// vLLM's and DeepGEMM's benchmarks of their layers.
//
//===----------------------------------------------------------------------===//

#include "blockscale/Advice/Model.h"
#include "Formats/TextOf.h"

#include <gtest/gtest.h>

using namespace blockscale;
using namespace blockscale::advice;
using blockscale::test::textOf;

namespace {

struct Expected {
  const char *name;
  int64_t n, k, count;
};

void compare(const std::vector<Layer> &layers,
             std::initializer_list<Expected> expected) {
  ASSERT_EQ(layers.size(), expected.size());
  size_t i = 0;
  for (const Expected &each : expected) {
    EXPECT_EQ(layers[i].name, each.name);
    EXPECT_EQ(layers[i].n, each.n) << each.name;
    EXPECT_EQ(layers[i].k, each.k) << each.name;
    EXPECT_EQ(layers[i].count, each.count) << each.name;
    ++i;
  }
}

TEST(Model, Llama3Of8B) {
  auto layers = readModel(R"({"hidden_size":4096,"intermediate_size":14336,)"
                          R"("num_attention_heads":32,"num_hidden_layers":32,)"
                          R"("num_key_value_heads":8,"vocab_size":128256})");
  ASSERT_TRUE(layers) << textOf(layers);
  compare(*layers, {{"qkv", 6144, 4096, 32},
                    {"o", 4096, 4096, 32},
                    {"gate_up", 28672, 4096, 32},
                    {"down", 4096, 14336, 32}});
}

TEST(Model, DeepSeekV3) {
  auto layers = readModel(
      R"({"first_k_dense_replace":3,"hidden_size":7168,)"
      R"("intermediate_size":18432,"kv_lora_rank":512,)"
      R"("moe_intermediate_size":2048,"n_routed_experts":256,)"
      R"("n_shared_experts":1,"num_attention_heads":128,)"
      R"("num_experts_per_tok":8,"num_hidden_layers":61,)"
      R"("num_key_value_heads":128,"q_lora_rank":1536,)"
      R"("qk_nope_head_dim":128,"qk_rope_head_dim":64,"v_head_dim":128})");
  ASSERT_TRUE(layers) << textOf(layers);
  compare(*layers, {{"q_a + kv_a", 2112, 7168, 61},
                    {"q_b", 24576, 1536, 61},
                    {"kv_b", 32768, 512, 61},
                    {"o", 7168, 16384, 61},
                    {"expert gate_up", 4096, 7168, 58},
                    {"expert down", 7168, 2048, 58},
                    {"shared gate_up", 4096, 7168, 58},
                    {"shared down", 7168, 2048, 58},
                    {"gate_up", 36864, 7168, 3},
                    {"down", 7168, 18432, 3}});
  // One token takes 8 experts; 4096 tokens give each 128.
  hw::GemmSize one = sizeOf((*layers)[4], 1), many = sizeOf((*layers)[4], 4096);
  EXPECT_EQ(one.m, 1);
  EXPECT_EQ(one.batch, 8);
  EXPECT_EQ(many.m, 128);
  EXPECT_EQ(many.batch, 256);
  EXPECT_EQ(sizeOf((*layers)[3], 4096).m, 4096);
}

TEST(Model, PartsOfOthers) {
  // gpt-oss-120b, as the text part of something larger.
  auto layers =
      readModel(R"({"text_config":{"head_dim":64,"hidden_size":2880,)"
                R"("intermediate_size":2880,"num_attention_heads":64,)"
                R"("num_experts_per_tok":4,"num_hidden_layers":36,)"
                R"("num_key_value_heads":8,"num_local_experts":128}})");
  ASSERT_TRUE(layers) << textOf(layers);
  compare(*layers, {{"qkv", 5120, 2880, 36},
                    {"o", 2880, 4096, 36},
                    {"expert gate_up", 5760, 2880, 36},
                    {"expert down", 2880, 2880, 36}});
  EXPECT_EQ((*layers)[2].experts, 128);
  EXPECT_EQ((*layers)[2].expertsPerToken, 4);
}

TEST(Model, Qwen3) {
  // Of 32B and 30B-A3B: heads that are wider than hidden_size / heads.
  auto dense = readModel(
      R"({"head_dim":128,"hidden_size":5120,"intermediate_size":25600,)"
      R"("num_attention_heads":64,"num_hidden_layers":64,)"
      R"("num_key_value_heads":8})");
  ASSERT_TRUE(dense) << textOf(dense);
  compare(*dense, {{"qkv", 10240, 5120, 64},
                   {"o", 5120, 8192, 64},
                   {"gate_up", 51200, 5120, 64},
                   {"down", 5120, 25600, 64}});
  auto mixed = readModel(
      R"({"decoder_sparse_step":1,"head_dim":128,"hidden_size":2048,)"
      R"("intermediate_size":6144,"mlp_only_layers":[],)"
      R"("moe_intermediate_size":768,"num_attention_heads":32,)"
      R"("num_experts":128,"num_experts_per_tok":8,"num_hidden_layers":48,)"
      R"("num_key_value_heads":4})");
  ASSERT_TRUE(mixed) << textOf(mixed);
  compare(*mixed, {{"qkv", 5120, 2048, 48},
                   {"o", 2048, 4096, 48},
                   {"expert gate_up", 1536, 2048, 48},
                   {"expert down", 2048, 768, 48}});
  EXPECT_EQ((*mixed)[2].experts, 128);
  EXPECT_EQ((*mixed)[2].expertsPerToken, 8);
  // Where only some layers are mixtures.
  auto some = readModel(
      R"({"decoder_sparse_step":2,"head_dim":128,"hidden_size":2048,)"
      R"("intermediate_size":6144,"mlp_only_layers":[3],)"
      R"("moe_intermediate_size":768,"num_attention_heads":32,)"
      R"("num_experts":128,"num_experts_per_tok":8,"num_hidden_layers":48,)"
      R"("num_key_value_heads":4})");
  ASSERT_TRUE(some) << textOf(some);
  compare(*some, {{"qkv", 5120, 2048, 48},
                  {"o", 2048, 4096, 48},
                  {"expert gate_up", 1536, 2048, 23},
                  {"expert down", 2048, 768, 23},
                  {"gate_up", 12288, 2048, 25},
                  {"down", 2048, 6144, 25}});
}

TEST(Model, LlamaOf405BAndScout) {
  auto dense = readModel(R"({"hidden_size":16384,"intermediate_size":53248,)"
                         R"("num_attention_heads":128,"num_hidden_layers":126,)"
                         R"("num_key_value_heads":8})");
  ASSERT_TRUE(dense) << textOf(dense);
  compare(*dense, {{"qkv", 18432, 16384, 126},
                   {"o", 16384, 16384, 126},
                   {"gate_up", 106496, 16384, 126},
                   {"down", 16384, 53248, 126}});
  // Llama 4: every layer has experts and one shared expert beside them.
  auto scout =
      readModel(R"({"text_config":{"head_dim":128,"hidden_size":5120,)"
                R"("interleave_moe_layer_step":1,"intermediate_size":8192,)"
                R"("intermediate_size_mlp":16384,"model_type":"llama4_text",)"
                R"("num_attention_heads":40,"num_experts_per_tok":1,)"
                R"("num_hidden_layers":48,"num_key_value_heads":8,)"
                R"("num_local_experts":16}})");
  ASSERT_TRUE(scout) << textOf(scout);
  compare(*scout, {{"qkv", 7168, 5120, 48},
                   {"o", 5120, 5120, 48},
                   {"expert gate_up", 16384, 5120, 48},
                   {"expert down", 5120, 8192, 48},
                   {"shared gate_up", 16384, 5120, 48},
                   {"shared down", 5120, 8192, 48}});
  // Of Maverick, every second layer is dense, and wider.
  auto maverick =
      readModel(R"({"text_config":{"head_dim":128,"hidden_size":5120,)"
                R"("interleave_moe_layer_step":2,"intermediate_size":8192,)"
                R"("intermediate_size_mlp":16384,"model_type":"llama4_text",)"
                R"("num_attention_heads":40,"num_experts_per_tok":1,)"
                R"("num_hidden_layers":48,"num_key_value_heads":8,)"
                R"("num_local_experts":128}})");
  ASSERT_TRUE(maverick) << textOf(maverick);
  compare(*maverick, {{"qkv", 7168, 5120, 48},
                      {"o", 5120, 5120, 48},
                      {"expert gate_up", 16384, 5120, 24},
                      {"expert down", 5120, 8192, 24},
                      {"shared gate_up", 16384, 5120, 24},
                      {"shared down", 5120, 8192, 24},
                      {"gate_up", 32768, 5120, 24},
                      {"down", 5120, 16384, 24}});
}

TEST(Model, Refusals) {
  auto errorOf = [](const std::string &text) {
    return textOf(readModel(text));
  };
  EXPECT_EQ(errorOf("{"), "expected a configuration in JSON");
  EXPECT_EQ(errorOf("[]"), "expected a configuration in JSON");
  EXPECT_EQ(errorOf("{}"), "no 'hidden_size'");
  EXPECT_EQ(errorOf(R"({"hidden_size":-1})"),
            "'hidden_size' is -1; legal is 0 to 1048576");
  EXPECT_EQ(errorOf(R"({"hidden_size":64,"num_hidden_layers":1,)"
                    R"("num_attention_heads":1})"),
            "no 'intermediate_size'");
  EXPECT_EQ(errorOf("{\"a\":" + std::string(1 << 20, '[')),
            "expected a configuration in JSON");
}

} // namespace
