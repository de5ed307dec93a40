//===- GroupedTiles.cpp - output tiles of groups of rows ------------------===//
//
// Part of the blockscale project, under the Apache License v2.0 with LLVM
// Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "GroupedTiles.h"
#include "blockscale/HW/ScaleLayout.h"
#include "mlir/Dialect/SCF/IR/SCF.h"

using namespace mlir;
using namespace blockscale;

GroupedTiles::Group GroupedTiles::Group::from(ValueRange values) {
  Group group{values[0], values[1], values[2], values[3], Value()};
  if (values.size() > kBefore)
    group.end = values[kBefore];
  return group;
}

//===----------------------------------------------------------------------===//
// Groups
//===----------------------------------------------------------------------===//

Value GroupedTiles::tilesAlong(const Group &group) {
  const TileGeometry &g = frame.geometry;
  int64_t rows = frame.isSwapped() ? g.tileN * g.clusterN
                                   : g.rowsOfTile() * g.clusterTilesM();
  return b.ceilDiv(b.sub(group.end, group.firstRow), rows);
}

Value GroupedTiles::tilesAcross() {
  return frame.isSwapped() ? frame.rowTiles : frame.columnTiles;
}

GroupedTiles::Group GroupedTiles::find(Value tile, Group first) {
  auto inside = [&](OpBuilder &builder, auto body) {
    OpBuilder::InsertionGuard guard(b);
    b.setInsertionPoint(builder.getInsertionBlock(),
                        builder.getInsertionPoint());
    body();
  };
  constexpr unsigned kTilesAfter = Group::kBefore + 1;
  auto look = [&](OpBuilder &builder, Location, ValueRange values) {
    inside(builder, [&] {
      Group group = Group::from(values);
      Value isThere = this->isThere(group);
      Value count = arith::ExtUIOp::create(b, b.getI32Type(), isThere);
      Value ends =
          frame.isMasked() ? frame.op.getRowCounts() : frame.op.getOffsets();
      group.end =
          loadEnd(ends, group.number, count, group.firstRow, frame.op.getM());
      Value after =
          b.add(group.firstTile, b.mul(tilesAlong(group), tilesAcross()));
      Value isLater = b.compare(arith::CmpIPredicate::sge, tile, after);
      SmallVector<Value> next = group.before();
      next.append({group.end, after});
      scf::ConditionOp::create(b, arith::AndIOp::create(b, isThere, isLater),
                               next);
    });
  };
  auto goOn = [&](OpBuilder &builder, Location, ValueRange values) {
    inside(builder, [&] {
      Group group = Group::from(values);
      Value next = b.add(group.number, b.constant(1));
      // Each matrix has rows of its own, from its first one on.
      if (frame.isMasked()) {
        scf::YieldOp::create(b, ValueRange{next, values[kTilesAfter],
                                           b.constant(0), b.constant(0)});
        return;
      }
      Value rows = b.sub(group.end, group.firstRow);
      Value scaleRows = b.mul(b.ceilDiv(rows, hw::kAtomRows), hw::kAtomRows);
      scf::YieldOp::create(b,
                           ValueRange{next, values[kTilesAfter], group.end,
                                      b.add(group.firstScaleRow, scaleRows)});
    });
  };
  SmallVector<Type> types(kTilesAfter + 1, b.getI32Type());
  auto loop =
      scf::WhileOp::create(b, types, ValueRange(first.before()), look, goOn);
  return Group::from(loop.getResults());
}

GroupedTiles::Group GroupedTiles::from(Value tile, Group group) {
  Value isBefore = b.compare(arith::CmpIPredicate::slt, tile, group.firstTile);
  SmallVector<Value> values;
  for (Value value : group.before())
    values.push_back(b.select(isBefore, b.constant(0), value));
  return Group::from(values);
}

Value GroupedTiles::isThere(const Group &group) {
  return b.compare(arith::CmpIPredicate::slt, group.number,
                   frame.op.getBatch());
}

//===----------------------------------------------------------------------===//
// Tiles
//===----------------------------------------------------------------------===//

TilePosition GroupedTiles::positionIn(const Group &group, Value tile) {
  Value along = tilesAlong(group), across = tilesAcross();
  Value rowTiles = frame.isSwapped() ? across : along;
  Value columnTiles = frame.isSwapped() ? along : across;
  TilePosition position =
      tileAt(b.sub(tile, group.firstTile), rowTiles, columnTiles);
  position.batch = group.number;
  position.group = {group.firstRow, group.firstScaleRow, group.end};
  return position;
}

SmallVector<Value> GroupedTiles::forEach(ValueRange carried, Body body) {
  Value zero = b.constant(0);
  SmallVector<Value> initial{frame.place.number};
  initial.append(Group::kBefore, zero);
  llvm::append_range(initial, carried);
  // The tile, the values before a group and its end.
  constexpr unsigned kOwn = 1 + Group::kBefore;
  auto look = [&](OpBuilder &builder, Location, ValueRange values) {
    OpBuilder::InsertionGuard guard(b);
    b.setInsertionPoint(builder.getInsertionBlock(),
                        builder.getInsertionPoint());
    Value tile = values.front();
    Group group = find(tile, Group::from(values.slice(1, Group::kBefore)));
    Value isThere = this->isThere(group);
    SmallVector<Value> next{tile};
    llvm::append_range(next, group.before());
    next.push_back(group.end);
    llvm::append_range(next, values.drop_front(kOwn));
    scf::ConditionOp::create(b, isThere, next);
  };
  auto multiply = [&](OpBuilder &builder, Location, ValueRange values) {
    OpBuilder::InsertionGuard guard(b);
    b.setInsertionPoint(builder.getInsertionBlock(),
                        builder.getInsertionPoint());
    Group group = Group::from(values.slice(1, Group::kBefore + 1));
    SmallVector<Value> results =
        body(positionIn(group, values.front()), values.drop_front(kOwn + 1));
    SmallVector<Value> next{b.add(values.front(), frame.place.count)};
    llvm::append_range(next, group.before());
    llvm::append_range(next, results);
    scf::YieldOp::create(b, next);
  };
  SmallVector<Type> types(kOwn + 1, b.getI32Type());
  llvm::append_range(types, carried.getTypes());
  auto loop = scf::WhileOp::create(b, types, initial, look, multiply);
  return llvm::to_vector(ValueRange(loop.getResults()).drop_front(kOwn + 1));
}
