//===- JoinPTX.h - one module of kernels compiled apart ---------*- C++ -*-===//
//
// Part of the blockscale project, under the Apache License v2.0 with LLVM
// Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef BLOCKSCALE_LIB_COMPILER_JOINPTX_H
#define BLOCKSCALE_LIB_COMPILER_JOINPTX_H

#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/StringRef.h"
#include <optional>
#include <string>

namespace blockscale {

/// The PTX that LLVM would write for all kernels at once, from that of each:
/// the same head, declarations and target, then one entry after another with
/// labels that are numbered on. None where the pieces do not fit together: they
/// declare different things, or hold more than one function.
std::optional<std::string> joinPTX(llvm::ArrayRef<llvm::StringRef> pieces);

} // namespace blockscale

#endif // BLOCKSCALE_LIB_COMPILER_JOINPTX_H
