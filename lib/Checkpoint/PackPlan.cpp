//===- PackPlan.cpp - which tensors packing writes ------------------------===//
//
// Part of the blockscale project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "PackPlan.h"
#include "Json.h"
#include "blockscale/Checkpoint/TensorWriter.h"
#include "blockscale/Checkpoint/Values.h"
#include "blockscale/HW/ScaleLayout.h"

#include <set>

using namespace blockscale;
using namespace blockscale::checkpoint;

bool checkpoint::matches(std::string_view name, std::string_view pattern) {
  // The last star is the only one that may have to take more.
  size_t at = 0, star = std::string_view::npos, taken = 0, i = 0;
  while (at < name.size()) {
    if (i < pattern.size() && pattern[i] == '*') {
      star = i++;
      taken = at;
    } else if (i < pattern.size() && pattern[i] == name[at]) {
      ++i;
      ++at;
    } else if (star != std::string_view::npos) {
      i = star + 1;
      at = ++taken;
    } else {
      return false;
    }
  }
  while (i < pattern.size() && pattern[i] == '*')
    ++i;
  return i == pattern.size();
}

namespace {
/// Names of a parameter's tensors.
struct Names {
  std::string elements, scales, globalScale, inputScale, metadata;
};

class Planner {
public:
  Planner(const Checkpoint &checkpoint, const PackOptions &options,
          bool forNumpy)
      : checkpoint(checkpoint), options(options), forNumpy(forNumpy) {}

  std::string add(const QuantizedTensor &tensor);
  std::string finish();

  PackPlan plan;

private:
  bool isSelected(const QuantizedTensor &tensor) const;
  std::string whyNotSame(const QuantizedTensor &tensor,
                         packing::BlockFormat &format) const;
  std::string whyNotNames(const QuantizedTensor &tensor,
                          const packing::BlockFormat &format) const;
  std::string whyNotBlocks(const QuantizedTensor &tensor) const;
  Names namesOf(const QuantizedTensor &tensor, bool isPacked) const;
  size_t addOutput(std::string name, DType dtype, std::vector<uint64_t> shape);
  void addBlocks(ParameterPlan &parameter);
  void addGlobals(ParameterPlan &parameter, const Names &names);
  void addTorchao(const ParameterPlan &parameter);
  void copy(const QuantizedTensor &tensor);

  const Checkpoint &checkpoint;
  const PackOptions &options;
  bool forNumpy;
  /// Of parameters that changed: what the input's metadata say is over.
  std::set<std::string> changed;
};
} // namespace

/// Tensors without a name of their own in a file, such as those of .npy, still
/// get names that `check` understands.
static std::string prefixOf(const std::string &name) {
  constexpr std::string_view kWeight = ".weight";
  bool isWeight =
      name.size() > kWeight.size() &&
      name.compare(name.size() - kWeight.size(), kWeight.size(), kWeight) == 0;
  return isWeight ? name.substr(0, name.size() - kWeight.size()) : name;
}

Names Planner::namesOf(const QuantizedTensor &tensor, bool isPacked) const {
  if (forNumpy)
    return {"data", "scales", "tensor_scale", "input_scale", "metadata"};
  std::string prefix = prefixOf(tensor.name);
  if (options.family == Family::Torchao)
    return {prefix + "._weight_qdata", prefix + "._weight_scale",
            prefix + "._weight_per_tensor_scale",
            prefix + "._weight_act_per_tensor_scale",
            prefix + "._weight_metadata"};
  if (options.family == Family::CompressedTensors)
    return {prefix + (isPacked ? ".weight_packed" : ".weight"),
            prefix + ".weight_scale", prefix + ".weight_global_scale",
            prefix + ".input_global_scale", prefix + ".weight_metadata"};
  return {prefix + ".weight", prefix + ".weight_scale",
          prefix + ".weight_scale_2", prefix + ".input_scale",
          prefix + ".weight_metadata"};
}

size_t Planner::addOutput(std::string name, DType dtype,
                          std::vector<uint64_t> shape) {
  TensorEntry entry;
  entry.name = std::move(name);
  entry.dtype = dtype;
  entry.shape = std::move(shape);
  plan.outputs.push_back(std::move(entry));
  return plan.outputs.size() - 1;
}

