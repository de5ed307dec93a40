//===- WarpLoop.h - the role that multiplies in registers -------*- C++ -*-===//
//
// Part of the blockscale project, under the Apache License v2.0 with LLVM
// Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef BLOCKSCALE_LIB_DIALECT_BLOCKSCALE_TRANSFORMS_KERNELS_WARPLOOP_H
#define BLOCKSCALE_LIB_DIALECT_BLOCKSCALE_TRANSFORMS_KERNELS_WARPLOOP_H

#include "EpilogueMath.h"
#include "QuadBlocks.h"
#include "QuantizedStore.h"
#include "ResultRows.h"
#include "SplitK.h"
#include "StageRing.h"
#include "TileSource.h"
#include "Turns.h"
#include "blockscale/Dialect/Blockscale/IR/QuantizedResult.h"

namespace blockscale {

/// Main loop and epilogue of chips without tensor memory: warps multiply a tile
/// together and store it. An accumulator stays in the registers of its warp
/// from the first instruction to the store; with float scales of tiles along K
/// to the last one under the same scales in a stage, whose sums are then
/// multiplied by them and added to those before. Groups of warps that take
/// tiles in turns have one warp each on a quarter of an SM: it loads what the
/// next step along K reads between the instructions of the one before.
class WarpLoop {
public:
  WarpLoop(KernelFrame &frame, StageRing &stages, TileSource &source,
           std::optional<Turns> &turns, std::optional<TileMates> &mates)
      : frame(frame), b(frame.b), stages(stages), source(source), turns(turns),
        mates(mates), tile(warpTile(frame.schedule, resultTile(frame.op),
                                    frame.bringsRows())),
        epilogue(frame, /*width=*/2), partials(frame, kFragment) {}

  void emitRole();

private:
  /// Sums that a lane has of one instruction.
  static constexpr int64_t kFragment = 4;
  /// Extents of one instruction. A lane has elements of two rows of a fragment,
  /// so many apart.
  static constexpr int64_t kRows = 16, kColumns = 8, kHalfRows = 8;

  /// What a warp carries from K tile to K tile. With scales of tiles along K
  /// the accumulators are the sums over those before.
  struct State {
    llvm::SmallVector<mlir::Value> accumulators;
    StagePosition stage;

    llvm::SmallVector<mlir::Value> values() const;
    static State from(mlir::ValueRange all);
  };
  using NextState = llvm::function_ref<State()>;

  /// The part of K that one stage holds.
  struct StageExtent {
    /// Instructions along K.
    int64_t steps;
    /// Scales per row, and instructions, that are not padding; null if all that
    /// are read.
    mlir::Value validScales, validSteps;
  };

  /// What the instructions of one step along K read: registers of scales of the
  /// current word, fragments of B with, if A is sparse, those of its second
  /// half of K, and fragments of A with their metadata.
  struct StepOperands {
    llvm::SmallVector<mlir::Value> sfa, sfb, columns, columnsHigh, rows,
        metadata;
  };

  int64_t rowTiles() const;
  int64_t columnTiles() const;
  int64_t stepsPerStage() const;

  void locateWarp();
  /// What `next` makes of `state` where `condition` holds.
  State advanceIf(mlir::Value condition, const State &state, NextState next);
  State multiplyTile(State state);
  /// Of a group's tile `number`, the same and its store, or the way around it.
  StagePosition takeTurn(TilePosition position, mlir::Value number,
                         StagePosition at);
  /// Multiplies tile `number`, which is null without groups, and stores it;
  /// returns where the ring goes on.
  StagePosition computeTile(TilePosition position, mlir::Value number,
                            StagePosition at);
  State multiplyTail(State state, mlir::Value number);
  /// The K tiles of a part that lie behind K: nothing but zeros.
  State skipBehind(State state);
  /// K tile `number`.
  State multiplyStage(State state, mlir::Value number, StageExtent extent);
  void multiplyStep(State &state, int64_t step, mlir::Value validSteps);
  /// The instructions of one tile of rows.
  void multiplyRow(State &state, int64_t tile, int64_t step,
                   const StepOperands &from);
  /// With what was loaded for the step, and between its instructions loads what
  /// the next one reads.
  void multiplyLoaded(State &state, int64_t step, StageExtent extent);
  /// The same where a stage may end before: behind a group along K lies the
  /// next one, and no zeros.
  void multiplyStepOfGroup(State &state, int64_t step, mlir::Value validSteps);
  /// Pairs of tiles of columns from `first` to before `last`.
  void loadColumns(mlir::Value stage, int64_t step, int64_t first,
                   int64_t last);
  void loadRow(mlir::Value stage, int64_t tile, int64_t step,
               mlir::Value validSteps);
  /// Where a step begins with a word of scales.
  void loadScales(mlir::Value stage, int64_t step, mlir::Value valid);
  /// All that a step reads, at once.
  void loadStep(mlir::Value stage, int64_t step, StageExtent extent);
  /// Whether steps are loaded while those before are multiplied.
  bool loadsAhead(StageExtent extent);
  void release(mlir::Value stage);

