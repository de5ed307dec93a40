//===- WarpSchedule.cpp - schedules of warp-level kernels -----------------===//
//
// Part of the blockscale project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "WarpSchedule.h"
#include "../Kernels/Geometry.h"
#include "../Kernels/TileMates.h"
#include "blockscale/Dialect/Blockscale/IR/Groups.h"
#include "blockscale/Dialect/Blockscale/IR/Pairs.h"
#include "blockscale/Dialect/Blockscale/IR/Promotion.h"
#include "blockscale/Dialect/Blockscale/IR/QuantizedResult.h"
#include "blockscale/Dialect/Blockscale/IR/SparseSide.h"
#include "blockscale/Dialect/Blockscale/IR/SplitK.h"
#include "blockscale/Dialect/Blockscale/IR/Stores.h"
#include "blockscale/Dialect/Blockscale/IR/StreamK.h"
#include "blockscale/Dialect/Blockscale/IR/TensorCore.h"
#include "blockscale/Dialect/Blockscale/IR/WarpSchedules.h"
#include "blockscale/Dialect/Blockscale/Transforms/Prediction.h"
#include "blockscale/HW/Check.h"
#include "blockscale/HW/GemmModel.h"
#include "blockscale/HW/Part.h"
#include "blockscale/HW/Throughput.h"
#include "mlir/IR/TypeUtilities.h"
#include "llvm/Support/MathExtras.h"

using namespace mlir;
using namespace blockscale;

/// The instruction; operands change sides with `swap`.
static MmaAttr instruction(MmaAttr mma, bool swap) {
  MmaAttr::Fields fields = (swap ? mma.getTransposed() : mma).getFields();
  fields.m = 16;
  fields.n = 8;
  fields.k = hw::instructionK(mma.getKind(), mma.getSparse());
  fields.ctaGroup = 1;
  return MmaAttr::get(mma.getContext(), fields);
}

/// Why `wish` asks for what only kernels with tensor memory have.
static std::optional<Reason> whyNotWish(ScheduleAttr wish, MmaAttr mma,
                                        hw::Target target) {
  hw::MmaQuery query = legalityQuery(mma, target);
  query.ctaGroup = wish.ctaGroup();
  if (wish.getMmaK())
    query.k = wish.getMmaK();
  if (auto why = hw::whyNot(query))
    return why;
  if (auto why = whyNotWarpSchedule(wish, target))
    return why;
  if (wish.getScheduler() == Scheduler::Dynamic)
    if (auto why = hw::whyNotFeature(hw::Feature::ClusterLaunchControl, target))
      return why;
  if (auto why = whyNotScaleRing(mma, wish, target))
    return why;
  if (auto why =
          whyNotStreamed(mma, wish, /*sizes=*/{}, TileGroups::None, target))
    return why;
  if (auto why = whyNotStores(wish, {}, target))
    return why;
  if (auto why = whyNotLoadsOfC(wish, {}, target))
    return why;
  if (auto why = whyNotConsumerGroups(wish, /*element=*/Type(), target))
    return why;
  return whyNotEpilogueWarps(wish, /*isPromoting=*/false, target);
}

namespace {
/// A product with `expectedRows` for what only the host knows.
struct WarpProblem {
  int64_t rows, columns, k, batch;
  /// Of an element of D, and of C where there is one.
  double bytesD, bytesC;

  int64_t tiles(ScheduleAttr schedule) const {
    return llvm::divideCeil(rows, schedule.getTileM()) *
           llvm::divideCeil(columns, schedule.getTileN()) * batch;
  }
};
} // namespace

static WarpProblem sizesOf(MatmulOp op, bool swap, int64_t expectedRows) {
  ProblemSizes sizes = problemSizes(op, swap, expectedRows);
  double bytesC = 0;
  if (Value c = op.getC())
    bytesC = getElementTypeOrSelf(c).getIntOrFloatBitWidth() / 8.0;
  return {sizes.rows,  sizes.columns, sizes.k,
          sizes.batch, sizes.bytesD,  bytesC};
}

