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
/// all of K are a matrix for each group, or one number for all; others of tiles
/// along K lie in rows as elements do, so many of which share one.
struct Side {
  ScaledTensorType type;
  Value data, scales, zeros, tensorScale;

  explicit Side(Emitter &e, Value operand)
      : type(cast<ScaledTensorType>(operand.getType())) {
    ValueRange parts = DisassembleOp::create(e, operand)->getResults();
    data = parts.front();
    if (!type.getSpec().getValue().isUnscaled())
      scales = parts[1];
    if (type.getSpec().getValue().zero)
      zeros = parts[2];
    if (type.getSpec().getValue().tensorScale)
      tensorScale = parts.back();
  }

  int64_t dimensionOfK() const {
    return type.getOrder() == DataOrder::MNMajor ? 0 : 1;
  }
  bool hasTiles() const {
    return type.getLayout() == ScaleLayout::Grouped128x4;
  }
  bool hasRowsOfTiles() const {
    return type.getSpec().getValue().isTile() && !hasTiles();
  }
  /// Rows that share a scale.
  int64_t rowsOfScale() const {
    return std::max<int64_t>(1, type.getRowTile());
  }
  /// Elements along K that a tile of scales is for.
  int64_t unit() const { return hw::kAtomScales * type.getKTile(); }
};

/// A group, from element `first` on.
struct Group {
  Value number, first, count;
};
/// Tiles of scales along K of a group on one side, from `first` on.
struct Tiles {
  Value first, count;
};
} // namespace

static SmallVector<OpFoldResult> ones(Emitter &e, size_t rank) {
  return SmallVector<OpFoldResult>(rank, e.getIndexAttr(1));
}

