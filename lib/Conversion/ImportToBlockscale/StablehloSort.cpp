//===- StablehloSort.cpp - sorting around products ------------------------===//
//
// Part of the blockscale project, under the Apache License v2.0 with LLVM
// Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

// An element's place is the number of those that come before it, which are
// counted; then each place takes the element that belongs there. That is
// quadratic in the length of what is sorted, such as the experts of a router,
// and needs no memory but for the places.

#include "Stablehlo.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/IR/IRMapping.h"

using namespace mlir;
using namespace blockscale;
using namespace blockscale::importer;

namespace {
/// Whether elements on the left come before those on the right; null where an
/// error was emitted.
using Before = llvm::function_ref<Value(ImplicitLocOpBuilder &b,
                                        ValueRange left, ValueRange right)>;

/// The loops over a tensor, the one along `axis` twice: `rank` is the second.
struct PairLoops {
  PairLoops(MLIRContext *context, int64_t rank, int64_t axis)
      : first(AffineMap::getMultiDimIdentityMap(unsigned(rank), context)),
        kinds(parallel(rank)) {
    SmallVector<AffineExpr> places(first.getResults());
    first = AffineMap::get(unsigned(rank + 1), 0, places, context);
    places[size_t(axis)] = getAffineDimExpr(unsigned(rank), context);
    second = AffineMap::get(unsigned(rank + 1), 0, places, context);
    kinds.push_back(utils::IteratorType::reduction);
  }

  AffineMap first, second;
  SmallVector<utils::IteratorType> kinds;
};
} // namespace

//===----------------------------------------------------------------------===//
// Places
//===----------------------------------------------------------------------===//

/// For each element how many along `axis` come before it; equal ones in their
/// order. Null where `before` gives none.
static Value placesAlong(ImplicitLocOpBuilder &b, ArrayRef<Value> v,
                         int64_t axis, Before before) {
  RankedTensorType shape = typeOf(v[0]);
  int64_t rank = shape.getRank();
  size_t count = v.size();
  PairLoops loops(b.getContext(), rank, axis);
  SmallVector<Value> read(v);
  llvm::append_range(read, v);
  SmallVector<AffineMap> maps(count, loops.first);
  maps.append(count, loops.second);
  maps.push_back(loops.first);
  auto type = shape.clone(b.getI32Type());
  Value zero = arith::ConstantOp::create(b, b.getI32IntegerAttr(0));
  Value start = tensor::SplatOp::create(b, zero, type);
  bool isKnown = true;
  auto generic = linalg::GenericOp::create(
      b, TypeRange{type}, read, ValueRange{start}, maps, loops.kinds,
      [&](OpBuilder &inner, Location loc, ValueRange args) {
        ImplicitLocOpBuilder body(loc, inner);
        ValueRange own = args.take_front(count);
        ValueRange other = args.slice(count, count);
        Value so_far = args.back();
        Value comes = before(body, other, own);
        Value follows = comes ? before(body, own, other) : Value();
        isKnown = bool(follows);
        if (!isKnown) {
          linalg::YieldOp::create(body, so_far);
          return;
        }
        Value at = linalg::IndexOp::create(body, uint64_t(axis));
        Value otherAt = linalg::IndexOp::create(body, uint64_t(rank));
        Value isEarlier =
            arith::CmpIOp::create(body, arith::CmpIPredicate::ult, otherAt, at);
        Value yes = arith::ConstantOp::create(body, body.getBoolAttr(true));
        Value ties = arith::AndIOp::create(
            body, isEarlier, arith::XOrIOp::create(body, follows, yes));
        Value isBefore = arith::OrIOp::create(body, comes, ties);
        Value one = arith::ExtUIOp::create(body, body.getI32Type(), isBefore);
        linalg::YieldOp::create(
            body, Value(arith::AddIOp::create(body, so_far, one)));
      });
  return isKnown ? generic.getResult(0) : Value();
}

