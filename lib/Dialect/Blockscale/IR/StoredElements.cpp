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
  Type element = type.getElementType();
  if (isa<Float8E4M3FNUZType>(element))
    return packing::findRecoding("e4m3b8fnuz", ElementFormat::E4M3);
  if (isa<Float8E5M2FNUZType>(element))
    return packing::findRecoding("e5m2b16fnuz", ElementFormat::E5M2);
  // Up to 16 e4m3 has all whole numbers.
  if (element.isUnsignedInteger(4) && spec.hasIntegerZero() &&
      !scaleFormat(*spec.scale))
    return packing::findRecoding("uint4", ElementFormat::E4M3,
                                 /*isInteger=*/true);
  if (!element.isSignlessInteger(4) || spec.isUnscaled() || spec.zero)
    return nullptr;
  // Under powers of two integers are fixed-point numbers.
  if (spec.isTile() && scaleFormat(*spec.scale) == ElementFormat::UE8M0)
    return packing::findRecoding("int4", ElementFormat::E2M3);
  if (scaleFormat(*spec.scale))
    return nullptr;
  return packing::findRecoding("int4", ElementFormat::E4M3,
                               /*isInteger=*/true);
}

std::optional<hw::OperandType>
blockscale::storedElements(ScaledTensorType type) {
  if (const packing::Recoding *recoding = recodingOf(type))
    return hw::OperandType(recoding->to);
  if (type.getSpec().getValue().zero)
    return std::nullopt;
  return getOperandType(type.getElementType());
}
