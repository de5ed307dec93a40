//===- Factors.cpp - what a value is the product of -----------------------===//
//
// Part of the blockscale project, under the Apache License v2.0 with LLVM
// Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Factors.h"
#include "blockscale/Dialect/Blockscale/IR/Blockscale.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/Dialect/Tosa/IR/TosaOps.h"
#include "mlir/IR/Matchers.h"
#include "llvm/ADT/APFloat.h"

using namespace mlir;
using namespace blockscale;
using namespace blockscale::importer;

Value Factor::build(ImplicitLocOpBuilder &b) const {
  // A constant may stand inside of the op that goes, and be one for a tensor.
  if (auto constant = base.getDefiningOp<arith::ConstantOp>();
      constant && places.empty()) {
    TypedAttr value = constant.getValue();
    if (auto splat = dyn_cast<SplatElementsAttr>(value))
      value = cast<TypedAttr>(splat.getSplatValue<Attribute>());
    return arith::ConstantOp::create(b, value);
  }
  Value value = base;
  if (!cuts.empty()) {
    auto [shape, sizes] = decomposeMixedValues(cutSizes);
    auto type = cast<RankedTensorType>(base.getType());
    value = tensor::ExpandShapeOp::create(
        b, RankedTensorType::get(shape, type.getElementType()), base, cuts,
        cutSizes);
  }
  if (groups.empty())
    return value;
  return tensor::CollapseShapeOp::create(b, value, groups);
}

//===----------------------------------------------------------------------===//
// Rounding
//===----------------------------------------------------------------------===//

static unsigned precision(Value value) {
  Type element = getElementTypeOrSelf(value);
  auto type = dyn_cast<FloatType>(element);
  if (!type)
    return element.getIntOrFloatBitWidth();
  return llvm::APFloat::semanticsPrecision(type.getFloatSemantics());
}

/// Whether the product of the factors has so few digits that `type` holds it;
/// types with the exponents of f32 only, but for integers.
static bool isExactIn(Type type, ArrayRef<Factor> factors) {
  if (type.isF32() || type.isF64())
    return true;
  bool areIntegers = llvm::all_of(factors, [](const Factor &factor) {
    return isa<IntegerType>(getElementTypeOrSelf(factor.base));
  });
  if (!type.isBF16() && !(type.isF16() && areIntegers))
    return false;
  unsigned digits = 0;
  for (const Factor &factor : factors)
    digits += precision(factor.base);
  return digits <= llvm::APFloat::semanticsPrecision(
                       cast<FloatType>(type).getFloatSemantics());
}

//===----------------------------------------------------------------------===//
// Places
//===----------------------------------------------------------------------===//

static std::optional<Place> placeOf(AffineExpr expression) {
  if (auto loop = dyn_cast<AffineDimExpr>(expression))
    return Place{loop.getPosition(), 1};
  auto binary = dyn_cast<AffineBinaryOpExpr>(expression);
  if (!binary || binary.getKind() != AffineExprKind::FloorDiv)
    return std::nullopt;
  auto loop = dyn_cast<AffineDimExpr>(binary.getLHS());
  auto divisor = dyn_cast<AffineConstantExpr>(binary.getRHS());
  if (!loop || !divisor)
    return std::nullopt;
  return Place{loop.getPosition(), divisor.getValue()};
}

/// The factor without its dimension `index`, which is of one element: it is
/// joined to the one beside it.
static LogicalResult dropUnit(Factor &factor, size_t index) {
  if (factor.places.size() < 2)
    return failure();
  if (factor.groups.empty())
    for (size_t i = 0; i < factor.places.size(); ++i)
      factor.groups.push_back({int64_t(i)});
  size_t into = index ? index - 1 : 1;
  llvm::append_range(factor.groups[into], factor.groups[index]);
  llvm::sort(factor.groups[into]);
  factor.groups.erase(factor.groups.begin() + index);
  factor.places.erase(factor.places.begin() + index);
  return success();
}

