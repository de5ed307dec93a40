//===- StablehloStructure.cpp - shapes, sums and products around ours -----===//
//
// Part of the blockscale project, under the Apache License v2.0 with LLVM
// Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Stablehlo.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/Dialect/Utils/IndexingUtils.h"

using namespace mlir;
using namespace blockscale;
using namespace blockscale::importer;

//===----------------------------------------------------------------------===//
// Names and types
//===----------------------------------------------------------------------===//

StringRef importer::stablehloName(Operation *op) {
  StringRef name = op->getName().getStringRef();
  // CHLO is what JAX writes for functions that StableHLO has no op for.
  if (op->isRegistered() ||
      !(name.consume_front("stablehlo.") || name.consume_front("chlo.")))
    return "";
  return name;
}

RankedTensorType importer::withoutSign(Type type) {
  auto tensor = cast<RankedTensorType>(type);
  auto integer = dyn_cast<IntegerType>(tensor.getElementType());
  if (!integer || integer.isSignless())
    return tensor;
  return tensor.clone(IntegerType::get(type.getContext(), integer.getWidth()));
}

/// What ops here make of integers without a sign is read as such by the next;
/// the two casts between them go away.
Value importer::withoutSign(ImplicitLocOpBuilder &b, Value value) {
  RankedTensorType type = withoutSign(value.getType());
  if (type == value.getType())
    return value;
  if (auto cast = value.getDefiningOp<tensor::BitcastOp>();
      cast && cast.getSource().getType() == type)
    return cast.getSource();
  return tensor::BitcastOp::create(b, type, value);
}

//===----------------------------------------------------------------------===//
// Attributes
//===----------------------------------------------------------------------===//

std::optional<SmallVector<int64_t>>
importer::numbersOf(Operation *op, StringRef name, int64_t end) {
  auto array = dyn_cast_or_null<DenseI64ArrayAttr>(op->getAttr(name));
  if (!array)
    return std::nullopt;
  SmallVector<int64_t> numbers(array.asArrayRef());
  for (int64_t number : numbers)
    if (number < 0 || number >= end)
      return std::nullopt;
  return numbers;
}

static std::optional<int64_t> numberOf(Operation *op, StringRef name,
                                       int64_t end) {
  auto attribute = dyn_cast_or_null<IntegerAttr>(op->getAttr(name));
  if (!attribute || attribute.getInt() < 0 || attribute.getInt() >= end)
    return std::nullopt;
  return attribute.getInt();
}

std::optional<SmallVector<int64_t>> importer::numbersIn(StringRef text,
                                                        StringRef name) {
  SmallVector<int64_t> numbers;
  // The end of a longer name is none of this.
  size_t at = text.find(name);
  while (at != StringRef::npos && at > 0 &&
         (llvm::isAlnum(text[at - 1]) || text[at - 1] == '_'))
    at = text.find(name, at + 1);
  if (at == StringRef::npos)
    return numbers;
  StringRef rest = text.substr(at + name.size()).ltrim(" =");
  if (!rest.consume_front("["))
    return std::nullopt;
  SmallVector<StringRef> parts;
  rest.take_until([](char c) { return c == ']'; })
      .split(parts, ',', /*MaxSplit=*/-1, /*KeepEmpty=*/false);
  for (StringRef part : parts) {
    int64_t number = 0;
    if (part.trim().getAsInteger(10, number) || number < 0)
      return std::nullopt;
    numbers.push_back(number);
  }
  return numbers;
}

LogicalResult importer::isMissing(Operation *op, StringRef name) {
  return op->emitError() << "has no '" << name
                         << "' that fits its operands and result";
}

//===----------------------------------------------------------------------===//
// Shapes
//===----------------------------------------------------------------------===//

RankedTensorType importer::typeOf(Value value) {
  return cast<RankedTensorType>(value.getType());
}

