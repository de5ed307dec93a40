//===- Turns.h - groups of warps that multiply in turns ---------*- C++ -*-===//
//
// Part of the blockscale project, under the Apache License v2.0 with LLVM
// Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef BLOCKSCALE_LIB_DIALECT_BLOCKSCALE_TRANSFORMS_KERNELS_TURNS_H
#define BLOCKSCALE_LIB_DIALECT_BLOCKSCALE_TRANSFORMS_KERNELS_TURNS_H

#include "StageRing.h"

namespace blockscale {

/// Two groups of warps take the tiles of a CTA in turns: while one of them
/// stores, the other multiplies. Both read one ring, which the producer fills
/// in the order of the tiles, and walk all tiles, of which each has every other
/// one. A barrier of each group says that its main loop is free:
///
///   turns[g]  the other group has got the last stage of its tile
///
/// Until then nobody may wait for stages behind: a phase says no more than
/// whether a round is even.
class Turns {
public:
  /// Emits the barriers.
  Turns(KernelFrame &frame, const StageRing &stages);

  /// In the role, before its tiles: finds the group of the warp that `thread`
  /// is in.
  void locate(mlir::Value thread);

  /// Of tile `number` of the CTA, whether it is this group's.
  mlir::Value isMine(mlir::Value number);
  /// Waits until the main loop is free for it.
  void await(mlir::Value number);
  /// Behind the last stage: lets the other group into its main loop. One lane
  /// of each warp arrives, `leader`.
  void pass(mlir::Value leader);
  /// Where the ring goes on behind a tile of the other group, of so many
  /// stages.
  StagePosition behind(StagePosition at, mlir::Value kTiles);

private:
  KernelFrame &frame;
  KernelBuilder &b;
  mlir::Value free;
  mlir::Value group;
};

} // namespace blockscale

#endif // BLOCKSCALE_LIB_DIALECT_BLOCKSCALE_TRANSFORMS_KERNELS_TURNS_H
