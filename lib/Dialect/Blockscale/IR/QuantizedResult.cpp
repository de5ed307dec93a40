//===- QuantizedResult.cpp - products that quantise their result ----------===//
//
// Part of the blockscale project, under the Apache License v2.0 with LLVM
// Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "blockscale/Dialect/Blockscale/IR/QuantizedResult.h"
#include "KernelVerifiers.h"
#include "blockscale/Dialect/Blockscale/IR/FloatResults.h"
#include "blockscale/Dialect/Blockscale/IR/GivenScales.h"
#include "blockscale/Dialect/Blockscale/IR/Numbers.h"
#include "blockscale/Dialect/Blockscale/IR/Promotion.h"
#include "blockscale/Dialect/Blockscale/IR/Quantization.h"
#include "blockscale/Dialect/Blockscale/IR/Quantize.h"
#include "blockscale/Dialect/Blockscale/IR/SparseSide.h"
#include "blockscale/Dialect/Blockscale/IR/SplitK.h"
#include "blockscale/Dialect/Blockscale/IR/TensorCore.h"
#include "blockscale/HW/Memory.h"
#include "blockscale/HW/Target.h"
#include "mlir/IR/Builders.h"
#include "mlir/IR/Matchers.h"
#include "mlir/Interfaces/FunctionInterfaces.h"
#include "llvm/Support/MathExtras.h"

#include <numeric>

using namespace mlir;
using namespace blockscale;

/// The one reader of the result, if it is a quantisation beside the product.
static QuantizeOp readerOf(MatmulOp op) {
  if (!op->hasOneUse())
    return {};
  auto reader = dyn_cast<QuantizeOp>(*op->user_begin());
  if (!reader || reader.getInput() != op.getResult() ||
      reader->getBlock() != op->getBlock())
    return {};
  return reader;
}

QuantizeOp blockscale::quantizerOf(MatmulOp op) {
  return op->hasAttr(kQuantizedAttrName) ? readerOf(op) : QuantizeOp();
}

int64_t blockscale::columnsOfBlock(MatmulOp op, QuantizeOp quantizer) {
  return elementsTogether(quantizer.getType()) * (op.getPairs() ? 2 : 1);
}

ScaleReader blockscale::readerOfResult(KernelMatmulOp op) {
  auto kernel = op->getParentOfType<FunctionOpInterface>();
  return kernel ? scaleReader(kernel) : ScaleReader::Dense;
}

int64_t blockscale::columnsOfResult(MatmulOp op) {
  QuantizeOp quantizer = quantizerOf(op);
  return quantizer ? columnsOfBlock(op, quantizer) : 0;
}

QuantizationAttr blockscale::quantizationOf(QuantizeOp op, StringRef source,
                                            bool transposed) {
  MLIRContext *context = op.getContext();
  return QuantizationAttr::get(context, StringAttr::get(context, source),
                               op.getInput().getType().getElementType(),
                               op.getType(), op.getRule(), op.getRounding(),
                               op.getSeedAttr(), transposed);
}

//===----------------------------------------------------------------------===//
// Tiles
//===----------------------------------------------------------------------===//

/// Columns of a block that one thread has.
static constexpr int64_t kMostBlockColumns = 64;

static ResultTile tileOf(ScaledTensorType type, ScaleRule rule, int64_t sums,
                         bool isPromoting, hw::Target target,
                         ScaleReader reader) {
  ResultTile tile{rowsTogether(type), sums * elementsTogether(type),
                  /*blockColumns=*/1, isPromoting,
                  rule == ScaleRule::MinError && !hasOneScale(type) &&
                      !largestDecides(type)};
  // Nobody waits for who has other columns of a pair.
  if (hasOneScale(type) && isPromoting && !hw::hasTensorMemory(target))
    tile.columns = kWarpColumns;
  Result<QuantizedStorage> storage = quantizedStorage(type, target, {}, reader);
  if (storage && storage->scale)
    tile.blockColumns = sums * storage->block;
  return tile;
}

