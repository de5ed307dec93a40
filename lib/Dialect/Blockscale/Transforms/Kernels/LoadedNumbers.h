//===- LoadedNumbers.h - numbers of a kernel's memory as f32 ----*- C++ -*-===//
//
// Part of the blockscale project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// What epilogues make of C, of biases and of scales that they read.
//
//===----------------------------------------------------------------------===//

#ifndef BLOCKSCALE_LIB_DIALECT_BLOCKSCALE_TRANSFORMS_KERNELS_LOADEDNUMBERS_H
#define BLOCKSCALE_LIB_DIALECT_BLOCKSCALE_TRANSFORMS_KERNELS_LOADEDNUMBERS_H

#include "KernelBuilder.h"

namespace blockscale {

/// `values`, a vector of floats or of codes of ue8m0, i8, as a vector of f32.
mlir::Value widenNumbers(KernelBuilder &b, mlir::Value values);

/// `size` numbers as `memory` has them, codes that MLIR has no type for as i8,
/// from number `index`, i64, on: the first `count`, i32, of them, zeros for the
/// others; `stride` numbers apart, i64, or one behind the other where it is
/// null.
mlir::Value loadCodes(KernelBuilder &b, mlir::Value memory, int64_t size,
                      mlir::Value index, mlir::Value count, mlir::Value stride);

/// The vector of f32 that such codes of `memory` are.
mlir::Value numbersOfCodes(KernelBuilder &b, mlir::Value memory,
                           mlir::Value codes);

/// Both.
mlir::Value loadNumbers(KernelBuilder &b, mlir::Value memory, int64_t size,
                        mlir::Value index, mlir::Value count,
                        mlir::Value stride);

} // namespace blockscale

#endif // BLOCKSCALE_LIB_DIALECT_BLOCKSCALE_TRANSFORMS_KERNELS_LOADEDNUMBERS_H
