//===- StoredElements.cpp - elements that kernels hold as others ----------===//
//
// Part of the blockscale project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "blockscale/Dialect/Blockscale/IR/StoredElements.h"
#include "blockscale/Dialect/Blockscale/IR/ElementTypes.h"
#include "blockscale/Dialect/Blockscale/IR/Promotion.h"

using namespace mlir;
using namespace blockscale;

const packing::Recoding *blockscale::recodingOf(ScaledTensorType type) {
  const ScaleSpec &spec = type.getSpec().getValue();
  // Under powers of two integers are fixed-point numbers.
  bool isFixedPoint = spec.isTile() && !spec.zero &&
                      scaleFormat(*spec.scale) == ElementFormat::UE8M0;
  if (isFixedPoint && type.getElementType().isSignlessInteger(4))
    return packing::findRecoding("int4", ElementFormat::E2M3);
  return nullptr;
}

std::optional<hw::OperandType>
blockscale::storedElements(ScaledTensorType type) {
  if (const packing::Recoding *recoding = recodingOf(type))
    return hw::OperandType(recoding->to);
  return getOperandType(type.getElementType());
}
