//===- EpilogueToNVVM.cpp - rows of global memory and math ----------------===//
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
#include "llvm/Support/MathExtras.h"

using namespace mlir;
using namespace blockscale;

//===----------------------------------------------------------------------===//
// Rows
//===----------------------------------------------------------------------===//

/// The widest access of one thread in bytes.
static constexpr int64_t kAccessBytes = 16;

namespace {
/// The elements of a row that one thread reads or writes. There are two ways:
/// all of them at once, or each one that is inside.
class Row {
public:
  Row(ImplicitLocOpBuilder &b, VectorType type, Value memory, Value offset,
      Value count, Value stride, bool isAligned)
      : b(b), type(type), count(count), stride(stride), isAligned(isAligned),
        first(step(memory, offset)) {}

  Value load();
  void store(Value values);

private:
  int64_t size() const { return type.getDimSize(0); }
  int64_t bytes() const { return size() * type.getElementTypeBitWidth() / 8; }
  /// Bytes of one access to the whole row, and the alignment that it needs.
  int64_t accessBytes() const { return std::min(kAccessBytes, bytes()); }

  /// The pointer `elements` behind `from`.
  Value step(Value from, Value elements) {
    return LLVM::GEPOp::create(b, from.getType(), type.getElementType(), from,
                               ArrayRef<LLVM::GEPArg>{elements});
  }
  Value step(Value from, int32_t elements) {
    return LLVM::GEPOp::create(b, from.getType(), type.getElementType(), from,
                               ArrayRef<LLVM::GEPArg>{elements});
  }
  /// Calls `access` with each index and pointer. A pointer is made where it is
  /// used: all of them at once would take two registers each.
  void forEach(llvm::function_ref<void(int64_t, Value)> access);
  /// Whether element `index` is inside.
  Value isInside(int64_t index) {
    return arith::CmpIOp::create(b, arith::CmpIPredicate::sgt, count,
                                 constantI32(b, index));
  }
  /// Whether all elements are inside and, without a stride, aligned; null if
  /// the row cannot be accessed at once.
  Value isWhole();

  Value loadElement(Value pointer) {
    return LLVM::LoadOp::create(b, type.getElementType(), pointer);
  }
  Value loadWhole();
  Value loadInside();
  void storeWhole(Value values);
  void storeInside(Value values);

  ImplicitLocOpBuilder &b;
  VectorType type;
  Value count, stride;
  bool isAligned;
  Value first;
};
} // namespace

void Row::forEach(llvm::function_ref<void(int64_t, Value)> access) {
  Value pointer = first;
  for (int32_t i = 0; i < size(); ++i) {
    if (i > 0)
      pointer = stride ? step(pointer, stride) : step(first, i);
    access(i, pointer);
  }
}

Value Row::isWhole() {
  bool fits = size() > 1 && llvm::isPowerOf2_64(accessBytes()) &&
              bytes() % accessBytes() == 0;
  if (!stride && !fits)
    return {};
  Value whole = isInside(size() - 1);
  if (stride)
    return whole;
  Type i64 = b.getI64Type();
  Value address = LLVM::PtrToIntOp::create(b, i64, first);
  Value rest = arith::AndIOp::create(
      b, address, arith::ConstantIntOp::create(b, i64, accessBytes() - 1));
  Value aligned =
      arith::CmpIOp::create(b, arith::CmpIPredicate::eq, rest,
                            arith::ConstantIntOp::create(b, i64, 0));
  return arith::AndIOp::create(b, whole, aligned);
}

Value Row::loadWhole() {
  if (!stride)
    return LLVM::LoadOp::create(b, type, first, accessBytes());
  SmallVector<Value> elements;
  forEach([&](int64_t, Value pointer) {
    elements.push_back(loadElement(pointer));
  });
  return vector::FromElementsOp::create(b, type, elements);
}

Value Row::loadInside() {
  Type elementType = type.getElementType();
  Value zero = arith::ConstantOp::create(b, b.getZeroAttr(elementType));
  SmallVector<Value> elements;
  forEach([&](int64_t index, Value pointer) {
    auto condition =
        scf::IfOp::create(b, TypeRange{elementType}, isInside(index),
                          /*withElseRegion=*/true);
    OpBuilder::InsertionGuard guard(b);
    b.setInsertionPointToStart(condition.thenBlock());
    scf::YieldOp::create(b, loadElement(pointer));
    b.setInsertionPointToStart(condition.elseBlock());
    scf::YieldOp::create(b, zero);
    elements.push_back(condition.getResult(0));
  });
  return vector::FromElementsOp::create(b, type, elements);
}

