//===- EpilogueToNVVM.cpp - codes and math of epilogues -------------------===//
//
// Part of the blockscale project, under the Apache License v2.0 with LLVM
// Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Lowering.h"
#include "blockscale/Dialect/Blockscale/IR/BlockscaleErrors.h"
#include "blockscale/HW/Throughput.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/Math/Transforms/Passes.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"

using namespace mlir;
using namespace blockscale;

namespace {
//===----------------------------------------------------------------------===//
// Arrivals
//===----------------------------------------------------------------------===//

struct CountArrivalToNVVM : OpConversionPattern<CountArrivalOp> {
  using OpConversionPattern::OpConversionPattern;

  LogicalResult
  matchAndRewrite(CountArrivalOp op, OpAdaptor adaptor,
                  ConversionPatternRewriter &rewriter) const override {
    ImplicitLocOpBuilder b(op.getLoc(), rewriter);
    Value counters = adaptor.getCounters();
    Value counter =
        LLVM::GEPOp::create(b, counters.getType(), b.getI32Type(), counters,
                            ArrayRef<LLVM::GEPArg>{adaptor.getIndex()});
    // What the other threads wrote is ordered before the atomic by the first
    // barrier, and what they read behind it by the second.
    nvvm::syncThreads(b, kBarrier, op.getThreads());
    auto count = [&](OpBuilder &builder, Location loc) {
      ImplicitLocOpBuilder inside(loc, builder);
      Value largest = inside.createOrFold<arith::SubIOp>(
          adaptor.getCount(), constantI32(inside, 1));
      Value before = nvvm::countUpTo(inside, counter, largest);
      Value isLast = arith::CmpIOp::create(inside, arith::CmpIPredicate::eq,
                                           before, largest);
      scf::YieldOp::create(builder, loc, isLast);
    };
    auto nothing = [&](OpBuilder &builder, Location loc) {
      Value no =
          arith::ConstantIntOp::create(builder, loc, builder.getI1Type(), 0);
      scf::YieldOp::create(builder, loc, no);
    };
    Value isLast =
        scf::IfOp::create(b, adaptor.getArrives(), count, nothing).getResult(0);
    rewriter.replaceOp(
        op, nvvm::syncThreadsAny(b, kBarrier, op.getThreads(), isLast));
    return success();
  }

private:
  /// Barrier 0 is that of all threads of the CTA.
  static constexpr int64_t kBarrier = 1;
};

//===----------------------------------------------------------------------===//
// Codes
//===----------------------------------------------------------------------===//

struct LargestMagnitudeToNVVM : OpConversionPattern<LargestMagnitudeOp> {
  using OpConversionPattern::OpConversionPattern;

  LogicalResult
  matchAndRewrite(LargestMagnitudeOp op, OpAdaptor adaptor,
                  ConversionPatternRewriter &rewriter) const override {
    ImplicitLocOpBuilder b(op.getLoc(), rewriter);
    rewriter.replaceOp(op, nvvm::largestMagnitude(b, adaptor.getValues()));
    return success();
  }
};

struct EncodePairToNVVM : OpConversionPattern<EncodePairOp> {
  using OpConversionPattern::OpConversionPattern;

  LogicalResult
  matchAndRewrite(EncodePairOp op, OpAdaptor adaptor,
                  ConversionPatternRewriter &rewriter) const override {
    ImplicitLocOpBuilder b(op.getLoc(), rewriter);
    rewriter.replaceOp(op, nvvm::encodePair(b, adaptor.getLow(),
                                            adaptor.getHigh(), op.getFormat()));
    return success();
  }
};

struct EncodeWordToNVVM : OpConversionPattern<EncodeWordOp> {
  using OpConversionPattern::OpConversionPattern;

  LogicalResult
  matchAndRewrite(EncodeWordOp op, OpAdaptor adaptor,
                  ConversionPatternRewriter &rewriter) const override {
    ImplicitLocOpBuilder b(op.getLoc(), rewriter);
    rewriter.replaceOp(op, nvvm::encodeWord(b, adaptor.getValues()));
    return success();
  }
};

struct EncodeStochasticToNVVM : OpConversionPattern<EncodeStochasticOp> {
  using OpConversionPattern::OpConversionPattern;

  LogicalResult
  matchAndRewrite(EncodeStochasticOp op, OpAdaptor adaptor,
                  ConversionPatternRewriter &rewriter) const override {
    ImplicitLocOpBuilder b(op.getLoc(), rewriter);
    rewriter.replaceOp(op, nvvm::encodeStochastic(b, adaptor.getValues(),
                                                  adaptor.getRandom(),
                                                  op.getFormat()));
    return success();
  }
};

struct DitherToNVVM : OpConversionPattern<DitherOp> {
  using OpConversionPattern::OpConversionPattern;

