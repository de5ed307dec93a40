//===- KernelFrame.cpp - what all parts of a kernel know ------------------===//
//
// Part of the blockscale project, under the Apache License v2.0 with LLVM
// Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "KernelFrame.h"
#include "mlir/Dialect/GPU/IR/GPUDialect.h"

using namespace mlir;
using namespace blockscale;

/// Whether the scales of A lie one row to a lane.
static bool readsRowTiles(KernelMatmulOp op) {
  auto map = op.getSfa() ? dyn_cast<TensorMapType>(op.getSfa().getType())
                         : TensorMapType();
  return map && isRowTileMap(map);
}

/// The instruction's geometry; a stage has no scales where they are 1.
static TileGeometry geometryOf(KernelMatmulOp op) {
  TileGeometry geometry(op.getMma(), op.getSchedule(), getTarget(op).chip,
                        readsRowTiles(op));
  if (!op.getSfa())
    geometry.a.scaleGroups = geometry.b.scaleGroups = geometry.scaleWords = 0;
  return geometry;
}

KernelFrame::KernelFrame(KernelMatmulOp op)
    : b(op.getLoc(), op), op(op), mma(op.getMma()), schedule(op.getSchedule()),
      geometry(geometryOf(op)), warps(getTarget(op), schedule),
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

Value KernelFrame::firstRow(TilePosition tile) {
  Value row = b.mul(tile.row, geometry.tileM);
  if (!isPair())
    return row;
  return b.add(row, b.mul(place.indexInPair(), geometry.rowsPerCta()));
}

Value KernelFrame::firstColumn(TilePosition tile) {
  return b.mul(tile.column, geometry.tileN);
}

Value KernelFrame::firstRowOfB(TilePosition tile) {
  Value row = firstColumn(tile);
  if (!isPair())
    return row;
  return b.add(row, b.mul(place.indexInPair(), geometry.columnsPerCta()));
}

void KernelFrame::synchronize() {
  if (isCluster())
    ClusterBarrierOp::create(b);
  else
    gpu::BarrierOp::create(b);
}
