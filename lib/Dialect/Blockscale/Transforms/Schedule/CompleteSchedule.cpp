//===- CompleteSchedule.cpp - all of the schedule of a tile ---------------===//
//
// Part of the blockscale project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "CompleteSchedule.h"
#include "../Kernels/FactorRing.h"
#include "../Kernels/Geometry.h"
#include "ScheduleBytes.h"
#include "StageChoice.h"
#include "TileReasons.h"
#include "blockscale/Dialect/Blockscale/IR/Groups.h"
#include "blockscale/Dialect/Blockscale/IR/Pairs.h"
#include "blockscale/Dialect/Blockscale/IR/QuantizedResult.h"
#include "blockscale/Dialect/Blockscale/IR/SparseSide.h"
#include "blockscale/Dialect/Blockscale/IR/SplitK.h"
#include "blockscale/Dialect/Blockscale/IR/StreamK.h"
#include "blockscale/Dialect/Blockscale/IR/WarpSchedules.h"
#include "blockscale/Dialect/Blockscale/IR/WideTiles.h"
#include "blockscale/HW/Descriptor.h"
#include "blockscale/HW/Part.h"
#include "blockscale/HW/ScaleLayout.h"
#include "blockscale/HW/TileColumns.h"

#include <algorithm>

using namespace mlir;
using namespace blockscale;

//===----------------------------------------------------------------------===//
// What is legal
//===----------------------------------------------------------------------===//

/// Why `target` cannot run what the schedule asks for besides its tile.
static std::optional<Reason>
whyNotCluster(ScheduleAttr wish, const TileChoice &choice, hw::Target target) {
  if (choice.ctaGroup == 2)
    if (auto why = hw::whyNotFeature(hw::Feature::TmaCtaGroup2, target))
      return why;
  if (wish.getScheduler() == Scheduler::Dynamic)
    if (auto why = hw::whyNotFeature(hw::Feature::ClusterLaunchControl, target))
      return why;
  // Naming a size above 8 is how the kernel asks for it.
  return hw::whyNotCluster(target, choice.clusterM * choice.clusterN,
                           /*nonPortable=*/true);
}

/// Why no kernel computes the product with this instruction.
static std::optional<Reason> whyNotInstruction(const ScheduleRequest &asked,
                                               const TileChoice &choice,
                                               MmaAttr mma) {
  MatmulOp op = asked.op;
  ScheduleAttr wish = asked.wish;
  hw::Target target = asked.target;
  if (const auto &why = asked.whyNotLegal(mma))
    return why;
  if (asked.hasScalesOfOne)
    if (auto why = whyNotScalesOfOne(mma))
      return why;
  if (auto why = whyNotWideTile(mma, mma.getM() * choice.rowInstructions,
                                choice.tileN))
    return why;
  if (asked.isRowPerLane)
    if (auto why = whyNotRowPerLane(mma, choice.swap, target))
      return why;
  if (auto why = whyNotSplit(mma, op.getSizes().k, choice.splits))
    return why;
  if (op.isGrouped())
    if (auto why = whyNotGrouped(mma, choice.swap, choice.splits))
      return why;
  if (op.isMasked())
    if (auto why = whyNotMasked(choice.splits))
      return why;
  if (op.isGathered()) {
    if (auto why = whyNotGathered(choice.swap, hasRowFactors(op)))
      return why;
    if (auto why = whyNotGatheredWide(choice.tileN))
      return why;
  }
  if (op.isGroupedAlongK())
    if (auto why = whyNotGroupedAlongK(
            mma, stepAlongK(op.getA().getType(), op.getB().getType(), mma),
            wish.getScheduler(), choice.splits))
      return why;
  if (hw::readsPacked(mma.getKind(), mma.getK(), mma.getSparse()) &&
      !isWideLowered(mma))
    return Reason("K = " + std::to_string(mma.getK()) + " of kind '" +
                  std::string(hw::kindName(mma.getKind())) +
                  "' reads elements of 6 bits packed, which no tensor map "
                  "brings; nearest legal: 'mma_k' of " +
                  std::to_string(hw::instructionK(mma.getKind(), false)));
  if (wish.getTileK() && wish.getTileK() != mma.getTileK())
    return Reason((mma.getSparse()
                       ? "'tile_k' is "
                       : "'tile_k' is one 128-byte row of shared memory, ") +
                  std::to_string(mma.getTileK()) + " elements for this " +
                  (mma.getSparse() ? "sparse kind" : "kind") + "; found " +
                  std::to_string(wish.getTileK()));
  return std::nullopt;
}