  LogicalResult
  matchAndRewrite(DitherOp op, OpAdaptor adaptor,
                  ConversionPatternRewriter &rewriter) const override {
    ImplicitLocOpBuilder b(op.getLoc(), rewriter);
    rewriter.replaceOp(op,
                       nvvm::dither(b, adaptor.getValue(), adaptor.getRandom(),
                                    cast<FloatType>(op.getFormat())));
    return success();
  }
};

/// Two numbers rounded as codes of 4 bits, which LLVM would take through other
/// registers than the byte between.
struct RoundPairToNVVM : OpConversionPattern<DecodePairOp> {
  RoundPairToNVVM(const TypeConverter &converter, MLIRContext *context)
      : OpConversionPattern(converter, context, /*benefit=*/2) {}

  LogicalResult
  matchAndRewrite(DecodePairOp op, OpAdaptor,
                  ConversionPatternRewriter &rewriter) const override {
    auto encode = op.getCodes().getDefiningOp<EncodePairOp>();
    if (!encode || encode.getFormat() != op.getFormat() ||
        !isa<Float4E2M1FNType>(op.getFormat()))
      return rewriter.notifyMatchFailure(op, "not of codes of 4 bits");
    ImplicitLocOpBuilder b(op.getLoc(), rewriter);
    rewriter.replaceOp(
        op, nvvm::roundPair(b, rewriter.getRemappedValue(encode.getLow()),
                            rewriter.getRemappedValue(encode.getHigh())));
    return success();
  }
};

struct DecodePairToNVVM : OpConversionPattern<DecodePairOp> {
  using OpConversionPattern::OpConversionPattern;

  LogicalResult
  matchAndRewrite(DecodePairOp op, OpAdaptor adaptor,
                  ConversionPatternRewriter &rewriter) const override {
    ImplicitLocOpBuilder b(op.getLoc(), rewriter);
    rewriter.replaceOp(op,
                       nvvm::decodePair(b, adaptor.getCodes(), op.getFormat()));
    return success();
  }
};

struct RoundingErrorsToNVVM : OpConversionPattern<RoundingErrorsOp> {
  using OpConversionPattern::OpConversionPattern;

  LogicalResult
  matchAndRewrite(RoundingErrorsOp op, OpAdaptor adaptor,
                  ConversionPatternRewriter &rewriter) const override {
    ImplicitLocOpBuilder b(op.getLoc(), rewriter);
    // The chips whose instructions have pairs also have such of two sizes.
    bool isMixed = hw::multipliesPairs(getTarget(op).chip);
    nvvm::RoundingErrors found =
        nvvm::roundingErrors(b, adaptor.getValues(), op.getFormat(), isMixed);
    rewriter.replaceOp(op, {found.codes, found.errors});
    return success();
  }
};

/// Of one number or two beside each other, which chips take at once or not.
template <typename Op,
          Value (*emit)(ImplicitLocOpBuilder &, Value, Value, bool)>
struct TowardsZeroToNVVM : OpConversionPattern<Op> {
  using OpConversionPattern<Op>::OpConversionPattern;

  LogicalResult
  matchAndRewrite(Op op, typename Op::Adaptor adaptor,
                  ConversionPatternRewriter &rewriter) const override {
    ImplicitLocOpBuilder b(op.getLoc(), rewriter);
    rewriter.replaceOp(op, emit(b, adaptor.getLhs(), adaptor.getRhs(),
                                hw::multipliesPairs(getTarget(op).chip)));
    return success();
  }
};
using AddTowardsZeroToNVVM =
    TowardsZeroToNVVM<AddTowardsZeroOp, nvvm::addTowardsZero>;
using MultiplyTowardsZeroToNVVM =
    TowardsZeroToNVVM<MultiplyTowardsZeroOp, nvvm::multiplyTowardsZero>;

struct AddHalfToNVVM : OpConversionPattern<AddHalfOp> {
  using OpConversionPattern::OpConversionPattern;

  LogicalResult
  matchAndRewrite(AddHalfOp op, OpAdaptor adaptor,
                  ConversionPatternRewriter &rewriter) const override {
    ImplicitLocOpBuilder b(op.getLoc(), rewriter);
    rewriter.replaceOp(op, nvvm::addHalf(b, adaptor.getAddend(), op.getFactor(),
                                         adaptor.getWord(), op.getUpper()));
    return success();
  }
};

//===----------------------------------------------------------------------===//
// Math
//===----------------------------------------------------------------------===//

/// exp(x) = 2^(x log2 e). With `afn` the power is one instruction, ex2.approx;
/// a call to a library would have nothing to link with.
struct ExpToNVVM : OpConversionPattern<math::ExpOp> {
  using OpConversionPattern::OpConversionPattern;

