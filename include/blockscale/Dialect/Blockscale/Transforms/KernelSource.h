//===- KernelSource.h - what becomes a kernel -------------------*- C++ -*-===//
//
// Part of the blockscale project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The interface of ops on tensors that become kernels, and of the op that a
// kernel holds until it is expanded. An op of another dialect becomes a kernel
// by implementing the first for a body that implements the second.
//
//===----------------------------------------------------------------------===//

#ifndef BLOCKSCALE_DIALECT_BLOCKSCALE_TRANSFORMS_KERNELSOURCE_H
#define BLOCKSCALE_DIALECT_BLOCKSCALE_TRANSFORMS_KERNELSOURCE_H

#include "blockscale/Dialect/Blockscale/IR/Blockscale.h"
#include "mlir/IR/ImplicitLocOpBuilder.h"

namespace blockscale {

/// A kernel argument and what it carries.
struct KernelParameter {
  mlir::Type type;
  ParameterRole role;
};

/// What the host sees of a kernel.
struct KernelOutline {
  llvm::SmallVector<KernelParameter> parameters;
  KernelAttr launch;
  /// What the launch plan tells of the computation; one of them at most.
  ProductAttr product;
  QuantizationAttr quantization;
  /// Beside `quantization`, where the kernel quantises the transpose too.
  QuantizationAttr transposedQuantization;
  /// Whether sparse instructions read the scales of `quantization`.
  bool isForSparse = false;
  ConversionAttr conversion;
};

/// Makes the ops of the dialect implement the interfaces below in every context
/// that the registry serves. The passes that need it do so themselves.
void registerKernelSources(mlir::DialectRegistry &registry);

} // namespace blockscale

#include "blockscale/Dialect/Blockscale/Transforms/KernelSource.h.inc"

namespace blockscale {

/// Whether `op` is to become a kernel.
bool isKernelSource(mlir::Operation *op);

} // namespace blockscale

#endif // BLOCKSCALE_DIALECT_BLOCKSCALE_TRANSFORMS_KERNELSOURCE_H
