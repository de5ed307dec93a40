//===- StoredElements.h - elements that kernels hold as others --*- C++ -*-===//
//
// Part of the blockscale project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef BLOCKSCALE_DIALECT_BLOCKSCALE_IR_STOREDELEMENTS_H
#define BLOCKSCALE_DIALECT_BLOCKSCALE_IR_STOREDELEMENTS_H

#include "blockscale/Dialect/Blockscale/IR/Blockscale.h"
#include "blockscale/HW/Mma.h"
#include "blockscale/Packing/Recode.h"

namespace blockscale {

/// How an operand of this type, whose elements no instruction multiplies, or
/// none with those of `other`, is stored in a format that one does, and which
/// has all of its values under the same scales, but for a factor that the
/// epilogue applies; none where it is stored as it is, or no format has them.
/// `kind` is that of the product, or that which it is asked for: in others than
/// f16 floats without a negative zero are of 8 bits, which lack the largest.
std::optional<packing::Recoding>
recodingOf(ScaledTensorType type, ScaledTensorType other,
           std::optional<hw::MmaKind> kind = std::nullopt);

/// What an instruction calls the elements of an operand of this type as a
/// kernel finds them in memory beside `other`; none if no instruction
/// multiplies them.
std::optional<hw::OperandType>
storedElements(ScaledTensorType type, ScaledTensorType other,
               std::optional<hw::MmaKind> kind = std::nullopt);

} // namespace blockscale

#endif // BLOCKSCALE_DIALECT_BLOCKSCALE_IR_STOREDELEMENTS_H
