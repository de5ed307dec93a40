//===- PackPlan.cpp - which tensors packing writes ------------------------===//
//
// Part of the blockscale project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "PackPlan.h"
#include "Json.h"
#include "Names.h"
#include "Recognizer.h"
#include "blockscale/Checkpoint/TensorWriter.h"
#include "blockscale/Checkpoint/Values.h"
#include "blockscale/HW/ScaleLayout.h"
#include "blockscale/Packing/QuantizeTiles.h"

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
      : checkpoint(checkpoint), options(options),
        convention(conventionOf(options.family)), forNumpy(forNumpy) {
    plan.isTiled = options.tiled || (convention.isTiled && !forNumpy);
    plan.highNibbleFirst = convention.highNibbleFirst && !forNumpy;
  }

  std::string add(const QuantizedTensor &tensor);
  std::string finish();

  PackPlan plan;

private:
  bool isSelected(const QuantizedTensor &tensor) const;
  std::string whyNotSame(const QuantizedTensor &tensor,
                         packing::BlockFormat &format) const;
  std::string whyNotSameBlocks(const QuantizedTensor &tensor) const;
  std::string whyNotNames(const QuantizedTensor &tensor,
                          std::string_view format) const;
  std::string whyNotBlocks(const QuantizedTensor &tensor) const;
  Names namesOf(const QuantizedTensor &tensor, bool isPacked) const;
  size_t addOutput(std::string name, DType dtype, std::vector<uint64_t> shape);
  void addBlocks(ParameterPlan &parameter);
  std::vector<uint64_t> tiledScaleShape(const std::vector<uint64_t> &leading,
                                        uint64_t rows, uint64_t blocks) const;
  void addFp8Blocks(ParameterPlan &parameter);
  void addGlobals(ParameterPlan &parameter, const Names &names);
  void addTorchao(const ParameterPlan &parameter);
  void copy(const QuantizedTensor &tensor);

  const Checkpoint &checkpoint;
  const PackOptions &options;
  const Convention &convention;
  bool forNumpy;
  /// Of parameters that changed: what the input's metadata say is over.
  std::set<std::string> changed;
};
} // namespace

/// Tensors without a name of their own in a file, such as those of .npy, still
/// get names that `check` understands.
static std::string prefixOf(const std::string &name) {
  constexpr std::string_view kWeight = ".weight";
  return endsWith(name, kWeight) ? name.substr(0, name.size() - kWeight.size())
                                 : name;
}

