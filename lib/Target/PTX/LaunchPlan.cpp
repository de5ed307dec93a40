//===- LaunchPlan.cpp - the launch plan of compiled kernels ---------------===//
//
// Part of the blockscale project, under the Apache License v2.0 with LLVM
// Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "blockscale/Target/PTX/LaunchPlan.h"
#include "ConversionPlan.h"
#include "EpiloguePlan.h"
#include "OperandPlan.h"
#include "PlanExpressions.h"
#include "PlanParts.h"
#include "QuantizePlan.h"
#include "blockscale/Dialect/Blockscale/IR/Epilogue.h"
#include "blockscale/Dialect/Blockscale/IR/Layouts.h"
#include "blockscale/Dialect/Blockscale/IR/Promotion.h"
#include "blockscale/HW/DeviceTargets.h"
#include "blockscale/HW/Metadata.h"
#include "blockscale/Plan/Sizes.h"
#include "blockscale/Target/PTX/HostPlan.h"
#include "mlir/Dialect/GPU/IR/GPUDialect.h"

using namespace mlir;
using namespace blockscale;

//===----------------------------------------------------------------------===//
// Epilogue, sizes and conditions
//===----------------------------------------------------------------------===//

static FailureOr<plan::Epilogue> epilogueOf(gpu::GPUFuncOp kernel,
                                            const PlannedProduct &product) {
  plan::Epilogue epilogue;
  epilogue.pairs = product.hasPairs;
  epilogue.alpha = product.alpha;
  epilogue.beta = bool(product.c);
  epilogue.aTensorScale = hasTensorScale(product.a);
  epilogue.bTensorScale = hasTensorScale(product.b);
  if (product.bias)
    epilogue.bias = stringifyBiasKind(product.biasKind).str();
  auto inputs =
      epilogueInputs(bool(product.c), bool(product.bias), product.hasPairs);
  if (failed(planEpilogue(
          product.epilogue, inputs, [&] { return kernel.emitError(); },
          epilogue)))
    return failure();
  return epilogue;
}

static std::vector<plan::Size> planSizes(const PlannedProduct &product) {
  SymbolicSizes sizes = sizesOf(product);
  std::vector<plan::Size> list;
  for (auto [name, expr] : {std::pair<StringRef, AffineExpr>{"M", sizes.m},
                            {"N", sizes.n},
                            {"K", sizes.k},
                            {"batch", sizes.batch}}) {
    plan::Size size{name.str(), std::nullopt, kMaxProductSize};
    if (name == "M" && product.mostRows)
      size.maximum = *product.mostRows;
    if (auto constant = dyn_cast<AffineConstantExpr>(expr))
      size.value = constant.getValue();
    list.push_back(size);
  }
  if (product.gathered) {
    plan::Size tokens{std::string(plan::kTokensSize), std::nullopt,
                      kMaxProductSize};
    if (auto constant = dyn_cast<AffineConstantExpr>(sizes.rowsOfA))
      tokens.value = constant.getValue();
    list.push_back(tokens);
  }
  return list;
}

/// What the kernel expects of sizes that only the host knows: a byte of
/// metadata describes whole groups of one row, and pairs of columns are whole.
static std::vector<std::string> conditionsOf(const PlannedProduct &product) {
  SymbolicSizes sizes = sizesOf(product);
  std::vector<std::string> conditions;
  auto expectMultiple = [&](AffineExpr size, int64_t unit) {
    if (!isa<AffineConstantExpr>(size))
      conditions.push_back(printExpression(size % unit) + " == 0");
  };
  if (product.mma.getSparse())
    expectMultiple(sizes.k, int64_t(hw::elementsPerMetadataByte(
                                hw::sparsePattern(product.mma.getKind()))));
  if (product.hasPairs)
    expectMultiple(sizes.n, 2);
  return conditions;
}

//===----------------------------------------------------------------------===//
// Kernels
//===----------------------------------------------------------------------===//

/// The type of the argument with `role`; the tensor maps are always there.
static FailureOr<TensorMapType> mapOf(gpu::GPUFuncOp kernel,
                                      ParameterRole role) {
  for (BlockArgument argument : kernel.getArguments()) {
    auto attribute = kernel.getArgAttrOfType<ParameterAttr>(
        argument.getArgNumber(), ParameterAttr::name);
    auto map = dyn_cast<TensorMapType>(argument.getType());
    if (map && attribute && attribute.getRole() == role)
      return map;
  }
  return kernel.emitError()
         << "has no tensor map '" << stringifyParameterRole(role) << "'";
}

FailureOr<std::vector<plan::Limit>>
blockscale::limitsOf(gpu::GPUFuncOp kernel) {
  auto limits = sizeLimits(kernel, [&] { return kernel.emitError(); });
  if (failed(limits))
    return failure();
  std::vector<plan::Limit> list;
  for (const SizeLimit &limit : *limits)
    list.push_back({printExpression(limit.value), limit.maximum, limit.what});
  return list;
}

