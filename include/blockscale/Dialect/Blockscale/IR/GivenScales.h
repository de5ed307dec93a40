//===- GivenScales.h - results under one scale for a matrix -----*- C++ -*-===//
//
// Part of the blockscale project, under the Apache License v2.0 with LLVM
// Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// One scale for all of a matrix may be given, as the static activation scales
// of checkpoints are. Nothing is chosen then, so that whoever quantises may do
// so with any part of the matrix.
//
//===----------------------------------------------------------------------===//

#ifndef BLOCKSCALE_DIALECT_BLOCKSCALE_IR_GIVENSCALES_H
#define BLOCKSCALE_DIALECT_BLOCKSCALE_IR_GIVENSCALES_H

#include "blockscale/Dialect/Blockscale/IR/Quantization.h"

namespace blockscale {

/// Whether a scale of `type` is for all of a matrix, so that it may be given.
bool hasOneScale(ScaledTensorType type);

/// What memory has the scales of `type` as: those of a byte are i8.
mlir::Type scaleMemory(ScaledTensorType type);

/// Rows of the result of a product, and elements of each, that its kernel
/// quantises together: those of a tile, or under a scale that is given as many
/// as a thread quantises at once.
int64_t rowsTogether(ScaledTensorType type);
int64_t elementsTogether(ScaledTensorType type);

/// Why K is not whole blocks, of which kernels quantise each at once.
std::optional<Reason> whyNotWholeBlocks(const QuantizedStorage &storage);

} // namespace blockscale

#endif // BLOCKSCALE_DIALECT_BLOCKSCALE_IR_GIVENSCALES_H
