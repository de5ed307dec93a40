//===- NarrowNumbers.h - codes in words and scales as f32 -------*- C++ -*-===//
//
// Part of the blockscale project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// What kernels make of the bytes of elements and of scales that they read.
//
//===----------------------------------------------------------------------===//

#ifndef BLOCKSCALE_LIB_DIALECT_BLOCKSCALE_TRANSFORMS_KERNELS_NARROWNUMBERS_H
#define BLOCKSCALE_LIB_DIALECT_BLOCKSCALE_TRANSFORMS_KERNELS_NARROWNUMBERS_H

#include "blockscale/Dialect/Blockscale/IR/Numbers.h"

namespace blockscale {

/// The elements of `type`, floats of at most 8 bits, int8 or integers of 4 or 8
/// bits without a sign, whose codes fill `words`, i32, one behind the other: an
/// f32 each.
llvm::SmallVector<mlir::Value> decodeWords(Emitter &emitter,
                                           llvm::ArrayRef<mlir::Value> words,
                                           mlir::Type type, int64_t bits,
                                           int64_t count);

/// The scale of `format` whose code is `byte`, i8, as f32.
mlir::Value scaleOfByte(Emitter &emitter, mlir::Value byte,
                        ElementFormat format);

} // namespace blockscale

#endif // BLOCKSCALE_LIB_DIALECT_BLOCKSCALE_TRANSFORMS_KERNELS_NARROWNUMBERS_H