LogicalResult blockscale::planWorkspace(gpu::GPUFuncOp kernel,
                                        KernelAttr attribute,
                                        plan::Kernel &result) {
  AffineMap workspace = attribute.getWorkspace();
  bool isTaken =
      llvm::any_of(result.parameters, [](const plan::Parameter &parameter) {
        return parameter.role == plan::kWorkspaceRole;
      });
  if (isTaken != static_cast<bool>(workspace))
    return kernel.emitError()
           << (isTaken ? "has a parameter 'workspace' and no size of it"
                       : "has a workspace and no parameter for it");
  if (!workspace)
    return success();
  std::vector<plan::Expression> bytes =
      printResults(workspace.getMajorSubMap(2));
  int64_t parts = cast<AffineConstantExpr>(workspace.getResult(2)).getValue();
  // The widest access of a thread.
  constexpr unsigned kAlignment = 16;
  result.workspace = {bytes[0], bytes[1], kAlignment, unsigned(parts)};
  return success();
}

static FailureOr<plan::Kernel> planKernel(gpu::GPUFuncOp kernel,
                                          KernelAttr attribute) {
  FailureOr<PlannedProduct> found = plannedProductOf(kernel);
  auto limits = limitsOf(kernel);
  if (failed(found) || failed(limits))
    return failure();
  const PlannedProduct &product = *found;
  auto parameters = parametersOf(kernel);
  auto aData = mapOf(kernel, ParameterRole::AData);
  auto bData = mapOf(kernel, ParameterRole::BData);
  if (failed(parameters) || failed(aData) || failed(bData))
    return failure();
  if (attribute.getSharedBytes() <= 0)
    return kernel.emitError() << "has no shared memory yet; run "
                                 "'blockscale-assign-memory' first";
  plan::Kernel result;
  result.name = kernel.getName().str();
  result.sourceFunction = product.sourceFunction;
  result.variantOf = product.variantOf;
  result.grid = {printMinimum(attribute.getGrid()), "1", "1"};
  result.cluster = {attribute.getCluster(), 1, 1};
  result.block = {attribute.getBlock(), 1, 1};
  result.dependentLaunch = attribute.getDependentLaunch();
  result.sharedMemoryBytes = attribute.getSharedBytes();
  result.oversizedSharedMemory = hw::needsOversizedShared(
      getTarget(kernel).chip, result.sharedMemoryBytes);
  result.sizes = planSizes(product);
  result.limits = std::move(*limits);
  result.conditions = conditionsOf(product);
  result.parameters = std::move(*parameters);
  result.data = {dataPacking(product, true, *aData),
                 dataPacking(product, false, *bData)};
  for (bool isA : {true, false}) {
    if (!hasBlockScales(isA ? product.a : product.b,
                        isA ? product.b : product.a))
      continue;
    auto map =
        mapOf(kernel, isA ? ParameterRole::AScales : ParameterRole::BScales);
    if (failed(map))
      return failure();
    result.scales.push_back(scalePacking(product, isA, *map));
  }
  if (product.mma.getSparse()) {
    auto metadata = mapOf(kernel, product.swap ? ParameterRole::BMetadata
                                               : ParameterRole::AMetadata);
    if (failed(metadata))
      return failure();
    result.metadata = {metadataOf(product, *metadata)};
  }
  result.tensorScales = tensorScales(product);
  result.vectorScales = vectorScales(product);
  result.zeroTerms = zeroTermsOf(product);
  result.operands = plainOperands(product);
  if (failed(planWorkspace(kernel, attribute, result)))
    return failure();
  FailureOr<plan::Epilogue> epilogue = epilogueOf(kernel, product);
  if (failed(epilogue))
    return failure();
  result.epilogue = std::move(*epilogue);
  if (product.isQuantized && failed(planQuantizedResult(kernel, result)))
    return failure();
  return result;
}

/// Of a kernel that multiplies, quantises or converts.
static FailureOr<plan::Kernel> planAny(gpu::GPUFuncOp kernel,
                                       KernelAttr attribute) {
  if (kernel->hasAttr(ConversionAttr::name))
    return planConversion(kernel, attribute);
  bool onlyQuantizes = kernel->hasAttr(QuantizationAttr::name) &&
                       !kernel->hasAttr(ProductAttr::name);
  return onlyQuantizes ? planQuantization(kernel, attribute)
                       : planKernel(kernel, attribute);
}

FailureOr<plan::Plan> blockscale::planKernels(gpu::GPUModuleOp kernels) {
  plan::Plan result;
  hw::Target target = getTarget(kernels);
  result.target = hw::targetName(target);
  result.devices = hw::devicesOf(target);
  for (auto kernel : kernels.getOps<gpu::GPUFuncOp>()) {
    auto attribute = kernel->getAttrOfType<KernelAttr>(KernelAttr::name);
    if (!attribute)
      continue;
    FailureOr<plan::Kernel> planned = planAny(kernel, attribute);
    if (failed(planned))
      return failure();
    result.kernels.push_back(std::move(*planned));
  }
  return result;
}

FailureOr<plan::Plan> blockscale::buildLaunchPlan(gpu::GPUModuleOp kernels,
                                                  bool hostDuties) {
  FailureOr<std::vector<plan::Function>> functions =
      planFunctions(kernels, hostDuties);
  if (failed(functions))
    return failure();
  FailureOr<plan::Plan> result = planKernels(kernels);
  if (succeeded(result))
    result->functions = std::move(*functions);
  return result;
}
