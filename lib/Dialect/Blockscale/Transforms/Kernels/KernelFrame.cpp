//===- KernelFrame.cpp - what all parts of a kernel know ------------------===//
//
// Part of the blockscale project, under the Apache License v2.0 with LLVM
// Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "KernelFrame.h"
#include "blockscale/Dialect/Blockscale/IR/GivenScales.h"
#include "blockscale/Dialect/Blockscale/IR/Groups.h"
#include "blockscale/Dialect/Blockscale/IR/Promotion.h"
#include "blockscale/Dialect/Blockscale/IR/QuantizedResult.h"
#include "blockscale/Dialect/Blockscale/IR/SplitK.h"
#include "blockscale/Upstream/NVVM.h"
#include "mlir/Dialect/GPU/IR/GPUDialect.h"
#include "llvm/Support/MathExtras.h"

using namespace mlir;
using namespace blockscale;

/// Whether the scales of A lie one row to a lane.
static bool readsRowTiles(KernelMatmulOp op) {
  auto map = op.getSfa() ? dyn_cast<TensorMapType>(op.getSfa().getType())
                         : TensorMapType();
  return map && isRowTileMap(map);
}

int64_t blockscale::promotionBlockOf(KernelMatmulOp op) {
  return ::promotionBlock(op.getRowBlock(), op.getColumnBlock());
}

/// The instruction's geometry; a stage has no scales where they are 1.
static TileGeometry geometryOf(KernelMatmulOp op) {
  TileGeometry geometry(op.getMma(), op.getSchedule(), getTarget(op).chip,
                        readsRowTiles(op));
  if (!op.getSfa() && !op.getSfb())
    geometry.a.scaleGroups = geometry.b.scaleGroups = geometry.scaleWords = 0;
  geometry.a.loadsScales = static_cast<bool>(op.getSfa());
  geometry.b.loadsScales = static_cast<bool>(op.getSfb());
  return geometry;
}

KernelFrame::KernelFrame(KernelMatmulOp op)
    : b(op.getLoc(), op), op(op), mma(op.getMma()), schedule(op.getSchedule()),
      geometry(geometryOf(op)),
      warps(getTarget(op), schedule,
            {promotionBlockOf(op) > 0, op.getQuantization().has_value(),
             bool(op.getBias()) + bool(op.getC()) + bool(op.getRowTerms()),
             op.getPairs()}),
      rows(isSwapped() ? op.getN() : op.getM()),
      columns(isSwapped() ? op.getM() : op.getN()),
      rowTiles(
          b.ceilDiv(rows, geometry.rowsOfTile() * geometry.clusterTilesM())),
      columnTiles(b.ceilDiv(columns, geometry.tileN * geometry.clusterN)),
      tiles(b.mul(b.mul(rowTiles, columnTiles), op.getBatch())),
      place(b, geometry) {}

TilePosition KernelFrame::partOf(TilePosition tile, int64_t number) {
  if (geometry.rowInstructions == 1)
    return tile;
  tile.row =
      b.add(b.mul(tile.row, geometry.rowInstructions), b.constant(number));
  return tile;
}

Value KernelFrame::firstLane(Value warp) {
  constexpr int64_t kQuarters = hw::kTmemLanes / hw::kWarpSize;
  if (warps.epilogue.count() > kQuarters)
    warp = b.rem(warp, kQuarters);
  return b.mul(warp, hw::kWarpSize);
}

StreamedTiles KernelFrame::streamedTiles() {
  // The verifier asks for static sizes.
  return StreamedTiles::of(mma, schedule,
                           {*b.known(op.getM()), *b.known(op.getN()),
                            *b.known(op.getK()), *b.known(op.getBatch())});
}

int64_t KernelFrame::unitsOfTile() {
  return llvm::divideCeil(*b.known(op.getK()), splitUnit(mma));
}

std::optional<int64_t> KernelFrame::mostPartsOfTile() {
  if (hasGroupsOfRows())
    return std::nullopt;
  return streamedTiles().mostParts();
}

int64_t KernelFrame::mostSharedTiles() {
  return hasGroupsOfRows() ? StreamedTiles::mostSharedTiles(schedule.shares())
                           : streamedTiles().sharedTiles();
}

SharedTiles KernelFrame::sharedTiles() {
  if (sharedTilesOfGroups)
    return *sharedTilesOfGroups;
  StreamedTiles tiles = streamedTiles();
  return {b.constant(tiles.tiles), b.constant(tiles.sharedTiles()),
          b.constant(tiles.unitsOfShare()), b.constant(tiles.longerShares())};
}

void KernelFrame::shareOut(Value all) {
  int64_t shares = schedule.shares();
  // As StreamedTiles::sharedTiles() does.
  Value left = b.rem(all, shares), rounds = b.div(all, shares);
  Value isHalf =
      b.compare(arith::CmpIPredicate::uge, b.mul(left, 2), b.constant(shares));
  Value isEnough = arith::OrIOp::create(
      b, b.isEqual(rounds, 0),
      arith::AndIOp::create(b, b.isEqual(rounds, 1), isHalf));
  Value isAlone = arith::OrIOp::create(b, b.isEqual(left, 0), isEnough);
  Value shared = b.select(isAlone, left, b.add(left, b.constant(shares)));
  Value units = b.mul(shared, unitsOfTile());
  sharedTilesOfGroups = {all, shared, b.div(units, shares),
                         b.rem(units, shares)};
}

int64_t KernelFrame::stepAlongK() { return ::stepAlongK(op); }

Value KernelFrame::partsOfK(Value size, int64_t unit) {
  return hasWhole(unit) ? b.div(size, unit) : b.ceilDiv(size, unit);
}

