//===- SparseSource.cpp - elements with and without zeros, by kernel ------===//
//
// Part of the blockscale project, under the Apache License v2.0 with LLVM
// Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "SparseSource.h"

using namespace mlir;
using namespace blockscale;

template <typename OpT> static SparseStorage storageOf(OpT op) {
  Result<SparseStorage> storage =
      sparseStorage(op.getInput().getType(), op.getType());
  assert(storage && "checkReady asks first");
  return *storage;
}

template <typename OpT> static std::optional<Reason> whyNot(OpT op) {
  Result<SparseStorage> storage =
      sparseStorage(op.getInput().getType(), op.getType());
  if (!storage)
    return storage.why();
  if (auto why = whyNotReached(storage->dense))
    return why;
  return whyNotCounted(threadsOfMetadata(*storage));
}

std::optional<Reason> blockscale::whyNotKernel(CompressOp op) {
  return whyNot(op);
}

std::optional<Reason> blockscale::whyNotKernel(DensifyOp op) {
  return whyNot(op);
}

/// The kernel of `op` with these pointers to bytes.
template <typename OpT>
static KernelOutline outlineOf(OpT op, StringRef source,
                               ArrayRef<ParameterRole> roles) {
  SparseStorage storage = storageOf(op);
  MLIRContext *context = op.getContext();
  Type memory = GlobalType::get(context, IntegerType::get(context, 8));
  KernelOutline outline;
  for (ParameterRole role : roles)
    outline.parameters.push_back({memory, role});
  addSizes(storage.dense, outline.parameters);
  outline.launch = elementwiseLaunch(threadsOfMetadata(storage));
  outline.conversion = conversionOf(op, source);
  return outline;
}

namespace {
struct CompressSource : ElementwiseModel<CompressSource, CompressOp> {
  KernelOutline getOutline(Operation *op, StringRef source) const {
    return outlineOf(
        cast<CompressOp>(op), source,
        {ParameterRole::AData, ParameterRole::DData, ParameterRole::DMetadata});
  }
  void buildBody(Operation *op, ImplicitLocOpBuilder &b,
                 function_ref<Value(ParameterRole)> argument) const {
    SparseStorage storage = storageOf(cast<CompressOp>(op));
    buildCompressBody(storage, b,
                      {argument(ParameterRole::AData),
                       argument(ParameterRole::DData),
                       argument(ParameterRole::DMetadata),
                       launchSizes(storage.dense, b, argument)});
  }
};

struct DensifySource : ElementwiseModel<DensifySource, DensifyOp> {
  KernelOutline getOutline(Operation *op, StringRef source) const {
    return outlineOf(
        cast<DensifyOp>(op), source,
        {ParameterRole::AData, ParameterRole::AMetadata, ParameterRole::DData});
  }
  void buildBody(Operation *op, ImplicitLocOpBuilder &b,
                 function_ref<Value(ParameterRole)> argument) const {
    SparseStorage storage = storageOf(cast<DensifyOp>(op));
    buildDensifyBody(storage, b,
                     {argument(ParameterRole::DData),
                      argument(ParameterRole::AData),
                      argument(ParameterRole::AMetadata),
                      launchSizes(storage.dense, b, argument)});
  }
};
} // namespace

void blockscale::attachSparseSources(MLIRContext &context) {
  CompressOp::attachInterface<CompressSource>(context);
  DensifyOp::attachInterface<DensifySource>(context);
}
