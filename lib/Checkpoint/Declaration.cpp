//===- Declaration.cpp - what a model's configuration says ----------------===//
//
// Part of the blockscale project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Json.h"
#include "blockscale/Checkpoint/Checkpoint.h"

using namespace blockscale;
using namespace blockscale::checkpoint;
using nlohmann::json;

static void takeText(const json &object, const char *key, std::string &text) {
  auto found = object.find(key);
  if (text.empty() && found != object.end() && found->is_string())
    text = found->get<std::string>();
}

static void takeNumber(const json &object, const char *key,
                       std::optional<uint64_t> &number) {
  auto found = object.find(key);
  if (!number && found != object.end() && found->is_number_unsigned())
    number = found->get<uint64_t>();
}

static void takeBlock(const json &object, const char *key,
                      Declaration &declared) {
  auto found = object.find(key);
  if (declared.weightBlock || found == object.end() || !found->is_array() ||
      found->size() != 2 || !(*found)[0].is_number_unsigned() ||
      !(*found)[1].is_number_unsigned())
    return;
  declared.weightBlock = {(*found)[0].get<uint64_t>(),
                          (*found)[1].get<uint64_t>()};
}

/// compressed-tensors says how weights are grouped in each of its groups.
static void takeConfigGroups(const json &object, Declaration &declared) {
  auto groups = object.find("config_groups");
  if (groups == object.end() || !groups->is_object())
    return;
  for (const auto &group : groups->items()) {
    if (!group.value().is_object())
      continue;
    takeText(group.value(), "format", declared.format);
    auto weights = group.value().find("weights");
    if (weights == group.value().end() || !weights->is_object())
      continue;
    takeNumber(*weights, "group_size", declared.groupSize);
    takeBlock(*weights, "block_structure", declared);
  }
}

static void takeQuantization(const json &object, Declaration &declared) {
  takeText(object, "quant_method", declared.method);
  takeText(object, "format", declared.format);
  takeText(object, "quant_algo", declared.format);
  takeText(object, "scale_fmt", declared.scaleFormat);
  takeNumber(object, "group_size", declared.groupSize);
  takeBlock(object, "weight_block_size", declared);
  takeConfigGroups(object, declared);
  auto swaps = object.find("swap_weight_nibbles");
  if (swaps != object.end() && swaps->is_boolean())
    declared.swapsNibbles |= swaps->get<bool>();
}

/// Models of several parts say it of each part.
static void takeObject(const json &object, Declaration &declared) {
  takeText(object, "expert_dtype", declared.expertType);
  auto take = [&](const char *key) {
    auto found = object.find(key);
    if (found != object.end() && found->is_object())
      takeQuantization(*found, declared);
  };
  take("quantization_config");
  // hf_quant_config.json of ModelOpt.
  take("quantization");
  auto producer = object.find("producer");
  if (producer != object.end() && producer->is_object() &&
      declared.method.empty())
    takeText(*producer, "name", declared.method);
  for (const char *part : {"text_config", "llm_config", "language_config"}) {
    auto found = object.find(part);
    if (found != object.end() && found->is_object())
      takeObject(*found, declared);
  }
}

Result<Declaration> checkpoint::parseDeclaration(std::string_view text) {
  Result<json> value = parseJson(text);
  if (!value)
    return value.why();
  if (!value->is_object())
    return Reason("expected an object");
  Declaration declared;
  takeObject(*value, declared);
  return declared;
}
