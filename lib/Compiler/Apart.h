//===- Apart.h - many kernels, each for itself ------------------*- C++ -*-===//
//
// Part of the blockscale project, under the Apache License v2.0 with LLVM
// Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef BLOCKSCALE_LIB_COMPILER_APART_H
#define BLOCKSCALE_LIB_COMPILER_APART_H

#include "blockscale/Compiler/Compiler.h"
#include "mlir/Dialect/GPU/IR/GPUDialect.h"

namespace blockscale {

/// What compile() would make of `modules`, whose kernels say what they compute
/// and not yet how: without the functions around them, and without a cubin.
/// Each kernel is compiled in a context of its own, by the threads that
/// `options` allow, or found in the cache. Nothing is said: none where a kernel
/// cannot be compiled, or where they do not fit together, and then compile()
/// finds out why. `modules` stay as they are.
std::optional<std::vector<Compilation>>
compileApart(llvm::ArrayRef<mlir::gpu::GPUModuleOp> modules,
             const CompilerOptions &options);

/// Whether it is worth while.
bool isCompiledApart(llvm::ArrayRef<mlir::gpu::GPUModuleOp> modules,
                     const CompilerOptions &options);

/// Threads that `options` allow for so many kernels.
unsigned threadsFor(const CompilerOptions &options, size_t kernels);

} // namespace blockscale

#endif // BLOCKSCALE_LIB_COMPILER_APART_H
