//===- StablehloGather.cpp - what is read by place, largest elements ------===//
//
// Part of the blockscale project, under the Apache License v2.0 with LLVM
// Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Stablehlo.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/IR/IRMapping.h"
#include "llvm/ADT/StringSwitch.h"

using namespace mlir;
using namespace blockscale;
using namespace blockscale::importer;

//===----------------------------------------------------------------------===//
// Gather
//===----------------------------------------------------------------------===//

namespace {
/// What `#stablehlo.gather<...>` says.
struct GatherNumbers {
  SmallVector<int64_t> offsets, collapsed, operandBatch, indexBatch, starts;
  int64_t vector = 0;
  SmallVector<int64_t> sizes;
};
} // namespace

static bool areBelow(ArrayRef<int64_t> numbers, int64_t end) {
  return llvm::all_of(numbers,
                      [&](int64_t one) { return one >= 0 && one < end; });
}

/// The number behind `name`; 0 for none.
static std::optional<int64_t> numberIn(StringRef text, StringRef name) {
  size_t at = text.find(name);
  int64_t number = 0;
  if (at == StringRef::npos)
    return number;
  StringRef rest = text.substr(at + name.size()).ltrim(" =");
  if (rest.take_while(llvm::isDigit).getAsInteger(10, number))
    return std::nullopt;
  return number;
}

/// Nothing where they do not fit operands and result; nobody verifies ops of
/// dialects that are not here.
static std::optional<GatherNumbers> readGather(Operation *op, ArrayRef<Value> v,
                                               RankedTensorType type) {
  auto opaque = dyn_cast_or_null<OpaqueAttr>(op->getAttr("dimension_numbers"));
  auto sizes = dyn_cast_or_null<DenseI64ArrayAttr>(op->getAttr("slice_sizes"));
  if (!opaque || !sizes)
    return std::nullopt;
  StringRef text = opaque.getAttrData();
  auto offsets = numbersIn(text, "offset_dims");
  auto collapsed = numbersIn(text, "collapsed_slice_dims");
  auto operandBatch = numbersIn(text, "operand_batching_dims");
  auto indexBatch = numbersIn(text, "start_indices_batching_dims");
  auto starts = numbersIn(text, "start_index_map");
  auto vector = numberIn(text, "index_vector_dim");
  if (!offsets || !collapsed || !operandBatch || !indexBatch || !starts ||
      !vector)
    return std::nullopt;
  GatherNumbers found{*offsets, *collapsed, *operandBatch, *indexBatch, *starts,
                      *vector,  {}};
  found.sizes.assign(sizes.asArrayRef().begin(), sizes.asArrayRef().end());
  RankedTensorType operand = typeOf(v[0]), indices = typeOf(v[1]);
  int64_t rank = operand.getRank(), indexRank = indices.getRank();
  if (!areBelow(found.offsets, type.getRank()) ||
      !areBelow(found.collapsed, rank) || !areBelow(found.operandBatch, rank) ||
      !areBelow(found.indexBatch, indexRank) || !areBelow(found.starts, rank) ||
      found.operandBatch.size() != found.indexBatch.size() ||
      int64_t(found.sizes.size()) != rank || found.vector > indexRank)
    return std::nullopt;
  int64_t components =
      found.vector == indexRank ? 1 : indices.getDimSize(found.vector);
  int64_t batch = indexRank - (found.vector == indexRank ? 0 : 1);
  if (components != int64_t(found.starts.size()) ||
      type.getRank() != batch + int64_t(found.offsets.size()) ||
      rank != int64_t(found.offsets.size() + found.collapsed.size() +
                      found.operandBatch.size()))
    return std::nullopt;
  for (auto [size, whole] : llvm::zip(found.sizes, operand.getShape()))
    if (size < 0 || size > whole)
      return std::nullopt;
  return found;
}

namespace {
/// Writes where an element of the result is read.
class GatherPlaces {
public:
  GatherPlaces(OpBuilder &b, Location loc, const GatherNumbers &numbers,
               Value indices, RankedTensorType operand, int64_t rank)
      : b(loc, b), numbers(numbers), indices(indices), operand(operand) {
    for (int64_t i = 0; i < rank; ++i) {
      Value at = linalg::IndexOp::create(this->b, i);
      (llvm::is_contained(numbers.offsets, i) ? offsets : batch).push_back(at);
    }
  }

