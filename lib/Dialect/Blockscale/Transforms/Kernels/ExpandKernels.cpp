//===- ExpandKernels.cpp - products into warp roles and tile loops --------===//
//
// Part of the blockscale project, under the Apache License v2.0 with LLVM
// Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

// A kernel is put together from parts: a source of output tiles, a producer, a
// main loop and an epilogue, each a role of some warps (WarpPlan) that walks
// the same list of tiles. Rings of mbarriers join them:
//
//   stages, full        they hold A, B and their scales    (producer -> MMA)
//   stages, empty       MMAs and copies of one are done    (MMA -> producer)
//   accumulators, full  one is complete                    (MMA -> epilogue)
//   accumulators, empty it may be overwritten              (epilogue -> MMA)
//
// In a pair of CTAs the first one, the leader, issues the MMAs of both: full
// stages and empty accumulators count there what happens in either CTA, the
// others are signalled in both. Where a cluster shares operands, empty counts
// every MMA that reads what the CTA loads.
//
// Without tensor memory the warps that multiply also store: they are main loop
// and epilogue in one.

#include "MainLoop.h"
#include "Producer.h"
#include "RowStore.h"
#include "WarpLoop.h"
#include "blockscale/Dialect/Blockscale/Transforms/Passes.h"
#include "mlir/Dialect/GPU/IR/GPUDialect.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"

namespace blockscale {
#define GEN_PASS_DEF_EXPANDKERNELS
#include "blockscale/Dialect/Blockscale/Transforms/Passes.h.inc"
} // namespace blockscale

using namespace mlir;
using namespace blockscale;

namespace {
struct ExpandKernels : blockscale::impl::ExpandKernelsBase<ExpandKernels> {
  using ExpandKernelsBase::ExpandKernelsBase;
  void runOnOperation() override;
};
} // namespace

static void expandInTensorMemory(KernelFrame &frame) {
  StageRing stages(frame, frame.geometry.stageReaders());
  TensorMemory memory(frame);
  AccumulatorRing accumulators(frame);
  std::unique_ptr<TileSource> source = TileSource::create(frame);
  accumulators.allocateEmpty(frame.warps.epilogue.threads());
  memory.allocate();
  frame.synchronize();
  stages.connect(frame);
  accumulators.connect();
  memory.locate();

  if (frame.schedule.getDependentLaunch())
    AwaitDependenciesOp::create(frame.b);
  source->emitRole();
  Producer(frame, stages, *source).emitRole();
  MainLoop::create(frame, stages, memory, accumulators, *source)->emitRole();
  RowStore(frame, memory, accumulators, *source).emitRole();
  frame.synchronize();
  memory.free();
}

// 65,536 registers over 288 threads are 224 each, more than a consumer needs,
// so that moving registers between the roles (setmaxnreg) would gain nothing.
static void expandInRegisters(KernelFrame &frame) {
  StageRing stages(frame, frame.warps.consumers.count());
  std::unique_ptr<TileSource> source = TileSource::create(frame);
  frame.synchronize();
  Producer(frame, stages, *source).emitRole();
  WarpLoop(frame, stages, *source).emitRole();
}

void ExpandKernels::runOnOperation() {
  SmallVector<KernelMatmulOp> products;
  getOperation()->walk([&](KernelMatmulOp op) { products.push_back(op); });
  for (KernelMatmulOp op : products) {
    KernelFrame frame(op);
    if (frame.warps.consumers.count())
      expandInRegisters(frame);
    else
      expandInTensorMemory(frame);
    op.erase();
  }
}