/// `count` of the numbers of each row from `first` on, or one zero for each row
/// where that is 0: kernels multiply something. Only the loop knows how many.
static Value numbersOfGroup(Emitter &e, Value all, int64_t dimensionOfK,
                            Value first, Value count) {
  auto whole = cast<RankedTensorType>(all.getType());
  SmallVector<int64_t> known(whole.getShape());
  known[dimensionOfK] = ShapedType::kDynamic;
  auto type = RankedTensorType::get(known, whole.getElementType());
  Value isEmpty =
      arith::CmpIOp::create(e, arith::CmpIPredicate::eq, count, e.index(0));
  SmallVector<OpFoldResult> sizes = tensor::getMixedSizes(e, e.getLoc(), all);
  auto zeros = [&](OpBuilder &builder, Location loc) {
    SmallVector<OpFoldResult> shape(sizes);
    shape[dimensionOfK] = builder.getIndexAttr(1);
    Value empty =
        tensor::EmptyOp::create(builder, loc, shape, type.getElementType());
    Value zero = zeroOf(e, type.getElementType());
    Value filled =
        linalg::FillOp::create(builder, loc, zero, empty).getResult(0);
    Value result = tensor::CastOp::create(builder, loc, type, filled);
    scf::YieldOp::create(builder, loc, result);
  };
  auto slice = [&](OpBuilder &builder, Location loc) {
    SmallVector<OpFoldResult> starts(2, builder.getIndexAttr(0));
    SmallVector<OpFoldResult> extents(sizes);
    starts[dimensionOfK] = first;
    extents[dimensionOfK] = count;
    Value result = tensor::ExtractSliceOp::create(builder, loc, type, all,
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
static Value tilesOfGroup(Emitter &e, const Side &side, const Group &group,
                          const Tiles &tiles) {
  constexpr int64_t kLanes = hw::kAtomLanes,
                    kLaneBytes = hw::kAtomBytes / hw::kAtomLanes;
  Value rows = tensor::DimOp::create(e, side.data, 1 - side.dimensionOfK());
  int64_t rowsOfAtom = hw::kAtomRows * side.rowsOfScale();
  Value rowTiles = e.ceilQuotient(rows, rowsOfAtom);
  auto element = cast<RankedTensorType>(side.scales.getType()).getElementType();
  int64_t knownRows = side.type.getNumRows();
  if (!ShapedType::isDynamic(knownRows))
    knownRows = int64_t(llvm::divideCeil(knownRows, rowsOfAtom));
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
      arith::MulIOp::create(e, tiles.first, ofColumn).getResult();
  OpFoldResult count =
      arith::MulIOp::create(e, tiles.count, ofColumn).getResult();
  Value own = tensor::ExtractSliceOp::create(e, flatType, flat, first, count,
                                             ones(e, 1));
  scf::YieldOp::create(
      e, tensor::ExpandShapeOp::create(e, type, own, all, inner(tiles.count))
             .getResult());
  e.setInsertionPointAfter(choice);
  return choice.getResult(0);
}

/// The group's scales, or zero points, which begin with a tile.
static Value blocksOfGroup(Emitter &e, const Side &side, Value blocks,
                           const Group &group) {
  if (!blocks || !side.hasRowsOfTiles())
    return blocks;
  int64_t tile = side.type.getKTile();
  Value first = arith::DivUIOp::create(e, group.first, e.index(tile));
  return numbersOfGroup(e, blocks, /*dimensionOfK=*/1, first,
                        e.ceilQuotient(group.count, tile));
}

static Value scalesOfGroup(Emitter &e, const Side &side, const Group &group,
                           const Tiles &tiles) {
  if (side.type.getLayout() == ScaleLayout::Grouped)
    return entryOf(e, side.scales, group.number);
  if (side.hasRowsOfTiles())
    return blocksOfGroup(e, side, side.scales, group);
  return side.hasTiles() ? tilesOfGroup(e, side, group, tiles) : side.scales;
}

/// How the scales of a group lie, which knows no others.
static ScaleLayout layoutOfGroup(const Side &side) {
  return side.hasTiles() ? ScaleLayout::Tiled128x4 : ScaleLayout::Plain;
}

static Value productOfGroup(Emitter &e, MatmulOp op, ArrayRef<Side> sides,
                            const Group &group, ArrayRef<Tiles> tiles) {
  SmallVector<Value> operands;
  for (auto [side, own] : llvm::zip_equal(sides, tiles)) {
    Value data = numbersOfGroup(e, side.data, side.dimensionOfK(), group.first,
                                group.count);
    Value scales = scalesOfGroup(e, side, group, own);
    auto type =
        ScaledTensorType::get({side.type.getNumRows(), ShapedType::kDynamic},
                              side.type.getElementType(), side.type.getSpec(),
                              layoutOfGroup(side), side.type.getOrder());
    operands.push_back(AssembleOp::create(
        e, type, data, scales, blocksOfGroup(e, side, side.zeros, group),
        side.tensorScale, /*metadata=*/Value()));
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
                                 ValueRange{init, zero, zero, zero});
  e.setInsertionPointToStart(loop.getBody());
  Value number = loop.getInductionVar(), result = loop.getRegionIterArg(0);
  Value first = loop.getRegionIterArg(1);
  Value end = endOf(e, op, sides.front(), number, first);
  Value count = arith::SubIOp::create(e, end, first);
  SmallVector<Tiles> tiles;
  for (auto [i, side] : llvm::enumerate(sides))
    tiles.push_back(
        {loop.getRegionIterArg(unsigned(2 + i)),
         side.hasTiles() ? e.ceilQuotient(count, side.unit()) : zero});
  Value product = productOfGroup(e, op, sides, {number, first, count}, tiles);
  SmallVector<OpFoldResult> sizes =
      tensor::getMixedSizes(e, e.getLoc(), result);
  SmallVector<OpFoldResult> starts(sizes.size(), e.getIndexAttr(0));
  sizes[0] = e.getIndexAttr(1);
  starts[0] = number;
  Value next = tensor::InsertSliceOp::create(e, product, result, starts, sizes,
                                             ones(e, sizes.size()));
  SmallVector<Value> carried{next, end};
  for (const Tiles &own : tiles)
    carried.push_back(arith::AddIOp::create(e, own.first, own.count));
  scf::YieldOp::create(e, carried);
  return loop.getResult(0);
}