void Row::storeWhole(Value values) {
  if (!stride) {
    LLVM::StoreOp::create(b, values, first, accessBytes());
    return;
  }
  forEach([&](int64_t index, Value pointer) {
    LLVM::StoreOp::create(b, vector::ExtractOp::create(b, values, index),
                          pointer);
  });
}

void Row::storeInside(Value values) {
  forEach([&](int64_t index, Value pointer) {
    auto condition = scf::IfOp::create(b, isInside(index));
    OpBuilder::InsertionGuard guard(b);
    b.setInsertionPointToStart(condition.thenBlock());
    LLVM::StoreOp::create(b, vector::ExtractOp::create(b, values, index),
                          pointer);
  });
}

Value Row::load() {
  if (isAligned)
    return loadWhole();
  Value whole = isWhole();
  if (!whole)
    return loadInside();
  auto condition = scf::IfOp::create(b, TypeRange{type}, whole,
                                     /*withElseRegion=*/true);
  OpBuilder::InsertionGuard guard(b);
  b.setInsertionPointToStart(condition.thenBlock());
  scf::YieldOp::create(b, loadWhole());
  b.setInsertionPointToStart(condition.elseBlock());
  scf::YieldOp::create(b, loadInside());
  return condition.getResult(0);
}

void Row::store(Value values) {
  if (isAligned)
    return storeWhole(values);
  Value whole = isWhole();
  if (!whole)
    return storeInside(values);
  auto condition = scf::IfOp::create(b, whole, /*withElseRegion=*/true);
  OpBuilder::InsertionGuard guard(b);
  b.setInsertionPointToStart(condition.thenBlock());
  storeWhole(values);
  b.setInsertionPointToStart(condition.elseBlock());
  storeInside(values);
}

namespace {
struct LoadRowToNVVM : OpConversionPattern<LoadRowOp> {
  using OpConversionPattern::OpConversionPattern;

  LogicalResult
  matchAndRewrite(LoadRowOp op, OpAdaptor adaptor,
                  ConversionPatternRewriter &rewriter) const override {
    ImplicitLocOpBuilder b(op.getLoc(), rewriter);
    // LLVM has no floats of 8 bits: they are its bytes.
    VectorType type = op.getType(), loaded = type;
    if (type.getElementTypeBitWidth() == 8)
      loaded = type.clone(b.getI8Type());
    Row row(b, loaded, adaptor.getSource(), adaptor.getOffset(),
            adaptor.getCount(), adaptor.getStride(), op.getAligned());
    Value value = row.load();
    if (loaded != type)
      value = arith::BitcastOp::create(b, type, value);
    rewriter.replaceOp(op, value);
    return success();
  }
};

struct StoreRowToNVVM : OpConversionPattern<StoreRowOp> {
  using OpConversionPattern::OpConversionPattern;

  LogicalResult
  matchAndRewrite(StoreRowOp op, OpAdaptor adaptor,
                  ConversionPatternRewriter &rewriter) const override {
    ImplicitLocOpBuilder b(op.getLoc(), rewriter);
    Row row(b, op.getValue().getType(), adaptor.getTarget(),
            adaptor.getOffset(), adaptor.getCount(), adaptor.getStride(),
            op.getAligned());
    row.store(adaptor.getValue());
    rewriter.eraseOp(op);
    return success();
  }
};

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
  patterns.add<LoadRowToNVVM, StoreRowToNVVM, CountArrivalToNVVM,
               LargestMagnitudeToNVVM, EncodePairToNVVM, EncodeWordToNVVM,
               EncodeStochasticToNVVM, DitherToNVVM, RoundPairToNVVM,
               DecodePairToNVVM, RoundingErrorsToNVVM, AddTowardsZeroToNVVM,
               MultiplyTowardsZeroToNVVM, AddHalfToNVVM, ExpToNVVM, Exp2ToNVVM>(
      converter, patterns.getContext());
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
