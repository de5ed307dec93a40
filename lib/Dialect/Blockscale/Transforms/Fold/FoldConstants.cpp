//===- FoldConstants.cpp - ops on constant scaled tensors -----------------===//
//
// Part of the blockscale project, under the Apache License v2.0 with LLVM
// Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "ConstantSparse.h"
#include "blockscale/Dialect/Blockscale/IR/LayoutOfScales.h"
#include "blockscale/Dialect/Blockscale/IR/Quantize.h"
#include "blockscale/Dialect/Blockscale/Transforms/Passes.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/IR/Matchers.h"
#include "mlir/Transforms/GreedyPatternRewriteDriver.h"

namespace blockscale {
#define GEN_PASS_DEF_FOLDCONSTANTS
#include "blockscale/Dialect/Blockscale/Transforms/Passes.h.inc"
} // namespace blockscale

using namespace mlir;
using namespace blockscale;

/// Whether all sizes are known, and there are elements.
static bool hasElements(ScaledTensorType type) {
  return type.hasStaticShape() && !llvm::is_contained(type.getShape(), 0);
}

/// Whether the parts of such a tensor are numbers that this file reads.
static bool isPlainEnough(ScaledTensorType type) {
  const ScaleSpec &spec = type.getSpec().getValue();
  bool isUe5m3 = spec.scale && scaleFormat(*spec.scale) == ElementFormat::UE5M3;
  return hasElements(type) && !isUe5m3 && !type.hasScalesByGroups() &&
         getTensorParts(type);
}

static bool isSparse(ScaledTensorType type) {
  return type.getSpec().getValue().isSparse();
}

/// The shape of the elements that are stored.
static TensorShape storedShape(ScaledTensorType type) {
  TensorShape shape(type);
  if (isSparse(type)) {
    SparseForm form = sparseForm(type);
    shape.k = shape.k / form.chunk * form.stored;
  }
  return shape;
}

/// The parts of a tensor that is assembled of constants, in logical order;
/// elements that are not stored have no code.
static std::optional<ConstantParts> constantParts(Value tensor) {
  auto source = tensor.getDefiningOp<AssembleOp>();
  if (!source || !isPlainEnough(source.getType()))
    return std::nullopt;
  ScaledTensorType type = source.getType();
  TensorShape shape(type);
  ConstantParts parts;
  DenseElementsAttr data, scales, zeros, tensorScale, metadata;
  if (!matchPattern(source.getData(), m_Constant(&data)))
    return std::nullopt;
  parts.data = loadElements(storedShape(type), type.getOrder(), codesOf(data));
  if (source.getScales()) {
    if (!matchPattern(source.getScales(), m_Constant(&scales)))
      return std::nullopt;
    parts.scales = loadScales(shape, getScaleLayout(type), codesOf(scales));
  }
  if (source.getZeros()) {
    if (!matchPattern(source.getZeros(), m_Constant(&zeros)))
      return std::nullopt;
    parts.zeros = loadScales(shape, getScaleLayout(type), codesOf(zeros));
  }
  if (source.getTensorScale()) {
    if (!matchPattern(source.getTensorScale(), m_Constant(&tensorScale)))
      return std::nullopt;
    parts.tensorScale = codesOf(tensorScale);
  }
  if (source.getMetadata()) {
    if (!matchPattern(source.getMetadata(), m_Constant(&metadata)))
      return std::nullopt;
    parts.metadata = codesOf(metadata);
    if (isSparse(type))
      parts.metadata = loadMetadata(type, std::move(parts.metadata));
  }
  return parts;
}

/// Replaces `op` by a tensor assembled of constants.
static AssembleOp replaceByConstants(Operation *op, ScaledTensorType type,
                                     const ConstantParts &parts,
                                     PatternRewriter &rewriter) {
  TensorShape shape(type);
  TensorParts types = *getTensorParts(type);
  auto constant = [&](RankedTensorType part,
                      ArrayRef<uint32_t> codes) -> Value {
    return arith::ConstantOp::create(rewriter, op->getLoc(),
                                     constantOf(part, codes));
  };
  Value data = constant(types.data, storeElements(storedShape(type),
                                                  type.getOrder(), parts.data));
  Value scales, zeros, tensorScale, metadata;
  if (types.scales)
    scales = constant(types.scales,
                      storeScales(shape, getScaleLayout(type), parts.scales));
  if (types.zeros)
    zeros = constant(types.zeros,
                     storeScales(shape, getScaleLayout(type), parts.zeros));
  if (types.tensorScale)
    tensorScale = constant(types.tensorScale, parts.tensorScale);
  if (types.metadata)
    metadata = constant(types.metadata,
                        isSparse(type) ? storeMetadata(type, parts.metadata)
                                       : parts.metadata);
  return rewriter.replaceOpWithNewOp<AssembleOp>(op, type, data, scales, zeros,
                                                 tensorScale, metadata);
}

namespace {
struct FoldQuantize : OpRewritePattern<QuantizeOp> {
  using OpRewritePattern::OpRewritePattern;

  LogicalResult matchAndRewrite(QuantizeOp op,
                                PatternRewriter &rewriter) const override {
    DenseElementsAttr input, tensorScale;
    if (!isPlainEnough(op.getType()) || isSparse(op.getType()) ||
        !matchPattern(op.getInput(), m_Constant(&input)))
      return rewriter.notifyMatchFailure(op, "the input is no constant");
    std::vector<float> factors;
    if (op.getTensorScale()) {
      if (!matchPattern(op.getTensorScale(), m_Constant(&tensorScale)))
        return rewriter.notifyMatchFailure(op,
                                           "the tensor scale is no constant");
      factors = floatsOf(tensorScale);
    }
    replaceByConstants(op, op.getType(),
                       quantizeConstant(op, floatsOf(input), factors),
                       rewriter);
    return success();
  }
};

/// Pruning and compressing fold as they do anywhere.
struct ExpandConstantQuantize : OpRewritePattern<QuantizeOp> {
  using OpRewritePattern::OpRewritePattern;

