//===- StageLoop.h - MMAs that each read one stage --------------*- C++ -*-===//
//
// Part of the blockscale project, under the Apache License v2.0 with LLVM
// Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef BLOCKSCALE_LIB_DIALECT_BLOCKSCALE_TRANSFORMS_KERNELS_STAGELOOP_H
#define BLOCKSCALE_LIB_DIALECT_BLOCKSCALE_TRANSFORMS_KERNELS_STAGELOOP_H

#include "MainLoop.h"

namespace blockscale {

/// The loop of instructions whose K divides a stage: a K tile is a stage.
class StageLoop : public MainLoop {
public:
  using MainLoop::MainLoop;

protected:
  StagePosition multiplyTile(const MmaTile &tile, StagePosition ring) override;
  /// A group along K may have no stage that could wait.
  bool copiesAhead() const override {
    return frame.geometry.overlap && frame.isScaled() &&
           !frame.isGroupedAlongK();
  }

private:
  StagePosition multiplyTail(const MmaTile &tile, StagePosition ring,
                             mlir::Value fullTiles);
  StagePosition multiplyBehind(const MmaTile &tile, StagePosition ring);
  StagePosition multiplyStage(const MmaTile &tile, StagePosition ring,
                              mlir::Value accumulate, mlir::Value valid);
  void multiplyAlone(const MmaTile &tile, mlir::Value stage,
                     mlir::Value accumulate, mlir::Value valid);
  void multiplySharing(const MmaTile &tile, mlir::Value stage,
                       mlir::Value accumulate, mlir::Value valid);
};

} // namespace blockscale

#endif // BLOCKSCALE_LIB_DIALECT_BLOCKSCALE_TRANSFORMS_KERNELS_STAGELOOP_H
