//===- PlainScales.h - scales that no instruction reads ---------*- C++ -*-===//
//
// Part of the blockscale project, under the Apache License v2.0 with LLVM
// Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef BLOCKSCALE_LIB_DIALECT_BLOCKSCALE_TRANSFORMS_KERNELS_PLAINSCALES_H
#define BLOCKSCALE_LIB_DIALECT_BLOCKSCALE_TRANSFORMS_KERNELS_PLAINSCALES_H

#include "StorageAccess.h"

namespace blockscale {

/// The plain scale with this code, an i32, as a row of one number of `memory`.
mlir::Value plainScaleOf(Emitter &e, mlir::Value memory, mlir::Value code);

} // namespace blockscale

#endif // BLOCKSCALE_LIB_DIALECT_BLOCKSCALE_TRANSFORMS_KERNELS_PLAINSCALES_H
