//===- SelectSchedule.cpp - choose tile, stages and accumulators ----------===//
//
// Part of the blockscale project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

// Enumerates the legal completions of each matmul's schedule and takes the one
// that the throughput model finds fastest.

#include "../Kernels/AddendRing.h"
#include "../Kernels/FactorRing.h"
#include "../Kernels/Geometry.h"
#include "../Kernels/LargestOfGroups.h"
#include "../Kernels/MatmulSource.h"
#include "../Kernels/RowExchange.h"
#include "../Kernels/TileMates.h"
#include "../Kernels/TmaStore.h"
#include "StageChoice.h"
#include "TileChoices.h"
#include "TileReasons.h"
#include "WarpSchedule.h"
#include "blockscale/Dialect/Blockscale/IR/FloatResults.h"
#include "blockscale/Dialect/Blockscale/IR/Groups.h"
#include "blockscale/Dialect/Blockscale/IR/Pairs.h"
#include "blockscale/Dialect/Blockscale/IR/Promotion.h"
#include "blockscale/Dialect/Blockscale/IR/QuantizedResult.h"
#include "blockscale/Dialect/Blockscale/IR/ScalesOfOne.h"
#include "blockscale/Dialect/Blockscale/IR/SparseSide.h"
#include "blockscale/Dialect/Blockscale/IR/SplitK.h"
#include "blockscale/Dialect/Blockscale/IR/Stores.h"
#include "blockscale/Dialect/Blockscale/IR/StreamK.h"
#include "blockscale/Dialect/Blockscale/IR/TensorCore.h"
#include "blockscale/Dialect/Blockscale/IR/WideTiles.h"
#include "blockscale/Dialect/Blockscale/Transforms/KernelSource.h"
#include "blockscale/Dialect/Blockscale/Transforms/Passes.h"
#include "blockscale/Dialect/Blockscale/Transforms/Prediction.h"
#include "blockscale/Dialect/Blockscale/Transforms/ScheduleChoices.h"
#include "blockscale/HW/Descriptor.h"
#include "blockscale/HW/Part.h"
#include "blockscale/HW/ScaleLayout.h"
#include "blockscale/HW/TileColumns.h"
#include "llvm/Support/MathExtras.h"

#include <algorithm>
#include <cmath>

namespace blockscale {
#define GEN_PASS_DEF_SELECTSCHEDULE
#include "blockscale/Dialect/Blockscale/Transforms/Passes.h.inc"
} // namespace blockscale

using namespace mlir;
using namespace blockscale;

namespace {
struct SelectSchedule : blockscale::impl::SelectScheduleBase<SelectSchedule> {
  using SelectScheduleBase::SelectScheduleBase;
  void runOnOperation() override;
  void getDependentDialects(DialectRegistry &registry) const override {
    SelectScheduleBase::getDependentDialects(registry);
    registerKernelSources(registry);
  }
};
} // namespace

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

/// Bytes in which threads choose the scales of what they quantise together.
static int64_t bytesOfScaleChoice(MatmulOp op,
                                  const ScheduleAttr::Fields &fields,
                                  hw::Target target) {
  constexpr int64_t kQuarters = hw::kTmemLanes / hw::kWarpSize;
  QuantizeOp quantizer = quantizerOf(op);
  if (!quantizer)
    return 0;
  ResultTile tile = resultTile(op, quantizer, target);
  auto schedule = ScheduleAttr::get(op.getContext(), fields);
  std::optional<TileParts> parts = tileParts(schedule, tile, target);
  if (!parts || !parts->needMemory())
    return 0;
  bool swap = fields.swapOperands.getValue();
  int64_t groups = tile.isPromoting
                       ? promotingGroups(fields.tileN)
                       : std::max<int64_t>(1, fields.epilogueWarps / kQuarters);
  bool isOfGroups = tile.isPromoting && !swap && tile.rows == 1 &&
                    quantizer.getRule() != ScaleRule::MinError;
  return isOfGroups ? bytesOfGroups(groups)
                    : bytesOfMates(*parts, groups * hw::kTmemLanes);
}

