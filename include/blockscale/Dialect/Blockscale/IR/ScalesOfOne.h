//===- ScalesOfOne.h - operands whose scales are all 1 ----------*- C++ -*-===//
//
// Part of the blockscale project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// An instruction that takes scales takes those of both operands. One that has
// none in tiles, or has float ones that are multiplied in registers, gets
// scales of 1, which lie in no memory of the host: warps that multiply have
// them in registers, other kernels store them once in tensor memory.
//
//===----------------------------------------------------------------------===//

#ifndef BLOCKSCALE_DIALECT_BLOCKSCALE_IR_SCALESOFONE_H
#define BLOCKSCALE_DIALECT_BLOCKSCALE_IR_SCALESOFONE_H

#include "blockscale/Dialect/Blockscale/IR/Blockscale.h"

namespace blockscale {

/// Why no kernel gives one of the operands scales of 1 beside those that the
/// other has; empty if one does.
std::optional<Reason> whyNotScalesOfOne(MmaAttr mma);

/// Why the kernel with operands of which `hasA` and `hasB` say whether they
/// have scales in memory does not suit its instruction; empty if it does.
std::optional<Reason> whyNotScalesOf(MmaAttr mma, bool hasA, bool hasB,
                                     hw::Target target);

} // namespace blockscale

#endif // BLOCKSCALE_DIALECT_BLOCKSCALE_IR_SCALESOFONE_H
