//===- KGroupTiles.cpp - output tiles of groups along K -------------------===//
//
// Part of the blockscale project, under the Apache License v2.0 with LLVM
// Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "KGroupTiles.h"
#include "blockscale/HW/ScaleLayout.h"
#include "mlir/Dialect/SCF/IR/SCF.h"

using namespace mlir;
using namespace blockscale;

KGroupTiles::Group KGroupTiles::Group::from(ValueRange values) {
  return {values[0], values[1], values[2],
          values.size() > 3 ? values[3] : Value()};
}

SmallVector<Value> KGroupTiles::Group::values() const {
  SmallVector<Value> list{next, first, end};
  if (firstTile)
    list.push_back(firstTile);
  return list;
}

Value KGroupTiles::scaleTiles(Value elements) {
  return frame.partsOfK(elements,
                        int64_t(hw::kAtomScales) * frame.mma.getScaleSpan());
}

KGroupTiles::Group KGroupTiles::find(Value number, Group group) {
  auto look = [&](OpBuilder &builder, Location, ValueRange values) {
    OpBuilder::InsertionGuard guard(b);
    b.setInsertionPoint(builder.getInsertionBlock(),
                        builder.getInsertionPoint());
    Value isBefore =
        b.compare(arith::CmpIPredicate::sle, values.front(), number);
    scf::ConditionOp::create(b, isBefore, values);
  };
  auto goOn = [&](OpBuilder &builder, Location, ValueRange values) {
    OpBuilder::InsertionGuard guard(b);
    b.setInsertionPoint(builder.getInsertionBlock(),
                        builder.getInsertionPoint());
    Group before = Group::from(values);
    Value end = loadEnd(frame.op.getKOffsets(), before.next, b.constant(1),
                        before.end, frame.op.getK());
    // Behind one between two steps some roles would wait for stages or blocks
    // that others do not make.
    if (frame.roundsEnds())
      end = b.mul(b.div(end, frame.stepAlongK()), frame.stepAlongK());
    Group after{b.add(before.next, b.constant(1)), before.end, end, Value()};
    if (before.firstTile)
      after.firstTile =
          b.add(before.firstTile, scaleTiles(b.sub(before.end, before.first)));
    scf::YieldOp::create(b, after.values());
  };
  SmallVector<Type> types(valuesOfGroup(), b.getI32Type());
  auto loop =
      scf::WhileOp::create(b, types, ValueRange(group.values()), look, goOn);
  return Group::from(loop.getResults());
}

/// The sum over an empty group is 0 as well, but an accumulator is only set by
/// instructions: some multiply what lies behind all of K, which loads fill with
/// zeros. Extents of tensor maps are padded to 128 elements at most.
KGroup KGroupTiles::elementsOf(const Group &group) {
  constexpr int64_t kPadding = 128;
  Value size = b.sub(group.end, group.first);
  // Sums of blocks are added to zeros, of which there are none then.
  if (frame.promotionBlock())
    return {group.first, size, group.firstTile,
            group.firstTile ? scaleTiles(size) : Value()};
  Value isEmpty = b.isEqual(size, 0);
  Value behind = b.mul(b.ceilDiv(frame.op.getK(), kPadding), kPadding);
  KGroup elements{b.select(isEmpty, behind, group.first),
                  b.select(isEmpty, b.constant(frame.stepAlongK()), size),
                  Value(), Value()};
  if (!group.firstTile)
    return elements;
  // The first tile behind the scales of all rows: what loads fill in is no NaN.
  int64_t unit = int64_t(hw::kAtomScales) * frame.mma.getScaleSpan();
  Value most =
      b.div(b.add(frame.op.getK(), b.mul(frame.op.getBatch(), unit - 1)), unit);
  elements.firstTile = b.select(isEmpty, most, group.firstTile);
  elements.tiles = scaleTiles(size);
  return elements;
}

SmallVector<Value> KGroupTiles::forEach(ValueRange carried, Body body) {
  SmallVector<Value> initial(valuesOfGroup(), b.constant(0));
  llvm::append_range(initial, carried);
  auto loop = scf::ForOp::create(b, frame.place.number, pieces(),
                                 frame.place.count, initial);
  OpBuilder::InsertionGuard guard(b);
  b.setInsertionPointToStart(loop.getBody());
  ValueRange values(loop.getRegionIterArgs());
  TilePosition tile = position(loop.getInductionVar());
  Group group =
      find(tile.batch, Group::from(values.take_front(valuesOfGroup())));
  tile.kGroup = elementsOf(group);
  SmallVector<Value> next = group.values();
  llvm::append_range(next, body(tile, values.drop_front(valuesOfGroup())));
  scf::YieldOp::create(b, next);
  return llvm::to_vector(
      ValueRange(loop.getResults()).drop_front(valuesOfGroup()));
}
