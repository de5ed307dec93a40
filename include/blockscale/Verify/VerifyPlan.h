//===- VerifyPlan.h - judge all kernels of a plan ---------------*- C++ -*-===//
//
// Part of the blockscale project, under the Apache License v2.0 with LLVM
// Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// What `blockscale verify` does with compiled kernels: each of them with each
// size and each kind of data that was asked for.
//
//===----------------------------------------------------------------------===//

#ifndef BLOCKSCALE_VERIFY_VERIFYPLAN_H
#define BLOCKSCALE_VERIFY_VERIFYPLAN_H

#include "blockscale/Verify/Verify.h"

namespace blockscale::verify {

/// Which inputs: one run with each of `Both`.
enum class DataChoice : uint8_t { Exact, Random, Both };

/// Under which conditions: of `Both`, harsh ones with random data and plain
/// ones with exact data.
enum class ConditionsChoice : uint8_t { Plain, Harsh, Both };

struct PlanRequest {
  DataChoice data = DataChoice::Both;
  ConditionsChoice conditions = ConditionsChoice::Both;
  /// Values of sizes that are dynamic, each with each; where none is given, one
  /// of ours: M and N 256, K 512, batch 2.
  std::vector<int64_t> m, n, k, batch;
  /// SMs that the launch assumes; those of the chip's reference part if there
  /// is no value. At least 1.
  std::optional<int64_t> numSms;
  /// The conditions in it are not read.
  VerifyOptions options;
  /// Called after each run; false ends the request.
  std::function<bool(const Verdict &)> afterRun;
};

struct PlanVerdict {
  /// Why not everything was run; empty if it was.
  std::optional<Reason> why;
  /// Whether VerifyOptions::stop ended it; the last verdict is then none.
  bool stopped = false;
  /// Whether it is the request that is wrong, not the plan.
  bool isRequestWrong = false;
  std::vector<Verdict> verdicts;
};

/// Runs the kernels of `plan` from `module` and compares what they wrote.
PlanVerdict verifyPlan(const emulator::Module &module, const plan::Plan &plan,
                       const PlanRequest &request);

} // namespace blockscale::verify

#endif // BLOCKSCALE_VERIFY_VERIFYPLAN_H
