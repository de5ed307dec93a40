//===- ScheduleChoices.h - what a schedule was chosen from ------*- C++ -*-===//
//
// Part of the blockscale project, under the Apache License v2.0 with LLVM
// Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef BLOCKSCALE_DIALECT_BLOCKSCALE_TRANSFORMS_SCHEDULECHOICES_H
#define BLOCKSCALE_DIALECT_BLOCKSCALE_TRANSFORMS_SCHEDULECHOICES_H

#include "blockscale/Dialect/Blockscale/IR/Blockscale.h"
#include "blockscale/Formats/Result.h"
#include "blockscale/HW/GemmModel.h"
#include "blockscale/HW/Target.h"

#include <vector>

namespace blockscale {

/// A complete instruction and schedule, and by the throughput model the
/// microseconds that the whole product takes with them and what it waits for.
struct ScheduleChoice {
  MmaAttr mma;
  ScheduleAttr schedule;
  double microseconds;
  hw::GemmLimit limit;
  /// Of that, where parts of K meet in a workspace, from the last part to when
  /// one CTA has all sums.
  double reduction = 0;
  /// What it must be faster than: that many times the time counts where it is
  /// compared.
  double margin = 1;
};

/// All completions of a product's schedule that were compared.
struct ScheduleChoices {
  /// The fastest first, and of equals the simplest; the time of those with a
  /// workspace, or with tiles in turns, counts 5 % more, and what a ring of
  /// scales gains up to 4 % less.
  /// The first is taken.
  std::vector<ScheduleChoice> legal;
  /// Why the others were not legal, in the order in which they were looked at.
  std::vector<Reason> refused;
};

/// The completions of `op`'s schedule on `target`. The op has its `mma`, not
/// yet with a shape; a size that is not known counts as `expectedRows`. An
/// unknown number of rows of A is at most `mostRows`, if that is not 0.
ScheduleChoices listScheduleChoices(MatmulOp op, hw::Target target,
                                    int64_t expectedRows, int64_t mostRows = 0);

/// The numbers of rows that `text`, "16,512", names, each of which is the last
/// of a kernel; none of "auto".
Result<std::vector<int64_t>> parseDispatchRows(llvm::StringRef text);

} // namespace blockscale

#endif // BLOCKSCALE_DIALECT_BLOCKSCALE_TRANSFORMS_SCHEDULECHOICES_H
