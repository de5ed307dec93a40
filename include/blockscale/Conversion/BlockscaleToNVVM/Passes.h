//===- Passes.h - kernels to the NVVM dialect -------------------*- C++ -*-===//
//
// Part of the blockscale project, under the Apache License v2.0 with LLVM
// Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef BLOCKSCALE_CONVERSION_BLOCKSCALETONVVM_PASSES_H
#define BLOCKSCALE_CONVERSION_BLOCKSCALETONVVM_PASSES_H

#include "mlir/Pass/Pass.h"

namespace mlir {
class RewritePatternSet;
class TypeConverter;
namespace gpu {
class GPUModuleOp;
} // namespace gpu
} // namespace mlir

namespace blockscale {

/// Adds the conversions of the kernel-level types: rings and barriers become
/// i32 byte addresses, tensor memory an i32 address, tensor maps and global
/// memory pointers. All other types stay.
void populateBlockscaleToNVVMTypeConversions(mlir::TypeConverter &converter);

/// Adds the patterns of the kernel-level ops, of `gpu.func` and of the gpu ops
/// that kernels hold. `converter` must have the type conversions above and
/// outlive the patterns.
void populateBlockscaleToNVVMPatterns(const mlir::TypeConverter &converter,
                                      mlir::RewritePatternSet &patterns);

#define GEN_PASS_DECL
#include "blockscale/Conversion/BlockscaleToNVVM/Passes.h.inc"

#define GEN_PASS_REGISTRATION
#include "blockscale/Conversion/BlockscaleToNVVM/Passes.h.inc"

} // namespace blockscale

#endif // BLOCKSCALE_CONVERSION_BLOCKSCALETONVVM_PASSES_H