/// All elements in one dimension.
static Value flatten(ImplicitLocOpBuilder &b, Value value) {
  RankedTensorType type = typeOf(value);
  if (type.getRank() == 1)
    return value;
  auto flat =
      RankedTensorType::get({type.getNumElements()}, type.getElementType());
  SmallVector<ReassociationIndices> groups;
  if (type.getRank() == 0)
    return tensor::ExpandShapeOp::create(b, flat, value, groups);
  groups.emplace_back(llvm::to_vector(llvm::seq<int64_t>(0, type.getRank())));
  return tensor::CollapseShapeOp::create(b, flat, value, groups);
}

Value importer::reshape(ImplicitLocOpBuilder &b, Value value,
                        ArrayRef<int64_t> shape) {
  if (typeOf(value).getShape() == shape)
    return value;
  Value flat = flatten(b, value);
  if (shape.size() == 1)
    return flat;
  auto type = RankedTensorType::get(shape, typeOf(value).getElementType());
  SmallVector<ReassociationIndices> groups;
  if (shape.empty())
    return tensor::CollapseShapeOp::create(b, type, flat, groups);
  groups.emplace_back(
      llvm::to_vector(llvm::seq<int64_t>(0, int64_t(shape.size()))));
  return tensor::ExpandShapeOp::create(b, type, flat, groups);
}

Value importer::emptyOf(ImplicitLocOpBuilder &b, RankedTensorType type) {
  return tensor::EmptyOp::create(b, type.getShape(), type.getElementType());
}

SmallVector<utils::IteratorType> importer::parallel(int64_t rank) {
  return SmallVector<utils::IteratorType>(size_t(rank),
                                          utils::IteratorType::parallel);
}

/// A dimension of one element is the same everywhere.
static FailureOr<Value> broadcast(ImplicitLocOpBuilder &b, Operation *op,
                                  Value source, RankedTensorType type) {
  auto places = numbersOf(op, "broadcast_dimensions", type.getRank());
  RankedTensorType from = typeOf(source);
  if (!places || int64_t(places->size()) != from.getRank())
    return isMissing(op, "broadcast_dimensions");
  SmallVector<AffineExpr> read;
  for (auto [size, place] : llvm::zip(from.getShape(), *places)) {
    int64_t whole = type.getDimSize(place);
    if (size != 1 && size != whole)
      return isMissing(op, "broadcast_dimensions");
    read.push_back(size == whole ? b.getAffineDimExpr(unsigned(place))
                                 : b.getAffineConstantExpr(0));
  }
  auto rank = unsigned(type.getRank());
  AffineMap maps[] = {AffineMap::get(rank, 0, read, b.getContext()),
                      b.getMultiDimIdentityMap(rank)};
  auto generic = linalg::GenericOp::create(
      b, TypeRange{type}, ValueRange{source}, ValueRange{emptyOf(b, type)},
      maps, parallel(rank), [](OpBuilder &inner, Location loc, ValueRange v) {
        linalg::YieldOp::create(inner, loc, v[0]);
      });
  return generic.getResult(0);
}

static FailureOr<Value> transposed(ImplicitLocOpBuilder &b, Operation *op,
                                   Value source, RankedTensorType type) {
  auto order = numbersOf(op, "permutation", type.getRank());
  if (!order || int64_t(order->size()) != type.getRank() ||
      !isPermutationVector(*order) ||
      applyPermutation(typeOf(source).getShape(), *order) != type.getShape())
    return isMissing(op, "permutation");
  return linalg::TransposeOp::create(b, source, emptyOf(b, type), *order)
      ->getResult(0);
}

static FailureOr<Value> slice(ImplicitLocOpBuilder &b, Operation *op,
                              Value source, RankedTensorType type) {
  auto start = numbersOf(op, "start_indices");
  auto strides = numbersOf(op, "strides");
  RankedTensorType from = typeOf(source);
  if (!start || !strides || start->size() != strides->size() ||
      int64_t(start->size()) != from.getRank() ||
      from.getRank() != type.getRank())
    return isMissing(op, "start_indices");
  SmallVector<OpFoldResult> offsets, sizes, steps;
  for (auto [first, step, size, whole] :
       llvm::zip(*start, *strides, type.getShape(), from.getShape())) {
    int64_t last = 0;
    if (step < 1 || llvm::MulOverflow(size ? size - 1 : 0, step, last) ||
        llvm::AddOverflow(last, first, last) || (size && last >= whole))
      return isMissing(op, "start_indices");
    offsets.push_back(b.getIndexAttr(first));
    sizes.push_back(b.getIndexAttr(size));
    steps.push_back(b.getIndexAttr(step));
  }
  return Value(
      tensor::ExtractSliceOp::create(b, type, source, offsets, sizes, steps));
}

