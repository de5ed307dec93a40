//===- StablehloControlFlow.cpp - loops, choices, slices from anywhere ----===//
//
// Part of the blockscale project, under the Apache License v2.0 with LLVM
// Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Stablehlo.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"

using namespace mlir;
using namespace blockscale;
using namespace blockscale::importer;

//===----------------------------------------------------------------------===//
// Slices
//===----------------------------------------------------------------------===//

/// Where a slice of `sizes` starts: the numbers of the program, moved so that
/// all of it is inside. Nothing where they do not fit.
static std::optional<SmallVector<OpFoldResult>>
startsOf(ImplicitLocOpBuilder &b, ValueRange given, ArrayRef<Value> starts,
         RankedTensorType whole, ArrayRef<int64_t> sizes) {
  auto rank = size_t(whole.getRank());
  if (starts.size() != rank || sizes.size() != rank)
    return std::nullopt;
  SmallVector<OpFoldResult> found;
  for (size_t i = 0; i < rank; ++i) {
    auto type = cast<RankedTensorType>(given[i].getType());
    int64_t last = whole.getDimSize(int64_t(i)) - sizes[i];
    if (type.getRank() != 0 || !type.getElementType().isInteger() || last < 0)
      return std::nullopt;
    Value number = tensor::ExtractOp::create(b, starts[i], ValueRange{});
    Value end = arith::ConstantIndexOp::create(b, last);
    if (type.getElementType().isUnsignedInteger()) {
      Value index = arith::IndexCastUIOp::create(b, b.getIndexType(), number);
      found.push_back(arith::MinUIOp::create(b, index, end).getResult());
      continue;
    }
    Value index = arith::IndexCastOp::create(b, b.getIndexType(), number);
    Value least = arith::ConstantIndexOp::create(b, 0);
    index = arith::MaxSIOp::create(b, index, least);
    found.push_back(arith::MinSIOp::create(b, index, end).getResult());
  }
  return found;
}

static SmallVector<OpFoldResult> numbers(OpBuilder &b, ArrayRef<int64_t> of) {
  return getAsIndexOpFoldResult(b.getContext(), of);
}

FailureOr<Value> importer::dynamicSlice(ImplicitLocOpBuilder &b, Operation *op,
                                        ArrayRef<Value> v,
                                        RankedTensorType type) {
  auto whole = cast<RankedTensorType>(v[0].getType());
  auto starts = startsOf(b, op->getOperands().drop_front(), v.drop_front(),
                         whole, type.getShape());
  if (!starts)
    return op->emitError("has starts that do not fit its operand and result");
  SmallVector<int64_t> steps(size_t(whole.getRank()), 1);
  return Value(tensor::ExtractSliceOp::create(
      b, type, v[0], *starts, numbers(b, type.getShape()), numbers(b, steps)));
}

FailureOr<Value> importer::dynamicUpdateSlice(ImplicitLocOpBuilder &b,
                                              Operation *op,
                                              ArrayRef<Value> v) {
  auto whole = cast<RankedTensorType>(v[0].getType());
  auto part = cast<RankedTensorType>(v[1].getType());
  auto starts = startsOf(b, op->getOperands().drop_front(2), v.drop_front(2),
                         whole, part.getShape());
  if (!starts)
    return op->emitError("has starts that do not fit its operands");
  SmallVector<int64_t> steps(size_t(whole.getRank()), 1);
  return Value(tensor::InsertSliceOp::create(
      b, v[1], v[0], *starts, numbers(b, part.getShape()), numbers(b, steps)));
}

//===----------------------------------------------------------------------===//
// Loops
//===----------------------------------------------------------------------===//

/// Whether a region takes `types` in one block and returns `results`.
static bool isBody(Region &region, TypeRange types, TypeRange results) {
  if (!region.hasOneBlock() || region.front().empty() ||
      TypeRange(region.getArgumentTypes()) != types)
    return false;
  Operation &last = region.front().back();
  return stablehloName(&last) == "return" &&
         TypeRange(last.getOperandTypes()) == results;
}

FailureOr<SmallVector<Value>> importer::looped(ImplicitLocOpBuilder &b,
                                               Operation *op) {
  TypeRange types = op->getOperandTypes();
  Type condition = RankedTensorType::get({}, b.getI1Type());
  if (op->getNumRegions() != 2 || TypeRange(op->getResultTypes()) != types ||
      !isBody(op->getRegion(0), types, condition) ||
      !isBody(op->getRegion(1), types, types))
    return op->emitError("has a condition or a body that does not take and "
                         "give what goes through the loop");
  auto loop =
      scf::WhileOp::create(b, types, op->getOperands(), nullptr, nullptr);
  loop.getBefore().takeBody(op->getRegion(0));
  loop.getAfter().takeBody(op->getRegion(1));
  Operation *test = &loop.getBefore().front().back();
  ImplicitLocOpBuilder inner(test->getLoc(), test);
  Value isMore =
      tensor::ExtractOp::create(inner, test->getOperand(0), ValueRange{});
  scf::ConditionOp::create(inner, isMore,
                           loop.getBefore().front().getArguments());
  test->erase();
  Operation *last = &loop.getAfter().front().back();
  inner.setInsertionPoint(last);
  scf::YieldOp::create(inner, last->getOperands());
  last->erase();
  return SmallVector<Value>(loop.getResults());
}

//===----------------------------------------------------------------------===//
// Choices
//===----------------------------------------------------------------------===//

/// Moves a branch of StableHLO, which ends as scf has it then.
static void takeOver(Region &to, Region &from) {
  to.takeBody(from);
  Operation *last = &to.front().back();
  ImplicitLocOpBuilder b(last->getLoc(), last);
  scf::YieldOp::create(b, last->getOperands());
  last->erase();
}

FailureOr<SmallVector<Value>> importer::chosen(ImplicitLocOpBuilder &b,
                                               Operation *op) {
  bool isCase = stablehloName(op) == "case";
  TypeRange types = op->getResultTypes();
  auto by = op->getNumOperands() == 1
                ? dyn_cast<RankedTensorType>(op->getOperand(0).getType())
                : RankedTensorType();
  unsigned count = op->getNumRegions(), width = isCase ? 32 : 1;
  if (!by || by.getRank() != 0 || !by.getElementType().isInteger(width) ||
      (isCase ? count == 0 : count != 2) ||
      !llvm::all_of(op->getRegions(), [&](Region &region) {
        return isBody(region, TypeRange(), types);
      }))
    return op->emitError("has no number to choose by, or a branch that does "
                         "not give its results");
  Value number = tensor::ExtractOp::create(b, op->getOperand(0), ValueRange{});
  if (!isCase) {
    auto choice = scf::IfOp::create(b, types, number);
    takeOver(choice.getThenRegion(), op->getRegion(0));
    takeOver(choice.getElseRegion(), op->getRegion(1));
    return SmallVector<Value>(choice.getResults());
  }
  // A number that no branch has is that of the last one.
  Value at = arith::IndexCastOp::create(b, b.getIndexType(), number);
  auto cases = llvm::to_vector(llvm::seq<int64_t>(0, count - 1));
  auto choice = scf::IndexSwitchOp::create(b, types, at, cases, count - 1);
  for (unsigned i = 0; i + 1 < count; ++i)
    takeOver(choice.getCaseRegions()[i], op->getRegion(i));
  takeOver(choice.getDefaultRegion(), op->getRegion(count - 1));
  return SmallVector<Value>(choice.getResults());
}
