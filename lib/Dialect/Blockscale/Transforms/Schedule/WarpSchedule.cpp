//===- WarpSchedule.cpp - schedules of warp-level kernels -----------------===//
//
// Part of the blockscale project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "WarpSchedule.h"
#include "../Kernels/Geometry.h"
#include "blockscale/Dialect/Blockscale/IR/Groups.h"
#include "blockscale/Dialect/Blockscale/IR/Pairs.h"
#include "blockscale/Dialect/Blockscale/IR/Promotion.h"
#include "blockscale/Dialect/Blockscale/IR/QuantizedResult.h"
#include "blockscale/Dialect/Blockscale/IR/SplitK.h"
#include "blockscale/Dialect/Blockscale/IR/Stores.h"
#include "blockscale/Dialect/Blockscale/IR/TensorCore.h"
#include "blockscale/HW/Check.h"
#include "blockscale/HW/Part.h"
#include "blockscale/HW/Throughput.h"
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
  std::string chip = hw::targetName(target);
  if (auto why = whyNotSplit(mma, /*k=*/0, wish.splits(), target))
    return why;
  if (wish.clusterSize() > 1)
    return "clusters share loads into tensor-core kernels of chips with tensor "
           "memory; on " +
           chip + " the legal cluster is 1x1, found " +
           std::to_string(wish.clusterM()) + "x" +
           std::to_string(wish.clusterN());
  if (wish.getAccumulators() > 1)
    return chip +
           " keeps accumulators in registers; the legal number of "
           "'accumulators' is 1, found " +
           std::to_string(wish.getAccumulators());
  if (wish.getScheduler() == Scheduler::Dynamic || wish.getDependentLaunch())
    return "dynamic scheduling and dependent launches are not lowered for " +
           chip + " yet";
  if (auto why = whyNotStores(wish, {}, target))
    return why;
  return whyNotLoadsOfC(wish, {}, target);
}

static double predictMicroseconds(MatmulOp op, MmaAttr mma,
                                  ScheduleAttr schedule, hw::Target target,
                                  int64_t expectedRows) {
  auto size = [&](int64_t extent) {
    return ShapedType::isDynamic(extent) ? expectedRows : extent;
  };
  bool swap = schedule.getSwapOperands().getValue();
  ProductSizes sizes = op.getSizes();
  int64_t m = size(sizes.m), n = size(sizes.n), batch = size(sizes.batch);
  // Groups are as many products, each of its share of the rows.
  if (op.isGrouped())
    m = std::max<int64_t>(1, m / std::max<int64_t>(1, batch));
  int64_t tiles = llvm::divideCeil(swap ? n : m, schedule.getTileM()) *
                  llvm::divideCeil(swap ? m : n, schedule.getTileN()) * batch;
  int64_t waves =
      llvm::divideCeil(tiles, hw::referencePart(target.chip).smCount);
  double cycles = waves * hw::warpTileCycles(mma.getKind(), schedule.getTileM(),
                                             schedule.getTileN(),
                                             mma.getStoredK(size(sizes.k)));
  // With one stage nothing is loaded while warps multiply.
  if (schedule.getStages() == 1)
    cycles *= 2;
  return cycles / hw::referencePart(target.chip).boostMhz;
}

/// Completes `wish` with this tile, or says why it cannot be.
static Result<ScheduleChoice> complete(MatmulOp op, ScheduleAttr wish,
                                       hw::Target target, int64_t tileN,
                                       bool swap, int64_t expectedRows) {
  MmaAttr mma = instruction(getMma(op), swap);
  if (swap && mma.getSparse())
    return Reason(kWhyNotSwapSparse.str());
  if (op.isGrouped())
    if (auto why = whyNotGrouped(mma, wish.splits()))
      return *why;
  if (op.isGroupedAlongK())
    if (auto why = whyNotGroupedAlongK(mma, wish.getScheduler(), wish.splits()))
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
  fields.swapOperands = BoolAttr::get(op.getContext(), swap);
  if (op.getPairs())
    if (auto why = whyNotPairs(ScheduleAttr::get(op.getContext(), fields)))
      return *why;
  chooseIfFree(fields.tileM, 128);
  chooseIfFree(fields.tileK, mma.getTileK());
  if (QuantizeOp quantizer = quantizerOf(op))
    if (auto why = whyNotQuantized(ScheduleAttr::get(op.getContext(), fields),
                                   columnsOfBlock(op, quantizer), target))
      return *why;
  if (auto why = whyNotWarpTile(mma, fields.tileM, fields.tileN, fields.tileK))
    return *why;
  ScaledTensorType a = op.getA().getType(), b = op.getB().getType();
  if (auto why = whyNotPromotion(
          mma, ScheduleAttr::get(op.getContext(), fields), promotionBlock(a, b),
          columnsOfScale(a, b, swap), target))
    return *why;
  chooseIfFree(fields.groupM, 8);
  chooseIfFree(fields.mmaK, mma.getK());
  fields.accumulators = fields.ctaGroup = 1;
  fields.clusterM = fields.clusterN = 1;
  int64_t wanted = fields.stages;
  fields.stages = 1;
  TileGeometry geometry(mma, ScheduleAttr::get(op.getContext(), fields),
                        target.chip);
  constexpr int64_t kUsefulStages = 8;
  int64_t available =
      hw::chipInfo(target.chip).sharedMemoryPerCta - kBarrierReserve;
  int64_t most = available / geometry.stageBytes();
  if (wanted > most)
    return Reason(std::to_string(wanted) + " stages of " +
                  std::to_string(geometry.stageBytes()) + " bytes exceed the " +
                  std::to_string(hw::chipInfo(target.chip).sharedMemoryPerCta) +
                  " bytes of shared memory that " + hw::targetName(target) +
                  " gives a CTA; at most " + std::to_string(most) + " fit");
  fields.stages = wanted ? wanted : std::min(most, kUsefulStages);
  auto schedule = ScheduleAttr::get(op.getContext(), fields);
  // The formula knows the rate of the instructions, and what one stage costs.
  return ScheduleChoice{
      mma, schedule,
      predictMicroseconds(op, mma, schedule, target, expectedRows),
      fields.stages == 1 ? hw::GemmLimit::Stages : hw::GemmLimit::Array};
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
  for (bool swap : swaps)
    for (int64_t tileN : tiles)
      add(complete(op, wish, target, tileN, swap, expectedRows));
}