KPart KernelFrame::partOfK(TilePosition tile) {
  int64_t unit = splitUnit(mma), splits = schedule.splits();
  if (isStreamed())
    return {tile.firstUnit, tile.endUnit,
            b.isEqual(tile.endUnit, unitsOfTile()), op.getK()};
  if (splits == 1)
    return {b.constant(0), Value(), Value(),
            isGroupedAlongK() ? tile.kGroup.size : op.getK()};
  if (!b.known(op.getK()))
    return partOfLateK(tile.part, unit);
  // The parts differ by at most one unit, and none is empty.
  int64_t units = llvm::divideCeil(*b.known(op.getK()), unit);
  auto border = [&](Value part) { return b.div(b.mul(part, units), splits); };
  return {border(tile.part), border(b.add(tile.part, b.constant(1))),
          b.isEqual(tile.part, splits - 1), op.getK()};
}

KPart KernelFrame::partOfLateK(Value part, int64_t unit) {
  int64_t splits = schedule.splits();
  // None is empty either: the last ones may lie behind K.
  Value units = b.createOrFold<arith::MaxUIOp>(b.ceilDiv(op.getK(), unit),
                                               b.constant(splits));
  // As above, without a product that 32 bits may not hold.
  Value each = b.div(units, splits), rest = b.rem(units, splits);
  auto border = [&](Value part) {
    return b.add(b.mul(part, each), b.div(b.mul(part, rest), splits));
  };
  Value begin = border(part), end = border(b.add(part, b.constant(1)));
  Value whole = b.div(op.getK(), unit);
  Value isLast = b.createOrFold<arith::AndIOp>(
      b.compare(arith::CmpIPredicate::ule, begin, whole),
      b.compare(arith::CmpIPredicate::ult, whole, end));
  return {begin, end, isLast, op.getK()};
}

int64_t KernelFrame::columnsOfBlock() {
  int64_t elements =
      quantizes() ? elementsTogether(op.getQuantization()->getD()) : 1;
  return sumsOfElement() * elements;
}

bool KernelFrame::keepsTiles() {
  if (!quantizes() || hasOneScale(op.getQuantization()->getD()))
    return false;
  Result<QuantizedStorage> storage = quantizedStorage(
      op.getQuantization()->getD(), getTarget(op), {}, readerOfResult(op));
  assert(storage && "the verifier asks first");
  return !storage->scale || storage->tileBlocks > 1;
}

Value KernelFrame::firstRow(TilePosition tile) {
  Value row = b.mul(tile.row, geometry.tileM);
  if (!isPair())
    return row;
  return b.add(row, b.mul(place.indexInPair(), geometry.rowsPerCta()));
}

Value KernelFrame::firstColumn(TilePosition tile) {
  return b.mul(tile.column, geometry.tileN);
}

Value KernelFrame::firstRowOfB(TilePosition tile, unsigned number) {
  Value row = firstColumn(tile);
  if (number)
    row = b.add(row, b.constant(geometry.columns.begin(number)));
  if (!isPair())
    return row;
  return b.add(row, b.mul(place.indexInPair(), geometry.columnsPerCta(number)));
}

Extent KernelFrame::rowsAround(TilePosition tile) {
  if (isMasked() && !isSwapped())
    return {Value(), tile.group.end};
  if (isGrouped() && !isSwapped())
    return {tile.group.firstRow, tile.group.end};
  return {Value(), rows};
}

Extent KernelFrame::columnsAround(TilePosition tile) {
  if (isMasked() && isSwapped())
    return {Value(), tile.group.end};
  if (isGrouped() && isSwapped())
    return {tile.group.firstRow, tile.group.end};
  return {Value(), columns};
}

void KernelFrame::synchronize() {
  if (isCluster())
    ClusterBarrierOp::create(b);
  else
    gpu::BarrierOp::create(b);
}

void KernelFrame::passRegisters() {
  if (warps.registers)
    b.warps("others", warps.others(), [&] {
      nvvm::setMaxRegisters(b, warps.registers->giving, /*increase=*/false);
    });
}

void KernelFrame::takeRegisters() {
  if (warps.registers)
    nvvm::setMaxRegisters(b, warps.registers->taking, /*increase=*/true);
}

int64_t KernelFrame::registersOfStorer() const {
  if (warps.registers)
    return warps.registers->taking;
  return hw::registersOfThread(unsigned(warps.threads() / hw::kWarpSize));
}

bool KernelFrame::meetsLate() {
  return isSplitInCluster() && geometry.ctasOfPart() == 1 &&
         schedule.getScheduler() == Scheduler::Static;
}

void KernelFrame::begin() {
  if (!meetsLate())
    return synchronize();
  nvvm::clusterArrive(b);
  gpu::BarrierOp::create(b);
}

void KernelFrame::awaitCluster() {
  if (meetsLate())
    nvvm::clusterWait(b);
}

bool KernelFrame::leavesEarly() {
  return isCluster() && !choosesScalesInCluster() && !isSplit() &&
         !isStreamed() && !isGrouped() && !isMasked() && !isGroupedAlongK() &&
         schedule.getScheduler() == Scheduler::Static;
}

void KernelFrame::leave() {
  TensorFenceOp::create(b, FenceSide::Before);
  nvvm::clusterArrive(b);
}

void KernelFrame::end() {
  if (meetsLate()) {
    gpu::BarrierOp::create(b);
    return;
  }
  if (!leavesEarly())
    return synchronize();
  b.warps("end", warps.others(), [&] { nvvm::clusterArrive(b); });
  nvvm::clusterWait(b);
}
