//===- TensorVerifiers.cpp - what verifiers of tensor ops share -----------===//
//
// Part of the blockscale project, under the Apache License v2.0 with LLVM
// Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "TensorVerifiers.h"

using namespace mlir;
using namespace blockscale;

std::string blockscale::shapeText(ArrayRef<int64_t> shape) {
  std::string text;
  llvm::raw_string_ostream os(text);
  os << "[";
  llvm::interleave(
      shape, os,
      [&](int64_t size) {
        if (ShapedType::isDynamic(size))
          os << "?";
        else
          os << size;
      },
      ", ");
  os << "]";
  return text;
}

bool blockscale::agree(int64_t lhs, int64_t rhs) {
  return ShapedType::isDynamic(lhs) || ShapedType::isDynamic(rhs) || lhs == rhs;
}

bool blockscale::agree(ArrayRef<int64_t> lhs, ArrayRef<int64_t> rhs) {
  return lhs.size() == rhs.size() &&
         llvm::all_of(llvm::zip(lhs, rhs), [](auto sizes) {
           return agree(std::get<0>(sizes), std::get<1>(sizes));
         });
}

LogicalResult blockscale::verifySameShape(Operation *op, ShapedType input,
                                          ShapedType result) {
  if (agree(input.getShape(), result.getShape()))
    return success();
  return op->emitOpError() << "expected a result of the input's shape "
                           << shapeText(input.getShape()) << ", found "
                           << shapeText(result.getShape());
}

LogicalResult blockscale::verifyNotGrouped(Operation *op) {
  for (TypeRange types :
       {TypeRange(op->getOperandTypes()), TypeRange(op->getResultTypes())})
    for (Type type : types) {
      auto scaled = dyn_cast<ScaledTensorType>(type);
      if (!scaled || !scaled.hasScalesByGroups())
        continue;
      if (scaled.getLayout() == ScaleLayout::Grouped)
        return op->emitOpError()
               << "does not know the groups of layout 'grouped'; only "
                  "'blockscale.assemble', 'blockscale.disassemble', "
                  "'blockscale.dim' and a 'blockscale.matmul' with groups "
                  "along K take it";
      return op->emitOpError()
             << "does not know the groups of layout 'grouped_128x4'; only "
                "'blockscale.assemble', 'blockscale.disassemble', "
                "'blockscale.dim', 'blockscale.quantize' with 'groups' and "
                "the "
                "'a' of a 'blockscale.matmul' with 'groups' take it";
    }
  return success();
}

std::string blockscale::specName(ScaledTensorType type) {
  std::string text = type.getSpec().getText();
  return text.empty() ? "a tensor without a spec" : "spec '" + text + "'";
}

ArrayRef<int64_t> blockscale::batchShape(ArrayRef<int64_t> shape) {
  return shape.drop_back(2);
}
