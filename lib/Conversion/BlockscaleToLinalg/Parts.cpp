//===- Parts.cpp - the plain tensors of a scaled one ----------------------===//
//
// Part of the blockscale project, under the Apache License v2.0 with LLVM
// Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Parts.h"
#include "blockscale/Dialect/Blockscale/IR/LayoutOfScales.h"
#include "blockscale/Dialect/Blockscale/IR/Layouts.h"
#include "mlir/Dialect/Arith/Utils/Utils.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/Transforms/DialectConversion.h"

using namespace mlir;
using namespace blockscale;

Parts::Parts(ScaledTensorType type, ValueRange values) : type(type) {
  const ScaleSpec &spec = type.getSpec().getValue();
  data = values.front();
  values = values.drop_front();
  if (!spec.isUnscaled()) {
    scales = values.front();
    values = values.drop_front();
  }
  if (spec.zero) {
    zeros = values.front();
    values = values.drop_front();
  }
  if (spec.tensorScale) {
    tensorScale = values.front();
    values = values.drop_front();
  }
  if (type.hasMetadata())
    metadata = values.front();
}

SmallVector<Value> Parts::values() const {
  SmallVector<Value> present;
  for (Value value : {data, scales, zeros, tensorScale, metadata})
    if (value)
      present.push_back(value);
  return present;
}

std::optional<Reason> blockscale::whyNotLinalg(ScaledTensorType type) {
  if (Result<TensorParts> parts = getTensorParts(type); !parts)
    return parts.why();
  return std::nullopt;
}

//===----------------------------------------------------------------------===//
// Sizes
//===----------------------------------------------------------------------===//

/// The run-time size of a logical dimension, read off the data.
static Value dynamicSize(Emitter &e, const Parts &parts, int64_t dimension) {
  int64_t rank = parts.type.getRank(), stored = dimension;
  if (parts.type.getOrder() == DataOrder::MNMajor && dimension >= rank - 2)
    stored = 2 * rank - 3 - dimension;
  Value size = tensor::DimOp::create(e, parts.data, stored);
  const ScaleSpec &spec = parts.type.getSpec().getValue();
  if (dimension != rank - 1 || !spec.isSparse())
    return size;
  SparseForm form = sparseForm(parts.type);
  return arith::MulIOp::create(e, e.quotient(size, form.stored),
                               e.index(form.chunk));
}

SmallVector<OpFoldResult> blockscale::logicalSizes(Emitter &e,
                                                   const Parts &parts) {
  SmallVector<OpFoldResult> sizes;
  for (auto [dimension, size] : llvm::enumerate(parts.type.getShape())) {
    if (ShapedType::isDynamic(size))
      sizes.push_back(dynamicSize(e, parts, dimension));
    else
      sizes.push_back(e.getIndexAttr(size));
  }
  return sizes;
}

/// Tiles of a dimension; a tile of 0 is all of it.
static OpFoldResult tileCount(Emitter &e, OpFoldResult size, int64_t tile) {
  if (tile == 0)
    return e.getIndexAttr(1);
  if (std::optional<int64_t> known = getConstantIntValue(size))
    return e.getIndexAttr((*known + tile - 1) / tile);
  return e.ceilQuotient(cast<Value>(size), tile);
}

SmallVector<OpFoldResult> blockscale::tileCounts(Emitter &e,
                                                 ScaledTensorType type,
                                                 ArrayRef<OpFoldResult> sizes) {
  SmallVector<OpFoldResult> counts(sizes.drop_back(2));
  counts.push_back(tileCount(e, sizes[sizes.size() - 2], type.getRowTile()));
  counts.push_back(tileCount(e, sizes.back(), type.getKTile()));
  return counts;
}

//===----------------------------------------------------------------------===//
// Positions
//===----------------------------------------------------------------------===//

static Value tileIndex(Emitter &e, Value index, int64_t tile) {
  if (tile == 0)
    return e.index(0);
  return tile == 1 ? index : e.quotient(index, tile);
}

