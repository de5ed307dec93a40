//===- MatmulRules.cpp - what a matmul must be to become a kernel ---------===//
//
// Part of the blockscale project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "K96Plan.h"
#include "MatmulSource.h"
#include "WarpPlan.h"
#include "blockscale/Dialect/Blockscale/IR/Groups.h"
#include "blockscale/Dialect/Blockscale/IR/Pairs.h"
#include "blockscale/Dialect/Blockscale/IR/Promotion.h"
#include "blockscale/Dialect/Blockscale/IR/QuantizedResult.h"
#include "blockscale/Dialect/Blockscale/IR/ScalesOfOne.h"
#include "blockscale/Dialect/Blockscale/IR/SparseSide.h"
#include "blockscale/Dialect/Blockscale/IR/SplitK.h"
#include "blockscale/Dialect/Blockscale/IR/StoredElements.h"
#include "blockscale/Dialect/Blockscale/IR/Stores.h"
#include "blockscale/Dialect/Blockscale/IR/StreamK.h"
#include "blockscale/Dialect/Blockscale/IR/TensorCore.h"
#include "blockscale/Dialect/Blockscale/IR/WarpSchedules.h"
#include "blockscale/Dialect/Blockscale/IR/WideTiles.h"
#include "blockscale/HW/ScaleLayout.h"

using namespace mlir;
using namespace blockscale;

/// Whether an instruction reads the operand, beside `other`, as its type says
/// it lies in memory. What it has to say of scales in tiles of rows, which are
/// A's only, stands in whyNotRowPerLane().
static bool fits(ScaledTensorType type, ScaledTensorType other, MmaAttr mma,
                 int64_t scaleSpan, bool isA) {
  hw::OperandType format = isA ? mma.getA() : mma.getB();
  BoolAttr mnMajor = isA ? mma.getAMnMajor() : mma.getBMnMajor();
  bool sparse = isA && mma.getSparse();
  const ScaleSpec &spec = type.getSpec().getValue();
  bool isMNMajor = type.getOrder() == DataOrder::MNMajor;
  // Without scales and metadata there is nothing to lay out.
  bool isTiled = type.getLayout() == ScaleLayout::Tiled128x4 ||
                 type.getLayout() == ScaleLayout::Grouped128x4 ||
                 (isA && type.getLayout() == ScaleLayout::Tiled128x16);
  // The host repeats scales of longer tiles and of several rows.
  bool hasScales = scaleSpan ? spec.isTile() && type.getKTile() % scaleSpan == 0
                             : spec.isUnscaled();
  if (!scaleSpan && spec.coversK())
    hasScales = !whyNotFactor(spec, type.getElementType());
  if (!scaleSpan && hasPromotedScales(type, other))
    hasScales = true;
  return storedElements(type, other, mma.getKind()) == format &&
         isMNMajor == (mnMajor && mnMajor.getValue()) &&
         isTiled == (scaleSpan || sparse) && spec.isSparse() == sparse &&
         hasScales;
}

bool blockscale::hasRowPerLaneScales(MatmulOp op) {
  return op.getA().getType().getLayout() == ScaleLayout::Tiled128x16;
}

std::optional<Reason> blockscale::whyNotRowPerLane(MmaAttr mma, bool swap,
                                                   hw::Target target) {
  if (auto why = hw::whyNotFeature(hw::Feature::RowPerLaneScales, target))
    return Reason("scales of 'a' in layout 'tiled_128x16': " + why->text);
  if (swap)
    return Reason("scales of 'a' in layout 'tiled_128x16' are those of the "
                  "instruction's rows; 'swap_operands' must be false");
  if (!mma.getScale())
    return Reason("layout 'tiled_128x16' is of scales of blocks, and kind '" +
                  std::string(hw::kindName(mma.getKind())) + "' has none");
  if (isK96(mma))
    return Reason("K = 96 is not lowered with scales of 'a' in layout "
                  "'tiled_128x16'; nearest legal: 'mma_k' of " +
                  std::to_string(2 * hw::instructionK(mma.getKind(), false)));
  int64_t scales = mma.getTileK() / mma.getScaleSpan();
  if (mma.getSparse() || scales % hw::kRowTileScales != 0)
    return Reason("layout 'tiled_128x16' has 16 scales of each row together, "
                  "and a stage of " +
                  std::string(mma.getSparse() ? "sparse " : "") + "kind '" +
                  std::string(hw::kindName(mma.getKind())) + "' takes " +
                  std::to_string(scales) +
                  " of them; nearest legal: layout "
                  "'tiled_128x4', or blocks of 16 elements of e2m1");
  return std::nullopt;
}