ResultTile blockscale::resultTile(KernelMatmulOp op) {
  bool isPromoting = op.getRowBlock() || op.getColumnBlock();
  int64_t sums = op.getPairs() ? 2 : 1;
  QuantizationAttr quantization = op.getQuantization().value_or(nullptr);
  if (!quantization)
    return {1, sums, 1, isPromoting};
  return tileOf(quantization.getD(), quantization.getRule(), sums, isPromoting,
                getTarget(op), readerOfResult(op));
}

ResultTile blockscale::resultTile(MatmulOp product, QuantizeOp op,
                                  hw::Target target) {
  bool isPromoting =
      promotionBlock(product.getA().getType(), product.getB().getType()) != 0;
  int64_t sums = product.getPairs() ? 2 : 1;
  if (!op)
    return {1, sums, 1, isPromoting};
  return tileOf(op.getType(), op.getRule(), sums, isPromoting, target,
                scaleReader(op));
}

//===----------------------------------------------------------------------===//
// Rules
//===----------------------------------------------------------------------===//

/// Where warps multiply, those of a CTA have whole blocks of `columns` columns.
static std::optional<Reason> whyNotWarps(int64_t columns, hw::Target target) {
  constexpr int64_t kMost = 128;
  if (hw::hasTensorMemory(target) || columns <= kMost)
    return std::nullopt;
  return Reason("a CTA of " + hw::targetName(target) + " has " +
                std::to_string(kMost) +
                " columns of the product, but a block of the result is made "
                "of " +
                std::to_string(columns) + "; nearest legal: blocks of " +
                std::to_string(kMost) +
                " columns, or a kernel of its own that quantises");
}

/// Warps that have the columns of a tile together at least where each has so
/// many rows that its lanes share them out.
static int64_t leastWarpsAlong(ScheduleAttr schedule) {
  constexpr int64_t kWarpsAbove = hw::kTmemLanes / hw::kWarpSize;
  return warpsOfTile(schedule) / kWarpsAbove;
}

/// And whole runs of rows that the lanes of a quad share out.
static std::optional<Reason> whyNotWarpRows(ScheduleAttr schedule,
                                            const ResultTile &tile,
                                            hw::Target target) {
  int64_t least = leastWarpsAlong(schedule) * warpColumns(tile);
  if (hw::hasTensorMemory(target) || schedule.getTileN() >= least)
    return std::nullopt;
  return Reason("on " + hw::targetName(target) +
                " a result is quantised where a warp has 32 rows, found "
                "'tile_n' of " +
                std::to_string(schedule.getTileN()) +
                "; nearest legal: " + std::to_string(least));
}

/// A warp that shares a tile with few others has no registers for blocks beside
/// the sums of a wide one.
static std::optional<Reason> whyNotInTurns(ScheduleAttr schedule) {
  constexpr int64_t kMost = 64;
  if (schedule.consumerGroups() == 1 || schedule.getTileN() <= kMost)
    return std::nullopt;
  return Reason(
      "with 'consumer_groups' of " + std::to_string(schedule.consumerGroups()) +
      " warps have registers to quantise tiles of " + std::to_string(kMost) +
      " columns, found 'tile_n' of " + std::to_string(schedule.getTileN()) +
      "; nearest legal: " + std::to_string(kMost));
}

/// The lanes of a CTA have so many columns of a product whose operands are
/// swapped, and those of several CTAs of a cluster their multiple.
static constexpr int64_t kSwappedColumns = hw::kTmemLanes;