/// What belongs to each place along `axis`, as many as `start` has: elements of
/// `source`, or where they were if there is none.
static Value placed(ImplicitLocOpBuilder &b, Value source, Value places,
                    int64_t axis, Value start) {
  RankedTensorType type = typeOf(start);
  int64_t rank = type.getRank();
  PairLoops loops(b.getContext(), rank, axis);
  SmallVector<Value> read{places};
  if (source)
    read.push_back(source);
  SmallVector<AffineMap> maps(read.size(), loops.second);
  maps.push_back(loops.first);
  auto generic = linalg::GenericOp::create(
      b, TypeRange{type}, read, ValueRange{start}, maps, loops.kinds,
      [&](OpBuilder &inner, Location loc, ValueRange args) {
        ImplicitLocOpBuilder body(loc, inner);
        auto number = [&](int64_t loop, Type as) -> Value {
          return arith::IndexCastOp::create(
              body, as, linalg::IndexOp::create(body, uint64_t(loop)));
        };
        Value isIt =
            arith::CmpIOp::create(body, arith::CmpIPredicate::eq, args[0],
                                  number(axis, body.getI32Type()));
        Value element = source ? args[1] : number(rank, type.getElementType());
        linalg::YieldOp::create(body, Value(arith::SelectOp::create(
                                          body, isIt, element, args.back())));
      });
  return generic.getResult(0);
}

//===----------------------------------------------------------------------===//
// Comparators
//===----------------------------------------------------------------------===//

/// Lowers what StableHLO says in a comparator, on tensors of one number.
static LogicalResult lowerComparator(Block &block) {
  // Nobody knows that the last op ends the block.
  for (Operation &op :
       llvm::make_early_inc_range(llvm::drop_end(block.getOperations()))) {
    ImplicitLocOpBuilder b(op.getLoc(), &op);
    auto hasOneNumber = [](Type type) {
      auto tensor = dyn_cast<RankedTensorType>(type);
      return tensor && tensor.getRank() == 0 &&
             tensor.getElementType().isIntOrFloat();
    };
    FailureOr<Value> value = Value();
    if (op.getNumResults() == 1 &&
        llvm::all_of(op.getOperandTypes(), hasOneNumber) &&
        hasOneNumber(op.getResult(0).getType()))
      value = op.getNumOperands() ? elementwiseOf(b, &op) : structureOf(b, &op);
    if (failed(value))
      return failure();
    if (!*value)
      return op.emitError("in the comparison of a sort is not taken");
    if (value->getType() != op.getResult(0).getType())
      *value = tensor::BitcastOp::create(b, op.getResult(0).getType(), *value);
    op.replaceAllUsesWith(ValueRange{*value});
    op.erase();
  }
  return success();
}

/// The comparator on numbers; null, with an error, where it cannot be one.
static Value compare(ImplicitLocOpBuilder &b, Block &block, ValueRange left,
                     ValueRange right) {
  IRMapping map;
  for (auto [i, argument] : llvm::enumerate(block.getArguments()))
    map.map(argument, i % 2 ? right[i / 2] : left[i / 2]);
  for (Operation &op : llvm::drop_end(block.getOperations())) {
    if (isa<tensor::BitcastOp>(op)) {
      map.map(op.getResult(0), map.lookupOrDefault(op.getOperand(0)));
      continue;
    }
    auto constant = dyn_cast<arith::ConstantOp>(op);
    auto dense = constant ? dyn_cast<SplatElementsAttr>(constant.getValue())
                          : SplatElementsAttr();
    if (dense) {
      auto number = cast<TypedAttr>(dense.getSplatValue<Attribute>());
      map.map(op.getResult(0), arith::ConstantOp::create(b, number));
      continue;
    }
    bool isMapped = llvm::all_of(
        op.getOperands(), [&](Value operand) { return map.contains(operand); });
    if (!isMapped || op.getNumResults() != 1 || op.getNumRegions() ||
        !OpTrait::hasElementwiseMappableTraits(&op)) {
      op.emitError("in the comparison of a sort is not taken");
      return {};
    }
    Operation *copy = b.clone(op, map);
    Type element = getElementTypeOrSelf(op.getResult(0).getType());
    copy->getResult(0).setType(element);
    map.map(op.getResult(0), copy->getResult(0));
  }
  return map.lookupOrNull(block.back().getOperand(0));
}

//===----------------------------------------------------------------------===//
// Ops
//===----------------------------------------------------------------------===//

static std::optional<int64_t> integerOf(Operation *op, StringRef name) {
  auto number = dyn_cast_or_null<IntegerAttr>(op->getAttr(name));
  return number ? std::optional<int64_t>(number.getInt()) : std::nullopt;
}

