//===- WarpPlan.cpp - which warps of a CTA do what ------------------------===//
//
// Part of the blockscale project, under the Apache License v2.0 with LLVM
// Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "WarpPlan.h"
#include "blockscale/Dialect/Blockscale/IR/Promotion.h"

#include <algorithm>

using namespace blockscale;

WarpPlan::WarpPlan(hw::Target target, ScheduleAttr schedule, bool isPromoting) {
  int64_t next = 0;
  auto take = [&](int64_t count) {
    WarpRange range{next, next + count};
    next = range.last;
    return range;
  };
  // A warp reads the lanes of tensor memory that its number modulo 4 names, so
  // the epilogue starts at a multiple of 4.
  constexpr int64_t kQuadrants = 4, kConsumers = 8;
  if (hw::hasTensorMemory(target))
    epilogue =
        take(kQuadrants * (isPromoting ? promotingGroups(schedule.getTileN())
                                       : schedule.warpsOfQuarter()));
  else
    consumers = take(kConsumers);
  producer = take(1);
  if (hw::hasTensorMemory(target))
    issuer = take(1);
  if (schedule.getScheduler() == Scheduler::Dynamic)
    scheduler = take(1);
}

int64_t WarpPlan::threads() const {
  int64_t last = 0;
  for (WarpRange range : {epilogue, consumers, producer, issuer, scheduler})
    last = std::max(last, range.last);
  return last * hw::kWarpSize;
}