/// The factors of a tensor as an op reads it that has the elements of the
/// dimensions `sizes` at `map`.
static LogicalResult substitute(AffineMap map, ArrayRef<int64_t> sizes,
                                MutableArrayRef<Factor> factors) {
  for (Factor &factor : factors)
    for (size_t i = factor.places.size(); i-- > 0;) {
      Place &place = factor.places[i];
      AffineExpr at = map.getResult(place.loop);
      // All read the one element that there is.
      if (at == 0 && sizes[place.loop] == 1) {
        if (failed(dropUnit(factor, i)))
          return failure();
        continue;
      }
      std::optional<Place> outer = placeOf(at);
      if (!outer)
        return failure();
      place = {outer->loop, outer->divisor * place.divisor};
    }
  return success();
}

/// The factor of a tensor as one of the tensor whose dimensions are its groups;
/// fails where the factor is no whole number of joined dimensions.
static LogicalResult joinDimensions(tensor::CollapseShapeOp op,
                                    Factor &factor) {
  ArrayRef<int64_t> sizes = op.getSrcType().getShape();
  SmallVector<Place> places;
  SmallVector<ReassociationIndices> groups;
  bool joinsAny = false;
  size_t at = 0;
  for (auto [index, group] : llvm::enumerate(op.getReassociationIndices())) {
    ReassociationIndices joined;
    int64_t divisor = 1;
    for (int64_t dimension : group) {
      bool has = at < factor.places.size() &&
                 factor.places[at].loop == unsigned(dimension);
      int64_t size = sizes[size_t(dimension)];
      if (has && divisor != 1)
        return failure();
      if (!has && ShapedType::isDynamic(size))
        return failure();
      if (has) {
        divisor = factor.places[at].divisor;
        bool endsWithin = ShapedType::isDynamic(size) || size % divisor != 0;
        if (!joined.empty() && divisor != 1 && endsWithin)
          return failure();
        joined.push_back(int64_t(at++));
      } else {
        divisor *= size;
      }
    }
    if (joined.empty())
      continue;
    joinsAny |= joined.size() > 1;
    groups.push_back(joined);
    places.push_back({unsigned(index), divisor});
  }
  // Dimensions in another order, or joined before.
  if (at != factor.places.size() || (joinsAny && !factor.groups.empty()))
    return failure();
  if (joinsAny)
    factor.groups = groups;
  factor.places = places;
  return success();
}

/// Cuts of the dimensions of a factor's tensor, where those that were joined
/// are cut to what they were before; others may be cut anew.
static FailureOr<SmallVector<ReassociationIndices>>
undoJoin(const Factor &factor, ArrayRef<ReassociationIndices> cuts,
         ArrayRef<OpFoldResult> cutSizes) {
  auto type = dyn_cast<RankedTensorType>(factor.base.getType());
  if (!type || !factor.cuts.empty() || factor.groups.size() != cuts.size())
    return failure();
  SmallVector<ReassociationIndices> undone;
  for (auto [joined, cut] : llvm::zip(factor.groups, cuts)) {
    if (joined.size() > 1 && joined.size() != cut.size())
      return failure();
    // One that nobody knows follows from the others.
    unsigned unknown = 0;
    for (auto [index, dimension] : llvm::enumerate(joined)) {
      if (dimension != int64_t(undone.size()))
        return failure();
      if (joined.size() == 1) {
        undone.push_back(cut);
        continue;
      }
      std::optional<int64_t> size =
          getConstantIntValue(cutSizes[size_t(cut[index])]);
      unknown += !size;
      if (size.value_or(ShapedType::kDynamic) !=
              type.getDimSize(unsigned(dimension)) ||
          unknown > 1)
        return failure();
      undone.push_back({cut[index]});
    }
  }
  return undone;
}

