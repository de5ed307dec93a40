//===- FromLinalg.cpp - products written in linalg ------------------------===//
//
// Part of the blockscale project, under the Apache License v2.0 with LLVM
// Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

// An op of linalg that adds up is a block-scaled product if what it adds are
// products of two tensors that change along all summed dimensions, the data,
// and for one of them or both one that changes less often, its scales. Where
// the factors are multiplied, in the op or before it, makes no difference.
//
// Narrow floats with scales of both sides are always taken, and refused where
// the dialect has no such product. All else that this file finds, such as
// integers, or bf16 beside them, is taken where a kernel multiplies it and left
// to the host where none does.

#include "Contraction.h"
#include "Product.h"
#include "blockscale/Dialect/Blockscale/IR/Promotion.h"
#include "blockscale/Dialect/Blockscale/IR/StoredElements.h"
#include "blockscale/HW/Mma.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/IR/Matchers.h"

using namespace mlir;
using namespace blockscale;
using namespace blockscale::importer;

//===----------------------------------------------------------------------===//
// Which factor is what
//===----------------------------------------------------------------------===//

/// Elements of up to 8 bits, or those of 16 that are multiplied beside them.
static bool isElement(Value value) {
  Type type = getElementTypeOrSelf(value);
  constexpr unsigned kByte = 8;
  return type.isBF16() || type.isF16() ||
         (type.isIntOrFloat() && type.getIntOrFloatBitWidth() <= kByte);
}

/// Whether a factor changes with the loop, or with parts of its range.
static bool depends(const Factor &factor, unsigned loop) {
  return llvm::any_of(factor.places,
                      [&](Place place) { return place.loop == loop; });
}

static bool dependsFully(const Factor &factor, unsigned loop) {
  return llvm::any_of(factor.places, [&](Place place) {
    return place.loop == loop && place.divisor == 1;
  });
}

static bool isReduction(linalg::LinalgOp op, unsigned loop) {
  return op.getIteratorTypesArray()[loop] == utils::IteratorType::reduction;
}

/// Whether two dimensions of a factor run with one loop, as on a diagonal.
static bool repeatsLoop(const Factor &factor) {
  llvm::SmallDenseSet<unsigned> loops;
  return llvm::any_of(factor.places, [&](Place place) {
    return !loops.insert(place.loop).second;
  });
}

/// Gives scales or zero points to the side with the rows of which they change.
static LogicalResult assign(const Factor &factor, Contraction &product) {
  auto belongs = [&](const Factor &data) {
    return llvm::all_of(factor.places,
                        [&](Place place) { return depends(data, place.loop); });
  };
  bool ofA = belongs(product.a.data), ofB = belongs(product.b.data);
  bool isInteger = isa<IntegerType>(getElementTypeOrSelf(factor.base));
  // Scales that all rows share are as well the other side's.
  if (ofA && ofB && !factor.isZero)
    ofA = !product.a.hasScales();
  else if (ofA == ofB)
    return failure();
  Side &side = ofA ? product.a : product.b;
  Factor &place = factor.isZero ? side.zeros : side.scales;
  if (place.base || isInteger != factor.isZero)
    return failure();
  place = factor;
  return success();
}

/// Finds data, scales and numbers among the factors. None if this is no product
/// of two tensors.
static LogicalResult classify(linalg::LinalgOp op, ArrayRef<Factor> factors,
                              Contraction &product) {
  unsigned numLoops = op.getNumLoops();
  SmallVector<unsigned> summed;
  for (unsigned loop = 0; loop < numLoops; ++loop)
    if (isReduction(op, loop))
      summed.push_back(loop);
  SmallVector<const Factor *> data, rest;
  for (const Factor &factor : factors) {
    if (repeatsLoop(factor))
      return failure();
    bool isWhole = llvm::all_of(
        summed, [&](unsigned loop) { return dependsFully(factor, loop); });
    bool isNumber = factor.places.empty() && !factor.isZero;
    if (isNumber && isa<FloatType>(getElementTypeOrSelf(factor.base)))
      product.numbers.push_back(factor);
    else if (!isWhole || factor.isScale || factor.isZero)
      rest.push_back(&factor);
    else
      data.push_back(&factor);
  }
  if (data.size() != 2 || !isElement(data[0]->base) ||
      !isElement(data[1]->base))
    return failure();
  product.a.data = *data[0];
  product.b.data = *data[1];
  // Those of rows first.
  llvm::stable_sort(rest, [&](const Factor *one, const Factor *other) {
    return one->places.size() > other->places.size();
  });
  for (const Factor *factor : rest)
    if (failed(assign(*factor, product)))
      return failure();
  return success();
}

