//===- Parts.h - the plain tensors of a scaled one --------------*- C++ -*-===//
//
// Part of the blockscale project, under the Apache License v2.0 with LLVM
// Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Where the elements and scales of a scaled tensor lie in its parts.
//
//===----------------------------------------------------------------------===//

#ifndef BLOCKSCALE_LIB_CONVERSION_BLOCKSCALETOLINALG_PARTS_H
#define BLOCKSCALE_LIB_CONVERSION_BLOCKSCALETOLINALG_PARTS_H

#include "Numbers.h"

namespace mlir {
class ConversionPatternRewriter;
class TypeConverter;
} // namespace mlir

namespace blockscale {

/// A scaled tensor as its plain tensors; null where there is no such part.
struct Parts {
  ScaledTensorType type;
  mlir::Value data, scales, zeros, tensorScale, metadata;

  /// From the values of `blockscale.disassemble`.
  Parts(ScaledTensorType type, mlir::ValueRange values);

  /// The values of `blockscale.disassemble`.
  llvm::SmallVector<mlir::Value> values() const;
};

/// Why a tensor of this type is not converted; empty if it is.
std::optional<Reason> whyNotLinalg(ScaledTensorType type);

/// The logical sizes, constants where the type knows them.
llvm::SmallVector<mlir::OpFoldResult> logicalSizes(Emitter &emitter,
                                                   const Parts &parts);

/// Number of tiles along the rows and along K, after the batch size if there
/// is one: the sizes of plain scales.
llvm::SmallVector<mlir::OpFoldResult>
tileCounts(Emitter &emitter, ScaledTensorType type,
           llvm::ArrayRef<mlir::OpFoldResult> sizes);

/// The sizes of scales in that layout, of which there are `counts` tiles.
llvm::SmallVector<mlir::OpFoldResult>
scaleSizes(Emitter &emitter, ScaleLayout layout,
           llvm::ArrayRef<mlir::OpFoldResult> counts);

/// The sizes of the metadata of a sparse tensor of these logical sizes.
llvm::SmallVector<mlir::OpFoldResult>
metadataSizes(Emitter &emitter, ScaledTensorType type,
              llvm::ArrayRef<mlir::OpFoldResult> sizes);

/// The tile of an element, from its logical position.
llvm::SmallVector<mlir::Value> tilePosition(Emitter &emitter,
                                            ScaledTensorType type,
                                            mlir::ValueRange position);

/// Where the scale of a tile lies in scales of that layout.
llvm::SmallVector<mlir::Value>
scalePosition(Emitter &emitter, ScaleLayout layout, mlir::ValueRange tile);

/// Where the byte of metadata lies that describes the element at a logical
/// position.
llvm::SmallVector<mlir::Value> metadataPosition(Emitter &emitter,
                                                ScaledTensorType type,
                                                mlir::ValueRange position);

/// The scales in another layout. What no tile owns is code 0.
mlir::Value convertScales(Emitter &emitter, mlir::Value scales,
                          ScaleLayout from, ScaleLayout to,
                          llvm::ArrayRef<mlir::OpFoldResult> counts);

/// The scales as `to` has them, whose tiles divide those of the parts: each is
/// that of the tile it is part of. `sizes` are the logical ones.
mlir::Value repeatScales(Emitter &emitter, const Parts &parts,
                         ScaledTensorType to,
                         llvm::ArrayRef<mlir::OpFoldResult> sizes);

/// The metadata of a sparse tensor of logical sizes `sizes` in another layout.
mlir::Value convertMetadata(Emitter &emitter, mlir::Value metadata,
                            ScaledTensorType type, ScaleLayout from,
                            ScaleLayout to,
                            llvm::ArrayRef<mlir::OpFoldResult> sizes);

/// The two innermost dimensions of a tensor exchanged.
mlir::Value transposeData(Emitter &emitter, mlir::Value data);

/// The first `count` of `rank` dimensions.
mlir::AffineMap leadingDimensions(Emitter &emitter, unsigned rank,
                                  unsigned count);

/// A tensor of these sizes, each element computed from its position.
mlir::Value
generate(Emitter &emitter, llvm::ArrayRef<mlir::OpFoldResult> sizes,
         mlir::Type element,
         llvm::function_ref<mlir::Value(Emitter &, mlir::ValueRange)> compute);

/// Replaces `op`, whose result is a scaled tensor, by `parts` as `converter`
/// has their types.
mlir::LogicalResult replaceByParts(mlir::Operation *op, mlir::ValueRange parts,
                                   const mlir::TypeConverter &converter,
                                   mlir::ConversionPatternRewriter &rewriter);

/// `value` as `type`, which differs at most in what is static.
mlir::Value castTo(Emitter &emitter, mlir::Value value, mlir::Type type);

} // namespace blockscale

#endif // BLOCKSCALE_LIB_CONVERSION_BLOCKSCALETOLINALG_PARTS_H