/// Why none does with this `tile`, in whose schedule the rings are still open.
static std::optional<Reason> whyNotTile(const ScheduleRequest &asked,
                                        const TileChoice &choice, MmaAttr mma,
                                        ScheduleAttr tile) {
  MatmulOp op = asked.op;
  hw::Target target = asked.target;
  if (auto why = whyNotClusterK(tile, target))
    return why;
  if (auto why =
          whyNotStreamed(mma, tile, op.getSizes(), tileGroupsOf(op), target))
    return why;
  if (auto why = whyNotHalves(op, mma, tile))
    return why;
  if (auto why = whyNotPromotion(mma, tile, asked.block,
                                 asked.problemOf(choice).columnsOfScale,
                                 columnsOfResult(op), target))
    return why;
  if (auto why = whyNotStores(tile, asked.stored, target))
    return why;
  if (auto why = whyNotLoadsOfC(tile, asked.addend, target))
    return why;
  if (auto why = whyNotEpilogueWarps(tile, asked.stored.isPromoting, target))
    return why;
  if (auto why = whyNotConsumerGroups(tile, asked.stored.element, target))
    return why;
  if (op.getPairs())
    if (auto why = whyNotPairs(tile, target))
      return why;
  if (QuantizeOp quantizer = quantizerOf(op))
    if (auto why = whyNotQuantized(op, quantizer, tile, target))
      return why;
  return std::nullopt;
}

//===----------------------------------------------------------------------===//
// The rest of it
//===----------------------------------------------------------------------===//

/// Tiles of two instructions beside each other hand most of their columns over
/// from wave to wave, for which the timeline has up to 4 % more than the model.
static double marginOfColumns(int64_t tileN, const ProductPrediction &product) {
  constexpr double kMargin = 1.04;
  return isWideTile(tileN) && product.waves > 1 ? kMargin : 1;
}

/// What the model leaves out of an epilogue that brings sums to rows of D,
/// which without the swap has them there. CTAs that choose scales together wait
/// for each other with each chunk of rows, which no card has timed: they are
/// for what is not legal without the swap.
static double marginOfExchange(int64_t columns) {
  constexpr double kMargin = 1.05, kInCluster = 2;
  if (columns > hw::kTmemLanes)
    return kInCluster;
  return columns ? kMargin : 1;
}

/// Tiles in halves fetch A twice, for which the timeline has up to 0.5 % more
/// time where the model has 1.3 % less. Where a result is quantised they gain
/// more than the model says, which has nothing of the instructions that this
/// takes.
static double marginOfHalves(MatmulOp op, const TileChoice &choice) {
  constexpr double kMargin = 1.015;
  return choice.inHalves && !quantizerOf(op) ? kMargin : 1;
}

/// `schedule` with two warps on each quarter of the lanes, if it leaves that
/// free and they make the epilogue shorter. Boxes of TMA, and rows that sums
/// are brought to, need as much room as there are warps, which has been given
/// away by now.
static ScheduleAttr withWarps(MatmulOp op, MmaAttr mma, ScheduleAttr schedule,
                              const ProductPrediction &predicted,
                              bool isPromoting, hw::Target target) {
  constexpr int64_t kWarps = 8;
  ScheduleAttr::Fields fields = schedule.getFields();
  bool bringsRows =
      broughtColumns(op, schedule.getSwapOperands().getValue()) > 0;
  if (fields.epilogueWarps || fields.stores == Stores::Tma ||
      fields.cLoads == Loads::Tma || bringsRows)
    return schedule;
  // Refused below as well; most choices to compare are such.
  if (schedule.splits() > 1 || schedule.shares() > 1)
    return schedule;
  fields.epilogueWarps = kWarps;
  auto more = ScheduleAttr::get(op.getContext(), fields);
  QuantizeOp quantizer = quantizerOf(op);
  bool isLegal = !whyNotEpilogueWarps(more, isPromoting, target) &&
                 !(quantizer && whyNotQuantized(op, quantizer, more, target));
  return isLegal && gainsByMoreWarps(op, mma, schedule, predicted, target)
             ? more
             : schedule;
}