/// The factor of a tensor as one of the tensor whose dimensions are cut; fails
/// where scales end within a part.
static LogicalResult cutDimensions(tensor::ExpandShapeOp op, Factor &factor) {
  SmallVector<OpFoldResult> sizes = op.getMixedOutputShape();
  SmallVector<ReassociationIndices> cuts;
  SmallVector<OpFoldResult> cutSizes;
  SmallVector<Place> places;
  bool isCut = false;
  for (Place place : factor.places) {
    ReassociationIndices group = op.getReassociationIndices()[place.loop];
    // Of the last parts one scale is for all.
    for (; group.size() > 1 && place.divisor > 1; group.pop_back()) {
      std::optional<int64_t> size =
          getConstantIntValue(sizes[size_t(group.back())]);
      if (!size || place.divisor % *size != 0)
        break;
      place.divisor /= *size;
    }
    if (group.size() > 1 && place.divisor != 1)
      return failure();
    isCut |= group.size() > 1;
    cuts.emplace_back();
    for (int64_t dimension : group) {
      cuts.back().push_back(int64_t(places.size()));
      places.push_back({unsigned(dimension), place.divisor});
      cutSizes.push_back(sizes[size_t(dimension)]);
    }
  }
  if (isCut && !factor.groups.empty()) {
    auto undone = undoJoin(factor, cuts, cutSizes);
    if (failed(undone))
      return failure();
    factor.groups.clear();
    cuts = *undone;
    isCut = llvm::any_of(cuts, [](auto &cut) { return cut.size() > 1; });
  }
  if (isCut && !factor.cuts.empty())
    return failure();
  if (isCut) {
    factor.cuts = cuts;
    factor.cutSizes = cutSizes;
  }
  factor.places = places;
  return success();
}

//===----------------------------------------------------------------------===//
// Factors
//===----------------------------------------------------------------------===//

namespace {
/// Follows multiplications, extensions and changes of shape from results to
/// what they are made of.
class Finder {
public:
  explicit Finder(Factors &factors) : result(factors) {}

  /// Those of a tensor, with its dimensions as loops: itself if of nothing
  /// else.
  SmallVector<Factor> ofTensor(Value value);
  /// Those of a value in the body of `op`; `sum` is the type in which the op
  /// adds up, if it does.
  FailureOr<SmallVector<Factor>> ofElement(linalg::LinalgOp op, Value value,
                                           Type sum);

private:
  using Parts = FailureOr<SmallVector<Factor>>;
  template <typename Recurse>
  Parts ofArithmetic(Operation *op, Type sum, Recurse recurse);
  Parts ofInput(linalg::LinalgOp op, BlockArgument argument);
  Parts ofElementwise(linalg::LinalgOp op);
  Parts ofReshape(Value source,
                  llvm::function_ref<LogicalResult(Factor &)> step);
  template <typename Recurse> Parts ofIntegers(Operation *op, Recurse recurse);
  Parts ofDequantize(DequantizeOp op);

  /// Whether to look no further: values that are read often would be followed
  /// as often, and long chains are no product.
  bool isTired() { return ++steps > kMostSteps; }

  static constexpr unsigned kMostSteps = 256;
  unsigned steps = 0;
  Factors &result;
};
} // namespace

static Factor whole(Value value) {
  Factor factor;
  factor.base = value;
  if (auto type = dyn_cast<RankedTensorType>(value.getType()))
    for (unsigned i = 0; i < type.getRank(); ++i)
      factor.places.push_back({i, 1});
  if (matchPattern(value, m_Constant<SplatElementsAttr>(nullptr)))
    factor.places.clear();
  return factor;
}

/// Whether it makes wider floats of floats.
static bool isExtension(tosa::CastOp op) {
  if (!op)
    return false;
  auto from = dyn_cast<FloatType>(getElementTypeOrSelf(op.getInput()));
  auto to = dyn_cast<FloatType>(getElementTypeOrSelf(op.getType()));
  return from && to && from.getWidth() < to.getWidth();
}

