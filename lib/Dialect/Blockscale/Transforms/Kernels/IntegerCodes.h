//===- IntegerCodes.h - numbers as codes of integers ------------*- C++ -*-===//
//
// Part of the blockscale project, under the Apache License v2.0 with LLVM
// Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef BLOCKSCALE_LIB_DIALECT_BLOCKSCALE_TRANSFORMS_KERNELS_INTEGERCODES_H
#define BLOCKSCALE_LIB_DIALECT_BLOCKSCALE_TRANSFORMS_KERNELS_INTEGERCODES_H

#include "blockscale/Dialect/Blockscale/IR/Numbers.h"

namespace blockscale {

/// Numbers of f32 as int8, each four in an i32, the first in its low bits:
/// rounded to nearest even, between -127 and 127. What becomes of a NaN is not
/// said.
llvm::SmallVector<mlir::Value> encodeBytes(Emitter &emitter,
                                           llvm::ArrayRef<mlir::Value> values);

} // namespace blockscale

#endif // BLOCKSCALE_LIB_DIALECT_BLOCKSCALE_TRANSFORMS_KERNELS_INTEGERCODES_H
