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

#include "blockscale/Formats/Result.h"
#include "blockscale/Reference/Compare.h"
#include "blockscale/Verify/PlanLaunch.h"

namespace blockscale::verify {

/// Exact data must agree bit for bit, random data within
/// reference::Criterion::Tight.
enum class DataKind : uint8_t { Exact, Random };

/// "exact" or "random".
std::string_view dataKindName(DataKind kind);

/// What a run adds to the data.
enum class Conditions : uint8_t {
  /// Memory at multiples of a page, padding with NaNs or large numbers, the SMs
  /// that were asked for.
  Plain,
  /// What the plan allows beside it: addresses that are multiples of no more
  /// than it asks for, padding of every legal byte, CTAs that walk five tiles
  /// and more (of a whole grid), tensor memory from another column than 0 on,
  /// NaNs in one row, one column or one number of the bias.
  Harsh
};

/// "plain" or "harsh".
std::string_view conditionsName(Conditions conditions);

/// What lies before the memory of a parameter under Conditions::Harsh.
inline constexpr uint8_t kGuardByte = 0xa5;

/// What is being done, what is counted, how many of these are done and how many
/// there are: ("gemm, inputs", "rows", 40, 320).
using StepProgress = std::function<void(
    std::string_view step, std::string_view unit, uint64_t done, uint64_t all)>;

struct VerifyOptions {
  Conditions conditions = Conditions::Plain;
  uint64_t seed = 1;
  /// Host threads; 0 for as many as there are.
  unsigned threads = 0;
  /// Clusters to run, spread over the grid; 0 for all. Of a kernel whose
  /// clusters compute tiles together it counts such groups of them. Of a sample
  /// only what it wrote is compared.
  uint64_t sampleClusters = 0;
  emulator::Completion completion = emulator::Completion::Immediate;
  /// Receives the machine's lines of asynchronous events; see
  /// emulator::Options::trace.
  std::function<void(std::string_view)> trace;
  /// A flag that another thread may set to end the run soon; null for none.
  const std::atomic<bool> *stop = nullptr;
  /// Called while inputs are made, while the kernel runs and while the
  /// reference is computed; for each at first with none done. By one thread at
  /// a time.
  StepProgress progress;
  /// Called before the run, and may change how it is done.
  std::function<void(const emulator::Launch &, emulator::Options &)> beforeRun;
};

/// The outcome of one run.
struct Verdict {
  std::string kernel;
  DataKind data = DataKind::Exact;
  Conditions conditions = Conditions::Plain;
  plan::Environment sizes;
  /// Why nothing was run; empty if it was.
  std::optional<Reason> why;
  reference::Comparison comparison;
  /// Elements of D that the kernel did not write; of a whole grid they count
  /// as mismatches.
  uint64_t unwritten = 0;
  /// Whether it wrote before the first of them.
  bool wroteBefore = false;
  /// Whether the workspace, if there is one, suits the next launch.
  bool workspaceReady = true;
  /// Whether it wrote rows of D that no group has.
  bool wroteBehind = false;
  /// reference::diagnose of the first mismatch.
  std::string diagnosis;
  emulator::RunResult run;
  double emulationSeconds = 0;
  /// Clusters of the grid, and of those the ones run.
  uint64_t clusters = 0, clustersRun = 0;

  /// Ran without a finding and agrees everywhere, in at least one element.
  bool passed() const {
    return !why && run.clean() && comparison.mismatches == 0 &&
           comparison.compared > 0 && !wroteBefore && !wroteBehind &&
           workspaceReady;
  }
};

/// Bytes of an element of D, and the code that stands for "not written".
unsigned outputBytes(reference::OutputType type);
uint32_t unwrittenCode(reference::OutputType type);

/// The product that the kernel computes, with inputs of the given kind, and the
/// same as the plan wants it in memory.
struct Inputs {
  /// Of a grouped product no product by itself: there is one matrix of A, C and
  /// D, and one of everything else for each group.
  reference::Problem problem;
  /// The end of each group's rows of A; empty for a product without groups.
  std::vector<uint64_t> groupEnds;
  /// Whether the ends are of groups along K, with a matrix of the result each.
  bool groupsAlongK = false;
  /// Whether `groupEnds` counts the rows of each matrix of A that are there.
  bool isMasked = false;
  HostData data;
};
Result<Inputs> makeInputs(const plan::Kernel &kernel,
                          const plan::Environment &sizes, DataKind kind,
                          uint64_t seed,
                          Conditions conditions = Conditions::Plain,
                          const StepProgress &progress = {});

/// Runs `kernel` of `module` once and compares.
Verdict verifyKernel(const emulator::Module &module, const plan::Kernel &kernel,
                     const plan::Environment &sizes, DataKind kind,
                     const VerifyOptions &options);

/// A table with one line per verdict, then for each failure its first mismatch
/// and its findings, then the open points that the runs depended on.
std::string printVerdicts(const std::vector<Verdict> &verdicts);

} // namespace blockscale::verify

#endif // BLOCKSCALE_VERIFY_VERIFY_H
