//===- Bytecode.h - MLIR's bytecode as we use it ----------------*- C++ -*-===//
//
// Part of the blockscale project, under the Apache License v2.0 with LLVM
// Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef BLOCKSCALE_UPSTREAM_BYTECODE_H
#define BLOCKSCALE_UPSTREAM_BYTECODE_H

#include "mlir/Support/LLVM.h"

#include <string>

namespace mlir {
class Operation;
} // namespace mlir

namespace blockscale {

/// Whether `buffer` begins as bytecode does.
bool isBytecode(llvm::StringRef buffer);

/// `op` as bytecode; fails with a diagnostic.
mlir::FailureOr<std::string> toBytecode(mlir::Operation *op);

} // namespace blockscale

#endif // BLOCKSCALE_UPSTREAM_BYTECODE_H