/// Columns of the product that a thread that brings sums of swapped operands to
/// rows of D needs together; 0 if it stores them as they are.
static int64_t broughtColumns(MatmulOp op, bool swap) {
  int64_t ofResult = columnsOfResult(op), ofPair = op.getPairs() ? 2 : 0;
  return swap ? std::max(ofResult, ofPair) : 0;
}

/// Rows of D that share a scale; 1 if it has none.
static int64_t rowsOfTile(MatmulOp op) {
  QuantizeOp quantizer = quantizerOf(op);
  return quantizer ? quantizer.getType().getRowTile() : 1;
}

/// Bytes through which sums of swapped operands are brought to rows of D.
static int64_t bytesOfExchange(const TileGeometry &geometry, int64_t columns,
                               int64_t rowsOfTile,
                               const ScheduleAttr::Fields &fields,
                               bool isPromoting) {
  constexpr int64_t kQuarters = hw::kTmemLanes / hw::kWarpSize;
  if (!columns)
    return 0;
  int64_t groups = isPromoting
                       ? promotingGroups(geometry.tileN)
                       : std::max<int64_t>(1, fields.epilogueWarps / kQuarters);
  int64_t rows =
      isPromoting ? promotedColumns(geometry.tileN) : geometry.broughtColumns();
  return rowExchangeBytes(
      groups, rows, exchangedColumns({rowsOfTile, columns, 1, isPromoting}));
}

/// Bytes of shared memory besides the stages.
static int64_t reservedBytes(const TileGeometry &geometry,
                             const ScheduleAttr::Fields &fields, int64_t bytesD,
                             int64_t bytesC, bool isPromoting) {
  int64_t bytes = kBarrierReserve + geometry.inboxBytes();
  constexpr int64_t kQuarters = hw::kTmemLanes / hw::kWarpSize;
  int64_t warps = std::max<int64_t>(kQuarters, fields.epilogueWarps);
  if (isPromoting)
    warps = kQuarters * promotingGroups(geometry.tileN);
  int64_t width = geometry.epilogueColumns(1);
  int64_t chunks = geometry.tileN / (width * (warps / kQuarters));
  if (fields.stores == Stores::Tma)
    bytes += storeRingBytes(warps, chunks, width, bytesD);
  if (fields.cLoads == Loads::Tma)
    bytes += addendRingBytes(warps, chunks, width, bytesC);
  return bytes;
}

//===----------------------------------------------------------------------===//
// The choice
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
/// What is asked for, and what the rules ask of the product whatever the
/// choice.
struct Request {
  Request(MatmulOp op, ScheduleAttr wish, hw::Target target,
          int64_t expectedRows, int64_t mostRows)
      : op(op), wish(wish), target(target), expectedRows(expectedRows),
        mostRows(mostRows), stored(storedResult(op)), addend(loadedAddend(op)),
        isRowPerLane(hasRowPerLaneScales(op)),
        problem(problemSizes(op, /*swap=*/false, expectedRows, mostRows)),
        swapped(problemSizes(op, /*swap=*/true, expectedRows, mostRows)) {
    ScaledTensorType a = op.getA().getType(), b = op.getB().getType();
    block = promotionBlock(a, b);
    hasScalesOfOne = hasBlockScales(a, b) != hasBlockScales(b, a);
  }
  MatmulOp op;
  ScheduleAttr wish;
  hw::Target target;
  int64_t expectedRows, mostRows;
  StoredResult stored, addend;
  bool isRowPerLane, hasScalesOfOne;
  /// The product as it is, and with its operands exchanged.
  ProblemSizes problem, swapped;
  /// Elements along K whose sums are promoted together, or 0.
  int64_t block;

  const ProblemSizes &problemOf(const TileChoice &choice) const {
    return choice.swap ? swapped : problem;
  }

