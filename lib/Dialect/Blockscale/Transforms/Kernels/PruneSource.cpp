//===- PruneSource.cpp - the largest elements of groups, by kernel --------===//
//
// Part of the blockscale project, under the Apache License v2.0 with LLVM
// Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "PruneSource.h"

using namespace mlir;
using namespace blockscale;

static QuantizedStorage storageOf(PruneOp op) {
  Result<QuantizedStorage> storage =
      prunedStorage(op.getType(), int64_t(op.getGroup()));
  assert(storage && "checkReady asks first");
  return *storage;
}

std::optional<Reason> blockscale::whyNotKernel(PruneOp op) {
  Result<QuantizedStorage> storage =
      prunedStorage(op.getType(), int64_t(op.getGroup()));
  if (!storage)
    return storage.why();
  if (auto why = whyNotReached(*storage))
    return why;
  return whyNotCounted(threadsToPrune(*storage));
}

namespace {
struct PruneSource : ElementwiseModel<PruneSource, PruneOp> {
  KernelOutline getOutline(Operation *op, StringRef source) const {
    auto prune = cast<PruneOp>(op);
    QuantizedStorage storage = storageOf(prune);
    Type memory =
        GlobalType::get(op->getContext(), prune.getType().getElementType());
    KernelOutline outline;
    outline.parameters = {{memory, ParameterRole::X},
                          {memory, ParameterRole::D}};
    addSizes(storage, outline.parameters);
    outline.launch = elementwiseLaunch(threadsToPrune(storage));
    outline.conversion = conversionOf(op, source);
    return outline;
  }
  void buildBody(Operation *op, ImplicitLocOpBuilder &b,
                 function_ref<Value(ParameterRole)> argument) const {
    auto prune = cast<PruneOp>(op);
    QuantizedStorage storage = storageOf(prune);
    buildPruneBody(prune, storage, b, argument(ParameterRole::X),
                   argument(ParameterRole::D),
                   launchSizes(storage, b, argument));
  }
};
} // namespace

void blockscale::attachPruneSource(MLIRContext &context) {
  PruneOp::attachInterface<PruneSource>(context);
}