/// Why the target has no such instruction, or no kernel with tiles of it.
static std::optional<Reason>
whyNotInstruction(MmaAttr mma, ScheduleAttr schedule, hw::Target target) {
  if (auto why = hw::whyNot(legalityQuery(mma, target)))
    return why;
  if (schedule.ctaGroup() != mma.getCtaGroup())
    return Reason("its 'cta_group' of " + std::to_string(schedule.ctaGroup()) +
                  " is not its instruction's, " +
                  std::to_string(mma.getCtaGroup()));
  int64_t rows = hw::kTmemLanes * mma.getCtaGroup();
  if (hw::hasTensorMemory(target) && mma.getM() != rows)
    return Reason("an instruction of M = " + std::to_string(mma.getM()) +
                  " and 'cta_group' " + std::to_string(mma.getCtaGroup()) +
                  " is not lowered; expected M = " + std::to_string(rows));
  return std::nullopt;
}

/// Why the tile is not one of instructions, or of warps.
static std::optional<Reason> whyNotTile(MmaAttr mma, ScheduleAttr schedule,
                                        hw::Target target) {
  bool inTensorMemory = hw::hasTensorMemory(target);
  if (!inTensorMemory)
    if (auto why = whyNotWarpTile(mma, schedule.getTileM(), schedule.getTileN(),
                                  schedule.getTileK()))
      return why;
  if (auto why = whyNotWarpSchedule(schedule, target))
    return why;
  auto sizes = [](int64_t m, int64_t n, int64_t k) {
    return std::to_string(m) + "x" + std::to_string(n) + "x" +
           std::to_string(k);
  };
  if (inTensorMemory &&
      (!isTileM(mma, schedule.getTileM()) || !isTileN(mma, schedule) ||
       schedule.getTileK() != mma.getTileK()))
    return Reason(
        "its tile of " +
        sizes(schedule.getTileM(), schedule.getTileN(), schedule.getTileK()) +
        " does not suit its instruction, which needs " +
        sizes(mma.getM(), mma.getN(), mma.getTileK()));
  return whyNotWideTile(mma, schedule.getTileM(), schedule.getTileN());
}

/// Why K is not gone through, or shared out, in this way.
static std::optional<Reason> whyNotLoop(MatmulOp op, hw::Target target) {
  ScheduleAttr schedule = getSchedule(op);
  MmaAttr mma = getMma(op);
  if (auto why = whyNotHalves(op, mma, schedule))
    return why;
  if (auto why = whyNotStages(mma, schedule.getStages()))
    return why;
  if (auto why = whyNotScaleRing(mma, schedule, target))
    return why;
  if (auto why = whyNotSplit(mma, op.getSizes().k, schedule.splits()))
    return why;
  if (auto why = whyNotClusterK(schedule, target))
    return why;
  return whyNotStreamed(mma, schedule, op.getSizes(), tileGroupsOf(op), target);
}

/// Why rows that are in groups do not suit the schedule.
static std::optional<Reason> whyNotRowGroups(MatmulOp op) {
  ScheduleAttr schedule = getSchedule(op);
  bool swap = schedule.getSwapOperands().getValue();
  if (op.isGrouped())
    if (auto why = whyNotGrouped(getMma(op), swap, schedule.splits()))
      return why;
  if (op.isMasked())
    if (auto why = whyNotMasked(schedule.splits()))
      return why;
  if (!op.isGathered())
    return std::nullopt;
  if (auto why = whyNotGathered(swap, hasRowFactors(op)))
    return why;
  return whyNotGatheredWide(schedule.getTileN());
}