/// A block of columns of several CTAs.
static std::optional<Reason> whyNotInCluster(ScheduleAttr schedule,
                                             const ResultTile &tile) {
  int64_t ctas = tile.columns / kSwappedColumns;
  if (ctas <= 1)
    return std::nullopt;
  std::string what =
      "a block of the result is made of " + std::to_string(tile.columns) +
      " columns of the product, of which a CTA has " +
      std::to_string(kSwappedColumns) + " where operands are swapped";
  if (schedule.clusterM() % ctas != 0)
    return Reason(what + ", and its cluster " +
                  std::to_string(kSwappedColumns * schedule.clusterM()) +
                  "; nearest legal: 'cluster_m' of " + std::to_string(ctas));
  if ((schedule.splits() > 1 && schedule.clusterK() == 1) ||
      schedule.shares() > 1)
    return Reason(what + ", and other CTAs of a cluster may not be the last "
                         "ones that add parts of K to theirs; nearest legal: "
                         "'split_k' of 1, or all parts in 'cluster_k'");
  return std::nullopt;
}

/// The columns that a CTA adds up.
static std::string sliceText(ScheduleAttr schedule, int64_t slice) {
  return "the slice of " + std::to_string(slice) + " that 'tile_n' of " +
         std::to_string(schedule.getTileN()) + " leaves each CTA with " +
         "'cluster_k' of " + std::to_string(schedule.clusterK());
}

/// The next tile of which each CTA has a multiple of `columns`, all of it or,
/// where it has the sums of a part of K, its slice.
static std::string nearestTile(int64_t tileN, int64_t parts, int64_t columns) {
  // Of several tiles each begins where scales do, or in the middle.
  constexpr int64_t kStep = hw::kTmemLanes / 2, kMost = 256;
  int64_t step = parts > 1 ? std::lcm(columns, kStep) : columns;
  int64_t next = llvm::alignTo(tileN + 1, step);
  while (next <= kMost && ownedColumns(next, parts) % columns != 0)
    next += step;
  bool isSmall = parts == 1 || next <= kMost;
  return "nearest legal: " +
         (isSmall ? std::to_string(next) : "'cluster_k' of 1");
}

/// Rows of D that swapped sums are brought to at once are whole tiles of it.
static std::optional<Reason> whyNotRowsAtOnce(ScheduleAttr schedule,
                                              const ResultTile &tile,
                                              int64_t rows, hw::Target target) {
  constexpr int64_t kWidest = 2 * hw::kTmemLanes;
  std::string what = "a scale of the result is for " +
                     std::to_string(tile.rows) +
                     " rows, of which 'tile_n' of " +
                     std::to_string(schedule.getTileN()) + " leaves a CTA ";
  if (rows % tile.rows != 0 || !tileParts(schedule, tile, target))
    return Reason(what +
                  "others at once where operands are swapped; nearest legal: " +
                  std::to_string(tile.rows * schedule.clusterK()));
  if (tile.rows == hw::kTmemLanes && schedule.getTileN() > kWidest)
    return Reason(what +
                  "more than two at once where operands are swapped; nearest "
                  "legal: " +
                  std::to_string(kWidest));
  return std::nullopt;
}

/// The same where warps multiply.
static std::optional<Reason> whyNotWarpsExchange(ScheduleAttr schedule,
                                                 const ResultTile &tile,
                                                 hw::Target target) {
  int64_t least =
      std::max(leastWarpsAlong(schedule) * exchangedColumns({1, tile.columns}),
               tile.rows);
  if (schedule.getTileN() >= least)
    return std::nullopt;
  return Reason("with 'swap_operands' sums are brought to rows of D where a "
                "warp has 32 of them, of which 'tile_n' of " +
                std::to_string(schedule.getTileN()) + " leaves it fewer on " +
                hw::targetName(target) +
                "; nearest legal: " + std::to_string(least));
}

