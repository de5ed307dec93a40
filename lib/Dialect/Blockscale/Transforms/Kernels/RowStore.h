//===- RowStore.h - the epilogue that stores row by row ---------*- C++ -*-===//
//
// Part of the blockscale project, under the Apache License v2.0 with LLVM
// Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef BLOCKSCALE_LIB_DIALECT_BLOCKSCALE_TRANSFORMS_KERNELS_ROWSTORE_H
#define BLOCKSCALE_LIB_DIALECT_BLOCKSCALE_TRANSFORMS_KERNELS_ROWSTORE_H

#include "AddendAhead.h"
#include "AddendRing.h"
#include "EpilogueMath.h"
#include "QuantizedStore.h"
#include "ResultRows.h"
#include "RowExchange.h"
#include "SplitK.h"
#include "TensorMemory.h"
#include "TileSource.h"
#include "TmaStore.h"
#include "blockscale/Dialect/Blockscale/IR/Epilogue.h"

namespace blockscale {

/// Four warps read the accumulator some columns at a time and store what
/// becomes of it; each thread owns one lane, that is one row of the
/// instruction's tile. Of eight warps two own the same lanes and take chunks of
/// columns in turns: a round is a chunk for each of them. Without operand swap
/// that is a row of D and consecutive columns are consecutive in memory; with
/// swap it is a column of D, and neighbouring lanes are. Where K is split they
/// store the sums of its part to the workspace; the CTA that is the last to do
/// so adds all of them up and stores what becomes of them. Or, where one
/// cluster has all parts, they send them to each other, and each CTA adds up
/// and stores a slice of the columns. C and D may also go through shared
/// memory. Where swapped operands make blocks or pairs of columns of D, chunks
/// of the accumulator are brought to threads that have rows of it.
class RowStore {
public:
  RowStore(KernelFrame &frame, TensorMemory &memory,
           AccumulatorRing &accumulators, TileSource &source,
           std::optional<SumExchange> &exchange,
           std::optional<AddendRing> &addends,
           std::optional<RowExchange> &turning, std::optional<TileMates> &mates)
      : frame(frame), b(frame.b), memory(memory), accumulators(accumulators),
        source(source), exchange(exchange), addends(addends), turning(turning),
        mates(mates), math(frame, EpilogueMath::widthOf(frame)),
        partials(frame, keptColumns()) {}

