//===- ElementTypes.h - elements as types and as instructions ---*- C++ -*-===//
//
// Part of the blockscale project, under the Apache License v2.0 with LLVM
// Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// What builtin types of elements are called by instructions, and back: the one
// home of both directions.
//
//===----------------------------------------------------------------------===//

#ifndef BLOCKSCALE_DIALECT_BLOCKSCALE_IR_ELEMENTTYPES_H
#define BLOCKSCALE_DIALECT_BLOCKSCALE_IR_ELEMENTTYPES_H

#include "blockscale/HW/Metadata.h"
#include "blockscale/HW/Mma.h"
#include "mlir/IR/Types.h"

namespace blockscale {

/// What an instruction calls elements of a builtin type; none for types that no
/// instruction multiplies on any chip.
std::optional<hw::OperandType> getOperandType(mlir::Type elementType);

/// The builtin type of the elements that an instruction calls so. Formats that
/// have none are integers of their bits in memory.
mlir::Type getElementType(mlir::MLIRContext *context, hw::OperandType type);

/// What the code of an element with only its highest bit set is: -0 of floats,
/// but the NaN of those that have no -0 (fnuz).
hw::HighestBit highestBit(mlir::Type elementType);

} // namespace blockscale

#endif // BLOCKSCALE_DIALECT_BLOCKSCALE_IR_ELEMENTTYPES_H