std::optional<Reason> blockscale::whyNotExchanged(ScheduleAttr schedule,
                                                  const ResultTile &tile,
                                                  hw::Target target) {
  if (!hw::hasTensorMemory(target))
    return whyNotWarpsExchange(schedule, tile, target);
  std::string what = "with 'swap_operands' sums are brought to rows of D ";
  // Where a cluster adds up parts of K a CTA has a slice of them.
  int64_t parts = schedule.clusterK(), tileN = schedule.getTileN();
  int64_t slice = ownedColumns(tileN, parts);
  int64_t atOnce = std::min(exchangedColumns(tile), slice);
  if (auto why = whyNotRowsAtOnce(schedule, tile,
                                  tile.isPromoting ? slice : atOnce, target))
    return why;
  int64_t rows = atOnce * schedule.warpsOfQuarter();
  if (slice % rows == 0)
    return std::nullopt;
  std::string nearest = nearestTile(tileN, parts, rows);
  if (parts > 1)
    return Reason(what + std::to_string(rows) + " at once, of which " +
                  sliceText(schedule, slice) + " is no multiple; " + nearest);
  return Reason(what + std::to_string(rows) +
                " at once, of which 'tile_n' of " + std::to_string(tileN) +
                " is no multiple; " + nearest);
}

/// Scales lie by the groups that a kernel computes.
static std::optional<Reason> whyNotGroups(MatmulOp product, QuantizeOp op) {
  // Of counted rows, or groups along K, each matrix has its scales where it has
  // them without. Plain ones lie by rows, whatever their groups are.
  if (product.isMasked() || product.isGroupedAlongK() ||
      product.getOffsets() == op.getOffsets() || plainScaleType(op.getType()))
    return std::nullopt;
  if (product.hasGroups() && !op.getOffsets())
    return Reason("scales of the result of a product with groups start anew "
                  "with each of them; nearest legal: the 'groups' of the "
                  "product, and a result in layout 'grouped_128x4'");
  return Reason("the scales of the result start anew with each group, but the "
                "product has other groups or none; nearest legal: the 'groups' "
                "of the product");
}

/// Warps keep the sums of few columns of a stage that holds several blocks.
static std::optional<Reason> whyNotShortOnWarps(MmaAttr mma, int64_t block) {
  if (!mma || block >= mma.getTileK())
    return std::nullopt;
  return Reason("warps whose stages of " + std::to_string(mma.getTileK()) +
                " elements along K hold several blocks of " +
                std::to_string(block) +
                ", whose sums are promoted, have a 'tile_n' of 32, but 64 "
                "where a result is quantised; nearest legal: scales of tiles "
                "of " +
                std::to_string(mma.getTileK()) +
                " elements, or a kernel of its own that quantises");
}

/// Where sums are promoted several threads share the columns of a tile, each of
/// which has few, but whole blocks that instructions read.
static std::optional<Reason> whyNotPromoted(MatmulOp product, QuantizeOp op,
                                            hw::Target target) {
  int64_t k =
      promotionBlock(product.getA().getType(), product.getB().getType());
  if (!k)
    return std::nullopt;
  ResultTile tile = resultTile(product, op, target);
  std::string what = "a block of the result is made of " +
                     std::to_string(tile.columns) +
                     " columns of a product whose sums are promoted, ",
              otherwise = ", or a kernel of its own that quantises";
  if (!hw::hasTensorMemory(target)) {
    if (tile.blockColumns > kWarpColumns)
      return Reason(what + "of which a warp of " + hw::targetName(target) +
                    " has " + std::to_string(kWarpColumns) +
                    ", and only float scales are found by several; nearest "
                    "legal: such, blocks half as long" +
                    otherwise);
    return whyNotShortOnWarps(getMma(product), k);
  }
  int64_t ofScale = columnsOfScale(product.getA().getType(),
                                   product.getB().getType(), /*swap=*/false);
  int64_t most = mostPromotedColumns(getMma(product), k, ofScale, tile.columns);
  if (tile.columns > most)
    return Reason(what + "of which a tile has " + std::to_string(most) +
                  "; nearest legal: blocks of " +
                  std::to_string(most / (product.getPairs() ? 2 : 1)) +
                  " elements" + otherwise);
  int64_t ofThread = promotedColumns(tile.columns);
  if (tile.blockColumns <= ofThread)
    return std::nullopt;
  return Reason(what + "of which a thread has " + std::to_string(ofThread) +
                ", and only float scales are found by several; nearest legal: "
                "such, blocks half as long" +
                otherwise);
}

