//===- WarpPlan.cpp - which warps of a CTA do what ------------------------===//
//
// Part of the blockscale project, under the Apache License v2.0 with LLVM
// Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "WarpPlan.h"
#include "blockscale/Dialect/Blockscale/IR/Promotion.h"
#include "blockscale/Dialect/Blockscale/IR/ResultTiles.h"
#include "llvm/Support/MathExtras.h"

#include <algorithm>

using namespace blockscale;

/// What warps need that do not store, and more than two of them or one that
/// keeps scales.
static constexpr int64_t kOthers = 40, kAllOthers = 64;

static int64_t warpgroupsOf(int64_t warps) {
  return llvm::divideCeil(warps, hw::kWarpgroupWarps);
}

/// An equal share of four warpgroups is little more than sums take, one of two
/// enough unless blocks are kept or two numbers are loaded for each sum. Warps
/// that multiply have accumulators, too.
bool WarpPlan::needsMore(StoreDemand demand) const {
  if (consumers.count())
    return isInTurns || demand.quantizes || demand.isPromoting ||
           (demand.hasPairs && demand.loads);
  switch (warpgroupsOf(epilogue.count())) {
  case 1:
    return false;
  case 2:
    return demand.quantizes || demand.loads > 1;
  default:
    return demand.quantizes || demand.loads;
  }
}

WarpPlan::WarpPlan(hw::Target target, ScheduleAttr schedule, StoreDemand demand)
    : isInTurns(schedule.consumerGroups() > 1) {
  int64_t next = 0;
  auto take = [&](int64_t count) {
    WarpRange range{next, next + count};
    next = range.last;
    return range;
  };
  // A warp reads the lanes of tensor memory that its number modulo 4 names, so
  // the epilogue starts at a multiple of 4.
  constexpr int64_t kQuadrants = 4;
  if (hw::hasTensorMemory(target))
    epilogue = take(kQuadrants * (demand.isPromoting
                                      ? promotingGroups(schedule.getTileN())
                                      : schedule.warpsOfQuarter()));
  else
    consumers = take(kConsumerWarps);
  producer = take(1);
  if (hw::hasTensorMemory(target))
    issuer = take(1);
  if (schedule.getScheduler() == Scheduler::Dynamic)
    scheduler = take(1);
  if (hw::hasTensorMemory(target) && demand.isPromoting)
    factorLoader = take(1);
  if (!needsMore(demand))
    return;
  int64_t storing = warpgroupsOf(storers().count());
  registers = hw::registerShares(
      storing, warpgroupsOf(next) - storing,
      issuer.count() && (scheduler.count() || factorLoader.count()) ? kAllOthers
                                                                    : kOthers);
}

int64_t WarpPlan::warps() const {
  int64_t last = 0;
  for (WarpRange range :
       {epilogue, consumers, producer, issuer, scheduler, factorLoader})
    last = std::max(last, range.last);
  return registers ? warpgroupsOf(last) * hw::kWarpgroupWarps : last;
}
