//===- TensorOpsFolds.cpp - ops on tensors: folds and shapes ------------===//
//
// Part of the blockscale project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "blockscale/Dialect/Blockscale/IR/Blockscale.h"
#include "blockscale/Dialect/Blockscale/IR/Epilogue.h"
#include "blockscale/Dialect/Blockscale/IR/Pairs.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Arith/Utils/Utils.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/IR/Builders.h"
#include "mlir/IR/Matchers.h"
#include "mlir/IR/PatternMatch.h"

using namespace mlir;
using namespace blockscale;

//===----------------------------------------------------------------------===//
// AssembleOp, DisassembleOp
//===----------------------------------------------------------------------===//

/// The parts given, in the order in which `disassemble` yields them.
static SmallVector<Value> partsOf(AssembleOp op) {
  SmallVector<Value> parts;
  for (Value part :
       {Value(op.getData()), Value(op.getScales()), Value(op.getZeros()),
        Value(op.getTensorScale()), Value(op.getMetadata())})
    if (part)
      parts.push_back(part);
  return parts;
}

/// assemble(disassemble(x)) is x.
OpFoldResult AssembleOp::fold(FoldAdaptor) {
  auto source = getData().getDefiningOp<DisassembleOp>();
  if (!source || source.getInput().getType() != getType() ||
      !llvm::equal(partsOf(*this), source.getParts()))
    return {};
  return source.getInput();
}

/// disassemble(assemble(parts)) is the parts.
LogicalResult DisassembleOp::fold(FoldAdaptor,
                                  SmallVectorImpl<OpFoldResult> &results) {
  auto source = getInput().getDefiningOp<AssembleOp>();
  if (!source)
    return failure();
  SmallVector<Value> parts = partsOf(source);
  if (TypeRange(ValueRange(parts)) != getResultTypes())
    return failure();
  results.append(parts.begin(), parts.end());
  return success();
}

//===----------------------------------------------------------------------===//
// RelayoutOp
//===----------------------------------------------------------------------===//

OpFoldResult RelayoutOp::fold(FoldAdaptor) {
  if (getInput().getType() == getType())
    return getInput();
  auto source = getInput().getDefiningOp<RelayoutOp>();
  if (!source)
    return {};
  if (source.getInput().getType() == getType())
    return source.getInput();
  getInputMutable().assign(source.getInput());
  return getResult();
}

namespace {
/// Quantize into the layout wanted, if nobody needs the other one.
struct QuantizeIntoLayout : OpRewritePattern<RelayoutOp> {
  using OpRewritePattern::OpRewritePattern;

  LogicalResult matchAndRewrite(RelayoutOp op,
                                PatternRewriter &rewriter) const override {
    auto source = op.getInput().getDefiningOp<QuantizeOp>();
    if (!source || !source->hasOneUse())
      return rewriter.notifyMatchFailure(op,
                                         "input is not a quantize of its own");
    rewriter.replaceOpWithNewOp<QuantizeOp>(
        op, op.getType(), source.getInput(), source.getTensorScale(),
        source.getOffsets(), source.getRule(), source.getRounding(),
        source.getSeedAttr());
    return success();
  }
};

/// Neither values nor sizes depend on how values are stored. (Values do on
/// compression, which takes the sign of zeros.)
template <typename ReadOp, typename StorageOp>
struct ReadOfStored : OpRewritePattern<ReadOp> {
  using OpRewritePattern<ReadOp>::OpRewritePattern;

  LogicalResult matchAndRewrite(ReadOp op,
                                PatternRewriter &rewriter) const override {
    auto source = op.getInput().template getDefiningOp<StorageOp>();
    if (!source)
      return rewriter.notifyMatchFailure(op, "input is not stored anew");
    rewriter.modifyOpInPlace(
        op, [&] { op.getInputMutable().assign(source.getInput()); });
    return success();
  }
};
} // namespace

void RelayoutOp::getCanonicalizationPatterns(RewritePatternSet &patterns,
                                             MLIRContext *context) {
  patterns.add<QuantizeIntoLayout>(context);
}

void DequantizeOp::getCanonicalizationPatterns(RewritePatternSet &patterns,
                                               MLIRContext *context) {
  patterns.add<ReadOfStored<DequantizeOp, RelayoutOp>,
               ReadOfStored<DequantizeOp, DensifyOp>>(context);
}

//===----------------------------------------------------------------------===//
// DimOp
//===----------------------------------------------------------------------===//

OpFoldResult DimOp::fold(FoldAdaptor) {
  int64_t size = getInput().getType().getDimSize(getDimension());
  if (ShapedType::isDynamic(size))
    return {};
  return IntegerAttr::get(IndexType::get(getContext()), size);
}

namespace {
/// A quantized tensor is as large as what was quantized.
struct DimOfQuantize : OpRewritePattern<DimOp> {
  using OpRewritePattern::OpRewritePattern;

  LogicalResult matchAndRewrite(DimOp op,
                                PatternRewriter &rewriter) const override {
    auto source = op.getInput().getDefiningOp<QuantizeOp>();
    if (!source)
      return rewriter.notifyMatchFailure(op, "input is not a quantize");
    rewriter.replaceOpWithNewOp<tensor::DimOp>(op, source.getInput(),
                                               op.getDimension());
    return success();
  }
};

/// A slice is as large as it says, and K is whole.
struct DimOfSlice : OpRewritePattern<DimOp> {
  using OpRewritePattern::OpRewritePattern;

