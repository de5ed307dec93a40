//===- TileSumsSource.cpp - sums over tiles along K, by kernel ------------===//
//
// Part of the blockscale project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "TileSumsSource.h"
#include "blockscale/Dialect/Blockscale/IR/Promotion.h"
#include "blockscale/HW/Target.h"

using namespace mlir;
using namespace blockscale;

static Result<SumStorage> storageFor(TileSumsOp op) {
  return sumStorage(op.getInput().getType(), int64_t(op.getTile().value_or(0)),
                    getTarget(op));
}

std::optional<Reason> blockscale::whyNotKernel(TileSumsOp op) {
  Result<SumStorage> sums = storageFor(op);
  if (!sums)
    return sums.why();
  if (auto why = whyNotReached(sums->storage))
    return why;
  return whyNotCounted(threadsToSum(*sums));
}

//===----------------------------------------------------------------------===//
// The kernel
//===----------------------------------------------------------------------===//

/// Bytes of elements are i8, whatever their type; scales that are bytes, too.
static SmallVector<KernelParameter> parametersOf(TileSumsOp op,
                                                 const SumStorage &sums) {
  MLIRContext *context = op.getContext();
  auto memory = [&](Type element) { return GlobalType::get(context, element); };
  Type f32 = Float32Type::get(context), i8 = IntegerType::get(context, 8);
  const ScaleSpec &spec = op.getInput().getType().getSpec().getValue();
  SmallVector<KernelParameter> list{{memory(i8), ParameterRole::AData}};
  if (!spec.isUnscaled()) {
    Type scale =
        byteFactor(*spec.scale) ? i8 : getBuiltinType(context, *spec.scale);
    list.push_back({memory(scale), ParameterRole::AScales});
  }
  if (spec.tensorScale)
    list.push_back({memory(f32), ParameterRole::ATensorScale});
  list.push_back({memory(f32), ParameterRole::D});
  addSizes(sums.storage, list);
  return list;
}

static KernelOutline outlineOf(TileSumsOp op, StringRef source) {
  SumStorage sums = *storageFor(op);
  KernelOutline outline;
  outline.parameters = parametersOf(op, sums);
  outline.launch = elementwiseLaunch(threadsToSum(sums));
  outline.conversion = conversionOf(op, source);
  return outline;
}

static void buildBody(TileSumsOp op, ImplicitLocOpBuilder &b,
                      function_ref<Value(ParameterRole)> argument) {
  SumStorage sums = *storageFor(op);
  buildTileSumsBody(op, sums, b,
                    scaledOperandArguments(sums.storage, b, argument));
}

//===----------------------------------------------------------------------===//
// The interface
//===----------------------------------------------------------------------===//

namespace {
struct TileSumsSource : ElementwiseModel<TileSumsSource, TileSumsOp> {
  KernelOutline getOutline(Operation *op, StringRef source) const {
    return outlineOf(cast<TileSumsOp>(op), source);
  }
  void buildBody(Operation *op, ImplicitLocOpBuilder &b,
                 function_ref<Value(ParameterRole)> argument) const {
    ::buildBody(cast<TileSumsOp>(op), b, argument);
  }
};
} // namespace

void blockscale::attachTileSumsSource(MLIRContext &context) {
  TileSumsOp::attachInterface<TileSumsSource>(context);
}
