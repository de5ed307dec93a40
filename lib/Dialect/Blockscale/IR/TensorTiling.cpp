//===- TensorTiling.cpp - slices of scaled tensors, tiles of products -----===//
//
// Part of the blockscale project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "blockscale/Dialect/Blockscale/IR/LayoutOfScales.h"
#include "blockscale/Dialect/Blockscale/IR/Layouts.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/Dialect/Utils/StaticValueUtils.h"
#include "mlir/IR/Builders.h"
#include "mlir/IR/IRMapping.h"
#include <numeric>

using namespace mlir;
using namespace blockscale;

//===----------------------------------------------------------------------===//
// SliceRowsOp
//===----------------------------------------------------------------------===//

SmallVector<OpFoldResult> SliceRowsOp::getMixedOffsets() {
  return getMixedValues(getStaticOffsets(), getOffsets(), getContext());
}

SmallVector<OpFoldResult> SliceRowsOp::getMixedSizes() {
  return getMixedValues(getStaticSizes(), getSizes(), getContext());
}

/// Why these are no offsets or sizes of a slice of `input`; nothing if they may
/// be.
static std::optional<Reason> whyNotExtents(ScaledTensorType input,
                                           const char *name,
                                           ArrayRef<int64_t> values) {
  int64_t expected = input.getRank() - 1;
  if (static_cast<int64_t>(values.size()) != expected)
    return "expected " + std::to_string(expected) + " of '" + name +
           "', one per dimension but K, found " + std::to_string(values.size());
  for (int64_t value : values)
    if (!ShapedType::isDynamic(value) && value < 0)
      return std::string("expected '") + name + "' of at least 0, found " +
             std::to_string(value);
  return std::nullopt;
}

LogicalResult SliceRowsOp::inferReturnTypes(MLIRContext *,
                                            std::optional<Location> location,
                                            Adaptor adaptor,
                                            SmallVectorImpl<Type> &types) {
  auto input = dyn_cast<ScaledTensorType>(adaptor.getInput().getType());
  if (!input)
    return emitOptionalError(location, "expected a scaled tensor");
  ArrayRef<int64_t> sizes = adaptor.getStaticSizes();
  if (auto why = whyNotExtents(input, "sizes", sizes))
    return emitOptionalError(location, why->text);
  SmallVector<int64_t> shape(sizes);
  shape.push_back(input.getK());
  auto type = ScaledTensorType::getChecked(
      [&] {
        return mlir::emitError(
            location.value_or(UnknownLoc::get(input.getContext())));
      },
      shape, input.getElementType(), input.getSpec(), input.getLayout(),
      input.getOrder());
  if (!type)
    return failure();
  types.push_back(type);
  return success();
}

void SliceRowsOp::build(OpBuilder &builder, OperationState &state, Value input,
                        ArrayRef<OpFoldResult> offsets,
                        ArrayRef<OpFoldResult> sizes) {
  auto [staticOffsets, dynamicOffsets] = decomposeMixedValues(offsets);
  auto [staticSizes, dynamicSizes] = decomposeMixedValues(sizes);
  build(builder, state, input, dynamicOffsets, dynamicSizes, staticOffsets,
        staticSizes);
}

/// Lists are as long as the leading dimensions and non-negative.
static LogicalResult verifyExtents(SliceRowsOp op, const char *name,
                                   ArrayRef<int64_t> values,
                                   size_t numDynamic) {
  if (auto why = whyNotExtents(op.getInput().getType(), name, values))
    return op.emitOpError() << why->text;
  if (static_cast<size_t>(llvm::count(values, ShapedType::kDynamic)) !=
      numDynamic)
    return op.emitOpError() << "'" << name << "' and 'static_" << name
                            << "' differ in what is dynamic";
  return success();
}

