//===- ElementwiseSource.cpp - sources whose threads work alone -----------===//
//
// Part of the blockscale project, under the Apache License v2.0 with LLVM
// Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "ElementwiseSource.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Interfaces/FunctionInterfaces.h"

using namespace mlir;
using namespace blockscale;

bool blockscale::isWholeFunction(Operation *op) {
  auto function = dyn_cast<FunctionOpInterface>(op->getParentOp());
  if (!function || !function.getFunctionBody().hasOneBlock())
    return false;
  Block &block = function.getFunctionBody().front();
  return llvm::hasNItems(block, 2) &&
         block.getTerminator()->getOperands() == op->getResults();
}

std::optional<Reason>
blockscale::whyNotReached(const QuantizedStorage &storage) {
  for (AffineExpr size : {storage.rows, storage.k, storage.batch})
    if (auto constant = dyn_cast<AffineConstantExpr>(size)) {
      if (constant.getValue() < 1)
        return "it has a size of 0, which leaves a kernel nothing to do; "
               "expected 1 to " +
               std::to_string(kMaxProductSize);
      if (constant.getValue() > kMaxProductSize)
        return "its size of " + std::to_string(constant.getValue()) +
               " exceeds " + std::to_string(kMaxProductSize) +
               ", the most that the 32-bit coordinates of a kernel reach";
    }
  return std::nullopt;
}

std::optional<Reason> blockscale::whyNotCounted(AffineExpr threads) {
  auto count = dyn_cast<AffineConstantExpr>(threads);
  if (count && count.getValue() > kMaxProductSize)
    return "it would take " + std::to_string(count.getValue()) +
           " threads, more than the " + std::to_string(kMaxProductSize) +
           " that those of a kernel are counted to";
  return std::nullopt;
}

void blockscale::addSizes(const QuantizedStorage &storage,
                          SmallVectorImpl<KernelParameter> &parameters) {
  Type i32 = IntegerType::get(storage.k.getContext(), 32);
  for (auto [size, role] : {std::pair(storage.rows, ParameterRole::SizeM),
                            {storage.k, ParameterRole::SizeK},
                            {storage.batch, ParameterRole::Batch}})
    if (!isa<AffineConstantExpr>(size))
      parameters.push_back({i32, role});
}

LaunchSizes
blockscale::launchSizes(const QuantizedStorage &storage,
                        ImplicitLocOpBuilder &b,
                        function_ref<Value(ParameterRole)> argument) {
  auto size = [&](ParameterRole role, AffineExpr expr) -> Value {
    if (Value value = argument(role))
      return value;
    return arith::ConstantIntOp::create(
        b, b.getI32Type(), cast<AffineConstantExpr>(expr).getValue());
  };
  LaunchSizes sizes;
  sizes.rows = size(ParameterRole::SizeM, storage.rows);
  sizes.k = size(ParameterRole::SizeK, storage.k);
  sizes.batch = size(ParameterRole::Batch, storage.batch);
  return sizes;
}

ScaledOperandArguments blockscale::scaledOperandArguments(
    const QuantizedStorage &storage, ImplicitLocOpBuilder &b,
    function_ref<Value(ParameterRole)> argument) {
  ScaledOperandArguments arguments;
  arguments.data = argument(ParameterRole::AData);
  arguments.scales = argument(ParameterRole::AScales);
  arguments.zeros = argument(ParameterRole::AZeros);
  arguments.tensorScale = argument(ParameterRole::ATensorScale);
  arguments.result = argument(ParameterRole::D);
  arguments.sizes = launchSizes(storage, b, argument);
  return arguments;
}

KernelAttr blockscale::elementwiseLaunch(AffineExpr ctas, int64_t threads) {
  return KernelAttr::get(ctas.getContext(), AffineMap::get(0, 6, ctas), threads,
                         /*sharedBytes=*/0, /*tensorColumns=*/0, /*cluster=*/1,
                         /*dependentLaunch=*/false, /*workspace=*/AffineMap(),
                         /*cooperative=*/false);
}

KernelAttr blockscale::elementwiseLaunch(AffineExpr count) {
  return elementwiseLaunch(count.ceilDiv(kElementwiseThreads),
                           kElementwiseThreads);
}
