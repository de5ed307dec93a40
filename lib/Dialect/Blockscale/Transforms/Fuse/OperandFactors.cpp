//===- OperandFactors.cpp - factors of rows and columns -------------------===//
//
// Part of the blockscale project, under the Apache License v2.0 with LLVM
// Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "OperandFactors.h"
#include "blockscale/Dialect/Blockscale/IR/ElementTypes.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"

using namespace mlir;
using namespace blockscale;

/// A float32, float16 or bfloat16 for all of K.
static ScaleSpec specOf(Type scale) {
  ScaleSpec spec;
  spec.scale = getNumberSpec(scale);
  spec.columns = TileSpec{};
  return spec;
}

bool fuse::takesFactors(Value operand, Value vector) {
  auto source = operand.getDefiningOp<AssembleOp>();
  auto type = dyn_cast<ScaledTensorType>(operand.getType());
  auto scales = dyn_cast<RankedTensorType>(vector.getType());
  constexpr unsigned kScaledBits = 8;
  return source && scales && !type.isBatched() &&
         type.getSpec().getValue().isUnscaled() &&
         !type.getSpec().getValue().isSparse() &&
         type.getElementType().getIntOrFloatBitWidth() <= kScaledBits &&
         !type.getElementType().isUnsignedInteger();
}

Value fuse::withFactors(ImplicitLocOpBuilder &b, Value operand, Value vector) {
  auto type = cast<ScaledTensorType>(operand.getType());
  auto given = cast<RankedTensorType>(vector.getType());
  Type element = given.getElementType();
  auto scaled =
      ScaledTensorType::get(type.getShape(), type.getElementType(),
                            ScaleSpecAttr::get(b.getContext(), specOf(element)),
                            type.getLayout(), type.getOrder());
  if (given.getRank() != 1) {
    SmallVector<ReassociationIndices> group{
        llvm::to_vector(llvm::seq<int64_t>(0, given.getRank()))};
    vector = tensor::CollapseShapeOp::create(b, vector, group);
    given = cast<RankedTensorType>(vector.getType());
  }
  SmallVector<ReassociationIndices> group{{0, 1}};
  vector = tensor::ExpandShapeOp::create(
      b, RankedTensorType::get({given.getDimSize(0), 1}, element), vector,
      group);
  auto source = operand.getDefiningOp<AssembleOp>();
  return AssembleOp::create(b, scaled, source.getData(), vector,
                            /*zeros=*/Value(), /*tensor_scale=*/Value(),
                            /*metadata=*/Value());
}