  LogicalResult matchAndRewrite(QuantizeOp op,
                                PatternRewriter &rewriter) const override {
    if (!matchPattern(op.getInput(), m_Constant()) ||
        !hasElements(op.getType()))
      return rewriter.notifyMatchFailure(op, "the input is no constant");
    return expandSparseQuantize(rewriter, op);
  }
};

struct FoldDequantize : OpRewritePattern<DequantizeOp> {
  FoldDequantize(MLIRContext *context, int64_t largestResult)
      : OpRewritePattern(context), largestResult(largestResult) {}

  LogicalResult matchAndRewrite(DequantizeOp op,
                                PatternRewriter &rewriter) const override {
    RankedTensorType type = op.getType();
    if (!type.hasStaticShape() || type.getNumElements() > largestResult)
      return rewriter.notifyMatchFailure(op, "the result would be large");
    std::optional<ConstantParts> parts = constantParts(op.getInput());
    if (!parts)
      return rewriter.notifyMatchFailure(op, "the input is no constant");
    ScaledTensorType from = op.getInput().getType(), dense = denseType(from);
    if (from != dense)
      parts = densifyConstant(from, std::move(*parts), dense);
    if (!parts)
      return rewriter.notifyMatchFailure(op, "metadata name no kept elements");
    std::vector<uint32_t> codes =
        dequantizeConstant(dense, *parts, type.getElementType());
    rewriter.replaceOpWithNewOp<arith::ConstantOp>(op, constantOf(type, codes));
    return success();
  }

private:
  /// The tensor with all its elements.
  static ScaledTensorType denseType(ScaledTensorType type) {
    if (!isSparse(type))
      return type;
    ScaleSpec spec = denseForm(type.getSpec().getValue());
    return ScaledTensorType::get(type.getShape(), type.getElementType(),
                                 ScaleSpecAttr::get(type.getContext(), spec),
                                 ScaleLayout::Plain, type.getOrder());
  }

  int64_t largestResult;
};

struct FoldDensify : OpRewritePattern<DensifyOp> {
  using OpRewritePattern::OpRewritePattern;

  LogicalResult matchAndRewrite(DensifyOp op,
                                PatternRewriter &rewriter) const override {
    std::optional<ConstantParts> parts = constantParts(op.getInput());
    if (!parts || !isPlainEnough(op.getType()))
      return rewriter.notifyMatchFailure(op, "the input is no constant");
    parts = densifyConstant(op.getInput().getType(), std::move(*parts),
                            op.getType());
    if (!parts)
      return rewriter.notifyMatchFailure(op, "metadata name no kept elements");
    replaceByConstants(op, op.getType(), *parts, rewriter);
    return success();
  }
};

/// Where codes of zero points are what is 0, or metadata are masks: all else
/// canonicalization does.
struct FoldCompress : OpRewritePattern<CompressOp> {
  using OpRewritePattern::OpRewritePattern;

  LogicalResult matchAndRewrite(CompressOp op,
                                PatternRewriter &rewriter) const override {
    ScaledTensorType type = op.getType();
    std::optional<ConstantParts> parts = constantParts(op.getInput());
    bool isOther = type.getSpec().getValue().zero || sparseForm(type).isMask;
    if (!parts || !isPlainEnough(type) || !isOther)
      return rewriter.notifyMatchFailure(op, "the input is no constant with "
                                             "zero points or a mask");
    parts = compressConstant(op.getInput().getType(), std::move(*parts), type);
    if (!parts)
      return rewriter.notifyMatchFailure(op, "the input breaks the pattern");
    replaceByConstants(op, type, *parts, rewriter);
    return success();
  }
};

struct FoldRelayout : OpRewritePattern<RelayoutOp> {
  using OpRewritePattern::OpRewritePattern;

  LogicalResult matchAndRewrite(RelayoutOp op,
                                PatternRewriter &rewriter) const override {
    std::optional<ConstantParts> parts = constantParts(op.getInput());
    if (!parts || !isPlainEnough(op.getType()))
      return rewriter.notifyMatchFailure(op, "the input is no constant");
    auto source = op.getInput().getDefiningOp<AssembleOp>();
    AssembleOp moved = replaceByConstants(op, op.getType(), *parts, rewriter);
    ScaledTensorType from = source.getType(), to = moved.getType();
    // What stays keeps its padding.
    auto keep = [](MutableOperandRange part, Value value) {
      if (value)
        part.assign(value);
    };
    rewriter.modifyOpInPlace(moved, [&] {
      if (getScaleLayout(from) == getScaleLayout(to)) {
        keep(moved.getScalesMutable(), source.getScales());
        keep(moved.getZerosMutable(), source.getZeros());
      }
      if (from.getLayout() == to.getLayout())
        keep(moved.getMetadataMutable(), source.getMetadata());
    });
    return success();
  }
};

struct FoldConstants : blockscale::impl::FoldConstantsBase<FoldConstants> {
  using FoldConstantsBase::FoldConstantsBase;

  void runOnOperation() override {
    MLIRContext *context = &getContext();
    RewritePatternSet patterns(context);
    patterns.add<FoldQuantize, ExpandConstantQuantize, FoldCompress,
                 FoldDensify, FoldRelayout>(context);
    patterns.add<FoldDequantize>(context, largestResult);
    CompressOp::getCanonicalizationPatterns(patterns, context);
    if (failed(applyPatternsGreedily(getOperation(), std::move(patterns))))
      signalPassFailure();
  }
};
} // namespace
