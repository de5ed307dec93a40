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
/// It multiplies groups of stages: the left half of all of them, then the right
/// one. A group is one stage, but for the first two stages of a tile and the
/// last two to four. So the epilogue has the left half while the right one is
/// still multiplied, and the right half of the next tile needs its accumulator
/// four to six halves of a stage later.
class HalvesLoop : public MainLoop {
public:
  using MainLoop::MainLoop;

protected:
  StagePosition multiplyTile(const MmaTile &tile, StagePosition ring) override;
  bool handsOver() const override { return true; }

private:
  /// Whether a tile begins with these stages and whether it ends with them, i1;
  /// how many they are, i32; and the elements of K that are there, of a single
  /// one that K does not fill: null for all.
  struct Group {
    mlir::Value isFirst, isLast, count, valid;
  };
  StagePosition multiplyGroup(const MmaTile &tile, StagePosition ring,
                              const Group &group);
  void multiplyLeft(const MmaTile &tile, StagePosition ring,
                    mlir::Value accumulate, mlir::Value valid);
  /// Where the stage is loaded already.
  void multiplyRight(const MmaTile &tile, StagePosition ring,
                     const Group &group, mlir::Value accumulate);
  /// The stages at the end of a tile of which one half follows the other.
  int64_t stagesOfEnd() const;
  StagePosition multiplyTail(const MmaTile &tile, StagePosition ring,
                             mlir::Value isFirst, mlir::Value hasTail,
                             mlir::Value rest);
  /// Of half `number` the instructions of a stage.
  void multiplyHalf(const MmaTile &tile, unsigned number, mlir::Value stage,
                    mlir::Value accumulate, mlir::Value valid);
  /// Copy the scales of a stage, of B those of half `number`.
  void copyScalesOfA(StagePosition ring);
  void copyScalesOfB(unsigned number, StagePosition ring);
};

} // namespace blockscale

#endif // BLOCKSCALE_LIB_DIALECT_BLOCKSCALE_TRANSFORMS_KERNELS_HALVESLOOP_H