Names Planner::namesOf(const QuantizedTensor &tensor, bool isPacked) const {
  if (forNumpy)
    return {"data", "scales", "tensor_scale", "input_scale", "metadata"};
  std::string prefix = prefixOf(tensor.name);
  auto name = [&](std::string_view suffix) {
    return prefix + std::string(suffix);
  };
  const NameSuffixes &of = convention.suffixes;
  return {name(isPacked ? of.packedElements : of.elements), name(of.scales),
          name(of.globalScale), name(of.inputScale), name(of.metadata)};
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

/// FP8 in blocks that packing knows.
static bool isFp8Blocks(const QuantizedTensor &tensor) {
  return tensor.element == ElementFormat::E4M3 && tensor.scales &&
         tensor.blockRows > 1 && tensor.blockColumns > 1;
}

/// Why FP8 in blocks has no other names than it has.
std::string Planner::whyNotSameBlocks(const QuantizedTensor &tensor) const {
  bool isUsual = tensor.blockRows == packing::kFp8Tile &&
                 tensor.blockColumns == packing::kFp8Tile;
  if (!isUsual)
    return "'" + tensor.name + "' has blocks of " +
           std::to_string(tensor.blockRows) + " x " +
           std::to_string(tensor.blockColumns) +
           ", which a configuration must say; legal is 128 x 128";
  // Numbers that are powers of two become exponents; packing finds out.
  bool isExponents =
      tensor.scaleFormat == ElementFormat::UE8M0 ||
      (convention.formats & (kFp8Blocks | kFp8BlocksUe8m0)) == kFp8BlocksUe8m0;
  return whyNotNames(tensor,
                     isExponents ? kFp8BlocksUe8m0Name : kFp8BlocksName);
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
  if (tensor.shape.empty())
    return name + " and a scalar; expected a matrix";
  if (isFp8Blocks(tensor))
    return whyNotSameBlocks(tensor);
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
  return whyNotNames(tensor, packing::blockFormatName(format));
}

/// Why the family has no names for the format, or does not store its rows.
std::string Planner::whyNotNames(const QuantizedTensor &tensor,
                                 std::string_view format) const {
  if (forNumpy)
    return "";
  std::string why = whyNoNames(convention, format);
  if (!why.empty())
    return "'" + tensor.name + "': " + why;
  bool isPackedFp6 =
      options.family == Family::CompressedTensors && format == "mxfp6-e2m3";
  if (isPackedFp6 && plan.isTiled)
    return "'" + tensor.name +
           "': compressed-tensors tells 6-bit elements from those of 4 bits by "
           "scales in rows; legal is --scales=rows";
  bool isMatrixOnly = convention.splitsBlocks || format == kFp8BlocksName ||
                      format == kFp8BlocksUe8m0Name;
  if (isMatrixOnly && tensor.shape.size() < 2)
    return "'" + tensor.name + "' is no matrix, and " + std::string(format) +
           " of " + std::string(familyName(convention.family)) +
           " is of matrices";
  if (convention.splitsBlocks && tensor.columns() % kMxBlock != 0)
    return "'" + tensor.name + "' has rows of " +
           std::to_string(tensor.columns()) + " elements; " +
           std::string(familyName(convention.family)) +
           " has whole blocks of " + std::to_string(kMxBlock);
  return "";
}

/// Why values of that shape are not stored in blocks.
std::string Planner::whyNotBlocks(const QuantizedTensor &tensor) const {
  std::string why;
  if (options.to == PackTo::Blocks)
    why = whyNotNames(tensor, packing::blockFormatName(options.format));
  else if (options.to == PackTo::Fp8Blocks)
    why = whyNotNames(tensor, options.powersOfTwo ? kFp8BlocksUe8m0Name
                                                  : kFp8BlocksName);
  if (!why.empty())
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
  if (convention.splitsBlocks && !forNumpy) {
    shape.back() = blocks;
    shape.push_back(packing::packedRowBytes(format, format.block));
  }
  parameter.elements = addOutput(names.elements, dtype, shape);
  DType scaleType = format.hasTensorScale() ? DType::F8E4M3
                    : forNumpy              ? DType::U8
                                            : convention.exponents;
  std::vector<uint64_t> scaleShape = with({rows, blocks});
  if (plan.isTiled)
    scaleShape = tiledScaleShape(leading, rows, blocks);
  else if (tensor.shape.size() == 1)
    scaleShape = {blocks};
  parameter.scales = addOutput(names.scales, scaleType, scaleShape);
  addGlobals(parameter, names);
  if (!convention.suffixes.mark.empty() && !forNumpy)
    parameter.mark =
        addOutput(prefixOf(tensor.name) + std::string(convention.suffixes.mark),
                  DType::U8, {kComfyMark.size()});
  if (!isCompressed)
    return;
  std::vector<uint64_t> metadataShape = with({rows, metadataBytes});
  if (plan.isTiled)
    metadataShape = with({hw::ceilDiv(metadataBytes, hw::kMetadataTileBytes),
                          hw::ceilDiv(rows, hw::kMetadataTileRows),
                          hw::kMetadataTileRows, hw::kMetadataTileBytes});
  parameter.metadata = addOutput(names.metadata, DType::U8, metadataShape);
}

/// Of scales in atoms behind the `leading` dimensions.
std::vector<uint64_t>
Planner::tiledScaleShape(const std::vector<uint64_t> &leading, uint64_t rows,
                         uint64_t blocks) const {
  uint64_t down = hw::ceilDiv(rows, hw::kAtomRows);
  uint64_t across = hw::ceilDiv(blocks, hw::kAtomScales);
  uint64_t perLane = hw::kAtomBytes / hw::kAtomLanes;
  std::vector<uint64_t> inAtoms{down, across, hw::kAtomLanes,
                                perLane / hw::kAtomScales, hw::kAtomScales};
  if (options.family == Family::Torchao && !forNumpy)
    inAtoms = {down * hw::kAtomLanes, across * perLane};
  else if (convention.isTiled && !forNumpy)
    inAtoms = {down * hw::kAtomRows, across * hw::kAtomScales};
  std::vector<uint64_t> shape = leading;
  shape.insert(shape.end(), inAtoms.begin(), inAtoms.end());
  return shape;
}

/// Elements and scales of a parameter of FP8 in blocks.
void Planner::addFp8Blocks(ParameterPlan &parameter) {
  const QuantizedTensor &tensor = *parameter.input;
  Names names = namesOf(tensor, /*isPacked=*/false);
  parameter.elements = addOutput(names.elements, DType::F8E4M3, tensor.shape);
  std::vector<uint64_t> shape = tensor.shape;
  shape.back() = hw::ceilDiv(shape.back(), packing::kFp8Tile);
  if (shape.size() > 1)
    shape[shape.size() - 2] =
        hw::ceilDiv(shape[shape.size() - 2], packing::kFp8Tile);
  bool isExponents = convention.exponents == DType::F8E8M0 && !forNumpy;
  DType type = isExponents ? DType::F8E8M0 : DType::F32;
  // Numbers that stay numbers keep their type.
  bool isNumber =
      parameter.to == PackTo::Same && dtypeBits(tensor.scales->dtype) > 8;
  if (isNumber && !isExponents)
    type = tensor.scales->dtype;
  parameter.scales = addOutput(names.scales, type, shape);
}

void Planner::addGlobals(ParameterPlan &parameter, const Names &names) {
  const QuantizedTensor &tensor = *parameter.input;
  bool isSame = parameter.to == PackTo::Same;
  // compressed-tensors has vectors of one number.
  std::vector<uint64_t> shape;
  if (convention.divides && !forNumpy)
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
            {"is_swizzled_scales", plan.isTiled},
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
  plan.starts.push_back(plan.outputs.size());
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
  parameter.isFp8Blocks = parameter.to == PackTo::Fp8Blocks ||
                          (parameter.to == PackTo::Same && isFp8Blocks(tensor));
  changed.insert(tensor.name);
  if (options.to == PackTo::F32 || options.to == PackTo::BF16)
    parameter.elements = addOutput(
        forNumpy ? "values" : prefixOf(tensor.name) + ".weight",
        options.to == PackTo::F32 ? DType::F32 : DType::BF16, tensor.shape);
  else if (parameter.isFp8Blocks)
    addFp8Blocks(parameter);
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
