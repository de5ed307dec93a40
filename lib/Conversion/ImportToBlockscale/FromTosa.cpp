//===- FromTosa.cpp - products of the dialect tosa ------------------------===//
//
// Part of the blockscale project, under the Apache License v2.0 with LLVM
// Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Product.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/Dialect/Tosa/IR/TosaOps.h"
#include "mlir/Dialect/Utils/ReshapeOpsUtils.h"

using namespace mlir;
using namespace blockscale;
using namespace blockscale::importer;

/// Elements that share a scale.
static int64_t blockOf(tosa::BlockSize size) {
  return int64_t(tosa::BlockSizeAttr::getBlockSizeValue(size));
}

/// Tensors that have ranks, with elements that MLIR has types for; `op` is
/// refused otherwise.
static LogicalResult checkTypes(Operation *op, ValueRange values) {
  for (Value value : values) {
    auto type = dyn_cast<RankedTensorType>(value.getType());
    if (!type)
      return op->emitOpError()
             << "has a tensor without a rank, " << value.getType()
             << "; infer the shapes first (tosa-infer-shapes)";
    if (!isa<FloatType>(type.getElementType()))
      return op->emitOpError()
             << "has elements of " << type.getElementType()
             << ", which no instruction multiplies; float elements are taken";
  }
  return success();
}

namespace {
struct ImportMatmul : ImportPattern<tosa::MatmulTBlockScaledOp> {
  using ImportPattern::ImportPattern;

  FailureOr<SmallVector<Value>>
  replacements(tosa::MatmulTBlockScaledOp op,
               ImplicitLocOpBuilder &b) const override {
    if (failed(checkTypes(op, op->getOperands())))
      return failure();
    auto batchOf = [](Value data) {
      return cast<RankedTensorType>(data.getType()).getDimSize(0);
    };
    if (ShapedType::isDynamic(batchOf(op.getBData())) &&
        batchOf(op.getAData()) != 1)
      return op.emitOpError(
          "has an unknown number of matrices in 'b_data': one "
          "serves all of 'a_data', so that it must be static");
    int64_t block = blockOf(op.getBlockSize());
    Product product;
    product.a = {op.getAData(), op.getAScale(), block, /*kFirst=*/false};
    product.b = {op.getBData(), op.getBScale(), block, /*kFirst=*/false};
    product.resultElement = getElementTypeOrSelf(op.getType());
    FailureOr<Value> result = buildProduct(b, op, product);
    if (failed(result))
      return failure();
    // What inferred shapes know and the declared type does not.
    return SmallVector<Value>{tensor::CastOp::create(b, op.getType(), *result)};
  }
};

/// Quantised as a matrix, so that what reads it as one needs no reshape.
struct ImportCastTo : ImportPattern<tosa::CastToBlockScaledOp> {
  using ImportPattern::ImportPattern;

  FailureOr<SmallVector<Value>>
  replacements(tosa::CastToBlockScaledOp op,
               ImplicitLocOpBuilder &b) const override {
    if (failed(checkTypes(op, op->getOperands())) ||
        failed(checkTypes(op, op->getResults())))
      return failure();
    Value input = op.getInputData();
    Value matrix = joinLeading(b, input, 1);
    auto data = cast<RankedTensorType>(matrix.getType())
                    .clone(getElementTypeOrSelf(op.getOutputData()));
    FailureOr<ScaledTensorType> type =
        scaledType(op, cast<RankedTensorType>(data),
                   tileSpec(getElementTypeOrSelf(op.getOutputScale()),
                            blockOf(op.getBlockSize())));
    if (failed(type))
      return failure();
    // The least power of two that saturates nothing (TOSA 1.1).
    Value quantized = QuantizeOp::create(
        b, *type, matrix, /*tensor_scale=*/Value(), /*offsets=*/Value(),
        ScaleRule::RoundUp, ElementRounding::Even, /*seed=*/IntegerAttr());
    auto parts = DisassembleOp::create(b, quantized);
    SmallVector<Value> results;
    for (auto [part, result] : llvm::zip(parts.getParts(), op.getResults()))
      results.push_back(tensor::CastOp::create(
          b, result.getType(), splitLeading(b, part, input, 1)));
    return results;
  }
};

struct ImportCastFrom : ImportPattern<tosa::CastFromBlockScaledOp> {
  using ImportPattern::ImportPattern;

