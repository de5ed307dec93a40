//===- PromotedStore.h - the epilogue that adds up blocks of K --*- C++ -*-===//
//
// Part of the blockscale project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef BLOCKSCALE_LIB_DIALECT_BLOCKSCALE_TRANSFORMS_KERNELS_PROMOTEDSTORE_H
#define BLOCKSCALE_LIB_DIALECT_BLOCKSCALE_TRANSFORMS_KERNELS_PROMOTEDSTORE_H

#include "EpilogueMath.h"
#include "FactorRing.h"
#include "LargestOfGroups.h"
#include "QuantizedStore.h"
#include "ResultRows.h"
#include "RowExchange.h"
#include "TensorMemory.h"
#include "TileSource.h"
#include "TmaStore.h"

namespace blockscale {

/// The epilogue where scales of tiles along K are applied in registers: each
/// accumulator has the sum over one block of K. Each thread owns one lane, as
/// in RowStore, and keeps the sums of its row; to these it adds what the
/// accumulator has, multiplied by the block's scales. After the last block it
/// stores what becomes of them. Of tiles of several times 32 columns each group
/// of four warps has 32, or 128 where there are 256. Where the result is
/// quantised under a float for more columns than a thread has, groups that have
/// parts of a tile choose it together. Where swapped operands make blocks or
/// pairs of columns of D, its sums are brought to threads that have rows of it.
class PromotedStore {
public:
  PromotedStore(KernelFrame &frame, TensorMemory &memory,
                AccumulatorRing &accumulators, FactorRing &scales,
                TileSource &source, std::optional<LargestOfGroups> &largest,
                std::optional<RowExchange> &turning,
                std::optional<TileMates> &mates);

  void emitRole();

private:
  /// The part of D that starts so many columns behind the thread's first one.
  using Fragments = llvm::function_ref<EpilogueFragment(int64_t distance)>;

  int64_t chunks() const { return columns / math.getWidth(); }
  /// Whether a thread keeps as many sums as groups of so many warps leave
  /// registers for.
  bool isCrowded() const;
  /// Values that keep the sums of a chunk: where the chip multiplies two
  /// numbers at once a vector, else a number each. Pairs that `ptxas` takes
  /// apart in each block it moves about, which takes registers.
  int64_t valuesOfChunk() const { return isPacked ? 1 : math.getWidth(); }
  llvm::SmallVector<mlir::Value> zeroSums();
  /// Adds what is loaded, times its factor, to the sums of a chunk.
  void add(mlir::Value loaded, mlir::Value factor,
           llvm::MutableArrayRef<mlir::Value> sums);
  /// The vector of the sums that are finished together from column `first` of
  /// the thread on.
  mlir::Value sumsOf(mlir::ValueRange sums, int64_t first);
  /// The column of the tile at which a chunk of the thread's starts.
  mlir::Value columnOf(int64_t chunk);
  /// Adds the sums of a block to those of all chunks.
  void addBlock(RingPosition copy, llvm::MutableArrayRef<mlir::Value> sums);
  void release(RingPosition copy);
  /// Lets the cluster end once the sums of the last tile are loaded.
  void leaveAfterLast(TilePosition tile);
  /// Stores what becomes of the sums of a tile, whose columns are in chunks of
  /// what is finished at once.
  void storeChunks(TilePosition tile, const Fragments &fragments,
                   mlir::ValueRange sums);
  /// Whether a thread has no registers for what becomes of several chunks at
  /// once, and the same of all of its sums, a chunk after the other: numbers of
  /// D in place of the sums, of pairs in front of each chunk.
  bool finishesInTurn() const;
  llvm::SmallVector<mlir::Value> finishInTurn(mlir::ValueRange sums,
                                              EpilogueFragment place);
  /// What became of the sums that are finished together from column `first` of
  /// the thread on.
  mlir::Value finishedOf(mlir::ValueRange chunks, int64_t first);
  /// Quantises the sums of a tile that a thread has; `parity` is that of its
  /// number where threads choose scales together.
  void quantize(const Fragments &fragments, mlir::ValueRange sums,
                mlir::Value parity);
  /// Brings the sums of a tile to rows of D and stores them.
  void turn(TilePosition tile, mlir::ValueRange sums);
  /// What becomes of the sums of a tile; `place` is where a thread of many
  /// columns has them.
  void finishTile(TilePosition tile, mlir::ValueRange sums, mlir::Value parity,
                  std::optional<EpilogueFragment> place);
  /// Returns the next position in the ring.
  RingPosition storeTile(TilePosition tile, RingPosition copy,
                         mlir::Value parity);

  KernelFrame &frame;
  KernelBuilder &b;
  TensorMemory &memory;
  AccumulatorRing &accumulators;
  FactorRing &scales;
  TileSource &source;
  std::optional<LargestOfGroups> &largest;
  /// Where sums of swapped operands are brought to rows of D.
  std::optional<RowExchange> &turning;
  /// Where several threads choose a scale of D in another way.
  std::optional<TileMates> &mates;
  std::optional<ResultRows> rows;
  /// For columns that are loaded at once, and for those that are finished.
  EpilogueMath math, finishing;
  std::optional<QuantizedStore> quantized;
  std::optional<TmaStore> boxes;
  /// Columns of a thread.
  int64_t columns;
  bool isPacked;
  /// The thread's row of the tile, and its first column.
  mlir::Value row, firstColumn, thread;
};

} // namespace blockscale

#endif // BLOCKSCALE_LIB_DIALECT_BLOCKSCALE_TRANSFORMS_KERNELS_PROMOTEDSTORE_H
