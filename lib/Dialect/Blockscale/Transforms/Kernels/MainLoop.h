//===- MainLoop.h - the role that issues MMAs -------------------*- C++ -*-===//
//
// Part of the blockscale project, under the Apache License v2.0 with LLVM
// Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef BLOCKSCALE_LIB_DIALECT_BLOCKSCALE_TRANSFORMS_KERNELS_MAINLOOP_H
#define BLOCKSCALE_LIB_DIALECT_BLOCKSCALE_TRANSFORMS_KERNELS_MAINLOOP_H

#include "StageRing.h"
#include "TensorMemory.h"
#include "TileSource.h"

namespace blockscale {

/// One warp copies the scales of each stage into tensor memory and multiplies
/// it into an accumulator. How instructions and stages meet is the subclasses'.
class MainLoop {
public:
  MainLoop(KernelFrame &frame, StageRing &stages, TensorMemory &memory,
           AccumulatorRing &accumulators, TileSource &source)
      : frame(frame), b(frame.b), stages(stages), memory(memory),
        accumulators(accumulators), source(source) {}
  virtual ~MainLoop() = default;

  /// The loop that suits the instruction.
  static std::unique_ptr<MainLoop> create(KernelFrame &frame, StageRing &stages,
                                          TensorMemory &memory,
                                          AccumulatorRing &accumulators,
                                          TileSource &source);

  void emitRole();

protected:
  /// What one output tile's MMAs have in common: whether this lane issues them,
  /// the accumulators (one for each instruction above the others), the shift of
  /// B's scales (null for none), the CTAs that load what they read (null for
  /// this one alone), and the part of K.
  struct MmaTile {
    mlir::Value leader;
    llvm::SmallVector<mlir::Value, 2> copies;
    mlir::Value shift, feeders;
    /// The CTAs of the pair; null without one.
    mlir::Value pair;
    KPart k;
    /// Where the first instructions come before the accumulator is free, what
    /// says that it is: the first stage's scales are copied ahead, or the sums
    /// are those of the second half.
    std::optional<RingPosition> free;
  };

  /// All MMAs of one output tile; returns the next ring position.
  virtual StagePosition multiplyTile(const MmaTile &tile,
                                     StagePosition ring) = 0;
  /// Whether it waits for the accumulator itself, behind the first copies of
  /// scales: where accumulators overlap the epilogue keeps each tile waiting.
  virtual bool copiesAhead() const { return false; }

  /// Whether it hands over all accumulators of a tile but the last one itself.
  virtual bool handsOver() const { return false; }

  /// Calls `multiply` where the part of K is the last one, which has what is
  /// left over after whole units; otherwise `ring` stays.
  StagePosition onlyInLastPart(const MmaTile &tile, StagePosition ring,
                               llvm::function_ref<StagePosition()> multiply);
  /// The end of those units of the part that K fills, of which there are
  /// `whole`.
  mlir::Value endOfWhole(const MmaTile &tile, mlir::Value whole);
  /// Waits until a stage is full.
  void awaitStage(StagePosition ring);
  /// Waits until the epilogue has read of an accumulator what the next sums
  /// overwrite.
  void awaitAccumulator(RingPosition free);
  /// Copies the scales of a stage to word `word` of their regions and those
  /// after it, and releases them there if they have a ring of their own.
  void copyScales(const MmaTile &tile, StagePosition ring, int64_t word = 0);
  /// Releases the scales of a stage once they are copied, if they have a ring
  /// of their own.
  void releaseScales(const MmaTile &tile, StagePosition ring);
  /// Clears the scales from number `valid` on of every row of a stage, in both
  /// CTAs of a pair.
  void maskScales(mlir::Value stage, mlir::Value valid);
  /// Clears the padding of the last scales of `valid` elements along K where an
  /// instruction would read it.
  void maskTail(mlir::Value stage, mlir::Value valid);
  /// Tells the epilogue that an accumulator is complete once all work before is
  /// done.
  void handOver(const MmaTile &tile, mlir::Value accumulator);
  /// Lets the producers overwrite a stage once all work before is done.
  void release(const MmaTile &tile, mlir::Value stage);
  /// Null without scales.
  mlir::Value scalesOfA(int64_t rowInstruction = 0) const;
  mlir::Value scalesOfB(unsigned number = 0) const;
  /// The shift of B's scales for an instruction that has others to the left in
  /// the same region.
  mlir::Value shiftOf(const MmaTile &tile, unsigned number);

  KernelFrame &frame;
  KernelBuilder &b;
  StageRing &stages;
  TensorMemory &memory;

private:
  /// Where the warp is in its rings.
  struct Rings {
    StagePosition stage;
    RingPosition copy, free;
  };
  static llvm::SmallVector<mlir::Value> valuesOf(const Rings &at);
  static Rings ringsOf(mlir::ValueRange values);
  void multiplyTiles();
  /// Copies scales of 1 to where they stay.
  void copyOnes();
  /// Multiplies a tile, or a block of its K, into accumulators of its own.
  Rings fillAccumulators(MmaTile tile, mlir::Value columnTile, Rings at);
  /// Multiplies a tile whose sums are promoted: an accumulator for each block.
  Rings fillBlocks(MmaTile tile, mlir::Value columnTile, Rings at);
  /// The same where a stage holds several blocks.
  Rings fillShortBlocks(const MmaTile &tile, Rings at);
  /// Those of one stage, of which `valid` elements along K are there; null for
  /// all of them.
  Rings fillBlocksOfStage(const MmaTile &tile, mlir::Value valid, Rings at);
  Rings fillBlockOfStage(const MmaTile &tile, int64_t part, mlir::Value valid,
                         Rings at);
  /// What `then` makes of the rings where `condition` holds.
  Rings choose(mlir::Value condition, const Rings &otherwise,
               llvm::function_ref<Rings()> then);
  mlir::Value scaleShift(mlir::Value columnTile);

  AccumulatorRing &accumulators;
  TileSource &source;
};

} // namespace blockscale

#endif // BLOCKSCALE_LIB_DIALECT_BLOCKSCALE_TRANSFORMS_KERNELS_MAINLOOP_H
