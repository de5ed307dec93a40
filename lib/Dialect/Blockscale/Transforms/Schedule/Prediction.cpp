//===- Prediction.cpp - the time by which schedules are chosen ------------===//
//
// Part of the blockscale project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "blockscale/Dialect/Blockscale/Transforms/Prediction.h"
#include "../Kernels/Geometry.h"
#include "WarpSchedule.h"
#include "blockscale/Dialect/Blockscale/IR/FloatResults.h"
#include "blockscale/Dialect/Blockscale/IR/Promotion.h"
#include "blockscale/Dialect/Blockscale/IR/QuantizedResult.h"
#include "blockscale/Dialect/Blockscale/IR/SplitK.h"
#include "blockscale/Dialect/Blockscale/IR/StreamK.h"
#include "blockscale/Dialect/Blockscale/IR/TensorCore.h"
#include "blockscale/HW/GemmModel.h"
#include "blockscale/HW/Part.h"
#include "mlir/Dialect/Math/IR/Math.h"

using namespace mlir;
using namespace blockscale;

/// Bytes of an element of D.
static double bytesOfElement(MatmulOp op) {
  double bytes = op.getType().getElementTypeBitWidth() / 8.0;
  if (QuantizeOp quantizer = quantizerOf(op)) {
    ScaledTensorType type = quantizer.getType();
    unsigned bits = type.getElementType().getIntOrFloatBitWidth();
    double scale = hasFloatScales(type) ? sizeof(float) : 1;
    bytes = bits / 8.0;
    if (type.getKTile())
      bytes += scale / double(type.getKTile());
  }
  return op.getPairs() ? bytes / 2 : bytes;
}

ProblemSizes blockscale::problemSizes(MatmulOp op, bool swap,
                                      int64_t expectedRows, int64_t mostRows) {
  auto size = [&](int64_t extent) {
    return ShapedType::isDynamic(extent) ? expectedRows : extent;
  };
  ProductSizes sizes = op.getSizes();
  int64_t rows = size(sizes.m), batch = size(sizes.batch);
  // Groups are as many products, each of its share of the rows.
  if (op.isGrouped())
    rows = std::max<int64_t>(1, rows / std::max<int64_t>(1, batch));
  int64_t k = size(sizes.k);
  if (op.isGroupedAlongK())
    k = std::max<int64_t>(1, k / std::max<int64_t>(1, batch));
  int64_t mostColumns = swap ? sizes.m : sizes.n;
  if (ShapedType::isDynamic(mostColumns))
    mostColumns = swap ? mostRows : 0;
  int64_t columns = size(sizes.n);
  return ProblemSizes{
      swap ? columns : rows,
      swap ? rows : columns,
      k,
      batch,
      mostColumns,
      bytesOfElement(op),
      promotionBlock(op.getA().getType(), op.getB().getType()),
      columnsOfScale(op.getA().getType(), op.getB().getType(), swap)};
}

/// How much of the epilogue the next tile's main loop cannot hide.
static hw::EpilogueOverlap overlapOf(const TileGeometry &geometry) {
  if (geometry.accumulators == geometry.rowInstructions)
    return hw::EpilogueOverlap::None;
  return geometry.overlap ? hw::EpilogueOverlap::PiecewiseRelease
                          : hw::EpilogueOverlap::TwoAccumulators;
}

/// What a kernel that promotes sums does besides: a thread reads the scales
/// along a chunk of columns with each block of K, unless the tile has one,
/// which those of rows are multiplied by.
static void setPromotion(const ProblemSizes &problem, int64_t tileN,
                         int64_t accumulators, hw::GemmKernel &kernel) {
  if (!problem.promotionBlock)
    return;
  constexpr int64_t kColumns = 32;
  int64_t groups = promotingGroups(tileN);
  kernel.promotionK = problem.promotionBlock;
  kernel.accumulators = accumulators;
  kernel.promotionGroups = groups;
  kernel.promotionColumns = std::min(promotedColumns(tileN), kColumns);
  if (problem.columnsOfScale &&
      problem.columnsOfScale < kernel.promotionColumns)
    kernel.promotionScales = kernel.promotionColumns / problem.columnsOfScale;
}

/// How tiles are shared out.
static void setShares(const ProblemSizes &problem, MmaAttr mma,
                      ScheduleAttr schedule, hw::GemmKernel &kernel) {
  if (schedule.shares() == 1)
    return;
  bool swap = schedule.getSwapOperands().getValue();
  ProductSizes sizes{swap ? problem.columns : problem.rows,
                     swap ? problem.rows : problem.columns, problem.k,
                     problem.batch};
  kernel.sharedTiles = StreamedTiles::of(mma, schedule, sizes).sharedTiles();
  // Groups that have as many rows as expected may have whole rounds of tiles.
  if (kernel.sharedTiles > 0)
    kernel.shares = schedule.shares();
}

