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
/// scales where the kind has any, and the metadata of a sparse A.
class Producer {
public:
  Producer(KernelFrame &frame, StageRing &stages, TileSource &source)
      : frame(frame), b(frame.b), stages(stages), source(source) {}

  void emitRole();

private:
  /// The CTAs that share each operand with this one, as bits; null if none do.
  struct Sharers {
    mlir::Value a, b, sfb;
    /// The number of this CTA among those that share B.
    mlir::Value indexOfB;
  };
  /// What the loads of one output tile have in common: the first rows of A, of
  /// B's part in this CTA and of the scales, and the matrices.
  struct LoadedTile {
    /// One for each instruction above the others.
    llvm::SmallVector<mlir::Value, 2> rows, scaleRows;
    mlir::Value rowOfB, scaleRowOfB;
    mlir::Value batchOfA, batchOfB;
    /// Where K is in groups.
    KGroup group;
  };
  /// A K tile, counted from the start of its group if K is in groups, and the
  /// stage that it goes to.
  struct KTile {
    mlir::Value k, batch, stage;
    KGroup group;
  };

  std::pair<mlir::Value, mlir::Value> kTilesOf(TilePosition tile,
                                               mlir::Value kTiles);
  LoadedTile whereFrom(TilePosition tile);
  RingPosition loadTile(TilePosition tile, RingPosition ring,
                        mlir::Value kTiles);
  void announce(mlir::Value stage);
  void loadStage(const LoadedTile &from, mlir::Value k, mlir::Value stage);
  void loadOperand(mlir::Value map, mlir::Value ring,
                   const OperandGeometry &operand, mlir::Value row, KTile tile,
                   mlir::Value sharers, mlir::Value index);
  void loadScales(mlir::Value map, mlir::Value ring, mlir::Value row,
                  KTile tile, mlir::Value sharers, mlir::Value index);
  /// Those of groups along K: of `rowGroups` groups of 128 of all `rows` rows.
  void loadGroupScales(mlir::Value map, mlir::Value ring, mlir::Value row,
                       mlir::Value rows, int64_t rowGroups, KTile tile,
                       mlir::Value sharers, mlir::Value index);
  void loadMetadata(mlir::Value row, KTile tile);
  /// Loads what is too small for slices whole, in the first of the CTAs that
  /// share it.
  void
  loadWhole(mlir::Value map, mlir::Value ring, KTile tile, mlir::Value sharers,
            mlir::Value index,
            llvm::function_ref<llvm::SmallVector<mlir::Value>()> coordinates);
  void drain(RingPosition ring);

  KernelFrame &frame;
  KernelBuilder &b;
  StageRing &stages;
  TileSource &source;
  Sharers sharers;
};

} // namespace blockscale

#endif // BLOCKSCALE_LIB_DIALECT_BLOCKSCALE_TRANSFORMS_KERNELS_PRODUCER_H
