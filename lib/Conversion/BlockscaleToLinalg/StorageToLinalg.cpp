//===- StorageToLinalg.cpp - parts, layouts, slices and sizes -------------===//
//
// Part of the blockscale project, under the Apache License v2.0 with LLVM
// Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Patterns.h"
#include "blockscale/Dialect/Blockscale/IR/Codebooks.h"
#include "blockscale/Dialect/Blockscale/IR/LayoutOfScales.h"
#include "blockscale/Dialect/Blockscale/IR/Layouts.h"
#include "mlir/Dialect/Arith/Utils/Utils.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"

using namespace mlir;
using namespace blockscale;

namespace {

/// The parts given, as the types that the scaled tensor's parts have.
struct AssembleToLinalg : OpConversionPattern<AssembleOp> {
  using OpConversionPattern::OpConversionPattern;

  LogicalResult
  matchAndRewrite(AssembleOp op, OneToNOpAdaptor adaptor,
                  ConversionPatternRewriter &rewriter) const override {
    SmallVector<Value> given;
    for (ValueRange part :
         {adaptor.getData(), adaptor.getScales(), adaptor.getZeros(),
          adaptor.getTensorScale(), adaptor.getMetadata()})
      llvm::append_range(given, part);
    return replaceByParts(op, given, *getTypeConverter(), rewriter);
  }
};

struct DisassembleToLinalg : OpConversionPattern<DisassembleOp> {
  using OpConversionPattern::OpConversionPattern;

  LogicalResult
  matchAndRewrite(DisassembleOp op, OneToNOpAdaptor adaptor,
                  ConversionPatternRewriter &rewriter) const override {
    rewriter.replaceOp(op, adaptor.getInput());
    return success();
  }
};

struct RelayoutToLinalg : OpConversionPattern<RelayoutOp> {
  using OpConversionPattern::OpConversionPattern;

  LogicalResult
  matchAndRewrite(RelayoutOp op, OneToNOpAdaptor adaptor,
                  ConversionPatternRewriter &rewriter) const override {
    Emitter e(op.getLoc(), rewriter);
    Parts parts(op.getInput().getType(), adaptor.getInput());
    ScaledTensorType to = op.getType();
    SmallVector<OpFoldResult> sizes = logicalSizes(e, parts);
    for (Value *part : {&parts.scales, &parts.zeros})
      if (*part)
        *part =
            convertScales(e, *part, getScaleLayout(parts.type),
                          getScaleLayout(to), tileCounts(e, parts.type, sizes));
    if (parts.metadata)
      parts.metadata = convertMetadata(
          e, parts.metadata, to, parts.type.getLayout(), to.getLayout(), sizes);
    if (parts.type.getOrder() != to.getOrder())
      parts.data = transposeData(e, parts.data);
    return replaceByParts(op, parts.values(), *getTypeConverter(), rewriter);
  }
};

struct DimToLinalg : OpConversionPattern<DimOp> {
  using OpConversionPattern::OpConversionPattern;

  LogicalResult
  matchAndRewrite(DimOp op, OneToNOpAdaptor adaptor,
                  ConversionPatternRewriter &rewriter) const override {
    Emitter e(op.getLoc(), rewriter);
    Parts parts(op.getInput().getType(), adaptor.getInput());
    OpFoldResult size = logicalSizes(e, parts)[op.getDimension()];
    rewriter.replaceOp(op,
                       getValueOrCreateConstantIndexOp(e, e.getLoc(), size));
    return success();
  }
};

//===----------------------------------------------------------------------===//
// Slices
//===----------------------------------------------------------------------===//

/// `value / divisor`, rounded down or up.
OpFoldResult divide(Emitter &e, OpFoldResult value, int64_t divisor,
                    bool roundUp = false) {
  if (divisor == 1)
    return value;
  if (std::optional<int64_t> known = getConstantIntValue(value))
    return e.getIndexAttr((*known + (roundUp ? divisor - 1 : 0)) / divisor);
  Value dividend = cast<Value>(value);
  return roundUp ? e.ceilQuotient(dividend, divisor)
                 : e.quotient(dividend, divisor);
}

/// Slices of the parts, dimension by dimension.
class Slicer {
public:
  Slicer(Emitter &emitter, SliceRowsOp op, SmallVector<OpFoldResult> offsets,
         SmallVector<OpFoldResult> sizes)
      : e(emitter), type(op.getInput().getType()), offsets(std::move(offsets)),
        sizes(std::move(sizes)) {}

