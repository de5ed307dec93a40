//===- InstructionNames.h - NVVM's names of instructions --------*- C++ -*-===//
//
// Part of the blockscale project, under the Apache License v2.0 with LLVM
// Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// One function per direction and enum, each for all that HW knows: a kind or
// format that is added there does not compile here until it has a name.
//
//===----------------------------------------------------------------------===//

#ifndef BLOCKSCALE_LIB_CONVERSION_BLOCKSCALETONVVM_INSTRUCTIONNAMES_H
#define BLOCKSCALE_LIB_CONVERSION_BLOCKSCALETONVVM_INSTRUCTIONNAMES_H

#include "blockscale/HW/Mma.h"
#include "mlir/Dialect/LLVMIR/NVVMDialect.h"

namespace blockscale {

/// The kind of `tcgen05.mma` and `mma.sync` with scales; `kind` has them.
mlir::NVVM::MMABlockScaleKind scaledKind(hw::MmaKind kind);

/// The kind of `tcgen05.mma` without scales; `kind` has none.
mlir::NVVM::Tcgen05MMAKind plainKind(hw::MmaKind kind);

/// The elements of `mma.sync` with scales, which has those of 4, 6 and 8 bits.
mlir::NVVM::MMATypes scaledElements(hw::OperandType type);

} // namespace blockscale

#endif // BLOCKSCALE_LIB_CONVERSION_BLOCKSCALETONVVM_INSTRUCTIONNAMES_H