/// A slice of rows starts and ends between tiles, or ends with the tensor.
static LogicalResult verifyAlignment(SliceRowsOp op, int64_t offset,
                                     int64_t size) {
  ScaledTensorType type = op.getInput().getType();
  int64_t unit = type.getRowTile();
  unit *= getScaleStorage(getScaleLayout(type)).multipleOf(hw::Dim::Row);
  int64_t unitOfScales = unit;
  if (type.getSpec().getValue().isSparse())
    unit = std::lcm(unit, int64_t(getMetadataStorage(getMetadataLayout(type))
                                      .multipleOf(hw::Dim::Row)));
  if (unit <= 1)
    return success();
  bool isOfMetadata =
      type.getSpec().getValue().isUnscaled() || unit != unitOfScales;
  StringRef what = isOfMetadata ? "metadata" : "scales";
  if (!ShapedType::isDynamic(offset) && offset % unit != 0)
    return op.emitOpError()
           << "expected a row offset that is a multiple of " << unit
           << ", the rows of a tile of " << what << ", found " << offset;
  int64_t rows = type.getNumRows();
  if (ShapedType::isDynamic(size) || size % unit == 0 ||
      ShapedType::isDynamic(rows))
    return success();
  bool mayEnd = ShapedType::isDynamic(offset) ? size % unit == rows % unit
                                              : offset + size == rows;
  if (mayEnd)
    return success();
  return op.emitOpError() << "expected a number of rows that is a multiple of "
                          << unit << ", the rows of a tile of " << what
                          << ", or that reaches the last row, found " << size;
}

LogicalResult SliceRowsOp::verify() {
  ScaledTensorType type = getInput().getType();
  ArrayRef<int64_t> offsets = getStaticOffsets(), sizes = getStaticSizes();
  if (type.hasScalesByGroups())
    return emitOpError() << "does not know the groups of layout '"
                         << stringifyScaleLayout(type.getLayout())
                         << "', in which no slice is";
  if (failed(verifyExtents(*this, "offsets", offsets, getOffsets().size())) ||
      failed(verifyExtents(*this, "sizes", sizes, getSizes().size())))
    return failure();
  for (auto [offset, size, limit] :
       llvm::zip(offsets, sizes, type.getShape().drop_back())) {
    if (ShapedType::isDynamic(limit) || ShapedType::isDynamic(size))
      continue;
    int64_t start = ShapedType::isDynamic(offset) ? 0 : offset;
    if (start > limit || size > limit - start)
      return emitOpError() << "expected a slice within the " << limit
                           << " that there are, found " << size << " from "
                           << start;
  }
  return verifyAlignment(*this, offsets.back(), sizes.back());
}

/// A slice of everything is its input.
OpFoldResult SliceRowsOp::fold(FoldAdaptor) {
  ArrayRef<int64_t> shape = getInput().getType().getShape().drop_back();
  bool whole =
      getInput().getType() == getType() &&
      llvm::all_of(getStaticOffsets(), [](int64_t at) { return at == 0; }) &&
      getStaticSizes() == shape && !ShapedType::isDynamicShape(shape);
  return whole ? OpFoldResult(getInput()) : OpFoldResult();
}

//===----------------------------------------------------------------------===//
// Tiles of MatmulOp
//===----------------------------------------------------------------------===//

SmallVector<utils::IteratorType> MatmulOp::getLoopIteratorTypes() {
  return SmallVector<utils::IteratorType>(getResult().getType().getRank(),
                                          utils::IteratorType::parallel);
}

SmallVector<Range> MatmulOp::getIterationDomain(OpBuilder &builder) {
  ReifiedRankedShapedTypeDims shapes;
  SmallVector<Range> domain;
  if (failed(reifyResultShapes(builder, shapes)))
    return domain;
  for (OpFoldResult size : shapes.front())
    domain.push_back({builder.getIndexAttr(0), size, builder.getIndexAttr(1)});
  return domain;
}

