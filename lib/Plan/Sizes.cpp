//===- Sizes.cpp - what a plan says of the sizes of one launch ------------===//
//
// Part of the blockscale project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "blockscale/Plan/Sizes.h"

#include <algorithm>
#include <numeric>

using namespace blockscale;
using namespace blockscale::plan;

static const Size *findSize(const Kernel &kernel, std::string_view name) {
  for (const Size &size : kernel.sizes)
    if (size.name == name)
      return &size;
  return nullptr;
}

static bool hasRole(const Kernel &kernel, std::string_view role) {
  return std::any_of(
      kernel.parameters.begin(), kernel.parameters.end(),
      [&](const Parameter &parameter) { return parameter.role == role; });
}

bool plan::isGrouped(const Kernel &kernel) {
  return hasRole(kernel, kOffsetsRole);
}

bool plan::isGroupedAlongK(const Kernel &kernel) {
  return hasRole(kernel, kOffsetsAlongKRole);
}

uint64_t plan::stepAlongK(const Kernel &kernel) {
  constexpr uint64_t kBits = 256;
  uint64_t step = 1;
  for (const DataPacking &data : kernel.data)
    if (data.operand != "d")
      step = std::max<uint64_t>(
          {step, data.bits ? kBits / data.bits : 1, data.elementMultiple});
  auto add = [&](const std::string &operand, uint64_t block) {
    if (block && operand != "d")
      step = std::min<uint64_t>(std::lcm(step, block), kMaxSize);
  };
  for (const VectorScales &scales : kernel.vectorScales)
    add(scales.operand, scales.block);
  for (const ScalePacking &scales : kernel.scales)
    add(scales.operand, scales.ownBlock());
  return step;
}

bool plan::isMasked(const Kernel &kernel) {
  return hasRole(kernel, kRowCountsRole);
}

bool plan::isGathered(const Kernel &kernel) {
  return hasRole(kernel, kRowNumbersRole);
}

int64_t plan::matricesOf(const Kernel &kernel, std::string_view operand,
                         const Environment &sizes) {
  bool isInput = operand == "a" || operand == "b";
  bool isOne =
      isGroupedAlongK(kernel) ? isInput : operand != "b" && isGrouped(kernel);
  return isOne ? 1 : sizes.at("batch");
}

int64_t plan::clusterCtas(const Kernel &kernel) {
  int64_t ctas = 1;
  for (int64_t extent : kernel.cluster)
    if (ctas <= plan::kMaxSize)
      ctas *= std::clamp<int64_t>(extent, 1, plan::kMaxSize);
  return ctas;
}

/// Why a device of that residency cannot run the kernel; empty if it can.
static std::optional<Reason> whyNotResident(const Kernel &kernel,
                                            const Residency &residency) {
  int64_t ctas = clusterCtas(kernel);
  bool isTooLarge = residency.maxClusters == 0 || residency.numSms < ctas;
  if (residency.numSms > 0 && isTooLarge)
    return "kernel '" + kernel.name + "': " + std::to_string(residency.numSms) +
           " SMs cannot hold a cluster of " + std::to_string(ctas) + " CTAs";
  for (auto [name, value] : {std::pair("num_sms", residency.numSms),
                             std::pair("max_clusters", residency.maxClusters)})
    if (value < 1 || value > plan::kMaxSize)
      return std::string(name) + " is " + std::to_string(value) +
             "; expected 1 to " + std::to_string(plan::kMaxSize);
  return std::nullopt;
}

/// ", but K is 40" for the dynamic sizes.
static std::string sizesText(const Kernel &kernel, const Environment &sizes) {
  std::string text;
  for (const Size &size : kernel.sizes)
    if (!size.value)
      text += (text.empty() ? ", but " : ", ") + size.name + " is " +
              std::to_string(sizes.at(size.name));
  return text;
}

Result<Environment> plan::bindSizes(const Kernel &kernel,
                                    const Environment &given,
                                    const Residency &residency) {
  for (const auto &[name, value] : given)
    if (!findSize(kernel, name))
      return Reason("'" + name + "' is not a size of kernel '" + kernel.name +
                    "'");
  for (const char *name : {"M", "N", "K", "batch"})
    if (!findSize(kernel, name))
      return Reason("the plan of kernel '" + kernel.name + "' has no size '" +
                    name + "'");
  if (auto why = whyNotResident(kernel, residency))
    return *why;
  Environment sizes{{"num_sms", residency.numSms},
                    {"max_clusters", residency.maxClusters}};
  for (const Size &size : kernel.sizes) {
    auto found = given.find(size.name);
    if (found == given.end() && !size.value)
      return Reason("size '" + size.name + "' of kernel '" + kernel.name +
                    "' is dynamic and needs a value");
    int64_t value = found == given.end() ? *size.value : found->second;
    if (size.value && value != *size.value)
      return Reason("size '" + size.name + "' of kernel '" + kernel.name +
                    "' is " + std::to_string(*size.value) + ", not " +
                    std::to_string(value));
    if (value < 1 || value > size.maximum)
      return Reason("size '" + size.name + "' is " + std::to_string(value) +
                    "; expected 1 to " + std::to_string(size.maximum));
    sizes[size.name] = value;
  }
  for (const plan::Limit &limit : kernel.limits) {
    Result<uint64_t> value = evaluateSize(limit.value, sizes);
    if (!value)
      return value.why();
    if (*value > uint64_t(limit.maximum))
      return Reason("kernel '" + kernel.name + "' would need " +
                    std::to_string(*value) + " " + limit.what + "; at most " +
                    std::to_string(limit.maximum) + " are legal");
  }
  for (const std::string &condition : kernel.conditions) {
    Result<bool> holds = plan::holds(condition, sizes);
    if (!holds)
      return Reason("'" + condition + "': " + holds.why().text);
    if (!*holds)
      return Reason("kernel '" + kernel.name + "' needs " + condition +
                    sizesText(kernel, sizes));
  }
  return sizes;
}

