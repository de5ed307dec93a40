//===- Differences.cpp - what two ways of one function differ by ----------===//
//
// Part of the blockscale project, under the Apache License v2.0 with LLVM
// Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Differences.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Interfaces/CallInterfaces.h"
#include "mlir/Interfaces/FunctionInterfaces.h"
#include "mlir/Transforms/RegionUtils.h"

using namespace mlir;
using namespace blockscale;
using namespace blockscale::execute;

static bool isArgument(Value value) {
  auto argument = dyn_cast<BlockArgument>(value);
  return argument && argument.getOwner()->isEntryBlock() &&
         isa<FunctionOpInterface>(argument.getOwner()->getParentOp());
}

/// Whether exact data make sums that have no rounding.
static bool isExactProduct(MatmulOp product) {
  auto hasTable = [](ScaledTensorType type) {
    return isa<CodebookType>(type.getElementType());
  };
  return product.getEpilogue().empty() &&
         llvm::all_of(product->getOperands(), isArgument) &&
         !hasTable(product.getA().getType()) &&
         !hasTable(product.getB().getType());
}

Difference Differences::of(Value value) {
  if (Operation *op = value.getDefiningOp())
    return ofOp(op);
  return isArgument(value) ? Difference::None : Difference::Codes;
}

/// Whether what differs by what sums do can differ by a code or more when it is
/// a number of this type.
static bool isNarrow(Type type) {
  constexpr unsigned kFloat = 32;
  Type element = getElementTypeOrSelf(type);
  if (isa<ScaledTensorType>(type))
    return true;
  auto number = dyn_cast<FloatType>(element);
  return !number || number.getWidth() < kFloat;
}

Difference Differences::rounded(Value value) {
  // Sizes are the same both ways.
  if (value.getType().isIndex())
    return Difference::None;
  // Who else writes memory nobody says.
  if (isa<BaseMemRefType>(value.getType()))
    return Difference::Codes;
  Difference difference = of(value);
  return difference == Difference::Sums && isNarrow(value.getType())
             ? Difference::Codes
             : difference;
}

Difference Differences::ofOp(Operation *op) {
  auto found = known.find(op);
  if (found != known.end())
    return found->second;
  auto product = dyn_cast<MatmulOp>(op);
  bool isElementwise = product || isa<linalg::LinalgOp>(op);
  if (isa<CallOpInterface>(op) || op->getNumSuccessors() ||
      (op->getNumRegions() && !isElementwise))
    return known[op] = Difference::Codes;
  Difference difference = Difference::None;
  auto join = [&](Value value) {
    difference = std::max(difference, rounded(value));
  };
  llvm::for_each(op->getOperands(), join);
  llvm::SetVector<Value> captured;
  getUsedValuesDefinedAbove(op->getRegions(), captured);
  llvm::for_each(captured, join);
  if (product && !(isExact && isExactProduct(product)))
    difference = std::max(difference, Difference::Sums);
  return known[op] = difference;
}
