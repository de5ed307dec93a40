//===- Groups.cpp - tensors of one parameter by their names ---------------===//
//
// Part of the blockscale project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Groups.h"
#include "Names.h"

using namespace blockscale;
using namespace blockscale::checkpoint;

namespace {
struct SuffixRow {
  std::string_view suffix;
  Role role;
  /// What stands for the suffix in the parameter's name.
  std::string_view parameter;
  /// A tensor without which the suffix is but a name.
  std::string_view needs = {};
};
} // namespace

static constexpr SuffixRow kSuffixes[] = {
    {".weight_packed", Role::Packed, ".weight"},
    {".weight_scale", Role::Scale, ".weight"},
    {".weight_scale_inv", Role::ScaleInverse, ".weight"},
    {".weight_scale_2", Role::ScaleTwo, ".weight"},
    {".weight_global_scale", Role::GlobalScale, ".weight"},
    {".input_scale", Role::InputScale, ".weight"},
    {".input_global_scale", Role::InputGlobalScale, ".weight"},
    {".weight_shape", Role::LogicalShape, ".weight", ".weight_packed"},
    {".weight_zero_point", Role::ZeroPoint, ".weight", ".weight_packed"},
    {".weight_g_idx", Role::GroupOrder, ".weight", ".weight_packed"},
    {".comfy_quant", Role::ComfyMark, ".weight", ".weight"},
    {".scale", Role::ShortScale, ".weight", ".weight"},
    {"_blocks", Role::Blocks, ""},
    {"_scales", Role::BlockScales, ""},
    {".blocks", Role::OriginalBlocks, ""},
    {".scales", Role::OriginalScales, ""},
};

static constexpr SuffixRow kTorchaoSuffixes[] = {
    {"_qdata", Role::TorchaoData, ""},
    {"_scale", Role::TorchaoScale, ""},
    {"_per_tensor_scale", Role::TorchaoGlobalScale, ""},
};

std::string_view checkpoint::lastComponent(const Tensor &tensor) {
  return std::string_view(tensor.name).substr(tensor.name.rfind('.') + 1);
}

/// torchao writes the parts of `P.weight` as `P._weight_PART`.
static std::optional<std::pair<std::string, Role>>
torchaoRole(const Tensor &tensor) {
  std::string_view last = lastComponent(tensor);
  if (last.size() < 2 || last[0] != '_')
    return std::nullopt;
  const SuffixRow *longest = nullptr;
  for (const SuffixRow &row : kTorchaoSuffixes)
    if (endsWith(last, row.suffix) &&
        (!longest || row.suffix.size() > longest->suffix.size()))
      longest = &row;
  if (!longest)
    return std::nullopt;
  std::string name =
      tensor.name.substr(0, tensor.name.size() - last.size()) +
      std::string(last.substr(1, last.size() - 1 - longest->suffix.size()));
  return std::pair(name, longest->role);
}

static std::pair<std::string, Role> roleOf(const Checkpoint &checkpoint,
                                           const Tensor &tensor) {
  if (auto torchao = torchaoRole(tensor))
    return *torchao;
  for (const SuffixRow &row : kSuffixes) {
    if (!endsWith(tensor.name, row.suffix))
      continue;
    std::string stem =
        tensor.name.substr(0, tensor.name.size() - row.suffix.size());
    if (!row.needs.empty() && !checkpoint.find(stem + std::string(row.needs)))
      continue;
    return {stem + std::string(row.parameter), row.role};
  }
  return {tensor.name, Role::Weight};
}

std::map<std::string, Group>
checkpoint::groupTensors(const Checkpoint &checkpoint) {
  std::map<std::string, Group> groups;
  for (const Tensor &tensor : checkpoint.tensors()) {
    auto [name, role] = roleOf(checkpoint, tensor);
    groups[name].parts[static_cast<unsigned>(role)] = &tensor;
  }
  return groups;
}