Result<uint64_t> plan::evaluateSize(const std::string &expression,
                                    const Environment &sizes) {
  Result<int64_t> value = plan::evaluate(expression, sizes);
  if (!value)
    return Reason("'" + expression + "': " + value.why().text);
  if (*value < 0)
    return Reason("'" + expression + "' is " + std::to_string(*value));
  return uint64_t(*value);
}

//===----------------------------------------------------------------------===//
// Memory
//===----------------------------------------------------------------------===//

/// Memory of one launch stays below this, so that a wrong plan cannot ask the
/// host for everything.
static constexpr uint64_t kMaxMemory = uint64_t(1) << 40;

static Result<uint64_t> checkedProduct(uint64_t left, uint64_t right) {
  if (left != 0 && right > kMaxMemory / left)
    return Reason("more than 2^40 bytes of memory");
  return left * right;
}

uint64_t plan::plainBytes(std::string_view format) {
  if (format == "f32" || format == "i32")
    return 4;
  if (format == "ue8m0" || format == "ue4m3" || format == "ue5m3" ||
      format == "e5m2" || format == "e4m3b8fnuz" || format == "e5m2b16fnuz" ||
      format == "e4m3b11fnuz" || format == "e3m4" || format == "i8")
    return 1;
  return format == "bf16" || format == "f16" || format == "i16" ? 2 : 0;
}

unsigned plan::alignmentOf(const Kernel &kernel, std::string_view role) {
  unsigned found = 1;
  auto look = [&](const auto &list, const std::string &suffix) {
    for (const auto &entry : list)
      if (entry.operand + suffix == role)
        found = std::max(found, entry.alignment);
  };
  look(kernel.data, "_data");
  look(kernel.scales, "_scales");
  look(kernel.vectorScales, "_scales");
  look(kernel.metadata, "_metadata");
  look(kernel.tensorScales, "_tensor_scale");
  look(kernel.operands, "");
  if (role == kWorkspaceRole && kernel.workspace)
    found = std::max(found, kernel.workspace->alignment);
  return found;
}

/// `count` numbers of the parameter's memory.
static Result<uint64_t> numberBytes(const plan::Parameter &parameter,
                                    std::string_view format,
                                    const Expression &count,
                                    const Environment &sizes) {
  uint64_t bytes = plainBytes(format);
  if (!bytes)
    return Reason("parameter '" + parameter.role + "' of type '" +
                  std::string(format) + "'");
  Result<uint64_t> numbers = evaluateSize(count, sizes);
  return numbers ? checkedProduct(*numbers, bytes) : numbers;
}

Result<uint64_t> plan::memoryBytes(const Kernel &kernel,
                                   const plan::Parameter &parameter,
                                   const Environment &sizes) {
  if (parameter.kind == plan::ParameterKind::Scalar)
    return uint64_t(0);
  const std::string &operand = parameter.operand;
  if (parameter.role == operand + "_data")
    for (const plan::DataPacking &data : kernel.data)
      if (data.operand == operand) {
        Result<uint64_t> pitch = evaluateSize(data.batchPitch, sizes);
        if (!pitch)
          return pitch;
        if (!sizes.count("batch"))
          return Reason("no value for 'batch'");
        return checkedProduct(*pitch,
                              uint64_t(matricesOf(kernel, operand, sizes)));
      }
  if (parameter.role == operand + "_scales")
    for (const plan::VectorScales &scales : kernel.vectorScales)
      if (scales.operand == operand)
        return numberBytes(parameter, scales.format, scales.elements, sizes);
  if (parameter.role == operand + "_scales")
    for (const plan::ScalePacking &scales : kernel.scales)
      if (scales.operand == operand) {
        Result<uint64_t> bytes = evaluateSize(scales.bytes, sizes);
        return bytes ? checkedProduct(*bytes, 1) : bytes;
      }
  if (parameter.role == operand + "_metadata")
    for (const plan::MetadataPacking &metadata : kernel.metadata)
      if (metadata.operand == operand) {
        Result<uint64_t> bytes = evaluateSize(metadata.bytes, sizes);
        return bytes ? checkedProduct(*bytes, 1) : bytes;
      }
  if (parameter.role == operand + "_tensor_scale")
    for (const plan::TensorScales &scales : kernel.tensorScales)
      if (scales.operand == operand) {
        Result<uint64_t> count = evaluateSize(scales.elements, sizes);
        return count ? checkedProduct(*count, sizeof(float)) : count;
      }
  if (parameter.role == kWorkspaceRole && kernel.workspace) {
    Result<uint64_t> zeros = evaluateSize(kernel.workspace->zeroBytes, sizes);
    Result<uint64_t> bytes = evaluateSize(kernel.workspace->bytes, sizes);
    if (!zeros || !bytes)
      return zeros ? bytes : zeros;
    if (*zeros > *bytes)
      return Reason("a workspace of " + std::to_string(*bytes) +
                    " bytes, of which " + std::to_string(*zeros) + " are zero");
    return checkedProduct(*bytes, 1);
  }
  for (const plan::PlainOperand &plain : kernel.operands)
    if (plain.operand == parameter.role)
      return numberBytes(parameter, plain.type, plain.elements, sizes);
  return Reason("the plan does not say what parameter '" + parameter.role +
                "' points to");
}