namespace {
/// Schedules of one tile that differ in their rings, and what the model has for
/// each. Several rules ask for the same rings.
class SchedulesByRings {
public:
  SchedulesByRings(ScheduleAttr::Fields &fields, MLIRContext *context,
                   llvm::function_ref<ProductPrediction(ScheduleAttr)> predict)
      : fields(fields), context(context), predictOf(predict) {}

  ScheduleAttr schedule(RingStages rings) { return find(rings).schedule; }

  ProductPrediction predict(RingStages rings) {
    Known &known = find(rings);
    if (!known.prediction)
      known.prediction = predictOf(known.schedule);
    return *known.prediction;
  }

  /// To call when `fields` have changed.
  void clear() { all.clear(); }

private:
  struct Known {
    RingStages rings;
    ScheduleAttr schedule;
    std::optional<ProductPrediction> prediction;
  };

  Known &find(RingStages rings) {
    for (Known &known : all)
      if (known.rings.operands == rings.operands &&
          known.rings.scales == rings.scales)
        return known;
    fields.stages = rings.operands;
    fields.scaleStages = rings.scales;
    all.push_back({rings, ScheduleAttr::get(context, fields), std::nullopt});
    return all.back();
  }

  ScheduleAttr::Fields &fields;
  MLIRContext *context;
  llvm::function_ref<ProductPrediction(ScheduleAttr)> predictOf;
  SmallVector<Known> all;
};
} // namespace

/// The wish with what the choice says; the rings are still open.
static ScheduleAttr tileOf(const ScheduleRequest &asked,
                           const TileChoice &choice, MmaAttr mma) {
  ScheduleAttr::Fields fields = asked.wish.getFields();
  fields.tileM = mma.getM() * choice.rowInstructions;
  fields.tileN = choice.tileN;
  fields.tileK = mma.getTileK();
  fields.swapOperands = BoolAttr::get(mma.getContext(), choice.swap);
  if (!fields.dependentLaunch)
    fields.dependentLaunch = BoolAttr::get(mma.getContext(), true);
  if (!fields.groupM)
    fields.groupM = 8;
  fields.ctaGroup = choice.ctaGroup;
  fields.clusterM = choice.clusterM;
  fields.clusterN = choice.clusterN;
  fields.mmaK = choice.mmaK;
  if (choice.splits > 1)
    fields.splitK = choice.splits;
  if (choice.clusterK > 1)
    fields.clusterK = choice.clusterK;
  if (choice.shares > 1)
    fields.streamK = choice.shares;
  if (choice.inHalves)
    fields.accumulators = kHalfAccumulators;
  return ScheduleAttr::get(mma.getContext(), fields);
}

/// Whether D may be stored by TMA where the schedule leaves it free and that is
/// faster: warps that promote sums load none while they wait for the port.
static bool mayTakeBoxes(const ScheduleRequest &asked, ScheduleAttr schedule) {
  if (!asked.block || asked.wish.getFields().stores || quantizerOf(asked.op))
    return false;
  ScheduleAttr::Fields fields = schedule.getFields();
  fields.stores = Stores::Tma;
  auto boxed = ScheduleAttr::get(schedule.getContext(), fields);
  return !whyNotStores(boxed, asked.stored, asked.target);
}

