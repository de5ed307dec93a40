//===- GroupsAlongKToProducts.cpp - groups along K as a loop of products --===//
//
// Part of the blockscale project, under the Apache License v2.0 with LLVM
// Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Patterns.h"
#include "RowGroups.h"
#include "blockscale/HW/ScaleLayout.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/IR/IRMapping.h"
#include "llvm/Support/MathExtras.h"

using namespace mlir;
using namespace blockscale;

namespace {
/// One side, in parts. The tiles of 128 x 4 of a group lie together; scales of
/// all of K are a matrix for each group, or one number for all.
struct Side {
  ScaledTensorType type;
  Value data, scales, tensorScale;

  explicit Side(Emitter &e, Value operand)
      : type(cast<ScaledTensorType>(operand.getType())) {
    ValueRange parts = DisassembleOp::create(e, operand)->getResults();
    data = parts.front();
    if (!type.getSpec().getValue().isUnscaled())
      scales = parts[1];
    if (type.getSpec().getValue().tensorScale)
      tensorScale = parts.back();
  }

  int64_t dimensionOfK() const {
    return type.getOrder() == DataOrder::MNMajor ? 0 : 1;
  }
  /// The type of a group's elements, of which only the loop knows how many.
  RankedTensorType typeOfGroup() const {
    auto whole = cast<RankedTensorType>(data.getType());
    SmallVector<int64_t> shape(whole.getShape());
    shape[dimensionOfK()] = ShapedType::kDynamic;
    return RankedTensorType::get(shape, whole.getElementType());
  }
  bool hasTiles() const {
    return type.getLayout() == ScaleLayout::Grouped128x4;
  }
  /// Elements along K that a tile of scales is for.
  int64_t unit() const { return hw::kAtomScales * type.getKTile(); }
};

/// A group, from element `first` on, and its tiles of scales along K.
struct Group {
  Value number, first, count, firstTile, tiles;
};
} // namespace

static SmallVector<OpFoldResult> ones(Emitter &e, size_t rank) {
  return SmallVector<OpFoldResult>(rank, e.getIndexAttr(1));
}

/// The group's elements from `first` on, or one zero for each row where it has
/// none: kernels multiply something.
static Value elementsOfGroup(Emitter &e, const Side &side, Value first,
                             Value count) {
  RankedTensorType type = side.typeOfGroup();
  Value isEmpty =
      arith::CmpIOp::create(e, arith::CmpIPredicate::eq, count, e.index(0));
  SmallVector<OpFoldResult> sizes =
      tensor::getMixedSizes(e, e.getLoc(), side.data);
  auto zeros = [&](OpBuilder &builder, Location loc) {
    SmallVector<OpFoldResult> shape(sizes);
    shape[side.dimensionOfK()] = builder.getIndexAttr(1);
    Value empty =
        tensor::EmptyOp::create(builder, loc, shape, type.getElementType());
    Value zero = arith::ConstantOp::create(
        builder, loc, builder.getZeroAttr(type.getElementType()));
    Value filled =
        linalg::FillOp::create(builder, loc, zero, empty).getResult(0);
    Value result = tensor::CastOp::create(builder, loc, type, filled);
    scf::YieldOp::create(builder, loc, result);
  };
  auto slice = [&](OpBuilder &builder, Location loc) {
    SmallVector<OpFoldResult> starts(2, builder.getIndexAttr(0));
    SmallVector<OpFoldResult> extents(sizes);
    starts[side.dimensionOfK()] = first;
    extents[side.dimensionOfK()] = count;
    Value result = tensor::ExtractSliceOp::create(builder, loc, type, side.data,
                                                  starts, extents, ones(e, 2));
    scf::YieldOp::create(builder, loc, result);
  };
  return scf::IfOp::create(e, isEmpty, zeros, slice).getResult(0);
}

/// Where `group` ends: as in kernels not before where it begins, nor behind
/// all of K.
static Value endOf(Emitter &e, MatmulOp op, const Side &side, Value group,
                   Value first) {
  Value offset = tensor::ExtractOp::create(e, op.getOffsets(), group);
  Value end = arith::IndexCastOp::create(e, e.getIndexType(), offset);
  Value k = tensor::DimOp::create(e, side.data, side.dimensionOfK());
  end = arith::MinSIOp::create(e, end, k);
  return arith::MaxSIOp::create(e, end, first);
}

static Value filled(Emitter &e, RankedTensorType type,
                    ArrayRef<OpFoldResult> shape, double value) {
  Value empty = tensor::EmptyOp::create(e, shape, type.getElementType());
  Value number = arith::ConstantOp::create(
      e, e.getFloatAttr(type.getElementType(), value));
  return castTo(e, linalg::FillOp::create(e, number, empty).getResult(0), type);
}