namespace {
/// The operands of one tile of a product.
class MatmulTiler {
public:
  MatmulTiler(OpBuilder &builder, MatmulOp op, ArrayRef<OpFoldResult> offsets,
              ArrayRef<OpFoldResult> sizes)
      : builder(builder), op(op), offsets(offsets), sizes(sizes) {}

  TilingResult tile() {
    Value a = sliceRows(op.getA(), offsets.size() - 2);
    Value b = sliceRows(op.getB(), offsets.size() - 1);
    Value c = op.getC() ? slicePlain(op.getC(), offsets, sizes) : Value();
    Value bias;
    if (op.getBias()) {
      bool perColumn = op.getBiasKind() == BiasKind::Column;
      size_t dimension = offsets.size() - (perColumn ? 1 : 2);
      bias = slicePlain(op.getBias(), offsets[dimension], sizes[dimension]);
    }
    RankedTensorType type = op.getResult().getType();
    auto tileType = RankedTensorType::get(decomposeMixedValues(sizes).first,
                                          type.getElementType());
    auto tile = MatmulOp::create(builder, op.getLoc(), tileType, a, b,
                                 op.getAlpha(), op.getBeta(), c, bias,
                                 /*offsets=*/Value(), /*rowNumbers=*/Value(),
                                 op.getBiasKindAttr(), op.getPairsAttr(),
                                 op.getLoweringAttr());
    IRMapping mapping;
    op.getEpilogue().cloneInto(&tile.getEpilogue(), mapping);
    tile->setDiscardableAttrs(llvm::to_vector(op->getDiscardableAttrs()));
    return TilingResult{{tile}, {tile.getResult()}, slices};
  }

private:
  /// Rows of `a` or `b`: those of dimension `rows` of the result.
  Value sliceRows(Value operand, size_t rows) {
    SmallVector<OpFoldResult> starts(offsets.drop_back(2));
    SmallVector<OpFoldResult> extents(sizes.drop_back(2));
    starts.push_back(offsets[rows]);
    extents.push_back(sizes[rows]);
    auto slice =
        SliceRowsOp::create(builder, op.getLoc(), operand, starts, extents);
    slices.push_back(slice);
    return slice;
  }

  Value slicePlain(Value operand, ArrayRef<OpFoldResult> starts,
                   ArrayRef<OpFoldResult> extents) {
    SmallVector<OpFoldResult> strides(starts.size(), builder.getIndexAttr(1));
    auto slice = tensor::ExtractSliceOp::create(builder, op.getLoc(), operand,
                                                starts, extents, strides);
    slices.push_back(slice);
    return slice;
  }

  OpBuilder &builder;
  MatmulOp op;
  ArrayRef<OpFoldResult> offsets, sizes;
  SmallVector<Operation *> slices;
};
} // namespace

FailureOr<TilingResult>
MatmulOp::getTiledImplementation(OpBuilder &builder,
                                 ArrayRef<OpFoldResult> offsets,
                                 ArrayRef<OpFoldResult> sizes) {
  // Which rows of `a` and which matrix of `b` a tile needs only memory knows.
  if (hasGroups())
    return emitOpError() << "has groups and cannot be tiled";
  if (getPairs())
    return emitOpError() << "has pairs of columns and cannot be tiled";
  return MatmulTiler(builder, *this, offsets, sizes).tile();
}

LogicalResult MatmulOp::getResultTilePosition(
    OpBuilder &, unsigned, ArrayRef<OpFoldResult> offsets,
    ArrayRef<OpFoldResult> sizes, SmallVector<OpFoldResult> &resultOffsets,
    SmallVector<OpFoldResult> &resultSizes) {
  llvm::append_range(resultOffsets, offsets);
  llvm::append_range(resultSizes, sizes);
  return success();
}

FailureOr<TilingResult>
MatmulOp::generateResultTileValue(OpBuilder &builder, unsigned,
                                  ArrayRef<OpFoldResult> offsets,
                                  ArrayRef<OpFoldResult> sizes) {
  return getTiledImplementation(builder, offsets, sizes);
}