SmallVector<Value> blockscale::tilePosition(Emitter &e, ScaledTensorType type,
                                            ValueRange position) {
  SmallVector<Value> tile(position.drop_back(2));
  tile.push_back(
      tileIndex(e, position[position.size() - 2], type.getRowTile()));
  tile.push_back(tileIndex(e, position.back(), type.getKTile()));
  return tile;
}

/// The value of an expression of dimensions, which are not negative.
static Value emitExpression(Emitter &e, AffineExpr expression,
                            ValueRange dimensions) {
  if (auto dimension = dyn_cast<AffineDimExpr>(expression))
    return dimensions[dimension.getPosition()];
  if (auto constant = dyn_cast<AffineConstantExpr>(expression))
    return e.index(constant.getValue());
  auto binary = cast<AffineBinaryOpExpr>(expression);
  Value lhs = emitExpression(e, binary.getLHS(), dimensions);
  auto divisor = [&] {
    return cast<AffineConstantExpr>(binary.getRHS()).getValue();
  };
  switch (expression.getKind()) {
  case AffineExprKind::FloorDiv:
    return e.quotient(lhs, divisor());
  case AffineExprKind::Mod:
    return e.remainder(lhs, divisor());
  case AffineExprKind::Mul:
    return arith::MulIOp::create(
        e, lhs, emitExpression(e, binary.getRHS(), dimensions));
  case AffineExprKind::Add:
    return arith::AddIOp::create(
        e, lhs, emitExpression(e, binary.getRHS(), dimensions));
  default:
    llvm_unreachable("layouts have no other expressions");
  }
}

/// The position whose last dimensions are what `map` makes of those of
/// `position`.
static SmallVector<Value> mapped(Emitter &e, AffineMap map,
                                 ValueRange position) {
  ValueRange last = position.take_back(map.getNumDims());
  SmallVector<Value> result(position.drop_back(map.getNumDims()));
  for (AffineExpr expression : map.getResults())
    result.push_back(emitExpression(e, expression, last));
  return result;
}

SmallVector<Value> blockscale::scalePosition(Emitter &e, ScaleLayout layout,
                                             ValueRange tile) {
  return mapped(e, getStorageMap(getScaleStorage(layout), e.getContext()),
                tile);
}

SmallVector<Value> blockscale::metadataPosition(Emitter &e,
                                                ScaledTensorType type,
                                                ValueRange position) {
  SmallVector<Value> place(position);
  place.back() = e.quotient(place.back(), sparseForm(type).perByte);
  return mapped(e,
                getStorageMap(getMetadataStorage(getMetadataLayout(type)),
                              e.getContext()),
                place);
}

//===----------------------------------------------------------------------===//
// Tensors
//===----------------------------------------------------------------------===//

AffineMap blockscale::leadingDimensions(Emitter &e, unsigned rank,
                                        unsigned count) {
  SmallVector<AffineExpr> dimensions;
  for (unsigned i = 0; i < count; ++i)
    dimensions.push_back(e.getAffineDimExpr(i));
  return AffineMap::get(rank, 0, dimensions, e.getContext());
}

Value blockscale::generate(Emitter &e, ArrayRef<OpFoldResult> sizes,
                           Type element,
                           function_ref<Value(Emitter &, ValueRange)> compute) {
  Value init = tensor::EmptyOp::create(e, sizes, element);
  auto rank = static_cast<unsigned>(sizes.size());
  SmallVector<utils::IteratorType> iterators(rank,
                                             utils::IteratorType::parallel);
  auto op = linalg::GenericOp::create(
      e, init.getType(), ValueRange{}, init,
      ArrayRef<AffineMap>{e.getMultiDimIdentityMap(rank)}, iterators,
      [&](OpBuilder &b, Location loc, ValueRange) {
        Emitter body(loc, b);
        SmallVector<Value> position;
        for (unsigned i = 0; i < rank; ++i)
          position.push_back(linalg::IndexOp::create(body, i));
        linalg::YieldOp::create(body, compute(body, position));
      });
  return op.getResult(0);
}

Value blockscale::castTo(Emitter &e, Value value, Type type) {
  if (value.getType() == type)
    return value;
  return tensor::CastOp::create(e, type, value);
}

