//===- FactorRing.h - factors of promoted sums in shared memory -*- C++ -*-===//
//
// Part of the blockscale project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef BLOCKSCALE_LIB_DIALECT_BLOCKSCALE_TRANSFORMS_KERNELS_FACTORRING_H
#define BLOCKSCALE_LIB_DIALECT_BLOCKSCALE_TRANSFORMS_KERNELS_FACTORRING_H

#include "EpilogueMath.h"
#include "TensorMemory.h"
#include "TileSource.h"

namespace blockscale {

/// Bytes of the scales of so many accumulators of `tileN` columns, of which
/// `columnsOfScale` share one, 0 if all do.
int64_t factorRingBytes(int64_t accumulators, int64_t tileN,
                        int64_t columnsOfScale);

/// What the sums of blocks of K are multiplied by, in shared memory: a ring
/// beside that of the accumulators, which has the scales of the rows of each,
/// times that of its columns if it is one, and else behind them those of its
/// columns. A warp of its own loads them, those of
/// several blocks at once, as far ahead as accumulators are free: each warp
/// that adds up sums would load them for its own columns, and wait for them, as
/// waits for accumulators may empty the L1 cache. It says that those of an
/// accumulator are there as one of the arrivals that make it full.
///
///   empty[i]  those of accumulator i are read
class FactorRing {
public:
  /// Emits the ring and the barriers.
  FactorRing(KernelFrame &frame, AccumulatorRing &accumulators);

  void emitRole(TileSource &source);

  /// In the epilogue, of accumulator `slot`: what all sums of `row` of the tile
  /// are multiplied by; null if that is nothing.
  mlir::Value loadOfRow(mlir::Value slot, mlir::Value row);
  /// What the sums of that type of such a row are multiplied by from `column`
  /// of the tile on.
  mlir::Value factors(mlir::Value slot, mlir::Value ofRow, mlir::Value column,
                      mlir::VectorType type);
  /// Lets those of the accumulator be written anew: all lanes of a warp have
  /// read theirs, and one of them says so.
  void release(mlir::Value slot);

private:
  using TileScales = EpilogueMath::TileScales;
  /// Where a lane finds scales of a tile: of some of its rows, and of some of
  /// its columns.
  struct Places {
    llvm::SmallVector<TileScales, 4> rows;
    llvm::SmallVector<TileScales, 2> columns;
  };

  /// Of each of these what a window of blocks needs: of rows one scale behind
  /// the other, of columns that of the block that the lane has.
  using Window = llvm::SmallVector<llvm::SmallVector<mlir::Value>, 6>;

  Places placesOf(TilePosition tile);
  /// Scales of columns that the lanes of a warp have at once, for each block of
  /// a window, and the number of the one that a lane has, of the `part`th.
  int64_t columnScalesAtOnce() const;
  mlir::Value columnScaleOf(int64_t part);
  /// Whether there is such a scale.
  mlir::Value hasColumnScale(int64_t part);
  /// How many scales a window needs of a row that has one for so many blocks.
  int64_t scalesOfWindow(int64_t blocks) const;
  /// `places`, none of which has any unless `isThere`.
  Places placesIf(mlir::Value isThere, Places places);
  /// What memory has for a lane of the window from block `first` on.
  Window load(const Places &places, mlir::Value first);
  /// Where the scales begin, and how many there are, of each of `places`.
  static llvm::SmallVector<mlir::Value *> startsOf(Places &places);
  /// Where that window and its first block lie, which may be the first one of
  /// the tile behind `tile`.
  std::pair<Places, mlir::Value> placesBehind(TileSource &source,
                                              TilePosition tile, Places places,
                                              mlir::Value first,
                                              mlir::Value blocks);
  /// What memory has of the window from block `first` on of a tile that is
  /// under way: behind its last block, of the tile behind it where that is
  /// known.
  Window loadBehind(TileSource &source, TilePosition tile, Places places,
                    mlir::Value first, mlir::Value blocks);
  /// Writes the scales of all blocks of a tile, of which `codes` are the first
  /// window. Returns the next position, and behind it the window that comes
  /// next.
  llvm::SmallVector<mlir::Value> fillTile(TileSource &source, TilePosition tile,
                                          RingPosition ring, Window codes);
  /// Those of the window from `first` on but for its first one, of so many
  /// blocks in all.
  RingPosition fillOthers(const Places &places, const Window &scales,
                          mlir::Value first, mlir::Value blocks,
                          RingPosition ring);
  /// Those of block number `number` of the window.
  RingPosition fillBlock(const Places &places, const Window &scales,
                         mlir::Value first, int64_t number, RingPosition ring);
  void fill(const Places &places, const Window &scales, mlir::Value first,
            int64_t number, mlir::Value slot);
  /// The scale of such a block out of those that a row has in the window.
  mlir::Value scaleOf(const TileScales &scales, mlir::ValueRange own,
                      mlir::Value first, int64_t number);
  void store(mlir::Value number, mlir::Value slot, mlir::Value place);
  /// The number in the ring of the one at `place` of an accumulator's.
  mlir::Value at(mlir::Value slot, mlir::Value place);

  KernelFrame &frame;
  KernelBuilder &b;
  AccumulatorRing &accumulators;
  /// Of a single element of D.
  EpilogueMath math;
  /// Columns that share a scale, wherever a tile begins, and how many scales
  /// the columns of a tile have.
  int64_t columnsOfScale, columnScales;
  /// Blocks of K whose scales are loaded at once.
  int64_t window;
  mlir::Value ring, empty, lane;
};

} // namespace blockscale

#endif // BLOCKSCALE_LIB_DIALECT_BLOCKSCALE_TRANSFORMS_KERNELS_FACTORRING_H