/// Orders the loops. None if the result mixes rows of both sides.
static LogicalResult orderLoops(linalg::LinalgOp op, Contraction &product) {
  AffineMap map = op.getMatchingIndexingMap(op.getDpsInitOperand(0));
  if (!map.isProjectedPermutation())
    return failure();
  Loops &loops = product.loops;
  SmallVector<unsigned> ofA, ofB;
  unsigned at = 0, lastA = 0, lastB = 0, firstA = ~0u, firstB = ~0u;
  for (AffineExpr result : map.getResults()) {
    unsigned loop = cast<AffineDimExpr>(result).getPosition();
    bool inA = depends(product.a.data, loop),
         inB = depends(product.b.data, loop);
    if (!inA && !inB)
      return failure();
    if (inA && inB) {
      if (at != loops.batch.size())
        return failure();
      loops.batch.push_back(loop);
    } else if (inA) {
      ofA.push_back(loop);
      lastA = at;
      firstA = std::min(firstA, at);
    } else {
      ofB.push_back(loop);
      lastB = at;
      firstB = std::min(firstB, at);
    }
    ++at;
  }
  if (ofA.empty() || ofB.empty())
    return failure();
  if (lastB < firstA) {
    std::swap(product.a, product.b);
    std::swap(ofA, ofB);
  } else if (lastA > firstB) {
    return failure();
  }
  loops.rows = ofA;
  loops.columns = ofB;
  for (Place place : product.a.data.places)
    if (isReduction(op, place.loop))
      loops.reduction.push_back(place.loop);
  return success();
}

//===----------------------------------------------------------------------===//
// Whether kernels multiply it
//===----------------------------------------------------------------------===//

/// Whether both sides are narrow floats with scales of blocks, which is what
/// producers of block-scaled products write.
static bool isBlockScaled(const Contraction &product) {
  return llvm::all_of(ArrayRef{&product.a, &product.b}, [](const Side *side) {
    return side->hasScales() && isNarrowFloat(side->data.base);
  });
}

/// A type of such a side; null if there is none.
static ScaledTensorType typeOf(const Side &side, const ScaleSpec &spec) {
  Type element =
      elementType(getElementTypeOrSelf(side.data.base), side.data.isUnsigned);
  std::optional<NumberSpec> number = getNumberSpec(element);
  constexpr unsigned kScaledBits = 8;
  if (!number || (!spec.isUnscaled() && number->bits() > kScaledBits) ||
      whyNotDataType(*number, spec))
    return {};
  SmallVector<int64_t> anySize(2, ShapedType::kDynamic);
  return ScaledTensorType::get(anySize, element,
                               ScaleSpecAttr::get(element.getContext(), spec),
                               ScaleLayout::Plain, DataOrder::KMajor);
}

/// Whether instructions read the scales of the operand.
static bool hasDirectScales(ScaledTensorType type) {
  return type.getSpec().getValue().isTile() && !hasPromotedScales(type);
}

static Type scalesOf(const Side &side) {
  return side.hasScales() ? getElementTypeOrSelf(side.scales.base) : Type();
}

/// Whether kernels multiply results, or sums of blocks, by such scales. Without
/// them sums of integers alone are exact ones.
static bool isApplied(const ScaleSpec &spec, Type scales, Type element,
                      Type other) {
  if (spec.isUnscaled())
    return isa<FloatType>(element) || isa<FloatType>(other);
  bool isPlain = scales.isF32() || scales.isF16() || scales.isBF16();
  if (!spec.isTile())
    return isPlain ||
           (isa<Float8E8M0FNUType>(scales) && isa<FloatType>(element));
  return isPlain && spec.columns->size >=
                        hw::instructionK(hw::MmaKind::F16, /*sparse=*/false);
}

/// Whether both sides are integers of 8 bits, without scales, that the chip
/// multiplies exactly.
static bool isOfIntegers(const Contraction &product, hw::Target target) {
  SmallVector<hw::OperandType> types;
  for (const Side *side : {&product.a, &product.b}) {
    auto type = dyn_cast<IntegerType>(getElementTypeOrSelf(side->data.base));
    if (!type || type.getWidth() != 8 || side->hasScales() || side->hasZeros())
      return false;
    types.push_back(side->data.isUnsigned
                        ? hw::OperandType::uint8()
                        : hw::OperandType(ElementFormat::INT8));
  }
  return product.numbers.empty() &&
         !hw::findSchemes(types[0], types[1], /*scale=*/std::nullopt,
                          /*scaleSpan=*/0, /*sparse=*/false, target)
              .empty();
}

