//===- Product.h - a product as its producer wrote it -----------*- C++ -*-===//
//
// Part of the blockscale project, under the Apache License v2.0 with LLVM
// Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// What all producers mean, and the ops of ours that say it. Each producer has a
// file that fills in a Product.
//
//===----------------------------------------------------------------------===//

#ifndef BLOCKSCALE_LIB_CONVERSION_IMPORTTOBLOCKSCALE_PRODUCT_H
#define BLOCKSCALE_LIB_CONVERSION_IMPORTTOBLOCKSCALE_PRODUCT_H

#include "blockscale/Dialect/Blockscale/IR/Blockscale.h"
#include "mlir/IR/ImplicitLocOpBuilder.h"
#include "mlir/IR/PatternMatch.h"

namespace blockscale::importer {

/// One side of a product.
struct Operand {
  /// [rows, K], with a batch dimension in front if there are three.
  mlir::Value data;
  /// One for each tile: [rows / rowBlock, K / block]; null if there are none.
  mlir::Value scales;
  /// Elements of K that share a scale; 0 for all of them.
  int64_t block = 0;
  /// Data and scales have K (or its blocks) before the rows.
  bool kFirst = false;
  /// Rows that share a scale; 0 for all of them.
  int64_t rowBlock = 1;
  /// What is subtracted from the elements of each tile; null for nothing.
  mlir::Value zeros = {};
  /// The data are unsigned integers.
  bool isUnsigned = false;
};

/// alpha * sum_k a[m, k] * b[n, k] + c[m, n].
struct Product {
  Operand a, b;
  /// An f32 over all; null for 1.
  mlir::Value alpha;
  /// Of the result's shape; null for none.
  mlir::Value c;
  /// f32, bf16 or f16.
  mlir::Type resultElement;
};

/// The product in our ops, [M, N] or [batch, M, N] as its operands are; an
/// error at `op` where the operands contradict each other or the dialect cannot
/// say it. A batch of one on the side of `b` serves all of `a`.
mlir::FailureOr<mlir::Value> buildProduct(mlir::ImplicitLocOpBuilder &b,
                                          mlir::Operation *op,
                                          const Product &product);

/// Whether elements are floats of up to 8 bits.
bool isNarrowFloat(mlir::Value value);

/// Whether products give such elements.
bool isResultElement(mlir::Type element);

/// A scale of type `scales` for each `rowBlock` rows of `block` elements of K,
/// 0 for all of either, with a zero point of type `zeros` if that is not null.
/// The reason where no spec says that.
Result<ScaleSpec> tileSpec(mlir::Type scales, int64_t block,
                           int64_t rowBlock = 1, mlir::Type zeros = {});

/// The type of plain data, as they lie in memory, with such scales; an error at
/// `op` where there is none.
mlir::FailureOr<ScaledTensorType>
scaledType(mlir::Operation *op, mlir::RankedTensorType data,
           const Result<ScaleSpec> &spec, DataOrder order = DataOrder::KMajor,
           bool isUnsigned = false);

/// The elements as the dialect says whether they have a sign.
mlir::Type elementType(mlir::Type element, bool isUnsigned);

/// `value` with its dimensions in this order; itself if they are.
mlir::Value transpose(mlir::ImplicitLocOpBuilder &b, mlir::Value value,
                      llvm::ArrayRef<int64_t> order);

/// The order that exchanges the last two of `rank` dimensions.
llvm::SmallVector<int64_t> exchangeLast(int64_t rank);

/// `value` with all dimensions before the last `kept` as one (of size 1 where
/// there are none).
mlir::Value joinLeading(mlir::ImplicitLocOpBuilder &b, mlir::Value value,
                        int64_t kept);

/// The inverse: the first dimension of `value` cut as the leading ones of
/// `like` are, all but the last `kept`.
mlir::Value splitLeading(mlir::ImplicitLocOpBuilder &b, mlir::Value value,
                         mlir::Value like, int64_t kept);

/// A pattern that is applied once to each op. What it cannot import although it
/// is a block-scaled product it reports and notes in `refused`.
template <typename OpTy> struct ImportPattern : mlir::OpRewritePattern<OpTy> {
  ImportPattern(mlir::MLIRContext *context, bool &refused)
      : mlir::OpRewritePattern<OpTy>(context), refused(refused) {}

  /// The ops of ours that mean `op`, in place of its results; an error where
  /// there are none. Null results: `op` is no such product.
  virtual mlir::FailureOr<llvm::SmallVector<mlir::Value>>
  replacements(OpTy op, mlir::ImplicitLocOpBuilder &b) const = 0;

  mlir::LogicalResult
  matchAndRewrite(OpTy op, mlir::PatternRewriter &rewriter) const override {
    mlir::ImplicitLocOpBuilder b(op->getLoc(), rewriter);
    auto results = replacements(op, b);
    if (failed(results))
      refused = true;
    if (failed(results) || results->empty())
      return mlir::failure();
    rewriter.replaceOp(op, *results);
    return mlir::success();
  }

  bool &refused;
};

void populateTosaPatterns(mlir::RewritePatternSet &patterns, bool &refused);
void populateLinalgPatterns(mlir::RewritePatternSet &patterns, bool &refused);
/// Whether an op is a block-scaled product of StableHLO.
bool isScaledDot(mlir::Operation *op);
/// Whether there are products of StableHLO and, before them, elements of up to
/// 8 bits that become floats.
bool hasDequantizedDot(mlir::Operation *root);
/// Whether an op is JAX's product of groups of rows.
bool isRaggedDot(mlir::Operation *op);
/// Such a product in our ops; an error at `op` where it is none that they say.
mlir::FailureOr<mlir::Value> raggedDot(mlir::ImplicitLocOpBuilder &b,
                                       mlir::Operation *op);
void populateStablehloPatterns(mlir::RewritePatternSet &patterns,
                               bool &refused);
/// The mark of products that this run of the pass made.
inline constexpr llvm::StringLiteral kImported = "blockscale.imported";

/// What follows such a product and can become a part of it: conversions of its
/// result, a row vector that is added, a number that is a factor.
void populateTailPatterns(mlir::RewritePatternSet &patterns);
void populateTosaTailPatterns(mlir::RewritePatternSet &patterns);

/// Says TOSA's elementwise ops behind products, and changes of shape between
/// them, as epilogues are found in.
mlir::LogicalResult lowerTosaBehindProducts(mlir::Operation *root);
/// Reshapes of TOSA, of anything, that join or cut known dimensions.
void populateReshapePatterns(mlir::RewritePatternSet &patterns);

} // namespace blockscale::importer

#endif // BLOCKSCALE_LIB_CONVERSION_IMPORTTOBLOCKSCALE_PRODUCT_H
