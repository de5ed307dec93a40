//===- TileReduction.h - what threads of a tile find together ---*- C++ -*-===//
//
// Part of the blockscale project, under the Apache License v2.0 with LLVM
// Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef BLOCKSCALE_LIB_DIALECT_BLOCKSCALE_TRANSFORMS_KERNELS_TILEREDUCTION_H
#define BLOCKSCALE_LIB_DIALECT_BLOCKSCALE_TRANSFORMS_KERNELS_TILEREDUCTION_H

#include "blockscale/Dialect/Blockscale/IR/Numbers.h"
#include "blockscale/Dialect/Blockscale/IR/Quantization.h"
#include "mlir/Dialect/GPU/IR/GPUDialect.h"

namespace blockscale {

/// Which threads of a CTA have the blocks of a tile.
enum class TileOrder {
  /// Neighbours.
  Together,
  /// Those of 128 rows follow each other, then those of the next block. Tiles
  /// have no more rows, and no more blocks than an atom of scales.
  RowsFirst,
  /// Neighbours have the blocks of an atom of scales in one row, and the next
  /// ones those of the next row. Tiles have one block and a warp's rows of
  /// them,
  /// 8, or several warps'.
  BlocksFirst
};

/// Brings an i32 of each thread of a tile together; each thread has a block.
class TileReduction {
public:
  TileReduction(Emitter &emitter, const QuantizedStorage &storage,
                TileOrder order = TileOrder::Together)
      : e(emitter), storage(storage), order(order) {}

  /// The sum or the largest. All lanes of a warp come; where a tile has more
  /// threads than a warp, or they are no neighbours, all of the CTA.
  mlir::Value reduce(mlir::Value own, mlir::gpu::AllReduceOperation how);

  /// The same of so many neighbours, a power of two.
  mlir::Value ofThreads(mlir::Value own, int64_t threads,
                        mlir::gpu::AllReduceOperation how);

private:
  mlir::Value ofNeighbours(mlir::Value own, int64_t threads,
                           mlir::gpu::AllReduceOperation how);
  mlir::Value ofWarps(mlir::Value own, int64_t warps,
                      mlir::gpu::AllReduceOperation how);
  mlir::Value ofBlocks(mlir::Value own, mlir::gpu::AllReduceOperation how);
  mlir::Value ofRows(mlir::Value own, mlir::gpu::AllReduceOperation how);
  mlir::Value joined(mlir::Value x, mlir::Value y,
                     mlir::gpu::AllReduceOperation how);
  mlir::Value allocate(int64_t words);
  mlir::Value threadInCta();

  Emitter &e;
  const QuantizedStorage &storage;
  TileOrder order;
};

} // namespace blockscale

#endif // BLOCKSCALE_LIB_DIALECT_BLOCKSCALE_TRANSFORMS_KERNELS_TILEREDUCTION_H