/// A thread has all of a block whose scale an instruction reads.
static std::optional<Reason> whyNotOneThread(const ResultTile &tile) {
  if (tile.blockColumns <= kMostBlockColumns)
    return std::nullopt;
  return Reason("a block of the result is made of " +
                std::to_string(tile.blockColumns) +
                " columns of the product, of which a thread has " +
                std::to_string(kMostBlockColumns) +
                ", and only float scales are found by several; nearest legal: "
                "such, or a kernel of its own that quantises");
}

/// Errors of a tile are added up in 32 bits.
static std::optional<Reason> whyNotCompared(int64_t elements, ScaleRule rule) {
  constexpr int64_t kMostCompared = 2048;
  if (rule != ScaleRule::MinError || elements <= kMostCompared)
    return std::nullopt;
  return Reason("a kernel adds up the errors of at most " +
                std::to_string(kMostCompared) +
                " elements under the rule 'min_error', but tiles of the result "
                "have " +
                std::to_string(elements) + "; nearest legal: the rule 'floor'");
}

/// Rows that share a scale are those of one tile of the product.
static std::optional<Reason> whyNotRows(int64_t rows, bool areGrouped,
                                        bool areCounted) {
  if (rows == 1 || (!areGrouped && !areCounted))
    return std::nullopt;
  std::string what = areCounted
                         ? "of which memory says how many are there"
                         : "which may belong to several groups of rows, each "
                           "with tiles of its own";
  return Reason("a scale of the result is for " + std::to_string(rows) +
                " rows, " + what +
                "; nearest legal: scales of one row, as in "
                "'e8m0_t32', or a kernel of its own that quantises");
}

/// Whether sums may be brought to threads that have more of a row of D.
static bool maySwap(MatmulOp product, hw::Target target) {
  BoolAttr wish = getScheduleWish(product).getSwapOperands();
  return hw::hasTensorMemory(target) && (!wish || wish.getValue());
}

/// What the epilogue quantises is whole blocks of rows of D.
static std::optional<Reason> whyNotProduct(MatmulOp product, QuantizeOp op,
                                           hw::Target target) {
  if (auto why = whyNotGroups(product, op))
    return why;
  if (auto why = whyNotPromoted(product, op, target))
    if (!maySwap(product, target))
      return why;
  Type element = product.getType().getElementType();
  if (!element.isF32() && !element.isBF16() && !element.isF16())
    return Reason("a product quantises sums of f32, bf16 or f16");
  return std::nullopt;
}

std::optional<Reason> blockscale::whyNotQuantized(MatmulOp product,
                                                  QuantizeOp op,
                                                  hw::Target target) {
  if (readerOf(product) != op)
    return Reason("a product quantises its result where nothing else reads it");
  if (auto why = whyNotWarps(columnsOfBlock(product, op), target))
    return why;
  if (auto why = hw::whyNotFeature(hw::Feature::NarrowConvert, target))
    return why;
  Result<QuantizedStorage> storage =
      quantizedStorage(op.getType(), target, {}, scaleReader(op));
  if (!storage)
    return storage.why();
  if (auto why = whyNotEpilogue(*storage))
    return why;
  if (auto why = whyNotRows(rowsTogether(op.getType()), product.isGrouped(),
                            product.isMasked()))
    return why;
  if (auto why = whyNotCompared(storage->rowTile * storage->tileElements(),
                                op.getRule()))
    return why;
  if (auto why = whyNotOneThread(resultTile(product, op, target)))
    return why;
  if (op.getType().getSpec().getValue().tensorScale && !op.getTensorScale())
    return Reason("a kernel sees one block at a time, but the tensor scale of "
                  "'" +
                  std::string(op.getType().getSpec().getText()) +
                  "' follows from the largest magnitude of the whole matrix; "
                  "pass one as 'tensor_scale'");
  if (storage->coversMatrix() && !givesScale(op))
    return Reason("a kernel sees one block at a time, but the one scale of '" +
                  std::string(op.getType().getSpec().getText()) +
                  "' follows from the largest magnitude of the whole matrix; "
                  "nearest legal: one that is given as 'tensor_scale', "
                  "'float32_t128', or a kernel of its own that quantises");
  return whyNotProduct(product, op, target);
}