bool Planner::isSelected(const QuantizedTensor &tensor) const {
  if (!tensor.elements)
    return false;
  for (const std::string &pattern : options.tensors)
    if (matches(tensor.name, pattern))
      return true;
  if (!options.tensors.empty())
    return false;
  bool isMatrix = tensor.shape.size() >= 2;
  bool isNumbers = isMatrix && ValueReader::whyNot(tensor).empty();
  return tensor.isQuantized() || (options.to != PackTo::Same && isNumbers);
}

void Planner::copy(const QuantizedTensor &tensor) {
  for (const Tensor *part : tensor.parts)
    plan.copies.push_back(
        {part, addOutput(part->name, part->dtype, part->shape)});
}

/// Why the values of a parameter have no other names and layouts than they
/// have; `format` is what they are.
std::string Planner::whyNotSame(const QuantizedTensor &tensor,
                                packing::BlockFormat &format) const {
  std::string name = "'" + tensor.name + "' is " + tensor.format + " of " +
                     std::string(familyName(tensor.family));
  if (!tensor.isQuantized())
    return "'" + tensor.name +
           "' is not quantised: there is nothing to "
           "convert; quantise it with --to";
  bool hasFormat = tensor.element && tensor.scaleFormat && tensor.scales &&
                   dtypeBits(tensor.scales->dtype) == 8 &&
                   tensor.blockRows == 1;
  if (hasFormat) {
    format.element = *tensor.element;
    format.scale = *tensor.scaleFormat;
    format.block = unsigned(tensor.blockColumns);
    hasFormat = !packing::blockFormatName(format).empty();
  }
  if (!hasFormat)
    return name + ", which no other family has; quantise it anew with --to";
  bool lacksGlobal = format.hasTensorScale() && !tensor.globalScale;
  if (lacksGlobal && options.family != Family::Torchao)
    return name + " without a global scale, which " +
           std::string(familyName(options.family)) + " must have";
  return whyNotNames(tensor, format);
}

/// Why the family has no names for the format: of 6-bit elements,
/// compressed-tensors has e2m3 alone and torchao another order.
std::string Planner::whyNotNames(const QuantizedTensor &tensor,
                                 const packing::BlockFormat &format) const {
  bool isFp6 = formatInfo(format.element).storageBits == 6;
  bool isCompressed = options.family == Family::CompressedTensors &&
                      format.element == ElementFormat::E2M3;
  if (forNumpy || !isFp6 || isCompressed || options.family == Family::ModelOpt)
    return "";
  return "'" + tensor.name + "': " + std::string(familyName(options.family)) +
         " has no names for " + std::string(packing::blockFormatName(format));
}

/// Why values of that shape are not stored in blocks.
std::string Planner::whyNotBlocks(const QuantizedTensor &tensor) const {
  std::string why = whyNotNames(tensor, options.format);
  if (options.to == PackTo::Blocks && !why.empty())
    return why;
  std::string what = "'" + tensor.name + "' has rows of " +
                     std::to_string(tensor.columns()) + " elements; ";
  if (tensor.shape.empty())
    return "'" + tensor.name + "' is a scalar; expected a matrix";
  uint64_t kept = tensor.columns();
  if (options.prune) {
    hw::SparsePatternInfo info = hw::patternInfo(*options.prune);
    uint64_t multiple = options.compress ? 2 * info.chunk : info.chunk;
    if (kept % multiple != 0)
      return what + std::string(hw::patternName(*options.prune)) +
             " needs a "
             "multiple "
             "of " +
             std::to_string(multiple);
    if (options.compress)
      kept = kept / info.chunk * info.stored;
  }
  unsigned bits = formatInfo(options.format.element).storageBits;
  if (options.to == PackTo::Blocks && kept * bits % 8 != 0)
    return what + "rows of " + std::to_string(bits) +
           " bits an element must be whole bytes";
  return "";
}

