//===- AddendRing.h - C through shared memory -------------------*- C++ -*-===//
//
// Part of the blockscale project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef BLOCKSCALE_LIB_DIALECT_BLOCKSCALE_TRANSFORMS_KERNELS_ADDENDRING_H
#define BLOCKSCALE_LIB_DIALECT_BLOCKSCALE_TRANSFORMS_KERNELS_ADDENDRING_H

#include "KernelFrame.h"

namespace blockscale {

/// A ring of boxes of C for each warp of the epilogue, and a barrier for each
/// box. A warp has TMA load the first ones of a tile before it waits for the
/// sums, and the next one into a box when its lanes have read it. No warp waits
/// for another.
class AddendRing {
public:
  /// Emits the ring and the barriers, for `chunks` chunks of columns that a
  /// warp has of a tile.
  AddendRing(KernelFrame &frame, int64_t chunks);

  /// The first column, in its tile, of the warp's chunk with a number.
  using ColumnOf = llvm::function_ref<mlir::Value(mlir::Value)>;
  /// Loads the first boxes of `tile`. `thread` is the thread's number, `parity`
  /// that of the round of the ring which begins.
  void begin(TilePosition tile, mlir::Value thread, mlir::Value parity,
             ColumnOf columnOf);
  /// The lane's row of chunk number `chunk`; they are taken in their order.
  mlir::Value take(mlir::Value chunk, ColumnOf columnOf);
  /// The parity of the round that begins behind the last chunk.
  mlir::Value parityBehind();

private:
  /// Rounds of the ring for a tile.
  int64_t rounds() const { return chunks / depth; }
  /// The warp's box for chunk number `chunk`.
  mlir::Value boxOf(mlir::Value chunk);
  /// Lets TMA fill it, in one lane.
  void load(mlir::Value chunk, ColumnOf columnOf);

  KernelFrame &frame;
  KernelBuilder &b;
  /// Chunks of a tile and boxes that a warp has.
  int64_t chunks, depth;
  mlir::Value ring, full;
  /// Of the current tile: the warp's number, one of its lanes, the parity and
  /// the warp's first row.
  mlir::Value warp, leader, parity, row;
  TilePosition tile;
};

/// Bytes of shared memory of the rings of `warps` warps where a thread takes
/// `width` columns of `elementBytes` at once, `chunks` of a tile.
int64_t addendRingBytes(int64_t warps, int64_t chunks, int64_t width,
                        int64_t elementBytes);

} // namespace blockscale

#endif // BLOCKSCALE_LIB_DIALECT_BLOCKSCALE_TRANSFORMS_KERNELS_ADDENDRING_H