  Value data(Value tensor) {
    bool rowsLast = type.getOrder() == DataOrder::MNMajor;
    return slice(tensor, type.getRank() - (rowsLast ? 1 : 2), offsets.back(),
                 sizes.back());
  }

  Value scales(Value tensor) {
    int64_t rowTile = type.getRowTile();
    if (rowTile == 0)
      return allRows(tensor);
    return rows(tensor, getScaleStorage(getScaleLayout(type)), rowTile);
  }

  Value metadata(Value tensor) {
    if (std::optional<TableNumbers> numbers = tableNumbers(type))
      return numbers->rows ? rows(tensor, getScaleStorage(ScaleLayout::Plain),
                                  numbers->rows)
                           : allRows(tensor);
    return rows(tensor, getMetadataStorage(getMetadataLayout(type)),
                /*rowTile=*/1);
  }

  Value tensorScale(Value tensor) {
    return type.isBatched() ? slice(tensor, 0, offsets[0], sizes[0]) : tensor;
  }

private:
  /// What all rows of a matrix share, of the matrices asked for.
  Value allRows(Value tensor) {
    return slice(tensor, type.getRank() - 2, e.getIndexAttr(0),
                 e.getIndexAttr(1));
  }
  /// The slice of storage whose rows are `rowTile` of the operand each.
  Value rows(Value tensor, const hw::Layout &layout, int64_t rowTile) {
    hw::Term term = *layout.slowest(hw::Dim::Row);
    int64_t dimension = type.getRank() - 2 + static_cast<int64_t>(term.target) -
                        static_cast<int64_t>(hw::Dim::Storage0);
    int64_t unit = static_cast<int64_t>(term.divisor) * rowTile;
    return slice(tensor, dimension, divide(e, offsets.back(), unit),
                 divide(e, sizes.back(), unit, /*roundUp=*/true));
  }
  /// The matrices asked for and, of dimension `rows`, that range.
  Value slice(Value tensor, int64_t rows, OpFoldResult offset,
              OpFoldResult size) {
    SmallVector<OpFoldResult> extents =
        tensor::getMixedSizes(e, e.getLoc(), tensor);
    SmallVector<OpFoldResult> starts(extents.size(), e.getIndexAttr(0));
    SmallVector<OpFoldResult> strides(extents.size(), e.getIndexAttr(1));
    if (type.isBatched()) {
      starts[0] = offsets[0];
      extents[0] = sizes[0];
    }
    if (!type.isBatched() || rows != 0) {
      starts[rows] = offset;
      extents[rows] = size;
    }
    return tensor::ExtractSliceOp::create(e, tensor, starts, extents, strides);
  }

  Emitter &e;
  ScaledTensorType type;
  SmallVector<OpFoldResult> offsets, sizes;
};

struct SliceRowsToLinalg : OpConversionPattern<SliceRowsOp> {
  using OpConversionPattern::OpConversionPattern;

  LogicalResult
  matchAndRewrite(SliceRowsOp op, OneToNOpAdaptor adaptor,
                  ConversionPatternRewriter &rewriter) const override {
    Emitter e(op.getLoc(), rewriter);
    Parts parts(op.getInput().getType(), adaptor.getInput());
    Slicer slicer(e, op, op.getMixedOffsets(), op.getMixedSizes());
    parts.data = slicer.data(parts.data);
    for (Value *part : {&parts.scales, &parts.zeros})
      if (*part)
        *part = slicer.scales(*part);
    if (parts.tensorScale)
      parts.tensorScale = slicer.tensorScale(parts.tensorScale);
    if (parts.metadata)
      parts.metadata = slicer.metadata(parts.metadata);
    return replaceByParts(op, parts.values(), *getTypeConverter(), rewriter);
  }
};

} // namespace

void blockscale::populatePartsPatterns(const TypeConverter &converter,
                                       RewritePatternSet &patterns) {
  patterns.add<AssembleToLinalg, DisassembleToLinalg>(converter,
                                                      patterns.getContext());
}

void blockscale::populateStoragePatterns(const TypeConverter &converter,
                                         RewritePatternSet &patterns) {
  populatePartsPatterns(converter, patterns);
  patterns.add<DimToLinalg, RelayoutToLinalg, SliceRowsToLinalg>(
      converter, patterns.getContext());
}