ProductPrediction blockscale::predictProduct(const ProblemSizes &problem,
                                             MmaAttr mma, ScheduleAttr schedule,
                                             hw::Target target) {
  TileGeometry geometry(mma, schedule, target.chip);
  hw::GemmKernel kernel;
  kernel.kind = mma.getKind();
  kernel.instructionK = mma.getK();
  kernel.sparse = mma.getSparse();
  kernel.ctaGroup = mma.getCtaGroup();
  kernel.tileM = geometry.rowsOfTile();
  kernel.instructionsM = geometry.rowInstructions;
  kernel.bitsA = mma.getA().bits();
  kernel.bitsB = mma.getB().bits();
  kernel.tileN = geometry.tileN;
  unsigned span = mma.getScaleSpan();
  kernel.bytesA = hw::bytesPerElement(mma.getA(), span) /
                  (mma.getSparse() ? hw::kSparseCompression : 1);
  kernel.bytesB = hw::bytesPerElement(mma.getB(), span);
  kernel.bytesD = problem.bytesD;
  kernel.cluster = schedule.clusterSize();
  kernel.multicastA = schedule.clusterN();
  kernel.multicastB = schedule.clusterM() / schedule.ctaGroup();
  // A stage of scales is free when the instructions of the one before are done,
  // which is so early that two less are not missed on the timeline.
  kernel.stages = std::min(schedule.getStages(), schedule.scaleStages() + 2);
  kernel.stageK = geometry.tileK;
  kernel.stageBytes = geometry.stageBytes();
  kernel.splits = schedule.splits();
  kernel.splitUnit = splitUnit(mma);
  kernel.exchanges = schedule.clusterK() > 1;
  kernel.owners = geometry.owners();
  setShares(problem, mma, schedule, kernel);
  kernel.overlap = overlapOf(geometry);
  kernel.sharedColumns = geometry.overlap;
  kernel.inHalves = geometry.hasHalves;
  kernel.warpsOfQuarter = schedule.warpsOfQuarter();
  setPromotion(problem, geometry.tileN, geometry.accumulators, kernel);
  hw::GemmConditions conditions{hw::referencePart(target.chip)};
  hw::GemmSize size{problem.rows, problem.columns, problem.k, problem.batch};
  hw::GemmPrediction prediction = hw::predictGemm(kernel, size, conditions);
  return {prediction.total,
          prediction.limit,
          kernel.exchanges ? 0 : prediction.reduction,
          double(prediction.waves) * prediction.stages / prediction.total,
          prediction.waves,
          std::max(prediction.mma, prediction.stages) * prediction.clockGhz *
              1e3};
}

/// Instructions for an element, as an epilogue has them for pairs of elements:
/// those that every result takes, and those of the ops in the region.
static double instructionsOf(MatmulOp op) {
  constexpr double kOfResult = 3, kOfInput = 2, kOfOp = 1.5, kOfFunction = 12,
                   kOfQuantising = 7;
  double sum = kOfResult;
  if (op.getC())
    sum += kOfInput;
  if (op.getBias())
    sum += kOfInput;
  if (quantizerOf(op))
    sum += kOfQuantising;
  if (!op.getEpilogue().empty())
    for (Operation &each : op.getEpilogue().front().without_terminator())
      sum += isa<math::MathDialect>(each.getDialect()) ? kOfFunction : kOfOp;
  return sum;
}

/// What `warpsOfQuarter` warps on each quarter of the lanes do.
static hw::EpilogueWork epilogueWork(MatmulOp op, ScheduleAttr schedule,
                                     const TileGeometry &geometry,
                                     const ProductPrediction &predicted,
                                     unsigned warpsOfQuarter) {
  hw::EpilogueWork work;
  work.tiles = predicted.waves;
  work.mainLoop = predicted.mainLoopCycles;
  work.overlap = geometry.overlap;
  work.columns = geometry.tileN;
  work.chunk = geometry.epilogueColumns(1);
  // A warp alone takes one block at a time.
  if (QuantizeOp quantizer = quantizerOf(op))
    if (warpsOfQuarter == 1)
      work.chunk = columnsOfBlock(op, quantizer);
  work.bytes = bytesOfElement(op);
  work.instructions = instructionsOf(op);
  // C of a chunk comes while another one is stored, unless that is quantised.
  if (op.getBias() || (op.getC() && quantizerOf(op)))
    work.wait = hw::kL2LatencyCycles;
  work.meetsEarly = schedule.clusterSize() > 1 && !op.hasGroups() &&
                    schedule.getScheduler() == Scheduler::Static;
  return work;
}

bool blockscale::gainsByMoreWarps(MatmulOp op, MmaAttr mma,
                                  ScheduleAttr schedule,
                                  const ProductPrediction &predicted,
                                  hw::Target target) {
  constexpr unsigned kMore = 2;
  TileGeometry geometry(mma, schedule, target.chip);
  // A half is free when all of it is loaded, by two warps at once.
  if (geometry.hasHalves)
    return true;
  auto cycles = [&](unsigned warps) {
    return hw::epilogueCycles(
        epilogueWork(op, schedule, geometry, predicted, warps), warps);
  };
  return cycles(kMore) < cycles(1);
}

double blockscale::predictMicroseconds(MatmulOp op, int64_t expectedRows) {
  assert(op.isScheduled() && "a schedule is what is predicted");
  if (!hw::hasTensorMemory(getTarget(op)))
    return predictWarpMicroseconds(op, expectedRows);
  ScheduleAttr schedule = getSchedule(op);
  bool swapped = schedule.getSwapOperands().getValue();
  return predictProduct(problemSizes(op, swapped, expectedRows), getMma(op),
                        schedule, getTarget(op))
      .microseconds;
}