/// `op` of scalars or, elementwise, of tensors; `recurse` finds the factors of
/// an operand.
template <typename Recurse>
Finder::Parts Finder::ofArithmetic(Operation *op, Type sum, Recurse recurse) {
  if (isa_and_nonnull<arith::SIToFPOp, arith::UIToFPOp, arith::ExtSIOp,
                      arith::ExtUIOp, arith::SubFOp>(op))
    return ofIntegers(op, recurse);
  // Integers are multiplied for a sum of integers only.
  bool isOfSum =
      isa_and_nonnull<arith::MulIOp>(op) && op->getResult(0).getType() == sum;
  if (!isOfSum &&
      !isa_and_nonnull<arith::ExtFOp, arith::TruncFOp, arith::MulFOp,
                       arith::ScalingExtFOp>(op) &&
      !isExtension(dyn_cast_or_null<tosa::CastOp>(op)))
    return failure();
  SmallVector<Factor> factors;
  for (auto [index, operand] : llvm::enumerate(op->getOperands())) {
    Parts parts = recurse(operand);
    if (failed(parts))
      return failure();
    bool scales = isa<arith::ScalingExtFOp>(op) && index == 1;
    for (Factor &factor : *parts)
      factor.isScale |= scales;
    if (scales && !isa<Float8E8M0FNUType>(getElementTypeOrSelf(operand)))
      result.unsettledScaling = op;
    llvm::append_range(factors, *parts);
  }
  Type type = getElementTypeOrSelf(op->getResult(0));
  if (isa<arith::ExtFOp, tosa::CastOp>(op) || type == sum ||
      isExactIn(type, factors))
    return factors;
  return failure();
}

/// `op` that makes numbers of integers, or subtracts such; f32 has all of those
/// of few bits, and their differences.
template <typename Recurse>
Finder::Parts Finder::ofIntegers(Operation *op, Recurse recurse) {
  SmallVector<Factor> all;
  for (Value operand : op->getOperands()) {
    Parts parts = recurse(operand);
    if (failed(parts) || parts->size() != 1)
      return failure();
    Factor &factor = parts->front();
    auto type = dyn_cast<IntegerType>(getElementTypeOrSelf(factor.base));
    constexpr unsigned kByte = 8;
    if (!type || type.getWidth() > kByte || type.getWidth() == 1 ||
        factor.isZero)
      return failure();
    factor.isUnsigned |= isa<arith::UIToFPOp, arith::ExtUIOp>(op);
    all.push_back(factor);
  }
  Type element = getElementTypeOrSelf(op->getResult(0));
  if (!isa<arith::SubFOp>(op))
    return isa<IntegerType>(element) || isExactIn(element, all)
               ? Parts(all)
               : Parts(failure());
  // Zero points of the dialect belong to integers without a sign.
  if (!all[0].isUnsigned || !all[1].isUnsigned || !element.isF32())
    return failure();
  all[1].isZero = true;
  return all;
}

/// What the body of `op` reads as `argument`.
Finder::Parts Finder::ofInput(linalg::LinalgOp op, BlockArgument argument) {
  OpOperand *operand = op.getMatchingOpOperand(argument);
  if (!op.isDpsInput(operand))
    return failure();
  if (!isa<RankedTensorType>(operand->get().getType()))
    return SmallVector<Factor>{whole(operand->get())};
  SmallVector<Factor> factors = ofTensor(operand->get());
  ArrayRef<int64_t> sizes =
      cast<RankedTensorType>(operand->get().getType()).getShape();
  if (failed(substitute(op.getMatchingIndexingMap(operand), sizes, factors)))
    return failure();
  return factors;
}

Finder::Parts Finder::ofElement(linalg::LinalgOp op, Value value, Type sum) {
  if (isTired())
    return failure();
  if (auto argument = dyn_cast<BlockArgument>(value);
      argument && argument.getOwner() == op.getBlock())
    return ofInput(op, argument);
  Operation *source = value.getDefiningOp();
  bool isInside = source && source->getBlock() == op.getBlock();
  if (!isInside || isa<arith::ConstantOp>(source)) {
    if (!isa<FloatType>(value.getType()))
      return failure();
    return SmallVector<Factor>{whole(value)};
  }
  return ofArithmetic(source, sum,
                      [&](Value each) { return ofElement(op, each, sum); });
}