/// Whether the region of a sort takes two numbers of each tensor and says
/// whether the first ones come before the second.
static bool isComparator(Operation *op) {
  if (op->getNumRegions() != 1 || !op->getRegion(0).hasOneBlock() ||
      op->getRegion(0).front().empty())
    return false;
  Block &block = op->getRegion(0).front();
  Operation &last = block.back();
  auto isNumber = [](Type type, Type element) {
    auto tensor = dyn_cast<RankedTensorType>(type);
    return tensor && tensor.getRank() == 0 &&
           tensor.getElementType() == element;
  };
  if (block.getNumArguments() != 2 * op->getNumOperands() ||
      stablehloName(&last) != "return" || last.getNumOperands() != 1 ||
      !isNumber(last.getOperand(0).getType(),
                IntegerType::get(op->getContext(), 1)))
    return false;
  for (auto [i, argument] : llvm::enumerate(block.getArgumentTypes()))
    if (!isNumber(argument,
                  getElementTypeOrSelf(op->getOperand(unsigned(i / 2)))))
      return false;
  return true;
}

FailureOr<SmallVector<Value>>
importer::sorted(ImplicitLocOpBuilder &b, Operation *op, ArrayRef<Value> v) {
  auto axis = integerOf(op, "dimension");
  bool areAlike = !v.empty() &&
                  llvm::equal(op->getOperandTypes(), op->getResultTypes()) &&
                  llvm::all_of(v, [&](Value each) {
                    return typeOf(each).getShape() == typeOf(v[0]).getShape();
                  });
  if (!areAlike || !isComparator(op))
    return op->emitError("has tensors of different shapes, or no comparison of "
                         "two numbers of each");
  // From the end, as StableHLO has it.
  int64_t rank = typeOf(v[0]).getRank();
  if (axis && *axis < 0)
    *axis += rank;
  if (!axis || *axis < 0 || *axis >= rank)
    return isMissing(op, "dimension");
  Block &comparator = op->getRegion(0).front();
  if (failed(lowerComparator(comparator)))
    return failure();
  Value places = placesAlong(
      b, v, *axis,
      [&](ImplicitLocOpBuilder &body, ValueRange left, ValueRange right) {
        return compare(body, comparator, left, right);
      });
  if (!places)
    return failure();
  SmallVector<Value> results;
  for (Value each : v)
    results.push_back(placed(b, each, places, *axis, each));
  return results;
}

FailureOr<SmallVector<Value>>
importer::largest(ImplicitLocOpBuilder &b, Operation *op, ArrayRef<Value> v) {
  auto count = integerOf(op, "k");
  RankedTensorType from = v.size() == 1 ? typeOf(v[0]) : RankedTensorType();
  if (!from || from.getRank() == 0 || !count || *count < 0 ||
      *count > from.getShape().back() || op->getNumResults() != 2)
    return isMissing(op, "k");
  SmallVector<int64_t> shape(from.getShape());
  shape.back() = *count;
  RankedTensorType values = withoutSign(op->getResult(0).getType());
  RankedTensorType indices = withoutSign(op->getResult(1).getType());
  if (values != from.clone(shape) ||
      indices != RankedTensorType::get(shape, b.getI32Type()))
    return isMissing(op, "k");
  Type given = getElementTypeOrSelf(op->getOperand(0));
  int64_t axis = from.getRank() - 1;
  Value keys = orderKeys(b, v[0], given);
  if (!keys)
    return op->emitError() << "of elements of " << given << " is not taken";
  auto how = given.isUnsignedInteger() || given.isInteger(1)
                 ? arith::CmpIPredicate::ugt
                 : arith::CmpIPredicate::sgt;
  Value places = placesAlong(
      b, keys, axis,
      [&](ImplicitLocOpBuilder &body, ValueRange left, ValueRange right) {
        return Value(arith::CmpIOp::create(body, how, left[0], right[0]));
      });
  auto startOf = [&](RankedTensorType type) -> Value {
    Value zero =
        arith::ConstantOp::create(b, b.getZeroAttr(type.getElementType()));
    return tensor::SplatOp::create(b, zero, type);
  };
  return SmallVector<Value>{placed(b, v[0], places, axis, startOf(values)),
                            placed(b, Value(), places, axis, startOf(indices))};
}