  SmallVector<Value> places() {
    SmallVector<Value> found;
    size_t nextOffset = 0;
    for (int64_t i = 0; i < operand.getRank(); ++i) {
      Value place = start(i);
      if (!llvm::is_contained(numbers.collapsed, i) &&
          !llvm::is_contained(numbers.operandBatch, i)) {
        Value offset = offsets[nextOffset++];
        place = place ? arith::AddIOp::create(b, place, offset) : offset;
      }
      found.push_back(place ? place
                            : arith::ConstantIndexOp::create(b, 0).getResult());
    }
    return found;
  }

private:
  /// Of dimension `i`, so that the whole slice is inside; null for none.
  Value start(int64_t i) {
    const auto *inBatch = llvm::find(numbers.operandBatch, i);
    if (inBatch != numbers.operandBatch.end()) {
      int64_t at =
          numbers.indexBatch[size_t(inBatch - numbers.operandBatch.begin())];
      return batch[size_t(at < numbers.vector ? at : at - 1)];
    }
    const auto *inMap = llvm::find(numbers.starts, i);
    if (inMap == numbers.starts.end())
      return {};
    SmallVector<Value> place(batch);
    if (numbers.vector < typeOf(indices).getRank())
      place.insert(
          place.begin() + numbers.vector,
          arith::ConstantIndexOp::create(b, inMap - numbers.starts.begin()));
    Value number = tensor::ExtractOp::create(b, indices, place);
    number = arith::IndexCastOp::create(b, b.getIndexType(), number);
    Value last = arith::ConstantIndexOp::create(
        b, operand.getDimSize(i) - numbers.sizes[size_t(i)]);
    number =
        arith::MaxSIOp::create(b, number, arith::ConstantIndexOp::create(b, 0));
    return arith::MinSIOp::create(b, number, last);
  }

  ImplicitLocOpBuilder b;
  const GatherNumbers &numbers;
  Value indices;
  RankedTensorType operand;
  SmallVector<Value> offsets, batch;
};
} // namespace

FailureOr<Value> importer::gathered(ImplicitLocOpBuilder &b, Operation *op,
                                    ArrayRef<Value> v, RankedTensorType type) {
  auto numbers = readGather(op, v, type);
  auto given = dyn_cast<IntegerType>(getElementTypeOrSelf(op->getOperand(1)));
  if (!numbers || !given)
    return op->emitError("has no 'dimension_numbers' and 'slice_sizes' that "
                         "fit its operands and result");
  if (given.isUnsigned())
    return op->emitError("by integers without a sign is not taken");
  auto rank = unsigned(type.getRank());
  SmallVector<utils::IteratorType> loops(rank, utils::IteratorType::parallel);
  auto generic = linalg::GenericOp::create(
      b, TypeRange{type}, ValueRange{}, ValueRange{emptyOf(b, type)},
      ArrayRef<AffineMap>{b.getMultiDimIdentityMap(rank)}, loops,
      [&](OpBuilder &inner, Location loc, ValueRange) {
        GatherPlaces places(inner, loc, *numbers, v[1], typeOf(v[0]), rank);
        Value element =
            tensor::ExtractOp::create(inner, loc, v[0], places.places());
        linalg::YieldOp::create(inner, loc, element);
      });
  return generic.getResult(0);
}

//===----------------------------------------------------------------------===//
// Reductions of several tensors
//===----------------------------------------------------------------------===//

static Value compared(ImplicitLocOpBuilder &b, Operation *op, ValueRange v) {
  Type element = v[0].getType();
  if (isa<FloatType>(element)) {
    auto predicate = floatPredicate(op);
    return predicate ? Value(arith::CmpFOp::create(b, *predicate, v[0], v[1]))
                     : Value();
  }
  auto predicate = integerPredicate(op, element);
  return predicate ? Value(arith::CmpIOp::create(b, *predicate, v[0], v[1]))
                   : Value();
}

/// One op of a region on single numbers; null for what is not taken.
static Value scalarOf(ImplicitLocOpBuilder &b, Operation *op, ValueRange v) {
  StringRef name = stablehloName(op);
  if (name == "select" && v.size() == 3)
    return arith::SelectOp::create(b, v[0], v[1], v[2]);
  if (v.size() != 2)
    return {};
  if (name == "compare")
    return compared(b, op, v);
  bool isFloat = isa<FloatType>(v[0].getType());
  auto make = [&](auto ofFloats, auto ofIntegers) -> Value {
    if (isFloat)
      return decltype(ofFloats)::create(b, v[0], v[1]);
    return decltype(ofIntegers)::create(b, v[0], v[1]);
  };
  bool isBool = v[0].getType().isInteger(1);
  if (name == "and" && !isFloat)
    return arith::AndIOp::create(b, v[0], v[1]);
  if ((name == "or" || (name == "add" && isBool)) && !isFloat)
    return arith::OrIOp::create(b, v[0], v[1]);
  if (isBool)
    return {};
  return llvm::StringSwitch<std::function<Value()>>(name)
      .Case("add", [&] { return make(arith::AddFOp(), arith::AddIOp()); })
      .Case("multiply", [&] { return make(arith::MulFOp(), arith::MulIOp()); })
      .Case("maximum",
            [&] { return make(arith::MaximumFOp(), arith::MaxSIOp()); })
      .Case("minimum",
            [&] { return make(arith::MinimumFOp(), arith::MinSIOp()); })
      .Default([] { return Value(); })();
}

