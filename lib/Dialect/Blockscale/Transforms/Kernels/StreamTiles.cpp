//===- StreamTiles.cpp - tiles whose K is shared out ----------------------===//
//
// Part of the blockscale project, under the Apache License v2.0 with LLVM
// Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "StreamTiles.h"
#include "SplitK.h"
#include "mlir/Dialect/SCF/IR/SCF.h"

using namespace mlir;
using namespace blockscale;

//===----------------------------------------------------------------------===//
// Shares
//===----------------------------------------------------------------------===//

Value Shares::begin(Value share) {
  Value longer =
      b.createOrFold<arith::MinUIOp>(share, b.constant(tiles.longerShares()));
  return b.add(b.mul(share, tiles.unitsOfShare()), longer);
}

/// The longer shares come first.
Value Shares::shareOf(Value unit) {
  int64_t each = tiles.unitsOfShare(), longer = tiles.longerShares();
  if (longer == 0)
    return b.div(unit, each);
  int64_t inLonger = longer * (each + 1);
  Value isInLonger =
      b.compare(arith::CmpIPredicate::ult, unit, b.constant(inLonger));
  Value behind = b.div(b.sub(unit, b.constant(inLonger)), each);
  return b.select(isInLonger, b.div(unit, each + 1),
                  b.add(behind, b.constant(longer)));
}

Value Shares::isWhole(TilePosition tile) {
  return b.isEqual(b.sub(tile.endUnit, tile.firstUnit), tiles.units);
}

Value Shares::firstOf(TilePosition tile) {
  return shareOf(b.mul(tile.number, tiles.units));
}

Value Shares::endOf(TilePosition tile) {
  Value last =
      b.add(b.mul(tile.number, tiles.units), b.constant(tiles.units - 1));
  return b.add(shareOf(last), b.constant(1));
}

Value Shares::partsOf(TilePosition tile) {
  return b.sub(endOf(tile), firstOf(tile));
}

/// A share begins at most one tile that others end, its last one; what else it
/// has a part of begins in a share before.
Value Shares::placeOf(TilePosition tile, Value share) {
  Value begins =
      arith::CmpIOp::create(b, arith::CmpIPredicate::eq, share, firstOf(tile));
  Value second = b.createOrFold<arith::ExtUIOp>(b.getI32Type(), begins);
  return b.add(b.mul(share, Workspace::kPartsOfShare), second);
}

//===----------------------------------------------------------------------===//
// StreamTiles
//===----------------------------------------------------------------------===//

Extent StreamTiles::unitsOf(Value item) {
  Shares shares(frame);
  Value begin = shares.begin(item);
  Value end = shares.begin(b.add(item, b.constant(1)));
  if (tiles.wholeTiles() == 0)
    return {begin, end};
  // The first whole tile follows the last share.
  Value isShare =
      b.compare(arith::CmpIPredicate::ult, item, b.constant(tiles.shares));
  Value tile = b.add(item, b.constant(tiles.sharedTiles() - tiles.shares));
  Value first = b.mul(tile, tiles.units);
  return {b.select(isShare, begin, first),
          b.select(isShare, end, b.add(first, b.constant(tiles.units)))};
}

TilePosition StreamTiles::partIn(Value item, Extent units, Value number) {
  TilePosition tile = tileAt(number, frame.rowTiles, frame.columnTiles);
  tile.number = number;
  tile.part = item;
  Value before = b.mul(number, tiles.units);
  tile.firstUnit =
      b.createOrFold<arith::MaxSIOp>(b.sub(units.begin, before), b.constant(0));
  tile.endUnit = b.createOrFold<arith::MinSIOp>(b.sub(units.end, before),
                                                b.constant(tiles.units));
  return tile;
}

TilePosition StreamTiles::first() {
  Value item = frame.place.number;
  Extent units = unitsOf(item);
  return partIn(item, units, b.div(units.begin, tiles.units));
}

SmallVector<Value> StreamTiles::forEachOf(Value item, ValueRange carried,
                                          Body body) {
  Extent units = unitsOf(item);
  auto loop = scf::ForOp::create(b, b.div(units.begin, tiles.units),
                                 b.ceilDiv(units.end, tiles.units),
                                 b.constant(1), carried);
  OpBuilder::InsertionGuard guard(b);
  b.setInsertionPointToStart(loop.getBody());
  TilePosition tile = partIn(item, units, loop.getInductionVar());
  scf::YieldOp::create(b, body(tile, loop.getRegionIterArgs()));
  return loop.getResults();
}

SmallVector<Value> StreamTiles::forEach(ValueRange carried, Body body) {
  Value items = b.constant(tiles.shares + tiles.wholeTiles());
  auto loop = scf::ForOp::create(b, frame.place.number, items,
                                 frame.place.count, carried);
  OpBuilder::InsertionGuard guard(b);
  b.setInsertionPointToStart(loop.getBody());
  scf::YieldOp::create(
      b, forEachOf(loop.getInductionVar(), loop.getRegionIterArgs(), body));
  return loop.getResults();
}
