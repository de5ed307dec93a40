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
#include "mlir/IR/IRMapping.h"
#include "mlir/IR/Matchers.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"

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

static constexpr unsigned kProductAt = 0, kCAt = 1, kBiasAt = 2, kInputs = 3;

Fusion::Fusion(MatmulOp product)
    : product(product), b(product.getLoc(), product.getContext()) {
  SmallVector<Type> types(kInputs, b.getF32Type());
  SmallVector<Location> locs(kInputs, b.getLoc());
  Block *block = b.createBlock(&region, {}, types, locs);
  b.setInsertionPointToEnd(block);
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

/// A factor of the sum itself is alpha, if nothing was done to that before.
bool Fusion::absorbAlpha(Operation *op, ValueRange operands) {
  Value result = product.getResult();
  if (!isa<arith::MulFOp>(op) || !product.getType().getElementType().isF32() ||
      product.getAlpha() || product.getC() || product.getBias() ||
      !product.getEpilogue().empty() || !result.hasOneUse())
    return false;
  unsigned at = operands[0] == result ? 0 : 1;
  if (operands.size() != 2 || operands[at] != result)
    return false;
  Read read = readOf(operands[1 - at], identity(product.getType().getRank()));
  auto type = dyn_cast<RankedTensorType>(read.source.getType());
  if (!read.alongWhich().empty() || read.getConstant() ||
      !isPlain(getElementTypeOrSelf(read.source)) ||
      (type && !type.hasStaticShape()))
    return false;
  alphaSource = read.source;
  isComputing = true;
  Value scalar = scalars.lookup(result);
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
  if (absorbAlpha(op, op->getOperands()))
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
  auto claimed =
      std::make_tuple(alphaSource, cSource, biasSource, biasForm, isComputing);
  bool isPart = false;
  if (isa<tensor::ExpandShapeOp, tensor::CollapseShapeOp, tensor::CastOp>(op))
    isPart = absorbShape(op);
  else if (isa<linalg::LinalgOp>(op))
    isPart = absorbLinalg(op);
  else if (isa_and_nonnull<arith::ArithDialect, math::MathDialect>(
               op->getDialect()))
    isPart = absorbOp(op);
  if (!isPart) {
    std::tie(alphaSource, cSource, biasSource, biasForm, isComputing) = claimed;
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

//===----------------------------------------------------------------------===//
// The new product
//===----------------------------------------------------------------------===//

/// `source`, which has one element, as an f32.
static Value numberOf(ImplicitLocOpBuilder &b, Value source) {
  if (auto type = dyn_cast<RankedTensorType>(source.getType())) {
    Value zero =
        type.getRank() ? arith::ConstantIndexOp::create(b, 0) : Value();
    source = tensor::ExtractOp::create(
        b, source, SmallVector<Value>(size_t(type.getRank()), zero));
  }
  if (!source.getType().isF32())
    source = arith::ExtFOp::create(b, b.getF32Type(), source);
  return source;
}

Value Fusion::materializeC(ImplicitLocOpBuilder &at) {
  Value value = cSource;
  for (Operation *op : llvm::reverse(cShapes)) {
    auto before = cast<RankedTensorType>(op->getOperand(0).getType());
    auto type = before.clone(tensorOf(value).getElementType());
    if (auto expand = dyn_cast<tensor::ExpandShapeOp>(op))
      value = tensor::CollapseShapeOp::create(at, type, value,
                                              expand.getReassociationIndices());
    else if (auto collapse = dyn_cast<tensor::CollapseShapeOp>(op))
      value = tensor::ExpandShapeOp::create(at, type, value,
                                            collapse.getReassociationIndices());
    else
      value = tensor::CastOp::create(at, type, value);
  }
  return value;
}

Value Fusion::materializeBias(ImplicitLocOpBuilder &at) {
  // Groups along K read one for each as it is.
  if (product.isGroupedAlongK())
    return biasSource;
  SmallVector<int64_t> shape{product.getType().getDimSize(1)};
  if (product.isGrouped())
    shape.insert(shape.begin(), product.getOffsets().getType().getDimSize(0));
  if (biasForm == BiasForm::Number)
    return tensor::SplatOp::create(
        at, numberOf(at, biasSource),
        RankedTensorType::get(shape, at.getF32Type()));
  RankedTensorType type = tensorOf(biasSource);
  Value columns = biasSource;
  if (type.getRank() != 1) {
    SmallVector<ReassociationIndices> group{identity(type.getRank())};
    columns = tensor::CollapseShapeOp::create(at, biasSource, group);
  }
  if (!product.isGrouped())
    return columns;
  // All groups have the same.
  Value each = tensor::EmptyOp::create(at, shape, type.getElementType());
  return linalg::BroadcastOp::create(at, columns, each, ArrayRef<int64_t>{0})
      ->getResult(0);
}

void Fusion::fillEpilogue(MatmulOp fused, Value result) {
  Block &block = region.front();
  // The result is rounded to its type behind the epilogue.
  if (auto extension = result.getDefiningOp<arith::ExtFOp>())
    if (auto narrow = extension.getIn().getDefiningOp<arith::TruncFOp>();
        narrow && narrow.getType() == fused.getType().getElementType())
      result = narrow.getIn();
  b.setInsertionPointToEnd(&block);
  YieldOp::create(b, result);
  SmallVector<Operation *> inside;
  for (Operation &op : block.without_terminator())
    inside.push_back(&op);
  for (Operation *op : llvm::reverse(inside))
    if (op->use_empty())
      op->erase();
  if (!fused.getBias())
    block.eraseArgument(kBiasAt);
  if (!fused.getC())
    block.eraseArgument(kCAt);
  fused.getEpilogue().takeBody(region);
  if (Epilogue(fused).isSum())
    fused.getEpilogue().front().erase();
}

static void noteSources(Operation *op,
                        llvm::SmallSetVector<Operation *, 16> &sources) {
  for (Value operand : op->getOperands())
    if (Operation *source = operand.getDefiningOp())
      sources.insert(source);
}

void Fusion::finish(RewriterBase &rewriter) {
  Value exit = getExit();
  rewriter.setInsertionPoint(absorbed.back());
  ImplicitLocOpBuilder at(product.getLoc(), rewriter);
  Value alpha = alphaSource ? numberOf(at, alphaSource) : product.getAlpha();
  Value c = cSource ? materializeC(at) : Value(product.getC());
  Value bias = biasSource ? materializeBias(at) : Value(product.getBias());
  BiasKind kind = biasForm == BiasForm::Row    ? BiasKind::Row
                  : biasForm == BiasForm::None ? product.getBiasKind()
                                               : BiasKind::Column;
  Type element = getElementTypeOrSelf(exit);
  auto fused = MatmulOp::create(
      at, cast<RankedTensorType>(product.getType().clone(element)),
      product.getA(), product.getB(), alpha, product.getBeta(), c, bias,
      product.getOffsets(), product.getRowNumbers(), kind, /*pairs=*/false,
      product.getLoweringAttr());
  fused->setDiscardableAttrs(product->getDiscardableAttrDictionary());
  fillEpilogue(fused, scalars.lookup(exit));
  Value value = fused;
  for (Operation *shape : shapes.lookup(exit)) {
    IRMapping map;
    map.map(shape->getOperand(0), value);
    Operation *copy = rewriter.clone(*shape, map);
    auto type = cast<RankedTensorType>(shape->getResult(0).getType());
    copy->getResult(0).setType(type.clone(element));
    value = copy->getResult(0);
  }
  rewriter.replaceAllUsesWith(exit, value);
  llvm::SmallSetVector<Operation *, 16> sources;
  for (Operation *op : llvm::reverse(absorbed)) {
    noteSources(op, sources);
    sources.remove(op);
    rewriter.eraseOp(op);
  }
  sources.remove(product);
  rewriter.eraseOp(product);
  // What was only there for them, such as broadcasts and tensors to fill.
  while (!sources.empty()) {
    Operation *op = sources.pop_back_val();
    if (!isOpTriviallyDead(op))
      continue;
    noteSources(op, sources);
    rewriter.eraseOp(op);
  }
}