/// Microseconds in which memory brings both operands and C, and takes D and the
/// sums of parts of K.
static double memoryMicroseconds(const WarpProblem &sizes, MmaAttr mma,
                                 ScheduleAttr schedule, const hw::Part &part) {
  unsigned span = hw::isBlockScaled(mma.getKind()) ? mma.getScaleSpan() : 0;
  double ofA = double(sizes.rows) * mma.getStoredK(sizes.k) *
               hw::bytesPerElement(mma.getA(), span),
         ofB = double(sizes.columns) * sizes.k *
               hw::bytesPerElement(mma.getB(), span);
  double ofElement = sizes.bytesD + sizes.bytesC,
         ofResult = double(sizes.rows) * sizes.columns * ofElement;
  double bytes = sizes.batch * (ofA + ofB + ofResult);
  if (schedule.splits() > 1)
    bytes += hw::kSumBytes * double(sizes.tiles(schedule) * schedule.splits() *
                                    schedule.getTileM() * schedule.getTileN());
  return bytes / (part.memoryTerabytesPerSecond * 1e6);
}

namespace {
/// Cycles of a CTA: of all stages of its part of K, of one, and of what it
/// stores.
struct TileCycles {
  double stages, stage, store;
};
} // namespace

static TileCycles tileCycles(const WarpProblem &sizes, MmaAttr mma,
                             ScheduleAttr schedule) {
  int64_t stages = llvm::divideCeil(sizes.k, mma.getTileK());
  TileCycles cycles;
  cycles.stage = hw::warpStageCycles(
      mma.getKind(), schedule.getTileM(), schedule.getTileN(),
      mma.getStoredK(mma.getTileK()), schedule.consumerGroups() > 1);
  // With one stage nothing is loaded while warps multiply.
  if (schedule.getStages() == 1)
    cycles.stage *= 2;
  cycles.stages =
      double(llvm::divideCeil(stages, schedule.splits())) * cycles.stage;
  double bytes = schedule.splits() > 1 ? hw::kSumBytes : sizes.bytesD;
  cycles.store = double(schedule.getTileM() * schedule.getTileN()) * bytes /
                 hw::kEpilogueStoreBytesPerCycle;
  return cycles;
}

static ScheduleChoice predicted(const WarpProblem &sizes, MmaAttr mma,
                                ScheduleAttr schedule, hw::Target target) {
  const hw::Part &part = hw::referencePart(target.chip);
  int64_t splits = schedule.splits();
  double waves =
      double(llvm::divideCeil(sizes.tiles(schedule) * splits, part.smCount));
  double elements = double(schedule.getTileM() * schedule.getTileN());
  double reduction =
      splits > 1 ? hw::workspaceCycles(elements, unsigned(splits)) : 0;
  TileCycles tile = tileCycles(sizes, mma, schedule);
  double cycles = waves * (tile.stages + tile.store + reduction);
  // One group multiplies while the other one stores, unless that takes longer.
  if (schedule.consumerGroups() > 1)
    cycles = waves * std::max(tile.stages, (tile.stages + tile.store) / 2) +
             tile.store;
  // The warps that wait for the others' sums are those that multiply; nothing
  // is beside the last ones, and behind the last byte comes one stage.
  double array = cycles / part.boostMhz;
  double memory = memoryMicroseconds(sizes, mma, schedule, part) +
                  (tile.stage + tile.store + reduction) / part.boostMhz;
  hw::GemmLimit limit = hw::GemmLimit::Array;
  if (memory > array)
    limit = hw::GemmLimit::Memory;
  else if (schedule.getStages() == 1)
    limit = hw::GemmLimit::Stages;
  // How well the formula knows a warp that is alone on a quarter of an SM.
  constexpr double kMarginOfTurns = 1.05;
  double margin = schedule.consumerGroups() > 1 ? kMarginOfTurns : 1;
  return {mma,
          schedule,
          hw::kLaunchMicroseconds + hw::kTmaMemoryLatency +
              std::max(array, memory),
          limit,
          reduction / part.boostMhz,
          margin};
}

