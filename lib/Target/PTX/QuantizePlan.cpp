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
#include "StoragePlan.h"
#include "blockscale/Dialect/Blockscale/IR/GivenScales.h"
#include "blockscale/Dialect/Blockscale/IR/Quantization.h"
#include "blockscale/Dialect/Blockscale/IR/QuantizedResult.h"
#include "blockscale/Plan/Sizes.h"
#include "blockscale/Target/PTX/LaunchPlan.h"

using namespace mlir;
using namespace blockscale;

static bool hasTensorScale(QuantizationAttr quantization) {
  return quantization.getD().getSpec().getValue().tensorScale.has_value();
}

/// Whether one is given to the kernel, which else finds it.
static bool takesTensorScale(const std::vector<plan::Parameter> &parameters) {
  StringRef role = stringifyParameterRole(ParameterRole::TensorScale);
  return llvm::any_of(parameters, [&](const plan::Parameter &parameter) {
    return parameter.role == role;
  });
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
plainOperands(const QuantizedStorage &storage, QuantizationAttr quantization,
              bool hasTensorScale) {
  AffineExpr matrix = storage.rows * storage.k;
  bool transposed = quantization.getTransposed();
  plan::PlainOperand x;
  x.operand = stringifyParameterRole(ParameterRole::X).str();
  x.type = planTypeName(quantization.getX());
  x.rowPitch = printExpression(transposed ? storage.rows : storage.k);
  x.batchPitch = printExpression(matrix);
  x.elements = printExpression(matrix * storage.batch);
  // A thread loads two neighbouring columns at once.
  x.alignment = transposed ? sizeof(float) : kPlannedAccessBytes;
  if (!hasTensorScale)
    return {x};
  return {x, tensorScale(storage)};
}

static plan::Quantization whatOf(QuantizationAttr quantization) {
  plan::Quantization what;
  what.rule = stringifyScaleRule(quantization.getRule()).str();
  what.rounding = stringifyElementRounding(quantization.getRounding()).str();
  if (IntegerAttr seed = quantization.getSeed())
    what.seed = std::to_string(uint64_t(seed.getInt()));
  what.transposed = quantization.getTransposed();
  return what;
}

/// The number of groups of the product that a kernel computes, as far as it is
/// known.
static AffineExpr groupsOf(gpu::GPUFuncOp kernel) {
  auto product = kernel->getAttrOfType<ProductAttr>(ProductAttr::name);
  int64_t groups = product.getB().getShape().front();
  return ShapedType::isDynamic(groups)
             ? AffineExpr()
             : getAffineConstantExpr(groups, kernel.getContext());
}

static void replaceSymbols(QuantizedStorage &storage,
                           ArrayRef<AffineExpr> symbols) {
  for (AffineExpr *expr :
       {&storage.rows, &storage.k, &storage.batch, &storage.linePitch,
        &storage.batchPitch, &storage.scales.matrixBytes})
    if (*expr)
      *expr = expr->replaceSymbols(symbols);
  for (auto &digit : storage.scales.digits) {
    digit.extent = digit.extent.replaceSymbols(symbols);
    digit.stride = digit.stride.replaceSymbols(symbols);
  }
}

/// The symbols of sizes: M, N, K and the batch.
static SmallVector<AffineExpr> sizeSymbols(MLIRContext *context) {
  constexpr unsigned kSymbols = 4;
  SmallVector<AffineExpr> symbols;
  for (unsigned i = 0; i < kSymbols; ++i)
    symbols.push_back(getAffineSymbolExpr(i, context));
  return symbols;
}

/// The storage of a result by the sizes of the product: its elements lie along
/// N, of which two are one with pairs. A dynamic N is whole blocks of that
/// size.
static void placeAlongN(QuantizedStorage &storage, int64_t block,
                        plan::Kernel &result) {
  constexpr unsigned kColumns = 1, kElements = 2;
  if (isa<AffineConstantExpr>(storage.k))
    return;
  int64_t sums = result.epilogue.pairs ? 2 : 1;
  SmallVector<AffineExpr> symbols = sizeSymbols(storage.k.getContext());
  AffineExpr columns = symbols[kColumns];
  symbols[kElements] = columns.floorDiv(sums);
  replaceSymbols(storage, symbols);
  result.conditions.push_back(printExpression(columns % (block * sums)) +
                              " == 0");
}

LogicalResult blockscale::planQuantizedResult(gpu::GPUFuncOp kernel,
                                              plan::Kernel &result) {
  auto quantization =
      kernel->getAttrOfType<QuantizationAttr>(QuantizationAttr::name);
  Result<QuantizedStorage> storage =
      quantizedStorage(quantization.getD(), getTarget(kernel), groupsOf(kernel),
                       scaleReader(kernel));
  if (!storage)
    return kernel.emitError() << storage.why().text;
  placeAlongN(*storage, elementsTogether(quantization.getD()), result);
  result.data.push_back(dataPacking(*storage, "d"));
  if (storage->scale)
    result.scales.push_back(scalePacking(*storage, quantization.getD(), "d"));
  else
    result.vectorScales.push_back(floatScales(*storage, "d"));
  if (hasTensorScale(quantization))
    result.tensorScales.push_back(
        {"d", printExpression(storage->batch), sizeof(float)});
  if (takesTensorScale(result.parameters))
    result.operands.push_back(tensorScale(*storage));
  result.quantization = whatOf(quantization);
  result.quantization->type = planTypeName(quantization.getX());
  return success();
}

/// The storage of the transpose by the sizes of the matrix: its rows are K, and
/// its elements along M.
static QuantizedStorage exchanged(QuantizedStorage storage) {
  constexpr unsigned kRows = 0, kElements = 2;
  SmallVector<AffineExpr> symbols = sizeSymbols(storage.k.getContext());
  std::swap(symbols[kRows], symbols[kElements]);
  replaceSymbols(storage, symbols);
  return storage;
}

/// What a launch has to obey for one result, and where its parts lie.
static void addResult(const QuantizedStorage &storage,
                      QuantizationAttr quantization, std::string_view operand,
                      plan::Kernel &result) {
  // Threads have numbers of 32 bits, one for each byte of scales, or for each
  // block of whole tiles.
  AffineExpr threads = threadsToQuantize(storage);
  bool isByte =
      storage.scale && threads == storage.scales.matrixBytes * storage.batch;
  if (!isa<AffineConstantExpr>(threads))
    result.limits.push_back({printExpression(threads), kMaxProductSize,
                             isByte ? "bytes of scales" : "threads"});
  result.data.push_back(dataPacking(storage, operand));
  if (storage.scale)
    result.scales.push_back(
        scalePacking(storage, quantization.getD(), operand));
  else
    result.vectorScales.push_back(floatScales(storage, operand));
  if (hasTensorScale(quantization))
    result.tensorScales.push_back(
        {std::string(operand), printExpression(storage.batch), sizeof(float)});
}

/// The same of the transpose, if the kernel quantises that too.
static LogicalResult addTransposed(gpu::GPUFuncOp kernel,
                                   QuantizationAttr quantization,
                                   plan::Kernel &result) {
  if (!quantization)
    return success();
  Result<QuantizedStorage> found =
      quantizedStorage(quantization.getD(), getTarget(kernel));
  if (!found)
    return kernel.emitError() << found.why().text;
  QuantizedStorage storage = exchanged(*found);
  if (!isa<AffineConstantExpr>(storage.k))
    result.conditions.push_back(printExpression(storage.k % storage.block) +
                                " == 0");
  addResult(storage, quantization, plan::kTransposedOperand, result);
  result.transposedQuantization = whatOf(quantization);
  return success();
}

FailureOr<plan::Kernel> blockscale::planQuantization(gpu::GPUFuncOp kernel,
                                                     KernelAttr attribute) {
  auto quantization =
      kernel->getAttrOfType<QuantizationAttr>(QuantizationAttr::name);
  Result<QuantizedStorage> found = quantizedStorage(
      quantization.getD(), getTarget(kernel), {}, scaleReader(kernel));
  if (!found)
    return kernel.emitError() << found.why().text;
  const QuantizedStorage &storage = *found;
  plan::Kernel result;
  result.sourceFunction = quantization.getSource().str();
  if (failed(planElementwise(kernel, attribute, storage, result)))
    return failure();
  result.sharedMemoryBytes = attribute.getSharedBytes();
  result.cooperative = attribute.getCooperative();
  if (failed(planWorkspace(kernel, attribute, result)))
    return failure();
  auto transposed =
      kernel->getAttrOfType<QuantizationAttr>(kTransposedQuantizationName);
  addResult(storage, quantization, "d", result);
  if (failed(addTransposed(kernel, transposed, result)))
    return failure();
  result.operands =
      plainOperands(storage, quantization, takesTensorScale(result.parameters));
  if (attribute.getCooperative())
    result.operands.front().alignment = kPlannedAccessBytes;
  result.quantization = whatOf(quantization);
  return result;
}