/// The region of a reduction on single numbers, the running ones first; an
/// error at the op that is not taken.
static LogicalResult cloneBody(ImplicitLocOpBuilder &b, Operation *op,
                               ValueRange elements, ValueRange running) {
  Block &body = op->getRegion(0).front();
  IRMapping map;
  for (auto [i, argument] : llvm::enumerate(body.getArguments()))
    map.map(argument,
            i < running.size() ? running[i] : elements[i - running.size()]);
  // Nobody knows that the last op ends the block.
  for (Operation &each : llvm::drop_end(body.getOperations())) {
    SmallVector<Value> operands;
    for (Value operand : each.getOperands())
      operands.push_back(map.lookupOrNull(operand));
    Value made;
    if (each.getNumResults() == 1 && !llvm::is_contained(operands, Value()))
      made = scalarOf(b, &each, operands);
    if (!made)
      return each.emitError("in the body of a reduction is not taken");
    map.map(each.getResult(0), made);
  }
  SmallVector<Value> results;
  if (stablehloName(&body.back()) == "return")
    for (Value result : body.back().getOperands())
      results.push_back(map.lookupOrNull(result));
  if (results.size() != running.size() || llvm::is_contained(results, Value()))
    return op->emitError("has a body that gives other numbers than it takes");
  linalg::YieldOp::create(b, results);
  return success();
}

FailureOr<SmallVector<Value>> importer::reducedTogether(ImplicitLocOpBuilder &b,
                                                        Operation *op,
                                                        ArrayRef<Value> v) {
  size_t count = op->getNumResults();
  auto axes = dyn_cast_or_null<DenseI64ArrayAttr>(op->getAttr("dimensions"));
  if (!axes || v.size() != 2 * count || op->getNumRegions() != 1 ||
      !op->getRegion(0).hasOneBlock() || op->getRegion(0).front().empty() ||
      op->getRegion(0).front().getNumArguments() != 2 * count)
    return op->emitError("is no reduction of as many tensors as numbers");
  RankedTensorType source = typeOf(v[0]);
  auto rank = unsigned(source.getRank());
  SmallVector<AffineExpr> kept;
  SmallVector<utils::IteratorType> loops(rank, utils::IteratorType::parallel);
  SmallVector<int64_t> shape;
  for (unsigned i = 0; i < rank; ++i) {
    if (llvm::is_contained(axes.asArrayRef(), int64_t(i))) {
      loops[i] = utils::IteratorType::reduction;
      continue;
    }
    kept.push_back(b.getAffineDimExpr(i));
    shape.push_back(source.getDimSize(i));
  }
  SmallVector<AffineMap> maps(count, b.getMultiDimIdentityMap(rank));
  SmallVector<Value> starts;
  SmallVector<Type> types;
  for (size_t i = 0; i < count; ++i) {
    RankedTensorType type = withoutSign(op->getResult(unsigned(i)).getType());
    auto given = dyn_cast<IntegerType>(
        getElementTypeOrSelf(op->getOperand(unsigned(i))));
    bool fits = typeOf(v[i]).getShape() == source.getShape() &&
                type.getShape() == ArrayRef<int64_t>(shape) &&
                typeOf(v[count + i]).getRank() == 0 &&
                typeOf(v[i]).getElementType() == type.getElementType();
    if (!fits || (given && given.isUnsigned()))
      return op->emitError("of several tensors: their shapes differ, or they "
                           "have integers without a sign");
    Value first = tensor::ExtractOp::create(b, v[count + i], ValueRange{});
    starts.push_back(tensor::SplatOp::create(b, first, type));
    types.push_back(type);
    maps.push_back(AffineMap::get(rank, 0, kept, b.getContext()));
  }
  LogicalResult isTaken = success();
  auto generic = linalg::GenericOp::create(
      b, types, v.take_front(count), starts, maps, loops,
      [&](OpBuilder &inner, Location loc, ValueRange args) {
        ImplicitLocOpBuilder body(loc, inner);
        isTaken =
            cloneBody(body, op, args.take_front(count), args.drop_front(count));
        if (failed(isTaken))
          linalg::YieldOp::create(body, args.drop_front(count));
      });
  if (failed(isTaken))
    return failure();
  return SmallVector<Value>(generic.getResults());
}
