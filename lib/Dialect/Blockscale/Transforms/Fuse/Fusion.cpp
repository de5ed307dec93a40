//===- Fusion.cpp - what follows a product as its epilogue ----------------===//
//
// Part of the blockscale project, under the Apache License v2.0 with LLVM
// Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Fusion.h"
#include "blockscale/Dialect/Blockscale/IR/Epilogue.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/IR/Matchers.h"

using namespace mlir;
using namespace blockscale;
using namespace blockscale::fuse;

static bool isNarrow(Type type) { return type.isBF16() || type.isF16(); }
static bool isPlain(Type type) { return type.isF32() || isNarrow(type); }

static RankedTensorType tensorOf(Value value) {
  return dyn_cast<RankedTensorType>(value.getType());
}

static SmallVector<int64_t> identity(int64_t rank) {
  return llvm::to_vector(llvm::seq<int64_t>(0, rank));
}

//===----------------------------------------------------------------------===//
// The product
//===----------------------------------------------------------------------===//

Fusion::Fusion(MatmulOp product)
    : product(product), b(product.getLoc(), product.getContext()) {
  SmallVector<Type> types(kInputs, b.getF32Type());
  SmallVector<Location> locs(kInputs, b.getLoc());
  Block *block = b.createBlock(&region, {}, types, locs);
  b.setInsertionPointToEnd(block);
  productScalar = block->getArgument(kProductAt);
  auto inputOf = [&](EpilogueInput input) -> Value {
    switch (input) {
    case EpilogueInput::Product:
      return block->getArgument(kProductAt);
    case EpilogueInput::C:
      return block->getArgument(kCAt);
    case EpilogueInput::Bias:
      return block->getArgument(kBiasAt);
    case EpilogueInput::Up:
    case EpilogueInput::UpBias:
      break;
    }
    llvm_unreachable("products with pairs keep the region that they have");
  };
  Value result = Epilogue(product).inlineAt(b, inputOf);
  Type element = product.getType().getElementType();
  scalars[product] = isNarrow(element) ? rounded(result, element) : result;
}

Fusion::~Fusion() = default;

//===----------------------------------------------------------------------===//
// Scalars
//===----------------------------------------------------------------------===//

Value Fusion::rounded(Value value, Type element) {
  if (!isNarrow(element))
    return value;
  Value narrow = arith::TruncFOp::create(b, element, value);
  return arith::ExtFOp::create(b, b.getF32Type(), narrow);
}

Value Fusion::constant(Attribute value) {
  if (auto number = dyn_cast<FloatAttr>(value)) {
    if (!isPlain(number.getType()))
      return {};
    return arith::ConstantOp::create(
        b, b.getF32FloatAttr(float(number.getValueAsDouble())));
  }
  auto integer = dyn_cast<IntegerAttr>(value);
  if (!integer || !integer.getType().isInteger(1))
    return {};
  return arith::ConstantOp::create(
      b, b.getBoolAttr(integer.getValue().getBoolValue()));
}

/// Whether `op` makes f32 of an exact sum of integers; conditions are integers,
/// too, and none.
static bool isExactSumAsFloat(Operation *op) {
  return isa<arith::SIToFPOp>(op) &&
         getElementTypeOrSelf(op->getOperand(0)).isInteger(32) &&
         getElementTypeOrSelf(op->getResult(0)).isF32();
}

/// What an op computes besides its operands, without leave to be less exact.
static SmallVector<NamedAttribute> attributesOf(Operation *op) {
  SmallVector<NamedAttribute> kept;
  for (NamedAttribute attribute : op->getAttrDictionary())
    if (!isa<arith::FastMathFlagsAttr>(attribute.getValue()))
      kept.push_back(attribute);
  return kept;
}

Value Fusion::compute(Operation *op, ArrayRef<Value> operands) {
  if (op->getNumResults() != 1 || op->hasAttr("roundingmode"))
    return {};
  Type element = getElementTypeOrSelf(op->getResult(0));
  // Of integers there is the sum alone.
  if (isExactSumAsFloat(op))
    return operands[0];
  auto isKnown = [](Type type) {
    return isPlain(getElementTypeOrSelf(type)) ||
           getElementTypeOrSelf(type).isInteger(1);
  };
  if (!isKnown(element) || !llvm::all_of(op->getOperandTypes(), isKnown))
    return {};
  if (isa<arith::ExtFOp>(op))
    return operands[0];
  if (isa<arith::TruncFOp>(op))
    return rounded(operands[0], element);
  isComputing = true;
  // 1 - erf: where it is almost 0 it is as exact as a number near 1.
  if (isa<math::ErfcOp>(op)) {
    Value one = constant(b.getF32FloatAttr(1.0));
    Value erf = math::ErfOp::create(b, operands[0]);
    return rounded(arith::SubFOp::create(b, one, erf), element);
  }
  if (!isEpilogueOp(op->getName().getStringRef()))
    return {};
  SmallVector<Value> given(operands);
  // What comes from the product is written first, as keywords have it.
  if (isa<arith::AddFOp, arith::MulFOp>(op) && given.size() == 2 &&
      !contains(op->getOperand(0)) && contains(op->getOperand(1)))
    std::swap(given[0], given[1]);
  bool isCondition = element.isInteger(1);
  OperationState state(b.getLoc(), op->getName(), given,
                       isCondition ? Type(b.getI1Type()) : b.getF32Type(),
                       attributesOf(op));
  Value result = b.create(state)->getResult(0);
  return isCondition ? result : rounded(result, element);
}