  void emitRole();

private:
  /// The first column in its tile of a chunk with a number.
  using ColumnOf = llvm::function_ref<mlir::Value(mlir::Value)>;
  /// Calls `body` with the number of each chunk of `columns` columns that is
  /// the warp's own. C that is loaded ahead passes from one to the next.
  void forEachChunk(int64_t columns,
                    llvm::function_ref<void(mlir::Value)> body);
  /// The same of `count` chunks from number `begin` on.
  void forEachChunk(mlir::Value begin, int64_t count,
                    llvm::function_ref<void(mlir::Value)> body);
  /// Stores all of a tile; returns what is carried to the next one.
  llvm::SmallVector<mlir::Value> storeTile(TilePosition tile,
                                           mlir::ValueRange carried);
  /// Stores the part of an output tile that is in its accumulator `number`, or
  /// keeps its sums where they are those of a part of K.
  RingPosition storePart(TilePosition tile, mlir::Value number,
                         RingPosition copy, bool isPartOfK);
  /// The same for all parts of a tile.
  RingPosition storeParts(TilePosition tile, RingPosition copy, bool isPartOfK);
  RingPosition storeHalves(TilePosition tile, RingPosition copy,
                           bool isPartOfK);
  /// The same where the tile's accumulators have all of K. With C in a ring its
  /// rounds begin with the one of `parity`, which becomes that of the next
  /// tile.
  RingPosition storeWhole(TilePosition tile, RingPosition copy,
                          mlir::Value &parity);
  /// Stores a tile, or the part of it that a share has; `parity` likewise.
  RingPosition storeShare(TilePosition tile, RingPosition copy,
                          mlir::Value &parity);
  /// Counts the part of K; in the CTA that is the last stores the tile.
  void addUp(TilePosition tile, mlir::Value &parity);
  /// Stores a part of a tile with C.
  RingPosition addPart(TilePosition tile, int64_t number, RingPosition copy,
                       mlir::Value &parity);
  /// The same, after the sums of all parts of K were exchanged in the round
  /// with `parity`.
  RingPosition exchangePart(TilePosition tile, int64_t number,
                            RingPosition copy, mlir::Value parity);
  /// Sends the sums of an accumulator to those that own them.
  void sendSums(RingPosition copy);
  /// Stores the slice from column `first` on whose sums are all there.
  void storeSlice(TilePosition tile, RingPosition copy, mlir::Value first);
  /// Stores the chunk of a tile from `column` on, number `index` of it: `load`
  /// has the sums of all parts of K from a column on.
  void storeSums(TilePosition tile, mlir::Value index, mlir::Value column,
                 llvm::function_ref<mlir::Value(mlir::Value)> load);
  /// Waits for the accumulator of a part.
  void awaitPart(TilePosition tile, RingPosition copy, bool isPartOfK);
  mlir::Value loadSums(RingPosition copy, mlir::Value column, int64_t columns);
  /// The first column in the accumulator of the chunk that is number `index` in
  /// the order of loading.
  mlir::Value columnOf(RingPosition copy, mlir::Value index);
  /// The same in the tile, of which it is in accumulator `number`.
  mlir::Value columnInTile(mlir::Value number, RingPosition copy,
                           mlir::Value index);
  void storeChunk(TilePosition tile, mlir::Value number, RingPosition copy,
                  mlir::Value index, bool isPartOfK);
  /// Keeps the sums of a chunk, which is in accumulator `number`.
  void keepChunk(TilePosition tile, mlir::Value number, RingPosition copy,
                 mlir::Value inAccumulator, mlir::Value column,
                 llvm::function_ref<void()> released);
  /// Sums of a thread that it keeps, or gives away, at once.
  int64_t keptColumns() const;
  /// Stores what becomes of a chunk, or of a piece of one.
  void finishChunk(TilePosition tile, mlir::Value index, mlir::Value column,
                   mlir::Value sum, bool isPiece = false);
  /// `values` of a chunk from column `first` on, of so many.
  mlir::Value pieceOf(mlir::Value values, int64_t first, int64_t count);
  /// What becomes of the sums of a block that is quantised, which are all there
  /// while pieces of it are finished.
  mlir::Value finishedBlock(mlir::Value sum, const EpilogueFragment &fragment);
  /// The same of the chunk's pieces, of what a thread finishes at once.
  void finishPieces(TilePosition tile, mlir::Value index, mlir::Value column,
                    mlir::Value sum);
  void finishInTurn(TilePosition tile, mlir::Value index, mlir::Value column,
                    llvm::ArrayRef<mlir::Value> pieces);
  /// Stores a chunk that is a tile of which all is kept until its scale is
  /// chosen, or made again then: `load` has the sums from one of its columns
  /// on, `released` follows the last of them.
  void storeKeptTile(TilePosition tile, mlir::Value column,
                     llvm::function_ref<mlir::Value(mlir::Value)> load,
                     llvm::function_ref<void()> released);
  /// What becomes of the sums from such a column on, of `columns`.
  QuantizedStore::Part
  partOf(TilePosition tile, mlir::Value column, mlir::Value distance,
         int64_t columns, llvm::function_ref<mlir::Value(mlir::Value)> load);
  /// Stores such a part whose sums are all in the workspace.
  void reducePart(TilePosition tile, int64_t number, mlir::Value &parity);
  /// Stores a chunk that is brought to threads that have rows of D: `load` has
  /// the sums to keep from one of its columns on, `released` follows the last.
  void turnChunk(TilePosition tile, mlir::Value column,
                 llvm::function_ref<mlir::Value(int64_t)> load,
                 llvm::function_ref<void()> released);
  /// Stores scales behind the last rows of D that no tile has.
  void storePadding(TilePosition tile);
  void release(RingPosition copy);
  void releaseAfter(int64_t lastRound, mlir::Value index, RingPosition copy);
  void leaveAfterLast(TilePosition tile, mlir::Value number, mlir::Value index);
  /// Columns that a thread loads at once, of which it finishes `width` after
  /// `width`: two blocks that are quantised, where a warp that shares its lanes
  /// would keep the other waiting between them. Those of a tile that it keeps
  /// it loads piece after piece.
  int64_t chunkColumns() const;
  /// Columns of such a tile that are made again at once: whole blocks.
  int64_t columnsOfPart() const;
  int64_t chunks() const {
    return frame.geometry.accumulatorColumns() / chunkColumns();
  }
  /// Warps that own the same lanes, and the rounds in which they take an
  /// accumulator.
  int64_t sharers() const { return frame.schedule.warpsOfQuarter(); }
  int64_t rounds() const { return chunks() / sharers(); }
  /// The round of the chunk that is number `index`, and the warp's own chunk of
  /// a round.
  mlir::Value roundOf(mlir::Value index) { return b.div(index, sharers()); }
  mlir::Value chunkOf(mlir::Value round);
  /// Finds the thread's row and which chunks of it are its own.
  void findRow();
  /// Where C is loaded ahead: has that of the warp's first chunk loaded.
  void beginAhead(TilePosition tile, ColumnOf columnOf);
  /// Then what is finished next is chunk number `index` of `count`: it has what
  /// is loaded, and the warp's chunk behind it follows.
  void takeAhead(TilePosition tile, mlir::Value index, int64_t count,
                 ColumnOf columnOf);
  mlir::VectorType sumsType(int64_t columns);

  KernelFrame &frame;
  KernelBuilder &b;
  TensorMemory &memory;
  AccumulatorRing &accumulators;
  TileSource &source;
  /// Where one cluster has all parts of K.
  std::optional<SumExchange> &exchange;
  /// With loads of C by TMA.
  std::optional<AddendRing> &addends;
  /// Where threads load C while they do something else.
  std::optional<AddendAhead> ahead;
  /// Where sums of swapped operands are brought to rows of D.
  std::optional<RowExchange> &turning;
  /// Where several threads choose a scale of D.
  std::optional<TileMates> &mates;
  std::optional<ResultRows> rows;
  EpilogueMath math;
  PartialSums partials;
  /// With stores by TMA.
  std::optional<TmaStore> boxes;
  /// Where the result is quantised.
  std::optional<QuantizedStore> quantized;
  mlir::Value thread;
  /// The row of an instruction's tile that the thread owns, and the first of
  /// its chunks.
  mlir::Value row, firstChunk;
};

} // namespace blockscale

#endif // BLOCKSCALE_LIB_DIALECT_BLOCKSCALE_TRANSFORMS_KERNELS_ROWSTORE_H
