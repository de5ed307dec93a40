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

#include <limits>

using namespace mlir;
using namespace blockscale;

//===----------------------------------------------------------------------===//
// Shares
//===----------------------------------------------------------------------===//

Value Shares::begin(Value share) {
  Value longer = b.createOrFold<arith::MinUIOp>(share, tiles.longerShares);
  return b.add(b.mul(share, tiles.unitsOfShare), longer);
}

/// The longer shares come first.
Value Shares::shareOf(Value unit) {
  Value longer = tiles.longerShares, one = b.constant(1);
  // Of few groups all shares that are not empty may be the longer ones.
  Value each = b.createOrFold<arith::MaxUIOp>(tiles.unitsOfShare, one);
  if (b.known(longer) == 0)
    return b.div(unit, each);
  Value eachOfLonger = b.add(tiles.unitsOfShare, one);
  Value inLonger = b.mul(longer, eachOfLonger);
  Value isInLonger = b.compare(arith::CmpIPredicate::ult, unit, inLonger);
  Value behind = b.div(b.sub(unit, inLonger), each);
  return b.select(isInLonger, b.div(unit, eachOfLonger), b.add(behind, longer));
}

Value Shares::isWhole(TilePosition tile) {
  return b.isEqual(b.sub(tile.endUnit, tile.firstUnit), units);
}

Value Shares::firstOf(TilePosition tile) {
  return shareOf(b.mul(tile.number, units));
}

Value Shares::endOf(TilePosition tile) {
  Value last = b.add(b.mul(tile.number, units), b.constant(units - 1));
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

Value StreamTiles::isShare(Value item) {
  return b.compare(arith::CmpIPredicate::ult, item,
                   b.constant(frame.schedule.shares()));
}

/// The first whole tile follows the last share.
Value StreamTiles::wholeTile(Value item) {
  Value shares = b.constant(frame.schedule.shares());
  return b.add(item, b.sub(frame.sharedTiles().shared, shares));
}

StreamTiles::Item StreamTiles::itemOf(Value number) {
  Shares shares(frame);
  SharedTiles tiles = frame.sharedTiles();
  Value begin = shares.begin(number);
  Value end = shares.begin(b.add(number, b.constant(1)));
  if (b.known(b.sub(tiles.all, tiles.shared)) == 0)
    return {number, {begin, end}};
  int64_t units = frame.unitsOfTile();
  Value isShare = this->isShare(number);
  Value first = b.mul(wholeTile(number), units);
  return {number,
          {b.select(isShare, begin, first),
           b.select(isShare, end, b.add(first, b.constant(units)))}};
}

Extent StreamTiles::tilesOf(Item item) {
  int64_t units = frame.unitsOfTile();
  return {b.div(item.units.begin, units), b.ceilDiv(item.units.end, units)};
}

TilePosition StreamTiles::partIn(TilePosition tile, Item item, Value number) {
  int64_t units = frame.unitsOfTile();
  tile.number = number;
  tile.part = item.number;
  Value before = b.mul(number, units);
  tile.firstUnit = b.createOrFold<arith::MaxSIOp>(
      b.sub(item.units.begin, before), b.constant(0));
  tile.endUnit = b.createOrFold<arith::MinSIOp>(b.sub(item.units.end, before),
                                                b.constant(units));
  return tile;
}

TilePosition StreamTiles::first() {
  Item item = itemOf(frame.place.number);
  Value number = b.div(item.units.begin, frame.unitsOfTile());
  return partIn(tileAt(number, frame.rowTiles, frame.columnTiles), item,
                number);
}

SmallVector<Value> StreamTiles::inTile(Item item, Value number,
                                       ValueRange carried, Body body) {
  return body(
      partIn(tileAt(number, frame.rowTiles, frame.columnTiles), item, number),
      carried);
}

SmallVector<Value> StreamTiles::forEachOf(Item item, ValueRange carried,
                                          Body body) {
  Extent tiles = tilesOf(item);
  auto loop =
      scf::ForOp::create(b, tiles.begin, tiles.end, b.constant(1), carried);
  OpBuilder::InsertionGuard guard(b);
  b.setInsertionPointToStart(loop.getBody());
  scf::YieldOp::create(
      b, inTile(item, loop.getInductionVar(), loop.getRegionIterArgs(), body));
  return loop.getResults();
}

SmallVector<Value> StreamTiles::forEach(ValueRange carried, Body body) {
  SharedTiles tiles = frame.sharedTiles();
  Value items = b.add(b.sub(tiles.all, tiles.shared),
                      b.constant(frame.schedule.shares()));
  auto loop = scf::ForOp::create(b, frame.place.number, items,
                                 frame.place.count, carried);
  OpBuilder::InsertionGuard guard(b);
  b.setInsertionPointToStart(loop.getBody());
  scf::YieldOp::create(b, forEachOf(itemOf(loop.getInductionVar()),
                                    loop.getRegionIterArgs(), body));
  return loop.getResults();
}

//===----------------------------------------------------------------------===//
// GroupedStreamTiles
//===----------------------------------------------------------------------===//

using Group = GroupedTiles::Group;

void GroupedStreamTiles::prepare() {
  // What lies before the group that follows the last one.
  SmallVector<Value> none(Group::kBefore, b.constant(0));
  constexpr int64_t kBehindAll = std::numeric_limits<int32_t>::max();
  frame.shareOut(
      groups.find(b.constant(kBehindAll), Group::from(none)).firstTile);
}

SmallVector<Value> GroupedStreamTiles::forEach(ValueRange carried, Body body) {
  SmallVector<Value> initial(Group::kBefore, b.constant(0));
  llvm::append_range(initial, carried);
  SmallVector<Value> results = StreamTiles::forEach(initial, body);
  results.erase(results.begin(), results.begin() + Group::kBefore);
  return results;
}

/// Whole tiles of very many rows have more units together than are counted:
/// they are found by their number.
Extent GroupedStreamTiles::tilesOf(Item item) {
  Extent shared = StreamTiles::tilesOf(item);
  Value isShare = this->isShare(item.number), whole = wholeTile(item.number);
  return {b.select(isShare, shared.begin, whole),
          b.select(isShare, shared.end, b.add(whole, b.constant(1)))};
}

SmallVector<Value> GroupedStreamTiles::inTile(Item item, Value number,
                                              ValueRange carried, Body body) {
  Group group =
      groups.find(number, Group::from(carried.take_front(Group::kBefore)));
  TilePosition tile = partIn(groups.positionIn(group, number), item, number);
  SmallVector<Value> results = group.before();
  llvm::append_range(results, body(tile, carried.drop_front(Group::kBefore)));
  return results;
}
