//===- Verify.h - run a kernel and compare with the reference ---*- C++ -*-===//
//
// Part of the blockscale project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Makes inputs for a kernel of a launch plan, packs them as the plan says, runs
// the PTX on the emulator and compares what it wrote with a product computed
// from the same codes and plain scales.
//
//===----------------------------------------------------------------------===//

#ifndef BLOCKSCALE_VERIFY_VERIFY_H
#define BLOCKSCALE_VERIFY_VERIFY_H

#include "blockscale/Reference/Compare.h"
#include "blockscale/Verify/PlanLaunch.h"

namespace blockscale::verify {

/// Exact data must agree bit for bit, random data within
/// reference::Criterion::Tight.
enum class DataKind : uint8_t { Exact, Random };

/// "exact" or "random".
std::string_view dataKindName(DataKind kind);

struct VerifyOptions {
  uint64_t seed = 1;
  /// Host threads; 0 for as many as there are.
  unsigned threads = 0;
  /// Clusters to run, spread over the grid; 0 for all. Of a sample only what
  /// it wrote is compared.
  uint64_t sampleClusters = 0;
  emulator::Completion completion = emulator::Completion::Immediate;
  /// Receives the machine's lines of asynchronous events; see
  /// emulator::Options::trace.
  std::function<void(std::string_view)> trace;
  /// Called before the run, and may change how it is done.
  std::function<void(const emulator::Launch &, emulator::Options &)> beforeRun;
};

/// The outcome of one run.
struct Verdict {
  std::string kernel;
  DataKind data = DataKind::Exact;
  plan::Environment sizes;
  /// Why nothing was run; empty if it was.
  std::string error;
  reference::Comparison comparison;
  /// Elements of D that the kernel did not write; of a whole grid they count
  /// as mismatches.
  uint64_t unwritten = 0;
  /// reference::diagnose of the first mismatch.
  std::string diagnosis;
  emulator::RunResult run;
  double emulationSeconds = 0;
  /// Clusters of the grid, and of those the ones run.
  uint64_t clusters = 0, clustersRun = 0;

  /// Ran without a finding and agrees everywhere, in at least one element.
  bool passed() const {
    return error.empty() && run.clean() && comparison.mismatches == 0 &&
           comparison.compared > 0;
  }
};

/// Bytes of an element of D, and the code that stands for "not written".
unsigned outputBytes(reference::OutputType type);
uint32_t unwrittenCode(reference::OutputType type);

/// The product that the kernel computes, with inputs of the given kind, and the
/// same as the plan wants it in memory.
struct Inputs {
  reference::Problem problem;
  HostData data;
};
Parsed<Inputs> makeInputs(const plan::Kernel &kernel,
                          const plan::Environment &sizes, DataKind kind,
                          uint64_t seed);

/// Runs `kernel` of `module` once and compares.
Verdict verifyKernel(const emulator::Module &module, const plan::Kernel &kernel,
                     const plan::Environment &sizes, DataKind kind,
                     const VerifyOptions &options);

/// A table with one line per verdict, then for each failure its first mismatch
/// and its findings, then the open points that the runs depended on.
std::string printVerdicts(const std::vector<Verdict> &verdicts);

} // namespace blockscale::verify

#endif // BLOCKSCALE_VERIFY_VERIFY_H
