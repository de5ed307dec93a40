//===- TensorMemory.h - accumulators and what MMAs read ---------*- C++ -*-===//
//
// Part of the blockscale project, under the Apache License v2.0 with LLVM
// Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef BLOCKSCALE_LIB_DIALECT_BLOCKSCALE_TRANSFORMS_KERNELS_TENSORMEMORY_H
#define BLOCKSCALE_LIB_DIALECT_BLOCKSCALE_TRANSFORMS_KERNELS_TENSORMEMORY_H

#include "KernelFrame.h"

namespace blockscale {

/// The regions of the scales of both operands; of A one for each instruction
/// above the others, of B one for all beside each other or one for each.
struct ScaleRegions {
  llvm::SmallVector<mlir::Value, 2> a, b;
};

/// The tensor memory of a kernel.
class TensorMemory {
public:
  /// Emits the slot that takes the address, and a barrier that says so.
  explicit TensorMemory(KernelFrame &frame);

  /// Allocates, which the warps that need none of it do not wait for; a barrier
  /// must have followed the constructor.
  void allocate();
  /// Waits for that and emits the regions.
  void locate();
  /// Frees, after a barrier that follows the last use.
  void free();

  /// The number in `accumulator` of the sums of instruction `number`, counted
  /// from the left, in accumulator `slot` of the ring. Those of a tile lie
  /// beside each other, so that the first one's reach to all of its columns.
  mlir::Value accumulatorOf(mlir::Value slot, unsigned number = 0);

  mlir::Value accumulator;
  std::optional<ScaleRegions> scales;
  std::optional<mlir::Value> metadata;

private:
  KernelFrame &frame;
  KernelBuilder &b;
  mlir::Value slot, allocated;
};

/// The barriers of the ring of accumulators between main loop and epilogue:
///
///   full[i]   accumulator i is complete, and its scales are in shared memory
///   empty[i]  it may be overwritten
class AccumulatorRing {
public:
  /// Emits `full`.
  explicit AccumulatorRing(KernelFrame &frame);
  /// Emits `empty`, which `arrivals` of each CTA's threads complete.
  void allocateEmpty(int64_t arrivals);
  /// Finds the leader's barriers; after a barrier of the cluster.
  void connect();

  /// Accumulators, and barriers in `empty`: one that every tile uses where
  /// accumulators overlap, one per accumulator otherwise.
  int64_t count() const { return frame.geometry.accumulators; }
  int64_t emptyCount() const { return frame.geometry.overlap ? 1 : count(); }

  mlir::Value full, empty;
  /// The barriers that the epilogue signals: those of the pair's leader.
  mlir::Value signalEmpty;

private:
  KernelFrame &frame;
};

} // namespace blockscale

#endif // BLOCKSCALE_LIB_DIALECT_BLOCKSCALE_TRANSFORMS_KERNELS_TENSORMEMORY_H