//===----------------------------------------------------------------------===//
// Inputs
//===----------------------------------------------------------------------===//

/// Whether two sizes are known to be the same.
static bool isSame(int64_t x, int64_t y) {
  return !ShapedType::isDynamic(x) && x == y;
}

/// Whether a bias of groups can be that: one for each, along the columns.
static bool isBiasOfGroups(MatmulOp product, bool isOfRows) {
  return !isOfRows &&
         !ShapedType::isDynamic(product.getOffsets().getType().getDimSize(0)) &&
         !product.getType().isDynamicDim(product.getType().getRank() - 1);
}

Value Fusion::bias(Value source, BiasForm form) {
  if (product.hasGroups() && !isBiasOfGroups(product, form == BiasForm::Row))
    return {};
  if (biasForm == BiasForm::None && !product.getBias()) {
    biasSource = source;
    biasForm = form;
  }
  bool isIt = biasSource == source && biasForm == form;
  return isIt ? region.getArgument(kBiasAt) : Value();
}

/// A number that is known at run time, as a bias that is the same everywhere.
Value Fusion::number(const Read &read) {
  auto type = dyn_cast<RankedTensorType>(read.source.getType());
  Type element = getElementTypeOrSelf(read.source);
  if (!isPlain(element) || (type && !type.hasStaticShape()) ||
      product.getType().getRank() != 2 || product.getType().isDynamicDim(1))
    return {};
  return bias(read.source, BiasForm::Number);
}

/// An element for each column or row of the product.
Value Fusion::vector(const Read &read) {
  auto source = tensorOf(read.source);
  RankedTensorType own = product.getType(), type = tensorOf(like);
  if (!source || !isPlain(source.getElementType()) || own.getRank() != 2)
    return {};
  int64_t at = read.alongWhich().front(), last = type.getRank() - 1;
  bool hasShapes = !shapes.lookup(like).empty();
  // Elements keep their order, so that columns do where there are as many.
  if (hasShapes && !isSame(type.getDimSize(last), own.getDimSize(1)))
    return {};
  if (at == last)
    return bias(read.source, BiasForm::Column);
  bool isOfRows = !hasShapes || isSame(type.getDimSize(at), own.getDimSize(0));
  return isOfRows ? bias(read.source, BiasForm::Row) : Value();
}

/// An element for each column of each group, where groups have matrices.
Value Fusion::rowOfEachGroup(const Read &read) {
  auto source = tensorOf(read.source);
  if (!product.isGroupedAlongK() || !source || source.getRank() != 2 ||
      !isPlain(source.getElementType()) || !shapes.lookup(like).empty() ||
      ArrayRef<int64_t>(read.places) != ArrayRef<int64_t>{0, 2})
    return {};
  return bias(read.source, BiasForm::Column);
}

/// Whether a tensor can be brought back to where the product is from behind
/// these changes of shape.
static bool areInvertible(ArrayRef<Operation *> shapes) {
  return llvm::all_of(shapes, [](Operation *op) {
    auto source = cast<RankedTensorType>(op->getOperand(0).getType());
    return !isa<tensor::CollapseShapeOp>(op) || source.hasStaticShape();
  });
}

Value Fusion::matrix(Value value) {
  RankedTensorType type = tensorOf(value);
  ArrayRef<Operation *> path = shapes[like];
  if (!isPlain(type.getElementType()) || product.getC() ||
      type.getShape() != tensorOf(like).getShape() || !areInvertible(path))
    return {};
  if (!cSource) {
    cSource = value;
    cShapes.assign(path.begin(), path.end());
  }
  bool isIt = cSource == value && ArrayRef<Operation *>(cShapes) == path;
  return isIt ? region.getArgument(kCAt) : Value();
}

