//===- OperandReasons.h - why no instruction takes two operands -*- C++ -*-===//
//
// Part of the blockscale project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef BLOCKSCALE_LIB_DIALECT_BLOCKSCALE_TRANSFORMS_LEGALIZE_OPERANDREASONS_H
#define BLOCKSCALE_LIB_DIALECT_BLOCKSCALE_TRANSFORMS_LEGALIZE_OPERANDREASONS_H

#include "HardwareOperand.h"

namespace blockscale {

/// Whether kinds with scales have such elements, of both operands.
bool areNarrow(const HardwareOperand &a, const HardwareOperand &b);

/// The sentence of the legality table for the closest instruction. With scales
/// its kind is nothing that the user chose, so the nearest legal one is of that
/// kind; without, the kind follows from the elements.
Reason whyNoScheme(hw::Target target, const HardwareOperand &a,
                   const HardwareOperand &b);

/// Why the scales of the two do not suit one instruction.
Reason whyNotScales(const HardwareOperand &a, const HardwareOperand &b);

/// Why the sums of blocks of K are not multiplied by the scales of tiles in
/// registers; empty if they are, or nobody wants it.
std::optional<Reason> whyNotPromoted(const HardwareOperand &a,
                                     const HardwareOperand &b, int64_t block);

/// Why an operand whose rows lie along K is needed, if it is: elements of 16
/// bits lie so, those of others as they are stored, too.
std::optional<Reason> whyNotOrder(ScaledTensorType a, ScaledTensorType b);

} // namespace blockscale

#endif // BLOCKSCALE_LIB_DIALECT_BLOCKSCALE_TRANSFORMS_LEGALIZE_OPERANDREASONS_H