static FailureOr<Value> concatenated(ImplicitLocOpBuilder &b, Operation *op,
                                     ArrayRef<Value> parts,
                                     RankedTensorType type) {
  auto dimension = numberOf(op, "dimension", type.getRank());
  if (!dimension)
    return isMissing(op, "dimension");
  int64_t sum = 0;
  for (Value part : parts) {
    SmallVector<int64_t> shape(typeOf(part).getShape());
    if (int64_t(shape.size()) != type.getRank())
      return isMissing(op, "dimension");
    sum += shape[size_t(*dimension)];
    shape[size_t(*dimension)] = type.getDimSize(*dimension);
    if (ArrayRef<int64_t>(shape) != type.getShape())
      return isMissing(op, "dimension");
  }
  if (sum != type.getDimSize(*dimension))
    return isMissing(op, "dimension");
  Value result = emptyOf(b, type);
  int64_t at = 0;
  for (Value part : parts) {
    SmallVector<OpFoldResult> offsets(size_t(type.getRank()),
                                      b.getIndexAttr(0)),
        sizes, steps(size_t(type.getRank()), b.getIndexAttr(1));
    offsets[size_t(*dimension)] = b.getIndexAttr(at);
    for (int64_t size : typeOf(part).getShape())
      sizes.push_back(b.getIndexAttr(size));
    result =
        tensor::InsertSliceOp::create(b, part, result, offsets, sizes, steps);
    at += typeOf(part).getDimSize(*dimension);
  }
  return result;
}

/// With the order of elements along some dimensions turned round.
static FailureOr<Value> reversed(ImplicitLocOpBuilder &b, Operation *op,
                                 Value source, RankedTensorType type) {
  auto dimensions = numbersOf(op, "dimensions", type.getRank());
  if (!dimensions || typeOf(source) != type)
    return isMissing(op, "dimensions");
  auto rank = unsigned(type.getRank());
  auto generic = linalg::GenericOp::create(
      b, TypeRange{type}, ValueRange{}, ValueRange{emptyOf(b, type)},
      ArrayRef<AffineMap>{b.getMultiDimIdentityMap(rank)}, parallel(rank),
      [&](OpBuilder &inner, Location loc, ValueRange) {
        SmallVector<Value> places;
        for (int64_t i = 0; i < type.getRank(); ++i) {
          Value at = linalg::IndexOp::create(inner, loc, uint64_t(i));
          if (llvm::is_contained(*dimensions, i)) {
            Value last = arith::ConstantIndexOp::create(inner, loc,
                                                        type.getDimSize(i) - 1);
            at = arith::SubIOp::create(inner, loc, last, at);
          }
          places.push_back(at);
        }
        Value element = tensor::ExtractOp::create(inner, loc, source, places);
        linalg::YieldOp::create(inner, loc, element);
      });
  return generic.getResult(0);
}

//===----------------------------------------------------------------------===//
// Constants
//===----------------------------------------------------------------------===//

static FailureOr<Value> constant(ImplicitLocOpBuilder &b, Operation *op,
                                 RankedTensorType type) {
  auto value = dyn_cast_or_null<ElementsAttr>(op->getAttr("value"));
  if (!value || value.getShapedType() != op->getResult(0).getType())
    return isMissing(op, "value");
  if (value.getShapedType() == type)
    return Value(arith::ConstantOp::create(b, type, cast<TypedAttr>(value)));
  auto dense = dyn_cast<DenseIntElementsAttr>(value);
  if (!dense)
    return isMissing(op, "value");
  return Value(
      arith::ConstantOp::create(b, dense.bitcast(type.getElementType())));
}