/// Widened elements are read as they were before.
static Value beforeWidening(Value value) {
  auto extension = value.getDefiningOp<arith::ExtFOp>();
  return extension && isNarrow(getElementTypeOrSelf(extension.getIn()))
             ? extension.getIn()
             : value;
}

Value Fusion::operand(Value value, ArrayRef<int64_t> places) {
  bool isWhole = ArrayRef(identity(int64_t(places.size()))) == places;
  if (contains(value))
    return isWhole ? scalars.lookup(value) : Value();
  Read read = readOf(value, places);
  if (Attribute known = read.getConstant())
    return constant(known);
  SmallVector<int64_t> along = read.alongWhich();
  if (along.empty())
    return number(read);
  if (along.size() == 1)
    return vector(read);
  if (Value ofGroups = rowOfEachGroup(read))
    return ofGroups;
  return isWhole && tensorOf(value) ? matrix(beforeWidening(value)) : Value();
}

//===----------------------------------------------------------------------===//
// Ops on tensors
//===----------------------------------------------------------------------===//

bool Fusion::absorbShape(Operation *op) {
  Value source = op->getOperand(0);
  if (!contains(source) || !tensorOf(op->getResult(0)))
    return false;
  Value result = op->getResult(0), scalar = scalars.lookup(source);
  SmallVector<Operation *, 2> path = shapes.lookup(source);
  path.push_back(op);
  shapes[result] = path;
  scalars[result] = scalar;
  return true;
}

bool Fusion::isSum(Value value) const {
  return contains(value) && value.hasOneUse() &&
         getElementTypeOrSelf(value).isF32() &&
         scalars.lookup(value) == productScalar;
}

/// A factor of the sum itself is alpha, if nothing else was done to that
/// before.
bool Fusion::absorbAlpha(Operation *op) {
  if (!isa<arith::MulFOp>(op) || product.getAlpha() || alphaSource)
    return false;
  unsigned at = isSum(op->getOperand(0)) ? 0 : 1;
  Value sum = op->getOperand(at), other = op->getOperand(1 - at);
  if (!isSum(sum) || contains(other))
    return false;
  Read read = readOf(other, identity(tensorOf(sum).getRank()));
  auto type = dyn_cast<RankedTensorType>(read.source.getType());
  if (!read.alongWhich().empty() || read.getConstant() ||
      !isPlain(getElementTypeOrSelf(read.source)) ||
      (type && !type.hasStaticShape()))
    return false;
  alphaSource = read.source;
  isComputing = true;
  Value scalar = scalars.lookup(sum);
  scalars[op->getResult(0)] = scalar;
  return true;
}

/// Finds a free place for a factor of each row or column; both may be
/// multiplied before.
bool Fusion::placeFactors(Value value, OperandFactors &places) {
  auto both = value.getDefiningOp<arith::MulFOp>();
  if (both && both->hasOneUse())
    return placeFactors(both.getLhs(), places) &&
           placeFactors(both.getRhs(), places);
  Read read = readOf(value, identity(product.getType().getRank()));
  SmallVector<int64_t> along = read.alongWhich();
  if (along.size() != 1 || !isPlain(getElementTypeOrSelf(read.source)))
    return false;
  bool isOfRows = along.front() == 0;
  Value &place = isOfRows ? places.ofRows : places.ofColumns;
  if (place ||
      !takesFactors(isOfRows ? product.getA() : product.getB(), read.source))
    return false;
  place = read.source;
  return true;
}

/// A factor of each row or column of the sum is a scale of the operand whose
/// rows these are.
bool Fusion::absorbFactor(Operation *op) {
  if (!isa<arith::MulFOp>(op) || product.hasGroups() ||
      product.getType().getRank() != 2)
    return false;
  unsigned at = isSum(op->getOperand(0)) ? 0 : 1;
  Value sum = op->getOperand(at), other = op->getOperand(1 - at);
  if (!isSum(sum) || contains(other) || !shapes.lookup(sum).empty())
    return false;
  OperandFactors places = factors;
  if (!placeFactors(other, places))
    return false;
  factors = places;
  isComputing = true;
  Value scalar = scalars.lookup(sum);
  scalars[op->getResult(0)] = scalar;
  return true;
}

/// Exact sums of integers as f32, which is what epilogues begin with.
bool Fusion::absorbConversion(Operation *op) {
  if (!isExactSumAsFloat(op))
    return false;
  isComputing = true;
  Value scalar = scalars.lookup(op->getOperand(0));
  scalars[op->getResult(0)] = scalar;
  return true;
}