/// Whether a kernel multiplies the sides, with scales that no instruction
/// reads; what their sizes have to do with it aside.
static bool isMultiplied(const Contraction &product) {
  Result<ScaleSpec> ofA = specOf(product, product.a, product.loops.rows),
                    ofB = specOf(product, product.b, product.loops.columns);
  if (!ofA || !ofB)
    return false;
  ScaledTensorType a = typeOf(product.a, *ofA), b = typeOf(product.b, *ofB);
  if (!a || !b || hasDirectScales(a) || hasDirectScales(b))
    return false;
  Type ofLeft = a.getElementType(), ofRight = b.getElementType();
  if (!isApplied(*ofA, scalesOf(product.a), ofLeft, ofRight) ||
      !isApplied(*ofB, scalesOf(product.b), ofRight, ofLeft))
    return false;
  std::optional<hw::OperandType> left = storedElements(a, b),
                                 right = storedElements(b, a);
  return left && right &&
         !hw::findSchemes(*left, *right, /*scale=*/std::nullopt,
                          /*scaleSpan=*/0)
              .empty();
}

/// Whether both sides have 16 bits: other compilers multiply those.
static bool isOfHalves(const Contraction &product) {
  constexpr unsigned kByte = 8;
  return llvm::all_of(ArrayRef{&product.a, &product.b}, [](const Side *side) {
    return getElementTypeOrSelf(side->data.base).getIntOrFloatBitWidth() >
           kByte;
  });
}

//===----------------------------------------------------------------------===//
// The product
//===----------------------------------------------------------------------===//

/// Whether the value is zero everywhere.
static bool isZero(Value value) {
  if (auto fill = value.getDefiningOp<linalg::FillOp>())
    value = fill.getInputs().front();
  return matchPattern(value, m_AnyZeroFloat()) || matchPattern(value, m_Zero());
}

/// Whether the result is a sum of integers that begins with 0.
static bool isExactSum(linalg::LinalgOp op) {
  return getElementTypeOrSelf(op->getResult(0)).isSignlessInteger(32) &&
         isZero(op.getDpsInitOperand(0)->get());
}

namespace {
struct ImportContraction : OpInterfaceRewritePattern<linalg::LinalgOp> {
  ImportContraction(MLIRContext *context, bool &refused)
      : OpInterfaceRewritePattern(context), refused(refused) {}

  LogicalResult matchAndRewrite(linalg::LinalgOp op,
                                PatternRewriter &rewriter) const override {
    Factors factors;
    Contraction product;
    if (op->getNumResults() != 1 || !op.hasPureTensorSemantics() ||
        !(isResultElement(getElementTypeOrSelf(op->getResult(0))) ||
          isExactSum(op)) ||
        failed(findSummedFactors(op, factors)) ||
        failed(classify(op, factors.all, product)) ||
        failed(orderLoops(op, product)))
      return rewriter.notifyMatchFailure(op, "is no block-scaled product");
    if (factors.unsettledScaling) {
      refused = true;
      return factors.unsettledScaling->emitError(
          "scales of another type than f8E8M0FNU have no settled meaning in "
          "'arith.scaling_extf'; write extensions and a multiplication");
    }
    product.ranges = op.getStaticLoopRanges();
    bool isKernel = isExactSum(op)
                        ? isOfIntegers(product, getTarget(op))
                        : isBlockScaled(product) ||
                              (!isOfHalves(product) && isMultiplied(product));
    if (!isKernel)
      return rewriter.notifyMatchFailure(op,
                                         "is nothing that kernels multiply");
    ImplicitLocOpBuilder b(op.getLoc(), rewriter);
    Value init = op.getDpsInitOperand(0)->get();
    FailureOr<Value> result = buildContraction(
        b, op, product, cast<RankedTensorType>(op->getResult(0).getType()),
        isZero(init) ? Value() : init);
    if (failed(result)) {
      refused = true;
      return failure();
    }
    rewriter.replaceOp(op, *result);
    return success();
  }

  bool &refused;
};
} // namespace

void importer::populateLinalgPatterns(RewritePatternSet &patterns,
                                      bool &refused) {
  patterns.add<ImportContraction>(patterns.getContext(), refused);
}