double blockscale::predictWarpMicroseconds(MatmulOp op, int64_t expectedRows) {
  ScheduleAttr schedule = getSchedule(op);
  bool isSwapped = schedule.getSwapOperands().getValue();
  return predicted(sizesOf(op, isSwapped, expectedRows), getMma(op), schedule,
                   getTarget(op))
      .microseconds;
}

/// Bytes in which warps choose the scales of what they quantise together.
static int64_t bytesOfScaleChoice(MatmulOp op,
                                  const ScheduleAttr::Fields &fields,
                                  hw::Target target) {
  QuantizeOp quantizer = quantizerOf(op);
  if (!quantizer)
    return 0;
  std::optional<TileParts> parts =
      tileParts(ScheduleAttr::get(op.getContext(), fields),
                resultTile(op, quantizer, target), target);
  return parts ? bytesOfMates(*parts, kConsumerWarps * hw::kWarpSize) : 0;
}

/// Completes `wish` with this tile, or says why it cannot be.
static Result<ScheduleChoice> complete(MatmulOp op, ScheduleAttr wish,
                                       hw::Target target, int64_t tileN,
                                       bool swap, int64_t splits,
                                       int64_t expectedRows) {
  MmaAttr mma = instruction(getMma(op), swap);
  if (auto why = whyNotSplit(mma, op.getSizes().k, splits))
    return *why;
  if (auto why = whyNotSparseSide(op, mma, swap))
    return *why;
  if (op.isGrouped())
    if (auto why = whyNotGrouped(mma, swap, splits))
      return *why;
  if (op.isGroupedAlongK())
    if (auto why = whyNotGroupedAlongK(
            mma, stepAlongK(op.getA().getType(), op.getB().getType(), mma),
            wish.getScheduler(), splits))
      return *why;
  if (op.isMasked())
    if (auto why = whyNotMasked(splits))
      return *why;
  if (op.isGathered())
    if (auto why = whyNotGathered(swap, hasRowFactors(op)))
      return *why;
  if (auto why = whyNotWish(wish, mma, target))
    return *why;
  ScheduleAttr::Fields fields = wish.getFields();
  auto chooseIfFree = [](int64_t &field, int64_t value) {
    if (!field)
      field = value;
  };
  fields.tileN = tileN;
  if (splits > 1)
    fields.splitK = splits;
  fields.swapOperands = BoolAttr::get(op.getContext(), swap);
  if (!fields.dependentLaunch)
    fields.dependentLaunch = BoolAttr::get(op.getContext(), true);
  if (op.getPairs())
    if (auto why =
            whyNotPairs(ScheduleAttr::get(op.getContext(), fields), target))
      return *why;
  chooseIfFree(fields.tileM, 128);
  chooseIfFree(fields.tileK, mma.getTileK());
  if (QuantizeOp quantizer = quantizerOf(op))
    if (auto why = whyNotQuantized(
            op, quantizer, ScheduleAttr::get(op.getContext(), fields), target))
      return *why;
  if (auto why = whyNotWarpTile(mma, fields.tileM, fields.tileN, fields.tileK))
    return *why;
  if (auto why =
          whyNotConsumerGroups(ScheduleAttr::get(op.getContext(), fields),
                               storedResult(op).element, target))
    return *why;
  ScaledTensorType a = op.getA().getType(), b = op.getB().getType();
  if (auto why = whyNotPromotion(
          mma, ScheduleAttr::get(op.getContext(), fields), promotionBlock(a, b),
          columnsOfScale(a, b, swap), columnsOfResult(op), target))
    return *why;
  chooseIfFree(fields.groupM, 8);
  chooseIfFree(fields.mmaK, mma.getK());
  fields.accumulators = fields.ctaGroup = 1;
  fields.clusterM = fields.clusterN = 1;
  int64_t wanted = fields.stages;
  fields.stages = 1;
  // No ring of their own, so that nothing is left to say.
  fields.scaleStages = 0;
  TileGeometry geometry(mma, ScheduleAttr::get(op.getContext(), fields),
                        target.chip);
  constexpr int64_t kUsefulStages = 8;
  int64_t available = hw::chipInfo(target.chip).sharedMemoryPerCta -
                      kBarrierReserve - bytesOfScaleChoice(op, fields, target);
  int64_t most = available / geometry.stageBytes();
  if (wanted > most)
    return Reason(std::to_string(wanted) + " stages of " +
                  std::to_string(geometry.stageBytes()) + " bytes exceed the " +
                  std::to_string(hw::chipInfo(target.chip).sharedMemoryPerCta) +
                  " bytes of shared memory that " + hw::targetName(target) +
                  " gives a CTA; at most " + std::to_string(most) + " fit");
  fields.stages = wanted ? wanted : std::min(most, kUsefulStages);
  auto schedule = ScheduleAttr::get(op.getContext(), fields);
  return predicted(sizesOf(op, swap, expectedRows), mma, schedule, target);
}

