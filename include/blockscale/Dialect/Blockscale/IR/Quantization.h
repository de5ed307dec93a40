//===- Quantization.h - what a quantisation kernel writes -------*- C++ -*-===//
//
// Part of the blockscale project, under the Apache License v2.0 with LLVM
// Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Where the parts of a quantised tensor lie in global memory: as the kernel of
// a product reads them. Kernels that quantise and those that convert ask here,
// and so do launch plans.
//
//===----------------------------------------------------------------------===//

#ifndef BLOCKSCALE_DIALECT_BLOCKSCALE_IR_QUANTIZATION_H
#define BLOCKSCALE_DIALECT_BLOCKSCALE_IR_QUANTIZATION_H

#include "blockscale/Dialect/Blockscale/IR/Blockscale.h"
#include "blockscale/HW/Layout.h"
#include "blockscale/HW/TensorMap.h"
#include "mlir/IR/AffineExpr.h"

namespace blockscale {

/// Sizes and strides as expressions of M (symbol 0), K (symbol 2) and the
/// number of matrices, or of groups of rows (symbol 3), constants where the
/// type knows them.
struct QuantizedStorage {
  mlir::AffineExpr rows, k, batch;
  ElementFormat element = ElementFormat::E4M3;
  /// Of scales that instructions read; none for others.
  std::optional<ElementFormat> scale;
  /// Of those that lie in layout 'plain' once for each tile: f32, f16 or bf16,
  /// for all of K also f8E8M0FNU. Null for others.
  mlir::Type plainScale;
  /// Elements along K of which memory has a scale.
  int64_t block = 0;
  /// Rows and blocks of a tile, which share a scale. One that instructions read
  /// is repeated for each of them. No blocks are all of K, and no rows are all
  /// of a matrix.
  int64_t rowTile = 1, tileBlocks = 1;
  /// How TMA brings the elements to a product of two such tensors.
  const hw::TensorMapDataTypeInfo *data = nullptr;
  /// Bytes from one row of elements to the next, and from matrix to matrix.
  mlir::AffineExpr linePitch, batchPitch;
  /// The scales of one matrix that instructions read.
  hw::StorageLayout<mlir::AffineExpr> scales;

  /// Whether a scale is for all of K.
  bool coversK() const { return tileBlocks == 0; }
  /// Whether it is for all rows as well, or for one.
  bool coversMatrix() const { return coversK() && rowTile == 0; }
  bool coversRow() const { return coversK() && rowTile == 1; }
  /// Elements along K that share a scale.
  int64_t tileElements() const { return block * tileBlocks; }
  /// Whether scales are powers of two.
  bool hasPowers() const {
    return scale == ElementFormat::UE8M0 ||
           mlir::isa_and_nonnull<mlir::Float8E8M0FNUType>(plainScale);
  }
  /// What memory has scales as: those of a byte are i8.
  mlir::Type scaleMemory() const;
  /// Blocks that share a scale.
  int64_t repetitions() const { return rowTile * tileBlocks; }
  /// The plain scales of one matrix: for a group of rows, and of all of them.
  mlir::AffineExpr floatsOfRows() const {
    return coversK() ? mlir::getAffineConstantExpr(1, k.getContext())
                     : k.ceilDiv(tileElements());
  }
  mlir::AffineExpr floatsOfMatrix() const {
    return coversMatrix() ? floatsOfRows()
                          : rows.ceilDiv(rowTile) * floatsOfRows();
  }
};

/// The unit attribute of a `blockscale.quantize`, and of the kernel made from
/// it, that writes scales for twice as many elements along K as dense
/// instructions read one of: for sparse instructions, beside whose A the result
/// is B, or whose A it becomes when it is compressed.
inline constexpr llvm::StringLiteral kForSparseName = "blockscale.for_sparse";

/// Where it may be.
mlir::LogicalResult verifyForSparse(mlir::Operation *op,
                                    mlir::Attribute attribute);

/// Which instructions read the scales of a result.
enum class ScaleReader { Dense, Sparse };
ScaleReader scaleReader(mlir::Operation *op);

/// What the scales of `type` are if they lie in layout 'plain' for whoever
/// multiplies sums by them; null if instructions read them.
mlir::Type plainScaleType(ScaledTensorType type);

/// The sizes of a tensor of `type` alone.
QuantizedStorage sizesInMemory(ScaledTensorType type);

/// Sets how lines of `elements` elements lie that TMA brings to an instruction.
void setLines(QuantizedStorage &storage, const hw::TensorMapDataTypeInfo &data,
              mlir::AffineExpr elements);

/// The storage of a dense tensor of `type`, with scales of tiles along K or f32
/// ones of all of it, as products for `target` read it; none if there is no
/// such instruction.
std::optional<QuantizedStorage> operandStorage(ScaledTensorType type,
                                               hw::Target target);

/// The storage of a tensor of `type` that a kernel for `target` writes, or why
/// there is no such kernel. Where its rows are in groups only the product knows
/// how many `groups` there are; null if the launch does.
Result<QuantizedStorage>
quantizedStorage(ScaledTensorType type, hw::Target target,
                 mlir::AffineExpr groups = {},
                 ScaleReader reader = ScaleReader::Dense);

/// The most threads that find a scale together, one for each block of its tile.
inline constexpr int64_t kMostTileThreads = 1024;

/// Threads of a kernel that writes such a tensor from rows of memory: one for
/// Threads that find the one scale of a row together, a power of two: as many
/// as it has blocks, so that each reads its own once, up to a bound; those of a
/// warp where K is the launch's.
int64_t threadsOfRow(const QuantizedStorage &storage);

/// each byte of the scales, and as many more as make tiles whole.
mlir::AffineExpr threadsToQuantize(const QuantizedStorage &storage);

/// Why the epilogue of a product does not write such a tensor.
std::optional<Reason> whyNotEpilogue(const QuantizedStorage &storage);

} // namespace blockscale

#endif // BLOCKSCALE_DIALECT_BLOCKSCALE_IR_QUANTIZATION_H
