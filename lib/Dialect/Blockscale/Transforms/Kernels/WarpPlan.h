//===- WarpPlan.h - which warps of a CTA do what ----------------*- C++ -*-===//
//
// Part of the blockscale project, under the Apache License v2.0 with LLVM
// Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef BLOCKSCALE_LIB_DIALECT_BLOCKSCALE_TRANSFORMS_KERNELS_WARPPLAN_H
#define BLOCKSCALE_LIB_DIALECT_BLOCKSCALE_TRANSFORMS_KERNELS_WARPPLAN_H

#include "blockscale/Dialect/Blockscale/IR/Blockscale.h"
#include "blockscale/HW/Memory.h"
#include "blockscale/HW/Target.h"

namespace blockscale {

/// Consecutive warps; none unless the kernel has the role.
struct WarpRange {
  int64_t first = 0, last = 0;

  int64_t count() const { return last - first; }
  int64_t threads() const { return count() * hw::kWarpSize; }
};

/// The roles of a kernel's warps: the only place that knows their numbers.
struct WarpPlan {
  /// The roles of a kernel for `target`: with tensor memory an epilogue and an
  /// issuer of MMAs, without it consumers that multiply and store; with dynamic
  /// scheduling one more that asks for tiles. `isPromoting` says whether the
  /// epilogue keeps the sums of all of K.
  WarpPlan(hw::Target target, ScheduleAttr schedule, bool isPromoting);

  /// Store output tiles out of tensor memory, so many warps to a quadrant of
  /// lanes as the schedule says; where it keeps sums so many groups of four as
  /// these take.
  WarpRange epilogue;
  /// Multiply and store in registers.
  WarpRange consumers;
  /// Loads by TMA.
  WarpRange producer;
  /// Copies scales and issues MMAs.
  WarpRange issuer;
  /// Asks cluster launch control for tiles.
  WarpRange scheduler;

  /// Those that store output tiles.
  WarpRange storers() const { return epilogue.count() ? epilogue : consumers; }

  /// Threads of a CTA.
  int64_t threads() const;
};

} // namespace blockscale

#endif // BLOCKSCALE_LIB_DIALECT_BLOCKSCALE_TRANSFORMS_KERNELS_WARPPLAN_H
