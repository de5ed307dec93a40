//===- RelayoutSource.cpp - scales in another layout, by kernel -----------===//
//
// Part of the blockscale project, under the Apache License v2.0 with LLVM
// Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "RelayoutSource.h"

using namespace mlir;
using namespace blockscale;

static RelayoutStorage storageOf(RelayoutOp op) {
  Result<RelayoutStorage> storage =
      relayoutStorage(op.getInput().getType(), op.getType());
  assert(storage && "checkReady asks first");
  return *storage;
}

//===----------------------------------------------------------------------===//
// Rules
//===----------------------------------------------------------------------===//

std::optional<Reason> blockscale::whyNotKernel(RelayoutOp op) {
  Result<RelayoutStorage> storage =
      relayoutStorage(op.getInput().getType(), op.getType());
  if (!storage)
    return storage.why();
  if (auto why = whyNotReached(storage->to))
    return why;
  for (const QuantizedStorage *one : {&storage->from, &storage->to}) {
    auto bytes =
        dyn_cast<AffineConstantExpr>(one->scales.matrixBytes * one->batch);
    if (bytes && bytes.getValue() > kMaxProductSize)
      return "its scales take " + std::to_string(bytes.getValue()) +
             " bytes, more than the " + std::to_string(kMaxProductSize) +
             " that a kernel moves";
  }
  return std::nullopt;
}

//===----------------------------------------------------------------------===//
// The kernel
//===----------------------------------------------------------------------===//

static KernelOutline outlineOf(RelayoutOp op, StringRef source) {
  RelayoutStorage storage = storageOf(op);
  MLIRContext *context = op.getContext();
  Type memory = GlobalType::get(context, IntegerType::get(context, 8));
  KernelOutline outline;
  outline.parameters = {{memory, ParameterRole::AScales},
                        {memory, ParameterRole::DScales}};
  addSizes(storage.to, outline.parameters);
  outline.launch = elementwiseLaunch(threadsToRelayout(storage));
  outline.conversion = conversionOf(op, source);
  return outline;
}

//===----------------------------------------------------------------------===//
// The interface
//===----------------------------------------------------------------------===//

namespace {
struct RelayoutSource : ElementwiseModel<RelayoutSource, RelayoutOp> {
  KernelOutline getOutline(Operation *op, StringRef source) const {
    return outlineOf(cast<RelayoutOp>(op), source);
  }
  void buildBody(Operation *op, ImplicitLocOpBuilder &b,
                 function_ref<Value(ParameterRole)> argument) const {
    RelayoutStorage storage = storageOf(cast<RelayoutOp>(op));
    buildRelayoutBody(storage, b, argument(ParameterRole::AScales),
                      argument(ParameterRole::DScales),
                      launchSizes(storage.to, b, argument));
  }
};
} // namespace

void blockscale::attachRelayoutSource(MLIRContext &context) {
  RelayoutOp::attachInterface<RelayoutSource>(context);
}
