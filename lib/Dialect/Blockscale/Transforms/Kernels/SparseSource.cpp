//===- SparseSource.cpp - elements with and without zeros, by kernel ------===//
//
// Part of the blockscale project, under the Apache License v2.0 with LLVM
// Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "SparseSource.h"
#include "RelayoutSource.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"

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
  return whyNotCounted(threadsOfSparse(*storage));
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
  Type scales = storage.scales ? memory : Type();
  if (storage.plainScales)
    scales = GlobalType::get(context, storage.plainScales->memory);
  if (scales)
    for (ParameterRole role : {ParameterRole::AScales, ParameterRole::DScales})
      outline.parameters.push_back({scales, role});
  addSizes(storage.dense, outline.parameters);
  outline.launch = elementwiseLaunch(threadsOfSparse(storage));
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

/// Writes the scale of each shorter tile.
void buildRepeatedScales(const RepeatedScales &scales, Emitter &e,
                         StorageAccess &access, Value from, Value to,
                         Value number) {
  auto wide = [&](Value x) -> Value {
    return arith::ExtUIOp::create(e, e.getI64Type(), x);
  };
  Type i32 = e.getI32Type();
  Value ofResult = access.extentOf(scales.ofResult, i32);
  Value line = arith::DivUIOp::create(e, number, ofResult);
  Value tile = arith::RemUIOp::create(e, number, ofResult);
  tile = arith::DivUIOp::create(e, tile, e.i32(scales.times));
  Value end = access.extentOf(scales.lines * scales.batch, i32);
  auto condition = scf::IfOp::create(
      e, arith::CmpIOp::create(e, arith::CmpIPredicate::ult, line, end)
             .getResult());
  OpBuilder::InsertionGuard guard(e);
  e.setInsertionPointToStart(condition.thenBlock());
  Value first = arith::MulIOp::create(
      e, wide(line), access.extentOf(scales.ofLine, e.getI64Type()));
  Value scale =
      access.loadNumber(from, arith::AddIOp::create(e, first, wide(tile)));
  Value row = vector::FromElementsOp::create(
      e, VectorType::get({1}, scale.getType()), scale);
  StoreRowOp::create(e, row, to, wide(number), e.i32(1), /*stride=*/Value(),
                     /*aligned=*/true);
}

/// Lets threads behind those of metadata, which fill CTAs, repeat scales; goes
/// on where the others do.
void buildScales(const SparseStorage &storage, ImplicitLocOpBuilder &b,
                 function_ref<Value(ParameterRole)> argument,
                 const LaunchSizes &sizes) {
  Emitter e(b.getLoc(), b);
  StorageAccess access(e, storage.dense,
                       {sizes.rows, Value(), sizes.k, sizes.batch});
  Value thread = threadNumber(e);
  Value first = access.extentOf(threadsOfMetadata(storage), e.getI32Type());
  Value isOfMetadata =
      arith::CmpIOp::create(e, arith::CmpIPredicate::ult, thread, first);
  auto condition = scf::IfOp::create(e, isOfMetadata, /*withElseRegion=*/true);
  b.setInsertionPointToStart(condition.elseBlock());
  e.setInsertionPointToStart(condition.elseBlock());
  Value from = argument(ParameterRole::AScales),
        to = argument(ParameterRole::DScales);
  Value number = arith::SubIOp::create(e, thread, first);
  if (storage.plainScales)
    buildRepeatedScales(*storage.plainScales, e, access, from, to, number);
  else
    buildMovedBytes(*storage.scales, e, from, to, sizes, number);
  b.setInsertionPointToStart(condition.thenBlock());
}

struct DensifySource : ElementwiseModel<DensifySource, DensifyOp> {
  KernelOutline getOutline(Operation *op, StringRef source) const {
    return outlineOf(
        cast<DensifyOp>(op), source,
        {ParameterRole::AData, ParameterRole::AMetadata, ParameterRole::DData});
  }
  void buildBody(Operation *op, ImplicitLocOpBuilder &b,
                 function_ref<Value(ParameterRole)> argument) const {
    SparseStorage storage = storageOf(cast<DensifyOp>(op));
    LaunchSizes sizes = launchSizes(storage.dense, b, argument);
    OpBuilder::InsertionGuard guard(b);
    if (storage.scales || storage.plainScales)
      buildScales(storage, b, argument, sizes);
    buildDensifyBody(storage, b,
                     {argument(ParameterRole::DData),
                      argument(ParameterRole::AData),
                      argument(ParameterRole::AMetadata), sizes});
  }
};
} // namespace

void blockscale::attachSparseSources(MLIRContext &context) {
  CompressOp::attachInterface<CompressSource>(context);
  DensifyOp::attachInterface<DensifySource>(context);
}
