//===- StageRing.h - stages of operands in shared memory --------*- C++ -*-===//
//
// Part of the blockscale project, under the Apache License v2.0 with LLVM
// Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef BLOCKSCALE_LIB_DIALECT_BLOCKSCALE_TRANSFORMS_KERNELS_STAGERING_H
#define BLOCKSCALE_LIB_DIALECT_BLOCKSCALE_TRANSFORMS_KERNELS_STAGERING_H

#include "KernelFrame.h"

namespace blockscale {

/// Rings of the scales of the operands that have some in memory; of A one for
/// each instruction above the others, of B one for each region of tensor
/// memory.
struct ScaleRings {
  llvm::SmallVector<mlir::Value, 2> a, b;
};

/// The ring between producer and main loop, and its barriers:
///
///   full[s]   stage s holds A, B, their scales and metadata
///   empty[s]  what reads stage s is done
///
/// Where scales have a ring of their own, stage s of them is another one than
/// that of A and B. They come with those and are released before them:
///
///   scalesEmpty[s]  stage s of the scales is copied to tensor memory
class StageRing {
public:
  /// Emits the rings, as far as the kind has them, and the barriers;
  /// `arrivals` of readers empty a stage.
  StageRing(KernelFrame &frame, int64_t arrivals);

  /// Of A one for each instruction above the others.
  llvm::SmallVector<mlir::Value, 2> a;
  /// Of B one for each instruction beside the others.
  llvm::SmallVector<mlir::Value, 2> b;
  std::optional<ScaleRings> scales;
  /// One stage of scales that are all 1, for tensor memory; null where both
  /// operands have others, or none.
  mlir::Value ones;
  /// What says that they are there; null without.
  mlir::Value onesCopied;
  std::optional<mlir::Value> metadata;
  mlir::Value full, empty;
  /// Null where scales have no ring of their own.
  mlir::Value scalesEmpty;
  /// The barriers that loads signal: those of the pair's leader.
  mlir::Value signalFull;

  /// Finds the leader's barriers; after a barrier of the cluster.
  void connect();

  /// The first position, and the one that follows.
  StagePosition first() const;
  StagePosition next(StagePosition at) const;

private:
  /// Emits the ring of the scales of 1 and has all threads store them; a
  /// barrier must follow.
  void storeOnes(const OperandGeometry &operand);

  KernelFrame &frame;
};

} // namespace blockscale

#endif // BLOCKSCALE_LIB_DIALECT_BLOCKSCALE_TRANSFORMS_KERNELS_STAGERING_H
