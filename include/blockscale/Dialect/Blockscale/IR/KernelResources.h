//===- KernelResources.h - what ops of kernels read and write ---*- C++ -*-===//
//
// Part of the blockscale project, under the Apache License v2.0 with LLVM
// Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The resources of the memory effects of kernel-level ops. An asynchronous op
// has its effects where it is issued; what makes them visible elsewhere, a
// barrier or a fence, reads and writes all that it orders.
//
//===----------------------------------------------------------------------===//

#ifndef BLOCKSCALE_DIALECT_BLOCKSCALE_IR_KERNELRESOURCES_H
#define BLOCKSCALE_DIALECT_BLOCKSCALE_IR_KERNELRESOURCES_H

#include "mlir/Interfaces/SideEffectInterfaces.h"

namespace blockscale {

struct GlobalMemoryResource
    : mlir::SideEffects::Resource::Base<GlobalMemoryResource> {
  llvm::StringRef getName() final { return "GlobalMemory"; }
};

/// Shared memory of every CTA of the cluster.
struct SharedMemoryResource
    : mlir::SideEffects::Resource::Base<SharedMemoryResource> {
  llvm::StringRef getName() final { return "SharedMemory"; }
};

struct TensorMemoryResource
    : mlir::SideEffects::Resource::Base<TensorMemoryResource> {
  llvm::StringRef getName() final { return "TensorMemory"; }
};

/// The state of mbarriers: phases, pending arrivals and bytes.
struct BarrierResource : mlir::SideEffects::Resource::Base<BarrierResource> {
  llvm::StringRef getName() final { return "Barriers"; }
};

/// Which lanes of a warp execute together. What a whole warp must execute
/// reads it, so that nothing moves it to where only some lanes come.
struct ConvergenceResource
    : mlir::SideEffects::Resource::Base<ConvergenceResource> {
  llvm::StringRef getName() final { return "Convergence"; }
};

/// Which clusters of this grid and of those that depend on it run.
struct GridResource : mlir::SideEffects::Resource::Base<GridResource> {
  llvm::StringRef getName() final { return "Grid"; }
};

} // namespace blockscale

#endif // BLOCKSCALE_DIALECT_BLOCKSCALE_IR_KERNELRESOURCES_H
