//===- ExpandFP4.cpp - narrow floats as integers --------------------------===//
//
// Part of the blockscale project, under the Apache License v2.0 with LLVM
// Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "blockscale/Conversion/BlockscaleToLinalg/Passes.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Math/IR/Math.h"
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
/// The bits of numbers, or of each of a vector, and constants like them.
class Elementwise {
protected:
  /// `like` says whether they are numbers or vectors, and of what shape.
  Elementwise(ImplicitLocOpBuilder &builder, Type like, FloatType narrow)
      : b(builder), like(like), type(narrow),
        semantics(type.getFloatSemantics()),
        fraction(APFloat::semanticsPrecision(semantics) - 1),
        sign(uint64_t(1) << (type.getWidth() - 1)) {}

  static constexpr uint64_t kNaN = 0x7fc00000, kInfinity = 0x7f800000;
  static constexpr unsigned kFraction = 23;
  static constexpr int kBias = 127;

  static uint64_t codeOf(const APFloat &number) {
    return number.bitcastToAPInt().getZExtValue();
  }
  uint64_t largest() const { return codeOf(APFloat::getLargest(semantics)); }
  /// Whether the code of a negative zero is the NaN.
  bool isNegativeZeroNaN() const {
    return APFloat::semanticsHasNaN(semantics) &&
           codeOf(APFloat::getQNaN(semantics)) == sign;
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
  Value toBits(Value number) {
    return arith::BitcastOp::create(b, of(b.getI32Type()), number);
  }
  Value toNumber(Value bits) {
    return arith::BitcastOp::create(b, of(b.getF32Type()), bits);
  }
  /// `then` where `value` compares so with `with`, else `other`.
  Value replaced(Value other, arith::CmpIPredicate how, Value value,
                 uint64_t with, uint64_t then) {
    Value is = arith::CmpIOp::create(b, how, value, integer(with));
    return arith::SelectOp::create(b, is, integer(then), other);
  }

  ImplicitLocOpBuilder &b;
  Type like;
  FloatType type;
  const llvm::fltSemantics &semantics;
  unsigned fraction;
  uint64_t sign;
};

/// The steps from a code to an f32. A magnitude is one of f32 but for the bias,
/// subnormals too.
class Widener : Elementwise {
public:
  Widener(ImplicitLocOpBuilder &builder, Value narrow)
      : Elementwise(builder, narrow.getType(),
                    cast<FloatType>(getElementTypeOrSelf(narrow.getType()))) {
    Value bits = arith::BitcastOp::create(
        b, of(b.getIntegerType(type.getWidth())), narrow);
    code = arith::ExtUIOp::create(b, of(b.getI32Type()), bits);
  }

  Value run() {
    using arith::CmpIPredicate;
    Value magnitude = arith::AndIOp::create(b, code, integer(sign - 1));
    Value wide = toBits(finite(magnitude));
    if (largest() + 1 < sign)
      wide = replaced(wide, CmpIPredicate::ugt, magnitude, largest(), kNaN);
    if (APFloat::semanticsHasInf(semantics))
      wide = replaced(wide, CmpIPredicate::eq, magnitude,
                      codeOf(APFloat::getInf(semantics)), kInfinity);
    Value signs = arith::AndIOp::create(b, code, integer(sign));
    signs = arith::ShLIOp::create(b, signs, integer(32 - type.getWidth()));
    wide = arith::OrIOp::create(b, wide, signs);
    if (isNegativeZeroNaN())
      wide = replaced(wide, CmpIPredicate::eq, code, sign, kNaN);
    return toNumber(wide);
  }

private:
  Value finite(Value magnitude) {
    Value moved =
        arith::ShLIOp::create(b, magnitude, integer(kFraction - fraction));
    int missing = APFloat::semanticsMinExponent(semantics) + kBias - 1;
    return arith::MulFOp::create(
        b, toNumber(moved),
        constant(b.getF32FloatAttr(std::ldexp(1.0f, missing))));
  }

  Value code;
};

/// The steps from an f32 to a code, to nearest, ties to even.
class Narrower : Elementwise {
public:
  Narrower(ImplicitLocOpBuilder &builder, Value wide, FloatType narrow)
      : Elementwise(builder, wide.getType(), narrow), raw(toBits(wide)) {}

  Value run() {
    using arith::CmpIPredicate;
    Value magnitude = arith::AndIOp::create(b, raw, integer(kSign - 1));
    Value code = rounded(magnitude);
    code = replaced(code, CmpIPredicate::ugt, code, largest(), beyond());
    Value signs =
        arith::ShLIOp::create(b, arith::ShRUIOp::create(b, raw, integer(31)),
                              integer(type.getWidth() - 1));
    if (isNegativeZeroNaN())
      signs = replaced(signs, CmpIPredicate::eq, code, 0, 0);
    code = arith::OrIOp::create(b, code, signs);
    code = replaced(code, CmpIPredicate::ugt, magnitude, kInfinity, nan());
    Type bits = of(b.getIntegerType(type.getWidth()));
    return arith::BitcastOp::create(b, of(type),
                                    arith::TruncIOp::create(b, bits, code));
  }

private:
  static constexpr uint64_t kSign = 0x80000000;

