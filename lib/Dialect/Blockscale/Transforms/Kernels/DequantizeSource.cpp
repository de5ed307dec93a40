//===- DequantizeSource.cpp - values of a scaled tensor, by kernel --------===//
//
// Part of the blockscale project, under the Apache License v2.0 with LLVM
// Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "DequantizeSource.h"
#include "blockscale/Dialect/Blockscale/IR/Conversion.h"

using namespace mlir;
using namespace blockscale;

static QuantizedStorage storageOf(DequantizeOp op) {
  Result<QuantizedStorage> storage =
      dequantizedStorage(op.getInput().getType(), getTarget(op));
  assert(storage && "checkReady asks first");
  return *storage;
}

//===----------------------------------------------------------------------===//
// Rules
//===----------------------------------------------------------------------===//

bool blockscale::repeatsScales(DequantizeOp op) {
  QuantizedStorage storage = storageOf(op);
  return storage.scale && storage.repetitions() > 1;
}

/// Why threads, which write so many elements each, do not write all of a row.
static std::optional<Reason> whyNotWhole(const QuantizedStorage &storage,
                                         Type result) {
  int64_t count = elementsPerThread(storage, result);
  auto k = dyn_cast<AffineConstantExpr>(storage.k);
  if (!k || k.getValue() % count == 0)
    return std::nullopt;
  return "threads of a kernel write " + std::to_string(count) +
         " elements along K, but K = " + std::to_string(k.getValue()) +
         " is no multiple of that; nearest legal: K = " +
         std::to_string((k.getValue() / count + 1) * count);
}

std::optional<Reason> blockscale::whyNotKernel(DequantizeOp op) {
  hw::Target target = getTarget(op);
  if (auto why = hw::whyNotFeature(hw::Feature::NarrowConvert, target))
    return why;
  Result<QuantizedStorage> storage =
      dequantizedStorage(op.getInput().getType(), target);
  if (!storage)
    return storage.why();
  if (auto why = whyNotReached(*storage))
    return why;
  Type result = op.getType().getElementType();
  if (auto why = whyNotWhole(*storage, result))
    return why;
  return whyNotCounted(threadsToDequantize(*storage, result));
}

//===----------------------------------------------------------------------===//
// The kernel
//===----------------------------------------------------------------------===//

static SmallVector<KernelParameter>
parametersOf(DequantizeOp op, const QuantizedStorage &storage) {
  MLIRContext *context = op.getContext();
  auto memory = [&](Type element) { return GlobalType::get(context, element); };
  Type f32 = Float32Type::get(context), i8 = IntegerType::get(context, 8);
  SmallVector<KernelParameter> list{
      {memory(i8), ParameterRole::AData},
      {memory(storage.scaleMemory()), ParameterRole::AScales}};
  const ScaleSpec &spec = op.getInput().getType().getSpec().getValue();
  if (spec.zero)
    list.push_back(
        {memory(getBuiltinType(context, *spec.zero)), ParameterRole::AZeros});
  if (spec.tensorScale)
    list.push_back({memory(f32), ParameterRole::ATensorScale});
  list.push_back({memory(op.getType().getElementType()), ParameterRole::D});
  addSizes(storage, list);
  return list;
}

static KernelOutline outlineOf(DequantizeOp op, StringRef source) {
  QuantizedStorage storage = storageOf(op);
  KernelOutline outline;
  outline.parameters = parametersOf(op, storage);
  outline.launch = elementwiseLaunch(
      threadsToDequantize(storage, op.getType().getElementType()));
  outline.conversion = conversionOf(op, source);
  return outline;
}

static void buildBody(DequantizeOp op, ImplicitLocOpBuilder &b,
                      function_ref<Value(ParameterRole)> argument) {
  QuantizedStorage storage = storageOf(op);
  buildDequantizeBody(op, storage, b,
                      scaledOperandArguments(storage, b, argument));
}

//===----------------------------------------------------------------------===//
// The interface
//===----------------------------------------------------------------------===//

namespace {
struct DequantizeSource : ElementwiseModel<DequantizeSource, DequantizeOp> {
  KernelOutline getOutline(Operation *op, StringRef source) const {
    return outlineOf(cast<DequantizeOp>(op), source);
  }
  void buildBody(Operation *op, ImplicitLocOpBuilder &b,
                 function_ref<Value(ParameterRole)> argument) const {
    ::buildBody(cast<DequantizeOp>(op), b, argument);
  }
};
} // namespace

void blockscale::attachDequantizeSource(MLIRContext &context) {
  DequantizeOp::attachInterface<DequantizeSource>(context);
}
