//===- PlanLaunch.cpp - from a launch plan to an emulator launch ----------===//
//
// Part of the blockscale project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "blockscale/Verify/PlanLaunch.h"

#include <algorithm>
#include <limits>
#include <tuple>

using namespace blockscale;
using namespace blockscale::verify;

//===----------------------------------------------------------------------===//
// Sizes
//===----------------------------------------------------------------------===//

Residency verify::residencyOn(const hw::Part &part,
                              const plan::Kernel &kernel) {
  int64_t ctas = plan::clusterCtas(kernel);
  bool isLegal = ctas <= int64_t(hw::kMaxCluster);
  return {part.smCount,
          isLegal ? hw::residentClusters(part, unsigned(ctas)) : 0};
}

Residency verify::residencyOn(int64_t numSms, const plan::Kernel &kernel) {
  return {numSms, numSms / plan::clusterCtas(kernel)};
}

Result<Residency> verify::residencyOn(const plan::Plan &plan,
                                      const plan::Kernel &kernel) {
  Result<hw::Target> target = hw::parseTarget(plan.target);
  if (!target)
    return target.why();
  return residencyOn(hw::referencePart(target->chip), kernel);
}

//===----------------------------------------------------------------------===//
// Arguments
//===----------------------------------------------------------------------===//

std::optional<Reason> verify::whyNotParameters(const plan::Kernel &kernel,
                                               const emulator::Module &module) {
  const emulator::Function *function = module.findFunction(kernel.name);
  if (!function || !function->isEntry)
    return "the PTX has no kernel '" + kernel.name + "'";
  const std::string inKernel = "kernel '" + kernel.name + "': ";
  if (function->parameters.size() != kernel.parameters.size())
    return inKernel + "the plan has " +
           std::to_string(kernel.parameters.size()) +
           " parameters, the PTX has " +
           std::to_string(function->parameters.size());
  for (size_t i = 0; i < kernel.parameters.size(); ++i) {
    const plan::Parameter &planned = kernel.parameters[i];
    const emulator::Parameter &declared = function->parameters[i];
    const std::tuple<const char *, uint64_t, uint64_t> fields[] = {
        {"offset", planned.offset, declared.offset},
        {"size", planned.size, declared.size}};
    for (const auto &[name, inPlan, inPtx] : fields)
      if (inPlan != inPtx)
        return inKernel + "parameter '" + planned.role + "' has " + name + " " +
               std::to_string(inPlan) + " in the plan and " +
               std::to_string(inPtx) + " in the PTX";
    if (planned.alignment < declared.align)
      return inKernel + "parameter '" + planned.role + "' has alignment " +
             std::to_string(planned.alignment) +
             " in the plan, less than the " + std::to_string(declared.align) +
             " of the PTX";
  }
  return std::nullopt;
}

namespace {

/// Puts one launch together.
class LaunchBuilder {
public:
  LaunchBuilder(const plan::Kernel &kernel, const plan::Environment &sizes,
                HostData &data)
      : kernel(kernel), sizes(sizes), data(data) {}

  Result<emulator::Launch> build();

private:
  /// Each returns what is wrong; empty if nothing is.
  std::optional<Reason> addShape();
  std::optional<Reason> addArgument(const plan::Parameter &parameter);
  std::optional<Reason> addMemory(const plan::Parameter &parameter,
                                  uint32_t &buffer, uint64_t &offset);
  std::optional<Reason> addScalar(const plan::Parameter &parameter);
  std::optional<Reason> describe(const plan::TensorMap &map,
                                 emulator::TensorMap &result);
  std::optional<Reason> toDim(const std::vector<int64_t> &values,
                              emulator::Dim3 &dim);