/// Elements, scales and metadata of a parameter in blocks.
void Planner::addBlocks(ParameterPlan &parameter) {
  const QuantizedTensor &tensor = *parameter.input;
  const packing::BlockFormat &format = parameter.format;
  bool isFp4 = format.element == ElementFormat::E2M1;
  bool isBytes = isFp4 || (options.family == Family::CompressedTensors &&
                           format.element == ElementFormat::E2M3 && !forNumpy);
  Names names = namesOf(tensor, isBytes);
  std::vector<uint64_t> shape = tensor.shape;
  bool isCompressed = options.compress && parameter.to == PackTo::Blocks;
  uint64_t metadataBytes = 0;
  if (isCompressed) {
    hw::SparsePatternInfo info = hw::patternInfo(*options.prune);
    metadataBytes = shape.back() / hw::elementsPerMetadataByte(*options.prune);
    shape.back() = shape.back() / info.chunk * info.stored;
  }
  uint64_t rows = tensor.rows();
  uint64_t blocks = packing::scalesPerRow(format, shape.back());
  std::vector<uint64_t> leading(shape.begin(),
                                shape.end() - (shape.size() > 1 ? 2 : 1));
  auto with = [&](std::initializer_list<uint64_t> rest) {
    std::vector<uint64_t> all = leading;
    all.insert(all.end(), rest);
    return all;
  };
  DType dtype = DType::U8;
  for (unsigned i = 0; i < kNumDTypes && !isBytes; ++i)
    if (elementFormat(static_cast<DType>(i)) == format.element)
      dtype = static_cast<DType>(i);
  if (isBytes)
    shape.back() = packing::packedRowBytes(format, shape.back());
  parameter.elements = addOutput(names.elements, dtype, shape);
  bool isTorchao = options.family == Family::Torchao && !forNumpy;
  DType scaleType = format.hasTensorScale() ? DType::F8E4M3
                    : isTorchao             ? DType::F8E8M0
                                            : DType::U8;
  uint64_t down = hw::ceilDiv(rows, hw::kAtomRows);
  uint64_t across = hw::ceilDiv(blocks, hw::kAtomScales);
  uint64_t perLane = hw::kAtomBytes / hw::kAtomLanes;
  std::vector<uint64_t> scaleShape = with({rows, blocks});
  if (options.tiled && isTorchao)
    scaleShape = with({down * hw::kAtomLanes, across * perLane});
  else if (options.tiled)
    scaleShape = with({down, across, hw::kAtomLanes, perLane / hw::kAtomScales,
                       hw::kAtomScales});
  else if (tensor.shape.size() == 1)
    scaleShape = {blocks};
  parameter.scales = addOutput(names.scales, scaleType, scaleShape);
  addGlobals(parameter, names);
  if (!isCompressed)
    return;
  std::vector<uint64_t> metadataShape = with({rows, metadataBytes});
  if (options.tiled)
    metadataShape = with({hw::ceilDiv(metadataBytes, hw::kMetadataTileBytes),
                          hw::ceilDiv(rows, hw::kMetadataTileRows),
                          hw::kMetadataTileRows, hw::kMetadataTileBytes});
  parameter.metadata = addOutput(names.metadata, DType::U8, metadataShape);
}

void Planner::addGlobals(ParameterPlan &parameter, const Names &names) {
  const QuantizedTensor &tensor = *parameter.input;
  bool isSame = parameter.to == PackTo::Same;
  // compressed-tensors has vectors of one number.
  std::vector<uint64_t> shape;
  if (options.family == Family::CompressedTensors && !forNumpy)
    shape = {1};
  bool hasGlobal = isSame ? tensor.globalScale != nullptr
                          : parameter.format.hasTensorScale();
  if (hasGlobal)
    parameter.globalScale = addOutput(names.globalScale, DType::F32, shape);
  if (isSame && tensor.inputScale && tensor.format == "NVFP4")
    parameter.inputScale = addOutput(names.inputScale, DType::F32, shape);
}

