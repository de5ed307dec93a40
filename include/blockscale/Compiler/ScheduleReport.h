//===- ScheduleReport.h - why a kernel has the schedule it has --*- C++ -*-===//
//
// Part of the blockscale project, under the Apache License v2.0 with LLVM
// Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef BLOCKSCALE_COMPILER_SCHEDULEREPORT_H
#define BLOCKSCALE_COMPILER_SCHEDULEREPORT_H

#include "blockscale/Compiler/Compiler.h"
#include "blockscale/Dialect/Blockscale/IR/Blockscale.h"

namespace blockscale {

/// A schedule with another epilogue, in words.
struct ScheduleTwin {
  std::string text;
  ScheduleAttr schedule;
};

/// A schedule that was compared, in words: "256 x 256 x 256 over a pair".
struct ComparedSchedule {
  std::string text;
  /// Predicted time of the whole product by the throughput model.
  double microseconds = 0;
  /// What the product waits for most: hw::gemmLimitName().
  std::string_view limit;
  /// Complete; it lives in the module's context.
  ScheduleAttr schedule;
  /// The same with D stored by TMA, with C loaded by it, with more warps in the
  /// epilogue, and all of these together, as far as that is legal; stages are
  /// left open, as there may be room for fewer.
  std::vector<ScheduleTwin> twins;
  /// Of the predicted time, where K is split, from the last part to when one
  /// CTA has all sums: counts and plain loads, of which the timeline knows
  /// nothing.
  double reduction = 0;
};

/// What one product's schedule was chosen from.
struct ScheduleReport {
  /// The function that the product stands in, and which of its products.
  std::string function;
  unsigned index = 0;
  /// What the user asked for in the product's own `schedule`; empty if nothing.
  std::string wish;
  /// The fastest first; that is the one taken. With a complete wish the only
  /// one.
  std::vector<ComparedSchedule> compared;
  /// Why others were not legal, each sentence once, with how many it ruled out.
  std::vector<std::pair<std::string, unsigned>> refused;
  /// What a dynamic size counted as.
  int64_t expectedRows = 0;
  /// Kernels for few rows, an array of `VariantAttr`; null if none were asked
  /// for.
  mlir::Attribute variants;
};

/// One for each product of `module`, which stays as it is, in the order of
/// their kernels; none for products that have their schedule already. Emits an
/// error and fails where the products are not legal.
mlir::FailureOr<std::vector<ScheduleReport>>
reportSchedules(mlir::ModuleOp module, const CompilerOptions &options);

} // namespace blockscale

#endif // BLOCKSCALE_COMPILER_SCHEDULEREPORT_H
