//===- ConversionPlan.cpp - the plan of a kernel that converts ------------===//
//
// Part of the blockscale project, under the Apache License v2.0 with LLVM
// Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "ConversionPlan.h"
#include "PlanExpressions.h"
#include "PlanParts.h"
#include "StoragePlan.h"
#include "blockscale/Dialect/Blockscale/IR/Conversion.h"
#include "blockscale/Target/PTX/LaunchPlan.h"

using namespace mlir;
using namespace blockscale;

/// D: batches of M rows of K numbers.
static plan::PlainOperand resultOperand(const QuantizedStorage &storage,
                                        Type element) {
  AffineExpr matrix = storage.rows * storage.k;
  plan::PlainOperand d;
  d.operand = stringifyParameterRole(ParameterRole::D).str();
  d.type = planTypeName(element);
  d.rowPitch = printExpression(storage.k);
  d.batchPitch = printExpression(matrix);
  d.elements = printExpression(matrix * storage.batch);
  d.alignment = kPlannedAccessBytes;
  return d;
}

/// Threads have numbers of 32 bits.
static void limitThreads(AffineExpr threads, plan::Kernel &result) {
  if (!isa<AffineConstantExpr>(threads))
    result.limits.push_back(
        {printExpression(threads), kMaxProductSize, "threads"});
}

static FailureOr<plan::Kernel> planDequantization(gpu::GPUFuncOp kernel,
                                                  ConversionAttr conversion,
                                                  KernelAttr attribute) {
  Result<QuantizedStorage> found =
      dequantizedStorage(conversion.getA(), getTarget(kernel));
  if (!found)
    return kernel.emitError() << found.why().text;
  const QuantizedStorage &storage = *found;
  Type element = cast<RankedTensorType>(conversion.getD()).getElementType();
  plan::Kernel result;
  if (failed(planElementwise(kernel, attribute, storage, result)))
    return failure();
  limitThreads(threadsToDequantize(storage, element), result);
  result.data = {dataPacking(storage, "a")};
  result.scales = {scalePacking(storage, conversion.getA(), "a")};
  if (conversion.getA().getSpec().getValue().tensorScale)
    result.tensorScales = {
        {"a", printExpression(storage.batch), sizeof(float)}};
  result.operands = {resultOperand(storage, element)};
  return result;
}

/// Only scales move.
static FailureOr<plan::Kernel> planRelayout(gpu::GPUFuncOp kernel,
                                            ConversionAttr conversion,
                                            KernelAttr attribute) {
  auto to = cast<ScaledTensorType>(conversion.getD());
  Result<RelayoutStorage> storage = relayoutStorage(conversion.getA(), to);
  if (!storage)
    return kernel.emitError() << storage.why().text;
  plan::Kernel result;
  if (failed(planElementwise(kernel, attribute, storage->to, result)))
    return failure();
  limitThreads(threadsToRelayout(*storage), result);
  result.scales = {scalePacking(storage->from, conversion.getA(), "a"),
                   scalePacking(storage->to, to, "d")};
  return result;
}

FailureOr<plan::Kernel> blockscale::planConversion(gpu::GPUFuncOp kernel,
                                                   KernelAttr attribute) {
  auto conversion = kernel->getAttrOfType<ConversionAttr>(ConversionAttr::name);
  FailureOr<plan::Kernel> result =
      isa<ScaledTensorType>(conversion.getD())
          ? planRelayout(kernel, conversion, attribute)
          : planDequantization(kernel, conversion, attribute);
  if (failed(result))
    return failure();
  result->sourceFunction = conversion.getSource().str();
  result->conversion = plan::Conversion{conversion.getOp().str()};
  return result;
}
