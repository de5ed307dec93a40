//===- K96Plan.h - which instructions cover K on sm_103a --------*- C++ -*-===//
//
// Part of the blockscale project, under the Apache License v2.0 with LLVM
// Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef BLOCKSCALE_LIB_DIALECT_BLOCKSCALE_TRANSFORMS_KERNELS_K96PLAN_H
#define BLOCKSCALE_LIB_DIALECT_BLOCKSCALE_TRANSFORMS_KERNELS_K96PLAN_H

#include "blockscale/Dialect/Blockscale/IR/Blockscale.h"
#include "blockscale/HW/Descriptor.h"

namespace blockscale {

/// Elements of K that a group of instructions of K = 96 covers, and that one of
/// its three stages holds: a 128-byte row of nibbles.
inline constexpr int64_t kK96Group = hw::kK96GroupSteps * hw::kK96;
inline constexpr int64_t kK96Stage = kK96Group / hw::kK96GroupStages;

inline bool isK96(MmaAttr mma) { return mma.getK() == hw::kK96; }

/// Equal instructions of a group that read the same stage to their end.
struct KRun {
  /// K of the instructions.
  int64_t k;
  /// The stage of the group that they end in.
  int64_t part;
  /// Elements of the group; the last instruction may read on past `end`.
  int64_t begin, end;
  /// The run is one instruction that starts in the stage before.
  bool crosses;
};

/// The instructions that cover the first elements of a group.
struct KPlan {
  /// Elements covered, and how many more are read.
  int64_t length = 0, fill = 0;
  /// Number of instructions of K = 96 and, after them, of K = 64.
  int64_t k96Steps = 0, k64Steps = 0;
  double cycles = 0;
  llvm::SmallVector<KRun> runs;

  int64_t parts() const;
  llvm::SmallVector<KRun> runsOf(int64_t part) const;
};

/// The fastest plan for `length` elements, 1 to 768; of equally fast ones that
/// which reads least past the end, then the shortest. It stays within the
/// stages that `length` elements fill. `mma` has K = 96.
KPlan planK96(MmaAttr mma, int64_t length);

} // namespace blockscale

#endif // BLOCKSCALE_LIB_DIALECT_BLOCKSCALE_TRANSFORMS_KERNELS_K96PLAN_H
