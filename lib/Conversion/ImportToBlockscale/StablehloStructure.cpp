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
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/Dialect/Utils/IndexingUtils.h"
#include "llvm/ADT/StringSwitch.h"

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

/// The numbers of `array<i64: 1, 2>`, each from 0 up to `end`.
static std::optional<SmallVector<int64_t>>
numbersOf(Operation *op, StringRef name,
          int64_t end = std::numeric_limits<int64_t>::max()) {
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

static LogicalResult isMissing(Operation *op, StringRef name) {
  return op->emitError() << "has no '" << name
                         << "' that fits its operands and result";
}

//===----------------------------------------------------------------------===//
// Shapes
//===----------------------------------------------------------------------===//

static RankedTensorType typeOf(Value value) {
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

static Value emptyOf(ImplicitLocOpBuilder &b, RankedTensorType type) {
  return tensor::EmptyOp::create(b, type.getShape(), type.getElementType());
}

static SmallVector<utils::IteratorType> parallel(int64_t rank) {
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
// Sums and products
//===----------------------------------------------------------------------===//

/// Narrow floats are added up in f32.
static Type sumType(Type element) {
  bool isNarrow =
      isa<FloatType>(element) && element.getIntOrFloatBitWidth() < 32;
  return isNarrow ? Type(Float32Type::get(element.getContext())) : element;
}

static Value widened(OpBuilder &b, Location loc, Value value, Type type) {
  if (value.getType() == type)
    return value;
  if (isa<FloatType>(type))
    return arith::ExtFOp::create(b, loc, type, value);
  return arith::ExtSIOp::create(b, loc, type, value);
}

/// What a reduction does with two numbers; null if nothing that is known here.
static Value joined(OpBuilder &b, Location loc, StringRef name, Value x,
                    Value y) {
  bool isFloat = isa<FloatType>(x.getType());
  bool isBool = x.getType().isInteger(1);
  auto make = [&](auto tag) -> Value {
    return decltype(tag)::create(b, loc, x, y);
  };
  if (isFloat)
    return llvm::StringSwitch<std::function<Value()>>(name)
        .Case("add", [&] { return make(arith::AddFOp()); })
        .Case("multiply", [&] { return make(arith::MulFOp()); })
        .Case("maximum", [&] { return make(arith::MaximumFOp()); })
        .Case("minimum", [&] { return make(arith::MinimumFOp()); })
        .Default([] { return Value(); })();
  return llvm::StringSwitch<std::function<Value()>>(name)
      .Case(
          "add",
          [&] { return isBool ? make(arith::OrIOp()) : make(arith::AddIOp()); })
      .Case("maximum",
            [&] {
              return isBool ? make(arith::OrIOp()) : make(arith::MaxSIOp());
            })
      .Case("minimum",
            [&] {
              return isBool ? make(arith::AndIOp()) : make(arith::MinSIOp());
            })
      .Case("and", [&] { return make(arith::AndIOp()); })
      .Case("or", [&] { return make(arith::OrIOp()); })
      .Default([] { return Value(); })();
}

/// `value`, floats of another width, as `type`.
static Value resized(ImplicitLocOpBuilder &b, Value value,
                     RankedTensorType type) {
  unsigned from = typeOf(value).getElementTypeBitWidth();
  unsigned to = type.getElementTypeBitWidth();
  if (typeOf(value).getElementType() == type.getElementType())
    return value;
  if (from > to)
    return arith::TruncFOp::create(b, type, value);
  return arith::ExtFOp::create(b, type, value);
}

/// The only op of a reduction's region, if it takes both of its arguments.
static StringRef reducer(Operation *op) {
  if (op->getNumRegions() != 1 || !op->getRegion(0).hasOneBlock())
    return "";
  Block &body = op->getRegion(0).front();
  if (body.getNumArguments() != 2 || body.getOperations().size() != 2)
    return "";
  Operation &first = body.front(), &last = body.back();
  bool isPlain = first.getNumOperands() == 2 && first.getNumResults() == 1 &&
                 first.getOperand(0) == body.getArgument(0) &&
                 first.getOperand(1) == body.getArgument(1) &&
                 stablehloName(&last) == "return" &&
                 last.getNumOperands() == 1 &&
                 last.getOperand(0) == first.getResult(0);
  return isPlain ? stablehloName(&first) : "";
}

static FailureOr<Value> reduced(ImplicitLocOpBuilder &b, Operation *op,
                                ArrayRef<Value> v, RankedTensorType type) {
  StringRef name = reducer(op);
  if (name.empty()) {
    FailureOr<SmallVector<Value>> results = reducedTogether(b, op, v);
    return failed(results) ? FailureOr<Value>() : results->front();
  }
  if (typeOf(v[1]).getRank() != 0)
    return isMissing(op, "dimensions");
  if (auto given =
          dyn_cast<IntegerType>(getElementTypeOrSelf(op->getOperand(0)));
      given && given.isUnsigned())
    return op->emitError("of integers without a sign is not taken");
  auto axes = numbersOf(op, "dimensions", typeOf(v[0]).getRank());
  if (!axes || !llvm::is_sorted(*axes) ||
      std::adjacent_find(axes->begin(), axes->end()) != axes->end() ||
      typeOf(v[0]).getRank() - int64_t(axes->size()) != type.getRank())
    return isMissing(op, "dimensions");
  auto wide = type.clone(sumType(type.getElementType()));
  Value source = resized(b, v[0], typeOf(v[0]).clone(wide.getElementType()));
  Value first = tensor::ExtractOp::create(b, v[1], ValueRange{});
  first = widened(b, b.getLoc(), first, wide.getElementType());
  Value start = tensor::SplatOp::create(b, first, wide);
  bool isKnown = true;
  auto reduce = linalg::ReduceOp::create(
      b, ValueRange{source}, ValueRange{start}, *axes,
      [&](OpBuilder &inner, Location loc, ValueRange args) {
        Value sum = joined(inner, loc, name, args[1], args[0]);
        isKnown = bool(sum);
        linalg::YieldOp::create(inner, loc, sum ? sum : args[0]);
      });
  if (!isKnown)
    return op->emitError() << "with '" << name << "' is not taken";
  return resized(b, reduce.getResult(0), type);
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

namespace {
/// The loops of a product: batch dimensions, rows, columns, then sums.
struct DotLoops {
  SmallVector<int64_t> sizes;
  SmallVector<AffineExpr> a, b;
  int64_t results = 0;
};
} // namespace

static FailureOr<DotLoops> loopsOfDot(ImplicitLocOpBuilder &b, Operation *op,
                                      ArrayRef<Value> v) {
  auto opaque =
      dyn_cast_or_null<OpaqueAttr>(op->getAttr("dot_dimension_numbers"));
  StringRef text = opaque ? opaque.getAttrData() : StringRef();
  auto batchA = numbersIn(text, "lhs_batching_dimensions");
  auto batchB = numbersIn(text, "rhs_batching_dimensions");
  auto sumA = numbersIn(text, "lhs_contracting_dimensions");
  auto sumB = numbersIn(text, "rhs_contracting_dimensions");
  if (!opaque || !batchA || !batchB || !sumA || !sumB ||
      batchA->size() != batchB->size() || sumA->size() != sumB->size())
    return isMissing(op, "dot_dimension_numbers");
  DotLoops loops;
  ArrayRef<int64_t> shapes[] = {typeOf(v[0]).getShape(),
                                typeOf(v[1]).getShape()};
  SmallVector<AffineExpr> *read[] = {&loops.a, &loops.b};
  for (unsigned side : {0u, 1u})
    read[side]->resize(shapes[side].size());
  auto addPair = [&](int64_t inA, int64_t inB) {
    bool isThere = inA < int64_t(shapes[0].size()) &&
                   inB < int64_t(shapes[1].size()) && !loops.a[size_t(inA)] &&
                   !loops.b[size_t(inB)] &&
                   shapes[0][size_t(inA)] == shapes[1][size_t(inB)];
    if (isThere)
      loops.a[size_t(inA)] = loops.b[size_t(inB)] =
          b.getAffineDimExpr(unsigned(loops.sizes.size()));
    if (isThere)
      loops.sizes.push_back(shapes[0][size_t(inA)]);
    return isThere;
  };
  bool isRight = true;
  for (auto [inA, inB] : llvm::zip(*batchA, *batchB))
    isRight = isRight && addPair(inA, inB);
  ArrayRef<int64_t> summed[] = {*sumA, *sumB};
  for (unsigned side : {0u, 1u})
    for (auto [i, size] : llvm::enumerate(shapes[side])) {
      if ((*read[side])[i] || llvm::is_contained(summed[side], int64_t(i)))
        continue;
      (*read[side])[i] = b.getAffineDimExpr(unsigned(loops.sizes.size()));
      loops.sizes.push_back(size);
    }
  loops.results = int64_t(loops.sizes.size());
  for (auto [inA, inB] : llvm::zip(*sumA, *sumB))
    isRight = isRight && addPair(inA, inB);
  if (!isRight)
    return isMissing(op, "dot_dimension_numbers");
  return loops;
}

/// Summed in f32 and rounded once.
static FailureOr<Value> dot(ImplicitLocOpBuilder &b, Operation *op,
                            ArrayRef<Value> v, RankedTensorType type) {
  FailureOr<DotLoops> loops = loopsOfDot(b, op, v);
  if (failed(loops))
    return failure();
  auto count = unsigned(loops->sizes.size());
  ArrayRef<int64_t> shape =
      ArrayRef(loops->sizes).take_front(size_t(loops->results));
  if (shape != type.getShape())
    return isMissing(op, "dot_dimension_numbers");
  auto wide = type.clone(sumType(type.getElementType()));
  Type element = wide.getElementType();
  for (Value operand : v) {
    unsigned bits = typeOf(operand).getElementTypeBitWidth();
    bool isFloat = isa<FloatType>(typeOf(operand).getElementType());
    if (isFloat != isa<FloatType>(element) ||
        bits > wide.getElementTypeBitWidth() || (isFloat && bits <= 8))
      return op->emitError("takes elements of 16 bits and more, not wider than "
                           "those of its result");
  }
  Value zero = arith::ConstantOp::create(b, b.getZeroAttr(element));
  Value start = tensor::SplatOp::create(b, zero, wide);
  SmallVector<AffineExpr> written;
  for (int64_t i = 0; i < loops->results; ++i)
    written.push_back(b.getAffineDimExpr(unsigned(i)));
  AffineMap maps[] = {AffineMap::get(count, 0, loops->a, b.getContext()),
                      AffineMap::get(count, 0, loops->b, b.getContext()),
                      AffineMap::get(count, 0, written, b.getContext())};
  SmallVector<utils::IteratorType> kinds = parallel(loops->results);
  kinds.resize(count, utils::IteratorType::reduction);
  auto generic = linalg::GenericOp::create(
      b, TypeRange{wide}, v, ValueRange{start}, maps, kinds,
      [&](OpBuilder &inner, Location loc, ValueRange args) {
        Value x = widened(inner, loc, args[0], element);
        Value y = widened(inner, loc, args[1], element);
        Value product = isa<FloatType>(element)
                            ? Value(arith::MulFOp::create(inner, loc, x, y))
                            : Value(arith::MulIOp::create(inner, loc, x, y));
        linalg::YieldOp::create(inner, loc,
                                joined(inner, loc, "add", args[2], product));
      });
  return resized(b, generic.getResult(0), type);
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
  if (op->getNumResults() > 1) {
    if (stablehloName(op) != "reduce")
      return SmallVector<Value>();
    SmallVector<Value> values;
    for (Value operand : op->getOperands())
      values.push_back(importer::withoutSign(b, operand));
    return reducedTogether(b, op, values);
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

void importer::lowerStablehlo(Operation *root, bool &refused) {
  bool hasSigns = false;
  SmallVector<Operation *> ops;
  root->walk<WalkOrder::PreOrder>([&](Operation *op) {
    if (stablehloName(op).empty())
      return WalkResult::advance();
    ops.push_back(op);
    return WalkResult::skip();
  });
  for (Operation *op : ops) {
    if (!isStatic(op))
      continue;
    ImplicitLocOpBuilder b(op->getLoc(), op->getContext());
    b.setInsertionPoint(op);
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
  }
  if (hasSigns)
    dropSigns(root);
}