LogicalResult blockscale::replaceByParts(Operation *op, ValueRange parts,
                                         const TypeConverter &converter,
                                         ConversionPatternRewriter &rewriter) {
  Emitter e(op->getLoc(), rewriter);
  SmallVector<Type> types;
  if (failed(converter.convertType(op->getResult(0).getType(), types)))
    return rewriter.notifyMatchFailure(op, "the parts have no types");
  SmallVector<Value> values;
  for (auto [part, type] : llvm::zip_equal(parts, types))
    values.push_back(castTo(e, part, type));
  rewriter.replaceOpWithMultiple(op, {ValueRange(values)});
  return success();
}

Value blockscale::transposeData(Emitter &e, Value data) {
  SmallVector<OpFoldResult> sizes = tensor::getMixedSizes(e, e.getLoc(), data);
  size_t rank = sizes.size();
  std::swap(sizes[rank - 1], sizes[rank - 2]);
  Type element = cast<RankedTensorType>(data.getType()).getElementType();
  Value init = tensor::EmptyOp::create(e, sizes, element);
  SmallVector<int64_t> order =
      llvm::to_vector(llvm::seq<int64_t>(0, static_cast<int64_t>(rank)));
  std::swap(order[rank - 1], order[rank - 2]);
  return linalg::TransposeOp::create(e, data, init, order).getResult().front();
}

/// Plain rows from rows in `layout`.
static Value fromStorage(Emitter &e, Value stored, const hw::Layout &layout,
                         ArrayRef<OpFoldResult> counts) {
  Type element = cast<RankedTensorType>(stored.getType()).getElementType();
  AffineMap map = getStorageMap(layout, e.getContext());
  return generate(e, counts, element, [&](Emitter &body, ValueRange position) {
    return tensor::ExtractOp::create(body, stored, mapped(body, map, position));
  });
}

/// The sizes of `counts` rows and blocks in `layout`.
static SmallVector<OpFoldResult> storageSizes(Emitter &e,
                                              const hw::Layout &layout,
                                              ArrayRef<OpFoldResult> counts) {
  SmallVector<OpFoldResult> sizes(counts.drop_back(2));
  SmallVector<int64_t> fixed = getStorageShape(layout, 1, 1);
  unsigned first = sizes.size();
  for (int64_t size : fixed)
    sizes.push_back(e.getIndexAttr(size));
  for (auto [source, count] :
       {std::pair{hw::Dim::Row, counts[counts.size() - 2]},
        {hw::Dim::Block, counts.back()}}) {
    hw::Term term = *layout.slowest(source);
    unsigned dimension = static_cast<unsigned>(term.target) -
                         static_cast<unsigned>(hw::Dim::Storage0);
    sizes[first + dimension] = tileCount(e, count, term.divisor);
  }
  return sizes;
}

SmallVector<OpFoldResult>
blockscale::scaleSizes(Emitter &e, ScaleLayout layout,
                       ArrayRef<OpFoldResult> counts) {
  if (layout == ScaleLayout::Plain)
    return SmallVector<OpFoldResult>(counts);
  return storageSizes(e, getScaleStorage(layout), counts);
}

SmallVector<OpFoldResult>
blockscale::metadataSizes(Emitter &e, ScaledTensorType type,
                          ArrayRef<OpFoldResult> sizes) {
  SmallVector<OpFoldResult> counts(sizes);
  counts.back() = tileCount(e, sizes.back(), sparseForm(type).perByte);
  if (getMetadataLayout(type) == ScaleLayout::Plain)
    return counts;
  return storageSizes(e, getMetadataStorage(type.getLayout()), counts);
}

