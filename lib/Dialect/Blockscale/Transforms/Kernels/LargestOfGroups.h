//===- LargestOfGroups.h - what groups of warps find together ---*- C++ -*-===//
//
// Part of the blockscale project, under the Apache License v2.0 with LLVM
// Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef BLOCKSCALE_LIB_DIALECT_BLOCKSCALE_TRANSFORMS_KERNELS_LARGESTOFGROUPS_H
#define BLOCKSCALE_LIB_DIALECT_BLOCKSCALE_TRANSFORMS_KERNELS_LARGESTOFGROUPS_H

#include "KernelFrame.h"
#include "blockscale/Dialect/Blockscale/IR/Numbers.h"

namespace blockscale {

/// Bytes of shared memory that `groups` groups of four warps of an epilogue
/// leave their numbers in.
int64_t bytesOfGroups(int64_t groups);

/// The largest of one number of each thread that has the same lane of tensor
/// memory, of neighbouring groups of four warps: they have parts of a tile of D
/// whose scale they choose together. What a thread leaves in shared memory for
/// one tile of sums is read by the others before they arrive for the next one,
/// so that two places for each thread are enough.
class LargestOfGroups {
public:
  explicit LargestOfGroups(KernelFrame &frame);

  /// Whether the kernel has tiles of one row of D of which a thread has a part,
  /// and their largest magnitude says all: `TileMates` do it for others.
  static bool isNeeded(KernelFrame &frame);

  /// Of magnitudes as f32, a NaN if there is one. All threads of the epilogue
  /// come once for a tile of sums, with the parity of its number.
  mlir::Value find(Emitter &e, mlir::Value own, mlir::Value parity);

private:
  KernelBuilder &b;
  /// Threads of the epilogue, and groups that choose a scale.
  int64_t threads, together;
  mlir::Value numbers, full;
};

} // namespace blockscale

#endif // BLOCKSCALE_LIB_DIALECT_BLOCKSCALE_TRANSFORMS_KERNELS_LARGESTOFGROUPS_H
