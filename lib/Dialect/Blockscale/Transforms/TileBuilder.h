//===- TileBuilder.h - what the roles of a kernel share ---===//
//
// Part of the blockscale project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef BLOCKSCALE_LIB_DIALECT_BLOCKSCALE_TRANSFORMS_TILEBUILDER_H
#define BLOCKSCALE_LIB_DIALECT_BLOCKSCALE_TRANSFORMS_TILEBUILDER_H

#include "TileGeometry.h"
#include "mlir/IR/ImplicitLocOpBuilder.h"

namespace blockscale {

/// A place in a ring and the parity of the round: two i32 values.
struct RingPosition {
  mlir::Value slot, parity;
};

/// Where an output tile lies.
struct TilePosition {
  mlir::Value row, column, batch;
};

/// The values that the roles of one kernel share, and small pieces of code that
/// several of them need.
struct TileBuilder {
  TileBuilder(KernelMatmulOp op);

  mlir::ImplicitLocOpBuilder b;
  KernelMatmulOp op;
  TileGeometry geometry;
  bool swap;

  // Sizes as the instruction sees them, and numbers of tiles.
  mlir::Value rows, columns, rowTiles, columnTiles, tiles, firstTile, tileStep;
  // Storage.
  mlir::Value slot, sharedA, sharedB, sharedSfa, sharedSfb, sharedMetadata;
  mlir::Value full, empty, accumulatorFull, accumulatorEmpty;
  mlir::Value accumulator, sfa, sfb, metadata;

  mlir::Value constant(int64_t value);
  mlir::Value add(mlir::Value x, mlir::Value y);
  mlir::Value sub(mlir::Value x, mlir::Value y);
  mlir::Value mul(mlir::Value x, mlir::Value y);
  mlir::Value ceilDiv(mlir::Value x, int64_t divisor);
  mlir::Value isEqual(mlir::Value x, int64_t value);
  mlir::Value flip(mlir::Value parity);
  mlir::Value extend(mlir::Value x);

  /// A ring in shared memory, and barriers that `arrivals` arrivals complete.
  mlir::Value shared(SharedType type);
  mlir::Value barriers(int64_t count, int64_t arrivals);

  /// The position behind `position` in a ring of `size`.
  RingPosition next(RingPosition position, int64_t size);

  /// A role: code of warps [first, last).
  void warps(llvm::StringRef role, int64_t first, int64_t last,
             llvm::function_ref<void()> body);

  /// The loop over this CTA's tiles. `body` gets the tile and the carried
  /// values and returns their next values.
  using LoopBody = llvm::function_ref<mlir::SmallVector<mlir::Value>(
      TilePosition, mlir::ValueRange)>;
  void tileLoop(mlir::ValueRange carried, LoopBody body);

  /// Barriers of accumulators that the MMA waits on: one that every tile uses
  /// where accumulators overlap, one per accumulator otherwise.
  int64_t accumulatorEmptyCount() const {
    return geometry.overlap ? 1 : geometry.accumulators;
  }
};

/// Threads of the epilogue: four warps, one per lane quadrant.
inline constexpr int64_t kEpilogueThreads = 128;

/// Emits sizes and numbers of tiles.
void buildSizes(TileBuilder &t);

/// Emits the rings of A, B and their scales.
void buildRings(TileBuilder &t);

/// Emits the role of warp `warp`, which loads by TMA.
void buildProducer(TileBuilder &t, int64_t warp);

/// Emits the epilogue's role at the builder's insertion point.
void buildEpilogue(TileBuilder &t);

/// Emits the whole kernel of a chip without tensor memory.
void buildWarpKernel(TileBuilder &t);

} // namespace blockscale

#endif // BLOCKSCALE_LIB_DIALECT_BLOCKSCALE_TRANSFORMS_TILEBUILDER_H
