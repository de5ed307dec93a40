//===- ScaleReasons.h - why scales are not lowered, and what is -*- C++ -*-===//
//
// Part of the blockscale project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef BLOCKSCALE_LIB_DIALECT_BLOCKSCALE_TRANSFORMS_LEGALIZE_SCALEREASONS_H
#define BLOCKSCALE_LIB_DIALECT_BLOCKSCALE_TRANSFORMS_LEGALIZE_SCALEREASONS_H

#include "blockscale/Dialect/Blockscale/IR/Blockscale.h"

namespace blockscale {

/// Why the spec is not what one MMA operand can carry, or the epilogue; names
/// the decomposition that would be needed, and what works. Empty if it is.
std::optional<Reason> whyNotDirect(const ScaleSpec &spec, mlir::Type element);

/// To be appended to a refusal of operands that have a format of the hardware:
/// elements or scales with which a kind multiplies the same values. Empty if
/// there are none.
std::string otherScales(hw::OperandType a, hw::OperandType b,
                        std::optional<ElementFormat> scale, unsigned span);

} // namespace blockscale

#endif // BLOCKSCALE_LIB_DIALECT_BLOCKSCALE_TRANSFORMS_LEGALIZE_SCALEREASONS_H