  FailureOr<SmallVector<Value>>
  replacements(tosa::CastFromBlockScaledOp op,
               ImplicitLocOpBuilder &b) const override {
    if (failed(checkTypes(op, op->getOperands())))
      return failure();
    Value input = op.getInputData();
    Value data = joinLeading(b, input, 1);
    Value scales = joinLeading(b, op.getInputScale(), 1);
    FailureOr<ScaledTensorType> type = scaledType(
        op, cast<RankedTensorType>(data.getType()),
        tileSpec(getElementTypeOrSelf(scales), blockOf(op.getBlockSize())));
    if (failed(type))
      return failure();
    Value scaled =
        AssembleOp::create(b, *type, data, scales, Value(), Value(), Value());
    auto plain = RankedTensorType::get(
        type->getShape(), getElementTypeOrSelf(op.getOutputData()));
    Value result = DequantizeOp::create(b, plain, scaled);
    return SmallVector<Value>{tensor::CastOp::create(
        b, op.getType(), splitLeading(b, result, input, 1))};
  }
};

/// A reshape that only joins or cuts dimensions, in an op that folds with ours:
/// of narrow elements or a product's result, or of anything.
struct ImportReshape : OpRewritePattern<tosa::ReshapeOp> {
  ImportReshape(MLIRContext *context, bool isOfAnything)
      : OpRewritePattern(context), isOfAnything(isOfAnything) {}

  LogicalResult matchAndRewrite(tosa::ReshapeOp op,
                                PatternRewriter &rewriter) const override {
    auto from = dyn_cast<RankedTensorType>(op.getInput1().getType());
    auto to = dyn_cast<RankedTensorType>(op.getType());
    if (!from || !to || !from.hasStaticShape() || !to.hasStaticShape() ||
        from.getRank() == to.getRank())
      return rewriter.notifyMatchFailure(op, "joins or cuts no dimensions");
    auto isNarrow = [](Type type) {
      return type.isIntOrFloat() && type.getIntOrFloatBitWidth() <= 8;
    };
    auto split = op.getInput1().getDefiningOp<tensor::ExpandShapeOp>();
    bool isResult = split && split.getSrc().getDefiningOp<MatmulOp>();
    if (!isOfAnything && !isNarrow(from.getElementType()) && !isResult)
      return rewriter.notifyMatchFailure(op, "is not next to a product");
    auto groups = getReassociationIndicesForReshape(from, to);
    if (!groups)
      return rewriter.notifyMatchFailure(op, "joins or cuts no dimensions");
    if (from.getRank() > to.getRank())
      rewriter.replaceOpWithNewOp<tensor::CollapseShapeOp>(
          op, to, op.getInput1(), *groups);
    else
      rewriter.replaceOpWithNewOp<tensor::ExpandShapeOp>(op, to, op.getInput1(),
                                                         *groups);
    return success();
  }

  bool isOfAnything;
};
} // namespace

void importer::populateTosaPatterns(RewritePatternSet &patterns,
                                    bool &refused) {
  patterns.add<ImportMatmul, ImportCastTo, ImportCastFrom>(
      patterns.getContext(), refused);
}

void importer::populateTosaTailPatterns(RewritePatternSet &patterns) {
  patterns.add<ImportReshape>(patterns.getContext(), /*isOfAnything=*/false);
}

void importer::populateReshapePatterns(RewritePatternSet &patterns) {
  patterns.add<ImportReshape>(patterns.getContext(), /*isOfAnything=*/true);
}