/// The group's tiles of scales; of one without elements one tile of ones.
static Value tilesOfGroup(Emitter &e, const Side &side, const Group &group) {
  constexpr int64_t kLanes = hw::kAtomLanes,
                    kLaneBytes = hw::kAtomBytes / hw::kAtomLanes;
  Value rows = tensor::DimOp::create(e, side.data, 1 - side.dimensionOfK());
  Value rowTiles = e.ceilQuotient(rows, hw::kAtomRows);
  auto element = cast<RankedTensorType>(side.scales.getType()).getElementType();
  int64_t knownRows = side.type.getNumRows();
  if (!ShapedType::isDynamic(knownRows))
    knownRows = llvm::divideCeil(knownRows, hw::kAtomRows);
  auto type = RankedTensorType::get(
      {knownRows, ShapedType::kDynamic, kLanes, kLaneBytes}, element);
  Value isEmpty = arith::CmpIOp::create(e, arith::CmpIPredicate::eq,
                                        group.count, e.index(0));
  SmallVector<ReassociationIndices> all{{0, 1, 2, 3}};
  auto flatType = RankedTensorType::get({ShapedType::kDynamic}, element);
  auto inner = [&](Value tiles) {
    OpFoldResult known = e.getIndexAttr(knownRows);
    bool isKnown = !ShapedType::isDynamic(knownRows);
    return SmallVector<OpFoldResult>{isKnown ? known : rowTiles, tiles,
                                     e.getIndexAttr(kLanes),
                                     e.getIndexAttr(kLaneBytes)};
  };
  auto choice = scf::IfOp::create(e, TypeRange(type), isEmpty,
                                  /*withElseRegion=*/true);
  OpBuilder::InsertionGuard guard(e);
  e.setInsertionPointToStart(choice.thenBlock());
  scf::YieldOp::create(e, filled(e, type, inner(e.index(1)), 1.0));
  e.setInsertionPointToStart(choice.elseBlock());
  Value ofColumn = arith::MulIOp::create(e, rowTiles, e.index(hw::kAtomBytes));
  Value flat = tensor::CollapseShapeOp::create(e, side.scales, all);
  flat = castTo(e, flat, flatType);
  OpFoldResult first =
      arith::MulIOp::create(e, group.firstTile, ofColumn).getResult();
  OpFoldResult count =
      arith::MulIOp::create(e, group.tiles, ofColumn).getResult();
  Value own = tensor::ExtractSliceOp::create(e, flatType, flat, first, count,
                                             ones(e, 1));
  scf::YieldOp::create(
      e, tensor::ExpandShapeOp::create(e, type, own, all, inner(group.tiles))
             .getResult());
  e.setInsertionPointAfter(choice);
  return choice.getResult(0);
}

static Value scalesOfGroup(Emitter &e, const Side &side, const Group &group) {
  if (side.type.getLayout() == ScaleLayout::Grouped)
    return entryOf(e, side.scales, group.number);
  return side.hasTiles() ? tilesOfGroup(e, side, group) : side.scales;
}

/// How the scales of a group lie, which knows no others.
static ScaleLayout layoutOfGroup(const Side &side) {
  return side.hasTiles() ? ScaleLayout::Tiled128x4 : ScaleLayout::Plain;
}

static Value productOfGroup(Emitter &e, MatmulOp op, ArrayRef<Side> sides,
                            const Group &group) {
  SmallVector<Value> operands;
  for (const Side &side : sides) {
    Value data = elementsOfGroup(e, side, group.first, group.count);
    Value scales = scalesOfGroup(e, side, group);
    auto type =
        ScaledTensorType::get({side.type.getNumRows(), ShapedType::kDynamic},
                              side.type.getElementType(), side.type.getSpec(),
                              layoutOfGroup(side), side.type.getOrder());
    operands.push_back(AssembleOp::create(e, type, data, scales,
                                          /*zeros=*/Value(), side.tensorScale,
                                          /*metadata=*/Value()));
  }
  RankedTensorType type = op.getType();
  auto ofGroup = RankedTensorType::get(type.getShape().drop_front(),
                                       type.getElementType());
  auto product =
      MatmulOp::create(e, ofGroup, operands[0], operands[1], op.getAlpha(),
                       op.getBeta(), entryOf(e, op.getC(), group.number),
                       entryOf(e, op.getBias(), group.number),
                       /*offsets=*/Value(), /*row_numbers=*/Value(),
                       op.getBiasKindAttr(), op.getPairsAttr(), LoweringAttr());
  IRMapping mapping;
  op.getEpilogue().cloneInto(&product.getEpilogue(), mapping);
  return product;
}

Value blockscale::splitGroupsAlongK(MatmulOp op) {
  OpBuilder builder(op);
  Emitter e(op.getLoc(), builder);
  SmallVector<Side> sides;
  for (Value operand : {Value(op.getA()), Value(op.getB())})
    sides.emplace_back(e, operand);
  RankedTensorType type = op.getType();
  ReifiedRankedShapedTypeDims shape;
  (void)op.reifyResultShapes(builder, shape);
  Value empty =
      tensor::EmptyOp::create(e, shape.front(), type.getElementType());
  Value init = castTo(e, empty, type);
  Value zero = e.index(0);
  Value groups = tensor::DimOp::create(e, op.getOffsets(), 0);
  auto loop = scf::ForOp::create(e, zero, groups, e.index(1),
                                 ValueRange{init, zero, zero});
  e.setInsertionPointToStart(loop.getBody());
  Value number = loop.getInductionVar(), result = loop.getRegionIterArg(0);
  Value first = loop.getRegionIterArg(1);
  Value end = endOf(e, op, sides.front(), number, first);
  Value count = arith::SubIOp::create(e, end, first);
  // Both sides have tiles for as many elements, if they have any.
  const Side &tiled = sides[sides[0].hasTiles() ? 0 : 1];
  Value tiles = tiled.hasTiles() ? e.ceilQuotient(count, tiled.unit()) : zero;
  Value firstTile = loop.getRegionIterArg(2);
  Value product =
      productOfGroup(e, op, sides, {number, first, count, firstTile, tiles});
  SmallVector<OpFoldResult> sizes =
      tensor::getMixedSizes(e, e.getLoc(), result);
  SmallVector<OpFoldResult> starts(sizes.size(), e.getIndexAttr(0));
  sizes[0] = e.getIndexAttr(1);
  starts[0] = number;
  Value next = tensor::InsertSliceOp::create(e, product, result, starts, sizes,
                                             ones(e, sizes.size()));
  scf::YieldOp::create(
      e, ValueRange{next, end, arith::AddIOp::create(e, firstTile, tiles)});
  return loop.getResult(0);
}