/// Rows in `layout` from plain ones, by scattering their inverse: each place
/// asks which row and block it belongs to, and holds `padding` if they are
/// none.
static Value toStorage(Emitter &e, Value plain, const hw::Layout &layout,
                       ArrayRef<OpFoldResult> counts, int64_t padding) {
  Type element = cast<RankedTensorType>(plain.getType()).getElementType();
  size_t rank = counts.size();
  Value rows = getValueOrCreateConstantIndexOp(e, e.getLoc(), counts[rank - 2]);
  Value blocks = getValueOrCreateConstantIndexOp(e, e.getLoc(), counts.back());
  SmallVector<OpFoldResult> sizes = storageSizes(e, layout, counts);
  Value filler = arith::ConstantIntOp::create(
      e, e.getIntegerType(element.getIntOrFloatBitWidth()), padding);
  if (isa<FloatType>(element))
    filler = arith::BitcastOp::create(e, element, filler);
  AffineMap map = getInverseStorageMap(layout, e.getContext());
  return generate(e, sizes, element, [&](Emitter &b, ValueRange place) {
    SmallVector<Value> source = mapped(b, map, place);
    Value &row = source[rank - 2], &block = source.back();
    auto below = [&](Value index, Value size) -> Value {
      return arith::CmpIOp::create(b, arith::CmpIPredicate::ult, index, size);
    };
    Value owned =
        arith::AndIOp::create(b, below(row, rows), below(block, blocks));
    // Code outside the matrix reads block 0 and drops it.
    for (Value *index : {&row, &block})
      *index = arith::SelectOp::create(b, owned, *index, b.index(0));
    Value value = tensor::ExtractOp::create(b, plain, source);
    return arith::SelectOp::create(b, owned, value, filler).getResult();
  });
}

Value blockscale::convertScales(Emitter &e, Value scales, ScaleLayout from,
                                ScaleLayout to, ArrayRef<OpFoldResult> counts) {
  if (from == to)
    return scales;
  if (from != ScaleLayout::Plain)
    scales = fromStorage(e, scales, getScaleStorage(from), counts);
  if (to != ScaleLayout::Plain)
    scales = toStorage(e, scales, getScaleStorage(to), counts, /*padding=*/0);
  return scales;
}

/// How many tiles of `to` one of `from` has, along one dimension; 0 if one has
/// all.
static int64_t tilesPerTile(int64_t from, int64_t to) {
  return from == to ? 1 : from / std::max<int64_t>(1, to);
}

Value blockscale::repeatScales(Emitter &e, const Parts &parts,
                               ScaledTensorType to,
                               ArrayRef<OpFoldResult> sizes) {
  ScaledTensorType from = parts.type;
  int64_t rows = tilesPerTile(from.getRowTile(), to.getRowTile());
  int64_t blocks = tilesPerTile(from.getKTile(), to.getKTile());
  if (rows == 1 && blocks == 1)
    return parts.scales;
  SmallVector<OpFoldResult> counts = tileCounts(e, to, sizes);
  Type element =
      cast<RankedTensorType>(parts.scales.getType()).getElementType();
  Value plain = generate(e, counts, element, [&](Emitter &body, ValueRange at) {
    SmallVector<Value> tile(at);
    Value &row = tile[tile.size() - 2];
    row = tileIndex(body, row, rows);
    tile.back() = tileIndex(body, tile.back(), blocks);
    return tensor::ExtractOp::create(
        body, parts.scales, scalePosition(body, getScaleLayout(from), tile));
  });
  return convertScales(e, plain, ScaleLayout::Plain, getScaleLayout(to),
                       counts);
}

Value blockscale::convertMetadata(Emitter &e, Value metadata,
                                  ScaledTensorType type, ScaleLayout from,
                                  ScaleLayout to,
                                  ArrayRef<OpFoldResult> sizes) {
  // The numbers of tables, and masks, lie as they do whatever the scales'
  // layout is.
  if (from == to || !sparsePattern(type))
    return metadata;
  SmallVector<OpFoldResult> counts(sizes);
  counts.back() = tileCount(e, sizes.back(), sparseForm(type).perByte);
  if (from != ScaleLayout::Plain)
    metadata = fromStorage(e, metadata, getMetadataStorage(from), counts);
  if (to != ScaleLayout::Plain)
    metadata = toStorage(e, metadata, getMetadataStorage(to), counts,
                         hw::kEmptyMetadataByte);
  return metadata;
}
