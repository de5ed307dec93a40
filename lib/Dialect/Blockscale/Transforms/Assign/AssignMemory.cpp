//===- AssignMemory.cpp - give every buffer a place -----------------------===//
//
// Part of the blockscale project, under the Apache License v2.0 with LLVM
// Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

// Shared memory: rings first, by falling alignment, then barriers and the
// slot of the tensor-memory address. Tensor memory: accumulators from column 0,
// scales after them.

#include "blockscale/Dialect/Blockscale/IR/Blockscale.h"
#include "blockscale/Dialect/Blockscale/Transforms/Passes.h"
#include "blockscale/HW/Target.h"
#include "mlir/Interfaces/FunctionInterfaces.h"
#include "llvm/Support/MathExtras.h"

namespace blockscale {
#define GEN_PASS_DEF_ASSIGNMEMORY
#include "blockscale/Dialect/Blockscale/Transforms/Passes.h.inc"
} // namespace blockscale

using namespace mlir;
using namespace blockscale;

namespace {
struct AssignMemory : blockscale::impl::AssignMemoryBase<AssignMemory> {
  using AssignMemoryBase::AssignMemoryBase;
  void runOnOperation() override;

private:
  LogicalResult assign(FunctionOpInterface function, KernelAttr kernel);
};
} // namespace

/// Places all shared memory of `function`; returns the bytes it takes.
static int64_t assignShared(FunctionOpInterface function) {
  SmallVector<SharedAllocOp> rings;
  function.walk([&](SharedAllocOp op) { rings.push_back(op); });
  llvm::stable_sort(rings, [](SharedAllocOp x, SharedAllocOp y) {
    return x.getType().getAlignment() > y.getType().getAlignment();
  });
  OpBuilder b(function.getContext());
  int64_t end = 0;
  for (SharedAllocOp op : rings) {
    end = llvm::alignTo(end, op.getType().getAlignment());
    op.setOffsetAttr(b.getI64IntegerAttr(end));
    end += op.getType().getBytes();
  }
  constexpr int64_t kBarrierBytes = hw::kBarrierBytes;
  function.walk([&](BarrierAllocOp op) {
    end = llvm::alignTo(end, kBarrierBytes);
    op.setOffsetAttr(b.getI64IntegerAttr(end));
    end += op.getType().getCount() * kBarrierBytes;
  });
  return end;
}

static LogicalResult checkShared(FunctionOpInterface function, int64_t bytes,
                                 hw::Target target) {
  auto why = hw::whyNotSharedMemory(target, bytes);
  if (!why)
    return success();
  InFlightDiagnostic diag = function->emitOpError() << why->text;
  function.walk([&](SharedAllocOp op) {
    diag.attachNote(op.getLoc())
        << op.getType().getBytes() << " bytes for " << op.getType();
  });
  return diag;
}

/// Places all regions of tensor memory; returns the columns they take.
static FailureOr<int64_t> assignTensor(FunctionOpInterface function) {
  SmallVector<TmemViewOp> views;
  function.walk([&](TmemViewOp op) { views.push_back(op); });
  llvm::stable_sort(views, [](TmemViewOp x, TmemViewOp y) {
    return x.getType().isAccumulator() > y.getType().isAccumulator();
  });
  std::vector<hw::TmemRegion> regions;
  for (TmemViewOp op : views)
    regions.push_back({static_cast<unsigned>(op.getType().getColumns()),
                       !op.getType().isAccumulator()});
  hw::TmemPlan plan = hw::placeRegions(regions);
  OpBuilder b(function.getContext());
  int64_t there = hw::chipInfo(getTarget(function).chip).tensorMemoryColumns;
  for (auto [op, column] : llvm::zip_equal(views, plan.first))
    if (column + op.getType().getColumns() <= there)
      op.setColumnAttr(b.getI64IntegerAttr(column));
  int64_t end = plan.end;
  if (end <= there)
    return end;
  InFlightDiagnostic diag = function->emitOpError()
                            << "needs " << end << " of the " << there
                            << " columns of tensor memory";
  for (TmemViewOp op : views)
    diag.attachNote(op.getLoc())
        << op.getType().getColumns() << " columns for " << op.getType();
  return diag;
}

LogicalResult AssignMemory::assign(FunctionOpInterface function,
                                   KernelAttr kernel) {
  int64_t bytes = assignShared(function);
  if (failed(checkShared(function, bytes, getTarget(function))))
    return failure();
  FailureOr<int64_t> used = assignTensor(function);
  if (failed(used))
    return failure();
  hw::Chip chip = getTarget(function).chip;
  int64_t columns = *used ? hw::allocationOn(chip, *used)->columns : 0;
  OpBuilder b(function.getContext());
  function.walk(
      [&](TmemAllocOp op) { op.setColumnsAttr(b.getI64IntegerAttr(columns)); });
  function.walk([&](TmemDeallocOp op) {
    op.setColumnsAttr(b.getI64IntegerAttr(columns));
  });
  function->setAttr(
      KernelAttr::name,
      KernelAttr::get(function.getContext(), kernel.getGrid(),
                      kernel.getBlock(), bytes, columns, kernel.getCluster(),
                      kernel.getDependentLaunch(), kernel.getWorkspace(),
                      kernel.getCooperative()));
  sharedBytes += bytes;
  tensorColumns += columns;
  return success();
}

void AssignMemory::runOnOperation() {
  WalkResult result = getOperation()->walk([&](FunctionOpInterface function) {
    auto kernel = function->getAttrOfType<KernelAttr>(KernelAttr::name);
    if (kernel && failed(assign(function, kernel)))
      return WalkResult::interrupt();
    return WalkResult::advance();
  });
  if (result.wasInterrupted())
    signalPassFailure();
}
