//===- Describe.cpp - what a host needs for one launch --------------------===//
//
// Part of the blockscale project, under the Apache License v2.0 with LLVM
// Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Handles.h"
#include "Reports.h"
#include "blockscale/Plan/Sizes.h"

#include <nlohmann/json.hpp>

using namespace blockscale;
using namespace blockscale::capi;
using Json = nlohmann::ordered_json;

namespace {
/// Evaluates one kernel of a plan.
class Describer {
public:
  Describer(const plan::Plan &plan, const plan::Kernel &kernel,
            const plan::Environment &sizes)
      : plan(plan), kernel(kernel), sizes(sizes) {}

  Json describe() const;

private:
  uint64_t valueOf(const plan::Expression &expression) const;
  Json valuesOf(const std::vector<plan::Expression> &expressions) const;
  Json describe(const plan::TensorMap &map) const;
  Json describe(const plan::Parameter &parameter) const;
  Json scalarOf(const plan::Parameter &parameter) const;

  const plan::Plan &plan;
  const plan::Kernel &kernel;
  const plan::Environment &sizes;
};
} // namespace

uint64_t Describer::valueOf(const plan::Expression &expression) const {
  Result<uint64_t> value = plan::evaluateSize(expression, sizes);
  if (!value)
    fail(BLOCKSCALE_REFUSED,
         "kernel '" + kernel.name + "': " + value.why().text);
  return *value;
}

Json Describer::valuesOf(
    const std::vector<plan::Expression> &expressions) const {
  Json values = Json::array();
  for (const plan::Expression &expression : expressions)
    values.push_back(valueOf(expression));
  return values;
}

Json Describer::describe(const plan::TensorMap &map) const {
  return {{"dataType", map.dataType.code},
          {"globalDim", valuesOf(map.globalDim)},
          {"globalStrides", valuesOf(map.globalStrides)},
          {"boxDim", map.boxDim},
          {"elementStrides", map.elementStrides},
          {"interleave", map.interleave.code},
          {"swizzle", map.swizzle.code},
          {"l2Promotion", map.l2Promotion.code},
          {"oobFill", map.oobFill.code}};
}

/// A size, a factor that the source fixes, or null.
Json Describer::scalarOf(const plan::Parameter &parameter) const {
  auto size = sizes.find(parameter.operand);
  if (parameter.type == "i32" && size != sizes.end())
    return size->second;
  if (auto fixed = plan::fixedOperand(plan, kernel.name, parameter.role))
    return *fixed;
  return nullptr;
}

Json Describer::describe(const plan::Parameter &parameter) const {
  static constexpr const char *kKinds[] = {"tensorMap", "pointer", "scalar"};
  Result<uint64_t> bytes = plan::memoryBytes(kernel, parameter, sizes);
  if (!bytes)
    fail(BLOCKSCALE_REFUSED,
         "kernel '" + kernel.name + "': " + bytes.why().text);
  bool isScalar = parameter.kind == plan::ParameterKind::Scalar;
  Json result{
      {"role", parameter.role},
      {"kind", kKinds[size_t(parameter.kind)]},
      {"type", parameter.type},
      {"offset", parameter.offset},
      {"size", parameter.size},
      {"bytes", *bytes},
      {"alignment", isScalar ? 0 : plan::alignmentOf(kernel, parameter.role)},
      {"value", isScalar ? scalarOf(parameter) : Json()},
      {"tensorMap", nullptr}};
  if (parameter.tensorMap)
    result["tensorMap"] = describe(*parameter.tensorMap);
  for (const plan::DataPacking &data : kernel.data)
    if (data.operand + "_data" == parameter.role)
      result["linePitch"] = valueOf(data.linePitch);
  return result;
}

Json Describer::describe() const {
  Json values = Json::object();
  for (const auto &[name, value] : sizes)
    values[name] = value;
  Json parameters = Json::array();
  for (const plan::Parameter &parameter : kernel.parameters)
    parameters.push_back(describe(parameter));
  return {{"kernel", kernel.name},
          {"target", plan.target},
          {"sizes", values},
          {"grid", valuesOf(kernel.grid)},
          {"cluster", kernel.cluster},
          {"block", kernel.block},
          {"sharedMemoryBytes", kernel.sharedMemoryBytes},
          {"dependentLaunch", kernel.dependentLaunch},
          {"cooperative", kernel.cooperative},
          {"parameters", parameters}};
}

std::string capi::describeLaunch(const plan::Plan &plan,
                                 const plan::Kernel &kernel,
                                 const plan::Environment &sizes) {
  return Describer(plan, kernel, sizes)
      .describe()
      .dump(-1, ' ', false, Json::error_handler_t::replace);
}
