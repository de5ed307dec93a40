//===- QuantizeSource.h - a quantisation as the source of a kernel -*- C++ -*-//
//
// Part of the blockscale project, under the Apache License v2.0 with LLVM
// Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef BLOCKSCALE_LIB_DIALECT_BLOCKSCALE_TRANSFORMS_KERNELS_QUANTIZESOURCE_H
#define BLOCKSCALE_LIB_DIALECT_BLOCKSCALE_TRANSFORMS_KERNELS_QUANTIZESOURCE_H

#include "blockscale/Dialect/Blockscale/IR/Quantization.h"
#include "mlir/IR/ImplicitLocOpBuilder.h"

namespace blockscale {

/// The parameters of a kernel that quantises, and sizes as i32; the tensor
/// scales are null where the type has none, and what is given of them where the
/// kernel finds it, by a workspace unless it is always 1. What is given may be
/// the one scale of a matrix, too.
struct QuantizeArguments {
  mlir::Value x, tensorScale, data, scales, storedTensorScale, workspace;
  mlir::Value rows, k, batch;

  bool findsTensorScale() const { return storedTensorScale && !tensorScale; }
};

/// Where `op` quantises a `linalg.transpose`, so that a kernel reads what that
/// reads; null where it reads the op's own input.
mlir::Value transposedInput(QuantizeOp op);

/// The op that quantises the transpose of what `op` quantises, so that one
/// kernel does both, where the function around does nothing else, or products
/// alone read them; null elsewhere.
QuantizeOp transposedPartner(QuantizeOp op);

/// Whether the kernel of another op does what `op` does.
bool isPartOfPartner(QuantizeOp op);

/// The operands of the launch of the kernel of `op`.
llvm::SmallVector<mlir::Value> launchInputs(QuantizeOp op);

/// Why no kernel computes `op`; empty if one does.
std::optional<Reason> whyNotKernel(QuantizeOp op);

/// Why one kernel does not quantise what `op` and `partner` do, a matrix and
/// its transpose, though it does each.
std::optional<Reason> whyNotTogether(QuantizeOp op, QuantizeOp partner);

/// Whether memory that the kernel of `op` writes has a scale several times.
bool repeatsScales(QuantizeOp op);

/// Makes `blockscale.quantize` a source of kernels where its function does
/// nothing else.
void attachQuantizeSource(mlir::MLIRContext &context);

} // namespace blockscale

#endif // BLOCKSCALE_LIB_DIALECT_BLOCKSCALE_TRANSFORMS_KERNELS_QUANTIZESOURCE_H
