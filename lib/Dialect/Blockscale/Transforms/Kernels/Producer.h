//===- Producer.h - the role that loads operands ----------------*- C++ -*-===//
//
// Part of the blockscale project, under the Apache License v2.0 with LLVM
// Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef BLOCKSCALE_LIB_DIALECT_BLOCKSCALE_TRANSFORMS_KERNELS_PRODUCER_H
#define BLOCKSCALE_LIB_DIALECT_BLOCKSCALE_TRANSFORMS_KERNELS_PRODUCER_H

#include "StageRing.h"
#include "TileSource.h"

namespace blockscale {

/// One thread waits until a stage is free and has TMA fill it: A, B, their
/// scales where the kind has any, and the metadata of a sparse A. Rows that are
/// gathered all lanes of its warp load, four each.
class Producer {
public:
  Producer(KernelFrame &frame, StageRing &stages, TileSource &source)
      : frame(frame), b(frame.b), stages(stages), source(source) {}

  void emitRole();

  /// Emits that one thread asks the L2 cache for the first stages of the
  /// weights, which is allowed before the grid before this one is done. Groups
  /// are known behind it only.
  void emitPrefetch();

private:
  /// The CTAs that share each operand with this one, as bits; null if none do.
  struct Sharers {
    mlir::Value a, b, sfb;
    /// The number of this CTA among those that share B.
    mlir::Value indexOfB;
  };
  /// Rows that a lane loads together: the number of the first one in a box, and
  /// those in memory, a vector.
  struct FourRows {
    mlir::Value inBox, numbers;
  };
  /// What the loads of one output tile have in common: the first rows of A, of
  /// B's part in this CTA and of the scales, and the matrices.
  struct LoadedTile {
    /// One for each instruction above the others.
    llvm::SmallVector<mlir::Value, 2> rows, scaleRows;
    /// One for each instruction beside the others.
    llvm::SmallVector<mlir::Value, 2> rowsOfB;
    mlir::Value scaleRowOfB;
    mlir::Value batchOfA, batchOfB;
    /// Where K is in groups.
    KGroup group;
    /// Those of the operand whose rows are gathered, for each instruction above
    /// the others if it is the first; empty if none are.
    llvm::SmallVector<llvm::SmallVector<FourRows, 2>, 2> gathered;
  };
  /// A K tile, counted from the start of its group if K is in groups, and the
  /// stage that it goes to: its scales to another one where they have a ring of
  /// their own, null where not.
  struct KTile {
    mlir::Value k, batch, stage, scaleStage;
    KGroup group;
  };

  std::pair<mlir::Value, mlir::Value> kTilesOf(TilePosition tile,
                                               mlir::Value kTiles);
  LoadedTile whereFrom(TilePosition tile);
  StagePosition loadTile(TilePosition tile, StagePosition ring,
                         mlir::Value kTiles);
  /// The rows of a lane of the box of `operand` that starts at `row` of the
  /// product; those from `end` on are no rows.
  llvm::SmallVector<FourRows, 2> rowsByNumber(const OperandGeometry &operand,
                                              mlir::Value row, mlir::Value end,
                                              mlir::Value index);
  void gatherOperand(mlir::Value map, mlir::Value ring,
                     const OperandGeometry &operand,
                     llvm::ArrayRef<FourRows> rows, KTile tile,
                     mlir::Value sharers, mlir::Value index);
  void gatherStage(const LoadedTile &from, mlir::Value k, mlir::Value stage);
  /// Emits `body` for one thread, where it is not alone.
  void asOne(llvm::function_ref<void()> body);
  void walkTiles();
  void announce(mlir::Value stage);
  void loadStage(const LoadedTile &from, mlir::Value k, StagePosition ring);
  void loadScalesOfStage(const LoadedTile &from, KTile ofA, KTile ofB);
  void loadOperand(mlir::Value map, mlir::Value ring,
                   const OperandGeometry &operand, mlir::Value row, KTile tile,
                   mlir::Value sharers, mlir::Value index);
  void loadScales(mlir::Value map, mlir::Value ring, mlir::Value row,
                  KTile tile, mlir::Value sharers, mlir::Value index,
                  int64_t boxes = 1);
  void loadScalesOfB(mlir::Value row, KTile tile);
  /// Those of groups along K: of `rowGroups` groups of 128 of all `rows` rows.
  void loadGroupScales(mlir::Value map, mlir::Value ring, mlir::Value row,
                       mlir::Value rows, int64_t rowGroups, KTile tile,
                       mlir::Value sharers, mlir::Value index);
  void loadMetadata(mlir::Value row, KTile tile);
  /// One box to a stage of `ring`, or to the L2 cache alone.
  void loadBox(mlir::Value map, mlir::ValueRange coordinates, mlir::Value ring,
               const KTile &tile, mlir::Value slice, mlir::Value sharers,
               mlir::Value at, int64_t box);
  void findSharers();
  /// Stages of the weights, A or B of this many K tiles, to prefetch: what
  /// memory brings to an SM while the first byte is on its way.
  int64_t prefetchedStages(bool isOfA, mlir::Value kTiles);
  /// What a stage holds of the weights: the sparse operand, or the source's B.
  void loadWeights(const LoadedTile &from, mlir::Value k);
  /// Loads what is too small for slices whole, in the first of the CTAs that
  /// share it; to stage `at` where that is not the tile's.
  void loadWhole(
      mlir::Value map, mlir::Value ring, KTile tile, mlir::Value at,
      mlir::Value sharers, mlir::Value index,
      llvm::function_ref<llvm::SmallVector<mlir::Value>(int64_t)> coordinates,
      int64_t boxes = 1);
  void drain(StagePosition ring);

  KernelFrame &frame;
  KernelBuilder &b;
  StageRing &stages;
  TileSource &source;
  Sharers sharers;
  /// Whether boxes go to the L2 cache alone.
  bool isPrefetching = false;
  /// The thread's number in its warp, if rows are gathered.
  mlir::Value lane;
};

} // namespace blockscale

#endif // BLOCKSCALE_LIB_DIALECT_BLOCKSCALE_TRANSFORMS_KERNELS_PRODUCER_H