  LogicalResult
  matchAndRewrite(math::ExpOp op, OpAdaptor adaptor,
                  ConversionPatternRewriter &rewriter) const override {
    Type type = op.getType();
    if (!getElementTypeOrSelf(type).isF32())
      return rewriter.notifyMatchFailure(op, "not of f32");
    ImplicitLocOpBuilder b(op.getLoc(), rewriter);
    constexpr float kLog2E = 1.44269504f;
    TypedAttr factor = b.getF32FloatAttr(kLog2E);
    if (auto vector = dyn_cast<VectorType>(type))
      factor = DenseElementsAttr::get(vector, kLog2E);
    Value power = arith::MulFOp::create(b, adaptor.getOperand(),
                                        arith::ConstantOp::create(b, factor));
    rewriter.replaceOpWithNewOp<math::Exp2Op>(op, power,
                                              arith::FastMathFlags::afn);
    return success();
  }
};

/// The power of an epilogue as that one instruction.
struct Exp2ToNVVM : OpConversionPattern<math::Exp2Op> {
  using OpConversionPattern::OpConversionPattern;

  LogicalResult
  matchAndRewrite(math::Exp2Op op, OpAdaptor adaptor,
                  ConversionPatternRewriter &rewriter) const override {
    rewriter.replaceOpWithNewOp<math::Exp2Op>(op, adaptor.getOperand(),
                                              arith::FastMathFlags::afn);
    return success();
  }
};

/// A function that becomes a long chain of arithmetic. Done a few elements at a
/// time its intermediate values stay in registers, which those of a whole row
/// would not.
template <typename Op> struct SplitFunction : OpConversionPattern<Op> {
  static constexpr int64_t kWidth = 4;

  SplitFunction(const TypeConverter &converter, MLIRContext *context)
      : OpConversionPattern<Op>(converter, context, /*benefit=*/2) {}

  LogicalResult
  matchAndRewrite(Op op, typename Op::Adaptor adaptor,
                  ConversionPatternRewriter &rewriter) const override {
    auto type = dyn_cast<VectorType>(op.getType());
    if (!type || type.getRank() != 1 || type.getDimSize(0) <= kWidth ||
        type.getDimSize(0) % kWidth != 0)
      return rewriter.notifyMatchFailure(op, "not several short vectors");
    ImplicitLocOpBuilder b(op.getLoc(), rewriter);
    SmallVector<Value> elements;
    for (int64_t first = 0; first < type.getDimSize(0); first += kWidth) {
      auto indices = llvm::to_vector(llvm::seq(first, first + kWidth));
      Value part = vector::ShuffleOp::create(b, adaptor.getOperand(),
                                             adaptor.getOperand(), indices);
      Value result = Op::create(b, part, op.getFastmath());
      for (int64_t i = 0; i < kWidth; ++i)
        elements.push_back(vector::ExtractOp::create(b, result, i));
    }
    rewriter.template replaceOpWithNewOp<vector::FromElementsOp>(op, type,
                                                                 elements);
    return success();
  }
};
} // namespace

/// Functions that have no instruction: polynomials compute them.
template <typename... Ops>
static void populatePolynomialPatterns(const TypeConverter &converter,
                                       RewritePatternSet &patterns) {
  patterns.add<SplitFunction<Ops>...>(converter, patterns.getContext());
  populateMathPolynomialApproximationPatterns(patterns, [](StringRef name) {
    return ((name == Ops::getOperationName()) || ...);
  });
}

static bool isF32(Operation *op) {
  return getElementTypeOrSelf(op->getResult(0).getType()).isF32();
}

void blockscale::populateEpiloguePatterns(const TypeConverter &converter,
                                          RewritePatternSet &patterns) {
  patterns.add<CountArrivalToNVVM, LargestMagnitudeToNVVM, EncodePairToNVVM,
               EncodeWordToNVVM, EncodeStochasticToNVVM, DitherToNVVM,
               RoundPairToNVVM, DecodePairToNVVM, RoundingErrorsToNVVM,
               AddTowardsZeroToNVVM, MultiplyTowardsZeroToNVVM, AddHalfToNVVM,
               ExpToNVVM, Exp2ToNVVM>(converter, patterns.getContext());
  populatePolynomialPatterns<math::ErfOp, math::ExpM1Op, math::LogOp,
                             math::Log1pOp, math::Log2Op, math::TanhOp>(
      converter, patterns);
}

void blockscale::populateEpilogueLegality(ConversionTarget &target) {
  target.addDynamicallyLegalOp<math::ErfOp, math::ExpOp, math::ExpM1Op,
                               math::LogOp, math::Log1pOp, math::Log2Op,
                               math::TanhOp>(
      [](Operation *op) { return !isF32(op); });
  target.addDynamicallyLegalOp<math::Exp2Op>([](math::Exp2Op op) {
    return !isF32(op) || op.getFastmath() == arith::FastMathFlags::afn;
  });
}
