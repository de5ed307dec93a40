//===- GroupEnds.cpp - arguments that say where groups end ----------------===//
//
// Part of the blockscale project, under the Apache License v2.0 with LLVM
// Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "GroupEnds.h"
#include "blockscale/Dialect/Blockscale/IR/Groups.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/Interfaces/FunctionInterfaces.h"

#include <algorithm>
#include <random>

using namespace mlir;
using namespace blockscale;
using namespace blockscale::execute;

/// The product whose groups along K `ends` separates, in any type; or null.
static MatmulOp productOf(Value ends) {
  for (OpOperand &use : ends.getUses()) {
    auto product = dyn_cast<MatmulOp>(use.getOwner());
    if (product && product.isGroupedAlongK() && product.getOffsets() == ends)
      return product;
    if (auto cast = dyn_cast<tensor::CastOp>(use.getOwner()))
      if (MatmulOp found = productOf(cast.getResult()))
        return found;
  }
  return {};
}

/// Elements along K of a dense operand, if its type or an argument tells.
static std::optional<int64_t> extentOf(Value operand,
                                       const ArgumentShapes &shapes) {
  auto type = cast<ScaledTensorType>(operand.getType());
  if (!ShapedType::isDynamic(type.getK()))
    return type.getK();
  Value part = operand;
  if (auto assemble = operand.getDefiningOp<AssembleOp>())
    part = assemble.getData();
  while (auto cast = part.getDefiningOp<tensor::CastOp>())
    part = cast.getSource();
  auto argument = dyn_cast<BlockArgument>(part);
  // Loops have arguments of their own.
  if (!argument ||
      !isa<FunctionOpInterface>(argument.getOwner()->getParentOp()))
    return std::nullopt;
  const std::vector<int64_t> &shape = shapes.shapes[argument.getArgNumber()];
  bool isLast = part == operand || type.getOrder() != DataOrder::MNMajor;
  return isLast ? shape.back() : shape[shape.size() - 2];
}

std::optional<GroupEnds> execute::groupEndsOf(Value value,
                                              const ArgumentShapes &shapes) {
  MatmulOp product = productOf(value);
  if (!product)
    return std::nullopt;
  GroupEnds ends;
  ends.step = expectedStepAlongK(product);
  std::optional<int64_t> extent = extentOf(product.getA(), shapes);
  if (!extent)
    extent = extentOf(product.getB(), shapes);
  // Ends behind the last element are as good as that one.
  constexpr int64_t kStepsOfAny = 4;
  ends.extent = extent.value_or(kStepsOfAny * ends.step);
  return ends;
}

void execute::drawGroupEnds(HostArray &array, const GroupEnds &ends,
                            uint64_t seed) {
  std::mt19937_64 random(seed);
  auto steps = uint64_t(ends.extent / ends.step);
  std::vector<uint64_t> drawn(array.count());
  for (uint64_t &end : drawn)
    end = random() % (steps + 1);
  std::sort(drawn.begin(), drawn.end());
  constexpr unsigned kBits = 64;
  for (auto [i, end] : llvm::enumerate(drawn))
    array.setBits(i, llvm::APInt(kBits, end * uint64_t(ends.step)));
}
