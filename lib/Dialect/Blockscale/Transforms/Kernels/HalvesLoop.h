//===- HalvesLoop.h - MMAs of a tile in halves ------------------*- C++ -*-===//
//
// Part of the blockscale project, under the Apache License v2.0 with LLVM
// Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef BLOCKSCALE_LIB_DIALECT_BLOCKSCALE_TRANSFORMS_KERNELS_HALVESLOOP_H
#define BLOCKSCALE_LIB_DIALECT_BLOCKSCALE_TRANSFORMS_KERNELS_HALVESLOOP_H

#include "MainLoop.h"

namespace blockscale {

/// The loop where each half of a tile's columns has an accumulator of its own.
/// Both halves of a stage follow each other, but for the first two stages and
/// the last two to four: there all of them of the left half come before those
/// of the right one. So the epilogue has the left half while the right one is
/// still multiplied, and the right half of the next tile needs its accumulator
/// four to six halves of a stage later.
class HalvesLoop : public MainLoop {
public:
  using MainLoop::MainLoop;

protected:
  StagePosition multiplyTile(const MmaTile &tile, StagePosition ring) override;
  bool handsOver() const override { return true; }

private:
  /// Where some stages are in a tile: whether the tile begins with them, i1,
  /// and whether it ends with them, null for no.
  struct Place {
    mlir::Value isFirst, isLast;
  };
  /// One stage; `valid` of its elements along K are there, null for all.
  StagePosition multiplyStage(const MmaTile &tile, StagePosition ring,
                              const Place &place, mlir::Value valid);
  /// `count` of them, half after half.
  StagePosition multiplyTogether(const MmaTile &tile, StagePosition ring,
                                 const Place &place, int64_t count);
  /// The stages at the end of a tile of which one half follows the other.
  int64_t stagesOfEnd() const;
  StagePosition multiplyTail(const MmaTile &tile, StagePosition ring,
                             mlir::Value isFirst, mlir::Value hasTail,
                             mlir::Value rest);
  /// Of half `number` the instructions of a stage.
  void multiplyHalf(const MmaTile &tile, unsigned number, mlir::Value stage,
                    mlir::Value accumulate, mlir::Value valid);
  /// Copies the scales that half `number` of a stage reads.
  void copyScalesOf(unsigned number, StagePosition ring);
  /// Hands over the left half behind the last of its instructions.
  void handOverLeft(const MmaTile &tile, const Place &place);
  /// Waits for the accumulator of the right half before its first instruction.
  void awaitRight(const MmaTile &tile, const Place &place);
};

} // namespace blockscale

#endif // BLOCKSCALE_LIB_DIALECT_BLOCKSCALE_TRANSFORMS_KERNELS_HALVESLOOP_H
