//===- K96Loop.h - the MMAs of K = 96 ---------------------------*- C++ -*-===//
//
// Part of the blockscale project, under the Apache License v2.0 with LLVM
// Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef BLOCKSCALE_LIB_DIALECT_BLOCKSCALE_TRANSFORMS_KERNELS_K96LOOP_H
#define BLOCKSCALE_LIB_DIALECT_BLOCKSCALE_TRANSFORMS_KERNELS_K96LOOP_H

#include "K96Plan.h"
#include "MainLoop.h"

namespace blockscale {

/// The loop of instructions that may start in one stage and end in the next:
/// three stages are a group.
class K96Loop : public MainLoop {
public:
  K96Loop(KernelFrame &frame, StageRing &stages, TensorMemory &memory,
          AccumulatorRing &accumulators, TileSource &source)
      : MainLoop(frame, stages, memory, accumulators, source),
        whole(planK96(frame.mma, kK96Group)) {}

protected:
  StagePosition multiplyTile(const MmaTile &tile, StagePosition ring) override;

private:
  /// What the instructions of a plan have in common.
  struct Group {
    const MmaTile &tile;
    const KPlan &plan;
    /// Whether the first one adds to the accumulator.
    mlir::Value accumulate;
    /// Elements of K in the group, where that is not known before launch.
    mlir::Value valid;
  };

  /// One stage of a group; returns the next position. `pending` is the slot
  /// of the stage before, if this one's first instruction starts in it, and
  /// becomes this one's likewise.
  StagePosition multiplyPart(const Group &group, int64_t part,
                             StagePosition ring, mlir::Value &pending);
  void multiplyRun(const Group &group, const KRun &run, mlir::Value slot,
                   mlir::Value previous);
  StagePosition multiplyGroup(const Group &group, StagePosition ring);
  StagePosition multiplyTail(const MmaTile &tile, StagePosition ring,
                             mlir::Value rest, mlir::Value accumulate);
  /// The stages from number `part` on of a tail of `rest` elements.
  StagePosition multiplyFrom(const MmaTile &tile, int64_t part,
                             StagePosition ring, mlir::Value rest,
                             mlir::Value accumulate, mlir::Value pending);
  void maskEnd(const Group &group, int64_t part, mlir::Value slot);

  KPlan whole;
};

} // namespace blockscale

#endif // BLOCKSCALE_LIB_DIALECT_BLOCKSCALE_TRANSFORMS_KERNELS_K96LOOP_H
