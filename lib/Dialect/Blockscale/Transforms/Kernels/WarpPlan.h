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
#include "blockscale/HW/Registers.h"
#include "blockscale/HW/Target.h"
#include <optional>

namespace blockscale {

/// Consecutive warps; none unless the kernel has the role.
struct WarpRange {
  int64_t first = 0, last = 0;

  int64_t count() const { return last - first; }
  int64_t threads() const { return count() * hw::kWarpSize; }
};

/// What the warps that store keep in registers, besides the sums of a tile as
/// the instructions leave them.
struct StoreDemand {
  /// The sums of all of K, to which those of blocks are added.
  bool isPromoting = false;
  /// Whole blocks of D, to quantise them.
  bool quantizes = false;
  /// Numbers that are loaded for each sum: a bias, C, terms of zero points.
  int64_t loads = 0;
  /// Two sums of each element of D.
  bool hasPairs = false;
};

/// The roles of a kernel's warps: the only place that knows their numbers.
struct WarpPlan {
  /// The roles of a kernel for `target`: with tensor memory an epilogue and an
  /// issuer of MMAs, and a loader of scales where it promotes sums, without it
  /// consumers that multiply and store; with dynamic scheduling one more that
  /// asks for tiles. `demand` is that of the warps that store.
  WarpPlan(hw::Target target, ScheduleAttr schedule, StoreDemand demand);

  /// Store output tiles out of tensor memory, so many warps to a quadrant of
  /// lanes as the schedule says; where it keeps sums so many groups of four as
  /// these take.
  WarpRange epilogue;
  /// Multiply and store in registers: a tile together, or in groups of
  /// neighbours that take tiles in turns.
  WarpRange consumers;
  /// Loads by TMA.
  WarpRange producer;
  /// Copies scales and issues MMAs.
  WarpRange issuer;
  /// Asks cluster launch control for tiles.
  WarpRange scheduler;
  /// Loads the scales of promoted sums.
  WarpRange factorLoader;

  /// Where warps that store need more registers than an equal share.
  std::optional<hw::RegisterShares> registers;

  /// Those that store output tiles, the first ones.
  WarpRange storers() const { return epilogue.count() ? epilogue : consumers; }
  /// All others, which have whole warpgroups where these pass on registers.
  WarpRange others() const { return {storers().last, warps()}; }

  /// Threads of a CTA.
  int64_t threads() const { return warps() * hw::kWarpSize; }

private:
  /// Whether consumers have twice the accumulators, as half of them share a
  /// tile.
  bool isInTurns;

  /// Whether those that store need more than an equal share of registers.
  bool needsMore(StoreDemand demand) const;
  int64_t warps() const;
};

} // namespace blockscale

#endif // BLOCKSCALE_LIB_DIALECT_BLOCKSCALE_TRANSFORMS_KERNELS_WARPPLAN_H