/// A thread has no registers for the errors of as many sums as two of its kind
/// share such a block.
static std::optional<Reason> whyNotErrors(const ResultTile &tile) {
  if (!tile.isPromoting || !tile.comparesErrors ||
      tile.columns <= kMostPromotedColumns)
    return std::nullopt;
  return Reason(
      "a block of the result is made of " + std::to_string(tile.columns) +
      " columns of a product whose sums are promoted, and 'min_error' "
      "compares the errors of at most " +
      std::to_string(kMostPromotedColumns) +
      " where operands are not swapped; nearest legal: "
      "'swap_operands' of true, or another rule");
}

std::optional<Reason> blockscale::whyNotQuantized(ScheduleAttr schedule,
                                                  const ResultTile &tile,
                                                  hw::Target target) {
  int64_t columns = tile.columns;
  if (auto why = whyNotWarps(columns, target))
    return why;
  if (auto why = whyNotWarpRows(schedule, tile, target))
    return why;
  if (auto why = whyNotInTurns(schedule))
    return why;
  if (schedule.getStores() == Stores::Tma)
    return Reason("a result that is quantised is not stored by TMA; nearest "
                  "legal: 'stores' of 'direct'");
  if (schedule.getCLoads() == Loads::Tma)
    return Reason("C of a result that is quantised is not loaded by TMA; "
                  "nearest legal: 'c_loads' of 'direct'");
  if (schedule.getSwapOperands() && schedule.getSwapOperands().getValue()) {
    if (auto why = whyNotInCluster(schedule, tile))
      return why;
    return whyNotExchanged(schedule, tile, target);
  }
  if (hw::hasTensorMemory(target))
    if (auto why = whyNotErrors(tile))
      return why;
  if (schedule.getTileN() % columns != 0)
    return Reason(
        "a result is quantised in blocks of " + std::to_string(columns) +
        " columns that lie in one tile, found 'tile_n' of " +
        std::to_string(schedule.getTileN()) + "; nearest legal: " +
        std::to_string((schedule.getTileN() / columns + 1) * columns));
  int64_t share = schedule.warpsOfQuarter() * columns;
  if (schedule.getTileN() % share != 0)
    return Reason("a result is quantised in blocks of " +
                  std::to_string(columns) + " columns, of which " +
                  std::to_string(schedule.getEpilogueWarps()) +
                  " 'epilogue_warps' need a multiple of " +
                  std::to_string(share) + " as 'tile_n', found " +
                  std::to_string(schedule.getTileN()) + "; nearest legal: 4");
  int64_t slice = ownedColumns(schedule.getTileN(), schedule.clusterK());
  if (slice % columns != 0)
    return Reason(
        "a result is quantised in blocks of " + std::to_string(columns) +
        " columns, of which " + sliceText(schedule, slice) +
        " is no multiple; " +
        nearestTile(schedule.getTileN(), schedule.clusterK(), columns));
  return std::nullopt;
}

std::optional<Reason> blockscale::whyNotQuantized(MatmulOp product,
                                                  QuantizeOp op,
                                                  ScheduleAttr schedule,
                                                  hw::Target target) {
  if (auto why =
          whyNotQuantized(schedule, resultTile(product, op, target), target))
    return why;
  bool swap =
      schedule.getSwapOperands() && schedule.getSwapOperands().getValue();
  return swap && hw::hasTensorMemory(target)
             ? std::nullopt
             : whyNotPromoted(product, op, target);
}

