//===- BufferizableOpInterfaceImpl.h - tensors to memory --------*- C++ -*-===//
//
// Part of the blockscale project, under the Apache License v2.0 with LLVM
// Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef BLOCKSCALE_DIALECT_BLOCKSCALE_TRANSFORMS_BUFFERIZABLEOPINTERFACEIMPL_H
#define BLOCKSCALE_DIALECT_BLOCKSCALE_TRANSFORMS_BUFFERIZABLEOPINTERFACEIMPL_H

namespace mlir {
class DialectRegistry;
class Operation;
class OpPassManager;
} // namespace mlir

namespace blockscale {

/// Lets upstream's one-shot bufferization take `blockscale.launch_into` from
/// tensors to memrefs, and functions with it. The ops on scaled tensors are
/// converted before, by `blockscale-to-linalg`.
void registerBufferizableOpInterfaceExternalModels(
    mlir::DialectRegistry &registry);

/// Registers upstream's dialect of what lies between tensors and memory.
void registerBufferizationDialect(mlir::DialectRegistry &registry);

/// Whether bufferization knows what becomes of an op on tensors.
bool isBufferizable(mlir::Operation *op);

/// Passes over a module, from tensors to memrefs that are freed.
void addBufferization(mlir::OpPassManager &manager);

} // namespace blockscale

#endif // BLOCKSCALE_DIALECT_BLOCKSCALE_TRANSFORMS_BUFFERIZABLEOPINTERFACEIMPL_H
