//===- ScaleCodes.h - scales of numbers in arith ----------------*- C++ -*-===//
//
// Part of the blockscale project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// How scales are chosen and rounded, one at a time, as ops of `arith`: by the
// rules of `blockscale.quantize`, for any target and in kernels.
//
//===----------------------------------------------------------------------===//

#ifndef BLOCKSCALE_DIALECT_BLOCKSCALE_IR_SCALECODES_H
#define BLOCKSCALE_DIALECT_BLOCKSCALE_IR_SCALECODES_H

#include "blockscale/Dialect/Blockscale/IR/Numbers.h"

namespace blockscale {

/// The ue8m0 scale of a tile whose largest magnitude is the f32 `largest`, for
/// elements of `element`, by the rules that `blockscale.quantize` describes. A
/// NaN gives the NaN scale, an infinity the largest scale.
mlir::Value exponentScale(Emitter &emitter, mlir::Value largest, ScaleRule rule,
                          mlir::Type element);

/// The same, the code in the low bits of an i32.
mlir::Value exponentScaleBits(Emitter &emitter, mlir::Value largest,
                              ScaleRule rule, mlir::Type element);

/// The smallest number of ue8m0 that is not below `value`; and its code in the
/// low bits of an i32.
mlir::Value exponentUpwards(Emitter &emitter, mlir::Value value);
mlir::Value exponentUpwardsBits(Emitter &emitter, mlir::Value value);

/// The f32 `value`, which is not negative, in `type`: the nearest number, or
/// the one above it where that is smaller than `value`; saturating. `decode`
/// gives the value of a code as f32.
mlir::Value encodeUpwards(Emitter &emitter, mlir::Value value, mlir::Type type,
                          llvm::function_ref<mlir::Value(mlir::Value)> decode);

/// min(1 / value, FLT_MAX) of an f32 that is not negative.
mlir::Value boundedInverse(Emitter &emitter, mlir::Value value);

/// The largest scale of the format whose product with the largest element is an
/// f32 still.
float largestScale(mlir::Type format, float largestElement);

} // namespace blockscale

#endif // BLOCKSCALE_DIALECT_BLOCKSCALE_IR_SCALECODES_H