Result<ScheduleChoice>
blockscale::completeSchedule(const ScheduleRequest &asked,
                             const TileChoice &choice) {
  MatmulOp op = asked.op;
  ScheduleAttr wish = asked.wish;
  hw::Target target = asked.target;
  if (auto why = whyNotSparseSide(op, getMma(op), choice.swap))
    return *why;
  const ProblemSizes &problem = asked.problemOf(choice);
  if (auto why = whyNotCluster(wish, choice, target))
    return *why;
  if (auto why = whyNotTileM(wish, getMma(op), choice, target))
    return *why;
  if (auto why =
          whyNotTileN(problem, getMma(op), choice.tileN, choice.clusterN))
    return *why;
  MmaAttr mma = asked.instruction(choice);
  if (auto why = whyNotInstruction(asked, choice, mma))
    return *why;
  ScheduleAttr tile = tileOf(asked, choice, mma);
  if (auto why = whyNotTile(asked, choice, mma, tile))
    return *why;
  ScheduleAttr::Fields fields = tile.getFields();
  int64_t accumulators = asked.wish.getAccumulators();
  // A block of K is short against what it takes to hand it over.
  if (!accumulators && !choice.inHalves)
    fields.accumulators = asked.block ? 4 : 2;
  auto predictOf = [&](ScheduleAttr each) {
    return predictProduct(problem, mma, each, target);
  };
  SchedulesByRings known(fields, op.getContext(), predictOf);
  // Whatever its rings: those that most tiles get.
  auto geometryOfTile = [&] {
    known.clear();
    return TileGeometry(mma, known.schedule(RingStages{kUsefulStages}),
                        target.chip, asked.isRowPerLane);
  };
  TileGeometry geometry = geometryOfTile();
  // Metadata need some columns, too.
  while (!accumulators && asked.block && fields.accumulators > 1 &&
         geometry.tensorColumns() >
             hw::chipInfo(target.chip).tensorMemoryColumns) {
    --fields.accumulators;
    geometry = geometryOfTile();
  }
  if (!accumulators && !choice.inHalves && whyNotColumns(geometry, target)) {
    fields.accumulators = 1;
    geometry = geometryOfTile();
  }
  if (auto why = whyNotColumns(geometry, target))
    return *why;
  Type addend = asked.addend.element;
  int64_t bytesC = addend ? addend.getIntOrFloatBitWidth() / 8 : 0;
  auto reserved = [&] {
    int64_t bytes = reservedBytes(geometry, fields, problem.bytesD, bytesC,
                                  asked.block > 0) +
                    bytesOfExchange(geometry, broughtColumns(op, choice.swap),
                                    rowsOfTile(op), fields, asked.block > 0);
    if (asked.block)
      bytes += factorRingBytes(fields.accumulators, geometry.tileN,
                               problem.columnsOfScale);
    return bytes + bytesOfScaleChoice(op, fields, target);
  };
  auto predict = [&](RingStages each) { return known.predict(each); };
  auto chooseRings = [&] {
    return chooseStages(wish, mma, geometry, target, reserved(), predict);
  };
  Result<RingStages> rings = chooseRings();
  if (!rings)
    return rings.why();
  if (mayTakeBoxes(asked, known.schedule(*rings))) {
    fields.stores = Stores::Tma;
    Result<RingStages> beside = chooseRings();
    if (!beside || beside->operands < rings->operands)
      fields.stores = wish.getFields().stores;
    known.clear();
  }
  if (auto why = whyNotHalves(op, mma, known.schedule(*rings)))
    return *why;
  ProductPrediction predicted = predict(*rings);
  ScheduleAttr completed = withWarps(op, mma, known.schedule(*rings), predicted,
                                     asked.stored.isPromoting, target);
  if (fields.epilogueWarps != completed.getEpilogueWarps()) {
    fields.epilogueWarps = completed.getEpilogueWarps();
    known.clear();
    predicted = predict(*rings);
  }
  // Either has the timeline wait for more than the model does, and both
  // together for no more.
  double margin = std::max(marginOf(*rings, predict),
                           marginOfColumns(choice.tileN, predicted)) *
                  marginOfExchange(broughtColumns(op, choice.swap)) *
                  marginOfHalves(op, choice);
  return ScheduleChoice{mma,
                        completed,
                        predicted.microseconds,
                        predicted.limit,
                        predicted.reduction,
                        margin};
}
