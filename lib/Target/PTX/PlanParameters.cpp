//===- PlanParameters.cpp - the parameters of kernels in plans ------------===//
//
// Part of the blockscale project, under the Apache License v2.0 with LLVM
// Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "PlanExpressions.h"
#include "PlanParts.h"
#include "blockscale/Dialect/Blockscale/IR/Blockscale.h"
#include "blockscale/HW/TensorMap.h"
#include "llvm/Support/MathExtras.h"

using namespace mlir;
using namespace blockscale;

static plan::TensorMap tensorMapRecipe(TensorMapType type) {
  const hw::TensorMapDataTypeInfo &info =
      hw::tensorMapDataTypeInfo(type.getDataType());
  plan::TensorMap map;
  map.dataType = {std::string(info.driverName), int64_t(info.type)};
  map.globalDim = printResults(type.getDims());
  map.globalStrides = printResults(type.getStrides());
  map.boxDim.assign(type.getBox().begin(), type.getBox().end());
  map.elementStrides.assign(map.boxDim.size(), 1);
  map.swizzle = {std::string(hw::tensorMapSwizzleDriverName(type.getSwizzle())),
                 int64_t(hw::tensorMapSwizzleCode(type.getSwizzle()))};
  // The codes of the driver's enumerators, CUDA 13.0 cuda.h. Operands are read
  // by several CTAs, so whole 256-byte lines are worth promoting to L2.
  map.interleave = {"CU_TENSOR_MAP_INTERLEAVE_NONE", 0};
  map.l2Promotion = {"CU_TENSOR_MAP_L2_PROMOTION_L2_256B", 3};
  map.oobFill = {"CU_TENSOR_MAP_FLOAT_OOB_FILL_NONE", 0};
  return map;
}

/// The operand or size of the source matmul that a role belongs to.
static StringRef operandOf(ParameterRole role) {
  switch (role) {
  case ParameterRole::AData:
  case ParameterRole::AScales:
  case ParameterRole::ATensorScale:
  case ParameterRole::AMetadata:
    return "a";
  case ParameterRole::BData:
  case ParameterRole::BScales:
  case ParameterRole::BTensorScale:
  case ParameterRole::BMetadata:
    return "b";
  case ParameterRole::SizeM:
    return "M";
  case ParameterRole::SizeN:
    return "N";
  case ParameterRole::SizeK:
    return "K";
  case ParameterRole::SizeTokens:
    return "tokens";
  case ParameterRole::DData:
  case ParameterRole::DScales:
  case ParameterRole::DTensorScale:
  case ParameterRole::DMetadata:
  case ParameterRole::DZeros:
    return "d";
  case ParameterRole::TransposedData:
  case ParameterRole::TransposedScales:
  case ParameterRole::TransposedTensorScale:
    return "transposed";
  case ParameterRole::X:
  case ParameterRole::TensorScale:
  case ParameterRole::D:
  case ParameterRole::C:
  case ParameterRole::Bias:
  case ParameterRole::Alpha:
  case ParameterRole::Beta:
  case ParameterRole::Batch:
  case ParameterRole::Workspace:
  case ParameterRole::Offsets:
  case ParameterRole::KOffsets:
  case ParameterRole::RowCounts:
  case ParameterRole::RowNumbers:
  case ParameterRole::AZeros:
  case ParameterRole::ATerms:
  case ParameterRole::BTerms:
    return stringifyParameterRole(role);
  }
  llvm_unreachable("covered switch");
}

std::string blockscale::planTypeName(Type type) {
  std::string text;
  llvm::raw_string_ostream(text) << type;
  return text;
}

/// The parameters with the places that PTX gives them: in order, each at the
/// next multiple of its alignment.
FailureOr<std::vector<plan::Parameter>>
blockscale::parametersOf(gpu::GPUFuncOp kernel) {
  std::vector<plan::Parameter> parameters;
  uint64_t end = 0;
  for (BlockArgument argument : kernel.getArguments()) {
    auto attribute = kernel.getArgAttrOfType<ParameterAttr>(
        argument.getArgNumber(), ParameterAttr::name);
    if (!attribute)
      return kernel.emitError() << "argument " << argument.getArgNumber()
                                << " has no '" << ParameterAttr::name << "'";
    plan::Parameter parameter;
    parameter.role = stringifyParameterRole(attribute.getRole()).str();
    parameter.operand = operandOf(attribute.getRole()).str();
    Type type = argument.getType();
    if (auto map = dyn_cast<TensorMapType>(type)) {
      parameter.kind = plan::ParameterKind::TensorMap;
      parameter.type = "tensor_map";
      parameter.size = hw::kTensorMapBytes;
      parameter.alignment = hw::kTensorMapAlignment;
      parameter.tensorMap = tensorMapRecipe(map);
    } else if (auto global = dyn_cast<GlobalType>(type)) {
      parameter.kind = plan::ParameterKind::Pointer;
      parameter.type = planTypeName(global.getElementType());
      parameter.size = parameter.alignment = sizeof(uint64_t);
    } else if (type.isIntOrFloat()) {
      parameter.kind = plan::ParameterKind::Scalar;
      parameter.type = planTypeName(type);
      parameter.size = parameter.alignment = type.getIntOrFloatBitWidth() / 8;
    } else {
      return kernel.emitError()
             << "argument " << argument.getArgNumber() << " of type " << type
             << " has no place in a launch plan";
    }
    parameter.offset = llvm::alignTo(end, parameter.alignment);
    end = parameter.offset + parameter.size;
    parameters.push_back(parameter);
  }
  return parameters;
}
