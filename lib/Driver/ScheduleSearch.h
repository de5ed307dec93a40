//===- ScheduleSearch.h - schedules tried on the timeline ----- -*- C++ -*-===//
//
// Part of the blockscale project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef BLOCKSCALE_LIB_DRIVER_SCHEDULESEARCH_H
#define BLOCKSCALE_LIB_DRIVER_SCHEDULESEARCH_H

#include "blockscale/Compiler/ScheduleReport.h"
#include "blockscale/Formats/Result.h"

#include <functional>

namespace blockscale::driver {

/// Microseconds, launch included, that the timeline expects of the product of
/// `module` that `product` is about with the schedule `compared`: it is
/// compiled alone, and its first cluster runs on the emulator, or those that
/// compute the first tile. A dynamic M is `options.expectedRows`. What the
/// timeline does not see of a split K is the formula's.
Result<double> replaySchedule(mlir::ModuleOp module,
                              const ScheduleReport &product,
                              const ComparedSchedule &compared,
                              const CompilerOptions &options);

/// Gives each product of `module` that has no complete schedule the one that
/// the timeline finds fastest among the first `count` of the formula's order.
/// Calls `found` with a sentence about each.
mlir::LogicalResult
searchSchedules(mlir::ModuleOp module, unsigned count,
                const CompilerOptions &options,
                const std::function<void(const std::string &)> &found);

} // namespace blockscale::driver

#endif // BLOCKSCALE_LIB_DRIVER_SCHEDULESEARCH_H