  /// Where the scales of tiles along K lie that belong to the lane's elements.
  void locateTileScales(TilePosition position);
  /// Blocks of K under scales of their own in a stage; 1 if stages share them.
  int64_t blocksPerStage() const;
  /// Those of block `part` of K tile `number` for each fragment, as many as it
  /// has elements; none without such scales.
  llvm::SmallVector<mlir::Value> loadFactors(mlir::Value number, int64_t part,
                                             StageExtent extent);
  /// A fragment of zeros.
  mlir::Value zeroSums();
  void storeTile(TilePosition position, mlir::ValueRange accumulators);
  /// Keeps the sums of a part of K in the workspace; the CTA that comes last
  /// stores those of all parts.
  void storePart(TilePosition position, mlir::ValueRange sums);
  /// Where fragment `number` of the lane lies there.
  PartialSums::Place placeOf(int64_t number);
  void storeSums(TilePosition position, mlir::ValueRange sums);
  /// The lane's sums in row `half` of a fragment.
  mlir::Value pairOf(mlir::Value sums, int64_t half);
  /// Stores codes and scales, blocks of a row by each lane: those of a quad,
  /// which have them together, exchange them.
  void storeQuantized(TilePosition position, mlir::ValueRange sums);
  /// What becomes of the lane's sums in its row number `number`.
  llvm::SmallVector<mlir::Value>
  finishedRow(TilePosition position, mlir::ValueRange sums, int64_t number);
  /// What becomes of a pair of sums, `inRow` columns behind the lane's first.
  llvm::SmallVector<mlir::Value> finishedPair(TilePosition position,
                                              mlir::Value ofRow,
                                              mlir::Value inRow,
                                              mlir::Value pair);
  /// Whether a lane has no registers for what becomes of several pairs at once,
  /// and the same of all `pairs` of a row, one after the other.
  bool finishesInTurn();
  llvm::SmallVector<mlir::Value>
  finishInTurn(TilePosition position, mlir::Value ofRow,
               llvm::ArrayRef<mlir::Value> pairs);
  /// A row of the tile, of which each lane of a quad has had some numbers.
  struct LaneRow {
    mlir::Value row;
    QuadNumbers lanes;
  };
  /// Its part from fragment number `first` on.
  QuantizedStore::Part partOf(TilePosition position, const LaneRow &row,
                              int64_t first);
  /// Stores the blocks of rows that share their scales.
  void storeBlocks(TilePosition position, llvm::ArrayRef<LaneRow> rowsOfTile);
  /// Rows of a tile of D that a thread has.
  int64_t rowsOfThread();
  /// What the lane has of its row of D after an exchange of columns of the
  /// fragments from number `first` on.
  ResultRows::Row rowOfColumns(mlir::ValueRange sums, int64_t first);

  /// Brings sums of swapped operands, of which lanes have parts of columns of
  /// D, to lanes that have rows of it, and stores what becomes of them.
  void storeRows(TilePosition position, mlir::ValueRange sums);

  KernelFrame &frame;
  KernelBuilder &b;
  StageRing &stages;
  TileSource &source;
  /// Where groups of warps take tiles in turns.
  std::optional<Turns> &turns;
  /// Where several threads choose a scale of D.
  std::optional<TileMates> &mates;
  WarpTile tile;
  EpilogueMath epilogue;
  /// Where several CTAs compute parts of K.
  PartialSums partials;
  /// Where the result is quantised.
  std::optional<QuantizedStore> quantized;
  /// Where sums of swapped operands are brought to rows of D.
  std::optional<ResultRows> rows;
  /// The thread, first row and column of its warp in the tile, and first row of
  /// its columns in their group of 128 rows of scales.
  mlir::Value thread, row, column, scaleRow;
  mlir::Value leader;
  /// A fragment of zeros, for sums to begin with.
  mlir::Value none;
  /// What the current tile sums up; where groups take tiles in turns also how
  /// many K tiles that are.
  KPart k;
  mlir::Value kTiles;
  /// Of each row of the lane, and of each pair of its columns.
  llvm::SmallVector<EpilogueMath::TileScales> rowScales, columnScales;
  /// What was loaded last.
  StepOperands operands;
};

} // namespace blockscale

#endif // BLOCKSCALE_LIB_DIALECT_BLOCKSCALE_TRANSFORMS_KERNELS_WARPLOOP_H