/// Counts along a dimension.
static FailureOr<Value> iota(ImplicitLocOpBuilder &b, Operation *op,
                             RankedTensorType type) {
  auto dimension = numberOf(op, "iota_dimension", type.getRank());
  Type element = type.getElementType();
  bool isFloat = element.isF32() || element.isF64();
  if (!dimension || !(isFloat || isa<IntegerType>(element)))
    return isMissing(op, "iota_dimension");
  auto rank = unsigned(type.getRank());
  auto generic = linalg::GenericOp::create(
      b, TypeRange{type}, ValueRange{}, ValueRange{emptyOf(b, type)},
      ArrayRef<AffineMap>{b.getMultiDimIdentityMap(rank)}, parallel(rank),
      [&](OpBuilder &inner, Location loc, ValueRange) {
        Value index = linalg::IndexOp::create(inner, loc, *dimension);
        Type integer = isFloat ? inner.getI64Type() : element;
        Value number = arith::IndexCastOp::create(inner, loc, integer, index);
        if (isFloat)
          number = arith::SIToFPOp::create(inner, loc, element, number);
        linalg::YieldOp::create(inner, loc, number);
      });
  return generic.getResult(0);
}

//===----------------------------------------------------------------------===//
// All of them
//===----------------------------------------------------------------------===//

FailureOr<Value> importer::structureOf(ImplicitLocOpBuilder &b, Operation *op) {
  StringRef name = stablehloName(op);
  RankedTensorType type = withoutSign(op->getResult(0).getType());
  SmallVector<Value> values;
  for (Value operand : op->getOperands())
    values.push_back(withoutSign(b, operand));
  size_t count = values.size();
  if (name == "constant" && count == 0)
    return constant(b, op, type);
  if (name == "iota" && count == 0)
    return iota(b, op, type);
  if (name == "concatenate" && count >= 1)
    return concatenated(b, op, values, type);
  if (name == "reduce" && count == 2)
    return reduced(b, op, values, type);
  if (name == "gather" && count == 2)
    return gathered(b, op, values, type);
  if (name == "dynamic_slice" && count >= 1)
    return dynamicSlice(b, op, values, type);
  if (name == "dynamic_update_slice" && count >= 2)
    return dynamicUpdateSlice(b, op, values);
  if (name == "dot_general" && count == 2)
    return dot(b, op, values, type);
  if (count != 1)
    return Value();
  if (name == "reshape") {
    if (typeOf(values[0]).getNumElements() != type.getNumElements())
      return op->emitError("changes how many elements there are");
    return reshape(b, values[0], type.getShape());
  }
  if (name == "broadcast_in_dim")
    return broadcast(b, op, values[0], type);
  if (name == "transpose")
    return transposed(b, op, values[0], type);
  if (name == "slice")
    return slice(b, op, values[0], type);
  if (name == "reverse")
    return reversed(b, op, values[0], type);
  return Value();
}

/// Whether an op has results and only tensors of known sizes.
static bool isStatic(Operation *op) {
  auto isKnown = [](Type type) {
    auto tensor = dyn_cast<RankedTensorType>(type);
    return tensor && tensor.hasStaticShape() &&
           tensor.getElementType().isIntOrFloat();
  };
  return op->getNumResults() > 0 &&
         llvm::all_of(op->getOperandTypes(), isKnown) &&
         llvm::all_of(op->getResultTypes(), isKnown);
}

/// Whether all operands of an elementwise op have the shape of its result, but
/// for single numbers.
static bool hasOneShape(Operation *op) {
  auto type = cast<RankedTensorType>(op->getResult(0).getType());
  return llvm::all_of(op->getOperandTypes(), [&](Type each) {
    auto tensor = cast<RankedTensorType>(each);
    return tensor.getRank() == 0 || tensor.getShape() == type.getShape();
  });
}

/// A composite as a call of the function that says what it means; none where
/// there is no such function.
static SmallVector<Value> decomposed(ImplicitLocOpBuilder &b, Operation *op) {
  auto name = dyn_cast_or_null<FlatSymbolRefAttr>(op->getAttr("decomposition"));
  auto function =
      name ? SymbolTable::lookupNearestSymbolFrom<func::FuncOp>(op, name)
           : func::FuncOp();
  if (!function || function.isExternal() ||
      !llvm::equal(function.getArgumentTypes(), op->getOperandTypes()) ||
      !llvm::equal(function.getResultTypes(), op->getResultTypes()))
    return {};
  auto call = func::CallOp::create(b, function, op->getOperands());
  return SmallVector<Value>(call.getResults());
}

