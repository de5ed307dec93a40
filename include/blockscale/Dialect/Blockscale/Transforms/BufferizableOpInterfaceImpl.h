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
}

namespace blockscale {

/// Lets upstream's one-shot bufferization take `blockscale.launch_into` from
/// tensors to memrefs. The ops on scaled tensors are converted before, by
/// `blockscale-to-linalg`.
void registerBufferizableOpInterfaceExternalModels(
    mlir::DialectRegistry &registry);

} // namespace blockscale

#endif // BLOCKSCALE_DIALECT_BLOCKSCALE_TRANSFORMS_BUFFERIZABLEOPINTERFACEIMPL_H
