//===- MatmulBody.cpp - a product as warp roles and tile loops ------------===//
//
// Part of the blockscale project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

// A kernel is put together from parts: a source of output tiles, a producer, a
// main loop and an epilogue, each a role of some warps (WarpPlan) that walks
// the same list of tiles. Rings of mbarriers join them:
//
//   stages, full        they hold A, B and their scales   (producer -> MMA)
//   stages, empty       MMAs and copies of one are done   (MMA -> producer)
//   scales, empty       a stage of them is copied         (MMA -> producer)
//   accumulators, full  one is complete                   (MMA -> epilogue)
//                       and so are its factors            (factors -> epilogue)
//   accumulators, empty it may be overwritten             (epilogue -> MMA)
//   factors, empty      those of one are read             (epilogue -> factors)
//   sums, full          those of all parts of K are there (epilogues -> one)
//   sums, empty         they are added up                 (one -> epilogues)
//   addends, full       a box of C is there               (TMA -> epilogue)
//   numbers, full       those of all groups are there     (in the epilogue)
//   rows                those of a chunk are there, taken (in the epilogue)
//   mates               numbers of those that have parts  (in the epilogue,
//                       of a tile of D are there, read    or of CTAs)
//
// In a pair of CTAs the first one, the leader, issues the MMAs of both: full
// stages and empty accumulators count there what happens in either CTA, the
// others are signalled in both. Where a cluster shares operands, empty counts
// every MMA that reads what the CTA loads.
//
// Scales are those that have a ring of their own, factors those that promoted
// sums are multiplied by, sums are of clusters that compute all parts of K of a
// tile, addends of kernels that load C by TMA, numbers of epilogues whose
// groups of warps choose scales together, rows of those that bring sums of
// swapped operands to rows of D, mates of those that quantise tiles which no
// warp has as a whole.
//
// The producer starts when all barriers are initialised and, where loads reach
// other CTAs, those run. Meanwhile tensor memory is allocated, which only the
// roles behind it wait for: not that which loads factors, of which the first
// would come behind the operands of all stages.
//
// Without tensor memory the warps that multiply also store: they are main loop
// and epilogue in one. In two groups they take tiles in turns (Turns).

#include "MainLoop.h"
#include "MatmulSource.h"
#include "Producer.h"
#include "PromotedStore.h"
#include "RowStore.h"
#include "WarpLoop.h"
#include "blockscale/Dialect/Blockscale/IR/Promotion.h"
#include "blockscale/Dialect/Blockscale/Transforms/KernelSource.h"

using namespace mlir;
using namespace blockscale;

/// Waits where the kernel may start before the grid before it has ended.
static void awaitGridBefore(KernelFrame &frame, Producer &producer) {
  if (!frame.schedule.isDependent())
    return;
  producer.emitPrefetch();
  AwaitDependenciesOp::create(frame.b);
}

static void expandInTensorMemory(KernelFrame &frame) {
  StageRing stages(frame, frame.geometry.stageReaders());
  TensorMemory memory(frame);
  AccumulatorRing accumulators(frame);
  std::unique_ptr<TileSource> source = TileSource::create(frame);
  accumulators.allocateEmpty(frame.warps.epilogue.count());
  std::optional<FactorRing> factors;
  if (frame.promotionBlock())
    factors.emplace(frame, accumulators);
  std::optional<SumExchange> exchange;
  if (frame.isSplitInCluster())
    exchange.emplace(frame);
  std::optional<AddendRing> addends;
  if (frame.schedule.getCLoads() == Loads::Tma)
    addends.emplace(frame,
                    frame.geometry.tileN / (EpilogueMath::widthOf(frame) *
                                            frame.schedule.warpsOfQuarter()));
  std::optional<LargestOfGroups> largest;
  if (LargestOfGroups::isNeeded(frame))
    largest.emplace(frame);
  std::optional<RowExchange> turning;
  if (frame.bringsRows())
    turning.emplace(frame, frame.promotionBlock()
                               ? promotedColumns(frame.geometry.tileN)
                               : frame.geometry.broughtColumns());
  std::optional<TileMates> mates =
      largest ? std::nullopt : TileMates::create(frame);
  frame.begin();
  memory.allocate();
  stages.connect();
  accumulators.connect();

  frame.passRegisters();

  Producer producer(frame, stages, *source);
  awaitGridBefore(frame, producer);
  source->prepare();
  source->emitRole();
  producer.emitRole();
  if (factors)
    factors->emitRole(*source);
  memory.locate();
  frame.awaitCluster();
  MainLoop::create(frame, stages, memory, accumulators, *source)->emitRole();
  if (factors)
    PromotedStore(frame, memory, accumulators, *factors, *source, largest,
                  turning, mates)
        .emitRole();
  else
    RowStore(frame, memory, accumulators, *source, exchange, addends, turning,
             mates)
        .emitRole();
  frame.end();
  memory.free();
}

static void expandInRegisters(KernelFrame &frame) {
  StageRing stages(frame, warpsOfTile(frame.schedule));
  std::unique_ptr<TileSource> source = TileSource::create(frame);
  std::optional<Turns> turns;
  if (frame.schedule.consumerGroups() > 1)
    turns.emplace(frame, stages);
  std::optional<TileMates> mates = TileMates::create(frame);
  frame.synchronize();
  frame.passRegisters();
  Producer producer(frame, stages, *source);
  awaitGridBefore(frame, producer);
  source->emitRole();
  producer.emitRole();
  WarpLoop(frame, stages, *source, turns, mates).emitRole();
}

namespace {
struct MatmulBody
    : KernelBodyOpInterface::ExternalModel<MatmulBody, KernelMatmulOp> {
  void expand(Operation *op) const {
    KernelFrame frame(cast<KernelMatmulOp>(op));
    if (frame.warps.consumers.count())
      expandInRegisters(frame);
    else
      expandInTensorMemory(frame);
    op->erase();
  }
};
} // namespace

void blockscale::attachMatmulBody(MLIRContext &context) {
  KernelMatmulOp::attachInterface<MatmulBody>(context);
}
