//===- StablehloSums.cpp - reductions and products without scales ---------===//
//
// Part of the blockscale project, under the Apache License v2.0 with LLVM
// Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Product.h"
#include "Stablehlo.h"
#include "StablehloConvert.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "llvm/ADT/StringSwitch.h"

using namespace mlir;
using namespace blockscale;
using namespace blockscale::importer;

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

FailureOr<Value> importer::reduced(ImplicitLocOpBuilder &b, Operation *op,
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

FailureOr<Value> importer::dot(ImplicitLocOpBuilder &b, Operation *op,
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
  SmallVector<Value> operands;
  for (Value operand : v) {
    if (typeOf(operand).getElementTypeBitWidth() >
            wide.getElementTypeBitWidth() ||
        isa<FloatType>(typeOf(operand).getElementType()) !=
            isa<FloatType>(element))
      return op->emitError("takes floats for floats and integers for integers, "
                           "not wider than those of its result");
    operands.push_back(isNarrowFloat(operand) ? toSingle(b, operand) : operand);
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
      b, TypeRange{wide}, operands, ValueRange{start}, maps, kinds,
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