/// Why sums do not become the result in this way.
static std::optional<Reason> whyNotEpilogue(MatmulOp op, hw::Target target) {
  ScheduleAttr schedule = getSchedule(op);
  if (auto why = whyNotStores(schedule, storedResult(op), target))
    return why;
  if (auto why = whyNotLoadsOfC(schedule, loadedAddend(op), target))
    return why;
  if (auto why =
          whyNotEpilogueWarps(schedule, storedResult(op).isPromoting, target))
    return why;
  if (auto why =
          whyNotConsumerGroups(schedule, storedResult(op).element, target))
    return why;
  if (op.getPairs())
    if (auto why = whyNotPairs(schedule, target))
      return why;
  if (QuantizeOp quantizer = quantizerOf(op))
    return whyNotQuantized(op, quantizer, schedule, target);
  return std::nullopt;
}

/// Why the instruction does not read the operands, or their scales, as they
/// are.
static std::optional<Reason> whyNotOperands(MatmulOp op, hw::Target target) {
  ScheduleAttr schedule = getSchedule(op);
  MmaAttr mma = getMma(op);
  bool swap = schedule.getSwapOperands().getValue();
  ScaledTensorType a = op.getA().getType(), b = op.getB().getType();
  if (auto why = whyNotPromotion(mma, schedule, promotionBlock(a, b),
                                 columnsOfScale(a, b, swap),
                                 columnsOfResult(op), target))
    return why;
  if (auto why = whyNotSparseSide(op, mma, swap))
    return why;
  if (hasRowPerLaneScales(op))
    if (auto why = whyNotRowPerLane(mma, swap, target))
      return why;
  ScaledTensorType first = swap ? b : a, second = swap ? a : b;
  // One that has none beside the other's has scales of 1.
  bool ofFirst = hasBlockScales(first, second),
       ofSecond = hasBlockScales(second, first);
  int64_t span = mma.getScaleSpan();
  if (whyNotScalesOf(mma, ofFirst, ofSecond, target) ||
      !fits(first, second, mma, ofFirst ? span : 0, /*isA=*/true) ||
      !fits(second, first, mma, ofSecond ? span : 0, /*isA=*/false))
    return Reason("its instruction does not read its operands; "
                  "'blockscale-legalize-scales' and "
                  "'blockscale-select-schedule' find one that does");
  return std::nullopt;
}

/// Why instruction and schedule do not agree with each other, or not with the
/// product; they may have been written by hand.
static std::optional<Reason> whyNotScheduled(MatmulOp op) {
  ScheduleAttr schedule = getSchedule(op);
  MmaAttr mma = getMma(op);
  hw::Target target = getTarget(op);
  if (auto why = whyNotInstruction(mma, schedule, target))
    return why;
  if (auto why = whyNotTile(mma, schedule, target))
    return why;
  if (auto why = whyNotLoop(op, target))
    return why;
  if (auto why = whyNotRowGroups(op))
    return why;
  if (auto why = whyNotEpilogue(op, target))
    return why;
  if (op.isGroupedAlongK()) {
    if (auto why = whyNotGroupsAlongK(op.getA().getType(), op.getB().getType()))
      return why;
    int64_t step = stepAlongK(op.getA().getType(), op.getB().getType(), mma);
    if (auto why = whyNotGroupedAlongK(mma, step, schedule.getScheduler(),
                                       schedule.splits()))
      return why;
    if (auto why = whyNotEndsAlongK(op, step, mma.getK()))
      return why;
  }
  return whyNotOperands(op, target);
}

static LogicalResult checkSchedule(MatmulOp op) {
  if (!op.isScheduled())
    return op.emitOpError() << "has no complete schedule; run "
                               "'blockscale-select-schedule' first";
  if (auto why = whyNotScheduled(op))
    return op.emitOpError() << why->text;
  return success();
}

LogicalResult blockscale::checkSizes(MatmulOp op) {
  ProductSizes sizes = op.getSizes();
  for (auto [name, size] : {std::pair<StringRef, int64_t>{"M", sizes.m},
                            {"N", sizes.n},
                            {"K", sizes.k},
                            {"batch", sizes.batch},
                            {"rows of 'a'", op.getA().getType().getNumRows()}})
    if (!ShapedType::isDynamic(size) && size > kMaxProductSize)
      return op.emitOpError()
             << "its " << name << " of " << size << " exceeds "
             << kMaxProductSize
             << ", the most that the 32-bit coordinates of a kernel reach";
  return success();
}

LogicalResult blockscale::checkReady(MatmulOp op) {
  return failure(failed(checkSizes(op)) || failed(checkSchedule(op)));
}