  LogicalResult matchAndRewrite(DimOp op,
                                PatternRewriter &rewriter) const override {
    auto source = op.getInput().getDefiningOp<SliceRowsOp>();
    if (!source)
      return rewriter.notifyMatchFailure(op, "input is not a slice");
    SmallVector<OpFoldResult> sizes = source.getMixedSizes();
    auto dimension = static_cast<size_t>(op.getDimension());
    if (dimension == sizes.size()) {
      rewriter.modifyOpInPlace(
          op, [&] { op.getInputMutable().assign(source.getInput()); });
      return success();
    }
    rewriter.replaceOp(op, getValueOrCreateConstantIndexOp(
                               rewriter, op.getLoc(), sizes[dimension]));
    return success();
  }
};
} // namespace

void DimOp::getCanonicalizationPatterns(RewritePatternSet &patterns,
                                        MLIRContext *context) {
  patterns.add<DimOfQuantize, DimOfSlice, ReadOfStored<DimOp, RelayoutOp>,
               ReadOfStored<DimOp, CompressOp>, ReadOfStored<DimOp, DensifyOp>>(
      context);
}

//===----------------------------------------------------------------------===//
// Shapes of results
//===----------------------------------------------------------------------===//

/// Size of a dimension: a constant where the type knows it.
static OpFoldResult sizeOf(OpBuilder &builder, Location loc,
                           TypedValue<ScaledTensorType> tensor,
                           int64_t dimension) {
  int64_t size = tensor.getType().getDimSize(dimension);
  if (!ShapedType::isDynamic(size))
    return builder.getIndexAttr(size);
  return DimOp::create(builder, loc, tensor, dimension).getResult();
}

LogicalResult
DequantizeOp::reifyResultShapes(OpBuilder &builder,
                                ReifiedRankedShapedTypeDims &shapes) {
  SmallVector<OpFoldResult> &shape = shapes.emplace_back();
  for (int64_t i = 0, rank = getInput().getType().getRank(); i < rank; ++i)
    shape.push_back(sizeOf(builder, getLoc(), getInput(), i));
  return success();
}

LogicalResult MatmulOp::reifyResultShapes(OpBuilder &builder,
                                          ReifiedRankedShapedTypeDims &shapes) {
  SmallVector<OpFoldResult> &shape = shapes.emplace_back();
  int64_t rank = getA().getType().getRank();
  if (isGroupedAlongK())
    shape.push_back(
        tensor::getMixedSize(builder, getLoc(), getOffsets(), /*dim=*/0));
  if (isGathered())
    shape.push_back(
        tensor::getMixedSize(builder, getLoc(), getRowNumbers(), /*dim=*/0));
  else
    for (int64_t i = 0; i < rank - 1; ++i)
      shape.push_back(sizeOf(builder, getLoc(), getA(), i));
  int64_t rowsOfB = getB().getType().getRank() - 2;
  OpFoldResult n = sizeOf(builder, getLoc(), getB(), rowsOfB);
  shape.push_back(getPairs() ? halfOf(builder, getLoc(), n) : n);
  return success();
}

//===----------------------------------------------------------------------===//
// MatmulOp
//===----------------------------------------------------------------------===//

static bool isConstant(Value value, double expected) {
  FloatAttr attr;
  return value && matchPattern(value, m_Constant(&attr)) &&
         attr.getValueAsDouble() == expected;
}

namespace {
/// A `c` whose factor is zero, if nothing is done to it but adding it.
static bool isUnused(MatmulOp op) {
  return isConstant(op.getBeta(), 0.0) && Epilogue(op).isNamed();
}

/// Drops `c` and its factor from a product whose epilogue is a sum or has a
/// name.
static void dropC(MatmulOp op, PatternRewriter &rewriter) {
  std::optional<Activation> activation = Epilogue(op).getActivation();
  op.getBetaMutable().clear();
  op.getCMutable().clear();
  if (!op.getEpilogue().empty())
    rewriter.eraseBlock(&op.getEpilogue().front());
  if (activation)
    Epilogue(op).build(op.getContext(), activation);
}

/// Factors of one, and a `c` whose factor is zero, need not be written.
struct DropNeutralFactors : OpRewritePattern<MatmulOp> {
  using OpRewritePattern::OpRewritePattern;

  LogicalResult matchAndRewrite(MatmulOp op,
                                PatternRewriter &rewriter) const override {
    bool unitAlpha = isConstant(op.getAlpha(), 1.0);
    bool unitBeta = isConstant(op.getBeta(), 1.0);
    bool unusedC = isUnused(op);
    if (!unitAlpha && !unitBeta && !unusedC)
      return rewriter.notifyMatchFailure(op, "no factor is neutral");
    rewriter.modifyOpInPlace(op, [&] {
      if (unitAlpha)
        op.getAlphaMutable().clear();
      if (unitBeta)
        op.getBetaMutable().clear();
      if (unusedC)
        dropC(op, rewriter);
    });
    return success();
  }
};
} // namespace

void MatmulOp::getCanonicalizationPatterns(RewritePatternSet &patterns,
                                           MLIRContext *context) {
  patterns.add<DropNeutralFactors>(context);
}
