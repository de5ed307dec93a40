//===- KernelElements.h - elements that kernels alone work on ---*- C++ -*-===//
//
// Part of the blockscale project, under the Apache License v2.0 with LLVM
// Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef BLOCKSCALE_LIB_DIALECT_BLOCKSCALE_IR_KERNELELEMENTS_H
#define BLOCKSCALE_LIB_DIALECT_BLOCKSCALE_IR_KERNELELEMENTS_H

#include "blockscale/Dialect/Blockscale/IR/Blockscale.h"

#include <optional>
#include <string>

namespace blockscale {

/// Why a kernel that `quantises` or `dequantises`, as `verb` says, does not do
/// so with elements of `type`, which products have stored as others where they
/// have scales: the host does, as whole functions have it. Empty if they are
/// stored as they are.
std::optional<std::string> whyNotStoredAsIs(ScaledTensorType type,
                                            llvm::StringRef verb);

/// Why a kernel that `does` something with elements, such as "writes elements",
/// does not so with `what`, "the operand" or "the result", of `type`; empty if
/// they lie along K.
std::optional<Reason> whyNotAlongK(ScaledTensorType type, llvm::StringRef does,
                                   llvm::StringRef what);

} // namespace blockscale

#endif // BLOCKSCALE_LIB_DIALECT_BLOCKSCALE_IR_KERNELELEMENTS_H
