//===- KernelBuilder.h - what the roles of a kernel share -------*- C++ -*-===//
//
// Part of the blockscale project, under the Apache License v2.0 with LLVM
// Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef BLOCKSCALE_LIB_DIALECT_BLOCKSCALE_TRANSFORMS_KERNELS_KERNELBUILDER_H
#define BLOCKSCALE_LIB_DIALECT_BLOCKSCALE_TRANSFORMS_KERNELS_KERNELBUILDER_H

#include "Geometry.h"
#include "mlir/IR/ImplicitLocOpBuilder.h"

namespace blockscale {

/// A place in a ring and the parity of the round: two i32 values.
struct RingPosition {
  mlir::Value slot, parity;
};

/// Which output tile: its number along rows and columns of D.
struct TilePosition {
  mlir::Value row, column, batch;
};

/// The values that the roles of one kernel share, and small pieces of code that
/// several of them need.
struct KernelBuilder {
  KernelBuilder(KernelMatmulOp op);

  mlir::ImplicitLocOpBuilder b;
  KernelMatmulOp op;
  TileGeometry geometry;
  bool swap;

  // Sizes as the instruction sees them, and what a cluster computes at once,
  // counted: along rows, along columns and altogether.
  mlir::Value rows, columns, rowTiles, columnTiles, tiles, firstTile, tileStep;
  // The CTA's rank in its cluster, and its place there along rows and columns
  // of D; null in kernels without clusters.
  mlir::Value rank, rankM, rankN;
  // Storage.
  mlir::Value slot, sharedA, sharedB, sharedSfa, sharedSfb, sharedMetadata;
  mlir::Value full, empty, accumulatorFull, accumulatorEmpty;
  // Those that the epilogue and loads signal: the pair's leader has them.
  mlir::Value signalFull, signalAccumulatorEmpty;
  // Responses of cluster launch control; null unless scheduling is dynamic.
  mlir::Value responses, responseFull, responseEmpty, signalResponseEmpty;
  mlir::Value accumulator, sfa, sfb, metadata;

  mlir::Value constant(int64_t value);
  mlir::Value add(mlir::Value x, mlir::Value y);
  mlir::Value sub(mlir::Value x, mlir::Value y);
  mlir::Value mul(mlir::Value x, mlir::Value y);
  mlir::Value ceilDiv(mlir::Value x, int64_t divisor);
  mlir::Value isEqual(mlir::Value x, int64_t value);
  mlir::Value div(mlir::Value x, int64_t divisor);
  mlir::Value rem(mlir::Value x, int64_t divisor);
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
  /// values and returns their next values. Returns the last ones.
  using LoopBody = llvm::function_ref<mlir::SmallVector<mlir::Value>(
      TilePosition, mlir::ValueRange)>;
  llvm::SmallVector<mlir::Value> tileLoop(mlir::ValueRange carried,
                                          LoopBody body);
  /// The output tile of this CTA when its cluster computes number `tile`. It
  /// may lie outside D.
  TilePosition position(mlir::Value tile);

  bool isDynamic() {
    return op.getSchedule().getScheduler() == Scheduler::Dynamic;
  }
  /// Whether the operands have scales.
  bool isScaled() { return static_cast<bool>(op.getSfa()); }
  bool isPair() const { return geometry.ctaGroup == 2; }
  bool isCluster() const { return geometry.clusterSize() > 1; }
  /// The first row, or column, of the CTA's part of an output tile, and of the
  /// rows of B that it holds.
  mlir::Value firstRow(TilePosition tile);
  mlir::Value firstColumn(TilePosition tile);
  mlir::Value firstRowOfB(TilePosition tile);
  /// Bits of the CTAs that hold the same part of A, of B, and of the scales of
  /// B; null if this CTA is the only one.
  mlir::Value sharersOfA();
  mlir::Value sharersOfB();
  mlir::Value sharersOfSfb();
  /// Bits of the CTAs whose loads a stage's MMAs wait for; null if there is but
  /// one.
  mlir::Value feeders();
  /// How many MMAs, of this CTA or pair and others, read what a CTA loads.
  int64_t readers() const {
    return geometry.clusterTilesM() + geometry.clusterN - 1;
  }
  /// Calls `body` where `condition` holds.
  void onlyIf(mlir::Value condition, llvm::function_ref<void()> body);

  /// Barriers of accumulators that the MMA waits on: one that every tile uses
  /// where accumulators overlap, one per accumulator otherwise.
  int64_t accumulatorEmptyCount() const {
    return geometry.overlap ? 1 : geometry.accumulators;
  }
};

/// What one output tile's MMAs have in common: whether this lane issues them,
/// the accumulator, the shift of B's scales (null for none), and the CTAs that
/// load what they read (null for this one alone).
struct MmaTile {
  mlir::Value leader, copy, shift, feeders;
};

/// Clears the scales from number `valid` on of every row of a stage, in both
/// CTAs of a pair.
void maskScales(KernelBuilder &t, mlir::Value stage, mlir::Value valid);

/// All MMAs of one output tile with K = 96; returns the next ring position.
RingPosition multiplyK96Tile(KernelBuilder &t, const MmaTile &tile,
                             RingPosition ring);

/// Threads of the epilogue: four warps, one per lane quadrant.
inline constexpr int64_t kEpilogueThreads = 128;

/// Emits sizes and numbers of tiles.
void buildSizes(KernelBuilder &t);

/// Emits the rings of A, B, their scales and the metadata, as far as they are
/// there.
void buildRings(KernelBuilder &t);

/// Emits the role of warp `warp`, which loads by TMA.
void buildProducer(KernelBuilder &t, int64_t warp);
/// Warps that are there without dynamic scheduling, and the one that it adds.
inline constexpr int64_t kSchedulerWarp = 6;

/// Emits the responses of cluster launch control and their barriers, and the
/// role that asks for them; nothing unless scheduling is dynamic.
void buildSchedulerStorage(KernelBuilder &t);
void buildScheduler(KernelBuilder &t);

/// Emits the epilogue's role at the builder's insertion point.
void buildEpilogue(KernelBuilder &t);

/// Emits the whole kernel of a chip without tensor memory.
void buildWarpKernel(KernelBuilder &t);

} // namespace blockscale

#endif // BLOCKSCALE_LIB_DIALECT_BLOCKSCALE_TRANSFORMS_KERNELS_KERNELBUILDER_H