/// What torchao's reader looks for beside the tensors.
void Planner::addTorchao(const ParameterPlan &parameter) {
  using json = nlohmann::ordered_json;
  const packing::BlockFormat &format = parameter.format;
  bool isNvfp4 = format.hasTensorScale();
  json names = json::array({"qdata", "scale"});
  if (parameter.globalScale)
    names.push_back("per_tensor_scale");
  json data{{"block_size", format.block},
            {"is_swizzled_scales", options.tiled},
            {"orig_dtype", {{"_type", "torch.dtype"}, {"_data", "bfloat16"}}},
            {"act_quant_kwargs", nullptr}};
  if (isNvfp4) {
    data["use_triton_kernel"] = false;
  } else {
    bool isFp4 = format.element == ElementFormat::E2M1;
    bool isE5m2 = format.element == ElementFormat::E5M2;
    data["elem_dtype"] = {{"_type", "torch.dtype"},
                          {"_data", isFp4    ? "float4_e2m1fn_x2"
                                    : isE5m2 ? "float8_e5m2"
                                             : "float8_e4m3fn"}};
    data["kernel_preference"] = {{"_type", "KernelPreference"},
                                 {"_data", "EMULATED"}};
  }
  json object{{"_type", isNvfp4 ? "NVFP4Tensor" : "MXTensor"},
              {"_data", std::move(data)},
              {"_tensor_data_names", std::move(names)}};
  plan.metadata.push_back(
      {prefixOf(parameter.input->name) + ".weight", object.dump()});
}

std::string Planner::add(const QuantizedTensor &tensor) {
  if (!isSelected(tensor)) {
    copy(tensor);
    return "";
  }
  if (std::string why = ValueReader::whyNot(tensor); !why.empty())
    return why;
  ParameterPlan parameter;
  parameter.input = &tensor;
  parameter.to = options.to;
  parameter.format = options.format;
  std::string why = options.to == PackTo::Same
                        ? whyNotSame(tensor, parameter.format)
                        : whyNotBlocks(tensor);
  if (!why.empty())
    return why;
  changed.insert(tensor.name);
  if (options.to == PackTo::F32 || options.to == PackTo::BF16)
    parameter.elements = addOutput(
        forNumpy ? "values" : prefixOf(tensor.name) + ".weight",
        options.to == PackTo::F32 ? DType::F32 : DType::BF16, tensor.shape);
  else
    addBlocks(parameter);
  if (options.family == Family::Torchao && parameter.scales && !forNumpy)
    addTorchao(parameter);
  plan.parameters.push_back(parameter);
  return "";
}

std::string Planner::finish() {
  if (plan.parameters.empty())
    return options.tensors.empty()
               ? "there is nothing to pack: no parameter is quantised, or a "
                 "matrix of numbers"
               : "no parameter has a name like those of --tensors";
  if (forNumpy && (plan.parameters.size() != 1 || !plan.copies.empty()))
    return ".npy files hold one parameter; name a .safetensors file for " +
           std::to_string(plan.parameters.size()) + " and what is copied";
  std::set<std::string_view> names;
  for (const TensorEntry &entry : plan.outputs)
    if (!names.insert(entry.name).second)
      return "two tensors would be called '" + entry.name + "'";
  std::set<std::string> known;
  for (const auto &each : plan.metadata)
    known.insert(each.first);
  for (const auto &each : checkpoint.metadata()) {
    bool isOurs = each.first.rfind(checksumKey(""), 0) == 0 ||
                  changed.count(each.first) || known.count(each.first) ||
                  each.first == "tensor_names";
    if (!isOurs)
      plan.metadata.push_back(each);
  }
  if (options.family == Family::Torchao && !forNumpy) {
    nlohmann::json list = nlohmann::json::array();
    for (const ParameterPlan &parameter : plan.parameters)
      list.push_back(prefixOf(parameter.input->name) + ".weight");
    for (const CopyPlan &each : plan.copies) {
      list.push_back(each.input->name);
      plan.metadata.push_back({each.input->name, R"({"_type": "Tensor"})"});
    }
    plan.metadata.push_back({"tensor_names", list.dump()});
  }
  return "";
}

Result<PackPlan>
checkpoint::planPack(const Checkpoint &checkpoint,
                     const std::vector<QuantizedTensor> &parameters,
                     const PackOptions &options, bool forNumpy) {
  Planner planner(checkpoint, options, forNumpy);
  std::string error;
  for (const QuantizedTensor &tensor : parameters)
    if (error = planner.add(tensor); !error.empty())
      return Reason(error);
  if (error = planner.finish(); !error.empty())
    return Reason(error);
  return std::move(planner.plan);
}
