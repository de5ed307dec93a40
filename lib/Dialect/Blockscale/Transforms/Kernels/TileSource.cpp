//===- TileSource.cpp - how roles find their next output tile -------------===//
//
// Part of the blockscale project, under the Apache License v2.0 with LLVM
// Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "TileSource.h"
#include "GroupedTiles.h"
#include "KGroupTiles.h"
#include "LaunchControl.h"
#include "StreamTiles.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"
#include "llvm/Support/MathExtras.h"

using namespace mlir;
using namespace blockscale;

Value TileSource::pieces() {
  if (!frame.isSplitOverGrid())
    return frame.tiles;
  return b.mul(frame.tiles, frame.schedule.splits());
}

Value TileSource::hasFirst() {
  return b.compare(arith::CmpIPredicate::ult, frame.place.number, pieces());
}

Value TileSource::hasNext(TilePosition tile) {
  assert(!frame.isSplitOverGrid() && "pieces are tiles");
  return b.compare(arith::CmpIPredicate::ult,
                   b.add(tile.number, frame.place.count), frame.tiles);
}

TilePosition TileSource::next(TilePosition tile) {
  assert(knowsNext() && "tiles in turn");
  return position(b.add(tile.number, frame.place.count));
}

Value TileSource::loadEnd(Value memory, Value number, Value isThere,
                          Value first, Value last) {
  Value loaded = LoadRowOp::create(b, VectorType::get({1}, b.getI32Type()),
                                   memory, b.toI64(number), isThere,
                                   /*stride=*/Value());
  Value end = vector::ExtractOp::create(b, loaded, 0);
  end = b.createOrFold<arith::MinSIOp>(end, last);
  return b.createOrFold<arith::MaxSIOp>(end, first);
}

TilePosition TileSource::position(Value piece) {
  Value tile = piece, part = frame.place.rankK;
  if (frame.isSplitOverGrid()) {
    tile = b.div(piece, frame.schedule.splits());
    part = b.rem(piece, frame.schedule.splits());
  }
  TilePosition position = tileAt(tile, frame.rowTiles, frame.columnTiles);
  position.part = part;
  position.number = tile;
  return position;
}

TilePosition TileSource::tileAt(Value tile, Value rowTiles, Value columnTiles) {
  const TileGeometry &g = frame.geometry;
  int64_t rows = g.clusterTilesM(), columns = g.clusterN;
  int64_t group = llvm::divideCeil(frame.schedule.getGroupM(), rows);
  auto first = TileCoordinatesOp::create(b, tile, rowTiles, columnTiles, group);
  Value row = first.getRow(), column = first.getColumn();
  if (rows > 1)
    row = b.add(b.mul(row, rows), b.div(frame.place.rankM, g.ctaGroup));
  if (columns > 1)
    column = b.add(b.mul(column, columns), frame.place.rankN);
  TilePosition position;
  position.row = row;
  position.column = column;
  position.batch = first.getBatch();
  return position;
}

namespace {
/// Clusters take the tiles in turn.
class StaticTiles : public TileSource {
public:
  explicit StaticTiles(KernelFrame &frame) : TileSource(frame) {}

  SmallVector<Value> forEach(ValueRange carried, Body body) override {
    auto loop = scf::ForOp::create(b, frame.place.number, pieces(),
                                   frame.place.count, carried);
    OpBuilder::InsertionGuard guard(b);
    b.setInsertionPointToStart(loop.getBody());
    SmallVector<Value> results =
        body(position(loop.getInductionVar()), loop.getRegionIterArgs());
    scf::YieldOp::create(b, results);
    return loop.getResults();
  }

  bool knowsNext() override { return !frame.isSplitOverGrid(); }
};
} // namespace

std::unique_ptr<TileSource> TileSource::create(KernelFrame &frame) {
  bool isDynamic = frame.schedule.getScheduler() == Scheduler::Dynamic;
  if (frame.hasGroupsOfRows() && frame.isStreamed())
    return std::make_unique<GroupedStreamTiles>(frame);
  if (frame.hasGroupsOfRows() && !isDynamic)
    return std::make_unique<GroupedTiles>(frame);
  if (frame.isGroupedAlongK())
    return std::make_unique<KGroupTiles>(frame);
  switch (frame.schedule.getScheduler()) {
  case Scheduler::Static:
    if (frame.isStreamed())
      return std::make_unique<StreamTiles>(frame);
    return std::make_unique<StaticTiles>(frame);
  case Scheduler::Dynamic:
    return std::make_unique<LaunchControl>(frame);
  }
  llvm_unreachable("all schedulers covered");
}
