//===- HardwareOperand.h - what instructions read of an operand -*- C++ -*-===//
//
// Part of the blockscale project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef BLOCKSCALE_LIB_DIALECT_BLOCKSCALE_TRANSFORMS_LEGALIZE_HARDWAREOPERAND_H
#define BLOCKSCALE_LIB_DIALECT_BLOCKSCALE_TRANSFORMS_LEGALIZE_HARDWAREOPERAND_H

#include "blockscale/Dialect/Blockscale/IR/Blockscale.h"
#include "blockscale/HW/Mma.h"

namespace blockscale {

/// What the tensor core needs to know of one operand.
struct HardwareOperand {
  hw::OperandType element;
  /// Empty without scales of tiles along K.
  std::optional<ElementFormat> scale;
  /// Elements along K, pruned ones included, that share a scale; 0 without
  /// scales.
  unsigned scaleSpan;
  std::optional<hw::SparsePattern> pattern;
  /// Whether it has scales of tiles that are multiplied in registers.
  bool isPromoted = false;
  /// "a" or "b".
  llvm::StringRef name = "a";
};

/// The kind that multiplies such elements without scales.
hw::MmaKind unscaledKind(hw::OperandType element);

/// The kind whose rules say why no instruction multiplies the operands.
hw::MmaKind closestKind(const HardwareOperand &a, const HardwareOperand &b);

} // namespace blockscale

#endif // BLOCKSCALE_LIB_DIALECT_BLOCKSCALE_TRANSFORMS_LEGALIZE_HARDWAREOPERAND_H
