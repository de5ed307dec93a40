//===- ScalesOfOne.cpp - operands whose scales are all 1 ------------------===//
//
// Part of the blockscale project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "blockscale/Dialect/Blockscale/IR/ScalesOfOne.h"
#include "blockscale/HW/Descriptor.h"

using namespace blockscale;

std::optional<Reason> blockscale::whyNotScalesOfOne(MmaAttr mma) {
  if (mma.getK() != hw::kK96)
    return std::nullopt;
  return Reason("K = 96 is not lowered where one operand alone has scales of "
                "tiles that the instruction reads; nearest legal: 'mma_k' of " +
                std::to_string(hw::instructionK(mma.getKind(), false)));
}

std::optional<Reason> blockscale::whyNotScalesOf(MmaAttr mma, bool hasA,
                                                 bool hasB, hw::Target target) {
  bool takesScales = mma.getScale().has_value(), hasAny = hasA || hasB;
  // In registers scales of both may be constants.
  if (takesScales && !hasAny && !hw::hasTensorMemory(target) &&
      mma.getScale() == ElementFormat::UE8M0)
    return std::nullopt;
  if (takesScales != hasAny)
    return Reason("expected scales of 'a' or 'b' with a kind that takes "
                  "scales, and only then");
  return hasA == hasB ? std::nullopt : whyNotScalesOfOne(mma);
}
