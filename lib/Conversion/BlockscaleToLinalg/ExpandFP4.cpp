//===- ExpandFP4.cpp - narrow floats as integers --------------------------===//
//
// Part of the blockscale project, under the Apache License v2.0 with LLVM
// Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Numbers.h"
#include "blockscale/Conversion/BlockscaleToLinalg/Passes.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/IR/ImplicitLocOpBuilder.h"
#include "mlir/IR/TypeUtilities.h"
#include "mlir/Transforms/GreedyPatternRewriteDriver.h"

#include <cmath>

namespace blockscale {
#define GEN_PASS_DEF_EXPANDFP4
#include "blockscale/Conversion/BlockscaleToLinalg/Passes.h.inc"
} // namespace blockscale

using namespace mlir;
using namespace blockscale;

namespace {
struct RoundToFP4 : OpRewritePattern<arith::TruncFOp> {
  using OpRewritePattern::OpRewritePattern;

  LogicalResult matchAndRewrite(arith::TruncFOp op,
                                PatternRewriter &rewriter) const override {
    if (!isa<Float4E2M1FNType>(op.getType()) ||
        op.getIn().getType().getIntOrFloatBitWidth() > 32)
      return rewriter.notifyMatchFailure(op, "is another conversion");
    Emitter e(op.getLoc(), rewriter);
    rewriter.replaceOp(op, encode(e, e.widen(op.getIn()), op.getType()));
    return success();
  }
};

/// The steps from a code to an f32, of a number or of each of a vector. A
/// magnitude is one of f32 but for the bias, subnormals too.
class Widener {
public:
  Widener(ImplicitLocOpBuilder &builder, Value narrow)
      : b(builder), like(narrow.getType()),
        type(cast<FloatType>(getElementTypeOrSelf(narrow.getType()))),
        sign(uint64_t(1) << (type.getWidth() - 1)) {
    Value bits = arith::BitcastOp::create(
        b, of(b.getIntegerType(type.getWidth())), narrow);
    code = arith::ExtUIOp::create(b, of(b.getI32Type()), bits);
  }

  Value run() {
    const llvm::fltSemantics &semantics = type.getFloatSemantics();
    Value magnitude = arith::AndIOp::create(b, code, integer(sign - 1));
    wide = arith::BitcastOp::create(b, of(b.getI32Type()), finite(magnitude));
    uint64_t largest = codeOf(APFloat::getLargest(semantics));
    if (largest + 1 < sign)
      replace(arith::CmpIPredicate::ugt, magnitude, largest, kNaN);
    if (APFloat::semanticsHasInf(semantics))
      replace(arith::CmpIPredicate::eq, magnitude,
              codeOf(APFloat::getInf(semantics)), kInfinity);
    Value signs = arith::AndIOp::create(b, code, integer(sign));
    signs = arith::ShLIOp::create(b, signs, integer(32 - type.getWidth()));
    wide = arith::OrIOp::create(b, wide, signs);
    // Where there is no negative zero its code is the NaN.
    if (APFloat::semanticsHasNaN(semantics) &&
        codeOf(APFloat::getQNaN(semantics)) == sign)
      replace(arith::CmpIPredicate::eq, code, sign, kNaN);
    return arith::BitcastOp::create(b, of(b.getF32Type()), wide);
  }

private:
  static constexpr uint64_t kNaN = 0x7fc00000, kInfinity = 0x7f800000;

  static uint64_t codeOf(const APFloat &number) {
    return number.bitcastToAPInt().getZExtValue();
  }
  Type of(Type element) const {
    if (auto shaped = dyn_cast<ShapedType>(like))
      return shaped.clone(element);
    return element;
  }
  Value constant(TypedAttr value) {
    if (auto shaped = dyn_cast<ShapedType>(of(value.getType())))
      value = DenseElementsAttr::get(shaped, Attribute(value));
    return arith::ConstantOp::create(b, value);
  }
  Value integer(uint64_t number) {
    return constant(b.getI32IntegerAttr(static_cast<int32_t>(number)));
  }

  Value finite(Value magnitude) {
    const llvm::fltSemantics &semantics = type.getFloatSemantics();
    constexpr unsigned kFraction = 23;
    constexpr int kLeastExponent = -126;
    unsigned fraction = APFloat::semanticsPrecision(semantics) - 1;
    Value moved =
        arith::ShLIOp::create(b, magnitude, integer(kFraction - fraction));
    Value number = arith::BitcastOp::create(b, of(b.getF32Type()), moved);
    int missing = APFloat::semanticsMinExponent(semantics) - kLeastExponent;
    return arith::MulFOp::create(
        b, number, constant(b.getF32FloatAttr(std::ldexp(1.0f, missing))));
  }

  /// `then` where `value` compares so with `with`.
  void replace(arith::CmpIPredicate how, Value value, uint64_t with,
               uint64_t then) {
    Value is = arith::CmpIOp::create(b, how, value, integer(with));
    wide = arith::SelectOp::create(b, is, integer(then), wide);
  }

  ImplicitLocOpBuilder &b;
  Type like;
  FloatType type;
  uint64_t sign;
  Value code, wide;
};

/// Extensions of floats of 8 and 6 bits, which LLVM has no types for; upstream
/// expands those of f4E2M1FN and f8E8M0FNU.
struct WidenNarrow : OpRewritePattern<arith::ExtFOp> {
  using OpRewritePattern::OpRewritePattern;

  LogicalResult matchAndRewrite(arith::ExtFOp op,
                                PatternRewriter &rewriter) const override {
    auto narrow = cast<FloatType>(getElementTypeOrSelf(op.getIn().getType()));
    if (narrow.getWidth() > 8 || isa<TensorType>(op.getType()) ||
        isa<Float4E2M1FNType, Float8E8M0FNUType>(narrow))
      return rewriter.notifyMatchFailure(op, "is another conversion");
    ImplicitLocOpBuilder b(op.getLoc(), rewriter);
    Value wide = Widener(b, op.getIn()).run();
    Type element = getElementTypeOrSelf(op.getType());
    if (element.isF64())
      wide = arith::ExtFOp::create(b, op.getType(), wide);
    else if (!element.isF32())
      wide = arith::TruncFOp::create(b, op.getType(), wide);
    rewriter.replaceOp(op, wide);
    return success();
  }
};

struct ExpandFP4 : blockscale::impl::ExpandFP4Base<ExpandFP4> {
  using ExpandFP4Base::ExpandFP4Base;

  void runOnOperation() override {
    RewritePatternSet patterns(&getContext());
    patterns.add<RoundToFP4, WidenNarrow>(&getContext());
    if (failed(applyPatternsGreedily(getOperation(), std::move(patterns))))
      signalPassFailure();
  }
};
} // namespace
