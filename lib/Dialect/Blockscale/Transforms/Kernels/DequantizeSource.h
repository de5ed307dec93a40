//===- DequantizeSource.h - values of a scaled tensor, by kernel -*- C++ -*-==//
//
// Part of the blockscale project, under the Apache License v2.0 with LLVM
// Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef BLOCKSCALE_LIB_DIALECT_BLOCKSCALE_TRANSFORMS_KERNELS_DEQUANTIZESOURCE_H
#define BLOCKSCALE_LIB_DIALECT_BLOCKSCALE_TRANSFORMS_KERNELS_DEQUANTIZESOURCE_H

#include "ElementwiseSource.h"

namespace blockscale {

/// Emits the body of the kernel of `op`, whose operand lies as `storage` says.
void buildDequantizeBody(DequantizeOp op, const QuantizedStorage &storage,
                         mlir::ImplicitLocOpBuilder &b,
                         const ScaledOperandArguments &arguments);

/// Why no kernel computes `op`; empty if one does.
std::optional<Reason> whyNotKernel(DequantizeOp op);

/// Whether memory that the kernel of `op` reads has a scale several times.
bool repeatsScales(DequantizeOp op);

/// Makes `blockscale.dequantize` a source of kernels where its function does
/// nothing else.
void attachDequantizeSource(mlir::MLIRContext &context);

} // namespace blockscale

#endif // BLOCKSCALE_LIB_DIALECT_BLOCKSCALE_TRANSFORMS_KERNELS_DEQUANTIZESOURCE_H