/// An op without sums whose elements are the factors' product.
Finder::Parts Finder::ofElementwise(linalg::LinalgOp op) {
  if (op->getNumResults() != 1 || !op.hasPureTensorSemantics() ||
      op.getNumParallelLoops() != op.getNumLoops())
    return failure();
  AffineMap map = op.getMatchingIndexingMap(op.getDpsInitOperand(0));
  if (!map.isPermutation())
    return failure();
  Value element = op.getBlock()->getTerminator()->getOperand(0);
  Parts factors = ofElement(op, element, Type());
  if (failed(factors))
    return failure();
  for (Factor &factor : *factors)
    for (Place &place : factor.places)
      for (auto [i, loop] : llvm::enumerate(map.getResults()))
        if (cast<AffineDimExpr>(loop).getPosition() == place.loop) {
          place.loop = unsigned(i);
          break;
        }
  return factors;
}

/// Those of a tensor with other dimensions than `source` has; `step` goes from
/// these to those.
Finder::Parts
Finder::ofReshape(Value source,
                  llvm::function_ref<LogicalResult(Factor &)> step) {
  SmallVector<Factor> factors = ofTensor(source);
  for (Factor &factor : factors)
    if (failed(step(factor)))
      return failure();
  return factors;
}

/// A scaled tensor of floats whose scales, if it has any, lie in order.
Finder::Parts Finder::ofDequantize(DequantizeOp op) {
  auto source = op.getInput().getDefiningOp<AssembleOp>();
  ScaledTensorType type = op.getInput().getType();
  const ScaleSpec &spec = type.getSpec().getValue();
  if (!source || source.getZeros() || source.getTensorScale() ||
      source.getMetadata() || !isa<FloatType>(type.getElementType()) ||
      type.getLayout() != ScaleLayout::Plain ||
      type.getOrder() != DataOrder::KMajor)
    return failure();
  SmallVector<Factor> factors = ofTensor(source.getData());
  if (!spec.isUnscaled()) {
    if (!spec.isTile() || spec.isChannel())
      return failure();
    factors.push_back(whole(source.getScales()));
    SmallVector<Place> &places = factors.back().places;
    places.back().divisor = type.getKTile();
    places[places.size() - 2].divisor = type.getRowTile();
  }
  if (!isExactIn(getElementTypeOrSelf(op.getType()), factors))
    return failure();
  return factors;
}

SmallVector<Factor> Finder::ofTensor(Value value) {
  if (isTired())
    return {whole(value)};
  Parts factors = failure();
  Operation *op = value.getDefiningOp();
  if (auto generic = dyn_cast_or_null<linalg::LinalgOp>(op))
    factors = ofElementwise(generic);
  else if (auto collapse = dyn_cast_or_null<tensor::CollapseShapeOp>(op))
    factors = ofReshape(collapse.getSrc(), [&](Factor &factor) {
      return joinDimensions(collapse, factor);
    });
  else if (auto expand = dyn_cast_or_null<tensor::ExpandShapeOp>(op))
    factors = ofReshape(expand.getSrc(), [&](Factor &factor) {
      return cutDimensions(expand, factor);
    });
  else if (auto dequantize = dyn_cast_or_null<DequantizeOp>(op))
    factors = ofDequantize(dequantize);
  else if (op)
    factors = ofArithmetic(op, Type(),
                           [&](Value each) { return Parts(ofTensor(each)); });
  if (failed(factors))
    return {whole(value)};
  return *factors;
}

LogicalResult importer::findSummedFactors(linalg::LinalgOp op,
                                          Factors &factors) {
  if (op.getNumReductionLoops() == 0)
    return failure();
  Value element = op.getBlock()->getTerminator()->getOperand(0);
  Operation *sum = element.getDefiningOp();
  BlockArgument before = op.getMatchingBlockArgument(op.getDpsInitOperand(0));
  if (!isa_and_nonnull<arith::AddFOp, arith::AddIOp>(sum) ||
      !llvm::is_contained(sum->getOperands(), before))
    return failure();
  Value added = sum->getOperand(sum->getOperand(0) == before ? 1 : 0);
  auto found = Finder(factors).ofElement(op, added, element.getType());
  if (failed(found))
    return failure();
  factors.all = *found;
  return success();
}
