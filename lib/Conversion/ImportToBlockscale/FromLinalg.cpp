//===- FromLinalg.cpp - products written in linalg ------------------------===//
//
// Part of the blockscale project, under the Apache License v2.0 with LLVM
// Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

// An op of linalg that adds up is a block-scaled product if what it adds are
// products of four tensors: two that change along all summed dimensions, the
// data, and for each of them one that changes less often, its scales. Where the
// factors are multiplied, in the op or before it, makes no difference.

#include "Contraction.h"
#include "Product.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/IR/Matchers.h"

using namespace mlir;
using namespace blockscale;
using namespace blockscale::importer;

//===----------------------------------------------------------------------===//
// Which factor is what
//===----------------------------------------------------------------------===//

static bool isNarrowFloat(Value value) {
  auto type = dyn_cast<FloatType>(getElementTypeOrSelf(value));
  constexpr unsigned kByte = 8;
  return type && type.getWidth() <= kByte;
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

/// Finds data, scales and numbers among the factors. None if this is no product
/// of two tensors with scales.
static LogicalResult classify(linalg::LinalgOp op, ArrayRef<Factor> factors,
                              Contraction &product) {
  unsigned numLoops = op.getNumLoops();
  SmallVector<unsigned> summed;
  for (unsigned loop = 0; loop < numLoops; ++loop)
    if (isReduction(op, loop))
      summed.push_back(loop);
  SmallVector<const Factor *> data, scales;
  for (const Factor &factor : factors) {
    if (repeatsLoop(factor))
      return failure();
    bool isWhole = llvm::all_of(
        summed, [&](unsigned loop) { return dependsFully(factor, loop); });
    if (factor.places.empty())
      product.numbers.push_back(factor);
    else if (!isWhole || factor.isScale)
      scales.push_back(&factor);
    else
      data.push_back(&factor);
  }
  if (data.size() != 2 || scales.size() != 2 || !isNarrowFloat(data[0]->base) ||
      !isNarrowFloat(data[1]->base))
    return failure();
  product.a.data = *data[0];
  product.b.data = *data[1];
  // Scales change with the rows of their data only.
  auto belongs = [&](const Factor &scale, const Factor &data) {
    return llvm::all_of(scale.places,
                        [&](Place place) { return depends(data, place.loop); });
  };
  for (const Factor *scale : scales) {
    bool ofA = belongs(*scale, product.a.data);
    bool ofB = belongs(*scale, product.b.data);
    if (ofA == ofB)
      return failure();
    Side &side = ofA ? product.a : product.b;
    if (side.hasScales())
      return failure();
    side.scales = *scale;
  }
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
// The product
//===----------------------------------------------------------------------===//

/// Whether the value is zero everywhere.
static bool isZero(Value value) {
  if (auto fill = value.getDefiningOp<linalg::FillOp>())
    return matchPattern(fill.getInputs().front(), m_AnyZeroFloat());
  return matchPattern(value, m_AnyZeroFloat());
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
        !isResultElement(getElementTypeOrSelf(op->getResult(0))) ||
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