/// An op of arith or math on whole tensors.
bool Fusion::absorbOp(Operation *op) {
  auto type = op->getNumResults() == 1 ? tensorOf(op->getResult(0))
                                       : RankedTensorType();
  if (!type || op->getNumRegions() != 0 ||
      !OpTrait::hasElementwiseMappableTraits(op))
    return false;
  if (absorbAlpha(op) || absorbFactor(op) || absorbConversion(op))
    return true;
  SmallVector<Value> operands;
  for (Value each : op->getOperands()) {
    // The condition of a select may be one number.
    auto tensor = tensorOf(each);
    SmallVector<int64_t> places = identity(tensor ? tensor.getRank() : 0);
    operands.push_back(operand(each, places));
    if (!operands.back())
      return false;
  }
  Value result = compute(op, operands);
  if (!result)
    return false;
  scalars[op->getResult(0)] = result;
  return true;
}

/// An op of linalg whose loops are those of its only result.
bool Fusion::absorbLinalg(Operation *op) {
  auto linalgOp = cast<linalg::LinalgOp>(op);
  if (linalgOp.getNumParallelLoops() != linalgOp.getNumLoops() ||
      linalgOp.getNumDpsInits() != 1 || op->getNumResults() != 1 ||
      !linalgOp.getIndexingMapsArray().back().isIdentity())
    return false;
  Block &body = *linalgOp.getBlock();
  DenseMap<Value, Value> inner;
  for (OpOperand *input : linalgOp.getDpsInputOperands()) {
    BlockArgument argument = linalgOp.getMatchingBlockArgument(input);
    if (argument.use_empty())
      continue;
    auto places = placesOf(linalgOp.getMatchingIndexingMap(input));
    Value scalar = places ? operand(input->get(), *places) : Value();
    if (!scalar)
      return false;
    inner[argument] = scalar;
  }
  auto scalarOf = [&](Value value) -> Value {
    if (Value known = inner.lookup(value))
      return known;
    Attribute attribute;
    return matchPattern(value, m_Constant(&attribute)) ? constant(attribute)
                                                       : Value();
  };
  for (Operation &each : body.without_terminator()) {
    if (isa<arith::ConstantOp>(each))
      continue;
    SmallVector<Value> operands;
    for (Value operand : each.getOperands()) {
      operands.push_back(scalarOf(operand));
      if (!operands.back())
        return false;
    }
    Value result = compute(&each, operands);
    if (!result)
      return false;
    inner[each.getResult(0)] = result;
  }
  Value result = scalarOf(body.getTerminator()->getOperand(0));
  if (!result)
    return false;
  scalars[op->getResult(0)] = result;
  return true;
}

bool Fusion::absorb(Operation *op) {
  // The inits of ops of linalg are written to, not read.
  OperandRange read = op->getOperands();
  auto found =
      llvm::find_if(read, [&](Value operand) { return contains(operand); });
  if (found == read.end())
    return false;
  like = *found;
  // What an op that is no part after all has claimed is free again.
  auto claimed = std::make_tuple(alphaSource, cSource, biasSource, biasForm,
                                 isComputing, factors);
  bool isPart = false;
  if (isa<tensor::ExpandShapeOp, tensor::CollapseShapeOp, tensor::CastOp>(op))
    isPart = absorbShape(op);
  else if (isa<linalg::LinalgOp>(op))
    isPart = absorbLinalg(op);
  else if (isa_and_nonnull<arith::ArithDialect, math::MathDialect>(
               op->getDialect()))
    isPart = absorbOp(op);
  if (!isPart) {
    std::tie(alphaSource, cSource, biasSource, biasForm, isComputing, factors) =
        claimed;
    return false;
  }
  Value result = op->getResult(0);
  if (!shapes.contains(result)) {
    SmallVector<Operation *, 2> path = shapes.lookup(like);
    shapes[result] = path;
  }
  absorbed.push_back(op);
  members.insert(op);
  return true;
}

//===----------------------------------------------------------------------===//
// What others read
//===----------------------------------------------------------------------===//

Value Fusion::getExit() const {
  Value exit;
  for (auto [value, scalar] : scalars) {
    bool isRead = llvm::any_of(value.getUsers(), [&](Operation *user) {
      return !members.contains(user);
    });
    if (!isRead)
      continue;
    if (exit)
      return {};
    exit = value;
  }
  return exit && isPlain(getElementTypeOrSelf(exit)) ? exit : Value();
}

bool Fusion::isTorn(Operation *behind) const {
  unsigned count = 0;
  for (auto [value, scalar] : scalars)
    count += llvm::any_of(value.getUsers(), [&](Operation *user) {
      Operation *own = product->getBlock()->findAncestorOpInBlock(*user);
      return !members.contains(user) && (!own || own->isBeforeInBlock(behind));
    });
  return count > 1;
}
