//===- QuantizedResult.h - products that quantise their result --*- C++ -*-===//
//
// Part of the blockscale project, under the Apache License v2.0 with LLVM
// Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A product's kernel may quantise in its epilogue what a `blockscale.quantize`
// would make of its result. Which products those are, and which schedules can.
//
//===----------------------------------------------------------------------===//

#ifndef BLOCKSCALE_DIALECT_BLOCKSCALE_IR_QUANTIZEDRESULT_H
#define BLOCKSCALE_DIALECT_BLOCKSCALE_IR_QUANTIZEDRESULT_H

#include "blockscale/Dialect/Blockscale/IR/Quantization.h"
#include "blockscale/Dialect/Blockscale/IR/ResultTiles.h"
#include "blockscale/Formats/Result.h"

namespace blockscale {

/// The unit attribute of a product whose kernel quantises its result.
inline constexpr llvm::StringLiteral kQuantizedAttrName =
    "blockscale.quantized";

/// The `QuantizationAttr` of a kernel that quantises a matrix and its
/// transpose: what it does with the transpose.
inline constexpr llvm::StringLiteral kTransposedQuantizationName =
    "blockscale.transposed_quantization";

/// What becomes part of the kernel of `op`; null if it has no such attribute.
QuantizeOp quantizerOf(MatmulOp op);

/// Which instructions read the scales that the kernel of `op` writes.
ScaleReader readerOfResult(KernelMatmulOp op);

/// Columns of the product `op` that become a block of its quantised result.
int64_t columnsOfBlock(MatmulOp op, QuantizeOp quantizer);

/// The same of what its kernel quantises; 0 if that is nothing.
int64_t columnsOfResult(MatmulOp op);

/// The tiles of what the kernel `op` stores, and of what that of `product`
/// does, which `op` quantises; of single elements if that is null.
ResultTile resultTile(KernelMatmulOp op);
ResultTile resultTile(MatmulOp product, QuantizeOp op, hw::Target target);

/// Why a kernel with swapped operands does not bring its sums to threads that
/// have such tiles of D, or parts of them; empty if it does.
std::optional<Reason> whyNotExchanged(ScheduleAttr schedule,
                                      const ResultTile &tile,
                                      hw::Target target);

/// What a kernel has to know of `op`, in the function `source`; whether it
/// reads the transpose of the op's input.
QuantizationAttr quantizationOf(QuantizeOp op, llvm::StringRef source,
                                bool transposed = false);

/// Why no kernel for `target` multiplies as `product` says and quantises as
/// `op` does, whatever its schedule is.
std::optional<Reason> whyNotQuantized(MatmulOp product, QuantizeOp op,
                                      hw::Target target);

/// Why no kernel with this schedule does.
std::optional<Reason> whyNotQuantized(MatmulOp product, QuantizeOp op,
                                      ScheduleAttr schedule, hw::Target target);

/// Why kernels with this schedule do not quantise their results in such tiles;
/// empty if they do.
std::optional<Reason> whyNotQuantized(ScheduleAttr schedule,
                                      const ResultTile &tile,
                                      hw::Target target);

/// Judges the attribute on `op`.
llvm::LogicalResult verifyQuantized(mlir::Operation *op,
                                    mlir::Attribute attribute);

} // namespace blockscale

#endif // BLOCKSCALE_DIALECT_BLOCKSCALE_IR_QUANTIZEDRESULT_H
