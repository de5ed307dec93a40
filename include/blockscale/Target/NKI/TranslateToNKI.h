//===- TranslateToNKI.h - kernels as Python of NKI --------------*- C++ -*-===//
//
// Part of the blockscale project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef BLOCKSCALE_TARGET_NKI_TRANSLATETONKI_H
#define BLOCKSCALE_TARGET_NKI_TRANSLATETONKI_H

#include "mlir/IR/BuiltinOps.h"
#include <string>

namespace blockscale::nki {

/// The kernels of `module` as one Python file that imports `nki`: one call of
/// `nki.isa` for each op. Emits an error and fails if there is none, or if a
/// tile has no address.
mlir::FailureOr<std::string> translateToNKI(mlir::ModuleOp module);

/// What a host must know to call them, as JSON (docs/nki.md): how to make each
/// parameter from its tensor, what comes back, where tiles lie.
mlir::FailureOr<std::string> buildHostPlan(mlir::ModuleOp module);

/// How far a compilation for NKI goes.
enum class Stage {
  /// Products with their configuration.
  Tensor,
  /// Kernels without addresses.
  Kernel,
  /// Kernels with all addresses.
  Assigned
};

/// Runs the passes up to `stage`.
mlir::LogicalResult lowerToNKI(mlir::ModuleOp module, llvm::StringRef target,
                               Stage stage);

} // namespace blockscale::nki

#endif // BLOCKSCALE_TARGET_NKI_TRANSLATETONKI_H
