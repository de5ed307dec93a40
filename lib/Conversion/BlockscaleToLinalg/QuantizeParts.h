//===- QuantizeParts.h - what quantizing consists of ------------*- C++ -*-===//
//
// Part of the blockscale project, under the Apache License v2.0 with LLVM
// Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef BLOCKSCALE_LIB_CONVERSION_BLOCKSCALETOLINALG_QUANTIZEPARTS_H
#define BLOCKSCALE_LIB_CONVERSION_BLOCKSCALETOLINALG_QUANTIZEPARTS_H

#include "Parts.h"

namespace blockscale {

/// For each tile of `type` what `combine` makes of 0 and, one after the other,
/// its elements as f32; elements of `input` count once or more often.
mlir::Value
reduceTiles(Emitter &emitter, ScaledTensorType type, mlir::Value input,
            llvm::function_ref<mlir::Value(Emitter &, mlir::Value, mlir::Value)>
                combine);

/// The error of each tile as `blockscale.quantize` counts it for the rule
/// `min_error`, i64: `error` gives that of an element, an i32, from its
/// position and that of its tile.
mlir::Value
sumErrors(Emitter &emitter, ScaledTensorType type, mlir::Value input,
          llvm::function_ref<mlir::Value(Emitter &, mlir::ValueRange element,
                                         mlir::ValueRange tile)>
              error);

/// How the op rounds the element at that position of a tensor of those sizes.
ElementRounder rounderAt(Emitter &emitter, QuantizeOp op,
                         llvm::ArrayRef<mlir::OpFoldResult> sizes,
                         mlir::ValueRange position);

/// The parts of a quantize to a spec with zero points.
llvm::SmallVector<mlir::Value> quantizeWithZeros(Emitter &emitter,
                                                 QuantizeOp op,
                                                 mlir::Value input,
                                                 bool useExtf);

} // namespace blockscale

#endif // BLOCKSCALE_LIB_CONVERSION_BLOCKSCALETOLINALG_QUANTIZEPARTS_H