  const plan::Kernel &kernel;
  const plan::Environment &sizes;
  HostData &data;
  emulator::Launch launch;
};

std::optional<Reason> LaunchBuilder::toDim(const std::vector<int64_t> &values,
                                           emulator::Dim3 &dim) {
  if (values.size() != 3)
    return "expected 3 dimensions, found " + std::to_string(values.size());
  for (int64_t value : values)
    if (value < 1 || value > std::numeric_limits<int32_t>::max())
      return "a dimension of " + std::to_string(value);
  dim = {uint32_t(values[0]), uint32_t(values[1]), uint32_t(values[2])};
  return std::nullopt;
}

std::optional<Reason> LaunchBuilder::addShape() {
  std::vector<int64_t> grid;
  for (const std::string &expression : kernel.grid) {
    Result<uint64_t> extent = evaluateSize(expression, sizes);
    if (!extent)
      return "grid: " + extent.why().text;
    grid.push_back(int64_t(*extent));
  }
  if (auto why = toDim(kernel.cluster, launch.cluster))
    return "cluster: " + why->text;
  if (auto why = toDim(grid, launch.grid))
    return "grid: " + why->text;
  if (auto why = toDim(kernel.block, launch.block))
    return "block: " + why->text;
  if (kernel.sharedMemoryBytes > std::numeric_limits<uint32_t>::max())
    return "shared memory of " + std::to_string(kernel.sharedMemoryBytes) +
           " bytes";
  launch.dynamicSharedBytes = uint32_t(kernel.sharedMemoryBytes);
  launch.oversizedShared = kernel.oversizedSharedMemory;
  launch.cooperative = kernel.cooperative;
  return std::nullopt;
}

std::optional<Reason> LaunchBuilder::addMemory(const plan::Parameter &parameter,
                                               uint32_t &buffer,
                                               uint64_t &offset) {
  auto found = data.memory.find(parameter.role);
  if (found == data.memory.end())
    return "no data for parameter '" + parameter.role + "'";
  Result<uint64_t> bytes = memoryBytes(kernel, parameter, sizes);
  if (!bytes)
    return bytes.why();
  auto shift = data.offsets.find(parameter.role);
  offset = shift == data.offsets.end() ? 0 : shift->second;
  uint64_t size = found->second.size();
  if (offset > size || size - offset != *bytes)
    return "parameter '" + parameter.role + "' needs " +
           std::to_string(*bytes) + " bytes, found " +
           std::to_string(size - std::min(offset, size));
  buffer = uint32_t(launch.buffers.size());
  bool isWritten =
      plan::isOfResult(parameter) || parameter.role == plan::kWorkspaceRole;
  emulator::Buffer memory{found->second.data(), size, isWritten};
  memory.fromPreviousGrid = kernel.dependentLaunch;
  launch.buffers.push_back(memory);
  return std::nullopt;
}

std::optional<Reason>
LaunchBuilder::addScalar(const plan::Parameter &parameter) {
  auto size = sizes.find(parameter.operand);
  if (parameter.type == "i32" && size != sizes.end()) {
    launch.arguments.push_back(emulator::scalar(int32_t(size->second)));
    return std::nullopt;
  }
  auto found = data.scalars.find(parameter.role);
  if (parameter.type == "f32" && found != data.scalars.end()) {
    launch.arguments.push_back(emulator::scalar(found->second));
    return std::nullopt;
  }
  return "no value for parameter '" + parameter.role + "' of type '" +
         parameter.type + "'";
}

/// The codes of cuda.h end here; what the emulator does with those that there
/// are is its own business.
static std::optional<Reason> whyNotCodes(const plan::TensorMap &map) {
  struct Field {
    const char *name;
    const plan::DriverEnum &value;
    int64_t largest;
  };
  for (const Field &field : {Field{"dataType", map.dataType, 15},
                             {"interleave", map.interleave, 2},
                             {"swizzle", map.swizzle, 6},
                             {"l2Promotion", map.l2Promotion, 3},
                             {"oobFill", map.oobFill, 1}})
    if (field.value.code < 0 || field.value.code > field.largest)
      return "'" + std::string(field.name) + "' has code " +
             std::to_string(field.value.code) +
             "; the driver's codes are 0 to " + std::to_string(field.largest);
  return std::nullopt;
}

std::optional<Reason> LaunchBuilder::describe(const plan::TensorMap &map,
                                              emulator::TensorMap &result) {
  size_t rank = map.globalDim.size();
  if (rank < 1 || rank > 5 || map.globalStrides.size() != rank - 1 ||
      map.boxDim.size() != rank || map.elementStrides.size() != rank)
    return "the dimensions, strides and boxes do not have one rank of 1 to 5";
  if (auto why = whyNotCodes(map))
    return why;
  result.type = static_cast<emulator::TensorMapType>(map.dataType.code);
  result.rank = uint32_t(rank);
  for (size_t i = 0; i < rank; ++i) {
    Result<uint64_t> extent = evaluateSize(map.globalDim[i], sizes);
    if (!extent)
      return extent.why();
    result.globalDim[i] = *extent;
    for (int64_t value : {map.boxDim[i], map.elementStrides[i]})
      if (value < 1 || value > std::numeric_limits<uint32_t>::max())
        return "a box extent or element stride of " + std::to_string(value);
    result.boxDim[i] = uint32_t(map.boxDim[i]);
    result.elementStrides[i] = uint32_t(map.elementStrides[i]);
  }
  for (size_t i = 0; i + 1 < rank; ++i) {
    Result<uint64_t> stride = evaluateSize(map.globalStrides[i], sizes);
    if (!stride)
      return stride.why();
    result.globalStrides[i] = *stride;
  }
  result.interleave = static_cast<emulator::Interleave>(map.interleave.code);
  result.swizzle = static_cast<emulator::Swizzle>(map.swizzle.code);
  result.l2Promotion = uint32_t(map.l2Promotion.code);
  result.oobFill = static_cast<emulator::OobFill>(map.oobFill.code);
  return std::nullopt;
}

std::optional<Reason>
LaunchBuilder::addArgument(const plan::Parameter &parameter) {
  if (parameter.kind == plan::ParameterKind::Scalar)
    return addScalar(parameter);
  uint32_t buffer = 0;
  uint64_t offset = 0;
  if (auto why = addMemory(parameter, buffer, offset))
    return why;
  if (parameter.kind == plan::ParameterKind::Pointer) {
    launch.arguments.push_back(emulator::BufferArgument{buffer, offset});
    return std::nullopt;
  }
  if (!parameter.tensorMap)
    return "parameter '" + parameter.role + "' has no tensor map";
  emulator::TensorMapArgument argument;
  argument.buffer = buffer;
  argument.offset = offset;
  if (auto why = describe(*parameter.tensorMap, argument.map))
    return "tensor map '" + parameter.role + "': " + why->text;
  launch.arguments.push_back(argument);
  return std::nullopt;
}

Result<emulator::Launch> LaunchBuilder::build() {
  launch.kernel = kernel.name;
  std::optional<Reason> why = addShape();
  for (const plan::Parameter &parameter : kernel.parameters)
    if (!why)
      why = addArgument(parameter);
  if (why)
    return Reason("kernel '" + kernel.name + "': " + why->text);
  return std::move(launch);
}

} // namespace

Result<emulator::Launch> verify::buildLaunch(const plan::Kernel &kernel,
                                             const plan::Environment &sizes,
                                             HostData &data) {
  return LaunchBuilder(kernel, sizes, data).build();
}