LogicalResult blockscale::verifyQuantized(Operation *op, Attribute attribute) {
  auto product = dyn_cast<MatmulOp>(op);
  if (!product || !isa<UnitAttr>(attribute))
    return op->emitOpError() << "'" << kQuantizedAttrName
                             << "' is a unit attribute of 'blockscale.matmul'";
  QuantizeOp reader = readerOf(product);
  if (!reader)
    return op->emitOpError()
           << "with '" << kQuantizedAttrName
           << "' expected that nothing but one 'blockscale.quantize' in the "
              "same block reads the result";
  if (auto why = whyNotQuantized(product, reader, getTarget(op)))
    return op->emitOpError() << why->text;
  return success();
}

/// Codes and scales take the place of D, of what the types of both can be.
LogicalResult blockscale::verifyQuantization(KernelMatmulOp op) {
  QuantizationAttr quantization = op.getQuantization().value_or(nullptr);
  bool hasFactor =
      quantization && quantization.getD().getSpec().getValue().tensorScale;
  bool isGiven = quantization && hasOneScale(quantization.getD());
  if (static_cast<bool>(op.getDScales()) != static_cast<bool>(quantization) ||
      static_cast<bool>(op.getDFactor()) != (hasFactor || isGiven) ||
      static_cast<bool>(op.getDTensorScale()) != hasFactor)
    return op.emitOpError()
           << "expected 'd_scales' with a 'quantization', 'd_factor' where its "
              "'d' has a tensor scale, which 'd_tensor_scale' takes, or one "
              "scale for all of a matrix, and only then";
  if (!quantization)
    return success();
  auto holds = [](Value memory, Type element) {
    auto type = dyn_cast<GlobalType>(memory.getType());
    return type && type.getElementType() == element;
  };
  Builder b(op.getContext());
  Type scale = scaleMemory(quantization.getD()), f32 = b.getF32Type();
  if (!holds(op.getD(), b.getI8Type()) || !holds(op.getDScales(), scale) ||
      (op.getDFactor() && !holds(op.getDFactor(), f32)) ||
      (hasFactor && !holds(op.getDTensorScale(), f32)))
    return op.emitOpError() << "with a 'quantization' expected 'd' of i8, "
                               "'d_scales' of "
                            << scale << " and tensor scales of f32";
  hw::Target target = getTarget(op);
  Result<QuantizedStorage> storage =
      quantizedStorage(quantization.getD(), target, {}, readerOfResult(op));
  if (!storage)
    return op.emitOpError() << storage.why().text;
  if (auto why = whyNotEpilogue(*storage))
    return op.emitOpError() << why->text;
  if (auto why = whyNotRows(rowsTogether(quantization.getD()),
                            bool(op.getOffsets()), bool(op.getRowCounts())))
    return op.emitOpError() << why->text;
  if (auto why = whyNotCompared(storage->rowTile * storage->tileElements(),
                                quantization.getRule()))
    return op.emitOpError() << why->text;
  if (storage->scale &&
      static_cast<bool>(op.getOffsets()) !=
          (quantization.getD().getLayout() == ScaleLayout::Grouped128x4))
    return op.emitOpError()
           << "expected 'offsets' with scales of 'd' in layout "
              "'grouped_128x4', and only then";
  APInt columns;
  int64_t sums = op.getPairs() ? 2 : 1, k = quantization.getD().getK();
  int64_t n = sums * k;
  if (!ShapedType::isDynamic(k) &&
      (!matchPattern(op.getN(), m_ConstantInt(&columns)) ||
       columns.getSExtValue() != n))
    return op.emitOpError()
           << "expected sizes with the N = " << n << " of the quantised type";
  if (auto why = whyNotQuantized(op.getSchedule(), resultTile(op), target))
    return op.emitOpError() << why->text;
  return success();
}
