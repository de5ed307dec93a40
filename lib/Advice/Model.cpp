//===- Model.cpp - the products of a model's layers -----------------------===//
//
// Part of the blockscale project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "blockscale/Advice/Model.h"

#include <algorithm>
#include <nlohmann/json.hpp>

using namespace blockscale;
using namespace blockscale::advice;
using nlohmann::json;

/// Keeps sums and products of a few of them within 63 bits.
static constexpr int64_t kLargest = int64_t(1) << 20;

namespace {
/// Numbers of a configuration.
class Config {
public:
  explicit Config(const json &object) : object(object) {}

  /// The first of the names that is there; 0 without any.
  int64_t get(std::initializer_list<const char *> names) {
    for (const char *name : names) {
      auto found = object.find(name);
      if (found == object.end() || !found->is_number_integer())
        continue;
      auto value = found->get<int64_t>();
      if (value < 0 || value > kLargest)
        problem = "'" + std::string(name) + "' is " + found->dump() +
                  "; legal is 0 to " + std::to_string(kLargest);
      else
        return value;
    }
    return 0;
  }
  /// The same of what must be there.
  int64_t need(std::initializer_list<const char *> names) {
    int64_t value = get(names);
    if (value == 0 && problem.empty())
      problem = "no '" + std::string(*names.begin()) + "'";
    return value;
  }

  bool has(const char *name) const { return object.contains(name); }
  /// Whether the list of that name, if there is one, has the number.
  bool lists(const char *name, int64_t number) const {
    auto found = object.find(name);
    return found != object.end() && found->is_array() &&
           std::find(found->begin(), found->end(), json(number)) !=
               found->end();
  }

  std::string problem;

private:
  const json &object;
};
} // namespace

/// Queries, keys and values from latent vectors, as in DeepSeek V2 and V3.
static void addLatentAttention(Config &config, int64_t hidden, int64_t layers,
                               std::vector<Layer> &result) {
  int64_t heads = config.need({"num_attention_heads"});
  int64_t plain = config.need({"qk_nope_head_dim"});
  int64_t rotated = config.need({"qk_rope_head_dim"});
  int64_t value = config.need({"v_head_dim"});
  int64_t latent = config.need({"kv_lora_rank"});
  int64_t query = config.get({"q_lora_rank"});
  if (query) {
    result.push_back({"q_a + kv_a", query + latent + rotated, hidden, layers});
    result.push_back({"q_b", heads * (plain + rotated), query, layers});
  } else {
    result.push_back({"q", heads * (plain + rotated), hidden, layers});
    result.push_back({"kv_a", latent + rotated, hidden, layers});
  }
  result.push_back({"kv_b", heads * (plain + value), latent, layers});
  result.push_back({"o", hidden, heads * value, layers});
}

static void addAttention(Config &config, int64_t hidden, int64_t layers,
                         std::vector<Layer> &result) {
  if (config.get({"kv_lora_rank"})) {
    addLatentAttention(config, hidden, layers, result);
    return;
  }
  int64_t heads = config.need({"num_attention_heads"});
  int64_t groups = config.get({"num_key_value_heads"});
  int64_t size = config.get({"head_dim"});
  if (groups == 0)
    groups = heads;
  if (size == 0 && heads != 0)
    size = hidden / heads;
  result.push_back({"qkv", (heads + 2 * groups) * size, hidden, layers});
  result.push_back({"o", hidden, heads * size, layers});
}

/// Layers without experts in a model that has some: the first few, all but each
/// n-th, and those of a list, as the names of the configuration say.
static int64_t denseLayers(Config &config, int64_t layers) {
  int64_t first = config.get({"first_k_dense_replace"});
  int64_t step = std::max<int64_t>(
      1, config.get({"interleave_moe_layer_step", "decoder_sparse_step",
                     "moe_layer_freq"}));
  int64_t dense = 0;
  for (int64_t layer = 0; layer < layers; ++layer) {
    // Layer 0 is the first of a step for DeepSeek, the last for others.
    bool isMixed = config.has("moe_layer_freq") ? layer % step == 0
                                                : (layer + 1) % step == 0;
    bool isListed = config.lists("mlp_only_layers", layer);
    dense += layer < first || !isMixed || isListed;
  }
  return dense;
}

static void addFeedForward(Config &config, int64_t hidden, int64_t layers,
                           std::vector<Layer> &result) {
  int64_t experts =
      config.get({"n_routed_experts", "num_local_experts", "num_experts"});
  int64_t dense = layers;
  bool isLlama4 = config.has("intermediate_size_mlp");
  if (experts) {
    dense = denseLayers(config, layers);
    int64_t perToken =
        config.need({"num_experts_per_tok", "experts_per_token"});
    int64_t width = config.get({"moe_intermediate_size"});
    if (width == 0)
      width = config.need({"intermediate_size"});
    int64_t mixed = layers - dense;
    result.push_back(
        {"expert gate_up", 2 * width, hidden, mixed, experts, perToken});
    result.push_back({"expert down", hidden, width, mixed, experts, perToken});
    // Llama 4 has one, and no name for how many.
    int64_t shared = isLlama4 ? 1 : config.get({"n_shared_experts"});
    if (shared) {
      result.push_back({"shared gate_up", 2 * width * shared, hidden, mixed});
      result.push_back({"shared down", hidden, width * shared, mixed});
    }
  }
  if (dense == 0)
    return;
  int64_t width = isLlama4 ? config.need({"intermediate_size_mlp"})
                           : config.need({"intermediate_size"});
  result.push_back({"gate_up", 2 * width, hidden, dense});
  result.push_back({"down", hidden, width, dense});
}

Result<std::vector<Layer>> advice::readModel(std::string_view configJson) {
  // The library's own parser neither recurses nor throws here.
  json object = json::parse(configJson.begin(), configJson.end(), nullptr,
                            /*allow_exceptions=*/false);
  if (!object.is_object())
    return Reason("expected a configuration in JSON");
  for (const char *part : {"text_config", "llm_config", "language_config"}) {
    auto found = object.find(part);
    if (found == object.end() || !found->is_object())
      continue;
    json inner = *found;
    object = std::move(inner);
  }
  Config config(object);
  int64_t hidden = config.need({"hidden_size"});
  int64_t layers = config.need({"num_hidden_layers"});
  std::vector<Layer> result;
  addAttention(config, hidden, layers, result);
  addFeedForward(config, hidden, layers, result);
  if (!config.problem.empty())
    return Reason(config.problem);
  for (const Layer &layer : result)
    if (std::string why = whyNot({1, layer.n, layer.k}); !why.empty())
      return Reason("layer '" + layer.name + "': " + why);
  return result;
}

hw::GemmSize advice::sizeOf(const Layer &layer, int64_t tokens) {
  if (layer.experts <= 1)
    return {tokens, layer.n, layer.k};
  int64_t rows = tokens * layer.expertsPerToken;
  int64_t used = std::min(rows, layer.experts);
  return {(rows + used - 1) / used, layer.n, layer.k, used};
}