/// What is in place of the op's results; nothing where it is not known.
static FailureOr<SmallVector<Value>> replacementsOf(ImplicitLocOpBuilder &b,
                                                    Operation *op) {
  if (stablehloName(op) == "composite")
    return decomposed(b, op);
  StringRef name = stablehloName(op);
  if (name == "while")
    return looped(b, op);
  if (name == "case" || name == "if")
    return chosen(b, op);
  bool isSort = name == "sort", isLargest = name == "top_k";
  if (op->getNumResults() > 1 || isSort) {
    if (name != "reduce" && !isSort && !isLargest)
      return SmallVector<Value>();
    SmallVector<Value> values;
    for (Value operand : op->getOperands())
      values.push_back(importer::withoutSign(b, operand));
    return isSort      ? sorted(b, op, values)
           : isLargest ? largest(b, op, values)
                       : reducedTogether(b, op, values);
  }
  FailureOr<Value> value = structureOf(b, op);
  if (succeeded(value) && !*value && hasOneShape(op))
    value = elementwiseOf(b, op);
  if (failed(value))
    return failure();
  return *value ? SmallVector<Value>{*value} : SmallVector<Value>();
}

/// Arrays of integers have no sign in the rest of the pipeline: what arithmetic
/// on them depends on it has been chosen.
static void dropSigns(Operation *root) {
  AttrTypeReplacer replacer;
  replacer.addReplacement([](RankedTensorType type) -> std::optional<Type> {
    RankedTensorType plain = importer::withoutSign(type);
    return plain == type ? std::nullopt : std::optional<Type>(plain);
  });
  replacer.recursivelyReplaceElementsIn(root, /*replaceAttrs=*/true,
                                        /*replaceLocs=*/false,
                                        /*replaceTypes=*/true);
  root->walk([](tensor::BitcastOp op) {
    if (op.getType() != op.getSource().getType())
      return;
    op.replaceAllUsesWith(op.getSource());
    op.erase();
  });
}

/// Appends the ops of StableHLO inside `root`, but for those in their regions.
static void collectStablehlo(Operation *root,
                             SmallVectorImpl<Operation *> &ops) {
  root->walk<WalkOrder::PreOrder>([&](Operation *op) {
    if (stablehloName(op).empty())
      return WalkResult::advance();
    ops.push_back(op);
    return WalkResult::skip();
  });
}

void importer::lowerStablehlo(Operation *root, bool &refused) {
  bool hasSigns = false;
  SmallVector<Operation *> ops;
  collectStablehlo(root, ops);
  // A loop or choice that was lowered adds the ops of its regions.
  for (size_t i = 0; i < ops.size(); ++i) {
    Operation *op = ops[i];
    ImplicitLocOpBuilder b(op->getLoc(), op->getContext());
    b.setInsertionPoint(op);
    if (!isStatic(op)) {
      if (Value value = ofUnknownSizes(b, op)) {
        op->replaceAllUsesWith(ValueRange{value});
        op->erase();
      }
      continue;
    }
    FailureOr<SmallVector<Value>> values = replacementsOf(b, op);
    if (failed(values)) {
      refused = true;
      continue;
    }
    if (values->empty())
      continue;
    for (auto [value, type] : llvm::zip(*values, op->getResultTypes())) {
      if (value.getType() == type)
        continue;
      value = tensor::BitcastOp::create(b, type, value);
      hasSigns = true;
    }
    hasSigns |= llvm::any_of(op->getOperandTypes(), [](Type each) {
      return withoutSign(each) != each;
    });
    op->replaceAllUsesWith(*values);
    op->erase();
    Operation *made = values->front().getDefiningOp();
    if (isa_and_nonnull<scf::WhileOp, scf::IfOp, scf::IndexSwitchOp>(made))
      collectStablehlo(made, ops);
  }
  if (hasSigns)
    dropSigns(root);
}
