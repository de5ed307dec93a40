//===- Conversion.h - what kernels that convert read ------------*- C++ -*-===//
//
// Part of the blockscale project, under the Apache License v2.0 with LLVM
// Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef BLOCKSCALE_DIALECT_BLOCKSCALE_IR_CONVERSION_H
#define BLOCKSCALE_DIALECT_BLOCKSCALE_IR_CONVERSION_H

#include "blockscale/Dialect/Blockscale/IR/Quantization.h"

namespace blockscale {

/// Whether `op` reads a scaled tensor and is computed by a kernel of its own
/// where it is all of its function: `dequantize` and `relayout`.
bool isConversion(mlir::Operation *op);

/// What a kernel has to know of the conversion `op`, in the function `source`.
ConversionAttr conversionOf(mlir::Operation *op, llvm::StringRef source);

/// The storage of a tensor of `type` whose values a kernel for `target`
/// computes, or why there is no such kernel.
Result<QuantizedStorage> dequantizedStorage(ScaledTensorType type,
                                            hw::Target target);

/// Elements that a thread dequantises, neighbours in a row: what becomes 32
/// bytes of `result`, a sector of memory; of 6-bit codes 16 at least, which
/// fill whole words.
int64_t elementsPerThread(const QuantizedStorage &storage, mlir::Type result);

/// How many threads dequantise all of it.
mlir::AffineExpr threadsToDequantize(const QuantizedStorage &storage,
                                     mlir::Type result);

/// Scales in memory before and after a relayout. Of each storage only what
/// tells of sizes and scales is there.
struct RelayoutStorage {
  QuantizedStorage from, to;
  ScaleLayout fromLayout, toLayout;
};

/// Where a kernel finds the scales of a tensor of type `from`, and puts them
/// for `to`, which is as large; or why there is no such kernel.
Result<RelayoutStorage> relayoutStorage(ScaledTensorType from,
                                        ScaledTensorType to);

/// Scales of one row that a thread moves together: a word.
inline constexpr int64_t kScalesOfWord = 4;

/// Words of a line of scales in a layout, and lines of a matrix, with padding.
mlir::AffineExpr wordsOfLine(const QuantizedStorage &storage,
                             ScaleLayout layout);
mlir::AffineExpr linesOfMatrix(const QuantizedStorage &storage,
                               ScaleLayout layout);

/// How many threads move all scales.
mlir::AffineExpr threadsToRelayout(const RelayoutStorage &storage);

} // namespace blockscale

#endif // BLOCKSCALE_DIALECT_BLOCKSCALE_IR_CONVERSION_H