  /// Why the target has no such instruction. Choices one behind the other have
  /// the same one.
  const std::optional<Reason> &whyNotLegal(MmaAttr mma) const {
    if (mma != lastAsked) {
      lastAsked = mma;
      lastReason = hw::whyNot(legalityQuery(mma, target));
    }
    return lastReason;
  }

  /// The instruction of `choice`. Choices that differ in their clusters and
  /// parts of K have the same one.
  MmaAttr instruction(const TileChoice &choice) const {
    if (!lastChoice || !haveSameTile(*lastChoice, choice)) {
      lastChoice = choice;
      lastInstruction = instructionOf(getMma(op), choice);
    }
    return lastInstruction;
  }

private:
  static bool haveSameTile(const TileChoice &x, const TileChoice &y) {
    return x.swap == y.swap && x.ctaGroup == y.ctaGroup && x.mmaK == y.mmaK &&
           x.tileN == y.tileN && x.inHalves == y.inHalves;
  }

  mutable MmaAttr lastAsked, lastInstruction;
  mutable std::optional<Reason> lastReason;
  mutable std::optional<TileChoice> lastChoice;
};

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

/// Why no kernel computes the product with this instruction.
static std::optional<Reason>
whyNotInstruction(const Request &asked, const TileChoice &choice, MmaAttr mma) {
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
    if (auto why = whyNotGroupedAlongK(mma, wish.getScheduler(), choice.splits))
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
static std::optional<Reason> whyNotTile(const Request &asked,
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
  if (op.getPairs())
    if (auto why = whyNotPairs(tile, target))
      return why;
  if (QuantizeOp quantizer = quantizerOf(op))
    if (auto why = whyNotQuantized(op, quantizer, tile, target))
      return why;
  return std::nullopt;
}

/// The wish with what the choice says; the rings are still open.
static ScheduleAttr tileOf(const Request &asked, const TileChoice &choice,
                           MmaAttr mma) {
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
static bool mayTakeBoxes(const Request &asked, ScheduleAttr schedule) {
  if (!asked.block || asked.wish.getFields().stores || quantizerOf(asked.op))
    return false;
  ScheduleAttr::Fields fields = schedule.getFields();
  fields.stores = Stores::Tma;
  auto boxed = ScheduleAttr::get(schedule.getContext(), fields);
  return !whyNotStores(boxed, asked.stored, asked.target);
}

/// Completes the wish with this choice, or says why it cannot be.
static Result<ScheduleChoice> complete(const Request &asked,
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

/// How much more a cluster of more than a pair must promise, because the model
/// is only good to some percent.
static double marginOfCluster(ScheduleAttr schedule) {
  constexpr double kMargin = 1.02;
  return schedule.clusterSize() == schedule.ctaGroup() ? 1 : kMargin;
}

/// How much more than others a schedule must promise. A workspace is one more
/// parameter, whose cost the model knows least of. Clusters that share operands
/// and exchange sums cost more on the timeline than they gain in the model. How
/// many clusters run at once that are no power of two nobody has counted.
static double marginOf(ScheduleAttr schedule) {
  constexpr double kSplitMargin = 1.05, kUncountedMargin = 1.02;
  bool sharesLoads =
      schedule.clusterM() * schedule.clusterN() > schedule.ctaGroup();
  if (schedule.hasWorkspace() || (schedule.clusterK() > 1 && sharesLoads))
    return kSplitMargin;
  return llvm::isPowerOf2_64(schedule.clusterSize()) ? 1 : kUncountedMargin;
}

/// What choices are ordered by.
static double rankOf(const ScheduleChoice &choice) {
  return choice.microseconds * marginOfCluster(choice.schedule) *
         choice.margin * marginOf(choice.schedule);
}

/// Puts the fastest first, and of equals those that were found first. There may
/// be a thousand: each is ranked and moved once.
static void sortByRank(std::vector<ScheduleChoice> &choices) {
  std::vector<std::pair<double, size_t>> order;
  for (auto [i, choice] : llvm::enumerate(choices))
    order.emplace_back(rankOf(choice), i);
  llvm::sort(order);
  std::vector<ScheduleChoice> sorted;
  for (auto [rank, i] : order)
    sorted.push_back(choices[i]);
  choices = std::move(sorted);
}

/// Puts first what holds whatever else is chosen: a tile would be named else
/// that is not to blame.
static void nameWish(std::vector<Reason> &refused,
                     const std::optional<Reason> &why) {
  if (!why)
    return;
  auto same = llvm::find_if(
      refused, [&](const Reason &other) { return other.text == why->text; });
  if (same != refused.end())
    std::rotate(refused.begin(), same, std::next(same));
}

ScheduleChoices blockscale::listScheduleChoices(MatmulOp op, hw::Target target,
                                                int64_t expectedRows,
                                                int64_t mostRows) {
  ScheduleChoices choices;
  auto add = [&](Result<ScheduleChoice> choice) {
    if (choice)
      choices.legal.push_back(*choice);
    else
      choices.refused.push_back(choice.why());
  };
  if (!hw::hasTensorMemory(target)) {
    listWarpSchedules(op, target, expectedRows, add);
  } else {
    ScheduleAttr wish = getScheduleWish(op);
    Request asked(op, wish, target, expectedRows, mostRows);
    // Adds the choice with its number of parts; whether any is legal.
    auto addParts = [&](TileChoice choice) {
      bool any = false;
      for (int64_t clusterK : clusterPartsOf(wish, choice)) {
        choice.clusterK = clusterK;
        Result<ScheduleChoice> completed = complete(asked, choice);
        any |= bool(completed);
        add(completed);
      }
      return any;
    };
    for (TileChoice choice : choicesOf(getMma(op), wish, target)) {
      choice.splits = wish.splits();
      if (!addParts(choice) || wish.getSplitK() || wish.shares() > 1)
        continue;
      MmaAttr instruction = asked.instruction(choice);
      const ProblemSizes &problem = asked.problemOf(choice);
      for (int64_t splits :
           splitsOf(op, wish, problem, instruction, choice, target)) {
        choice.splits = splits;
        addParts(choice);
      }
      choice.splits = 1;
      choice.shares = sharesOf(op, wish, problem, instruction, choice, target);
      if (choice.shares > 1)
        addParts(choice);
    }
    if (choices.legal.empty()) {
      nameWish(choices.refused, whyNotLoadsOfC(wish, asked.addend, target));
      nameWish(choices.refused, whyNotStores(wish, asked.stored, target));
    }
    // Pairs are all that suits the tile, and no cluster holds one.
    if (choices.legal.empty() && choices.refused.empty())
      choices.refused.push_back(
          Reason("'tile_m' of " + std::to_string(wish.getTileM()) +
                 " takes a pair of CTAs, which a cluster with 'cluster_m' of " +
                 std::to_string(wish.getClusterM()) +
                 " does not hold; nearest legal: 'cluster_m' of 2"));
  }
  sortByRank(choices.legal);
  return choices;
}

/// Says that no schedule is legal, and where all reasons are, if there are
/// several.
static InFlightDiagnostic emitNoSchedule(MatmulOp op,
                                         ArrayRef<Reason> refused) {
  const std::string &first = refused.front().text;
  InFlightDiagnostic error = op.emitOpError()
                             << "has no legal schedule: " << first;
  size_t others = llvm::count_if(
      refused, [&](const Reason &why) { return why.text != first; });
  if (others > 0)
    error << "; " << others << " of " << refused.size()
          << " are refused for other reasons, which 'blockscale explain "
             "schedule' lists";
  return error;
}

/// What is legal where a kernel of its own, or the host, quantises the result:
/// of a product for which the user chose nothing and no schedule suits both.
static ScheduleChoices listSchedulesAlone(MatmulOp op, hw::Target target,
                                          int64_t expectedRows,
                                          const ScheduleChoices &together) {
  QuantizeOp quantizer = quantizerOf(op);
  bool isWished = getScheduleWish(op) !=
                  ScheduleAttr::get(op.getContext(), ScheduleAttr::Fields());
  if (!quantizer || isWished)
    return together;
  Attribute mark = op->removeAttr(kQuantizedAttrName);
  ScheduleChoices alone = listScheduleChoices(op, target, expectedRows);
  if (alone.legal.empty()) {
    op->setAttr(kQuantizedAttrName, mark);
    return together;
  }
  // What no schedule of the product alone is refused for.
  auto isOfBoth = [&](const Reason &why) {
    return llvm::none_of(alone.refused, [&](const Reason &other) {
      return other.text == why.text;
    });
  };
  auto why = llvm::find_if(together.refused, isOfBoth);
  if (why == together.refused.end())
    why = together.refused.begin();
  quantizer.emitRemark() << "stays an op of its own: no schedule suits both: "
                         << why->text;
  return alone;
}

/// Whether a kernel that quantises the result of `op`, too, has a schedule as
/// the user wants it, of a product whose result the host quantises instead.
static bool suitsBoth(MatmulOp op, hw::Target target, int64_t expectedRows) {
  if (op->hasAttr(kQuantizedAttrName) || !op->hasOneUse())
    return false;
  auto reader = dyn_cast<QuantizeOp>(*op->user_begin());
  if (!reader || whyNotQuantized(op, reader, target))
    return false;
  op->setAttr(kQuantizedAttrName, UnitAttr::get(op.getContext()));
  bool suits = !listScheduleChoices(op, target, expectedRows).legal.empty();
  op->removeAttr(kQuantizedAttrName);
  return suits;
}

/// What is legal where the host quantises the result: the user's schedule may
/// be one that only a kernel of both has, and does not count then.
static ScheduleChoices listSchedulesUnasked(MatmulOp op, hw::Target target,
                                            int64_t expectedRows,
                                            const ScheduleChoices &asked) {
  if (!suitsBoth(op, target, expectedRows))
    return asked;
  ScheduleAttr wish = getScheduleWish(op);
  setTensorCore(op, getMma(op), ScheduleAttr());
  ScheduleChoices unasked = listScheduleChoices(op, target, expectedRows);
  if (unasked.legal.empty()) {
    setTensorCore(op, getMma(op), wish);
    return asked;
  }
  op.emitRemark() << "'schedule' suits a kernel that quantises the result, "
                     "which is the host's here, and is chosen anew: "
                  << asked.refused.front().text;
  return unasked;
}

LogicalResult blockscale::selectMatmulSchedule(MatmulOp op, hw::Target target,
                                               int64_t expectedRows) {
  if (!getMma(op))
    return op.emitOpError() << "has no 'mma' attribute; run "
                               "'blockscale-legalize-scales' first";
  // A second run would exchange the operands of a swapped product again.
  if (op.isScheduled())
    return success();
  ScheduleChoices choices = listScheduleChoices(op, target, expectedRows);
  if (choices.legal.empty())
    choices = listSchedulesAlone(op, target, expectedRows, choices);
  if (choices.legal.empty())
    choices = listSchedulesUnasked(op, target, expectedRows, choices);
  if (choices.legal.empty())
    return emitNoSchedule(op, choices.refused);
  const ScheduleChoice &best = choices.legal.front();
  if (best.mma.getK() == hw::kK96 &&
      !hw::isAvailable(hw::Feature::AbsoluteLeadingOffset, target))
    op.emitWarning() << "K = 96 takes absolute leading addresses (bit 52 of "
                        "shared-memory descriptors), of which no document says "
                        "that "
                     << hw::targetName(target)
                     << " has them; public K = 96 kernels are offered for it";
  setTensorCore(op, best.mma, best.schedule);
  return success();
}

void SelectSchedule::runOnOperation() {
  if (expectedRows < 1) {
    emitError(getOperation()->getLoc())
        << "expected rows are at least 1, found " << int64_t(expectedRows);
    return signalPassFailure();
  }
  auto result = getOperation()->walk([&](KernelSourceOpInterface op) {
    return WalkResult(op.selectSchedule(getTarget(op), expectedRows));
  });
  if (result.wasInterrupted())
    signalPassFailure();
}
