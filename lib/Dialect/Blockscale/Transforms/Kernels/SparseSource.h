//===- SparseSource.h - elements with and without zeros, by kernel -*- C++ -*-//
//
// Part of the blockscale project, under the Apache License v2.0 with LLVM
// Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef BLOCKSCALE_LIB_DIALECT_BLOCKSCALE_TRANSFORMS_KERNELS_SPARSESOURCE_H
#define BLOCKSCALE_LIB_DIALECT_BLOCKSCALE_TRANSFORMS_KERNELS_SPARSESOURCE_H

#include "ElementwiseSource.h"
#include "blockscale/Dialect/Blockscale/IR/Conversion.h"

namespace blockscale {

/// The parameters of a kernel that compresses or densifies, memory of i8.
struct SparseArguments {
  mlir::Value dense, sparse, metadata;
  LaunchSizes sizes;
};

/// Emit the body of a kernel that reads the dense elements and writes the
/// others and their metadata, padding included; and of its inverse.
void buildCompressBody(const SparseStorage &storage,
                       mlir::ImplicitLocOpBuilder &b,
                       const SparseArguments &arguments);
void buildDensifyBody(const SparseStorage &storage,
                      mlir::ImplicitLocOpBuilder &b,
                      const SparseArguments &arguments);

/// Why no kernel computes `op`; empty if one does.
std::optional<Reason> whyNotKernel(CompressOp op);
std::optional<Reason> whyNotKernel(DensifyOp op);

/// Makes `blockscale.compress` and `blockscale.densify` sources of kernels
/// where their functions do nothing else.
void attachSparseSources(mlir::MLIRContext &context);

} // namespace blockscale

#endif // BLOCKSCALE_LIB_DIALECT_BLOCKSCALE_TRANSFORMS_KERNELS_SPARSESOURCE_H
