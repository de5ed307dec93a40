//===- QuantizePlan.cpp - the plan of a kernel that quantises -------------===//
//
// Part of the blockscale project, under the Apache License v2.0 with LLVM
// Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "QuantizePlan.h"
#include "PlanExpressions.h"
#include "PlanParts.h"
#include "blockscale/Dialect/Blockscale/IR/Quantization.h"
#include "blockscale/Target/PTX/LaunchPlan.h"

using namespace mlir;
using namespace blockscale;

/// What threads read and write at once, which addresses have to suit.
static constexpr unsigned kAccessBytes = 16;

static plan::DataPacking dataPacking(const QuantizedStorage &storage) {
  plan::DataPacking data;
  data.operand = "d";
  data.format = std::string(formatName(storage.element));
  data.order = stringifyDataOrder(DataOrder::KMajor).str();
  data.bits = storage.data->globalBits;
  data.elementMultiple = storage.data->innerMultiple;
  data.lines = printExpression(storage.rows);
  data.elements = printExpression(storage.k);
  data.linePitch = printExpression(storage.linePitch);
  data.batchPitch = printExpression(storage.batchPitch);
  data.alignment = std::max(kAccessBytes, storage.data->alignment);
  data.bitOrder = bitOrder(data.bits);
  return data;
}

static plan::ScalePacking scalePacking(const QuantizedStorage &storage,
                                       ScaledTensorType type) {
  plan::ScalePacking scales;
  scales.operand = "d";
  scales.format = std::string(formatName(storage.scale));
  scales.block = unsigned(storage.block);
  scales.rows = unsigned(storage.rowTile);
  scales.layout = stringifyScaleLayout(type.getLayout()).str();
  scales.offset = placeFormula(storage.scales);
  scales.paddedRows = paddedExtent(storage.scales, hw::Dim::Row);
  scales.paddedScales = paddedExtent(storage.scales, hw::Dim::Block);
  scales.bytes = printExpression(storage.scales.matrixBytes * storage.batch);
  scales.largestPaddingValue = formatInfo(storage.scale).codeMask();
  scales.alignment = kAccessBytes;
  return scales;
}

static bool hasTensorScale(QuantizationAttr quantization) {
  return quantization.getD().getSpec().getValue().tensorScale.has_value();
}

static plan::PlainOperand tensorScale(const QuantizedStorage &storage) {
  plan::PlainOperand factor;
  factor.operand = stringifyParameterRole(ParameterRole::TensorScale).str();
  factor.type = "f32";
  factor.elements = printExpression(storage.batch);
  factor.alignment = sizeof(float);
  return factor;
}

static std::vector<plan::PlainOperand>
plainOperands(const QuantizedStorage &storage, QuantizationAttr quantization) {
  AffineExpr matrix = storage.rows * storage.k;
  plan::PlainOperand x;
  x.operand = stringifyParameterRole(ParameterRole::X).str();
  x.type = planTypeName(quantization.getX());
  x.rowPitch = printExpression(storage.k);
  x.batchPitch = printExpression(matrix);
  x.elements = printExpression(matrix * storage.batch);
  x.alignment = kAccessBytes;
  if (!hasTensorScale(quantization))
    return {x};
  return {x, tensorScale(storage)};
}

static std::vector<plan::Size> sizesOf(const QuantizedStorage &storage) {
  AffineExpr one = getAffineConstantExpr(1, storage.k.getContext());
  std::vector<plan::Size> list;
  for (auto [name, expr] : {std::pair<StringRef, AffineExpr>{"M", storage.rows},
                            {"N", one},
                            {"K", storage.k},
                            {"batch", storage.batch}}) {
    plan::Size size{name.str(), std::nullopt, kMaxProductSize};
    if (auto constant = dyn_cast<AffineConstantExpr>(expr))
      size.value = constant.getValue();
    list.push_back(size);
  }
  return list;
}

static plan::Quantization whatOf(QuantizationAttr quantization) {
  plan::Quantization what;
  what.rule = stringifyScaleRule(quantization.getRule()).str();
  what.rounding = stringifyElementRounding(quantization.getRounding()).str();
  if (IntegerAttr seed = quantization.getSeed())
    what.seed = std::to_string(uint64_t(seed.getInt()));
  return what;
}

LogicalResult blockscale::planQuantizedResult(gpu::GPUFuncOp kernel,
                                              plan::Kernel &result) {
  auto quantization =
      kernel->getAttrOfType<QuantizationAttr>(QuantizationAttr::name);
  Result<QuantizedStorage> storage =
      quantizedStorage(quantization.getD(), getTarget(kernel));
  if (!storage)
    return kernel.emitError() << storage.why().text;
  result.data.push_back(dataPacking(*storage));
  result.scales.push_back(scalePacking(*storage, quantization.getD()));
  if (hasTensorScale(quantization)) {
    result.tensorScales.push_back(
        {"d", printExpression(storage->batch), sizeof(float)});
    result.operands.push_back(tensorScale(*storage));
  }
  result.quantization = whatOf(quantization);
  result.quantization->type = planTypeName(quantization.getX());
  return success();
}

FailureOr<plan::Kernel> blockscale::planQuantization(gpu::GPUFuncOp kernel,
                                                     KernelAttr attribute) {
  auto quantization =
      kernel->getAttrOfType<QuantizationAttr>(QuantizationAttr::name);
  Result<QuantizedStorage> found =
      quantizedStorage(quantization.getD(), getTarget(kernel));
  if (!found)
    return kernel.emitError() << found.why().text;
  const QuantizedStorage &storage = *found;
  auto parameters = parametersOf(kernel);
  auto limits = limitsOf(kernel);
  if (failed(parameters) || failed(limits))
    return failure();
  plan::Kernel result;
  result.name = kernel.getName().str();
  result.sourceFunction = quantization.getSource().str();
  result.grid = {printMinimum(attribute.getGrid()), "1", "1"};
  result.cluster = {1, 1, 1};
  result.block = {attribute.getBlock(), 1, 1};
  result.sizes = sizesOf(storage);
  result.limits = std::move(*limits);
  // Threads have numbers of 32 bits, one for each byte of scales.
  AffineExpr bytes = storage.scales.matrixBytes * storage.batch;
  if (!isa<AffineConstantExpr>(bytes))
    result.limits.push_back(
        {printExpression(bytes), kMaxProductSize, "bytes of scales"});
  if (!isa<AffineConstantExpr>(storage.k))
    result.conditions = {printExpression(storage.k % storage.block) + " == 0"};
  result.parameters = std::move(*parameters);
  result.data = {dataPacking(storage)};
  result.scales = {scalePacking(storage, quantization.getD())};
  if (hasTensorScale(quantization))
    result.tensorScales = {
        {"d", printExpression(storage.batch), sizeof(float)}};
  result.operands = plainOperands(storage, quantization);
  result.quantization = whatOf(quantization);
  return result;
}