  /// The code of a magnitude, if the type had as many exponents as f32; its
  /// largest finite one stands for an infinity.
  Value rounded(Value magnitude) {
    int smallest = APFloat::semanticsMinExponent(semantics) + kBias;
    Value finite = arith::MinUIOp::create(b, magnitude, integer(kInfinity - 1));
    Value exponent = arith::ShRUIOp::create(b, finite, integer(kFraction));
    exponent = arith::MaxUIOp::create(b, exponent, integer(smallest));
    // In units of the last place: times 2^(fraction - exponent). Adding 2^23
    // rounds it to an integer, which then stands in the low bits.
    Value inverse = arith::ShLIOp::create(
        b, arith::SubIOp::create(b, integer(2 * kBias + fraction), exponent),
        integer(kFraction));
    Value units = arith::MulFOp::create(b, toNumber(finite), toNumber(inverse));
    Value far =
        arith::AddFOp::create(b, units, constant(b.getF32FloatAttr(0x1p23f)));
    Value count = arith::SubIOp::create(b, toBits(far),
                                        integer((kBias + 23) << kFraction));
    // A carry into the next binade is right as it is.
    Value binade = arith::SubIOp::create(b, exponent, integer(smallest));
    Value base = arith::ShLIOp::create(b, binade, integer(fraction));
    return arith::AddIOp::create(b, base, count);
  }
  /// What becomes of what is too large, without a sign: as of APFloat.
  uint64_t beyond() const {
    return APFloat::semanticsHasInf(semantics)
               ? codeOf(APFloat::getInf(semantics))
               : nan();
  }
  /// Formats without a NaN take the largest value for it.
  uint64_t nan() const {
    return APFloat::semanticsHasNaN(semantics)
               ? codeOf(APFloat::getQNaN(semantics))
               : largest();
  }

  Value raw;
};

/// Upstream expands conversions of f8E8M0FNU.
static bool isNarrow(FloatType type) {
  return type.getWidth() <= 8 && !isa<Float8E8M0FNUType>(type);
}

/// The f64 `wide` in f32 such that rounding it once more, to fewer bits, gives
/// what rounding once does: what is cut off is in the last bit.
static Value roundToOdd(ImplicitLocOpBuilder &b, Value wide, Type single) {
  Type bits = b.getI32Type();
  if (auto shaped = dyn_cast<ShapedType>(single))
    bits = shaped.clone(bits);
  auto magnitude = [&](Value value) -> Value {
    return math::AbsFOp::create(b, value);
  };
  Value nearest = arith::TruncFOp::create(b, single, wide);
  Value again = arith::ExtFOp::create(b, wide.getType(), nearest);
  Value isAbove = arith::CmpFOp::create(b, arith::CmpFPredicate::OGT,
                                        magnitude(again), magnitude(wide));
  Value isOther =
      arith::CmpFOp::create(b, arith::CmpFPredicate::ONE, again, wide);
  Value raw = arith::BitcastOp::create(b, bits, nearest);
  Value below =
      arith::SubIOp::create(b, raw, arith::ExtUIOp::create(b, bits, isAbove));
  Value odd =
      arith::OrIOp::create(b, below, arith::ExtUIOp::create(b, bits, isOther));
  return arith::BitcastOp::create(b, single, odd);
}

struct RoundToNarrow : OpRewritePattern<arith::TruncFOp> {
  using OpRewritePattern::OpRewritePattern;

  LogicalResult matchAndRewrite(arith::TruncFOp op,
                                PatternRewriter &rewriter) const override {
    auto narrow = cast<FloatType>(getElementTypeOrSelf(op.getType()));
    auto source = cast<FloatType>(getElementTypeOrSelf(op.getIn().getType()));
    if (!isNarrow(narrow) || source.getWidth() > 64 ||
        isa<TensorType>(op.getType()))
      return rewriter.notifyMatchFailure(op, "is another conversion");
    if (op.getRoundingmode().value_or(arith::RoundingMode::to_nearest_even) !=
        arith::RoundingMode::to_nearest_even)
      return rewriter.notifyMatchFailure(op, "rounds otherwise");
    ImplicitLocOpBuilder b(op.getLoc(), rewriter);
    Type single = b.getF32Type();
    if (auto shaped = dyn_cast<ShapedType>(op.getType()))
      single = shaped.clone(single);
    Value value = op.getIn();
    if (source.isF64())
      value = roundToOdd(b, value, single);
    else if (!source.isF32())
      value = arith::ExtFOp::create(b, single, value);
    rewriter.replaceOp(op, Narrower(b, value, narrow).run());
    return success();
  }
};

/// Extensions of floats of 8 and 6 bits, which LLVM has no types for; upstream
/// expands those of f4E2M1FN and f8E8M0FNU.
struct WidenNarrow : OpRewritePattern<arith::ExtFOp> {
  using OpRewritePattern::OpRewritePattern;

  LogicalResult matchAndRewrite(arith::ExtFOp op,
                                PatternRewriter &rewriter) const override {
    auto narrow = cast<FloatType>(getElementTypeOrSelf(op.getIn().getType()));
    if (!isNarrow(narrow) || isa<TensorType>(op.getType()) ||
        isa<Float4E2M1FNType>(narrow))
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
    patterns.add<RoundToNarrow, WidenNarrow>(&getContext());
    if (failed(applyPatternsGreedily(getOperation(), std::move(patterns))))
      signalPassFailure();
  }
};
} // namespace