/// The numbers of parts of K to compare beside 1, of a schedule without them.
static SmallVector<int64_t> splitsOf(MatmulOp op, const ScheduleChoice &whole,
                                     bool swap, hw::Target target,
                                     int64_t expectedRows) {
  SmallVector<int64_t> splits;
  ProductSizes sizes = op.getSizes();
  if (op.hasGroups() || ShapedType::isDynamic(sizes.k))
    return splits;
  int64_t tiles = sizesOf(op, swap, expectedRows).tiles(whole.schedule);
  int64_t most =
      mostWavesOfParts(sizes) * hw::referencePart(target.chip).smCount / tiles;
  for (int64_t candidate : kSplitCandidates)
    if (candidate <= most && !whyNotSplit(whole.mma, sizes.k, candidate))
      splits.push_back(candidate);
  return splits;
}

void blockscale::listWarpSchedules(
    MatmulOp op, hw::Target target, int64_t expectedRows,
    llvm::function_ref<void(Result<ScheduleChoice>)> add) {
  ScheduleAttr wish = getScheduleWish(op);
  SmallVector<int64_t> tiles{128, 64, 32, 16};
  if (wish.getTileN())
    tiles = {wish.getTileN()};
  SmallVector<bool> swaps{false, true};
  if (wish.getSwapOperands())
    swaps = {wish.getSwapOperands().getValue()};
  else if (isSparseB(op))
    swaps = {true};
  // Where all warps may share a tile groups of them may not take it.
  auto addTurns = [&](bool swap, int64_t tileN) {
    ScheduleAttr::Fields fields = wish.getFields();
    if (fields.consumerGroups || wish.isComplete())
      return;
    fields.consumerGroups = 2;
    auto inTurns = complete(op, ScheduleAttr::get(op.getContext(), fields),
                            target, tileN, swap, wish.splits(), expectedRows);
    if (inTurns)
      add(inTurns);
  };
  auto addTile = [&](bool swap, int64_t tileN) {
    auto whole =
        complete(op, wish, target, tileN, swap, wish.splits(), expectedRows);
    add(whole);
    if (!whole)
      return;
    addTurns(swap, tileN);
    if (wish.getSplitK() || wish.consumerGroups() > 1)
      return;
    for (int64_t splits : splitsOf(op, *whole, swap, target, expectedRows))
      add(complete(op, wish, target, tileN, swap, splits, expectedRows));
  };
  for (bool swap : swaps)
    for (int64_t tileN : tiles)
      addTile(swap, tileN);
}
