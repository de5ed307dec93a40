//===- Descriptors.h - descriptors of the instructions of an MMA *- C++ -*-===//
//
// Part of the blockscale project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef BLOCKSCALE_LIB_CONVERSION_BLOCKSCALETONVVM_DESCRIPTORS_H
#define BLOCKSCALE_LIB_CONVERSION_BLOCKSCALETONVVM_DESCRIPTORS_H

#include "blockscale/Dialect/Blockscale/IR/Blockscale.h"
#include "blockscale/HW/Descriptor.h"

namespace blockscale {

/// The instruction descriptor of one step.
Result<uint32_t> instructionDescriptor(MmaOp op, StepAttr step);

/// The constant bits of the descriptor of an operand's stage.
Result<uint64_t> operandDescriptorA(MmaOp op);
Result<uint64_t> operandDescriptorB(MmaOp op);

/// Emits an error and fails if `op`, which has its steps, has no descriptors.
mlir::LogicalResult checkDescriptors(MmaOp op);

} // namespace blockscale

#endif // BLOCKSCALE_LIB_CONVERSION_BLOCKSCALETONVVM_DESCRIPTORS_H
